"""Gradients of conditionals.

A differentiated conditional runs under a tape of its own, and returns this tape as one more output; the gradient is an
operation that asks the tape. So only the branch that ran is differentiated.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.autodiff.gradients import zeros_like_value
from tapeflow.core.autodiff.tape import Tape, dense
from tapeflow.core.context import state
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.control.body import outside_of
from tapeflow.graph.ir.operation import GradientOf, GraphOp, Operation, Residuals, variable_of
from tapeflow.graph.ir.python_op import as_eager, executing_eagerly, spec_of_gradient

Run = Callable[[Sequence[Any]], list[Any]]


def taped_gradient(run: Run) -> Callable[..., Any]:
    """Returns the gradient function of an operation whose kernel computes eagerly what `run` does.

    Args:
        run: takes a list of tensors and variables, and returns a list of tensors, with ops that tapes record.
    """

    def gradient(call: Any, *dys: Any) -> list[Any]:
        operation = call.outputs[0].op
        residuals = _with_tape(operation, run)
        targets = [i for i, dy in enumerate(dys[: residuals.output.value_index]) if dy is not None]
        sources = [i for i, w in enumerate(call.wanted) if w and has_gradient(call.inputs[i])]
        if not sources or not targets:
            return [None] * len(call.wanted)

        outside = _outside(operation)

        def kernel(record: Any, *values: Any) -> Any:
            tape, primals, outputs = record[()]
            last = values[len(values) - len(outside) :]
            captured = {id(t): as_eager(v, t.dtype) for t, v in zip(outside, last, strict=True)}
            for recorded in tape.calls:  # of one call, that of the branch
                recorded.op.outside = captured
            with executing_eagerly():
                cotangents = [EagerTensor(v, outputs[i].dtype) for v, i in zip(values, targets, strict=False)]
                grads = tape.gradients([outputs[i] for i in targets], [primals[i] for i in sources], cotangents)
                return tuple([_value(g, primals[i]) for g, i in zip(grads, sources, strict=True)])

        inputs = list(call.inputs)
        cotangents = [dys[i] for i in targets]

        def second_gradient(call: Any, *ddys: Any) -> list[Any]:
            cotangents, inputs = call.inputs[1 : 1 + len(targets)], call.inputs[1 + len(targets) :]
            return _second_order().conditional_second_gradient(gradient_of, cotangents, inputs, ddys)

        gradient_of = GradientOf(operation, targets, sources, outside=outside)
        op = GraphOp(
            f"{operation.type}Grad", kernel, gradient=second_gradient, gives_tuple=True, gradient_of=gradient_of
        )
        residuals.targets.append(targets)
        specs = [spec_of_gradient(inputs[i]) for i in sources]
        captured = map(state.graph.capture, outside)
        backward = state.graph.node(op, [residuals.output, *cotangents, *inputs, *captured], specs)
        grads = dict(zip(sources, backward.outputs, strict=True))
        return [grads.get(i) for i in range(len(inputs))]

    return gradient


def _outside(operation: Operation) -> list[Any]:
    """Returns what the backward functions of a conditional's branches capture from outside of the branches' graphs."""
    bodies = [body.differentiable for body in operation.op.bodies.values() if body.defines_gradients]
    backwards = [body.backward(body.outputs, tuple(o.dtype.differentiable for o in body.outputs)) for body in bodies]
    return list({id(t): t for backward in backwards for t in outside_of(backward)}.values())


def _second_order() -> Any:
    from tapeflow.graph.gradients import second_order

    return second_order


def _with_tape(operation: Operation, run: Run) -> Residuals:
    """Returns the residuals of an operation: its tape, with which it runs from now on if it did not before."""
    if operation.residuals is not None:
        return operation.residuals
    dtypes = [t.dtype for t in operation.args]

    def kernel(*values: Any) -> Any:
        with executing_eagerly():
            primals = [as_eager(v, d) for v, d in zip(values, dtypes, strict=True)]
            tape = Tape(persistent=True, watch_accessed=False)
            tape.start()
            try:
                for primal in primals:
                    if hasattr(primal, "_read"):
                        tape.watch_variable(primal)
                    elif primal.dtype.differentiable:
                        tape.watch(primal)
                outputs = run(primals)
            finally:
                tape.stop()
        record = np.empty((), object)
        record[()] = tape, primals, outputs
        return (*[o.value for o in outputs], record)

    op = copy.copy(operation.op)
    op.kernel, op.bodies = kernel, {label: body.differentiable for label, body in op.bodies.items()}
    operation.residuals = Residuals(operation.also_return(op, variant, TensorShape([])), [])
    return operation.residuals


def has_gradient(tensor: Any) -> bool:
    """Returns True for an input that may have a gradient: a variable's handle has the gradient of the variable."""
    return tensor.dtype.differentiable or variable_of(tensor) is not None


def _value(gradient: Any, primal: Any) -> Any:
    """Returns the raw value of a gradient, or zeros for None."""
    if gradient is None:
        return zeros_like_value(primal).value
    return dense(gradient).value
