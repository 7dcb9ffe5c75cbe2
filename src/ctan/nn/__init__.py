"""Layers: the antisymmetric step and its parts, time encodings, memories and readouts."""

from ctan.nn.aggregate import AGGREGATIONS, Attention, Mean, NormalisedSum, aggregation
from ctan.nn.antisymmetric import ACTIVATIONS, AntiSymmetricStep, activation
from ctan.nn.cooccurrence import CooccurrenceEncoding
from ctan.nn.edges import Incoming
from ctan.nn.initial import INITIAL_CONDITIONS, InitialCondition
from ctan.nn.layers import CONVOLUTIONS, AttentionLayer, SumLayer, convolution
from ctan.nn.mixer import Mixer, MixerBlock
from ctan.nn.readout import READOUTS, Readout
from ctan.nn.solvers import SOLVERS, Solver, solver
from ctan.nn.starts import STARTS, start
from ctan.nn.time import FixedTimeEncoding, TimeEncoding
from ctan.nn.transformer import TransformerBlock

__all__ = [
    "ACTIVATIONS",
    "AGGREGATIONS",
    "CONVOLUTIONS",
    "INITIAL_CONDITIONS",
    "READOUTS",
    "SOLVERS",
    "STARTS",
    "AntiSymmetricStep",
    "Attention",
    "AttentionLayer",
    "CooccurrenceEncoding",
    "FixedTimeEncoding",
    "Incoming",
    "InitialCondition",
    "Mean",
    "Mixer",
    "MixerBlock",
    "NormalisedSum",
    "Readout",
    "Solver",
    "SumLayer",
    "TimeEncoding",
    "TransformerBlock",
    "activation",
    "aggregation",
    "convolution",
    "solver",
    "start",
]
