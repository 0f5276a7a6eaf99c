"""Diagonals and bands of matrices, and transposes.

Several diagonals at once stand in the rows of a tensor, the uppermost first, padded to the length of the longest.
`align` names the side of the rows above the main diagonal, then of the rows below it. "RIGHT_LEFT" puts superdiagonals
to the right and subdiagonals to the left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import ones_like, zeros, zeros_like
from tapeflow.array.creation import range as range_op
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.reshapes import transpose
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.batch_rules import equal_shapes, leading_dimensions
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import argument_shape, check_rank, leave_to_kernel, text, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import bool as bool_
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.linalg.rules import is_static, sizes
from tapeflow.math.reduction import reduce_sum


def _diagonal_range(k: Any) -> tuple[int, int]:
    """Returns the lowest and the highest of the diagonals that `k` names.

    Raises:
        InvalidArgumentError: `k` is neither a number nor an ascending pair.
    """
    if isinstance(k, int):
        return k, k
    if any(not isinstance(i, int) for i in k):
        raise invalid(f"diag_index must be a scalar or vector, not {k}")
    if len(k) not in (1, 2):
        raise invalid(f"diag_index must have only one or two elements, received {len(k)} elements.")
    if k[0] > k[-1]:
        raise invalid(f"lower_diag_index must not be larger than upper_diag_index: {k[0]} > {k[-1]}")
    return k[0], k[-1]


def _check_diagonals(low: int, high: int, rows: int, columns: int) -> None:
    """Raises InvalidArgumentError for diagonals that the matrices do not have."""
    for name, i in (("lower", low), ("upper", high)):
        if not (-rows < i < columns or i == 0):
            raise invalid(f"{name}_diag_index is out of bound: {i}. It must be between {-rows} and {columns}")


def _longest_diagonal(low: int, high: int, rows: int, columns: int) -> int:
    """Returns the length of the longest of some diagonals."""
    return min(rows + min(high, 0), columns - max(low, 0))


def _diagonal_places(
    low: int, high: int, rows: int, columns: int, width: int, align: str
) -> Iterator[tuple[int, int, int]]:
    """Yields each diagonal's index, from the highest on, and the start and stop of its elements in a row of `width`."""
    above, _, below = align.partition("_")
    for i in range(high, low - 1, -1):
        length = _longest_diagonal(i, i, rows, columns)
        start = width - length if (above if i >= 0 else below) == "RIGHT" else 0
        yield i, start, start + length


# ---- from diagonals to matrices --------------------------------------------------------------------------------------


def _diag_size(width: int, low: int, high: int, num_rows: int, num_cols: int) -> tuple[int, int]:
    """Returns the numbers of rows and columns of matrices with diagonals of length `width`; -1 stands for the least.

    Raises:
        InvalidArgumentError: the diagonals do not fit in such matrices.
    """
    rows, columns = width - min(high, 0), width + max(low, 0)  # the least there is room in
    if num_rows == -1 == num_cols:
        return max(rows, columns), max(rows, columns)
    if num_rows != -1 and num_rows < rows:
        raise invalid("The number of rows is too small.")
    if num_cols != -1 and num_cols < columns:
        raise invalid("The number of columns is too small.")
    if num_rows not in (-1, rows) and num_cols not in (-1, columns):
        raise invalid(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal."
        )
    return rows if num_rows == -1 else num_rows, columns if num_cols == -1 else num_cols


def _diag_rule(
    diagonal: TensorShape,
    k: int | tuple[int, ...] = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding: int = 0,
    *_: Any,
) -> TensorShape:
    _check_ranks(k, num_rows, num_cols, padding)
    if diagonal.rank is None or not is_static(k):
        return TensorShape(None)
    if diagonal.rank < 1:
        raise invalid(f"diagonal must be at least 1-dim, received shape: {text(diagonal)}")
    low, high = _diagonal_range(k)
    batch = diagonal[:-1]
    if low < high:
        if diagonal.rank < 2 or batch[-1] not in (None, high - low + 1):
            count = high - low + 1
            raise invalid(f"diagonals {low} to {high} need a tensor [..., {count}, length], not {text(diagonal)}")
        batch = batch[:-1]
    if not is_static(num_rows) or not is_static(num_cols):
        return batch.concatenate([None, None])
    if diagonal[-1] is None:
        if num_rows != -1 != num_cols:  # like TensorFlow, which compares both with a length of -1
            raise invalid("num_rows and num_cols are not consistent with the length of the given diagonals.")
        return batch.concatenate([None if num_rows == -1 else num_rows, None if num_cols == -1 else num_cols])
    return batch.concatenate(_diag_size(diagonal[-1], low, high, num_rows, num_cols))


@op(
    "MatrixDiagV3",
    host=("k", "num_rows", "num_cols", "padding_value"),
    shape=_diag_rule,
    moves=True,
    batching=leading_dimensions,
)
def _matrix_diag(
    diagonal: torch.Tensor,
    k: int | tuple[int, ...],
    num_rows: int,
    num_cols: int,
    padding_value: float,
    align: str = "RIGHT_LEFT",
) -> torch.Tensor:
    """Builds matrices with some diagonals, and a padding value elsewhere."""
    if k == 0 and num_rows == -1 == num_cols and padding_value == 0 and diagonal.ndim:
        return torch.diag_embed(diagonal)
    shape = sizes(_diag_rule(TensorShape(diagonal.shape), k, num_rows, num_cols))
    return _write_diagonals(diagonal.new_full(shape, padding_value), diagonal, k, align)


def _write_diagonals(
    matrix: torch.Tensor, diagonal: torch.Tensor, k: int | tuple[int, ...], align: str
) -> torch.Tensor:
    """Writes diagonals into a matrix, and returns it."""
    low, high = _diagonal_range(k)
    if low == high:
        diagonal = diagonal.unsqueeze(-2)
    places = _diagonal_places(low, high, matrix.shape[-2], matrix.shape[-1], diagonal.shape[-1], align)
    for row, (i, start, stop) in enumerate(places):
        matrix.diagonal(i, -2, -1).copy_(diagonal[..., row, start:stop])
    return matrix


@_matrix_diag.gradient()
def _(call: Call, dy: Tensor) -> Any:
    k, _, _, _, align = call.attrs
    return _matrix_diag_part(dy, k, 0, align)


def diag(
    diagonal: TensorLike,
    name: str | None = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Builds matrices with some diagonals, and a padding value elsewhere.

    Args:
        diagonal: a tensor of shape `[..., length]`, or `[..., number, length]` for several diagonals.
        k: which diagonal, a scalar: 0 is the main one, 1 the one above it; or a pair, the lowest and the highest of
            several. The default is 0.
        num_rows, num_cols: the size of the matrices; -1 for the smallest size that holds the diagonals.
        padding_value: a scalar, the value of all other elements; 0 by default.
        align: the side to which superdiagonals, then subdiagonals, are aligned: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT"
            or "RIGHT_RIGHT". The padding is on the other side. The default is "RIGHT_LEFT".

    Returns:
        A tensor of shape `[..., rows, columns]` and the dtype of `diagonal`.

    Raises:
        InvalidArgumentError: the diagonals do not fit.

    Example:
        >>> tf.linalg.diag([1, 2], k=1).numpy().tolist()
        [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    return _matrix_diag(diagonal, k, num_rows, num_cols, _diagonal_padding(padding_value, diagonal), align, name)


# ---- from matrices to diagonals --------------------------------------------------------------------------------------


def _check_ranks(k: TensorLike, *scalars: Any) -> None:
    """Checks the ranks of `k` and of scalar arguments, as TensorFlow's shape functions do."""
    if (argument_shape(k).rank or 0) > 1:
        check_rank(k, 1)
    for argument in scalars:
        check_rank(argument, 0)


def _diag_part_rule(input: TensorShape, k: TensorLike = 0, padding: int = 0, *_: Any) -> TensorShape:
    _check_ranks(k, padding)
    if input.rank is None or not is_static(k):
        return TensorShape(None)
    if input.rank < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {text(input)}")
    low, high = _diagonal_range(k)
    count = [high - low + 1] if high > low else []
    rows, columns = input[-2:]
    if rows is None or columns is None:
        return input[:-2].concatenate([*count, None])
    _check_diagonals(low, high, rows, columns)
    return input[:-2].concatenate([*count, _longest_diagonal(low, high, rows, columns)])


def _diagonal_padding(value: TensorLike, tensor: TensorLike) -> Any:
    """Returns the padding for a tensor: of booleans, numbers stand for their truth."""
    return bool(value) if type(value) is int and getattr(tensor, "dtype", None) == bool_ else value


def _matrix_diag_part_kernel(
    input: torch.Tensor, k: int | tuple[int, ...], padding_value: float, align: str
) -> torch.Tensor:
    if k == 0 and input.ndim >= 2:
        return input.diagonal(0, -2, -1).contiguous()
    shape = sizes(_diag_part_rule(TensorShape(input.shape), k))
    low, high = _diagonal_range(k)
    if low == high:
        return input.diagonal(low, -2, -1).contiguous()
    out = input.new_full(shape, padding_value)
    places = _diagonal_places(low, high, input.shape[-2], input.shape[-1], shape[-1], align)
    for row, (i, start, stop) in enumerate(places):
        out[..., row, start:stop] = input.diagonal(i, -2, -1)
    return out


_LEFT = "LEFT_LEFT"  # how earlier versions of the op align


@op("MatrixDiagPartV3", kernel=_matrix_diag_part_kernel, host=("k", "padding_value"), shape=_diag_part_rule, moves=True,
    batching=leading_dimensions)  # fmt: skip
def _matrix_diag_part(
    input: TensorLike, k: TensorLike, padding_value: TensorLike, align: str = "RIGHT_LEFT", name: str | None = None
) -> Tensor:
    """Extracts diagonals of matrices."""


@_matrix_diag_part.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    k, _, align = call.attrs
    return _matrix_set_diag(zeros(call.shape(0), dy.dtype), dy, k, align)


@op(
    "MatrixDiagPartV2", kernel=lambda input, k, padding_value: _matrix_diag_part_kernel(input, k, padding_value, _LEFT),
    host=("k", "padding_value"), shape=_diag_part_rule, moves=True,
)  # fmt: skip
def _matrix_diag_part_v2(
    input: TensorLike, k: TensorLike, padding_value: TensorLike, name: str | None = None
) -> Tensor:
    """Extracts diagonals of matrices, all padded at their ends; only `tf.raw_ops` has it."""


@_matrix_diag_part_v2.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    return _matrix_set_diag(zeros(call.shape(0), dy.dtype), dy, call.attrs[0], _LEFT)


def diag_part(
    input: TensorLike,
    name: str | None = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Extracts diagonals of matrices.

    Args:
        input: a tensor of shape `[..., rows, columns]`.
        k: which diagonal, a scalar: 0 is the main one, 1 the one above it; or a pair, the lowest and the highest of
            several. The default is 0.
        padding_value: a scalar, the value that shorter diagonals are padded with; 0 by default.
        align: the side to which shorter diagonals are aligned; see `tf.linalg.diag`.

    Returns:
        A tensor of shape `[..., length]`, or `[..., number, length]` for several diagonals, and the dtype of `input`.

    Raises:
        InvalidArgumentError: there is no such diagonal.

    Example:
        >>> tf.linalg.diag_part([[1, 2], [3, 4]]).numpy().tolist()
        [1, 4]
        >>> tf.linalg.diag_part([[1, 2], [3, 4]], k=(-1, 0)).numpy().tolist()
        [[1, 4], [3, 0]]
    """
    return _matrix_diag_part(input, k, _diagonal_padding(padding_value, input), align, name)


def _set_diag_rule(input: TensorShape, diagonal: TensorShape, k: int | tuple[int, ...] = 0, *_: Any) -> TensorShape:
    expected = _diag_part_rule(input, k)
    if input.rank is None and diagonal.rank and is_static(k):
        low, high = _diagonal_range(k)
        return diagonal[: -1 - (low < high)].concatenate([None, None])
    if not is_static(k) and input.rank is not None:
        with_rank(input, -2)
        if diagonal.rank not in (None, input.rank, input.rank - 1):
            raise invalid(f"Shape must be at most rank {input.rank} but is rank {diagonal.rank}")
    if None not in (expected.rank, diagonal.rank) and expected.rank != diagonal.rank:
        raise invalid(f"Shape must be rank {expected.rank} but is rank {diagonal.rank}")
    if not expected.is_compatible_with(diagonal):
        leave_to_kernel(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to "
            f"the longests diagonal in range [lower_diag_index:upper_diag_index].\nInput shape: {text(input)}\n"
            f"Diagonal shape: {text(diagonal)}\nExpected diagonal shape: {text(expected)}"
        )
    return input


@op("MatrixSetDiagV3", host=("k",), shape=_set_diag_rule, moves=True, batching=equal_shapes)
def _matrix_set_diag(
    input: torch.Tensor, diagonal: torch.Tensor, k: int | tuple[int, ...], align: str = "RIGHT_LEFT"
) -> torch.Tensor:
    """Replaces diagonals of matrices."""
    _set_diag_rule(TensorShape(input.shape), TensorShape(diagonal.shape), k)  # copy_ would broadcast
    return _write_diagonals(input.clone(memory_format=torch.contiguous_format), diagonal, k, align)


@_matrix_set_diag.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    k, align = call.attrs
    want_input, want_diagonal = call.wanted
    return (
        _matrix_set_diag(dy, zeros(call.shape(1), dy.dtype), k, align) if want_input else None,
        _matrix_diag_part(dy, k, 0, align) if want_diagonal else None,
    )


def set_diag(
    input: TensorLike, diagonal: TensorLike, name: str | None = "set_diag", k: TensorLike = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Replaces diagonals of matrices.

    Args:
        input: a tensor of shape `[..., rows, columns]`.
        diagonal: a tensor of shape `[..., length]`, or `[..., number, length]` for several diagonals, as
            `tf.linalg.diag_part` returns them.
        k: which diagonal, a scalar: 0 is the main one, 1 the one above it; or a pair, the lowest and the highest of
            several. The default is 0.
        align: the side to which shorter diagonals are aligned; see `tf.linalg.diag`.

    Returns:
        A tensor of the shape and dtype of `input`.

    Raises:
        InvalidArgumentError: the diagonals do not fit.

    Example:
        >>> tf.linalg.set_diag([[1, 2], [3, 4]], [8, 9]).numpy().tolist()
        [[8, 2], [3, 9]]
    """
    return _matrix_set_diag(input, diagonal, k, align, name)


def identity_like(x: Tensor) -> Any:
    """Returns identity matrices of the shape and dtype of `x`."""
    return set_diag(zeros_like(x), ones_like(diag_part(x)))


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """Sums the main diagonals of matrices.

    Args:
        x: a tensor of shape `[..., rows, columns]` and a numeric dtype.

    Returns:
        A tensor of shape `[...]` and the dtype of `x`.

    Raises:
        InvalidArgumentError: `x` has less than two dimensions.

    Example:
        >>> tf.linalg.trace([[1, 2], [3, 4]]).numpy().item()
        5
    """
    return reduce_sum(_matrix_diag_part(x, 0, _diagonal_padding(0, x)), -1)


def _band_part_rule(input: TensorShape, num_lower: int, num_upper: int) -> TensorShape:
    if isinstance(num_lower, tuple) or isinstance(num_upper, tuple):
        leave_to_kernel("num_lower and num_upper must be scalars")
        return input
    if input.rank is not None:
        if input.rank < 2:
            leave_to_kernel(f"input must be at least 2-dim, received shape: {text(input)}")
            return input
        for number, length, requirement in (
            (num_lower, input[-2], "num_lower must be negative or less or equal to number of rows"),
            (num_upper, input[-1], "num_upper must be negative or less or equal to number of columns"),
        ):
            if length is not None and is_static(number) and number > length:
                leave_to_kernel(f"{requirement} ({length}) got: {number}")
    return input


def _band_part_kernel(input: torch.Tensor, num_lower: int, num_upper: int) -> torch.Tensor:
    _band_part_rule(TensorShape(input.shape), num_lower, num_upper)
    if num_upper >= 0:
        input = torch.tril(input, num_upper)
    return torch.triu(input, -num_lower) if num_lower >= 0 else input


@op("MatrixBandPart", kernel=_band_part_kernel, host=("num_lower", "num_upper"), shape=_band_part_rule, moves=True,
    batching=leading_dimensions)  # fmt: skip
def band_part(input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None) -> Tensor:
    """Sets all elements of matrices outside of a band around the main diagonal to zero.

    Args:
        input: a tensor of shape `[..., rows, columns]`.
        num_lower, num_upper: two scalars, the numbers of diagonals in the band below and above the main one; negative
            for all.

    Returns:
        A tensor of the shape and dtype of `input`.

    Raises:
        InvalidArgumentError: there are not so many diagonals.

    Example:
        >>> tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy().tolist()
        [[1, 0], [3, 4]]
    """


@band_part.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return band_part(dy, *call.attrs)


# ---- diagonals of tensors --------------------------------------------------------------------------------------------


def _tensor_diag_rule(diagonal: TensorShape) -> TensorShape:
    if diagonal.rank == 0:
        raise invalid("Input must be at least rank 1, got 0")
    return diagonal.concatenate(diagonal)


def _tensor_diag_kernel(diagonal: torch.Tensor) -> torch.Tensor:
    shape = sizes(_tensor_diag_rule(TensorShape(diagonal.shape)))
    return torch.diag_embed(diagonal.reshape(-1)).reshape(shape)


@op("Diag", kernel=_tensor_diag_kernel, shape=_tensor_diag_rule)
def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Puts elements where the indices of a tensor of zeros repeat: `result[i, j, i, j] = diagonal[i, j]`.

    Args:
        diagonal: a tensor of rank 1 at least.

    Returns:
        A tensor of the dtype of `diagonal`. Its shape is the shape of `diagonal` twice: `[*shape, *shape]`.

    Raises:
        InvalidArgumentError: `diagonal` is a scalar.

    Example:
        >>> tf.linalg.tensor_diag([1, 2]).numpy().tolist()
        [[1, 0], [0, 2]]
    """


@tensor_diag.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return tensor_diag_part(dy)


def _tensor_diag_part_rule(input: TensorShape) -> TensorShape:
    if input.rank is None:
        return input
    if input.rank % 2 or (input.rank == 0 and state.graph is not None):
        raise invalid(f"The rank of the tensor should be even and positive, got shape {text(input)}")
    half = input.rank // 2
    for i in range(half):
        if input[i] != input[i + half] and input[i] is not None and input[i + half] is not None:
            raise invalid(f"Invalid shape {text(input)}: dimensions {i} and {i + half} do not match.")
    return input[:half].merge_with(input[half:])


def _tensor_diag_part_kernel(input: torch.Tensor) -> torch.Tensor:
    shape = sizes(_tensor_diag_part_rule(TensorShape(input.shape)))
    count = math.prod(shape)
    return input.reshape(count, count).diagonal().reshape(shape)


@op("DiagPart", kernel=_tensor_diag_part_kernel, shape=_tensor_diag_part_rule)
def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """Extracts the elements where indices repeat: `result[i, j] = input[i, j, i, j]`.

    Args:
        input: of even rank, the second half of its shape equal to the first.

    Returns:
        A tensor of the dtype of `input` and the first half of its shape.

    Raises:
        InvalidArgumentError: `input` has another shape.

    Example:
        >>> tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy().tolist()
        [1, 4]
    """


@tensor_diag_part.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return tensor_diag(dy)


# ---- transposes ------------------------------------------------------------------------------------------------------


def matrix_transpose(a: TensorLike, name: str | None = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """Transposes the last two dimensions.

    Args:
        a: a tensor of shape `[..., m, n]`.
        conjugate: conjugates complex numbers, too.

    Returns:
        A tensor of shape `[..., n, m]` and the dtype of `a`.

    Raises:
        ValueError: `a` has less than two dimensions.

    Example:
        >>> tf.linalg.matrix_transpose([[1, 2], [3, 4]]).numpy().tolist()
        [[1, 3], [2, 4]]
    """
    tensor: Any = a if isinstance(a, Tensor) else convert(a)
    rank = tensor.value.ndim if type(tensor) is EagerTensor else tensor.shape.rank
    if rank is None:
        axes = range_op(rank_op(tensor))
        return transpose(tensor, concat([axes[:-2], axes[-1:], axes[-2:-1]], 0), conjugate, name)
    if rank < 2:
        raise ValueError(
            "Argument `a` should be a (batch) matrix with rank >= 2.  Received "
            f"`a` = {tensor} with shape: {tensor.shape}"
        )
    return transpose(tensor, (*range(rank - 2), rank - 1, rank - 2), conjugate, name)


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Transposes the last two dimensions and conjugates complex numbers.

    Args:
        matrix: a tensor of shape `[..., m, n]`, or a `tf.linalg.LinearOperator`.

    Returns:
        A tensor of shape `[..., n, m]` and the dtype of `matrix`; for an operator an operator.

    Raises:
        ValueError: `matrix` has less than two dimensions.

    Example:
        >>> tf.linalg.adjoint([[1 + 1j, 2.0]]).numpy().tolist()
        [[(1-1j)], [(2-0j)]]
    """
    operator: Any = matrix
    if hasattr(type(operator), "_linop_adjoint"):
        return operator.adjoint()
    return matrix_transpose(matrix, name, True)
