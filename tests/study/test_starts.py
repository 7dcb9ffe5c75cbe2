"""The initial weights along the path: the gain of a hop, the stability bound, and what they do."""

import math

import pytest
import torch

from ctan.errors import CtanError
from ctan.models import CTAN, Dims
from ctan.study import sensitivity

DIMS = Dims(nodes=1, edge_dim=1, node_dim=1)


def model(init, **options):
    torch.manual_seed(0)
    return CTAN(
        DIMS, **{"dim": 50, "epsilon": 1.0, "time_dim": 1, "psi": "concat", **options}, init=init
    )


def test_the_default_start_breaks_eulers_bound_and_the_others_keep_it():
    """W uniform in +-1/sqrt(d): W - W^T has frequencies up to 2 sqrt(2/3) = 1.63; 0.44 is borne."""
    bound = math.sqrt(2 * 0.1 / 1.0 - 0.1**2)
    frequencies = model("default").layers[0].frequencies()
    assert float(frequencies.max()) == pytest.approx(2 * math.sqrt(2 / 3), abs=0.15)
    assert float((frequencies > bound).float().mean()) > 0.5
    for init in ("bounded", "isometric", "latching"):
        layer = model(init).layers[0]
        assert float(layer.frequencies().max()) <= bound
        growth = layer.solver.growth(torch.linalg.eigvals(layer.generator().detach()).numpy(), 1.0)
        assert growth.max() <= 1 + 1e-6


def test_where_no_frequency_is_borne_none_is_left():
    layer = model("bounded", gamma=0.0).layers[0]
    assert float(layer.frequencies().max()) == 0


def test_a_solver_without_bound_leaves_the_default_weights_alone():
    default, bounded = model("default", solver="cayley"), model("bounded", solver="cayley")
    assert torch.equal(default.layers[0].weight, bounded.layers[0].weight)


@pytest.mark.parametrize("epsilon", [0.25, 1.0])
@pytest.mark.parametrize("psi", ["add", "concat"])
@pytest.mark.parametrize("gain", [0.5, 3.0])
def test_a_small_state_is_multiplied_by_the_gain_per_hop(epsilon, psi, gain):
    """The derivative after k hops is gain^k times that after one, while tanh is straight."""
    ctan = model("latching", epsilon=epsilon, psi=psi, gain=gain)
    with torch.no_grad():
        # A signal, and noise, small enough for tanh to be straight.
        encoder = ctan.initial.encoder
        encoder.weight[:, -1:].mul_(1e-5)
        for layer in ctan.layers:
            layer.phi.edge.weight.zero_()
    derivative = sensitivity(ctan, hops=5, graphs=4).derivative
    ratio = derivative[1:] / derivative[:-1]
    # W and gamma act on the new node alone, never on what passes.
    assert ratio == pytest.approx(gain, rel=1e-3)


def test_an_isometric_hop_keeps_the_length_of_a_small_signal():
    ctan = model("isometric")
    with torch.no_grad():
        ctan.initial.encoder.weight[:, -1:].mul_(1e-4)
        ctan.initial.encoder.bias.zero_()
        ctan.layers[0].phi.edge.weight.zero_()
    derivative = sensitivity(ctan, hops=20, graphs=4).derivative[[0, 19]]
    assert derivative == pytest.approx(derivative[0], rel=1e-3)


def test_a_latch_keeps_the_sign_although_its_derivative_dies():
    signal = sensitivity(model("latching"), hops=40, graphs=64)
    assert signal.difference[-1] > 10
    assert signal.readable[-1] == 1.0
    assert signal.derivative[39] < 1e-6 < signal.derivative[1]


def test_without_gain_the_first_input_is_forgotten():
    signal = sensitivity(model("default"), hops=60, graphs=200)
    assert signal.difference[-1] < 1e-6
    assert signal.readable[-1] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("gain", [2.0, 3.0])
def test_from_gain_3_on_the_first_input_outweighs_all_later_ones_together(gain):
    r"""In the straight part a state is g^n x_0 + 2 sum g^(n-k) x_k + x_n, so its sign is x_0's.

    The worst case has every later input against the first: it needs g - 1 >= 2.
    """
    hops = 12
    state = gain**hops - 2 * sum(gain ** (hops - k) for k in range(1, hops)) - 1
    assert (state > 0) == (gain >= 3)


def test_an_unknown_start_is_named_with_those_that_exist():
    with pytest.raises(CtanError, match="isometric"):
        model("isometrc")
