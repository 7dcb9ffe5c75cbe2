"""One-vs-many ranking on the events of tgbl-wiki: every other destination for each positive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.peers import pyg
from benchmarks.rows.training import CTAN, wikipedia
from benchmarks.timing import alternate, ratio
from ctan.history import elapsed_statistics
from ctan.tasks import PRESETS, Phase
from ctan.tasks.ranking import ranks
from ctan.training import Stage, evaluate, replay

SAMPLE = 100


def ranking(data: Path, rounds: int) -> list[dict[str, Any]]:
    """CTAN on the whole test part, against one positive at a time as in TGB's examples."""
    from tgb.linkproppred.evaluate import Evaluator

    stream, protocol = wikipedia(data), PRESETS["tgb"].protocol
    torch.manual_seed(0)
    stage = Stage.prepare(stream, "ranking", "ctan", {**CTAN, "steps": 1}, protocol)
    split = stage.parts
    with torch.no_grad():
        before = replay(stage, split.test.start).tensors()

    def at_once() -> float:
        state = stage.predictor.model.init_state()
        state.load({name: tensor.clone() for name, tensor in before.items()})
        return evaluate(stage, state, Phase("test")).metrics["mrr"]

    src, dst = np.asarray(stream.src), np.asarray(stream.dst)
    candidates = np.unique(dst)
    sampled = np.arange(split.test.start, split.test.start + SAMPLE)
    one_by_one = pyg.ranking_one_by_one(
        pyg.Stream(src, dst, stream.t, stream.msg),
        Evaluator("tgbl-wiki"),
        candidates,
        dim=100,
        neighbors=5,
        start=split.test.start,
        elapsed=elapsed_statistics(stream, 0, split.train_end),
    )
    taken = alternate({"ours": at_once, "pyg": lambda: one_by_one(sampled)}, rounds)
    events = split.test.stop - split.test.start
    taken["pyg"] = [seconds * events / SAMPLE for seconds in taken["pyg"]]
    how = (
        f"{events:,} test events, each among all of {len(candidates)} destinations that its source "
        f"does not meet at that time, CTAN of 1 layer and embedding 100, batches of 200, stale; "
        f"the peer's time is that of {SAMPLE} events, times {events / SAMPLE:.0f}"
    )
    return [ratio("one-vs-many ranking, tgbl-wiki", taken, "pyg", how, wanted=50)]


def evaluator(data: Path, rounds: int) -> list[dict[str, Any]]:
    """Ranks of scores that are there already: ours against py-tgb's evaluator."""
    from tgb.linkproppred.evaluate import Evaluator

    events, others, batches = 200, 999, 20
    generator = torch.Generator().manual_seed(0)
    own = torch.randn(events, generator=generator)
    scores = torch.randn(events, others, generator=generator)
    against = torch.arange(events).repeat_interleave(others)
    flat, judge, metric = scores.reshape(-1), Evaluator("tgbl-wiki"), ["mrr"]

    def ours() -> None:
        for _ in range(batches):
            (1.0 / ranks(own, flat, against)).mean()

    def whole() -> None:
        for _ in range(batches):
            judge.eval({"y_pred_pos": own, "y_pred_neg": scores, "eval_metric": metric})

    def singly() -> None:
        for _ in range(batches):
            for e in range(events):
                asked = {"y_pred_pos": own[e : e + 1], "y_pred_neg": scores[e : e + 1]}
                judge.eval({**asked, "eval_metric": metric})

    taken = alternate({"ours": ours, "py-tgb, singly": singly, "py-tgb": whole}, rounds)
    work = "MRR of scores at hand"
    how = (
        f"{batches} batches of {events} events with {others} candidates each; ours takes any "
        "number of candidates for each event; py-tgb once a batch, or singly: once an event, as "
        "in TGB's examples"
    )
    return [ratio(work, taken, peer, how) for peer in ("py-tgb, singly", "py-tgb")]
