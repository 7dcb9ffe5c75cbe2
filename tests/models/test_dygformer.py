"""DyGFormer against its equations, pair by pair, and against the TGM library's."""

from collections import Counter

import pytest
import torch
from asking import history, view_of
from path_runs import accuracy_on_paths
from torch import nn

from ctan.errors import CtanError
from ctan.models import Dims, DyGFormer, dygformer
from sample_streams import busy_stream

STREAM = busy_stream(1, nodes=8)
PAIRS = [(0, 1), (1, 0), (2, 2), (3, 4), (0, 7), (7, 7), (5, 6)]  # node 7 meets no one


def made(stream=STREAM, **options):
    torch.manual_seed(1)
    dims = Dims(8, stream.edge_dim, stream.node_dim, 100, elapsed_mean=3.0, elapsed_std=5.0)
    given = {"dim": 4, "time_dim": 3, "neighbors": 5, **options}
    return DyGFormer(dims, **given).eval()


def tokens(model, stream, own, other, at):
    """The patches of one history of one pair, from its places one by one."""
    met, there = ([(node, None), *history(stream, node, at, 5)] for node in (own, other))
    counts = [Counter(v for v, _ in side) for side in (met, there)]
    x, msg = (torch.tensor(column).double() for column in (stream.x, stream.msg))
    places = []
    for v, e in met:
        elapsed = torch.tensor(0 if e is None else stream.t[at] - stream.t[e])
        shared = [model.cooccurrence.encode(torch.tensor([float(c[v])])) for c in counts]
        event = torch.zeros(stream.edge_dim) if e is None else msg[e]
        places.append((x[v], event, model.time(model.dims.standardise(elapsed)), sum(shared)))
    nothing = 2 * model.cooccurrence.encode(torch.zeros(1))
    while len(places) % model.patch:
        places.append((*(torch.zeros_like(channel) for channel in places[0][:3]), nothing))
    patches = [places[i : i + model.patch] for i in range(0, len(places), model.patch)]
    maps = (model.node, model.event, model.elapsed, model.cooccurrence.project)
    return torch.stack(
        [
            torch.cat([m(torch.cat(c)) for m, c in zip(maps, zip(*p, strict=True), strict=True)])
            for p in patches
        ]
    )


def attended(block, h):
    layer = nn.MultiheadAttention(block.dim, block.heads, bias=True, batch_first=True)
    weights = [part.weight for part in (block.query, block.key, block.value)]
    layer.in_proj_weight = nn.Parameter(torch.cat(weights))
    biases = [block.query.bias, torch.zeros(block.dim), block.value.bias]
    layer.in_proj_bias = nn.Parameter(torch.cat(biases))
    layer.out_proj.weight, layer.out_proj.bias = block.out.weight, block.out.bias
    normed = block.attention_norm(h)
    h = h + layer(normed[None], normed[None], normed[None])[0][0]
    return h + block.hidden(block.hidden_norm(h))


@pytest.mark.parametrize("patch", [1, 2, 4])
@pytest.mark.parametrize("at", [0, 3, 39])
def test_equals_its_equations(patch, at, float64):
    model = made(patch=patch)
    z_src, z_dst = model.embed_pairs(model.init_state(), view_of(model, STREAM, PAIRS, at))
    for row, (u, v) in enumerate(PAIRS):
        left, right = tokens(model, STREAM, u, v, at), tokens(model, STREAM, v, u, at)
        h = torch.cat([left, right])
        for block in model.blocks:
            h = attended(block, h)
        torch.testing.assert_close(z_src[row], model.out(h[: len(left)].mean(0)))
        torch.testing.assert_close(z_dst[row], model.out(h[len(left) :].mean(0)))


class PlainHarmonics(nn.Module):
    """The reference takes a class that makes its time encoding from a size."""

    encoding = None

    def __init__(self, dim):
        super().__init__()

    def forward(self, delta):
        return PlainHarmonics.encoding(delta.float())


@pytest.mark.parametrize("patch", [1, 3])
def test_equals_the_tgm_library_where_no_place_is_empty(patch):
    """TGM lets empty places attend, be attended to and be averaged, so histories must be full.

    Ours leaves them out: with the reference's rule a score depends on the longest history allowed
    (and in DyGLib, from which it comes, on the longest one in the batch).
    """
    tgm = pytest.importorskip("tgm.nn.encoder.dygformer")
    model = made(patch=patch, dim=6)
    model.dims = Dims(8, 3, 2)  # as they are: the reference does not standardise
    PlainHarmonics.encoding = model.time
    reference = tgm.DyGFormer(
        2, 3, 3, 6, 6, patch, max_input_sequence_length=6, time_encoder=PlainHarmonics
    ).eval()
    reference.co_occurrence_encoder.neighbor_co_occurrence_encoder = model.cooccurrence.encode
    maps = (model.node, model.event, model.elapsed, model.cooccurrence.project)
    for name, given in zip(("node", "edge", "time", "neighbor_co_occurrence"), maps, strict=True):
        reference.projection_layer[name] = given
    for theirs, block in zip(reference.transformers, model.blocks, strict=True):
        theirs.norm_layers = nn.ModuleList([block.attention_norm, block.hidden_norm])
        theirs.linear_layers = nn.ModuleList([block.hidden[0], block.hidden[3]])
        attention = theirs.multi_head_attention
        weights = [part.weight for part in (block.query, block.key, block.value)]
        attention.in_proj_weight = nn.Parameter(torch.cat(weights))
        biases = [block.query.bias, torch.zeros(block.dim), block.value.bias]
        attention.in_proj_bias = nn.Parameter(torch.cat(biases))
        attention.out_proj = block.out
    reference.output_layer = model.out

    at, pairs = 39, [(0, 1), (1, 2), (2, 0)]
    met = [history(STREAM, node, at, 5) for end in zip(*pairs, strict=True) for node in end]
    assert all(len(events) == 5 for events in met)
    event = torch.tensor([[e for _, e in events] for events in met])
    theirs = reference(
        torch.tensor(STREAM.x),
        torch.tensor(pairs).T,
        torch.full((3,), STREAM.t[at]),
        torch.tensor([[v for v, _ in events] for events in met]),
        torch.tensor(STREAM.t)[event],
        torch.tensor(STREAM.msg)[event],
    )
    ours = model.embed_pairs(model.init_state(), view_of(model, STREAM, pairs, at))
    for own, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, expected, rtol=1e-5, atol=1e-6)


def test_channels_without_features_are_left_out():
    bare = busy_stream(1, nodes=8, node_dim=0, edge_dim=0)
    model = made(bare)
    assert model.width == 8
    assert model.embed_pairs(model.init_state(), view_of(model, bare, PAIRS, 30))[0].shape == (7, 4)


def test_many_pairs_go_through_in_parts(monkeypatch, float64):
    model = made()
    view = view_of(model, STREAM, PAIRS, 30)
    whole = model.embed_pairs(model.init_state(), view)
    monkeypatch.setattr(dygformer, "PAIRS_AT_ONCE", 3)
    for once, parts in zip(whole, model.embed_pairs(model.init_state(), view), strict=True):
        torch.testing.assert_close(once, parts)


def test_heads_that_do_not_fit_are_named():
    with pytest.raises(CtanError, match="width 15 with 2 heads"):
        DyGFormer(Dims(nodes=3, edge_dim=1), dim=5)


def test_it_sees_one_hop_from_either_end():
    """Both embeddings read both histories, so the destination's alone reaches as far as a pair."""
    assert accuracy_on_paths("dygformer", 3, "dst") > 0.9
    assert accuracy_on_paths("dygformer", 4, "pair") < 0.75
