"""The user's functions of `map`, `filter`, `reduce` and their like, on elements.

Each is traced once, when the dataset is created. Its graph has the spec of the results, and runs for the elements.
Captured tensors and variables are read whenever it runs. Tensors captured from an enclosing function are bound when the
graph of that function runs.
"""

from __future__ import annotations

import copy
import functools
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.autograph.conversion import convert_function
from tapeflow.autograph.source_map import UserCode
from tapeflow.core.context import nobody_listening
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.rng.seeds import own_streams
from tapeflow.core.settings import settings
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element, Packer
from tapeflow.data.threads import running
from tapeflow.data.whole_batches import batches_of
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.transform.body import Body, raw

if TYPE_CHECKING:
    from tapeflow.data.node import Node
    from tapeflow.graph.ir.graph import Graph

debugging: list[bool] = []  # whether `tf.data.experimental.enable_debug_mode` was called: then functions run eagerly


class MappedFunction:
    """A user's function of elements, traced.

    Args:
        function: takes an element as a user sees it; a tuple as several arguments.
        name: the name of the transformation, for messages.
        spec: the spec of the elements, or a tuple of specs for a function of several.

    Attributes:
        output_spec: the spec of the function's results.
        place: tells the nodes of a program's pipeline apart that call the same function: each draws its own random
            numbers. It is 0 in the datasets that functions return.

    Raises:
        ValueError: `function` is not callable.
        TypeError: a result can be no component.
    """

    place = 0

    def __init__(self, function: Callable[..., Any], name: str, spec: Any) -> None:
        if not callable(function):
            raise ValueError(f"Argument `func` must be a callable. Received func={function} (of type {type(function)})")
        if settings.run_functions_eagerly:
            warnings.warn(
                "Even though the `tf.config.experimental_run_functions_eagerly` option is set, this option does not "
                "apply to tf.data functions. To force eager execution of tf.data functions, please use "
                "`tf.data.experimental.enable_debug_mode()`.",
                stacklevel=4,
            )
        self._function: Callable[..., Any] | None = function
        self._name = name
        self._spec = spec
        self._set_body(self._traced())

    @classmethod
    def for_node(cls, node: Node, function: Callable[..., Any], name: str) -> MappedFunction:
        """Traces a user's function of the elements of a node, for the method of `Dataset` with that name."""
        return cls(function, f"Dataset.{name}()", node.spec)

    @classmethod
    def of_body(cls, body: Body, spec: Any, output_spec: Any, captures: int = 0, name: str = "") -> MappedFunction:
        """Returns a function that was traced before.

        Args:
            body: its body.
            spec, output_spec: the specs of the elements, and of the results.
            captures: how many of the last inputs are no elements. `with_captures` sets their values.
            name: the name of the transformation, for messages.
        """
        function = cls.__new__(cls)
        function._function, function._name, function._spec, function.output_spec = None, name, spec, output_spec
        function._set_body(body)
        function._captured = body.inputs[len(body.inputs) - captures :]
        return function

    def _set_body(self, body: Body) -> None:
        self._body = body
        self._captured: list[Any] = body.graph.external_captures
        self._inputs, self._outputs = elements.flatten(self._spec), elements.flatten(self.output_spec)
        self._plain = all(type(s) is TensorSpec for s in (*self._inputs, *self._outputs))

    # ---- tracing -----------------------------------------------------------------------------------------------------

    def _traced(self) -> Body:
        graph = FuncGraph(getattr(self._function, "__name__", type(self._function).__name__))
        function: Any = convert_function(self._function)
        args = elements.pack(self._spec, [
            _spec_placeholders(graph, s, f"args_{i}") for i, s in enumerate(elements.flatten(self._spec))
        ])  # fmt: skip

        def tensors() -> list[Any]:
            result = function(*args) if type(args) is tuple else function(args)
            value, self.output_spec = self._components(tuple(result) if type(result) is list else result)
            return [t for s, v in self._pairs(value) for t in s.to_tensors(v)]

        with UserCode(self._function):
            graph.trace(tensors, (), {})
        return Body(graph)

    def _components(self, result: Any) -> tuple[Any, Any]:
        try:
            value, spec = elements.normalize_value(result)
        except (TypeError, ValueError) as e:
            raise TypeError(f"Unsupported return value from function passed to {self._name}: {result}.") from e
        if any(not isinstance(s, TypeSpec) for s in elements.flatten(spec)):
            raise TypeError(f"Unsupported return value from function passed to {self._name}: {result}.")
        return value, spec

    def _pairs(self, value: Any) -> Iterator[tuple[Any, Any]]:
        return zip(elements.flatten(self.output_spec), elements.flatten(value), strict=True)

    def at_place(self, place: int) -> MappedFunction:
        """Returns this function with another `place`."""
        function = copy.copy(self)
        function.place = place
        return function

    def with_captures(self, values: Sequence[Any]) -> MappedFunction:
        """Returns this function with these values for the tensors and variables that it captures."""
        function = copy.copy(self)
        function._captured = list(values)
        return function

    def typed(self, spec: Any, output: Callable[..., Any] | None = None) -> MappedFunction:
        """Returns this function; see `OpFunction.typed`."""
        return self

    # ---- running -----------------------------------------------------------------------------------------------------

    def caller(self) -> Callable[[Element], Element]:
        """Returns a function that computes the result for an element.

        Its random numbers go on where those of the iterator that this thread works for are.
        """
        if debugging and self._function is not None:
            return functools.partial(self._eagerly, self._function)
        compiled, captured = self._body.compiled, tuple([raw(c) for c in self._captured])

        def plain(element: Element) -> Element:
            return compiled(*element, *captured)

        def unpacked(element: Element) -> Element:
            return self._packed(compiled(*self._unpacked(element), *captured))

        call = plain if self._plain else unpacked
        state = running.state
        if state is None or not self.draws:
            return call
        streams = state.streams[self.place]

        def drawing(element: Element) -> Element:
            with own_streams(streams):
                return call(element)

        return drawing

    def __call__(self, element: Element) -> Element:
        """Returns the result for an element."""
        return self.caller()(element)

    def _eagerly(self, function: Callable[..., Any], element: Element) -> Element:
        args = Packer(self._spec)(element)
        with nobody_listening():
            result = function(*args) if type(args) is tuple else function(args)
            return elements.to_element(tuple(result) if type(result) is list else result)

    def _unpacked(self, element: Element) -> list[Any]:
        """Returns the raw values of the tensors that an element consists of."""
        return [
            v for s, c in zip(self._inputs, element, strict=True)
            for v in ([t.value for t in s.to_tensors(c)] if elements.tensor_dtype(s) is None else [c])
        ]  # fmt: skip

    def _packed(self, values: Element) -> Element:
        return elements.from_tensors(map(EagerTensor, values, [t.dtype for t in self._body.outputs]), self._outputs)

    @cached_property
    def draws(self) -> bool:
        """True if it, or a function that it calls, draws random numbers from a stream, if it has seeds."""
        ops = [o.op for o in nested_operations(self._body.graph)]
        return any(op.registered and op.opdef.stateful and "seed" in op.params for op in ops)

    @cached_property
    def declares_shapes(self) -> bool:
        """True if `set_shape` declared shapes in it, or in a function that it calls."""
        return any(graph.declares_shapes for graph in nested_graphs(self._body.graph))

    @property
    def of_batches(self) -> Body | None:
        """The function of many elements, stacked; None if one call may not compute these."""
        return None if debugging else self._of_batches

    @cached_property
    def _of_batches(self) -> Body | None:
        return batches_of(self._body, len(self._captured)) if self._plain else None

    def many(self, columns: Element) -> Element:
        """Returns the results for many elements, by `of_batches`; both are columns."""
        function: Any = self.of_batches
        return tuple(function.compiled(*columns, *map(raw, self._captured)))


def nested_graphs(graph: Graph) -> Iterator[Any]:
    """Yields a graph, and the graphs of the functions that its operations call."""
    yield graph
    for operation in graph._operations:
        called = operation.op.bodies.values() if isinstance(operation.op, GraphOp) else ()
        for body in (*called, *[arg.body for arg in operation.args if hasattr(arg, "body")]):
            yield from nested_graphs(body.graph)


def nested_operations(graph: Graph) -> Iterator[Any]:
    """Yields the operations of a graph, and of the functions that they call."""
    return itertools.chain.from_iterable(g._operations for g in nested_graphs(graph))


def _spec_placeholders(graph: FuncGraph, spec: TypeSpec, name: str) -> Any:
    with graph.as_default():
        return spec.from_tensors(iter([graph.input(s, name) for s in spec.flatten()]))


class OpFunction:
    """A function attr of an operation, with the tensors that the operation passes to it besides the elements.

    Args:
        attr: the attr's value, which has a `body`.
        others: the tensors.
        declared: the spec of elements in the attrs `output_types` and `output_shapes` of the operation; None without
            these.
    """

    def __init__(self, attr: Any, others: Sequence[Any], declared: Any = None) -> None:
        self._attr = attr
        self._others = [*others] if others else list(attr.captured_inputs)
        self.declared = declared

    @property
    def argument_specs(self) -> list[TensorSpec]:
        """The specs of the arguments."""
        inputs = self._attr.body.inputs
        return [TensorSpec(t.shape, t.dtype) for t in inputs[: len(inputs) - len(self._others)]]

    @property
    def result_specs(self) -> tuple[TensorSpec, ...]:
        """The specs of the results."""
        return tuple([TensorSpec(t.shape, t.dtype) for t in self._attr.body.outputs])

    def typed(self, spec: Any, output: Callable[[OpFunction], Any] | None = None) -> MappedFunction:
        """Returns the function of elements.

        Args:
            spec: the spec of the elements.
            output: returns the spec of the results of this function; by default `result_specs`.
        """
        results = self.result_specs if output is None else output(self)
        cached: MappedFunction | None = getattr(self._attr, "_function", None)
        if cached is None or cached._spec != spec or cached.output_spec != results:
            cached = MappedFunction.of_body(self._attr.body, spec, results, len(self._others))
            self._attr._function = cached
        return cached.with_captures(self._others) if self._others else cached


# ---- functions with a state ------------------------------------------------------------------------------------------


def state_function(
    function: Callable[..., Any], name: str, state_spec: Any, element_spec: Any, new_state: Callable[[Any], Any],
    who: str = "",
) -> tuple[MappedFunction, Any]:  # fmt: skip
    """Traces a function of a state and an element, and finds shapes of the state that hold before and after.

    Args:
        function: the user's.
        name: the name of the transformation.
        state_spec, element_spec: the specs of the first state, and of the elements.
        new_state: returns the spec of the new state from the spec of the function's result.
        who: begins messages.

    Returns:
        The traced function, and the spec of all states.

    Raises:
        TypeError, InvalidArgumentError: the state changes its structure or dtypes.
    """
    while True:
        traced = MappedFunction(function, name, (state_spec, element_spec))
        after = new_state(traced.output_spec)
        check_state(state_spec, after, who)
        common = elements.common_specs(state_spec, after)
        relaxed = elements.pack(state_spec, common)
        if relaxed == state_spec or None in common:
            return traced, state_spec
        state_spec = relaxed


def check_state(before: Any, after: Any, who: str) -> None:
    """Refuses a state that changes its structure or dtypes.

    Args:
        before, after: the specs of the state before and after the function.
        who: begins messages.

    Raises:
        InvalidArgumentError: it has another number of components.
        TypeError: a component is of another class or dtype.
    """
    old, new = elements.flatten(before), elements.flatten(after)
    if len(old) != len(new):
        raise invalid(
            "The number of components of the initial state and the reduce function output does not match. "
            f"(initial_state={len(old)}, output={len(new)}). [Op:ReduceDataset] name: "
        )
    for a, b in zip(old, new, strict=True):
        if type(a) is not type(b):
            raise TypeError(
                f"{who}The element classes for the new state must match the initial state. Expected {before}, got "
                f"{after}."
            )
        if getattr(a, "dtype", None) is not getattr(b, "dtype", None):
            raise TypeError(
                f"{who}The element types for the new state must match the initial state. Expected {a.dtype}, got "
                f"{b.dtype}."
            )
