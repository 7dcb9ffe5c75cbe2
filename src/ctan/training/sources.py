"""Where the events of a run come from, as a record that finds them again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ctan import datasets
from ctan.errors import CheckpointError, CtanError
from ctan.events import EventStream, GraphSplit, read_events, split_by_graph
from ctan.tasks import Lists
from ctan.training.spec import Spec, fingerprint

_log = logging.getLogger(__name__)


def open_data(
    name: str | PathLike[str],
    options: dict[str, Any] | None = None,
    root: str | PathLike[str] | None = None,
    watch: Callable[[int, int | None], None] | None = None,
) -> tuple[EventStream, dict[str, Any]]:
    """A data set by its name, or a file of events; and the record that `reopen` takes.

    Args:
        name: a name of `ctan.datasets`, or the path of a file.
        options: of the data set, or of `read_events`.
        root: the folder of all data sets, as for `ctan.datasets.load`.
        watch: told of the progress of a data set, likewise.

    Example:
        >>> stream, record = open_data("t-pathgraph", {"length": 3, "graphs": 20})
        >>> record["name"], record["options"]["variant"], len(stream)
        ('t-pathgraph', 'paper', 40)
    """
    given = options or {}
    if datasets.is_known(name):
        known = datasets.options_of(str(name))
        data = datasets.load(str(name), root, watch=watch, **given)
        _say_if_parted_otherwise(data)
        record = {"name": str(name), "options": {**known, **given}}
        return data.stream, record | ({} if root is None else {"root": str(Path(root).resolve())})
    path = Path(name)
    if not path.exists():
        beside = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(path.name, [*beside, *datasets.names()], n=1)
        hint = f": did you mean {near[0]!r}?" if near else "."
        raise CtanError(
            f"{str(name)!r} is neither a file nor a data set{hint} Data sets: "
            f"{', '.join(datasets.names())}."
        )
    return read_events(name, **given), {"path": str(Path(name).resolve()), "options": given}


def _say_if_parted_otherwise(data: datasets.Dataset) -> None:
    """A run parts graphs by shares, in their order; a data set may have lists of its own."""
    own = data.split
    if not isinstance(own, GraphSplit):
        return
    taken = split_by_graph(data.stream)
    if not all(np.array_equal(a, b) for a, b in zip(own, taken, strict=True)):
        stated, used = (" / ".join(f"{len(part):,}" for part in parts) for parts in (own, taken))
        _log.warning(
            "%s: its own split, %s graphs, is not taken; split=graph parts them as %s, in order.",
            data.about.name,
            stated,
            used,
        )


def lists_for(spec: Spec, given: Mapping[str, Lists] | None = None) -> Mapping[str, Lists]:
    """The fixed candidates of a run: those given, or those that its data set publishes.

    Args:
        spec: what is run; only ``ranking`` with ``negatives="listed"`` asks a data set for them.
        given: by phase.

    Example:
        >>> from ctan.tasks import Protocol
        >>> listed = Protocol(negatives="listed")
        >>> lists_for(Spec("ranking", "ctan", protocol=listed, data={"path": "calls.csv"}))
        {}
    """
    listed = spec.task == "ranking" and spec.protocol.negatives == "listed"
    if given or not listed or "name" not in spec.data:
        return given or {}
    where = {"root": spec.data["root"]} if "root" in spec.data else {}
    return datasets.load(spec.data["name"], **where, **spec.data["options"]).negatives


def reopen(
    record: dict[str, Any], expected: str, path: str | PathLike[str] | None = None
) -> EventStream:
    """The events that a record names, if they are still the same.

    Args:
        record: what `open_data` gave.
        expected: their fingerprint.
        path: where the file is now, or the folder of all data sets, if it was moved.

    Raises:
        CheckpointError: the events are gone, or not the same any more.

    Example:
        >>> stream, record = open_data("t-pathgraph", {"length": 3, "graphs": 20})
        >>> len(reopen(record, fingerprint(stream)))
        40
    """
    if "name" in record:
        if path is not None and not Path(path).is_dir():
            raise CheckpointError(
                f"{path}: expected the folder of all data sets, as the run was trained on "
                f"{record['name']}: data='FOLDER' (--data FOLDER)."
            )
        stream, _ = open_data(record["name"], record["options"], path or record.get("root"))
        return same_events(stream, expected, record["name"])
    name = path or record.get("path")
    if name is None:
        raise CheckpointError(
            "the run does not say where its events came from: give them, as data=... (--data FILE)."
        )
    if not Path(name).exists():
        raise CheckpointError(
            f"{name}: the events of this run are not there any more. If they were moved, say where "
            "to: data='...' (--data FILE)."
        )
    stream, _ = open_data(name, record["options"])
    return same_events(stream, expected, str(name))


def same_events(stream: EventStream, expected: str, name: str) -> EventStream:
    """The stream, if its fingerprint is the expected one.

    Raises:
        CheckpointError: it is another one; both are named.
    """
    found = fingerprint(stream)
    if found != expected:
        raise CheckpointError(
            f"{name}: not the events that the run was trained on: expected '{expected}', found "
            f"'{found}'. Give the original events, as data=... (--data FILE)."
        )
    return stream
