"""``ctan evaluate``: measure a run again from its folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ctan.cli import _arrays, _show
from ctan.cli._asked import device_from, protocol_from
from ctan.errors import unknown_name

if TYPE_CHECKING:
    from ctan.tasks import Kept
    from ctan.training import Stage


def evaluate(
    run: Annotated[Path, Argument(help="A run folder.", show_default=False)],
    data: Annotated[
        Path | None,
        Option(
            help="The file of its events, or the folder of all data sets, if moved.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        Option(help="Another protocol: a name such as tgb, or key=value; repeatable."),
    ] = None,
    task: Annotated[
        str | None, Option(help="Another task: link and ranking go with each other.")
    ] = None,
    negatives: Annotated[
        Path | None,
        Option(
            help="A .npz file of fixed candidates for ranking: array `node`, a row for each event "
            "of the test part (or all rows in one, with `ptr`).",
            show_default=False,
        ),
    ] = None,
    replay: Annotated[
        bool, Option("--replay", help="Observe the past anew, with the weights of the best epoch.")
    ] = False,
    scores: Annotated[
        Path | None,
        Option(help="A .npz file to write each question's answer to.", show_default=False),
    ] = None,
    scores_as: Annotated[
        str, Option(help="logits or probabilities; arrays are named by it.")
    ] = "logits",
    device: Annotated[str, Option(help="cpu, cuda or cuda:N.")] = "cpu",
    as_json: Annotated[bool, Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Play the test part again with the weights and the state of a run's best epoch.

    ctan evaluate runs/link-calls-ctan-1 --task ranking --protocol tgb

    Another protocol needs no training; where its state differs, the past is observed anew. The
    stored state was made while training moved the weights: --replay makes it with the last ones.
    """
    from ctan import training
    from ctan.cli._progress import RunProgress
    from ctan.tasks import Phase

    if scores_as not in training.FORMS:
        raise unknown_name("form of scores", scores_as, training.FORMS)
    if scores is not None:
        _arrays.checked(scores, "--scores")
    loaded = training.load_run(run, data=data, device=device_from(device))
    how = protocol_from(loaded.spec.protocol, protocol or (), None)
    if how.readout != loaded.spec.protocol.readout:
        trained = loaded.spec.protocol.readout
        _show.say(f"the readout is part of the weights: it stays '{trained}', not '{how.readout}'.")
    lists = None if negatives is None else training.read_lists(negatives, loaded.stage.stream, how)
    answered: list[tuple[Stage, Kept]] = []

    def keep(stage: Stage, kept: Kept) -> None:
        answered.append((stage, kept))

    as_it_was = not (protocol or task or lists or replay)
    with RunProgress(epochs=0) as progress:
        if as_it_was:
            tested = training.evaluate(loaded.stage, loaded.state, Phase("test"), progress.tick)
            found = {**loaded.results, **training.measured(loaded.stage, tested)}
            keep(loaded.stage, tested.kept)
        else:
            fixed = {"test": lists} if lists else None
            found = training.under(loaded, how, task, fixed, replay, progress.tick, keep)
    if lists:
        found["negatives"] = f"{negatives}: {lists}"
    if scores is not None:
        arrays = training.answers(*answered[0], form=scores_as)
        _arrays.write(scores, arrays)
        _show.say(f"{scores}: {', '.join(arrays)} of {len(arrays['event']):,} questions")
    if as_json:
        _show.json_out({"run": str(run), **found})
    else:
        _show.results_out({"val": {}, **found}, len(loaded.history))
        if not as_it_was:
            _show.out(f"state {found['state']}; trained under: {found['trained_under']}")
        if lists:
            _show.out(f"candidates: {found['negatives']}")
    if as_it_was:
        _show.say(_compared(loaded.results.get("test"), found["test"]))


def _compared(recorded: dict[str, Any] | None, found: dict[str, float]) -> str:
    if recorded is None:
        return "this run is not finished: these are the numbers of its best epoch so far."
    gap = max(_gap(recorded[name], value) for name, value in found.items())
    if gap == 0:
        return "equal to the recorded results in every digit."
    return (
        f"the recorded results differ by up to {gap:.2g}: they were measured with other code, "
        "threads or hardware (spec.json says which)."
    )


def _gap(a: float, b: float) -> float:
    """How far two values are apart; both undefined are equal, one is as far as can be."""
    if math.isnan(a) or math.isnan(b):
        return 0.0 if math.isnan(a) and math.isnan(b) else math.inf
    return abs(a - b)
