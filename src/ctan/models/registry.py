"""Every model by name: a new one is a file and a line here."""

from __future__ import annotations

import inspect
from typing import Any

from ctan.errors import CtanError, unknown_name
from ctan.models.base import Dims, Model
from ctan.models.cawn import CAWN
from ctan.models.ctan import CTAN
from ctan.models.dygformer import DyGFormer
from ctan.models.dyrep import DyRep
from ctan.models.edgebank import EdgeBank
from ctan.models.graphmixer import GraphMixer
from ctan.models.heuristics import Blend, Popularity, Recency
from ctan.models.jodie import JODIE
from ctan.models.tcl import TCL
from ctan.models.tgat import TGAT
from ctan.models.tgn import TGN

MODELS: dict[str, type[Model]] = {
    "blend": Blend,
    "cawn": CAWN,
    "ctan": CTAN,
    "dygformer": DyGFormer,
    "dyrep": DyRep,
    "edgebank": EdgeBank,
    "graphmixer": GraphMixer,
    "jodie": JODIE,
    "popularity": Popularity,
    "recency": Recency,
    "tcl": TCL,
    "tgat": TGAT,
    "tgn": TGN,
}


def options(name: str) -> dict[str, Any]:
    """The options of a model and their defaults.

    Example:
        >>> options("jodie")
        {'dim': 100, 'time_dim': 16}
    """
    if name not in MODELS:
        raise unknown_name("model", name, MODELS)
    parameters = inspect.signature(MODELS[name].__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def build(name: str, dims: Dims, **given: Any) -> Model:
    """Build a model by name.

    Raises:
        CtanError: the name, or one of the options, is not known, or has no meaning.

    Example:
        >>> build("jodie", Dims(nodes=10), dim=4).dim
        4
    """
    known = options(name)
    wrong = [
        str(unknown_name(f"option of {name}", key, known)) for key in given if key not in known
    ]
    for key, value in given.items():
        # Sizes and counts: a default of 0 says that none is a choice.
        if type(value) is int and type(known.get(key)) is int and value < min(1, known[key]):
            wrong.append(f"{key} of {name} is {value}: expected at least {min(1, known[key])}.")
        if key == "dropout" and not 0 <= value < 1:
            wrong.append(f"dropout of {name} is {value}: expected a share from 0 to less than 1.")
    if wrong:
        raise CtanError("\n".join(wrong))
    try:
        model: Model = MODELS[name](dims, **given)
    except ValueError as error:
        raise CtanError(f"{name}: {error}.") from error
    return model
