"""`tf.compat.v1.Session`: runs parts of a graph, with values of its own for the graph's variables."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapeflow import errors, nest
from tapeflow.core.composite import CompositeTensor
from tapeflow.core.context import state
from tapeflow.core.convert import convert
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tensor import EagerTensor
from tapeflow.core.variable import Variable
from tapeflow.graph.compile import Compiled
from tapeflow.graph.graph import Graph
from tapeflow.graph.operation import Operation
from tapeflow.graph.python_op import executing_eagerly


class _Default(threading.local):
    def __init__(self) -> None:
        self.sessions: list[Any] = []
        self.graph: Graph | None = None


_default = _Default()


def get_default_session() -> Any:
    """The innermost session of this thread, or None."""
    return _default.sessions[-1] if _default.sessions else None


def get_default_graph() -> Graph:
    """The graph that this thread builds; outside of all, one that is there for this."""
    if state.graph is not None:
        return state.graph
    if _default.graph is None:
        _default.graph = Graph()
    return _default.graph


class Session:
    """Runs operations of a graph and gives values of its tensors.

    Args:
        target: accepted, and without effect.
        graph: the graph; the default one where it is not given.
        config: accepted, and without effect.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.compat.v1.placeholder(tf.float32)
        ...     y = tf.square(x)
        ...     print(sess.run(y, {x: 3.0}))
        9.0
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"Argument `graph` must be a tf.Graph, but got {type(graph).__name__}.")
        self._graph = get_default_graph() if graph is None else graph
        self._compiled: dict[Any, Compiled] = {}
        self._variables: dict[int, Variable] = {}
        self._closed = False
        self._scopes: list[Any] = []

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def sess_str(self) -> str:
        return ""

    def close(self) -> None:
        """Gives up the session's variables; nothing can be run any more."""
        self._closed = True
        self._compiled.clear()
        self._variables.clear()

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """Makes it the default session of this thread."""
        _default.sessions.append(self)
        try:
            yield self
        finally:
            _default.sessions.remove(self)

    def __enter__(self) -> Session:
        graph = self._graph.as_default()
        graph.__enter__()
        _default.sessions.append(self)
        self._scopes.append(graph)
        return self

    def __exit__(self, *error: Any) -> None:
        _default.sessions.remove(self)
        self._scopes.pop().__exit__(*error)
        self.close()

    # ---- running -------------------------------------------------------------------------------------------------

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """The values of tensors, and the effects of operations.

        Args:
            fetches: tensors, operations, variables, or their names, in any nest.
            feed_dict: from any tensor of the graph to a value that takes its place.

        Returns:
            NumPy values in the structure of `fetches`; None for operations.

        Raises:
            InvalidArgumentError: a placeholder is not fed.
            RuntimeError: the session is closed.
            TypeError, ValueError: a fetch or a feed is nothing of the graph, or a value does not fit.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        feeds = self._feeds(feed_dict or {})
        leaves = nest.flatten(fetches, expand_composites=True)
        wanted = [self._element(leaf) for leaf in leaves]
        tensors = [w for w in wanted if isinstance(w, SymbolicTensor)]
        operations = [w for w in wanted if isinstance(w, Operation)]
        key = (tuple([id(w) for w in wanted]), tuple([id(t) for t, _ in feeds]))
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = Compiled("run", [t for t, _ in feeds], tensors, operations, self._held)
            self._compiled[key] = compiled
        with executing_eagerly():
            try:
                values = iter(compiled(*[v.value for _, v in feeds]))
            except AttributeError as error:
                if "_value" not in str(error):
                    raise
                raise errors.FailedPreconditionError(
                    None,
                    None,
                    "A variable was read before it had a value: run its initializer (or "
                    "tf.compat.v1.global_variables_initializer()) in this session first.",
                ) from None
        out = []
        for w in wanted:
            if isinstance(w, SymbolicTensor):
                value = EagerTensor(next(values), w.dtype).numpy()
                out.append(value)
            else:
                out.append(None)
        return _repacked(fetches, out)

    def _element(self, leaf: Any) -> Any:
        if isinstance(leaf, Variable):
            return self._read(leaf)
        try:
            return self._graph.as_graph_element(leaf)
        except TypeError:
            raise TypeError(
                f"Fetch argument {leaf!r} has invalid type {type(leaf)}, must be a string or Tensor. (Can not convert a "
                f"{type(leaf).__name__} into a Tensor or Operation.)"
            ) from None
        except KeyError as error:
            raise ValueError(f"Fetch argument {leaf!r} cannot be interpreted as a Tensor. ({error})") from None

    def _read(self, variable: Variable) -> SymbolicTensor:
        """The value of a variable; of what an assignment gave, after the assignment."""
        change = vars(variable).get("_staged")
        key = variable._id if change is None else -change.index
        known = self._graph._reads.get(key)
        if known is None:
            with self._graph.as_default(), self._graph.control_dependencies([] if change is None else [change]):
                known = self._graph._reads[key] = self._graph.read_variable(variable)
        return known

    def _feeds(self, feed_dict: Any) -> list[tuple[SymbolicTensor, EagerTensor]]:
        found = []
        for target, value in feed_dict.items():
            target = target.deref() if hasattr(target, "deref") else target
            parts = nest.flatten(target, expand_composites=True) if isinstance(target, CompositeTensor) else [target]
            values = nest.flatten(value, expand_composites=True) if isinstance(target, CompositeTensor) else [value]
            for part, given in zip(parts, values, strict=True):
                try:
                    tensor = self._graph.as_graph_element(part, allow_operation=False)
                except (TypeError, KeyError) as error:
                    raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None
                if isinstance(given, SymbolicTensor):
                    raise TypeError("The value of a feed cannot be a tf.Tensor object.")
                with executing_eagerly():
                    fed = convert(np.asarray(given, dtype=tensor.dtype.as_numpy_dtype) if not isinstance(given, EagerTensor)
                                  and tensor.dtype.as_numpy_dtype is not object else given, tensor.dtype)  # fmt: skip
                if not tensor.shape.is_compatible_with(fed.shape):
                    raise ValueError(
                        f"Cannot feed value of shape {tuple(fed.shape)} for Tensor {tensor.name!r}, which has shape "
                        f"{tuple(tensor.shape)}"
                    )
                found.append((tensor, fed))
        return found

    def _held(self, variable: Variable) -> Variable:
        """This session's own value of a variable of the graph; a variable from outside is what it is."""
        if variable._id not in self._graph._own_variables:
            return variable
        held = self._variables.get(variable._id)
        if held is None:
            held = object.__new__(Variable)
            for slot in ("_aggregation", "_constraint", "_id", "_name", "_shape", "_synchronization", "_trainable", "dtype"):
                setattr(held, slot, getattr(variable, slot))
            held._shape = variable.shape
            held._tape_value = None
            self._variables[variable._id] = held
        return held


class InteractiveSession(Session):
    """A session that is the default one from its making until it is closed."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        _default.sessions.append(self)

    def close(self) -> None:
        if self in _default.sessions:
            _default.sessions.remove(self)
        super().close()


def _repacked(fetches: Any, values: list[Any]) -> Any:
    """The values in the structure of the fetches; composite tensors as TensorFlow's `...Value` tuples."""
    if not nest.is_nested(fetches) and not isinstance(fetches, CompositeTensor):
        return values[0]
    found = iter(values)

    def value(leaf: Any) -> Any:
        if isinstance(leaf, CompositeTensor):
            return tuple([next(found) for _ in nest.flatten(leaf, expand_composites=True)])
        return next(found)

    return nest.map_structure(value, fetches)


def global_variables_initializer() -> Operation:
    """An operation that gives every variable of the default graph its first value."""
    return variables_initializer(get_default_graph().get_collection("variables"))


def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """An operation that gives variables their first values."""
    from tapeflow.graph.operation import NodeOp

    graph = get_default_graph()
    with graph.as_default(), graph.control_dependencies([v.initializer for v in var_list]):
        return graph.insert(NodeOp("NoOp"), graph.unique_name(name), ())


def global_variables(scope: str | None = None) -> list[Any]:
    """The variables of the default graph."""
    return get_default_graph().get_collection("variables", scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """The trainable variables of the default graph."""
    return get_default_graph().get_collection("trainable_variables", scope)
