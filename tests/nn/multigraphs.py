"""Random multigraphs as edge lists, and the same as padded slots."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ctan.nn import Incoming


@dataclass
class Multigraph:
    """Edges ``source -> target``; the sources are the targets' neighbours."""

    nodes: int
    source: Tensor
    target: Tensor
    attr: Tensor
    self_attr: Tensor

    def edge_index(self, include_self: bool) -> Tensor:
        """As PyG has it, the edge from each node to itself written out where it counts."""
        own = torch.arange(self.nodes if include_self else 0)
        return torch.stack([torch.cat([self.source, own]), torch.cat([self.target, own])])

    def edge_attr(self, include_self: bool) -> Tensor:
        return torch.cat([self.attr, self.self_attr]) if include_self else self.attr

    def incoming(self) -> Incoming:
        """The slots of every node, one edge after the other; junk where there is none."""
        neighbours: list[list[int]] = [[] for _ in range(self.nodes)]
        for edge in range(len(self.target)):
            neighbours[int(self.target[edge])].append(edge)
        widest = max(1, *(len(edges) for edges in neighbours))
        slot = torch.full((self.nodes, widest), self.nodes - 1)
        present = torch.zeros(self.nodes, widest, dtype=torch.bool)
        rows = []
        for u, edges in enumerate(neighbours):
            for j in range(widest):
                if j < len(edges):
                    slot[u, j] = self.source[edges[j]]
                    present[u, j] = True
                    rows.append(self.attr[edges[j]])
                else:
                    rows.append(torch.full_like(self.self_attr[0], 77.0))
        attr = torch.stack(rows).view(self.nodes, widest, -1)
        count = torch.tensor([len(edges) for edges in neighbours])
        return Incoming(slot, present, count, attr, self.self_attr)


def random_multigraph(
    seed: int, dtype: torch.dtype, edge_dim: int = 3, nodes: int = 11, edges: int = 30
) -> Multigraph:
    """Repeated edges, self-loops, a hub, nodes that are no neighbour and nodes that have none."""
    draw = torch.Generator().manual_seed(seed)
    source = torch.randint(0, nodes - 1, (edges,), generator=draw)
    target = torch.randint(2, nodes, (edges,), generator=draw)
    target[: edges // 3] = 2
    source[:3] = 2
    source[-3:], target[-3:] = 4, 5
    attr = torch.randn(edges, edge_dim, generator=draw, dtype=dtype)
    self_attr = torch.randn(nodes, edge_dim, generator=draw, dtype=dtype)
    return Multigraph(
        nodes, source, target, attr.requires_grad_(edge_dim > 0), self_attr.requires_grad_()
    )
