"""The link data sets of the Temporal Graph Benchmark, read by its own package `py-tgb`."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ctan._optional import optional
from ctan.datasets._download import Remote, Watch, fetch, verify
from ctan.datasets.base import About, Dataset, Entry
from ctan.datasets.jodie import read_jodie_csv
from ctan.datasets.negatives import EvaluationNegatives, all_other_destinations
from ctan.datasets.tgb_kept import keep, read_kept
from ctan.errors import DataError
from ctan.events import EventStream, Split, read_events, split_by_time

_PACKAGE = "tgb.linkproppred.dataset"
_PARTS = ("val", "test")
_NOTE = "read through py-tgb"
_STORE = "https://object-arbutus.alliancecan.ca/swift/v1/14c95234f6cd4a21a47deafe20cce2a7/tgb"


def load_tgb(about: About, root: Path, watch: Watch | None = None) -> Dataset:
    """Load events, split and published negatives from `root/NAME`, as `py-tgb` reads them.

    What is missing there is downloaded first. `py-tgb` reads the publisher's negatives from
    pickles, and keeps what it parsed in pickles of its own: as trustworthy as they are. So it reads
    once; from then on the data come from a checked store beside them, which is mapped.
    """
    if not _edges(about.name, root).is_file():
        optional(_PACKAGE, "tgb")  # if it is missing, say so before gigabytes are downloaded
    fetch_tgb(about, root, watch)
    kept = _folder(about.name, root) / f"ctan-{_checksum(about.name, root)[:12]}"
    if not kept.is_dir():
        data = from_py_tgb(about, _open(about.name, root))
        try:
            keep(kept, data.stream, data.negatives)
        # A folder that cannot be written to is read from all the same, and another process may
        # have been quicker.
        except (OSError, DataError):
            return data
    stream, negatives = read_kept(kept)
    return Dataset(about, stream, split_by_time(stream), negatives, notes=(_NOTE,))


def from_py_tgb(about: About, tgb: Any) -> Dataset:
    """What a `tgb.linkproppred.dataset.LinkPropPredDataset` holds.

    Args:
        about: what is known of it.
        tgb: the data set of the package.
    """
    data = tgb.full_data
    stream = EventStream.from_arrays(
        src=data["sources"],
        dst=data["destinations"],
        t=data["timestamps"],
        msg=np.asarray(data["edge_feat"], np.float32),
        t_unit="s",
        sort=True,
    )
    split = split_by_time(stream)
    theirs = [int(np.count_nonzero(m)) for m in (tgb.train_mask, tgb.val_mask, tgb.test_mask)]
    ours = [part.stop - part.start for part in (split.train, split.val, split.test)]
    if ours != theirs:
        raise DataError(f"{about.name}: py-tgb splits {theirs} events, by its stated rule {ours}.")
    negatives = {}
    for part, read in zip(_PARTS, (tgb.load_val_ns, tgb.load_test_ns), strict=True):
        read()
        negatives[part] = _by_event(
            stream, getattr(split, part), tgb.negative_sampler.eval_set[part], about.name
        )
        tgb.negative_sampler.reset_eval_set(part)  # a large dictionary
    return Dataset(about, stream, split, negatives, notes=(_NOTE,))


def load_tgb_wiki(about: About, root: Path, watch: Watch | None = None) -> Dataset:
    """Load tgbl-wiki from `root/tgbl_wiki`, or without download from Wikipedia's events.

    The events are those of JODIE's Wikipedia, and the published negatives are all destinations
    without an event of the same source and time: both are at hand where `root/wikipedia` is.
    """
    wikipedia = root / "wikipedia"
    parquet, published = wikipedia / "events.parquet", wikipedia / "wikipedia.csv"
    if _edges(about.name, root).is_file() or not (parquet.is_file() or published.is_file()):
        return load_tgb(about, root, watch)
    stream = read_jodie_csv(published) if published.is_file() else read_events(parquet)
    stream = replace(stream, y=None, t_unit="s")  # who gets banned is not asked here
    split = split_by_time(stream)
    note = f"from {published if published.is_file() else parquet}; negatives made by the rule"
    if not stream.edge_dim:
        note += "; without the 172 event features, which are not in that file"
    return Dataset(about, stream, split, wiki_negatives(stream, split), notes=(note,))


def wiki_negatives(stream: EventStream, split: Split) -> dict[str, EvaluationNegatives]:
    """The negatives of tgbl-wiki by their rule: every destination that did not happen then."""
    destinations = np.unique(stream.dst)
    return {
        "val": all_other_destinations(stream, split.val, destinations),
        "test": all_other_destinations(stream, split.test, destinations),
    }


def fetch_tgb(about: About, root: Path, watch: Watch | None = None) -> None:
    """Download and unpack the publisher's archive to `root/NAME`, unless it is there."""
    (remote,) = about.files
    if _edges(about.name, root).is_file():
        return
    archive = root / remote.name
    if not archive.is_file():
        fetch(remote, archive, check=_no_zip, watch=watch)
    folder, part = _folder(about.name, root), root / f".{about.name}.part"
    shutil.rmtree(part, ignore_errors=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(part)
    inside = [path.name for path in part.iterdir()]
    if not (part / _edges(about.name, root).name).is_file():
        raise DataError(
            f"{archive}: holds {', '.join(sorted(inside)) or 'nothing'}, expected "
            f"{_edges(about.name, root).name}. To repair: delete the archive to download it again."
        )
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(part, folder)


def _open(name: str, root: Path) -> Any:
    module = optional(_PACKAGE, "tgb")
    # The package takes a folder below its own installation; a relative path leads out of it.
    relative = os.path.relpath(root.absolute(), module.PROJ_DIR)
    return module.LinkPropPredDataset(name=name, root=relative, download=False)


def _by_event(
    stream: EventStream, part: slice, published: dict[Any, npt.NDArray[Any]], name: str
) -> EvaluationNegatives:
    """Negatives in order of events, from a dictionary by (source, destination, time)."""
    columns = (stream.src[part], stream.dst[part], stream.t[part])
    keys = zip(*(column.tolist() for column in columns), strict=True)
    try:
        rows = [np.asarray(published[key]) for key in keys]
    except KeyError as error:
        raise DataError(
            f"{name}: event {error} has no published negatives: events and negatives are of "
            "different versions. To repair: delete the folder to download both again."
        ) from error
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return EvaluationNegatives(part.start, ptr, np.concatenate(rows).astype(np.int32))


def _folder(name: str, root: Path) -> Path:
    return root / name.replace("-", "_")


def _edges(name: str, root: Path) -> Path:
    version = "" if name == "tgbl-comment" else "_v2"
    return _folder(name, root) / f"{name}_edgelist{version}.csv"


def _checksum(name: str, root: Path) -> str:
    """One checksum of the publisher's files: events and negatives."""
    edges = _edges(name, root)
    version = edges.stem.partition("_edgelist")[2]
    files = [edges, *(edges.with_name(f"{name}_{part}_ns{version}.pkl") for part in _PARTS)]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise DataError(
            f"{edges.parent}: no {' and no '.join(missing)}. To repair: put the publisher's files "
            "there, or delete the folder to download them again."
        )
    return hashlib.sha256("".join(map(verify, files)).encode()).hexdigest()


def _no_zip(path: Path) -> str | None:
    try:
        with zipfile.ZipFile(path) as packed:
            bad = packed.testzip()
    except zipfile.BadZipFile as error:
        return f"no ZIP archive: {error}"
    return None if bad is None else f"{bad!r} in the archive is damaged"


def _about(name: str, title: str, events: int, nodes: int, features: int, surprise: str) -> About:
    version = "" if name == "tgbl-comment" else "-v2"
    return About(
        name=name,
        title=title,
        source=f"Temporal Graph Benchmark, https://tgb.complexdatalab.com ({name}{version})",
        licence="see the benchmark and the original sources named there",
        citation="S. Huang, F. Poursafaei et al.: Temporal Graph Benchmark for Machine Learning on "
        "Temporal Graphs, NeurIPS 2023",
        files=(Remote(f"{_STORE}/{name}{version}.zip"),),
        published={"events": events, "nodes": nodes, "event features": features},
        surprise=surprise,
    )


_WIKI = _about("tgbl-wiki", "users editing pages", 157_474, 9_227, 172, "0.108")
_OTHERS = (
    _about("tgbl-review", "customers reviewing products", 4_873_540, 352_637, 1, "0.987"),
    _about("tgbl-coin", "transfers of stablecoins", 22_809_486, 638_486, 1, "0.12"),
    _about("tgbl-comment", "users replying to users", 44_314_507, 994_790, 3, "0.823"),
)
ENTRIES = (
    Entry(_WIKI, partial(load_tgb_wiki, _WIKI), partial(fetch_tgb, _WIKI)),
    *(Entry(about, partial(load_tgb, about), partial(fetch_tgb, about)) for about in _OTHERS),
)
