"""``ctan study``: spectra, sensitivity, reach and retention of a model, fresh or trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from typer import Option

from ctan.cli import _outputs, _show
from ctan.cli._options import typed

if TYPE_CHECKING:
    from ctan.models import Model
    from ctan.study import Signal

study_app = typer.Typer(
    help="Why a model reaches far, or does not: spectra, sensitivity, reach, retention.",
    no_args_is_help=True,
)

ModelName = Annotated[str, Option("--model", "-m", help="Name of the model.")]
Given = Annotated[
    list[str] | None, Option("--option", "-o", help="Option of the model, key=value; repeatable.")
]
Run = Annotated[
    Path | None,
    Option("--run", help="Folder of a finished run: its weights instead of fresh ones."),
]
Seed = Annotated[int, Option(help="Of fresh weights.", min=0, max=2**63 - 1)]
Picture = Annotated[Path | None, Option("--out", help="Draw this figure (.png, .svg, .pdf).")]
AsJson = Annotated[bool, Option("--json", help="One JSON document on stdout.")]


@study_app.command()
def sensitivity(
    hops: Annotated[int, Option(min=1, help="How far along a temporal path.")] = 20,
    model: ModelName = "ctan",
    option: Given = None,
    run: Run = None,
    seed: Seed = 0,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """How much of a node's input arrives after k hops of a temporal path."""
    from ctan.study import sensitivity as measure

    _outputs.picture(out)
    name, shown = _model(model, option, run, seed)
    _report(name, measure(shown, hops), "hops", out, as_json)


@study_app.command()
def retention(
    events: Annotated[int, Option(min=1, help="How many further events at the node.")] = 20,
    model: ModelName = "ctan",
    option: Given = None,
    run: Run = None,
    seed: Seed = 0,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """How much of an event survives further events at the same node."""
    from ctan.study import retention as measure

    _outputs.picture(out)
    name, shown = _model(model, option, run, seed)
    _report(name, measure(shown, events), "events", out, as_json)


@study_app.command()
def spectrum(
    step: Annotated[int, Option(min=0, help="Look at this event of a node, from 0.")] = 5,
    option: Given = None,
    run: Run = None,
    seed: Seed = 0,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Eigenvalues of CTAN's ODE, of its solver's step and of a whole event."""
    from ctan.errors import CtanError
    from ctan.models import CTAN
    from ctan.study import figures, star
    from ctan.study import spectrum as measure

    _outputs.picture(out)
    name, shown = _model("ctan", option, run, seed)
    if not isinstance(shown, CTAN):
        raise CtanError(f"{name} is no CTAN: a spectrum is about its antisymmetric step.")
    found, layer = measure(shown, star(step + 1, graphs=16), step), shown.layers[0]
    bound = layer.solver.bound(layer.gamma, layer.epsilon)
    facts: dict[str, Any] = {
        "solver": layer.solver.name,
        "epsilon": layer.epsilon,
        "gamma": layer.gamma,
        "fastest frequency": float(layer.frequencies().max()),
        "stable up to": bound,
        "real parts of the field": [float(found.field.real.min()), float(found.field.real.max())],
        "largest factor of a step": float(np.abs(found.step).max()),
        "largest factor of an event": found.growth,
    }
    if out is not None:
        figures.draw_spectra(out, {name: found}, epsilon=layer.epsilon)
    if as_json:
        _show.json_out(facts)
        return
    for key, value in facts.items():
        _show.out(f"{key}: {_text(value)}")


@study_app.command()
def reach(
    hops: Annotated[int, Option(min=1, help="Length of the path.")] = 6,
    model: ModelName = "ctan",
    option: Given = None,
    run: Run = None,
    seed: Seed = 0,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """After which event each node of a path hears of the first: as measured; of CTAN, in theory."""
    from dataclasses import replace

    from ctan.study import figures, path
    from ctan.study import reach as measure

    _outputs.picture(out)
    name, shown = _model(model, option, run, seed)
    found = measure(shown, replace(path(hops + 1, graphs=1), graph=None), source=0)
    if out is not None:
        figures.draw_reach(out, {name: found})
    curves = {"theory": found.theory, "measured": found.measured}
    known = {column: values for column, values in curves.items() if values is not None}
    if as_json:
        _show.json_out({column: values.tolist() for column, values in known.items()})
        return
    rows = [
        [str(node), *(_event(values[node]) for values in known.values())]
        for node in range(len(found.measured))
    ]
    _show.table_out("first event after which a node depends on node 0", ("node", *known), rows)


def _model(model: str, option: list[str] | None, run: Path | None, seed: int) -> tuple[str, Model]:
    """A model for one feature of nodes and of events, or one from a run, and what to call it."""
    import torch

    from ctan.errors import CtanError
    from ctan.models import Dims, build, options
    from ctan.training import load_run

    if run is None:
        given = typed(option or [], options(model), f"option of {model}", "--option")
        torch.manual_seed(seed)
        return model, build(model, Dims(nodes=1, edge_dim=1, node_dim=1), **given)
    if option:
        raise CtanError("--option and --run: a run has the options that it was trained with.")
    loaded = load_run(run)
    stream = loaded.stage.stream
    if (stream.node_dim, stream.edge_dim) != (1, 1):
        raise CtanError(
            f"{run}: its data have {stream.node_dim} features of nodes and {stream.edge_dim} of "
            "events; the signal of this study has one of each, as T-PathGraph's variant 'paper'."
        )
    return loaded.spec.model, loaded.stage.predictor.model


def _report(name: str, signal: Signal, along: str, out: Path | None, as_json: bool) -> None:
    from ctan.study import figures

    if out is not None:
        figures.draw_signals(out, {name: signal}, along=along)
    columns = ("derivative", "difference", "spread", "readable")
    curves = {column: getattr(signal, column) for column in columns}
    if as_json:
        _show.json_out(
            {along: (signal.step + 1).tolist()} | {k: v.tolist() for k, v in curves.items()}
        )
        return
    rows = [
        [str(step + 1), *(f"{curves[column][step]:.4g}" for column in columns)]
        for step in signal.step
    ]
    _show.table_out(f"{name}: what becomes of a signal", (along, *columns), rows)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " to ".join(f"{number:.4g}" for number in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _event(position: int) -> str:
    return "never" if position < 0 else str(position)
