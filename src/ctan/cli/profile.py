"""``ctan profile``: where the time of a training step goes."""

from __future__ import annotations

import os
from typing import Annotated

from typer import Argument, Option

from ctan.cli import _reading as r
from ctan.cli import _show
from ctan.cli._asked import data_options, protocol_from, together
from ctan.cli._options import typed
from ctan.cli.data_sets import Root, opened

_ABOUT = {
    "sampling": "negatives drawn, neighbours looked up",
    "neighbours": "compiled loops: gathered, weighed and summed",
    "gathers": "rows moved by index",
    "products": "matrix products: the floor of a step",
    "optimiser": "the weights moved",
    "rest": "activations, autograd, Python",
}


def profile(
    task: Annotated[
        str,
        Argument(help="link, ranking, sequence, edge, node or regression.", show_default=False),
    ],
    data: Annotated[str, Argument(metavar="FILE|DATASET", help="Events.", show_default=False)],
    model: Annotated[str, Option(help="`ctan models list` shows them.")] = "ctan",
    option: Annotated[
        list[str] | None, Option(help="Option of the model, key=value; repeatable.")
    ] = None,
    protocol: Annotated[
        list[str] | None, Option(help="A protocol's name, or key=value; repeatable.")
    ] = None,
    batches: Annotated[int, Option(help="How many, at the end of training.", min=1)] = 100,
    rounds: Annotated[int, Option(help="Times played unobserved; the median counts.", min=1)] = 3,
    threads: Annotated[int, Option(help="That torch may use.", min=1)] = 1,
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
    graph: r.Graph = None,
    kind: r.Kind = None,
    unit: r.Unit = None,
    sort: r.Sort = False,
    bipartite: r.Bipartite = False,
    relabel: r.Relabel = False,
    nodes: r.Nodes = None,
) -> None:
    """Where the time of a training step goes: sampling, gathers, matrix products, the rest.

    ctan profile link calls.csv --model tgn --option dim=100
    """
    # Torch's profiler would announce itself on stderr; it asks when it is loaded.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    import torch

    from ctan import training
    from ctan.models import options as options_of

    start = training.recipe(task, model)
    file = r.reading(
        src=src, dst=dst, t=t, y=y, msg=msg, graph=graph, kind=kind, unit=unit, sort=sort,
        bipartite=bipartite, relabel=relabel, nodes=nodes,
    )  # fmt: skip
    how, own, of_data = together(
        lambda: protocol_from(start.protocol, protocol or (), None),
        lambda: typed(option or (), options_of(model), f"option of {model}", "--option"),
        lambda: data_options(data, file, {}, data_option or (), root),
    )
    stream, _ = opened(data, of_data, root)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(how.seed)
            stage = training.Stage.prepare(stream, task, model, {**start.options, **own}, how)
            found = training.profile(stage, batches, rounds)
    finally:
        torch.set_num_threads(before)
    if as_json:
        _show.json_out(
            {
                "task": task,
                "model": model,
                "batches": found.batches,
                "events": found.events,
                "threads": found.threads,
                "seconds_a_batch": found.seconds,
                "parts": found.parts,
                "share_of_products": found.floor,
                "events_a_second": found.rate,
                "summary": how.summary(),
                "protocol": how.to_dict(),
            }
        )
        return
    rows = [
        [f"{name}: {_ABOUT[name]}", f"{1e3 * spent:.3f}", f"{100 * spent / found.seconds:.1f}"]
        for name, spent in found.parts.items()
    ]
    rows.append(["a step", f"{1e3 * found.seconds:.3f}", "100.0"])
    _show.table_out(f"{task}, {model}: a training step", ["", "ms", "%"], rows)
    _show.out(
        f"matrix products are {100 * found.floor:.0f} % of a step; {found.rate:,.0f} events a "
        f"second on {found.threads} thread{'s' * (found.threads > 1)}, over the last "
        f"{found.batches:,} batches of training\nprotocol: {how.summary()}"
    )
