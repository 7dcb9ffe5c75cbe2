"""Graphs of superpixels for many images: from the cache where they are there, else computed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from ctan._optional import optional
from ctan.datasets.pascalvoc_folder import Pair, read_pair
from ctan.datasets.superpixels import SuperpixelGraph, superpixel_graph
from ctan.datasets.superpixels_cache import DamagedError, cache_key, read_graph, write_graph
from ctan.errors import CtanError, DataError

#: Called with the number of images done and the number of all images.
Progress = Callable[[int, int], None]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """One image to be turned into a graph, and the file that keeps the graph."""

    pair: Pair
    file: Path
    options: dict[str, Any]  # of `superpixel_graph`

    @property
    def key(self) -> str:
        """What the cached graph must have been made from."""
        return cache_key(self.pair.image, self.pair.mask, **self.options)


class Outcome(NamedTuple):
    """What became of one job: a graph, or else a problem; `rebuilt` after a damaged file."""

    job: int
    graph: SuperpixelGraph | None
    problem: str | None = None
    rebuilt: bool = False


def superpixel_graphs(
    jobs: list[Job], processes: int = 1, progress: Progress | None = None
) -> Iterator[Outcome]:
    """Run jobs, first those whose graphs are cached, then the others.

    Each computed graph is written before it is handed on: a run that is interrupted goes on where
    it stopped. The graphs do not depend on the number of processes.
    """
    missing: list[int] = []
    damaged: set[int] = set()
    done = 0

    def count(outcome: Outcome) -> Outcome:
        nonlocal done
        done += 1
        if progress:
            progress(done, len(jobs))
        return outcome

    for index, job in enumerate(jobs):
        try:
            graph = read_graph(job.file, job.key)
        except DamagedError as error:
            _log.warning("%s is damaged (%s): made again", job.file, error)
            damaged.add(index)
            graph = None
        except OSError as error:
            yield count(Outcome(index, None, f"{error}: cannot be read"))
            continue
        if graph is None:
            missing.append(index)
        else:
            yield count(Outcome(index, graph))

    with _mapping(processes if len(missing) > 1 else 1) as run:
        results = run(_build, [jobs[index] for index in missing])
        for index, result in zip(missing, results, strict=True):
            graph, problem = (None, result) if isinstance(result, str) else (result, None)
            yield count(Outcome(index, graph, problem, index in damaged))


def _build(job: Job) -> SuperpixelGraph | str:
    """Compute and keep one graph; a message where the image or its mask is at fault."""
    try:
        image, mask = read_pair(job.pair)
    except DataError as error:
        return str(error)
    graph = superpixel_graph(image, mask, **job.options)
    try:
        write_graph(job.file, graph, job.key)
    except OSError as error:
        raise CtanError(
            f"{job.file}: cannot be written ({error.strerror}). Superpixels are kept in a folder "
            "that must be writable: say which, with cache='...'."
        ) from error
    return graph


@contextmanager
def _mapping(processes: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """`map`, in this process or over several, in order."""
    for module in ("skimage.segmentation", "PIL.Image"):
        optional(module, "vision")  # say what is missing here, before processes start
    if processes == 1:
        yield map
        return
    # Started afresh: a fork would copy the locks of this process's threads, torch's among them.
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        yield pool.map
    except BrokenProcessPool as error:
        raise CtanError(
            f"one of {processes} processes ended early. In a script of your own, the call must "
            "stand under `if __name__ == '__main__':`, since each process imports the script; "
            "otherwise memory may have run out: use fewer processes. What is done is kept."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)
