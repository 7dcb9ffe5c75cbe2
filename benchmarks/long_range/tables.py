"""The tables of docs/long-range.md, from the results of finished runs."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable

from benchmarks.long_range.records import NAMES, RESULTS, Runs, cell, chosen, read, seconds
from benchmarks.pages import table
from ctan.report import paper_table

#: In the order of the paper's table of T-PathGraph.
MEMORIES = ("jodie", "dyrep", "tgn")
#: A signal is readable where a linear readout is right about so often.
READABLE = 0.9


def headline() -> str:
    runs, paper = read("headline"), paper_table("t-pathgraph")
    lengths = [3, 5, 7, 9, 11, 13, 15, 20]
    of_paper = [f"{c.mean:.1f} ± {c.std:.1f}" for c in (paper["CTAN", str(n)] for n in lengths)]
    return table(
        ["test accuracy, %, n =", *lengths],
        [
            ["CTAN, the paper", *of_paper],
            *(
                [
                    f"CTAN, latching, variant {v}",
                    *(cell(chosen(runs, variant=v, length=n)) for n in lengths),
                ]
                for v in ("paper", "released")
            ),
            ["seconds a run (median)", *(seconds(chosen(runs, length=n)) for n in lengths)],
        ],
    )


def beyond() -> str:
    runs = read("beyond")
    lengths = [50, 100, 200, 500]
    return table(
        ["test accuracy, %, n =", *lengths],
        [
            *(
                [
                    f"CTAN, latching, variant {v}",
                    *(cell(chosen(runs, variant=v, length=n)) for n in lengths),
                ]
                for v in ("paper", "released")
            ),
            [
                "seconds a run (median)",
                *(seconds(chosen(runs, variant="paper", length=n)) for n in lengths),
            ],
        ],
    )


def models() -> str:
    """Every model under the same recipe, and the paper's rows."""
    runs, starts, paper = read("baselines"), read("starts"), paper_table("t-pathgraph")
    lengths = [3, 9, 15, 20, 50, 100]
    rows = []

    def add(name: str, found: Runs) -> None:
        cells = (cell(chosen(found, length=n)) for n in lengths)
        rows.append([name, *cells, seconds(chosen(found, length=20))])

    for start in ("default", "bounded", "isometric"):
        add(f"CTAN, {start} start", chosen(starts, init=start))
    for model in MEMORIES:
        add(NAMES[model], chosen(runs, model=model))
    for model in ("CTAN", "JODIE", "DyRep", "TGN"):
        known = [paper.cells.get((model, str(n))) for n in lengths]
        rows.append(
            [
                f"{model}, the paper",
                *("" if c is None else f"{c.mean:.1f} ± {c.std:.1f}" for c in known),
                "",
            ]
        )
    return table(["test accuracy, %, n =", *lengths, "seconds a run at n = 20 (median)"], rows)


def latches() -> str:
    runs, beyond_runs = read("latching_memories"), read("beyond") + read("headline")
    lengths = [20, 50, 100]
    found = {"CTAN": chosen(beyond_runs, variant="paper")}
    found |= {NAMES[model]: chosen(runs, model=f"{model}-latching") for model in MEMORIES}
    rows = [
        [
            name,
            *(cell(chosen(each, length=n)) for n in lengths),
            seconds(chosen(each, length=100)),
        ]
        for name, each in found.items()
    ]
    return table(["latching start, n =", *lengths, "seconds a run at n = 100 (median)"], rows)


def gains() -> str:
    runs = read("gain")
    lengths = [20, 100, 200]
    values = sorted({run["options"]["gain"] for run in runs})
    return table(
        ["gain of a hop", *values],
        [[f"n = {n}", *(cell(chosen(runs, gain=g, length=n)) for g in values)] for n in lengths],
    )


def elsewhere() -> str:
    runs = read("elsewhere")
    rows: list[list[str]] = []
    for name, options in (
        ("CTAN, default", {"init": "default"}),
        ("CTAN, isometric", {"init": "isometric"}),
        ("CTAN, latching, gain 1", {"init": "latching", "gain": 1.0}),
        ("CTAN, latching, gain 3", {"init": "latching", "gain": None}),
    ):
        rows.append([name, cell(chosen(runs, **options))])
    rows += [[NAMES[m], cell(chosen(runs, model=m))] for m in MEMORIES]
    return table(["signal at node 10 of 20", "test accuracy, %"], rows)


def ablations() -> str:
    runs = read("ablations")
    short = {"epochs": 20}
    rows: list[list[str]] = []

    def add(name: str, found: Runs, lengths: tuple[int, ...] = (20, 100)) -> None:
        rows.append(
            [name, *(cell(chosen(found, length=n)) if n in lengths else "" for n in (20, 100))]
        )

    for psi in ("add", "tanh_concat"):
        add(f"latching, ψ = {psi}", chosen(runs, init="latching", psi=psi))
    add(
        "latching, no gradient through time",
        chosen(runs, init="latching", protocol={**short, "through_time": 0}),
    )
    for solver in ("heun", "rk4", "cayley", "exponential"):
        add(f"latching, solver {solver}", chosen(runs, solver=solver))
    add("default, no gradient through time", chosen(runs, protocol={"through_time": 0}))
    for psi in ("add", "tanh_concat"):
        add(f"default, ψ = {psi}", chosen(runs, init="default", psi=psi))
    add("default, ψ = add, inputs as faint as with concat", chosen(runs, model="ctan-faint"))
    add("isometric, ψ = add", chosen(runs, init="isometric", psi="add"))
    for gamma in (0.0, 0.01):
        add(f"isometric, γ = {gamma}", chosen(runs, init="isometric", gamma=gamma))
    add("isometric, learning rate 3e-4", chosen(runs, init="isometric", protocol={"lr": 3e-4}))
    add(
        "isometric, clipped, rate halved on plateaus",
        chosen(runs, protocol={"clip": 1.0, "plateau": 5}),
    )
    return table(["one thing changed, n =", 20, 100], rows)


def more_graphs() -> str:
    runs = read("more_graphs")
    rows = []
    for name, wanted in (
        ("CTAN, default", {"init": "default"}),
        ("CTAN, isometric", {"init": "isometric"}),
        ("JODIE", {"model": "jodie"}),
    ):
        found = chosen(runs, **wanted)
        rows.append([name, *(cell(chosen(found, length=n)) for n in (50, 100))])
    return table(["10,000 graphs, n =", 50, 100], rows)


def teaching() -> str:
    """The same start and recipe, taught in other ways; the first rows repeat the table above."""
    repeated, taught = read("starts") + read("baselines"), read("teaching")
    lengths = [50, 100, 200]
    rows = []
    for way, runs in (
        ("the 700 graphs, again and again", repeated),
        ("fresh graphs in each epoch", chosen(taught, teaching="fresh")),
        ("curriculum", chosen(taught, teaching="curriculum")),
        ("fresh graphs and curriculum", chosen(taught, teaching="fresh curriculum")),
    ):
        for name, wanted in (
            ("CTAN, default start", {"init": "default"}),
            ("CTAN, isometric start", {"init": "isometric"}),
            *((NAMES[model], {"model": model}) for model in MEMORIES),
        ):
            found = chosen(runs, **wanted)
            if found:
                cells = (cell(chosen(found, length=n)) for n in lengths)
                at = chosen(found, length=100)
                rows.append([f"{way}: {name}", *cells, _longest(at), seconds(at)])
    longest, time = "longest path taught for n = 100", "seconds a run at n = 100"
    return table(["test accuracy, %, n =", *lengths, longest, time], rows)


def _longest(runs: Runs) -> str:
    """Median of the longest path that was taught before the epoch whose model was chosen."""
    longest = [
        max(run["train_length"][: run["best_epoch"] + 1])
        for run in runs
        if "curriculum" in run["teaching"]
    ]
    return f"{statistics.median(longest):.0f}" if longest else ""


def regularised() -> str:
    runs, plain = read("regularised"), chosen(read("starts"), init="isometric")
    rows = [["as above (weight decay 1e-7)", *(cell(chosen(plain, length=n)) for n in (50, 100))]]
    for name, found in (
        ("weight decay 1e-4", chosen(runs, protocol={"weight_decay": 1e-4})),
        ("weight decay 1e-3", chosen(runs, protocol={"weight_decay": 1e-3})),
        ("a fifth of the embedding dropped", chosen(runs, model="ctan-dropout")),
    ):
        rows.append([name, *(cell(chosen(found, length=n)) for n in (50, 100))])
    return table(["isometric start, n =", 50, 100], rows)


def signals() -> str:
    """What a hop and an event cost, from the curves of the figures."""
    hops, starts, events = (
        json.loads((RESULTS / f"{figure}.json").read_text())
        for figure in ("sensitivity", "sensitivity-starts", "retention")
    )
    # The other starts are there already, by their ψ.
    hops |= {name: starts[name] for name in starts if name.startswith("latching") or "," in name}
    head = ["", "factor of a hop", "readable for hops", "factor of an event"]
    rows = [
        [name, *_fading(hops.get(name)), *_fading(events.get(name))]
        for name in [*hops, *(name for name in events if name not in hops)]
    ]
    return table([*head, "readable for events"], rows)


def _fading(curve: dict[str, list[float]] | None) -> list[str]:
    """By what the derivative is multiplied, from step 8 to 18; the last step that is readable."""
    if curve is None:
        return ["", ""]
    early, late = curve["derivative"][7], curve["derivative"][17]
    lost = [step for step, accuracy in enumerate(curve["readable"]) if accuracy < READABLE]
    return [
        f"{(late / early) ** 0.1:.2f}" if early else "0",
        str(lost[0]) if lost else f"all {len(curve['readable'])}",
    ]


TABLES: dict[str, Callable[[], str]] = {
    make.__name__: make
    for make in (
        headline, beyond, models, latches, gains, elsewhere, ablations, more_graphs, teaching,
        regularised, signals,
    )
}  # fmt: skip
