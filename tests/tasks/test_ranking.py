"""Ranking: batched scores equal one pair at a time, for every family of models and protocol."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ctan.datasets.negatives import all_other_destinations
from ctan.errors import CtanError, ProtocolError
from ctan.events import EventStream, split_by_count, split_by_time
from ctan.history import Candidates
from ctan.models import Asked, look
from ctan.nn import kernels, readout
from ctan.tasks import Phase, Protocol, Ranking
from ctan.training import (
    Stage,
    evaluate,
    fit,
    load_run,
    loop,
    measure_test,
    play,
    sources,
    under,
)


def stream_of(events=160, seed=0):
    rng = np.random.default_rng(seed)
    return EventStream.from_arrays(
        src=rng.integers(0, 8, events),
        dst=rng.integers(8, 20, events),
        t=np.sort(rng.integers(0, 400, events)),
        msg=rng.normal(size=(events, 3)).astype(np.float32),
    )


def built(model, protocol, seed=0, **options):
    torch.manual_seed(seed)
    ready = Stage.prepare(stream_of(), "ranking", model, options, protocol)
    ready.predictor.eval()
    return ready


MODELS = [
    ("ctan", {"dim": 6}),
    ("tgat", {"dim": 6}),
    ("jodie", {"dim": 6}),
    ("edgebank", {"memory": "tw"}),
    ("blend", {}),
]


@pytest.mark.parametrize("visibility", ["stale", "causal", "position"])
@pytest.mark.parametrize(("model", "options"), MODELS)
def test_many_at_once_are_one_by_one(model, options, visibility, monkeypatch):
    monkeypatch.setattr(loop, "PAIRS_AT_ONCE", 13)
    # Plain layers, a few pairs at a time; the kernels are compared with these elsewhere.
    monkeypatch.setattr(readout, "PAIR_BLOCK", 7)
    monkeypatch.setattr(kernels, "usable", lambda *_: False)
    protocol = Protocol(visibility=visibility, batch_size=9, negatives_known=True)
    ready = built(model, protocol, **options)
    encoder, index = ready.predictor.model, ready.index
    phase = Phase("test")
    state = encoder.init_state()
    compared = 0
    for batch in ready.stretch(0, len(ready.stream)):
        before = encoder.init_state().load({k: v.clone() for k, v in state.tensors().items()})
        (played,) = play(ready, state, [[batch]], phase)
        state = played.state
        asked = played.asked
        for row in range(0, len(asked), 11):
            one = Asked(asked.src[[row]], asked.dst[[row]], asked.event[[row]])
            with torch.no_grad():
                view = look(
                    index, ready.features, encoder.sees, batch, played.events, one,
                    pairs=ready.pairs,
                )  # fmt: skip
                alone, _ = ready.predictor.score(before, view)
            torch.testing.assert_close(alone[0], played.scores[row], atol=1e-6, rtol=1e-5)
            compared += 1
    assert compared > 50


def test_every_candidate_is_ranked_and_the_counts_are_kept():
    ready = built("edgebank", Protocol(negatives_known=True))
    kept = evaluate(ready, ready.predictor.model.init_state(), Phase("test")).kept
    part = ready.parts.test
    ptr, _ = Candidates(ready.stream, seed=0).every(np.arange(part.start, part.stop))
    assert kept.event.tolist() == list(range(part.start, part.stop))
    assert kept.labels.tolist() == np.diff(ptr).tolist()
    assert ((kept.scores[:, 0] >= 1) & (kept.scores[:, 0] <= kept.labels + 1)).all()


@pytest.mark.parametrize("kind", ["random", "historical", "inductive"])
def test_drawn_candidates_do_not_depend_on_batches(kind):
    found = []
    for size in (5, 50):
        protocol = Protocol(
            negatives=kind, candidates=4, batch_size=size, visibility="causal", negatives_known=True
        )
        ready = built("recency", protocol)
        kept = evaluate(ready, ready.predictor.model.init_state(), Phase("test")).kept
        assert (kept.labels == 4).all()
        found.append(kept.scores)
    assert (found[0] == found[1]).all()


class Fixed:
    """The same two candidates for every event."""

    def of(self, positions):
        return np.arange(len(positions) + 1) * 2, np.tile([8, 9], len(positions))


def test_fixed_lists_are_used_as_they_are():
    stream = stream_of()
    listed = Protocol(negatives_known=True, negatives="listed")
    task = Ranking(stream, split_by_count(stream), listed, {"test": Fixed()})
    ready = built("edgebank", Protocol(negatives_known=True))
    batch = next(iter(ready.stretch(150, 160)))
    (played,) = play(
        Stage(**{**vars(ready), "task": task}),
        ready.predictor.model.init_state(),
        [[batch]],
        Phase("test"),
    )
    assert played.asked.dst[10:].tolist() == [8, 9] * 10
    assert played.asked.event[10:].tolist() == np.repeat(np.arange(10), 2).tolist()


LISTED = Protocol(negatives_known=True, negatives="listed", epochs=1, batch_size=40)


def test_a_run_against_lists_is_loaded_with_them(tmp_path):
    stream, lists = stream_of(), {"val": Fixed(), "test": Fixed()}
    given = {"task": "ranking", "options": {"dim": 6}, "protocol": LISTED}
    run = fit(stream, **given, lists=lists, folder=tmp_path)
    assert "negatives as listed" in run.results["summary"]
    again = load_run(tmp_path, data=stream, lists=lists)
    assert measure_test(again.stage, again.state)["test"] == run.results["test"]
    assert under(run, LISTED, lists=lists)["test"] == run.results["test"]
    with pytest.raises(ProtocolError, match="come with none"):
        load_run(tmp_path, data=stream)
    with pytest.raises(ProtocolError, match="come with none"):
        fit(stream, **given)
    with pytest.raises(ProtocolError, match="are for task 'ranking'"):
        fit(stream, **{**given, "task": "link"})
    with pytest.raises(ProtocolError, match="no lists of candidates for the val part"):
        fit(stream, **given, lists={"test": Fixed()})


def test_lists_that_a_data_set_publishes_are_found_by_its_record(monkeypatch):
    stream = stream_of()
    parts = split_by_time(stream)
    lists = {
        name: all_other_destinations(stream, getattr(parts, name), np.unique(stream.dst))
        for name in ("val", "test")
    }

    def load(name, **options):
        assert (name, options) == ("tgbl-coin", {"features": False})
        return SimpleNamespace(negatives=lists)

    monkeypatch.setattr(sources.datasets, "load", load)
    record = {"name": "tgbl-coin", "options": {"features": False}}
    given = {"task": "ranking", "options": {"dim": 6}}
    listed = fit(stream, **given, protocol=LISTED, data=record)
    drawn = fit(stream, **given, protocol=LISTED.with_(negatives="random"), data=record)
    assert listed.results["test"] == drawn.results["test"]  # TGB's rule for tgbl-wiki, made twice


def test_a_ranking_run_trains_and_selects_by_mrr():
    protocol = Protocol(epochs=2, lr=1e-2, negatives_known=True, batch_size=40)
    run = fit(stream_of(), task="ranking", options={"dim": 6}, protocol=protocol)
    assert run.results["test"]["mrr"] > 0
    best = max(run.history, key=lambda record: record["val"]["mrr"])
    assert run.results["best_epoch"] == best["epoch"]
    views = run.results["views"]
    part = run.stage.parts.test
    assert sum(view["questions"] for view in views.values()) == part.stop - part.start


def test_mistakes_are_named():
    with pytest.raises(ProtocolError, match="say how many to draw"):
        fit(stream_of(), task="ranking", protocol=Protocol(negatives="historical"))
    with pytest.raises(ProtocolError, match="the answer would be known"):
        fit(stream_of(), task="ranking", protocol=Protocol(order="after"))
    broken = built("ctan", Protocol(negatives_known=True), dim=4)
    with torch.no_grad():
        broken.predictor.readout.final.bias.fill_(float("nan"))
    with pytest.raises(CtanError, match="not a number"):
        evaluate(broken, broken.predictor.model.init_state(), Phase("test"))
