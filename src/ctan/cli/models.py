"""``ctan models``: what can be trained, what it costs, and the paper's budgets."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ctan.cli import _show
from ctan.cli._options import typed

if TYPE_CHECKING:
    from ctan.models.card import Card

models_app = typer.Typer(help="What can be trained: list, describe, budgets.", no_args_is_help=True)

_JSON = Annotated[bool, Option("--json", help="One JSON document on stdout.")]
_EDGE = Annotated[int, Option(min=0, help="Size of the event features.")]
_NODE = Annotated[int, Option(min=0, help="Size of the node features.")]


@models_app.command("list")
def list_models(edge_dim: _EDGE = 0, node_dim: _NODE = 0, as_json: _JSON = False) -> None:
    """List every model: what it sees, remembers and costs, and when to use it."""
    from ctan.models import MODELS, Dims
    from ctan.models.card import card

    dims = Dims(nodes=1, edge_dim=edge_dim, node_dim=node_dim)
    cards = {name: card(name, dims) for name in MODELS}
    if as_json:
        _show.json_out({name: one.to_dict() for name, one in cards.items()})
        return
    for name, one in cards.items():
        _show.heading_out(name, one.about)
        _facts(one)
    _show.out(f"\nAt default options. {_sizes(edge_dim, node_dim)}")
    _show.out("One model with its options: ctan models describe NAME")


@models_app.command("describe")
def describe(
    name: Annotated[str, Argument(help="`ctan models list` shows them.", show_default=False)],
    option: Annotated[
        list[str] | None, Option("--option", "-o", help="Of the model, key=value; repeatable.")
    ] = None,
    edge_dim: _EDGE = 0,
    node_dim: _NODE = 0,
    as_json: _JSON = False,
) -> None:
    """Describe a model: what it sees, remembers and costs, its options, the paper's sizes.

    ctan models describe tgat --option layers=3 --edge-dim 172
    """
    from ctan.models import Dims, options
    from ctan.models.budgets import count
    from ctan.models.card import card
    from ctan.models.grids import GRIDS

    given = typed(option or [], options(name), f"option of {name}", "--option")
    one = card(name, Dims(nodes=1, edge_dim=edge_dim, node_dim=node_dim), **given)
    counts = [found for found in (count(grid, name) for grid in GRIDS) if found.dim]
    if as_json:
        _show.json_out({**one.to_dict(), "budgets": [found.to_dict() for found in counts]})
        return
    _show.heading_out(name, one.about)
    _facts(one)
    _show.out(f"\n{_sizes(edge_dim, node_dim)}")
    if one.options:
        _show.out("\nOptions")
    for key, value in one.options.items():
        _fact(f"{key}={value}", one.meaning.get(key, ""), width=24)
    if counts:
        _show.out("\nAt the larger size of the paper's grids (ctan models budgets shows all)")
    for found in counts:
        text = (
            f"{found.total:,} parameters of about {GRIDS[found.grid].budget:,} ({found.off:+.1%})"
        )
        _fact(f"{GRIDS[found.grid].task}, dim={found.dim}", text, width=24)


@models_app.command("budgets")
def budgets(
    markdown: Annotated[bool, Option("--markdown", help="A Markdown table.")] = False,
    as_json: _JSON = False,
) -> None:
    """Count every model's parameters at the paper's sizes, beside the paper's budgets."""
    from ctan.models.budgets import TOLERANCE
    from ctan.models.budgets import budgets as count_all
    from ctan.report import budgets as report

    counts = count_all()
    if as_json:
        _show.json_out([found.to_dict() for found in counts])
        return
    for line in report.assumptions():
        _show.out(line)
    sized = [found for found in counts if found.dim is not None]
    if markdown:
        _show.out("\n" + report.markdown(sized))
    else:
        _show.table_out("\nBudgets", report.COLUMNS, [report.row(found) for found in sized])
    _show.out("\nOff the budget by more than a tenth, and why:")
    for found in sized:
        if abs(found.off) > TOLERANCE:
            _show.out(f"- {found.grid} {found.model}, {found.off:+.1%}: {found.reason}.")


def _facts(one: Card) -> None:
    """What a model sees, gives, remembers and costs, its paper and its use."""
    tensors = ", ".join(f"{name} {shape}" for name, shape in one.remembers.items())
    remembers = f"{tensors}: {one.bytes_per_node} bytes a node" if tensors else "nothing"
    costs = f"{one.parameters:,} parameters, and {one.readout:,} of a pair's readout"
    _fact("sees", "; ".join(one.sees))
    _fact("gives", one.gives)
    _fact("remembers", remembers)
    _fact("costs", costs if one.parameters else "no parameters")
    _fact("paper", one.paper)
    _fact("use", one.use)


def _fact(name: str, text: str, width: int = 11) -> None:
    """A name and what is said of it, wrapped in a column of its own."""
    begin, rest = f"    {name:<{width}}", " " * (4 + width)
    _show.out(fill(text, 100, initial_indent=f"{begin} ", subsequent_indent=f"{rest} ") or begin)


def _sizes(edge_dim: int, node_dim: int) -> str:
    return (
        f"Parameters for {edge_dim} event features and {node_dim} node features "
        "(--edge-dim, --node-dim)."
    )
