"""`tf.compat.v1.Session`: runs parts of a graph, with values of its own for the graph's variables."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow.config import list_logical_devices
from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.kernels import status_error
from tapeflow.core.rng.seeds import Streams, own_streams
from tapeflow.core.session_resources import Resources, in_use
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values import nest
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.indexed_slices import IndexedSlices, IndexedSlicesValue
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.ir.graph import Graph
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.graph.ir.variables import without_value
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.ragged.value import RaggedTensorValue
from tapeflow.sparse.tensor import SparseTensorValue
from tapeflow.train.cluster import TARGETS_OF_SEVERAL
from tapeflow_compat.compat.v1.session_tensors import TensorHandle
from tapeflow_compat.default_graph import get_default_graph
from tapeflow_compat.queue.together import RunTogether
from tapeflow_compat.queue.waits import time_limit
from tapeflow_compat.v1_graphs.frames import Dataflow
from tapeflow_compat.v1_graphs.partial_runs import PartialRun

if TYPE_CHECKING:
    from google.protobuf.message import Message

_handles = itertools.count(1)
_sessions: weakref.WeakSet[Session] = weakref.WeakSet()  # of this process, for `Session.reset`
_sessions_lock = new_lock()


class _Partial(NamedTuple):
    """The arguments of `partial_run_setup`, and the progress of its runs."""

    fetches: set[int]
    feeds: set[int]
    run: PartialRun


class Session:
    """Runs operations of a graph and gives values of its tensors.

    The variables of the graph have values of their own in each session, from their initializers on.

    Args:
        target: accepted, and without effect: a session runs in its own process.
        graph: the graph; by default the default graph.
        config: accepted, and without effect.

    Raises:
        TypeError: `target` is no string or `graph` no graph.
        UnimplementedError: `target` belongs to a `tf.distribute.Server` in a cluster of several processes.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.compat.v1.placeholder(tf.float32)
        ...     y = tf.square(x)
        ...     print(sess.run(y, {x: 3.0}))
        9.0
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if not isinstance(target, (str, bytes)):
            raise TypeError(f'Argument `target` must be a string, but got "{type(target).__name__}"')
        if target in TARGETS_OF_SEVERAL:
            raise errors.UnimplementedError.of(
                f"The target {target} is a server's in a cluster of several processes, and sessions run in one. Use "
                "tf.distribute.ParameterServerStrategy or tf.distribute.MultiWorkerMirroredStrategy."
            )
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{type(graph).__name__}"')
        self._graph = get_default_graph() if graph is None else graph
        self._compiled: dict[Any, Callable[..., Any]] = {}
        self._streams = Streams()  # another session draws the same numbers
        self._variables: dict[int, Variable] = {}
        self._partials: dict[str, _Partial] = {}
        self._resources = Resources()
        self._closed = self._was_reset = False
        self._scopes: list[Any] = []
        with _sessions_lock:
            _sessions.add(self)

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a `GraphDef` proto."""
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> bytes:
        """The target: empty, as for every session in this process."""
        return b""

    def list_devices(self) -> list[Any]:
        """Returns the devices that there are, as `tf.config.list_logical_devices` gives them."""
        return list_logical_devices()

    def close(self) -> None:
        """Frees the session's variables; nothing can be run any more, and pending queue operations are cancelled.

        Example:
            >>> sess = tf.compat.v1.Session(graph=tf.Graph())
            >>> sess.close()
            >>> sess.run([])
            Traceback (most recent call last):
            RuntimeError: Attempted to use a closed Session.
        """
        self._closed = True
        self._free()

    def _free(self) -> None:
        self._resources.close()
        self._compiled.clear()
        self._variables.clear()
        self._partials.clear()

    @staticmethod
    def reset(target: str, containers: Sequence[str] | None = None, config: Any = None) -> None:
        """Frees the variables of all sessions of this process, which can't be run any more.

        Args:
            target: the target of the sessions, see `Session`.
            containers, config: accepted, and without effect.

        Example:
            >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            ...     x = tf.constant(1.0)
            ...     tf.compat.v1.Session.reset("")
            ...     sess.run(x)
            Traceback (most recent call last):
            tapeflow.errors.CancelledError: Session has been closed.
        """
        with _sessions_lock:
            sessions = list(_sessions)
        for session in sessions:
            session._was_reset = True
            session._free()

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """Makes it the default session of this thread; leaving does not close it.

        Example:
            >>> with tf.Graph().as_default():
            ...     c = tf.constant(2.0)
            >>> with tf.compat.v1.Session(graph=c.graph).as_default():
            ...     print(c.eval())
            2.0
        """
        state.sessions.append(self)
        try:
            yield self
        finally:
            state.sessions.remove(self)

    def __enter__(self) -> Session:
        graph = self._graph.as_default()
        graph.__enter__()
        state.sessions.append(self)
        self._scopes.append(graph)
        return self

    def __exit__(self, *error: Any) -> None:
        state.sessions.remove(self)
        self._scopes.pop().__exit__(*error)
        self.close()

    # ---- running -------------------------------------------------------------------------------------------------

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Message | None = None) -> Any:
        """Computes tensors and runs operations.

        Args:
            fetches: tensors, operations, variables, or their names, in any nest.
            feed_dict: from any tensor of the graph (or its name) to a value of its dtype and shape, which takes
                its place.
            options: a `RunOptions` message, which says how long it may wait for queues.
            run_metadata: accepted, and without effect.

        Returns:
            NumPy values in the structure of `fetches`; None for operations.

        Raises:
            InvalidArgumentError: a placeholder is not fed.
            FailedPreconditionError: a variable has no value in this session yet.
            DeadlineExceededError: it waited for a queue for longer than it may.
            RuntimeError: the session is closed.
            TypeError, ValueError: a fetch or a feed is not in the graph, or a value does not fit.

        Example:
            >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            ...     a = tf.constant([1.0, 2.0])
            ...     sess.run({"twice": a * 2.0, "sum": tf.reduce_sum(a)}, {a: [3.0, 4.0]})
            {'twice': array([6., 8.], dtype=float32), 'sum': np.float32(7.0)}
        """
        feeds = self._feeds(feed_dict)
        elements = self._elements(fetches)
        tensors = [w for w in elements if isinstance(w, SymbolicTensor)]
        key = (tuple([id(w) for w in elements]), tuple([id(t) for t, _ in feeds]))
        limit = 0 if options is None else options.timeout_in_ms / 1000
        with executing_eagerly(), in_use(self._resources), own_streams(self._streams), time_limit(limit):
            try:
                compiled = self._compiled.get(key)
                if compiled is None:
                    operations = [w for w in elements if isinstance(w, Operation)]
                    compiled = self._compiled[key] = self._compile([t for t, _ in feeds], tensors, operations)
                values = iter(compiled(*[v.value for _, v in feeds]))
            except AttributeError as error:
                raise status_error(error) or error from None
        return _repacked(
            fetches, [_fetched(next(values), w) if isinstance(w, SymbolicTensor) else None for w in elements]
        )

    def _compile(
        self, fed: Sequence[SymbolicTensor], tensors: Sequence[SymbolicTensor], operations: Sequence[Operation]
    ) -> Callable[..., Any]:
        """Returns a part of the graph as a function of the raw values that are fed."""
        if self._graph.has_control_flow:
            dataflow = Dataflow(fed, tensors, operations, self._held)
            if dataflow.needed:
                return dataflow
        together = RunTogether(fed, tensors, operations, self._held)
        return together if together.needed() else Compiled("run", fed, tensors, operations, self._held)

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """Returns a function of the values of some tensors that runs the session.

        Args:
            fetches: see `run`.
            feed_list: the tensors whose values the function takes, in order.
            accept_options: it also takes `options` and `run_metadata`, as `run`.

        Raises:
            RuntimeError: the session is closed.
            TypeError: `feed_list` is no list.

        Example:
            >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            ...     x = tf.compat.v1.placeholder(tf.float32)
            ...     square = sess.make_callable(x * x, [x])
            ...     print(square(3.0), square(4.0))
            9.0 16.0
        """
        self._check_open()
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("Argument `feed_list` must be a list or tuple.")
        tensors = list(feed_list or ())
        self._elements(fetches)

        def call(*values: Any, options: Any = None, run_metadata: Message | None = None) -> Any:
            return self.run(fetches, dict(zip(tensors, values, strict=False)), options)

        return call if accept_options else lambda *values: call(*values)

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., Any]:
        """Returns the function that a `CallableOptions` message describes; Keras 2 asks for it.

        It takes the values of the feeds, and returns the values of the fetches.
        """
        self._check_open()
        feeds, fetches = list(callable_options.feed), list(callable_options.fetch)
        targets, connections = list(callable_options.target), list(callable_options.tensor_connection)

        def call(*values: Any, run_metadata: Message | None = None) -> list[Any]:
            fed = dict(zip(feeds, values, strict=True))
            if connections:  # tensors that take the places of others
                sources = self.run([c.from_tensor for c in connections], fed)
                fed.update(zip([c.to_tensor for c in connections], sources, strict=True))
            return self.run([fetches, targets], fed, callable_options.run_options)[0]

        return call

    # ---- running in parts --------------------------------------------------------------------------------------------

    def partial_run_setup(self, fetches: Any, feeds: Sequence[Any] | None = None) -> str:
        """Announces the fetches and feeds of a run in several parts. Every operation runs at most once in the run.

        Args:
            fetches: all fetches of the parts.
            feeds: all the tensors that they will feed.

        Returns:
            A handle for `partial_run`.

        Raises:
            InvalidArgumentError: there is nothing to fetch.
            RuntimeError: the session is closed.

        Example:
            >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            ...     x, y = tf.compat.v1.placeholder(tf.float32), tf.compat.v1.placeholder(tf.float32)
            ...     total, product = x + 1.0, (x + 1.0) * y
            ...     handle = sess.partial_run_setup([total, product], [x, y])
            ...     first = sess.partial_run(handle, total, {x: 2.0})
            ...     print(first, sess.partial_run(handle, product, {y: first}))
            3.0 9.0
        """
        elements = self._elements(fetches)
        if not elements:
            raise errors.InvalidArgumentError.of("Must specify at least one target to fetch or execute.")
        targets = [self._target(feed) for feed in feeds or ()]
        handle = f"run_{next(_handles)}"
        self._partials[handle] = _Partial({id(w) for w in elements}, {id(t) for t in targets}, PartialRun(self._held))
        return handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """Goes on with a run that `partial_run_setup` announced.

        Args:
            handle: the result of `partial_run_setup`.
            fetches: some of the announced fetches, each once.
            feed_dict: values for some of the feeds that were announced.

        Returns:
            Values in the structure of `fetches`, as `run` gives.

        Raises:
            InvalidArgumentError: a fetch or feed was not announced or was used before, or a fetch needs a value that
                was not fed yet.
        """
        self._check_open()
        partial = self._partials.get(handle)
        if partial is None:
            raise errors.InvalidArgumentError.of("Must run 'setup' before performing partial runs!")
        feeds, elements = self._feeds(feed_dict), self._elements(fetches)
        for kind, announced, items in (
            ("feed", partial.feeds, [t for t, _ in feeds]),
            ("fetch", partial.fetches, elements),
        ):
            for item in items:
                if id(item) not in announced:
                    raise errors.InvalidArgumentError.of(
                        f"The {kind} {item.name} was not specified in partial_run_setup, or is done already."
                    )
        with executing_eagerly(), in_use(self._resources), own_streams(self._streams):
            try:
                values = partial.run.resume({id(t): v.value for t, v in feeds}, elements)
            except AttributeError as error:
                raise status_error(error) or error from None
        partial.feeds.difference_update(id(t) for t, _ in feeds)
        partial.fetches.difference_update(id(w) for w in elements)
        if not partial.fetches:
            del self._partials[handle]
        return _repacked(
            fetches,
            [_fetched(v, w) if isinstance(w, SymbolicTensor) else None for v, w in zip(values, elements, strict=True)],
        )

    # ---- fetches and feeds -------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._was_reset:
            raise errors.CancelledError.of("Session has been closed.")

    def _elements(self, fetches: Any) -> list[Any]:
        """Returns the tensors and operations that fetches stand for."""
        self._check_open()
        return [element for leaf in nest.flatten(fetches) for element in self._elements_of(leaf)]

    def _elements_of(self, leaf: Any) -> list[Any]:
        """Returns the tensors and operations of a fetch, which may be a composite tensor with constant components."""
        if not isinstance(leaf, CompositeTensor):
            return [self._element(leaf)]
        parts = nest.flatten(leaf, expand_composites=True)
        with self._graph.extend():
            return [self._graph.capture(p) if isinstance(p, EagerTensor) else self._element(p) for p in parts]

    def _element(self, leaf: Any) -> Any:
        if leaf is None:
            raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
        try:
            if isinstance(leaf, Variable):
                return self._graph.read_of(leaf, vars(leaf).get("_staged"))
            return self._graph.as_graph_element(leaf)
        except TypeError:
            kind = type(leaf).__name__
            raise TypeError(
                f'Argument `fetch` = {leaf} has invalid type "{kind}" must be a string or Tensor. (Can not convert a '
                f"{kind} into a Tensor or Operation.)"
            ) from None
        except (KeyError, ValueError) as error:
            raise ValueError(f"Argument `fetch` = {leaf} cannot be interpreted as a Tensor. ({error})") from None

    def _target(self, key: Any) -> SymbolicTensor:
        """Returns the tensor that a key of a feed stands for."""
        try:
            return self._graph.as_graph_element(key, allow_operation=False)
        except (TypeError, KeyError, ValueError) as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from None

    def _feeds(self, feed_dict: Any) -> list[tuple[SymbolicTensor, EagerTensor]]:
        """Returns tensors of the graph with the values that take their places."""
        self._check_open()
        if feed_dict is not None and not isinstance(feed_dict, Mapping):
            raise TypeError(f"Argument `feed_dict` must be a dictionary, not a {type(feed_dict).__name__}.")
        feeds = []
        for key, value in (feed_dict or {}).items():
            target = key.deref() if hasattr(key, "deref") else key
            composite = isinstance(target, CompositeTensor)
            parts = nest.flatten(target, expand_composites=True) if composite else [target]
            values = _parts_of(value) if composite else [value]
            for part, part_value in zip(parts, values, strict=True):
                tensor = self._target(part)
                feeds.append((tensor, _fed(tensor, part_value)))
        return feeds

    def _held(self, variable: Variable) -> Variable:
        """Returns this session's own copy of a variable of the graph; a variable from outside unchanged."""
        if variable._id not in self._graph._own_variables:
            return variable
        held = self._variables.get(variable._id)
        if held is None:
            held = without_value(variable.dtype, variable.shape, variable._name, variable._trainable)
            held._id, held._constraint = variable._id, variable._constraint
            self._variables[variable._id] = held
        return held


class InteractiveSession(Session):
    """A session that is the default one from its making until it is closed.

    Args:
        target, graph, config: see `Session`; a `graph` argument becomes the default graph, too.

    Example:
        >>> g = tf.Graph()
        >>> sess = tf.compat.v1.InteractiveSession(graph=g)
        >>> print((tf.constant(2.0) * 3.0).eval())
        6.0
        >>> sess.close()
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        state.sessions.append(self)
        self._scope = None if graph is None else graph.as_default()
        if self._scope is not None:
            self._scope.__enter__()

    def close(self) -> None:
        """Ends the session, and its being the default."""
        if self in state.sessions:
            state.sessions.remove(self)
        if self._scope is not None:
            self._scope.__exit__(None, None, None)
            self._scope = None
        super().close()


def _fed(tensor: SymbolicTensor, value: Any) -> EagerTensor:
    """Returns the value of a feed as a tensor of the target's dtype.

    Raises:
        TypeError: it is symbolic, or too large an integer.
        ValueError: it does not fit the dtype or the shape.
    """
    if isinstance(value, SymbolicTensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, "
            f"strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} which was "
            f"passed to the argument `feed_dict` with key {tensor}."
        )
    if isinstance(value, TensorHandle):
        value = str(value) if tensor.dtype is string else value.eval()
    if not isinstance(value, EagerTensor):
        value = _as_array(tensor.dtype, value)
    with executing_eagerly():
        fed = convert(value, tensor.dtype)
    if not tensor.shape.is_compatible_with(fed.shape):
        raise ValueError(
            f"Cannot feed value of shape {tuple(fed.shape)} for Tensor {tensor.name}, which has shape "
            f"{_shape_text(tensor)}"
        )
    return fed


def _as_array(dtype: DType, value: Any) -> Any:
    kind = dtype.as_numpy_dtype
    if dtype is string or kind is object:
        return value
    if isinstance(value, int) and dtype.is_integer and not isinstance(value, bool):
        info = np.iinfo(kind)
        if not info.min <= value <= info.max:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type {kind}. Try "
                "explicitly setting the type of the feed tensor to a larger type (e.g. int64)."
            )
    return np.asarray(value, dtype=kind)


def _parts_of(value: Any) -> list[Any]:
    """Returns the components of a composite value, which may be a tuple of arrays."""
    if isinstance(value, RaggedTensorValue):
        return [value.flat_values, *value.nested_row_splits]
    return nest.flatten(value, expand_composites=True) if isinstance(value, CompositeTensor) else list(value)


def _shape_text(tensor: SymbolicTensor) -> str:
    return "<unknown>" if tensor.shape.rank is None else str(tuple(tensor.shape))


def _fetched(value: Any, tensor: SymbolicTensor) -> Any:
    if isinstance(value, Variable):  # the handle of one
        return box_object(value)
    return EagerTensor(value, tensor.dtype).numpy()


def _repacked(fetches: Any, values: list[Any]) -> Any:
    """Returns the values in the structure of the fetches; composite tensors as `...Value` tuples."""
    if not nest.is_nested(fetches) and not isinstance(fetches, CompositeTensor):
        return values[0]
    remaining = iter(values)

    def value(leaf: Any) -> Any:
        if not isinstance(leaf, CompositeTensor):
            return next(remaining)
        parts = [next(remaining) for _ in nest.flatten(leaf, expand_composites=True)]
        if isinstance(leaf, IndexedSlices):
            return IndexedSlicesValue(*parts, *[None] * (3 - len(parts)))
        if isinstance(leaf, RaggedTensor):
            return functools.reduce(RaggedTensorValue, reversed(parts[1:]), parts[0])
        return SparseTensorValue(*parts) if len(parts) == 3 else tuple(parts)

    return nest.map_structure(value, fetches)
