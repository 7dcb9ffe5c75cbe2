"""What is run: rows of lengths, models, options and seeds under one recipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: The recipe, the same for every model: the paper's batch, decay and readout; gradients through
#: time; a learning rate of 1e-3 for 60 epochs.
RECIPE: dict[str, Any] = {
    "split": "graph",
    "readout": "dst",
    "through_time": "all",
    "graph_batch": 128,
    "epochs": 60,
    "lr": 1e-3,
    "weight_decay": 1e-7,
}
#: The paper's own number of epochs is enough for a path that latches.
SHORT = {"epochs": 20}

PAPER_LENGTHS = (3, 5, 7, 9, 11, 13, 15, 20)

CTAN = {"dim": 50, "epsilon": 1.0, "gamma": 0.1, "time_dim": 1, "psi": "concat"}
#: The largest widths within the paper's 20,000 parameters.
BASELINES: dict[str, dict[str, Any]] = {
    "jodie": {"dim": 69, "time_dim": 1},
    "tgn": {"dim": 29, "time_dim": 1},
    "dyrep": {"dim": 52},
}


@dataclass(frozen=True)
class Row:
    """Seeds 0 to ``seeds - 1`` of one model at each of some lengths."""

    model: str
    options: dict[str, Any]
    lengths: tuple[int, ...]
    seeds: int = 10
    variant: str = "paper"
    protocol: dict[str, Any] = field(default_factory=dict)
    signal: int = 0
    graphs: int = 1000
    teaching: str = "repeated"


def ctan(init: str, **more: Any) -> dict[str, Any]:
    return {**CTAN, "init": init, **more}


LATCHING = ctan("latching")
#: This model has ψ = add without being told.
FAINT = {name: value for name, value in ctan("default").items() if name != "psi"}

PLANS: dict[str, list[Row]] = {
    # CTAN from the latching start: the paper's lengths in both variants.
    "headline": [
        Row("ctan", LATCHING, PAPER_LENGTHS, protocol=SHORT),
        Row("ctan", LATCHING, PAPER_LENGTHS, variant="released", protocol=SHORT),
    ],
    "beyond": [
        Row("ctan", LATCHING, (50, 100, 200), protocol=SHORT),
        Row("ctan", LATCHING, (500,), seeds=1, protocol=SHORT),
        Row("ctan", LATCHING, (50, 100), seeds=3, variant="released", protocol=SHORT),
    ],
    # The same model from the other starts, three times as long.
    "starts": [
        *(Row("ctan", ctan(i), (9, 20, 50)) for i in ("default", "bounded", "isometric")),
        *(Row("ctan", ctan(i), (100,), seeds=3) for i in ("default", "isometric")),
        *(Row("ctan", ctan(i), (3, 15)) for i in ("default", "isometric")),
    ],
    # Where the theory puts the edge: the gain of a hop.
    "gain": [
        Row("ctan", ctan("latching", gain=g), (20, 100), seeds=3, protocol=SHORT)
        for g in (0.25, 0.5, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
    ]
    + [Row("ctan", ctan("latching", gain=1.5), (200,), seeds=3, protocol=SHORT)],
    "baselines": [
        *(Row(name, options, PAPER_LENGTHS) for name, options in BASELINES.items()),
        *(Row(name, options, (50,), seeds=5) for name, options in BASELINES.items()),
        *(Row(name, options, (100,), seeds=3) for name, options in BASELINES.items()),
    ],
    # Model or start? The same memories, started as latches.
    "latching_memories": [
        Row(f"{name}-latching", options, (20, 50, 100), seeds=3, protocol=SHORT)
        for name, options in BASELINES.items()
    ],
    # One thing changed at a time.
    "ablations": [
        *(
            Row("ctan", ctan("latching", psi=psi), (20, 100), seeds=3, protocol=SHORT)
            for psi in ("add", "tanh_concat")
        ),
        Row("ctan", LATCHING, (20, 100), seeds=3, protocol={**SHORT, "through_time": 0}),
        Row("ctan", ctan("default"), (20,), seeds=3, protocol={"through_time": 0}),
        *(
            Row("ctan", ctan("latching", solver=solver), (20,), seeds=3, protocol=SHORT)
            for solver in ("heun", "rk4", "cayley", "exponential")
        ),
        *(Row("ctan", ctan("default", psi=p), (20,), seeds=3) for p in ("add", "tanh_concat")),
        Row("ctan", ctan("isometric", psi="add"), (20,), seeds=3),
        Row("ctan-faint", FAINT, (20,), seeds=3),
        *(Row("ctan", ctan("isometric", gamma=gamma), (100,), seeds=3) for gamma in (0.0, 0.01)),
        Row("ctan", ctan("isometric"), (100,), seeds=3, protocol={"lr": 3e-4}),
        Row("ctan", ctan("isometric"), (100,), seeds=3, protocol={"clip": 1.0, "plateau": 5}),
    ],
    # What a latch is not for: the signal comes later than other inputs, at the middle node.
    "elsewhere": [
        *(
            Row("ctan", options, (20,), seeds=3, signal=10)
            for options in (
                ctan("default"),
                ctan("isometric"),
                ctan("latching", gain=1.0),
                ctan("latching"),
            )
        ),
        *(Row(name, options, (20,), seeds=3, signal=10) for name, options in BASELINES.items()),
    ],
    # Ten times the graphs, a sixth of the epochs: do the failing starts lack data?
    "more_graphs": [
        *(
            Row("ctan", ctan(i), (50, 100), seeds=3, graphs=10_000, protocol={"epochs": 10})
            for i in ("default", "isometric")
        ),
        Row(
            "jodie",
            BASELINES["jodie"],
            (50, 100),
            seeds=3,
            graphs=10_000,
            protocol={"epochs": 10},
        ),
    ],
    # Can the latch be learned? Short paths first, fresh graphs in each epoch, and both.
    "teaching": [
        *(
            Row("ctan", ctan(init), (50, 100, 200), teaching="curriculum")
            for init in ("default", "isometric")
        ),
        *(
            Row("ctan", ctan(init), (50, 100), seeds=seeds, teaching=way)
            for way, seeds in (("fresh", 2), ("fresh curriculum", 3))
            for init in ("isometric", "default")
        ),
        *(Row(name, options, (100,), teaching="curriculum") for name, options in BASELINES.items()),
    ],
    # The isometric start memorises: do the usual remedies help it?
    "regularised": [
        *(
            Row("ctan", ctan("isometric"), lengths, seeds=seeds, protocol={"weight_decay": decay})
            for lengths, seeds in (((50,), 6), ((100,), 3))
            for decay in (1e-4, 1e-3)
        ),
        *(
            Row("ctan-dropout", ctan("isometric", dropout=0.2), lengths, seeds=seeds)
            for lengths, seeds in (((50,), 6), ((100,), 3))
        ),
    ],
}
