"""Why it works, or does not: spectra, sensitivity, reach and retention of a model's states."""

from ctan.study.playback import Moment, Playback, features_of
from ctan.study.probes import first_nodes, path, relay, star
from ctan.study.reach import Reach, reach, reachable
from ctan.study.signal import Signal, follow, retention, sensitivity
from ctan.study.spectrum import Spectrum, hop, spectrum
from ctan.study.stability import FASTEST, Stability, norms, stability

__all__ = [
    "FASTEST",
    "Moment",
    "Playback",
    "Reach",
    "Signal",
    "Spectrum",
    "Stability",
    "features_of",
    "first_nodes",
    "follow",
    "hop",
    "norms",
    "path",
    "reach",
    "reachable",
    "relay",
    "retention",
    "sensitivity",
    "spectrum",
    "stability",
    "star",
]
