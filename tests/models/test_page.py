"""docs/models.md says what the library and the records say."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "models.md"


@pytest.fixture
def benchmarks(monkeypatch):
    """The report of the page, and what writes pages."""
    monkeypatch.syspath_prepend(ROOT)
    return [importlib.import_module(f"benchmarks.{name}") for name in ("models_report", "pages")]


def test_every_table_of_the_page_is_the_one_that_its_command_makes(benchmarks, tmp_path):
    report, pages = benchmarks
    again = tmp_path / PAGE.name
    again.write_text(PAGE.read_text())
    pages.fill(report.TABLES, again)
    assert again.read_text() == PAGE.read_text(), "run: python -m benchmarks.models_report"


def test_tables_are_written_between_their_markers(benchmarks, tmp_path):
    _, pages = benchmarks
    one, two = tmp_path / "one.md", tmp_path / "two.md"
    one.write_text("before\n<!-- table a -->\nold\n<!-- end -->\nafter\n")
    two.write_text("<!-- table b -->\n<!-- end -->\n")
    made = {"a": lambda: pages.table(["x", "y"], [[1, 2]]), "b": lambda: r"\1"}
    pages.fill(made, one, two)
    expected = "| x | y |\n| --- | ---: |\n| 1 | 2 |"
    assert one.read_text() == f"before\n<!-- table a -->\n{expected}\n<!-- end -->\nafter\n"
    assert two.read_text() == "<!-- table b -->\n\\1\n<!-- end -->\n"


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"]])
def test_a_table_without_a_place_and_a_place_without_a_table_are_refused(
    names, benchmarks, tmp_path
):
    _, pages = benchmarks
    page = tmp_path / "page.md"
    text = "<!-- table a -->\n<!-- end -->\n<!-- table b -->\n<!-- end -->\n"
    page.write_text(text)
    with pytest.raises(SystemExit, match=r"page.md: .*'[bc]'"):
        pages.fill({name: lambda: "new" for name in names}, page)
    assert page.read_text() == text
