"""TGM's CTAN (tgm-lib), trained as its own example does, edges in the paper's direction.

Its neighbour hook samples one hop whatever the number of steps, so only one step is comparable.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn


def ctan_epoch(
    src: np.ndarray, dst: np.ndarray, t: np.ndarray, msg: np.ndarray, *,
    dim: int, batch: int, neighbors: int, elapsed: tuple[float, float],
) -> Callable[[], float]:  # fmt: skip
    """A function that trains TGM's CTAN for one epoch and returns the last loss."""
    from tgm import DGraph
    from tgm.constants import PADDED_NODE_ID
    from tgm.data import DGData, DGDataLoader
    from tgm.hooks import HookManager, NegativeEdgeSamplerHook, RecencyNeighborHook
    from tgm.nn import LinkPredictor
    from tgm.nn.encoder import CTAN, CTANMemory, LastAggregator

    nodes = int(max(src.max(), dst.max())) + 1
    graph = DGraph(
        DGData.from_raw(
            edge_time=torch.from_numpy(np.array(t)),
            edge_index=torch.from_numpy(np.stack([src, dst], 1).astype(np.int32)),
            edge_x=torch.from_numpy(np.array(msg)),
        )
    )
    hooks = HookManager(keys=["train"])
    hooks.register("train", NegativeEdgeSamplerHook(int(dst.min()), int(dst.max())))
    hooks.register_shared(
        RecencyNeighborHook(
            num_nodes=nodes,
            num_nbrs=[neighbors],
            seed_nodes_keys=["edge_src", "edge_dst", "neg"],
            seed_times_keys=["edge_time", "edge_time", "neg_time"],
        )
    )
    loader = DGDataLoader(graph, batch_size=batch, hook_manager=hooks)
    memory = CTANMemory(nodes, dim, LastAggregator())
    encoder = CTAN(
        msg.shape[1], dim, 16, 0, 1,
        mean_delta_t=elapsed[0], std_delta_t=elapsed[1], epsilon=0.5, gamma=0.1,
    )  # fmt: skip
    decoder = LinkPredictor(node_dim=dim, hidden_dim=dim, merge_op="sum")
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=1e-4)
    criterion = nn.functional.binary_cross_entropy_with_logits

    def epoch() -> float:
        memory.reset_state()
        hooks.reset_state("train")
        loss = torch.zeros(())
        with hooks.activate("train"):
            for events in loader:
                optimiser.zero_grad()
                seeds = torch.cat([events.edge_src, events.edge_dst, events.neg])
                found = events.nbr_nids[0].flatten()
                present = found != PADDED_NODE_ID
                unique = torch.unique(torch.cat([seeds, found[present]]))
                local = lambda ids, unique=unique: torch.searchsorted(unique, ids)  # noqa: E731
                targets = seeds.repeat_interleave(neighbors)[present]
                edge_index = torch.stack([local(found[present]), local(targets)])
                times = events.nbr_edge_time[0].flatten()[present]
                features = events.nbr_edge_x[0].flatten(0, -2).float()[present]
                h, last = memory(unique.long())
                z = encoder(h, last, edge_index, times, features)
                z_src, z_dst = z[local(events.edge_src)], z[local(events.edge_dst)]
                positive, negative = decoder(z_src, z_dst), decoder(z_src, z[local(events.neg)])
                loss = criterion(positive, torch.ones_like(positive)) + criterion(
                    negative, torch.zeros_like(negative)
                )
                memory.update_state(
                    events.edge_src.long(), events.edge_dst.long(), events.edge_time, z_src, z_dst
                )
                loss.backward()
                optimiser.step()
                memory.detach()
        return float(loss.detach())

    return epoch
