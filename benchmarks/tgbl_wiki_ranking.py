r"""Test ranking of tgbl-wiki by a CTAN: seconds under each protocol, and equality to single scores.

    OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive \
        python -m benchmarks.tgbl_wiki_ranking --root ../shared/data

23,621 test events, each among 999 other destinations (or nodes). A node is embedded once in a batch
where all questions of the batch see the same past. Each protocol is timed three times and the
shortest counts; processor seconds, of both threads together, tell how busy the machine was
otherwise. Threads that wait for each other sleep (`passive`): on busy cores, spinning takes several
times as long. For a sample of batches, pairs are then scored one at a time from the same state.
Weights are those of one epoch of training (seed 0): the time does not depend on them. One record
for each protocol goes to ``benchmarks/results/tgbl_wiki_ranking.json``.
"""

import argparse
import json
import os
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ctan.events import EventStream, read_events
from ctan.history import Batch
from ctan.models import Asked, Events, State, look
from ctan.tasks import Phase, preset
from ctan.training import Stage, environment, evaluate, fit, replay

RESULT = Path(__file__).parent / "results" / "tgbl_wiki_ranking.json"
TGB = preset("tgb")
#: What of the protocol changes the work: candidates, state, neighbours, readout, batches.
PROTOCOLS: dict[str, dict[str, Any]] = {
    "tgb: every other destination": {},
    "999 destinations, drawn": {"candidates": 999},
    "999 of all nodes": {"candidates": 999, "negative_pool": "nodes"},
    "999 historical": {"candidates": 999, "negatives": "historical"},
    "999 inductive": {"candidates": 999, "negatives": "inductive"},
    "stored after the event": {"update_from": "observed"},
    "uniform neighbours": {"neighbors": "uniform"},
    "readout dst": {"readout": "dst"},
    "split by count": {"split": "count"},
    "batches of 64": {"batch_size": 64},
    "batches of 1024": {"batch_size": 1024},
}
BATCHES, PAIRS = 3, 40


def copied(stage: Stage, state: State) -> State:
    """The same state, to be used up."""
    tensors = {name: tensor.clone() for name, tensor in state.tensors().items()}
    return stage.predictor.model.init_state().load(tensors)


def measure(stage: Stage, rounds: int) -> dict[str, Any]:
    """Seconds of the test part, its metrics, and how far single scores are from those at once."""
    with torch.no_grad():
        before = replay(stage, stage.parts.test.start)
    seconds, processor = [], []
    for _ in range(rounds):
        state = copied(stage, before)
        started, worked = time.perf_counter(), time.process_time()
        found = evaluate(stage, state, Phase("test"))
        seconds.append(round(time.perf_counter() - started, 2))
        processor.append(round(time.process_time() - worked, 2))
    return {
        "seconds": min(seconds),
        "runs": seconds,
        "processor_seconds": min(processor),
        "events": len(found.kept.event),
        "candidates": int(found.kept.labels.sum()),
        "metrics": {name: round(value, 4) for name, value in found.metrics.items()},
        "single_scores": compare(stage, copied(stage, before)),
    }


@torch.no_grad()
def compare(stage: Stage, state: State) -> dict[str, Any]:
    """Scores of whole batches beside those of one pair at a time, from the same state."""
    start, stop = stage.parts.test.start, stage.parts.test.stop
    size = stage.protocol.batch_size
    starts = start + np.arange(BATCHES) * ((stop - start) // (BATCHES * size)) * size
    rng = np.random.default_rng(0)
    gap, pairs, done = 0.0, 0, start
    for low in starts.tolist():
        state, done = replay(stage, low, state, done), low
        batch = next(iter(stage.stretch(low, min(low + size, stop))))
        events = Events.of(stage.stream, batch.events)
        asked = stage.task.ask(stage.stream, batch, events, Phase("test"))

        together = scores(stage, state, batch, events, asked)
        own = rng.integers(0, len(events.src), PAIRS // 2)  # half of them positives
        for row in np.append(own, rng.integers(0, len(asked), PAIRS - len(own))):
            one = Asked(asked.src[[row]], asked.dst[[row]], asked.event[[row]])
            alone = scores(stage, state, batch, events, one)
            gap = max(gap, float((alone[0] - together[row]).abs().max()))
            pairs += 1
    return {"pairs": pairs, "batches": len(starts), "largest_gap": gap}


def scores(stage: Stage, state: State, batch: Batch, events: Events, asked: Asked) -> torch.Tensor:
    """Scores of some pairs of a batch, all embedded from the same state."""
    view = look(
        stage.index, stage.features, stage.predictor.model.sees, batch, events, asked,
        strategy=stage.protocol.neighbors, seed=stage.protocol.seed,
    )  # fmt: skip
    return stage.predictor.score(state, view)[0]


@cache
def trained(readout: str, steps: int, root: Path) -> dict[str, torch.Tensor]:
    """Weights of a CTAN after one epoch."""
    protocol = preset("paper-link").with_(epochs=1, lr=1e-3, readout=readout)
    run = fit(events_of(root), options={"dim": 100, "steps": steps}, protocol=protocol)
    return run.stage.predictor.state_dict()


@cache
def events_of(root: Path) -> EventStream:
    return read_events(root / "wikipedia" / "events.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    work = [(1, name, change) for name, change in PROTOCOLS.items()]
    work.append((5, "tgb: every other destination", {}))
    load, records = os.getloadavg()[0], []
    for steps, name, change in work:
        protocol, options = TGB.with_(**change), {"dim": 100, "steps": steps}
        stage = Stage.prepare(events_of(args.root), "ranking", "ctan", options, protocol)
        stage.predictor.load_state_dict(trained(protocol.readout, steps, args.root))
        stage.predictor.eval()
        found = measure(stage, args.rounds)
        records.append({"rule": name, "steps": steps, **found, "protocol": protocol.summary()})
        print(json.dumps(records[-1]), flush=True)
        about = {"environment": environment(), "load_at_start": round(load, 2)}
        RESULT.write_text(json.dumps({**about, "records": records}, indent=2) + "\n")


if __name__ == "__main__":
    main()
