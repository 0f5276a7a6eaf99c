"""Python in a graph: an operation that calls a function on eager tensors when the graph runs.

`tf.py_function`, prints, assertions and writers become such operations. So do gradients that need static shapes if the
shapes are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from tapeflow.core.autodiff.gradients import zeros_like_value
from tapeflow.core.autodiff.tape import Tape, dense
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import Op, ops
from tapeflow.core.ops.sequences import datatype_name
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.graph.ir.operation import GraphOp, Operation, variable_of


def python_op(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[Any],
    output_specs: Sequence[Any] = (),
    stateful: bool = True,
    differentiable: bool = False,
    attrs: dict[str, Any] | None = None,
    diagnostic: bool = False,
) -> Operation:
    """Adds an operation that calls a Python function to the graph that this thread builds.

    Args:
        name: the op's name.
        function: takes an eager tensor for each input, and returns a list of eager tensors of the specs, or None
            without outputs.
        inputs: tensors and variables. The function gets variables themselves, not their values.
        output_specs: `tf.TensorSpec`s of the outputs, or pairs of dtype and shape.
        stateful: True to run it even if its outputs are unused.
        differentiable: True to compute gradients, by a tape around the function.
        attrs: the attrs of TensorFlow's op of this name, if there is one.
        diagnostic: True if the function only checks, prints or records its inputs.

    Returns:
        The operation; its `outputs` are the symbolic tensors.
    """
    graph = state.graph
    captured = [graph.capture(t) for t in inputs]
    dtypes = [t.dtype for t in captured]
    specs = [s if isinstance(s, tuple) else (s.dtype, s.shape) for s in output_specs]

    def kernel(*values: Any) -> Any:
        with executing_eagerly():
            result = function(*[as_eager(v, d) for v, d in zip(values, dtypes, strict=True)])
        return _values_of(name, result, specs) if specs else None

    def gradient(call: Any, *dys: Any) -> Any:
        return _python_gradient(name, function, call.inputs, call.wanted, dys)

    op = GraphOp(name, kernel, stateful=stateful, gradient=gradient if differentiable else None,
                attrs=attrs, gives_tuple=True)  # fmt: skip
    op.diagnostic = diagnostic
    return graph.node(op, captured, specs)


def _values_of(name: str, results: Sequence[Any], specs: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the raw values of an operation's results.

    Raises:
        InvalidArgumentError: a result has another dtype than the operation's output.
    """
    for i, (result, (dtype, _)) in enumerate(zip(results, specs, strict=True)):
        if result.dtype is not dtype:
            found, expected = datatype_name(result.dtype), datatype_name(dtype)
            raise invalid(f"{i}-th value returned is {found}, but expects {expected} [Op:{name}]")
    return tuple([r.value for r in results])


def as_eager(value: Any, dtype: DType) -> Any:
    """Returns the eager tensor of a raw value. A variable stays itself."""
    return value if hasattr(value, "_read") else EagerTensor(value, dtype)


def eager_outputs(values: Iterable[Any], tensors: Iterable[Any]) -> list[Any]:
    """Wraps raw values of symbolic tensors as eager tensors."""
    return [
        EagerTensor(v, t.dtype) if type(v) is torch.Tensor else as_eager(v, t.dtype)
        for v, t in zip(values, tensors, strict=True)
    ]


def eager_arguments(op: Op, args: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Returns raw values as arguments of `compute`, with an eager tensor for each tensor of a step.

    Args:
        op: the op.
        args: the step's arguments.
        values: the kernel's.
    """
    return op.map(lambda tensor, value: EagerTensor(value, tensor.dtype), args, values)


class executing_eagerly:
    """A context: ops of this thread run eagerly. No graph is built and no tape records."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = state.graph, state.tapes, state.name_scope
        state.graph, state.tapes = None, []

    def __exit__(self, *_: object) -> None:
        state.graph, state.tapes, state.name_scope = self._before


def _python_gradient(
    name: str, function: Callable[..., Any], inputs: Sequence[Any], wanted: Sequence[bool], dys: Sequence[Any]
) -> list[Any]:
    """Returns the gradients of a Python function's inputs: by another operation in a graph, otherwise immediately."""
    count = len(inputs)
    dy_indices = [i for i, dy in enumerate(dys) if dy is not None]
    wanted_inputs = [i for i, w in enumerate(wanted) if w]

    def vjp(*tensors: Any) -> list[Any]:
        # Copies, which outer tapes relate to the originals by `Identity`.
        sources = [ops.Identity(t) if isinstance(t, EagerTensor) else t for t in tensors[:count]]
        tape = Tape(persistent=False, watch_accessed=False)
        tape.start()
        try:
            for i in wanted_inputs:
                tape.watch(sources[i])
            outputs = function(*sources)
        finally:
            tape.stop()
        gradients = tape.gradients(
            [outputs[i] for i in dy_indices], [sources[i] for i in wanted_inputs], tensors[count:]
        )
        return [
            zeros_like_value(sources[i]) if g is None else dense(g)
            for i, g in zip(wanted_inputs, gradients, strict=True)
        ]

    arguments = [*inputs, *(dys[i] for i in dy_indices)]
    if state.graph is None:
        results: Any = vjp(*arguments)
    else:
        outputs = [spec_of_gradient(inputs[i]) for i in wanted_inputs]
        results = python_op(f"{name}Grad", vjp, arguments, outputs, stateful=False, differentiable=True).outputs
    gradients = iter(results)
    return [next(gradients) if w else None for w in wanted]


def spec_of_gradient(tensor: Tensor) -> tuple[Any, Any]:
    """Returns the dtype and shape of an input's gradient."""
    variable = variable_of(tensor)
    return (tensor.dtype, tensor.shape) if variable is None else (variable.dtype, variable.shape)


# ---- checks ----------------------------------------------------------------------------------------------------------


def check_or_defer(
    check: Callable[..., None], *tensors: Any, holds: Callable[[], Any] | None = None
) -> Operation | None:
    """Calls a check on eager tensors, immediately if all values are static, otherwise as an operation of the graph.

    Args:
        check: raises an error if something is wrong.
        tensors: its arguments.
        holds: returns a scalar tensor of the graph that is true if nothing is wrong, for other readers of the graph.

    Returns:
        The operation, or None if the check has already run.
    """
    if state.graph is None:
        check(*tensors)
        return None
    values = [value_of(t) if isinstance(t, SymbolicTensor) else t.value for t in tensors]
    if all(v is not None for v in values):
        with executing_eagerly():
            check(*[as_eager(v, t.dtype) for v, t in zip(values, tensors, strict=True)])
        return None

    def run(condition: Any, *values: Any) -> None:
        if holds is None or not condition:
            check(*values)

    return assert_op(run, convert(True) if holds is None else holds(), tensors)


def assert_op(function: Callable[..., Any], condition: Any, data: Sequence[Any], summarize: int = 3) -> Operation:
    """Adds an `Assert` of TensorFlow's form to the graph.

    Args:
        function: takes the condition and the data, and raises an error if the condition does not hold.
        condition: a boolean scalar.
        data: tensors that other readers of the graph show if it does not hold.
        summarize: the number of elements of each tensor that they show.
    """
    attrs = {"T": [tensor.dtype for tensor in data], "summarize": summarize}
    return python_op("Assert", function, [condition, *data], attrs=attrs, diagnostic=True)


def assertion(check: Callable[..., None], *tensors: Any, holds: Callable[[], Any] | None = None) -> Operation | None:
    """Calls `check_or_defer` for an assertion; a graph that sessions run gets an operation in any case."""
    return check_or_defer(check, *tensors, holds=holds) or nothing_to_check()


def nothing_to_check() -> Operation | None:
    """Returns the result of an assertion that holds already: a `NoOp` in a graph that sessions run, else None."""
    graph = state.graph
    return None if graph is None or graph.building_function else graph.node(GraphOp("NoOp"), (), (), "NoOp")
