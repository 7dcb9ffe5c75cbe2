"""The tables of docs/pascalvoc.md are those of the records."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_says_what_was_measured(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT)])
    from benchmarks import pascalvoc_page

    page = (ROOT / "docs" / "pascalvoc.md").read_text()
    assert pascalvoc_page.filled(page) == page
    assert "| graphs kept | 372 (58.9%) | 327 (51.7%) |" in page
    record = json.loads((ROOT / "benchmarks" / "results" / "pascalvoc.json").read_text())
    assert all(run["same_bytes"] for run in record["compactness"].values())
