"""How far a run is: a bar on a terminal, a line per epoch elsewhere; on stderr."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ctan.cli._show import notes, say
from ctan.training import Tick

_PHASES = {"train": "training", "val": "validating", "test": "testing"}
_REFRESH_SECONDS = 0.1


class RunProgress:
    """Watches a run: give `tick` and `epoch` to `fit`, or `tick` to `evaluate`.

    Args:
        epochs: at most this many; 0 where nothing is trained.
        header: lines to show once the first batch was played, so that nothing was wrong.

    Example:
        >>> with RunProgress(epochs=2) as progress:
        ...     progress.epoch({"epoch": 0, "loss": 0.5, "val": {"auc": 0.8}})
    """

    def __init__(self, epochs: int, header: Sequence[str] = ()) -> None:
        self.epochs = epochs
        self._header = list(header)
        self._bar = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            console=notes,
            transient=True,
            disable=not notes.is_terminal,
        )
        self._task = self._bar.add_task("preparing", total=None, speed="")
        now = time.perf_counter()
        self._started = self._epoch_from = self._shown = now
        self._epochs_seen = 0
        self._phase: tuple[str, int] | None = None
        self._phase_from, self._done_before = now, 0
        self._epoch_seconds = 0.0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tick(self, tick: Tick) -> None:
        """A batch was played."""
        now = time.perf_counter()
        if self._header:  # the first batch: the clock starts
            self._started = self._epoch_from = now
        while self._header:
            say(self._header.pop(0), "dim")
        if self._phase != (tick.phase.name, tick.phase.epoch):
            self._phase = (tick.phase.name, tick.phase.epoch)
            # The first batch of a phase also pays for what is prepared once: it starts the clock.
            self._phase_from, self._done_before = now, tick.done
        if now - self._shown < _REFRESH_SECONDS and tick.done < tick.total:
            return
        self._shown = now
        seconds = now - self._phase_from
        rate = (tick.done - self._done_before) / seconds if seconds > 0 else 0.0
        self._bar.update(
            self._task,
            description=self._doing(tick),
            completed=tick.done,
            total=tick.total,
            speed=self._speed(tick, rate),
        )

    def epoch(self, record: dict[str, Any]) -> None:
        """An epoch is finished."""
        now = time.perf_counter()
        took, self._epoch_from = now - self._epoch_from, now
        self._epochs_seen += 1
        self._epoch_seconds = (now - self._started) / self._epochs_seen
        width = len(str(self.epochs))
        measured = "  ".join(f"{name} {value:.4f}" for name, value in record.get("val", {}).items())
        line = f"epoch {record['epoch'] + 1:>{width}}/{self.epochs}   loss {record['loss']:.4f}"
        if "lr" not in record:  # a model without weights is only measured
            line, self.epochs = "nothing to train", record["epoch"] + 1
        line += f"   val {measured}" if measured else ""
        line += f"   {duration(took)}"
        left = (self.epochs - record["epoch"] - 1) * self._epoch_seconds
        # The bar says how long it will take, where there is one.
        say(line + (f", {duration(left)} left" if left and not notes.is_terminal else ""))

    def _doing(self, tick: Tick) -> str:
        doing = _PHASES[tick.phase.name]
        if tick.phase.training:
            return f"epoch {tick.phase.epoch + 1}/{self.epochs} {doing}"
        return doing

    def _speed(self, tick: Tick, rate: float) -> str:
        if not rate:
            return ""
        left = (tick.total - tick.done) / rate
        if tick.phase.training:
            # Before the first epoch is over, its training part stands for the whole.
            whole = self._epoch_seconds or tick.total / rate
            left += (self.epochs - tick.phase.epoch - 1) * whole
        return f"{rate:,.0f} batches/s, {duration(left)} left"


class JobProgress:
    """Watches jobs that take about equally long: a bar on a terminal, a line per job everywhere.

    Args:
        total: how many jobs.

    Example:
        >>> with JobProgress(1) as progress:
        ...     progress.done("the only one")
    """

    def __init__(self, total: int) -> None:
        self.total, self.finished = total, 0
        self._bar = Progress(
            TextColumn("runs"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=notes,
            transient=True,
            disable=not notes.is_terminal,
        )
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def done(self, line: str) -> None:
        """A job is finished."""
        self.finished += 1
        self._bar.update(self._task, completed=self.finished)
        say(f"{self.finished:>{len(str(self.total))}}/{self.total}   {line}")


def duration(seconds: float) -> str:
    """A time span as people write it.

    Example:
        >>> duration(0.25), duration(75), duration(7300)
        ('0.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
