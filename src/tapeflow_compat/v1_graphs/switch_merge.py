"""Control flow of TensorFlow 1: `Switch`, `Merge`, `Enter`, `Exit` and `NextIteration`.

Sessions execute graphs with these operations one by one (`v1_graphs/frames.py`), if they can't be expressed by `If` and
`While`. The gradients in TensorFlow 1's training graphs can't.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow.array.creation import zeros_like_op
from tapeflow.core import errors
from tapeflow.core.autodiff.tape import Call, Tape, describe
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int32, resource
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, Operation, variable_of
from tapeflow.graph.transform.body import Body, gradients_of_inputs
from tapeflow.math.comparison import equal


class ControlFlowOp(GraphOp):
    """An op of TensorFlow 1's conditionals and loops.

    Args:
        name: the op.
        attrs: the attrs of the node.
        loop: for the end of a loop, returns the tensors that enter the loop, and a body that computes the loop's result
            from them, or None if the loop can't run again.
    """

    def __init__(
        self, name: str, attrs: dict[str, Any], loop: Callable[[], tuple[list[Any], Any]] | None = None
    ) -> None:
        self.loop = loop
        gradients = {"Switch": _gradient_of_switch, "Merge": _gradient_of_merge}
        gradient = gradients.get(name, self.no_gradient)
        super().__init__(name, self.no_kernel, attrs=attrs, gradient=gradient, gives_tuple=True)

    def recorded(self, tape: Tape, operation: Operation) -> None:
        """Records a loop as `While`, and control flow of a variable's handle like control flow of its value."""
        inputs, outputs = operation.inputs, operation.outputs
        if self.loop is not None:
            entering, body = self.loop()
            gradient = self.no_gradient if body is None else functools.partial(_gradient_of_loop, body)
            tape.record(GraphOp("While", gradient=gradient), entering, (), outputs)
        elif variable_of(outputs[0]) is None:
            tape.record(self, inputs, (), outputs)
        elif not tape.watched.isdisjoint(input_ids := [t._id for t in inputs]):
            output_ids = [t._id for t in outputs]
            call = Call(self, (), input_ids, output_ids[0] if len(outputs) == 1 else 0,
                        [i in tape.watched for i in input_ids])  # fmt: skip
            describe(call, inputs, outputs)
            call.output_ids = output_ids
            tape.watched.update(output_ids)
            tape.calls.append(call)

    def no_kernel(self, *_: Any) -> Any:
        """Raises the error for a function that runs the operation as any other: it has no order of arrival.

        Raises:
            UnimplementedError: always.
        """
        raise errors.UnimplementedError.of(
            f"{self.name} of TensorFlow 1 runs in a tf.Graph and in tf.compat.v1.wrap_function, but not in a "
            "tf.function: use tf.cond or tf.while_loop there."
        )

    @staticmethod
    def no_gradient(call: Call, *dys: Any) -> Any:
        """Raises the error for a gradient.

        Raises:
            UnimplementedError: always.
        """
        operation = call.outputs[0].op
        raise errors.UnimplementedError.of(
            f"Node '{operation.name}' of op {operation.type} is control flow of TensorFlow 1 that can't be expressed "
            "by If and While, and has no gradient. If the graph has a training operation, run that; or load the model "
            "with tf.saved_model.load and differentiate its signatures."
        )


def _gradient_of_loop(body: Body, call: Call, dy: Tensor) -> list[Any]:
    """Returns the gradients of a loop's inputs. The loop runs again as a `While`."""
    return gradients_of_inputs(body.call(call.inputs)[0].op, [dy])


def _gradient_of_switch(call: Call, *dys: Any) -> list[Any]:
    """Returns the gradient from the taken branch, or zeros if that branch has no gradient."""
    arriving = [_zeros_like(t) if dy is None else dy for t, dy in zip(call.outputs, dys, strict=True)]
    attrs = {"T": arriving[0].dtype, "N": 2}
    shape = arriving[0].shape.most_specific_compatible_shape(arriving[1].shape)
    specs = [(arriving[0].dtype, shape), (int32, [])]
    return [state.graph.node(ControlFlowOp("Merge", attrs), arriving, specs).outputs[0], None]


def _zeros_like(tensor: SymbolicTensor) -> Any:
    """Returns zeros like a tensor, or like the value of a variable's handle. The result is dead if the tensor is."""
    if tensor.dtype is not resource:
        return zeros_like_op(tensor)
    variable = variable_of(tensor)
    name = state.graph.unique_name("ReadVariableOp")
    return zeros_like_op(state.graph.insert_tensor(READ, name, (tensor,), variable.dtype, variable.shape))


def _gradient_of_merge(call: Call, dy: Tensor, *_: Any) -> list[Any]:
    """Returns the gradients of both inputs. The gradient of the input that was not taken is dead."""
    if len(call.inputs) != 2 or any(t.op.type in ("Enter", "NextIteration") for t in call.inputs):
        return ControlFlowOp.no_gradient(call, dy)
    second = equal(call.outputs[1], convert(1, int32))
    specs = [(dy.dtype, dy.shape)] * 2
    return list(state.graph.node(ControlFlowOp("Switch", {"T": dy.dtype}), [dy, second], specs).outputs)
