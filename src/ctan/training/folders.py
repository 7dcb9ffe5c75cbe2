"""Run folders: which one a run goes to, and that only one process writes to it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from glob import escape
from itertools import count
from pathlib import Path

from ctan.errors import CheckpointError, CtanError
from ctan.training.load import progress_of
from ctan.training.spec import Spec, read_spec

try:
    import fcntl
except ImportError:  # not a POSIX system: runs are not locked there
    fcntl = None  # type: ignore[assignment]


def folder_for(root: Path, stem: str, spec: Spec) -> Path:
    """The folder of a run that names none: one that was stopped goes on, others start anew.

    That is the first ``root/stem-N`` that holds an unfinished run of exactly this specification,
    or else the first that is not taken. A finished run asked for again is run again, with the code
    as it is now.

    Example:
        >>> folder_for(Path("nowhere"), "link-calls-ctan", Spec("link", "ctan")).name
        'link-calls-ctan-1'
    """
    for folder in sorted(root.glob(f"{escape(stem)}-*")):
        with contextlib.suppress(CtanError):
            same = read_spec(folder).to_dict() == _plain(spec)
            progress = progress_of(folder)
            if same and not (progress and progress.finished):
                return folder
    return next(root / f"{stem}-{n}" for n in count(1) if not (root / f"{stem}-{n}").exists())


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Make a run folder and keep other processes out of it.

    A folder in which nothing was learned because of a user's mistake is not left behind. The lock
    is on the folder itself and ends with the process, however that ends.

    Raises:
        CtanError: the folder is in use, or holds something that is no run.
    """
    if folder.exists() and not folder.is_dir():
        raise CtanError(f"{folder} is a file: give the name of a run folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "spec.json").exists():
        raise CheckpointError(
            f"{folder} holds files but no run (no spec.json): choose a new or empty folder."
        )
    made = [f for f in (folder, *folder.parents) if not f.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY) if fcntl else None
    try:
        if fcntl and handle is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise CtanError(
                    f"{folder} is being written by another process: wait for it, or choose another "
                    "folder."
                ) from error
        yield
    except CtanError:
        # What was given turned out to be wrong at the first batch: nothing was learned yet.
        if folder in made and not (folder / "checkpoint.safetensors").exists():
            (folder / "spec.json").unlink(missing_ok=True)
        raise
    finally:
        if handle is not None:
            os.close(handle)
        with contextlib.suppress(OSError):  # a folder that is not empty stays
            for empty in made:
                empty.rmdir()


def _plain(spec: Spec) -> dict[str, object]:
    """The specification as it reads back from JSON."""
    return Spec.from_dict(spec.to_dict()).to_dict()
