"""Downloads from a publisher that serves good, truncated, wrong and slow files."""

import hashlib

import pytest
from publisher import publisher

from ctan.datasets._download import Remote, checksum_file, fetch, verify
from ctan.errors import DataError

CONTENT = bytes(range(256)) * 4000


@pytest.fixture
def server():
    with publisher() as served:
        served.files["/a.bin"] = CONTENT
        yield served


def test_a_good_file_arrives_whole_with_its_checksum_recorded(server, tmp_path):
    seen = []
    path = fetch(
        Remote(server.url + "/a.bin"),
        tmp_path / "deep" / "a.bin",
        watch=lambda have, total: seen.append((have, total)),
    )
    assert path.read_bytes() == CONTENT
    assert checksum_file(path).read_text().strip() == hashlib.sha256(CONTENT).hexdigest()
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert sorted(p.name for p in path.parent.iterdir()) == ["a.bin", "a.bin.sha256"]


def test_a_broken_connection_is_resumed_where_it_ended(server, tmp_path):
    server.manner["/a.bin"] = "broken"
    path = fetch(Remote(server.url + "/a.bin"), tmp_path / "a.bin", pause=0)
    assert path.read_bytes() == CONTENT
    assert server.asked == [None, f"bytes={len(CONTENT) // 2}-"]


def test_a_file_that_never_completes_is_kept_apart_and_finished_later(server, tmp_path):
    server.manner["/a.bin"] = 503
    part = tmp_path / "a.bin.part"
    part.write_bytes(CONTENT[:1000])
    (tmp_path / "a.bin.part.version").write_text('"\\"one\\""')
    with pytest.raises(DataError, match=r"503.*1,000 bytes\) is kept.*put it at .*a\.bin") as error:
        fetch(Remote(server.url + "/a.bin"), tmp_path / "a.bin", tries=2, pause=0)
    assert server.url in str(error.value)
    assert len(server.asked) == 2
    assert not (tmp_path / "a.bin").exists()

    server.manner["/a.bin"] = "good"
    assert fetch(Remote(server.url + "/a.bin"), tmp_path / "a.bin").read_bytes() == CONTENT
    assert server.asked[-1] == "bytes=1000-"
    assert not part.exists()


def test_a_connection_that_always_ends_half_way_still_gets_there(server, tmp_path):
    # Each try brings half of what is missing: progress counts, not the number of tries.
    server.manner["/a.bin"] = "truncated"
    path = fetch(Remote(server.url + "/a.bin"), tmp_path / "a.bin", tries=2, pause=0)
    assert path.read_bytes() == CONTENT


def test_the_end_of_a_new_version_is_not_put_on_the_start_of_an_old_one(server, tmp_path):
    (tmp_path / "a.bin.part").write_bytes(b"old" * 1000)
    (tmp_path / "a.bin.part.version").write_text('"\\"zero\\""')
    assert fetch(Remote(server.url + "/a.bin"), tmp_path / "a.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("etag", [None, '"one"'])
def test_a_server_without_ranges_starts_anew(server, tmp_path, etag):
    server.etag, server.manner["/a.bin"] = etag, "no ranges"
    (tmp_path / "a.bin.part").write_bytes(b"x" * 500)
    (tmp_path / "a.bin.part.version").write_text('"\\"one\\""')
    assert fetch(Remote(server.url + "/a.bin"), tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_part_that_was_whole_already_is_taken(server, tmp_path):
    (tmp_path / "a.bin.part").write_bytes(CONTENT)
    (tmp_path / "a.bin.part.version").write_text('"\\"one\\""')
    assert fetch(Remote(server.url + "/a.bin"), tmp_path / "a.bin").read_bytes() == CONTENT


def test_a_slow_file_arrives(server, tmp_path):
    server.manner["/a.bin"] = "slow"
    assert fetch(Remote(server.url + "/a.bin"), tmp_path / "a.bin").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("remote", "check", "reason"),
    [
        ({"size": 5}, None, "got 1,024,000 bytes, expected 5"),
        ({"sha256": "ab"}, None, "got a file of checksum .* expected ab"),
        ({}, lambda path: "no CSV", "no CSV"),
    ],
)
def test_a_wrong_file_is_refused_and_leaves_nothing(server, tmp_path, remote, check, reason):
    keywords = {"check": check} if check else {}
    with pytest.raises(DataError, match=reason):
        fetch(Remote(server.url + "/a.bin", **remote), tmp_path / "a.bin", pause=0, **keywords)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_not_asked_for_again(server, tmp_path):
    with pytest.raises(DataError, match=r"404.*fetch that file by hand"):
        fetch(Remote(server.url + "/b.bin"), tmp_path / "b.bin")
    assert len(server.asked) == 1


def test_no_server_at_all(tmp_path):
    with pytest.raises(DataError, match="no connection"):
        fetch(Remote("http://127.0.0.1:9/a.bin"), tmp_path / "a.bin", tries=1)


def test_a_change_on_disk_is_noticed(server, tmp_path):
    path = fetch(Remote(server.url + "/a.bin"), tmp_path / "a.bin")
    verify(path)
    changed = bytearray(CONTENT)
    changed[12345] ^= 1
    path.write_bytes(changed)
    with pytest.raises(DataError, match=r"a\.bin: the file is damaged or was changed"):
        verify(path)
