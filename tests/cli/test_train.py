"""Training from the command line: what is shown, what is kept, and that it can be gone on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_runs import COLUMNS, SMALL

from ctan.training import claimed, fit, load_run


def train(ctan, calls, *more):
    result = ctan("train", "link", calls, *COLUMNS, *SMALL, *more)
    assert result.code == 0, result.err
    return result


@pytest.mark.parametrize("model", ["ctan", "jodie", "tgat", "edgebank"])
def test_evaluate_gives_the_recorded_numbers_to_the_last_digit(ctan, calls, model):
    options = [] if model == "edgebank" else SMALL
    trained = ctan("train", "link", calls, *COLUMNS, "--model", model, *options, "--json")
    assert trained.code == 0, trained.err
    again = ctan("evaluate", trained.json["run"], "--json")
    assert again.code == 0, again.err
    assert again.json == trained.json
    recorded = json.loads(Path(trained.json["run"], "results.json").read_text())
    assert {**recorded, "run": trained.json["run"]} == again.json
    assert set(recorded["test"]) == {"loss", "auc", "ap"}
    assert "equal to the recorded results in every digit" in again.err


def test_sequence(ctan):
    result = ctan(
        *("train", "sequence", "t-pathgraph", "--length", 3, "--graphs", 40, "--variant"),
        *("released", "--epochs", 2, "--batch-size", 16, "--json"),
    )
    assert result.code == 0, result.err
    assert result.json["protocol"]["graph_batch"] == 16
    assert result.json["protocol"]["through_time"] == "all"
    again = ctan("evaluate", result.json["run"], "--json")
    assert again.json["test"] == result.json["test"]
    data = json.loads(Path(result.json["run"], "spec.json").read_text())["data"]
    assert data == {
        "name": "t-pathgraph",
        "options": {"length": 3, "variant": "released", "graphs": 40, "seed": 9},
    }


def test_a_run_that_diverged_says_so(ctan, calls):
    result = train(ctan, calls, "--lr", 1e30, "--json")
    assert result.json["test"]["auc"] is None
    assert "training diverged. Try a smaller --lr" in result.err
    assert "diverged" not in train(ctan, calls, "--run", "another").err


def test_what_is_shown(ctan, calls):
    result = train(ctan, calls)
    lines = result.err.splitlines()
    assert "400 events, 50 nodes" in lines[0]
    assert "visibility stale" in lines[1]
    assert "run folder runs/link-calls-ctan-1" in lines[2]
    assert [line.split("   ")[0] for line in lines[3:]] == ["epoch 1/2", "epoch 2/2"]
    assert "val loss" in lines[3]
    assert "auc" in lines[3]
    assert lines[3].endswith("left")
    for shown in (
        "validation",
        "test, inductive",
        "auc",
        "ap",
        "protocol: split time",
        "ctan eval",
    ):
        assert shown in result.out


def test_json_is_all_there_is_on_stdout(ctan, calls):
    result = train(ctan, calls, "--json")
    assert result.json["task"] == "link"
    assert set(result.json["val"]) == {"loss", "auc", "ap"}


def test_options_reach_the_run(ctan, calls):
    result = train(
        ctan, calls, "--protocol", "visibility=causal", "--protocol", "batch-size=7", "--seed", 5,
        "--lr", "0.01", "--json",
    )  # fmt: skip
    spec = json.loads(Path(result.json["run"], "spec.json").read_text())
    assert spec["options"] == {"init": "isometric", "dim": 8, "time_dim": 4}
    changed = {name: spec["protocol"][name] for name in ("visibility", "batch_size", "seed", "lr")}
    assert changed == {"visibility": "causal", "batch_size": 7, "seed": 5, "lr": 0.01}
    assert spec["data"]["options"] == {
        "src": "caller", "dst": "callee", "t": "time", "msg": ["minutes"],
    }  # fmt: skip


def test_a_finished_run_is_not_written_over(ctan, calls):
    first, second = train(ctan, calls, "--json"), train(ctan, calls, "--json")
    assert first.json["run"] == "runs/link-calls-ctan-1"
    assert second.json["run"] == "runs/link-calls-ctan-2"
    assert second.json["test"] == first.json["test"]


def test_a_finished_run_asked_for_by_name_is_measured_again(ctan, calls):
    first = train(ctan, calls, "--run", "mine", "--json")
    again = train(ctan, calls, "--run", "mine", "--json")
    assert again.json == first.json
    assert "finished before, measured again" in again.err
    assert "epoch 1/2" not in again.err


@pytest.fixture
def stop_in_the_second_epoch(monkeypatch):
    """Ctrl-C before the third batch of the second epoch is noted; `undo` lets runs go on."""
    from ctan.cli._progress import RunProgress

    tick = RunProgress.tick

    def stopping(self, t):
        if (t.phase.epoch, t.done) == (1, 3):
            raise KeyboardInterrupt
        tick(self, t)

    with monkeypatch.context() as patched:
        patched.setattr(RunProgress, "tick", stopping)
        yield patched


@pytest.mark.parametrize("folder", ["runs/link-calls-ctan-1", "mine"])
def test_a_stopped_run_goes_on_to_the_same_bits(ctan, calls, stop_in_the_second_epoch, folder):
    options = ["--batch-size", 20, "--checkpoint-seconds", 0]
    if folder == "mine":
        options += ["--run", folder]
    stopped = ctan("train", "link", calls, *COLUMNS, *SMALL, *options)
    assert stopped.code == 130
    assert "The same command goes on from epoch 2, batch 2." in stopped.err
    unfinished = ctan("evaluate", folder, "--json")
    assert unfinished.code == 0, unfinished.err
    assert "not finished" in unfinished.err
    assert unfinished.json["best_epoch"] == 0

    stop_in_the_second_epoch.undo()
    resumed = train(ctan, calls, *options, "--json")
    assert f"{folder}: resumed at epoch 2, after 2 of its batches" in resumed.err
    whole = train(ctan, calls, "--batch-size", 20, "--run", "whole", "--json")
    assert {**resumed.json, "run": "whole"} == whole.json
    for name in ("weights.safetensors", "state.safetensors", "history.json", "results.json"):
        assert Path(folder, name).read_bytes() == Path("whole", name).read_bytes()


def test_a_folder_with_another_run_is_refused(ctan, calls):
    train(ctan, calls, "--run", "mine")
    before = Path("mine/results.json").read_bytes()
    other = ctan("train", "link", calls, *COLUMNS, *SMALL, "--run", "mine", "--seed", 1)
    assert other.code == 2
    assert "protocol.seed was 0 and is now 1" in other.err
    assert Path("mine/results.json").read_bytes() == before


def test_a_folder_with_other_files_is_refused(ctan, calls, tmp_path):
    Path("photos").mkdir()
    Path("photos/cat.jpg").write_text("cat")
    result = ctan("train", "link", calls, *COLUMNS, *SMALL, "--run", "photos")
    assert result.code == 2
    assert "holds files but no run" in result.err
    assert [path.name for path in Path("photos").iterdir()] == ["cat.jpg"]


def test_a_folder_in_use_is_refused(ctan, calls):
    with claimed(Path("mine")):
        result = ctan("train", "link", calls, *COLUMNS, *SMALL, "--run", "mine")
    assert result.code == 2
    assert "another process" in result.err
    assert not Path("mine").exists()


def test_changed_events_are_noticed(ctan, calls, tmp_path):
    copy = tmp_path / "copy.csv"
    copy.write_bytes(calls.read_bytes())
    trained = train(ctan, copy, "--json")
    copy.write_text(copy.read_text().replace("anna1,bert3,", "anna1,bert4,", 1))
    changed = ctan("evaluate", trained.json["run"])
    assert changed.code == 2
    assert changed.err.count("400 events") == 2  # what was expected and what was found
    copy.unlink()
    moved = ctan("evaluate", trained.json["run"])
    assert "--data FILE" in moved.err
    found = ctan("evaluate", trained.json["run"], "--data", calls, "--json")
    assert found.json == trained.json


@pytest.mark.parametrize("name", ["weights.safetensors", "state.safetensors", "spec.json"])
def test_damaged_runs_are_noticed(ctan, calls, name):
    run = Path(train(ctan, calls, "--json").json["run"])
    (run / name).write_bytes((run / name).read_bytes()[:40])
    result = ctan("evaluate", run)
    assert result.code == 2
    assert f"{run / name}: damaged" in result.err


def test_a_run_of_the_library_loads_with_its_stream(tmp_path):
    from ctan import EventStream, Protocol
    from ctan.training import measure_test

    stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
    protocol = Protocol(epochs=1, negatives_known=True)
    run = fit(stream, options={"dim": 4}, protocol=protocol, folder=tmp_path)
    again = load_run(tmp_path, data=stream)
    assert (again.spec, again.results) == (run.spec, run.results)
    assert measure_test(again.stage, again.state)["test"] == run.results["test"]


def test_as_installed(calls, tmp_path):
    """The entry point, in a process of its own; stdout holds the document and nothing else."""
    ctan = Path(sys.executable).with_name("ctan")
    done = subprocess.run(
        [ctan, "train", "link", calls, *COLUMNS, *SMALL, "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"] == "ctan"
    assert "Warning" not in done.stderr
