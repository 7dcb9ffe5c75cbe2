"""What the state owes to learning: a run's weights go through training once more, at several rates.

    python -m benchmarks.protocols_rates wikipedia --root DATA --run runs/wikipedia-paper-link

At rate 0 the weights stand still, and the state is the one that frozen weights make. Above, they
move as they go, and the state is made by many of them, as in every epoch of training. One JSON line
for each rate goes to ``benchmarks/results/protocols-rates.jsonl``.
"""

import argparse
import json
from pathlib import Path

from benchmarks.mooc_link import with_random_features
from ctan.events import read_events
from ctan.tasks import preset
from ctan.training import go_on

RESULT = Path(__file__).parent / "results" / "protocols-rates.jsonl"
RATES = (0.0, 1e-6, 1e-5, 1e-4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", choices=("wikipedia", "mooc"))
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True)
    args = parser.parse_args()
    stream = read_events(args.root / args.dataset / "events.parquet")
    if args.dataset == "mooc":
        stream = with_random_features(stream)  # as mooc_link.py trains
    for rate in RATES:
        # Adam's decay of weights is scaled by the rate: at rate 0 nothing moves.
        protocol = preset("paper-link").with_(epochs=1, lr=rate)
        found = go_on(args.run, stream, protocol=protocol).results
        line = {"dataset": args.dataset, "rate": rate, "val": found["val"], "test": found["test"]}
        print(json.dumps(line), flush=True)
        with RESULT.open("a") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
