"""Compiled loops of the fused attention: one target at a time, tables read by index.

For each head and target the kernels walk over the present slots and touch each neighbour's row
``[h_v || table[event] || attr]`` where it stands: nothing of size ``[T, K, d]`` is ever made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Int64 = NDArray[np.int64]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz", "arcp"})
def _dot(a: Floats, b: Floats) -> float:
    total = a.dtype.type(0)
    for i in range(len(b)):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz", "arcp"})
def _add(to: Floats, weight: float, row: Floats) -> None:
    for i in range(len(row)):
        to[i] += weight * row[i]


@njit(cache=True, nogil=True, error_model="numpy")
def attend_forward(
    query: Floats,
    h: Floats,
    table: Floats,
    attr: Floats,
    slot: Int64,
    event: Int64,
    present: NDArray[np.bool_],
    keep: Floats,
    alpha: Floats,
    pooled: Floats,
    mass: Floats,
) -> None:
    """Softmax over the present slots of ``query . row``, and the pooled rows.

    Args:
        query: projected queries, ``[H, T, d + dm + da]``, already scaled.
        h: node states, ``[M, d]``.
        table: event features, ``[E, dm]``.
        attr: edge attributes, ``[T, K, da]``.
        slot: row of ``h`` per slot, ``[T, K]``.
        event: row of ``table`` per slot, ``[T, K]``.
        present: which slots count, ``[T, K]``.
        keep: factor of dropout per slot, ``[H, T, K]``, or of size 0.
        alpha: written: attention before dropout, ``[H, T, K]``.
        pooled: written: sum of the weighted rows, ``[H, T, d + dm + da]``.
        mass: written: sum of the weights, ``[H, T]``.
    """
    heads, targets, _ = query.shape
    slots = slot.shape[1]
    d, dm = h.shape[1], table.shape[1]
    zero = h.dtype.type(0)
    for head in range(heads):
        for t in range(targets):
            q, a, out = query[head, t], alpha[head, t], pooled[head, t]
            out[:] = zero
            top = -np.inf
            for j in range(slots):
                a[j] = zero
                if present[t, j]:
                    score = _dot(q[:d], h[slot[t, j]]) + _dot(q[d + dm :], attr[t, j])
                    if dm:
                        score += _dot(q[d : d + dm], table[event[t, j]])
                    a[j] = score
                    top = max(top, score)
            total = zero
            for j in range(slots):
                if present[t, j]:
                    a[j] = np.exp(a[j] - top)
                    total += a[j]
            weight_sum = zero
            for j in range(slots):
                if present[t, j]:
                    a[j] /= total
                    weight = a[j] * keep[head, t, j] if keep.size else a[j]
                    weight_sum += weight
                    _add(out[:d], weight, h[slot[t, j]])
                    if dm:
                        _add(out[d : d + dm], weight, table[event[t, j]])
                    _add(out[d + dm :], weight, attr[t, j])
            mass[head, t] = weight_sum


@njit(cache=True, nogil=True, error_model="numpy")
def attend_backward(
    query: Floats,
    h: Floats,
    table: Floats,
    attr: Floats,
    slot: Int64,
    event: Int64,
    present: NDArray[np.bool_],
    keep: Floats,
    alpha: Floats,
    grad_pooled: Floats,
    grad_mass: Floats,
    grad_query: Floats,
    grad_h: Floats,
    grad_attr: Floats,
) -> None:
    """Gradients of :func:`attend_forward`; the three last arguments must come zeroed.

    Args:
        query: as in the forward pass, and so on up to ``alpha``.
        grad_pooled: gradient of ``pooled``, ``[H, T, d + dm + da]``.
        grad_mass: gradient of ``mass``, ``[H, T]``.
        grad_query: added to: gradient of ``query``.
        grad_h: added to: gradient of ``h``, ``[M, d]``, or of size 0 if it is not wanted.
        grad_attr: added to: gradient of ``attr``, ``[T, K, da]``, or of size 0.
    """
    heads, targets, _ = query.shape
    slots = slot.shape[1]
    d, dm = h.shape[1], table.shape[1]
    grad_alpha = np.zeros(slots, h.dtype)
    for head in range(heads):
        for t in range(targets):
            q, a, g, gq = query[head, t], alpha[head, t], grad_pooled[head, t], grad_query[head, t]
            mean = h.dtype.type(0)
            for j in range(slots):
                if present[t, j]:
                    ga = _dot(g[:d], h[slot[t, j]]) + _dot(g[d + dm :], attr[t, j])
                    if dm:
                        ga += _dot(g[d : d + dm], table[event[t, j]])
                    ga += grad_mass[head, t]
                    if keep.size:
                        ga *= keep[head, t, j]
                    grad_alpha[j] = ga
                    mean += ga * a[j]
            for j in range(slots):
                if present[t, j]:
                    weight = a[j] * keep[head, t, j] if keep.size else a[j]
                    grad_score = a[j] * (grad_alpha[j] - mean)
                    _add(gq[:d], grad_score, h[slot[t, j]])
                    if dm:
                        _add(gq[d : d + dm], grad_score, table[event[t, j]])
                    _add(gq[d + dm :], grad_score, attr[t, j])
                    if grad_h.size:
                        _add(grad_h[slot[t, j]], weight, g[:d])
                        _add(grad_h[slot[t, j]], grad_score, q[:d])
                    if grad_attr.size:
                        _add(grad_attr[t, j], weight, g[d + dm :])
                        _add(grad_attr[t, j], grad_score, q[d + dm :])
