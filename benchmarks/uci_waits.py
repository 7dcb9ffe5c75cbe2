"""Why a model with learned harmonics of time falls behind on UCI's test part: waits never seen.

    python -m benchmarks.uci_waits --file ../shared/data/uci/events.parquet

A question is *far* if one of its nodes has been idle for longer than 99% of the waits of the
training questions. For each part: the share of far questions among events and among negatives, and
the AUC of near and of far ones. One line of JSON per model is appended to --out; what is there is
not run again.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from benchmarks.pages import table as markdown
from benchmarks.uci_models import PROTOCOL, sized
from ctan.events import EventStream, read_events
from ctan.tasks import Phase
from ctan.training import Stage, environment, fit, play

RESULTS = Path(__file__).parent / "results" / "uci_waits.jsonl"
MODELS = {
    "tgat": ("tgat", {}),
    "tgat, fixed frequencies": ("tgat", {"time": "fixed"}),
    "dyrep": ("dyrep", {}),
    "ctan": ("ctan", {}),
    "jodie": ("jodie", {}),
}
PARTS = ("train", "val", "test")


def questions(stage: Stage) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Of each part the scores, labels and waits in seconds of its questions, as if in one run."""
    found, state = {}, stage.predictor.model.init_state()
    t = stage.stream.t
    for part in PARTS:
        scores, labels, waits = [], [], []
        phase = Phase(part)
        for played in play(stage, state, stage.segments(phase), phase):
            state, asked = played.state, played.asked
            at = played.events.position
            wait = np.zeros(len(asked), np.int64)
            for nodes in (asked.src, asked.dst):
                last = stage.index.recent(nodes, int(at[0]), 1)
                since = t[at][asked.event] - t[last.event[:, 0]]
                wait = np.maximum(wait, np.where(last.event[:, 0] >= 0, since, 0))
            scores.append(played.scores[:, 0].numpy())
            labels.append(played.labels.numpy())
            waits.append(wait)
        found[part] = tuple(np.concatenate(column) for column in (scores, labels, waits))
    return found


def measure(stream: EventStream, name: str) -> dict:
    model, given = MODELS[name]
    options = {**sized(model), **given}
    run = fit(stream, model=model, options=options, protocol=PROTOCOL)
    found = questions(run.stage)
    bound = float(np.quantile(found["train"][2], 0.99))
    record = {"name": name, "model": model, "options": options, "hours": round(bound / 3600, 1)}
    for part, (scores, labels, waits) in found.items():
        far = waits > bound
        record[part] = {
            "auc": roc_auc_score(labels, scores),
            "far_events": float(far[labels == 1].mean()),
            "far_negatives": float(far[labels == 0].mean()),
            "auc_near": roc_auc_score(labels[~far], scores[~far]),
            "auc_far": roc_auc_score(labels[far], scores[far]),
        }
    return {**record, "summary": PROTOCOL.summary(), "environment": environment()}


def read(path: Path = RESULTS) -> list[dict]:
    """The records so far."""
    return list(map(json.loads, path.read_text().splitlines())) if path.exists() else []


def table(records: list[dict]) -> str:
    """A row for each model and part."""
    head = ["model", "part", "AUC", "far events", "far negatives", "AUC, near", "AUC, far"]
    rows = [
        [record["name"], part, *(f"{100 * value:.1f}" for value in record[part].values())]
        for record in records
        for part in PARTS
    ]
    return markdown(head, rows, text=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--file", type=Path, required=True, help="events.parquet of UCI")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    stream = read_events(args.file)
    done = {record["name"]: record for record in read(args.out)}
    for name in args.models:
        if name not in done:
            done[name] = measure(stream, name)
            with open(args.out, "a") as file:
                file.write(json.dumps(done[name]) + "\n")
    print(table([done[name] for name in args.models]))
    hours = done[args.models[0]]["hours"]
    print(f"\nFar: idle for more than {hours} hours. {PROTOCOL.summary()}")


if __name__ == "__main__":
    main()
