"""Every registered model on UCI link prediction: AUC, AP, seconds per epoch, parameters.

    python -m benchmarks.uci_models --file ../shared/data/uci/events.parquet --seeds 0 1 2
    python -m benchmarks.uci_models --file ../shared/data/uci/events.parquet --clock position

One line of JSON per run is appended to --out as it is done; called again, what is there is not run
again. The table is printed at the end. Models have the size of the paper's link grid at one layer;
where the paper names none, their default size, or the largest that keeps its budget of 140,000
weights. All read five neighbours. Seconds are processor time of training on one thread, so they
depend little on what else the machine does.

`--clock position` replaces each event's time by its position: the same events in the same order,
at an even pace. UCI slows down by a factor of twelve from training to test, and this shows which
models suffer from that.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import mean, median, pstdev

import numpy as np
import torch

from benchmarks.pages import table as markdown
from ctan.events import EventStream, read_events
from ctan.models import MODELS, Dims, build, options
from ctan.models.grids import GRIDS, sizes
from ctan.nn import Readout
from ctan.tasks import Protocol
from ctan.training import Tick, environment, fit

RESULTS = Path(__file__).parent / "results" / "uci_models.jsonl"
PROTOCOL = Protocol(epochs=10, lr=1e-3, weight_decay=1e-6, batch_size=256)
CLOCKS = ("time", "position")
#: Nothing is drawn or learned: every seed differs in the negatives of evaluation only.
UNTRAINED = ("blend", "edgebank", "popularity", "recency")


class Stopwatch:
    """Processor time between training batches, the first of each epoch left out."""

    def __init__(self) -> None:
        self.seconds, self.steps, self.batches, self.last = 0.0, 0, 0, 0.0

    def __call__(self, tick: Tick) -> None:
        now = time.process_time()
        if tick.phase.training:
            self.batches = tick.total
            if tick.done > 1:
                self.seconds, self.steps = self.seconds + now - self.last, self.steps + 1
        self.last = now

    @property
    def per_epoch(self) -> float:
        return self.seconds / max(1, self.steps) * self.batches


def sized(model: str) -> dict:
    """The options of a model: the paper's size, or one that keeps its budget on UCI."""
    known = options(model)
    given = sizes("link", model, layers=1) or {}
    if "dim" in known and not given:
        dim = known["dim"]
        while weights(model, dim) > GRIDS["link"].budget:
            dim -= 2
        given["dim"] = dim
    return {**given, **({"neighbors": 5} if "neighbors" in known else {})}


def weights(model: str, dim: int) -> int:
    """Weights of a model and its readout where there are no features."""
    built = build(model, Dims(nodes=1), dim=dim)
    return sum(p.numel() for part in (built, Readout(built.dim)) for p in part.parameters())


def measure(stream: EventStream, model: str, clock: str, protocol: Protocol) -> dict:
    given = sized(model)
    watch, started = Stopwatch(), time.process_time()
    run = fit(stream, model=model, options=given, protocol=protocol, watch=watch)
    found = run.results
    trained = model not in UNTRAINED and watch.steps
    return {
        "model": model,
        "clock": clock,
        "seed": protocol.seed,
        "options": given,
        "auc": found["test"]["auc"],
        "ap": found["test"]["ap"],
        "val_auc": found["val"]["auc"],
        "best_epoch": found["best_epoch"] + 1,
        "parameters": found["parameters"],
        "seconds_per_epoch": round(watch.per_epoch, 3) if trained else None,
        "seconds": round(time.process_time() - started, 1),
        "protocol": found["protocol"],
        "summary": found["summary"],
        "data": found["data"],
        "environment": environment(),
    }


def read(path: Path = RESULTS) -> list[dict]:
    """The records so far."""
    return list(map(json.loads, path.read_text().splitlines())) if path.exists() else []


def table(records: list[dict]) -> str:
    """Best first: mean and standard deviation over the seeds, and how many there are."""
    head = ["model", "seeds", "AUC", "AP", "validation AUC", "AUC, even pace"]
    rows = []
    runs = {model: [r for r in records if r["model"] == model] for model in MODELS}
    by_time = {m: [r for r in found if r["clock"] == "time"] for m, found in runs.items()}
    by_time = {m: found for m, found in by_time.items() if found}
    for model, found in sorted(by_time.items(), key=lambda one: -mean(r["auc"] for r in one[1])):
        even = [r for r in runs[model] if r["clock"] == "position"]
        seconds = [r["seconds_per_epoch"] for r in found if r["seconds_per_epoch"]]
        rows.append(
            [
                f"`{model}`",
                len(found),
                spread(found, "auc"),
                spread(found, "ap"),
                spread(found, "val_auc"),
                spread(even, "auc")
                + (f" ({len(even)})" if len(even) not in (0, len(found)) else ""),
                f"{median(seconds):.1f}" if seconds else "",
                f"{found[0]['parameters']:,}" if found[0]["parameters"] else "",
            ]
        )
    return markdown([*head, "seconds per epoch", "weights"], rows)


def spread(records: list[dict], metric: str) -> str:
    """Mean and standard deviation in percent; empty without runs."""
    values = [100 * r[metric] for r in records]
    if len(values) < 2:
        return "".join(f"{value:.1f}" for value in values)
    return f"{mean(values):.1f} ± {pstdev(values):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--file", type=Path, required=True, help="events.parquet of UCI")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--clock", default="time", choices=CLOCKS)
    parser.add_argument("--epochs", type=int, default=PROTOCOL.epochs)
    args = parser.parse_args()
    torch.set_num_threads(1)
    stream = read_events(args.file)
    if args.clock == "position":
        even = np.arange(len(stream))
        stream = EventStream.from_arrays(
            src=stream.src, dst=stream.dst, t=even, num_nodes=stream.num_nodes
        )

    done = {key(record): record for record in read(args.out)}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    for model in args.models:
        for seed in args.seeds:
            protocol = PROTOCOL.with_(epochs=args.epochs, seed=seed)
            if (model, args.clock, seed, args.epochs) in done:
                continue
            record = measure(stream, model, args.clock, protocol)
            done[key(record)] = record
            with open(args.out, "a") as file:
                file.write(json.dumps(record) + "\n")
    print(table([r for r in done.values() if r["protocol"]["epochs"] == args.epochs]))
    print(f"\n{PROTOCOL.with_(epochs=args.epochs).summary()}", "(and the other seeds)")


def key(record: dict) -> tuple:
    """What makes a run one of its own."""
    protocol = record["protocol"]
    return record["model"], record["clock"], protocol["seed"], protocol["epochs"]


if __name__ == "__main__":
    main()
