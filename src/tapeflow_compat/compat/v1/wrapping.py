"""`tf.compat.v1.wrap_function`: functions that build graphs of TensorFlow 1, called eagerly, whole or in part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.graph.graphdef.import_graph import import_graph_def
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import Operation, reachable
from tapeflow_compat.v1_graphs.frames import Dataflow, dataflow_operation
from tapeflow_compat.v1_graphs.saved_models import type_of_function
from tapeflow_compat.v1_graphs.switch_merge import ControlFlowOp

if TYPE_CHECKING:
    from google.protobuf.message import Message


class _Graph(FuncGraph):
    """A graph whose calls run only the operations that its results need, and none for their effects alone.

    Attributes:
        fetched: operations that a call runs too.
    """

    takes_control_flow = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.fetched: list[Operation] = []

    def effects(self) -> list[Operation]:
        """Returns the operations with effects that results need, and those that were fetched."""
        needed = set(reachable([t.op for t in self.outputs] + self.fetched))
        return [operation for operation in super().effects() if operation in needed]

    def add_part(self, whole: FuncGraph, feeds: Sequence[SymbolicTensor], fetches: Any) -> None:
        """Copies the operations that fetches need from another graph; fed tensors become arguments.

        Args:
            whole: the other graph.
            feeds: tensors of it.
            fetches: a nest of tensors and operations of it.
        """
        targets = nest.flatten(fetches, expand_composites=True)
        wanted = [t.op if isinstance(t, SymbolicTensor) else t for t in targets]
        needed = set(reachable(wanted, {id(t) for t in feeds}))
        tensors = {id(t): self.input(TensorSpec(t.shape, t.dtype), t.op.name) for t in feeds}
        operations: dict[int, Operation] = {}
        with self.as_default():
            for outer, inner in whole.captures:
                if inner.op in needed and id(inner) not in tensors:
                    variable = inner.op.op.attrs.get("variable")
                    same = self.capture(outer) if variable is None else self.capture_variable(variable, inner.op.name)
                    tensors[id(inner)] = same

        if any(isinstance(o.op, ControlFlowOp) for o in needed):
            inputs = [t for t in (*feeds, *whole.internal_captures) if id(t) in tensors]
            computed = [t for t in targets if isinstance(t, SymbolicTensor) and id(t) not in tensors]
            dataflow = Dataflow(inputs, computed, [t for t in targets if isinstance(t, Operation)])
            with self.as_default():
                operation = dataflow_operation(dataflow, [tensors[id(t)] for t in inputs])
            tensors.update(zip(map(id, computed), operation.outputs, strict=True))
            needed, self.fetched = set(), [operation]

        def of_part(value: Any) -> Any:
            if isinstance(value, SymbolicTensor):
                return tensors.get(id(value), value)
            return type(value)([of_part(v) for v in value]) if type(value) in (list, tuple) else value

        for operation in whole.get_operations():
            if operation not in needed or any(id(t) in tensors for t in operation.outputs):
                continue
            name = operation.name if operation.name not in self._by_name else self.unique_name(operation.name)
            copy = self.insert(operation.op, name, [of_part(a) for a in operation.args], operation.types)
            copy.device, copy.position, copy.static = operation.device, operation.position, operation.static
            copy._control_inputs += tuple([operations[id(c)] for c in operation.control_inputs if id(c) in operations])
            operations[id(operation)] = copy
            for tensor in operation.outputs:
                copy.outputs.append(SymbolicTensor(copy, tensor.value_index, tensor.dtype, tensor.shape))
                tensors[id(tensor)] = copy.outputs[-1]
        self.fetched += [operations[id(t)] for t in targets if isinstance(t, Operation) and id(t) in operations]
        self.structured_outputs = nest.map_structure(
            lambda t: None if isinstance(t, Operation) else tensors[id(t)], fetches, expand_composites=True
        )
        self.outputs = [tensors[id(t)] for t in targets if isinstance(t, SymbolicTensor)]


class WrappedFunction(ConcreteFunction):
    """A function that has built a graph: what `wrap_function` returns."""

    graph: _Graph

    def __init__(self, graph: _Graph, names: Sequence[str], signature: Any = None) -> None:
        specs = [TensorSpec(t.shape, t.dtype) for t in graph.inputs] if signature is None else list(signature)
        super().__init__(graph, type_of_function(names, specs))
        self._takes_names = signature is None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it with tensors, or with values that convert to the dtypes of its inputs.

        Raises:
            NotImplementedError: there are arguments by name, of a function that was not pruned.
            ValueError: a tensor has another dtype.
        """
        if self._takes_names:
            return super().__call__(*args, **kwargs)
        if kwargs:
            raise NotImplementedError(
                f"Keyword arguments are not supported when calling a wrap_function-decorated function. Got {kwargs}."
            )
        flat = nest.flatten(list(args), expand_composites=True)
        return self.call_flat([convert(v, t.dtype) for v, t in zip(flat, self.graph.inputs, strict=False)])

    def prune(
        self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None,
        are_keyword_args_also_positional: bool = False,
    ) -> WrappedFunction:  # fmt: skip
        """Returns a function of some tensors of the graph, that computes others.

        Args:
            feeds: a nest of tensors of the graph, or their names: the arguments, in this order or by the names of
                their operations.
            fetches: a nest of tensors and operations, or their names: the results of a call, with None for operations.
            name: of the function.
            input_signature, are_keyword_args_also_positional: accepted, and without effect.

        Raises:
            ValueError: a feed is no tensor, or there is no tensor or operation of a name.
            KeyError: the same.

        Example:
            >>> def build():
            ...     x = tf.compat.v1.placeholder(tf.float32, [], name="x")
            ...     tf.add(x * 2.0, 1.0, name="y")
            >>> f = tf.compat.v1.wrap_function(build, []).prune("x:0", "y:0")
            >>> f(tf.constant(3.0)).numpy().item()
            7.0
        """
        graph = self.graph
        fed = [graph.as_graph_element(t) for t in nest.flatten(feeds, expand_composites=True)]
        for tensor in fed:
            if not isinstance(tensor, SymbolicTensor):
                raise ValueError(
                    f"All members of argument `feeds` must be tensors. Got {tensor} with type {type(tensor)}."
                )
        captured = {id(t) for t in graph.internal_captures}
        fed = [t for t in fed if id(t) not in captured]
        elements = nest.map_structure(
            lambda t: t if isinstance(t, (Operation, Tensor, CompositeTensor)) else graph.as_graph_element(t), fetches
        )
        for element in [*fed, *nest.flatten(elements, expand_composites=True)]:
            if element.graph is not graph:
                raise ValueError(
                    f"Can only prune function whose feeds and fetches from graph {graph}. Input {element} is from a "
                    f"different graph {element.graph}."
                )
        part = _Graph(name or "pruned")
        part.add_part(graph, fed, elements)
        return WrappedFunction(part, [t.op.name for t in fed])


def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> WrappedFunction:
    """Wraps a function that builds a graph of TensorFlow 1 into a function for eager calls.

    It is called once. The variables that it creates are created once, at that time, and belong to the result. A call
    runs the operations that the results need, and operations among the results; nothing else runs for its effects.

    Args:
        fn: takes symbolic tensors, and returns a nest of tensors and operations; it may create variables by
            `tf.compat.v1.get_variable`.
        signature: the specs of its arguments.
        name: a part of the function's name.

    Returns:
        A concrete function with a method `prune`.

    Example:
        >>> def scaled(x):
        ...     w = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.ones_initializer())
        ...     return x * (w + 1.0)
        >>> f = tf.compat.v1.wrap_function(scaled, [tf.TensorSpec([], tf.float32)])
        >>> f(tf.constant(3.0)).numpy().item(), [v.name for v in f.variables]
        (6.0, ['w:0'])
    """
    graph = _Graph("wrapped_function" if name is None else f"wrapped_function_{name}")
    with graph.as_default():
        args = nest.map_structure(lambda spec: graph.input(spec, spec.name or "Placeholder"), list(signature))
    result = graph.trace(fn, args, {})
    graph.fetched = [leaf for leaf in nest.flatten(result, expand_composites=True) if isinstance(leaf, Operation)]
    names = [spec.name or f"tensor_{i}" for i, spec in enumerate(nest.flatten(list(signature)))]
    specs = nest.flatten(list(signature))
    if not graph.has_control_flow:
        return WrappedFunction(graph, names, specs)
    part = _Graph(graph.name)  # one operation of it runs the control flow
    part.add_part(graph, graph.inputs, graph.structured_outputs)
    function = WrappedFunction(part, names, specs)
    function.graph = graph
    return function


def function_from_graph_def(graph_def: Message, inputs: Any, outputs: Any, captures: Any = None) -> WrappedFunction:
    """Returns a function that computes tensors of a graph from others.

    Args:
        graph_def: a `GraphDef`.
        inputs: a nest of the names of tensors: the arguments.
        outputs: a nest of the names of tensors: the results of a call.
        captures: from the names of tensors to tensors or resources that replace them.

    Example:
        >>> with tf.Graph().as_default() as g:
        ...     y = tf.square(tf.compat.v1.placeholder(tf.float32, [], name="x"), name="y")
        >>> from tapeflow.compat.v1.wrapping import function_from_graph_def
        >>> function_from_graph_def(g.as_graph_def(), "x:0", ["y:0"])(tf.constant(3.0))[0].numpy().item()
        9.0
    """

    def build() -> None:
        import_graph_def(graph_def, input_map=captures, name="")

    return wrap_function(build, []).prune(inputs, outputs)
