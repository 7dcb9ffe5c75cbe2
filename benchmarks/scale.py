"""What a longer stream costs: index, training rate and memory at 1, 10 and 44 million events.

    OMP_NUM_THREADS=1 python -m benchmarks.scale

Streams have the shape of tgbl-comment: 994,790 nodes, and at most 44,314,507 events whose ends
follow a power law, with two features each. Each is written as Parquet, imported into a store, and
mapped from there by a process of its own. The index is built in memory, and timed. Then all
processes train the same CTAN in turn (100 numbers a node, one layer, batches of 256, five
neighbours, known edges kept out of the negatives) on the last batches of their training part, so
that what else the machine does meets all of them. Memory is what the system may not take back
(RssAnon): mapped files are not in it.

Records go to benchmarks/results/scale.json.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

RESULT = Path(__file__).parent / "results" / "scale.json"
NODES = 994_790
SIZES = (1_000_000, 10_000_000, 44_314_507)
#: Events of a stretch that is timed, in batches of the one size and of the other.
EVENTS, BATCH, LARGE = 51_200, 256, 2048


def write_parquet(path: Path, events: int) -> None:
    """A stream of so many events, a million at a time."""
    rng, done = np.random.default_rng(0), 0
    names = ["src", "dst", "t", "f0", "f1"]
    writer = None
    while done < events:
        n = min(1_000_000, events - done)
        ends = [((rng.pareto(1.2, n) * 1000).astype(np.int64) * 7919) % NODES for _ in range(2)]
        if not done:
            ends[0][0] = NODES - 1  # as many nodes in every stream
        t = 1_100_000_000 + (done + np.arange(n)) * 250_000_000 // events
        features = rng.standard_normal((2, n)).astype(np.float32)
        table = pa.table([*ends, t, *features], names=names)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
        done += n
    assert writer is not None
    writer.close()


class Peak:
    """The most anonymous memory that this process had while it was open, in GB."""

    def __enter__(self) -> "Peak":
        self.before = self.most = anonymous()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.005):
            self.most = max(self.most, anonymous())

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.most = max(self.most, anonymous())

    @property
    def more(self) -> float:
        return self.most - self.before


def anonymous() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e9 for line in lines if line.startswith("RssAnon"))


def work(store: Path) -> None:
    """One stream: index it, prepare, then train a stretch for every line on stdin."""
    from ctan.events import EventStream, read_events
    from ctan.history import TemporalIndex
    from ctan.tasks import Phase, Protocol
    from ctan.training import Adam, Stage, play

    torch.set_num_threads(1)
    TemporalIndex.build(EventStream.from_arrays(src=[0], dst=[1], t=[0]))  # compiles
    stream = read_events(store)
    with Peak() as indexing:
        started, worked = time.perf_counter(), time.process_time()
        index = TemporalIndex.build(stream)
        indexed, worked = time.perf_counter() - started, time.process_time() - worked
    facts = {
        "events": len(stream),
        "nodes": stream.num_nodes,
        "index_s": round(indexed, 2),
        "index_cpu_s": round(worked, 2),
        "index_peak_GB": round(indexing.more, 2),
        "index_GB": round((index.event.nbytes + index.neighbor.nbytes + index.ptr.nbytes) / 1e9, 2),
    }
    del index
    protocol = Protocol(batch_size=BATCH, lr=1e-4)
    options = {"dim": 100, "steps": 1, "psi": "concat", "epsilon": 0.5}
    with Peak() as preparing:
        started = time.perf_counter()
        torch.manual_seed(0)
        stage = Stage.prepare(stream, "link", "ctan", options, protocol)
        prepared = time.perf_counter() - started
        state = stage.predictor.model.init_state()
        for tensor in state.tensors().values():
            tensor.add_(0)  # so that every page of it is there
    optimiser = Adam(stage.predictor.parameters(), lr=protocol.lr)
    facts |= {
        "prepared_s": round(prepared, 1),
        "prepared_peak_GB": round(preparing.more, 2),
        "standing_GB": round(anonymous(), 2),
        "summary": protocol.summary(),
    }
    print(json.dumps(facts), flush=True)
    stop = stage.parts.train.stop
    for line in sys.stdin:
        kind, size = line.split()
        sized = dataclasses.replace(stage, protocol=protocol.with_(batch_size=int(size)))
        segments = [sized.stretch(stop - EVENTS, stop)]
        # Memory is watched in rounds of their own: to watch it takes time.
        with Peak() if kind == "memory" else contextlib.nullcontext() as training:
            worked = time.process_time()
            for played in play(sized, state, segments, Phase("train", 0), optimiser):
                state = played.state
            worked = time.process_time() - worked
        print(json.dumps(worked if training is None else training.more), flush=True)


def ask(worker: subprocess.Popen[str], kind: str, size: int) -> float:
    """Seconds of processor time for a stretch in batches of so many events, or memory in GB."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{kind} {size}\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work)
        return
    from ctan.events import import_events
    from ctan.training import environment

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        records, workers = [], []
        for events in given.sizes:
            path, store = Path(folder) / "events.parquet", Path(folder) / str(events)
            write_parquet(path, events)
            import_events(path, store)
            path.unlink()
            worker = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.scale", "--work", str(store)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            stack.callback(worker.kill)
            workers.append(worker)
            records.append(json.loads(worker.stdout.readline()))
            print(records[-1], flush=True)
        for size in (BATCH, LARGE):
            memory = [ask(worker, "memory", size) for worker in workers]
            # In turn: what else the machine does meets all of them.
            taken = [[ask(worker, "time", size) for worker in workers] for _ in range(given.rounds)]
            for record, most, runs in zip(records, memory, zip(*taken, strict=True), strict=True):
                record[f"batch {size}"] = {
                    "events_per_cpu_s": round(EVENTS / statistics.median(runs)),
                    "runs_cpu_s": [round(seconds, 3) for seconds in runs],
                    "step_GB": round(most, 3),
                }
        about = {"environment": environment(), "load": round(os.getloadavg()[0], 2)}
        RESULT.write_text(json.dumps({**about, "records": records}, indent=1) + "\n")
        print(RESULT.read_text())


if __name__ == "__main__":
    main()
