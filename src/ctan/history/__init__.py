"""Who met whom, and when: exact temporal lookups, batches and negatives."""

from ctan.history.batching import Batch, Lockstep, causal, chronological, lockstep, time_groups
from ctan.history.elapsed import elapsed_statistics
from ctan.history.index import Slots, TemporalIndex
from ctan.history.negatives import RandomNegatives
from ctan.history.neighborhood import Neighborhood, ball, neighborhood

__all__ = [
    "Batch",
    "Lockstep",
    "Neighborhood",
    "RandomNegatives",
    "Slots",
    "TemporalIndex",
    "ball",
    "causal",
    "chronological",
    "elapsed_statistics",
    "lockstep",
    "neighborhood",
    "time_groups",
]
