"""CAWN against its equations: dictionaries for the names, a GRU cell that walks alone."""

from collections import Counter

import numpy as np
import pytest
import torch
from asking import view_of
from path_runs import accuracy_on_paths

from ctan.errors import CtanError
from ctan.models import CAWN, Dims, cawn
from sample_streams import busy_stream

STREAM = busy_stream(1, nodes=8)
PAIRS = [(0, 1), (1, 0), (2, 2), (3, 4), (0, 7), (7, 7), (5, 6)]  # node 7 meets no one
M, STEPS = 5, 3


def made(**options):
    torch.manual_seed(1)
    dims = Dims(8, 3, 2, 100, elapsed_mean=3.0, elapsed_std=5.0)
    return CAWN(dims, dim=6, time_dim=3, walks=M, length=STEPS, alpha=0.05, **options).eval()


def walked(view, entry):
    """The walks of an entry as lists of (node, event), the start with no event."""
    walks, found = view.walks, []
    for w in range(M):
        n = walks.length[entry, w]
        events = [None, *walks.event[entry, w, :n].tolist()]
        found.append(list(zip(walks.node[entry, w, : n + 1].tolist(), events, strict=True)))
    return found


def positions(walks):
    """How often each node stands at each step of a set of walks."""
    counts = Counter()
    for walk in walks:
        counts.update((node, step) for step, (node, _) in enumerate(walk))
    return counts


def literal_embedding(model, own, other, now):
    x, msg = (torch.tensor(column).double() for column in (STREAM.x, STREAM.msg))
    sides, states = [positions(own), positions(other)], []
    for walk in own:
        h, before = torch.zeros(6), now
        for node, e in walk:
            then = now if e is None else STREAM.t[e]
            event = torch.zeros(3) if e is None else msg[e]
            name = sum(
                model.position(torch.tensor([side[node, i] / M for i in range(STEPS + 1)]))
                for side in sides
            )
            waited = model.time(model.dims.standardise(torch.tensor(before - then)))
            h = model.cell(torch.cat([name, waited, event, x[node]])[None], h[None])[0]
            before = then
        states.append(h)
    h = torch.stack(states)
    if model.attend is None:
        return model.out(h.mean(0))
    rows = [torch.softmax(h @ model.attend(mine) / 6**0.5, 0) @ h for mine in h]
    return model.out(torch.stack(rows).mean(0))


@pytest.mark.parametrize("pool", ["attention", "mean"])
@pytest.mark.parametrize("at", [0, 3, 39])
def test_equals_its_equations(pool, at, float64):
    model = made(pool=pool)
    view = view_of(model, STREAM, PAIRS, at)
    z_src, z_dst = model.embed_pairs(model.init_state(), view)
    for row, (u, v) in enumerate(zip(*view.pairs, strict=True)):
        left, right = walked(view, u), walked(view, v)
        now = STREAM.t[at]
        torch.testing.assert_close(z_src[row], literal_embedding(model, left, right, now))
        torch.testing.assert_close(z_dst[row], literal_embedding(model, right, left, now))
    assert at == 0 or (view.walks.length > 1).any()


def test_a_pair_knows_its_common_past(float64):
    """Names change with the other end: the same node has two embeddings in two pairs."""
    model = made()
    z_src, _ = model.embed_pairs(model.init_state(), view_of(model, STREAM, [(0, 1), (0, 7)], 39))
    assert not torch.allclose(z_src[0], z_src[1])


def test_names_are_nothing_but_counts(float64):
    """With the nodes of walks renamed throughout, and no features, nothing changes."""
    bare = busy_stream(1, nodes=8, node_dim=0, edge_dim=0)
    torch.manual_seed(1)
    model = CAWN(Dims(8), dim=6, walks=M, length=STEPS).eval()
    view = view_of(model, bare, PAIRS, 39)
    before = model.embed_pairs(model.init_state(), view)
    other_name = np.random.default_rng(0).permutation(8)
    view.walks.node[:] = other_name[view.walks.node]
    for named, renamed in zip(before, model.embed_pairs(model.init_state(), view), strict=True):
        torch.testing.assert_close(named, renamed)


def test_many_pairs_go_through_in_parts(monkeypatch, float64):
    model = made()
    view = view_of(model, STREAM, PAIRS, 30)
    whole = model.embed_pairs(model.init_state(), view)
    monkeypatch.setattr(cawn, "PAIRS_AT_ONCE", 3)
    for once, parts in zip(whole, model.embed_pairs(model.init_state(), view), strict=True):
        torch.testing.assert_close(once, parts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pool": "sum"}, "unknown pooling of walks 'sum'"),
        ({"walks": 1000, "length": 8}, "1000 walks of 8 steps"),
        ({"walks": 0}, "count must be at least 1"),
        ({"alpha": -1.0}, "alpha is -1.0"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(CtanError, match=message):
        CAWN(Dims(nodes=3), **options)


def test_it_sees_as_far_as_its_walks():
    """From the source's end a walk of m steps reaches the start of a path of m + 2 nodes."""
    for length, far in ((1, 3), (2, 4)):
        options = {"walks": 4, "length": length}
        assert accuracy_on_paths("cawn", far, "pair", **options) > 0.9
        assert accuracy_on_paths("cawn", far + 1, "pair", **options) < 0.75
