"""Ops that are computed by others: older versions, and compositions.

A form is a function of an op's inputs and attrs, by their names in its definition, that calls other ops. It serves
`tf.raw_ops`, at once and in graphs, and graphs that are read; gradients pass through the ops that it calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops import raw_kernels
from tapeflow.core.ops.definition import NotStatic, ops
from tapeflow.core.ops.kernels import translate_error
from tapeflow.core.ops.op import RegisteredOp
from tapeflow.core.ops.shape_rules import unknown
from tapeflow.core.values.symbolic import SymbolicTensor

if TYPE_CHECKING:
    from tapeflow.graph.ir.func_graph import FuncGraph

Form = Callable[..., Any]

forms: dict[str, Form] = {}
eager_only: set[str] = set()
# The shape rules of some forms, and the inputs that the rules read as static values.
_shapes: dict[str, tuple[Callable[..., Any], Sequence[str]]] = {}


def form(
    *names: str, shape: Callable[..., Any] | None = None, host: Sequence[str] = (), eager: bool = False
) -> Callable[[Form], Form]:
    """Decorates the form of an op, or of several that take the same arguments.

    The form's parameters are the inputs and attrs that it reads: tensors, lists of them, and plain values. It returns a
    tensor, a sequence of all outputs, or None. In a graph it may raise `NotStatic`: then the op is one operation, which
    computes the form when it runs. So is an op whose own shape rule takes a call that the ops of the form refuse.

    Args:
        *names: the ops.
        shape: the ops' shape rule in graphs, a function of all arguments. Needed if it checks or infers more than the
            rules of the ops in the form.
        host: the inputs that the rule and the form take as Python values if they are static.
        eager: the form is right only eagerly: all graphs get the op itself from its builder.
    """

    def decorate(function: Form) -> Form:
        eager_only.update(names if eager else ())
        for name in names:
            forms[name] = function
            if shape is not None:
                _shapes[name] = shape, host
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
    op, graph = unregistered_op(name), state.graph
    args = tuple([arguments[p] for p in op.params])

    def compute(values: Sequence[Any]) -> list[Any]:
        try:
            return apply_form(name, dict(zip(op.params, values, strict=True)) | {"T": types.get("T")})
        except (ArithmeticError, LookupError, MemoryError) as error:
            raise translate_error(op, values, types, error) from error

    if graph is None:
        converted, types = op.convert_arguments(args)
        if name in _shapes:  # raises for shapes that don't fit together
            op.infer(converted, types, 1)
        return compute(converted)
    converted, types = graph.converted(op, args, False, name)
    converted = op.map(_of_graph(graph), converted, host=_of_graph(graph))
    inferred = graph.shapes(op, converted, types, 1, name) if name in _shapes else ()
    try:
        outputs = compute(converted)
    except ValueError as error:
        if not isinstance(error, NotStatic) and name not in _shapes:
            raise
        outputs = hooks.form_when_run(op, converted, types, compute)
    stated = [_of_static_shape(output, static) for output, static in zip(outputs, inferred, strict=False)]
    return [*stated, *outputs[len(stated) :]]


def _of_graph(graph: FuncGraph) -> Callable[[Any], Any]:
    """Returns a function from an argument to the tensor of the graph for it; others stay."""
    return lambda arg: graph.capture(arg) if isinstance(arg, SymbolicTensor) else arg


def _of_static_shape(output: Any, static: Any) -> Any:
    """Returns an output with the static shape of its op's rule, even if the form infers a more specific one."""
    if output.shape == static:
        return output
    result = ops.Identity(output)
    result._shape = static
    return result


def apply_form(name: str, named: Mapping[str, Any]) -> list[Any]:
    """Returns the outputs of an op's form for converted arguments."""
    function = forms[name]
    code: Any = function.__code__
    result = function(**{p: named[p] for p in code.co_varnames[: code.co_argcount]})
    if result is None:
        return []
    return _flatten_lists(result) if isinstance(result, (list, tuple)) else [result]


def _flatten_lists(values: Sequence[Any]) -> list[Any]:
    return [v for value in values for v in (_flatten_lists(value) if type(value) in (list, tuple) else [value])]


def _no_kernel(*_: Any) -> NoReturn:
    raise AssertionError("An op that only converts arguments was run.")


@functools.cache
def unregistered_op(name: str) -> RegisteredOp:
    """Returns an op that converts arguments by its definition, and has no kernel."""
    shape, host = _shapes.get(name, (unknown, ()))
    op = RegisteredOp(name, _no_kernel, tuple(raw_kernels.parameters(name)), tuple(host), {})
    op.shape = shape
    op.string_kernel = op.kernel
    return op
