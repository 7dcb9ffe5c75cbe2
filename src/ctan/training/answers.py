"""What a model answered to each question of a part, in arrays that say what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ctan.errors import ProtocolError, unknown_name
from ctan.models import PairScorer
from ctan.tasks import Kept
from ctan.training.stage import Stage

FORMS = ("logits", "probabilities")


def answers(stage: Stage, kept: Kept, form: str = "logits") -> dict[str, NDArray[Any]]:
    """The answers to the questions of a part, named by what they are.

    Args:
        stage: what was played.
        kept: what evaluation kept of the part.
        form: ``logits``, or ``probabilities``: the sigmoid of one logit, the softmax of several.

    Returns:
        ``event`` (positions in the stream), ``t`` (their times), ``label``, and one of ``logit`` or
        ``probability`` (``[Q]``, or ``[Q, classes]``); ``number`` for regression, ``score`` for a
        rule that has no logits, and ``rank`` with ``candidates`` instead of a label for ranking.

    Example:
        >>> from ctan.events import EventStream
        >>> from ctan.tasks import Protocol
        >>> stream = EventStream.from_arrays(src=[0, 1] * 20, dst=[2, 3] * 20, t=range(40))
        >>> stage = Stage.prepare(stream, "link", "popularity", {}, Protocol(negatives_known=True))
        >>> kept = Kept(np.zeros((2, 1)), np.array([1, 0]), np.array([38, 38]))
        >>> sorted(answers(stage, kept))
        ['event', 'label', 'score', 't']
    """
    if form not in FORMS:
        raise unknown_name("form of scores", form, FORMS)
    about = {"event": kept.event, "t": stage.stream.t[kept.event]}
    if stage.task.answers_with == "rank":
        return {**about, "rank": kept.scores[:, 0], "candidates": kept.labels}
    about["label"] = kept.labels
    scores = kept.scores[:, 0] if kept.scores.shape[1] == 1 else kept.scores
    rule = isinstance(stage.predictor.model, PairScorer)
    if form == "logits":
        return {**about, "score" if rule else stage.task.answers_with: scores}
    if rule or stage.task.answers_with != "logit":
        what = "a rule gives scores" if rule else f"task {stage.task.name!r} gives numbers"
        raise ProtocolError(f"there are no probabilities: {what}. Use logits, which names them so.")
    logit = torch.from_numpy(np.ascontiguousarray(scores))
    probability = logit.sigmoid() if logit.ndim == 1 else logit.softmax(1)
    return {**about, "probability": probability.numpy()}
