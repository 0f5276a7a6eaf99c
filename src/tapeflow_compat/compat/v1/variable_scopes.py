"""`get_variable` and its scopes: variables by name, created once and then shared."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

from tapeflow.core.context import override, state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import init_scope
from tapeflow.core.types.aliases import DTypeLike, ShapeLike
from tapeflow.core.types.dtypes import as_dtype, float32, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.variable import Variable, VariableAggregation, VariableMeta, VariableSynchronization
from tapeflow_compat.compat.v1 import initializers
from tapeflow_compat.compat.v1.partitioned import PartitionedVariable, check_parts, create_in_parts
from tapeflow_compat.compat.v1.variables import GraphKeys, get_collection


class _ReuseMode:
    """The type of `AUTO_REUSE`."""

    def __repr__(self) -> str:
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE = _ReuseMode()
_KEY = ("__variable_store",)  # no string: it does not count as a graph's collection


class _Store:
    """The variables that `get_variable` created in a graph, and the scope in force."""

    def __init__(self) -> None:
        self.variables: dict[str, Variable | PartitionedVariable] = {}
        self.scope = VariableScope(False)
        self.counts: dict[str, int] = {}


class _Eager(threading.local):
    def __init__(self) -> None:
        self.store = _Store()


def _store() -> _Store:
    graph = state.graph
    if graph is None:
        return _eager.store
    while graph.building_function and graph.around is not None:
        graph = graph.around
    held = graph.get_collection_ref(_KEY)
    if not held:
        held.append(_Store())
    return held[0]


class _Making(VariableMeta):
    """Makes `tf.compat.v1.Variable(...)` a `tf.Variable`, in the specified collections."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Variable)

    def __call__(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Sequence[str] | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: DTypeLike = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[..., Any] | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: ShapeLike = None,
        experimental_enable_variable_lifting: bool | None = None,
    ) -> Any:
        if not isinstance(collections, (list, tuple, set, type(None))):
            raise ValueError(
                f"collections argument to Variable constructor must be a list, tuple, or set. Got {collections} of "
                f"type {type(collections)}"
            )
        variable = Variable(
            initial_value, trainable, validate_shape, caching_device, name, None, dtype, import_scope, constraint,
            synchronization, aggregation, shape,
        )  # fmt: skip
        return in_collections(variable, collections)


class VariableV1(metaclass=_Making):
    """A `tf.Variable` with TensorFlow 1's parameters.

    Args:
        initial_value, trainable, name, dtype, constraint, synchronization, aggregation, shape: see `tf.Variable`.
        collections: the collections of the graph that it is added to; by default the collection of global variables.
        validate_shape, caching_device, variable_def, expected_shape, import_scope, use_resource,
            experimental_enable_variable_lifting: accepted, and without effect.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.compat.v1.Variable(1.0, collections=["mine"])
        ...     print(len(tf.compat.v1.get_collection("mine")), len(tf.compat.v1.global_variables()))
        1 0
    """


def in_collections(variable: Variable, collections: Sequence[str] | None) -> Variable:
    """Adds a variable to these collections instead of the collection of global variables."""
    if collections is not None and variable._graph is not None:
        everything = variable._graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        everything[:] = [v for v in everything if v is not variable]
        variable._graph.add_to_collections(tuple(collections), variable)
    return variable


# ---- scopes ----------------------------------------------------------------------------------------------------------


class VariableScope:
    """A prefix of names, and the defaults of `get_variable` below it.

    Args:
        reuse: whether `get_variable` only finds (True), only makes (False or None), or does either (`tf.AUTO_REUSE`).
        name: the prefix.
        initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource, constraint: the
        defaults.
        name_scope: the name scope that was opened with it.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.variable_scope("layer") as scope:
        ...     v = scope.get_variable("w", shape=[2])
        ...     print(scope.name, [w.name for w in scope.trainable_variables()])
        layer ['layer/w:0']
    """

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Callable[..., Any] | None = None,
        regularizer: Callable[..., Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Callable[..., Any] | None = None,
        name_scope: str = "",
        dtype: DTypeLike = float32,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
    ) -> None:
        self.reuse, self.name = reuse, name
        self.initializer, self.regularizer, self.caching_device = initializer, regularizer, caching_device
        self.partitioner, self.custom_getter, self.dtype = partitioner, custom_getter, as_dtype(dtype)
        self.use_resource, self.constraint = use_resource, constraint
        self.original_name_scope = name_scope

    def reuse_variables(self) -> None:
        """Makes `get_variable` accept only existing variables from now on."""
        self.reuse = True

    def set_initializer(self, initializer: Callable[..., Any]) -> None:
        """Sets the default initializer."""
        self.initializer = initializer

    def set_dtype(self, dtype: DTypeLike) -> None:
        """Sets the default dtype."""
        self.dtype = as_dtype(dtype)

    def set_regularizer(self, regularizer: Callable[..., Any] | None) -> None:
        """Sets the default regularizer."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Sets the default device of copies; variables are read where they are."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Callable[..., Any] | None) -> None:
        """Sets the default partitioner."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable[..., Any] | None) -> None:
        """Sets the default getter."""
        self.custom_getter = custom_getter

    def get_collection(self, name: str) -> list[Any]:
        """Returns the items of a collection whose names are below this scope."""
        return get_collection(name, f"{self.name}/" if self.name else None)

    def trainable_variables(self) -> list[Any]:
        """Returns the trainable variables below this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """Returns the global variables below this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """Returns the local variables below this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, name: str, **kwargs: Any) -> Any:
        """Returns a variable below this scope, see `tf.compat.v1.get_variable`."""
        return _get(self, name, **kwargs)

    def _copy(self, **changed: Any) -> VariableScope:
        scope = VariableScope(self.reuse)
        vars(scope).update(vars(self))
        vars(scope).update({k: v for k, v in changed.items() if v is not None})
        return scope


_eager = _Eager()


def get_variable_scope() -> VariableScope:
    """Returns the variable scope in force.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.variable_scope("layer"):
        ...     print(tf.compat.v1.get_variable_scope().name)
        layer
    """
    return _store().scope


class variable_scope:
    """A context that prefixes the names of variables made by `get_variable`.

    Args:
        name_or_scope: the name of a scope within the one in force, or a `VariableScope` to go back to.
        default_name: the name where `name_or_scope` is None; it gets a number where it was used before.
        values: accepted, and without effect.
        initializer, regularizer, partitioner, custom_getter, dtype, constraint: defaults of `get_variable`, for this
            scope and those inside.
        reuse: True to only find variables, False (or None) to only make them, `tf.AUTO_REUSE` to find or make them.
            Scopes inside inherit it.
        caching_device, use_resource: accepted, and without effect.
        auxiliary_name_scope: opens a name scope for operations, too.

    Raises:
        TypeError: `name_or_scope` is of another type.
        ValueError: there is no name.

    Example:
        >>> with tf.Graph().as_default():
        ...     with tf.compat.v1.variable_scope("layer"):
        ...         v = tf.compat.v1.get_variable("w", [2])
        ...     with tf.compat.v1.variable_scope("layer", reuse=True):
        ...         print(v.name, tf.compat.v1.get_variable("w", [2]) is v)
        layer/w:0 True
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Callable[..., Any] | None = None,
        regularizer: Callable[..., Any] | None = None,
        caching_device: Any = None,
        partitioner: Callable[..., Any] | None = None,
        custom_getter: Callable[..., Any] | None = None,
        reuse: bool | None = None,
        dtype: DTypeLike = None,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if reuse is not None and not isinstance(reuse, bool) and reuse is not AUTO_REUSE:
            raise ValueError(f"The reuse parameter must be True or False or None. Received: {reuse}")
        if reuse and name_or_scope is None:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        self._name_or_scope, self._default_name, self._reuse = name_or_scope, default_name, reuse
        self._changed = {
            "initializer": initializer, "regularizer": regularizer, "partitioner": partitioner,
            "constraint": constraint,
            "dtype": None if dtype is None else as_dtype(dtype), "custom_getter": custom_getter,
            "caching_device": caching_device, "use_resource": use_resource,
        }  # fmt: skip
        self._with_names = auxiliary_name_scope
        self._stacks: list[ExitStack] = []

    def __enter__(self) -> VariableScope:
        store = _store()
        before = store.scope
        if isinstance(self._name_or_scope, VariableScope):
            base, name = self._name_or_scope, self._name_or_scope.name
            reuse = base.reuse if self._reuse is None else self._reuse
            short = name.rpartition("/")[2]
        else:
            base, short = before, self._name_or_scope or self._default_name or ""
            name = f"{before.name}/{short}" if before.name else short
            if self._name_or_scope is None:
                count = store.counts.get(name, 0)
                while count and f"{name}_{count}" in store.counts:
                    count += 1
                store.counts[name] = store.counts.get(name, 0) + 1
                if count:
                    name, short = f"{name}_{count}", f"{short}_{count}"
            reuse = self._reuse or before.reuse
        store.counts.setdefault(name, 1)
        stack = ExitStack()
        if self._with_names and short:
            stack.enter_context(names_of(short))
        opened = f"{state.name_scope}/" if state.name_scope else ""
        scope = base._copy(**self._changed)
        scope.name, scope.reuse = name, reuse
        if not isinstance(self._name_or_scope, VariableScope):
            scope.original_name_scope = opened
        counts = dict(store.counts)
        store.scope = scope
        stack.callback(_leave, store, before, name, counts)
        self._stacks.append(stack)
        return scope

    def __exit__(self, *error: Any) -> None:
        self._stacks.pop().close()


def _leave(store: _Store, before: VariableScope, name: str, counts: dict[str, int]) -> None:
    """Closes a scope: default names inside of it begin anew when it is opened again."""
    store.scope = before
    inside = [n for n in store.counts if n.startswith(f"{name}/")]
    for n in inside:
        if n not in counts:
            del store.counts[n]


def names_of(name: str) -> AbstractContextManager[None]:
    """Returns a name scope of its own, with a number if the graph has a scope of that name."""
    if state.graph is not None:
        return in_name_scope(state.graph.unique_name(name))
    return in_name_scope(f"{state.name_scope}/{name}" if state.name_scope else name)


def in_name_scope(scope: str) -> override:
    """Enters a name scope by its whole name."""
    return override(state, name_scope=scope)


# ---- variables -------------------------------------------------------------------------------------------------------


def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool | None = None,
    collections: Sequence[str] | None = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Callable[..., Any] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Returns the variable of a name in the current variable scope: the existing one, or a new one.

    Args:
        name: its name below the scope.
        shape: its shape; not with an `initializer` that is a value.
        dtype: by default the scope's, float32.
        initializer: a value, or a function of a shape (and dtype) or of nothing. By default Glorot's uniform
            initializer, and zeros for integers and booleans.
        regularizer: a function of the variable, whose result is added to the collection of regularization losses.
        trainable: whether it is in the collection of trainable variables.
        collections: the collections that it is added to; by default the collection of global variables.
        partitioner: a function of shape and dtype that returns the number of parts of each dimension, a list of ints.
            At most one may exceed 1.
        custom_getter: called in place of this function, with it as its first argument.
        constraint, synchronization, aggregation: see `tf.Variable`.
        caching_device, validate_shape, use_resource: accepted, and without effect.

    Returns:
        A `tf.Variable`; with a partitioner a `PartitionedVariable`, unless it is a scalar.

    Raises:
        ValueError: the variable is there and must be new, or the other way round, or is of another shape or dtype.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.compat.v1.get_variable("w", [2], initializer=tf.compat.v1.zeros_initializer())
        ...     print(v)
        <tf.Variable 'w:0' shape=(2,) dtype=float32>
    """
    options = {k: v for k, v in locals().items() if k != "name"}
    return _get(get_variable_scope(), name, **options)


def get_local_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike = None,
    initializer: Callable[..., Any] | None = None,
    regularizer: Callable[..., Any] | None = None,
    trainable: bool = False,
    collections: Sequence[str] | None = None,
    caching_device: Any = None,
    partitioner: Callable[..., Any] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Callable[..., Any] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Does the same as `get_variable`, for a variable that is not trained and is in the collection of local variables.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.compat.v1.get_local_variable("count", [])
        ...     print(len(tf.compat.v1.local_variables()), len(tf.compat.v1.global_variables()))
        1 0
    """
    options = {k: v for k, v in locals().items() if k != "name"}
    options["collections"] = [*(collections or ()), GraphKeys.LOCAL_VARIABLES]
    options["trainable"] = False
    return _get(get_variable_scope(), name, **options)


def _get(scope: VariableScope, name: str, custom_getter: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Calls `get_variable` with the scope's defaults for the arguments that are None."""
    full = f"{scope.name}/{name}" if scope.name else str(name)
    for key in ("initializer", "regularizer", "partitioner", "constraint"):
        if options.get(key) is None:
            options[key] = getattr(scope, key)
    options["reuse"] = scope.reuse
    options["dtype"] = _dtype(options.get("dtype"), options["initializer"], scope)
    getter = custom_getter or scope.custom_getter
    if getter is None:
        return get_or_create(full, **options)
    return getter(get_or_create, full, **options)


def _dtype(dtype: DTypeLike, initializer: Callable[..., Any], scope: VariableScope) -> Any:
    explicit = None if dtype is None else as_dtype(dtype).base_dtype
    if initializer is None or callable(initializer):
        return scope.dtype if explicit is None else explicit
    value_dtype = convert(initializer).dtype
    if explicit is not None and explicit is not value_dtype:
        raise ValueError(f"Initializer type '{value_dtype!r}' and explicit dtype '{explicit!r}' don't match.")
    return value_dtype


def get_or_create(
    name: str,
    shape: ShapeLike = None,
    dtype: Any = float32,
    initializer: Any = None,
    regularizer: Callable[..., Any] | None = None,
    reuse: bool | None = None,
    trainable: bool | None = None,
    collections: Sequence[str] | None = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    constraint: Callable[..., Any] | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """Returns the variable of a full name, see `get_variable`."""
    dims = None if shape is None else TensorShape(shape)
    existing = _store().variables.get(name) if state.graph is not None else None
    if isinstance(existing, PartitionedVariable):
        _check_shared(existing, name, dims, dtype, reuse)
        check_parts(existing, dims, dtype, partitioner)
        return existing
    if existing is not None:
        _check_shared(existing, name, dims, dtype, reuse)
        return existing
    if reuse is True and state.graph is not None:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if initializer is None:
        initializer = _default_initializer(name, dtype)

    def make(name: str, shape: TensorShape | None, initializer: Callable[..., Any]) -> Variable:
        return _create(
            name, shape, dtype, initializer, regularizer, collections, trainable=trainable, constraint=constraint,
            synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip

    variable: Any
    if partitioner is None or (dims is not None and dims.rank == 0):
        variable = make(name, dims, initializer)
    else:
        variable = create_in_parts(name, dims, dtype, initializer, partitioner, make)
    if state.graph is not None:
        _store().variables[name] = variable
    return variable


def _create(
    name: str,
    shape: TensorShape | None,
    dtype: DTypeLike,
    initializer: Callable[..., Any],
    regularizer: Callable[..., Any] | None,
    collections: Sequence[str] | None,
    **options: Any,
) -> Variable:
    """Returns a new variable."""
    with _outside_of_functions():
        with at_the_root(name):
            value = _first_value(name, initializer, shape, dtype)
        with at_the_root(""):
            variable = Variable(value, name=name, dtype=dtype, **options)
        in_collections(variable, collections)
    if regularizer is not None:
        with at_the_root(f"{name}/Regularizer"):
            loss = regularizer(variable)
        if loss is not None and state.graph is not None:
            state.graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _outside_of_functions() -> AbstractContextManager[None]:
    """Returns a context of the graph itself, for variables that are created while a loop or a branch is built."""
    graph = state.graph
    if graph is None or not graph.building_function:
        return nullcontext()
    while graph is not None and graph.building_function:
        graph = graph.around
    return nullcontext() if graph is None else init_scope()


def _check_shared(existing: Any, name: str, shape: TensorShape | None, dtype: Any, reuse: Any) -> None:
    if not reuse:
        raise ValueError(
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
            "VarScope?"
        )
    if shape is not None and not shape.is_compatible_with(existing.shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {shape} and found shape {existing.shape}."
        )
    if not dtype.is_compatible_with(existing.dtype):
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype {existing.dtype.name}."
        )


def _default_initializer(name: str, dtype: Any) -> Any:
    if dtype.is_floating:
        return initializers.glorot_uniform()
    if dtype.is_integer or dtype.is_bool or dtype is string:
        return initializers.zeros(dtype)
    raise ValueError(f"An initializer for variable {name} of {dtype} is required")


def _first_value(name: str, initializer: Any, shape: TensorShape | None, dtype: Any) -> Any:
    """Returns the initializer's value."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return convert(initializer, None if hasattr(initializer, "dtype") else dtype)
    if shape is not None and shape.is_fully_defined():
        return _of_shape(initializer, shape.as_list(), dtype)
    if _needs_arguments(initializer):
        if shape is None:
            raise ValueError(f"Variable {name} did not get an initializer, so its `shape` argument must be specified.")
        raise ValueError(f"Shape of a new variable ({name}) must be fully defined, but instead was {shape}.")
    return initializer()


def _of_shape(initializer: Callable[..., Any], shape: list[int], dtype: DTypeLike) -> Any:
    parameters = _parameters(initializer)
    if not parameters:
        return initializer()
    takes_dtype = "dtype" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return initializer(shape, dtype=dtype) if takes_dtype else initializer(shape)


def _parameters(function: Callable[..., Any]) -> Any:
    return inspect.signature(function).parameters


def _needs_arguments(function: Callable[..., Any]) -> bool:
    return any(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in _parameters(function).values()
    )


@contextmanager
def at_the_root(name: str) -> Iterator[None]:
    """Sets a name scope of that full name, without control dependencies."""
    before = state.name_scope
    state.name_scope = name
    try:
        if state.graph is None:
            yield
        else:
            with state.graph.control_dependencies(None):
                yield
    finally:
        state.name_scope = before


def create_partitioned_variables(
    shape: Any,
    slicing: Sequence[int],
    initializer: Callable[..., Any],
    dtype: DTypeLike = float32,
    trainable: bool = True,
    collections: Sequence[str] | None = None,
    name: str | None = None,
    reuse: bool | None = None,
) -> list[Variable]:
    """Returns the parts of a variable, see `tf.compat.v1.get_variable`.

    Args:
        shape: of the whole.
        slicing: a list of ints, the number of parts of each dimension; at most one exceeds 1.
        initializer: see `get_variable`.
        dtype, trainable, collections: see `get_variable`.
        name: of the whole; by default "PartitionedVariable".
        reuse: see `tf.compat.v1.variable_scope`.

    Raises:
        ValueError: it can't be cut so.

    Example:
        >>> with tf.Graph().as_default():
        ...     parts = tf.compat.v1.create_partitioned_variables([4, 2], [2, 1], tf.compat.v1.zeros_initializer())
        ...     print([part.name for part in parts])
        ['PartitionedVariable/part_0:0', 'PartitionedVariable/part_1:0']
    """
    if len(shape) != len(slicing):
        raise ValueError(f"The 'shape' and 'slicing' must be of the same length: {shape} vs. {slicing}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        whole = get_or_create(
            scope.name, shape, as_dtype(dtype), initializer, reuse=scope.reuse, trainable=trainable,
            collections=collections, partitioner=lambda **_: list(slicing),
        )  # fmt: skip
    return list(whole)
