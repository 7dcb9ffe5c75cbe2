"""``ctan train``: fit a model, watch it, keep the run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from ctan.cli import _reading as r
from ctan.cli import _show
from ctan.cli._asked import data_options, device_from, protocol_from, together
from ctan.cli._options import typed
from ctan.cli.data_sets import Root, opened
from ctan.errors import CtanError

if TYPE_CHECKING:
    from ctan.training import Recipe
    from ctan.training.results import Progress

_DATA, _MODEL, _PROTOCOL, _RUN = "Data sets", "Model", "Protocol", "Run"


def train(
    task: Annotated[
        str,
        Argument(help="link, ranking, sequence, edge, node or regression.", show_default=False),
    ],
    data: Annotated[
        str,
        Argument(
            metavar="FILE|DATASET",
            help="A .csv, .parquet, .arrow, .feather or .npz file of events, or a data set's name.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str, Option(help="`ctan models list` shows them.", rich_help_panel=_MODEL)
    ] = "ctan",
    option: Annotated[
        list[str] | None,
        Option(help="Option of the model, key=value; repeatable.", rich_help_panel=_MODEL),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        Option(help="Field of the protocol, key=value; repeatable.", rich_help_panel=_PROTOCOL),
    ] = None,
    epochs: Annotated[int | None, Option(help="At most.", rich_help_panel=_PROTOCOL)] = None,
    batch_size: Annotated[
        int | None,
        Option(help="Events, or graphs, in a batch.", rich_help_panel=_PROTOCOL),
    ] = None,
    lr: Annotated[float | None, Option(help="Learning rate.", rich_help_panel=_PROTOCOL)] = None,
    seed: Annotated[
        int | None,
        Option(help="Of weights, negatives, order, dropout.", rich_help_panel=_PROTOCOL),
    ] = None,
    run: Annotated[
        Path | None,
        Option(
            help="Run folder; one that holds this run goes on (default: runs/TASK-DATA-MODEL-N).",
            rich_help_panel=_RUN,
        ),
    ] = None,
    from_run: Annotated[
        Path | None,
        Option(
            "--from",
            help="A run to go on from: its model, protocol and weights, on these events.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    device: Annotated[str, Option(help="cpu, cuda or cuda:N.", rich_help_panel=_RUN)] = "cpu",
    checkpoint_seconds: Annotated[
        float, Option(help="At most between two checkpoints.", min=0.0, rich_help_panel=_RUN)
    ] = 30.0,
    as_json: Annotated[
        bool, Option("--json", help="One JSON document on stdout.", rich_help_panel=_RUN)
    ] = False,
    length: Annotated[
        int | None, Option(help="T-PathGraph: nodes in a path.", rich_help_panel=_DATA)
    ] = None,
    variant: Annotated[
        str | None, Option(help="T-PathGraph: paper or released.", rich_help_panel=_DATA)
    ] = None,
    graphs: Annotated[
        int | None, Option(help="T-PathGraph: how many.", rich_help_panel=_DATA)
    ] = None,
    data_option: Annotated[
        list[str] | None,
        Option(help="Option of any data set, key=value; repeatable.", rich_help_panel=_DATA),
    ] = None,
    root: Root = None,
    src: r.Src = None,
    dst: r.Dst = None,
    t: r.Time = None,
    y: r.Label = None,
    msg: r.Msg = None,
    graph: r.Graph = None,
    kind: r.Kind = None,
    unit: r.Unit = None,
    sort: r.Sort = False,
    bipartite: r.Bipartite = False,
    relabel: r.Relabel = False,
    nodes: r.Nodes = None,
) -> None:
    """Train a model on a file of events or on a data set, and measure it.

    ctan train link calls.csv --src caller --dst callee --t time

    ctan train sequence t-pathgraph --length 20

    ctan train link calls-until-june.csv --src caller --dst callee --t time --from runs/link-calls

    A run that was stopped goes on where it stopped when the same command is given again.
    """
    from ctan import training
    from ctan.cli._progress import RunProgress
    from ctan.models import options as options_of

    file = r.reading(
        src=src, dst=dst, t=t, y=y, msg=msg, graph=graph, kind=kind, unit=unit, sort=sort,
        bipartite=bipartite, relabel=relabel, nodes=nodes,
    )  # fmt: skip
    named = {"length": length, "variant": variant, "graphs": graphs}
    start = training.recipe(task, model)
    if from_run is not None:
        start, model = _going_on(from_run, task, model, option)
    flags = {"epochs": epochs, "lr": lr, "seed": seed}
    how, own, of_data, device = together(
        lambda: protocol_from(start.protocol, protocol or (), batch_size, **flags),
        lambda: typed(option or (), options_of(model), f"option of {model}", "--option"),
        lambda: data_options(data, file, named, data_option or (), root),
        lambda: device_from(device),
    )
    stream, record = opened(data, of_data, root)
    _show.say(f"{data}: {len(stream):,} events, {stream.num_nodes:,} nodes")
    options = {**start.options, **own}
    if from_run is not None:
        record["from"] = training.origin(from_run)
        newer = training.newer_events(from_run, stream)
        _show.say(
            f"from {from_run}: "
            + ("none of its events here" if newer is None else f"{newer:,} events are newer")
        )
    spec = training.Spec(task, model, options, how, record, training.fingerprint(stream))
    folder = run or training.folder_for(Path("runs"), f"{task}-{Path(data).stem}-{model}", spec)
    with training.claimed(folder):
        came = training.progress_of(folder)
        header = [
            f"{how.summary()}; lr {how.lr:g}, at most {how.epochs} epochs",
            f"run folder {folder}{_resumed(came)}",
        ]
        with _stoppable(folder), RunProgress(how.epochs, header) as progress:
            common = {
                "protocol": how,
                "folder": folder,
                "data": record,
                "device": device,
                "checkpoint_seconds": checkpoint_seconds,
                "watch": progress.tick,
                "on_epoch": progress.epoch,
            }
            if from_run is None:
                done = training.fit(stream, task=task, model=model, options=options, **common)
            else:
                done = training.go_on(from_run, stream, **common)
    if math.isnan(done.results["test"]["loss"]):
        advice = "training diverged. Try a smaller --lr, or --protocol clip=1, in another --run."
        _show.say(f"the scores are not numbers: {advice}", "bold red")
    if as_json:
        _show.json_out({"run": str(folder), **done.results})
        return
    _show.results_out(done.results, len(done.history))
    _show.out(f"run folder: {folder} (measure it again: ctan evaluate {folder})")


def _going_on(run: Path, task: str, model: str, option: list[str] | None) -> tuple[Recipe, str]:
    """What a run was trained with, unless something else is asked for."""
    from ctan import training

    spec, _ = training.start_of(run)
    if task != spec.task or model not in ("ctan", spec.model) or option:
        raise CtanError(
            f"--from {run}: a run of task {spec.task}, model {spec.model}, goes on as it is: leave "
            "--model and --option out, and name its task."
        )
    return training.Recipe(spec.protocol, dict(spec.options)), spec.model


@contextmanager
def _stoppable(folder: Path) -> Iterator[None]:
    """Ctrl-C ends a run in order: it says what is kept."""
    from ctan.training import progress_of

    try:
        yield
    except KeyboardInterrupt:
        kept = progress_of(folder)
        where = f"epoch {kept.epoch + 1}, batch {kept.batches:,}" if kept else "the start"
        _show.say(f"stopped. The same command goes on from {where}.")
        raise Exit(130) from None


def _resumed(came: Progress | None) -> str:
    if came is None:
        return ""
    if came.finished:
        return ": finished before, measured again"
    batches = f", after {came.batches:,} of its batches" if came.batches else ""
    return f": resumed at epoch {came.epoch + 1}{batches}"
