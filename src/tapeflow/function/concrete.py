"""A concrete function: one trace of a `tf.function`, for inputs of one type."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.control.tensor_array import TensorArray
from tapeflow.core.context import graph_traces, listeners, state
from tapeflow.core.tracebacks import filter_traceback
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.function.atomic import AtomicFunction
from tapeflow.function.bound_arguments import Binding
from tapeflow.function.signature import FunctionType, named_specs
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.python_op import as_eager, eager_outputs
from tapeflow.graph.transform.body import Body, raw

if TYPE_CHECKING:
    from tapeflow.ragged.tensor import RaggedTensor

_numbers = itertools.count(1)


class ConcreteFunction:
    """A traced function for inputs of fixed dtypes and shapes.

    Attributes:
        key: the key of the trace in its `tf.function`.
        around: a weak reference to the graph whose tensors it captures, or None.
        binding: the arguments that it accepts.
        saved_outputs: the specs of its results in the file that it was loaded from, or None.

    Example:
        >>> f = tf.function(lambda x: x * 2)
        >>> double = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
        >>> double(tf.constant([1.0, 2.0])).numpy().tolist()
        [2.0, 4.0]
    """

    key: Any = None
    saved_outputs: Any = None

    def __init__(self, graph: FuncGraph, function_type: FunctionType) -> None:
        self.body = Body(graph)
        self.graph = graph
        self.function_type = function_type
        self._captured = graph.external_captures
        self._captured_raw = tuple([raw(c) for c in self._captured])
        self._number = next(_numbers)
        graph.inference_name = self.name.decode()
        # Captured tensors of a graph around it exist only while that graph is built.
        symbolic = any(isinstance(c, SymbolicTensor) for c in self._captured)
        self.around = weakref.ref(graph.around) if symbolic and graph.around is not None else None
        self._pack = graph.result_packer()
        self._wrap = _result_wrapper(graph, self._pack)
        self.binding = Binding(function_type, graph, self.name.decode(), self._short)

    # ---- calling -----------------------------------------------------------------------------------------------------

    def call_flat(self, tensors: Sequence[Any]) -> Any:
        """Calls it with the tensors of its arguments, in order."""
        for trace in graph_traces:
            trace.collect(self.graph)
        if not listeners or (state.graph is None and not state.tapes):
            compiled = self.body.compiled
            values = compiled(*[t.value for t in tensors], *self._captured_raw)
            return self._wrap(values)
        return self._pack(self.body.call([*tensors, *self._captured]))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it with arguments of the traced signature, or with the tensors alone, by position or by name.

        In the second case, shapes may differ from the traced ones, as far as the operations accept them.

        Returns:
            Tensors in the structure of the Python function's result.

        Raises:
            InvalidArgumentError: a tensor has another dtype.
            TypeError: the arguments are neither.
        """
        try:
            return self.call_flat(self.binding.tensors(args, kwargs))
        except Exception as error:
            filter_traceback(error)
            raise

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Does nothing: a graph contains the functions that it calls, and `as_graph_def` writes them out.

        Args:
            g, overwrite: accepted.
        """

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Does nothing: gradients are written into the graphs that need them.

        Args:
            g: accepted.
        """

    def usable(self) -> bool:
        """Tests whether the tensors that it captures exist where it is called now."""
        return self.around is None or self.around() is state.graph

    # ---- properties --------------------------------------------------------------------------------------------------

    @property
    def name(self) -> bytes:
        """The name under which a graph calls it."""
        return f"__inference_{self.graph.name}_{self._number}".encode()

    @property
    def inference_fn(self) -> AtomicFunction:
        """The function of flat tensors, those that it captures included."""
        return AtomicFunction(self)

    @property
    def inputs(self) -> list[SymbolicTensor]:
        """The symbolic tensors of its arguments and captures."""
        return [*self.graph.inputs, *self.graph.internal_captures]

    @property
    def outputs(self) -> list[SymbolicTensor]:
        """The symbolic tensors of its results."""
        return list(self.graph.outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        """The captured eager tensors, and the handles of captured variables."""
        return [c if isinstance(c, Tensor) else c.handle for c in self._captured]

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that it uses."""
        return self.graph.variables

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable variables that it uses."""
        return self.graph.trainable_variables

    @property
    def structured_input_signature(self) -> Any:
        """The specs of the positional arguments, and of the keyword arguments."""
        return self.function_type.structured_input_signature

    @property
    def structured_outputs(self) -> Any:
        """The symbolic tensors of its results, in the structure of the Python function's result.

        A function from a file has their specs.
        """
        return self.graph.structured_outputs if self.saved_outputs is None else self.saved_outputs

    @property
    def _output_specs(self) -> Any:
        """The structure of its results, with specs for tensors and composite tensors."""

        def spec(value: Tensor) -> Any:
            return value._type_spec if isinstance(value, (SymbolicTensor, CompositeTensor)) else value

        return nest.map_structure(spec, self.graph.structured_outputs)

    @property
    def named_output_specs(self) -> Any:
        """The structure of its results with specs that have names, as files have them."""
        specs = self._output_specs
        if isinstance(specs, dict):
            return {key: named_specs(str(key), spec) for key, spec in specs.items()}
        return named_specs("unknown" if isinstance(specs, TensorSpec) else "tensor", specs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of its results; of a composite tensor, a list of the dtypes of its components."""
        return self._of_components(lambda t: getattr(t, "dtype", None))

    @property
    def output_shapes(self) -> Any:
        """The shapes of its results; of a composite tensor, a list of the shapes of its components."""
        return self._of_components(lambda t: getattr(t, "shape", TensorShape(None)))

    def _of_components(self, function: Callable[[Any], Any]) -> Any:
        def apply(value: RaggedTensor | Tensor | None) -> Any:
            if isinstance(value, CompositeTensor) and not isinstance(value, TensorArray):
                return [function(t) for t in nest.flatten(value, expand_composites=True)]
            return function(value)

        return nest.map_structure(apply, self.graph.structured_outputs)

    @property
    def function_def(self) -> Any:
        """The function as a `FunctionDef` protocol buffer.

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

    def source(self, kernels: bool = False) -> str:
        """Returns the source of the Python function that computes the graph.

        Args:
            kernels: adds its compiled loops, in LLVM's language.

        Example:
            >>> f = tf.function(lambda x: x * x).get_concrete_function(tf.TensorSpec([2], tf.float32))
            >>> "Mul(" in f.source()
            True
        """
        compiled = self.body.compiled
        return compiled.source_with_kernels() if kernels else compiled.source

    def explain_rewrites(self) -> str:
        """Says which ops the compiler replaces by faster kernels and loops, and which it nearly did.

        Returns:
            A line with its size for the function and for each loop body and branch, each followed by a line for each
            kind of replacement, and a line with the reason for each near miss.

        Example:
            >>> x = tf.ones([1, 4, 2])
            >>> f = tf.function(lambda x: tf.nn.softmax(tf.matmul(x, x, transpose_b=True)) @ x)
            >>> print(f.get_concrete_function(x).explain_rewrites())
            _lambda_: 3 ops in 1 call
              recognize: 3 ops as Attention
        """
        return self.body.compiled.explain_rewrites()

    def explain_jit_compile(self) -> str:
        """Says what `jit_compile=True` compiles of the function, and which kernels of ATen are called beside that.

        Returns:
            A line for each function, loop body and branch.

        Example:
            >>> f = tf.function(lambda x: x * x).get_concrete_function(tf.TensorSpec([2], tf.float32))
            >>> f.explain_jit_compile()
            'not compiled: it has no jit_compile=True'
        """
        jit = self.body.jit
        return "not compiled: it has no jit_compile=True" if jit is None else jit.explanation()

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Returns the parameters with the types of their arguments, for display.

        Args:
            verbose: adds the results and the captures, on a line each; otherwise all is on one line.
        """
        return self.function_type.described(self._output_specs, self.graph) if verbose else self._short()

    def _short(self) -> str:
        return self.function_type.short(self._output_specs)

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self._short()} at 0x{id(self):X}>"


class FunctionOfVariables(ConcreteFunction):
    """A concrete function with variables among its arguments."""

    def call_flat(self, tensors: Sequence[Any]) -> Any:
        for trace in graph_traces:
            trace.collect(self.graph)
        if not listeners or (state.graph is None and not state.tapes):
            return self._wrap(self.body.compiled(*map(raw, tensors), *self._captured_raw))
        return self._pack(self.body.call([*tensors, *self._captured]))


def _result_wrapper(graph: FuncGraph, pack: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    """Returns a function from raw outputs to eager tensors in the structure of the Python function's result."""
    outputs = graph.outputs
    if not isinstance(graph.structured_outputs, SymbolicTensor):
        return lambda values: pack(eager_outputs(values, outputs))
    dtype = outputs[0].dtype

    def wrap(values: Sequence[Any]) -> Any:  # `eager_outputs` of one
        (value,) = values
        return EagerTensor(value, dtype) if type(value) is torch.Tensor else as_eager(value, dtype)

    return wrap
