"""The attrs of an operation, by TensorFlow's names: from its arguments and types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.op_def import NO_DEFAULT
from tapeflow.core.types.dtypes import DType, float32, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor


def attrs_of(operation: Any) -> dict[str, Any]:
    """Returns the values of an operation's attrs: Python values and dtypes."""
    op = operation.op
    if not op.registered:
        return _of_node(operation)
    attrs: dict[str, Any] = {}
    opdef = op.opdef
    for param, arg in zip(op.params, operation.args, strict=True):
        name = op.attr_names.get(param)
        if name is not None:
            attrs[name] = arg
    for argument, arg in zip(opdef.inputs, operation.args, strict=False):
        if argument.number_attr:
            attrs[argument.number_attr] = len(arg)
        if argument.type_list_attr:
            attrs[argument.type_list_attr] = [t.dtype for t in arg]
        if argument.type_attr and argument.type_attr not in attrs:
            attrs[argument.type_attr] = operation.types.get(argument.type_attr) or dtype_of_value(arg)
    for out, tensor in zip(opdef.outputs, operation.outputs, strict=False):
        if out.type_attr and attrs.get(out.type_attr) is None:
            attrs[out.type_attr] = tensor.dtype
    for name, attr in opdef.attrs.items():
        if attrs.get(name) is None and attr.default is not NO_DEFAULT:
            attrs[name] = TensorShape(attr.default) if attr.type == "shape" else attr.default
    return attrs


def _of_node(operation: Any) -> dict[str, Any]:
    kind, op = operation.type, operation.op
    if kind == "Const":
        return {"value": op.attrs["value"], "dtype": operation.outputs[0].dtype}
    if kind == "Placeholder":
        return {"dtype": operation.outputs[0].dtype, "shape": operation.outputs[0].shape}
    if kind == "PlaceholderWithDefault":
        return {"dtype": operation.outputs[0].dtype, "shape": op.attrs["shape"]}
    if kind == "ReadVariableOp":
        return {"dtype": operation.outputs[0].dtype}
    if kind == "VarHandleOp":
        variable = op.attrs["variable"]
        own = variable._id in operation.graph._own_variables
        shared_name = variable._name if own else operation.name  # other variables may have equal names
        return {"dtype": variable.dtype, "shape": variable.shape, "shared_name": shared_name, "container": ""}
    if kind.startswith("Assign"):
        return {"dtype": operation.args[1].dtype}
    return _type_attrs(operation) | {k: v for k, v in op.attrs.items() if k != "variable"}


def _type_attrs(operation: Any) -> dict[str, Any]:
    """Returns the type attrs of an operation whose op is TensorFlow's."""
    if operation.op.bodies:  # the writer of the functions knows them
        return {}
    try:
        definition = op_defs.get(operation.type)
    except LookupError:
        return {}
    return _types_of(definition.outputs, operation.outputs) | _types_of(definition.inputs, operation.inputs)


def _types_of(definitions: Sequence[Any], tensors: Sequence[Any]) -> dict[str, Any]:
    """Returns the type attrs of single tensors and, last, a list of tensors of any types."""
    dtypes = [t.dtype for t in tensors]
    attrs: dict[str, Any] = {}
    if definitions and definitions[-1].type_list_attr:
        definitions, rest = definitions[:-1], definitions[-1]
        attrs[rest.type_list_attr] = dtypes[len(definitions) :]
        del dtypes[len(definitions) :]
    if any(d.is_list for d in definitions) or len(definitions) != len(dtypes):
        return {}
    return attrs | {d.type_attr: dtype for d, dtype in zip(definitions, dtypes, strict=True) if d.type_attr}


def dtype_of_value(value: Any) -> DType:
    """Returns the dtype that a Python value, or a nest of them, has by default."""
    if isinstance(value, Tensor):
        return value.dtype
    if type(value) in (list, tuple):
        return next((dtype for v in value if (dtype := dtype_of_value(v)) is not int32), int32)
    if isinstance(value, float):
        return float32
    return int32 if value is None or -(2**31) <= value < 2**31 else int64
