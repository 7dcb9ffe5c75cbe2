"""`ctan models list, describe, budgets`."""

from ctan.models import MODELS


def test_list_says_of_each_what_it_sees_remembers_and_costs(ctan):
    shown = ctan("models", "list", "--edge-dim", 172).out
    for what in ("sees", "gives", "remembers", "costs", "paper", "use"):
        assert shown.count(f"\n    {what} ") == len(MODELS)
    cards = ctan("models", "list", "--json").json
    assert set(cards) == set(MODELS)
    assert cards["ctan"]["bytes_per_node"] == 408
    assert (
        ctan("models", "list", "--edge-dim", 172, "--json").json["ctan"]["parameters"]
        > (cards["ctan"]["parameters"])
    )


def test_describe_counts_what_was_asked_for(ctan):
    shown = ctan("models", "describe", "tgat", "-o", "layers=3", "--node-dim", 1)
    assert shown.code == 0
    assert "3 hops, 5 neighbours of each node" in shown.out
    assert "layers=3" in shown.out
    assert "39,687 parameters of about 20,000 (+98.4%)" in shown.out
    facts = ctan("models", "describe", "tgat", "-o", "layers=3", "--json").json
    assert facts["options"]["layers"] == 3
    assert [found["budget"] for found in facts["budgets"]] == [20_000, 40_000, 140_000]
    assert "budgets" in ctan("models", "describe", "edgebank", "--json").json


def test_describe_names_every_mistake(ctan):
    wrong = ctan("models", "describe", "cwan")
    assert wrong.code == 2
    assert "unknown model 'cwan'" in wrong.err
    assert "Traceback" not in wrong.err
    wrong = ctan("models", "describe", "cawn", "-o", "walk=3", "-o", "length=two")
    assert wrong.code == 2
    assert "did you mean 'walks'" in wrong.err
    assert "length is a whole number" in wrong.err


def test_budgets_explain_what_is_off(ctan):
    shown = ctan("models", "budgets").out
    assert "link: link prediction, 172 edge features, 1 node feature" in shown
    assert "link tgn" in shown
    assert "173,034" in shown
    assert "keeps the budget at four layers (142,938)" in shown
    table = ctan("models", "budgets", "--markdown").out
    assert "| link jodie | 164 | 165 | none | same |" in table
    counts = ctan("models", "budgets", "--json").json
    assert all(count["reason"] for count in counts if count["off"] and abs(count["off"]) > 0.1)
    unsized = [count for count in counts if count["dim"] is None]
    assert unsized
    assert all(count["total"] is None for count in unsized)
