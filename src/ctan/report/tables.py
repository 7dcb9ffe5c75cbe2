"""Tables of means and deviations, as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cell:
    """A number measured several times.

    Attributes:
        mean: over the runs.
        std: their standard deviation; None for a single run.
        runs: how many, where known.

    Example:
        >>> print(Cell.of([99.0, 100.0, 98.0]), Cell.of([99.0]))
        99.00 ± 1.00 99.00
    """

    mean: float
    std: float | None = None
    runs: int | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Cell:
        """Mean and sample deviation (divided by runs - 1) of one or more values."""
        std = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return cls(float(np.mean(values)), std, len(values))

    def __str__(self) -> str:
        return f"{self.mean:.2f}" + ("" if self.std is None else f" ± {self.std:.2f}")


@dataclass(frozen=True)
class Table:
    """Cells by row and column; those that were not measured are absent.

    Attributes:
        rows: names, in order.
        columns: names, in order.
        cells: by row and column.
        caption: what is measured, and how.

    Example:
        >>> table = Table(["CTAN"], ["3", "20"], {("CTAN", "20"): Cell(98.5)}, "accuracy")
        >>> print(table.markdown(corner="length"))
        | length | 3 | 20 |
        |---|---:|---:|
        | CTAN |  | 98.50 |
    """

    rows: list[str]
    columns: list[str]
    cells: Mapping[tuple[str, str], Cell]
    caption: str = ""

    def __getitem__(self, place: tuple[str, str]) -> Cell:
        return self.cells[place]

    def text(self, row: str, column: str) -> str:
        """A cell as text; empty if it was not measured."""
        cell = self.cells.get((row, column))
        return "" if cell is None else str(cell)

    def lines(self) -> list[list[str]]:
        """All rows as text, the row's name first."""
        return [[row, *(self.text(row, column) for column in self.columns)] for row in self.rows]

    def transposed(self) -> Table:
        """Rows and columns exchanged.

        Example:
            >>> Table(["CTAN"], ["3"], {("CTAN", "3"): Cell(1.0)}).transposed().lines()
            [['3', '1.00']]
        """
        cells = {(column, row): cell for (row, column), cell in self.cells.items()}
        return Table(self.columns, self.rows, cells, self.caption)

    def markdown(self, corner: str = "") -> str:
        """The table in Markdown.

        Args:
            corner: the heading of the first column.
        """
        head = f"| {' | '.join([corner, *self.columns])} |"
        rule = "|---" + "|---:" * len(self.columns) + "|"
        return "\n".join([head, rule, *(f"| {' | '.join(line)} |" for line in self.lines())])

    def csv(self, corner: str = "") -> str:
        """The table in CSV: one line for each cell, in full precision.

        Args:
            corner: the heading of the first column.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([corner or "row", "column", "mean", "std", "runs"])
        for (row, column), cell in self.cells.items():
            writer.writerow([row, column, cell.mean, cell.std, cell.runs])
        return text.getvalue()


def beside(ours: Table, theirs: Table, us: str = "here", them: str = "paper") -> Table:
    """Two tables in one, each of our rows above the same row of theirs.

    Args:
        ours: gives rows and columns.
        theirs: gives the cells that it has.
        us: names ours.
        them: names theirs.

    Example:
        >>> here = Table(["CTAN"], ["20"], {("CTAN", "20"): Cell(100.0)})
        >>> paper = Table(["CTAN"], ["20"], {("CTAN", "20"): Cell(88.93, 12.06)})
        >>> beside(here, paper).lines()
        [['CTAN, here', '100.00'], ['CTAN, paper', '88.93 ± 12.06']]
    """
    cells = {
        (f"{row}, {called}", column): table.cells[row, column]
        for row in ours.rows
        for called, table in ((us, ours), (them, theirs))
        for column in ours.columns
        if (row, column) in table.cells
    }
    rows = [f"{row}, {called}" for row in ours.rows for called in (us, them)]
    return Table(rows, ours.columns, cells, ours.caption)
