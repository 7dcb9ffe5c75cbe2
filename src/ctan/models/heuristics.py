r"""Recency, popularity and their blend: untrained rules that are strong on leaderboards.

With n the number of events before the cut, ``last(uv)`` the position of a pair's last one,
``last(v)`` that of a destination's (counted from 1, 0 for never), and ``N(v)`` the number of the
destination's events. Scores are in double precision, so that no two positions become one.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ctan.errors import unknown_name
from ctan.models.base import Dims, PairScorer
from ctan.models.view import Sees, View

#: What the blend ranks pairs by that never met.
BACKUPS = ("recent", "popular")


class Recency(PairScorer):
    r"""The later a pair last met, the higher: :math:`s(u, v) = last(uv) / (n + 1)`.

    Args:
        dims: what is known of the stream; not used.

    Example:
        >>> Recency(Dims(nodes=3)).sees.contacts
        True
    """

    paper = "none: a rule of thumb"
    use = "Before any training, where pairs meet again: it ranks what EdgeBank only tells apart."

    def __init__(self, dims: Dims) -> None:
        super().__init__()
        self.sees = Sees(contacts=True)

    def score(self, view: View) -> Tensor:
        """Scores in [0, 1), ``[P, 1]``, float64."""
        past = view.past
        return _column((past.met.last + 1) / (past.cut + 1), view)


class Popularity(PairScorer):
    r"""The more events a destination had, the higher: :math:`s(u, v) = N(v) / (n + 1)`.

    Args:
        dims: what is known of the stream; not used.

    Example:
        >>> Popularity(Dims(nodes=3)).stateful
        False
    """

    paper = "none: a rule of thumb"
    use = "Before any training, where most pairs are new and a few destinations draw most events."

    def __init__(self, dims: Dims) -> None:
        super().__init__()
        self.sees = Sees(contacts=True)

    def score(self, view: View) -> Tensor:
        """Scores in [0, 1), ``[P, 1]``, float64."""
        past = view.past
        return _column(past.popularity / (past.cut + 1), view)


class Blend(PairScorer):
    r"""Recency of the pair, and where that says nothing (a pair that never met) of the destination.

    .. math::
        s(u, v) = \frac{last(uv)}{n + 1} + \frac{1}{n + 1} \cdot \frac{b(v)}{n + 1},
        \qquad b(v) = last(v) \text{ or } N(v)

    The second term is less than one step of the first: it only breaks ties.

    Args:
        dims: what is known of the stream; not used.
        backup: ``recent`` (last(v)) or ``popular`` (N(v)).

    Example:
        >>> Blend(Dims(nodes=3), backup="popular")
        Blend('popular')
    """

    paper = "none: a rule of thumb; the kind of heuristic that leads on tgbl-wiki"
    use = "Before any training, on every stream: the strongest rule here, at the cost of a look-up."

    def __init__(self, dims: Dims, *, backup: str = "recent") -> None:
        super().__init__()
        if backup not in BACKUPS:
            raise unknown_name("backup of the blend", backup, BACKUPS)
        self.backup = backup
        self.sees = Sees(contacts=True)

    def score(self, view: View) -> Tensor:
        """Scores in [0, 1), ``[P, 1]``, float64."""
        past = view.past
        step = 1.0 / (past.cut + 1)
        backup = past.active + 1 if self.backup == "recent" else past.popularity
        return _column((past.met.last + 1) * step + backup * step * step, view)

    def extra_repr(self) -> str:
        """Settings, for printing."""
        return repr(self.backup)


def _column(scores: NDArray[np.float64], view: View) -> Tensor:
    return torch.from_numpy(scores).to(view.features.device)[:, None]
