"""``ctan evaluate``: measure a run again from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ctan.cli import _show
from ctan.cli._asked import device_from, protocol_from


def evaluate(
    run: Annotated[Path, Argument(help="A run folder.", show_default=False)],
    data: Annotated[
        Path | None, Option(help="The file of its events, if it was moved.", show_default=False)
    ] = None,
    protocol: Annotated[
        list[str] | None,
        Option(help="Another protocol: a name such as tgb, or key=value; repeatable."),
    ] = None,
    task: Annotated[
        str | None, Option(help="Another task: link and ranking go with each other.")
    ] = None,
    device: Annotated[str, Option(help="cpu, cuda or cuda:N.")] = "cpu",
    as_json: Annotated[bool, Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Play the test part again with the weights and the state of a run's best epoch.

    ctan evaluate runs/link-calls-ctan-1 --task ranking --protocol tgb

    Another protocol needs no training; where its state differs, the past is observed anew.
    """
    from ctan import training
    from ctan.cli._progress import RunProgress

    loaded = training.load_run(run, data=data, device=device_from(device))
    if protocol or task:
        how = protocol_from(loaded.spec.protocol, protocol or (), None)
        found = training.under(loaded, how, task)
        if as_json:
            _show.json_out({"run": str(run), **found})
        else:
            _show.results_out({"val": {}, **found}, len(loaded.history))
            _show.out(f"state {found['state']}; trained under: {found['trained_under']}")
        return
    with RunProgress(epochs=0) as progress:
        found = training.measure_test(loaded.stage, loaded.state, progress.tick)
    results = {**loaded.results, **found}
    if as_json:
        _show.json_out({"run": str(run), **results})
    else:
        _show.results_out(results, len(loaded.history))
    _show.say(_compared(loaded.results.get("test"), found["test"]))


def _compared(recorded: dict[str, Any] | None, found: dict[str, float]) -> str:
    if recorded is None:
        return "this run is not finished: these are the numbers of its best epoch so far."
    if recorded == found:
        return "equal to the recorded results in every digit."
    gap = max(abs(recorded[name] - value) for name, value in found.items())
    return (
        f"the recorded results differ by up to {gap:.2g}: they were measured with other code, "
        "threads or hardware (spec.json says which)."
    )
