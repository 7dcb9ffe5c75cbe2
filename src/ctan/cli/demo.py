"""``ctan demo``: the paper's longest-range experiment in a few minutes."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ctan.cli import _outputs, _show
from ctan.errors import CtanError

if TYPE_CHECKING:
    from ctan.cli._jobs import Outcome
    from ctan.report import Table

_BASELINES = ("jodie", "tgat")


def demo(
    out: Annotated[Path, Option(help="Folder of the report.")] = Path("runs/demo"),
    seeds: Annotated[int, Option(help="Seeds of CTAN; the baselines get one.", min=1)] = 3,
    lengths: Annotated[str, Option(help="Nodes in a path, several.")] = "3,5,7,9,15,20",
    epochs: Annotated[int, Option(help="Of every run.", min=1)] = 60,
    graphs: Annotated[int, Option(help="Paths of each length.", min=20)] = 1000,
    workers: Annotated[
        int | None, Option(help="Processes, one thread each (default: one for each core).", min=1)
    ] = None,
) -> None:
    """Train CTAN and two baselines on T-PathGraph, and put them beside the paper's numbers."""
    from ctan.cli._jobs import Job, run_all
    from ctan.cli._progress import JobProgress

    sizes = _lengths(lengths)
    _outputs.folder(out)
    plan = [("ctan", seed) for seed in range(seeds)] + [(model, 0) for model in _BASELINES]
    jobs = [
        Job(model, length, seed, epochs, graphs)
        for length in sorted(sizes, reverse=True)
        for model, seed in plan
    ]
    started = time.perf_counter()
    outcomes = []
    with JobProgress(len(jobs)) as progress:
        for outcome in run_all(jobs, workers or len(os.sched_getaffinity(0))):
            outcomes.append(outcome)
            job = outcome.job
            progress.done(
                f"{job.model:<5} length {job.length:>2} seed {job.seed}   "
                f"test accuracy {outcome.accuracy:6.2f} %   {outcome.seconds:.1f} s"
            )
    _report(out, outcomes, sizes, time.perf_counter() - started)


def _lengths(text: str) -> list[int]:
    """Lengths from a list with commas, each once, rising.

    Example:
        >>> _lengths("9, 3")
        [3, 9]
    """
    try:
        found = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise CtanError(
            f"--lengths {text}: expected whole numbers with commas, such as 3,9,20."
        ) from None
    if found[0] < 2:
        raise CtanError(f"--lengths {text}: a path has at least 2 nodes.")
    return found


def _report(out: Path, outcomes: list[Outcome], lengths: list[int], seconds: float) -> None:
    from ctan import report
    from ctan.cli._progress import duration

    paper = report.paper_table("t-pathgraph")
    ours = _table(outcomes, lengths)
    both = report.beside(ours, paper)
    recipe = _recipe(outcomes)

    out.mkdir(parents=True, exist_ok=True)
    picture = out / "accuracy.png"
    report.accuracy_by_length(picture, ours, paper, caption=recipe)
    (out / "table.md").write_text(both.markdown("length") + f"\n\n{recipe}\n")
    (out / "table.csv").write_text(both.csv("model"))
    (out / "runs.json").write_text(json.dumps([asdict(o) for o in outcomes], indent=2) + "\n")
    parts = [
        report.paragraph(
            "Each graph is a path; its first node carries +1 or -1, all other features are noise. "
            "The answer is asked at the last node, once every edge was seen."
        ),
        report.table(both, "length"),
        report.figure(picture, "Test accuracy against the length of the path"),
        report.paragraph(recipe.replace("\n", " ")),
        report.paragraph("One run of this by itself, with its folder:"),
        report.code("ctan train sequence t-pathgraph --length 20"),
    ]
    page = out / "report.html"
    page.write_text(report.page("CTAN on T-PathGraph", parts))

    # Lengths as rows: the lines are then short enough for any terminal.
    columns = ["length", *(name.replace(", ", "\n") for name in both.rows)]
    lines = [[cell.replace(" ± ", "±") for cell in line] for line in both.transposed().lines()]
    _show.table_out("test accuracy on T-PathGraph (%)", columns, lines)
    _show.out(f"\n{recipe}")
    longest = [o for o in outcomes if o.job.model == "ctan" and o.job.length == lengths[-1]]
    found = ", ".join(f"{o.accuracy:.2f}" for o in sorted(longest, key=lambda o: o.job.seed))
    _show.out(f"\nctan at length {lengths[-1]}, seed by seed: {found} %")
    _show.out(f"{len(outcomes)} runs in {duration(seconds)}. Report: {page}")


def _table(outcomes: list[Outcome], lengths: list[int]) -> Table:
    from ctan.report import Cell, Table

    models = list(dict.fromkeys(("ctan", *_BASELINES)))
    cells = {
        (model.upper(), str(length)): Cell.of(
            [o.accuracy for o in outcomes if (o.job.model, o.job.length) == (model, length)]
        )
        for model in models
        for length in lengths
    }
    return Table(
        [model.upper() for model in models],
        [str(length) for length in lengths],
        cells,
        "test accuracy, percent: mean ± standard deviation over seeds",
    )


def _recipe(outcomes: list[Outcome]) -> str:
    """How the numbers were obtained, in a few lines."""
    from ctan.training import recipe

    how = recipe("sequence").protocol
    job = outcomes[0].job
    seeds = len({o.job.seed for o in outcomes if o.job.model == "ctan"})
    sizes = {o.job.model: o.parameters for o in outcomes}
    parameters = ", ".join(f"{model.upper()} {count:,}" for model, count in sizes.items())
    return (
        f"T-PathGraph, variant paper, {job.graphs:,} graphs of each length, split 70/15/15 by "
        f"graph; read at the last node (readout {how.readout}).\n"
        f"All models alike: gradients through all steps, learning rate {how.lr:g}, weight decay "
        f"{how.weight_decay:g}, {how.graph_batch} graphs per batch, {job.epochs} epochs, best "
        f"epoch by validation loss.\n"
        f"CTAN: mean ± deviation over {seeds} seeds; the others: one seed. "
        f"Parameters: {parameters}.\n"
        "Paper: table of arXiv 2406.02740, 10 seeds, its own training (learning rate 3e-4, 20 "
        "epochs)."
    )
