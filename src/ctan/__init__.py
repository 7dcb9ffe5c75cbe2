"""Learning on continuous-time dynamic graphs: streams of events between nodes."""

__version__ = "0.1.0"
