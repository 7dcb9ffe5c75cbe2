"""``ctan embed`` and ``ctan prequential``: what a model has at a time, and as time goes by."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ctan.cli import _arrays, _show
from ctan.cli import _reading as r
from ctan.cli._asked import data_options, device_from, protocol_from, together
from ctan.cli._options import typed
from ctan.cli.data_sets import Root, opened
from ctan.errors import CtanError


def embed(
    run: Annotated[Path, Argument(help="A run folder.", show_default=False)],
    out: Annotated[Path, Option(help="The .npz file to write.")],
    at: Annotated[
        str | None, Option(help="The time; by default after the last event.", show_default=False)
    ] = None,
    data: Annotated[
        Path | None,
        Option(
            help="The file of its events, or the folder of all data sets, if moved.",
            show_default=False,
        ),
    ] = None,
    device: Annotated[str, Option(help="cpu, cuda or cuda:N.")] = "cpu",
) -> None:
    """Write the embedding of every node seen before a time: arrays `node`, `embedding`, `name`.

    ctan embed runs/link-calls-ctan-1 --at 1714550400 --out embeddings.npz
    """
    import numpy as np

    from ctan import training

    _arrays.checked(out, "--out")
    when = None if at is None else _time(at)
    loaded = training.load_run(run, data=data, device=device_from(device))
    nodes, z = training.embed(loaded, when)
    names = loaded.stage.stream.names
    arrays = {"node": nodes, "embedding": z.cpu().numpy()}
    if names is not None:
        arrays["name"] = np.array([names[int(node)] for node in nodes])
    _arrays.write(out, arrays)
    _show.out(f"{len(nodes):,} nodes of {loaded.spec.model}, {z.shape[1]} numbers each: {out}")
    _show.out(
        f"as seen {'after the last event' if at is None else f'before time {at}'}, under: "
        f"{loaded.spec.protocol.summary()}"
    )


def prequential(
    data: Annotated[str, Argument(metavar="FILE|DATASET", help="Events.", show_default=False)],
    model: Annotated[str, Option(help="`ctan models list` shows them.")] = "ctan",
    task: Annotated[str, Option(help="link, ranking, edge, node or regression.")] = "link",
    option: Annotated[
        list[str] | None, Option(help="Option of the model, key=value; repeatable.")
    ] = None,
    protocol: Annotated[
        list[str] | None, Option(help="A protocol's name, or key=value; repeatable.")
    ] = None,
    every: Annotated[int, Option(help="Events between two lines.", min=1)] = 10_000,
    learn: Annotated[bool, Option(help="Learn from each batch once it was answered.")] = True,
    device: Annotated[str, Option(help="cpu, cuda or cuda:N.")] = "cpu",
    as_json: Annotated[bool, Option("--json", help="One JSON document on stdout.")] = False,
    data_option: Annotated[
        list[str] | None, Option(help="Option of any data set, key=value; repeatable.")
    ] = None,
    root: Root = None,
    src: r.Src = None,
    dst: r.Dst = None,
    t: r.Time = None,
    y: r.Label = None,
    msg: r.Msg = None,
    kind: r.Kind = None,
    unit: r.Unit = None,
    sort: r.Sort = False,
    bipartite: r.Bipartite = False,
    relabel: r.Relabel = False,
    nodes: r.Nodes = None,
) -> None:
    """Predict each batch of a stream, then learn from it: one pass, no epochs.

    ctan prequential calls.csv --model ctan --every 5000
    """
    from ctan import training
    from ctan.models import options as options_of

    start = training.recipe(task, model)
    file = r.reading(
        src=src, dst=dst, t=t, y=y, msg=msg, kind=kind, unit=unit, sort=sort,
        bipartite=bipartite, relabel=relabel, nodes=nodes,
    )  # fmt: skip
    how, own, of_data, device = together(
        lambda: protocol_from(start.protocol, protocol or (), None),
        lambda: typed(option or (), options_of(model), f"option of {model}", "--option"),
        lambda: data_options(data, file, {}, data_option or (), root),
        lambda: device_from(device),
    )
    stream, _ = opened(data, of_data, root)
    stage = training.stage_for(stream, task, model, {**start.options, **own}, how, device)
    steps = training.prequential(stage, learn=learn)
    found = []
    for block in training.blocks(steps, stage.task.metrics, every):
        found.append(block)
        if not as_json:
            here = ", ".join(
                f"{n} {block[n]:.4f} ({mean:.4f})" for n, mean in block["so_far"].items()
            )
            _show.out(f"{block['events']:>10,} events, until {block['time']}: {here}")
    if as_json:
        about = {"task": task, "model": model, "learns": learn, "lr": how.lr}
        fields = {"summary": how.summary(), "protocol": how.to_dict()}
        _show.json_out({**about, **fields, "blocks": found})
    else:
        learned = f"learned from after it was answered, lr {how.lr:g}" if learn else "not learned"
        _show.out(f"in brackets: the mean so far; each batch {learned}\nprotocol: {how.summary()}")


def _time(text: str) -> int | float:
    """A time as it was typed: through a float, whole numbers above 2**53 would be others."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    raise CtanError(f"--at {text}: expected a number, in the unit of the events' times.")
