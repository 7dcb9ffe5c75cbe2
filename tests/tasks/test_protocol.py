from dataclasses import fields

import numpy as np
import pytest

from ctan.datasets import path_graphs
from ctan.errors import CtanError, ProtocolError
from ctan.events import EventStream, split_by_count, split_by_graph
from ctan.tasks import PRESETS, Phase, Protocol, make_task, preset
from ctan.training import Stage, fit


def test_all_mistakes_are_named_at_once():
    with pytest.raises(ProtocolError) as refused:
        Protocol(split="tme", readout="both", epochs=0, lr=-1.0, through_time="some", batch_size=0)
    message = str(refused.value)
    for part in (
        "unknown split 'tme': did you mean 'time'",
        "unknown readout 'both'",
        "epochs is 0: expected at least 1",
        "lr is -1.0: expected at least 0",
        "through_time is 'some': expected 0, a number of batches, or 'all'",
        "batch_size is 0",
    ):
        assert part in message


def test_unknown_fields_are_named():
    with pytest.raises(CtanError, match="did you mean 'batch_size'"):
        Protocol().with_(batchsize=2)
    with pytest.raises(CtanError, match="did you mean 'seed'"):
        Protocol.from_dict({"sead": 2})


def test_a_protocol_comes_back_from_its_record():
    protocol = Protocol(through_time="all", lr=0.1, visibility="causal", seed=7)
    assert Protocol.from_dict(protocol.to_dict()) == protocol
    assert set(protocol.to_dict()) == {field.name for field in fields(Protocol)}


def test_the_summary_says_what_a_number_hangs_on():
    line = Protocol(visibility="causal", update_from="observed", readout="dst", seed=3).summary()
    for part in ("visibility causal", "update observed", "readout dst", "seed 3", "batch 256"):
        assert part in line


@pytest.mark.parametrize(("through_time", "horizon"), [(0, 0), (3, 3), ("all", float("inf"))])
def test_horizon_is_through_time_as_a_number(through_time, horizon):
    assert Protocol(through_time=through_time).horizon == horizon


@pytest.fixture
def plain():
    return EventStream.from_arrays(src=range(20), dst=range(1, 21), t=range(20))


def test_combinations_without_meaning_are_refused(plain):
    graphs = path_graphs(3, graphs=20)
    with pytest.raises(ProtocolError, match="not by graph"):
        make_task("link", graphs, split_by_graph(graphs), Protocol())
    with pytest.raises(ProtocolError, match="Give a column of labels"):
        make_task("sequence", plain, split_by_count(plain), Protocol())
    with pytest.raises(CtanError, match="did you mean 'link'"):
        make_task("lnik", plain, split_by_count(plain), Protocol())
    with pytest.raises(ProtocolError, match="'graph' column"):
        Stage.prepare(plain, "link", "ctan", {}, Protocol(split="graph"))
    with pytest.raises(ProtocolError, match="use 'stale'"):
        Stage.prepare(graphs, "sequence", "ctan", {}, Protocol(split="graph", visibility="causal"))
    with pytest.raises(CtanError, match="unknown model 'ctn': did you mean 'ctan'"):
        Stage.prepare(plain, "link", "ctn", {}, Protocol())


def test_a_stateful_model_is_not_split_within_a_time():
    """By count, a time may end up on both sides: causal batches cannot start there."""
    stream = EventStream.from_arrays(src=[0] * 20, dst=range(1, 21), t=np.arange(20) // 5)
    stage = Stage.prepare(stream, "link", "ctan", {}, Protocol(split="count", visibility="causal"))
    with pytest.raises(ProtocolError, match="have the same time"):
        list(next(iter(stage.segments(Phase("test")))))


def test_the_released_order_reads_the_pair_before_the_last_event():
    """Then a model of one hop without state solves three nodes and not five, as in the paper."""
    released = preset("released-sequence").with_(lr=3e-3)
    options = {"dim": 16, "time_dim": 1, "layers": 1}
    found = {}
    for length in (3, 5):
        stream = path_graphs(length, graphs=400, variant="released")
        run = fit(stream, task="sequence", model="tgat", options=options, protocol=released)
        found[length] = run.results["test"]["accuracy"]
    assert found[3] == 1.0
    assert found[5] < 0.8
    with pytest.raises(ProtocolError, match="or readout='pair'"):
        fit(stream, task="sequence", protocol=released.with_(readout="dst"))


def test_presets_are_for_their_tasks(plain):
    for name, entry in PRESETS.items():
        by_graph = entry.protocol.split == "graph"
        assert by_graph == (entry.task in ("sequence", "edge")), name
        if not by_graph:
            listed = {"test": None} if entry.protocol.negatives == "listed" else {}
            task = make_task(entry.task, plain, split_by_count(plain), entry.protocol, listed)
            assert task.name == entry.task
    assert preset("tgb").validate_every == 3
    assert (preset("tgb").plateau, preset("tgb-large").plateau) == (20, 3)
    assert (preset("paper-sequence").plateau, preset("paper-pascal").plateau) == (5, 20)
    assert preset("paper-link").patience == 50
