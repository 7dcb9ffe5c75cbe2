"""T-PathGraph: the released arrays bit for bit, and what the paper's text asks for."""

import numpy as np
import pytest

from ctan.datasets import LENGTHS, path_graphs
from ctan.errors import CtanError
from ctan.events import split_by_graph
from ctan.training import measure

#: Mean and population deviation of (t - the node's previous event time) over the training split.
CONSTANTS = {
    3: (0.5, 0.5),
    5: (1.125, 0.92702),
    7: (1.66667, 1.49071),
    9: (2.1875, 2.09818),
    11: (2.7, 2.72213),
    13: (3.20833, 3.35384),
    15: (3.71429, 3.98978),
    20: (4.97368, 5.58893),
}


def recipe(n, graphs=1000):
    """The recipe of the released arrays, graph by graph."""
    rng = np.random.default_rng(9)
    x = rng.uniform(-1, 1, (n * graphs, 2))
    paths = []
    for i in range(graphs):
        sign = -1 if i % 2 == 0 else 1
        x[i * n] = sign
        msg = rng.uniform(-1, 1, (n - 1, 2))
        msg[0] = sign
        first = i * n
        src = np.arange(first, first + n - 1)
        paths.append((src, src + 1, np.arange(n - 1), msg.astype(np.float32), i % 2))
    return x.astype(np.float32), paths


@pytest.mark.parametrize("n", LENGTHS)
def test_released_is_bit_exact(n):
    stream = path_graphs(n, variant="released")
    x, paths = recipe(n)
    assert stream.x.dtype == stream.msg.dtype == np.float32
    assert stream.x.tobytes() == x.tobytes()
    for i, (src, dst, t, msg, label) in enumerate(paths):
        own = stream.graph == i
        assert (stream.src[own] == src).all()
        assert (stream.dst[own] == dst).all()
        assert (stream.t[own] == t).all()
        assert stream.msg[own].tobytes() == msg.tobytes()
        assert stream.y[own].tolist() == [-1] * (n - 2) + [label]


@pytest.mark.parametrize("variant", ["released", "paper"])
@pytest.mark.parametrize("n", LENGTHS)
def test_standardisation_and_split(n, variant):
    stream = path_graphs(n, variant=variant)
    parts = split_by_graph(stream)
    assert [len(part) for part in parts] == [700, 150, 150]
    assert np.concatenate(parts).tolist() == list(range(1000))
    dims = measure(stream, parts)
    assert (dims.elapsed_mean, dims.elapsed_std) == pytest.approx(CONSTANTS[n], abs=5e-6)
    assert (dims.start, dims.nodes) == (0, 1000 * n)


@pytest.mark.parametrize("n", [3, 20])
def test_paper_tells_the_class_at_the_first_node_only(n):
    stream = path_graphs(n, graphs=2000)
    x = stream.x.reshape(2000, n)
    label = stream.y[stream.y >= 0][np.argsort(stream.graph[stream.y >= 0])]
    assert stream.node_dim == stream.edge_dim == 1
    assert (x[:, 0] == np.where(label == 1, 1, -1)).all()
    assert 0.45 < label.mean() < 0.55
    for noise in (x[:, 1:], stream.msg):
        assert noise.min() > -1
        assert noise.max() < 1
        assert abs(noise.mean()) < 0.05
        assert noise.std() == pytest.approx(np.sqrt(1 / 3), abs=0.02)
    # Nothing else goes with the label: correlations as small as chance leaves them.
    message = stream.msg[np.lexsort((stream.t, stream.graph))].reshape(2000, n - 1)
    rest = np.concatenate([x[:, 1:], message], axis=1)
    assert max(abs(np.corrcoef(column, label)[0, 1]) for column in rest.T) < 0.1


@pytest.mark.parametrize("variant", ["released", "paper"])
def test_graphs_are_disjoint_paths_in_order_of_time(variant):
    stream = path_graphs(7, variant=variant, graphs=10)
    assert (np.diff(stream.t) >= 0).all()
    for i in range(10):
        own = stream.graph == i
        assert stream.src[own].tolist() == list(range(7 * i, 7 * i + 6))
        assert (stream.dst[own] == stream.src[own] + 1).all()


def test_a_seed_is_a_data_set():
    first, same, other = (path_graphs(5, graphs=10, seed=seed) for seed in (1, 1, 2))
    assert first.x.tobytes() == same.x.tobytes()
    assert first.x.tobytes() != other.x.tobytes()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"length": 1}, "at least 2 nodes"),
        ({"length": 5, "graphs": 0}, "at least 1 graph"),
        ({"length": 5, "variant": "release"}, "did you mean 'released'"),
    ],
)
def test_mistakes_are_named(wrong, message):
    with pytest.raises(CtanError, match=message):
        path_graphs(**wrong)
