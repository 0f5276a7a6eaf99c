"""Operators composed of blocks: block diagonal, and block lower triangular."""

from __future__ import annotations

import functools
import operator as python
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.concat_and_split import concat, split, stack
from tapeflow.array.creation import zeros
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to, expand_dims, squeeze
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.debugging.types import assert_proper_iterable
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.base import LinearOperator
from tapeflow.linalg.operators.composition import (
    ComposedOperator,
    checked_operators,
    if_parts_are_square,
    inherit_hints,
    sum_of_logs,
)
from tapeflow.linalg.operators.dense import LinearOperatorFullMatrix
from tapeflow.linalg.operators.shapes import (
    broadcast_batches,
    broadcast_dynamic,
    broadcast_static,
    check_same_dimension,
    dimensions,
)
from tapeflow.math.arithmetic import add_n

if TYPE_CHECKING:
    from tapeflow.core.values.tensor import Tensor


def _is_blockwise(sizes: Sequence[int | None], arg: TensorLike, axis: int) -> bool:
    """Returns True if an argument is a list with a tensor for each block, rather than one tensor written as a list.

    Raises:
        ValueError: it could be both, or fits neither.
    """
    if not isinstance(arg, (list, tuple)) or len(arg) != len(sizes):
        return False
    shapes = [TensorShape(a.shape if hasattr(a, "shape") else convert(a).shape) for a in arg]
    if any(shape.rank is not None and shape.rank < -axis for shape in shapes):
        return False  # the rows of a single matrix
    if not any(isinstance(a, (list, tuple)) for a in arg):
        return True
    lengths = [shape[axis] for shape in shapes]
    if all(size is None for size in sizes):
        if len(lengths) == 1:
            return False
        if any(length != lengths[0] for length in lengths):
            return True
        raise ValueError(
            "Parsing of the input structure is ambiguous. Please input a blockwise iterable of `Tensor`s or a single "
            "`Tensor`."
        )
    if all(size is None or size == length for size, length in zip(sizes, lengths, strict=True)):
        return True
    if all(length == lengths[0] for length in lengths) and lengths[0] >= sum(size or 0 for size in sizes):
        return False
    raise ValueError("Input dimension does not match operator dimension.")


def _total_size(sizes: list[int | None]) -> int | None:
    """Returns the sum of sizes, or None if one is not static."""
    return None if None in sizes else sum(s for s in sizes if s is not None)


class _BlockOperator(ComposedOperator):
    """An operator that also multiplies a list with a tensor for each block, and returns such a list then."""

    @abstractmethod
    def _all_operators(self) -> list[LinearOperator]:
        """Returns all blocks."""

    @abstractmethod
    def _diagonal_operators(self) -> list[LinearOperator]:
        """Returns the blocks on the diagonal."""

    @abstractmethod
    def _multiply(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        """Computes the product with an argument in blocks, in blocks."""

    @abstractmethod
    def _solve_blocks(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        """Computes the solution for a right side in blocks, in blocks."""

    # ---- blocks of arguments -----------------------------------------------------------------------------------------

    def _sizes(self, rows: bool) -> list[int | None]:
        """Returns the numbers of rows, or of columns, of the blocks on the diagonal."""
        return [o.range_dimension if rows else o.domain_dimension for o in self._diagonal_operators()]

    def _block_range_dimensions(self) -> list[int | None]:
        return self._sizes(rows=True)

    def _block_domain_dimensions(self) -> list[int | None]:
        return self._sizes(rows=False)

    def _block_range_dimension_tensors(self) -> list[Any]:
        return [o.range_dimension_tensor() for o in self._diagonal_operators()]

    def _block_domain_dimension_tensors(self) -> list[Any]:
        return [o.domain_dimension_tensor() for o in self._diagonal_operators()]

    def _blocks(self, arg: Any, rows: bool, axis: int) -> list[Any] | None:
        """Returns the tensors of an argument that is a list with one for each block; None if it is a single tensor."""
        sizes = self._sizes(rows)
        if not _is_blockwise(sizes, arg, axis):
            return None
        blocks = []
        for block, size in zip(arg, sizes, strict=True):
            if not isinstance(block, LinearOperator):
                block = self._of_dtype(block)
                check_same_dimension(size, block.shape[axis])
            blocks.append(block)
        return blocks

    def _split(self, x: Tensor, rows: bool, axis: int) -> list[Any]:
        sizes: Any = self._sizes(rows)
        if None in sizes:
            sizes = stack(self._block_range_dimension_tensors() if rows else self._block_domain_dimension_tensors())
        return split(x, sizes, axis)

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "matmul") -> Any:
        """Computes `A @ x`; see `tf.linalg.LinearOperator.matmul`. For a list of tensors, one a block, a list."""
        if not isinstance(x, LinearOperator):
            blocks = self._blocks(x, adjoint, -1 if adjoint_arg else -2)
            if blocks is not None:
                return self._multiply(blocks, adjoint, adjoint_arg)
        return super().matmul(x, adjoint, adjoint_arg, name)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        blocks = self._split(x, adjoint, -1 if adjoint_arg else -2)
        return concat(broadcast_batches(self._multiply(blocks, adjoint, adjoint_arg)), -2)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str | None = "matvec") -> Any:
        """Computes products with vectors; see `tf.linalg.LinearOperator.matvec`. For a list of blocks, a list."""
        blocks = self._blocks(x, adjoint, -1)
        if blocks is None:
            return super().matvec(x, adjoint, name)
        return [squeeze(y, -1) for y in self._multiply([expand_dims(b, -1) for b in blocks], adjoint, False)]

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "solve") -> Any:
        """Solves `A @ x = rhs`; see `tf.linalg.LinearOperator.solve`. For a list of tensors, one a block, a list."""
        self._check_solvable()
        if not isinstance(rhs, LinearOperator):
            blocks = self._blocks(rhs, not adjoint, -1 if adjoint_arg else -2)
            if blocks is not None:
                return self._solve_blocks(blocks, adjoint, adjoint_arg)
        return super().solve(rhs, adjoint, adjoint_arg, name)

    @if_parts_are_square
    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        blocks = self._split(rhs, not adjoint, -1 if adjoint_arg else -2)
        return concat(broadcast_batches(self._solve_blocks(blocks, adjoint, adjoint_arg)), -2)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str | None = "solve") -> Any:
        """Solves `A @ x = rhs` for vectors; see `tf.linalg.LinearOperator.solvevec`. For a list of blocks, a list."""
        blocks = self._blocks(rhs, not adjoint, -1)
        if blocks is None:
            return super().solvevec(rhs, adjoint, name)
        self._check_solvable()
        return [squeeze(x, -1) for x in self._solve_blocks([expand_dims(b, -1) for b in blocks], adjoint, False)]

    # ---- by the blocks on the diagonal -------------------------------------------------------------------------------

    def _all_square(self) -> bool:
        return all(o.is_square for o in self._diagonal_operators())

    def _shape(self) -> TensorShape:
        batch = broadcast_static(*[o.batch_shape for o in self._all_operators()])
        return batch + [_total_size(self._sizes(rows)) for rows in (True, False)]

    def _shape_tensor(self) -> Any:
        rows, columns = add_n(self._block_range_dimension_tensors()), add_n(self._block_domain_dimension_tensors())
        batch = broadcast_dynamic(*[o.batch_shape_tensor() for o in self._all_operators()])
        return concat([batch, stack([rows, columns])], 0)

    @if_parts_are_square
    def _determinant(self) -> Any:
        return self._batched(functools.reduce(python.mul, [o.determinant() for o in self._diagonal_operators()]))

    @if_parts_are_square
    def _log_abs_determinant(self) -> Any:
        parts = [o.log_abs_determinant() for o in self._diagonal_operators()]
        return self._batched(sum_of_logs(parts, self.dtype))

    @if_parts_are_square
    def _trace(self) -> Any:
        return self._batched(functools.reduce(python.add, [o.trace() for o in self._diagonal_operators()]))

    @if_parts_are_square
    def _diag_part(self) -> Any:
        return self._joined([o.diag_part() for o in self._diagonal_operators()])

    def _eigvals(self) -> Any:
        if not all(o.is_self_adjoint for o in self._diagonal_operators()):
            return super()._eigvals()
        return self._joined([o.eigvals() for o in self._diagonal_operators()])

    def _batched(self, x: Tensor) -> Any:
        """Broadcasts one number a matrix to the batch, which blocks off the diagonal may enlarge."""
        return x if x.shape == self.batch_shape else broadcast_to(x, self.batch_shape_tensor())

    def _joined(self, parts: list[Any]) -> Any:
        """Joins vectors, one for each block."""
        joined = concat(broadcast_batches(parts, 1), -1)
        if joined.shape[:-1] == self.batch_shape:
            return joined
        return broadcast_to(joined, concat([self.batch_shape_tensor(), shape_op(joined)[-1:]], 0))

    @if_parts_are_square
    def _assert_non_singular(self) -> Any:
        return [operator.assert_non_singular() for operator in self._diagonal_operators()]


def _zero_columns(rows_like: Tensor, columns: Tensor | int) -> Any:
    """Returns zeros with the batch and rows of a matrix, and this number of columns."""
    return zeros([*dimensions(rows_like)[:-1], columns], rows_like.dtype)


class LinearOperatorBlockDiag(_BlockOperator):
    """Operators along the diagonal of a larger matrix, and zeros everywhere else.

    The argument of `matmul`, `matvec`, `solve` or `solvevec` is one tensor, which is split between the blocks, or a
    list with a tensor for each block. For a list, the result is a list, too.

    Args:
        operators: a list of operators.
        is_non_singular, is_self_adjoint, is_positive_definite: hints; see `tf.linalg.LinearOperator`. Some follow from
            the hints of the operators.
        is_square: True by default; None or False if blocks are not square.
        name: by default the operators' names with `_ds_` between them.

    Raises:
        TypeError: the operators are of different dtypes.
        ValueError: there are none, or a hint can't be true.

    Example:
        >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> b = tf.linalg.LinearOperatorIdentity(1)
        >>> operator = tf.linalg.LinearOperatorBlockDiag([a, b])
        >>> operator.to_dense().numpy().tolist()
        [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 1.0]]
        >>> [y.numpy().tolist() for y in operator.matvec([tf.constant([1.0, 1.0]), tf.constant([5.0])])]
        [[3.0, 7.0], [5.0]]
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        self._operators = operators = checked_operators(operators)
        properties = inherit_hints(operators, "direct sum", is_non_singular, is_self_adjoint, is_positive_definite)
        super().__init__(
            operators[0].dtype, is_square=is_square, name=name or "_ds_".join(o.name for o in operators), **properties
        )

    def _all_operators(self) -> list[LinearOperator]:
        return self._operators

    _diagonal_operators = _all_operators

    def _multiply(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        return [o.matmul(x, adjoint, adjoint_arg) for o, x in zip(self._operators, blocks, strict=True)]

    def _solve_blocks(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        return [o.solve(x, adjoint, adjoint_arg) for o, x in zip(self._operators, blocks, strict=True)]

    def _to_dense(self) -> Any:
        rows, before = [], 0
        columns = self.domain_dimension_tensor() if self.domain_dimension is None else self.domain_dimension
        for block in broadcast_batches([o.to_dense() for o in self._operators]):
            width = dimensions(block)[-1]
            rows.append(
                concat([_zero_columns(block, before), block, _zero_columns(block, columns - before - width)], -1)
            )
            before += width
        return concat(rows, -2)

    def _assert_positive_definite(self) -> Any:
        return [operator.assert_positive_definite() for operator in self._operators]

    def _assert_self_adjoint(self) -> Any:
        return [operator.assert_self_adjoint() for operator in self._operators]

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.adjoint() for o in self._operators], **hints.of(self))

    @if_parts_are_square
    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.inverse() for o in self._operators], **hints.of(self))

    def _linop_cholesky(self) -> LinearOperator:
        if not all(o._can_use_cholesky() for o in self._operators):
            return super()._linop_cholesky()
        return LinearOperatorBlockDiag([o.cholesky() for o in self._operators], is_non_singular=True)


class LinearOperatorBlockLowerTriangular(_BlockOperator):
    """Operators on and below the diagonal of a larger matrix, and zeros above it.

    Arguments may be lists with a tensor for each block; see `tf.linalg.LinearOperatorBlockDiag`.

    Args:
        operators: a list of rows of blocks. Row i is a list of i + 1 operators, and the last operator is square.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`. Some
            follow from the hints of the operators.
        name: the name of the operator.

    Raises:
        TypeError: the operators are of different dtypes.
        ValueError: there are none, their shapes do not fit, or a hint can't be true.

    Example:
        >>> a = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        >>> b = tf.linalg.LinearOperatorFullMatrix([[5.0, 6.0]])
        >>> c = tf.linalg.LinearOperatorIdentity(1)
        >>> tf.linalg.LinearOperatorBlockLowerTriangular([[a], [b, c]]).to_dense().numpy().tolist()
        [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [5.0, 6.0, 1.0]]
    """

    def __init__(
        self,
        operators: Sequence[Sequence[LinearOperator]],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        assert_proper_iterable(operators)
        for row in operators:
            assert_proper_iterable(row)
        self._operators = rows = [list(row) for row in operators]
        if not rows:
            raise ValueError(f"Argument `operators` must be a list of >=1 operators. Received: {rows}.")
        for i, row in enumerate(rows):
            if len(row) != i + 1:
                raise ValueError(
                    f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: {len(row)} blocks."
                )
        checked_operators(self._all_operators())
        self._check_dimensions()
        if is_square is False:
            raise ValueError("`LinearOperatorBlockLowerTriangular` must be square.")
        super().__init__(
            rows[0][0].dtype, None, self._invertible(is_non_singular), is_self_adjoint, is_positive_definite, True, name
        )

    def _check_dimensions(self) -> None:
        """Raises ValueError for a block that does not fit the one above it or the one to its right."""
        rows = self._operators
        for i, row in enumerate(rows):
            for j, block in enumerate(row[:-1]):
                for dimension, other, where in (
                    ("domain_dimension", rows[i - 1][j], (i - 1, j)),
                    ("range_dimension", row[j + 1], (i, j + 1)),
                ):
                    own, its = getattr(block, dimension), getattr(other, dimension)
                    if own is not None and its is not None and own != its:
                        raise ValueError(
                            f"Argument `operators[{i}][{j}].{dimension}` ({own}) must be the same as "
                            f"`operators[{where[0]}][{where[1]}].{dimension}` ({its})."
                        )
            if row[-1].is_square is False:
                raise ValueError(
                    f"Matrices on the diagonal must be square. Expected `operators[{i}][-1]` to be square."
                )

    def _invertible(self, hint: bool | None) -> bool | None:
        """Returns whether the matrices are invertible, from a hint and the hints of the diagonal blocks.

        Raises:
            ValueError: they contradict each other.
        """
        diagonal = [o.is_non_singular for o in self._diagonal_operators()]
        if False not in diagonal:
            message = (
                "A blockwise lower-triangular operator with non-singular operators on the main diagonal is always "
                "non-singular."
            )
            return hints.implied_hint(all(diagonal), hint, message)
        if hint:
            raise ValueError(
                "A blockwise lower-triangular operator with a singular operator on the main diagonal is always "
                "singular."
            )
        return False

    @property
    def operators(self) -> list[list[LinearOperator]]:  # type: ignore[override]  # here they are in rows
        """The rows of blocks."""
        return self._operators

    def _all_operators(self) -> list[LinearOperator]:
        return [o for row in self._operators for o in row]

    def _diagonal_operators(self) -> list[LinearOperator]:
        return [row[-1] for row in self._operators]

    def _multiply(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        count = len(self._operators)
        results = []
        for i in range(count):
            column = [(self._operators[j][i], blocks[j]) for j in range(i, count)]
            row = [(self._operators[i][j], blocks[j]) for j in range(i + 1)]
            parts = [o.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) for o, x in (column if adjoint else row)]
            results.append(functools.reduce(python.add, parts))
        return results

    def _solve_blocks(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        # Substitution runs forwards, or backwards for the adjoint, an upper triangular matrix.
        count = len(self._operators)
        solved: list[Any] = [None] * count
        for i in reversed(range(count)) if adjoint else range(count):
            rest = conjugate_transpose(blocks[i]) if adjoint_arg else blocks[i]
            for j in range(i + 1, count) if adjoint else range(i):
                block = self._operators[j][i] if adjoint else self._operators[i][j]
                rest = rest - block.matmul(solved[j], adjoint=adjoint)
            solved[i] = self._operators[i][i].solve(rest, adjoint=adjoint)
        return solved

    def _to_dense(self) -> Any:
        dense = iter(broadcast_batches([o.to_dense() for o in self._all_operators()]))
        columns = self.domain_dimension_tensor() if self.domain_dimension is None else self.domain_dimension
        rows = []
        for row in self._operators:
            blocks = [next(dense) for _ in row]
            width = sum(dimensions(b)[-1] for b in blocks)
            rows.append(concat([*blocks, _zero_columns(blocks[0], columns - width)], -1))
        return concat(rows, -2)

    def _eigvals(self) -> Any:
        return self._joined([o.eigvals() for o in self._diagonal_operators()])

    def _linop_inverse(self) -> LinearOperator:
        # Row by row: the last row of the inverse of [[A, 0], [B, D]] is [-D^-1 B A^-1, D^-1].
        inverse: list[list[LinearOperator]] = []
        for row in self._operators:
            last = row[-1].inverse()
            blocks: list[LinearOperator] = []
            for i in range(len(row) - 1):
                parts = [row[j].matmul(inverse[j][i].to_dense()) for j in range(i, len(row) - 1)]
                blocks.append(LinearOperatorFullMatrix(-last.matmul(functools.reduce(python.add, parts))))
            inverse.append([*blocks, last])
        return LinearOperatorBlockLowerTriangular(inverse, **hints.of(self))
