"""Exact last-10 neighbours over a whole stream, batch by batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.peers import pyg
from benchmarks.timing import alternate, ratio
from ctan.events import EventStream
from ctan.history import TemporalIndex, neighborhood

EVENTS, NODES, BATCH, K = 1_000_000, 50_000, 200, 10


def hubs() -> EventStream:
    """A million events whose destinations follow a power law: the busiest has one in forty."""
    rng = np.random.default_rng(0)
    dst = (rng.pareto(1.2, EVENTS) * 50).astype(np.int64) % NODES
    src = rng.integers(0, NODES, EVENTS)
    return EventStream(src=src, dst=dst, t=np.arange(EVENTS), num_nodes=NODES)


def sampling(data: Path, rounds: int) -> list[dict[str, Any]]:
    """The last ten of each batch's nodes against PyG's loader, the index built in each round."""
    stream = hubs()
    src, dst = stream.src, stream.dst
    starts = range(0, EVENTS, BATCH)
    parts = [slice(low, low + BATCH) for low in starts]
    asked = [np.unique(np.concatenate([src[part], dst[part]])) for part in parts]
    inserted = [
        (torch.from_numpy(src[part].copy()), torch.from_numpy(dst[part].copy())) for part in parts
    ]
    wanted = [torch.from_numpy(nodes) for nodes in asked]

    def lookups() -> None:
        index = TemporalIndex.build(stream)
        for low, nodes in zip(starts, asked, strict=True):
            index.recent(nodes, low, K)

    def numbered() -> None:
        index = TemporalIndex.build(stream)
        for low, nodes in zip(starts, asked, strict=True):
            neighborhood(index, nodes, low, k=K, hops=1)

    def loader() -> None:
        last = pyg.LastNeighborLoader(NODES, size=K)
        for (s, d), nodes in zip(inserted, wanted, strict=True):
            last(nodes)
            last.insert(s, d)

    taken = alternate({"ours": lookups, "numbered": numbered, "pyg": loader}, rounds)
    how = (
        f"{EVENTS:,} events, {NODES:,} nodes, the {K} last neighbours of a batch's nodes "
        f"({BATCH} events), index built anew in each round; ours exact, the loader's sort unstable"
    )
    work = "exact last-10 sampling, 1M events with hubs"
    both = {"ours": taken["numbered"], "pyg": taken["pyg"]}
    return [
        ratio(work, taken, "pyg", how, wanted=10),
        ratio(f"{work}, neighbours numbered as the loader does", both, "pyg", how),
    ]
