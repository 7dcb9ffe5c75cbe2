"""Protocols by name: the paper's, other benchmarks', and what its released code did."""

from __future__ import annotations

from dataclasses import dataclass

from ctan.errors import unknown_name
from ctan.tasks.protocol import Protocol


@dataclass(frozen=True)
class Preset:
    """A named protocol.

    Attributes:
        task: the task that it is for.
        about: what it is, in a line.
        protocol: the protocol.

    Example:
        >>> PRESETS["tgb"].task
        'ranking'
    """

    task: str
    about: str
    protocol: Protocol


_SEQUENCE = Protocol(
    split="graph",
    readout="dst",
    lr=3e-4,
    weight_decay=1e-7,
    graph_batch=128,
    epochs=20,
    plateau=5,
    through_time="all",
)
_PASCAL = _SEQUENCE.with_(weight_decay=1e-5, graph_batch=256, epochs=200, plateau=20)
#: What the paper's code does with labelled events: the last pair is read before its event is
#: inserted, the stored state carries no gradient, and schedules are never switched on. It stops
#: one epoch later than it was told to.
_AS_RELEASED = {"readout": "pair", "order": "before", "through_time": 0, "plateau": 0}
_LINK = Protocol(lr=1e-4, weight_decay=1e-6, batch_size=256, epochs=1000, patience=50)
_TGB = Protocol(
    batch_size=200,
    lr=1e-4,
    weight_decay=0.0,
    epochs=200,
    validate_every=3,
    plateau=20,
    negative_scope="stream",
    negatives_known=True,
)

PRESETS: dict[str, Preset] = {
    "paper-link": Preset(
        "link",
        "the paper's link experiments: stale batches of 256, negatives that are no known edge",
        _LINK,
    ),
    "paper-sequence": Preset(
        "sequence",
        "the paper's T-PathGraph: observed, then the last node is read; rate halved on plateau",
        _SEQUENCE,
    ),
    "paper-pascal": Preset(
        "edge",
        "the paper's T-PascalVOC: as T-PathGraph, 256 graphs a batch, 200 epochs",
        _PASCAL,
    ),
    "tgb": Preset(
        "ranking",
        "TGB: each event among every other destination, stale batches of 200, validated every "
        "third epoch, rate halved after 20 without improvement",
        _TGB,
    ),
    "tgb-large": Preset(
        "ranking",
        "TGB as the paper trains on review, coin and comment: the published candidates, 50 epochs, "
        "rate halved after 3 without improvement",
        _TGB.with_(negatives="listed", epochs=50, plateau=3),
    ),
    "dyglib": Preset(
        "link",
        "DyGLib: batches of 200, known edges may be negatives, AP and AUC are means over batches",
        Protocol(
            batch_size=200,
            lr=1e-4,
            weight_decay=0.0,
            epochs=100,
            patience=20,
            negatives_known=True,
            averaging="batch",
        ),
    ),
    "released-link": Preset(
        "link",
        "the paper's code for links: each batch of evaluation draws the same list of negatives",
        _LINK.with_(negative_draw="row", patience=51),
    ),
    "released-sequence": Preset(
        "sequence",
        "the paper's code for T-PathGraph: source and last node are read before the last event, "
        "states carry no gradient, no schedule, a stop after 6 epochs without improvement",
        _SEQUENCE.with_(**_AS_RELEASED, patience=6),
    ),
    "released-pascal": Preset(
        "edge",
        "the paper's code for T-PascalVOC: the pair is read before each event, states carry no "
        "gradient, no schedule, a stop after 21 epochs without improvement",
        _PASCAL.with_(**_AS_RELEASED, patience=21),
    ),
    "strict": Preset(
        "link",
        "causal: each event sees all of strictly earlier time, what is stored has seen its event, "
        "no known edge is a negative",
        Protocol(visibility="causal", update_from="observed", lr=1e-4, epochs=1000, patience=50),
    ),
}


def preset(name: str) -> Protocol:
    """A protocol by name.

    Args:
        name: one of :data:`PRESETS`.

    Example:
        >>> preset("dyglib").averaging
        'batch'
        >>> preset("tgp")
        Traceback (most recent call last):
        ...
        ctan.errors.CtanError: unknown protocol 'tgp': did you mean 'tgb'? Known: ...
    """
    if name not in PRESETS:
        raise unknown_name("protocol", name, PRESETS)
    return PRESETS[name].protocol
