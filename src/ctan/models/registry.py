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
        CtanError: the name, or one of the options, is not known; all mistakes are named.

    Example:
        >>> build("jodie", Dims(nodes=10), dim=4).dim
        4
    """
    known = options(name)
    wrong = [
        str(unknown_name(f"option of {name}", key, known)) for key in given if key not in known
    ]
    if wrong:
        raise CtanError("\n".join(wrong))
    model: Model = MODELS[name](dims, **given)
    return model
