"""The functions of a SavedModel: traces built from its library, and callables that choose among them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from tapeflow.autodiff.registered_gradients import new_name, with_gradient
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.spec_proto import from_proto
from tapeflow.core.values import nest
from tapeflow.core.values.nest_paths import flatten_up_to
from tapeflow.core.values.tensor import Tensor, next_id
from tapeflow.core.values.variable import Variable
from tapeflow.function import Function
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Options
from tapeflow.function.signature import FunctionType, Signature, is_tensor_spec, spec_of
from tapeflow.graph.graphdef.calls import check_calls
from tapeflow.graph.graphdef.export import GRADIENT_NAME
from tapeflow.graph.graphdef.import_graph import Builder
from tapeflow.graph.graphdef.node_protos import ParsedNode, function_of
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import Operation
from tapeflow.saved_model.asset import Asset
from tapeflow.saved_model.messages import signature_of
from tapeflow.saved_model.objects import CapturedTensor, RestoredTable
from tapeflow.tracking.resources import SavedResource


class Library:
    """The functions of a SavedModel, built on demand.

    Args:
        graph_def: has their definitions.
        concrete_functions: `SavedConcreteFunction` messages by name.
        objects: the loaded objects by their numbers, complete before a function is built.
    """

    def __init__(self, graph_def: Any, concrete_functions: Mapping[str, Any], objects: Mapping[int, Any]) -> None:
        own = {gradient.registered_op_type for gradient in graph_def.library.registered_gradients}
        scope = next_id()
        for definition in graph_def.library.function:
            _forget_gradients(definition, own)
            for node in definition.node_def:
                if "shared_name" in node.attr and node.attr["shared_name"].s:  # each load has its own tables
                    node.attr["shared_name"].s += f"_{scope}".encode()
        self._definitions = {f.signature.name: f for f in graph_def.library.function}
        check_calls(self._definitions, self._definitions)
        self._saved = concrete_functions
        self._objects = objects
        self._traces: dict[str, ConcreteFunction] = {}
        self._gradients = {
            gradient.registered_op_type: partial(self._set_gradient, gradient.gradient_func, new_name())
            for gradient in graph_def.library.registered_gradients
        }

    def input_signature(self, name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the specs and Python values that a trace takes."""
        args, kwargs = from_proto(self._saved_trace(name).canonicalized_input_signature)
        return tuple(args), dict(kwargs)

    def _saved_trace(self, name: str) -> Any:
        """Returns the `SavedConcreteFunction` message of a trace.

        Raises:
            OSError: the SavedModel has no such function.
        """
        if name not in self._saved or name not in self._definitions:
            raise OSError(f"The SavedModel is damaged: it has no function {name!r}.")
        return self._saved[name]

    def concrete(self, name: str, signature: inspect.Signature) -> ConcreteFunction:
        """Returns a trace, of a function with these parameters.

        Raises:
            UnimplementedError, NotFoundError: it has an op that is not here.
            ValueError: its definition contradicts itself.
        """
        if name not in self._traces:
            self._traces[name] = self._concrete(name, signature)
        return self._traces[name]

    def _concrete(self, name: str, signature: inspect.Signature) -> ConcreteFunction:
        saved, definition = self._saved_trace(name), function_of(self._definitions[name])
        args, kwargs = self.input_signature(name)
        specs = [s for s in nest.flatten((args, kwargs), expand_composites=True) if isinstance(s, TensorSpec)]
        graph = FuncGraph(name.removeprefix("__inference_"))
        builder = Builder(graph, self._definitions)
        builder.open, builder.gradients = (name,), self._gradients
        with graph.as_default():
            tensors = [graph.input(s, s.name or "input") for s in specs]
            for number in saved.bound_inputs:
                bound = self._objects[number]
                if isinstance(bound, CapturedTensor):
                    tensors.append(graph.input(TensorSpec(None, definition.dtypes[len(tensors)]), "captured"))
                    continue
                if isinstance(bound, Asset):
                    bound = bound.asset_path
                elif isinstance(bound, (RestoredTable, SavedResource)):
                    bound = bound.resource_handle
                if not hasattr(bound, "_id"):
                    raise OSError(f"The SavedModel is damaged: {name!r} captures object {number}, which is no tensor.")
                tensors.append(graph.capture_variable(bound) if isinstance(bound, Variable) else graph.capture(bound))
            if [t.dtype for t in tensors] != definition.dtypes:
                raise ValueError(
                    f"The function {name!r} takes tensors of dtypes {[d.name for d in definition.dtypes]}, and not of "
                    f"{[t.dtype.name for t in tensors]} as the objects of the SavedModel say. Functions that take "
                    "iterators, as layers' adapt() calls, can't be loaded from older versions of TensorFlow."
                )
            builder.values.update((a, [t]) for a, t in zip(definition.arguments, tensors, strict=True))
            builder.operations.update((a, t.op) for a, t in zip(definition.arguments, tensors, strict=True))
            builder.add_function(definition)
            result = ParsedNode("result", "", [], [], {})
            outputs = iter([graph.as_output(builder.tensor(result, o), name) for o in definition.outputs])
            structure = from_proto(saved.output_signature)
            leaves = nest.flatten(structure, expand_composites=True)
            flat = [next(outputs) if isinstance(leaf, TensorSpec) else leaf for leaf in leaves]
            for tensor, leaf in zip(flat, leaves, strict=True):
                if isinstance(leaf, TensorSpec):
                    tensor.set_shape(leaf.shape)
            graph.set_result(nest.pack_sequence_as(structure, flat, expand_composites=True))
        parameters = Signature(_with_signature(name, signature))
        concrete = ConcreteFunction(graph, FunctionType(parameters, args, kwargs, parameters.names(args, kwargs)))
        concrete.saved_outputs = structure
        return concrete

    def _set_gradient(self, name: str, own_name: str, builder: Builder, operation: Operation) -> None:
        """Gives an operation the gradient that is the function of a name, under a name that no other gradient has.

        That function captures tensors of the graph of the operation and of those around it, and takes them as further
        arguments here.
        """
        bound = [self._objects[number] for number in self._saved[name].bound_inputs]

        def gradient(_: Any, *dys: Any) -> list[Any]:
            captured = [_captured_tensor(tensor, builder) for tensor in bound if isinstance(tensor, CapturedTensor)]
            return nest.flatten(self.concrete(name, inspect.Signature()).call_flat([*dys, *captured]))

        operation.op = with_gradient(operation.op, gradient, own_name)


def _forget_gradients(definition: Any, own: set[str]) -> None:
    """Removes the names of gradients that TensorFlow 1.15 and 2.0 wrote for calls of functions: such a call has
    its function's gradient.
    """
    for node in definition.node_def:
        if node.op.endswith("PartitionedCall") and node.attr[GRADIENT_NAME].s.decode() not in own:
            del node.attr[GRADIENT_NAME]


def _captured_tensor(captured: CapturedTensor, builder: Builder) -> Any:
    """Returns the tensor of the function that is built, or of one that is built around it."""
    while builder.around is not None and captured.function != builder.open[-1]:
        builder = builder.around
    return builder.element(captured.name)


def _with_signature(name: str, signature: inspect.Signature) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    function.__name__ = name
    function.__signature__ = signature  # type: ignore[attr-defined]  # `inspect` reads it; the stubs have no such attribute
    return function


def restored_function(name: str, saved: Any, library: Library) -> Function:
    """Returns a `tf.function` that calls the saved trace that fits the arguments.

    Args:
        name: its name.
        saved: a `SavedFunction` message.
        library: has the traces.
    """
    signature = signature_of(saved.function_spec)
    names = list(saved.concrete_functions)

    def restored(*args: Any, **kwargs: Any) -> Any:
        bound = Signature(restored).bind(args, kwargs)
        for converts in (False, True):
            for trace in names:
                fitted = _fit_arguments(library.input_signature(trace), bound, converts)
                if fitted is not None:
                    concrete = library.concrete(trace, signature)
                    return concrete.call_flat(concrete.function_type.tensors(*fitted))
        raise ValueError(_no_match([library.input_signature(n) for n in names], bound))

    restored.__name__ = name
    restored.__signature__ = signature  # type: ignore[attr-defined]  # as above
    specs = from_proto(saved.function_spec.input_signature)
    options = Options(None if specs is None else tuple(specs), autograph=False)
    return RestoredFunction(restored, options, name, traces=[partial(library.concrete, n, signature) for n in names])


class RestoredFunction(Function):
    """A function of a loaded SavedModel: it has the traces that it was saved with, and is saved with them again.

    Args:
        traces: functions that return them.
    """

    def __init__(self, *args: Any, traces: Sequence[Callable[[], ConcreteFunction]]) -> None:
        super().__init__(*args)
        self._saved_traces = traces

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The traces that it was saved with."""
        return [trace() for trace in self._saved_traces]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, ConcreteFunction]:
        children = {}
        for i, trace in enumerate(self._saved_traces):
            try:
                children[f"trace_{i}"] = trace()
            except ValueError as error:  # one that takes an iterator as former versions of TensorFlow passed it
                get_logger().warning("Function %r is saved without one of its traces: %s", self._name, error)
        return children


def _fit_arguments(expected: Any, bound: Any, converts: bool) -> Any:
    """Returns the arguments, as a trace for `expected` takes them, or None if it does not."""
    try:
        if not converts:
            nest.assert_same_structure(expected, bound)
        values = flatten_up_to(expected, bound, check_types=False)
        leaves = [_fitted_leaf(s, v, converts) for s, v in zip(nest.flatten(expected), values, strict=True)]
    except (ValueError, TypeError):
        return None
    return nest.pack_sequence_as(expected, leaves)


def _fitted_leaf(spec: Any, value: Any, converts: bool) -> Any:
    """Returns an argument in the form that its spec requires.

    Raises:
        ValueError, TypeError: it does not fit.
    """
    if isinstance(spec, TensorSpec) and converts and not isinstance(value, Tensor):
        value = convert(value, spec.dtype)
    actual = spec_of(value)
    if is_tensor_spec(spec):
        if not is_tensor_spec(actual) or not spec.is_compatible_with(actual):
            raise ValueError(f"{value!r} does not fit {spec!r}")
    elif type(spec) is not type(value) or spec != value:
        raise ValueError(f"{value!r} is not {spec!r}")
    return value


def _no_match(expected: Sequence[Any], bound: Any) -> str:
    if not expected:
        return "Found zero restored functions for caller function."

    def shown(args: Any, kwargs: Any) -> str:
        lines = [f"  Positional arguments ({len(args)} total):", *(f"    * {a}" for a in args)]
        return "\n".join([*lines, f"  Keyword arguments: {kwargs}"])

    options = "\n\n".join(f"Option {i}:\n{shown(*e)}" for i, e in enumerate(expected, 1))
    return (
        f"Could not find matching concrete function to call loaded from the SavedModel. Got:\n{shown(*bound)}\n\n "
        f"Expected these arguments to match one of the following {len(expected)} option(s):\n\n{options}"
    )


class SignatureMap(Mapping[str, ConcreteFunction]):
    """The signatures of a loaded SavedModel: functions that take tensors by name, and return dicts of tensors."""

    def __init__(self, names: Mapping[str, Any], library: Library) -> None:
        self._names, self._library = names, library

    def __getitem__(self, key: str) -> ConcreteFunction:
        return bare_function(self._names[key], self._library)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"_SignatureMap({dict(self)})"


def bare_function(saved: Any, library: Library) -> ConcreteFunction:
    """Returns the trace that a `SavedBareConcreteFunction` message stands for."""
    positional = saved.allowed_positional_arguments
    if saved.HasField("function_spec"):
        concrete = library.concrete(saved.concrete_function_name, signature_of(saved.function_spec))
        concrete.binding.limit_positional(positional)
        return concrete
    kinds = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = enumerate(saved.argument_keywords)
    parameters = [inspect.Parameter(name, kinds[number < positional]) for number, name in names]
    return library.concrete(saved.concrete_function_name, inspect.Signature(parameters))
