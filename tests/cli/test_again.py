"""A finished run used again: scored otherwise, embedded, played on, gone on from."""

import numpy as np
import pytest
from small_runs import COLUMNS, SMALL

from ctan.events import read_events
from ctan.training import go_on, load_run, newer_events


def arrays(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


@pytest.fixture
def run(ctan, calls):
    done = ctan("train", "link", calls, *COLUMNS, *SMALL, "--run", "first")
    assert done.code == 0, done.err
    return "first"


def test_another_protocol_is_measured_and_named(ctan, run):
    found = ctan("evaluate", run, "--task", "ranking", "--protocol", "tgb", "--json").json
    assert found["task"] == "ranking"
    assert found["state"] == "replayed"
    assert found["protocol"]["batch_size"] == 200
    assert 0 < found["test"]["mrr"] <= 1
    shown = ctan("evaluate", run, "--protocol", "dyglib")
    assert "averaged by batch" in shown.out
    assert "trained under: split time" in shown.out
    stored = ctan("evaluate", run, "--protocol", "negatives_known=true", "--json").json
    assert stored["state"] == "stored"


def test_scores_are_named_by_what_they_are(ctan, run):
    shown = ctan("evaluate", run, "--scores", "out/scores.npz")
    assert shown.code == 0, shown.err
    assert "event, t, label, logit of 120 questions" in shown.err
    logits = arrays("out/scores.npz")
    assert ctan("evaluate", run, "--scores", "p.npz", "--scores-as", "probabilities").code == 0
    p = arrays("p.npz")
    assert sorted(p) == ["event", "label", "probability", "t"]
    np.testing.assert_allclose(p["probability"], 1 / (1 + np.exp(-logits["logit"])), rtol=1e-5)
    ranking = ("evaluate", run, "--task", "ranking", "--protocol", "tgb")
    assert ctan(*ranking, "--scores", "r.npz").code == 0
    ranks = arrays("r.npz")
    assert sorted(ranks) == ["candidates", "event", "rank", "t"]
    assert (ranks["rank"] <= ranks["candidates"] + 1).all()


def test_fixed_candidates_come_from_a_file(ctan, run):
    stream = load_run(run).stage.stream
    part = load_run(run).stage.parts.test
    others = [[v for v in np.unique(stream.dst) if v != own][:7] for own in stream.dst[part]]
    np.savez("lists.npz", node=others)
    asked = ("evaluate", run, "--task", "ranking", "--negatives", "lists.npz")
    shown = ctan(*asked, "--scores", "r.npz")
    assert shown.code == 0, shown.err
    assert "candidates: lists.npz: 7 for each of 60 events" in shown.out
    assert (arrays("r.npz")["candidates"] == 7).all()
    np.savez("short.npz", node=others[1:])
    refused = ctan(*asked[:-1], "short.npz")
    assert (refused.code, "59 rows, but the test part has 60" in refused.err) == (2, True)
    np.savez("own.npz", node=stream.dst[part][:, None])
    refused = ctan(*asked[:-1], "own.npz")
    assert (refused.code, "the destination of its own event" in refused.err) == (2, True)
    refused = ctan("evaluate", run, "--negatives", "lists.npz")
    assert (refused.code, "are for task 'ranking'" in refused.err) == (2, True)


def test_mistakes_are_one_error_and_nothing_is_computed(ctan, run):
    for arguments, said in (
        (("--scores", "s.csv"), "ends in .npz"),
        (("--scores-as", "odds"), "unknown form of scores 'odds'"),
        (("--protocol", "tgp"), "did you mean 'tgb'"),
        (("--negatives", "nowhere.npz", "--task", "ranking"), "not a .npz file"),
        (("--task", "edge"), "Give a column of labels"),
        (("--task", "ranking", "--protocol", "negatives=inductive"), "say how many to draw"),
        (("--protocol", "node_type=0"), "have 0 features"),
        (("--protocol", "split=graph"), "'graph' column"),
    ):
        refused = ctan("evaluate", run, *arguments)
        assert refused.code == 2
        assert said in refused.err
        assert "Traceback" not in refused.err


def test_a_readout_that_was_not_trained_is_not_pretended(ctan, run):
    shown = ctan("evaluate", run, "--protocol", "readout=dst")
    assert "it stays 'pair', not 'dst'" in shown.err
    assert "readout pair" in shown.out


def test_the_past_observed_anew_is_said_to_be(ctan, run):
    stored, anew = ctan("evaluate", run, "--json").json, ctan("evaluate", run, "--replay", "--json")
    assert anew.json["state"] == "replayed"
    assert anew.json["protocol"] == stored["protocol"]
    assert anew.json["test"] != stored["test"]


def test_a_rule_has_no_probabilities(ctan, calls):
    ctan("train", "link", calls, *COLUMNS, "--model", "edgebank", "--run", "rule")
    assert ctan("evaluate", "rule", "--scores", "s.npz").code == 0
    assert "score" in arrays("s.npz")
    refused = ctan("evaluate", "rule", "--scores", "s.npz", "--scores-as", "probabilities")
    assert (refused.code, "a rule gives scores" in refused.err) == (2, True)


def test_embeddings_at_a_time(ctan, run, calls):
    time = int(calls.read_text().splitlines()[200].split(",")[2])
    assert ctan("embed", run, "--at", time, "--out", "z.npz").code == 0
    before = [row.split(",") for row in calls.read_text().splitlines()[1:]]
    seen = {name for row in before if int(row[2]) < time for name in row[:2]}
    z = arrays("z.npz")
    assert set(z["name"]) == seen
    assert z["embedding"].shape == (len(seen), 8)
    assert np.isfinite(z["embedding"]).all()
    for wrong, said in (("noon", "--at noon: expected a number"), ("nan", "is NaN")):
        refused = ctan("embed", run, "--at", wrong, "--out", "z.npz")
        assert (refused.code, said in refused.err) == (2, True)
    assert "as seen before time 1e30" in ctan("embed", run, "--at", "1e30", "--out", "z.npz").out


def test_prequential_reads_a_file_and_names_its_protocol(ctan, calls):
    played = ("prequential", calls, *COLUMNS, "--option", "dim=8", "--every", "150")
    shown = ctan(*played)
    assert shown.code == 0, shown.err
    assert "protocol: split time" in shown.out
    found = ctan(*played, "--protocol", "batch_size=50", "--json").json
    assert [block["events"] for block in found["blocks"]] == [150, 300, 400]
    assert found["protocol"]["batch_size"] == 50
    assert ctan(*played[:-1], "0").code == 2
    refused = ctan("prequential", calls, "--src", "coller")
    assert (refused.code, "did you mean 'caller'" in refused.err) == (2, True)


def test_a_run_goes_on_with_newer_events(ctan, calls, tmp_path):
    rows = calls.read_text().splitlines()
    older = tmp_path / "older.csv"
    older.write_text("\n".join(rows[:301]) + "\n")
    assert ctan("train", "link", older, *COLUMNS, *SMALL, "--run", "old").code == 0
    again = ("train", "link", calls, *COLUMNS, "--from", "old", "--run", "new")
    done = ctan(*again)
    assert done.code == 0, done.err
    assert "100 events are newer" in done.err
    spec = load_run("new").spec
    assert spec.options["dim"] == 8
    assert spec.data["from"]["data"].startswith("300 events")
    repeated = ctan("evaluate", "new")
    assert "equal to the recorded results in every digit" in repeated.err
    stream = read_events(calls, src="caller", dst="callee", t="time", msg=["minutes"])
    same = go_on("old", stream, data={k: v for k, v in spec.data.items() if k != "from"})
    assert same.results["test"] == load_run("new").results["test"]
    assert newer_events("old", stream[5:]) is None
    for wrong in (("--option", "dim=9"), ("--model", "jodie")):
        refused = ctan(*again[:-1], "other", *wrong)
        assert (refused.code, "goes on as it is" in refused.err) == (2, True)
    refused = ctan("train", "link", calls, "--src", "caller", "--dst", "callee", "--t", "time",
                   "--from", "old")  # fmt: skip
    assert (refused.code, "do not fit these events" in refused.err) == (2, True)
