"""Bad input: one clear error, exit code 2, no traceback, nothing written."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HEADER = "src,dst,t,f0"
GOOD = "0,1,1,0.5"

# name of the case -> file name, content, what the error must name
BAD_FILES = {
    "unsorted times": ("e.csv", f"{HEADER}\n0,1,5,0\n1,2,3,0\n", ["'t'", "line 3", "--sort"]),
    "NaN": ("e.csv", f"{HEADER}\n{GOOD}\n1,2,3,nan\n", ["'f0'", "line 3", "nan"]),
    "NaN time": ("e.csv", f"{HEADER}\n{GOOD}\n1,2,nan,0\n", ["'t'", "line 3", "nan"]),
    "negative ids": ("e.csv", f"{HEADER}\n{GOOD}\n1,-2,3,0\n", ["'dst'", "line 3", "-2"]),
    "mixed time formats": (
        "e.csv",
        f"{HEADER}\n0,1,2024-05-01,0\n1,2,17,0\n",
        ["'t'", "line 3", "'17'"],
    ),
    "ragged rows": ("e.csv", f"{HEADER}\n{GOOD}\n1,2,3\n", ["line 3", "3 cells"]),
    "missing columns": ("e.csv", "from,dst,t\n0,1,1\n", ["'src'", "--src from"]),
    "empty file": ("e.csv", "", ["empty"]),
    "only a header": ("e.csv", f"{HEADER}\n", ["no events"]),
    "wrong suffix": ("e.parquet", f"{HEADER}\n{GOOD}\n", [".parquet", ".csv"]),
    "unknown suffix": ("e.txt", f"{HEADER}\n{GOOD}\n", [".txt", ".csv"]),
    "times beyond int64": (
        "e.csv",
        f"{HEADER}\n{GOOD}\n1,2,9223372036854775808,0\n",
        ["'t'", "line 3", "9223372036854775808"],
    ),
    "duplicate names": ("e.csv", f"src,dst,t,t\n{GOOD}\n", ["'t'", "line 1"]),
}


@pytest.mark.parametrize("command", [("train", "link"), ("data", "check"), ("data", "describe")])
@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(ctan, tmp_path, command, case):
    name, content, named = BAD_FILES[case]
    (tmp_path / name).write_text(content)
    result = ctan(*command, name)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert result.err.count("error:") == 1
    assert "Traceback" not in result.err
    for part in named:
        assert part in result.err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_ragged_features(ctan, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    table = {"src": [0, 1], "dst": [1, 2], "t": [1, 2], "msg": [[1.0, 2.0], [3.0]]}
    pa.parquet.write_table(pa.table(table), tmp_path / "e.parquet")
    result = ctan("train", "link", "e.parquet")
    assert result.code == 2
    assert "'msg', row 1: got 1 values, expected 2" in result.err


def test_all_problems_are_listed_at_once(ctan, tmp_path):
    (tmp_path / "e.csv").write_text(f"{HEADER}\n0,1,5,nan\n1,-2,3,0\n")
    result = ctan("data", "check", "e.csv")
    assert result.code == 2
    for column in ("'dst'", "'t'", "'f0'"):
        assert f"column {column}" in result.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["train", "lnk", "calls.csv"], "did you mean 'link'"),
        (["train", "link", "calls.csv", "--model", "ctann"], "did you mean 'ctan'"),
        (["train", "link", "calls.csv", "--option", "dmi=8"], "did you mean 'dim'"),
        (["train", "link", "calls.csv", "--option", "dim"], "expected key=value"),
        (["train", "link", "calls.csv", "--option", "dim=x"], "dim is a whole number"),
        (["train", "link", "calls.csv", "--option", "include_self=maybe"], "true or false"),
        (["train", "link", "calls.csv", "--option", "gamma=nan"], "gamma is a finite number"),
        (["train", "link", "calls.csv", "--option", "dim=1", "--option", "dim=2"], "given before"),
        (["train", "link", "calls.csv", "--protocol", "epoch=3"], "did you mean 'epochs'"),
        (["train", "link", "calls.csv", "--protocol", "split=tim"], "did you mean 'time'"),
        (["train", "link", "calls.csv", "--protocol", "lr=1", "--lr", "2"], "given both"),
        (["train", "link", "calls.csv", "--protocol", "through_time=1.5"], "through_time is 1.5"),
        (["train", "link", "calls.csv", "--src", "caller", "--dst", "caller"], "two columns"),
        (["train", "link", "."], "is a folder"),
        (["train", "link", "calls.csv", "--lr", "nan"], "lr is a finite number"),
        (["train", "link", "calls.csv", "--epochs", "0"], "epochs is 0"),
        (["train", "link", "calls.csv", "--seed", "-1"], "seed is -1"),
        (["train", "link", "calls.csv", "--device", "gpu"], "expected cpu, cuda or cuda:N"),
        (["train", "link", "calls.csv", "--device", "cuda:99"], "CUDA devices"),
        (["train", "link", "calls.csv", "--length", "5"], "goes with a data set"),
        (["train", "link", "calls.cvs"], "did you mean 'calls.csv'"),
        (["train", "sequence", "t-pathgraf"], "did you mean 't-pathgraph'"),
        (["train", "sequence", "t-pathgraph", "--src", "a"], "goes with a file"),
        (["train", "sequence", "t-pathgraph", "--variant", "papr"], "did you mean 'paper'"),
        (["train", "sequence", "t-pathgraph", "--data-option", "lenght=3"], "'length'"),
        (["train", "sequence", "t-pathgraph", "--graphs", "0"], "at least 1 graph"),
        (["evaluate", "runs/nothing"], "not a run folder"),
        (["demo", "--lengths", "three"], "expected whole numbers"),
        (["demo", "--lengths", "1"], "at least 2 nodes"),
        (["demo", "--out", "calls.csv"], "is a file"),
        (["demo", "--out", "calls.csv/here"], "calls.csv is a file, expected a folder"),
        (["study", "sensitivity", "--out", "curve.txt"], "ends in .png, .svg or .pdf"),
        (["study", "retention", "--out", "curve"], "ends in .png, .svg or .pdf"),
        (["study", "reach", "--out", "calls.csv/a.png"], "calls.csv is a file, expected a folder"),
        (["study", "spectrum", "--option", "epsilon=0"], "epsilon is 0"),
        (["study", "spectrum", "--run", "runs/nothing"], "not a run folder"),
    ],
)
def test_bad_arguments(ctan, calls, tmp_path, arguments, named):
    (tmp_path / "calls.csv").write_bytes(calls.read_bytes())
    result = ctan(*arguments)
    assert result.code == 2
    assert named in result.err
    assert result.err.count("error:") == 1
    assert "Traceback" not in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["calls.csv"]


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("dim=0", "dim of ctan is 0"),
        ("dim=1000000000", "not enough memory"),
        ("heads=3", "not divisible"),
        ("act=x", "unknown activation"),
        ("epsilon=-1", "epsilon is -1"),
        ("gamma=-0.5", "gamma is -0.5"),
    ],
)
def test_options_without_a_meaning(ctan, calls, tmp_path, option, named):
    result = ctan("train", "link", calls, "--src", "caller", "--dst", "callee", "--t", "time",
                  "--option", option)  # fmt: skip
    assert result.code == 2
    assert named in result.err
    assert list(tmp_path.iterdir()) == []


def test_all_mistakes_of_a_command_are_listed_at_once(ctan, calls):
    result = ctan(
        "train", "link", calls, "--option", "dmi=3", "--protocol", "epoch=3", "--device", "tpu"
    )
    assert "3 mistakes" in result.err
    assert "'dim'" in result.err
    assert "'epochs'" in result.err
    assert "tpu" in result.err


def test_a_source_without_negatives_leaves_nothing_behind(ctan, tmp_path):
    rows = [f"{i % 3},3,{i}" for i in range(40)]
    (tmp_path / "one.csv").write_text("\n".join(["src,dst,t", *rows]))
    result = ctan("train", "link", "one.csv")
    assert result.code == 2
    assert "no negative" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["one.csv"]


def test_errors_as_json(ctan, tmp_path):
    result = ctan("train", "link", "nothing.csv", "--json")
    assert result.code == 2
    assert "nothing.csv" in result.json["error"]
    assert np.all([line.startswith("error: ") for line in result.err.splitlines()])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["train", "link"], "Missing argument"),
        (["trian", "link"], "Did you mean 'train'"),
        (["train", "link", "calls.csv", "--epoch", "3"], "--epochs"),
        (["train", "link", "calls.csv", "--epochs", "many"], "'--epochs'"),
        (["train", "link", "calls.csv", "--checkpoint-seconds", "-1"], "'--checkpoint-seconds'"),
        (["study", "sensitivity", "--seed", "-1"], "'--seed'"),
        (["study", "sensitivity", "--seed", str(2**63)], "'--seed'"),
    ],
)
def test_usage_errors(ctan, arguments, named):
    result = ctan(*arguments)
    assert result.code == 2
    assert named in result.err
    assert "Traceback" not in result.err


def test_a_disk_that_is_full():
    """Not in this process: its stdout is where the error would go."""
    ctan = Path(sys.executable).with_name("ctan")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [ctan, "models", "list", "--json"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


# Root may read and write everything, so the process becomes nobody, once it has imported all.
AS_NOBODY = """
import os, sys
import ctan.cli._jobs, ctan.cli._progress, ctan.study.figures, ctan.training
from ctan.cli import main
for arguments in (["data", "check", "open.csv"], sys.argv[1:]):
    try:
        main(arguments)
    except SystemExit as end:
        code = end.code
    if os.geteuid() == 0:
        os.setuid(65534)
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["train", "link", "closed.csv"], "closed.csv: Permission denied"),
        (["demo", "--out", "locked/report"], "no permission to write to"),
        (["study", "reach", "--out", "locked/a.png"], "no permission to write to"),
    ],
)
def test_what_may_not_be_read_or_written(tmp_path, arguments, named):
    tmp_path.chmod(0o777)
    for name, mode in (("open.csv", 0o644), ("closed.csv", 0)):
        (tmp_path / name).write_text(f"{HEADER}\n{GOOD}\n")
        (tmp_path / name).chmod(mode)
    (tmp_path / "locked").mkdir(mode=0o555)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["closed.csv", "locked", "open.csv"]
