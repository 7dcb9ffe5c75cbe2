"""What the README says works as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


@pytest.fixture
def in_place(calls, tmp_path, monkeypatch):
    """A folder with the README's calls.csv."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_bytes(calls.read_bytes())


@pytest.mark.usefixtures("in_place")
def test_the_example_on_own_data(capsys):
    (example,) = blocks("python")
    names: dict[str, object] = {}
    exec(example, names)
    said = capsys.readouterr().out
    assert "400 events, 50 nodes" in said
    assert "visibility stale" in said
    assert names["again"].results == names["run"].results  # type: ignore[attr-defined]
    lines = [line for line in example.splitlines() if line]
    assert len(lines) <= 10


@pytest.mark.usefixtures("in_place")
def test_the_commands(ctan, tmp_path, calls):
    (commands,) = blocks("bash")
    for line in commands.splitlines():
        name, *arguments = shlex.split(line)
        assert name == "ctan"
        if arguments[0] == "train":
            arguments += ["--epochs", "1"]
        result = ctan(*arguments)
        assert result.code == 0, f"{line}\n{result.err}"


def test_what_is_named_is_there():
    named = re.findall(r"`pytest ([^`]+)`", README)
    assert named
    for path in named:
        assert (ROOT / path).exists(), path
    for room in re.findall(r"\| `ctan\.(\w+)` \|", README):
        assert (ROOT / "src/ctan" / room / "__init__.py").exists(), room
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^    make (\w+)", README, re.M):
        assert f"\n{target}:" in makefile
