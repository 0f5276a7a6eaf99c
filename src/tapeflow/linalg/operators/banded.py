"""Operators that hold diagonals: Toeplitz and tridiagonal matrices."""

from __future__ import annotations

from typing import Any

from tapeflow.array.concat_and_split import concat, stack, unstack
from tapeflow.array.creation import range as range_op
from tapeflow.array.creation import zeros_like
from tapeflow.array.gathers import gather
from tapeflow.array.identities import identity
from tapeflow.array.padding import reverse, roll
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to, expand_dims
from tapeflow.core.autodiff.gradients import conj
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.debugging.values import assert_equal
from tapeflow.linalg.banded import tridiagonal_solve
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.diagonals import diag, diag_part
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.base import LinearOperator
from tapeflow.linalg.operators.circulant import LinearOperatorCirculant, to_complex
from tapeflow.linalg.operators.shapes import (
    assert_real,
    broadcast_batches,
    check_rank,
    dimensions,
    parameter,
    square_dynamic,
    square_static,
)
from tapeflow.math.reduction import reduce_sum
from tapeflow.signal.fourier_ops import fft


class LinearOperatorToeplitz(LinearOperator):
    """Toeplitz matrices: each diagonal has one value. They multiply by the fast Fourier transform.

    Args:
        col: the first columns, of shape `[..., n]`.
        row: the first rows, of shape `[..., n]`; the first element counts in `col` only.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: the name of the operator.

    Raises:
        ValueError: `col` or `row` is a scalar, their lengths differ, or a hint can't be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorToeplitz(col=[1.0, 2.0, 3.0], row=[1.0, 4.0, 5.0])
        >>> operator.to_dense().numpy().tolist()
        [[1.0, 4.0, 5.0], [2.0, 1.0, 4.0], [3.0, 2.0, 1.0]]
    """

    _matrix_dimensions = {"col": 1, "row": 1}  # noqa: RUF012

    def __init__(
        self,
        col: TensorLike,
        row: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorToeplitz",
    ) -> None:
        self._col, self._row = parameter(col), parameter(row)
        check_rank(self._row, 1, "row")
        check_rank(self._col, 1, "col")
        lengths = self._row.shape[-1], self._col.shape[-1]
        if None not in lengths and lengths[0] != lengths[1]:
            raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
        is_square = hints.implied_hint(True, is_square, "Only square Toeplitz operators currently supported.")
        super().__init__(self._row.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def col(self) -> Tensor | Variable:
        """The first columns, of shape `[..., n]`."""
        return self._col

    @property
    def row(self) -> Tensor | Variable:
        """The first rows, of shape `[..., n]`."""
        return self._row

    def _shape(self) -> TensorShape:
        return square_static(self._row, self._col)

    def _shape_tensor(self) -> Any:
        return square_dynamic(self._row, self._col)

    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        # The matrix is the corner of a circulant matrix of twice the size.
        x = conjugate_transpose(x) if adjoint_arg else x
        col, row = broadcast_batches([self._col, self._row], 1)
        column = concat([col, zeros_like(col[..., :1]), reverse(row[..., 1:], [-1])], -1)
        circulant = LinearOperatorCirculant(fft(to_complex(column)), self.dtype)
        product = circulant.matmul(concat([x, zeros_like(x)], -2), adjoint=adjoint)
        return product[..., : dimensions(x)[-2], :]

    def _trace(self) -> Any:
        # By the diagonal: it has the batch dimensions of both `col` and `row`.
        return reduce_sum(self._diag_part(), -1)

    def _diag_part(self) -> Any:
        return broadcast_to(self._col[..., :1], self.shape_tensor()[:-1])

    def _to_dense(self) -> Any:
        col, row = broadcast_batches([self._col, self._row], 1)
        diagonals = concat([reverse(col, [-1]), row[..., 1:]], -1)  # from the lowest to the highest
        places = range_op(dimensions(col)[-1])
        return gather(diagonals, places - expand_dims(places, -1) + dimensions(col)[-1] - 1, axis=-1)

    def _assert_self_adjoint(self) -> Any:
        message = "row and col are not conjugate to each other, and so this operator is not self-adjoint."
        col = identity(self._col)
        return [
            assert_equal(col[..., 1:], conj(identity(self._row))[..., 1:], message=message),
            assert_real(col[..., :1], message),
        ]


class LinearOperatorTridiag(LinearOperator):
    """Tridiagonal matrices, which multiply and solve in linear time.

    Args:
        diagonals: in the format `diagonals_format`. Elements outside of the matrix are not read.
        diagonals_format: "compact": a tensor of shape `[..., 3, n]` of superdiagonals (whose last element is ignored),
            diagonals, and subdiagonals (whose first element is); "sequence": a list of the three, each of shape
            `[..., n]`; "matrix": a tensor of shape `[..., n, n]`.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: the name of the operator.

    Raises:
        ValueError: the format is unknown, or the hints contradict each other.

    Example:
        >>> diagonals = [[3.0, 4.0, 0.0], [1.0, 1.0, 1.0], [0.0, 5.0, 6.0]]
        >>> operator = tf.linalg.LinearOperatorTridiag(diagonals)
        >>> operator.to_dense().numpy().tolist()
        [[1.0, 3.0, 0.0], [5.0, 1.0, 4.0], [0.0, 6.0, 1.0]]
    """

    def __init__(
        self,
        diagonals: TensorLike,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorTridiag",
    ) -> None:
        if diagonals_format not in ("compact", "matrix", "sequence"):
            raise ValueError(
                "Argument `diagonals_format` must be one of compact, matrix, or sequence. Received : "
                f"{diagonals_format}."
            )
        self._diagonals: Any
        sequence: Any = diagonals
        if diagonals_format == "sequence":
            self._diagonals = [parameter(d) for d in sequence]
            dtype = self._diagonals[0].dtype
        else:
            self._diagonals = parameter(diagonals)
            check_rank(self._diagonals, 2, "diagonals")
            dtype = self._diagonals.dtype
        self._diagonals_format = diagonals_format
        super().__init__(dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def diagonals(self) -> Any:
        """The diagonals, in the format `diagonals_format`."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        """The format of `diagonals`."""
        return self._diagonals_format

    @property
    def _matrix_dimensions(self) -> dict[str, Any]:  # type: ignore[override]  # here it depends on the format
        return {"diagonals": 1 if self._diagonals_format == "sequence" else 2, "diagonals_format": None}

    def _shape(self) -> TensorShape:
        if self._diagonals_format == "matrix":
            return self._diagonals.shape
        if self._diagonals_format == "sequence":
            return square_static(*self._diagonals)
        shape = self._diagonals.shape
        return shape[:-2] + shape[-1:] + shape[-1:]

    def _shape_tensor(self) -> Any:
        if self._diagonals_format == "matrix":
            return shape_op(self._diagonals)
        if self._diagonals_format == "sequence":
            return square_dynamic(*self._diagonals)
        shape = shape_op(self._diagonals)
        return concat([shape[:-2], shape[-1:], shape[-1:]], 0)

    def _bands(self, adjoint: bool = False) -> list[Any]:
        """Returns superdiagonal, diagonal and subdiagonal, of shape `[..., n]` each, as in the compact format."""
        if self._diagonals_format == "sequence":
            above, main, below = broadcast_batches([identity(d) for d in self._diagonals], 1)
        elif self._diagonals_format == "compact":
            above, main, below = unstack(self._diagonals, 3, -2)
        else:
            above, main, below = unstack(diag_part(self._diagonals, k=(-1, 1), align="LEFT_RIGHT"), 3, -2)
        if not adjoint:
            return [above, main, below]
        return [roll(conj(below), -1, -1), conj(main), roll(conj(above), 1, -1)]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = conjugate_transpose(x) if adjoint_arg else x
        above, main, below = [expand_dims(band, -1) for band in self._bands(adjoint)]
        product = main * x
        zeros = zeros_like(product[..., :1, :])
        upper = above[..., :-1, :] * x[..., 1:, :]
        lower = below[..., 1:, :] * x[..., :-1, :]
        return product + concat([upper, zeros], -2) + concat([zeros, lower], -2)

    def _solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        bands, rhs = broadcast_batches([stack(self._bands(adjoint), -2), rhs])
        return tridiagonal_solve(bands, rhs, diagonals_format="compact")

    def _diag_part(self) -> Any:
        return self._bands()[1]

    def _to_dense(self) -> Any:
        if self._diagonals_format == "matrix":
            return identity(self._diagonals)
        return diag(stack(self._bands(), -2), k=(-1, 1), align="LEFT_RIGHT")

    def _assert_self_adjoint(self) -> Any:
        above, main, below = self._bands()
        return [
            assert_real(main, "This tridiagonal operator contained non-zero imaginary values on the diagonal."),
            assert_equal(
                conj(below)[..., 1:],
                above[..., :-1],
                message="This tridiagonal operator has non-conjugate subdiagonal and superdiagonal.",
            ),
        ]
