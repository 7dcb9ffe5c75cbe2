"""EdgeBank and the heuristics: a literal version, and the published numbers."""

import os
from pathlib import Path

import numpy as np
import pytest

from ctan.errors import CtanError, ProtocolError
from ctan.events import EventStream
from ctan.report import reproduce
from ctan.tasks import Phase, Protocol
from ctan.training import Stage, evaluate, fit, play

ROOT = Path(os.environ.get("CTAN_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs = {
    name: pytest.mark.skipif(
        not (ROOT / name / "events.parquet").exists(),
        reason=f"no {name}/events.parquet under CTAN_DATA or ../shared/data",
    )
    for name in ("wikipedia", "mooc")
}


def small_stream(seed=0, events=120):
    rng = np.random.default_rng(seed)
    return EventStream.from_arrays(
        src=rng.integers(0, 6, events),
        dst=rng.integers(6, 12, events),
        t=np.sort(rng.integers(0, 300, events)),
    )


def literal(stream, memory, ratio, u, v, now, cut, training_time):
    """Whether the memory holds (u, v): the rule, read out."""
    met = [e for e in range(cut) if (stream.src[e], stream.dst[e]) == (u, v)]
    if not met:
        return False
    pairs = {}
    for e in range(cut):
        pairs.setdefault((stream.src[e], stream.dst[e]), []).append(stream.t[e])
    gaps = [np.diff(times).mean() if len(times) > 1 else 0.0 for times in pairs.values()]
    last, latest = stream.t[met[-1]], stream.t[cut - 1]
    return {
        "infinite": True,
        "window": last >= now - ratio * training_time,
        "tw": last >= latest - ratio * training_time,
        "quantile": last >= np.quantile(stream.t[:cut], 1 - ratio),
        "repeat": last >= latest - np.mean(gaps),
        "threshold": len(met) >= cut / len(pairs),
    }[memory]


@pytest.mark.parametrize("visibility", ["stale", "causal", "position"])
@pytest.mark.parametrize("memory", ["infinite", "window", "tw", "quantile", "repeat", "threshold"])
def test_edgebank_is_its_rule(memory, visibility):
    stream = small_stream()
    protocol = Protocol(visibility=visibility, batch_size=7, negatives_known=True, split="count")
    options = {"memory": memory, "ratio": 0.2}
    stage = Stage.prepare(stream, "link", "edgebank", options, protocol)
    split = stage.parts
    training_time = stream.t[split.train_end - 1] - stream.t[0]
    phase = Phase("test")
    held = 0
    for played in play(stage, stage.predictor.model.init_state(), stage.segments(phase), phase):
        start = int(played.events.position[0])
        for row, event in enumerate(played.asked.event):
            e = int(played.events.position[event])
            earlier = int(np.searchsorted(stream.t, stream.t[e]))
            cut = {"stale": start, "causal": earlier, "position": e}[visibility]
            pair = int(played.asked.src[row]), int(played.asked.dst[row])
            expected = literal(stream, memory, 0.2, *pair, stream.t[e], cut, training_time)
            assert played.scores[row, 0].item() == expected
            held += expected
    assert held > 0


def test_the_blend_breaks_the_ties_of_recency_alone():
    stream = small_stream(events=400)
    protocol = Protocol(negatives_known=True)
    scores = {
        model: evaluate(stage, stage.predictor.model.init_state(), Phase("test")).scores[:, 0]
        for model in ("recency", "popularity", "blend")
        for stage in [Stage.prepare(stream, "link", model, {}, protocol)]
    }
    later = scores["recency"][:, None] > scores["recency"][None, :]
    assert (scores["blend"][:, None] > scores["blend"][None, :])[later].all()
    assert len(np.unique(scores["blend"])) >= len(np.unique(scores["recency"]))
    assert scores["popularity"].min() >= 0


def test_without_weights_fitting_is_measuring(tmp_path):
    run = fit(small_stream(), model="edgebank", protocol=Protocol(negatives_known=True, epochs=50))
    assert run.results["parameters"] == 0
    assert len(run.history) == 1
    for _ in range(2):
        again = fit(
            small_stream(),
            model="edgebank",
            protocol=Protocol(negatives_known=True, epochs=50),
            folder=tmp_path,
        )
        assert again.results["test"] == run.results["test"]


def test_mistakes_are_named():
    stream = small_stream()
    with pytest.raises(CtanError, match="did you mean 'infinite'"):
        fit(stream, model="edgebank", options={"memory": "infinit"})
    with pytest.raises(CtanError, match="expected a share of time"):
        fit(stream, model="edgebank", options={"ratio": 2.0})
    labelled = EventStream.from_arrays(src=stream.src, dst=stream.dst, t=stream.t, y=stream.dst % 3)
    with pytest.raises(ProtocolError, match="use a model that learns"):
        fit(labelled, model="edgebank", task="edge")


@pytest.mark.data
@needs["wikipedia"]
def test_the_eight_windows_of_the_paper_on_wikipedia():
    records = list(reproduce.edgebank("wikipedia", ROOT))
    assert [record["window"] for record in records] == [
        "1%", "5%", "10%", "25%", "50%", "75%", "100%", "inf",
    ]  # fmt: skip
    assert [record["auc"] for record in records] == [record["paper"] for record in records]


@pytest.mark.data
@needs["mooc"]
def test_the_column_of_mooc_is_that_of_the_validation_part():
    records = list(reproduce.edgebank("mooc", ROOT))
    assert [record["val_auc"] for record in records] == [record["paper"] for record in records]
    assert [record["equals_paper"] for record in records] == ["val_auc"] * 8


@pytest.mark.data
@needs["wikipedia"]
def test_the_rows_of_tgbl_wiki_to_four_decimals():
    records = list(reproduce.edgebank("tgbl-wiki", ROOT))
    found = [(r["settings"]["visibility"], r["window"], round(r["mrr"], 4)) for r in records]
    assert found == [
        ("stale", "inf", 0.4947),
        ("stale", "tw", 0.5710),
        ("causal", "inf", 0.5250),
        ("causal", "tw-ts", 0.6325),
        ("causal", "re", 0.6589),
        ("causal", "th", 0.5281),
        ("position", "inf", 0.5250),
        ("position", "tw-ts", 0.6325),
        ("position", "re", 0.6588),
        ("position", "th", 0.5281),
    ]
    for record in records:
        if record["settings"]["visibility"] == "position":
            assert record["mrr"] == pytest.approx(record["paper"], abs=5.1e-5)
        if record["leaderboard"] is not None:
            assert round(record["mrr"], 3) == record["leaderboard"]
