"""Compiled loops of the fused attention: one target at a time, tables read by index.

A neighbour's row has three parts, ``h[slot]``, ``table[event]`` and ``attr``; each part has its own
query and its own pooled sum. The loops touch the rows where they stand: nothing of size
``[T, K, d]`` is ever made. Shapes: H heads, T targets, K slots, M nodes, E rows of the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Sums may be regrouped (and so run in vector registers), but NaN and infinity keep their meaning.
_jit = njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"}
)


@_jit
def attend_forward(
    query: tuple[Floats, Floats, Floats],
    rows: tuple[Floats, Floats, Floats],
    where: tuple[Int64, Int64, Bools],
    keep: Floats,
    alpha: Floats,
    pooled: tuple[Floats, Floats, Floats],
    mass: Floats,
) -> None:
    """Softmax over the present slots of ``query . row``, and the pooled rows.

    Args:
        query: of the three parts, scaled, ``[H, T, d]``, ``[H, T, dm]``, ``[H, T, da]``.
        rows: ``h [M, d]``, ``table [E, dm]``, ``attr [T, K, da]``.
        where: ``slot [T, K]`` in h, ``event [T, K]`` in table, and which are present ``[T, K]``.
        keep: factor of dropout per slot, ``[H, T, K]``, or of size 0.
        alpha: written: attention before dropout, ``[H, T, K]``.
        pooled: written: sums of the weighted rows, shaped as ``query``.
        mass: written: sum of the weights, ``[H, T]``.
    """
    h, table, attr = rows
    slot, event, present = where
    heads, targets, d = query[0].shape
    dm, da, slots = table.shape[1], attr.shape[2], slot.shape[1]
    zero = h.dtype.type(0)
    for head in range(heads):
        q_h, q_table, q_attr = query[0][head], query[1][head], query[2][head]
        p_h, p_table, p_attr = pooled[0][head], pooled[1][head], pooled[2][head]
        for t in range(targets):
            a = alpha[head, t]
            top = -h.dtype.type(np.inf)
            for j in range(slots):
                a[j] = zero
                if present[t, j]:
                    v, score = slot[t, j], zero
                    for i in range(d):
                        score += q_h[t, i] * h[v, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            score += q_table[t, i] * table[e, i]
                    for i in range(da):
                        score += q_attr[t, i] * attr[t, j, i]
                    a[j] = score
                    top = max(top, score)
            total = zero
            for j in range(slots):
                if present[t, j]:
                    a[j] = np.exp(a[j] - top)
                    total += a[j]
            p_h[t] = zero
            p_table[t] = zero
            p_attr[t] = zero
            weight_sum = zero
            for j in range(slots):
                if present[t, j]:
                    a[j] /= total
                    weight = a[j] * keep[head, t, j] if keep.size else a[j]
                    weight_sum += weight
                    v = slot[t, j]
                    for i in range(d):
                        p_h[t, i] += weight * h[v, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            p_table[t, i] += weight * table[e, i]
                    for i in range(da):
                        p_attr[t, i] += weight * attr[t, j, i]
            mass[head, t] = weight_sum


@_jit
def attend_backward(
    query: tuple[Floats, Floats, Floats],
    rows: tuple[Floats, Floats, Floats],
    where: tuple[Int64, Int64, Bools],
    keep: Floats,
    alpha: Floats,
    grad_pooled: tuple[Floats, Floats, Floats],
    grad_mass: Floats,
    grad_query: tuple[Floats, Floats, Floats],
    grad_rows: tuple[Floats, Floats, Floats],
) -> None:
    """Gradients of :func:`attend_forward`; the last two arguments must come zeroed.

    Args:
        query: as in the forward pass.
        rows: likewise.
        where: likewise.
        keep: likewise.
        alpha: as the forward pass wrote it.
        grad_pooled: gradients of ``pooled``.
        grad_mass: gradient of ``mass``, ``[H, T]``.
        grad_query: added to: gradients of ``query``.
        grad_rows: added to: gradients of ``rows``, those not wanted of size 0.
    """
    h, table, attr = rows
    slot, event, present = where
    grad_h, grad_table, grad_attr = grad_rows
    heads, targets, d = query[0].shape
    dm, da, slots = table.shape[1], attr.shape[2], slot.shape[1]
    grad_alpha = np.zeros(slots, h.dtype)
    for head in range(heads):
        q_h, q_table, q_attr = query[0][head], query[1][head], query[2][head]
        g_h, g_table, g_attr = grad_pooled[0][head], grad_pooled[1][head], grad_pooled[2][head]
        gq_h, gq_table, gq_attr = grad_query[0][head], grad_query[1][head], grad_query[2][head]
        for t in range(targets):
            a = alpha[head, t]
            mean = h.dtype.type(0)
            for j in range(slots):
                if present[t, j]:
                    v, grad = slot[t, j], grad_mass[head, t]
                    for i in range(d):
                        grad += g_h[t, i] * h[v, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            grad += g_table[t, i] * table[e, i]
                    for i in range(da):
                        grad += g_attr[t, i] * attr[t, j, i]
                    if keep.size:
                        grad *= keep[head, t, j]
                    grad_alpha[j] = grad
                    mean += grad * a[j]
            for j in range(slots):
                if present[t, j]:
                    weight = a[j] * keep[head, t, j] if keep.size else a[j]
                    slope = a[j] * (grad_alpha[j] - mean)
                    v = slot[t, j]
                    for i in range(d):
                        gq_h[t, i] += slope * h[v, i]
                    if grad_h.size:
                        for i in range(d):
                            grad_h[v, i] += weight * g_h[t, i] + slope * q_h[t, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            gq_table[t, i] += slope * table[e, i]
                        if grad_table.size:
                            for i in range(dm):
                                grad_table[e, i] += weight * g_table[t, i] + slope * q_table[t, i]
                    for i in range(da):
                        gq_attr[t, i] += slope * attr[t, j, i]
                    if grad_attr.size:
                        for i in range(da):
                            grad_attr[t, j, i] += weight * g_attr[t, i] + slope * q_attr[t, i]
