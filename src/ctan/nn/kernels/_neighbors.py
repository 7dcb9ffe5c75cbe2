"""Compiled loops of the fused attention: one target at a time, tables read by index.

A neighbour's row has three parts, ``h[slot]``, ``attr`` and ``table[event]``, and each head's query
has three parts side by side to match, ``D = d + da + dm``. What is pooled has the same parts and,
between the second and the third, the sum of the weights: ``P = D + 1``. The loops touch the rows
where they stand: nothing of size ``[T, K, D]`` is ever made. H heads, T targets, K slots, M nodes,
E rows of the table.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ctan.compiled.rows import add_both, address, dot, fetch, weighted_sum
from ctan.compiled.team import Team, spread
from ctan.nn.kernels._arrays import Bools, Floats, Int64

_jit = njit(cache=True, nogil=True, error_model="numpy")


@_jit
def _find(
    t: int, rows: tuple[Floats, Floats, Floats], where: tuple[Int64, Int64, Bools], at: Int64
) -> int:
    """Write where the parts of each neighbour of t stand to ``at [3, K]``; how many there are."""
    h, attr, table = rows
    slot, event, present = where
    found = 0
    for j in range(slot.shape[1]):
        if present[t, j]:
            at[0, found] = address(h, slot[t, j])
            if attr.size:
                at[1, found] = address(attr[t], j)
            if table.size:
                at[2, found] = address(table, event[t, j])
            found += 1
    if t + 1 < len(slot):
        # The rows of the next target stand anywhere: memory can look for them meanwhile.
        for j in range(slot.shape[1]):
            if present[t + 1, j]:
                fetch(address(h, slot[t + 1, j]), h.strides[0])
                if table.size:
                    fetch(address(table, event[t + 1, j]), table.strides[0])
    return found


@_jit
def _pool(
    part: int,
    parts: int,
    query: Floats,
    first: int,
    rows: tuple[Floats, Floats, Floats],
    where: tuple[Int64, Int64, Bools],
    keep: Floats,
    alpha: Floats,
    pooled: Floats,
) -> None:
    """One part of the targets of :func:`attend_forward`."""
    h, attr, table = rows
    present = where[2]
    targets, heads, slots = alpha.shape
    sizes = (h.shape[1], attr.shape[2], table.shape[1])
    starts = (0, sizes[0], sizes[0] + sizes[1])
    width = starts[2] + sizes[2]
    zero = h.dtype.type(0)
    at, weights = np.empty((3, slots), np.int64), np.empty(slots, h.dtype)
    for t in range(targets * part // parts, targets * (part + 1) // parts):
        found = _find(t, rows, where, at)
        for head in range(heads):
            a, column, start = alpha[t, head], first + head * width, head * (width + 1)
            top = -h.dtype.type(np.inf)
            for i in range(found):
                weights[i] = zero
                for third in range(3):
                    query_at = address(query, t, column + starts[third])
                    weights[i] += dot(zero, query_at, at[third, i], sizes[third])
                top = max(top, weights[i])
            total = zero
            for i in range(found):
                weights[i] = np.exp(weights[i] - top)
                total += weights[i]
            weight_sum, i = zero, 0
            for j in range(slots):
                a[j] = zero
                if present[t, j]:
                    a[j] = weights[i] / total
                    weights[i] = a[j] * keep[head, t, j] if keep.size else a[j]
                    weight_sum += weights[i]
                    i += 1
            pooled[t, start + starts[2]] = weight_sum
            for third in range(3):
                to = address(pooled, t, start + starts[third] + (third == 2))
                by, of = weights.ctypes.data, address(at, third)
                weighted_sum(zero, by, of, found, to, sizes[third])


@_jit
def attend_forward(
    team: Team,
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
        team: the threads.
        query: projected and scaled, head beside head, ``[>= T, first + H D]``.
        first: the column in which the queries begin.
        rows: ``h [M, d]``, ``attr [T, K, da]``, ``table [E, dm]``.
        where: ``slot [T, K]`` in h, ``event [T, K]`` in table, and which are present ``[T, K]``.
        keep: factor of dropout per slot, ``[H, T, K]``, or of size 0.
        alpha: written: attention before dropout, ``[T, H, K]``.
        pooled: written: sum of the weighted rows, ``[>= T, H P]``; further rows are left alone.
    """
    spread(team, _pool, (query, first, rows, where, keep, alpha, pooled))


@_jit
def _slopes(
    part: int,
    parts: int,
    query: Floats,
    first: int,
    rows: tuple[Floats, Floats, Floats],
    where: tuple[Int64, Int64, Bools],
    keep: Floats,
    alpha: Floats,
    grad_pooled: Floats,
    grad_query: Floats,
    grad_rows: tuple[Floats, Floats, Floats],
    slopes: Floats,
) -> None:
    """One part of the targets of :func:`attend_backward`: gradients of scores and of queries."""
    h, attr, table = rows
    present = where[2]
    targets, heads, slots = alpha.shape
    sizes = (h.shape[1], attr.shape[2], table.shape[1])
    starts = (0, sizes[0], sizes[0] + sizes[1])
    width = starts[2] + sizes[2]
    zero = h.dtype.type(0)
    at, found_slopes = np.empty((3, slots), np.int64), np.empty(slots, h.dtype)
    for t in range(targets * part // parts, targets * (part + 1) // parts):
        found = _find(t, rows, where, at)
        for head in range(heads):
            a, column, start = alpha[t, head], first + head * width, head * (width + 1)
            mean, i = zero, 0
            for j in range(slots):
                if present[t, j]:
                    grad = grad_pooled[t, start + starts[2]]
                    for third in range(3):
                        g = address(grad_pooled, t, start + starts[third] + (third == 2))
                        grad += dot(zero, g, at[third, i], sizes[third])
                    if keep.size:
                        grad *= keep[head, t, j]
                    slopes[t, head, j] = grad
                    mean += grad * a[j]
                    i += 1
            i = 0
            for j in range(slots):
                if present[t, j]:
                    slopes[t, head, j] = a[j] * (slopes[t, head, j] - mean)
                    found_slopes[i] = slopes[t, head, j]
                    i += 1
            for third in range(3):
                to = address(grad_query, t, column + starts[third])
                by, of = found_slopes.ctypes.data, address(at, third)
                weighted_sum(zero, by, of, found, to, sizes[third])


@_jit
def _scatter(
    part: int,
    parts: int,
    query: Floats,
    first: int,
    rows: tuple[Floats, Floats, Floats],
    where: tuple[Int64, Int64, Bools],
    keep: Floats,
    alpha: Floats,
    grad_pooled: Floats,
    grad_query: Floats,
    grad_rows: tuple[Floats, Floats, Floats],
    slopes: Floats,
) -> None:
    """Gradients of the rows. A row belongs to one part, whose thread alone adds to it, in order."""
    h, attr, table = rows
    slot, event, present = where
    grad_h, grad_attr, grad_table = grad_rows
    targets, heads, slots = alpha.shape
    d, da, dm = h.shape[1], attr.shape[2], table.shape[1]
    width = d + da + dm
    for t in range(targets):
        for head in range(heads):
            column, start = first + head * width, head * (width + 1)
            for j in range(slots):
                if present[t, j]:
                    weight, slope = alpha[t, head, j], slopes[t, head, j]
                    if keep.size:
                        weight *= keep[head, t, j]
                    if grad_h.size and slot[t, j] % parts == part:
                        g, q = address(grad_pooled, t, start), address(query, t, column)
                        add_both(weight, g, slope, q, address(grad_h, slot[t, j]), d)
                    if grad_attr.size and t % parts == part:
                        g, q = address(grad_pooled, t, start + d), address(query, t, column + d)
                        add_both(weight, g, slope, q, address(grad_attr[t], j), da)
                    if grad_table.size and event[t, j] % parts == part:
                        g = address(grad_pooled, t, start + d + da + 1)
                        q = address(query, t, column + d + da)
                        add_both(weight, g, slope, q, address(grad_table, event[t, j]), dm)


@_jit
def attend_backward(
    team: Team,
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
    """Gradients of :func:`attend_forward`.

    Args:
        team: the threads.
        query: as in the forward pass.
        first: likewise.
        rows: likewise.
        where: likewise.
        keep: likewise.
        alpha: as the forward pass wrote it.
        grad_pooled: gradient of ``pooled``, ``[>= T, H P]``.
        grad_query: written: gradient of ``query`` from column ``first`` on, of the same shape.
        grad_rows: added to: gradients of ``rows``, those not wanted of size 0.
    """
    slopes = np.empty_like(alpha)
    given = (query, first, rows, where, keep, alpha, grad_pooled, grad_query, grad_rows, slopes)
    spread(team, _slopes, given)
    spread(team, _scatter, given)


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
