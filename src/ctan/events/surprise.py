"""The surprise index: how much of the test part was never seen before. Several are in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ctan.events.kinds import EventKind

if TYPE_CHECKING:
    from ctan.events.splits import GraphSplit, Split
    from ctan.events.stream import EventStream

#: Each definition in words. A pair is new in the test part if no earlier part has it.
SURPRISES = {
    "tgb": "new distinct pairs / test events",
    "pairs": "new distinct pairs / distinct test pairs",
    "events": "events of new pairs / test events",
    "tgb-train": "as tgb, but new to the training part alone",
    "pairs-train": "as pairs, but new to the training part alone",
    "events-train": "as events, but new to the training part alone",
}


def surprise(stream: EventStream, split: Split | GraphSplit) -> dict[str, float]:
    r"""The surprise index of a split under each definition of `SURPRISES`.

    With :math:`P_{seen}` and :math:`P_{test}` the distinct directed pairs, and :math:`E_{test}`
    the test events,

    .. math::
        \mathrm{tgb} = \frac{|P_{test} \setminus P_{seen}|}{|E_{test}|} \qquad
        \mathrm{pairs} = \frac{|P_{test} \setminus P_{seen}|}{|P_{test}|} \qquad
        \mathrm{events} = \frac{|\{e \in E_{test} : pair(e) \notin P_{seen}\}|}{|E_{test}|}

    Only interactions count. A part without events gives NaN.

    Example:
        >>> from ctan.events import EventStream, Split
        >>> stream = EventStream.from_arrays(
        ...     src=[0, 0, 0, 0, 0, 0], dst=[1, 2, 1, 3, 3, 3], t=range(6)
        ... )
        >>> index = surprise(stream, Split(1, 2, 6, "by hand"))
        >>> index["tgb"], index["pairs"], index["events"]
        (0.25, 0.5, 0.75)
    """
    pair = np.asarray(stream.src) * stream.num_nodes + stream.dst
    counted = np.ones(len(stream), bool)
    if stream.kind is not None:
        counted = stream.kind == EventKind.INTERACTION
    train, val, test = (pair[_inside(stream, part) & counted] for part in _parts(split))
    distinct, repeats = np.unique(test, return_counts=True)
    found = {}
    for suffix, seen in (("", np.concatenate([train, val])), ("-train", train)):
        new = ~np.isin(distinct, seen)
        found["tgb" + suffix] = _share(np.count_nonzero(new), len(test))
        found["pairs" + suffix] = _share(np.count_nonzero(new), len(distinct))
        found["events" + suffix] = _share(repeats[new].sum(), len(test))
    return found


def _parts(split: Split | GraphSplit) -> tuple[Any, Any, Any]:
    return split.train, split.val, split.test


def _inside(stream: EventStream, part: slice | npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which events belong to a part: a range of positions, or a list of graphs."""
    if isinstance(part, slice):
        inside = np.zeros(len(stream), bool)
        inside[part] = True
        return inside
    assert stream.graph is not None
    return np.isin(stream.graph, part)


def _share(part: int | np.integer[Any], whole: int) -> float:
    return float(part) / whole if whole else float("nan")
