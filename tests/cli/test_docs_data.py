"""What the page on data says works as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ctan.datasets import names
from ctan.events import SURPRISES, EventKind

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


def test_the_commands(ctan, tmp_path, calls):
    (tmp_path / "calls.csv").write_bytes(calls.read_bytes())
    (commands,) = blocks("bash")
    for line in commands.splitlines():
        arguments = shlex.split(line)[1:]
        if arguments[0] == "train":
            arguments += ["--epochs", "1"]
        result = ctan(*arguments)
        assert result.code == 0, f"{line}\n{result.err}"


def test_the_example():
    pytest.importorskip("torch_geometric")
    pytest.importorskip("polars")
    (example,) = blocks("python")
    exec(example, {})


def test_what_is_named_is_there():
    for name in names():
        assert f"`{name}`" in PAGE
    for kind in EventKind:
        assert f"| `{kind.name.lower()}` | {kind.value} |" in PAGE
    for definition in SURPRISES:
        assert f"| `{definition}` |" in PAGE
    for path in re.findall(r"`pytest ([^`]+)`", PAGE):
        assert (Path(__file__).parents[2] / path).exists()
