"""The commands, and what happens when one of them fails."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

import ctan
from ctan.cli import _show
from ctan.cli.data import data_app
from ctan.cli.demo import demo
from ctan.cli.evaluate import evaluate
from ctan.cli.models import models_app
from ctan.cli.profile import profile
from ctan.cli.replays import embed, prequential
from ctan.cli.reproduce import reproduce_app
from ctan.cli.study import study_app
from ctan.cli.train import train
from ctan.errors import CtanError

app = typer.Typer(
    name="ctan",
    help="Learning on continuous-time dynamic graphs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(train)
app.command()(evaluate)
app.command()(embed)
app.command()(prequential)
app.add_typer(data_app, name="data")
app.add_typer(models_app, name="models")
app.add_typer(reproduce_app, name="reproduce")
app.add_typer(study_app, name="study")
app.command()(profile)
app.command()(demo)


@app.callback(invoke_without_command=True)
def _version(
    version: bool = typer.Option(False, "--version", help="Show the version and exit."),
) -> None:
    if version:
        _show.out(f"ctan {ctan.__version__}")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 if it went well, 2 if what it was given is wrong.

    Args:
        arguments: as typed; by default those of the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=given, prog_name="ctan")
    except (CtanError, OSError, MemoryError) as error:
        _fail(str(error) if isinstance(error, CtanError) else _of_the_system(error), given)
    except RuntimeError as error:
        # Torch has no type of its own for an allocation that failed, but for that of a GPU.
        if not any(word in str(error) for word in ("allocate memory", "out of memory")):
            raise
        _fail(_NO_MEMORY, given)


_NO_MEMORY = "not enough memory for this: try a smaller --batch-size or dim."


def _fail(message: str, given: list[str]) -> NoReturn:
    _show.fail(message)
    if "--json" in given:
        # Stdout may be what failed.
        with contextlib.suppress(OSError):
            _show.json_out({"error": message})
    sys.exit(2)


def _of_the_system(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return _NO_MEMORY
    return f"{error.filename}: {error.strerror}." if error.filename else f"{error}."
