"""`tf.TensorArray`: a list of tensors of one dtype, for loops that read and write one at a time."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import concat, split, stack, unstack
from tapeflow.array.creation import zeros
from tapeflow.array.tensor_list import list_from_tensor, list_get_item, list_reserve, list_set_item, shape_argument
from tapeflow.core.context import state
from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.ops.convert import convert, host_value, operand
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int32, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.math.casting import cast


def _of_its_class(method: Callable[..., Any], is_staged: bool = False) -> Callable[..., Any]:
    """Returns a method that, called as `tf.TensorArray.method(array)`, runs the method of the array's own class.

    Args:
        method: the method.
        is_staged: while a graph is built, an eager array runs the method of its staged form.
    """
    name = method.__name__

    @functools.wraps(method)
    def called(self: TensorArray, *args: Any, **kwargs: Any) -> Any:
        own = getattr(type(self), name)
        if own is not called:
            return own(self, *args, **kwargs)
        if is_staged and state.graph is not None:
            return getattr(self.__tf_composite__(), name)(*args, **kwargs)
        return method(self, *args, **kwargs)

    return called


_staged_in_graphs = functools.partial(_of_its_class, is_staged=True)


class TensorArray:
    """A list of tensors of one dtype. Gradients pass through writes and reads.

    Args:
        dtype: the dtype of the tensors.
        size: the number of tensors.
        dynamic_size: whether writing beyond the end makes it longer.
        clear_after_read: whether a tensor is released once it has been read; reading it again is an error.
        infer_shape: whether all tensors must have the shape of the first.
        element_shape: the shape of the tensors; dimensions may be unknown.
        tensor_array_name, handle, flow, colocate_with_first_write_call, name: without effect in eager mode.

    Raises:
        ValueError: there is no size, or there is a handle.

    Example:
        >>> ta = tf.TensorArray(tf.float32, size=2)
        >>> ta = ta.write(0, 10.0).write(1, 20.0)
        >>> ta.stack().numpy().tolist()
        [10.0, 20.0]
    """

    def __new__(cls, *args: Any, flow: Tensor | None = None, **kwargs: Any) -> TensorArray:
        if cls is TensorArray and (state.graph is not None or isinstance(flow, SymbolicTensor)):
            from tapeflow.control.graph_tensor_array import StagedTensorArray

            cls = StagedTensorArray
        return object.__new__(cls)

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self._dtype = as_dtype(dtype).base_dtype
        self._infer_shape = infer_shape
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = clear_after_read is None or clear_after_read
        self._begin(size, TensorShape(element_shape), handle, flow, name)

    def _begin(self, size: Any, element_shape: TensorShape, handle: Any, flow: Any, name: str | None) -> None:
        """Allocates the slots for the tensors."""
        if handle is not None:
            raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
        if size is None:
            raise ValueError("Size must be declared for TensorArrays when eager execution is enabled.")
        self._element_shape = element_shape
        self._tensors: list[Tensor | None] = [None] * operator.index(size)
        self._cleared: set[int] = set()  # the indices of tensors that were read and released

    @property
    def dtype(self) -> DType:
        """The dtype of the tensors."""
        return self._dtype

    @property
    def element_shape(self) -> TensorShape:
        """The static shape of the tensors."""
        return self._element_shape

    @property
    def dynamic_size(self) -> bool:
        """Returns True if writing beyond the end makes it longer."""
        return self._dynamic_size

    @property
    def flow(self) -> Tensor:
        """A scalar that orders the operations of a graph; without effect in eager mode."""
        return operand(0, None)

    @property
    def handle(self) -> None:
        """None: there is no handle."""
        return

    @property
    def _type_spec(self) -> TensorArraySpec:
        return TensorArraySpec(self._element_shape, self._dtype, self._dynamic_size, self._infer_shape)

    def __tf_composite__(self) -> Any:
        """Returns the array as a composite tensor, which a function takes and works on while it is traced."""
        from tapeflow.control.graph_tensor_array import with_flow

        shape, dims = self._element_shape, shape_argument(self._element_shape)
        present = [t for t in self._tensors if t is not None]
        if present and len(present) == len(self._tensors) and shape.is_fully_defined():
            flow = list_from_tensor(stack(present), dims)
        else:
            flow = list_reserve(dims, len(self._tensors), self._dtype)
            for i, tensor in enumerate(self._tensors):
                flow = flow if tensor is None else list_set_item(flow, i, tensor)
        return with_flow(self._type_spec, flow)

    @_of_its_class
    def size(self, name: str | None = None) -> Tensor:
        """Returns the number of tensors, as an int32 scalar."""
        return operand(len(self._tensors), int32)

    @_of_its_class
    def identity(self) -> TensorArray:
        """Returns this array."""
        return self

    @_of_its_class
    def close(self, name: str | None = None) -> None:
        """Releases all tensors."""
        self._tensors = []

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> Any:
        """Raises NotImplementedError: a tape needs no array of gradients."""
        raise NotImplementedError("TensorArray.grad is not supported when executing eagerly: tapes do not need it.")

    # ---- one tensor --------------------------------------------------------------------------------------------------

    @_staged_in_graphs
    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """Returns the tensor at `index`, or zeros if none was written.

        Args:
            index: an integer scalar.

        Returns:
            A tensor of the array's dtype and element shape.

        Raises:
            OutOfRangeError: there is no such index.
            InvalidArgumentError: the tensor has been read before, and released.
            ValueError: no tensor was written, and the shape is not fully defined.
        """
        position: Any = index
        i = operator.index(position)
        if i < 0:
            raise OutOfRangeError.of(f"Reading from negative indices (index {i}) is not allowed.")
        if i >= len(self._tensors):
            raise OutOfRangeError.of(f"Tried to read from index {i} but array size is: {len(self._tensors)} ")
        if i in self._cleared:
            raise invalid(
                f"Could not read index {i} twice because it was cleared after a previous read (perhaps try setting "
                "clear_after_read = false?)"
            )
        tensor = self._present(i)
        if self._clear_after_read:
            self._tensors[i] = None
            self._cleared.add(i)
        return tensor

    @_staged_in_graphs
    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Puts a tensor at `index`.

        Args:
            index: an integer scalar.
            value: a tensor.

        Returns:
            This array.

        Raises:
            OutOfRangeError: there is no such index, and the size is fixed.
            InvalidArgumentError: the value is of another dtype.
            ValueError: the value is of another shape than the array's tensors.
        """
        position: Any = index
        i = operator.index(position)
        if i < 0:
            raise OutOfRangeError.of(f"Writing to negative indices (index {i}) is not allowed.")
        size = len(self._tensors)
        if i >= size:
            if not self._dynamic_size:
                raise OutOfRangeError.of(
                    f"Tried to write to index {i} but array is not resizeable and size is: {size} "
                )
            self._tensors.extend([None] * (i - size + 1))
        tensor = self._checked(convert(value, hint=self._dtype))
        self._cleared.discard(i)
        self._tensors[i] = tensor
        return self

    def _checked(self, tensor: Tensor) -> Tensor:
        """Checks the dtype and shape of a tensor, and returns it; the first one sets the array's shape."""
        if tensor.dtype is not self._dtype:
            raise invalid(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {tensor.dtype.name} "
            )
        shape = tensor.shape
        if not self._element_shape.is_compatible_with(shape):
            raise ValueError(f"Incompatible shape for value ({shape}), expected ({self._element_shape})")
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(shape)
        return tensor

    def _present(self, i: int) -> Tensor:
        """Returns the tensor at `i`, or zeros."""
        tensor = self._tensors[i]
        if tensor is None:
            if not self._element_shape.is_fully_defined():
                raise ValueError(f"Cannot convert a partially known TensorShape {self._element_shape} to a Tensor.")
            tensor = self._tensors[i] = zeros(self._element_shape, self._dtype)
        return tensor

    # ---- all of them -------------------------------------------------------------------------------------------------

    @_staged_in_graphs
    def stack(self, name: str | None = None) -> Tensor:
        """Returns all tensors as one, with a new first dimension.

        Returns:
            A tensor of shape `[size, *element_shape]`.
        """
        return self._stacked(range(len(self._tensors)))

    @_staged_in_graphs
    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Returns the tensors at `indices` as one, with a new first dimension.

        Args:
            indices: a vector of integers.

        Returns:
            A tensor of shape `[len(indices), *element_shape]`.
        """
        return self._stacked(host_value(indices))

    def _stacked(self, indices: Sequence[int]) -> Tensor:
        tensors = [self._present(int(i)) for i in indices]
        if tensors:
            self._cleared.difference_update(indices)
            return stack(tensors)
        shape = self._element_shape.as_list() if self._element_shape.is_fully_defined() else []
        return zeros([0, *shape], self._dtype)

    @_staged_in_graphs
    def concat(self, name: str | None = None) -> Tensor:
        """Returns all tensors joined along their first dimension.

        Raises:
            InvalidArgumentError: there are no tensors, and their shape is not static.
        """
        if not self._tensors:
            inner = self._element_shape[1:]
            if not inner.is_fully_defined():
                raise invalid(
                    "All except the first dimension must be fully defined when concating an empty tensor list. "
                    f"element_shape: {self._element_shape}"
                )
            return zeros([0, *inner], self._dtype)
        return concat([self._present(i) for i in range(len(self._tensors))], 0)

    @_staged_in_graphs
    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """Replaces the array's tensors by the slices of `value` along its first dimension.

        Args:
            value: a tensor of rank 1 or more.

        Returns:
            This array.

        Raises:
            ValueError: there are more slices than the fixed size, or of another shape; or `value` is a scalar.
        """
        tensors = unstack(cast(value, self._dtype))
        if len(tensors) > len(self._tensors) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(tensors)} tensors into a TensorArray of static size {len(self._tensors)} "
            )
        self._tensors = [self._checked(t) for t in tensors]
        self._cleared.clear()
        return self

    @_staged_in_graphs
    def scatter(self, indices: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Writes the slices of `value` along its first dimension to `indices`.

        Args:
            indices: a vector of integers.
            value: a tensor whose first dimension is the number of indices.

        Returns:
            This array.

        Raises:
            OutOfRangeError: there is no such index, and the size is fixed.
        """
        places = [int(i) for i in host_value(indices)]
        for i, tensor in zip(places, unstack(convert(value, hint=self._dtype), len(places)), strict=True):
            self.write(i, tensor)
        return self

    @_staged_in_graphs
    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """Replaces the array's tensors by pieces of `value` along its first dimension.

        Args:
            value: the tensor to split.
            lengths: the lengths of the pieces, a vector of integers.

        Returns:
            This array.

        Raises:
            InvalidArgumentError: the lengths do not add up to the first dimension.
        """
        tensor, sizes = convert(value, self._dtype), [int(n) for n in host_value(lengths)]
        if sum(sizes) != tensor.shape[0]:
            raise invalid(
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sum(sizes)} and "
                f"value's shape is: {tensor.shape.as_list()} "
            )
        if len(sizes) > len(self._tensors) and not self._dynamic_size:
            raise invalid(f"Cannot split {len(sizes)} pieces into a TensorArray of static size {len(self._tensors)}")
        self._tensors = list(split(tensor, sizes))
        self._element_shape = TensorShape([None]).concatenate(tensor.shape[1:])
        self._cleared.clear()
        return self


class TensorArraySpec(TypeSpec):
    """The spec of a `tf.TensorArray`.

    Args:
        element_shape: the shape of the tensors.
        dtype: the dtype of the tensors.
        dynamic_size: whether writing beyond the end makes it longer.
        infer_shape: whether all tensors must have the shape of the first.

    Example:
        >>> tf.TensorArraySpec([2])
        TensorArraySpec(TensorShape([2]), tf.float32, False, True)
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape", "_known")

    value_type = TensorArray

    def __init__(
        self,
        element_shape: ShapeLike = None,
        dtype: DTypeLike = float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        self._element_shape = TensorShape(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape
        self._known: Any = None  # the facts shared by all staged arrays that derive from one

    @classmethod
    def from_value(cls, value: TensorArray) -> TensorArraySpec:
        """Returns the spec of an array.

        Args:
            value: a `TensorArray`.

        Raises:
            TypeError: `value` is not a `TensorArray`.
        """
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`")
        return value._type_spec

    def is_compatible_with(self, other: Any) -> bool:
        """Returns True if an array, or the arrays of another spec, can be of this spec.

        Args:
            other: a `TensorArray` or a spec.
        """
        other = other if isinstance(other, TypeSpec) else getattr(other, "_type_spec", None)
        return (
            type(other) is TensorArraySpec
            and self._dtype is other._dtype
            and self._dynamic_size == other._dynamic_size
            and self._element_shape.is_compatible_with(other._element_shape)
        )

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], variant)]

    def _to_components(self, value: TensorArray) -> Any:
        if isinstance(value, CompositeTensor):
            return [value.flow]
        held = np.empty((), object)
        held[()] = value
        return [EagerTensor(held, variant)]

    def _from_components(self, components: Any) -> TensorArray:
        flow = components[0]
        if isinstance(flow, SymbolicTensor):
            from tapeflow.control.graph_tensor_array import with_flow

            return with_flow(self, flow)
        held = flow.value[()]
        return held if isinstance(held, TensorArray) else self._of_list(flow, held)

    def _of_list(self, flow: EagerTensor, items: tuple[Any, ...]) -> TensorArray:
        """Returns an eager array of the tensors in a list that a function returned."""
        array = TensorArray(
            self._dtype,
            len(items),
            self._dynamic_size,
            infer_shape=self._infer_shape,
            element_shape=self._element_shape,
        )
        for i, item in enumerate(items):
            if item is not None:
                array.write(i, list_get_item(flow, i, tuple(item.shape), self._dtype))
        return array

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape
