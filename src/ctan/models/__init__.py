"""The systems of the paper, one file each, under one contract (see :mod:`ctan.models.base`)."""

from ctan.models.base import Dims, Model, NodeEncoder, PairEncoder
from ctan.models.ctan import CTAN, CTANState
from ctan.models.dyrep import DyRep
from ctan.models.jodie import JODIE
from ctan.models.memory import MemoryState
from ctan.models.registry import MODELS, build, options
from ctan.models.state import Rows, State
from ctan.models.tgat import TGAT
from ctan.models.tgn import TGN
from ctan.models.view import Asked, Events, Features, Sees, View, look

__all__ = [
    "CTAN",
    "JODIE",
    "MODELS",
    "TGAT",
    "TGN",
    "Asked",
    "CTANState",
    "Dims",
    "DyRep",
    "Events",
    "Features",
    "MemoryState",
    "Model",
    "NodeEncoder",
    "PairEncoder",
    "Rows",
    "Sees",
    "State",
    "View",
    "build",
    "look",
    "options",
]
