"""JODIE's files, from a publisher on this machine, and from a folder of Parquet files."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from publisher import publisher

from ctan.datasets import load, names
from ctan.datasets._download import Remote
from ctan.datasets.base import About
from ctan.datasets.jodie import fetch_jodie, load_jodie, read_jodie_csv, with_node_features
from ctan.errors import CtanError, DataError
from ctan.events import EventStream, store_of, write_events

HEADER = "user_id,item_id,timestamp,state_label,comma_separated_list_of_features\n"
ROWS = ["0,0,0.0,0,-0.5,1e-3", "1,1,1.25,0,0,2", "0,2,1.75,1,3,4", "2,0,9.0,0,5,6"]


def text(times=8):
    # Ten users' worth of repeats, so that a split has events in every part.
    rows = [f"{i % 3},{i % 2},{i}.5,0,{i},1" for i in range(10, 10 + times)]
    return HEADER + "\n".join(ROWS + rows) + "\n"


@pytest.mark.filterwarnings("ignore")
def test_numbering_times_labels_and_features_are_those_of_pyg(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text(text())
    stream = read_jodie_csv(path)
    jodie = pytest.importorskip("torch_geometric.datasets").JODIEDataset

    class Toy(jodie):
        names = ("toy",)

        def download(self):
            (Path(self.raw_dir) / "toy.csv").write_text(text())

    data = Toy(str(tmp_path / "pyg"), "toy")[0]
    for name in ("src", "dst", "t", "y", "msg"):
        assert np.array_equal(getattr(stream, name), getattr(data, name).numpy()), name
    assert stream.num_nodes == data.num_nodes == 6


def test_published_times_keep_their_fractions(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text(text())
    assert read_jodie_csv(path, "published").t[:4].tolist() == [0.0, 1.25, 1.75, 9.0]
    path.write_text(HEADER + "0,0,5.0,0,1\n")
    assert read_jodie_csv(path, "published").t.dtype == np.int64


def test_load_downloads_once_checks_and_splits(tmp_path):
    with publisher() as server:
        server.files["/toy.csv"] = text(96).encode()
        about = About(
            "toy", "", "", "", "", (Remote(server.url + "/toy.csv"),), published={"events": 100}
        )
        fetch_jodie(about, tmp_path)
        data = load_jodie(about, tmp_path, node_features="none")
        again = load_jodie(about, tmp_path, node_features="none")
        assert store_of(again.stream).parent == tmp_path / "toy"  # parsed once, mapped since
        assert again.stream.msg.tolist() == data.stream.msg.tolist()
        assert len(server.asked) == 1
        assert data.split.train_end == 70
        assert data.stream.x is None
        fewer = replace(about, published={"events": 99})
        with pytest.raises(DataError, match="got 100 events, expected 99"):
            load_jodie(fewer, tmp_path)
        stored = store_of(again.stream) / "msg.npy"
        whole = stored.read_bytes()
        stored.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(DataError, match=r"msg\.npy: damaged"):
            load_jodie(about, tmp_path)
        stored.write_bytes(whole)
        (tmp_path / "toy" / "toy.csv").write_text(text(95) + " ")
        with pytest.raises(DataError, match=r"toy\.csv: the file is damaged or was changed"):
            load_jodie(about, tmp_path)


def test_a_web_page_in_place_of_the_file_is_refused(tmp_path):
    with publisher() as server:
        server.files["/toy.csv"] = b"<html>moved</html>"
        about = About("toy", "", "", "", "", (Remote(server.url + "/toy.csv"),))
        with pytest.raises(DataError, match=r"<html>moved.*expected 'user_id"):
            partial(load_jodie, about)(tmp_path)
    assert not (tmp_path / "toy" / "toy.csv").exists()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("0,0,30,0,1", "got 5"),
        ("0,0,30,0,1,abc", "'abc'"),
        ("0,x,30,0,1,2", "'x'"),
        ("0,0,,0,1,2", r"'t', row 12 \(line 14\): got no value"),
        ("-1,0,30,0,1,2", r"'user', row 12 \(line 14\): got -1"),
        ("0,-2,30,0,1,2", r"'item', row 12 \(line 14\): got -2"),
        ("0,0,inf,0,1,2", r"'t', row 12 \(line 14\): got inf"),
        ("0,0,3,0,1,2", r"'t', row 12 \(line 14\): got 3 after 17"),
        ("0,0,30,0,nan,2", r"row 12 \(line 14\): got nan \(feature 0\)"),
    ],
)
def test_a_bad_row_is_an_error(tmp_path, row, said):
    path = tmp_path / "toy.csv"
    path.write_text(text() + row + "\n")
    with pytest.raises(DataError, match=rf"(?s)toy\.csv: .*{said}"):
        read_jodie_csv(path)


def test_times_of_a_parquet_file_follow_the_option_too(tmp_path):
    stream = EventStream.from_arrays(src=[0] * 20, dst=[1] * 20, t=np.arange(20) + 0.5)
    (tmp_path / "toy").mkdir()
    write_events(stream, tmp_path / "toy" / "events.parquet")
    files = (Remote("http://nowhere/toy.csv"),)
    about = About("toy", "", "", "", "", files, published={"events": 20})
    assert load_jodie(about, tmp_path).stream.t.tolist() == list(range(20))
    assert load_jodie(about, tmp_path, times="published").stream.t[0] == 0.5


def test_random_node_features_are_those_of_the_papers_code():
    stream = EventStream.from_arrays(src=[0, 1], dst=[2, 3], t=[0, 1])
    expected = np.random.default_rng(4).random((4, 1), dtype=np.float32)
    assert np.array_equal(with_node_features(stream, "random", 4).x, expected)
    assert np.array_equal(with_node_features(stream, "constant", 4).x, np.ones((4, 1)))
    assert with_node_features(stream, "none", 4).x is None
    with pytest.raises(CtanError, match="did you mean 'random'"):
        with_node_features(stream, "randum", 4)
    with pytest.raises(CtanError, match="seed=-1: expected 0 or more"):
        with_node_features(stream, "random", -1)


def test_a_folder_with_parquet_files_is_read_without_download(tmp_path):
    count = 157_474
    stream = EventStream.from_arrays(src=np.arange(count) % 50, dst=[50] * count, t=range(count))
    (tmp_path / "wikipedia").mkdir()
    write_events(stream, tmp_path / "wikipedia" / "events.parquet")
    card = load("wikipedia", tmp_path, node_features="constant").card()
    assert "has 0 event features, the publisher's" in card
    assert "the paper's 0.42 comes out under none of these" in card
    assert "157,474 events, 51 nodes" in card


def test_all_four_are_registered():
    assert {"wikipedia", "reddit", "lastfm", "mooc", "t-pathgraph"} <= set(names())


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "events", "nodes", "split", "surprises"),
    [
        ("wikipedia", 157_474, 9_227, (110_232, 133_853), {"tgb": 0.108}),
        ("mooc", 411_749, 7_144, (288_224, 349_986), {"pairs": 0.785}),
    ],
)
def test_the_real_ones(name, events, nodes, split, surprises):
    from ctan.events.surprise import surprise

    root = Path(os.environ.get("CTAN_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not (root / name).is_dir():
        pytest.skip(f"no {name} in {root}")
    data = load(name, root)
    assert (len(data.stream), data.stream.num_nodes) == (events, nodes)
    assert (data.split.train_end, data.split.val_end) == split
    found = surprise(data.stream, data.split)
    for definition, value in surprises.items():
        assert round(found[definition], 3) == value
