"""Published numbers computed again, each record beside the number that it should be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctan import datasets
from ctan.errors import DataError
from ctan.events import EventStream, read_events
from ctan.report.paper import paper_table
from ctan.tasks import Phase, Protocol
from ctan.tasks.presets import preset
from ctan.training import Stage, evaluate

#: The windows of the paper's link table, as shares of the training time.
WINDOWS = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 1.0)
#: Test MRR of EdgeBank on tgbl-wiki on TGB's leaderboard (January 2026).
LEADERBOARD = {"inf": 0.495, "tw": 0.571}


@dataclass(frozen=True)
class _Row:
    window: str
    options: dict[str, Any]
    visibility: str = "stale"
    paper: str | None = None


_OF_THE_PAPER: dict[str, dict[str, Any]] = {
    "inf": {"memory": "infinite"},
    "tw-ts": {"memory": "quantile", "ratio": 0.15},
    "re": {"memory": "repeat"},
    "th": {"memory": "threshold"},
}
# TGB evaluates batches of 200 (`stale`). The paper's rows see all events before: by strictly
# earlier time (`causal`) or as the stream lists them (`position`), which tells events of one time
# apart and moves row `re` by 3e-5.
_RANKED = (
    _Row("inf", {"memory": "infinite"}),
    _Row("tw", {"memory": "tw", "ratio": 0.15}),
    *(
        _Row(window, options, visibility, f"EdgeBank {window}")
        for visibility in ("causal", "position")
        for window, options in _OF_THE_PAPER.items()
    ),
)


def edgebank(name: str, root: Path | None = None) -> Iterator[dict[str, Any]]:
    """EdgeBank on a data set of the paper, one record per window.

    Link data sets give the AUC of the paper's link table, in percent; tgbl-wiki gives the test MRR
    of its TGB table and of TGB's leaderboard. The paper's column for Wikipedia is the test part's,
    its column for MOOC is the validation part's, all eight values to two decimals.

    Args:
        name: ``wikipedia``, ``mooc``, ``reddit``, ``lastfm`` or ``tgbl-wiki``.
        root: the folder of the data sets, one folder each with an ``events.parquet``, or what the
            registry keeps there.

    Yields:
        ``dataset``, ``window``, ``auc`` (of the test part) and ``val_auc``, or ``mrr``; ``paper``
        (None where it has no such row) and ``equals_paper`` (which of the two AUC values it is),
        ``leaderboard`` (of the MRR), ``protocol`` (in words) and ``settings`` (its fields).
    """
    ranked = name.startswith("tgbl-")
    published = paper_table("tgb" if ranked else "link")
    columns = [column.removesuffix("-v2") for column in published.columns]
    if name.removesuffix("-v2") not in columns:
        known = ", ".join([*paper_table("link").columns, "tgbl-wiki"])
        raise DataError(f"the paper has no EdgeBank on {name!r}: it has it on {known}.")
    column = published.columns[columns.index(name.removesuffix("-v2"))]
    stream = _stream(name.removesuffix("-v2"), root)
    for row in _RANKED if ranked else _windows():
        protocol = preset("tgb" if ranked else "paper-link").with_(visibility=row.visibility)
        task, metric = ("ranking", "mrr") if ranked else ("link", "auc")
        value = _measure(stream, task, row.options, protocol, "test")[metric]
        cell = published.cells.get((row.paper or "", column))
        record: dict[str, Any] = {"dataset": name, "window": row.window}
        if ranked:
            record["mrr"] = round(value, 5)
            record["paper"] = None if cell is None else round(cell.mean / 100, 4)
            first = row.visibility == "stale" and name.startswith("tgbl-wiki")
            record["leaderboard"] = LEADERBOARD.get(row.window) if first else None
        else:
            val = _measure(stream, task, row.options, protocol, "val")[metric]
            record["auc"], record["val_auc"] = round(100 * value, 2), round(100 * val, 2)
            record["paper"] = None if cell is None else cell.mean
            equal = [part for part in ("auc", "val_auc") if record[part] == record["paper"]]
            record["equals_paper"] = equal[0] if equal else None
        yield {**record, "protocol": protocol.summary(), "settings": protocol.to_dict()}


def _windows() -> Iterator[_Row]:
    for ratio in WINDOWS:
        window = f"{ratio:.0%}"
        yield _Row(window, {"memory": "window", "ratio": ratio}, paper=f"EdgeBank {window}")
    yield _Row("inf", {"memory": "infinite"}, paper="EdgeBank inf")


def _measure(
    stream: EventStream, task: str, options: dict[str, Any], protocol: Protocol, part: str
) -> dict[str, float]:
    stage = Stage.prepare(stream, task, "edgebank", options, protocol)
    return evaluate(stage, stage.predictor.model.init_state(), Phase(part)).metrics


def _stream(name: str, root: Path | None) -> EventStream:
    """The events of `root/NAME/events.parquet`, or those of the registry."""
    if root is not None:
        # tgbl-wiki has the events of wikipedia.
        for folder in (name, {"tgbl-wiki": "wikipedia"}.get(name, name)):
            path = root / folder / "events.parquet"
            if path.exists():
                return read_events(path)
    return datasets.load(name, root).stream
