"""Python in a graph: an operation that calls a function on eager tensors when the graph runs.

It is what `tf.py_function`, prints, assertions and writers are in a graph, and what a gradient becomes that can't be
written down before the shapes are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.autodiff.gradients import zeros_like_value
from tapeflow.core.autodiff.tape import Tape, dense
from tapeflow.core.context import state
from tapeflow.core.ops.definition import Op, ops
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.ir.operation import GraphOp, Operation, variable_of


def python_op(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[Any],
    output_specs: Sequence[Any] = (),
    stateful: bool = True,
    differentiable: bool = False,
) -> Operation:
    """Adds an operation that calls a Python function to the graph that this thread builds.

    Args:
        name: the op's name.
        function: takes eager tensors, one for each input, and gives a list of eager tensors of the specs (or None,
            where there are none).
        inputs: tensors; variables are handed to the function as they are.
        output_specs: `tf.TensorSpec`s of the outputs, or pairs of dtype and shape.
        stateful: runs even where nobody takes the outputs.
        differentiable: gradients pass, by a tape around the function.

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
        if not specs:
            return None
        return tuple([r.value for r in result])

    def gradient(call: Any, *dys: Any) -> Any:
        return _python_gradient(name, function, call.inputs, specs, call.wanted, dys)

    op = GraphOp(name, kernel, stateful=stateful, gradient=gradient if differentiable else None,
                gives_tuple=True)  # fmt: skip
    return graph.node(op, captured, specs)


def as_eager(value: Any, dtype: DType) -> Any:
    """Returns the eager tensor of a raw value; a variable as it is."""
    return value if hasattr(value, "_read") else EagerTensor(value, dtype)


def eager_arguments(op: Op, args: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Returns raw values as `compute` takes them: with eager tensors where a step has tensors, of their dtypes.

    Args:
        op: the op.
        args: the step's arguments.
        values: the kernel's.
    """
    return op.map(lambda tensor, value: EagerTensor(value, tensor.dtype), args, values)


class executing_eagerly:
    """A context in which ops of this thread run at once: no graph is built and no tape records."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = state.graph, state.tapes, state.name_scope
        state.graph, state.tapes = None, []

    def __exit__(self, *_: object) -> None:
        state.graph, state.tapes, state.name_scope = self._before


def _python_gradient(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[Any],
    specs: Sequence[Any],
    wanted: Sequence[bool],
    dys: Sequence[Any],
) -> list[Any]:
    """Returns the gradients of a Python function's inputs: as another one, in a graph; at once, eagerly."""
    count = len(inputs)
    given = [i for i, dy in enumerate(dys) if dy is not None]
    asked = [i for i, w in enumerate(wanted) if w]

    def vjp(*tensors: Any) -> list[Any]:
        # Copies that outer tapes know as the originals: what is computed of one is computed of the other.
        sources = [ops.Identity(t) if isinstance(t, EagerTensor) else t for t in tensors[:count]]
        tape = Tape(persistent=False, watch_accessed=False)
        tape.start()
        try:
            for i in asked:
                tape.watch(sources[i])
            outputs = function(*sources)
        finally:
            tape.stop()
        found = tape.gradients([outputs[i] for i in given], [sources[i] for i in asked], tensors[count:])
        return [zeros_like_value(sources[i]) if g is None else dense(g) for i, g in zip(asked, found, strict=True)]

    arguments = [*inputs, *(dys[i] for i in given)]
    if state.graph is None:
        made: Any = vjp(*arguments)
    else:
        outputs = [spec_of_gradient(inputs[i]) for i in asked]
        made = python_op(f"{name}Grad", vjp, arguments, outputs, stateful=False, differentiable=True).outputs
    found = iter(made)
    return [next(found) if w else None for w in wanted]


def spec_of_gradient(tensor: Any) -> tuple[Any, Any]:
    """Returns the dtype and shape of an input's gradient."""
    variable = variable_of(tensor)
    return (tensor.dtype, tensor.shape) if variable is None else (variable.dtype, variable.shape)
