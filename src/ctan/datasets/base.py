"""What a data set is: events, their split, and where they come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill, indent

from ctan.datasets._download import Remote, Watch
from ctan.datasets.negatives import EvaluationNegatives
from ctan.events import EventStream, GraphSplit, Split
from ctan.events.surprise import SURPRISES, surprise


@dataclass(frozen=True)
class About:
    """What is known of a data set before it is loaded.

    Attributes:
        name: what `load` knows it by.
        title: what it is, in one line.
        source: who publishes it, and where.
        licence: the terms, or where they are found.
        citation: what to cite.
        files: what is downloaded, if anything.
        published: the counts that its publisher or the paper states, by what is counted.
        surprise: the surprise index that the paper states, in its own digits.

    Example:
        >>> About("toy", "two events", "made up", "free", "nobody").published
        {}
    """

    name: str
    title: str
    source: str
    licence: str
    citation: str
    files: tuple[Remote, ...] = ()
    published: dict[str, int] = field(default_factory=dict)
    surprise: str | None = None


@dataclass(frozen=True, repr=False)
class Dataset:
    """A loaded data set.

    Attributes:
        about: where it comes from.
        stream: its events.
        split: its training, validation and test parts.
        negatives: the published negatives of evaluation, by part; empty where there are none.
        notes: what a user should know of this copy: options taken, what is missing.

    Example:
        >>> from ctan.datasets import load
        >>> data = load("t-pathgraph", length=3, graphs=20)
        >>> len(data.stream), len(data.split.train)
        (40, 14)
    """

    about: About
    stream: EventStream
    split: Split | GraphSplit
    negatives: dict[str, EvaluationNegatives] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def card(self) -> str:
        """What it is, counts, features, split, surprise index, source, licence, citation."""
        about = self.about
        rows = {
            "split": _split(self.split),
            "surprise index": _surprise(self),
            "negatives": ", ".join(f"{part}: {n}" for part, n in self.negatives.items()),
            "published": ", ".join(f"{n:,} {what}" for what, n in about.published.items()),
            "notes": "\n".join(self.notes),
            "source": about.source,
            "licence": about.licence,
            "citation": about.citation,
        }
        lines = [f"{about.name}: {about.title}", self.stream.card()]
        lines += [_row(name, text) for name, text in rows.items() if text]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.card()

    def __repr__(self) -> str:
        return f"Dataset({self.about.name!r}, {self.stream!r})"


#: How a data set is loaded: from a folder, with its own options.
Loader = Callable[..., Dataset]


@dataclass(frozen=True)
class Entry:
    """A line of the registry: what is known of a data set, and how it is loaded.

    Attributes:
        about: what is known beforehand.
        load: called with the folder of all data sets, then with the options by name. One that
            takes long has a parameter `watch` as well, and tells it of progress.
        fetch: downloads what is missing below that folder, and reports progress; None where there
            is nothing to download.
    """

    about: About
    load: Loader
    fetch: Callable[[Path, Watch | None], None] | None = None


def _row(name: str, text: str) -> str:
    lines = "\n".join(fill(line, 82, break_on_hyphens=False) for line in text.split("\n"))
    return f"  {name:<14}  " + indent(lines, " " * 18).lstrip()


def _split(split: Split | GraphSplit) -> str:
    if isinstance(split, Split):
        return str(split)
    sizes = " / ".join(f"{len(part):,}" for part in split)
    return f"{sizes} graphs"


def _surprise(data: Dataset) -> str:
    found = surprise(data.stream, data.split)
    lines = [f"{value:.3f} ({name}: {SURPRISES[name]})" for name, value in found.items()]
    stated = data.about.surprise
    if stated is not None:
        digits = len(stated.split(".")[1])
        same = [name for name, value in found.items() if f"{value:.{digits}f}" == stated]
        verdict = f"comes out as {', '.join(same)}" if same else "comes out under none of these"
        lines.append(f"the paper's {stated} {verdict}")
    return "\n".join(lines)
