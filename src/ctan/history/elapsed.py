"""How long nodes wait between their events: the statistics that standardise elapsed times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from ctan.errors import ProtocolError
from ctan.history._checks import as_nodes, check_range, interactions

if TYPE_CHECKING:
    from ctan.events import EventStream


def elapsed_statistics(
    stream: EventStream,
    lo: int = 0,
    hi: int | None = None,
    *,
    positions: ArrayLike | None = None,
) -> tuple[float, float]:
    r"""Mean and population deviation of the time since each endpoint's previous event.

    Over both endpoints u of every chosen interaction,

    .. math:: \Delta = t - t_{prev}(u), \qquad t_{prev}(u) = t_0 \text{ before u's first event},

    where t_0 is the stream's first time and a previous event is one of the whole stream, chosen or
    not. Both previous times are read before either is written, so a self-loop counts its wait
    twice. A deviation of zero is returned as 1: it is there to be divided by.

    Args:
        stream: the events.
        lo: first position.
        hi: one past the last position; the end of the stream if not given.
        positions: the chosen positions instead, such as the events of the training graphs of a
            union; each counts once.

    Returns:
        (mean, deviation).

    Example:
        >>> from ctan.events import EventStream
        >>> path = EventStream.from_arrays(src=[0, 1], dst=[1, 2], t=[0, 1])
        >>> elapsed_statistics(path)  # waits 0, 0 and 1, 1
        (0.5, 0.5)
    """
    t = np.asarray(stream.t)
    if positions is None:
        hi = len(t) if hi is None else hi
        check_range(lo, hi, len(t))
        chosen = np.zeros(hi, np.bool_)
        chosen[lo:] = True
    else:
        listed = as_nodes(positions, len(t), "positions")
        chosen = np.zeros(int(listed.max(initial=-1)) + 1, np.bool_)
        chosen[listed] = True
    columns = np.asarray(stream.src), np.asarray(stream.dst), t, chosen, interactions(stream)
    n, total, _ = _moments(*columns, stream.num_nodes, 0.0)
    if n == 0:
        raise ProtocolError("no interactions chosen, so elapsed times have no mean")
    mean = float(total / n)
    _, _, square = _moments(*columns, stream.num_nodes, mean)
    return mean, float(np.sqrt(square / n)) or 1.0


@njit(cache=True, nogil=True)
def _moments(
    src: NDArray[np.int64],
    dst: NDArray[np.int64],
    t: NDArray[Any],
    chosen: NDArray[np.bool_],
    counted: NDArray[np.bool_],
    num_nodes: int,
    centre: float,
) -> tuple[int, float, float]:
    """Number of waits, their sum, and the sum of their squared distances from `centre`."""
    n, total, square = 0, 0.0, 0.0
    last = np.full(num_nodes, t[0] if len(t) else 0)
    for e in range(len(chosen)):
        if len(counted) and not counted[e]:
            continue
        if chosen[e]:
            for wait in (t[e] - last[src[e]], t[e] - last[dst[e]]):
                n += 1
                total += wait
                square += (wait - centre) ** 2
        last[src[e]] = t[e]
        last[dst[e]] = t[e]
    return n, total, square
