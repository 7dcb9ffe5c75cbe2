"""Models follow their features to another device, and never wait for what it computes."""

import numpy as np
import pytest
import torch
from asking import view_of

from ctan.models import Dims, Features, build, view
from sample_streams import busy_stream

STREAM = busy_stream(1, nodes=8)


@pytest.mark.parametrize("name", ["cawn", "dygformer", "graphmixer", "tcl"])
def test_nothing_stays_behind_and_nothing_is_read_back(name, monkeypatch):
    """Torch's meta device computes shapes and no values: to mix or to read them is an error."""
    model = build(name, Dims(8, 3, 2, 100), dim=8).to("meta")
    there = Features.of(STREAM, "meta")
    monkeypatch.setattr(view.Features, "of", lambda stream: there)
    asked = view_of(model, STREAM, [(0, 1), (2, 2), (0, 7)], at=30)
    for z in model.embed_pairs(model.init_state("meta"), asked):
        assert z.device == torch.device("meta")
        assert z.shape == (3, 8)
    assert isinstance(asked.nodes, np.ndarray)  # sampling is the CPU's work
