"""Ops that are computed by others: older versions, and compositions.

A form is a function of an op's inputs and attrs, by their names in its definition, that calls other ops. It serves
`tf.raw_ops`, at once and in graphs, and graphs that are read; gradients pass through the ops that it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from tapeflow.core.ops import bare
from tapeflow.core.ops.op import RegisteredOp

Form = Callable[..., Any]

forms: dict[str, Form] = {}


def form(*names: str) -> Callable[[Form], Form]:
    """Decorates the form of an op, or of several that take the same arguments.

    The form's parameters are the inputs and attrs that it reads: tensors, lists of them, and plain values. It returns a
    tensor, a sequence of all outputs, or None.
    """

    def decorate(function: Form) -> Form:
        for name in names:
            forms[name] = function
        return function

    return decorate


def call(name: str, arguments: Mapping[str, Any]) -> list[Any]:
    """Computes an op by its form.

    Args:
        name: the op.
        arguments: all inputs and attrs, by their registered names.

    Returns:
        The outputs, in one flat list.
    """
    op = unregistered(name)
    converted, types = op.convert_arguments(tuple([arguments[p] for p in op.params]))
    return applied(name, dict(zip(op.params, converted, strict=True)) | {"T": types.get("T")})


def applied(name: str, named: Mapping[str, Any]) -> list[Any]:
    """Returns the outputs of an op's form for converted arguments."""
    function = forms[name]
    code: Any = function.__code__
    result = function(**{p: named[p] for p in code.co_varnames[: code.co_argcount]})
    if result is None:
        return []
    return _flat(result) if isinstance(result, (list, tuple)) else [result]


def _flat(values: Sequence[Any]) -> list[Any]:
    return [v for value in values for v in (_flat(value) if type(value) in (list, tuple) else [value])]


def _no_kernel(*_: Any) -> NoReturn:
    raise AssertionError("An op that only converts arguments was run.")


def unregistered(name: str) -> RegisteredOp:
    """Returns an op that converts arguments by its definition, and has no kernel."""
    if name not in _unregistered:
        op = RegisteredOp(name, _no_kernel, tuple(bare.parameters(name)), (), {})
        op.string_kernel = op.kernel
        _unregistered[name] = op
    return _unregistered[name]


_unregistered: dict[str, RegisteredOp] = {}
