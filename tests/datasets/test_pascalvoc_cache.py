"""Kept superpixels: whatever happens to a file, no wrong number is read from it."""

import numpy as np
import pascalvoc_oracles as oracle
import pytest

from ctan.datasets.superpixels import superpixel_graph
from ctan.datasets.superpixels_cache import DamagedError, read_graph, write_graph


@pytest.fixture(scope="module")
def graph():
    return superpixel_graph(*oracle.draw(0), compactness=10, most=8)


def same(one, other):
    names = ("x", "centroid", "at_centroid", "majority", "edges", "foreground")
    return all(np.array_equal(getattr(one, n), getattr(other, n)) for n in names)


def test_what_is_written_is_read(graph, tmp_path):
    file = tmp_path / "deeper" / "a.npz"
    assert read_graph(file, "key") is None
    write_graph(file, graph, "key")
    found = read_graph(file, "key")
    assert same(found, graph)
    assert found.x.dtype == np.float32
    assert read_graph(file, "another key") is None
    assert [path.name for path in file.parent.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("flip", [1, 128])
def test_any_byte_changed(graph, tmp_path, flip):
    file = tmp_path / "a.npz"
    write_graph(file, graph, "key")
    content = bytearray(file.read_bytes())
    damaged = 0
    for at in range(len(content)):
        content[at] ^= flip
        file.write_bytes(content)
        content[at] ^= flip
        try:
            assert same(read_graph(file, "key"), graph)  # a byte that zip does not need
        except DamagedError:
            damaged += 1
    assert damaged > 0.8 * len(content)


def test_any_length(graph, tmp_path):
    file = tmp_path / "a.npz"
    write_graph(file, graph, "key")
    content = file.read_bytes()
    for length in range(len(content)):
        file.write_bytes(content[:length])
        with pytest.raises(DamagedError):
            read_graph(file, "key")
