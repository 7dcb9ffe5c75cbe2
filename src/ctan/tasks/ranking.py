"""One-vs-many ranking: which of many destinations is it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol as Interface

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ctan.errors import CtanError, ProtocolError
from ctan.events import EventStream, Split
from ctan.history import Batch, Candidates
from ctan.models import Asked, Events
from ctan.tasks._ranks import count_ranks
from ctan.tasks.base import Kept, Phase, Task
from ctan.tasks.link import FROM_THE_PAST, LinkPrediction, node_types
from ctan.tasks.metrics import hits, mrr
from ctan.tasks.protocol import Protocol

Int64 = NDArray[np.int64]


class Lists(Interface):
    """Fixed candidates, such as those that a benchmark publishes."""

    def of(self, positions: Int64) -> tuple[Int64, NDArray[np.integer]]:
        """Of the events at ``positions [B]``: ``ptr [B + 1]`` and all their candidates."""


class Ranking(Task):
    """Rank each event's destination among candidates that its source does not meet at that time.

    It trains as link prediction does, on one negative an event; in evaluation each event is ranked
    among every other destination, or candidates drawn by the protocol's rule, or fixed ones.

    Args:
        stream: the whole stream.
        split: its parts.
        protocol: how many candidates, by which rule, and their seed.
        lists: fixed candidates by phase (``val``, ``test``), for ``negatives="listed"``.

    Example:
        >>> from ctan.events import split_by_count
        >>> stream = EventStream.from_arrays(src=[0] * 8, dst=range(1, 9), t=range(8))
        >>> task = Ranking(stream, split_by_count(stream), Protocol(negatives_known=True))
        >>> [metric.name for metric in task.metrics]
        ['mrr', 'hits@1', 'hits@3', 'hits@10']
    """

    name = "ranking"
    outputs = 1
    observe_first = False
    metrics = (mrr, hits(1), hits(3), hits(10))
    about_interactions = True
    answers_with = "rank"

    def __init__(
        self,
        stream: EventStream,
        split: Split,
        protocol: Protocol,
        lists: Mapping[str, Lists] | None = None,
    ) -> None:
        self.link = LinkPrediction(stream, split, protocol)
        self.count, self.kind = protocol.candidates, protocol.negatives
        self.lists: Mapping[str, Lists] = lists or {}
        if self.kind == "listed" and not self.lists:
            raise ProtocolError(
                "negatives='listed' ranks against lists of candidates, and these events come with "
                "none. Take a data set that publishes them (tgbl-review, tgbl-coin, tgbl-comment), "
                "give lists (--negatives FILE of `ctan evaluate`), or say negatives='random'."
            )
        if self.kind in FROM_THE_PAST and not self.count:
            raise ProtocolError(
                f"negatives {self.kind!r} are drawn, and candidates=0 ranks against every other "
                "destination: say how many to draw, such as candidates=100."
            )
        self.candidates = Candidates(
            stream,
            protocol.negative_pool,
            train_end=split.train_end,
            types=node_types(stream, protocol),
            seed=protocol.seed,
        )

    def ask(self, stream: EventStream, batch: Batch, events: Events, phase: Phase) -> Asked:
        """Each event's own pair, then its source with each of its candidates, event by event."""
        if phase.training:
            return self.link.ask(stream, batch, events, phase)
        if self.kind == "listed":
            if phase.name not in self.lists:
                raise ProtocolError(f"there are no lists of candidates for the {phase.name} part.")
            ptr, node = self.lists[phase.name].of(events.position)
        elif self.count:
            drawn = self.candidates.sample(events.position, self.count, self.kind)
            ptr, node = np.arange(len(events.src) + 1) * self.count, drawn.node.ravel()
        else:
            ptr, node = self.candidates.every(events.position)
        row = np.arange(len(events.src))
        against = np.repeat(row, np.diff(ptr))
        return Asked(
            src=np.concatenate([events.src, events.src[against]]),
            dst=np.concatenate([events.dst, node.astype(np.int64)]),
            event=np.concatenate([row, against]),
        )

    def labels(self, stream: EventStream, events: Events, asked: Asked) -> Int64:
        """One for the events, zero for what they are ranked against."""
        labels = np.zeros(len(asked), np.int64)
        labels[: len(events.src)] = 1
        return labels

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Binary cross-entropy."""
        return F.binary_cross_entropy_with_logits(scores[:, 0], labels.to(scores.dtype))

    def keep(self, scores: Tensor, labels: Tensor, asked: Asked) -> Kept:
        """The rank of each event, and the number of its candidates."""
        events = int(asked.event.max(initial=-1)) + 1
        against = torch.from_numpy(asked.event[events:]).to(scores.device)
        found = ranks(scores[:events, 0], scores[events:, 0], against)
        count = np.bincount(asked.event[events:], minlength=events)
        return Kept(found.cpu().numpy()[:, None], count, np.arange(events))


def ranks(own: Tensor, others: Tensor, against: Tensor) -> Tensor:
    """Ranks ``[B]`` of scores ``own [B]`` among ``others [S]``, ties at the mean of best and worst.

    Args:
        own: the score of each answer.
        others: the scores it is ranked against, of all questions.
        against: which question each of them belongs to, ``[S]``.

    Raises:
        CtanError: a score is not a number, which would rank first.

    Example:
        >>> ranks(torch.tensor([2.0]), torch.tensor([3.0, 2.0, 2.0, 1.0]), torch.zeros(4).long())
        tensor([3.], dtype=torch.float64)
    """
    if own.is_cpu and own.dtype == others.dtype and own.dtype in (torch.float32, torch.float64):
        found, diverged = count_ranks(*(x.contiguous().numpy() for x in (own, others, against)))
        ranked = torch.from_numpy(found)
    else:
        diverged = bool(torch.isnan(own).any() | torch.isnan(others).any())
        mark = own[against]
        above = torch.bincount(against[others > mark], minlength=len(own))
        equal = torch.bincount(against[others == mark], minlength=len(own))
        ranked = 1.0 + above.double() + 0.5 * equal.double()
    if diverged:
        raise CtanError(
            "a score is not a number (NaN), so it has no rank: the model has diverged. Train with "
            "a smaller learning rate, or clip gradients (clip=1)."
        )
    return ranked
