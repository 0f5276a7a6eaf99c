"""TensorFlow's registry of gradient functions, by the names of ops: libraries replace entries and put them back.

An entry is a mapping with `type`, the function `grad(op, *dys)`, and `location`. To set an op's `type` changes the
gradient of that op everywhere, until the former function is set again, as it does in TensorFlow.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from tapeflow.core.autodiff.tape import record_function
from tapeflow.core.context import state
from tapeflow.core.ops.definition import Op, find, registry
from tapeflow.core.ops.op import RegisteredOp, gradient_of
from tapeflow.custom_gradients import OperationOfCall

_LOCATION = ("UNKNOWN",) * 5


class OwnGradient:
    """The gradient function that an op has by itself, called as registered ones are.

    Args:
        op: the op, of which it holds what a tape reads.
    """

    def __init__(self, op: Op) -> None:
        self.op = op
        self._state = {name: getattr(op, name) for name in RegisteredOp.__slots__}

    def __call__(self, op: OperationOfCall, *dys: Any) -> Any:
        return self._state["gradient"](op.call, *dys)

    def restore(self) -> None:
        """Gives the op this gradient again."""
        for name, value in self._state.items():
            setattr(self.op, name, value)


class _Entry(MutableMapping):
    """The entry of an op."""

    def __init__(self, op: Op) -> None:
        self._op = op
        self._items: dict[str, Any] = {"type": OwnGradient(op), "location": _LOCATION}

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._items[key] = value
        if key != "type":
            return
        if isinstance(value, OwnGradient):
            value.restore()
        else:
            self._op.differentiable, self._op.passes_gradient, self._op.accumulate = True, False, None
            gradient_of(self._op, needs="inputs outputs shapes dtypes")(
                lambda call, *dys: value(OperationOfCall(call), *dys)
            )

    def __delitem__(self, key: str) -> None:
        del self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class _Gradients(MutableMapping):
    """The entries: those of ops that have gradients, and those that libraries add under other names."""

    def __init__(self) -> None:
        self._entries: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._entries:
            op = find(name)
            if op is None or not op.differentiable or op.name != name:  # an older name, which tapes do not have
                raise KeyError(name)
            self._entries[name] = _Entry(op)
        return self._entries[name]

    def __setitem__(self, name: str, entry: Any) -> None:
        self._entries[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**{name: None for name, op in registry.items() if op.differentiable}, **self._entries})

    def __len__(self) -> int:
        return sum(1 for _ in self)


_gradient_registry = types.SimpleNamespace(_registry=_Gradients())


def record_gradient(op_name: str, inputs: Any, attrs: Any, results: Any) -> None:
    """Records a call on the tapes of this thread, with the gradient that is registered under a name.

    Args:
        op_name: the name.
        inputs, results: the tensors.
        attrs: the attrs and their values, one after the other.

    Raises:
        LookupError: there is no such gradient.
    """
    if not state.tapes:
        return
    if op_name not in _gradient_registry._registry:
        raise LookupError(f"gradient registry has no entry for: {op_name}")
    function: Callable[..., Any] = _gradient_registry._registry[op_name]["type"]
    values = dict(zip(attrs[::2], attrs[1::2], strict=True)) if attrs else {}
    operation = types.SimpleNamespace(
        type=op_name, name=op_name, inputs=list(inputs), outputs=list(results), get_attr=values.__getitem__
    )
    record_function(op_name, inputs, results, lambda *dys: function(operation, *dys))
