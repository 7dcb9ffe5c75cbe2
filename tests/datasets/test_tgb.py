"""TGB's data sets: small files of the publisher's format, and tgbl-wiki from Wikipedia's events."""

import os
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from publisher import publisher

from ctan.datasets import load, tgb
from ctan.datasets._download import Remote
from ctan.datasets.negatives import EvaluationNegatives, all_other_destinations
from ctan.errors import CtanError, DataError, ProtocolError
from ctan.events import EventStream, split_by_time, store_of

EVENTS = 40


def files_of(name, rng):
    """An edge list and negatives as the publisher packs them."""
    version = "" if name == "tgbl-comment" else "_v2"
    if name == "tgbl-wiki":
        src, dst = rng.integers(0, 4, EVENTS), rng.integers(0, 5, EVENTS)
        lines = ["user_id,item_id,timestamp,state_label,comma_separated_list_of_features"]
        lines += [f"{u},{v},{i}.0,0,{i}.5,1" for i, (u, v) in enumerate(zip(src, dst, strict=True))]
        ids = list(zip(src.tolist(), (dst + src.max() + 1).tolist(), range(EVENTS), strict=True))
    else:
        src, dst = rng.integers(0, 9, EVENTS), rng.integers(0, 9, EVENTS)
        head = "ts,src,dst,num_words,score" if name == "tgbl-comment" else "time,src,dst,weight"
        value = "7,3" if name == "tgbl-comment" else "8.0"
        lines = [head]
        lines += [f"{i},n{u},n{v},{value}" for i, (u, v) in enumerate(zip(src, dst, strict=True))]
        known = {}
        ids = [
            (known.setdefault(u, len(known)), known.setdefault(v, len(known)), i)
            for i, (u, v) in enumerate(zip(src.tolist(), dst.tolist(), strict=True))
        ]
    packed = {f"{name}_edgelist{version}.csv": ("\n".join(lines) + "\n").encode()}
    t = np.arange(EVENTS)
    low, high = np.quantile(t, [0.7, 0.85])
    for part, inside in (("val", (t > low) & (t <= high)), ("test", t > high)):
        negatives = {ids[i]: np.arange(1 + i % 3) for i in np.flatnonzero(inside).tolist()}
        packed[f"{name}_{part}_ns{version}.pkl"] = pickle.dumps(negatives)
    return packed, ids


def zipped(packed, path):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in packed.items():
            archive.writestr(name, content)
    return path.read_bytes()


@pytest.fixture
def served(tmp_path):
    with publisher() as server:

        def serve(name, packed):
            server.files[f"/{name}.zip"] = zipped(packed, tmp_path / "made.zip")
            entry = next(entry for entry in tgb.ENTRIES if entry.about.name == name)
            return replace(entry.about, files=(Remote(f"{server.url}/{name}.zip"),)), server

        yield serve


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["tgbl-wiki", "tgbl-review", "tgbl-coin", "tgbl-comment"])
def test_events_split_and_negatives_come_through_py_tgb(served, tmp_path, name, monkeypatch):
    pytest.importorskip("tgb")
    packed, ids = files_of(name, np.random.default_rng(0))
    about, server = served(name, packed)
    root = tmp_path / "root"
    data = tgb.load_tgb(about, root)
    stream = data.stream
    assert (
        list(zip(stream.src.tolist(), stream.dst.tolist(), stream.t.tolist(), strict=True)) == ids
    )
    assert [data.split.train_end, data.split.val_end, data.split.end] == [28, 34, 40]
    assert stream.edge_dim == {"tgbl-wiki": 2, "tgbl-comment": 3}.get(name, 1)
    ptr, node = data.negatives["test"].of(np.arange(34, 40))
    assert np.diff(ptr).tolist() == [1 + i % 3 for i in range(34, 40)]
    assert node.tolist() == [n for i in range(34, 40) for n in range(1 + i % 3)]
    # The second time from a checked store: neither download nor pickle.
    monkeypatch.setattr(tgb, "_open", None)
    again = tgb.load_tgb(about, root)
    assert len(server.asked) == 1
    assert store_of(again.stream) is not None
    assert np.array_equal(again.stream.msg, stream.msg)
    for part in ("val", "test"):
        one, other = data.negatives[part], again.negatives[part]
        assert one.start == other.start
        assert np.array_equal(one.ptr, other.ptr)
        assert np.array_equal(one.node, other.node)


@pytest.mark.filterwarnings("ignore")
def test_damage_is_named_whatever_file_it_is_in(served, tmp_path):
    pytest.importorskip("tgb")
    packed, _ = files_of("tgbl-coin", np.random.default_rng(0))
    about, _ = served("tgbl-coin", packed)
    root = tmp_path / "root"
    tgb.load_tgb(about, root)
    (kept,) = (root / "tgbl_coin").glob("ctan-*")
    places = [kept / "events" / "dst.npy", kept / "negatives" / "val_node.npy"]
    places += [root / "tgbl_coin" / name for name in packed]
    for path in places:
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(DataError, match=rf"{path.name}: .*damaged"):
            tgb.load_tgb(about, root)
        path.write_bytes(content)
    tgb.load_tgb(about, root)
    places[-1].unlink()
    with pytest.raises(DataError, match=f"no {places[-1].name}. To repair"):
        tgb.load_tgb(about, root)


@pytest.mark.filterwarnings("ignore")
def test_negatives_of_other_events_are_refused(served, tmp_path):
    pytest.importorskip("tgb")
    packed, _ = files_of("tgbl-coin", np.random.default_rng(0))
    packed["tgbl-coin_test_ns_v2.pkl"] = pickle.dumps({(0, 0, 0): np.arange(3)})
    about, _ = served("tgbl-coin", packed)
    with pytest.raises(DataError, match="no published negatives"):
        tgb.load_tgb(about, tmp_path / "root")


def test_an_archive_of_something_else_is_refused(served, tmp_path):
    about, _ = served("tgbl-coin", {"readme.txt": b"hello"})
    with pytest.raises(DataError, match=r"holds readme\.txt, expected tgbl-coin_edgelist_v2\.csv"):
        tgb.fetch_tgb(about, tmp_path / "root")


def test_a_damaged_archive_is_refused(served, tmp_path):
    packed, _ = files_of("tgbl-coin", np.random.default_rng(0))
    about, server = served("tgbl-coin", packed)
    content = bytearray(server.files["/tgbl-coin.zip"])
    content[60:70] = b"x" * 10
    server.files["/tgbl-coin.zip"] = bytes(content)
    with pytest.raises(DataError, match="is damaged"):
        tgb.fetch_tgb(about, tmp_path / "root")
    assert not (tmp_path / "root" / "tgbl-coin.zip").exists()


def test_without_the_package_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tgb.linkproppred.dataset", None)
    (tmp_path / "tgbl_coin").mkdir()
    for file in ("edgelist_v2.csv", "val_ns_v2.pkl", "test_ns_v2.pkl"):
        (tmp_path / "tgbl_coin" / f"tgbl-coin_{file}").write_text("")
    with pytest.raises(CtanError, match=r"pip install 'ctan\[tgb\]'"):
        load("tgbl-coin-v2", tmp_path)


def test_a_missing_package_is_noticed_before_anything_is_downloaded(served, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tgb.linkproppred.dataset", None)
    about, server = served("tgbl-coin", {})
    with pytest.raises(CtanError, match=r"pip install 'ctan\[tgb\]'"):
        tgb.load_tgb(about, tmp_path / "root")
    assert server.asked == []


def test_the_rule_of_tgbl_wiki_against_a_loop():
    rng = np.random.default_rng(1)
    stream = EventStream.from_arrays(
        src=rng.integers(0, 3, 60), dst=rng.integers(3, 9, 60), t=np.arange(60) // 4
    )
    split = split_by_time(stream)
    found = all_other_destinations(stream, split.test, np.unique(stream.dst))
    for e in range(split.val_end, 60):
        same = (stream.src == stream.src[e]) & (stream.t == stream.t[e])
        expected = sorted(set(stream.dst.tolist()) - set(stream.dst[same].tolist()))
        assert found.of(np.array([e]))[1].tolist() == expected


def test_negatives_of_other_positions_are_refused():
    negatives = EvaluationNegatives(5, np.array([0, 1]), np.array([3]))
    with pytest.raises(ProtocolError, match="positions 4 to 4 were asked"):
        negatives.of(np.array([4]))


@pytest.mark.data
def test_tgbl_wiki_without_any_download():
    root = Path(os.environ.get("CTAN_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not (root / "wikipedia").is_dir():
        pytest.skip(f"no wikipedia in {root}")
    data = load("tgbl-wiki-v2", root)
    assert len(data.negatives["test"]) == 23_621
    assert str(data.negatives["test"]) == "998 to 999 for each of 23,621 events"
    assert "the paper's 0.108 comes out as tgb" in data.card()
