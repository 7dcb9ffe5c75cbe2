"""Data, models, demo, version."""

import re
from pathlib import Path

from small_runs import COLUMNS
from typer.main import get_command

import ctan as library
from ctan.cli import app


def test_check(ctan, calls):
    result = ctan("data", "check", calls, *COLUMNS)
    assert result.code == 0
    assert result.out.startswith(f"{calls}: ok\n400 events, 50 nodes")
    assert ctan("data", "check", calls, *COLUMNS, "--json").json == {
        "ok": True, "events": 400, "nodes": 50,
    }  # fmt: skip


def test_describe(ctan, calls):
    facts = ctan("data", "describe", calls, *COLUMNS, "--json").json
    pairs = [tuple(row.split(",")[:2]) for row in calls.read_text().splitlines()[1:]]
    assert facts["repeat_rate"] == 1 - len(set(pairs)) / len(pairs)
    assert facts["split"] == {"of": "events", "train": 280, "val": 60, "test": 60}
    shown = ctan("data", "describe", calls, *COLUMNS)
    assert "400 events, 50 nodes" in shown.out
    assert "neighbors of a node" in shown.out
    assert f"repeat rate {facts['repeat_rate']:.3f}" in shown.out


def test_models(ctan):
    about = ctan("models", "list", "--json").json
    assert about["ctan"]["options"]["gamma"] == 0.1
    assert "arXiv 2406.02740" in about["ctan"]["about"]
    shown = ctan("models", "list").out
    for name in about:
        assert f"{name}: " in shown


def commands(command, path=("ctan",)):
    """All commands below one, with what they are called."""
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))
    yield " ".join(path), command


def test_help_shows_every_word():
    """[words] in brackets are markup to what prints the help, and would be left out."""
    for name, command in commands(get_command(app)):
        for parameter in command.params:
            text = getattr(parameter, "help", None) or ""
            assert not re.search(r"\[[a-z#/@]", text), f"{name} --{parameter.name}: {text}"


def test_version(ctan):
    assert ctan("--version").out == f"ctan {library.__version__}\n"


def test_demo(ctan):
    result = ctan(
        *("demo", "--lengths", "3,4", "--seeds", 2, "--epochs", 1, "--graphs", 40),
        *("--workers", 1, "--out", "here"),
    )
    assert result.code == 0, result.err
    assert len(result.err.splitlines()) == 8  # two lengths of two seeds and two baselines
    assert "100.00±0.00" in result.out
    assert "Report: here/report.html" in result.out
    page = Path("here/report.html").read_text()
    assert "data:image/png;base64," in page
    assert "CTAN, paper" in page
    assert Path("here/table.md").read_text().startswith("| length | 3 | 4 |")
    assert Path("here/accuracy.png").stat().st_size > 10_000


def test_demo_on_two_processes_gives_the_same(ctan):
    small = ("demo", "--lengths", "3", "--seeds", 2, "--epochs", 1, "--graphs", 40)
    assert ctan(*small, "--workers", 1, "--out", "one").code == 0
    assert ctan(*small, "--workers", 2, "--out", "two").code == 0
    one, two = (sorted(Path(name, "table.csv").read_text().split()) for name in ("one", "two"))
    assert one == two
