"""Files of named arrays that commands write: .npz, without pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctan.cli._outputs import room_for
from ctan.errors import CtanError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def checked(path: Path, flag: str) -> None:
    """Refuse a name under which no arrays can be written, before anything is computed.

    Example:
        >>> checked(Path("scores.csv"), "--scores")
        Traceback (most recent call last):
        ...
        ctan.errors.CtanError: --scores scores.csv: expected a file that ends in .npz.
    """
    if path.suffix != ".npz":
        raise CtanError(f"{flag} {path}: expected a file that ends in .npz.")
    if path.is_dir():
        raise CtanError(f"{flag} {path}: is a folder, expected the name of a file.")
    room_for(path, flag)


def write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays under their names; folders are made."""
    import numpy as np

    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, allow_pickle=False, **dict(arrays))
