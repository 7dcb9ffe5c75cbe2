"""What each choice of a protocol is worth: one run and two untrained rules, one change at a time.

    python benchmarks/protocols.py --run RUN --data ../shared/data/wikipedia/events.parquet

The run is scored again without training. EdgeBank and the blend of recencies are scored under the
same protocols. One JSON line for each.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from ctan.events import EventStream, read_events
from ctan.tasks import Phase, preset
from ctan.training import Stage, evaluate, load_run, under

LINK = preset("paper-link")
CHANGES = {
    "paper-link": {},
    "same list of negatives in each batch": {"negative_draw": "row"},
    "another seed of negatives": {"seed": 1},
    "known edges may be negatives": {"negatives_known": True},
    "negatives from all nodes": {"negative_pool": "nodes"},
    "historical negatives": {"negatives": "historical"},
    "inductive negatives": {"negatives": "inductive"},
    "batches of 200": {"batch_size": 200},
    "batches of 1024": {"batch_size": 1024},
    "mean over batches": {"averaging": "batch"},
    "stored after the event": {"update_from": "observed"},
    "split by count": {"split": "count"},
    "causal": {"visibility": "causal"},
    "released-link": {"negative_draw": "row"},
    "dyglib": {
        name: getattr(preset("dyglib"), name)
        for name in ("batch_size", "negatives_known", "averaging")
    },
}


def with_random_features(stream: EventStream, seed: int = 9) -> EventStream:
    x = np.random.default_rng(seed).standard_normal((stream.num_nodes, 1)).astype(np.float32)
    return EventStream.from_arrays(src=stream.src, dst=stream.dst, t=stream.t, msg=stream.msg, x=x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--random-features", action="store_true", help="as mooc_link.py trains")
    args = parser.parse_args()
    stream = read_events(args.data)
    if args.random_features:
        stream = with_random_features(stream)
    run = load_run(args.run, data=stream)
    protocols = {name: ("link", LINK.with_(**change)) for name, change in CHANGES.items()}
    protocols["tgb"] = ("ranking", preset("tgb"))
    for name, (task, protocol) in protocols.items():
        found = {}
        # One event at a time is the only way to a causal state: minutes, so left out for the run.
        if protocol.visibility == "stale":
            found["ctan"] = under(run, protocol, task)["test"]
        for model in ("edgebank", "blend"):
            stage = Stage.prepare(stream, task, model, {}, protocol)
            state = stage.predictor.model.init_state()
            found[model] = evaluate(stage, state, Phase("test")).metrics
        print(json.dumps({"protocol": name, "task": task, **found}), flush=True)


if __name__ == "__main__":
    main()
