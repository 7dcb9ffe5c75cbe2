"""Compiled loops of the fused attention: one target at a time, tables read by index.

A neighbour's row has three parts, ``h[slot]``, ``attr`` and ``table[event]``, and each head's query
has three parts side by side to match, ``D = d + da + dm``. What is pooled has the same parts and,
between the second and the third, the sum of the weights: ``P = D + 1``. The loops touch the rows
where they stand: nothing of size ``[T, K, D]`` is ever made. H heads, T targets, K slots, M nodes,
E rows of the table.
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
def _parts(row: Floats, start: int, d: int, da: int, dm: int) -> tuple[Floats, Floats, Floats]:
    # Sliced once per target: an index such as [d + i] would keep the inner loops from vectors.
    middle, end = start + d, start + d + da
    return row[start:middle], row[middle:end], row[end : end + dm]


@_jit
def attend_forward(
    query: Floats,
    first: int,
    rows: tuple[Floats, Floats, Floats],
    where: tuple[Int64, Int64, Bools],
    keep: Floats,
    alpha: Floats,
    pooled: Floats,
) -> None:
    """Softmax over the present slots of ``query . row``, and the pooled rows.

    Args:
        query: projected and scaled, head beside head, ``[>= T, first + H D]``.
        first: the column in which the queries begin.
        rows: ``h [M, d]``, ``attr [T, K, da]``, ``table [E, dm]``.
        where: ``slot [T, K]`` in h, ``event [T, K]`` in table, and which are present ``[T, K]``.
        keep: factor of dropout per slot, ``[H, T, K]``, or of size 0.
        alpha: written: attention before dropout, ``[T, H, K]``.
        pooled: written: sum of the weighted rows, ``[>= T, H P]``; further rows are left alone.
    """
    h, attr, table = rows
    slot, event, present = where
    targets, heads, slots = alpha.shape
    d, da, dm = h.shape[1], attr.shape[2], table.shape[1]
    width = d + da + dm
    zero = h.dtype.type(0)
    for t in range(targets):
        for head in range(heads):
            a = alpha[t, head]
            q_h, q_attr, q_table = _parts(query[t], first + head * width, d, da, dm)
            start = head * (width + 1)
            p_h, p_attr, _ = _parts(pooled[t], start, d, da, 0)
            p_table = pooled[t, start + d + da + 1 : start + width + 1]
            top = -h.dtype.type(np.inf)
            for j in range(slots):
                a[j] = zero
                if present[t, j]:
                    v, score = slot[t, j], zero
                    for i in range(d):
                        score += q_h[i] * h[v, i]
                    for i in range(da):
                        score += q_attr[i] * attr[t, j, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            score += q_table[i] * table[e, i]
                    a[j] = score
                    top = max(top, score)
            total = zero
            for j in range(slots):
                if present[t, j]:
                    a[j] = np.exp(a[j] - top)
                    total += a[j]
            pooled[t, start : start + width + 1] = zero
            weight_sum = zero
            for j in range(slots):
                if present[t, j]:
                    a[j] /= total
                    weight = a[j] * keep[head, t, j] if keep.size else a[j]
                    weight_sum += weight
                    v = slot[t, j]
                    for i in range(d):
                        p_h[i] += weight * h[v, i]
                    for i in range(da):
                        p_attr[i] += weight * attr[t, j, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            p_table[i] += weight * table[e, i]
            pooled[t, start + d + da] = weight_sum


@_jit
def attend_backward(
    query: Floats,
    first: int,
    rows: tuple[Floats, Floats, Floats],
    where: tuple[Int64, Int64, Bools],
    keep: Floats,
    alpha: Floats,
    grad_pooled: Floats,
    grad_query: Floats,
    grad_rows: tuple[Floats, Floats, Floats],
) -> None:
    """Gradients of :func:`attend_forward`; the last two arguments are added to.

    Args:
        query: as in the forward pass.
        first: likewise.
        rows: likewise.
        where: likewise.
        keep: likewise.
        alpha: as the forward pass wrote it.
        grad_pooled: gradient of ``pooled``, ``[>= T, H P]``.
        grad_query: added to: gradient of ``query``, of the same shape.
        grad_rows: added to: gradients of ``rows``, those not wanted of size 0.
    """
    h, attr, table = rows
    slot, event, present = where
    grad_h, grad_attr, grad_table = grad_rows
    targets, heads, slots = alpha.shape
    d, da, dm = h.shape[1], attr.shape[2], table.shape[1]
    width = d + da + dm
    grad_alpha = np.zeros(slots, h.dtype)
    for t in range(targets):
        for head in range(heads):
            a = alpha[t, head]
            column, start = first + head * width, head * (width + 1)
            q_h, q_attr, q_table = _parts(query[t], column, d, da, dm)
            gq_h, gq_attr, gq_table = _parts(grad_query[t], column, d, da, dm)
            g_h, g_attr, _ = _parts(grad_pooled[t], start, d, da, 0)
            g_table = grad_pooled[t, start + d + da + 1 : start + width + 1]
            mean = h.dtype.type(0)
            for j in range(slots):
                if present[t, j]:
                    v, grad = slot[t, j], grad_pooled[t, start + d + da]
                    for i in range(d):
                        grad += g_h[i] * h[v, i]
                    for i in range(da):
                        grad += g_attr[i] * attr[t, j, i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            grad += g_table[i] * table[e, i]
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
                    for i in range(da):
                        gq_attr[i] += slope * attr[t, j, i]
                    if grad_attr.size:
                        for i in range(da):
                            grad_attr[t, j, i] += weight * g_attr[i] + slope * q_attr[i]
                    if dm:
                        e = event[t, j]
                        for i in range(dm):
                            gq_table[i] += slope * table[e, i]
                        if grad_table.size:
                            for i in range(dm):
                                grad_table[e, i] += weight * g_table[i] + slope * q_table[i]


@njit(cache=True, nogil=True)
def number_events(event: Int64, present: Bools) -> tuple[Int64, Int64]:
    """Number the distinct events of the present slots in order of appearance.

    Args:
        event: ``[T, K]``.
        present: ``[T, K]``.

    Returns:
        The distinct events ``[D]``, and the number of each slot's event, ``[T, K]``.
    """
    places = 16
    while places < 2 * event.size:
        places *= 2
    # Open addressing, at most half full; events of one batch are close together and spread well.
    number_at = np.full(places, -1, np.int64)
    seen, number = np.empty(event.size, np.int64), np.zeros(event.shape, np.int64)
    count = 0
    for t in range(event.shape[0]):
        for j in range(event.shape[1]):
            if present[t, j]:
                e = event[t, j]
                place = e & (places - 1)
                while number_at[place] >= 0 and seen[number_at[place]] != e:
                    place = (place + 1) & (places - 1)
                if number_at[place] < 0:
                    number_at[place] = count
                    seen[count] = e
                    count += 1
                number[t, j] = number_at[place]
    return seen[:count], number
