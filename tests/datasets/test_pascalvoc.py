"""T-PascalVOC from a folder to a stream: what is kept, split, cached and repeated."""

import hashlib
import os
import sys
from pathlib import Path

import numpy as np
import pascalvoc_oracles as oracle
import pytest

from ctan.datasets import pascalvoc_build
from ctan.datasets.pascalvoc import NODES, pascal_voc
from ctan.datasets.pascalvoc_data import PUBLISHED, load_pascal_voc
from ctan.datasets.pascalvoc_figure import draw_pascal_voc
from ctan.datasets.pascalvoc_split import drawn_place, whole
from ctan.datasets.superpixels import superpixel_graph
from ctan.errors import CtanError, DataError

SMALL = {"superpixels": 60, "nodes": 30}


def digest(made):
    """Of all that a result holds."""
    columns = [made.stream.src, made.stream.dst, made.stream.t, made.stream.msg, made.stream.x]
    columns += [made.stream.y, made.stream.graph, *made.split, made.found]
    total = hashlib.sha256(repr((made.images, made.unreached, made.notes)).encode())
    for column in columns:
        total.update(column.tobytes())
    return total.hexdigest()


def cached(folder):
    return {file.name: file.read_bytes() for file in (folder / "superpixels").rglob("*.npz")}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Twelve pictures; two of them too small for 30 superpixels."""
    folder = oracle.gallery(tmp_path_factory.mktemp("voc"), 12)
    for name, seed in (("a03", 3), ("a07", 7)):
        oracle.write_pair(folder, name, *oracle.draw(seed, height=5, width=5))
    return folder


def test_graphs_of_a_folder(drawn, tmp_path):
    steps = []
    made = pascal_voc(
        drawn, **SMALL, cache=tmp_path, progress=lambda done, total: steps.append((done, total))
    )
    assert steps == [(i, 12) for i in range(1, 13)]
    found = dict(
        zip(sorted((f"a{i:02d}" for i in range(12)), key=drawn_place), made.found, strict=True)
    )
    assert set(made.images) == {name for name, count in found.items() if count >= 30}
    assert set(found) - set(made.images) == {"a03", "a07"}
    assert list(made.images) == sorted(made.images, key=drawn_place)

    nodes, stream = SMALL["nodes"], made.stream
    assert len(stream) == 10 * (nodes - 1)
    assert stream.num_nodes == 10 * nodes
    assert (np.diff(stream.t) >= 0).all()
    for g, name in enumerate(made.images):
        graph = superpixel_graph(*oracle.draw(int(name[1:])), compactness=10, most=60)
        start = min(range(len(graph)), key=lambda i: (sum(graph.centroid[i]), i))
        steps = oracle.visits(map(tuple, graph.edges.tolist()), start)[: nodes - 1]
        visited = [start] + [to for _, to in steps]
        mine = stream.graph == g
        assert [visited[u - g * nodes] for u in stream.src[mine]] == [u for u, _ in steps]
        assert [visited[v - g * nodes] for v in stream.dst[mine]] == [v for _, v in steps]
        np.testing.assert_array_equal(stream.x[g * nodes : (g + 1) * nodes], graph.x[visited])
    assert [len(part) for part in made.split] == [7, 1, 2]  # shares end at 7 and 8.5 of 10
    assert "12 images of" in str(made)
    assert repr(made).startswith("PascalVOC(10 graphs, EventStream(290 events")


def test_second_run_and_two_processes_give_the_same_bytes(drawn, tmp_path):
    first = pascal_voc(drawn, **SMALL, cache=tmp_path / "one" / "superpixels")
    again = pascal_voc(drawn, **SMALL, cache=tmp_path / "one" / "superpixels")
    two = pascal_voc(drawn, **SMALL, cache=tmp_path / "two" / "superpixels", processes=2)
    assert digest(first) == digest(again) == digest(two)
    assert len(cached(tmp_path / "one")) == 12
    assert cached(tmp_path / "one") == cached(tmp_path / "two")


def test_resumes_and_repairs_only_what_is_missing_or_damaged(drawn, tmp_path, monkeypatch, caplog):
    kept = tmp_path / "superpixels"
    whole_run = pascal_voc(drawn, **SMALL, cache=kept)
    before = cached(tmp_path)
    folder = kept / "slic-60-compactness-10"
    (folder / "a00.npz").unlink()
    damaged = bytearray(before["a01.npz"])
    at = before["a01.npz"].index(np.load(folder / "a01.npz")["x"].tobytes())
    damaged[at + 5] ^= 1
    (folder / "a01.npz").write_bytes(damaged)
    (folder / "a02.npz").write_bytes(before["a02.npz"][:-400])
    (folder / "a04.npz").write_bytes(b"")
    (folder / "a05.npz").write_bytes(before["a06.npz"])  # whole, but of another picture

    computed = []
    real = pascalvoc_build._build
    monkeypatch.setattr(
        pascalvoc_build, "_build", lambda job: computed.append(job.pair.name) or real(job)
    )
    repaired = pascal_voc(drawn, **SMALL, cache=kept)
    assert sorted(computed) == ["a00", "a01", "a02", "a04", "a05"]
    assert sorted(repaired.rebuilt) == ["a01", "a02", "a04"]
    assert sorted(r.args[0].name for r in caplog.records) == ["a01.npz", "a02.npz", "a04.npz"]
    assert digest(repaired) == digest(whole_run)
    assert cached(tmp_path) == before


def test_a_checksum_guards_even_what_zip_does_not(drawn, tmp_path):
    """A file that was rewritten in good order, with other numbers."""
    kept = tmp_path / "superpixels"
    pascal_voc(drawn, **SMALL, cache=kept)
    file = kept / "slic-60-compactness-10" / "a01.npz"
    with np.load(file) as content:
        columns = dict(content)
    columns["majority"] = np.roll(columns["majority"], 1)
    np.savez(file, **columns)
    assert pascal_voc(drawn, **SMALL, cache=kept).rebuilt == ("a01",)


def test_another_picture_or_option_is_never_served_from_the_cache(drawn, tmp_path):
    folder = oracle.gallery(tmp_path, 10)
    first = pascal_voc(folder, **SMALL)
    oracle.write_pair(folder, "a00", *oracle.draw(77))
    second = pascal_voc(folder, **SMALL)
    g = first.images.index("a00")
    changed = np.flatnonzero((first.stream.x != second.stream.x).any(axis=1)) // SMALL["nodes"]
    assert set(changed.tolist()) == {g}
    without_void = pascal_voc(folder, **SMALL, void=1000)
    assert 255 in without_void.stream.y
    assert 255 not in second.stream.y
    assert digest(pascal_voc(folder, **SMALL, compactness=30)) != digest(second)
    assert digest(pascal_voc(folder, **SMALL)) == digest(second)


def test_an_interrupted_run_goes_on(drawn, tmp_path):
    def stop(done, total):
        if done == 5:
            raise KeyboardInterrupt

    kept = tmp_path / "superpixels"
    with pytest.raises(KeyboardInterrupt):
        pascal_voc(drawn, **SMALL, cache=kept, progress=stop)
    assert len(cached(tmp_path)) == 5
    assert not list(kept.rglob("*.part"))
    pascal_voc(drawn, **SMALL, cache=kept)
    assert len(cached(tmp_path)) == 12


def test_lists_order_the_graphs_and_keep_test_apart(tmp_path):
    folder = oracle.gallery(tmp_path, 10)
    (folder / "train.txt").write_text("a09\na01\na05\n")
    (folder / "val.txt").write_text("a00\na02\na03\na04\na06\na07\na08\n")
    made = pascal_voc(folder, **SMALL)
    assert made.images[:3] == ("a09", "a01", "a05")
    assert [len(part) for part in made.split] == [3, 3, 4]
    assert np.concatenate(made.split).tolist() == list(range(10))
    other = pascal_voc(folder, **SMALL, compactness=30, adjacency="coord8")
    assert other.images == made.images  # the same images for test, however they are cut
    by_shares = pascal_voc(folder, **SMALL, split="shares")
    assert [len(part) for part in by_shares.split] == [7, 1, 2]


def test_whole_batches(tmp_path):
    folder = oracle.gallery(tmp_path, 11)
    all_graphs = pascal_voc(folder, **SMALL)
    whole_ones = pascal_voc(folder, **SMALL, whole_batches=5)
    assert whole_ones.images == all_graphs.images[:10]
    (folder / "train.txt").write_text("\n".join(f"a{i:02d}" for i in range(5)))
    (folder / "val.txt").write_text("\n".join(f"a{i:02d}" for i in range(5, 11)))
    by_lists = pascal_voc(folder, **SMALL, whole_batches=2)
    assert [len(part) for part in by_lists.split] == [4, 2, 2]
    with pytest.raises(DataError, match=r"whole batches: 5 for train, 3 for val, 3 for test"):
        pascal_voc(folder, **SMALL, whole_batches=4)


def test_the_counts_of_the_paper_are_those_of_whole_batches():
    """Its text has 6,156 and 6,309 graphs; its edges are those of 24 batches of 256."""
    for compactness, graphs, faithful, odd in ((10, 6156, 2_665_548, 0), (30, 6309, 2_984_157, 1)):
        nodes = NODES[compactness]
        (kept,) = whole([list(range(graphs))], 256)
        assert len(kept) == 6144 == 24 * 256
        assert PUBLISHED[compactness]["nodes"] == graphs * nodes
        assert PUBLISHED[compactness]["events"] == len(kept) * (nodes - 1) + odd
        assert faithful == graphs * (nodes - 1)


def test_too_few_graphs(drawn, tmp_path):
    found = np.sort(pascal_voc(drawn, **SMALL, cache=tmp_path).found)
    said = r"too few graphs of \d+ nodes: 5, expected at least 6 .* The images have \d+ to"
    with pytest.raises(DataError, match=said):
        pascal_voc(drawn, superpixels=60, nodes=int(found[-5]), cache=tmp_path)
    six = pascal_voc(drawn, superpixels=60, nodes=int(found[-6]), cache=tmp_path)
    assert all(len(part) for part in six.split)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"nodes": 61}, "nodes=61: no image will have as many"),
        ({"superpixels": 0}, "superpixels=0: expected at least 1"),
        ({"processes": 0, "whole_batches": -1}, "processes=0: .*\\nwhole_batches=-1: "),
    ],
)
def test_options_without_a_meaning_are_refused_before_any_work(drawn, tmp_path, option, said):
    with pytest.raises(CtanError, match=said):
        pascal_voc(drawn, **{**SMALL, **option}, cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_cache_that_cannot_be_written(drawn, tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(CtanError, match=r"cannot be written.*cache='\.\.\.'"):
        pascal_voc(drawn, **SMALL, cache=tmp_path / "taken" / "deeper")


def test_without_scikit_image(drawn, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.segmentation", None)
    with pytest.raises(CtanError, match=r"'skimage'.*pip install 'ctan\[vision\]'"):
        pascal_voc(drawn, **SMALL, cache=tmp_path)


def test_as_a_data_set(drawn, tmp_path):
    data = load_pascal_voc(drawn.parent, drawn.name, **SMALL, cache=str(tmp_path), whole_batches=10)
    assert "10 are used" in data.card()
    assert len(data.split.test) == 2


def test_picture_of_one_image(drawn, tmp_path):
    figure = draw_pascal_voc(drawn, "a01", nodes=30)
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    graph = superpixel_graph(*oracle.draw(1), compactness=10)
    assert titles[:4] == [
        f"{len(graph)} superpixels",
        "their classes",
        f"{len(graph.edges):,} edges",
        "29 events",
    ]
    late, early = (lines for lines in figure.axes[3].collections if hasattr(lines, "get_segments"))
    assert len(late.get_segments()) == len(graph) - 30
    assert len(early.get_segments()) == 29
    figure.savefig(tmp_path / "a01.png", dpi=20)
    with pytest.raises(CtanError, match="unknown image 'a1': did you mean"):
        draw_pascal_voc(drawn, "a1")


@pytest.mark.data
def test_real_images(tmp_path):
    """Ten images of VOC 2012: superpixels and graphs like those of the whole set."""
    root = Path(os.environ.get("CTAN_DATA") or Path(__file__).parents[3] / "shared" / "data")
    source = root / "voc2012_seg632"
    if not source.is_dir():
        pytest.skip("no folder voc2012_seg632 in $CTAN_DATA or ../shared/data")
    for part in ("JPEGImages", "SegmentationClass"):
        (tmp_path / part).mkdir()
        for file in sorted((source / part).iterdir())[:10]:
            (tmp_path / part / file.name).symlink_to(file)
    made = pascal_voc(tmp_path)
    assert 0 < made.found.min() <= made.found.max() <= 500
    assert set(np.unique(made.stream.y)) <= set(range(-1, 21))
    assert len(made.stream) == len(made.images) * 433
