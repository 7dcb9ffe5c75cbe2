"""``ctan embed`` and ``ctan prequential``: what a model has at a time, and as time goes by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ctan.cli import _show
from ctan.cli._asked import device_from, protocol_from
from ctan.cli._options import typed
from ctan.errors import CtanError


def embed(
    run: Annotated[Path, Argument(help="A run folder.", show_default=False)],
    out: Annotated[Path, Option(help="The .npz file to write.")],
    at: Annotated[
        float | None, Option(help="The time; by default after the last event.", show_default=False)
    ] = None,
    data: Annotated[
        Path | None, Option(help="The file of its events, if it was moved.", show_default=False)
    ] = None,
    device: Annotated[str, Option(help="cpu, cuda or cuda:N.")] = "cpu",
) -> None:
    """Write the embedding of every node seen before a time: arrays `node`, `embedding`, `name`.

    ctan embed runs/link-calls-ctan-1 --at 1714550400 --out embeddings.npz
    """
    import numpy as np

    from ctan import training

    if out.suffix != ".npz":
        raise CtanError(f"--out {out}: expected a file that ends in .npz.")
    loaded = training.load_run(run, data=data, device=device_from(device))
    nodes, z = training.embed(loaded, at)
    names = loaded.stage.stream.names
    arrays = {"node": nodes, "embedding": z.cpu().numpy()}
    if names is not None:
        arrays["name"] = np.array([names[int(node)] for node in nodes])
    out.parent.mkdir(parents=True, exist_ok=True)
    np.savez(out, allow_pickle=False, **arrays)
    _show.out(f"{len(nodes):,} nodes of {loaded.spec.model}, {z.shape[1]} numbers each: {out}")


def prequential(
    data: Annotated[str, Argument(metavar="FILE|DATASET", help="Events.", show_default=False)],
    model: Annotated[str, Option(help="`ctan models list` shows them.")] = "ctan",
    task: Annotated[str, Option(help="link, edge, node or regression.")] = "link",
    option: Annotated[
        list[str] | None, Option(help="Option of the model, key=value; repeatable.")
    ] = None,
    protocol: Annotated[
        list[str] | None, Option(help="A protocol's name, or key=value; repeatable.")
    ] = None,
    every: Annotated[int, Option(help="Events between two lines.")] = 10_000,
    learn: Annotated[bool, Option(help="Learn from each batch once it was answered.")] = True,
    as_json: Annotated[bool, Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Predict each batch of a stream, then learn from it: one pass, no epochs.

    ctan prequential calls.csv --model ctan --every 5000
    """
    from ctan import training
    from ctan.models import options as options_of

    start = training.recipe(task, model)
    how = protocol_from(start.protocol, protocol or (), None)
    own = typed(option or (), options_of(model), f"option of {model}", "--option")
    stream, _ = training.open_data(data, {})
    stage = training.stage_for(stream, task, model, {**start.options, **own}, how)
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
        _show.json_out({"model": model, "protocol": how.summary(), "blocks": found})
    else:
        _show.out(f"in brackets: the mean so far. {how.summary()}")
