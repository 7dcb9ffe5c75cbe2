"""EdgeBank against the TGM library's, event by event."""

import numpy as np
import pytest
import torch
from asking import view_of

from ctan.events import EventStream
from ctan.models import Dims, EdgeBank

NODES, EVENTS, TRAINING = 6, 90, 60
PAIRS = [(u, v) for u in range(NODES) for v in range(NODES)]


@pytest.mark.parametrize(("memory", "mode"), [("infinite", "unlimited"), ("tw", "fixed")])
@pytest.mark.parametrize("ratio", [0.05, 0.25, 1.0])
def test_edgebank_equals_that_of_tgm(memory, mode, ratio):
    """TGM's memory is fed the training part at once, then one event at a time."""
    tgm = pytest.importorskip("tgm.nn.modules.edgebank")
    rng = np.random.default_rng(0)
    stream = EventStream.from_arrays(
        src=rng.integers(0, NODES, EVENTS),
        dst=rng.integers(0, NODES, EVENTS),
        t=np.cumsum(rng.integers(1, 5, EVENTS)),
        num_nodes=NODES,
    )
    columns = [torch.from_numpy(np.array(part)) for part in (stream.src, stream.dst, stream.t)]
    theirs = tgm.EdgeBankPredictor(
        *(column[:TRAINING] for column in columns), memory_mode=mode, window_ratio=ratio
    )
    training_time = int(stream.t[TRAINING - 1] - stream.t[0])
    ours = EdgeBank(Dims(NODES, training_time=training_time), memory=memory, ratio=ratio)
    src, dst = torch.tensor(PAIRS).T
    held = set()
    for at in range(TRAINING, EVENTS):
        expected = theirs(src, dst)
        scores = ours.score(view_of(ours, stream, PAIRS, at))[:, 0]
        assert scores.tolist() == expected.tolist()
        held.update(expected.tolist())
        theirs.update(*(column[at : at + 1] for column in columns))
    assert held == {0, 1}
