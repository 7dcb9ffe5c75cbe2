"""CTAN on MOOC link prediction under the paper's protocol: a small selection, then one long run.

    python benchmarks/mooc_link.py --root ../shared/data --out runs/mooc

Every configuration trains for a few epochs; the one with the best validation AUC then trains with
the paper's early stopping. A run that is stopped goes on where it was when called again. The test
part is measured once, at the best epoch of the long run, and is not used to choose.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np

from ctan.events import EventStream, read_events
from ctan.tasks import Protocol
from ctan.training import fit

#: The paper: Adam, 1e-4, weight decay 1e-6, batches of 256, early stopping after 50 epochs.
PAPER = Protocol(lr=1e-4, weight_decay=1e-6, batch_size=256, patience=50, epochs=1000)
PAPER_AUC = 92.47


def configurations() -> list[dict]:
    """A part of the paper's grid at its larger embedding, and what its code and text differ in."""
    common = {"dim": 128, "neighbors": 5, "time_dim": 16}
    grid = [
        {**common, "steps": steps, "epsilon": epsilon, "gamma": gamma}
        for steps, epsilon, gamma in product((1, 3), (0.5, 0.1), (0.1, 0.001))
    ]
    return [*grid, {**grid[0], "final_act": True}, {**grid[0], "psi": "add"}]


def with_random_features(stream: EventStream, seed: int = 9) -> EventStream:
    """One random number per node, as the paper's code gives streams without node features."""
    x = np.random.default_rng(seed).standard_normal((stream.num_nodes, 1)).astype(np.float32)
    return EventStream.from_arrays(src=stream.src, dst=stream.dst, t=stream.t, msg=stream.msg, x=x)


def name(options: dict) -> str:
    """A folder name that tells configurations apart."""
    return "-".join(f"{key}{value}" for key, value in options.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--screen", type=int, default=6, help="epochs of each configuration")
    parser.add_argument("--epochs", type=int, default=1000, help="epochs of the long run at most")
    args = parser.parse_args()
    stream = with_random_features(read_events(args.root / "mooc" / "events.parquet"))

    def run(options: dict, epochs: int) -> dict:
        folder = args.out / f"{epochs}-{name(options)}"
        done = fit(
            stream, options=options, protocol=PAPER.with_(epochs=epochs), folder=folder
        ).results
        line = {"options": options, "epochs": epochs, "val_auc": done["val"]["auc"]}
        print(json.dumps(line), flush=True)
        return done

    scores = [run(options, args.screen)["val"]["auc"] for options in configurations()]
    best = configurations()[int(np.argmax(scores))]
    final = run(best, args.epochs)
    print(
        json.dumps(
            {
                "options": best,
                "best_epoch": final["best_epoch"],
                "test_auc": round(100 * final["test"]["auc"], 2),
                "test_ap": round(100 * final["test"]["ap"], 2),
                "paper": PAPER_AUC,
                "protocol": final["summary"],
            }
        )
    )


if __name__ == "__main__":
    main()
