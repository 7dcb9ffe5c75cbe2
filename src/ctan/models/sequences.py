"""Histories as sequences, and pairs a few at a time: what the pair encoders share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ctan.arrays import IntArray
from ctan.models.view import View


@dataclass(frozen=True)
class Sequences:
    """The latest events of each of A asked entries: the node itself, then the most recent first.

    Attributes:
        node: the nodes, ``[A, S]``, on the CPU; anything where absent.
        count: how many places hold one, at least 1, ``[A]``, on the CPU.
        present: which places hold one, ``[A, S]``.
        elapsed: time from each event to the question, ``[A, S]``, in the stream's own precision;
            0 at the node itself and where absent.
        msg: event features, ``[A, S, de]``, or None; 0 at the node itself and where absent.
        x: node features, ``[A, S, dn]``, or None; 0 where absent.
    """

    node: IntArray
    count: IntArray
    present: Tensor
    elapsed: Tensor
    msg: Tensor | None
    x: Tensor | None

    @classmethod
    def of(cls, view: View, entries: IntArray) -> Sequences:
        """Read the sequences of asked ``entries [A]`` of a view that is one hop deep."""
        hood, features = view.hood, view.features
        assert hood.time is not None
        device, dtype = features.device, torch.get_default_dtype()
        node = hood.node[np.concatenate([entries[:, None], hood.slot[entries]], axis=1)]
        count = hood.count[entries] + 1
        places = torch.arange(node.shape[1], device=device)
        present = places < on(count, device)[:, None]
        event = on(hood.event[entries], device)
        elapsed = F.pad(on(hood.time[entries], device)[:, None] - features.t[event], (1, 0))
        msg, x = None, None
        if features.msg is not None:
            msg = F.pad(features.msg[event].to(dtype), (0, 0, 1, 0)) * present[..., None]
        if features.x is not None:
            x = features.x[on(node, device)].to(dtype) * present[..., None]
        return cls(node, count, present, elapsed * present, msg, x)


def in_parts(
    embed: Callable[[IntArray, IntArray, IntArray], tuple[Tensor, Tensor]],
    pairs: tuple[IntArray, IntArray],
    size: int,
) -> tuple[Tensor, Tensor]:
    """Embed pairs a few at a time: a thousand candidates then cost no more memory than a few.

    Args:
        embed: given the distinct entries of some pairs, and the rows among these of their sources
            and destinations, the embeddings ``[p, d]`` of both.
        pairs: the entries of all sources and destinations, ``[P]`` each.
        size: pairs at a time.

    Example:
        >>> def embed(entries, src, dst):
        ...     return torch.from_numpy(entries[src]), torch.from_numpy(entries[dst])
        >>> in_parts(embed, (np.array([0, 0, 3]), np.array([7, 5, 0])), size=2)
        (tensor([0, 0, 3]), tensor([7, 5, 0]))
    """
    parts = []
    for start in range(0, max(1, len(pairs[0])), size):
        src, dst = (ends[start : start + size] for ends in pairs)
        entries, row = np.unique(np.concatenate([src, dst]), return_inverse=True)
        parts.append(embed(entries, row[: len(src)], row[len(src) :]))
    z_src, z_dst = zip(*parts, strict=True)
    return torch.cat(z_src), torch.cat(z_dst)


def on(array: np.ndarray, device: torch.device) -> Tensor:
    """An array of the CPU on a device."""
    return torch.from_numpy(array).to(device, non_blocking=True)
