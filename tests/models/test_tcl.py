"""TCL against its equations, stream by stream."""

import pytest
import torch
from asking import history, view_of
from path_runs import accuracy_on_paths

from ctan.models import TCL, Dims, tcl
from sample_streams import busy_stream

STREAM = busy_stream(1, nodes=8)
PAIRS = [(0, 1), (1, 0), (2, 2), (3, 4), (0, 7), (7, 7), (5, 6)]  # node 7 meets no one


def made():
    torch.manual_seed(1)
    dims = Dims(8, 3, 2, 100, elapsed_mean=3.0, elapsed_std=5.0)
    return TCL(dims, dim=6, time_dim=3, neighbors=5).eval()


def attended(block, h, memory):
    """A block on one sequence without gaps."""
    everything = torch.ones(1, len(memory), dtype=torch.bool)
    return block(h[None], block.remember(memory[None]), everything)[0]


def literal_stream(model, node, at):
    x, msg = (torch.tensor(column).double() for column in (STREAM.x, STREAM.msg))
    rows = []
    for place, (v, e) in enumerate([(node, None), *history(STREAM, node, at, 5)]):
        elapsed = torch.tensor(0 if e is None else STREAM.t[at] - STREAM.t[e])
        event = torch.zeros(3) if e is None else msg[e]
        told = torch.cat([model.time(model.dims.standardise(elapsed)), x[v], event])
        rows.append(model.token(told) + model.place.weight[place])
    h = torch.stack(rows)
    for block in model.blocks:
        h = attended(block, h, h)
    return h


@pytest.mark.parametrize("at", [0, 3, 39])
def test_equals_its_equations(at, float64):
    model = made()
    z_src, z_dst = model.embed_pairs(model.init_state(), view_of(model, STREAM, PAIRS, at))
    for row, (u, v) in enumerate(PAIRS):
        left, right = literal_stream(model, u, at), literal_stream(model, v, at)
        expected = model.out(attended(model.cross, left[:1], right)[0])
        torch.testing.assert_close(z_src[row], expected)
        expected = model.out(attended(model.cross, right[:1], left)[0])
        torch.testing.assert_close(z_dst[row], expected)


def test_many_pairs_go_through_in_parts(monkeypatch, float64):
    model = made()
    view = view_of(model, STREAM, PAIRS, 30)
    whole = model.embed_pairs(model.init_state(), view)
    monkeypatch.setattr(tcl, "PAIRS_AT_ONCE", 3)
    for once, parts in zip(whole, model.embed_pairs(model.init_state(), view), strict=True):
        torch.testing.assert_close(once, parts)


def test_it_sees_one_hop_from_either_end():
    """Each embedding looks across, so the destination's alone reaches as far as a pair."""
    assert accuracy_on_paths("tcl", 3, "dst") > 0.9
    assert accuracy_on_paths("tcl", 4, "pair") < 0.75
