import numpy as np
import pytest
from history_oracles import compiled, streams
from hypothesis import given
from hypothesis import strategies as st

from ctan.errors import ProtocolError
from ctan.events import EventStream
from ctan.history import elapsed_statistics

GOLDEN = {
    3: (0.5, 0.5),
    5: (1.125, 0.92702),
    7: (1.66667, 1.49071),
    9: (2.1875, 2.09818),
    11: (2.7, 2.72213),
    13: (3.20833, 3.35384),
    15: (3.71429, 3.98978),
    20: (4.97368, 5.58893),
}


def union_of_paths(n, graphs):
    """Disjoint paths of n nodes, edge i -> i + 1 at time i, the graphs' events interleaved."""
    step, graph = np.divmod(np.arange((n - 1) * graphs), graphs)
    node = graph * n + step
    return EventStream.from_arrays(src=node, dst=node + 1, t=step, graph=graph)


@pytest.mark.parametrize("n", GOLDEN)
def test_paths_have_the_known_statistics(n):
    stream = union_of_paths(n, graphs=4)
    assert elapsed_statistics(stream) == pytest.approx(GOLDEN[n], abs=5e-6)
    training = np.flatnonzero(stream.graph < 3)
    assert elapsed_statistics(stream, positions=training) == pytest.approx(GOLDEN[n], abs=5e-6)


@compiled
@given(streams(deletions=True, min_events=1), st.data())
def test_equals_the_definition(stream, data):
    lo = data.draw(st.integers(0, len(stream)))
    hi = data.draw(st.integers(lo, len(stream)))
    previous, waits = {}, []
    for e in range(hi):
        if stream.kind[e] == 0:
            u, v, t = stream.src[e], stream.dst[e], stream.t[e]
            both = [t - previous.get(w, stream.t[0]) for w in (u, v)]
            waits += both if e >= lo else []
            previous[u] = previous[v] = t
    if not waits:
        with pytest.raises(ProtocolError, match="no interactions"):
            elapsed_statistics(stream, lo, hi)
        return
    expected = np.mean(waits), np.std(waits) or 1.0
    assert elapsed_statistics(stream, lo, hi) == pytest.approx(expected, abs=1e-12)
    shuffled = data.draw(st.permutations(range(lo, hi)))
    assert elapsed_statistics(stream, positions=shuffled) == elapsed_statistics(stream, lo, hi)


def test_a_constant_wait_has_deviation_one():
    stream = EventStream.from_arrays(src=[0, 0], dst=[0, 0], t=[4, 4])
    assert elapsed_statistics(stream) == (0.0, 1.0)


def test_large_integer_times_keep_their_differences():
    t = 2**62 + np.array([0, 1, 3])
    stream = EventStream.from_arrays(src=[0, 0, 0], dst=[0, 0, 0], t=t)
    assert elapsed_statistics(stream) == pytest.approx((1.0, np.sqrt(2 / 3)))
