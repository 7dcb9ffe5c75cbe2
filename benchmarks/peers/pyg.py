"""References assembled from PyTorch Geometric's parts, batch by batch as the paper's code does.

What helps the reference is left in (negatives come from one vectorised draw; nothing is logged or
checkpointed), so a ratio against it is no flattery.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import AntiSymmetricConv, TransformerConv
from torch_geometric.nn.models.tgn import (
    IdentityMessage,
    LastAggregator,
    LastNeighborLoader,
    TGNMemory,
    TimeEncoder,
)


class LinkPredictor(nn.Module):
    """The two-layer readout of a pair."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.lin_src, self.lin_dst = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.lin_final = nn.Linear(dim, 1)

    def forward(self, z_src: Tensor, z_dst: Tensor) -> Tensor:
        return self.lin_final((self.lin_src(z_src) + self.lin_dst(z_dst)).relu())


class CTAN(nn.Module):
    """Memory of embeddings, encoder, AntiSymmetricConv round TransformerConv, tanh."""

    def __init__(
        self, nodes: int, edge_dim: int, node_dim: int, dim: int, time_dim: int, steps: int,
        epsilon: float, gamma: float, elapsed: tuple[float, float],
    ) -> None:  # fmt: skip
        super().__init__()
        self.memory = torch.zeros(nodes, dim)
        self.last_update = torch.zeros(nodes, dtype=torch.long)
        self.mean, self.std = elapsed
        self.encoder = nn.Linear(dim + node_dim, dim)
        self.time = TimeEncoder(time_dim)
        phi = TransformerConv(dim, dim, edge_dim=edge_dim + time_dim, root_weight=False)
        self.conv = AntiSymmetricConv(dim, phi, steps, epsilon, gamma)

    def forward(
        self, n_id: Tensor, x: Tensor | None, edge_index: Tensor, t: Tensor, msg: Tensor
    ) -> Tensor:
        h = self.memory[n_id] if x is None else torch.cat([self.memory[n_id], x[n_id]], dim=-1)
        last = self.last_update[n_id]
        elapsed = ((last[edge_index[0]] - t).abs().float() - self.mean) / self.std
        attr = torch.cat([msg, self.time(elapsed)], dim=-1)
        return torch.tanh(self.conv(self.encoder(h), edge_index, attr))

    def update(self, nodes: Tensor, values: Tensor, t: Tensor) -> None:
        self.memory[nodes] = values.detach()
        self.last_update[nodes] = t

    def reset(self) -> None:
        self.memory.zero_()
        self.last_update.zero_()


class GraphAttention(nn.Module):
    """PyG's TGN embedding: one TransformerConv with two heads of ``dim`` units side by side."""

    def __init__(self, dim: int, msg_dim: int, time: nn.Module) -> None:
        super().__init__()
        self.time = time
        edge_dim = msg_dim + time.out_channels
        self.conv = TransformerConv(dim, dim, heads=2, dropout=0.1, edge_dim=edge_dim)

    def forward(
        self, x: Tensor, last: Tensor, edge_index: Tensor, t: Tensor, msg: Tensor
    ) -> Tensor:
        elapsed = (last[edge_index[0]] - t).to(x.dtype)
        return self.conv(x, edge_index, torch.cat([self.time(elapsed), msg], dim=-1))


class Stream:
    """The columns of a training split as tensors."""

    def __init__(self, src: np.ndarray, dst: np.ndarray, t: np.ndarray, msg: np.ndarray) -> None:
        self.src, self.dst, self.t = (torch.from_numpy(np.array(c)) for c in (src, dst, t))
        self.msg = torch.from_numpy(np.array(msg))
        self.nodes = int(max(src.max(), dst.max())) + 1
        self.pool = self.dst.unique()

    def batches(self, size: int) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor, Tensor]]:
        for lo in range(0, len(self.src), size):
            part = slice(lo, lo + size)
            src, dst = self.src[part], self.dst[part]
            negative = self.pool[torch.randint(len(self.pool), (len(src),))]
            yield src, dst, negative, self.t[part], self.msg[part]


def _neighbors(
    loader: LastNeighborLoader, n_id: Tensor, hops: int
) -> tuple[Tensor, Tensor, Tensor]:
    for _ in range(hops):
        n_id, edge_index, e_id = loader(n_id)
    return n_id, edge_index, e_id


def _loss(predictor: LinkPredictor, z: Tensor, src: Tensor, dst: Tensor, neg: Tensor) -> Tensor:
    positive, negative = predictor(z[src], z[dst]), predictor(z[src], z[neg])
    criterion = nn.functional.binary_cross_entropy_with_logits
    return criterion(positive, torch.ones_like(positive)) + criterion(
        negative, torch.zeros_like(negative)
    )


def ctan_epoch(
    stream: Stream,
    *,
    dim: int,
    steps: int,
    batch: int,
    neighbors: int,
    elapsed: tuple[float, float],
) -> Callable[[], float]:
    """A function that trains CTAN for one epoch and returns the last loss."""
    model = CTAN(stream.nodes, stream.msg.size(1), 0, dim, 16, steps, 0.5, 0.1, elapsed)
    predictor = LinkPredictor(dim)
    optimiser = torch.optim.Adam([*model.parameters(), *predictor.parameters()], lr=1e-4)
    loader = LastNeighborLoader(stream.nodes, size=neighbors)
    assoc = torch.empty(stream.nodes, dtype=torch.long)

    def epoch() -> float:
        model.reset()
        loader.reset_state()
        for src, dst, neg, t, _ in stream.batches(batch):
            optimiser.zero_grad()
            n_id, edge_index, e_id = _neighbors(loader, torch.cat([src, dst, neg]).unique(), steps)
            assoc[n_id] = torch.arange(len(n_id))
            z = model(n_id, None, edge_index, stream.t[e_id], stream.msg[e_id])
            loss = _loss(predictor, z, assoc[src], assoc[dst], assoc[neg])
            # The released code's update: stored embedding and last time of both endpoints.
            nodes, times = torch.cat([src, dst]), torch.cat([t, t])
            model.update(nodes, z[assoc[nodes]], times)
            loader.insert(src, dst)
            loss.backward()
            optimiser.step()
        return float(loss.detach())

    return epoch


def tgn_epoch(
    stream: Stream, *, dim: int, batch: int, neighbors: int
) -> Callable[[], float]:  # fmt: skip
    """A function that trains PyG's TGN for one epoch and returns the last loss."""
    msg_dim = stream.msg.size(1)
    memory = TGNMemory(
        stream.nodes, msg_dim, dim, 16,
        message_module=IdentityMessage(msg_dim, dim, 16),
        aggregator_module=LastAggregator(),
    )  # fmt: skip
    gnn, predictor = GraphAttention(dim, msg_dim, memory.time_enc), LinkPredictor(2 * dim)
    parameters = {*memory.parameters(), *gnn.parameters(), *predictor.parameters()}
    optimiser = torch.optim.Adam(parameters, lr=1e-4)
    loader = LastNeighborLoader(stream.nodes, size=neighbors)
    assoc = torch.empty(stream.nodes, dtype=torch.long)

    def epoch() -> float:
        memory.train()
        memory.reset_state()
        loader.reset_state()
        for src, dst, neg, t, msg in stream.batches(batch):
            optimiser.zero_grad()
            n_id, edge_index, e_id = loader(torch.cat([src, dst, neg]).unique())
            assoc[n_id] = torch.arange(len(n_id))
            z, last = memory(n_id)
            z = gnn(z, last, edge_index, stream.t[e_id], stream.msg[e_id])
            loss = _loss(predictor, z, assoc[src], assoc[dst], assoc[neg])
            memory.update_state(src, dst, t, msg)
            loader.insert(src, dst)
            loss.backward()
            optimiser.step()
            memory.detach()
        return float(loss.detach())

    return epoch


def ranking_one_by_one(
    stream: Stream,
    judge: Any,
    candidates: np.ndarray,
    *,
    dim: int,
    neighbors: int,
    start: int,
    elapsed: tuple[float, float],
) -> Callable[[np.ndarray], float]:
    """A function that ranks some events as TGB's examples do, and returns their mean MRR.

    Args:
        stream: all events.
        judge: py-tgb's evaluator.
        candidates: the destinations.
        dim: size of the states.
        neighbors: sampler size.
        start: what came before this position is in the loader.
        elapsed: mean and deviation of the times between a node's events.
    """
    model = CTAN(stream.nodes, stream.msg.size(1), 0, dim, 16, 1, 0.5, 0.1, elapsed)
    model.memory.normal_(std=0.1)
    predictor = LinkPredictor(dim)
    loader = LastNeighborLoader(stream.nodes, size=neighbors)
    loader.insert(stream.src[:start], stream.dst[:start])
    assoc = torch.empty(stream.nodes, dtype=torch.long)
    pool = torch.from_numpy(candidates)
    met: dict[tuple[int, int], list[int]] = {}
    for u, v, t in zip(*(c.tolist() for c in (stream.src, stream.dst, stream.t)), strict=True):
        met.setdefault((u, t), []).append(v)

    @torch.no_grad()
    def rank(events: np.ndarray) -> float:
        mrr = []
        for e in events.tolist():
            src, t = stream.src[e], stream.t[e]
            known = torch.tensor(met[int(src), int(t)])
            dst = torch.cat([stream.dst[e : e + 1], pool[~torch.isin(pool, known)]])
            n_id, edge_index, e_id = loader(torch.cat([src[None], dst]).unique())
            assoc[n_id] = torch.arange(len(n_id))
            z = model(n_id, None, edge_index, stream.t[e_id], stream.msg[e_id])
            scores = predictor(z[assoc[src.expand(len(dst))]], z[assoc[dst]])
            asked = {"y_pred_pos": scores[:1, 0], "y_pred_neg": scores[1:, 0][None]}
            mrr.append(judge.eval({**asked, "eval_metric": ["mrr"]})["mrr"])
        return float(np.mean(mrr))

    return rank


def path_epoch(
    x: np.ndarray, msg: np.ndarray, label: np.ndarray, *, dim: int, neighbors: int = 5
) -> Callable[[int], float]:
    """A function that trains CTAN on the first so many path graphs, one event at a time.

    Args:
        x: node features, ``[graphs, length, dn]``.
        msg: edge features, ``[graphs, length - 1, de]``.
        label: ``[graphs]``.
        dim: size of the states.
        neighbors: sampler size.
    """
    _, length, node_dim = x.shape
    # Sized for one graph and cleared between graphs: the whole union would only be slower.
    model = CTAN(length, msg.shape[2], node_dim, dim, 1, 1, 1.0, 0.1, (0.0, 1.0))
    readout = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))
    optimiser = torch.optim.Adam([*model.parameters(), *readout.parameters()], lr=1e-3)
    features, messages = torch.from_numpy(x), torch.from_numpy(msg)
    times = torch.arange(length - 1)
    targets = torch.from_numpy(label).float()
    loader = LastNeighborLoader(length, size=neighbors)
    empty = model.memory

    def epoch(count: int) -> float:
        for graph in range(count):
            model.memory = empty
            model.last_update.zero_()
            loader.reset_state()
            for step in range(length - 1):
                src, dst = torch.tensor([step]), torch.tensor([step + 1])
                ends = torch.cat([src, dst])
                loader.insert(src, dst)
                n_id, edge_index, e_id = loader(ends)
                z = model(n_id, features[graph], edge_index, times[e_id], messages[graph][e_id])
                # Gradients flow through time: the memory is replaced, not written.
                model.memory = model.memory.index_copy(0, ends, z[torch.searchsorted(n_id, ends)])
                model.last_update[ends] = step
            loss = nn.functional.binary_cross_entropy_with_logits(
                readout(model.memory[dst])[:, 0], targets[graph : graph + 1]
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        return float(loss.detach())

    return epoch
