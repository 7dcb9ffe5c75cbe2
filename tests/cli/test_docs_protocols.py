"""What the page on protocols says works as it stands there, and its tables are the library's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocols.md").read_text()


def test_the_commands(ctan, tmp_path, calls):
    (tmp_path / "calls.csv").write_bytes(calls.read_bytes())
    (commands,) = re.findall(r"```bash\n(.*?)```", PAGE, re.S)
    for line in commands.splitlines():
        result = ctan(*shlex.split(line)[1:])
        assert result.code == 0, f"{line}\n{result.err}"


def test_the_tables_are_those_of_the_library_and_of_the_records(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.pages import fill
    from benchmarks.protocols_report import TABLES

    again = tmp_path / "protocols.md"
    again.write_text(PAGE)
    fill(TABLES, again)
    assert again.read_text() == PAGE, "run: python -m benchmarks.protocols_report"


def test_what_is_named_is_there():
    named = re.findall(r"`pytest ([^`]+)`", PAGE)
    assert named
    for path in " ".join(named).split():
        assert (ROOT / path).exists(), path
    for module in re.findall(r"-m benchmarks\.(\w+)", PAGE):
        assert (ROOT / "benchmarks" / f"{module}.py").exists(), module
