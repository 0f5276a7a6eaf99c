"""Sums, differences and products, element by element."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from tapeflow.array.batched_lists import stacked_list
from tapeflow.array.creation import zeros_like_op
from tapeflow.array.tensor_list import add_variants
from tapeflow.core.autodiff.gradients import conj, declare_adjoint, shape_of, sum_like, sum_to_shape, sum_wanted
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import Batch, Slices
from tapeflow.core.ops.convert import as_operand, convert
from tapeflow.core.ops.elements import Element, ElementBuilder
from tapeflow.core.ops.elementwise_kernels import zero_where_zero
from tapeflow.core.ops.op import op, widen
from tapeflow.core.ops.shape_rules import broadcast, merge_shapes, same, text
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.string_joins import join_elements
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor, invalid


def _add_text(x: StringArray, y: StringArray) -> Any:
    shape = tuple(broadcast(TensorShape(x.shape), TensorShape(y.shape)))
    if not isinstance(x, StringArray):
        return x + y  # of a quantized dtype
    return join_elements([x.broadcast_to(shape), y.broadcast_to(shape)], shape)


@op(
    "AddV2",
    linear=True,
    alias="Add",
    kernel=torch.add,
    shape=broadcast,
    promotes=True,
    strings=_add_text,
    element=lambda b, x, y: b.add(x, y),
    neutral=-0.0,
    allocates=True,
    node_name="Add",
)
def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Adds two tensors element by element, with broadcasting; joins strings.

    Args:
        x, y: tensors of one numeric dtype, or strings, of shapes that broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.add([1, 2], 3).numpy().tolist()
        [4, 5]
    """


@add.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    x, y = call.wanted
    shape = dy.value.shape if type(dy) is EagerTensor else shape_of(dy)
    shape_x, shape_y = call.shapes
    return (
        None if not x else dy if shape_x == shape else sum_to_shape(dy, shape_x),
        None if not y else dy if shape_y == shape else sum_to_shape(dy, shape_y),
    )


@add.accumulate
def _(call: Call, dy: Any, sums: dict[int, Any], owned: set[int]) -> Any:
    i, j = call.input_ids
    want_x, want_y = call.wanted
    shape_x, shape_y = call.shapes
    shape = dy.value.shape
    dx = None if not want_x or (i in owned and _added_rows(sums[i], dy, shape)) else dy
    dy = None if not want_y or (j in owned and _added_rows(sums[j], dy, shape)) else dy
    return (
        dx if dx is None or shape_x == shape else sum_to_shape(dx, shape_x),
        dy if dy is None or shape_y == shape else sum_to_shape(dy, shape_y),
    )


def _added_rows(total: Tensor, dy: Tensor, shape: torch.Size) -> bool:
    """Adds the rows of a matrix to a sum in place, such as a bias gradient over many steps. Returns False if it can't.

    A product with ones does this in one kernel instead of two.
    """
    rows, value = dy.value, total.value
    if len(shape) != 2 or shape[0] > _MOST_ROWS or value.ndim != 1 or not value.is_cpu:
        return False
    ones = _ones_vector(shape[0], rows.dtype)
    if ones is None:
        return False
    try:  # to look at all that ATen looks at would take longer than the call
        value.addmv_(rows.mT, ones)
    except RuntimeError:  # another shape, or a batched value
        return False
    return True


_MOST_ROWS = 1024  # with more, the arithmetic takes longer than the calls


@functools.lru_cache(256)
def _ones_vector(length: int, dtype: torch.dtype) -> torch.Tensor | None:
    return torch.ones(length, dtype=dtype) if dtype in (torch.float32, torch.float64) else None


@op("Sub", kernel=torch.sub, shape=broadcast, element=lambda b, x, y: b.sub(x, y), neutral=0.0, allocates=True)
def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Subtracts `y` from `x` element by element, with broadcasting.

    Args:
        x, y: tensors of one numeric dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.subtract([5, 6], [1, 2]).numpy().tolist()
        [4, 4]
    """


@subtract.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    x, y = call.wanted
    return (sum_to_shape(dy, call.shape(0)) if x else None, negative(sum_to_shape(dy, call.shape(1))) if y else None)


@op("Mul", kernel=torch.mul, shape=broadcast, element=lambda b, x, y: b.mul(x, y), neutral=1.0, allocates=True)
def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Multiplies two tensors element by element, with broadcasting.

    Args:
        x, y: tensors of one numeric dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.multiply([1.0, 2.0], 3.0).numpy().tolist()
        [3.0, 6.0]
    """


@multiply.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    x, y = call.inputs
    want_x, want_y = call.wanted
    return (
        sum_like(multiply(dy, conj(y)), x) if want_x else None,
        sum_like(multiply(dy, conj(x)), y) if want_y else None,
    )


@op("Neg", kernel=torch.neg, shape=same, element=lambda b, x: b.neg(x), allocates=True, takes_sparse=True)
def negative(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `-x` element by element.

    Args:
        x: a tensor of a signed numeric dtype, of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is unsigned, bool or string.

    Example:
        >>> tf.negative([1, -2]).numpy().tolist()
        [-1, 2]
    """


declare_adjoint(negative, negative)


def _squared_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    d = torch.sub(x, y)
    return torch.mul(d, torch.conj(d)) if d.is_complex() else d.square_()


def _squared_difference_of_elements(b: ElementBuilder, x: Element, y: Element) -> Element:
    d = b.rounded(b.sub(x, y))
    return b.mul(d, d)


@op("SquaredDifference", kernel=_squared_difference, shape=broadcast, element=_squared_difference_of_elements)
def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes `(x - y) ** 2` element by element, with broadcasting; for complex numbers `|x - y| ** 2`.

    Args:
        x, y: tensors of one numeric dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.math.squared_difference([1, 2], 4).numpy().tolist()
        [9, 4]
    """


@squared_difference.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    x, y = call.inputs
    want_x, want_y = call.wanted
    dx = multiply(multiply(dy, 2.0), subtract(x, y))
    return sum_like(dx, x) if want_x else None, negative(sum_like(dx, y)) if want_y else None


@op("MulNoNan", shape=broadcast, element=lambda b, x, y: b.zero_where_zero(b.mul(x, y), y), autograd=False)
def _multiply_no_nan(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Computes the product, and 0 where `y` is 0."""
    return zero_where_zero(torch.mul(x, y), y)


@_multiply_no_nan.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    x, y = call.inputs
    return sum_wanted(call, lambda: _multiply_no_nan(dy, y), lambda: _multiply_no_nan(x, dy))


def _multiply_numbers_no_nan(args: tuple[Any, Any], name: str | None = None) -> Any:
    x = as_operand(args[0])
    return _multiply_no_nan.op.run((x, as_operand(args[1], x.dtype)), name)


@widen(_multiply_no_nan, _multiply_numbers_no_nan)
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Multiplies element by element, with 0 where `y` is 0, even if `x` is NaN or infinite there.

    Args:
        x, y: floating or complex tensors of one dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        ValueError: the dtypes differ.
        InvalidArgumentError: the shapes do not broadcast.

    Example:
        >>> tf.math.multiply_no_nan([float("nan"), 2.0], [0.0, 3.0]).numpy().tolist()
        [0.0, 6.0]
    """


def _add_variants(inputs: list[Any]) -> Any:
    if any(isinstance(v, StringArray) or v.shape for v in inputs):
        raise invalid("Value for attr 'T' of string is not in the list of allowed values")
    return add_variants(inputs)


@op("AddN", strings=_add_variants, shape=lambda inputs: merge_shapes(*inputs),
    in_loops=lambda b, inputs: b.add_all(inputs))  # fmt: skip
def add_n_op(inputs: list[torch.Tensor]) -> torch.Tensor:
    """Sums tensors of one shape."""
    first = inputs[0]
    for i, x in enumerate(inputs):
        if x.shape != first.shape:
            shapes = f"Input 0: {text(first.shape)} != input {i}: {text(x.shape)}"
            raise invalid(f"Inputs to operation AddN of type AddN must have the same size and shape.  {shapes}")
    return functools.reduce(torch.add, inputs)


@add_n_op.batching
def _(batch: Batch, values: list[Slices]) -> Any:
    return batch.run([stacked_list(batch, v) if v.slice.dtype is variant else batch.stack(v) for v in values])


@add_n_op.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return [dy] * len(call.wanted)


def add_n(inputs: Iterable[TensorLike], name: str | None = None) -> Tensor:
    """Adds tensors of one shape and dtype, without broadcasting.

    Args:
        inputs: the tensors, or `IndexedSlices`, all of one shape; any iterable of them.

    Returns:
        A tensor of that shape and dtype, which for one input is the input itself.

    Raises:
        TypeError: `inputs` is not iterable.
        ValueError: `inputs` is empty.
        InvalidArgumentError: the shapes or dtypes differ.

    Example:
        >>> tf.add_n([[1, 2], [3, 4], [5, 6]]).numpy().tolist()
        [9, 12]
    """
    if not isinstance(inputs, Iterable):
        raise TypeError(f"{type(inputs).__name__!r} object is not iterable")
    # As in TensorFlow, each input gets its own dtype, and [1, 2.5] is an error.
    tensors = [as_operand(x) for x in inputs]
    if not tensors:
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    return tensors[0] if len(tensors) == 1 else add_n_op(tensors, name)


def accumulate_n(
    inputs: Sequence[TensorLike], shape: ShapeLike = None, tensor_dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """Adds tensors of one shape and dtype. The same as `tf.add_n`, with more checks.

    Args:
        inputs: a list of tensors, all of one shape.
        shape: the shape of all tensors, or None for the shape of the first one.
        tensor_dtype: the dtype of all tensors, or None for the dtype of the first one.

    Returns:
        A tensor of that shape and dtype.

    Raises:
        ValueError: `inputs` is empty or no list, or its shapes or dtypes differ.
        TypeError: the inputs are not of `tensor_dtype`.

    Example:
        >>> tf.math.accumulate_n([[1, 2], [3, 4]]).numpy().tolist()
        [4, 6]
    """
    refused = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(refused)
    tensors = [convert(x) for x in inputs]
    if any(t.dtype is not tensors[0].dtype for t in tensors):
        raise ValueError(refused)
    expected = TensorShape(shape) if shape is not None else tensors[0].shape
    for t in tensors:
        expected.assert_is_compatible_with(t.shape)
    if tensor_dtype is not None and as_dtype(tensor_dtype) is not tensors[0].dtype:
        raise TypeError(
            f"The `tensor_dtype` argument is {as_dtype(tensor_dtype)}, but `input` is of type {tensors[0].dtype}. "
            "These must be equal. Try casting the input to the desired type."
        )
    return add_n_op(tensors, name)


def scalar_mul(scalar: TensorLike, x: Tensor | ReadAsTensor | IndexedSlices, name: str | None = None) -> Tensor:
    """Multiplies a tensor by a scalar; `IndexedSlices` stay sparse.

    Args:
        scalar: a number, or a tensor of shape `[]` and of the dtype of `x`.
        x: a tensor, variable or `IndexedSlices`, of any shape.

    Returns:
        A tensor of the shape and dtype of `x`, or `IndexedSlices` if `x` is one.

    Raises:
        ValueError: `scalar` has dimensions.

    Example:
        >>> tf.scalar_mul(2.0, tf.constant([1.0, 2.0])).numpy().tolist()
        [2.0, 4.0]
    """
    factor = convert(scalar, as_dtype(x.dtype).base_dtype)
    if factor.shape.rank != 0:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {factor.shape}.")
    if isinstance(x, IndexedSlices):
        rows: Any = IndexedSlices(multiply(factor, x.values), x.indices, x.dense_shape)
        return rows
    return multiply(factor, x, name)


def polyval(coeffs: list[TensorLike], x: TensorLike, name: str | None = None) -> Tensor:
    """Evaluates the polynomial `coeffs[0] * x**(n-1) + ... + coeffs[n-1]` by Horner's rule.

    Args:
        coeffs: the list of coefficients: tensors that broadcast against `x`, the highest power first.
        x: a tensor of any shape, the points of evaluation.

    Returns:
        A tensor of the dtype of the coefficients and of the broadcast shape; zeros like `x` without coefficients.

    Raises:
        ValueError: `coeffs` is not a list.

    Example:
        >>> tf.math.polyval([1.0, 0.0, 2.0], 3.0).numpy().item()
        11.0
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert(x)
    if not coeffs:
        return zeros_like_op(x)
    total = convert(coeffs[0])
    for c in coeffs[1:]:
        total = add(c, multiply(total, x))
    return total
