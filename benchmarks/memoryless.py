"""How far models without memory see on T-PathGraph: test accuracy at and beyond their reach.

    python -m benchmarks.memoryless

Each model reads L hops (CAWN: walks of L steps) and is asked at the last event of a path of n
nodes, which has been observed by then. Its destination stands n - 1 hops from the label, its source
n - 2, so reading `dst` should solve n <= L + 1 and reading the `pair` n <= L + 2, and no more.

One line of JSON per run is appended to --out as it is done, first every run of one seed, then of
the next; called again, what is there is not run again. `benchmarks/models_report.py` writes the
table into docs/models.md.
"""

import argparse
import json
import time
from pathlib import Path

import torch

from ctan.datasets import path_graphs
from ctan.tasks import preset
from ctan.training import environment, fit

RESULTS = Path(__file__).parent / "results" / "memoryless.jsonl"
#: The paper's task; a larger learning rate and smaller batches, so that 20 epochs are enough.
PROTOCOL = preset("paper-sequence").with_(lr=3e-3, graph_batch=32, plateau=0, through_time=0)
#: Models, what sets their hops, and which are run. Those without a name for it see one hop.
REACH = {
    "tgat": ("layers", (1, 2, 3)),
    "graphmixer": (None, (1,)),
    "dygformer": (None, (1,)),
    "tcl": (None, (1,)),
    "cawn": ("length", (1, 2)),
}
READOUTS = ("dst", "pair")
#: Path lengths: so many nodes more than hops, and a long one.
BEYOND, FAR = (1, 2, 3), 9
#: From a node of a path one way leads back, so all walks are the same one.
WALKS = 4


def planned(seeds: list[int]) -> list[dict]:
    """Every run: model, hops, readout, nodes of a path, seed."""
    return [
        {"model": model, "hops": hops, "readout": readout, "nodes": nodes, "seed": seed}
        for seed in seeds
        for model, (_, reaches) in REACH.items()
        for hops in reaches
        for nodes in lengths(hops)
        for readout in READOUTS
    ]


def lengths(hops: int) -> list[int]:
    """The nodes of the paths that a model of so many hops is tried on."""
    return [*(hops + more for more in BEYOND), FAR]


def measure(model: str, hops: int, readout: str, nodes: int, seed: int) -> dict:
    started = time.process_time()
    options: dict = {"dim": 16, "time_dim": 1}
    named, _ = REACH[model]
    if named:
        options[named] = hops
    if model == "cawn":
        options["walks"] = WALKS
    protocol = PROTOCOL.with_(readout=readout, seed=seed)
    run = fit(path_graphs(nodes), task="sequence", model=model, options=options, protocol=protocol)
    return {
        "accuracy": run.results["test"]["accuracy"],
        "options": options,
        "parameters": run.results["parameters"],
        "seconds": round(time.process_time() - started, 1),
        "protocol": protocol.to_dict(),
        "summary": run.results["summary"],
        "environment": environment(),
    }


def read(path: Path = RESULTS) -> list[dict]:
    """The records so far."""
    return list(map(json.loads, path.read_text().splitlines())) if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    args = parser.parse_args()
    torch.set_num_threads(1)
    done = read(args.out)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    for run in planned(args.seeds):
        if any(run.items() <= record.items() for record in done):
            continue
        record = {**run, **measure(**run)}
        with open(args.out, "a") as file:
            file.write(json.dumps(record) + "\n")
        print(*run.values(), f"{record['accuracy']:.3f}", f"{record['seconds']} s", flush=True)


if __name__ == "__main__":
    main()
