"""What the page on speed says is what the records say, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "speed.md"


def test_every_table_is_the_one_that_its_command_makes(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import speed_report
    from benchmarks.pages import fill

    again = tmp_path / PAGE.name
    again.write_text(PAGE.read_text())
    fill(speed_report.TABLES, again)
    assert again.read_text() == PAGE.read_text(), "run: python -m benchmarks.speed_report"


def test_what_is_named_is_there():
    text = PAGE.read_text()
    for module in re.findall(r"-m benchmarks\.(\w+)", text):
        assert (ROOT / "benchmarks" / f"{module}.py").exists(), module
    kernels = re.findall(r"`(?:ctan/nn/kernels/)?(\w+\.py)`", text)
    assert kernels
    for name in kernels:
        assert (ROOT / "src/ctan/nn/kernels" / name).exists(), name
    for name in re.findall(r"pytest (\S+?)`", text):
        assert (ROOT / name).exists(), name
