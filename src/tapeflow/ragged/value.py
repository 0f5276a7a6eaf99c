"""`tf.compat.v1.ragged.RaggedTensorValue`: a ragged tensor as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


class RaggedTensorValue:
    """The value of a ragged tensor, as sessions return it.

    Args:
        values: an array, or another such value: the rows, one after the other.
        row_splits: an array of integers, of shape `[rows + 1]`: the positions where rows begin and end.

    Raises:
        TypeError: they are no such arrays.

    Example:
        >>> import numpy as np
        >>> value = tf.compat.v1.ragged.RaggedTensorValue(np.array([1, 2, 3]), np.array([0, 1, 3]))
        >>> value.to_list(), value.shape
        ([[1], [2, 3]], (2, None))
    """

    def __init__(self, values: np.ndarray | np.generic | RaggedTensorValue, row_splits: np.ndarray) -> None:
        is_array = isinstance(row_splits, (np.ndarray, np.generic))
        if not is_array or row_splits.ndim != 1 or row_splits.dtype.kind != "i":
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        self._values = values
        self._row_splits = row_splits

    @property
    def values(self) -> Any:
        """The rows, one after the other."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """The positions where rows begin and end."""
        return self._row_splits

    @property
    def flat_values(self) -> Any:
        """All elements, in an array."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """NumPy's dtype of the elements."""
        return self._values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, with None for ragged dimensions."""
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Any]:
        """Returns the rows as nested lists."""
        rows = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [rows[start:stop] for start, stop in zip(self._row_splits[:-1], self._row_splits[1:], strict=True)]

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"
