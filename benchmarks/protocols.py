"""What each choice of a protocol is worth: one run and two untrained rules, one change at a time.

    python -m benchmarks.protocols wikipedia --root ../shared/data --run runs/wikipedia-paper-link
    python -m benchmarks.protocols mooc --root ../shared/data --run runs/mooc/long

The run is scored again without training: from the state that training left where that fits the
protocol, and from one made anew with the last weights where it does not. EdgeBank and the blend of
recencies are scored under the same protocols. One JSON line for each goes to
``benchmarks/results/protocols-DATASET.jsonl``, the run itself first. Lines that are there are not
computed again.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.mooc_link import with_random_features
from ctan.events import read_events
from ctan.tasks import Phase, preset
from ctan.training import Run, Stage, evaluate, load_run, under

RESULTS = Path(__file__).parent / "results"
LINK = preset("paper-link")
#: Fields that measure; the others of a preset are about training, or about another task.
SCORED = (
    "batch_size", "negatives_known", "averaging", "negative_draw", "visibility", "update_from",
)  # fmt: skip


def scoring(name: str) -> dict[str, Any]:
    """In what a preset measures otherwise than ``paper-link``."""
    other = preset(name)
    return {n: getattr(other, n) for n in SCORED if getattr(other, n) != getattr(LINK, n)}


ANEW = "the past observed anew"
CHANGES: dict[str, dict[str, Any]] = {
    "paper-link": {},
    ANEW: {},
    "another seed of negatives": {"seed": 1},
    "the same list of negatives in each batch": {"negative_draw": "row"},
    "known edges may be negatives": {"negatives_known": True},
    "negatives from all nodes": {"negative_pool": "nodes"},
    "historical negatives": {"negatives": "historical"},
    "inductive negatives": {"negatives": "inductive"},
    "uniform neighbours": {"neighbors": "uniform"},
    "batches of 64": {"batch_size": 64},
    "batches of 200": {"batch_size": 200},
    "batches of 1024": {"batch_size": 1024},
    "mean over batches": {"averaging": "batch"},
    "stored after the event": {"update_from": "observed"},
    "split by count": {"split": "count"},
    "released-link": scoring("released-link"),
    "dyglib": scoring("dyglib"),
    "causal": {"visibility": "causal"},
    "strict": scoring("strict"),
}
#: A state under these is led from one time to the next: the run takes minutes, and is asked for.
ONE_BY_ONE = ("causal", "strict")


def measure(run: Run, name: str, task: str, with_run: bool) -> dict[str, Any]:
    """The run and the two rules under one protocol."""
    change = CHANGES.get(name, {})
    protocol = preset("tgb") if task == "ranking" else LINK.with_(**change)
    found: dict[str, Any] = {}
    if with_run:
        scored = under(run, protocol, task, anew=name == ANEW)
        found = {"state": scored["state"], "ctan": scored["test"]}
    for model in ("edgebank", "blend"):
        stage = Stage.prepare(run.stage.stream, task, model, {}, protocol)
        found[model] = evaluate(stage, stage.predictor.model.init_state(), Phase("test")).metrics
    return {**found, "summary": protocol.summary()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", choices=("wikipedia", "mooc"))
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--one-by-one", action="store_true", help="the run under `causal` as well")
    args = parser.parse_args()
    stream = read_events(args.root / args.dataset / "events.parquet")
    if args.dataset == "mooc":
        stream = with_random_features(stream)  # as mooc_link.py trains
    run = load_run(args.run, data=stream)
    path = RESULTS / f"protocols-{args.dataset}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if not lines:
        about = ("model", "parameters", "best_epoch", "val", "test", "summary", "data")
        facts = {name: run.results[name] for name in about} | {"options": run.spec.options}
        each = [round(record["val"]["auc"], 4) for record in run.history]
        lines.append({"run": facts, "epochs": len(run.history), "val_auc": each})
    done = {line["protocol"]: line for line in lines[1:]}
    for name, task in {**dict.fromkeys(CHANGES, "link"), "tgb": "ranking"}.items():
        with_run = name not in ONE_BY_ONE or args.one_by_one
        if name in done and ("ctan" in done[name] or not with_run):
            continue
        started = time.perf_counter()
        done[name] = {"protocol": name, "task": task, **measure(run, name, task, with_run)}
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
        rows = [lines[0], *(done[n] for n in (*CHANGES, "tgb") if n in done)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
