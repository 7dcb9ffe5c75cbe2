"""All data sets by name. A new one is a file of its own and a line here."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

from ctan.datasets import jodie, pascalvoc_data, pathgraph, tgb
from ctan.datasets._download import Watch
from ctan.datasets.base import About, Dataset, Entry
from ctan.errors import CtanError, unknown_name

REGISTRY: dict[str, Entry] = {
    entry.about.name: entry
    for entry in (pathgraph.ENTRY, pascalvoc_data.ENTRY, *jodie.ENTRIES, *tgb.ENTRIES)
}


def load(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    watch: Watch | None = None,
    **options: Any,
) -> Dataset:
    """Load a data set by name; what is not in its folder yet is downloaded or generated.

    Args:
        name: one of `names()`; TGB's also with the `-v2` of its tables.
        root: the folder of all data sets, one folder each; by default `$CTAN_DATA`, or else
            `~/.cache/ctan`.
        watch: told what is done and how much there is (or None): bytes of a download, or images.
        options: the data set's own: `options_of(name)` lists them.

    Example:
        >>> data = load("t-pathgraph", length=5, variant="released", graphs=20)
        >>> data.stream
        EventStream(80 events, 100 nodes, t=int64, msg=float32[2], x=float32[2], y=int64, ...)
        >>> load("t-pathgraph", lenght=5)
        Traceback (most recent call last):
        ...
        ctan.errors.CtanError: unknown option of t-pathgraph 'lenght': did you mean 'length'? ...
    """
    entry = _entry(name)
    known = options_of(name)
    wrong = [str(unknown_name(f"option of {name}", o, known)) for o in options if o not in known]
    if wrong:
        raise CtanError("\n".join(wrong))
    watched = {"watch": watch} if "watch" in _parameters(entry) else {}
    return entry.load(default_root() if root is None else Path(root), **watched, **options)


def download(
    name: str, root: str | os.PathLike[str] | None = None, watch: Watch | None = None
) -> None:
    """Download the files of a data set, if it has any and they are missing, without loading it.

    Args:
        name: one of `names()`.
        root: the folder of all data sets, as for `load`.
        watch: called with the bytes that are there and the bytes there will be (or None).

    Example:
        >>> download("t-pathgraph")  # is generated: nothing to do
    """
    entry = _entry(name)
    if entry.fetch is not None:
        entry.fetch(default_root() if root is None else Path(root), watch)


def names() -> list[str]:
    """The names of all data sets.

    Example:
        >>> "wikipedia" in names()
        True
    """
    return list(REGISTRY)


def is_known(name: str | os.PathLike[str]) -> bool:
    """Whether `load` knows this name; it also takes TGB's names with a version.

    Example:
        >>> is_known("tgbl-wiki-v2"), is_known("tgbl-wiki-v3")
        (True, False)
    """
    return _found(str(name)) is not None


def about(name: str) -> About:
    """What is known of a data set without loading it.

    Example:
        >>> about("wikipedia").published
        {'events': 157474, 'nodes': 9227, 'event features': 172}
    """
    return _entry(name).about


def options_of(name: str) -> dict[str, Any]:
    """The options of a data set and their defaults.

    Example:
        >>> options_of("t-pathgraph")["length"]
        9
    """
    parameters = _parameters(_entry(name))
    return {key: p.default for key, p in parameters.items() if key != "watch"}


def default_root() -> Path:
    """Where data sets are kept if nobody says: `$CTAN_DATA`, or else `~/.cache/ctan`."""
    return Path(os.environ.get("CTAN_DATA") or Path.home() / ".cache" / "ctan")


def _entry(name: str) -> Entry:
    found = _found(name)
    if found is None:
        raise unknown_name("data set", name, REGISTRY)
    return found


def _found(name: str) -> Entry | None:
    # TGB's tables name the version.
    return REGISTRY.get(name) or (
        REGISTRY.get(name.removesuffix("-v2")) if name.startswith("tgbl-") else None
    )


def _parameters(entry: Entry) -> dict[str, inspect.Parameter]:
    """What a loader takes beside the folder."""
    return dict(list(inspect.signature(entry.load).parameters.items())[1:])
