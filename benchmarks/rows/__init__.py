"""The rows of the speed table: each measures one piece of work against its peers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.rows import pathgraph, products, ranking, sampling, seeds, share, training

#: ``row(data folder, rounds)`` gives one result for each peer.
Row = Callable[[Path, int], list[dict[str, Any]]]

ROWS: dict[str, Row] = {
    "ctan1": training.ctan1,
    "ctan5": training.ctan5,
    "tgn": training.tgn,
    "pathgraph": pathgraph.pathgraph,
    "ranking": ranking.ranking,
    "evaluator": ranking.evaluator,
    "sampling": sampling.sampling,
    "products": products.products,
    "threads": training.threads,
    "compiled": training.compiled,
    "seeds": seeds.seeds,
    "share": share.share,
}
