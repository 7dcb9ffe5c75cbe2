"""The models that a study looks at: one, one for each value of an option, or those of runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ctan.cli._options import typed
from ctan.errors import CtanError

if TYPE_CHECKING:
    from ctan.models import Model


def models_of(
    model: str | None, option: Iterable[str], vary: str | None, runs: Iterable[Path], seed: int
) -> dict[str, Model]:
    """Models for one feature of nodes and of events, by what to call them.

    Args:
        model: name of the model, ctan if None.
        option: options of the model, key=value.
        vary: ``key=value,value,...``: a model for each value; the key ``model`` means its name.
        runs: finished runs, for their models instead; several go by the names of their folders.
        seed: of fresh weights, the same for each.

    Example:
        >>> list(models_of(None, ["dim=4"], "gamma=0,0.1", [], seed=0))
        ['gamma=0', 'gamma=0.1']
    """
    option, runs = list(option), list(runs)
    if runs:
        if model or option or vary:
            raise CtanError(
                "--model, --option, --vary and --run: a run has the model and the options that it "
                "was trained with."
            )
        if len(runs) == 1:
            return dict([_from_run(runs[0])])
        names = _apart(runs)
        return {name: _from_run(run)[1] for name, run in zip(names, runs, strict=True)}
    name = model or "ctan"
    if vary is None:
        return {name: _fresh(name, option, seed)}
    key, equals, values = vary.partition("=")
    each = [value.strip() for value in values.split(",") if value.strip()]
    if not equals or not each or len(set(each)) < len(each):
        raise CtanError(f"--vary {vary}: expected key=value,value,..., such as psi=add,concat.")
    if key == "model":
        if model:
            raise CtanError(f"--model {model} and --vary {vary}: give one of them.")
        return {value: _fresh(value, option, seed) for value in each}
    return {f"{key}={v}": _fresh(name, [*option, f"{key}={v}"], seed) for v in each}


def _apart(runs: list[Path]) -> list[str]:
    """The last parts of paths that tell them apart."""
    whole = [run.resolve() for run in runs]
    if len(set(whole)) < len(whole):
        raise CtanError(f"--run {' --run '.join(map(str, runs))}: the same run twice.")
    depths = range(1, 1 + max(len(path.parts) for path in whole))
    tried = (["/".join(path.parts[-depth:]) for path in whole] for depth in depths)
    return next(names for names in tried if len(set(names)) == len(names))


def _fresh(model: str, option: list[str], seed: int) -> Model:
    import torch

    from ctan.models import Dims, build, options

    given = typed(option, options(model), f"option of {model}", "--option")
    torch.manual_seed(seed)
    return build(model, Dims(nodes=1, edge_dim=1, node_dim=1), **given)


def _from_run(run: Path) -> tuple[str, Model]:
    from ctan.training import load_run

    loaded = load_run(run)
    return loaded.spec.model, loaded.stage.predictor.model
