"""Our step equals PyG's AntiSymmetricConv round its own convolutions: outputs and all gradients."""

import pytest
import torch
from multigraphs import random_multigraph
from torch_geometric.nn import AntiSymmetricConv, GCNConv, SAGEConv, TransformerConv

from ctan.nn import AntiSymmetricStep, Attention, Mean, NormalisedSum

DIM, EDGE_DIM, EPSILON, GAMMA = 6, 3, 0.3, 0.2
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


def attention(heads, dtype):
    theirs = TransformerConv(DIM, DIM // heads, heads, edge_dim=EDGE_DIM, root_weight=False)
    ours = Attention(DIM, EDGE_DIM, heads)
    names = {"query": "lin_query", "key": "lin_key", "value": "lin_value", "edge": "lin_edge"}
    return ours.to(dtype), theirs.to(dtype), names


def mean(heads, dtype):
    theirs = SAGEConv(DIM, DIM, aggr="mean", root_weight=False, bias=False)
    return Mean(DIM, 0).to(dtype), theirs.to(dtype), {"value": "lin_l"}


def normalised_sum(heads, dtype):
    theirs = GCNConv(DIM, DIM, bias=False, add_self_loops=False)
    return NormalisedSum(DIM, 0).to(dtype), theirs.to(dtype), {"value": "lin"}


def assert_close(ours, theirs, dtype):
    ours, theirs = ours.detach(), theirs.detach()
    assert (ours - theirs).abs().max() <= TOLERANCE[dtype] * max(1.0, theirs.abs().max())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("include_self", [False, True], ids=["", "include_self"])
@pytest.mark.parametrize(
    ("pair", "heads"), [(attention, 1), (attention, 2), (mean, 1), (normalised_sum, 1)]
)
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
def test_steps_equal_antisymmetric_conv(pair, heads, include_self, steps, dtype):
    torch.manual_seed(steps)
    phi, conv, names = pair(heads, dtype)
    step = AntiSymmetricStep(DIM, phi, epsilon=EPSILON, gamma=GAMMA, include_self=include_self)
    reference = AntiSymmetricConv(DIM, conv, num_iters=steps, epsilon=EPSILON, gamma=GAMMA)
    step, reference = step.to(dtype), reference.to(dtype)

    twins = [(step.weight, reference.W), (step.bias, reference.bias)]
    for our_name, their_name in names.items():
        our_map, their_map = getattr(phi, our_name), getattr(conv, their_name)
        twins.append((our_map.weight, their_map.weight))
        if our_map.bias is not None:
            twins.append((our_map.bias, their_map.bias))
    with torch.no_grad():
        torch.nn.init.normal_(reference.bias)
        for our_weight, their_weight in twins:
            our_weight.copy_(their_weight)
    assert {id(ours) for ours, _ in twins} == {id(p) for p in step.parameters()}

    graph = random_multigraph(seed=steps, dtype=dtype, edge_dim=EDGE_DIM if phi.edge_dim else 0)
    start = torch.randn(graph.nodes, DIM, dtype=dtype)
    weigh = torch.randn(graph.nodes, DIM, dtype=dtype)
    attributes = [graph.attr, graph.self_attr][: 1 + include_self] if phi.edge_dim else []

    h = ours_in = start.clone().requires_grad_()
    edges = graph.incoming()
    for _ in range(steps):
        h = step(h, edges)
    inputs = [ours_in, *attributes, *(ours for ours, _ in twins)]
    # The key's bias cancels in the softmax: a layer may leave it out, and its gradient is zero.
    our_gradients = torch.autograd.grad(
        (h * weigh).sum(), inputs, allow_unused=True, materialize_grads=True
    )

    theirs_in = start.clone().requires_grad_()
    told = (graph.edge_attr(include_self),) if phi.edge_dim else ()
    out = reference(theirs_in, graph.edge_index(include_self), *told)
    inputs = [theirs_in, *attributes, *(theirs for _, theirs in twins)]
    their_gradients = torch.autograd.grad((out * weigh).sum(), inputs)

    assert_close(h, out, dtype)
    for ours, theirs in zip(our_gradients, their_gradients, strict=True):
        assert_close(ours, theirs, dtype)
