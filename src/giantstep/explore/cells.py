"""The cells of a map: test errors over two parameters, found in more and more of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from giantstep.arrays import Array, Indices
from giantstep.explore.question import Question
from giantstep.explore.theory import join, moved_to, refused, solve_along
from giantstep.problems.losses import SQUARE
from giantstep.validation import InvalidParametersError


class Cells:
    """The test errors of one question over two of its parameters.

    Parameters
    ----------
    question : Question
        Its first bulk is that of the map.
    x, y : tuple of (str, Array)
        A parameter and its values. A single value is that of all columns, or rows.

    Attributes
    ----------
    error : Array, shape (rows, columns)
        NaN where nothing is known yet.
    advice : ndarray of str, shape (rows, columns)
        For cells that failed, what to do about them.
    """

    def __init__(self, question: Question, x: tuple[str, Array], y: tuple[str, Array]) -> None:
        self.question, self.bulk = question, question.bulk[0]
        (self.across, self.x), (self.up, self.y) = x, y
        shape = self.y.size, self.x.size
        self.error, self.advice = np.full(shape, np.nan), np.full(shape, "", object)
        self._solved = np.zeros(shape, bool)
        # Points are solved together along alpha or the ridge: along a row, or else a column.
        self._by_rows = self.across in ("alpha", "ridge")
        along = self.across if self._by_rows else self.up
        self._together = along in ("alpha", "ridge") and question.loss == SQUARE

    def place(self, rows: Indices, columns: Indices) -> tuple[Indices, Indices]:
        """Return the index of rows and columns, which may be counted in a map of more cells."""
        row, column = np.ix_(*self._own(rows, columns))
        return row, column

    def _own(self, rows: Indices, columns: Indices) -> tuple[Indices, Indices]:
        """Return which of these cells' rows and columns serve those of a map: a single one, all."""
        row = rows if self.y.size > 1 else np.zeros_like(rows)
        column = columns if self.x.size > 1 else np.zeros_like(columns)
        return row, column

    def solve(self, rows: Indices, columns: Indices) -> Iterator[None]:
        """Solve what is not yet known of rows and columns, some cells at a time."""
        rows, columns = map(np.unique, self._own(rows, columns))
        for line in rows if self._by_rows else columns:
            cells = np.broadcast_arrays(*((line, columns) if self._by_rows else (rows, line)))
            row, column = (index[~self._solved[*cells]] for index in cells)
            size = max(row.size, 1) if self._together else 1
            for k in range(0, row.size, size):
                self._solve(row[k : k + size], column[k : k + size])
                yield

    def _solve(self, row: Indices, column: Indices) -> None:
        """Solve some cells of a line."""
        along, fixed = (self.across, self.x[column]), (self.up, self.y[row])
        if not self._by_rows:
            along, fixed = fixed, along
        try:
            moved = moved_to(self.question, fixed[0], fixed[1][0])
            found = join(solve_along(moved, self.bulk, *along))
        except InvalidParametersError as error:
            found = join([refused(str(error))] * row.size)
        self.error[row, column], self.advice[row, column] = found.test_error, found.advice
        self._solved[row, column] = True
