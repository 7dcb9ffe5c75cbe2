"""What a model may see when it is asked about some nodes: nothing but what the cut allows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from ctan.arrays import IntArray
from ctan.history import (
    Batch,
    CausalWalks,
    Neighborhood,
    PairIndex,
    TemporalIndex,
    TimeWindow,
    Walks,
    Window,
    neighborhood,
)
from ctan.models.batch import Asked, Events
from ctan.models.contacts import Contacts
from ctan.models.features import Features


@dataclass(frozen=True)
class Sees:
    """What a model declares that it must see of the past.

    Attributes:
        hops: how far from an asked node.
        neighbors: how many neighbours of each node.
        query_time: whether the time of the question matters; if it does not, a node asked about
            several times in a batch is embedded once.
        own_entry: whether an asked node must be told apart from the same node met as a neighbour
            (because inputs are injected at asked nodes only).
        contacts: whether the exact past of each asked pair is read.
        walks: the walks from each asked node, if any.
        window: the stretch of time in which the neighbours of each asked node are looked up, if
            any; it ends at the time of the question.

    Example:
        >>> Sees(hops=1, neighbors=5, query_time=True)
        Sees(hops=1, neighbors=5, query_time=True, own_entry=False, contacts=False, walks=None,
             window=None)
    """

    hops: int = 0
    neighbors: int = 1
    query_time: bool = False
    own_entry: bool = False
    contacts: bool = False
    walks: CausalWalks | None = None
    window: TimeWindow | None = None

    def __post_init__(self) -> None:
        if self.window is not None and not self.query_time:
            raise ValueError("a window of time ends at the time of the question: set query_time")


@dataclass(frozen=True)
class View:
    """What can be seen at a cut of some pairs and of the endpoints of a batch of events.

    Distinct nodes are *entries*, the asked ones first, then their neighbours hop by hop.

    Attributes:
        hood: the entries and their sampled neighbours.
        features: the feature tables.
        src: entries of the asked sources, ``[P]``.
        dst: entries of the asked destinations, ``[P]``.
        touched: entries of the events' distinct endpoints, ``[U]``.
        contacts: the past of the asked pairs, for models that declare to read it.
        walks: the walks from each asked entry, for models that declare them.
        window: the neighbours of each asked entry in the window of time, for models that declare
            one.
        observed: whether the batch's own events are among what is seen.
        known: what a model found out about the entries when it embedded them, for itself to use
            when it observes the same view.
    """

    hood: Neighborhood
    features: Features
    src: Tensor
    dst: Tensor
    touched: Tensor
    contacts: Contacts | None = None
    walks: Walks | None = None
    window: Window | None = None
    observed: bool = False
    known: dict[str, tuple[Tensor, ...]] = field(default_factory=dict, repr=False)

    @property
    def past(self) -> Contacts:
        """The past of the asked pairs."""
        if self.contacts is None:
            raise ValueError("this view was made without the past of its pairs")
        return self.contacts

    @property
    def nodes(self) -> IntArray:
        """Node of each entry, ``[M]``, on the CPU."""
        return self.hood.node

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of entries within 0, 1, ... hops of the asked ones."""
        return self.hood.sizes

    @property
    def asked(self) -> int:
        """Number of asked entries."""
        return self.hood.sizes[0]

    @property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """Entries of the asked sources and destinations, ``[P]`` each, on the CPU."""
        count = len(self.src)
        return self.hood.row[:count], self.hood.row[count : 2 * count]

    @property
    def ends(self) -> IntArray:
        """Entries of the events' distinct endpoints, ``[U]``, on the CPU."""
        return self.hood.row[2 * len(self.src) :]

    @cached_property
    def node(self) -> Tensor:
        """Node of each entry, ``[M]``, on the device."""
        return self._move(self.hood.node)

    @cached_property
    def slot(self) -> Tensor:
        """Entry of each neighbour, ``[T, K]``."""
        return self._move(self.hood.slot)

    @cached_property
    def event(self) -> Tensor:
        """Event through which each neighbour was met, ``[T, K]``."""
        return self._move(self.hood.event)

    @cached_property
    def count(self) -> Tensor:
        """Number of neighbours of each entry, ``[M]``."""
        return self._move(self.hood.count)

    @cached_property
    def present(self) -> Tensor:
        """Which slots hold a neighbour, ``[T, K]``."""
        slots = torch.arange(self.slot.size(1), device=self.slot.device)
        return slots < self.count[: self.slot.size(0), None]

    @cached_property
    def time(self) -> Tensor:
        """Time at which each entry is asked about, ``[M]``."""
        if self.hood.time is None:
            raise ValueError("this view was made without the time of the question")
        return self._move(self.hood.time)

    @cached_property
    def edge_time(self) -> Tensor:
        """Time of each neighbour's event, ``[T, K]``."""
        return self.features.t[self.event]

    @cached_property
    def feature_row(self) -> Tensor:
        """Row of ``features.x`` that holds for each entry at its cut, ``[M]``."""
        if self.features.nodes is None:
            return self.node
        return self._move(self.features.rows(self.hood.node, self.hood.cut))

    @cached_property
    def x(self) -> Tensor | None:
        """Node features of each entry, ``[M, dn]``, or None; in the precision of the weights."""
        if self.features.x is None:
            return None
        return self.features.x[self.feature_row].to(torch.get_default_dtype())

    @cached_property
    def msg(self) -> Tensor | None:
        """Features of each neighbour's event, ``[T, K, de]``, or None; precise as the weights."""
        if self.features.msg is None:
            return None
        return self.features.msg[self.event].to(torch.get_default_dtype())

    def _move(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(self.features.device, non_blocking=True)


def look(
    index: TemporalIndex,
    features: Features,
    sees: Sees,
    batch: Batch,
    events: Events,
    asked: Asked,
    *,
    observed: bool = False,
    strategy: str = "recent",
    seed: int = 0,
    pairs: PairIndex | None = None,
) -> View:
    """Gather what a model may see of a batch, before or after its events were observed.

    Args:
        index: who met whom.
        features: the feature tables.
        sees: what the model declares.
        batch: which events, and the cuts before and after them.
        events: the same events.
        asked: the pairs that the task asks about, each of an event of the batch.
        observed: whether the batch's own events are visible.
        strategy: ``recent`` or ``uniform`` neighbours.
        seed: of uniform sampling and of walks.
        pairs: the pairs' history, for models that see contacts.
    """
    cut = batch.after if observed else batch.cut
    row = events.row if events.within is None else events.within[events.row]
    at = np.concatenate([asked.event, asked.event, row])
    own_cut = cut if isinstance(cut, int) else cut[at]
    if not observed and events.renewed is not None and events.renewed.any():
        # A node event carries features in: what is stored of its node is made with them.
        own_cut = np.broadcast_to(own_cut, len(at)).copy()
        renewed = 2 * len(asked) + np.flatnonzero(events.renewed)
        after = batch.after
        own_cut[renewed] = after if isinstance(after, int) else after[at[renewed]]
    hood = neighborhood(
        index,
        np.concatenate([asked.src, asked.dst, events.touched]),
        own_cut,
        k=sees.neighbors,
        hops=sees.hops,
        time=index.t[batch.events[at]] if sees.query_time else None,
        strategy=strategy,
        seed=seed,
        # Before an event an asked node's input is its own affair; once it is observed, its
        # endpoints carry their inputs for every neighbour to see.
        own_entry=sees.own_entry and not observed,
    )
    entry = torch.from_numpy(hood.row).to(features.device, non_blocking=True)
    contacts = None
    if sees.contacts:
        assert pairs is not None
        cuts = np.array([cut]) if isinstance(cut, int) else cut[asked.event]
        now = index.t[batch.events[asked.event]]
        contacts = Contacts(asked.src, asked.dst, now, cuts, index, pairs)
    walks, window = None, None
    node, node_cut = hood.node[: hood.sizes[0]], hood.cut[: hood.sizes[0]]
    if sees.walks is not None:
        walks = sees.walks.sample(index, node, node_cut, seed)
    if sees.window is not None and hood.time is not None:
        window = sees.window.look(index, node, node_cut, hood.time[: hood.sizes[0]])
    n = len(asked)
    src, dst, touched = entry[:n], entry[n : 2 * n], entry[2 * n :]
    return View(hood, features, src, dst, touched, contacts, walks, window, observed)
