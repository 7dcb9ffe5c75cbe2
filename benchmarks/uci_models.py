"""Every registered model on UCI link prediction: AUC, AP, seconds per epoch, parameters.

    python benchmarks/uci_models.py --file ../shared/data/uci/events.parquet

One line of JSON per model is appended to --out as it is done; called again, what is there is not
run again. The table is printed at the end. Models have the size of the paper's link grid at one
layer, or their default size where the paper names none. Seconds are processor time of training on
one thread, so they do not depend on what else the machine does.
"""

import argparse
import json
import time
from pathlib import Path

import torch

from ctan.events import EventStream, read_events
from ctan.models import MODELS
from ctan.models.grids import sizes
from ctan.tasks import Protocol
from ctan.training import Tick, environment, fit

RESULTS = Path(__file__).parent / "results" / "uci_models.jsonl"
PROTOCOL = Protocol(epochs=10, lr=1e-3, weight_decay=1e-6, batch_size=256)


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


def measure(stream: EventStream, model: str, protocol: Protocol) -> dict:
    options = sizes("link", model, layers=1) or {}
    watch, started = Stopwatch(), time.process_time()
    run = fit(stream, model=model, options=options, protocol=protocol, watch=watch)
    found = run.results
    return {
        "model": model,
        "options": options,
        "auc": found["test"]["auc"],
        "ap": found["test"]["ap"],
        "val_auc": found["val"]["auc"],
        "best_epoch": found["best_epoch"] + 1,
        "parameters": found["parameters"],
        "seconds_per_epoch": round(watch.per_epoch, 3) if watch.steps else None,
        "seconds": round(time.process_time() - started, 1),
        "protocol": found["protocol"],
        "summary": found["summary"],
        "data": found["data"],
        "environment": environment(),
    }


def table(records: list[dict]) -> str:
    """Best first."""
    rows = [
        "| model | AUC | AP | seconds per epoch | parameters |",
        "|---|---|---|---|---|",
    ]
    for r in sorted(records, key=lambda r: -r["auc"]):
        seconds = "-" if r["seconds_per_epoch"] is None else f"{r['seconds_per_epoch']:.1f}"
        rows.append(
            f"| {r['model']} | {100 * r['auc']:.2f} | {100 * r['ap']:.2f} | {seconds} "
            f"| {r['parameters']:,} |"
        )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--file", type=Path, required=True, help="events.parquet of UCI")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--epochs", type=int, default=PROTOCOL.epochs)
    args = parser.parse_args()
    torch.set_num_threads(1)
    protocol = PROTOCOL.with_(epochs=args.epochs)
    stream = read_events(args.file)

    done = (
        [json.loads(line) for line in args.out.read_text().splitlines()]
        if args.out.exists()
        else []
    )
    done = [r for r in done if r["protocol"] == protocol.to_dict()]
    for model in args.models:
        if model not in {r["model"] for r in done}:
            done.append(measure(stream, model, protocol))
            args.out.parent.mkdir(parents=True, exist_ok=True)
            with open(args.out, "a") as file:
                file.write(json.dumps(done[-1]) + "\n")
    print(table([r for r in done if r["model"] in args.models]))


if __name__ == "__main__":
    main()
