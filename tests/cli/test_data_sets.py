"""`ctan data list, describe, import`: data sets by name, stores, figures."""

import numpy as np

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
    assert (tmp_path / "paths.png").read_bytes().startswith(b"\x89PNG")


def test_tgb_names_with_a_version_are_data_sets_too(ctan):
    result = ctan("data", "describe", "tgbl-wiki-v2", "--root", "empty", "--src", "a")
    assert result.code == 2
    assert "tgbl-wiki-v2 is a data set" in result.err


def test_a_figure_that_cannot_be_written_is_refused_first(ctan):
    for figure, reason in (("a.xyz", "expected .png, .svg or .pdf"), ("no/a.png", "no folder no")):
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
