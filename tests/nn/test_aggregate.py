import math

import pytest
import torch
from multigraphs import random_multigraph

from ctan.errors import CtanError
from ctan.events import EventStream
from ctan.history import TemporalIndex, neighborhood
from ctan.nn import AGGREGATIONS, AntiSymmetricStep, Incoming, aggregation

DIM, EDGE_DIM = 4, 3


def literal(phi, name, h, graph, include_self):
    """The three sums of the docstrings, edge by edge."""
    index = graph.edge_index(include_self).T.tolist()
    attr = graph.edge_attr(include_self)
    arrivals = [[e for e, (_, u) in enumerate(index) if u == w] for w in range(graph.nodes)]
    out = []
    for u in range(graph.nodes):
        total = torch.zeros(DIM, dtype=h.dtype)
        for e in arrivals[u]:
            v = index[e][0]
            edge = phi.edge.weight @ attr[e]
            if name == "mean":
                total = total + (phi.value.weight @ h[v] + edge) / len(arrivals[u])
            elif name == "gcn" and arrivals[v]:
                scale = math.sqrt(len(arrivals[u]) * len(arrivals[v]))
                total = total + (phi.value.weight @ h[v] + edge) / scale
        out.append(total)
    return torch.stack(out)


@pytest.mark.parametrize("name", ["mean", "gcn"])
@pytest.mark.parametrize("include_self", [False, True])
def test_sums_with_edge_attributes_equal_a_literal_loop(name, include_self):
    torch.manual_seed(0)
    phi = aggregation(name, DIM, EDGE_DIM).double()
    graph = random_multigraph(seed=1, dtype=torch.float64, edge_dim=EDGE_DIM)
    h = torch.randn(graph.nodes, DIM, dtype=torch.float64)
    edges = graph.incoming()
    out = phi(h, edges.with_self() if include_self else edges)
    torch.testing.assert_close(out, literal(phi, name, h, graph, include_self))


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_without_neighbours_there_is_nothing(name):
    torch.manual_seed(0)
    phi = aggregation(name, DIM, EDGE_DIM)
    edges = Incoming(
        slot=torch.tensor([[1, 0]]),
        present=torch.tensor([[False, False]]),
        count=torch.tensor([0, 0]),
        attr=torch.full((1, 2, EDGE_DIM), 1e3),
    )
    h = torch.randn(2, DIM, requires_grad=True)
    out = phi(h, edges)
    assert out.tolist() == [[0.0] * DIM]
    out.sum().backward()
    assert h.grad.abs().max() == 0


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_the_order_of_neighbours_does_not_matter(name):
    torch.manual_seed(0)
    phi = aggregation(name, DIM, EDGE_DIM).double()
    edges = random_multigraph(seed=2, dtype=torch.float64, edge_dim=EDGE_DIM).incoming()
    order = torch.randperm(edges.slot.size(1))
    turned = Incoming(
        edges.slot[:, order], edges.present[:, order], edges.count, edges.attr[:, order]
    )
    h = torch.randn(len(edges.count), DIM, dtype=torch.float64)
    torch.testing.assert_close(phi(h, edges), phi(h, turned))


def test_attention_dropout_thins_the_weights_while_training_only():
    torch.manual_seed(0)
    phi = aggregation("attention", DIM, EDGE_DIM, heads=2, dropout=0.5)
    edges = random_multigraph(seed=3, dtype=torch.float32, edge_dim=EDGE_DIM).incoming()
    h = torch.randn(len(edges.count), DIM)
    whole = phi.eval()(h, edges)
    torch.testing.assert_close(phi(h, edges), whole, rtol=0, atol=0)
    thinned = torch.stack([phi.train()(h, edges) for _ in range(3000)]).mean(0)
    assert (phi(h, edges) - whole).abs().max() > 0.01
    torch.testing.assert_close(thinned, whole, rtol=0.1, atol=0.1)  # right on average


@pytest.mark.parametrize("name", AGGREGATIONS)
@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("own_entry", [False, True])
def test_trimmed_frontiers_equal_the_whole_graph(name, include_self, steps, own_entry):
    """Step l on the nodes within L - l hops gives what L steps on all nodes give to the asked."""
    torch.manual_seed(steps)
    nodes, events, k = 14, 30, 3
    stream = EventStream.from_arrays(
        src=torch.randint(0, nodes, (events,)).numpy(),
        dst=torch.randint(0, nodes - 2, (events,)).numpy(),
        t=range(events),
        num_nodes=nodes,
    )
    index = TemporalIndex.build(stream)
    phi = aggregation(name, DIM, EDGE_DIM).double()
    step = AntiSymmetricStep(DIM, phi, epsilon=0.5, include_self=include_self).double()
    state = torch.randn(nodes, DIM, dtype=torch.float64)
    table = torch.randn(events, EDGE_DIM, dtype=torch.float64)
    self_table = torch.randn(nodes, EDGE_DIM, dtype=torch.float64)

    def run(asked, hops, trimmed):
        hood = neighborhood(index, asked, 25, k=k, hops=hops, own_entry=own_entry and trimmed)
        rows = len(hood.slot)
        count = torch.from_numpy(hood.count)
        edges = Incoming(
            slot=torch.from_numpy(hood.slot),
            present=torch.arange(hood.slot.shape[1]) < count[:rows, None],
            count=count,
            attr=table[torch.from_numpy(hood.event)],
            self_attr=self_table[torch.from_numpy(hood.node[:rows])],
        )
        h = state[torch.from_numpy(hood.node)]
        for number in range(1, steps + 1):
            h = step(h, edges.first(hood.sizes[-1 - number]) if trimmed else edges)
        return h[torch.from_numpy(hood.row)]

    asked = [3, 0, 3, 13]
    everyone = run(list(range(nodes)), hops=1, trimmed=False)
    torch.testing.assert_close(run(asked, hops=steps, trimmed=True), everyone[asked])


def test_unknown_names_are_refused():
    with pytest.raises(CtanError, match="did you mean 'attention'"):
        aggregation("atention", DIM, EDGE_DIM)
    with pytest.raises(ValueError, match="not divisible by 3 heads"):
        aggregation("attention", DIM, EDGE_DIM, heads=3)
    edges = random_multigraph(seed=0, dtype=torch.float32).incoming()
    without = Incoming(edges.slot, edges.present, edges.count, edges.attr)
    with pytest.raises(ValueError, match="self_attr"):
        without.with_self()
