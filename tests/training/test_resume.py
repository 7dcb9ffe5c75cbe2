"""A run that was stopped and resumed ends with the bits of the uninterrupted one."""

import os
import subprocess
import sys

import pytest
import runs
import torch

from ctan.errors import CheckpointError
from ctan.tasks import Phase
from ctan.training import load_tensors, save_tensors


@pytest.mark.parametrize("name", runs.RUNS)
def test_killed_and_resumed_it_ends_with_the_same_bits(name, tmp_path):
    """Killed in the middle of the second epoch, and once more a little further on."""
    runs.start(name, tmp_path / "whole")
    folder = tmp_path / "killed"
    for after in (11, 7) if name.startswith("link") else (17, 8):
        killed = subprocess.run(
            [sys.executable, runs.__file__, name, str(folder), str(after)],
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
            check=False,
        )
        assert killed.returncode == -9
        assert not (folder / "results.json").exists()
        if after > 10:
            progress = load_tensors(folder / "checkpoint.safetensors")[1]["progress"]
            assert progress["epoch"] == 1
            assert progress["batches"] > 0
            assert not progress["trained"]
    runs.start(name, folder)
    assert runs.outcome(folder) == runs.outcome(tmp_path / "whole")


class StopHereError(Exception):
    pass


def stop_after(count):
    def watch(tick):
        nonlocal count
        count -= 1
        if count == 0:
            raise StopHereError

    return watch


@pytest.mark.parametrize("name", ["link, jodie", "sequence, through two batches"])
def test_it_may_stop_anywhere(name, tmp_path, monkeypatch):
    """In training, validation or test, of every epoch: after each third batch in turn."""
    shorter = runs.RUNS[name]["protocol"].with_(epochs=2)
    monkeypatch.setitem(runs.RUNS, name, runs.RUNS[name] | {"protocol": shorter})
    phases = []
    runs.start(name, tmp_path / "whole", watch=lambda tick: phases.append(tick.phase))
    assert set(phases) == {Phase("train", 0), Phase("train", 1), Phase("val"), Phase("test")}
    whole = runs.outcome(tmp_path / "whole")
    for count in range(1, len(phases) + 1, 3):
        with pytest.raises(StopHereError):
            runs.start(name, tmp_path / str(count), watch=stop_after(count))
        runs.start(name, tmp_path / str(count))
        assert runs.outcome(tmp_path / str(count)) == whole, f"stopped after {count} batches"


def test_what_a_crash_leaves_half_written_is_not_read(tmp_path):
    runs.start("link, jodie", tmp_path / "whole")
    with pytest.raises(StopHereError):
        runs.start("link, jodie", tmp_path / "cut", watch=stop_after(9))
    for name in ("checkpoint.safetensors", "weights.safetensors"):
        (tmp_path / "cut" / f"{name}.part").write_bytes(b"half")
    runs.start("link, jodie", tmp_path / "cut")
    assert runs.outcome(tmp_path / "cut") == runs.outcome(tmp_path / "whole")


def test_a_finished_run_is_only_measured_again(tmp_path):
    first = runs.start("link, jodie", tmp_path)
    before = runs.outcome(tmp_path)
    phases = []
    second = runs.start("link, jodie", tmp_path, watch=lambda tick: phases.append(tick.phase.name))
    assert set(phases) == {"test"}
    assert second.results == first.results
    assert runs.outcome(tmp_path) == before


def test_the_callers_generator_is_left_alone(tmp_path):
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    runs.start("link, tgat with dropout", None)
    assert torch.rand(3).equal(expected)


@pytest.fixture
def stopped(tmp_path):
    with pytest.raises(StopHereError):
        runs.start("link, jodie", tmp_path, watch=stop_after(9))
    return tmp_path


def test_a_folder_of_another_run_is_refused(stopped, monkeypatch):
    before = (stopped / "checkpoint.safetensors").read_bytes()
    run = runs.RUNS["link, jodie"]
    other = {
        "options": run["options"] | {"dim": 7},
        "protocol": run["protocol"].with_(lr=0.1, seed=1),
    }
    monkeypatch.setitem(runs.RUNS, "link, jodie", run | other)
    with pytest.raises(CheckpointError, match="holds another run") as refused:
        runs.start("link, jodie", stopped)
    for difference in (
        "options.dim was 6 and is now 7",
        "protocol.lr was 0.05 and is now 0.1",
        "protocol.seed was 0 and is now 1",
    ):
        assert difference in str(refused.value)
    assert "epochs" not in str(refused.value)
    assert (stopped / "checkpoint.safetensors").read_bytes() == before


def test_a_folder_of_other_events_is_refused(stopped, monkeypatch):
    stream = runs.link_stream()
    monkeypatch.setattr(runs, "link_stream", lambda: stream[:80])
    with pytest.raises(CheckpointError, match="fingerprint was '90 events"):
        runs.start("link, jodie", stopped)


def test_the_order_of_options_is_no_difference(stopped, monkeypatch):
    run = runs.RUNS["link, jodie"]
    turned = dict(reversed(run["options"].items()))
    monkeypatch.setitem(runs.RUNS, "link, jodie", run | {"options": turned})
    runs.start("link, jodie", stopped)


@pytest.mark.parametrize("name", ["checkpoint.safetensors", "spec.json"])
@pytest.mark.parametrize("damage", ["cut short", "empty", "garbage"])
def test_damage_is_named(stopped, name, damage):
    content = (stopped / name).read_bytes()
    damaged = {"cut short": content[: len(content) // 2], "empty": b"", "garbage": b"\x80" * 500}
    (stopped / name).write_bytes(damaged[damage])
    with pytest.raises(CheckpointError, match=name):
        runs.start("link, jodie", stopped)


@pytest.mark.parametrize("lost", ["loss", "weights.readout.final.bias", "rng.cpu"])
def test_a_checkpoint_that_lacks_something_is_refused(stopped, lost):
    tensors, facts = load_tensors(stopped / "checkpoint.safetensors")
    del tensors[lost]
    save_tensors(stopped / "checkpoint.safetensors", tensors, facts)
    with pytest.raises(CheckpointError, match="does not fit"):
        runs.start("link, jodie", stopped)


def test_a_checkpoint_of_no_run_is_refused(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    with pytest.raises(CheckpointError, match="no such file"):
        load_tensors(path)
    save_tensors(path, {"a": torch.zeros(2)}, {"b": 1})
    assert load_tensors(path)[1] == {"b": 1}
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
