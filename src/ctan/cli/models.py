"""``ctan models``: what can be trained."""

from __future__ import annotations

from textwrap import fill, indent
from typing import Annotated, Any

import typer
from typer import Option

from ctan.cli import _show

models_app = typer.Typer(help="What can be trained.", no_args_is_help=True)


@models_app.callback()
def _models() -> None:
    """Keep `list` a command of its own, although it is the only one."""


@models_app.command("list")
def list_models(
    as_json: Annotated[bool, Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """List every model with its options and their defaults."""
    from ctan.models import MODELS, options

    about: dict[str, dict[str, Any]] = {
        name: {
            "about": (cls.__doc__ or "").strip().split("\n")[0],
            "paper": getattr(cls, "paper", None),
            "use": getattr(cls, "use", None),
            "options": options(name),
        }
        for name, cls in MODELS.items()
    }
    if as_json:
        _show.json_out(about)
        return
    for name, facts in about.items():
        given = ", ".join(f"{option}={value}" for option, value in facts["options"].items())
        _show.heading_out(name, facts["about"])
        for line in (facts["use"], facts["paper"], given or "no options"):
            if line:
                _show.out(indent(fill(line, 96), "    "))
