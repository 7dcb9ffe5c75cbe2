"""Compiled loops of the fused attention: one target at a time, tables read by index.

A neighbour's row has three parts, ``h[slot]``, ``table[event]`` and ``attr``, and a query has three
parts side by side to match, ``D = d + dm + da``. The loops touch the rows where they stand: nothing
of size ``[T, K, D]`` is ever made. H heads, T targets, K slots, M nodes, E rows of the table.
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


@njit(cache=True, nogil=True)
def _parts(row: Floats, d: int, dm: int) -> tuple[Floats, Floats, Floats]:
    # Sliced once per target: an index such as [d + i] would keep the inner loops from vectors.
    return row[:d], row[d : d + dm], row[d + dm :]


@_jit
def attend_forward(
    query: Floats,
    rows: tuple[Floats, Floats, Floats],
    where: tuple[Int64, Int64, Bools],
    keep: Floats,
    alpha: Floats,
    pooled: Floats,
    mass: Floats,
) -> None:
    """Softmax over the present slots of ``query . row``, and the pooled rows.

    Args:
        query: projected and scaled, ``[H, T, D]``; further rows are left alone.
        rows: ``h [M, d]``, ``table [E, dm]``, ``attr [T, K, da]``.
        where: ``slot [T, K]`` in h, ``event [T, K]`` in table, and which are present ``[T, K]``.
        keep: factor of dropout per slot, ``[H, T, K]``, or of size 0.
        alpha: written: attention before dropout, ``[H, T, K]``.
        pooled: written: sum of the weighted rows, ``[H, T, D]``.
        mass: written: sum of the weights, ``[H, T]``.
    """
    h, table, attr = rows
    slot, event, present = where
    heads, targets = query.shape[0], slot.shape[0]
    d, dm, da, slots = h.shape[1], table.shape[1], attr.shape[2], slot.shape[1]
    zero = h.dtype.type(0)
    for head in range(heads):
        for t in range(targets):
            a, out = alpha[head, t], pooled[head, t]
            q_h, q_table, q_attr = _parts(query[head, t], d, dm)
            p_h, p_table, p_attr = _parts(out, d, dm)
            top = -h.dtype.type(np.inf)
            for j in range(slots):
                a[j] = zero
                if present[t, j]:
                    v, score = slot[t, j], zero
                    for i in range(d):
                        score += q_h[i] * h[v, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            score += q_table[i] * table[e, i]
                    for i in range(da):
                        score += q_attr[i] * attr[t, j, i]
                    a[j] = score
                    top = max(top, score)
            total = zero
            for j in range(slots):
                if present[t, j]:
                    a[j] = np.exp(a[j] - top)
                    total += a[j]
            out[:] = zero
            weight_sum = zero
            for j in range(slots):
                if present[t, j]:
                    a[j] /= total
                    weight = a[j] * keep[head, t, j] if keep.size else a[j]
                    weight_sum += weight
                    v = slot[t, j]
                    for i in range(d):
                        p_h[i] += weight * h[v, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            p_table[i] += weight * table[e, i]
                    for i in range(da):
                        p_attr[i] += weight * attr[t, j, i]
            mass[head, t] = weight_sum


@_jit
def attend_backward(
    query: Floats,
    rows: tuple[Floats, Floats, Floats],
    where: tuple[Int64, Int64, Bools],
    keep: Floats,
    alpha: Floats,
    grad_pooled: Floats,
    grad_mass: Floats,
    grad_query: Floats,
    grad_rows: tuple[Floats, Floats, Floats],
) -> None:
    """Gradients of :func:`attend_forward`; the last two arguments must come zeroed.

    Args:
        query: as in the forward pass.
        rows: likewise.
        where: likewise.
        keep: likewise.
        alpha: as the forward pass wrote it.
        grad_pooled: gradient of ``pooled``, ``[H, T, D]``.
        grad_mass: gradient of ``mass``, ``[H, T]``.
        grad_query: added to: gradient of ``query``, ``[H, T, D]``.
        grad_rows: added to: gradients of ``rows``, those not wanted of size 0.
    """
    h, table, attr = rows
    slot, event, present = where
    grad_h, grad_table, grad_attr = grad_rows
    heads, targets = query.shape[0], slot.shape[0]
    d, dm, da, slots = h.shape[1], table.shape[1], attr.shape[2], slot.shape[1]
    grad_alpha = np.zeros(slots, h.dtype)
    for head in range(heads):
        for t in range(targets):
            a = alpha[head, t]
            q_h, q_table, q_attr = _parts(query[head, t], d, dm)
            g_h, g_table, g_attr = _parts(grad_pooled[head, t], d, dm)
            gq_h, gq_table, gq_attr = _parts(grad_query[head, t], d, dm)
            mean = h.dtype.type(0)
            for j in range(slots):
                if present[t, j]:
                    v, grad = slot[t, j], grad_mass[head, t]
                    for i in range(d):
                        grad += g_h[i] * h[v, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            grad += g_table[i] * table[e, i]
                    for i in range(da):
                        grad += g_attr[i] * attr[t, j, i]
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
                        gq_h[i] += slope * h[v, i]
                    if grad_h.size:
                        for i in range(d):
                            grad_h[v, i] += weight * g_h[i] + slope * q_h[i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            gq_table[i] += slope * table[e, i]
                        if grad_table.size:
                            for i in range(dm):
                                grad_table[e, i] += weight * g_table[i] + slope * q_table[i]
                    for i in range(da):
                        gq_attr[i] += slope * attr[t, j, i]
                    if grad_attr.size:
                        for i in range(da):
                            grad_attr[t, j, i] += weight * g_attr[i] + slope * q_attr[i]
