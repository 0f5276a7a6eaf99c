"""From the arguments of attrs to their values, by TensorFlow's rules.

They are its generated functions' rules: an int may be anything that `int` takes, a float any real number; a bool and a
string must be one; a list must be a list.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.context import state
from tapeflow.core.ops.op_def import snake_case
from tapeflow.core.types.dtypes import DType, as_dtype
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor

if TYPE_CHECKING:
    from tapeflow.core.ops.definition import Op
    from tapeflow.core.ops.op_def import AttrDef, OpDef


def attr_value(op: Op | OpDef, attr: AttrDef, value: Any) -> Any:
    """Returns the value of an argument that stands for an attr: of None the default, if the attr has one.

    Raises:
        TypeError: it can't be an attr of this type.
    """
    kind = attr.type
    if kind in _VALUES:
        return attr.default if value is None and attr.has_default else _VALUES[kind](attr.name, value)
    is_list = kind.startswith("list(")
    kind = kind[len("list(") : -1] if is_list else kind
    if value is None and (attr.has_default or kind not in _VALUES):
        return None
    if kind == "shape":
        _check_shape(attr.name, value)
    if not is_list:
        return value
    eager_none = value is None and state.graph is None  # an empty list there
    items = () if eager_none else items_of(snake_case(op.name), attr.name, value)
    return tuple([_VALUES[kind](attr.name, v) for v in items]) if kind in _VALUES else items


def _check_shape(name: str, value: Any) -> None:
    """Raises TypeError for a shape, or a list of shapes, with tensors of a graph in it."""
    if isinstance(value, (list, tuple)):
        for item in value:
            _check_shape(name, item)
    elif isinstance(value, SymbolicTensor):
        raise TypeError(
            f"Error converting {name} to a TensorShape: Dimension value must be integer or None or have an __index__ "
            f"method, got value '{value!r}' with type '{type(value)!r}'."
        )


def items_of(op: str, name: str, value: Any) -> tuple[Any, ...]:
    """Returns the items of an argument that must be a list.

    Tensors and arrays are none, except empty ones: TensorFlow looks at their items, which are no Python numbers.

    Raises:
        TypeError: it is none.
    """
    if isinstance(value, (list, tuple)):
        return tuple(value)
    if isinstance(value, (EagerTensor, np.ndarray)) and tuple(value.shape) == (0,):
        return ()
    raise TypeError(f"Expected list for '{name}' argument to '{op}' Op, not {value!r}.")


def _int_attr(name: str, value: Any) -> int:
    if not isinstance(value, str):
        try:
            return int(value)
        except (TypeError, ValueError, OverflowError):
            pass
    raise TypeError(f"Expected int for argument '{name}' not {value!r}.")


def _float_attr(name: str, value: complex | str) -> float:
    if not isinstance(value, numbers.Real):
        raise TypeError(f"Expected float for argument '{name}' not {value!r}.")
    return float(value)


def _bool_attr(name: str, value: complex | np.generic) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"Expected bool for argument '{name}' not {value!r}.")
    return value


def _string_attr(name: str, value: object) -> str:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"Expected string for argument '{name}' not {value!r}.")
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)


def _type_attr(name: str, value: object) -> DType:
    if value is None:
        raise TypeError(f"Expected DataType for argument '{name}' not None.")
    return as_dtype(value).base_dtype


_VALUES = {"int": _int_attr, "float": _float_attr, "bool": _bool_attr, "string": _string_attr, "type": _type_attr}
