"""T-PathGraph: what did the first node of a temporal path carry? Section 4.1 of the paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ctan.datasets.base import About, Dataset, Entry
from ctan.errors import CtanError, unknown_name
from ctan.events import EventStream, split_by_graph
from ctan.history import elapsed_statistics

#: The lengths of the paper's table.
LENGTHS = (3, 5, 7, 9, 11, 13, 15, 20)
VARIANTS = ("paper", "released")


def path_graphs(
    length: int, *, variant: str = "paper", graphs: int = 1000, seed: int = 9
) -> EventStream:
    """Generate T-PathGraph: a union of disjoint temporal paths.

    In each graph, node i meets node i + 1 at time i; all other features are noise, and the label
    of the graph stands at its last event.

    - ``paper``: one feature, the first node's +1 or -1 with equal chance, all other nodes and all
      edges uniform in [-1, 1], as the paper's text says.
    - ``released``: two features, classes alternate, and the first edge carries the label as well,
      as the paper's code says (bit for bit its arrays at ``seed=9`` and 1,000 graphs).

    Args:
        length: nodes per graph, at least 2.
        variant: ``paper`` or ``released``.
        graphs: how many.
        seed: of numpy's default generator.

    Returns:
        A stream ordered by time, then graph: ``x [graphs * length, dn]``, ``msg [E, de]``,
        ``y [E]`` with -1 at all but the last event of a graph.

    Example:
        >>> stream = path_graphs(4, graphs=2)
        >>> stream.src.tolist(), stream.dst.tolist(), stream.t.tolist()
        ([0, 4, 1, 5, 2, 6], [1, 5, 2, 6, 3, 7], [0, 0, 1, 1, 2, 2])
    """
    if variant not in VARIANTS:
        raise unknown_name("variant of T-PathGraph", variant, VARIANTS)
    if length < 2 or graphs < 1:
        raise CtanError(
            f"T-PathGraph of {graphs} graphs of length {length}: expected at least 1 graph of at "
            "least 2 nodes."
        )
    if seed < 0:
        raise CtanError(f"seed={seed}: expected 0 or more.")
    rng = np.random.default_rng(seed)
    if variant == "paper":
        label = rng.integers(0, 2, graphs)
        x = rng.uniform(-1, 1, (graphs, length, 1))
        x[:, 0] = np.where(label == 1, 1.0, -1.0)[:, None]
        msg = rng.uniform(-1, 1, (graphs, length - 1, 1))
    else:
        label = np.arange(graphs) % 2
        sign = np.where(label == 1, 1.0, -1.0)[:, None]
        x = rng.uniform(-1, 1, (graphs * length, 2)).reshape(graphs, length, 2)
        x[:, 0] = sign
        msg = rng.uniform(-1, 1, (graphs, length - 1, 2))
        msg[:, 0] = sign

    graph = np.tile(np.arange(graphs), length - 1)
    t = np.repeat(np.arange(length - 1), graphs)
    src = graph * length + t
    y = np.where(t == length - 2, label[graph], -1)
    return EventStream.from_arrays(
        src=src,
        dst=src + 1,
        t=t,
        msg=msg.transpose(1, 0, 2).reshape(len(t), -1).astype(np.float32),
        x=x.reshape(graphs * length, -1).astype(np.float32),
        y=y,
        graph=graph,
    )


ABOUT = About(
    name="t-pathgraph",
    title="tell at the end of a temporal path what its first node carried",
    source="generated here, section 4.1 of the paper",
    licence="none needed: it is made by a formula",
    citation="A. Gravina, G. Lovisotto, C. Gallicchio, D. Bacciu, C. Grohnfeldt: Long Range "
    "Propagation on Continuous-Time Dynamic Graphs, ICML 2024",
    surprise="1.0",
)


def load_path_graphs(
    root: Path, length: int = 9, variant: str = "paper", graphs: int = 1000, seed: int = 9
) -> Dataset:
    """T-PathGraph as a data set: split by graph, 70/15/15 in order. `root` is not used."""
    stream = path_graphs(length, variant=variant, graphs=graphs, seed=seed)
    assert stream.graph is not None
    split = split_by_graph(stream)
    chosen = np.flatnonzero(np.isin(stream.graph, split.train))
    mean, deviation = elapsed_statistics(stream, positions=chosen)
    about = ABOUT
    if graphs == 1000 and length in LENGTHS:
        counts = {"nodes": length * 1000, "events": (length - 1) * 1000, "event features": 1}
        about = replace(ABOUT, published=counts)
    notes = (
        f"variant {variant}, length {length}, seed {seed}",
        f"waits between events in training: mean {mean:.6g}, deviation {deviation:.6g}",
    )
    return Dataset(about, stream, split, notes=notes)


ENTRY = Entry(ABOUT, load_path_graphs)
