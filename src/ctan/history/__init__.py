"""Who met whom, and when: exact temporal lookups, batches and negatives."""

from ctan.history._stored import store_index
from ctan.history.batching import (
    Batch,
    Lockstep,
    causal,
    chronological,
    lockstep,
    parted_at_deletions,
    time_groups,
)
from ctan.history.candidates import Candidates, Drawn
from ctan.history.elapsed import elapsed_statistics
from ctan.history.index import Slots, TemporalIndex
from ctan.history.negatives import RandomNegatives
from ctan.history.neighborhood import Neighborhood, ball, neighborhood
from ctan.history.nodes import NodeHistory
from ctan.history.occurrences import Occurrences
from ctan.history.pairs import Met, PairIndex
from ctan.history.walks import CausalWalks, Walks
from ctan.history.window import TimeWindow, Window

__all__ = [
    "Batch",
    "Candidates",
    "CausalWalks",
    "Drawn",
    "Lockstep",
    "Met",
    "Neighborhood",
    "NodeHistory",
    "Occurrences",
    "PairIndex",
    "RandomNegatives",
    "Slots",
    "TemporalIndex",
    "TimeWindow",
    "Walks",
    "Window",
    "ball",
    "causal",
    "chronological",
    "elapsed_statistics",
    "lockstep",
    "neighborhood",
    "parted_at_deletions",
    "store_index",
    "time_groups",
]
