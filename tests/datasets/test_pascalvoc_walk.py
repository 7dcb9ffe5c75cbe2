"""The breadth-first walk against a literal one and against networkx."""

import networkx as nx
import numpy as np
import pascalvoc_oracles as oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctan.datasets.pascalvoc_walks import classes_of, first_steps, union, walk_through
from ctan.datasets.superpixels import superpixel_graph
from ctan.datasets.superpixels_walk import breadth_first, top_left

PAIRS = st.sets(
    st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda p: p[0] < p[1]), max_size=30
)


@given(PAIRS, st.integers(0, 11), st.randoms())
def test_steps_are_the_literal_ones_whatever_the_order_of_edges(pairs, start, random):
    shuffled = sorted(pairs)
    random.shuffle(shuffled)
    walk = breadth_first(np.array(shuffled, np.int64).reshape(-1, 2), 12, start)
    steps = list(zip(walk.order[walk.came_from].tolist(), walk.order[1:].tolist(), strict=True))
    assert steps == oracle.visits(pairs, start)
    graph = nx.Graph(sorted(pairs))
    graph.add_nodes_from(range(12))
    assert steps == list(nx.bfs_edges(graph, start, sort_neighbors=sorted))
    # Only the component of the first node is walked, and each of its nodes once.
    assert sorted(walk.order.tolist()) == sorted(nx.node_connected_component(graph, start))


def test_the_first_node_is_nearest_in_l1_ties_by_id():
    # Node 1 is nearest by Euclid; 2 and 3 are nearest in L1.
    centres = np.array([[9.0, 9.0], [2.0, 2.0], [3.5, 0.0], [0.0, 3.5]])
    assert top_left(centres) == 2


@pytest.mark.parametrize("adjacency", ["boundary", "coord8"])
@pytest.mark.parametrize("label", ["centroid", "majority"])
def test_a_picture_becomes_the_events_that_the_text_describes(adjacency, label):
    graph = superpixel_graph(*oracle.draw(3), compactness=10, most=60)
    nodes = 25
    walk = walk_through(graph, adjacency)
    stream = union([first_steps(graph, walk, nodes, label)], nodes)

    start = min(range(len(graph)), key=lambda i: (sum(graph.centroid[i]), i))
    pairs = graph.edges if adjacency == "boundary" else oracle.nearest(graph.centroid, 8)
    steps = oracle.visits([tuple(map(int, pair)) for pair in pairs], start)[: nodes - 1]
    visited = [start] + [to for _, to in steps]  # new id -> superpixel
    ends = zip(stream.src.tolist(), stream.dst.tolist(), strict=True)
    assert [(visited[u], visited[v]) for u, v in ends] == steps
    assert stream.t.tolist() == list(range(nodes - 1))
    np.testing.assert_array_equal(stream.x, graph.x[visited])
    assert (stream.msg == 1).all()
    for event, superpixel in enumerate(visited[1:]):
        known = graph.majority[superpixel]
        if label == "centroid" and graph.at_centroid[superpixel] != -1:
            known = graph.at_centroid[superpixel]
        assert stream.y[event] == known


def test_a_void_centroid_falls_back_on_the_majority_and_all_void_on_no_label():
    image, mask = oracle.draw(3)
    mask[:, : oracle.WIDTH // 2] = 255
    graph = superpixel_graph(image, mask, compactness=30, most=60)
    by_centroid = classes_of(graph, "centroid")
    rescued = (graph.at_centroid == -1) & (graph.majority != -1)
    assert rescued.any()
    assert (by_centroid[rescued] == graph.majority[rescued]).all()
    assert (by_centroid == -1).any()
    np.testing.assert_array_equal(by_centroid == -1, graph.majority == -1)
