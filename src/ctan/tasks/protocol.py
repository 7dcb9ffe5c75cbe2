"""How a result was obtained, as a value that is stored with it and printed beside it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ctan.errors import CtanError, ProtocolError, unknown_name

_CHOICES: dict[str, tuple[Any, ...]] = {
    "split": ("time", "count", "graph"),
    "visibility": ("stale", "causal", "position"),
    "update_from": ("scored", "observed"),
    "neighbors": ("recent", "uniform"),
    "negative_pool": ("destinations", "nodes"),
    "readout": ("dst", "pair"),
    "order": ("task", "before", "after"),
    "negatives": ("random", "historical", "inductive", "listed"),
    "negative_scope": ("so_far", "stream"),
    "negative_draw": ("event", "row"),
    "averaging": ("split", "batch"),
    "class_weights": ("none", "balanced"),
}


@dataclass(frozen=True)
class Protocol:
    """Everything about a run that is neither the data nor the model.

    Attributes:
        split: ``time`` (quantiles of time), ``count`` (of events) or ``graph`` (of graphs).
        visibility: ``stale`` (a batch sees the past before the batch), ``causal`` (an event
            sees every event of strictly earlier time), or ``position`` (every event before it in
            the stream, which leaks among events of one time).
        update_from: what a model stores: the embedding ``scored``, or one computed once the event
            is ``observed``. Tasks that observe first store what they observed.
        neighbors: ``recent`` or ``uniform`` sampling.
        readout: ``dst`` or ``pair``.
        order: whether a question is answered ``before`` its event is observed or ``after``, or as
            the ``task`` has it. Links are always asked for before.
        negatives: in evaluation, negatives are ``random``, ``historical`` (destinations that the
            source met before), ``inductive`` (met before, but not in training) or, in ranking,
            ``listed`` (fixed lists: published with a data set, or given).
        negative_pool: negatives are drawn from the ``destinations`` or from all ``nodes``.
        negative_scope: the pool holds what occurs in the splits ``so_far``, or in the whole
            ``stream`` (while training too, as TGB has it). Known edges are those so far either way.
        negatives_known: whether a known edge may be drawn as a random negative.
        negative_draw: random negatives of evaluation are named by the ``event``, or by its ``row``
            in the batch (the paper's code: each batch gets the same list).
        node_type: which column of the node features holds a type, as a whole number; negatives and
            candidates then have the type of the event's destination. -1: nodes have no types.
        candidates: in ranking, how many negatives each event is ranked against; 0 for every other
            destination.
        averaging: metrics over the whole ``split``, or as the mean over its batches (``batch``).
        class_weights: of the loss of classification: ``none``, or ``balanced``.
        through_time: gradients flow through windows of so many batches, one step of the optimiser
            each: a number (0 and 1: none flows from batch to batch), or ``all``.
        batch_size: events per batch.
        graph_batch: graphs per batch, where the stream is a union of graphs.
        seed: of weights, negatives, order and dropout.
        epochs: at most this many.
        lr: Adam's learning rate.
        weight_decay: Adam's weight decay.
        plateau: epochs without improvement after which the learning rate is halved (0: never).
        patience: epochs without improvement after which training stops (0: never).
        validate_every: epochs between validations.
        clip: largest norm of the gradient (0: any).

    Example:
        >>> Protocol(epochs=3).through_time
        0
    """

    split: str = "time"
    visibility: str = "stale"
    update_from: str = "scored"
    neighbors: str = "recent"
    readout: str = "pair"
    order: str = "task"
    negatives: str = "random"
    negative_pool: str = "destinations"
    negative_scope: str = "so_far"
    negatives_known: bool = False
    negative_draw: str = "event"
    node_type: int = -1
    candidates: int = 0
    averaging: str = "split"
    class_weights: str = "none"
    through_time: int | str = 0
    batch_size: int = 256
    graph_batch: int = 128
    seed: int = 0
    epochs: int = 10
    lr: float = 1e-4
    weight_decay: float = 1e-6
    plateau: int = 0
    patience: int = 0
    validate_every: int = 1
    clip: float = 0.0

    def __post_init__(self) -> None:
        """Check every field, and name all that are wrong at once."""
        wrong = []
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                wrong.append(str(unknown_name(name, str(getattr(self, name)), known)))
        for name in ("batch_size", "graph_batch", "epochs", "validate_every"):
            if getattr(self, name) < 1:
                wrong.append(f"{name} is {getattr(self, name)}: expected at least 1.")
        for name in ("plateau", "patience", "weight_decay", "clip", "lr", "candidates"):
            if getattr(self, name) < 0:
                wrong.append(f"{name} is {getattr(self, name)}: expected at least 0.")
        if self.node_type < -1:
            wrong.append(f"node_type is {self.node_type}: expected a column, or -1 for no types.")
        if not 0 <= self.seed < 2**63:
            wrong.append(f"seed is {self.seed}: expected a number from 0 to 2**63 - 1.")
        horizon = self.through_time
        if horizon != "all" and (not isinstance(horizon, int) or horizon < 0):
            wrong.append(f"through_time is {horizon!r}: expected 0, a number of batches, or 'all'.")
        if wrong:
            raise ProtocolError("\n".join(wrong))

    @property
    def horizon(self) -> float:
        """``through_time`` as a number."""
        return float("inf") if self.through_time == "all" else float(self.through_time)

    def summary(self) -> str:
        """What a reader must know to compare a number: printed beside each result.

        Example:
            >>> print(Protocol().summary())
            split time, visibility stale, update scored, neighbours recent, readout pair,
            negatives destinations without known edges, gradients through 0 batches, batch 256
            events, seed 0
        """
        known = "with" if self.negatives_known else "without"
        drawn = "" if self.negatives == "random" else f"{self.negatives} "
        pool = self.negative_pool + (" of the stream" if self.negative_scope == "stream" else "")
        if self.negatives == "listed":
            drawn = "as listed, in training "
        # What few runs change is said where it was changed.
        also = {
            "order": f"answered {self.order}",
            "node_type": f"of the destination's type (node feature {self.node_type})",
            "candidates": f"{self.candidates} candidates",
            "averaging": f"averaged by {self.averaging}",
            "class_weights": f"{self.class_weights} classes",
            "negative_draw": f"draws by {self.negative_draw}",
        }
        rest = "".join(
            f", {text}" for name, text in also.items() if getattr(self, name) != _DEFAULT[name]
        )
        by_graph = self.split == "graph"
        batch = f"{self.graph_batch} graphs" if by_graph else f"{self.batch_size} events"
        return (
            f"split {self.split}, visibility {self.visibility}, update {self.update_from}, "
            f"neighbours {self.neighbors}, readout {self.readout}, negatives "
            f"{drawn}{pool} {known} known edges, gradients through {self.through_time} "
            f"batches, batch {batch}{rest}, seed {self.seed}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields, for a run folder."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Protocol:
        """The protocol of a run folder; unknown fields are named."""
        return cls().with_(**given)

    def with_(self, **changes: Any) -> Protocol:
        """The same with some fields changed; unknown ones are named.

        Example:
            >>> Protocol().with_(epoch=3)
            Traceback (most recent call last):
            ...
            ctan.errors.CtanError: unknown protocol field 'epoch': did you mean 'epochs'? ...
        """
        known = {field.name for field in fields(self)}
        wrong = [
            str(unknown_name("protocol field", key, known)) for key in changes if key not in known
        ]
        if wrong:
            raise CtanError("\n".join(wrong))
        return replace(self, **changes)


_DEFAULT = {field.name: field.default for field in fields(Protocol)}
