"""The systems of the paper, one file each, under one contract (see :mod:`ctan.models.base`)."""

from ctan.models.base import Dims, Model, NodeEncoder, PairEncoder, PairScorer
from ctan.models.batch import Asked, Events
from ctan.models.cawn import CAWN
from ctan.models.contacts import Contacts
from ctan.models.ctan import CTAN, UPDATES, CTANState
from ctan.models.dygformer import DyGFormer
from ctan.models.dyrep import DyRep
from ctan.models.edgebank import EdgeBank
from ctan.models.features import Features
from ctan.models.graphmixer import GraphMixer
from ctan.models.heuristics import Blend, Popularity, Recency
from ctan.models.jodie import JODIE
from ctan.models.memory import MemoryState
from ctan.models.registry import MODELS, build, options
from ctan.models.state import Rows, State
from ctan.models.tcl import TCL
from ctan.models.tgat import TGAT
from ctan.models.tgn import TGN
from ctan.models.view import Sees, View, look

__all__ = [
    "CAWN",
    "CTAN",
    "JODIE",
    "MODELS",
    "TCL",
    "TGAT",
    "TGN",
    "UPDATES",
    "Asked",
    "Blend",
    "CTANState",
    "Contacts",
    "Dims",
    "DyGFormer",
    "DyRep",
    "EdgeBank",
    "Events",
    "Features",
    "GraphMixer",
    "MemoryState",
    "Model",
    "NodeEncoder",
    "PairEncoder",
    "PairScorer",
    "Popularity",
    "Recency",
    "Rows",
    "Sees",
    "State",
    "View",
    "build",
    "look",
    "options",
]
