"""Metrics against the packages that define them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from ctan.errors import CtanError
from ctan.tasks import accuracy, ap, auc, confusion, hits, loss, macro_f1, mae, mrr, ranks, rmse


def one_vs_many(seed, questions=37, candidates=50, levels=4):
    """Scores of so few levels that most are ties."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, levels, questions).astype(np.float32)
    others = rng.integers(0, levels, (questions, candidates)).astype(np.float32)
    return own, others


def ranked(own, others):
    against = torch.arange(len(own)).repeat_interleave(others.shape[1])
    return ranks(torch.tensor(own), torch.tensor(others.ravel()), against).numpy()[:, None]


@pytest.mark.parametrize("levels", [2, 4, 1000])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_ranks_are_those_of_tgb_to_the_last_digit(k, levels):
    evaluator = pytest.importorskip("tgb.linkproppred.evaluate").Evaluator("tgbl-wiki", k_value=k)
    for seed in range(20):
        own, others = one_vs_many(seed, levels=levels)
        given = {"y_pred_pos": own, "y_pred_neg": others, "eval_metric": ["mrr"]}
        theirs = evaluator.eval(given)
        ours = ranked(own, others)
        assert mrr.compute(ours, own) == float(theirs["mrr"])
        assert hits(k).compute(ours, own) == float(theirs[f"hits@{k}"])


@given(st.integers(0, 2**32 - 1))
def test_a_rank_is_the_mean_of_best_and_worst(seed):
    own, others = one_vs_many(seed, questions=5, candidates=8)
    for row, rank in enumerate(ranked(own, others)[:, 0]):
        best = 1 + sum(score > own[row] for score in others[row])
        worst = 1 + sum(score >= own[row] for score in others[row])
        assert rank == (best + worst) / 2


def test_questions_may_have_different_numbers_of_candidates():
    found = ranks(
        torch.tensor([1.0, 1.0, 1.0]),
        torch.tensor([2.0, 0.0, 1.0, 3.0]),
        torch.tensor([0, 0, 2, 2]),
    )
    assert found.tolist() == [2.0, 1.0, 2.5]


@given(st.integers(0, 2**32 - 1), st.sampled_from(["float32", "float64", "bfloat16"]))
def test_candidates_stand_in_any_order_and_number(seed, dtype):
    draw = np.random.default_rng(seed)
    sizes = draw.choice([0, 1, 3, 63, 64, 65, 200], 4)
    against = np.repeat(np.arange(4), sizes)
    if seed % 2:
        draw.shuffle(against)
    own, others = (
        torch.from_numpy(draw.integers(0, 5, count)).to(getattr(torch, dtype))
        for count in (4, len(against))
    )
    found = ranks(own, others, torch.from_numpy(against))
    for question in range(4):
        of_question = others[torch.from_numpy(against == question)]
        above, equal = (of_question > own[question]).sum(), (of_question == own[question]).sum()
        assert found[question] == 1 + above + equal / 2


def test_what_is_not_a_number_has_no_rank():
    with pytest.raises(CtanError, match="not a number"):
        ranks(torch.tensor([float("nan")]), torch.tensor([1.0]), torch.tensor([0]))
    with pytest.raises(CtanError, match="not a number"):
        ranks(torch.tensor([1.0]), torch.tensor([float("nan")]), torch.tensor([0]))


def test_a_constant_score_is_ranked_in_the_middle():
    own, others = np.zeros(3, np.float32), np.zeros((3, 99), np.float32)
    assert ranked(own, others).tolist() == [[50.5]] * 3


def test_scikit_learn_computes_the_rest():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 9, (200, 1)).astype(np.float32)
    labels = rng.integers(0, 2, 200)
    assert auc.compute(scores, labels) == roc_auc_score(labels, scores[:, 0])
    assert ap.compute(scores, labels) == average_precision_score(labels, scores[:, 0])
    many, classes = rng.normal(size=(200, 4)), rng.integers(0, 3, 200)
    guessed = many.argmax(1)
    assert macro_f1.compute(many, classes) == f1_score(classes, guessed, average="macro")
    assert accuracy.compute(many, classes) == (guessed == classes).mean()
    table = np.zeros((4, 4), int)
    np.add.at(table, (classes, guessed), 1)
    assert confusion(many, classes) == table.tolist()
    numbers = rng.normal(size=200)
    assert mae.compute(scores, numbers) == pytest.approx(np.abs(scores[:, 0] - numbers).mean())
    assert rmse.compute(scores, numbers) == pytest.approx(
        np.sqrt(((scores[:, 0] - numbers) ** 2).mean())
    )


def test_a_metric_knows_its_direction():
    assert [m.name for m in (auc, ap, accuracy, macro_f1, mrr, hits(1)) if not m.maximise] == []
    assert [m.name for m in (loss, mae, rmse) if m.maximise] == []


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_has_no_area(label):
    """And nobody is warned of it by scikit-learn: warnings are errors here."""
    scores, labels = np.array([[0.1], [0.9]]), np.array([label, label])
    assert np.isnan(auc.compute(scores, labels))
    assert np.isnan(ap.compute(scores, labels))


def test_early_stopping_asks_the_metric():
    assert auc.better(0.6, 0.5)
    assert not auc.better(0.5, 0.5)
    assert mae.better(0.5, 0.6)
    assert not mae.better(0.6, 0.5)
    for metric in (auc, mae):
        assert metric.better(0.5, None)
        assert metric.better(0.5, float("nan"))
        assert not metric.better(float("nan"), 0.5)
