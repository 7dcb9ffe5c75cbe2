"""The tables of docs/pascalvoc.md, from benchmarks/results/pascalvoc.json.

python benchmarks/pascalvoc_page.py
"""

import json
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "pascalvoc.md"
PARTS = {"train": "training", "val": "validation", "test": "test"}


def table(head, rows):
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def counts(runs):
    def sizes(name):
        return [" / ".join(f"{n:,}" for n in run[name]) for run in runs.values()]

    def numbers(name):
        return [f"{run[name]:,}" for run in runs.values()]

    spread = [run["superpixels"] for run in runs.values()]
    return table(
        ["compactness", *runs],
        [
            ["images", *numbers("images")],
            [
                "superpixels of an image: least, quartiles, most",
                *(
                    ", ".join(f"{n:g}" for n in [s["min"], *s["quartiles"], s["max"]])
                    for s in spread
                ),
            ],
            ["mean", *(s["mean"] for s in spread)],
            ["nodes of a graph", *numbers("nodes_per_graph")],
            [
                "graphs kept",
                *(f"{r['graphs_kept']} ({r['share_kept']:.1%})" for r in runs.values()),
            ],
            ["events", *numbers("events")],
            ["graphs by lists: training / validation / test", *sizes("graphs_by_lists")],
            ["graphs by shares", *sizes("graphs_by_shares")],
            [
                "in whole batches of 256, by shares",
                *numbers("graphs_in_whole_batches_of_256_by_shares"),
            ],
            ["superpixels that no walk reaches", *numbers("superpixels_no_walk_reaches")],
            [
                "labels that differ between centroid and majority",
                *(f"{run['label_differs_from_majority']:.2%}" for run in runs.values()),
            ],
            [
                "the same bytes on a second run",
                *("yes" if r["same_bytes"] else "no" for r in runs.values()),
            ],
        ],
    )


def balance(runs):
    """Shares of events, in percent; classes by their share in training."""
    columns = [run["events_by_class"][part] for run in runs.values() for part in PARTS]
    totals = [sum(column.values()) for column in columns]
    classes = sorted(columns[0], key=columns[0].get, reverse=True)
    return table(
        ["events, %", *(f"{c}: {name}" for c in runs for name in PARTS.values())],
        [
            [
                name,
                *(f"{100 * c[name] / total:.1f}" for c, total in zip(columns, totals, strict=True)),
            ]
            for name in classes
        ],
    )


def speed(runs):
    rows = []
    for compactness, run in runs.items():
        for took in run["from_nothing"]:
            rows.append(
                [
                    f"compactness {compactness}, {took['processes']} process"
                    + ("es" if took["processes"] > 1 else ""),
                    took["images_per_second"],
                    took["images_per_cpu_second"],
                    f"{took['load_before'][0]} to {took['load_after'][0]}",
                ]
            )
        rows.append(
            [
                f"compactness {compactness}, from the cache",
                round(run["images"] / run["from_cache_seconds"]),
                "",
                "",
            ]
        )
    return table(["", "images/s", "images per CPU second", "load, of two cores"], rows)


def filled(page):
    """The page with its tables as the records have them."""
    runs = json.loads((HERE / "results" / "pascalvoc.json").read_text())["compactness"]
    for name, made in (("counts", counts), ("balance", balance), ("speed", speed)):
        page, found = re.subn(
            rf"(<!-- table {name} -->\n).*?(<!-- end -->)",
            lambda match, made=made: f"{match[1]}{made(runs)}\n{match[2]}",
            page,
            flags=re.S,
        )
        assert found == 1, name
    return page


def main():
    PAGE.write_text(filled(PAGE.read_text()))


if __name__ == "__main__":
    main()
