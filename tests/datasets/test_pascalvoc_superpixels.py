"""Superpixels against slow, literal versions, and against scikit-image's own adjacency."""

import numpy as np
import pascalvoc_oracles as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.color import rgb2gray
from skimage.filters import sobel
from skimage.graph import rag_boundary

from ctan.datasets.superpixels import (
    FEATURES,
    centroids,
    colour_statistics,
    majority_class,
    segment,
    superpixel_graph,
)
from ctan.datasets.superpixels_edges import boundary_pairs, nearest_pairs


@st.composite
def labelled(draw_one):
    """Small label images in which each id occurs, thin and torn regions included."""
    height, width = draw_one(st.integers(1, 7)), draw_one(st.integers(1, 7))
    cells = draw_one(st.lists(st.integers(0, 5), min_size=height * width, max_size=height * width))
    return np.unique(cells, return_inverse=True)[1].reshape(height, width)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("compactness", [10, 30])
def test_segments_as_if_every_number_was_tried(seed, compactness):
    image, _ = oracle.draw(seed)
    labels = segment(image, compactness, most=37)
    np.testing.assert_array_equal(labels, oracle.segment_by_every_number(image, compactness, 37))
    assert labels.max() + 1 == len(np.unique(labels)) <= 37


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (2, 2), (5, 40)])
def test_segments_of_odd_shapes(shape):
    image = np.zeros((*shape, 3), np.uint8)
    for most in (1, 4, 500):
        assert segment(image, 10, most).max() < min(most, image[..., 0].size)


@given(labelled())
def test_adjacency_is_the_literal_one(labels):
    assert list(map(tuple, boundary_pairs(labels).tolist())) == oracle.touching(labels)


@settings(max_examples=30)
@given(labelled(), st.integers(0, 1000))
def test_adjacency_is_that_of_scikit_image_over_a_sobel_image(labels, seed):
    picture = np.random.default_rng(seed).integers(0, 256, (*labels.shape, 3), np.uint8)
    if min(labels.shape) < 2 or labels.max() == 0:
        return  # scikit-image refuses these
    rag = rag_boundary(labels, sobel(rgb2gray(picture)))
    assert sorted(tuple(sorted(map(int, edge))) for edge in rag.edges) == list(
        map(tuple, boundary_pairs(labels).tolist())
    )


def test_adjacency_of_a_picture_is_that_of_scikit_image():
    image, _ = oracle.draw(1)
    labels = segment(image, 10, most=120)
    rag = rag_boundary(labels, sobel(rgb2gray(image)))
    expected = sorted(tuple(sorted(map(int, edge))) for edge in rag.edges)
    assert list(map(tuple, boundary_pairs(labels).tolist())) == expected
    # A flat picture has no Sobel response at all, and the same edges.
    assert rag_boundary(labels, np.zeros(labels.shape)).number_of_edges() == len(expected)


@given(labelled(), st.integers(0, 1000))
def test_statistics_centroids_and_majorities(labels, seed):
    rng = np.random.default_rng(seed)
    image = rng.integers(0, 256, (*labels.shape, 3), np.uint8)
    mask = rng.choice([0, 3, 9, 255], labels.shape)
    known = np.where(mask == 255, -1, mask)
    statistics, centre = colour_statistics(image, labels), centroids(labels)
    voted = majority_class(known, labels)
    for superpixel in range(labels.max() + 1):
        pixels = oracle.pixels_of(labels, superpixel)
        expected = oracle.statistics(image, pixels)
        np.testing.assert_allclose(statistics[superpixel], expected, atol=1e-12)
        assert centre[superpixel].tolist() == oracle.centroid(pixels)
        assert voted[superpixel] == oracle.majority(mask, pixels)


@pytest.mark.parametrize("seed", range(3))
def test_graph_of_a_picture(seed):
    image, mask = oracle.draw(seed)
    graph = superpixel_graph(image, mask, compactness=10, most=60)
    labels = segment(image, 10, most=60)
    assert graph.x.dtype == np.float32
    assert graph.x.shape == (len(graph), 14) == (labels.max() + 1, len(FEATURES))
    assert graph.x.min() >= 0
    assert graph.x.max() <= 1
    for superpixel in range(len(graph)):
        pixels = oracle.pixels_of(labels, superpixel)
        row, column = oracle.centroid(pixels)
        place = [row / (oracle.HEIGHT - 1), column / (oracle.WIDTH - 1)]
        features = np.concatenate((oracle.statistics(image, pixels), place))
        np.testing.assert_allclose(graph.x[superpixel], features, atol=1e-6)
        assert graph.at_centroid[superpixel] == oracle.at_centroid(mask, pixels)
        assert graph.majority[superpixel] == oracle.majority(mask, pixels)
    assert (graph.at_centroid == -1).any()  # the drawn masks have void pixels
    pairs = [(p, q) for p in range(mask.shape[0]) for q in range(mask.shape[1])]
    inside = np.where(mask == 0, 255, mask)
    assert graph.foreground == oracle.majority(inside, pairs)


def test_a_mask_without_any_class():
    image, mask = oracle.draw(0)
    graph = superpixel_graph(image, np.full_like(mask, 255), compactness=10, most=20)
    assert set(graph.majority.tolist()) == set(graph.at_centroid.tolist()) == {-1}
    assert graph.foreground == 0


def test_another_value_for_void():
    image, mask = oracle.draw(0)
    graph = superpixel_graph(image, mask, compactness=10, most=20, void=0)
    assert 255 in graph.majority
    assert 0 not in graph.majority


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=25))
def test_nearest_is_the_literal_one(points):
    points = np.array(points, np.float64)  # whole coordinates: many ties
    for k in (1, 3, 8):
        assert list(map(tuple, nearest_pairs(points, k).tolist())) == oracle.nearest(points, k)
