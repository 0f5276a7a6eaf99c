"""Concrete functions with constants in the place of their variables."""

from __future__ import annotations

from typing import Any

from tapeflow.array.protos import make_tensor_proto
from tapeflow.core.types.dtypes import resource, variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import Variable
from tapeflow.function.concrete import ConcreteFunction
from tapeflow_compat.compat.v1.freezing import freeze
from tapeflow_compat.compat.v1.wrapping import WrappedFunction, function_from_graph_def


def convert_variables_to_constants_v2(
    func: ConcreteFunction, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> WrappedFunction:
    """Returns a function of the same inputs, with the values that its variables have now as constants.

    Functions that it calls become parts of its graph. What changes a variable can't be converted.

    Args:
        func: the function.
        lower_control_flow: accepted, and without effect: `If` and `While` stay.
        aggressive_inlining: accepted, and without effect: all calls are inlined.

    Returns:
        A function that takes the inputs, and returns the list of the outputs.

    Raises:
        ValueError: the function changes a variable.

    Example:
        >>> from tapeflow.tensorflow_python.convert_to_constants import convert_variables_to_constants_v2
        >>> v = tf.Variable(3.0)
        >>> f = tf.function(lambda x: x * v).get_concrete_function(tf.TensorSpec([], tf.float32))
        >>> frozen = convert_variables_to_constants_v2(f)
        >>> _ = v.assign(5.0)
        >>> frozen(tf.constant(2.0))[0].numpy().item(), [n.op for n in frozen.graph.as_graph_def().node]
        (6.0, ['Placeholder', 'Const', 'Identity', 'Mul', 'Identity'])
    """
    return convert_variables_to_constants_v2_as_graph(func, lower_control_flow, aggressive_inlining)[0]


def convert_variables_to_constants_v2_as_graph(
    func: ConcreteFunction, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> tuple[WrappedFunction, Any]:
    """Returns what `convert_variables_to_constants_v2` does, and its `GraphDef`.

    Raises:
        ValueError: the function changes a variable.
    """
    values, others = {}, {}
    for outer, inner in func.graph.captures:
        value = outer.read_value() if isinstance(outer, Variable) else outer
        if isinstance(value, SymbolicTensor) or value.dtype in (resource, variant):
            others[inner.name] = outer
        else:
            values[inner.op.name] = make_tensor_proto(value.numpy(), value.dtype)
    inputs = [t.name for t in func.inputs if t.op.name not in values and t.name not in others]
    graph_def = freeze(func.graph.as_graph_def(), values, inline=True)
    frozen = function_from_graph_def(graph_def, inputs, [t.name for t in func.outputs], others)
    return frozen, frozen.graph.as_graph_def()
