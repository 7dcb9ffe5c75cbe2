"""Fused versions of layers, each equal to the plain version beside it in :mod:`ctan.nn`."""

from ctan.nn.kernels.activations import harmonics, tanh
from ctan.nn.kernels.attention import attend
from ctan.nn.kernels.dropout import dropout
from ctan.nn.kernels.flow import Course, flow
from ctan.nn.kernels.folded import AttentionWeights
from ctan.nn.kernels.gates import gru_gates
from ctan.nn.kernels.pairs import ReadoutWeights, score_pairs
from ctan.nn.kernels.products import linear, product, usable

__all__ = [
    "AttentionWeights",
    "Course",
    "ReadoutWeights",
    "attend",
    "dropout",
    "flow",
    "gru_gates",
    "harmonics",
    "linear",
    "product",
    "score_pairs",
    "tanh",
    "usable",
]
