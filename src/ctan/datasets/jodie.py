"""JODIE's four interaction networks: Wikipedia, Reddit, LastFM and MOOC."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from ctan.datasets._download import Remote, Watch, fetch, verify
from ctan.datasets.base import About, Dataset, Entry
from ctan.errors import CtanError, DataError, unknown_name
from ctan.events import EventStream, read_events, split_by_time, write_store
from ctan.events._problems import Problems
from ctan.events.stream import Times

_HEADER = "user_id,item_id,timestamp,state_label"
_CITATION = (
    "S. Kumar, X. Zhang, J. Leskovec: Predicting Dynamic Embedding Trajectory in Temporal "
    "Interaction Networks, KDD 2019"
)
NODE_FEATURES = ("random", "constant", "none")
TIMES = ("whole", "published")


def read_jodie_csv(path: Path, times: str = "whole") -> EventStream:
    r"""Read a file of the publisher: `user_id,item_id,timestamp,state_label,` then features.

    The header has five names whatever the number of features. Users keep their numbers, items
    follow the last user, as in PyG's `JODIEDataset`.

    Args:
        path: the file.
        times: `whole` drops fractions of seconds, as PyG does and as the paper's runs had it;
            `published` keeps them.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "toy.csv"
        >>> text = "user_id,item_id,timestamp,state_label,comma_separated_list_of_features"
        >>> _ = path.write_text(text + "\n0,0,0.0,0,0.5,-1\n1,0,36.5,1,2,3\n")
        >>> stream = read_jodie_csv(path)
        >>> stream.dst.tolist(), stream.t.tolist(), stream.y.tolist(), stream.msg.tolist()
        ([2, 2], [0, 36], [0, 1], [[0.5, -1.0], [2.0, 3.0]])
    """
    with path.open() as file:
        header, first = file.readline(), file.readline()
    if not header.startswith(_HEADER) or first.count(",") < 3:
        raise DataError(
            f"{path}: line 1 is {header[:60]!r}, expected {_HEADER + ',...'!r} and rows below it. "
            "To repair: fetch the publisher's file again."
        )
    features = [f"f{i}" for i in range(first.count(",") - 3)]
    types = {"user": pa.int64(), "item": pa.int64(), "t": pa.float64(), "label": pa.float64()}
    try:
        table = pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(column_names=[*types, *features], skip_rows=1),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={**types, **dict.fromkeys(features, pa.float32())}
            ),
        )
    except pa.ArrowInvalid as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise DataError(
            f"{path}: cannot be read: {reason}. The file may be damaged or cut short: delete it to "
            "download it again."
        ) from error
    columns = {name: table.column(name).to_numpy() for name in types}
    msg = np.empty((table.num_rows, len(features)), np.float32)
    for i, name in enumerate(features):
        msg[:, i] = table.column(name).to_numpy()
    problems = Problems(str(path), lambda row: f"row {row} (line {row + 2})")
    for name, column in columns.items():
        _check_cells(problems, name, column)
    problems.raise_if_any()
    stream = {
        "src": columns["user"],
        "dst": columns["item"] + (columns["user"].max() + 1),
        "t": _whole(columns["t"], times),
        "msg": msg if features else None,
        "y": columns["label"].astype(np.int64),
        "t_unit": "s",
    }
    return EventStream._validated(stream, problems, sort=False)


def _check_cells(problems: Problems, name: str, column: npt.NDArray[Any]) -> None:
    def say(row: int) -> str:
        return "no value" if np.isnan(column[row]) else str(column[row])  # an empty cell is NaN

    bad = ~((column >= 0) & np.isfinite(column))
    problems.add_rows(name, bad, say, "0 or more", "fetch the publisher's file again")


def _whole(t: Times, times: str) -> Times:
    """Times without their fractions, as integers, if that is asked for or if they have none."""
    if t.dtype.kind == "f" and (times == "whole" or np.array_equal(t, np.trunc(t))):
        return t.astype(np.int64)
    return t


def with_node_features(stream: EventStream, kind: str, seed: int) -> EventStream:
    """The same events with one feature per node, for data that have none.

    Args:
        stream: the events.
        kind: `random`, uniform in [0, 1), drawn as the paper's code draws them; `constant`, all 1;
            or `none`.
        seed: of the random ones. Scores depend on it.

    Example:
        >>> stream = EventStream.from_arrays(src=[0], dst=[1], t=[0])
        >>> with_node_features(stream, "random", seed=9).x.round(3).tolist()
        [[0.421...], [0.870...]]
    """
    if kind not in NODE_FEATURES:
        raise unknown_name("kind of node features", kind, NODE_FEATURES)
    if kind == "none":
        return stream
    shape = (stream.num_nodes, 1)
    if kind == "constant":
        return replace(stream, x=np.ones(shape, np.float32))
    if seed < 0:
        raise CtanError(f"seed={seed}: expected 0 or more.")
    return replace(stream, x=np.random.default_rng(seed).random(shape, dtype=np.float32))


def load_jodie(
    about: About,
    root: Path,
    node_features: str = "random",
    seed: int = 0,
    times: str = "whole",
    watch: Watch | None = None,
) -> Dataset:
    """Load one of the four from `root/NAME/NAME.csv` or `root/NAME/events.parquet`.

    Where neither is there, the publisher's file is downloaded.
    """
    if times not in TIMES:
        raise unknown_name("kind of times", times, TIMES)
    (remote,) = about.files
    folder = root / about.name
    parquet, published = folder / "events.parquet", folder / remote.name
    notes = []
    if parquet.is_file() and not published.is_file():
        stream = read_events(parquet)
        stream = replace(stream, t=_whole(stream.t, times), t_unit="s")
        wanted = about.published.get("event features", 0)
        if stream.edge_dim != wanted:
            notes.append(
                f"{parquet} has {stream.edge_dim} event features, the publisher's file {wanted}: "
                f"put that at {published} to use them"
            )
    else:
        fetch_jodie(about, root, watch)
        stream = _parsed_once(published, times)
    if len(stream) != about.published["events"]:
        raise DataError(
            f"{folder}: got {len(stream):,} events, expected {about.published['events']:,}. The "
            "file is cut short or another one: delete it to download it again."
        )
    notes.append(f"node features: {node_features}" + _seed(node_features, seed))
    stream = with_node_features(stream, node_features, seed)
    return Dataset(about, stream, split_by_time(stream), notes=tuple(notes))


def _parsed_once(path: Path, times: str) -> EventStream:
    """The events of a CSV file, from a store beside it that is made when it is first read."""
    checksum = verify(path)
    store = path.with_name(f"{path.stem}-{times}-{checksum[:12]}")
    if not store.is_dir():
        stream = read_jodie_csv(path, times)
        try:
            write_store(stream, store)
        # A folder that cannot be written to is read from all the same, and another process may
        # have been quicker.
        except (OSError, DataError):
            return stream
    return read_events(store)


def fetch_jodie(about: About, root: Path, watch: Watch | None = None) -> None:
    """Download the publisher's file to `root/NAME/NAME.csv`, unless it is there."""
    (remote,) = about.files
    path = root / about.name / remote.name
    if not path.is_file():
        fetch(remote, path, check=_no_jodie_csv, watch=watch)


def _seed(kind: str, seed: int) -> str:
    return f", seed {seed}: one number in [0, 1) per node" if kind == "random" else ""


def _no_jodie_csv(path: Path) -> str | None:
    with path.open("rb") as file:
        start = file.read(len(_HEADER))
    if start == _HEADER.encode():
        return None
    return f"the file starts with {start!r}, expected {_HEADER!r}"


def _about(
    name: str, title: str, events: int, nodes: int, features: int, surprise: str | None
) -> About:
    return About(
        name=name,
        title=title,
        source=f"SNAP, http://snap.stanford.edu/jodie ({name}.csv)",
        licence="see the publisher's page",
        citation=_CITATION,
        files=(Remote(f"http://snap.stanford.edu/jodie/{name}.csv"),),
        published={"events": events, "nodes": nodes, "event features": features},
        surprise=surprise,
    )


_ABOUTS = (
    _about("wikipedia", "users editing pages; who gets banned", 157_474, 9_227, 172, "0.42"),
    _about("reddit", "users posting in subreddits; who gets banned", 672_447, 10_984, 172, "0.18"),
    _about("lastfm", "users listening to artists", 1_293_103, 1_980, 2, "0.35"),
    _about("mooc", "students acting on course items; who drops out", 411_749, 7_144, 4, "0.79"),
)
ENTRIES = tuple(
    Entry(about, partial(load_jodie, about), partial(fetch_jodie, about)) for about in _ABOUTS
)
