"""How far models without memory see on T-PathGraph: test accuracy at and beyond their reach.

    python -m benchmarks.memoryless

Each model reads L hops (CAWN: walks of L steps) and is asked at the last event of a path of n
nodes, which has been observed by then. Its destination stands n - 1 hops from the label, its source
n - 2, so reading `dst` should solve n <= L + 1 and reading the `pair` n <= L + 2, and no more.

One line of JSON per run is appended to --out as it is done; called again, what is there is not run
again. The table is printed at the end.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import mean, pstdev

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
    "cawn": ("length", (1, 2, 3)),
}
READOUTS = ("dst", "pair")
#: Path lengths beyond the number of hops.
BEYOND = (1, 2, 3, 4)
FAR = 9


def planned(seeds: list[int]) -> list[dict]:
    """Every run: model, hops, readout, nodes of a path, seed."""
    return [
        {"model": model, "hops": hops, "readout": readout, "nodes": nodes, "seed": seed}
        for model, (_, reaches) in REACH.items()
        for hops in reaches
        for nodes in [*(hops + more for more in BEYOND), FAR]
        for readout in READOUTS
        for seed in seeds
    ]


def measure(model: str, hops: int, readout: str, nodes: int, seed: int) -> dict:
    started = time.process_time()
    options: dict = {"dim": 16, "time_dim": 1}
    named, _ = REACH[model]
    if named:
        options[named] = hops
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


def table(records: list[dict]) -> str:
    """A row for each model, its hops and readout: mean and standard deviation over the seeds."""
    rows = [
        f"| model | hops L | readout | {' | '.join(f'L + {more}' for more in BEYOND)} | {FAR} |",
        "|---|---:|---|" + "---:|" * (len(BEYOND) + 1),
    ]
    shown = dict.fromkeys((r["model"], r["hops"], r["readout"]) for r in records)
    for model, hops, readout in shown:
        cells = []
        for nodes in [*(hops + more for more in BEYOND), FAR]:
            wanted = {"model": model, "hops": hops, "readout": readout, "nodes": nodes}
            found = [100 * r["accuracy"] for r in records if wanted.items() <= r.items()]
            cells.append(f"{mean(found):.1f} ± {pstdev(found):.1f}" if found else "")
        rows.append(f"| {model} | {hops} | {readout} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    args = parser.parse_args()
    torch.set_num_threads(1)
    text = args.out.read_text() if args.out.exists() else ""
    done = [json.loads(line) for line in text.splitlines()]
    for run in planned(args.seeds):
        if any(run.items() <= record.items() for record in done):
            continue
        done.append({**run, **measure(**run)})
        args.out.parent.mkdir(parents=True, exist_ok=True)
        with open(args.out, "a") as file:
            file.write(json.dumps(done[-1]) + "\n")
    print(table(done))
    print("\n" + PROTOCOL.summary(), "(and the readouts and seeds of the table)")


if __name__ == "__main__":
    main()
