"""Ops without a public function of their own: programs call them through `tf.raw_ops`, and graphs that are read.

Their parameters follow the definition: the inputs, then the attrs that the inputs do not decide. So a family of ops is
a table of kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.op import OpFunction, not_differentiable, op
from tapeflow.core.ops.shape_rules import unknown

Kernel = Callable[..., Any]


def parameters(name: str) -> list[str]:
    """Returns the parameters of an op: its inputs, and the attrs that do not follow from them, in their order."""
    definition = op_defs.get(name)
    return [a.name for a in definition.inputs] + [
        a for a in definition.attrs if a not in op_defs.implied_attrs(definition)
    ]


def defined_op(name: str, kernel: Kernel, **options: Any) -> OpFunction[..., Any]:
    """Declares an op, as `@op` does, with the parameters of its definition and their defaults.

    Args:
        name: TensorFlow's registered name.
        kernel: takes the parameters in their order.
        **options: see `op`.

    Returns:
        The op's function.
    """
    attrs, params = op_defs.get(name).attrs, parameters(name)
    defaults: list[Any] = []
    for param in params:
        if param not in attrs or not attrs[param].has_default:
            defaults.clear()  # those before a parameter without a default can't be left out
        else:
            default = attrs[param].default
            defaults.append(tuple(default) if isinstance(default, list) else default)
    names, title = (*params, "name"), op_defs.snake_case(name)
    code = _declaration.__code__.replace(
        co_argcount=len(names), co_nlocals=len(names), co_varnames=names, co_name=title, co_qualname=title
    )
    return op(name, kernel, **options)(FunctionType(code, globals(), argdefs=(*defaults, None)))


def _declaration() -> None:
    """Takes the parameters of an op."""


def define(
    name: str,
    kernel: Kernel,
    shape: Kernel = unknown,
    host: Sequence[str] = (),
    gradient: Kernel | None = None,
    **options: Any,
) -> None:
    """Declares an op, as `defined_op` does, that has no function in TapeFlow and whose kernel takes raw values.

    Args:
        name: TensorFlow's registered name.
        kernel: takes raw values (for handles, strings and variants arrays of objects) and plain attrs.
        shape: the shape rule.
        host: inputs that the kernel takes as Python numbers.
        gradient: see `OpFunction.gradient`; None if a tape stops at the op.
        **options: see `op`.
    """
    function = defined_op(name, kernel, shape=shape, host=host, strings=True, **options)
    if gradient is None:
        not_differentiable(function)
    else:
        function.gradient()(gradient)


def kernel_of(*names: str, **options: Any) -> Callable[[Kernel], Kernel]:
    """Decorates the kernel of ops that take the same parameters; see `define`."""

    def decorate(kernel: Kernel) -> Kernel:
        for name in names:
            define(name, kernel, **options)
        return kernel

    return decorate
