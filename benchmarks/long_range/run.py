"""T-PathGraph, length after length: run plans, one JSON line per finished run, resume at will.

    python -m benchmarks.long_range.run headline       # one plan; all without a name
    python -m benchmarks.long_range.run --workers 8    # side by side, one thread each
    python -m benchmarks.long_range.run --list         # how much is done

A run whose line is already there is skipped, so a plan can be stopped and started again.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import multiprocessing
import platform
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

# Importing these registers their models.
from benchmarks.long_range import dropped, faint, latching_memories  # noqa: F401
from benchmarks.long_range.plans import PLANS, RECIPE
from benchmarks.long_range.records import RESULTS
from benchmarks.long_range.teaching import teach
from ctan.datasets import path_graphs
from ctan.events import EventStream
from ctan.tasks import Protocol
from ctan.training import environment, fit


@dataclass(frozen=True)
class Trial:
    """One run: a length and variant of T-PathGraph, a model and its options, a seed.

    ``signal`` is the node that carries the label, the first one in T-PathGraph, whose data set has
    1,000 ``graphs``. ``teaching`` is how its training graphs come: see ``teaching.py``.
    """

    length: int
    seed: int
    model: str
    options: dict[str, Any]
    variant: str = "paper"
    protocol: dict[str, Any] = field(default_factory=dict)
    signal: int = 0
    graphs: int = 1000
    teaching: str = "repeated"

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    def cost(self) -> int:
        return self.length * self.graphs * int(self.protocol.get("epochs", RECIPE["epochs"]))


def replant(stream: EventStream, length: int, node: int) -> EventStream:
    """The same graphs with the features of the first and of another node exchanged."""
    assert stream.x is not None
    x = stream.x.reshape(-1, length, stream.node_dim).copy()
    x[:, [0, node]] = x[:, [node, 0]]
    return dataclasses.replace(stream, x=x.reshape(stream.x.shape))


def run(trial: Trial) -> dict[str, Any]:
    torch.set_num_threads(1)
    protocol = Protocol(**{**RECIPE, **trial.protocol, "seed": trial.seed})
    started, used = time.perf_counter(), time.process_time()
    if trial.teaching == "repeated":
        found = fitted(trial, protocol)
    else:
        found = teach(
            trial.teaching, trial.length, trial.variant, trial.model, trial.options, protocol
        )
    history = found["history"]
    lengths = [h["length"] for h in history if "length" in h]
    return {
        **asdict(trial),
        "test": found["test"],
        "best_epoch": found["best_epoch"],
        "parameters": found["parameters"],
        "train_loss": [round(h["loss"], 4) for h in history],
        "val_loss": [round(h["val"]["loss"], 4) for h in history],
        "val_accuracy": [round(h["val"]["accuracy"], 4) for h in history],
        **({"train_length": lengths} if lengths else {}),
        "seconds": round(time.perf_counter() - started, 1),
        "cpu_seconds": round(time.process_time() - used, 1),
        "environment": {**environment(), "cores": multiprocessing.cpu_count()},
        "host": platform.processor() or platform.machine(),
    }


def fitted(trial: Trial, protocol: Protocol) -> dict[str, Any]:
    """The library's own loop on the data set's own graphs."""
    stream = path_graphs(trial.length, variant=trial.variant, graphs=trial.graphs)
    if trial.signal:
        stream = replant(stream, trial.length, trial.signal)
    run = fit(stream, task="sequence", model=trial.model, options=trial.options, protocol=protocol)
    return {**run.results, "history": run.history}


def work(job: tuple[str, Trial]) -> tuple[str, dict[str, Any]]:
    plan, trial = job
    return plan, run(trial)


def trials(plan: str) -> list[Trial]:
    """All runs of a plan, seed by seed, so that an unfinished plan is even."""
    return [
        Trial(
            length=length,
            seed=seed,
            model=row.model,
            options=row.options,
            variant=row.variant,
            protocol=row.protocol,
            signal=row.signal,
            graphs=row.graphs,
            teaching=row.teaching,
        )
        for seed in range(max(row.seeds for row in PLANS[plan]))
        for row in PLANS[plan]
        if seed < row.seeds
        for length in row.lengths
    ]


def unfinished(plan: str, path: Path) -> list[Trial]:
    lines = path.read_text().splitlines() if path.exists() else []
    names = list(Trial.__dataclass_fields__)
    done = {Trial(**{k: row[k] for k in names if k in row}).key() for row in map(json.loads, lines)}
    todo = [trial for trial in trials(plan) if trial.key() not in done]
    print(f"{plan}: {len(lines)} runs done, {len(todo)} to go", flush=True)
    return todo


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("plans", nargs="*", help=", ".join(PLANS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    home: Path = asked.results
    home.mkdir(parents=True, exist_ok=True)
    todo = [
        (plan, trial)
        for plan in asked.plans or PLANS
        for trial in unfinished(plan, home / f"{plan}.jsonl")
    ]
    if asked.list:
        return
    if asked.workers > 1:
        # The longest first, so that no worker is left with one at the end.
        todo.sort(key=lambda job: -job[1].cost())
    with multiprocessing.get_context("spawn").Pool(asked.workers) as pool:
        for plan, result in pool.imap_unordered(work, todo):
            with open(home / f"{plan}.jsonl", "a") as file:
                file.write(json.dumps(result) + "\n")
            print(
                f"{plan} {result['model']} n={result['length']} {result['variant']} "
                f"seed={result['seed']} {result['teaching']} {result['options']} "
                f"{result['protocol']}: "
                f"{100 * result['test']['accuracy']:.1f}% in {result['seconds']} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
