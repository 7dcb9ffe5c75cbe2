"""The numpy types that rooms pass to each other."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Node ids, event positions, entries.
IntArray: TypeAlias = NDArray[np.int64]
