"""Products of matrices: `matmul` and its kin."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.array.reshapes import expand_dims, reshape, squeeze
from tapeflow.core.autodiff.gradients import conj, sum_like
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import detours, state
from tapeflow.core.errors import FailedPreconditionError, InvalidArgumentError
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, equal_shapes
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import MANY
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import check_ranks_first, text, unequal, with_dimension
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, bfloat16, float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor, invalid
from tapeflow.linalg.large_products import by_size, chooses, product
from tapeflow.linalg.packed_products import layer_of_product
from tapeflow.linalg.rules import batch_of_both
from tapeflow.math.arithmetic import multiply
from tapeflow.math.casting import cast

_times_transposed = torch.nn.functional.linear  # a @ b.T in one call: half a microsecond less than torch.mm(a, b.t())


def _matmul_rule(a: TensorShape, b: TensorShape, transpose_a: bool = False, transpose_b: bool = False) -> TensorShape:
    for i, x in enumerate((a, b)):
        if x.rank is not None and x.rank != 2:
            raise invalid(f"In[{i}] ndims must be >= 2" if x.rank < 2 else f"In[{i}] is not a matrix, but {text(x)}")
    a, b = a.with_rank(2), b.with_rank(2)
    m, k = a[::-1] if transpose_a else a
    l, n = b[::-1] if transpose_b else b  # noqa: E741
    if k != l and k is not None and l is not None:
        raise unequal(f"Matrix size-incompatible: In[0]: {text(a)}, In[1]: {text(b)}", k, l)
    return TensorShape([m, n])


# MatMul is declared twice. Most products transpose nothing; these go straight to ATen's function, and read no flags.


@op(
    "MatMul", kernel=torch.mm, shape=_matmul_rule, allocates=True, for_many=by_size(product),
    in_loops=lambda b, *args: b.product(*args),
)  # fmt: skip
def _mat_mul(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """Multiplies two matrices, neither of them transposed."""


@_mat_mul.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    a, b = call.inputs
    want_a, want_b = call.wanted
    if a.dtype.is_complex:
        a, b = conj(a), conj(b)
    return matmul_op(dy, b, False, True) if want_a else None, matmul_op(a, dy, True) if want_b else None


@_mat_mul.accumulate
def _(call: Call, dy: Tensor, sums: dict[int, Any], owned: set[int]) -> Any:
    a, b = call.inputs
    i, j = call.input_ids
    want_a, want_b = call.wanted
    if a.dtype.is_complex:
        return call.op.gradient(call, dy)
    da = db = None
    if want_a and (i not in owned or not _added_product(sums[i], dy, b, False)):
        da = matmul_op(dy, b, False, True)
    if want_b and (j not in owned or not _added_product(sums[j], a, dy, True)):
        db = matmul_op(a, dy, True)
    return da, db


def _added_product(total: Tensor, a: Tensor, b: Tensor, transpose_a: bool) -> bool:
    """Adds the product `a.T @ b`, or `a @ b.T`, to a sum in place, and returns whether that was possible.

    It is not where another kernel computes large products, where ATen can't write to the sum's memory, or where `vmap`
    would go through it slice by slice.
    """
    if state.on_slices or (_mat_mul.op.kernel_for_many is not None and a.value.numel() >= MANY):
        return False
    try:
        if transpose_a:
            total.value.addmm_(a.value.mT, b.value)
        else:
            total.value.addmm_(a.value, b.value.mT)
    except RuntimeError:
        return False
    return True


def _large_matmul(a: torch.Tensor, b: torch.Tensor, transpose_a: bool, transpose_b: bool) -> torch.Tensor:
    return product(a.mT if transpose_a else a, b.mT if transpose_b else b)


@op(
    "MatMul", shape=_matmul_rule, allocates=True, for_many=by_size(_large_matmul),
    in_loops=lambda b, *args: b.product(*args),
)  # fmt: skip
def matmul_op(a: torch.Tensor, b: torch.Tensor, transpose_a: bool = False, transpose_b: bool = False) -> torch.Tensor:
    """Multiplies two matrices, each of them transposed first or not."""
    if transpose_a:
        a = a.mT  # quicker than t()
    return _times_transposed(a, b) if transpose_b else torch.mm(a, b)


matmul_op.op.variants = dict.fromkeys(("grad_a", "grad_b"), matmul_op)


def _write_product(a: Tensor, b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> tuple[Any, str]:
    left = "{0}.t()" if transpose_a else "{0}"
    if chooses(a.dtype, a.shape, b.shape[0 if transpose_b else 1]):
        return product, f"{{kernel}}({left}, {{1}}{'.t()' if transpose_b else ''})"
    return (_times_transposed if transpose_b else torch.mm), f"{{kernel}}({left}, {{1}})"


def _product_of_slices(batch: Batch, a: Slices, b: Slices, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    if not b.stacked and not transpose_a:
        product = matmul_op(batch.flat(a), b.value, False, transpose_b)
        return batch.reshape(product, [batch.dims(a)[0], batch.dims(b)[0 if transpose_b else 1]])
    if a.stacked and b.stacked and a.slice.shape[0 if transpose_a else 1] == 1:  # the gradient of a vector's product
        rows, columns = batch.dims(a)[1 if transpose_a else 0], batch.dims(b)[0 if transpose_b else 1]
        return multiply(batch.reshape(a.value, [rows, 1]), batch.reshape(b.value, [1, columns]))
    if a.slice.dtype.is_complex and (transpose_a or transpose_b):
        raise NoRule  # products of batches take the adjoint
    return batch_matmul(a.value, b.value, transpose_a, transpose_b)


_mat_mul.layer(layer_of_product)
matmul_op.layer(layer_of_product)
_mat_mul.inline(_write_product)
matmul_op.inline(_write_product)
_mat_mul.batching(_product_of_slices)
matmul_op.batching(_product_of_slices)


@matmul_op.summed
def _(batch: Batch, a: Slices, b: Slices, transpose_a: bool, transpose_b: bool) -> Any:
    if not (a.stacked and b.stacked and transpose_a) or transpose_b:
        raise NoRule
    return matmul_op(batch.flat(a), batch.flat(b), True)


@matmul_op.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    a, b = call.inputs
    transpose_a, transpose_b = call.attrs
    want_a, want_b = call.wanted
    if a.dtype.is_complex:
        a, b = conj(a), conj(b)
    if transpose_a:
        da = matmul_op(b, dy, transpose_b, True) if want_a else None
    else:
        da = matmul_op(dy, b, False, not transpose_b) if want_a else None
    if transpose_b:
        db = matmul_op(dy, a, True, transpose_a) if want_b else None
    else:
        db = matmul_op(a, dy, not transpose_a, False) if want_b else None
    return da, db


# ---- batches ---------------------------------------------------------------------------------------------------------


def _batch_matmul_rule(x: TensorShape, y: TensorShape, *attrs: Any) -> TensorShape:
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    adj_x, adj_y = attrs[-2:] if attrs else (False, False)
    batch = batch_of_both(x, y)
    m, k = x[-2:][::-1] if adj_x else x[-2:]
    l, n = y[-2:][::-1] if adj_y else y[-2:]  # noqa: E741
    if k != l and k is not None and l is not None:
        raise unequal(f"Matrix size-incompatible: In[0]: {text(x)}, In[1]: {text(y)}", k, l)
    return batch.concatenate([m, n])


def _batch_matmul_kernel(x: torch.Tensor, y: torch.Tensor, adj_x: bool = False, adj_y: bool = False) -> torch.Tensor:
    if x.ndim < 2 or y.ndim < 2:  # torch.matmul would multiply by vectors
        raise invalid(f"In[{0 if x.ndim < 2 else 1}] ndims must be >= 2: {min(x.ndim, y.ndim)}")
    return torch.matmul(x.mH if adj_x else x, y.mH if adj_y else y)


def _large_bmm(x: torch.Tensor, y: torch.Tensor, adj_x: bool, adj_y: bool) -> torch.Tensor:
    if y.ndim != 2 or x.ndim < 2 or y.is_complex():
        return _batch_matmul_kernel(x, y, adj_x, adj_y)
    return product(x.mH if adj_x else x, y.mT if adj_y else y)


@op(
    "BatchMatMulV2", kernel=_batch_matmul_kernel, shape=check_ranks_first(_batch_matmul_rule, -2, -2),
    allocates=True, node_name="MatMul",
    for_many=by_size(_large_bmm), in_loops=lambda b, *args: b.product(*args),
)  # fmt: skip
def batch_matmul(
    x: TensorLike, y: TensorLike, adj_x: bool = False, adj_y: bool = False, name: str | None = None
) -> Tensor:
    """Multiplies the matrices in the last two dimensions; the others broadcast."""


@batch_matmul.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    x, y = call.inputs
    adj_x, adj_y = call.attrs
    want_x, want_y = call.wanted
    dx = dy_ = None
    if want_x:
        dx = batch_matmul(y, dy, adj_y, True) if adj_x else batch_matmul(dy, y, False, not adj_y)
        dx = sum_like(dx, x)
    if want_y and not adj_x and _is_of_all_slices(x, y, dy):
        x, dy = (reshape(t, [-1, t.shape[-1]]) for t in (x, dy))
        dy_ = matmul_op(dy, x, True) if adj_y else matmul_op(x, dy, True)
    elif want_y:
        dy_ = batch_matmul(dy, x, True, adj_x) if adj_y else batch_matmul(x, dy, not adj_x, False)
        dy_ = sum_like(dy_, y)
    return dx, dy_


def _is_of_all_slices(x: Tensor, y: Tensor, dy: Tensor) -> bool:
    """Returns True if `y` is one matrix that all slices of `x` are multiplied by. Its gradient is then one product of
    all rows, which is faster than a product for each slice and their sum."""
    if y.shape.rank != 2 or x.shape.rank is None or x.dtype.is_complex:
        return False
    return bool(x.shape[-1] and dy.shape[-1])  # static, and not empty


@batch_matmul.inline
def _(x: Tensor, y: Tensor, adj_x: bool = False, adj_y: bool = False) -> Any:
    if adj_x or y.shape.rank != 2 or not chooses(x.dtype, x.shape, y.shape[0 if adj_y else 1]):
        return None
    return product, f"{{kernel}}({{0}}, {{1}}{'.t()' if adj_y else ''})"


batch_matmul.layer(layer_of_product)
batch_matmul.op.variants = dict.fromkeys(("grad_x", "grad_y"), batch_matmul)  # hints to quantizers


def _products_of_slices(batch: Batch, x: Slices, y: Slices, *attrs: Any) -> Any:
    rank = max(x.rank, y.rank)
    return batch.op.function(batch.lift(x, rank), batch.lift(y, rank), *attrs)


batch_matmul.batching(_products_of_slices)


@op("BatchMatMulV3", shape=check_ranks_first(_batch_matmul_rule, -2, -2), batching=_products_of_slices)
def _batch_matmul_into(
    x: torch.Tensor, y: torch.Tensor, Tout: DType, adj_x: bool = False, adj_y: bool = False
) -> torch.Tensor:
    """Multiplies matrices of one dtype or two in another dtype."""
    return _batch_matmul_kernel(x.to(Tout.torch), y.to(Tout.torch), adj_x, adj_y)


_batch_matmul_into.op.variants = dict.fromkeys(("grad_x", "grad_y"), _batch_matmul_into)


@_batch_matmul_into.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    x, y = call.inputs
    dtype, adj_x, adj_y = call.attrs
    wide_x, wide_y = cast(x, dtype), cast(y, dtype)
    dx = batch_matmul(wide_y, dy, adj_y, True) if adj_x else batch_matmul(dy, wide_y, False, not adj_y)
    dy_ = batch_matmul(dy, wide_x, True, adj_x) if adj_y else batch_matmul(wide_x, dy, not adj_x, False)
    return cast(sum_like(dx, x), x.dtype), cast(sum_like(dy_, y), y.dtype)


# ---- the public functions --------------------------------------------------------------------------------------------


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Multiplies matrices: `a @ b`.

    Args:
        a: a tensor of shape `[..., m, k]`: a float, complex or integer dtype.
        b: a tensor of shape `[..., k, n]` and the same dtype. Leading dimensions broadcast. A bfloat16 matrix
            times a float32 matrix gives float32.
        transpose_a, transpose_b: transposes `a` or `b` first.
        adjoint_a, adjoint_b: transposes and conjugates `a` or `b` first.
        a_is_sparse, b_is_sparse: hints that most elements are zeros.
        output_type: the dtype to compute in and to return; `a` and `b` may then differ in dtype.
        grad_a, grad_b: say that an input is a gradient; without effect.

    Returns:
        A tensor of shape `[..., m, n]` and the dtype of `a` and `b`, or `output_type`.

    Raises:
        InvalidArgumentError: the shapes or dtypes do not go together.
        ValueError: an input is to be both transposed and conjugate-transposed.

    Example:
        >>> tf.matmul([[1, 2], [3, 4]], [[5], [6]]).numpy().tolist()
        [[17], [39]]
    """
    if type(b) is not EagerTensor and isinstance(b, ReadAsTensor) and not detours:
        b = b._read()
    if type(a) is EagerTensor and type(b) is EagerTensor:
        flags = transpose_a or transpose_b or adjoint_a or adjoint_b or a_is_sparse or b_is_sparse
        if not flags and output_type is None:
            if a.value.ndim == 2 == b.value.ndim:
                try:
                    return _mat_mul(a, b, name)
                except InvalidArgumentError:
                    if a.value.dtype is b.value.dtype:
                        raise  # two dtypes go on below: products of one don't pay for a comparison
            elif a.value.ndim >= 2 <= b.value.ndim:
                return batch_matmul(a, b, False, False, name)
    else:
        operand: Any
        for operand in (a, b):
            if hasattr(type(operand), "_matmul_of"):  # a linear operator, or another value with its own product
                sparse = a_is_sparse or b_is_sparse
                return operand._matmul_of(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, sparse)
    if transpose_a and adjoint_a:
        raise ValueError(_BOTH.format("a", transpose_a, adjoint_a))
    if transpose_b and adjoint_b:
        raise ValueError(_BOTH.format("b", transpose_b, adjoint_b))
    left = _as_operand(a, None)
    right = _as_operand(b, left.dtype)
    if output_type is not None:
        dtype = as_dtype(output_type)
        if dtype is not left.dtype or dtype is not right.dtype:
            left, adjoint_a = (conj(left), True) if transpose_a else (left, adjoint_a)
            right, adjoint_b = (conj(right), True) if transpose_b else (right, adjoint_b)
            return _batch_matmul_into(left, right, dtype, adjoint_a, adjoint_b, name)
    rank_a: Any = shape_rank(left)
    rank_b: Any = shape_rank(right)
    are_matrices = rank_a is not None and rank_b is not None and rank_a <= 2 and rank_b <= 2
    are_mixed = are_matrices and left.dtype is not right.dtype
    if (a_is_sparse or b_is_sparse or are_mixed) and {left.dtype, right.dtype} <= {bfloat16, float32}:
        product = matmul(cast(left, float32), cast(right, float32), transpose_a or adjoint_a, transpose_b or adjoint_b)
        return cast(product, left.dtype if left.dtype is right.dtype else float32)
    if are_matrices:
        if min(rank_a, rank_b) < 2 or not (transpose_a or transpose_b or adjoint_a or adjoint_b):
            return _mat_mul(left, right, name)  # the op refuses wrong dtypes, then vectors
        left, right = conj(left) if adjoint_a else left, conj(right) if adjoint_b else right
        return matmul_op(left, right, transpose_a or adjoint_a, transpose_b or adjoint_b, name)
    if transpose_a:
        left, adjoint_a = conj(left), True
    if transpose_b:
        right, adjoint_b = conj(right), True
    return batch_matmul(left, right, adjoint_a, adjoint_b, name)


_BOTH = "Only one of `transpose_{0}` and `adjoint_{0}` can be True. Received `transpose_{0}`={1}, `adjoint_{0}`={2}."


def _as_operand(x: Any, dtype: DType | None) -> Any:
    """Converts an input without a dtype to a tensor of the dtype `dtype`. A ragged tensor is returned unchanged."""
    if isinstance(x, ReadAsTensor) and not detours:
        return x._read()
    return x if isinstance(x, Tensor) or getattr(type(x), "_is_tensor", False) else convert(x, hint=dtype)


def shape_rank(x: Any) -> int | None:
    """Returns the rank of a tensor, or None if it is unknown."""
    return x.value.ndim if type(x) is EagerTensor else x.shape.rank


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Multiplies matrices by vectors.

    Args:
        a: matrices of shape `[..., m, n]`.
        b: vectors of shape `[..., n]` and the same dtype. Leading dimensions broadcast.
        transpose_a, adjoint_a: transposes `a` first, or transposes and conjugates it.
        a_is_sparse, b_is_sparse: hints that most of the elements are zeros.

    Returns:
        Vectors of shape `[..., m]` and the dtype of `a` and `b`.

    Raises:
        InvalidArgumentError: the shapes or dtypes do not go together.

    Example:
        >>> tf.linalg.matvec([[1, 2], [3, 4]], [5, 6]).numpy().tolist()
        [17, 39]
    """
    vectors = _as_operand(b, None)
    product = matmul(a, expand_dims(vectors, -1), transpose_a, False, adjoint_a, False, a_is_sparse, b_is_sparse)
    return squeeze(product, -1)


def _cross_rule(a: TensorShape, b: TensorShape) -> TensorShape:
    if not a.is_compatible_with(b):
        raise invalid(f"Both inputs must be of same shape: {text(a)} vs. {text(b)}")
    if a.rank == 0:
        raise invalid("Input must be at least 1D[]")
    if a.rank is not None and a[-1] not in (3, None):
        raise FailedPreconditionError.of("Cross-products are only defined for 3-element vectors.")
    shape = a.merge_with(b)
    return shape if shape.rank is None else with_dimension(shape, -1, 3)


def _cross_kernel(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.shape != b.shape or not a.ndim or a.shape[-1] != 3:  # torch would broadcast
        _cross_rule(TensorShape(a.shape), TensorShape(b.shape))
    return torch.linalg.cross(a, b)


@op("Cross", kernel=_cross_kernel, shape=_cross_rule, batching=equal_shapes)
def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """Computes the cross products of vectors of three elements.

    Args:
        a, b: tensors of one shape `[..., 3]` and one real dtype.

    Returns:
        A tensor of that shape and dtype.

    Raises:
        InvalidArgumentError: the shapes differ.
        FailedPreconditionError: the vectors are not of length 3.

    Example:
        >>> tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy().tolist()
        [0, 0, 1]
    """


@cross.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    a, b = call.inputs
    return cross(b, dy), cross(dy, a)
