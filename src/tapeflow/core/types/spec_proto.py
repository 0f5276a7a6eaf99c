"""Specs, and structures of them, as TensorFlow's `StructuredValue` messages: in SavedModels and snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.hooks import hooks
from tapeflow.core.types import spec_registry
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import BoundedTensorSpec, IndexedSlicesSpec, TensorSpec, TypeSpec, VariableSpec

if TYPE_CHECKING:
    from google.protobuf.message import Message


def _spec_classes() -> dict[int, type[TypeSpec]]:
    """Returns a dict from the number of a class in `TypeSpecProto.TypeSpecClass` to the class."""
    return {2: IndexedSlicesSpec, 9: VariableSpec, **hooks.specs_of_protos()}


def spec_to_proto(spec: TypeSpec) -> Any:
    """Returns a spec as a message: a `TensorSpecProto`, `BoundedTensorSpecProto` or `TypeSpecProto`.

    Raises:
        ValueError: it is a spec of a class that is neither TensorFlow's nor registered.
    """
    from tensorboard.compat.proto import struct_pb2

    if isinstance(spec, TensorSpec):
        fields = {"name": spec.name, "shape": spec.shape.as_proto(), "dtype": spec.dtype.as_datatype_enum}
        if isinstance(spec, BoundedTensorSpec):
            fields |= {bound: _tensor_proto(getattr(spec, bound), spec.dtype) for bound in ("minimum", "maximum")}
        return spec.experimental_type_proto()(**fields)
    kinds = struct_pb2.TypeSpecProto
    number = next((number for number, kind in _spec_classes().items() if type(spec) is kind), None)
    name = _registered_name(spec) if number is None else type(spec).__name__
    if number is None:
        number = kinds.EXTENSION_TYPE_SPEC if hasattr(spec, "_all_fields") else kinds.REGISTERED_TYPE_SPEC
    return kinds(
        type_spec_class=number,
        type_state=to_proto(spec._serialize()),
        type_spec_class_name=name,
        num_flat_components=len(spec.flatten()),
    )


def spec_from_proto(proto: Message) -> TypeSpec:
    """Returns the spec that a message holds.

    Raises:
        ValueError: it is of a class that is not registered here.
    """
    if hasattr(proto, "minimum"):
        dtype = DType(proto.dtype)
        low, high = map(hooks.array_of_proto, (proto.minimum, proto.maximum))
        return BoundedTensorSpec(TensorShape(proto.shape), dtype, low, high, proto.name or None)
    if hasattr(proto, "dtype"):
        return TensorSpec(TensorShape(proto.shape), DType(proto.dtype), proto.name or None)
    kind = _spec_classes().get(proto.type_spec_class) or spec_registry._NAME_TO_TYPE_SPEC.get(
        proto.type_spec_class_name
    )
    if kind is None:
        raise ValueError(f"The TypeSpecProto is of class {proto.type_spec_class_name!r}, which is not supported.")
    return kind._deserialize(from_proto(proto.type_state))


def _registered_name(spec: TypeSpec) -> str:
    try:
        return spec_registry.get_name(type(spec))
    except ValueError:
        raise ValueError(
            f"No TypeSpec has been registered for {spec!r}: it can't be written as a TypeSpecProto. An extension type "
            "is registered under the name that its attribute `__name__` gives."
        ) from None


def _tensor_proto(array: np.ndarray, dtype: DType) -> Any:
    from tensorboard.compat.proto import tensor_pb2

    shape = TensorShape(array.shape).as_proto()
    return tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape, tensor_content=array.tobytes())


_SCALARS = {bool: "bool_value", int: "int64_value", float: "float64_value", str: "string_value"}


def to_proto(value: Any, tensor_to_proto: Callable[[Any], Any] | None = None) -> Any:
    """Returns a structure of specs, shapes, dtypes and Python values as a `StructuredValue`.

    Args:
        value: the structure.
        tensor_to_proto: returns any other value as a `TensorProto`; by default, there may be no others.

    Raises:
        ValueError: there is something else in it.
    """
    from tensorboard.compat.proto import struct_pb2

    out = struct_pb2.StructuredValue()
    if value is None or isinstance(value, (TensorShape, TypeSpec)):
        message: Any = struct_pb2.NoneValue()
        if value is not None:
            message = value.as_proto() if isinstance(value, TensorShape) else spec_to_proto(value)
        field = next(f.name for f in out.DESCRIPTOR.fields if f.message_type == message.DESCRIPTOR)
        getattr(out, field).CopyFrom(message)
    elif isinstance(value, tuple(_SCALARS)):
        setattr(out, next(field for kind, field in _SCALARS.items() if isinstance(value, kind)), value)
    elif isinstance(value, DType):
        out.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        out.named_tuple_value.name = type(value).__name__
        for key in value._fields:
            out.named_tuple_value.values.add(key=key, value=to_proto(getattr(value, key), tensor_to_proto))
    elif isinstance(value, (list, tuple)):
        items = out.list_value if isinstance(value, list) else out.tuple_value
        items.SetInParent()
        items.values.extend([to_proto(v, tensor_to_proto) for v in value])
    elif isinstance(value, Mapping):
        out.dict_value.SetInParent()
        for key, item in value.items():
            out.dict_value.fields[key].CopyFrom(to_proto(item, tensor_to_proto))
    elif tensor_to_proto is not None:
        out.tensor_value.CopyFrom(tensor_to_proto(value))
    else:
        raise ValueError(f"No encoder for object {value!r} of type {type(value)}.")
    return out


def from_proto(proto: Message, tensor_from_proto: Callable[[Any], Any] | None = None) -> Any:
    """Returns the structure that a `StructuredValue` holds.

    Args:
        proto: the message.
        tensor_from_proto: returns the tensor of a `TensorProto`; by default, there may be none.

    Raises:
        ValueError: it holds a value of another kind.
    """
    kind = proto.WhichOneof("kind")
    if kind is None:
        raise ValueError("A StructuredValue is empty.")
    value = getattr(proto, kind)
    if kind == "none_value":
        return None
    if kind in _SCALARS.values():
        return value
    if kind == "tensor_shape_value":
        return TensorShape(value)
    if kind == "tensor_dtype_value":
        return DType(value)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value", "type_spec_value"):
        return spec_from_proto(value)
    if kind == "list_value":
        return [from_proto(v, tensor_from_proto) for v in value.values]
    if kind == "tuple_value":
        return tuple(from_proto(v, tensor_from_proto) for v in value.values)
    if kind == "dict_value":
        fields = sorted(value.fields.items())  # the message has no order
        return {k: from_proto(v, tensor_from_proto) for k, v in fields}
    if kind == "named_tuple_value":
        from collections import namedtuple

        tuple_type = namedtuple(value.name, [p.key for p in value.values])  # type: ignore[misc]
        return tuple_type(*[from_proto(p.value, tensor_from_proto) for p in value.values])
    if kind == "tensor_value" and tensor_from_proto is not None:
        return tensor_from_proto(value)
    raise ValueError(f"No decoder for a StructuredValue with {kind}.")
