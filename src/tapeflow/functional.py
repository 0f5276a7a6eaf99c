"""Functions of functions: `map_fn`, `scan`, `foldl`, `foldr`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import nest
from tapeflow.core.composite import CompositeTensor
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.shape import TensorShape
from tapeflow.core.spec import TensorSpec, TypeSpec, spec_of
from tapeflow.core.tensor import Tensor, invalid
from tapeflow.errors import OutOfRangeError


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Calls `fn` on each slice of `elems` along the first dimension, and stacks what it gives.

    Args:
        fn: takes a slice, in the structure of `elems`.
        elems: a tensor or ragged tensor of rank 1 or more, or a nest of them with equal first dimensions.
        fn_output_signature: dtypes or specs in the structure of what `fn` gives, where that differs from `elems`. With
            a `RaggedTensorSpec`, results of different lengths are stacked into a ragged tensor.
        dtype: an older name of `fn_output_signature`.
        infer_shape: whether all results must have the same shape.
        parallel_iterations, back_prop, swap_memory: mean nothing to eager execution.

    Raises:
        ValueError: there is no tensor in `elems`, one is a scalar, first dimensions differ, or results are of another
            structure or shape than expected.
        InvalidArgumentError: results are of another dtype than expected.

    Example:
        >>> tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])).numpy().tolist()
        [1, 4, 9]
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.")
    signature = fn_output_signature if fn_output_signature is not None else dtype
    flat = [_as_value(e) for e in nest.flatten(elems)]
    if not flat:
        raise ValueError(
            f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems}, which does not contain any "
            "Tensors."
        )
    if signature is None:
        specs = [_without_rows(spec_of(e)) for e in flat]
        like = elems
    else:
        specs = [_result_spec(s) for s in nest.flatten(signature)]
        like = signature
    count = _common_length(flat)
    slices = [_unstacked(e, count) for e in flat]
    results: list[list[Any]] = [[] for _ in specs]
    for i in range(count):
        result = fn(nest.pack_sequence_as(elems, [s[i] for s in slices]))
        nest.assert_same_structure(like, result)
        for found, value in zip(results, nest.flatten(result), strict=True):
            found.append(_as_value(value))
    stacked = [_stacked(r, spec, infer_shape) for r, spec in zip(results, specs, strict=True)]
    return nest.pack_sequence_as(like, stacked)


def _as_value(value: Any) -> Any:
    return value if isinstance(value, (Tensor, CompositeTensor)) else convert(value)


def _without_rows(spec: Any) -> Any:
    """The spec of a slice of a value: its shape does not bind what `fn` gives."""
    return TensorSpec(None, spec.dtype) if isinstance(spec, TensorSpec) else spec._unbatch()


def _result_spec(signature: Any) -> Any:
    return signature if isinstance(signature, TypeSpec) else TensorSpec(None, as_dtype(signature))


def _common_length(values: Sequence[Any]) -> int:
    lengths = []
    for value in values:
        if value.shape.rank == 0:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        lengths.append(value.shape[0])
    for length in lengths[1:]:
        if length != lengths[0]:
            raise ValueError(f"Dimensions {lengths[0]} and {length} are not compatible")
    return lengths[0]


def _unstacked(value: Any, count: int) -> Any:
    """The slices of a value along its first dimension."""
    if isinstance(value, Tensor):
        from tapeflow import unstack

        return unstack(value, count) if count else []
    if hasattr(type(value), "__getitem__"):
        return [value[i] for i in range(count)]
    return value._type_spec._slices(value)


def _stacked(values: list[Any], spec: Any, infer_shape: bool) -> Any:
    """The results of all calls as one value, if they are what the spec says."""
    if not isinstance(spec, TensorSpec):
        return spec._stack(values)
    from tapeflow import stack, zeros

    shape = spec.shape
    for value in values:
        if value.dtype is not spec.dtype:
            raise invalid(f"TensorArray dtype is {spec.dtype.name} but Op is trying to write dtype {value.dtype.name} ")
        if not shape.is_compatible_with(value.shape):
            raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({shape})")
        if infer_shape:
            shape = shape.merge_with(value.shape)
    if values:
        return stack(values)
    return zeros([0, *(shape.as_list() if shape.is_fully_defined() else [])], spec.dtype)


# ---- folds -----------------------------------------------------------------------------------------------------------


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combines the slices of `elems` along the first dimension, from first to last: `a = fn(a, slice)`.

    Args:
        fn: takes what was combined so far and a slice.
        elems: a tensor or a nest of tensors with equal first dimensions.
        initializer: what to begin with; by default the first slice.
        parallel_iterations, back_prop, swap_memory: mean nothing to eager execution.

    Returns:
        What `fn` gave last, or the initializer where there are no slices.

    Raises:
        OutOfRangeError: there are no slices and no initializer.

    Example:
        >>> tf.foldl(lambda a, x: a - x, tf.constant([1, 2, 3])).numpy().item()
        -4
    """
    return _fold(fn, elems, initializer, reverse=False)


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combines the slices of `elems` along the first dimension, from last to first. See `tf.foldl`.

    Example:
        >>> tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3])).numpy().item()
        0
    """
    return _fold(fn, elems, initializer, reverse=True)


def _fold(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool) -> Any:
    slices = _slices(fn, elems, reverse)
    value = _start(slices, elems, initializer)
    for item in slices:
        value = fn(value, item)
    return value


def _slices(fn: Any, elems: Any, reverse: bool) -> Any:
    """An iterator over the slices of a nest of tensors."""
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    flat = [convert(e) for e in nest.flatten(elems)]
    if not flat:
        raise ValueError(f"elems must be a Tensor or a nest of Tensors, not {elems!r}")
    if any(e.shape.rank == 0 for e in flat):
        raise IndexError("elems must be 1+ dimensional Tensors, not scalars")
    count = _common_length(flat)
    slices = [_unstacked(e, count) for e in flat]
    order = range(count - 1, -1, -1) if reverse else range(count)
    return iter([nest.pack_sequence_as(elems, [s[i] for s in slices]) for i in order])


def _start(slices: Any, elems: Any, initializer: Any) -> Any:
    """The value to begin with; the first slice is taken off where there is no initializer."""
    if initializer is not None:
        return nest.map_structure(convert, initializer)
    for item in slices:
        return item
    raise OutOfRangeError(None, None, "Tried to read from index 0 but array size is: 0 ")


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Combines the slices of `elems` along the first dimension and stacks every value on the way.

    Args:
        fn: takes what was combined so far and a slice.
        elems: a tensor or a nest of tensors with equal first dimensions.
        initializer: what to begin with; by default the first slice, which then is the first value too.
        infer_shape: whether all values must have the same shape.
        reverse: goes from last to first; the values keep the places of their slices.
        parallel_iterations, back_prop, swap_memory: mean nothing to eager execution.

    Returns:
        Tensors in the structure of what `fn` gives, with a value for each slice.

    Raises:
        OutOfRangeError: there are no slices and no initializer.
        ValueError, TypeError: what `fn` gives has another structure or shape than the value before.
        InvalidArgumentError: or another dtype.

    Example:
        >>> tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy().tolist()
        [1, 3, 6]
    """
    slices = _slices(fn, elems, reverse)
    value = _start(slices, elems, initializer)
    like = elems if initializer is None else initializer
    flat = nest.flatten(value)
    specs: list[tuple[DType, TensorShape]] = [(v.dtype, v.shape) for v in flat]
    results: list[list[Any]] = [[] if initializer is not None else [v] for v in flat]
    for item in slices:
        value = fn(value, item)
        nest.assert_same_structure(like, value)
        for found, v in zip(results, nest.flatten(value), strict=True):
            found.append(convert(v))
    if reverse:
        results = [r[::-1] for r in results]
    stacked = [
        _stacked(r, TensorSpec(shape if not r else None, dtype), infer_shape)
        for r, (dtype, shape) in zip(results, specs, strict=True)
    ]
    return nest.pack_sequence_as(like, stacked)
