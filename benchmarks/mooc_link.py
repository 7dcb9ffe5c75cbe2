"""CTAN on MOOC link prediction under the paper's protocol: a small selection, then one long run.

    python -m benchmarks.mooc_link --root ../shared/data --out runs/mooc

Every configuration trains for a few epochs; the one with the best validation AUC then trains with
the paper's early stopping. A run that is stopped goes on where it was when called again. The test
part is measured once, at the best epoch of the long run, and is not used to choose. The record,
with the configuration and the whole selection, goes to ``benchmarks/results/mooc_link.json``.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np

from ctan.events import EventStream, read_events
from ctan.report import paper_table
from ctan.tasks import preset
from ctan.training import fit

RESULT = Path(__file__).parent / "results" / "mooc_link.json"
#: Adam, 1e-4, weight decay 1e-6, batches of 256, early stopping after 50 epochs; seed 0.
PAPER = preset("paper-link")


def configurations() -> list[dict]:
    """A part of the paper's grid at its larger embedding, and what its code and text differ in."""
    common = {"dim": 128, "neighbors": 5, "time_dim": 16}
    grid = [
        {**common, "steps": steps, "epsilon": epsilon, "gamma": gamma}
        for steps, epsilon, gamma in product((1, 3), (0.5, 0.1), (0.1, 0.001))
    ]
    return [*grid, *({**grid[0], **one} for one in ({"final_act": True}, {"psi": "add"}))]


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
    parser.add_argument("--screen", type=int, default=3, help="epochs of each configuration")
    parser.add_argument("--epochs", type=int, default=1000, help="epochs of the long run at most")
    args = parser.parse_args()
    stream = with_random_features(read_events(args.root / "mooc" / "events.parquet"))

    def run(options: dict, epochs: int, folder: str) -> dict:
        protocol = PAPER.with_(epochs=epochs)
        return fit(stream, options=options, protocol=protocol, folder=args.out / folder).results | {
            "epochs": epochs,
            "options": options,
        }

    screened = []
    for options in configurations():
        found = run(options, args.screen, f"screen-{name(options)}")
        screened.append({"options": options, "val_auc": found["val"]["auc"]})
        print(json.dumps(screened[-1]), flush=True)
    best = max(screened, key=lambda line: line["val_auc"])["options"]
    final = run(best, args.epochs, "long")
    RESULT.write_text(
        json.dumps(
            {
                "dataset": "mooc",
                **final,
                "paper_auc": paper_table("link").cells["CTAN", "mooc"].mean,
                "screen": {"epochs": args.screen, "validation": screened},
            },
            indent=2,
        )
        + "\n"
    )
    print(json.dumps({"options": best, "test": final["test"], "epoch": final["best_epoch"]}))


if __name__ == "__main__":
    main()
