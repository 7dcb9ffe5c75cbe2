"""What all tests share."""

import pytest
import torch

# Several test processes share the machine, and the matrices here are small.
torch.set_num_threads(1)


@pytest.fixture
def float64():
    """New tensors and weights have double precision: what differs, differs for a reason."""
    torch.set_default_dtype(torch.float64)
    yield torch.float64
    torch.set_default_dtype(torch.float32)
