"""Functions of functions: `map_fn`, `scan`, `foldl`, `foldr`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.properties import shape_op
from tapeflow.control.conditions_and_loops import while_loop
from tapeflow.control.tensor_array import TensorArray
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int32
from tapeflow.core.types.spec import TensorSpec, TypeSpec, spec_of
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor, without_variables
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.casting import cast

if TYPE_CHECKING:
    from tapeflow.ragged.spec import RaggedTensorSpec
    from tapeflow.ragged.tensor import RaggedTensor
    from tapeflow.sparse.tensor import SparseTensor


def map_fn(
    fn: Callable[[Any], Any],
    elems: TensorLike | Mapping[Any, Any],
    dtype: DTypeLike | TypeSpec | Sequence[Any] | Mapping[Any, Any] = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: DTypeLike | TypeSpec | Sequence[Any] | Mapping[Any, Any] = None,
) -> Any:
    """Calls `fn` on each slice of `elems` along the first dimension, and stacks the results.

    Args:
        fn: takes a slice, in the structure of `elems`.
        elems: a tensor or ragged tensor of rank 1 or more, or a nest of them with equal first dimensions.
        fn_output_signature: dtypes or specs in the structure of the results of `fn`; by default the structure and
            dtypes of `elems`. With a `RaggedTensorSpec`, results of different lengths are stacked into a ragged tensor.
        dtype: an older name of `fn_output_signature`.
        infer_shape: whether all results must have the same shape.
        parallel_iterations, back_prop, swap_memory: accepted; iterations run one after the other.

    Returns:
        The stacked results, in the structure of `fn_output_signature`, or else of `elems`. Their first dimension is the
        first dimension of `elems`.

    Raises:
        TypeError: `fn` is not callable, or returns values that can't be stacked.
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
    with name_scope(name or "map"):
        return _map_slices(fn, elems, signature, infer_shape)


def _map_slices(fn: Callable[[Any], Any], elems: Any, signature: Any, infer_shape: bool) -> Any:
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
    if any(isinstance(e, Tensor) and e.shape.rank == 0 for e in flat):
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    count = _common_length(flat)
    fn = as_traced(fn)
    readers = [_slice_reader(e, count) for e in flat]
    collections = [_result_collection(spec, count, infer_shape) for spec in specs]

    def step(i: Tensor | int, collected: list[Any]) -> Any:
        result = fn(nest.pack_sequence_as(elems, [read(i) for read in readers]))
        nest.assert_same_structure(like, result)
        values = [_as_value(v) for v in nest.flatten(result)]
        return i + 1, [c.write(arrays, i, v) for c, arrays, v in zip(collections, collected, values, strict=True)]

    loop_vars = 0, [c.arrays() for c in collections]
    with hooks.user_code(fn):
        _, collected = while_loop(lambda i, _: i < count, step, loop_vars, maximum_iterations=count)
    stacked = [c.stacked(arrays) for c, arrays in zip(collections, collected, strict=True)]
    return nest.pack_sequence_as(like, stacked)


def as_traced(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function converted by AutoGraph if a function is being traced, or else itself."""
    if state.graph is None or not state.graph.building_function:
        return fn
    return hooks.converted(fn)


def _as_value(value: Any) -> Any:
    return without_variables(value) if isinstance(value, (Tensor, CompositeTensor)) else convert(value)


def _without_rows(spec: TensorSpec) -> Any:
    """Returns the spec of a slice of a value, without its shape, which results need not have."""
    return TensorSpec(None, spec.dtype) if isinstance(spec, TensorSpec) else spec._unbatch()


def _result_spec(signature: DType | RaggedTensorSpec) -> Any:
    return signature if isinstance(signature, TypeSpec) else TensorSpec(None, as_dtype(signature))


def _common_length(values: Sequence[Any]) -> Any:
    """Returns the first dimension that values share: an int, or a scalar tensor if it is not static."""
    values = [part for value in values for part in _encode_parts(value)]
    lengths = [value.shape[0] if value.shape.rank is not None else None for value in values]
    static = [n for n in lengths if n is not None]
    for length in static[1:]:
        if length != static[0]:
            raise ValueError(f"Dimensions {static[0]} and {length} are not compatible")
    if static:
        return static[0]
    return shape_op(values[0])[0] if isinstance(values[0], Tensor) else _row_count(values[0])


def _encode_parts(value: Any) -> list[Any]:
    """Returns the parts to slice: the value itself, or the tensors that an extension type stacks."""
    spec: Any = getattr(value, "_type_spec", None)
    return spec._encoded(value, 1) if hasattr(spec, "_encoded") else [value]


def _row_count(value: RaggedTensor | SparseTensor) -> Any:
    return cast(value.nrows() if hasattr(value, "nrows") else value.dense_shape[0], int32)


def _slice_reader(value: Any, count: Tensor | int) -> Callable[[Any], Any]:
    """Returns a function from an index of the first dimension to the slice of a value there."""
    if isinstance(value, Tensor):
        return TensorArray(value.dtype, count).unstack(value).read
    if hasattr(value._type_spec, "_encoded"):
        readers = [_slice_reader(part, count) for part in _encode_parts(value)]
        of_one = value._type_spec._unbatch()
        return lambda i: of_one._decoded(iter([read(i) for read in readers]))
    if hasattr(type(value), "__getitem__"):
        return value.__getitem__
    return lambda i: value._type_spec._slice(value, i)


# ---- collecting the results of all slices ----------------------------------------------------------------------------


class _Tensors:
    """Collects tensors of one shape, and stacks them."""

    def __init__(self, spec: TensorSpec, count: Tensor | int, infer_shape: bool) -> None:
        self.spec, self.count, self.infer_shape = spec, count, infer_shape

    def arrays(self) -> list[TensorArray]:
        """Returns the empty arrays to collect in."""
        shape = self.spec.shape
        return [TensorArray(self.spec.dtype, self.count, infer_shape=self.infer_shape, element_shape=shape)]

    def write(self, arrays: list[TensorArray], i: Tensor | int, value: Tensor) -> list[TensorArray]:
        """Returns the arrays with the value at index `i` written."""
        return [arrays[0].write(i, value)]

    def stacked(self, arrays: list[TensorArray]) -> Any:
        """Returns all values as one."""
        return arrays[0].stack()


class _Parts:
    """Collects composite values of different lengths: the component tensors of each value, and joins them.

    The spec defines the components: `_stacked_parts` returns the dtypes and shapes of the components of a value,
    `_to_parts` the components, and `_from_parts` one value of all of them, joined along their first dimensions.
    """

    def __init__(self, spec: Any, count: Tensor | int) -> None:
        self.spec, self.count = spec, count

    def arrays(self) -> list[TensorArray]:
        return [
            TensorArray(part.dtype, self.count, infer_shape=False, element_shape=part.shape)
            for part in self.spec._stacked_parts()
        ]

    def write(self, arrays: list[TensorArray], i: Tensor | int, value: Tensor) -> list[TensorArray]:
        parts = self.spec._to_parts(value)
        return [array.write(i, part) for array, part in zip(arrays, parts, strict=True)]

    def stacked(self, arrays: list[TensorArray]) -> Any:
        return self.spec._from_parts([array.concat() for array in arrays])


class _Encoded:
    """Collects values of an extension type: a collection for each tensor of its encoding."""

    def __init__(self, spec: Any, count: int, infer_shape: bool) -> None:
        self.spec, self.count = spec, count
        self.parts = [_result_collection(part, count, infer_shape) for part in spec._part_specs()]

    def arrays(self) -> Any:
        return [part.arrays() for part in self.parts]

    def write(self, arrays: list[Any], i: Tensor | int, value: Any) -> Any:
        encoded = self.spec._encoded(value)
        return [part.write(a, i, v) for part, a, v in zip(self.parts, arrays, encoded, strict=True)]

    def stacked(self, arrays: list[Any]) -> Any:
        whole = self.spec._batch(self.count if isinstance(self.count, int) else None)
        return whole._decoded(iter([part.stacked(a) for part, a in zip(self.parts, arrays, strict=True)]))


def _result_collection(spec: Any, count: Any, infer_shape: bool) -> _Tensors | _Parts | _Encoded:
    """Returns the collection for the results of all calls, by the spec of one."""
    if isinstance(spec, TensorSpec):
        return _Tensors(spec, count, infer_shape)
    if hasattr(spec, "_part_specs"):
        return _Encoded(spec, count, infer_shape)
    if not hasattr(spec, "_stacked_parts"):
        raise TypeError(f"map_fn can't stack values of {spec}: it stacks tensors, ragged and sparse tensors.")
    return _Parts(spec, count)


# ---- folds -----------------------------------------------------------------------------------------------------------


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: TensorLike | Mapping[Any, Any],
    initializer: TensorLike | Mapping[Any, Any] | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combines the slices of `elems` along the first dimension, from first to last: `a = fn(a, slice)`.

    Args:
        fn: takes the combination so far and a slice, and returns the next combination.
        elems: a tensor or a nest of tensors with equal first dimensions.
        initializer: the first combination, of the shape that `fn` returns; by default the first slice.
        parallel_iterations, back_prop, swap_memory: accepted; iterations run one after the other.

    Returns:
        The last result of `fn`, or the initializer if there are no slices.

    Raises:
        TypeError: `fn` is not callable.
        ValueError: there is no tensor in `elems`.
        IndexError: a tensor in `elems` is a scalar.
        OutOfRangeError: there are no slices and no initializer.

    Example:
        >>> tf.foldl(lambda a, x: a - x, tf.constant([1, 2, 3])).numpy().item()
        -4
    """
    with name_scope(name or "foldl"):
        return _fold_slices(fn, elems, initializer, reverse=False)


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: TensorLike | Mapping[Any, Any],
    initializer: TensorLike | Mapping[Any, Any] | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combines the slices of `elems` along the first dimension, from last to first: `a = fn(a, slice)`.

    Args:
        fn: takes the combination so far and a slice, and returns the next combination.
        elems: a tensor or a nest of tensors with equal first dimensions.
        initializer: the first combination, of the shape that `fn` returns; by default the last slice.
        parallel_iterations, back_prop, swap_memory: accepted; iterations run one after the other.

    Returns:
        The last result of `fn`, or the initializer if there are no slices.

    Raises:
        TypeError: `fn` is not callable.
        ValueError: there is no tensor in `elems`.
        IndexError: a tensor in `elems` is a scalar.
        OutOfRangeError: there are no slices and no initializer.

    Example:
        >>> tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3])).numpy().item()
        0
    """
    with name_scope(name or "foldr"):
        return _fold_slices(fn, elems, initializer, reverse=True)


class _Walk:
    """The slices of a nest of tensors in an order, and the value that a fold or a scan of them starts with."""

    def __init__(self, fn: Any, elems: TensorLike, initializer: TensorLike | None, reverse: bool) -> None:
        if not callable(fn):
            raise TypeError(f"{fn!r} is not callable.")
        flat = [convert(e) for e in nest.flatten(elems)]
        if not flat:
            raise ValueError(f"elems must be a Tensor or a nest of Tensors, not {elems!r}")
        if any(e.shape.rank == 0 for e in flat):
            raise IndexError("elems must be 1+ dimensional Tensors, not scalars")
        self.elems = elems
        self.count = _common_length(flat)
        self.readers = [_slice_reader(e, self.count) for e in flat]
        self.step = -1 if reverse else 1
        self.at = self.count - 1 if reverse else 0  # the index of the first slice that is not part of the start
        self.left = self.count  # the number of these slices
        if initializer is not None:
            self.start = nest.map_structure(convert, initializer)
        else:
            self.start = self.read(self.at)
            self.at += self.step
            self.left -= 1

    def read(self, i: Tensor | int) -> Any:
        return nest.pack_sequence_as(self.elems, [read(i) for read in self.readers])

    def more(self, i: Tensor | int) -> Any:
        """Returns True if there is a slice at an index."""
        return i >= 0 if self.step < 0 else i < self.count

    def go(self, body: Callable[..., Any], *variables: Any) -> Any:
        """Repeats `variables = body(i, *variables)` for each index, and returns the last variables."""

        def step(i: Tensor | int, *variables: Any) -> Any:
            results = body(i, *variables)  # before the index, as TensorFlow's operations are named
            return i + self.step, *results

        loop_vars = (self.at, *variables)
        return while_loop(lambda i, *_: self.more(i), step, loop_vars, maximum_iterations=self.left)[1:]


def _fold_slices(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, reverse: bool) -> Any:
    walk = _Walk(fn, elems, initializer, reverse)
    fn = as_traced(fn)
    return walk.go(lambda i, value: (fn(value, walk.read(i)),), walk.start)[0]


def scan(
    fn: Callable[[Any, Any], Any],
    elems: TensorLike | Mapping[Any, Any],
    initializer: TensorLike | Mapping[Any, Any] | None = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Combines the slices of `elems` along the first dimension and stacks every value on the way.

    Args:
        fn: takes the combination so far and a slice, and returns the next combination.
        elems: a tensor or a nest of tensors with equal first dimensions.
        initializer: the first combination, of the shape that `fn` returns; by default the first slice, which then is
            the first value too.
        infer_shape: whether all values must have the same shape.
        reverse: goes from last to first; the values have the places of their slices.
        parallel_iterations, back_prop, swap_memory: accepted; iterations run one after the other.

    Returns:
        Tensors in the structure of the results of `fn`, with a value for each slice along the first dimension.

    Raises:
        TypeError: `fn` is not callable, or returns another structure than before.
        ValueError: there is no tensor in `elems`, or `fn` returns another structure or shape than before.
        IndexError: a tensor in `elems` is a scalar.
        OutOfRangeError: there are no slices and no initializer.
        InvalidArgumentError: `fn` returns another dtype than before.

    Example:
        >>> tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy().tolist()
        [1, 3, 6]
    """
    with name_scope(name or "scan"):
        return _scan_slices(fn, elems, initializer, infer_shape, reverse)


def _scan_slices(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, infer_shape: bool, reverse: bool) -> Any:
    walk = _Walk(fn, elems, initializer, reverse)
    fn = as_traced(fn)
    like = elems if initializer is None else initializer
    arrays = []
    for value in nest.flatten(walk.start):
        array = TensorArray(value.dtype, walk.count, infer_shape=infer_shape,
                            element_shape=value.shape if infer_shape else None)  # fmt: skip
        arrays.append(array if initializer is not None else array.write(walk.at - walk.step, value))

    def body(i: Tensor | int, before: TensorLike, arrays: list[TensorArray]) -> Any:
        value = fn(before, walk.read(i))
        nest.assert_same_structure(like, value)
        value = nest.map_structure(convert, value)
        return value, [a.write(i, v) for a, v in zip(arrays, nest.flatten(value), strict=True)]

    _, arrays = walk.go(body, walk.start, arrays)
    return nest.pack_sequence_as(like, [a.stack() for a in arrays])
