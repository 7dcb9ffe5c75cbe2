"""What all tests share."""

import pytest
import torch
from hypothesis import HealthCheck, settings

# How long an example takes says nothing about it on a machine that others use too.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

# Several test processes share the machine, and the matrices here are small.
torch.set_num_threads(1)


@pytest.fixture
def float64():
    """New tensors and weights have double precision: what differs, differs for a reason."""
    torch.set_default_dtype(torch.float64)
    yield torch.float64
    torch.set_default_dtype(torch.float32)
