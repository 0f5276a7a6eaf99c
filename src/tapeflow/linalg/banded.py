"""Tridiagonal and banded matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import range as range_op
from tapeflow.array.creation import zeros, zeros_like
from tapeflow.array.gathers import gather
from tapeflow.array.masks import where
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import expand_dims, reshape, squeeze
from tapeflow.core.autodiff.gradients import conj, shape_of, sum_like
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.loops import Numbers, loop, simd_range
from tapeflow.core.ops.batch_rules import equal_shapes
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import broadcast, text, with_dimension, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.linalg.diagonals import diag, diag_part, matrix_transpose
from tapeflow.linalg.products import matmul
from tapeflow.linalg.rules import is_singular, solve_slices
from tapeflow.linalg.spectral import eigh
from tapeflow.math.arithmetic import negative
from tapeflow.math.casting import cast
from tapeflow.math.comparison import logical_and
from tapeflow.math.complex import real
from tapeflow.math.extrema import minimum
from tapeflow.math.reduction import reduce_sum

# ---- solving tridiagonal equations -----------------------------------------------------------------------------------


def _tridiagonal_solve_rule(diagonals: TensorShape, rhs: TensorShape, *_: Any) -> TensorShape:
    with_rank(diagonals, -2), with_rank(rhs, -2)
    if diagonals.rank is not None and rhs.rank is not None:
        if diagonals.rank < 2 or rhs.rank < 2 or diagonals[-2] not in (3, None):
            raise invalid(f"Expected diagonals [..., 3, n] and rhs [..., n, k], got {text(diagonals)} and {text(rhs)}")
        if not diagonals[:-2].concatenate(diagonals[-1:]).is_compatible_with(rhs[:-1]):
            raise invalid(f"Diagonals {text(diagonals)} and rhs {text(rhs)} do not go together")
    return rhs


@loop
def _solve_tridiagonal(
    bands: Numbers, second: Numbers, x: Numbers, batch: int, n: int, k: int, partial_pivoting: int, tiny: float
) -> None:
    """Solves equations in place of their right-hand sides `x`, by Gauss' elimination.

    Args:
        bands: the diagonals above, on and below the main one, which it changes.
        second: zeros. Pivoting fills the diagonal above the upper one.
        x: right-hand sides, `[batch, n, k]`.
        batch: the number of matrices.
        n: the size of a matrix.
        k: the number of columns of a right-hand side.
        partial_pivoting: exchanges rows for larger pivots.
        tiny: replaces smaller pivots.
    """
    for matrix in range(batch):
        above, main, below = 3 * n * matrix, 3 * n * matrix + n, 3 * n * matrix + 2 * n
        beyond, rows, singular = n * matrix, n * k * matrix, 0
        for i in range(n):
            row = rows + i * k
            factor = bands[below + i + 1] if i + 1 < n else bands[main + i]
            swapped = partial_pivoting and i + 1 < n and abs(factor) > abs(bands[main + i])
            if swapped:
                bands[main + i], factor = factor, bands[main + i]
                bands[above + i], bands[main + i + 1] = bands[main + i + 1], bands[above + i]
                if i + 2 < n:
                    second[beyond + i], bands[above + i + 1] = bands[above + i + 1], second[beyond + i]
            if abs(bands[main + i]) < tiny:
                bands[main + i] = tiny
            singular = singular or abs(bands[main + i]) == 0.0
            if i + 1 < n:
                factor = factor / bands[main + i]
                bands[main + i + 1] -= factor * bands[above + i]
                if swapped:
                    if i + 2 < n:
                        bands[above + i + 1] -= factor * second[beyond + i]
                    for j in simd_range(row, row + k):
                        x[j], x[j + k] = x[j + k], x[j] - factor * x[j + k]
                else:
                    for j in simd_range(row, row + k):
                        x[j + k] -= factor * x[j]
        for i in range(n - 1, -1, -1):
            row, pivot, factor, factor2 = rows + i * k, bands[main + i], bands[above + i], second[beyond + i]
            if i + 1 < n:
                for j in simd_range(row, row + k):
                    x[j] -= factor * x[j + k]
            if abs(factor2) != 0.0:
                for j in simd_range(row, row + k):
                    x[j] -= factor2 * x[j + 2 * k]
            for j in simd_range(row, row + k):
                x[j] /= pivot
        if singular:
            for j in range(rows, rows + n * k):
                x[j] = nan


@op("TridiagonalSolve", shape=_tridiagonal_solve_rule, batching=solve_slices, autograd=False)
def _tridiagonal_solve(
    diagonals: torch.Tensor, rhs: torch.Tensor, partial_pivoting: bool = True, perturb_singular: bool = False
) -> torch.Tensor:
    """Solves tridiagonal equations."""
    _tridiagonal_solve_rule(TensorShape(diagonals.shape), TensorShape(rhs.shape))
    if not rhs.numel():
        return rhs.clone()
    n, k = rhs.shape[-2:]
    bands, x = (np.array(t.detach().resolve_conj().cpu().numpy(), order="C") for t in (diagonals, rhs))
    tiny = np.finfo(bands.dtype).eps * float(abs(bands).max()) if perturb_singular else 0.0
    second = np.zeros(bands.size // 3, bands.dtype)
    _solve_tridiagonal(bands, second, x, x.size // (n * k), n, k, partial_pivoting, tiny)
    return torch.from_numpy(x).to(rhs.device)


@_tridiagonal_solve.gradient(needs="input0 outputs")
def _(call: Call, dy: Tensor) -> Any:
    diagonals, x = call.inputs[0], call.outputs[0]
    partial_pivoting, perturb_singular = call.attrs
    above, main, below = [conj(diagonals)[..., i, :] for i in range(3)]
    transposed = stack([_shift_elements(below, 1), main, _shift_elements(above, -1)], -2)
    drhs = _tridiagonal_solve(transposed, dy, partial_pivoting, perturb_singular)
    x = conj(x)
    ddiagonals = stack(
        [
            -reduce_sum(drhs * _shift_elements(x, 1, axis=-2), -1),
            -reduce_sum(drhs * x, -1),
            -reduce_sum(drhs * _shift_elements(x, -1, axis=-2), -1),
        ],
        -2,
    )
    return ddiagonals, drhs


def _shift_elements(x: Tensor, by: int, axis: int = -1) -> Any:
    """Shifts elements towards the front (1) or the end (-1) by one place, and fills the free place with zero."""
    first, last = x[..., :1, :] if axis == -2 else x[..., :1], x[..., -1:, :] if axis == -2 else x[..., -1:]
    rest = (x[..., 1:, :] if by > 0 else x[..., :-1, :]) if axis == -2 else x[..., 1:] if by > 0 else x[..., :-1]
    return concat([rest, zeros_like(last)] if by > 0 else [zeros_like(first), rest], axis)


def _compact_diagonals(diagonals: Any, diagonals_format: str) -> Any:
    """Returns the diagonals above, on and below the main one, `[..., 3, n]`.

    Raises:
        ValueError: the shapes do not go together, or there is no such format.
        InvalidArgumentError: there are no diagonals.
    """
    if diagonals_format == "compact":
        diagonals = convert(diagonals)
        diagonals.shape.with_rank_at_least(2)
        if diagonals.shape[-2] == 0:
            raise invalid("Expected diagonals to be provided as a matrix with 3 rows, got 0 rows.")
        if diagonals.shape[-2] not in (3, None):
            raise ValueError(f"Expected 3 diagonals got {diagonals.shape[-2]}")
        return diagonals
    if diagonals_format == "sequence":
        if len(diagonals) != 3:
            raise ValueError(f"Expected diagonals to be a sequence of length 3, got {len(diagonals)}")
        above, main, below = [convert(d) for d in diagonals]
        n = main.shape[-1]
        for d in (above, below):
            if d.shape[-1] not in (n, n - 1):
                raise ValueError(f"Expected diagonals of length {n} or {n - 1}, got {d.shape[-1]}")
        if above.shape[-1] == n - 1:
            above = concat([above, zeros_like(main[..., :1])], -1)
        if below.shape[-1] == n - 1:
            below = concat([zeros_like(main[..., :1]), below], -1)
        return stack([above, main, below], -2)
    if diagonals_format == "matrix":
        matrix = convert(diagonals)
        m, n = matrix.shape[-2], matrix.shape[-1]
        if m != n and m is not None and n is not None:
            raise ValueError(f"Expected last two dimensions of diagonals to be same, got {m} and {n}")
        return diag_part(matrix, k=(-1, 1), align="LEFT_RIGHT")
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solves linear equations with tridiagonal matrices.

    Args:
        diagonals: with the format "compact", of shape `[..., 3, n]`: the diagonals above, on and below the main one,
            where the last element of the first and the first of the last do not count. With "sequence", three tensors
            of shapes `[..., n]` or, for those that are not the main one, `[..., n - 1]`. With "matrix", of shape
            `[..., n, n]`.
        rhs: a tensor of shape `[..., n]` or `[..., n, k]`.
        diagonals_format: "compact", "sequence" or "matrix"; "compact" by default.
        transpose_rhs: `rhs` has the shape `[..., k, n]`.
        conjugate_rhs: conjugates `rhs` first.
        partial_pivoting: exchanges rows. Without it the elimination can be unstable. The default is True.
        perturb_singular: replaces zero pivots by small numbers, which gives singular matrices a solution.

    Returns:
        A tensor of shape `[..., n]` or `[..., n, k]` and the dtype of `rhs`; NaN if a matrix is singular.

    Raises:
        ValueError: the shapes do not go together, or there is no such format.

    Example:
        >>> tf.linalg.tridiagonal_solve([[0.0, 0.0], [2.0, 4.0], [0.0, 0.0]], [2.0, 2.0]).numpy().tolist()
        [1.0, 0.5]
    """
    bands = _compact_diagonals(diagonals, diagonals_format)
    sides: Any = convert(rhs, hint=bands.dtype)
    if conjugate_rhs:
        sides = conj(sides)
    is_vector = None not in (sides.shape.rank, bands.shape.rank) and sides.shape.rank + 1 == bands.shape.rank
    sides.shape.with_rank_at_least(1 if is_vector else 2)
    if is_vector:
        sides = expand_dims(sides, -1)
    elif transpose_rhs:
        sides = matrix_transpose(sides)
    if not bands.shape[-1:].is_compatible_with(sides.shape[-2:-1]):
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{bands.shape[-1]} and {sides.shape[-2]}"
        )
    if not bands.shape[:-2].is_compatible_with(sides.shape[:-2]):
        raise ValueError(f"Batch shapes {bands.shape[:-2]} and {sides.shape[:-2]} are incompatible")
    result = _tridiagonal_solve(bands, sides, partial_pivoting, perturb_singular, name)
    return squeeze(result, -1) if is_vector else result


# ---- multiplying -----------------------------------------------------------------------------------------------------


def _tridiagonal_matmul_rule(
    superdiag: TensorShape, maindiag: TensorShape, subdiag: TensorShape, rhs: TensorShape
) -> TensorShape:
    shapes = {"superdiagonal": superdiag, "main diagonal": maindiag, "subdiagonal": subdiag}
    for diagonal in shapes.values():
        if diagonal.rank is not None:
            with_dimension(with_rank(diagonal, -2), -2, 1)
    if any(s.rank is None for s in (*shapes.values(), rhs)):
        return rhs
    if len({s.rank for s in (*shapes.values(), rhs)}) > 1:
        raise invalid("All input tensors must have the same rank.")
    for name, shape in shapes.items():
        if rhs.rank < 2 or not rhs[:-2].concatenate([1, rhs[-2]]).is_compatible_with(shape):
            raise invalid(f"Invalid {name} shape. It is {text(shape)}, and that of rhs {text(rhs)}")
    return rhs


@op("TridiagonalMatMul", shape=_tridiagonal_matmul_rule, batching=equal_shapes)
def _tridiagonal_matmul(
    superdiag: torch.Tensor, maindiag: torch.Tensor, subdiag: torch.Tensor, rhs: torch.Tensor
) -> torch.Tensor:
    """Multiplies tridiagonal matrices by matrices."""
    _tridiagonal_matmul_rule(*[TensorShape(x.shape) for x in (superdiag, maindiag, subdiag, rhs)])
    above, main, below = [d.mT for d in (superdiag, maindiag, subdiag)]
    out = main * rhs
    out[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
    out[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
    return out


@_tridiagonal_matmul.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    above, main, below, rhs = [conj(x) for x in call.inputs]

    def products(x: Tensor, y: Tensor) -> Any:
        return expand_dims(reduce_sum(x * y, -1), -2)

    return (
        products(dy, _shift_elements(rhs, 1, axis=-2)),
        products(dy, rhs),
        products(dy, _shift_elements(rhs, -1, axis=-2)),
        _tridiagonal_matmul(_shift_elements(below, 1), main, _shift_elements(above, -1), dy),
    )


def tridiagonal_matmul(
    diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """Multiplies tridiagonal matrices by matrices.

    Args:
        diagonals: a tensor for the "compact" format; see `tf.linalg.tridiagonal_solve` for all three formats.
        rhs: a tensor of shape `[..., n, k]`.
        diagonals_format: "compact", "sequence" or "matrix"; "compact" by default.

    Returns:
        A tensor of the shape and dtype of `rhs`.

    Raises:
        InvalidArgumentError: the shapes do not go together.
        ValueError: there is no such format.

    Example:
        >>> diagonals = tf.constant([[3.0, 0.0], [1.0, 2.0], [0.0, 4.0]])
        >>> tf.linalg.tridiagonal_matmul(diagonals, [[1.0], [1.0]]).numpy().tolist()
        [[4.0], [6.0]]
    """
    sequence: Any = diagonals
    if diagonals_format == "sequence":
        above, main, below = [convert(d) for d in sequence]
    else:
        bands = sequence if diagonals_format == "compact" else _compact_diagonals(diagonals, diagonals_format)
        above, main, below = [bands[..., i, :] for i in range(3)]
    return _tridiagonal_matmul(expand_dims(above, -2), expand_dims(main, -2), expand_dims(below, -2), rhs, name)


# ---- banded triangular matrices --------------------------------------------------------------------------------------


def _banded_rule(bands: TensorShape, rhs: TensorShape, *_: Any) -> TensorShape:
    for i, x in enumerate((bands, rhs)):
        if x.rank is not None and x.rank < 2:
            raise invalid(f"In[{i}] ndims must be >= 2: {x.rank}")
    count, size = (None, None) if bands.rank is None else bands[-2:]
    if state.graph is not None and count == 0:  # kernels take any number
        raise invalid("Number of bands must be positive, but is 0")
    if state.graph is not None and count is not None and size is not None and count > size:
        raise invalid(f"Number of bands {count} cannot exceed the size of the matrix {size}")
    if bands.rank is None or rhs.rank is None:
        return TensorShape(None)
    if not bands[-1:].is_compatible_with(rhs[-2:-1]):
        raise invalid(f"In[0] mismatch In[1] shape: {bands[-1]} vs. {rhs[-2]}: {text(bands)} {text(rhs)}")
    return broadcast(bands[:-2], rhs[:-2]) + bands[-1:].merge_with(rhs[-2:-1]) + rhs[-1:]


@loop
def _solve_banded(
    bands: Numbers, x: Numbers, batch: int, count: int, n: int, k: int, lower: int, transposed: int
) -> None:
    """Solves equations with triangular matrices of `count` diagonals in place of their right-hand sides `x`, which are
    `[batch, n, k]`."""
    down = lower != transposed  # from the first row to the last one
    main = 0 if lower else (count - 1) * n
    for matrix in range(batch):
        first, rows = matrix * count * n, matrix * n * k
        for step in range(n):
            i = step if down else n - 1 - step
            for d in range(1, min(count, step + 1)):
                other = i - d if down else i + d
                shift = (other - i) * k
                column = other if transposed else i
                factor = bands[first + column + n * (d if lower else count - 1 - d)]
                for j in simd_range(rows + i * k, rows + i * k + k):
                    x[j] -= factor * x[j + shift]
            pivot = bands[first + main + i]
            for j in simd_range(rows + i * k, rows + i * k + k):
                x[j] /= pivot


def _banded_solve(bands: torch.Tensor, rhs: torch.Tensor, lower: bool, adjoint: bool) -> torch.Tensor:
    _banded_rule(TensorShape(bands.shape), TensorShape(rhs.shape))
    for i, x in enumerate((bands, rhs)):
        if not x.numel():
            raise invalid(f"In[{i}] must not be an empty tensor, but has the shape {list(x.shape)}")
    if is_singular(bands[..., 0 if lower else -1, :]):
        raise invalid("Input matrix is not invertible.")
    batch, (count, n), k = torch.broadcast_shapes(bands.shape[:-2], rhs.shape[:-2]), bands.shape[-2:], rhs.shape[-1]
    matrix = (bands.conj() if adjoint else bands).detach().resolve_conj().cpu().expand(*batch, count, n).numpy()
    solution = np.array(rhs.detach().resolve_conj().cpu().expand(*batch, n, k).numpy(), order="C")
    _solve_banded(np.ascontiguousarray(matrix), solution, math.prod(batch), count, n, k, lower, adjoint)
    return torch.from_numpy(solution).to(rhs.device)


@op("BandedTriangularSolve", kernel=_banded_solve, shape=_banded_rule, batching=solve_slices, autograd=False)
def banded_triangular_solve(
    bands: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves `matrix @ x = rhs` for `x` with triangular matrices of few diagonals.

    Args:
        bands: the diagonals, of shape `[..., count, n]`, the uppermost first. Those below the main one begin with
            elements that do not count, those above it end with them.
        rhs: a tensor of shape `[..., n, k]`; leading dimensions broadcast.
        lower: the main diagonal is the first one, and the others are below it; otherwise it is the last one.
        adjoint: solves with the adjoint of the matrix.

    Returns:
        A tensor of shape `[..., n, k]` and the dtype of `rhs`.

    Raises:
        InvalidArgumentError: the shapes do not go together, or there is a zero on the main diagonal.

    Example:
        >>> tf.linalg.banded_triangular_solve([[2.0, 4.0], [0.0, 1.0]], [[2.0], [5.0]]).numpy().tolist()
        [[1.0], [1.0]]
    """


@banded_triangular_solve.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    (bands, rhs), x = call.inputs, call.outputs[0]
    lower, adjoint = call.attrs
    drhs = banded_triangular_solve(bands, dy, lower, not adjoint)
    dbands = None
    if call.wanted[0]:
        dmatrix = negative(matmul(x, drhs, adjoint_b=True) if adjoint else matmul(drhs, x, adjoint_b=True))
        count, n = [shape_of(bands)[i] for i in (-2, -1)]
        least = min if isinstance(count, int) and isinstance(n, int) else minimum
        inside = least(count, n)  # diagonals further out are not part of the matrix
        k = (1 - inside, 0) if lower else (0, inside - 1)
        batch = shape_op(dmatrix)[:-2]
        dbands = reshape(diag_part(dmatrix, k=k, align="LEFT_RIGHT"), concat([batch, [inside, n]], 0))
        outside = zeros(concat([batch, [count - inside, n]], 0), dbands.dtype)
        dbands = concat([dbands, outside] if lower else [outside, dbands], -2)
        dbands = sum_like(dbands, bands)
    return dbands, sum_like(drhs, rhs)


# ---- eigenvalues -----------------------------------------------------------------------------------------------------


def eigh_tridiagonal(
    alpha: TensorLike,
    beta: TensorLike,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Sequence[TensorLike] | None = None,
    tol: TensorLike | None = None,
    name: str | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Computes the eigenvalues of self-adjoint tridiagonal matrices.

    Args:
        alpha: the main diagonal, of shape `[n]`, of a float or complex dtype; imaginary parts do not count.
        beta: the diagonal above it, of shape `[n - 1]`.
        eigvals_only: returns the eigenvalues alone; otherwise the eigenvectors, too.
        select: "a" for all eigenvalues, "i" for those from the index `select_range[0]` to `select_range[1]`, "v" for
            those in the interval from `select_range[0]`, which is left out, to `select_range[1]`.
        select_range: a vector of two numbers; see `select`.
        tol: has no effect, as eigenvalues are computed to full precision.

    Returns:
        The eigenvalues in ascending order, of the real dtype; without `eigvals_only` a pair of them and a tensor with
        the eigenvectors in its columns.

    Raises:
        ValueError: the dtypes differ, or there is no such way to select.
        InvalidArgumentError: the shapes do not fit, or the range is empty.

    Example:
        >>> np.allclose(tf.linalg.eigh_tridiagonal([2.0, 2.0], [1.0]), [1.0, 3.0])
        True
    """
    main: Any = convert(alpha)
    if main.shape.rank == 0:
        raise IndexError("tuple index out of range")  # of its shape
    if main.shape.rank and main.shape[0] in (0, 1):
        return real(main)
    above: Any = convert(beta)
    if main.dtype is not above.dtype:
        raise ValueError("'alpha' and 'beta' must have the same type.")
    if isinstance(select, Tensor):
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")
    if not main.dtype.is_floating and not main.dtype.is_complex:
        raise ValueError(f"data type {main.dtype.as_numpy_dtype} not inexact")
    if select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    if 0 in (main.shape.rank, above.shape.rank):
        raise invalid("alpha and beta must have dimensions")
    n = main.shape[-1]
    if n is not None and above.shape[-1] not in (n - 1, None):
        raise invalid(f"Incompatible shapes: {text(main.shape)} for alpha and {text(above.shape)} for beta")
    upper, lower = diag(above), diag(conj(above))
    values, vectors = eigh(diag(main) + pad(upper, [[0, 1], [1, 0]]) + pad(lower, [[1, 0], [0, 1]]))
    values = real(values)
    if select != "a":
        selected = _selected_positions(values, select, select_range)
        values, vectors = gather(values, selected), gather(vectors, selected, axis=-1)
    return values if eigvals_only else (values, vectors)


def _selected_positions(values: Any, select: str, select_range: Any) -> Any:
    """Returns the positions of the selected eigenvalues.

    Raises:
        InvalidArgumentError: the range is empty.
    """
    low, high = select_range
    if select == "i":
        if low > high:
            raise InvalidArgumentError.of(f"Got empty index range in select_range: [{low}, {high}]")
        return range_op(low, high + 1)
    if low >= high:
        raise InvalidArgumentError.of(f"Got empty interval in select_range: ({low}, {high}]")
    low, high = cast(low, values.dtype), cast(high, values.dtype)
    return reshape(where(logical_and(values > low, values <= high)), [-1])
