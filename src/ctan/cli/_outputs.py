"""What a command is going to write, checked before it works for it."""

from __future__ import annotations

import os
from pathlib import Path

from ctan.errors import CtanError

_PICTURES = (".png", ".svg", ".pdf")


def picture(path: Path | None, flag: str = "--out") -> None:
    """Refuse a name under which no figure can be drawn.

    Example:
        >>> picture(Path("curve.txt"))
        Traceback (most recent call last):
        ...
        ctan.errors.CtanError: --out curve.txt: expected a file that ends in .png, .svg or .pdf.
    """
    if path is None:
        return
    if path.suffix.lower() not in _PICTURES:
        raise CtanError(f"{flag} {path}: expected a file that ends in .png, .svg or .pdf.")
    if path.is_dir():
        raise CtanError(f"{flag} {path}: is a folder, expected the name of a file.")
    room_for(path, flag)


def folder(path: Path, flag: str = "--out") -> None:
    """Refuse a name that cannot be a folder.

    Example:
        >>> folder(Path("report"))
    """
    if path.exists() and not path.is_dir():
        raise CtanError(f"{flag} {path} is a file: give the name of a folder.")
    room_for(path, flag)


def room_for(path: Path, flag: str) -> None:
    """Refuse a path below something that is no folder, or in one that cannot be written to."""
    whole = path.absolute()
    there = next(each for each in (whole, *whole.parents) if os.path.lexists(each))
    home = there if there.is_dir() or there != whole else there.parent
    if not home.is_dir():
        raise CtanError(f"{flag} {path}: {home} is a file, expected a folder.")
    if not os.access(home, os.W_OK):
        raise CtanError(f"{flag} {path}: no permission to write to {home}.")
