"""Many small runs on several processes, one thread each."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Job:
    """A model, trained on T-PathGraph by its recipe.

    Attributes:
        model: its name.
        length: nodes in a path.
        seed: of the run.
        epochs: how many.
        graphs: how many paths.
    """

    model: str
    length: int
    seed: int
    epochs: int
    graphs: int = 1000


@dataclass(frozen=True)
class Outcome:
    """What a job gave.

    Attributes:
        job: the job.
        accuracy: on the test part, in percent.
        parameters: trained.
        seconds: from start to end.
    """

    job: Job
    accuracy: float
    parameters: int
    seconds: float


def run_job(job: Job) -> Outcome:
    """Train and test.

    Example:
        >>> run_job(Job("jodie", length=3, seed=0, epochs=1, graphs=40)).job.length
        3
    """
    from ctan.datasets import path_graphs
    from ctan.training import fit, recipe

    started = time.perf_counter()
    start = recipe("sequence", job.model)
    done = fit(
        path_graphs(job.length, variant="paper", graphs=job.graphs),
        task="sequence",
        model=job.model,
        options=start.options,
        protocol=replace(start.protocol, seed=job.seed, epochs=job.epochs),
    )
    accuracy = 100 * done.results["test"]["accuracy"]
    return Outcome(job, accuracy, done.results["parameters"], time.perf_counter() - started)


def run_all(jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
    """The outcomes of all jobs, as they come.

    Args:
        jobs: in the order in which they are started: the long ones first.
        workers: processes; with 1 they run in this one.
    """
    if workers == 1:
        yield from map(run_job, jobs)
        return
    # A fresh interpreter each: a fork would copy the threads' locks of torch.
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(workers, len(jobs)), _start_worker) as pool:
        yield from pool.imap_unordered(run_job, jobs)


def _start_worker() -> None:
    import torch

    torch.set_num_threads(1)
    # Ctrl-C reaches all processes: the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
