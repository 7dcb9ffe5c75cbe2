"""The full specification of a run: enough to repeat it, and to know that it was repeated."""

from __future__ import annotations

import json
import platform
import subprocess
import zlib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

import ctan
from ctan.errors import CheckpointError
from ctan.events import EventStream
from ctan.tasks import Protocol


@dataclass(frozen=True)
class Spec:
    """What was run on what, and how.

    Attributes:
        task: name of the task.
        model: name of the model.
        options: options of the model.
        protocol: the protocol.
        data: where the events came from, as the reader or generator was asked for them.
        fingerprint: of the events themselves.

    Example:
        >>> Spec("link", "ctan", {"dim": 8}, Protocol()).to_dict()["model"]
        'ctan'
    """

    task: str
    model: str
    options: dict[str, Any] = field(default_factory=dict)
    protocol: Protocol = field(default_factory=Protocol)
    data: dict[str, Any] = field(default_factory=dict)
    fingerprint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """All of it, for ``spec.json``."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Spec:
        """Read what :meth:`to_dict` gave.

        Raises:
            CheckpointError: fields are missing.
        """
        names = [f.name for f in fields(cls)]
        missing = [name for name in names if name not in given]
        if missing:
            raise CheckpointError(f"the specification of this run has no {', '.join(missing)}.")
        values = {name: given[name] for name in names}
        return cls(**{**values, "protocol": Protocol.from_dict(values["protocol"])})


def read_spec(folder: Path) -> Spec:
    """The specification of a run folder.

    Raises:
        CheckpointError: there is none, or it is damaged.
    """
    path = folder / "spec.json"
    if not path.is_file():
        raise CheckpointError(f"{folder}: not a run folder (it has no spec.json).")
    return Spec.from_dict(read_json(path))


def read_json(path: Path, kind: type = dict) -> Any:
    """A JSON file that holds an object, or a list.

    Raises:
        CheckpointError: it is damaged.
    """
    try:
        found = json.loads(path.read_text())
    except ValueError as error:
        raise CheckpointError(f"{path}: damaged ({error}). Restore it from a copy.") from error
    if not isinstance(found, kind):
        raise CheckpointError(f"{path}: damaged (no {kind.__name__}). Restore it from a copy.")
    return found


def fingerprint(stream: EventStream) -> str:
    """A short name for exactly these events: counts and a checksum of every column.

    Example:
        >>> fingerprint(EventStream.from_arrays(src=[0], dst=[1], t=[5]))
        '1 events, 2 nodes, crc 6a75b617'
    """
    crc = 0
    for name in ("src", "dst", "t", "msg", "x", "y", "graph", "kind", "x_update"):
        column = getattr(stream, name)
        if column is not None:
            head = f"{name} {column.dtype} {column.shape}".encode()
            crc = zlib.crc32(np.ascontiguousarray(column).data, zlib.crc32(head, crc))
    return f"{len(stream)} events, {stream.num_nodes} nodes, crc {crc:08x}"


def environment() -> dict[str, Any]:
    """The versions and the machine behind a result.

    Example:
        >>> environment()["ctan"] == ctan.__version__
        True
    """
    return {
        "ctan": ctan.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "threads": torch.get_num_threads(),
        "commit": _commit(),
    }


def _commit() -> str | None:
    """The commit of the library's own checkout, where it runs from one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()


def differences(before: Spec, now: Spec) -> list[str]:
    """In what two runs differ, in words."""
    # As they read back from JSON: a tuple is a list there.
    a, b = (_flat(json.loads(json.dumps(spec.to_dict()))) for spec in (before, now))
    names = [name for name in {**a, **b} if a.get(name) != b.get(name)]
    return [f"{n} was {a.get(n)!r} and is now {b.get(n)!r}" for n in names]


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= (
            _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
        )
    return flat
