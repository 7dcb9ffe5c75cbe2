"""Why it works, or does not: spectra, sensitivity, reach and retention of a model's states."""

from ctan.study.playback import Moment, Playback
from ctan.study.probes import first_nodes, path, star
from ctan.study.reach import Reach, reach, reachable
from ctan.study.signal import Signal, follow, retention, sensitivity
from ctan.study.spectrum import Spectrum, spectrum

__all__ = [
    "Moment",
    "Playback",
    "Reach",
    "Signal",
    "Spectrum",
    "first_nodes",
    "follow",
    "path",
    "reach",
    "reachable",
    "retention",
    "sensitivity",
    "spectrum",
    "star",
]
