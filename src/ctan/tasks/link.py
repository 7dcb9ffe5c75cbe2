"""Future link prediction: will this pair meet now?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ctan.errors import ProtocolError
from ctan.events import EventStream, Split
from ctan.history import Batch, Candidates, RandomNegatives
from ctan.models import Asked, Events
from ctan.tasks.base import PHASES, Phase, Task
from ctan.tasks.metrics import ap, auc
from ctan.tasks.protocol import Protocol

#: Negatives that are drawn from what the source met before.
FROM_THE_PAST = ("historical", "inductive")


class LinkPrediction(Task):
    """Tell each event's destination from one that did not occur.

    Random negatives are drawn as the paper draws them: from the destinations (or nodes) seen in
    training while training, in training and validation while validating, and anywhere while
    testing; a known edge of the splits so far is not drawn unless the protocol says so. The
    protocol may ask for others in evaluation: see :class:`ctan.history.Candidates`. A draw depends
    on the seed, the epoch and the event, not on batch boundaries.

    Args:
        stream: the whole stream.
        split: its parts.
        protocol: the rule of the negatives and their seed.

    Example:
        >>> from ctan.events import split_by_count
        >>> stream = EventStream.from_arrays(src=[0] * 8, dst=range(1, 9), t=range(8))
        >>> task = LinkPrediction(stream, split_by_count(stream), Protocol(negatives_known=True))
        >>> task.observe_first
        False
    """

    name = "link"
    outputs = 1
    observe_first = False
    metrics = (auc, ap)
    about_interactions = True

    def __init__(self, stream: EventStream, split: Split, protocol: Protocol) -> None:
        self.protocol = protocol
        types = node_types(stream, protocol)
        self.negatives = {
            phase: RandomNegatives(
                stream,
                pool_end=end if protocol.negative_scope == "so_far" else split.end,
                known_end=end,
                reject=not protocol.negatives_known,
                pool=protocol.negative_pool,
                types=types,
                seed=protocol.seed,
            )
            for phase, end in zip(PHASES, (split.train_end, split.val_end, split.end), strict=True)
        }
        self.candidates = (
            Candidates(
                stream,
                protocol.negative_pool,
                train_end=split.train_end,
                types=types,
                seed=protocol.seed,
            )
            if protocol.negatives in FROM_THE_PAST
            else None
        )

    def ask(self, stream: EventStream, batch: Batch, events: Events, phase: Phase) -> Asked:
        """Each event's own pair, then its source with a negative destination."""
        row = np.arange(len(events.src))
        if self.candidates is None or phase.training:
            by_row = self.protocol.negative_draw == "row" and not phase.training
            drawn = self.negatives[phase.name].sample(
                events.src,
                row if by_row else events.position,
                phase.epoch,
                like=events.dst,
                at=events.position,
            )
        else:
            drawn = self.candidates.sample(events.position, 1, self.protocol.negatives).node
        return Asked(
            src=np.concatenate([events.src, events.src]),
            dst=np.concatenate([events.dst, drawn[:, 0]]),
            event=np.concatenate([row, row]),
        )

    def labels(self, stream: EventStream, events: Events, asked: Asked) -> NDArray[Any]:
        """One for the events, zero for the negatives."""
        return np.repeat([1, 0], len(events.src))

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Binary cross-entropy."""
        return F.binary_cross_entropy_with_logits(scores[:, 0], labels.to(scores.dtype))


def node_types(stream: EventStream, protocol: Protocol) -> NDArray[np.int64] | None:
    """The type of each node ``[N]``, from the column of features that the protocol names.

    Example:
        >>> stream = EventStream.from_arrays(src=[0], dst=[1], t=[0], x=[[0.5, 2], [0.1, 7]])
        >>> node_types(stream, Protocol(node_type=1))
        array([2, 7])
    """
    column = protocol.node_type
    if column < 0:
        return None
    if stream.x is None or column >= stream.x.shape[1]:
        has = 0 if stream.x is None else stream.x.shape[1]
        raise ProtocolError(
            f"node_type={column}: the nodes of this stream have {has} features. Name the column "
            f"that holds their type{f', 0 to {has - 1}' if has else ''}, or -1 for no types."
        )
    found = stream.x[:, column]
    if (found < 0).any() or (found != np.floor(found)).any():
        first = int(np.flatnonzero((found < 0) | (found != np.floor(found)))[0])
        raise ProtocolError(
            f"node_type={column}: a type is a whole number of 0 or more, but node {first} has "
            f"{found[first]:g} there."
        )
    return found.astype(np.int64)
