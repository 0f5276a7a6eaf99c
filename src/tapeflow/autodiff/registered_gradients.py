"""The registry of gradient functions by the names of ops.

`tf.RegisterGradient` adds to it, `gradient_override_map` reads it, and libraries replace its entries and put them back.

An entry is a mapping with `type`, the function `grad(op, *dys)`, and `location`. The entry of an op reads and sets the
gradient of the op, everywhere. Only entries of other names are stored here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from tapeflow.core.autodiff import vjp
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.definition import Op, find, registry
from tapeflow.core.ops.op import RegisteredOp, gradient_of
from tapeflow.core.values.tensor import next_id

_LOCATION = ("UNKNOWN",) * 5


class OperationOfCall:
    """A call of an op, with the attributes of the operation that a registered gradient function takes."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.type = self.name = call.op.name
        self.inputs, self.outputs = list(call.inputs), list(call.outputs)

    def get_attr(self, name: str) -> Any:
        """Returns the value of an attr, by its registered name.

        Raises:
            ValueError: the op has no such attr.
        """
        op = self.call.op
        given = {op.attr_names.get(p): v for p, v in zip(op.statics(op.params), self.call.attrs, strict=True)}
        if name in given:
            return given[name]
        attr = op.opdef.attrs[name]
        if attr.has_default:
            return attr.default
        raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")


class _OfOperation:
    """A gradient that a function computes from the operation: `function(op, *dys)`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, call: Call, *dys: Any) -> Any:
        return self.function(OperationOfCall(call), *dys)


class OwnGradient:
    """The built-in gradient of an op, with the signature of registered functions.

    Args:
        op: the op. It holds the gradient that tapes read.
    """

    def __init__(self, op: Op) -> None:
        self._op = op
        self._state = {name: getattr(op, name) for name in RegisteredOp.__slots__}

    def __call__(self, op: OperationOfCall, *dys: Any) -> Any:
        return self._state["gradient"](op.call, *dys)

    def restore(self) -> None:
        """Gives the op this gradient again."""
        for name, value in self._state.items():
            setattr(self._op, name, value)


def _set_gradient(op: Op, function: Callable[..., Any]) -> None:
    op.differentiable, op.passes_gradient, op.accumulate = True, False, None
    gradient_of(op, needs="inputs outputs shapes dtypes")(_OfOperation(function))


def with_gradient(op: Op, function: Callable[..., Any], name: str) -> Any:
    """Returns an op with another gradient: `function(op, *dys)`, which has that name in nodes."""
    changed = copy.copy(op)
    _set_gradient(changed, function)
    changed.gradient_name = name
    return changed


def new_name() -> str:
    """Returns a name for a gradient that a program defines inline."""
    return f"CustomGradient-{next_id()}"


class _Entry(MutableMapping):
    """The entry of an op."""

    def __init__(self, op: Op) -> None:
        self._op = op

    def __getitem__(self, key: str) -> Any:
        if key == "type":
            gradient = self._op.gradient
            return gradient.function if isinstance(gradient, _OfOperation) else OwnGradient(self._op)
        return {"location": _LOCATION}[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "type" and isinstance(value, OwnGradient):
            value.restore()
        elif key == "type":
            _set_gradient(self._op, value)

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"An op's entry keeps its {key!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(("type", "location"))

    def __len__(self) -> int:
        return 2


class _Gradients(MutableMapping):
    """The entries: one for each op with a gradient, and entries of other names."""

    def __init__(self) -> None:
        self._others: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name in self._others:
            return self._others[name]
        op = find(name)
        if op is None or not op.differentiable or op.name != name:  # tapes do not have older names
            raise KeyError(name)
        return _Entry(op)

    def __setitem__(self, name: str, entry: dict[Any, Any]) -> None:
        op = find(name)
        if op is None or op.name != name:
            self._others[name] = entry
        else:
            _Entry(op)["type"] = entry["type"]

    def __delitem__(self, name: str) -> None:
        del self._others[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*(name for name, op in registry.items() if op.differentiable), *self._others])

    def __len__(self) -> int:
        return sum(1 for _ in self)


registered = _Gradients()


def function_of(name: str) -> Callable[..., Any]:
    """Returns the gradient function that is registered under a name.

    Raises:
        LookupError: there is no gradient of that name.
    """
    if name not in registered:
        raise LookupError(f"gradient registry has no entry for: {name}")
    return registered[name]["type"]


def _with_registered_gradient(op: Any, name: str) -> Any:
    return with_gradient(op, lambda operation, *dys: function_of(name)(operation, *dys), name)


hooks.with_registered_gradient = _with_registered_gradient


class RegisterGradient:
    """Decorates the gradient function of an op type that has none: `grad(op, *dys)`.

    Args:
        op_type: the registered name of the op.

    Raises:
        TypeError: `op_type` is not a string.
        KeyError: the op type has a gradient already.

    Example:
        >>> @tf.RegisterGradient("MyOwnGradient")
        ... def _(op, dy):
        ...     return dy * 2.0
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        op = find(self._op_type)
        if self._op_type in registered if op is None else not vjp.is_gradient_of(op):
            raise KeyError(f"Registering two gradient with name '{self._op_type}'! (It has one already.)")
        registered[self._op_type] = {"type": f, "location": _LOCATION}
        return f


def no_gradient(op_type: str) -> None:
    """Declares that ops of a type have no gradient.

    Args:
        op_type: the registered name of the op.

    Returns:
        None.

    Raises:
        TypeError: `op_type` is not a string.

    Example:
        >>> tf.no_gradient("MyOwnOp")
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    if op_type in registry:
        registry[op_type].differentiable = False
