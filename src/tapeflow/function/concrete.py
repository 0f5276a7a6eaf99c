"""A concrete function: one trace of a `tf.function`, for one kind of input."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.context import graph_traces, listeners, state
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.function.binding import Binding
from tapeflow.function.signature import FunctionType
from tapeflow.graph.backends.cuda_graphs import CudaGraphs, explanation
from tapeflow.graph.backends.inductor import JitCompile
from tapeflow.graph.codegen.compile import eager_outputs
from tapeflow.graph.control.body import Body, raw
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.tensor_array import TensorArray

_numbers = itertools.count(1)


class ConcreteFunction:
    """A traced function for inputs of fixed dtypes and shapes.

    Example:
        >>> f = tf.function(lambda x: x * 2)
        >>> double = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
        >>> double(tf.constant([1.0, 2.0])).numpy().tolist()
        [2.0, 4.0]
    """

    def __init__(
        self,
        graph: FuncGraph,
        function_type: FunctionType,
        jit: JitCompile | None = None,
        capturing: CudaGraphs | None = None,
    ) -> None:
        self.body = Body(graph, jit, capturing)
        self.graph = graph
        self.function_type = function_type
        self._captured = graph.external_captures
        self._captured_raw = tuple([raw(c) for c in self._captured])
        self._number = next(_numbers)
        # What it captures of a graph around it is there only while that graph is built.
        symbolic = any(isinstance(c, SymbolicTensor) for c in self._captured)
        self._around = weakref.ref(graph.around) if symbolic and graph.around is not None else None
        self._pack = _packer(graph)
        self._binding = Binding(function_type, graph, self.name.decode(), self._short)

    # ---- calling -------------------------------------------------------------------------------------------------

    def call_flat(self, tensors: Sequence[Any]) -> Any:
        """Calls it with the tensors of its arguments, in order."""
        for trace in graph_traces:
            trace.collect(self.graph)
        if not listeners or (state.graph is None and not state.tapes):
            compiled = self.body.compiled
            values = compiled(*[t.value for t in tensors], *self._captured_raw)
            return self._pack(eager_outputs(values, self.body.outputs))
        return self._pack(self.body.call([*tensors, *self._captured]))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it with arguments of the signature that it was traced for, or with the tensors in them alone, in their
        order or by name. Of tensors alone the shapes may be others, as long as the operations can take them.

        Raises:
            InvalidArgumentError: a tensor has another dtype.
            TypeError: the arguments are neither.
        """
        return self.call_flat(self._binding.tensors(args, kwargs))

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Does nothing: a graph has the functions that are called in it, and `as_graph_def` writes them out.

        Args:
            g, overwrite: accepted.
        """

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Does nothing: a graph that needs a gradient has it written into it.

        Args:
            g: accepted.
        """

    def usable(self) -> bool:
        """Whether what it captures can be had where it is called now."""
        return self._around is None or self._around() is state.graph

    # ---- what it is ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> bytes:
        """The name under which a graph calls it."""
        return f"__inference_{self.graph.name}_{self._number}".encode()

    @property
    def inputs(self) -> list[SymbolicTensor]:
        """The symbolic tensors of its arguments and captures."""
        return list(self.body.inputs)

    @property
    def outputs(self) -> list[SymbolicTensor]:
        """The symbolic tensors that it gives."""
        return list(self.body.outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        """What it captures: eager tensors, and the handles of variables."""
        return [c if isinstance(c, Tensor) else c.handle for c in self._captured]

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that it uses."""
        return self.graph.variables

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of them that are trainable."""
        return self.graph.trainable_variables

    @property
    def structured_input_signature(self) -> Any:
        """The specs of the positional arguments, and of the keyword arguments."""
        return self.function_type.structured_input_signature

    @property
    def structured_outputs(self) -> Any:
        """What it gives: its symbolic tensors, in the structure of what the Python function gave."""
        return self.graph.structured_outputs

    @property
    def _output_specs(self) -> Any:
        """What it gives, with specs for tensors and what is made of tensors."""

        def spec(value: Any) -> Any:
            return value._type_spec if isinstance(value, (SymbolicTensor, CompositeTensor)) else value

        return nest.map_structure(spec, self.graph.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what it gives; of what is made of tensors, a list of those of its tensors."""
        return self._of_components(lambda t: getattr(t, "dtype", None))

    @property
    def output_shapes(self) -> Any:
        """The shapes of what it gives; of what is made of tensors, a list of those of its tensors."""
        return self._of_components(lambda t: getattr(t, "shape", TensorShape(None)))

    def _of_components(self, function: Callable[[Any], Any]) -> Any:
        def found(value: Any) -> Any:
            if isinstance(value, CompositeTensor) and not isinstance(value, TensorArray):
                return [function(t) for t in nest.flatten(value, expand_composites=True)]
            return function(value)

        return nest.map_structure(found, self.graph.structured_outputs)

    @property
    def function_def(self) -> Any:
        """The function as a `FunctionDef` proto.

        Example:
            >>> f = tf.function(lambda x: x * x).get_concrete_function(tf.TensorSpec([2], tf.float32))
            >>> [(node.name, node.op) for node in f.function_def.node_def]
            [('mul', 'Mul'), ('Identity', 'Identity')]
        """
        from tapeflow.graph.graphdef.export import FunctionWriter  # it loads TensorFlow's protocol buffers

        writer = FunctionWriter()
        name = self.name.decode()
        writer.add(name, self.body)
        return writer.library[name]

    def source(self) -> str:
        """The Python function that runs when this one is called.

        Example:
            >>> f = tf.function(lambda x: x * x).get_concrete_function(tf.TensorSpec([2], tf.float32))
            >>> "Mul(" in f.source()
            True
        """
        return self.body.compiled.source

    def explain_cuda_graph(self) -> str:
        """Whether calls replay a CUDA graph, and if not, what stands in the way. See `tf.function`.

        Example:
            >>> f = tf.function(lambda x: tf.where(x > 0)).get_concrete_function(tf.TensorSpec([2], tf.float32))
            >>> "Where gives a tensor whose shape, (None, 1), only its run can tell" in f.explain_cuda_graph()
            True
        """
        return explanation(self.body.compiled, self.body.jit is not None)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The parameters and what they take, for people."""
        return self.function_type.described(self._output_specs, self.graph) if verbose else self._short()

    def _short(self) -> str:
        return self.function_type.short(self._output_specs)

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self._short()} at 0x{id(self):X}>"


def _packer(graph: FuncGraph) -> Any:
    """A function from the flat outputs to the structure that the Python function gave."""
    structure = graph.structured_outputs
    if isinstance(structure, SymbolicTensor):
        return lambda values: values[0]
    if structure is None:
        return lambda values: None
    leaves = nest.flatten(structure, expand_composites=True)

    def pack(values: Sequence[Any]) -> Any:
        given = iter(values)
        filled = [next(given) if isinstance(leaf, SymbolicTensor) else None for leaf in leaves]
        return nest.pack_sequence_as(structure, filled, expand_composites=True)

    return pack
