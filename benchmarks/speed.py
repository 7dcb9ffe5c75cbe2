"""`make bench`: the library beside its peers, in one run, as ratios.

python benchmarks/speed.py [ROW ...] [--data FOLDER] [--rounds 5] [--threads 1]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import ours
from benchmarks.peers import pyg
from benchmarks.timing import alternate, ratio, wall
from ctan.datasets import path_graphs
from ctan.events import EventStream, read_events, split_by_time
from ctan.history import TemporalIndex, elapsed_statistics
from ctan.tasks import Protocol

RESULTS = Path(__file__).parent / "results"
LINK = Protocol(batch_size=256, lr=1e-4, negatives_known=True)
CTAN = {"dim": 100, "epsilon": 0.5, "psi": "concat", "final_act": True}


def wikipedia(data: Path) -> EventStream:
    """The events of Wikipedia with 172 random features."""
    stream = read_events(data / "wikipedia" / "events.parquet")
    features = np.random.default_rng(0).standard_normal((len(stream), 172)).astype(np.float32)
    return dataclasses.replace(stream, msg=features)


def _training(stream: EventStream) -> tuple[np.ndarray, ...]:
    end = split_by_time(stream).train_end
    assert stream.msg is not None
    return stream.src[:end], stream.dst[:end], stream.t[:end], stream.msg[:end]


def _ctan(data: Path, rounds: int, steps: int) -> list[dict[str, Any]]:
    stream = wikipedia(data)
    src, dst, t, msg = _training(stream)
    elapsed = elapsed_statistics(stream, 0, len(src))
    run = ours.epoch(stream, "link", "ctan", {**CTAN, "steps": steps}, LINK)
    shape = {"dim": 100, "batch": 256, "neighbors": 5, "elapsed": elapsed}
    sides: dict[str, Callable[[], object]] = {
        "ours": run,
        "pyg": pyg.ctan_epoch(pyg.Stream(src, dst, t, msg), steps=steps, **shape),
    }
    if steps == 1:
        sides["plain"] = ours.plain(run)
        from benchmarks.peers import tgm

        sides["tgm"] = tgm.ctan_epoch(src, dst, t, msg, **shape)
    taken = alternate(sides, rounds)
    row = f"CTAN training epoch, Wikipedia, {steps} layer{'s' if steps > 1 else ''}"
    return [ratio(row, taken, "ours", peer) for peer in sides if peer != "ours"]


def ctan1(data: Path, rounds: int) -> list[dict[str, Any]]:
    """CTAN, one layer, against PyG's parts, TGM and our own plain layers."""
    return _ctan(data, rounds, 1)


def ctan5(data: Path, rounds: int) -> list[dict[str, Any]]:
    """CTAN, five layers, against PyG's parts and our own plain layers."""
    return _ctan(data, rounds, 5)


def tgn(data: Path, rounds: int) -> list[dict[str, Any]]:
    """TGN, every pending message recomputed with gradient, against PyG's parts."""
    stream = wikipedia(data)
    peer = pyg.tgn_epoch(pyg.Stream(*_training(stream)), dim=100, batch=256, neighbors=5)
    run = ours.epoch(stream, "link", "tgn", {"dim": 100}, LINK)
    taken = alternate({"ours": run, "pyg": peer}, rounds)
    return [ratio("TGN training epoch, Wikipedia", taken, "ours", "pyg")]


def pathgraph(data: Path, rounds: int) -> list[dict[str, Any]]:
    """T-PathGraph n=20, gradients through time, against one event at a time."""
    length, graphs, sample = 20, 1000, 70
    stream = path_graphs(length)
    protocol = Protocol(split="graph", through_time="all", readout="dst", lr=1e-3)
    options = {"dim": 50, "epsilon": 1.0, "gamma": 0.1, "time_dim": 1, "psi": "concat"}
    run = ours.epoch(stream, "sequence", "ctan", options, protocol)
    assert stream.x is not None
    assert stream.msg is not None
    assert stream.y is not None
    x = stream.x.reshape(graphs, length, -1)
    msg = np.ascontiguousarray(stream.msg.reshape(length - 1, graphs, -1).swapaxes(0, 1))
    label = stream.y.reshape(length - 1, graphs)[-1]
    one = pyg.path_epoch(x, msg, label, dim=50)
    taken = alternate({"ours": run, "pyg": lambda: one(sample)}, rounds)
    # The peer's time grows with the number of graphs, which are independent: 700 are an epoch.
    taken["pyg"] = [seconds * 700 / sample for seconds in taken["pyg"]]
    row = ratio("T-PathGraph n=20 training epoch", taken, "ours", "pyg")
    return [{**row, "note": f"the peer's epoch is 700/{sample} times that of {sample} graphs"}]


def sampling(data: Path, rounds: int) -> list[dict[str, Any]]:
    """Exact last-10 sampling on a stream of a million events with hubs."""
    rng = np.random.default_rng(0)
    events, nodes, batch, k = 1_000_000, 50_000, 200, 10
    dst = (rng.pareto(1.2, events) * 50).astype(np.int64) % nodes
    src = rng.integers(0, nodes, events)
    stream = EventStream(src=src, dst=dst, t=np.arange(events), num_nodes=nodes)
    index = TemporalIndex.build(stream)
    queries = [
        (lo, np.unique(np.concatenate([src[lo : lo + batch], dst[lo : lo + batch]])))
        for lo in range(0, events, batch)
    ]
    as_tensors = [
        (torch.from_numpy(src[lo : lo + batch]), torch.from_numpy(dst[lo : lo + batch]))
        for lo in range(0, events, batch)
    ]
    asked = [torch.from_numpy(nodes) for _, nodes in queries]

    def exact() -> None:
        for lo, wanted in queries:
            index.recent(wanted, lo, k)

    def with_build() -> None:
        TemporalIndex.build(stream)
        exact()

    def loader() -> None:
        last = pyg.LastNeighborLoader(nodes, size=k)
        for (s, d), wanted in zip(as_tensors, asked, strict=True):
            last(wanted)
            last.insert(s, d)

    taken = alternate({"ours": with_build, "pyg": loader}, rounds)
    return [
        ratio("exact last-10 sampling, 1M events with hubs, index built anew", taken, "ours", "pyg")
    ]


def threads(data: Path, rounds: int) -> list[dict[str, Any]]:
    """CTAN, one layer, one thread against two (wall-clock: needs a quiet machine)."""
    run = ours.epoch(wikipedia(data), "link", "ctan", CTAN, LINK)

    def with_threads(count: int) -> Callable[[], object]:
        def timed() -> float:
            torch.set_num_threads(count)
            return run()

        return timed

    taken = wall({"two": with_threads(2), "one": with_threads(1)}, rounds)
    torch.set_num_threads(1)
    return [ratio("CTAN training epoch, Wikipedia, two threads", taken, "two", "one")]


ROWS = {f.__name__: f for f in (ctan1, ctan5, tgn, pathgraph, sampling, threads)}


def main() -> None:
    """Measure the rows asked for, and write one JSON file each and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", default=list(ROWS))
    parser.add_argument("--data", type=Path, default=os.environ.get("CTAN_DATA", "../shared/data"))
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    RESULTS.mkdir(exist_ok=True)
    for name in given.rows:
        load = os.getloadavg()[0]
        machine = {"machine": platform.machine(), "torch": torch.__version__, "load_before": load}
        results = ROWS[name](Path(given.data), given.rounds)
        text = json.dumps({"name": name, **machine, "results": results}, indent=2)
        (RESULTS / f"speed-{name}.json").write_text(text + "\n")
        for row in results:
            peer = f"{row['peer']} {row['peer_s']} s"
            print(f"{row['row']}: {row['ours_s']} s, {peer}, {row['ratio']} times")


if __name__ == "__main__":
    main()
