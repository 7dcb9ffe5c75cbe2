"""The authors' CSV files: what was written in their format is read back."""

import numpy as np
import pascalvoc_oracles as oracle
import pytest

from ctan.datasets.pascalvoc import pascal_voc
from ctan.datasets.pascalvoc_data import load_pascal_voc
from ctan.datasets.pascalvoc_released import read_released_pascal_voc
from ctan.errors import DataError


def write(folder, events, nodes, compactness=10):
    """Both files; events as (src, dst, t, label, ext_roll), nodes as rows of features."""
    lines = ["idx,src,dst,t,label,ext_roll"]
    lines += [",".join(map(str, (i, *event))) for i, event in enumerate(events)]
    (folder / f"voc_pascal_temporal_{compactness}.csv").write_text("\n".join(lines))
    lines = [",".join(f"feature{i}" for i in range(len(nodes[0])))]
    lines += [",".join(map(repr, map(float, row))) for row in nodes]
    (folder / f"voc_pascal_temporal_nodefeatures_{compactness}.csv").write_text("\n".join(lines))


PATHS = [(0, 1, 0, 5, 0), (1, 2, 1, 0, 0), (3, 4, 0, 2, 1), (4, 5, 1, 0, 1), (6, 7, 0, 9, 2)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = oracle.gallery(tmp_path_factory.mktemp("voc"), 10)
    return pascal_voc(folder, superpixels=60, nodes=30)


def test_round_trip_of_what_we_make(made, tmp_path):
    """In the order of the files: graph after graph, each with its times from 0."""
    stream = made.stream
    part = np.zeros(len(made.images), np.int64)
    for number, graphs in enumerate(made.split):
        part[graphs] = number
    columns = (stream.src, stream.dst, stream.t, stream.y, part[stream.graph])
    by_graph = np.lexsort((stream.t, stream.graph))
    write(tmp_path, np.stack(columns, axis=1)[by_graph].tolist(), stream.x.tolist())

    found, split = read_released_pascal_voc(tmp_path)
    for name in ("src", "dst", "t", "x", "msg", "y", "graph"):
        np.testing.assert_array_equal(getattr(found, name), getattr(stream, name), name)
        assert getattr(found, name).dtype == getattr(stream, name).dtype
    for mine, theirs in zip(split, made.split, strict=True):
        assert mine.tolist() == theirs.tolist()
    data = load_pascal_voc(tmp_path.parent, tmp_path.name, source="released")
    assert "the authors' CSV files" in data.card()


def test_graphs_are_what_is_connected(tmp_path):
    long_path = [(i, i + 1, i, 1, 0) for i in range(200)]
    backwards = [(500 - i, 499 - i, i, 1, 1) for i in range(200)]
    write(tmp_path, [*backwards, *long_path, (600, 601, 0, 1, 2)], [[0.5]] * 602)
    found, split = read_released_pascal_voc(tmp_path)
    assert np.bincount(found.graph).tolist() == [200, 200, 1]
    assert [part.tolist() for part in split] == [[1], [0], [2]]
    assert (found.graph == np.where(found.src < 300, 1, np.where(found.src < 550, 0, 2))).all()


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ((7, 8, 1, 9, 0), "row 4 .line 6.: got graph 2 for dst 7, seen in graph 0"),
        ((9, 10, 0, 9, 3), "'ext_roll' holds 0, 1, 2, 3, expected all of 0"),
        ((9, 11, 0, 9, 2), "11 rows, but the events name node 11"),
    ],
)
def test_events_that_make_no_sense(tmp_path, event, message):
    write(tmp_path, [*PATHS, event], [[0.5]] * 11)
    with pytest.raises(DataError, match=message):
        read_released_pascal_voc(tmp_path)


def test_missing_files_columns_and_numbers(tmp_path):
    with pytest.raises(DataError, match=r"no voc_pascal_temporal_30\.csv and no voc_.*_30\.csv"):
        read_released_pascal_voc(tmp_path, 30)
    write(tmp_path, PATHS, [[0.5, 1.0]] * 8)
    file = tmp_path / "voc_pascal_temporal_10.csv"
    file.write_text(file.read_text().replace("ext_roll", "roll"))
    with pytest.raises(DataError, match="ext_roll"):
        read_released_pascal_voc(tmp_path)
    write(tmp_path, [event for event in PATHS if event[4] != 1], [[0.5, 1.0]] * 8)
    with pytest.raises(DataError, match="'ext_roll' holds 0, 2, expected"):
        read_released_pascal_voc(tmp_path)
    write(tmp_path, PATHS, [[0.5, 1.0]] * 8)
    nodes = tmp_path / "voc_pascal_temporal_nodefeatures_10.csv"
    text = nodes.read_text()
    nodes.write_text(text.replace("0.5", "half", 1))
    with pytest.raises(DataError, match="'feature0' \\(string"):
        read_released_pascal_voc(tmp_path)
    nodes.write_text(text + "\n0.5,1.0,2.0")
    with pytest.raises(DataError, match="cannot be read"):
        read_released_pascal_voc(tmp_path)
