"""Tensors as the compiled functions take them, and back; memory is shared."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.floating[Any]]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
#: Weights, as torch or as the compiled functions see them.
Kind = TypeVar("Kind", Tensor, Floats)


def array(tensor: Tensor) -> NDArray[Any]:
    """The numbers of a tensor, in one piece."""
    return tensor.detach().contiguous().numpy()


def tensor(numbers: Floats | None) -> Tensor | None:
    """A tensor on the numbers of an array, if there is one."""
    return None if numbers is None else torch.from_numpy(numbers)
