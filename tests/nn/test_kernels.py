"""The fused versions equal the plain ones: outputs and all gradients, on any neighbourhood."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ctan.nn import AntiSymmetricStep, Attention, AttentionLayer, Incoming, Readout, kernels
from ctan.nn.memory import MemoryCell

TOLERANCE = {torch.float32: 2e-5, torch.float64: 1e-11}


@st.composite
def cases(draw):
    """Sizes of a neighbourhood, with or without edge attributes of either sort."""
    nodes = draw(st.integers(1, 40))
    return {
        "nodes": nodes,
        "targets": draw(st.integers(1, nodes)),
        "slots": draw(st.integers(1, 6)),
        "table": draw(st.sampled_from([0, 3])),
        "attr": draw(st.sampled_from([0, 4])),
        "share": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "dtype": draw(st.sampled_from([torch.float32, torch.float64])),
        "seed": draw(st.integers(0, 10_000)),
    }


def neighbourhood(case, dim=8):
    draw = torch.Generator().manual_seed(case["seed"])
    shape = (case["targets"], case["slots"])

    def normal(*size):
        return torch.randn(*size, generator=draw, dtype=case["dtype"])

    h, attr = normal(case["nodes"], dim), normal(*shape, case["attr"])
    edges = Incoming(
        slot=torch.randint(case["nodes"], shape, generator=draw),
        present=torch.rand(shape, generator=draw) < case["share"],
        count=torch.zeros(case["nodes"]),
        attr=attr.requires_grad_(),
        table=normal(11, case["table"]) if case["table"] else None,
        event=torch.randint(11, shape, generator=draw) if case["table"] else None,
    )
    return h.requires_grad_(), edges


def assert_same(ours, plain, inputs, dtype):
    """Equal values, and equal gradients of a random functional of them."""
    torch.testing.assert_close(ours, plain, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    direction = torch.randn(plain.shape, generator=torch.Generator().manual_seed(1), dtype=dtype)
    found = torch.autograd.grad(ours, inputs, direction, allow_unused=True)
    wanted = torch.autograd.grad(plain, inputs, direction, allow_unused=True)
    for ours_grad, plain_grad, x in zip(found, wanted, inputs, strict=True):
        zero = torch.zeros_like(x)
        torch.testing.assert_close(
            zero if ours_grad is None else ours_grad,
            zero if plain_grad is None else plain_grad,
            rtol=10 * TOLERANCE[dtype],
            atol=10 * TOLERANCE[dtype],
        )


@settings(max_examples=60, deadline=None)
@given(case=cases(), heads=st.sampled_from([1, 2, 4]), dropout=st.booleans())
def test_attention(case, heads, dropout):
    h, edges = neighbourhood(case)
    phi = Attention(8, case["table"] + case["attr"], heads).to(case["dtype"])
    keep = None
    if dropout:
        draw = torch.Generator().manual_seed(case["seed"])
        shape = (heads, *edges.slot.shape)
        keep = (torch.rand(shape, generator=draw) < 0.7).to(case["dtype"]) / 0.7
    inputs = [h, edges.attr, *phi.parameters()]
    assert_same(phi.fused(h, edges, keep), phi.plain(h, edges, keep), inputs, case["dtype"])


@settings(max_examples=60, deadline=None)
@given(case=cases(), shrink=st.lists(st.integers(0, 20), max_size=3))
def test_antisymmetric_steps(case, shrink):
    """Any number of steps, each for fewer rows than the one before."""
    h, edges = neighbourhood(case)
    phi = Attention(8, case["table"] + case["attr"]).to(case["dtype"])
    step = AntiSymmetricStep(8, phi, epsilon=0.5).to(case["dtype"])
    torch.nn.init.normal_(step.bias)
    targets = [case["targets"]]
    for fewer in shrink:
        targets.append(max(1, targets[-1] - fewer))
    if len(targets) > 1:
        # The neighbours of a later step are among those whom the step before has updated.
        edges = replace(edges, slot=edges.slot % targets[-2])
    plain = h
    for count in targets:
        near = edges.first(count)
        plain = plain[:count] + 0.5 * step.field(plain[:count], phi.plain(plain, near))
    fused = step.steps(h, edges, targets)
    assert type(fused.grad_fn).__name__ == "_FlowBackward"
    assert_same(fused, plain, [h, edges.attr, *step.parameters()], case["dtype"])


@settings(max_examples=60, deadline=None)
@given(case=cases(), heads=st.sampled_from([1, 2]))
def test_attention_layer(case, heads):
    h, edges = neighbourhood(case)
    layer = AttentionLayer(8, 4, case["table"] + case["attr"], heads, dropout=0).to(case["dtype"])
    plain = torch.tanh(layer.own(h[: edges.targets]) + layer.phi.plain(h, edges))
    assert_same(layer(h, edges), plain, [h, edges.attr, *layer.parameters()], case["dtype"])


@pytest.mark.parametrize("rows", [1, 31, 32, 33, 400])
def test_linear(rows):
    draw = torch.Generator().manual_seed(rows)
    x = torch.randn(rows, 20, generator=draw, requires_grad=True)
    weight = torch.randn(30, 20, generator=draw, requires_grad=True)
    bias = torch.randn(30, generator=draw, requires_grad=True)
    inputs = [x, weight, bias]
    plain = torch.nn.functional.linear(*inputs)
    assert_same(kernels.linear(*inputs), plain, inputs, torch.float32)


def test_linear_of_parts_gives_gradients_to_those_that_want_one():
    draw = torch.Generator().manual_seed(0)
    fixed, moving = (torch.randn(37, width, generator=draw) for width in (5, 3))
    moving.requires_grad_()
    weight = torch.randn(6, 8, generator=draw, requires_grad=True)
    ours = kernels.linear([fixed, moving], weight)
    plain = torch.nn.functional.linear(torch.cat([fixed, moving], dim=1), weight)
    assert_same(ours, plain, [moving, weight], torch.float32)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(0, 40),
    dim=st.integers(1, 9),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_gates_of_a_recurrent_unit(rows, dim, dtype):
    draw = torch.Generator().manual_seed(rows)
    sizes = (3 * dim, 3 * dim, dim)
    inputs = [
        torch.randn(rows, size, generator=draw, dtype=dtype).requires_grad_() for size in sizes
    ]
    assert_same(kernels.gru_gates(*inputs), MemoryCell.gates(*inputs), inputs, dtype)


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.integers(0, 50),
    kind=st.sampled_from(["pair", "dst"]),
    outputs=st.sampled_from([1, 3]),
    last=st.integers(2, 9),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_scores_of_pairs(pairs, kind, outputs, last, dtype):
    draw = torch.Generator().manual_seed(pairs)
    readout = Readout(6, outputs, kind).to(dtype)
    z = torch.randn(9, 6, generator=draw, dtype=dtype).requires_grad_()
    src, dst = (
        torch.randint(last, (pairs,), generator=draw),
        torch.randint(last - 2, 9, (pairs,), generator=draw),
    )
    fused = readout.pairs(z, src, dst)
    plain = readout(z[src], z[dst])
    assert fused.grad_fn is not None
    assert type(fused.grad_fn).__name__ == "_PairsBackward"
    assert_same(fused, plain, [z, *readout.parameters()], dtype)


def test_edges_that_do_not_fit_the_weights_are_refused():
    h, edges = neighbourhood(
        {"nodes": 5, "targets": 5, "slots": 2, "table": 3, "attr": 4, "share": 1.0,
         "dtype": torch.float32, "seed": 0}
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"take 16 numbers of each neighbour, .* give 15"):
        Attention(8, 8).fused(h, edges)


def test_other_types_take_the_plain_road():
    h = torch.zeros(2, 2, dtype=torch.bfloat16)
    assert not kernels.usable(h, None)
    assert kernels.linear(h, torch.ones(3, 2, dtype=torch.bfloat16)).dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_dropout(dtype, share):
    torch.manual_seed(0)
    x = torch.randn(100, 7, 200, dtype=dtype).mT.requires_grad_()
    out = kernels.dropout(x, share)
    kept = out != 0
    # 140,000 draws: a share is off by more than 5 standard deviations never.
    assert abs(kept.double().mean() - (1 - share)) < 5 * (share * (1 - share) / x.numel()) ** 0.5
    torch.testing.assert_close(out, x * kept / (1 - share))
    direction = torch.randn_like(out)
    (grad,) = torch.autograd.grad(out, x, direction)
    torch.testing.assert_close(grad, direction * kept / (1 - share))
    # Neighbouring places and calls have nothing to do with each other.
    again = kernels.dropout(x, share) != 0
    for other in (again, kept.roll(1, dims=2), kept.roll(1, dims=0)):
        both = (kept & other).double().mean()
        assert abs(both - (1 - share) ** 2) < 0.01
    torch.manual_seed(0)
    torch.randn(100, 7, 200, dtype=dtype)
    assert torch.equal(kernels.dropout(x, share), out)


def test_dropout_of_nothing_and_of_everything():
    x = torch.ones(5)
    assert torch.equal(kernels.dropout(x, 0.0), x)
    assert torch.equal(kernels.dropout(x, 0.7, training=False), x)
    assert torch.equal(kernels.dropout(x, 1.0), torch.zeros(5))
    assert kernels.dropout(torch.ones(4, 0), 0.5).shape == (4, 0)
