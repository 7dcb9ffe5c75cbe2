"""The temporal edges that reach a set of nodes, as the layers read them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class Incoming:
    """The sampled temporal neighbours of the first ``T`` of ``M`` nodes, padded to ``K`` slots.

    Attributes:
        slot: row among the ``M`` nodes of each neighbour, ``[T, K]``; anything where absent.
        present: which slots hold a neighbour, ``[T, K]``.
        count: number of neighbours of every node, also of those whose slots are not here, ``[M]``.
        attr: edge attributes, ``[T, K, da]``; anything where absent.
        self_attr: attributes of the edge from a node to itself, ``[T, de]``, if the layer that
            reads this counts a node among its own neighbours.
        table: further attributes that stand in a table of events, ``[E, dm]``, before ``attr``:
            then ``de = dm + da``. Fused layers read the table by event, without a copy.
        event: row of that table for each neighbour, ``[T, K]``; anything where absent.
        projected: whether the table went through the edge map of the layer that reads it.

    Example:
        Node 0 met node 1 twice; node 1's neighbours are not asked for.

        >>> edges = Incoming(
        ...     slot=torch.tensor([[1, 1]]),
        ...     present=torch.tensor([[True, True]]),
        ...     count=torch.tensor([2, 2]),
        ...     attr=torch.zeros(1, 2, 3),
        ... )
        >>> edges.targets
        1
    """

    slot: Tensor
    present: Tensor
    count: Tensor
    attr: Tensor
    self_attr: Tensor | None = None
    table: Tensor | None = None
    event: Tensor | None = None
    projected: bool = False

    @property
    def attributes(self) -> Tensor:
        """All edge attributes side by side, ``[T, K, de]``."""
        if self.table is None or self.event is None:
            return self.attr
        return torch.cat([self.table[self.event].to(self.attr.dtype), self.attr], dim=-1)

    @property
    def targets(self) -> int:
        """Number of nodes whose neighbours are listed."""
        return self.slot.size(0)

    def first(self, rows: int) -> Incoming:
        """The same for the first ``rows`` nodes only, as views."""
        if rows == self.targets:
            return self
        return replace(
            self,
            slot=self.slot[:rows],
            present=self.present[:rows],
            attr=self.attr[:rows],
            self_attr=None if self.self_attr is None else self.self_attr[:rows],
            event=None if self.event is None else self.event[:rows],
        )

    def with_self(self) -> Incoming:
        """The same with one more slot, in which every node is its own neighbour.

        Raises:
            ValueError: there are no attributes for the edge from a node to itself.
        """
        if self.self_attr is None:
            raise ValueError("include_self needs `self_attr`, the attributes of a node's own edge")
        own = torch.arange(self.targets, device=self.slot.device).unsqueeze(1)
        return replace(
            self,
            slot=torch.cat([self.slot, own], dim=1),
            present=torch.cat([self.present, torch.ones_like(own, dtype=torch.bool)], dim=1),
            count=self.count + 1,
            attr=torch.cat([self.attributes, self.self_attr.unsqueeze(1)], dim=1),
            self_attr=None,
            table=None,
            event=None,
        )
