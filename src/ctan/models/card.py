"""What a model sees, remembers and costs, read off the model itself."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from torch import nn

from ctan.models.base import Dims, Model, NodeEncoder, PairEncoder
from ctan.models.registry import MODELS, build, options
from ctan.models.view import Sees
from ctan.nn import Readout


@dataclass(frozen=True)
class Card:
    """One model in words and numbers, at the sizes that it was built with.

    Attributes:
        name: of the registry.
        about: what it is, in a line.
        paper: where it comes from; empty where it is a rule of thumb.
        use: when to use it.
        gives: what it is asked for: an embedding of each node, of each pair, or a score.
        sees: what is read of the past.
        remembers: the tensors of its state by name, N the number of nodes; empty without memory.
        bytes_per_node: how much that is.
        parameters: of the model.
        readout: of the readout that scores a pair.
        options: those that it was built with.
        meaning: what each option means.

    Example:
        >>> card("jodie", Dims(nodes=10), dim=8).remembers["memory"]
        'float32 [N, 8]'
    """

    name: str
    about: str
    paper: str
    use: str
    gives: str
    sees: list[str]
    remembers: dict[str, str]
    bytes_per_node: int
    parameters: int
    readout: int
    options: dict[str, Any]
    meaning: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return asdict(self)


def card(name: str, dims: Dims, **given: Any) -> Card:
    """The card of a model built for a stream of the given sizes.

    Args:
        name: of the registry.
        dims: the stream's sizes; the number of nodes changes nothing on the card.
        given: options that are not at their defaults.

    Raises:
        CtanError: the name, or one of the options, is not known, or has no meaning.

    Example:
        >>> card("tgat", Dims(nodes=10), layers=3).sees[0]
        '3 hops, 5 neighbours of each node'
    """
    model = build(name, dims, **given)
    about, meaning = _documented(MODELS[name])
    state, one_more = (
        build(name, Dims(**{**vars(dims), "nodes": nodes}), **given).init_state().tensors()
        for nodes in (dims.nodes, dims.nodes + 1)
    )
    return Card(
        name=name,
        about=about,
        paper=getattr(model, "paper", ""),
        use=getattr(model, "use", ""),
        gives=_gives(model),
        sees=seen(model.sees),
        remembers={
            key: f"{str(value.dtype).removeprefix('torch.')} "
            f"[{', '.join(['N', *map(str, value.shape[1:])])}]"
            for key, value in state.items()
            if len(one_more[key]) > len(value)
        },
        bytes_per_node=sum(one_more[key].nbytes - value.nbytes for key, value in state.items()),
        parameters=_weights(model),
        readout=(
            _weights(Readout(model.dim)) if isinstance(model, NodeEncoder | PairEncoder) else 0
        ),
        options={**options(name), **given},
        meaning=meaning,
    )


def seen(sees: Sees) -> list[str]:
    """What a model declares that it must see, in words.

    Example:
        >>> seen(Sees(contacts=True))
        ['every earlier event: of the asked pair, of its destination, of all pairs']
    """
    words = []
    if sees.hops:
        hops = "1 hop" if sees.hops == 1 else f"{sees.hops} hops"
        words.append(f"{hops}, {sees.neighbors} neighbours of each node")
    if sees.walks is not None:
        walks = sees.walks
        steps = "1 step" if walks.length == 1 else f"{walks.length} steps"
        words.append(f"{walks.count} walks of {steps} back in time from each node")
    if sees.window is not None:
        span = sees.window.span
        since = f"of the last {span:g} units of time" if isfinite(span) else "so far"
        words.append(f"the features of all neighbours {since}")
    if sees.contacts:
        words.append("every earlier event: of the asked pair, of its destination, of all pairs")
    if not words:
        words.append("the asked nodes themselves, no neighbour")
    if sees.query_time:
        words.append("the time of the question")
    return words


def _gives(model: Model) -> str:
    if isinstance(model, NodeEncoder):
        return f"an embedding of {model.dim} numbers for each node"
    if isinstance(model, PairEncoder):
        return f"an embedding of {model.dim} numbers for each node of each pair"
    return "a score for each pair; nothing is learned"


def _documented(cls: type) -> tuple[str, dict[str, str]]:
    """The first sentence of a class, and what its docstring says of each argument."""
    text = inspect.cleandoc(cls.__doc__ or "")
    about = _plain(text.split("\n", 1)[0])
    _, _, rest = text.partition("\nArgs:\n")
    block = re.split(r"\n(?=\S)", rest, maxsplit=1)[0]
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", block, flags=re.MULTILINE)
    return about, {name: " ".join(_plain(said).split()) for name, said in entries}


def _plain(text: str) -> str:
    """A docstring without its markup."""
    text = re.sub(r":math:`([^`]*)`", lambda found: found[1].replace("\\", ""), text)
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("``", "")


def _weights(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())
