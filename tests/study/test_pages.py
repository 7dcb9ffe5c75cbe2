"""docs/long-range.md and docs/solvers.md say what the library, the records and the plans say."""

import importlib
import importlib.util
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
import typer

from ctan.cli.study import study_app
from ctan.models import MODELS
from ctan.tasks import Protocol

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("long-range.md", "solvers.md")]
TEXTS = {page.name: page.read_text() for page in PAGES}


@pytest.fixture
def module(monkeypatch):
    """Parts of the benchmark, by name; the models that they register are gone afterwards."""
    monkeypatch.syspath_prepend(ROOT)
    before = dict(MODELS)
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    MODELS.clear()
    MODELS.update(before)


def found(pattern, page=None):
    texts = TEXTS.values() if page is None else [TEXTS[page]]
    return sorted({match for text in texts for match in re.findall(pattern, text)})


def test_every_table_is_the_one_that_its_command_makes(module, tmp_path):
    again = [tmp_path / page.name for page in PAGES]
    for copy in again:
        copy.write_text(TEXTS[copy.name])
    module("pages").fill(module("long_range.report").TABLES, *again)
    for copy in again:
        same = copy.read_text() == TEXTS[copy.name]
        assert same, "run: python -m benchmarks.long_range.report none"


def test_every_run_is_one_of_the_plans_and_there_once(module):
    records, run = module("long_range.records"), module("long_range.run")
    for plan in module("long_range.plans").PLANS:
        planned = Counter(trial.key() for trial in run.trials(plan))
        names = list(run.Trial.__dataclass_fields__)
        done = Counter(
            run.Trial(**{name: row[name] for name in names if name in row}).key()
            for row in records.read(plan)
        )
        assert not done - planned, plan


def test_what_is_named_exists():
    figures = found(r"!\[[^\]]*\]\(([^)]+)\)")
    assert len(figures) >= 10
    for figure in figures:
        assert (ROOT / "docs" / figure).stat().st_size < 300_000, figure
    for link in found(r"[^!]\[[^\]]*\]\(([\w.-]+\.md)\)"):
        assert (ROOT / "docs" / link).exists(), link
    for name in found(r"`((?:benchmarks|tests|src|docs)/[\w./-]+)`"):
        assert (ROOT / name).exists(), name
    for name in found(r"`(ctan\.[\w.]+)`"):
        home, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(home), attribute), name
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for name in found(r"`(test_\w+)`"):
        assert f"def {name}(" in tests, name
    assert not found(r"\b[A-Z]{4,}_[A-Z]+\b"), "text that is still to be written"


def test_every_command_can_be_given(module, capsys):
    study = typer.main.get_command(study_app)
    commands = found(r"ctan study [^`\n#]+")
    assert len(commands) >= 6
    for command in commands:
        _, _, name, *words = shlex.split(command)
        if name != "--help":
            study.commands[name].make_context(name, words)
    report = module("long_range.report")
    for name, words in found(r"python -m ([\w.]+)([^\n#]*)"):
        assert importlib.util.find_spec(name) is not None, name
        if name == report.__name__:
            assert set(shlex.split(words)) <= {*report.FIGURES, "none"}, words


def test_every_figure_of_the_pages_is_made_by_the_report(module, tmp_path, monkeypatch):
    """By the names of the files alone: to draw them all takes minutes."""
    source = "".join(
        Path(module(f"long_range.{name}").__file__).read_text()
        for name in ("figures", "figures_of_runs")
    )
    for figure in found(r"\(figures/([\w-]+)\.png\)"):
        stem = re.sub(r"^solver-.*", "solver-{name}", figure)
        assert f'"{stem}.png"' in source, figure


def test_the_recipe_is_the_one_that_was_run(module, monkeypatch):
    plans = module("long_range.plans")
    (code,) = re.findall(r"\n((?:    .*\n|\n)*    run = fit\((?:\n    .*)*)", TEXTS[PAGES[0].name])
    given = {}
    monkeypatch.setattr("ctan.training.fit", lambda stream, **how: given.update(how, of=stream))
    exec(re.sub(r"^    ", "", code, flags=re.M), {})
    assert given["of"].num_nodes == 100 * 1000
    assert given["options"] == plans.LATCHING
    assert given["protocol"] == Protocol(**plans.RECIPE | plans.SHORT)


def test_sizes_of_models_are_those_of_their_runs(module):
    read = module("long_range.records").read
    runs = read("baselines") + read("headline")
    sizes = {(run["model"], run["parameters"]) for run in runs if run["variant"] == "paper"}
    assert len(sizes) == 4
    for model, size in sizes:
        assert size <= 20_000
        name = module("long_range.records").NAMES[model]
        assert re.search(rf"\b{name} {size:,}\b", TEXTS[PAGES[0].name]), name
