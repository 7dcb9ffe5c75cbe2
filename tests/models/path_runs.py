"""Short runs on T-PathGraph: how far back can a model see?"""

from __future__ import annotations

from ctan.datasets import path_graphs
from ctan.tasks import Protocol
from ctan.training import fit


def accuracy_on_paths(model: str, nodes: int, readout: str, **options: object) -> float:
    """Accuracy on unseen paths after a short training."""
    run = fit(
        path_graphs(nodes, graphs=400),
        task="sequence",
        model=model,
        options={"dim": 16, "time_dim": 1, **options},
        protocol=Protocol(split="graph", readout=readout, epochs=12, lr=1e-2, graph_batch=32),
    )
    accuracy: float = run.results["test"]["accuracy"]
    return accuracy
