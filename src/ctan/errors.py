"""The errors a user can cause, each written to be read without a traceback."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class CtanError(Exception):
    """A mistake in what the library was given.

    The message says what was given, what was expected, where, and what to do next. The command
    line prints it and exits with code 2; a program can catch it.

    Example:
        >>> raise CtanError("no such thing")
        Traceback (most recent call last):
        ...
        ctan.errors.CtanError: no such thing
    """


class DataError(CtanError):
    """Events that cannot be used: the message lists every problem found, each with its repair."""


class ProtocolError(CtanError):
    """A combination of model, task and protocol that has no meaning."""


class CheckpointError(CtanError):
    """A run folder or checkpoint that is damaged, or belongs to something else."""


def unknown_name(what: str, given: str, known: Iterable[str]) -> CtanError:
    """An error for a name that is not known, with the nearest known ones.

    Example:
        >>> print(unknown_name("model", "ctann", ["ctan", "jodie"]))
        unknown model 'ctann': did you mean 'ctan'? Known: ctan, jodie.
    """
    names = sorted(known)
    near = get_close_matches(given, names, n=1)
    hint = f": did you mean {near[0]!r}?" if near else "."
    return CtanError(f"unknown {what} {given!r}{hint} Known: {', '.join(names)}.")
