"""`tf.function`: the cache of traces, and the lookup of the trace for a call."""

from __future__ import annotations

import functools
import operator
import types
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

from tapeflow.core.context import contexts, detours, override, state
from tapeflow.core.device import machine
from tapeflow.core.fork_locks import cached_property, new_rlock
from tapeflow.core.gc_pause import pause_collection
from tapeflow.core.hooks import hooks
from tapeflow.core.logger import get_logger
from tapeflow.core.settings import settings
from tapeflow.core.tracebacks import filter_traceback
from tapeflow.core.types.spec import TensorSpec, TypeSpec, VariableSpec
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor
from tapeflow.function.bound_arguments import cast_argument
from tapeflow.function.call_history import CallHistory, history_of
from tapeflow.function.concrete import ConcreteFunction, FunctionOfVariables
from tapeflow.function.function_type import FunctionType as PublicType
from tapeflow.function.signature import (
    FunctionType,
    Signature,
    Variables,
    WeakKey,
    components_of,
    covers,
    is_tensor_spec,
    key_of,
    key_of_aliases,
    specs_of,
    unfit,
    without_aliases,
)
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.variables import without_value

if TYPE_CHECKING:
    from tapeflow.autograph.experimental.options import Feature

MOST_TRACES = 4096  # of one function; beyond that, the oldest one is dropped


class Options(NamedTuple):
    """The options of `tf.function`, by the names of its parameters."""

    input_signature: Sequence[Any] | None = None
    autograph: bool = True
    jit_compile: bool | None = None
    reduce_retracing: bool = False
    experimental_implements: str | None = None
    experimental_autograph_options: Any = None
    experimental_attributes: Any = None


class Function:
    """A Python function that runs as a graph, traced once for each type of its inputs.

    `tf.function` creates it. It has the attributes of the Python function (its name, its docstring) too.

    Args:
        python_function: the function.
        options: the options of `tf.function`.
        name: the name in graphs and messages; by default the Python function's.
        bound_to: of a method, a function that returns the object.

    Raises:
        TypeError: the input signature contains something else than specs, or does not fit the parameters.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        options: Options | None = None,
        name: str | None = None,
        bound_to: Callable[[], Any] | None = None,
    ) -> None:
        self._python_function = python_function
        self._options = options = options or Options()
        self._name = name or _name_of(python_function)
        self._bound_to = bound_to
        self._jit: Any = None
        cuda_graph = bool((options.experimental_attributes or {}).get("cuda_graph"))
        if options.jit_compile or cuda_graph:
            from tapeflow.function.compilers import compiler_of

            self._jit = compiler_of(self._name, bool(options.jit_compile), cuda_graph)
        self._input_signature = None if options.input_signature is None else tuple(options.input_signature)
        if self._input_signature is not None:
            if not all(isinstance(spec, TypeSpec) for spec in nest.flatten(self._input_signature)):
                raise TypeError(
                    "input_signature must be a possibly nested sequence of TensorSpec objects, got "
                    f"{options.input_signature!r}."
                )
            self._check_signature(len(self._input_signature))
        # by the keys of their own, and of the calls that they serve beside
        self._traces: dict[Any, ConcreteFunction] = {}
        self._explanations: list[str] = []
        self._tracing = new_rlock()
        self._created_variables = False
        # bound to objects; libraries clear it by this name
        self._descriptor_cache: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        functools.update_wrapper(self, python_function, updated=())
        for attribute, value in getattr(python_function, "__dict__", {}).items():
            if attribute not in self.__dict__ and not hasattr(Function, attribute):
                self.__dict__[attribute] = value
        if bound_to is not None:
            self.__signature__ = self._signature.signature  # or `inspect` would show `self` too

    @cached_property
    def _signature(self) -> Signature:
        """The parameters, inspected on first use: Keras creates functions in each step that are never called."""
        return Signature(self._python_function, bound=self._bound_to is not None)

    @cached_property
    def _history(self) -> CallHistory:
        """The calls of all functions with this code."""
        return history_of(self._python_function)

    def _check_signature(self, count: int) -> None:
        """Raises a TypeError if the input signature has too few or too many specs for the parameters."""
        parameters = list(self._signature.signature.parameters.values())
        if self._bound_to is None and parameters and parameters[0].name == "self":
            parameters = parameters[1:]  # a method that is not bound yet
        kinds = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        takes_more = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        if count > len(kinds) and not takes_more:
            raise TypeError(
                "input_signature contains more elements than the Python function accepts: "
                f"{count} specs for {self._signature.signature}."
            )
        for p in parameters:
            if p.kind is p.KEYWORD_ONLY and p.default is p.empty:
                raise TypeError(
                    f"Since input_signature is defined, keyword-only parameter `{p.name}` must have a default value"
                )
        for p in kinds[count:]:
            if p.default is p.empty:
                raise TypeError(f"input_signature missing type constraint for {p.name}")

    # ---- calling -----------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the trace for the arguments, after tracing it if they are the first of their type.

        Returns:
            The Python function's result, with tensors in the place of values that become tensors in a graph.
        """
        try:
            if settings.run_functions_eagerly:
                return self.python_function(*args, **kwargs)
            self._history.calls += 1
            if kwargs:
                args, kwargs = self._signature.bind(args, kwargs)
            tensors: list[Any] = []
            key = self._key(args, kwargs, tensors)
            concrete = self._traces.get(key)
            if concrete is None or concrete.around is not None:
                concrete, tensors = self._found(key, args, kwargs, tensors)
            return concrete.call_flat(tensors)
        except Exception as error:
            filter_traceback(error)
            raise

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[Any]) -> Any:
        """Returns the cache key of the trace for a call: the key of its arguments and of the context.

        Args:
            args: the positional arguments.
            kwargs: the keyword arguments in canonical form.
            tensors: gets the tensors among them, in the order of the trace's inputs.
        """
        key: list[Any] = []
        for a in args:
            if type(a) is EagerTensor:
                tensors.append(a)
                key.append((a.dtype.as_datatype_enum, a.value.shape))
            else:
                key.append(key_of(a, tensors))
        if kwargs:
            key.append("keywords")
            key += [(name, key_of(value, tensors)) for name, value in kwargs.items()]
        if detours:
            key += [d.device or d.stops for d in state.devices]
            if state.compiler is not None:
                key.append(state.compiler)
            graph = state.graph
            if graph is not None:
                if graph.seed is not None:
                    key.append(("seed", graph.seed))
                while graph.around is not None:
                    graph = graph.around
                if not graph.building_function:  # of TensorFlow 1, with variables of its own
                    key.append(("graph", WeakKey(graph)))
        for context in contexts:
            key.append(context())
        return tuple(key)

    def _found(
        self, key: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[Any]
    ) -> tuple[ConcreteFunction, list[Any]]:
        """Returns the trace for a call whose key leads to none, after tracing it if there is none, and its inputs.

        The key leads to the trace from now on. The trace may have another key of its own: of all arguments with
        defaults, of the input signature, of open dimensions, or of more general types.
        """
        variables = [t for t in tensors if isinstance(t, ReadAsTensor)]
        if len(variables) > 1:
            key, tensors = (*key, key_of_aliases(variables)), without_aliases(tensors)
            concrete = self._traces.get(key)
            if concrete is not None and concrete.around is None:
                return concrete, tensors
        args, kwargs = self._signature.bind(args, kwargs)
        if self._input_signature is not None:
            args = self._fitted(args)
        own = self._own_key(args, kwargs)
        with self._tracing:
            concrete = self._usable(own)
            if concrete is None:
                traces = len(self._explanations)
                concrete = self._traced(own, args, kwargs)
                if len(self._explanations) > traces:
                    self._warn_of_tracing()
            given, tensors = tensors, concrete.function_type.tensors(args, kwargs)
            same = len(given) == len(tensors)  # else some are defaults
            if self._input_signature is not None:  # it may have converted some
                same = same and all(map(operator.is_, given, tensors))
            if same and self._traces.get(key) is not concrete:
                self._remember(key, concrete)
        return concrete, tensors

    def _usable(self, own: tuple[Any, ...]) -> ConcreteFunction | None:
        """Returns the trace of a key, else the most specific one of the traces of more general types; else None."""
        concrete = self._traces.get(own)
        if concrete is not None and concrete.usable():
            return concrete
        best: ConcreteFunction | None = None
        for trace in self._distinct():
            if trace.usable() and covers(trace.key, own) and (best is None or covers(best.key, trace.key)):
                best = trace
        if best is not None:
            self._remember(own, best)
        return best

    def _own_key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Returns the key that a trace for these arguments has itself."""
        variables = Variables()
        key = self._key(self._typed(args), kwargs, variables)
        return (*key, key_of_aliases(variables)) if len(variables) > 1 else key

    def _typed(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the positional arguments with the tensors' specs of the input signature in their place."""
        specs = self._input_signature or ()
        given, rest = args[: len(specs)], args[len(specs) :]
        if any(isinstance(s, VariableSpec) for s in nest.flatten(specs)):
            specs = nest.map_structure(lambda s, value: value if isinstance(s, VariableSpec) else s, specs, given)
        return (*specs, *rest)

    def _remember(self, key: tuple[Any, ...], concrete: ConcreteFunction) -> None:
        """Has a key lead to a trace."""
        self._traces[key] = concrete
        if len(self._traces) <= MOST_TRACES:
            return
        for other in [k for k, trace in self._traces.items() if trace.key is not k]:
            del self._traces[other]
        if len(self._traces) > MOST_TRACES:
            get_logger().warning(
                "%s has more than %d traces; the oldest is dropped. Pass tensors instead of Python values, or give an "
                "input_signature.", self._name, MOST_TRACES,
            )  # fmt: skip
            del self._traces[next(iter(self._traces))]

    def _fitted(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns the positional arguments, converted to tensors of the input signature.

        Raises:
            TypeError: they do not fit.
        """
        specs = self._input_signature or ()
        try:
            if len(args) < len(specs):
                raise TypeError("missing a required argument")
            return (*map(cast_argument, specs, args), *args[len(specs) :])
        except (TypeError, ValueError) as error:
            raise unfit(error, args, {}, self._signature.shown(specs)) from None

    # ---- tracing -----------------------------------------------------------------------------------------------------

    def _traced(self, key: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> ConcreteFunction:
        """Traces the function for these arguments, and caches the trace."""
        called = key, args, kwargs
        if self._options.reduce_retracing and self._input_signature is None:
            for trace in self._distinct():
                args, kwargs = _relax_arguments(trace.function_type, args, kwargs)
                key = self._own_key(args, kwargs)
                if key in self._traces and self._traces[key].usable():
                    return self._traces[key]
        with pause_collection():
            concrete = self._trace(args, kwargs, may_create_variables=not self._created_variables)
            if concrete.graph.variables_made:
                self._created_variables = True
                concrete = self._trace(args, kwargs, may_create_variables=False)
        self._explain(*called)
        concrete.key = key
        self._traces.pop(key, None)  # one that is not usable any more, with an equal key
        self._remember(key, concrete)
        return concrete

    def _distinct(self) -> list[ConcreteFunction]:
        """Returns the traces, the oldest first."""
        return [trace for key, trace in list(self._traces.items()) if trace.key is key]

    def _trace(self, args: tuple[Any, ...], kwargs: dict[str, Any], may_create_variables: bool) -> ConcreteFunction:
        names = self._signature.names(args, kwargs)
        specs = specs_of((self._typed(args), kwargs))
        graph = FuncGraph(self._name)
        graph.may_make_variables = may_create_variables
        graph.names_results = True
        graph.may_return_operations = False
        graph.compiler = state.compiler or self._jit
        graph.is_alternative = "api_implements" in (self._options.experimental_attributes or ())
        graph.depth = getattr(state.graph, "depth", 0) + 1
        if graph.depth > 100:
            raise RecursionError(
                f"tf.function {self._name!r} calls itself while it is traced, 100 functions deep. A tf.function can't "
                "be recursive: use tf.while_loop, or call the Python function."
            )
        arguments = zip(names, [*args, *kwargs.values()], [*specs[0], *specs[1].values()], strict=True)
        placeholders = [self._placeholders(graph, name, value, spec) for name, value, spec in arguments]
        count = len(args)
        call_args, call_kwargs = tuple(placeholders[:count]), dict(zip(kwargs, placeholders[count:], strict=True))
        function_type = FunctionType(self._signature, specs[0], specs[1], names)
        graph.structured_input_signature = function_type.structured_input_signature
        if self._bound_to is not None:
            call_args = (self._bound_to(), *call_args)
        converts = self._options.autograph
        with override(state, tracing=graph), hooks.user_code(self._python_function) if converts else nullcontext():
            graph.trace(self._converted() if converts else self._python_function, call_args, call_kwargs)
        graph.arguments.clear()
        if any(isinstance(spec, VariableSpec) for spec in function_type.flat):
            return FunctionOfVariables(graph, function_type)
        return ConcreteFunction(graph, function_type)

    def _converted(self) -> Callable[..., Any]:
        converted = hooks.converted
        options = self._options.experimental_autograph_options
        if options is None:
            return converted(self._python_function, libraries=True)
        options = options if isinstance(options, (tuple, list, set, frozenset)) else (options,)
        return converted(self._python_function, frozenset(o.name for o in options), libraries=True)

    def _placeholders(self, graph: FuncGraph, name: str, value: Any, spec: Any) -> Any:
        """Returns an argument with placeholders for its tensors; Python values stay."""

        def placeholder(leaf: Any, value: Any) -> Any:
            if isinstance(leaf, TensorSpec):
                tensor = graph.input(leaf, leaf.name or name)
                if graph.may_make_variables and not isinstance(value, TensorSpec):
                    graph.arguments[id(tensor)] = value
                return tensor
            if isinstance(leaf, VariableSpec):
                if isinstance(value, VariableSpec):
                    value = without_value(leaf.dtype, leaf.shape, name, leaf.trainable)
                graph.input_of_variable(value, name)
                return value
            if is_tensor_spec(leaf):
                specs = nest.flatten(leaf._component_specs, expand_composites=True)
                components = specs if isinstance(value, TypeSpec) else components_of(value)
                pairs = zip(specs, components, strict=True)
                parts = [c if isinstance(c, ReadAsTensor) else graph.input(s, name) for s, c in pairs]
                return nest.pack_sequence_as(leaf, parts, expand_composites=True)
            return value

        leaves = [placeholder(s, v) for s, v in zip(nest.flatten(spec), nest.flatten(value), strict=True)]
        return nest.pack_sequence_as(value, leaves)

    # ---- reasons for tracing -----------------------------------------------------------------------------------------

    def _explain(self, key: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        traces = self._distinct()
        if traces:
            last = traces[-1]
            before = self._keys_by_name(last.key, last.function_type.args, last.function_type.kwargs)
            after = self._keys_by_name(key, args, kwargs)
            changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
            differences = [f"{n} changed from {_show_key(before.get(n))} to {_show_key(after.get(n))}" for n in changed]
            reason = "; ".join(differences) or "the context"
        else:
            reason = "the first call"
        self._explanations.append(f"trace {len(self._explanations) + 1} of {self._name}: {reason}")
        self._reason = reason

    def _keys_by_name(self, key: tuple[Any, ...], args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Returns the part of a trace key that each argument has, by the name of its parameter."""
        count = len(args)
        keys = [*key[:count], *(of_one for _, of_one in key[count + 1 : count + 1 + len(kwargs)])]
        return dict(zip(self._signature.names(args, kwargs), keys, strict=True))

    def _warn_of_tracing(self) -> None:
        """Warns if calls trace often. Traces that `get_concrete_function` makes do not count: they are meant."""
        counts = self._history.traced() if state.graph is None else None
        if counts is not None:
            get_logger().warning(
                "%d out of the last %d calls to %s triggered tf.function retracing. Tracing is expensive. The last one "
                "because of %s. Each tf.function has its own traces: create it once, not in a loop. Tensors of other "
                "dtypes or shapes and other Python values trace again: pass tensors, give an input_signature, or use "
                "reduce_retracing=True.",
                *counts, self._name, self._reason,
            )  # fmt: skip

    def explain_traces(self) -> str:
        """Explains each trace: the argument that changed, with its old and new value.

        Returns:
            A text with a line for each trace.

        Example:
            >>> f = tf.function(lambda x: x + 1)
            >>> _ = f(tf.constant(1)), f(tf.constant(1.0))
            >>> print(f.explain_traces())
            trace 1 of <lambda>: the first call
            trace 2 of <lambda>: x changed from int32[] to float32[]
        """
        return "\n".join(self._explanations)

    # ---- traces ------------------------------------------------------------------------------------------------------

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the trace for some arguments, after tracing it if there is none yet.

        Args:
            *args, **kwargs: tensors, Python values, and `tf.TensorSpec`s in the place of tensors. With an input
                signature they can be left out.

        Raises:
            TypeError: they do not fit the function's parameters or input signature.
        """
        if self._input_signature is not None and not args and not kwargs:
            args = self._input_signature
        args, kwargs = self._signature.bind(args, kwargs)
        key = self._own_key(args, kwargs)
        with self._tracing:
            return self._usable(key) or self._traced(key, args, kwargs)

    def experimental_get_tracing_count(self) -> int:
        """Returns the number of traces."""
        return len(self._distinct())

    @property
    def _list_all_concrete_functions(self) -> Any:
        return self._distinct

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, ConcreteFunction]:
        """Returns the traces to save; a function with an input signature is traced if it was not before."""
        if not self._traces and self._input_signature is not None:
            self.get_concrete_function()
        return {f"trace_{i}": trace for i, trace in enumerate(self._distinct())}

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Returns a text of the signatures of all traces."""
        return "\n\n".join(c.pretty_printed_signature(verbose) for c in self._distinct())

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function."""
        if self._bound_to is not None:
            instance = self._bound_to()  # None if the object is gone
            bind = functools.partial if instance is None else types.MethodType
            return bind(self._python_function, instance)
        return self._python_function

    @property
    def input_signature(self) -> Any:
        """The specs that all calls must fit, or None."""
        return self._input_signature

    @property
    def function_type(self) -> PublicType:
        """The parameters of the function."""
        return PublicType(list(self._signature.signature.parameters.values()))

    @property
    def function_spec(self) -> Any:
        """The parameters of the Python function."""
        return self._signature

    @property
    def name(self) -> str:
        """The function's name."""
        return self._name

    def experimental_get_compiler_ir(self, *args: Any, **kwargs: Any) -> Callable[..., str]:
        """Compiles the function for these arguments without running it, and returns the compiler's representations.

        Args:
            *args, **kwargs: tensors or specs of fully defined shape, and Python values.

        Returns:
            A function `compiler_ir(stage="hlo")` that returns a text. No text is XLA's: "hlo" is the function as
            Python calls of kernels, and "optimized_hlo" the function with its loops, in LLVM's language.

        Raises:
            ValueError: the function has no `jit_compile=True`, a shape is not fully defined, or the stage is unknown.
        """
        concrete = self.get_concrete_function(*args, **kwargs)
        compiled: Any = concrete.body.compiled  # the result of the body's compiler
        if concrete.body.jit is None:
            raise ValueError("Compiler IR can only be returned for functions marked with 'jit_compile=True'")

        def compiler_ir(stage: str = "hlo", device_name: str | None = None, platform_name: str | None = None) -> str:
            if stage not in ("hlo", "optimized_hlo"):
                raise ValueError(f"Invalid stage selected: {stage!r}. Valid values are: 'hlo', 'optimized_hlo'")
            if not all(t.shape.is_fully_defined() for t in concrete.inputs):
                raise ValueError(f"Only support static input shape but got inputs = {concrete.inputs}")
            return compiled.text(stage == "optimized_hlo", concrete._captured_raw)

        return compiler_ir

    def _decorate(self, decorator: Callable[..., Any]) -> None:
        """Wraps the Python function, before the first call.

        Raises:
            ValueError: the function was traced already.
        """
        if self._traces:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._python_function = decorator(self._python_function)

    # ---- methods -----------------------------------------------------------------------------------------------------

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Returns the function bound to an object, with traces of its own."""
        if instance is None:
            return self
        try:
            bound = self._descriptor_cache.get(instance)
        except TypeError:  # an object that has no hash or no weak references
            bound = instance.__dict__.get(f"_function_{self._name}")
            if bound is None:
                bound = instance.__dict__[f"_function_{self._name}"] = self._bound(instance)
            return bound
        if bound is None:
            bound = self._descriptor_cache[instance] = self._bound(instance)
        return bound

    def _bound(self, instance: Any) -> Function:
        # weakly: the cache of bound methods would keep the object alive
        return Function(self._python_function, self._options, self._name, bound_to=weakref.ref(instance))

    def __deepcopy__(self, memo: Any) -> Function:
        return Function(self._python_function, self._options, self._name)

    def __reduce__(self) -> Any:
        return Function, (self._python_function, self._options, self._name)


def _name_of(function: Callable[..., Any]) -> str:
    """Returns the name of a Python function in graphs and messages."""
    inner = getattr(function, "func", None)  # of a `functools.partial`
    return str(getattr(function, "__name__", None) or getattr(inner, "__name__", type(function).__name__))


def _relax_arguments(traced: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Returns the arguments with specs of tensors that fit a trace's arguments too: dimensions that differ become None.

    If more than the shapes of tensors differs, the arguments are returned unchanged.
    """
    before, now = (traced.args, traced.kwargs), specs_of((args, kwargs))
    try:
        nest.assert_same_structure(before, now)
    except (TypeError, ValueError):
        return args, kwargs
    general = []
    for old, new, value in zip(*map(nest.flatten, (before, now, (args, kwargs))), strict=True):
        if isinstance(new, TensorSpec) and isinstance(old, TensorSpec) and old.dtype is new.dtype:
            value = TensorSpec(old.shape.most_specific_compatible_shape(new.shape), new.dtype)
        elif is_tensor_spec(new) and not isinstance(new, TensorSpec):
            value = new.most_specific_common_supertype([old])
            if value is None:
                return args, kwargs
        elif key_of(old, Variables()) != key_of(new, Variables()):
            return args, kwargs
        general.append(value)
    return nest.pack_sequence_as((args, kwargs), general)


def _show_key(key: tuple[Any, ...] | None) -> str:
    if isinstance(key, tuple) and len(key) == 2:
        first, second = key
        if isinstance(first, type):
            return repr(second)
        if isinstance(first, int):
            second = TensorSpec(second, first)
        if isinstance(second, TensorSpec):
            return f"{second.dtype.name}{list(second.shape) if second.shape.rank is not None else ''}"
    return repr(key)


P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Traced(Protocol[P, R]):
    """A `tf.function` as type checkers see it: it is called as the Python function is."""

    python_function: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def __get__(self, instance: Any, owner: Any = None) -> Traced[..., R]: ...
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction: ...
    def explain_traces(self) -> str: ...
    def experimental_get_tracing_count(self) -> int: ...
    def pretty_printed_concrete_signatures(self) -> str: ...


class _FunctionOptions(TypedDict, total=False):
    """The keyword arguments behind the input signature of `tf.function` as type checkers see them."""

    autograph: bool
    jit_compile: bool | None
    reduce_retracing: bool
    experimental_implements: str | None
    experimental_autograph_options: Any
    experimental_attributes: Any
    experimental_relax_shapes: bool | None
    experimental_compile: bool | None
    experimental_follow_type_hints: bool | None


@overload
def function(
    func: Callable[P, R], input_signature: Sequence[Any] | None = None, **options: Unpack[_FunctionOptions]
) -> Traced[P, R]: ...


@overload
def function(
    func: None = None, input_signature: Sequence[Any] | None = None, **options: Unpack[_FunctionOptions]
) -> Callable[[Callable[P, R]], Traced[P, R]]: ...


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Feature | None = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Returns a function that runs a Python function as a graph, traced once for each type of its inputs.

    Args:
        func: the function; None returns a decorator with the other arguments.
        input_signature: `tf.TensorSpec`s (in nests) that every call must fit; then there is one trace.
        autograph: whether Python's `if`, `while`, `for` and so on become graph control flow where they depend on
            tensors.
        jit_compile: compiles all element-wise loops of the graph and of its gradients. Matrix products, convolutions
            and strings stay calls of kernels. On GPUs, TorchInductor compiles the graph for each shape of the inputs.
            `explain_jit_compile()` of the concrete function tells the outcome.
        reduce_retracing: traces for a dimension of None where calls differ in one, rather than once for each.
        experimental_implements: accepted; without effect.
        experimental_autograph_options: features of AutoGraph, `tf.autograph.experimental.Feature`s.
        experimental_attributes: `{"cuda_graph": True}` compiles the function on a GPU, as `jit_compile=True` does, and
            launches its kernels as CUDA graphs. Other attributes are TensorFlow's, and without effect.
        experimental_relax_shapes, experimental_compile: earlier names of `reduce_retracing` and `jit_compile`.
        experimental_follow_type_hints: accepted; without effect.

    Returns:
        A callable with the same parameters.

    Raises:
        TypeError: `func` is not callable, or `input_signature` contains something else than specs.
        ValueError: an attribute is unknown, or `jit_compile` has both of its names.

    Example:
        >>> @tf.function
        ... def double(x):
        ...     return x + x
        >>> double(tf.constant([1, 2])).numpy().tolist()
        [2, 4]
    """
    if experimental_attributes is not None:
        from tapeflow.function.compilers import check_attributes

        check_attributes(experimental_attributes)
    if experimental_relax_shapes:
        reduce_retracing = True
    if experimental_compile is not None:
        if jit_compile is not None:
            raise ValueError("Cannot specify both 'experimental_compile' and 'jit_compile'.")
        jit_compile = experimental_compile

    options = Options(
        input_signature, autograph, jit_compile, reduce_retracing, experimental_implements,
        experimental_autograph_options, experimental_attributes,
    )  # fmt: skip

    def decorate(python_function: Callable[..., Any]) -> Function:
        if not callable(python_function):
            raise TypeError(f"tf.function takes a callable, not {python_function!r}.")
        if isinstance(python_function, Function):
            python_function = python_function.python_function
        bound_to = None
        if isinstance(python_function, types.MethodType):
            bound_to, python_function = python_function.__self__, python_function.__func__
            if isinstance(bound_to, type):
                python_function, bound_to = functools.partial(python_function, bound_to), None
        return Function(python_function, options, bound_to=None if bound_to is None else lambda: bound_to)

    return decorate if func is None else decorate(func)


def compiled_function(of_tensors: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function whose eager calls run as machine code; the function itself if there is no LLVM, or a GPU."""
    from tapeflow.graph.compiler.clusters import has_llvm  # it loads the compiler

    if machine.has_gpu or not has_llvm():
        return of_tensors
    return function(of_tensors, autograph=False, jit_compile=True, reduce_retracing=True)
