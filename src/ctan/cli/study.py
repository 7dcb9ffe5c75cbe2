"""``ctan study``: spectra, sensitivity, reach and retention of models, fresh or trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np
import typer
from typer import Option

from ctan.cli import _outputs, _show
from ctan.cli._studied import models_of

if TYPE_CHECKING:
    from ctan.models import CTAN, Model
    from ctan.study import Signal

study_app = typer.Typer(
    help="Why a model reaches far, or does not: spectra, solvers, sensitivity, reach, retention.",
    no_args_is_help=True,
)

#: Steps of a study are played one by one: a slip of the keyboard should not take all memory.
MOST = 10_000

ModelName = Annotated[str | None, Option("--model", "-m", help="Name of the model: ctan, if not.")]
Given = Annotated[
    list[str] | None, Option("--option", "-o", help="Option of the model, key=value; repeatable.")
]
Vary = Annotated[
    str | None,
    Option(help="Side by side: an option's values, such as psi=add,concat; or model=ctan,jodie."),
]
Run = Annotated[
    list[Path] | None,
    Option("--run", help="Folder of a finished run: its weights, not fresh ones; repeatable."),
]
Seed = Annotated[int, Option(help="Of fresh weights.", min=0, max=2**63 - 1)]
Picture = Annotated[Path | None, Option("--out", help="Draw this figure (.png, .svg, .pdf).")]
AsJson = Annotated[bool, Option("--json", help="One JSON document on stdout.")]


@study_app.command()
def sensitivity(
    hops: Annotated[int, Option(min=1, max=MOST, help="How far along a temporal path.")] = 20,
    model: ModelName = None,
    option: Given = None,
    vary: Vary = None,
    run: Run = None,
    seed: Seed = 0,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """How much of a node's input arrives after k hops of a temporal path.

    ctan study sensitivity --hops 40 --vary init=default,isometric,latching -o epsilon=1
    """
    from ctan.study import sensitivity as measure

    _outputs.picture(out)
    shown = models_of(model, option or (), vary, run or (), seed)
    _signals(shown, lambda each: measure(each, hops), "hops", out, as_json)


@study_app.command()
def retention(
    events: Annotated[
        int, Option(min=1, max=MOST, help="How many further events at the node.")
    ] = 20,
    model: ModelName = None,
    option: Given = None,
    vary: Vary = None,
    run: Run = None,
    seed: Seed = 0,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """How much of an event survives further events at the same node.

    ctan study retention --vary psi=add,concat,tanh_concat,input_only --out retention.png
    """
    from ctan.study import retention as measure

    _outputs.picture(out)
    shown = models_of(model, option or (), vary, run or (), seed)
    _signals(shown, lambda each: measure(each, events), "events", out, as_json)


@study_app.command()
def spectrum(
    step: Annotated[int, Option(min=0, max=MOST, help="Look at this event of a node, from 0.")] = 5,
    option: Given = None,
    vary: Vary = None,
    run: Run = None,
    seed: Seed = 0,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Eigenvalues of CTAN's ODE, of its solver's step, of a whole event; and the gain of a hop.

    ctan study spectrum --vary gamma=0,0.1,0.5 -o epsilon=1 --out spectra.png
    """
    from ctan.study import features_of, figures, hop, star
    from ctan.study import spectrum as measure

    _outputs.picture(out)
    spectra, facts = {}, {}
    for name, shown in models_of(None, option or (), vary, run or (), seed).items():
        stream = star(step + 1, graphs=16, **features_of(shown))
        found = measure(shown, stream, step)
        layer = cast("CTAN", shown).layers[0]
        spectra[name] = found
        facts[name] = {
            "solver": layer.solver.name,
            "epsilon": layer.epsilon,
            "gamma": layer.gamma,
            "fastest frequency": float(layer.frequencies().max()),
            "stable up to": layer.solver.bound(layer.gamma, layer.epsilon),
            "real parts of the field": [
                float(found.field.real.min()),
                float(found.field.real.max()),
            ],
            "largest factor of a step": float(np.abs(found.step).max()),
            "largest factor of an event": found.growth,
            "gain of a hop": float(np.abs(hop(shown)).max()),
        }
    if out is not None:
        figures.draw_spectra(out, spectra)
    if as_json:
        _show.json_out(_single(facts))
        return
    keys = next(iter(facts.values()))
    rows = [[key, *(_text(each[key]) for each in facts.values())] for key in keys]
    _show.table_out("eigenvalues of CTAN's Jacobian", ("", *facts), rows)


@study_app.command()
def solvers(
    epsilon: Annotated[float, Option(help="Step size.")] = 1.0,
    gamma: Annotated[float, Option(help="Damping.", min=0.0, max=1000.0)] = 0.1,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Which frequencies each solver bears, and what it does to the fastest of a fresh model.

    ctan study solvers --epsilon 0.5 --gamma 0
    """
    from ctan.errors import CtanError
    from ctan.nn import SOLVERS
    from ctan.study import FASTEST, figures, stability

    _outputs.picture(out)
    if not 0 < epsilon <= 1000:
        raise CtanError(f"--epsilon {epsilon:g}: expected a step size above 0, at most 1000.")
    found = [stability(name, epsilon, gamma) for name in SOLVERS]
    if out is not None:
        figures.draw_solvers(out, {})
    if as_json:
        _show.json_out({each.solver: each.facts() for each in found})
        return
    columns = tuple(found[0].facts())
    rows = [[each.solver, *map(_text, each.facts().values())] for each in found]
    _show.table_out(f"solvers at epsilon {epsilon:g}, gamma {gamma:g}", ("", *columns), rows)
    _show.out(f"\n{FASTEST:.3g}: the fastest frequency of W - W^T as torch draws W, for large d")


@study_app.command()
def reach(
    hops: Annotated[int, Option(min=1, max=MOST, help="Length of the path.")] = 6,
    model: ModelName = None,
    option: Given = None,
    vary: Vary = None,
    run: Run = None,
    seed: Seed = 0,
    standing: Annotated[
        bool,
        Option(
            "--standing",
            help="The path is there before; then the fewest events that cross it, every L hops.",
        ),
    ] = False,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """After which event each node of a path hears of the first: as measured; of CTAN, in theory.

    Event 0 is node 0's own. A path that grows by a node at each event, in the order of travel, is
    crossed one hop at a time; a standing one L hops at a time.

    ctan study reach --standing --vary steps=1,2,3 -o update=ball
    """
    from dataclasses import replace

    from ctan.models import CTAN
    from ctan.study import features_of, figures, path, relay
    from ctan.study import reach as measure

    _outputs.picture(out)
    shown = models_of(model, option or (), vary, run or (), seed)
    found = {}
    for name, each in shown.items():
        sizes = features_of(each)
        if standing and isinstance(each, CTAN):
            stream = relay(hops, steps=each.steps, update=each.update, **sizes)
        elif standing:
            stream = relay(hops, **sizes)
        else:
            stream = replace(path(hops + 1, graphs=1, **sizes), graph=None)
        found[name] = measure(each, stream, source=0)
    # What is built before tells of other nodes.
    before = hops - 1 if standing else 0
    if out is not None:
        figures.draw_reach(out, found, since=before)
    known = {
        name: {
            kind: np.where(first < 0, -1, first - before)
            for kind, first in (("theory", each.theory), ("measured", each.measured))
            if first is not None
        }
        for name, each in found.items()
    }
    if as_json:
        _show.json_out(
            _single({n: {k: v.tolist() for k, v in each.items()} for n, each in known.items()})
        )
        return
    columns = {
        kind if len(known) == 1 else f"{name}, {kind}": values
        for name, each in known.items()
        for kind, values in each.items()
    }
    rows = [
        [str(node), *(_event(values[node]) for values in columns.values())]
        for node in range(hops + 1)
    ]
    _show.table_out("first event after which a node depends on node 0", ("node", *columns), rows)


def _signals(
    models: Mapping[str, Model],
    measure: Callable[[Model], Signal],
    along: str,
    out: Path | None,
    as_json: bool,
) -> None:
    from ctan.study import figures

    found = {name: measure(model) for name, model in models.items()}
    if out is not None:
        figures.draw_signals(out, found, along=along)
    measures = ("derivative", "difference", "spread", "readable")
    if as_json:
        curves = {
            name: {along: (signal.step + 1).tolist()}
            | {column: getattr(signal, column).tolist() for column in measures}
            for name, signal in found.items()
        }
        _show.json_out(_single(curves))
        return
    if len(found) == 1:
        ((name, signal),) = found.items()
        _steps_out(
            f"{name}: what becomes of a signal", along, {m: getattr(signal, m) for m in measures}
        )
        return
    for column in ("derivative", "difference", "readable"):
        _steps_out(column, along, {name: getattr(signal, column) for name, signal in found.items()})


def _steps_out(title: str, along: str, curves: Mapping[str, Any]) -> None:
    steps = range(len(next(iter(curves.values()))))
    rows = [[str(step + 1), *(f"{curve[step]:.4g}" for curve in curves.values())] for step in steps]
    _show.table_out(title, (along, *curves), rows)


def _single(found: dict[str, Any]) -> Any:
    """What a study of one model reports is not put under its name."""
    return next(iter(found.values())) if len(found) == 1 else found


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " to ".join(f"{number:.4g}" for number in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _event(position: int) -> str:
    return "never" if position < 0 else str(position)
