"""Sensitivity and retention against closed forms of linear systems."""

import math

import numpy as np
import pytest
import torch

from ctan.datasets import path_graphs
from ctan.errors import CtanError
from ctan.events import EventStream
from ctan.models import CTAN, MODELS, Dims, PairEncoder, build
from ctan.study import Playback, follow, path, retention, sensitivity, star

pytestmark = pytest.mark.usefixtures("float64")

DIMS = Dims(nodes=1, edge_dim=1, node_dim=1)


def linear(**options):
    """CTAN with identity act, a mean of the last neighbour, and a single frequency of rotation."""
    torch.manual_seed(1)
    model = CTAN(
        DIMS,
        **{
            "dim": 2, "psi": "add", "act": "identity", "phi": "mean", "neighbors": 1,
            "epsilon": 0.5, "gamma": 0.0, **options,
        },
    )  # fmt: skip
    with torch.no_grad():
        layer = model.layers[0]
        layer.weight.copy_(torch.tensor([[0.0, 0.4], [0.0, 0.0]]))
        layer.phi.value.weight.copy_(torch.eye(2))
    return model


@pytest.mark.parametrize(
    ("solver", "gamma", "factor"),
    [
        ("euler", 0.0, math.sqrt(1 + 0.2**2)),
        ("euler", 0.3, math.hypot(1 - 0.15, 0.2)),
        ("cayley", 0.0, 1.0),
        ("exponential", 0.0, 1.0),
        ("exponential", 0.3, math.exp(-0.15)),
    ],
)
def test_retention_of_a_linear_system_is_geometric(solver, gamma, factor):
    """The hub's own state is multiplied by R(eps (-gamma + 0.4 i)) at each further event."""
    signal = retention(linear(solver=solver, gamma=gamma), events=15, graphs=3)
    expected = signal.difference[0] * factor ** np.arange(16)
    np.testing.assert_allclose(signal.difference, expected, rtol=1e-8)
    # The signal goes from -1 to 1, so a linear system's difference is twice its derivative.
    np.testing.assert_allclose(signal.derivative, signal.difference / 2, rtol=1e-8)


def test_sensitivity_of_a_linear_path_is_geometric_in_the_value_map():
    """A new node's state takes eps V of its neighbour's: W never meets the passing signal."""
    model = linear(neighbors=5, gamma=0.7)
    with torch.no_grad():
        model.layers[0].phi.value.weight.mul_(1.5)
    signal = sensitivity(model, hops=8, graphs=2)
    np.testing.assert_allclose(signal.derivative[1:] / signal.derivative[:-1], 0.75, rtol=1e-8)


def test_an_initial_condition_that_discards_the_state_retains_nothing():
    signal = retention(linear(psi="input_only"), events=5, graphs=2)
    assert signal.difference[0] > 0
    assert (signal.difference[1:] == 0).all()
    assert (signal.derivative[1:] == 0).all()


@pytest.mark.parametrize("name", ["ctan", "jodie", "dyrep", "tgn", "tgat"])
def test_the_derivative_agrees_with_autograd(name):
    torch.manual_seed(0)
    model, stream = build(name, DIMS, dim=6), path(6, graphs=2)
    x = torch.tensor(stream.x, dtype=torch.float64)
    sources = [0, 6]
    x[sources] = 1.0
    x.requires_grad_()
    expected = []
    for moment in Playback(model, stream, x):
        columns = [
            torch.autograd.grad(column, x, retain_graph=True)[0][sources, 0]
            for column in moment.dst.sum(0)
        ]
        expected.append(float(torch.stack(columns).norm(dim=0).mean()))
    np.testing.assert_allclose(follow(model, stream).derivative, expected, rtol=1e-6, atol=1e-11)


def test_a_signal_of_several_features_has_the_norm_over_all_of_them():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    src, dst, graph = [0, 3, 1, 4], [1, 4, 2, 5], [0, 1, 0, 1]
    stream = EventStream.from_arrays(
        src=src, dst=dst, t=[0, 0, 1, 1], graph=graph, x=rng.uniform(-1, 1, (6, 3))
    )
    model = CTAN(Dims(nodes=1, node_dim=3), dim=5, psi="concat")
    exact = torch.tensor(stream.x, dtype=torch.float64)
    exact[[0, 3]] = 1.0

    def last(x):
        *_, moment = Playback(model, stream, x)
        return moment.dst

    jacobian = torch.autograd.functional.jacobian(last, exact)
    expected = sum(float(jacobian[g, :, s].norm()) for g, s in ((0, 0), (1, 3))) / 2
    assert follow(model, stream).derivative[-1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["jodie", "dyrep", "tgn", "tgat", "ctan"])
def test_every_node_encoder_can_be_followed(name):
    torch.manual_seed(0)
    signal = sensitivity(build(name, DIMS, dim=6), hops=4, graphs=4)
    assert signal.difference.shape == signal.derivative.shape == (4,)
    assert signal.difference[0] > 0
    # No memory, one hop: the second node along does not hear of the first.
    assert (signal.difference[3] == 0) == (name == "tgat")


def test_readable_is_one_for_a_clean_signal_and_half_without_any():
    assert sensitivity(linear(), hops=1, graphs=40).readable[0] == 1.0
    assert retention(linear(psi="input_only"), events=3, graphs=40).readable[3] == 0.5


def test_the_model_is_left_as_it_was():
    model = linear()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    sensitivity(model, hops=3, graphs=2)
    assert model.training
    assert model.dims == DIMS
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())


def test_a_star_is_one_hub_that_meets_the_signal_first():
    stream = star(4, graphs=3)
    assert stream.dst.reshape(4, 3).tolist() == [[1, 6, 11]] * 4
    assert stream.src.reshape(4, 3)[:, 0].tolist() == [0, 2, 3, 4]
    assert set(np.abs(stream.x[[0, 5, 10], 0]).tolist()) == {1.0}
    assert (stream.x[[1, 6, 11]] == 0).all()


def test_streams_without_features_or_graphs_are_refused():
    bare = EventStream.from_arrays(src=[0], dst=[1], t=[0])
    with pytest.raises(CtanError, match="node features"):
        follow(linear(), bare)
    with pytest.raises(CtanError, match="at least 1"):
        star(0)


def test_models_of_pairs_are_refused():
    pairs = [name for name, model in MODELS.items() if issubclass(model, PairEncoder)]
    for name in pairs[:1]:
        with pytest.raises(CtanError, match="pairs"):
            follow(build(name, DIMS), path_graphs(3, graphs=2))
