"""The ops on stacks, tensor arrays, maps and staging areas: kernels on the objects that handles hold."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core import errors
from tapeflow.core.fork_locks import new_condition
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.raw_kernels import define, kernel_of
from tapeflow.core.ops.shape_rules import no_results, scalar
from tapeflow.core.session_resources import held_here
from tapeflow.core.types.aliases import ShapeLike
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import box_object, held_object
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import invalid
from tapeflow_compat.queue.waits import wait_until

Raw = Any


def _flow(*_: Any) -> torch.Tensor:
    return torch.zeros(())


def _handle(*_: Any) -> TensorShape:
    """Returns the static shape of the handle of a stack or tensor array: two, as it once was two strings."""
    return TensorShape([2])


# ---- stacks ----------------------------------------------------------------------------------------------------------


class _Stack(list[Raw]):
    """The tensors on a stack, of at most `size`, or of any number if that is negative."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


@kernel_of("StackV2", shape=_handle)
def _stack(max_size: Raw, elem_type: DType, stack_name: str) -> Raw:
    return box_object(_Stack(int(max_size)))


def _stack_of(handle: Raw) -> _Stack:
    return held_object(handle, _Stack, "stack")


@kernel_of("StackPushV2", shape=lambda handle, elem, *_: elem)
def _push(handle: Raw, elem: Raw, swap_memory: bool) -> Raw:
    stack = _stack_of(handle)
    if 0 <= stack.size <= len(stack):
        raise invalid(f"Stack[{stack.size}] overflowed its max_size ({stack.size})")
    stack.append(elem)
    return elem


@kernel_of("StackPopV2")
def _pop(handle: Raw, elem_type: DType) -> Raw:
    stack = _stack_of(handle)
    if not stack:
        raise invalid("Stack[] is empty when calling Pop().")
    return stack.pop()


@kernel_of("StackCloseV2", shape=no_results)
def _close_stack(handle: Raw) -> None:
    _stack_of(handle).clear()


# ---- tensor arrays ---------------------------------------------------------------------------------------------------


_BYTES_OF_ENTRY = 16  # in two lists


class _Array:
    """The tensors of a tensor array by index, and its gradients' arrays by source."""

    def __init__(self, size: int, dtype: DType, grows: bool, clears: bool, sums: bool = False) -> None:
        check_memory([size], _BYTES_OF_ENTRY, UNFILLED)
        self.items: list[Raw] = [None] * size
        self.dtype, self.grows, self.clears, self.sums = dtype, grows, clears, sums
        self.shapes: list[tuple[int, ...]] = [()] * size
        self.gradients: dict[str, _Array] = {}

    def write(self, index: int, value: Raw) -> None:
        """Stores a tensor; in the array of gradients it adds it to the one that is there."""
        if index >= len(self.items) and self.grows:
            check_memory([index + 1], _BYTES_OF_ENTRY, UNFILLED)
            more = index + 1 - len(self.items)
            self.items += [None] * more
            self.shapes += [()] * more
        if not 0 <= index < len(self.items):
            raise invalid(f"Tried to write to index {index} but array is not resizeable and size is: {len(self.items)}")
        if self.items[index] is not None:
            if not self.sums:
                raise invalid(f"Could not write to TensorArray index {index} because it has already been written to.")
            value = self.items[index] + value
        self.items[index], self.shapes[index] = value, tuple(value.shape)

    def read(self, index: int) -> Raw:
        """Returns the tensor of a place."""
        if not 0 <= index < len(self.items):
            raise invalid(f"Tried to read from index {index} but array size is: {len(self.items)}")
        value = self.items[index]
        if value is None:
            if self.sums:
                return torch.zeros(self.shapes[index], dtype=self.dtype.torch)
            raise invalid(
                f"Could not read index {index} twice because it was cleared after a previous read, or never written."
            )
        if self.clears and not self.sums:
            self.items[index] = None
        return value


def _no_gradient(*_: Any) -> Any:
    raise errors.UnimplementedError.of(
        "Gradients do not pass tensor arrays of TensorFlow 1 where control flow runs as it stands. If the graph has a "
        "training operation, run that; or load the model with tf.saved_model.load and differentiate its signatures."
    )


def _array_of(handle: Raw) -> _Array:
    return held_object(handle, _Array, "TensorArray")


@kernel_of("TensorArrayV3", shape=lambda *_: [_handle(), []])
def _array(
    size: Raw, dtype: DType, element_shape: ShapeLike, dynamic_size: bool, clear_after_read: bool,
    identical_element_shapes: bool, tensor_array_name: str,
) -> Any:  # fmt: skip
    return box_object(_Array(int(size), dtype, bool(dynamic_size), clear_after_read is not False)), _flow()


@kernel_of("TensorArrayWriteV3", shape=scalar, gradient=_no_gradient)
def _write(handle: Raw, index: Raw, value: Raw, flow_in: Raw) -> Raw:
    _array_of(handle).write(int(index), value)
    return _flow()


@kernel_of("TensorArrayReadV3", gradient=_no_gradient)
def _read(handle: Raw, index: Raw, flow_in: Raw, dtype: DType) -> Raw:
    return _array_of(handle).read(int(index))


def _stacked(values: Sequence[Raw], dtype: DType) -> Raw:
    if not values:
        return StringArray.of([]) if dtype is string else torch.zeros((0,), dtype=dtype.torch)
    return StringArray.stack(values) if isinstance(values[0], StringArray) else torch.stack(list(values))


@kernel_of("TensorArrayGatherV3", gradient=_no_gradient)
def _gather(handle: Raw, indices: Raw, flow_in: Raw, dtype: DType, element_shape: ShapeLike) -> Raw:
    return _stacked([_array_of(handle).read(i) for i in indices.tolist()], dtype)


@kernel_of("TensorArrayScatterV3", shape=scalar, gradient=_no_gradient)
def _scatter(handle: Raw, indices: Raw, value: Raw, flow_in: Raw) -> Raw:
    for index, row in zip(indices.tolist(), value, strict=True):
        _array_of(handle).write(index, row)
    return _flow()


@kernel_of("TensorArrayConcatV3", shape=lambda *_: [None, [None]], gradient=_no_gradient)
def _concat(handle: Raw, flow_in: Raw, dtype: DType, element_shape_except0: Any) -> Any:
    array = _array_of(handle)
    values = [array.read(i) for i in range(len(array.items))]
    if not values:
        return _stacked([], dtype), torch.zeros(0, dtype=torch.int64)
    joined = StringArray.concatenate(values) if isinstance(values[0], StringArray) else torch.cat(values)
    return joined, torch.tensor([len(v) for v in values])


@kernel_of("TensorArraySplitV3", shape=scalar, gradient=_no_gradient)
def _split(handle: Raw, value: Raw, lengths: Raw, flow_in: Raw) -> Raw:
    start = 0
    for index, length in enumerate(lengths.tolist()):
        _array_of(handle).write(index, value[start : start + length])
        start += length
    return _flow()


@kernel_of("TensorArraySizeV3", shape=scalar)
def _size(handle: Raw, flow_in: Raw) -> Raw:
    return torch.tensor(len(_array_of(handle).items), dtype=torch.int32)


@kernel_of("TensorArrayCloseV3", shape=no_results)
def _close(handle: Raw) -> None:
    _array_of(handle).items.clear()


@kernel_of("TensorArrayGradV3", shape=lambda *_: [[], []])
def _gradient(handle: Raw, flow_in: Raw, source: str) -> Any:
    return _gradient_of(handle, (), source)


@kernel_of("TensorArrayGradWithShape", shape=lambda *_: [[], []])
def _gradient_with_shape(handle: Raw, flow_in: Raw, shape_to_prepend: Raw, source: str) -> Any:
    return _gradient_of(handle, tuple(shape_to_prepend.tolist()), source)


def _gradient_of(handle: Raw, front: tuple[int, ...], source: str) -> Any:
    """Returns the handle of the array that the gradients of an array's tensors are summed in."""
    array = _array_of(handle)
    if source not in array.gradients:
        gradients = _Array(len(array.items), array.dtype, False, False, sums=True)
        gradients.shapes = [front + shape for shape in array.shapes]
        array.gradients[source] = gradients
    return box_object(array.gradients[source]), _flow()


# ---- maps from tensors to tensors ------------------------------------------------------------------------------------


def _key(value: Raw) -> Any:
    """Returns a tensor as a key of a dict."""
    dtype = "string" if isinstance(value, StringArray) else str(value.dtype)
    return dtype, tuple(value.shape), tuple(value.reshape(-1).tolist())


@kernel_of("EmptyTensorMap", shape=scalar)
def _empty_map() -> Raw:
    return box_object({})


def _map_of(handle: Raw) -> dict[Any, Any]:
    return held_object(handle, dict, "TensorMap")


@kernel_of("TensorMapInsert", shape=scalar)
def _insert(input_handle: Raw, key: Raw, value: Raw) -> Raw:
    return box_object(_map_of(input_handle) | {_key(key): (key, value)})


@kernel_of("TensorMapLookup")
def _look_up(input_handle: Raw, key: Raw, value_dtype: DType) -> Raw:
    if _key(key) not in _map_of(input_handle):
        raise invalid('Trying to lookup non-existent key. Could not find key "' + str(key.tolist()) + '".')
    return _map_of(input_handle)[_key(key)][1]


@kernel_of("TensorMapErase", shape=scalar)
def _erase(input_handle: Raw, key: Raw, value_dtype: DType) -> Raw:
    if _key(key) not in _map_of(input_handle):
        raise invalid('Trying to erase non-existent item. Could not find key "' + str(key.tolist()) + '".')
    return box_object({k: v for k, v in _map_of(input_handle).items() if k != _key(key)})


@kernel_of("TensorMapHasKey", shape=scalar)
def _has_key(input_handle: Raw, key: Raw) -> Raw:
    return torch.tensor(_key(key) in _map_of(input_handle))


@kernel_of("TensorMapSize", shape=scalar)
def _map_size(input_handle: Raw) -> Raw:
    return torch.tensor(len(_map_of(input_handle)), dtype=torch.int32)


@kernel_of("TensorMapStackKeys")
def _stack_keys(input_handle: Raw, key_dtype: DType) -> Raw:
    return _stacked([key for key, _ in _map_of(input_handle).values()], key_dtype)


# ---- staging areas ---------------------------------------------------------------------------------------------------


class _Area:
    """Elements between the operations that stage and unstage them; of at most `capacity`, if that is positive."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.changed = new_condition()
        self.elements: collections.deque[tuple[Raw, ...]] = collections.deque()
        self.by_key: dict[int, dict[int, Raw]] = {}  # the staged components of each key, by their places

    def wait(self, ready: Callable[[], bool]) -> None:
        """Waits, with the lock held, until something holds."""
        self.changed.wait_for(ready)


def _area(kind: str, capacity: int, container: str, shared_name: str) -> _Area:
    return held_here(("StagingArea", kind, container, shared_name), lambda: _Area(capacity))


@kernel_of("Stage", shape=no_results)
def _stage(values: Sequence[Raw], capacity: int, memory_limit: int, container: str, shared_name: str) -> None:
    area = _area("", capacity, container, shared_name)
    with area.changed:
        area.wait(lambda: not capacity or len(area.elements) < capacity)
        area.elements.append(tuple(values))
        area.changed.notify_all()


@kernel_of("Unstage")
def _unstage(capacity: int, memory_limit: int, dtypes: Any, container: str, shared_name: str) -> Any:
    area = _area("", capacity, container, shared_name)
    with area.changed:
        area.wait(lambda: bool(area.elements))
        element = area.elements.popleft()
        area.changed.notify_all()
    return element


@kernel_of("StagePeek")
def _peek(index: Raw, capacity: int, memory_limit: int, dtypes: Any, container: str, shared_name: str) -> Any:
    area = _area("", capacity, container, shared_name)
    with area.changed:
        area.wait(lambda: len(area.elements) > int(index))
        return area.elements[int(index)]


@kernel_of("StageSize", shape=scalar)
def _stage_size(capacity: int, memory_limit: int, dtypes: Any, container: str, shared_name: str) -> Raw:
    return torch.tensor(len(_area("", capacity, container, shared_name).elements), dtype=torch.int32)


@kernel_of("StageClear", shape=no_results)
def _stage_clear(capacity: int, memory_limit: int, dtypes: Any, container: str, shared_name: str) -> None:
    area = _area("", capacity, container, shared_name)
    with area.changed:
        area.elements.clear()
        area.changed.notify_all()


def _maps(prefix: str) -> None:
    """Registers the ops of staging areas with keys. The ops of `OrderedMap...` take the least key first."""

    def area_of(capacity: int, container: str, shared_name: str) -> _Area:
        return _area(prefix, capacity, container, shared_name)

    def complete(area: _Area, count: int) -> list[int]:
        keys = [k for k, parts in area.by_key.items() if len(parts) == count]
        return sorted(keys) if prefix == "Ordered" else keys

    def take(area: _Area, key: int, indices: Raw, removes: bool) -> tuple[Raw, ...]:
        parts = area.by_key[key]
        element = tuple([parts[i] for i in indices.tolist()])
        if removes:
            for i in indices.tolist():
                del parts[i]
            if not parts:
                del area.by_key[key]
            area.changed.notify_all()
        return element

    def stage(
        key: Raw, indices: Raw, values: Sequence[Raw], capacity: int, memory_limit: int, dtypes: Any, container: str,
        shared_name: str,
    ) -> None:  # fmt: skip
        area, number = area_of(capacity, container, shared_name), int(key)
        with area.changed:
            area.wait(lambda: not capacity or number in area.by_key or len(area.by_key) < capacity)
            area.by_key.setdefault(number, {}).update(zip(indices.tolist(), values, strict=True))
            area.changed.notify_all()

    def of_key(removes: bool) -> Callable[..., Any]:
        def unstage(
            key: Raw, indices: Raw, capacity: int, memory_limit: int, dtypes: Any, container: str, shared_name: str
        ) -> Any:
            area, number = area_of(capacity, container, shared_name), int(key)
            with area.changed:
                area.wait(lambda: set(indices.tolist()) <= set(area.by_key.get(number, ())))
                return take(area, number, indices, removes)

        return unstage

    def unstage_any(
        indices: Raw, capacity: int, memory_limit: int, dtypes: Any, container: str, shared_name: str
    ) -> Any:
        area = area_of(capacity, container, shared_name)
        with area.changed:
            area.wait(lambda: bool(complete(area, len(dtypes))))
            key = complete(area, len(dtypes))[0]
            return torch.tensor(key), *take(area, key, indices, True)

    def count(is_complete: bool) -> Callable[..., Raw]:
        def size(capacity: int, memory_limit: int, dtypes: Any, container: str, shared_name: str) -> Raw:
            area = area_of(capacity, container, shared_name)
            with area.changed:
                ready = len(complete(area, len(dtypes)))
                return torch.tensor(ready if is_complete else len(area.by_key) - ready, dtype=torch.int32)

        return size

    def clear(capacity: int, memory_limit: int, dtypes: Any, container: str, shared_name: str) -> None:
        area = area_of(capacity, container, shared_name)
        with area.changed:
            area.by_key.clear()
            area.changed.notify_all()

    define(f"{prefix}MapStage", stage, no_results)
    define(f"{prefix}MapUnstage", of_key(True))
    define(f"{prefix}MapPeek", of_key(False))
    define(f"{prefix}MapUnstageNoKey", unstage_any)
    define(f"{prefix}MapSize", count(True), scalar)
    define(f"{prefix}MapIncompleteSize", count(False), scalar)
    define(f"{prefix}MapClear", clear, no_results)


_maps("")
_maps("Ordered")


# ---- accumulators ----------------------------------------------------------------------------------------------------


class _Accumulator:
    """The sum of gradients that were computed at the present step, and their number."""

    def __init__(self, shape: TensorShape, reduction: str) -> None:
        self.shape = shape
        self.mean = reduction == "MEAN"
        self.step = 0
        self.count = 0
        self.total: Raw = None
        self.changed = new_condition()

    def apply(self, local_step: Raw, gradient: Raw) -> None:
        """Adds a gradient, unless it is stale."""
        with self.changed:
            if int(local_step) < self.step:
                return
            self.total = gradient if self.total is None else self.added(gradient)
            self.count += 1
            self.changed.notify_all()

    def added(self, gradient: Raw) -> Raw:
        """Returns the total with one more gradient."""
        return self.total + gradient

    def take(self, num_required: Raw) -> tuple[Raw, int]:
        """Waits for a number of gradients, and returns and forgets their sum and their number."""
        required = int(num_required)
        if required <= 0:
            raise invalid(f"Argument num_required must be positive, but was {required}")
        with self.changed:
            wait_until(self.changed, lambda: self.count >= required)
            total, count = self.total, self.count
            self.total, self.count = None, 0
            self.step += 1
        return total, count


class _SparseAccumulator(_Accumulator):
    """A sum of rows: their indices, their sums, and the number of gradients that have each."""

    def added(self, gradient: Raw) -> Raw:
        indices, places = torch.unique(torch.cat([self.total[0], gradient[0]]), return_inverse=True)
        sums = []
        for old, new in zip(self.total[1:], gradient[1:], strict=True):
            values = torch.cat([old, new])
            sums.append(values.new_zeros(len(indices), *values.shape[1:]).index_add_(0, places, values))
        return indices, *sums

    def checked(self, indices: Raw, values: Raw, shape: Raw, has_known_shape: bool) -> Raw:
        """Returns a gradient, with the count 1 for each row.

        Raises:
            InvalidArgumentError: its parts do not fit each other, or the accumulator.
        """
        if indices.ndim != 1 or not values.ndim or len(indices) != len(values):
            raise invalid(
                f"A sparse gradient needs one index for each row, and got indices of shape {list(indices.shape)} and "
                f"values of shape {list(values.shape)}"
            )
        given = TensorShape(shape.tolist()) if has_known_shape else TensorShape([None, *values.shape[1:]])
        rows = given.with_rank_at_least(1)[1:] if given.rank else given
        if not given.is_compatible_with(self.shape) or not rows.is_compatible_with(TensorShape(values.shape[1:])):
            raise invalid(
                f"A gradient of shape {given} with rows of shape {list(values.shape[1:])} does not fit the shape "
                f"{self.shape} of the accumulator"
            )
        size = next((s[0] for s in (given, self.shape) if s.rank and s[0] is not None), None)
        if len(indices) and (int(indices.min()) < 0 or (size is not None and int(indices.max()) >= size)):
            raise invalid(f"The indices of a sparse gradient must be in [0, {size}), and are {indices.tolist()}")
        return indices, values, torch.ones(len(indices), dtype=torch.int64)


def _made(kind: type[_Accumulator]) -> Callable[..., Raw]:
    def accumulator(dtype: DType, shape: ShapeLike, container: str, shared_name: str, reduction_type: str) -> Raw:
        if not shared_name:
            return box_object(kind(TensorShape(shape), reduction_type))
        key = (kind.__name__, container, shared_name)
        return box_object(held_here(key, lambda: kind(TensorShape(shape), reduction_type)))

    return accumulator


define("ResourceConditionalAccumulator", _made(_Accumulator), scalar)
define("SparseConditionalAccumulator", _made(_SparseAccumulator), lambda *_: TensorShape([2]))


def _accumulator_of(handle: Raw) -> _Accumulator:
    return held_object(handle, _Accumulator, "accumulator")


def _accumulator_of_rows(handle: Raw) -> _SparseAccumulator:
    return held_object(handle, _SparseAccumulator, "sparse accumulator")


@kernel_of("ResourceAccumulatorApplyGradient", shape=no_results)
def _apply(handle: Raw, local_step: Raw, gradient: Raw) -> None:
    _accumulator_of(handle).apply(local_step, gradient)


@kernel_of("SparseAccumulatorApplyGradient", shape=no_results)
def _apply_rows(
    handle: Raw, local_step: Raw, gradient_indices: Raw, gradient_values: Raw, gradient_shape: Raw,
    has_known_shape: bool,
) -> None:  # fmt: skip
    accumulator = _accumulator_of_rows(handle)
    parts = gradient_indices, gradient_values, gradient_shape
    accumulator.apply(local_step, accumulator.checked(*parts, has_known_shape))


@kernel_of("ResourceAccumulatorTakeGradient")
def _take(handle: Raw, num_required: Raw, dtype: DType) -> Raw:
    accumulator = _accumulator_of(handle)
    total, count = accumulator.take(num_required)
    return total / count if accumulator.mean else total


@kernel_of("SparseAccumulatorTakeGradient")
def _take_rows(handle: Raw, num_required: Raw, dtype: DType) -> Raw:
    accumulator = _accumulator_of_rows(handle)
    (indices, values, counts), _ = accumulator.take(num_required)
    if accumulator.mean:
        values = (values / counts.reshape(-1, *[1] * (values.ndim - 1))).to(values.dtype)
    rows = accumulator.shape[0] if accumulator.shape.rank else None
    return indices, values, torch.tensor([-1 if rows is None else rows, *values.shape[1:]])


@kernel_of("ResourceAccumulatorNumAccumulated", "AccumulatorNumAccumulated", shape=scalar)
def _accumulated(handle: Raw) -> Raw:
    return torch.tensor(_accumulator_of(handle).count, dtype=torch.int32)


@kernel_of("ResourceAccumulatorSetGlobalStep", "AccumulatorSetGlobalStep", shape=no_results)
def _set_step(handle: Raw, new_global_step: Raw) -> None:
    accumulator, step = _accumulator_of(handle), int(new_global_step)
    with accumulator.changed:
        if step < accumulator.step:
            get_logger().warning("Attempting to set global step to %s, which is less than %s", step, accumulator.step)
        accumulator.step = step
