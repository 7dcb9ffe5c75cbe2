"""Histories as sequences: what DyGFormer and TCL read of each asked node."""

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
    def of(cls, view: View) -> Sequences:
        """Read the sequences of a view's asked entries, one hop deep."""
        own = np.arange(view.asked)[:, None]
        entry = np.concatenate([own, view.hood.slot], axis=1)
        present = F.pad(view.present, (1, 0), value=True)
        elapsed = F.pad(view.time[: view.asked, None] - view.edge_time, (1, 0))
        dtype = torch.get_default_dtype()
        msg, x = None, None
        if view.msg is not None:
            msg = F.pad(view.msg.to(dtype), (0, 0, 1, 0)) * present[..., None]
        if view.x is not None:
            at = torch.from_numpy(entry).to(view.features.device, non_blocking=True)
            x = view.x[at].to(dtype) * present[..., None]
        count = view.hood.count[: view.asked] + 1
        return cls(view.nodes[entry], count, present, elapsed * present, msg, x)


def in_parts(
    embed: Callable[[IntArray, IntArray], tuple[Tensor, Tensor]],
    pairs: tuple[IntArray, IntArray],
    size: int,
) -> tuple[Tensor, Tensor]:
    """Embed pairs a few at a time: a thousand candidates then cost no more memory than a few.

    Args:
        embed: embeddings ``[p, d]`` of sources and destinations, given the entries of both.
        pairs: the entries of all sources and destinations, ``[P]`` each.
        size: pairs at a time.

    Example:
        >>> embed = lambda src, dst: (torch.from_numpy(src), torch.from_numpy(dst))
        >>> in_parts(embed, (np.arange(3), np.arange(3) + 5), size=2)
        (tensor([0, 1, 2]), tensor([5, 6, 7]))
    """
    src, dst = pairs
    if len(src) <= size:
        return embed(src, dst)
    parts = [embed(src[i : i + size], dst[i : i + size]) for i in range(0, len(src), size)]
    z_src, z_dst = zip(*parts, strict=True)
    return torch.cat(z_src), torch.cat(z_dst)
