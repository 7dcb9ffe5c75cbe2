"""``ctan models``: what can be trained."""

from __future__ import annotations

from typing import Annotated

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

    about = {
        name: {"about": (cls.__doc__ or "").strip().split("\n")[0], "options": options(name)}
        for name, cls in MODELS.items()
    }
    if as_json:
        _show.json_out(about)
        return
    for name, facts in about.items():
        _show.out(f"{name}: {facts['about']}")
        given = ", ".join(f"{option}={value}" for option, value in options(name).items())
        _show.out(f"    {given or 'no options'}\n")
