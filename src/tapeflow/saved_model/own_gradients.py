"""Gradients that a program defines, as functions in a SavedModel. Its other functions refer to them."""

from __future__ import annotations

from typing import Any

from tapeflow.core.autodiff.tape import Call, describe
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.signature import FunctionType, Signature
from tapeflow.graph.graphdef.export import ExportedGradient
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import Operation


def traced_gradient(own: ExportedGradient) -> ConcreteFunction:
    """Returns the gradient of an operation as a function of the cotangents of the outputs that its node has.

    The function captures tensors of the graph of the operation, and of those around it.

    Args:
        own: the operation.

    Raises:
        ValueError: the gradient can't be computed without the values of its cotangents.
    """
    operation = own.operation
    graph = _GradientGraph("internal_grad_fn")
    graph.names_results, graph.around = True, operation.graph
    outputs = operation.inputs if operation.type == "IdentityN" else operation.outputs
    specs = {f"result_grads_{i}": TensorSpec(t.shape, t.dtype) for i, t in enumerate(outputs)}
    cotangents = [graph.input(spec, name) for name, spec in specs.items()]
    try:
        graph.trace(_registered_gradient, (operation, *cotangents[: len(operation.outputs)]), {})
    except Exception as error:
        raise ValueError(
            "Error when tracing gradients for SavedModel.\n\nCheck the error log to see the error that was raised when "
            "converting a gradient function to a concrete function. You may need to update the custom gradient, or "
            "disable saving gradients with the option tf.saved_model.SaveOptions(experimental_custom_gradients=False)"
            f".\n\tProblematic op name: {operation.name}\n\tGradient inputs: {operation.inputs}"
        ) from error
    return ConcreteFunction(graph, FunctionType(_SIGNATURE, (None, *specs.values()), {}, ["unused_op", *specs]))


def _internal_grad_fn(unused_op: Any, *result_grads: Any) -> None:
    """Has the parameters of these functions."""


_SIGNATURE = Signature(_internal_grad_fn)


def _registered_gradient(operation: Operation, *dys: Any) -> list[Any]:
    inputs, outputs = operation.tensor_inputs, operation.outputs
    call = Call(operation.op, operation.statics, [t._id for t in inputs], outputs[0]._id, [True] * len(inputs))
    describe(call, inputs, outputs)
    return operation.op.gradient(call, *dys)


class _GradientGraph(FuncGraph):
    """The graph of a gradient. It captures tensors of outer graphs directly, and adds no captures to these graphs."""

    def _from_other_graph(self, tensor: SymbolicTensor, scope: str) -> SymbolicTensor:
        captured = self._captured.get(tensor._id)
        if captured is not None:
            return captured
        inner = self._capture_as(tensor, tensor._id, tensor.dtype, tensor.shape, tensor.op.name)
        inner._id = tensor._id
        return inner
