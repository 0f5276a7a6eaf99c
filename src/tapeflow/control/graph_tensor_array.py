"""`tf.TensorArray` in a graph: a list of tensors that passes through loops, conditionals and calls as one value."""

from __future__ import annotations

import dataclasses
from typing import Any

from tapeflow.array.identities import cast_to, identity_op
from tapeflow.array.tensor_list import (
    list_concat,
    list_from_tensor,
    list_gather,
    list_get_item,
    list_length,
    list_reserve,
    list_scatter,
    list_set_item,
    list_split,
    list_stack,
    shape_argument,
)
from tapeflow.control.tensor_array import TensorArray, TensorArraySpec
from tapeflow.core import errors
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import host_static
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.dtypes import int32, int64, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor


@dataclasses.dataclass
class StaticInfo:
    """Static information that an array shares with all arrays derived from it by writing.

    Attributes:
        element_shape: the shape of the elements.
        size: the number of elements; None if it depends on a tensor or may change.
    """

    element_shape: TensorShape
    size: int | None


class StagedTensorArray(TensorArray, CompositeTensor):
    """A `tf.TensorArray` of a graph. Writing returns a new array with a new list as its flow."""

    def _begin(self, size: Any, element_shape: TensorShape, handle: Any, flow: Any, name: str | None) -> None:
        if handle is not None:
            raise ValueError(
                "Cannot provide a `handle` as input argument to a TensorArray of a graph: pass its `flow`."
            )
        if flow is not None and size is not None:
            raise ValueError("Cannot provide both `flow` and `size` arguments at the same time")
        if flow is None and size is None:
            raise ValueError("Either flow or size must be provided")
        self._static = StaticInfo(element_shape, None)
        if flow is not None:
            if not isinstance(flow, Tensor) or flow.dtype is not variant:
                raise TypeError("`flow` must be a variant tensor")
            self._flow = flow
            return
        size = convert(size, int32)
        if not self._dynamic_size:
            number = int(size) if isinstance(size, EagerTensor) else host_static(size)
            self._static.size = number if isinstance(number, int) else None
        self._flow = list_reserve(self._shape_argument, size, self._dtype, name=name or "TensorArrayV2")

    @property
    def element_shape(self) -> TensorShape:
        return self._static.element_shape

    @property
    def flow(self) -> Tensor:
        """The list of tensors, as a variant."""
        return self._flow

    @property
    def _type_spec(self) -> TensorArraySpec:
        spec = TensorArraySpec(self.element_shape, self._dtype, self._dynamic_size, self._infer_shape)
        spec._known = self._static
        return spec

    @property
    def _shape_argument(self) -> Any:
        return shape_argument(self.element_shape)

    def _next(self, flow: Any) -> TensorArray:
        return with_flow(self._type_spec, flow)

    def _learn(self, shape: TensorShape) -> None:
        """Checks the shape of a written element, and merges it into the elements' shape."""
        if not self.element_shape.is_compatible_with(shape):
            raise ValueError(f"Incompatible shape for value ({shape}), expected ({self.element_shape})")
        if self._infer_shape:
            self._static.element_shape = self.element_shape.merge_with(shape)

    def _as_value(self, value: Any) -> Any:
        value = convert(value, hint=self._dtype)
        if value.dtype is not self._dtype:
            raise errors.InvalidArgumentError.of(  # TensorFlow raises it at run time
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} "
            )
        return value

    def size(self, name: str | None = None) -> Tensor:
        size = self._static.size
        return list_length(self._flow) if size is None else convert(size, int32)

    def identity(self) -> TensorArray:
        return self._next(identity_op(self._flow))

    def close(self, name: str | None = None) -> None:
        """Does nothing: the list is freed with the last tensor that refers to it."""

    def read(self, index: Any, name: str | None = None) -> Tensor:
        with name_scope(name or "TensorArrayV2Read"):
            return list_get_item(self._flow, index, self._shape_argument, self._dtype, name=name)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        value = self._as_value(value)
        self._learn(value.shape)
        with name_scope(name or "TensorArrayV2Write"):
            return self._next(list_set_item(self._flow, index, value, self._dynamic_size, name=name))

    def stack(self, name: str | None = None) -> Tensor:
        size = -1 if self._static.size is None else self._static.size
        with name_scope(name or "TensorArrayV2Stack"):
            return list_stack(self._flow, self._shape_argument, self._dtype, size, name=name)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        return list_gather(self._flow, convert(indices, int32), self._shape_argument, self._dtype, name=name)

    def concat(self, name: str | None = None) -> Tensor:
        return list_concat(self._flow, self._shape_argument, (), self._dtype, name=name)[0]

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        value = self._as_value(value)
        if value.shape.rank == 0:
            raise ValueError("Cannot unstack a scalar")
        self._learn(value.shape[1:])
        if not self._dynamic_size and value.shape.rank is not None:
            self._static.size = value.shape[0]
        with name_scope(name or "TensorArrayUnstack"):
            return self._next(list_from_tensor(value, self._shape_argument, name=name))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        value = self._as_value(value)
        self._learn(value.shape[1:])
        with name_scope(name or "TensorArrayScatter"):
            return self._next(list_scatter(self._flow, value, convert(indices, int32), name=name))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        value = self._as_value(value)
        self._learn(TensorShape(None) if value.shape.rank is None else TensorShape([None]).concatenate(value.shape[1:]))
        with name_scope(name or "TensorArraySplit"):
            return self._next(list_split(value, self._shape_argument, cast_to(lengths, int64), name=name))


def with_flow(spec: TensorArraySpec, flow: Any) -> StagedTensorArray:
    """Returns an array of this spec with a list as its flow."""
    dtype, shape, infers = spec._dtype, spec._element_shape, spec._infer_shape
    array = StagedTensorArray(dtype, None, spec._dynamic_size, flow=flow, infer_shape=infers, element_shape=shape)
    if spec._known is not None:
        array._static = spec._known
    return array
