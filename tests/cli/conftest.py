"""A small log of calls, and the command line as a function."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ctan.cli import main


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def ctan(capfd, monkeypatch, tmp_path):
    """Run a command in an empty folder: `ctan("train", "link", file)`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> Result:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        said = capfd.readouterr()
        return Result(int(end.value.code or 0), said.out, said.err)

    return run


@pytest.fixture(scope="session")
def calls(tmp_path_factory):
    """400 calls of 20 people to 30 others, each of whom has favourites; one comes late."""
    rng = np.random.default_rng(0)
    caller = rng.integers(0, 20, 400)
    caller[:300] %= 19  # anna19 is unknown to the training part
    callee = (3 * caller + rng.integers(0, 6, 400)) % 30
    seconds = np.sort(rng.integers(0, 100_000, 400))
    rows = [
        f"anna{a},bert{b},{s},{m:.3f}"
        for a, b, s, m in zip(caller, callee, seconds, rng.random(400), strict=True)
    ]
    path = tmp_path_factory.mktemp("data") / "calls.csv"
    path.write_text("\n".join(["caller,callee,time,minutes", *rows]) + "\n")
    return path
