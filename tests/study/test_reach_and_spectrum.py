"""Reach against the paper's ceil(P / L); spectra against closed forms and finite differences."""

import math

import numpy as np
import pytest
import torch

from ctan.errors import CtanError
from ctan.events import EventStream
from ctan.models import CTAN, Dims, build
from ctan.study import hop, path, reach, reachable, relay, sensitivity, spectrum, star

pytestmark = pytest.mark.usefixtures("float64")


@pytest.mark.parametrize(("length", "steps"), [(1, 1), (6, 1), (6, 2), (7, 3), (6, 6)])
def test_information_crosses_p_hops_in_p_over_l_events(length, steps):
    """The paper's argument, to the event; without balls the first event crosses one hop only."""
    first_event = length - 1
    for update, expected in (
        ("ball", math.ceil(length / steps)),
        ("endpoints", 1 + math.ceil((length - 1) / steps)),
    ):
        stream = relay(length, steps=steps, update=update)
        arrived = reachable(stream, 0, steps=steps, update=update)[length]
        assert 1 + arrived - first_event == expected
        # None of these events could be spared.
        assert arrived == len(stream) - 1


@pytest.mark.parametrize("update", ["endpoints", "ball"])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_model_does_what_the_theory_says(steps, update):
    stream = relay(6, steps=steps, update=update)
    model = CTAN(Dims(1, 1, 1), dim=6, steps=steps, update=update, psi="concat", epsilon=1.0)
    found = reach(model, stream, source=0)
    np.testing.assert_array_equal(found.measured, found.theory)
    assert found.theory[6] >= 0


def test_reach_on_random_streams_never_exceeds_the_theory():
    rng = np.random.default_rng(0)
    for _ in range(5):
        src, dst = rng.integers(0, 8, (2, 15))
        x = rng.uniform(-1, 1, (8, 1)).astype(np.float32)
        stream = EventStream.from_arrays(src=src, dst=dst, t=range(15), x=x, num_nodes=8)
        model = CTAN(Dims(8, node_dim=1), dim=4, neighbors=2, psi="concat", epsilon=1.0)
        found = reach(model, stream, source=int(src[0]))
        np.testing.assert_array_equal(found.measured, found.theory)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        # A memory passes on what the partner remembers: one hop at each event.
        ("jodie", {}, [0, 0, 1, 2, 3]),
        # Its readers look further still, but what they see is not stored.
        ("tgn", {}, [0, 0, 1, 2, 3]),
        # Nothing is carried on: as far as the layers reach, at once or never.
        ("tgat", {"layers": 1}, [0, 0, -1, -1, -1]),
        ("tgat", {"layers": 3}, [0, 0, 1, 2, -1]),
    ],
)
def test_other_models_are_measured_without_a_theory(name, options, expected):
    x = np.random.default_rng(0).uniform(-1, 1, (5, 1)).astype(np.float32)
    stream = EventStream.from_arrays(src=range(4), dst=range(1, 5), t=range(4), x=x)
    found = reach(build(name, Dims(5, node_dim=1), dim=4, **options), stream, source=0)
    assert found.measured.tolist() == expected
    assert found.theory is None


def test_reach_is_not_cut_short_by_rounding():
    """Of a fresh model little arrives after 25 hops, but not nothing; the model stays as it was."""
    length = 25
    x = np.ones((length + 1, 1), np.float32)
    stream = EventStream.from_arrays(
        src=range(length), dst=range(1, length + 1), t=range(length), x=x
    )
    model = CTAN(Dims(length + 1, node_dim=1), dim=6, psi="concat", epsilon=1.0).float()
    found = reach(model, stream, source=0)
    np.testing.assert_array_equal(found.measured, found.theory)
    assert model.layers[0].weight.dtype == torch.float32


def test_reach_is_about_one_stream_with_features():
    with pytest.raises(CtanError, match="no union of graphs"):
        reach(build("ctan", Dims(1, 1, 1), dim=4), path(3, graphs=2), source=0)


def ordered(eigenvalues):
    """Sorted by imaginary part, which tells them apart; real parts tie but for rounding."""
    rows = np.arange(len(eigenvalues))[:, None]
    return eigenvalues[rows, np.argsort(eigenvalues.imag, axis=1)]


def ctan(**options):
    torch.manual_seed(0)
    settings = {"dim": 6, "act": "identity", "phi": "mean", "psi": "add", "epsilon": 0.5}
    return CTAN(Dims(1, 1, 1), **{**settings, **options})


@pytest.mark.parametrize("gamma", [0.0, 0.25])
def test_with_the_identity_real_parts_are_minus_gamma(gamma):
    found = spectrum(ctan(gamma=gamma), star(4, graphs=3), step=3)
    np.testing.assert_allclose(found.field.real, -gamma, atol=1e-10)
    np.testing.assert_allclose(ordered(found.step), ordered(1 + 0.5 * found.field), atol=1e-10)


@pytest.mark.parametrize("phi", ["mean", "gcn"])
@pytest.mark.parametrize("psi", ["add", "concat"])
def test_with_tanh_real_parts_lie_between_minus_gamma_and_zero(phi, psi):
    found = spectrum(ctan(gamma=0.25, act="tanh", phi=phi, psi=psi), star(6, graphs=4), step=5)
    assert (found.field.real > -0.25).all()
    assert (found.field.real < 0).all()


def test_attention_reads_the_state_itself_and_moves_the_real_parts():
    """Where the propositions stop: a query that depends on h_u."""
    attending = ctan(gamma=0.0, phi="attention")
    with torch.no_grad():
        attending.layers[0].phi.query.weight.mul_(20)
        attending.layers[0].phi.key.weight.mul_(20)
    found = spectrum(attending, star(6, graphs=4), step=5)
    assert np.abs(found.field.real).max() > 1e-3


@pytest.mark.parametrize("solver", ["euler", "heun", "rk4", "cayley", "exponential"])
def test_the_step_has_the_solvers_stability_function(solver):
    found = spectrum(ctan(gamma=0.1, solver=solver), star(4, graphs=1), step=3)
    from ctan.nn import SOLVERS

    expected = SOLVERS[solver].stability(0.5 * found.field)
    np.testing.assert_allclose(ordered(found.step), ordered(expected), atol=1e-9)


@pytest.mark.parametrize("psi", ["add", "concat", "tanh_concat", "input_only"])
def test_an_event_is_the_step_after_psi(psi):
    """The product with psi's own Jacobian, computed here by hand."""
    model = ctan(psi=psi, act="tanh", gamma=0.1, neighbors=1)
    found = spectrum(model, star(3, graphs=1), step=2)
    if psi == "input_only":
        assert (found.event == 0).all()
    elif psi == "add":
        np.testing.assert_allclose(found.event, found.step, atol=1e-10)
    else:
        assert np.abs(found.event).max() < np.abs(found.step).max()
        assert found.growth == pytest.approx(np.abs(found.event).max())


def test_a_node_that_met_itself_is_varied_apart_from_itself_as_a_neighbour():
    """0 --- 1 and a loop at 1: the neighbours are held fixed, the node's own copy among them."""
    x, msg = np.ones((2, 1), np.float32), np.ones((2, 1), np.float32)
    stream = EventStream.from_arrays(src=[0, 1], dst=[1, 1], t=[0, 1], x=x, msg=msg)
    found = spectrum(ctan(gamma=0.25), stream, step=1)
    np.testing.assert_allclose(found.field.real, -0.25, atol=1e-10)


@pytest.mark.parametrize("solver", ["euler", "heun", "rk4", "cayley", "exponential"])
@pytest.mark.parametrize("psi", ["add", "concat", "tanh_concat", "input_only"])
def test_a_hop_passes_through_the_value_map_and_psi_alone(solver, psi):
    """Euler's is eps V E; a solver in which A acts on the input, too, puts phi_1 before it."""
    model = ctan(psi=psi, solver=solver, gamma=0.3)
    layer, encoder = model.layers[0], getattr(model.initial.encoder, "weight", None)
    state = {"add": torch.eye(6), "input_only": torch.zeros(6, 6)}.get(psi)
    state = encoder[:, :6] if state is None else state
    z = 0.5 * layer.generator().detach()
    eye = torch.eye(6)
    matrix = {
        "euler": eye,
        "heun": eye + z / 2,
        "rk4": eye + z / 2 + z @ z / 6 + z @ z @ z / 24,
        "cayley": torch.linalg.inv(eye - z / 2),
        "exponential": torch.linalg.solve(z, torch.linalg.matrix_exp(z) - eye),
    }[solver]
    expected = torch.linalg.eigvals(0.5 * matrix @ layer.phi.value.weight @ state).detach().numpy()
    found = hop(model)
    np.testing.assert_allclose(np.sort(np.abs(found)), np.sort(np.abs(expected)), atol=1e-9)
    np.testing.assert_allclose(found.sum(), expected.sum(), atol=1e-9)


def test_a_signal_fades_along_a_path_as_the_gain_of_a_hop():
    model = ctan(psi="concat", act="tanh", phi="attention", epsilon=1.0)
    with torch.no_grad():
        # Faint inputs leave tanh straight, and no biases leave it at 0.
        model.initial.encoder.weight[:, 6:].mul_(1e-3)
        model.initial.encoder.bias.zero_()
        model.layers[0].phi.value.bias.zero_()
        model.layers[0].phi.value.weight.mul_(3)
        model.layers[0].phi.edge.weight.zero_()
    derivative = sensitivity(model, hops=40, graphs=2).derivative
    gain = float(np.abs(hop(model)).max())
    assert 0.5 < gain < 1.1
    assert (derivative[39] / derivative[19]) ** (1 / 20) == pytest.approx(gain, rel=0.02)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: spectrum(ctan(), star(3, graphs=2), step=3), "steps 0 to 2"),
        (lambda: spectrum(ctan(), star(3, graphs=2), step=-1), "steps 0 to 2"),
        (lambda: spectrum(build("jodie", Dims(1, 1, 1), dim=4), star(3), step=0), "is no CTAN"),
        (lambda: hop(build("jodie", Dims(1, 1, 1), dim=4)), "is no CTAN"),
        (lambda: reach(ctan(), relay(3), source=4), "nodes 0 to 3"),
        (lambda: reachable(relay(3), -1, steps=1), "nodes 0 to 3"),
        (lambda: reachable(relay(3), 0, steps=0), "at least 1"),
        (lambda: reachable(relay(3), 0, steps=1, update="bal"), "did you mean 'ball'"),
        (lambda: relay(3, update="bal"), "did you mean 'ball'"),
        (lambda: relay(0), "at least 1"),
        (lambda: spectrum(ctan(), star(3, node_dim=2), step=0), "the stream has 2 and 1"),
    ],
)
def test_what_cannot_be_studied_is_told(ask, told):
    with pytest.raises(CtanError, match=told):
        ask()
