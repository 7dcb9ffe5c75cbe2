"""TGM's CTAN and TGN (tgm-lib), trained as its own examples do, edges in the paper's direction.

Its neighbour hook samples one hop whatever the number of steps, so only one step is comparable.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn


class _Loader:
    """Batches of TGM with neighbours and negatives, and its local numbering of nodes."""

    def __init__(
        self, src: np.ndarray, dst: np.ndarray, t: np.ndarray, msg: np.ndarray,
        batch: int, neighbors: int,
    ) -> None:  # fmt: skip
        from tgm import DGraph
        from tgm.data import DGData, DGDataLoader
        from tgm.hooks import HookManager, NegativeEdgeSamplerHook, RecencyNeighborHook

        self.nodes, self.neighbors = int(max(src.max(), dst.max())) + 1, neighbors
        graph = DGraph(
            DGData.from_raw(
                edge_time=torch.from_numpy(np.array(t)),
                edge_index=torch.from_numpy(np.stack([src, dst], 1).astype(np.int32)),
                edge_x=torch.from_numpy(np.array(msg)),
            )
        )
        self.hooks = HookManager(keys=["train"])
        self.hooks.register("train", NegativeEdgeSamplerHook(int(dst.min()), int(dst.max())))
        self.hooks.register_shared(
            RecencyNeighborHook(
                num_nodes=self.nodes,
                num_nbrs=[neighbors],
                seed_nodes_keys=["edge_src", "edge_dst", "neg"],
                seed_times_keys=["edge_time", "edge_time", "neg_time"],
            )
        )
        self.batches = DGDataLoader(graph, batch_size=batch, hook_manager=self.hooks)

    def epoch(self, step: Callable[..., Tensor]) -> float:
        """Call ``step(events, unique, local, edge_index, times, features)`` for each batch."""
        from tgm.constants import PADDED_NODE_ID

        self.hooks.reset_state("train")
        loss = torch.zeros(())
        with self.hooks.activate("train"):
            for events in self.batches:
                seeds = torch.cat([events.edge_src, events.edge_dst, events.neg])
                found = events.nbr_nids[0].flatten()
                present = found != PADDED_NODE_ID
                unique = torch.unique(torch.cat([seeds, found[present]]))
                local = lambda ids, unique=unique: torch.searchsorted(unique, ids)  # noqa: E731
                targets = seeds.repeat_interleave(self.neighbors)[present]
                edge_index = torch.stack([local(found[present]), local(targets)])
                times = events.nbr_edge_time[0].flatten()[present]
                features = events.nbr_edge_x[0].flatten(0, -2).float()[present]
                loss = step(events, unique.long(), local, edge_index, times, features)
        return float(loss.detach())


def ctan_epoch(
    src: np.ndarray, dst: np.ndarray, t: np.ndarray, msg: np.ndarray, *,
    dim: int, batch: int, neighbors: int, elapsed: tuple[float, float],
) -> Callable[[], float]:  # fmt: skip
    """A function that trains TGM's CTAN for one epoch and returns the last loss."""
    from tgm.nn import LinkPredictor
    from tgm.nn.encoder import CTAN, CTANMemory, LastAggregator

    loader = _Loader(src, dst, t, msg, batch, neighbors)
    memory = CTANMemory(loader.nodes, dim, LastAggregator())
    encoder = CTAN(
        msg.shape[1], dim, 16, 0, 1,
        mean_delta_t=elapsed[0], std_delta_t=elapsed[1], epsilon=0.5, gamma=0.1,
    )  # fmt: skip
    decoder = LinkPredictor(node_dim=dim, hidden_dim=dim, merge_op="sum")
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-4)

    def step(events, unique, local, edge_index, times, features) -> Tensor:  # type: ignore[no-untyped-def]
        optimiser.zero_grad()
        h, last = memory(unique)
        z = encoder(h, last, edge_index, times, features)
        z_src, z_dst = z[local(events.edge_src)], z[local(events.edge_dst)]
        loss = _loss(decoder, z_src, z_dst, z[local(events.neg)])
        memory.update_state(
            events.edge_src.long(), events.edge_dst.long(), events.edge_time, z_src, z_dst
        )
        loss.backward()
        optimiser.step()
        memory.detach()
        return loss

    def epoch() -> float:
        memory.reset_state()
        return loader.epoch(step)

    return epoch


def tgn_epoch(
    src: np.ndarray, dst: np.ndarray, t: np.ndarray, msg: np.ndarray, *,
    dim: int, batch: int, neighbors: int,
) -> Callable[[], float]:  # fmt: skip
    """A function that trains TGM's TGN for one epoch and returns the last loss.

    Two heads of ``dim`` units side by side, as in the other references.
    """
    from tgm.nn import LinkPredictor, TGNMemory
    from tgm.nn.encoder import GraphAttentionEmbedding, IdentityMessage, LastAggregator

    loader = _Loader(src, dst, t, msg, batch, neighbors)
    width = msg.shape[1]
    memory = TGNMemory(
        loader.nodes, width, dim, 16, IdentityMessage(width, dim, 16), LastAggregator()
    )
    encoder = GraphAttentionEmbedding(dim, 2 * dim, width, memory.time_enc)
    decoder = LinkPredictor(node_dim=2 * dim, hidden_dim=2 * dim, merge_op="sum")
    parameters = {*memory.parameters(), *encoder.parameters(), *decoder.parameters()}
    optimiser = torch.optim.Adam(parameters, lr=1e-4)

    def step(events, unique, local, edge_index, times, features) -> Tensor:  # type: ignore[no-untyped-def]
        optimiser.zero_grad()
        z, last = memory(unique)
        z = encoder(z, last, edge_index, times, features)
        z_src, z_dst = z[local(events.edge_src)], z[local(events.edge_dst)]
        loss = _loss(decoder, z_src, z_dst, z[local(events.neg)])
        memory.update_state(
            events.edge_src.long(), events.edge_dst.long(), events.edge_time, events.edge_x.float()
        )
        loss.backward()
        optimiser.step()
        memory.detach()
        return loss

    def epoch() -> float:
        memory.train()
        memory.reset_state()
        return loader.epoch(step)

    return epoch


def _loss(decoder: nn.Module, z_src: Tensor, z_dst: Tensor, z_neg: Tensor) -> Tensor:
    criterion = nn.functional.binary_cross_entropy_with_logits
    positive, negative = decoder(z_src, z_dst), decoder(z_src, z_neg)
    return criterion(positive, torch.ones_like(positive)) + criterion(
        negative, torch.zeros_like(negative)
    )
