"""`ctan data list, describe, import`: data sets by name, stores, figures."""

import errno
import os
import re

import numpy as np
import pytest

from ctan.events import read_events, store_of
from ctan.history import TemporalIndex


def test_list_names_every_data_set_and_its_options(ctan):
    listed = ctan("data", "list", "--json").json
    assert listed["wikipedia"]["published"]["events"] == 157_474
    assert listed["t-pathgraph"]["options"]["length"] == "9"
    shown = ctan("data", "list").out
    for name in listed:
        assert f"{name}: " in shown


def test_describe_a_data_set_with_its_figure(ctan, tmp_path):
    result = ctan(
        *("data", "describe", "t-pathgraph", "--data-option", "length=4"),
        *("--data-option", "graphs=20", "--figure", "paths.png"),
    )
    assert result.code == 0, result.err
    assert "60 events, 80 nodes" in result.out
    assert "14 / 3 / 3 graphs" in result.out
    assert "the paper's 1.0 comes out as tgb" in result.out
    facts = ctan("data", "describe", "t-pathgraph", "--json").json
    assert facts["split"] == {"of": "graphs", "train": 700, "val": 150, "test": 150}
    assert "Gravina" in facts["citation"]
    assert (tmp_path / "paths.png").read_bytes().startswith(b"\x89PNG")


def test_tgb_names_with_a_version_are_data_sets_too(ctan):
    result = ctan("data", "describe", "tgbl-wiki-v2", "--root", "empty", "--src", "a")
    assert result.code == 2
    assert "tgbl-wiki-v2 is a data set" in result.err


def test_a_figure_that_cannot_be_written_is_refused_first(ctan, tmp_path):
    (tmp_path / "file").touch()
    for figure, reason in (("a.xyz", "in .png, .svg or .pdf"), ("file/a.png", "file is a file")):
        result = ctan("data", "describe", "t-pathgraph", "--figure", figure)
        assert result.code == 2
        assert reason in result.err


def test_a_stream_without_interactions_is_described_but_not_drawn(ctan, tmp_path):
    (tmp_path / "nodes.csv").write_text("src,dst,t,kind\n0,0,5,node\n1,1,5,node\n")
    result = ctan("data", "describe", "nodes.csv")
    assert result.code == 0
    assert "repeat rate nan" in result.out
    result = ctan("data", "describe", "nodes.csv", "--figure", "nodes.png")
    assert result.code == 2
    assert "the stream has none" in result.err


def test_what_is_not_downloaded_is_named_with_its_place(ctan, tmp_path):
    for option in ([], ["--data-option", "source=released"]):
        result = ctan("data", "describe", "t-pascalvoc", "--root", tmp_path, *option)
        assert result.code == 2
        assert f"{tmp_path / 't-pascalvoc'}: there is no such folder" in result.err
        assert "--data-option folder=" in result.err


def test_an_imported_file_is_described_and_trained_on(ctan, calls, tmp_path):
    columns = ("--src", "caller", "--dst", "callee", "--t", "time", "--msg", "minutes")
    made = ctan("data", "import", calls, "store", *columns, "--json")
    assert made.json["events"] == 400
    stream = read_events(tmp_path / "store")
    assert store_of(stream) is not None
    assert isinstance(TemporalIndex.build(stream).event.base, np.memmap)
    facts = ctan("data", "describe", "store", "--json").json
    assert set(facts["surprise"]) >= {"tgb", "pairs", "events"}
    trained = ctan("train", "link", "store", "--epochs", 1)
    assert trained.code == 0, trained.err


def test_a_store_is_not_imported_again(ctan, tmp_path):
    (tmp_path / "e.csv").write_text("src,dst,t\n0,1,5\n")
    assert ctan("data", "import", "e.csv", "store").code == 0
    result = ctan("data", "import", "store", "another")
    assert result.code == 2
    assert "store: is a store already" in result.err
    assert not (tmp_path / "another").exists()


def test_data_sets_in_a_folder_of_their_own(ctan, tmp_path, monkeypatch):
    pictures = pytest.importorskip("PIL.Image")
    pytest.importorskip("skimage")
    for kind, shape in (("JPEGImages", (30, 40, 3)), ("SegmentationClass", (30, 40))):
        folder = tmp_path / "sets" / "t-pascalvoc" / kind
        folder.mkdir(parents=True)
        for i in range(6):
            pictures.fromarray(np.full(shape, i, np.uint8)).save(folder / f"{i}.png")
    monkeypatch.setenv("CTAN_DATA", str(tmp_path / "elsewhere"))

    options = ("--data-option", "superpixels=40", "--data-option", "nodes=10", "--root", "sets")
    trained = ctan("train", "sequence", "t-pascalvoc", *options, "--epochs", 1, "--json")
    assert trained.code == 0, trained.err
    run = trained.json["run"]
    assert "its own split" not in trained.err
    assert ctan("evaluate", run, "--json").json == trained.json

    for part, names in (("train", "012"), ("val", "34"), ("test", "5")):
        (tmp_path / "sets" / "t-pascalvoc" / f"{part}.txt").write_text("\n".join(names))
    by_lists = ctan("train", "sequence", "t-pascalvoc", *options, "--epochs", 1)
    assert "its own split, 3 / 2 / 1 graphs, is not taken" in by_lists.err
    assert "parts them as 4 / 1 / 1" in by_lists.err

    for part in ("train", "val", "test"):
        (tmp_path / "sets" / "t-pascalvoc" / f"{part}.txt").unlink()
    (tmp_path / "sets").rename(tmp_path / "moved")
    assert ctan("evaluate", run).code == 2
    assert ctan("evaluate", run, "--data", "moved", "--json").json == trained.json

    (tmp_path / "e.csv").write_text("src,dst,t\n0,1,5\n")
    wrong = ctan("evaluate", run, "--data", "e.csv")
    assert wrong.code == 2
    assert "e.csv: expected the folder of all data sets" in wrong.err
    for command in (("data", "describe"), ("train", "link"), ("prequential",)):
        wrong = ctan(*command, "e.csv", "--root", "moved")
        assert wrong.code == 2
        assert "--root moved: goes with a data set" in wrong.err


def test_columns_that_are_not_read_are_named(ctan, tmp_path):
    (tmp_path / "e.csv").write_text("src,dst,t,minutes,note\n0,1,5,2,x\n1,2,6,3,y\n")
    for command in (["check", "e.csv"], ["describe", "e.csv"], ["import", "e.csv", "store"]):
        result = ctan("data", *command)
        assert result.code == 0
        assert "e.csv: columns not read: minutes, note" in result.err
        assert "--msg" in result.err
    assert "not read" not in ctan("data", "check", "e.csv", "--msg", "minutes", "--y", "t").out


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("mapped", [0, 1, 2])
def test_a_full_disk_leaves_nothing(ctan, tmp_path, monkeypatch, sort, mapped):
    # Times and order where it sorts; then the columns of the index.
    allowed = iter([None] * mapped)

    def reserve(*_):
        if next(allowed, "none left") is not None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", reserve)
    (tmp_path / "e.csv").write_text("src,dst,t\n0,1,6\n1,2,5\n" if sort else "src,dst,t\n0,1,5\n")
    result = ctan("data", "import", "e.csv", "store", *(["--sort"] if sort else []))
    assert result.code == 2
    assert re.search(r"error: \S*store\S*: No space left on device", result.err)
    assert [path.name for path in tmp_path.iterdir()] == ["e.csv"]


def test_a_store_below_a_file_is_refused(ctan, tmp_path):
    (tmp_path / "e.csv").write_text("src,dst,t\n0,1,5\n")
    result = ctan("data", "import", "e.csv", "e.csv/store")
    assert result.code == 2
    assert "e.csv is a file, expected a folder" in result.err


def test_a_negative_seed_is_refused(ctan):
    result = ctan("data", "describe", "t-pathgraph", "--data-option", "seed=-1")
    assert result.code == 2
    assert "seed=-1: expected 0 or more" in result.err


def test_a_damaged_store_is_named(ctan, calls, tmp_path):
    assert (
        ctan("data", "import", calls, "s", "--src", "caller", "--dst", "callee", "--t", "time").code
        == 0
    )
    path = tmp_path / "s" / "src.npy"
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    result = ctan("data", "check", "s")
    assert result.code == 2
    assert "src.npy: damaged: its checksum is" in result.err


def test_a_failed_download_says_what_to_do(ctan, monkeypatch, tmp_path):
    import socket

    def nowhere(*_, **__):
        raise socket.gaierror("no name service")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    monkeypatch.setattr("time.sleep", lambda _: None)
    result = ctan("data", "download", "mooc", "--root", "here")
    assert result.code == 2
    assert (
        "http://snap.stanford.edu/jodie/mooc.csv: the download failed: no connection" in result.err
    )
    assert f"put it at {tmp_path / 'here' / 'mooc' / 'mooc.csv'}" in result.err
