"""Gradients of conditionals.

When a gradient is asked for, the operation is made to run under a tape of its own, which it gives as one more output;
the gradient is an operation that asks this tape. So a branch is differentiated only if it was taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.autodiff.gradients import zeros_like_value
from tapeflow.core.autodiff.tape import Tape, dense
from tapeflow.core.context import state
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.ir.operation import Differentiated, GraphOp, Operation, variable_of
from tapeflow.graph.ir.python_op import as_eager, executing_eagerly, spec_of_gradient

Run = Callable[[Sequence[Any]], list[Any]]


def taped_gradient(run: Run) -> Callable[..., Any]:
    """The gradient of an operation whose kernel does what `run` does eagerly.

    Args:
        run: takes a list of tensors and variables, and gives a list of tensors, with ops that tapes record.
    """

    def gradient(call: Any, *dys: Any) -> list[Any]:
        operation = call.outputs[0].op
        saved = _with_tape(operation, run)
        given = [i for i, dy in enumerate(dys[: saved.value_index]) if dy is not None]
        asked = [i for i, w in enumerate(call.wanted) if w and has_gradient(call.inputs[i])]
        if not asked or not given:
            return [None] * len(call.wanted)

        def kernel(record: Any, *values: Any) -> Any:
            tape, sources, outputs = record[()]
            with executing_eagerly():
                seeds = [EagerTensor(v, outputs[i].dtype) for v, i in zip(values, given, strict=False)]
                found = tape.gradients([outputs[i] for i in given], [sources[i] for i in asked], seeds)
                return tuple([_value(g, sources[i]) for g, i in zip(found, asked, strict=True)])

        inputs = list(call.inputs)
        seeds = [dys[i] for i in given]

        def second(again: Any, *ddys: Any) -> list[Any]:
            seeds, inputs = again.inputs[1 : 1 + len(given)], again.inputs[1 + len(given) :]
            return _second_order().of_conditional(operation, given, asked, seeds, inputs, ddys)

        op = GraphOp(f"{operation.type}Grad", kernel, gradient=second, gives_tuple=True)
        op.gradient_of = Differentiated(operation, given, asked)
        if operation.op.bodies:
            operation.op.differentiated.append(given)
            operation.op.lowered = lambda made: _lowering().conditional_with_kept(made)
            op.lowered = lambda made: _lowering().gradient_of_conditional(operation, given, asked)(made)
        outs = [spec_of_gradient(inputs[i]) for i in asked]
        made = state.graph.node(op, [saved, *seeds, *inputs], outs)
        found = dict(zip(asked, made.outputs, strict=True))
        return [found.get(i) for i in range(len(inputs))]

    return gradient


def _lowering() -> Any:
    from tapeflow.graph.graphdef import lowering

    return lowering


def _second_order() -> Any:
    from tapeflow.graph.gradients import second_order

    return second_order


def _with_tape(operation: Operation, run: Run) -> SymbolicTensor:
    """The output of an operation that gives its tape; the operation is changed to have one."""
    if operation.op.saved is not None:
        return operation.op.saved
    dtypes = [t.dtype for t in operation.args]
    count = len(operation.outputs)

    def kernel(*values: Any) -> Any:
        with executing_eagerly():
            sources = [as_eager(v, d) for v, d in zip(values, dtypes, strict=True)]
            tape = Tape(persistent=True, watch_accessed=False)
            tape.start()
            try:
                for s in sources:
                    if hasattr(s, "_read"):
                        tape.watch_variable(s)
                    elif s.dtype.differentiable:
                        tape.watch(s)
                outputs = run(sources)
            finally:
                tape.stop()
        record = np.empty((), object)
        record[()] = tape, sources, outputs
        return (*[o.value for o in outputs], record)

    operation.op.kernel = kernel
    saved = SymbolicTensor(operation, count, variant, TensorShape([]))
    operation.outputs.append(saved)
    operation.op.saved = saved
    return saved


def has_gradient(tensor: Any) -> bool:
    """Whether an input of an operation may have a gradient: a variable's handle has that of the variable."""
    return tensor.dtype.differentiable or variable_of(tensor) is not None


def _value(gradient: Any, source: Any) -> Any:
    """The raw value of a gradient; zeros where there is none."""
    if gradient is None:
        return zeros_like_value(source).value
    return dense(gradient).value
