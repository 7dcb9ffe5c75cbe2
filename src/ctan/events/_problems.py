"""Gathering everything that is wrong with one input, to say it once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ctan.errors import DataError

_LONGEST = 200  # characters shown of what was given


class Problems:
    """What is wrong with one input: column, first bad row, given, expected, repair.

    Args:
        source: what is being read, a file name for instance; it opens the message.
        row_name: how a row is called, for a reader that knows more than its number.

    Example:
        >>> problems = Problems("events.csv")
        >>> problems.add("t", 3, "nan", "finite times", "drop or fill the row")
        >>> problems.raise_if_any()
        Traceback (most recent call last):
        ...
        ctan.errors.DataError: events.csv: 1 problem (rows count from 0)
          - column 't', row 3: got nan, expected finite times. To repair: drop or fill the row.
    """

    def __init__(self, source: str, row_name: Callable[[int], str] = "row {}".format) -> None:
        self.source = source
        self.row_name = row_name
        self.found: list[str] = []
        self._called: dict[str, str | None] = {}
        #: How the input wrote a time, where its number would not be recognised.
        self.time_cell: Callable[[int], str] | None = None

    def named(self, called: dict[str, str | None]) -> Problems:
        """From here on, name columns as the input calls them; the same object."""
        self._called = called
        return self

    def add(self, column: str, row: int | None, given: str, expected: str, repair: str) -> None:
        """Note one problem; `row` is None where the whole column is meant."""
        column = self._called.get(column) or column
        given = given if len(given) <= _LONGEST else f"{given[:_LONGEST]}..."
        place = f"column {column!r}" + (f", {self.row_name(row)}" if row is not None else "")
        self.found.append(f"{place}: got {given}, expected {expected}. To repair: {repair}.")

    def add_rows(
        self,
        column: str,
        bad: npt.NDArray[np.bool_],
        given: Callable[[int], str],
        expected: str,
        repair: str,
    ) -> bool:
        """Note the first row where `bad` is true and how many follow; say whether there is one."""
        count = int(np.count_nonzero(bad))
        if count:
            row = int(np.argmax(bad))
            more = f" (and {count - 1:,} more rows like it)" if count > 1 else ""
            self.add(column, row, given(row) + more, expected, repair)
        return count > 0

    def raise_if_any(self) -> None:
        """Raise one DataError that lists every problem noted so far."""
        if self.found:
            count = f"{len(self.found)} problem{'s' if len(self.found) > 1 else ''}"
            lines = "".join(f"\n  - {line}" for line in self.found)
            raise DataError(f"{self.source}: {count} (rows count from 0){lines}")
