"""`tf.compat.v1.train.QueueRunner`: threads that fill a queue."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.logger import get_logger
from tapeflow.core.protos import QueueRunnerDef
from tapeflow_compat.compat.v1.session import Session
from tapeflow_compat.compat.v1.variables import GraphKeys, add_to_collection, get_collection
from tapeflow_compat.default_graph import get_default_graph, get_default_session
from tapeflow_compat.queue.waits import ending, stopped_at_exit

if TYPE_CHECKING:
    from tapeflow.graph.ir.operation import Operation


class QueueRunner:
    """Runs the operations that add to a queue, each in a loop in a thread of its own.

    A thread ends when its operation raises an exception in `queue_closed_exception_types`; the last thread closes the
    queue.

    Args:
        queue: a queue, such as `tf.queue.FIFOQueue`.
        enqueue_ops: a list of operations that add to the queue; each gets a thread.
        close_op: an operation that closes the queue; by default `queue.close()`.
        cancel_op: an operation that closes the queue and cancels pending enqueues; by default
            `queue.close(cancel_pending_enqueues=True)`.
        queue_closed_exception_types: the `tf.errors` of a queue without elements; by default `OutOfRangeError`.
        queue_runner_def: a `QueueRunnerDef` message, in place of the other arguments.
        import_scope: a string, a scope to prefix to the names in the message, or None.

    Raises:
        ValueError: the queue or the operations are missing, or passed beside the message.
        TypeError: `queue_closed_exception_types` is no tuple of `tf.errors`.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     queue = tf.queue.FIFOQueue(10, tf.int32, shapes=[])
        ...     runner = tf.compat.v1.train.QueueRunner(queue, [queue.enqueue_many([[1, 2, 3]])])
        ...     coordinator = tf.train.Coordinator()
        ...     threads = runner.create_threads(sess, coordinator, start=True)
        ...     print(sess.run(queue.dequeue_many(4)))
        ...     coordinator.request_stop()
        ...     coordinator.join(threads)
        [1 2 3 1]
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: tuple[type[errors.OpError], ...] | None = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if state.graph is None:
            raise RuntimeError(
                "QueueRunners are not supported when eager execution is enabled. Instead, please use tf.data to get "
                "data into your model."
            )
        if queue_runner_def is not None:
            if queue is not None or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._take(queue_runner_def, import_scope)
        else:
            if queue is None or not enqueue_ops:
                raise ValueError("Must provide queue and enqueue_ops.")
            _check_types(queue_closed_exception_types)
            self._queue, self._enqueue_ops = queue, list(enqueue_ops)
            self._close_op = queue.close() if close_op is None else close_op
            self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
            self._ends = queue_closed_exception_types or (errors.OutOfRangeError,)
        self._lock = new_lock()
        self._running: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._raised: list[Exception] = []

    def _take(self, definition: Any, scope: str | None) -> None:
        graph = get_default_graph()
        prefix = f"{scope}/" if scope else ""
        self._queue = graph.as_graph_element(prefix + definition.queue_name)
        self._enqueue_ops = [graph.as_graph_element(prefix + name) for name in definition.enqueue_op_name]
        self._close_op = graph.as_graph_element(prefix + definition.close_op_name)
        self._cancel_op = graph.as_graph_element(prefix + definition.cancel_op_name)
        codes = definition.queue_closed_exception_types
        self._ends = tuple(map(errors.exception_type_from_error_code, codes)) or (errors.OutOfRangeError,)

    # ---- attributes ------------------------------------------------------------------------------------------------

    @property
    def queue(self) -> Any:
        """The queue."""
        return self._queue

    @property
    def name(self) -> str:
        """The queue's name."""
        return self._queue.name

    @property
    def enqueue_ops(self) -> list[Any]:
        """The operations that add to the queue."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """The operation that closes the queue."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """The operation that closes the queue and cancels its pending enqueues."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[errors.OpError], ...]:
        """The types of the errors that say that there are no more elements."""
        return self._ends

    @property
    def exceptions_raised(self) -> list[Exception]:
        """The errors of threads without a coordinator."""
        return self._raised

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Returns the runner as a `QueueRunnerDef` message; None if it is outside of a scope.

        Args:
            export_scope: a string, a scope to remove from the names, or None.
        """
        if export_scope is not None and not self.name.startswith(export_scope):
            return None

        def name(element: Any) -> str:
            return element.name.removeprefix(f"{export_scope}/") if export_scope else element.name

        return QueueRunnerDef(
            queue_name=name(self._queue),
            enqueue_op_name=map(name, self._enqueue_ops),
            close_op_name=name(self._close_op),
            cancel_op_name=name(self._cancel_op),
            queue_closed_exception_types=[errors.error_code_from_exception_type(kind) for kind in self._ends],
        )

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """Returns the queue runner of a message. Its queue and operations are looked up in the default graph.

        Args:
            queue_runner_def: a `QueueRunnerDef` message.
            import_scope: a string, a scope to prefix to the names in the message, or None.

        Raises:
            KeyError: the graph lacks the queue or an operation.
            RuntimeError: no graph is being built.
        """
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)

    # ---- threads -----------------------------------------------------------------------------------------------------

    def create_threads(
        self, sess: Session, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Returns the threads that fill the queue in a session; none if they run there already.

        Args:
            sess: the session.
            coord: the coordinator, which stops them and receives their errors.
            daemon: whether the threads end with the program; False by default.
            start: whether to start the threads; False by default.
        """
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._raised = []
        prefix = f"QueueRunnerThread-{self.name}"
        threads = [
            threading.Thread(target=self._fill, args=(sess, op, coord), name=f"{prefix}-{op.name}")
            for op in self._enqueue_ops
        ]
        if coord is not None:
            threads.append(
                threading.Thread(target=self._cancel_on_stop, args=(sess, coord), name=f"{prefix}-close_on_stop")
            )
        for thread in threads:
            stopped_at_exit(thread, coord)
            if coord is not None:
                coord.register_thread(thread)
            thread.daemon = daemon
            if start:
                thread.start()
        return threads

    def _fill(self, sess: Session, operation: Operation, coord: Any) -> None:
        """Runs an enqueue operation in a loop, in a thread."""
        ended = False
        try:
            run = sess.make_callable(operation)
            while coord is None or not coord.should_stop():
                try:
                    run()
                except self._ends:
                    ended = True
                    break
        except Exception as error:
            if ending():
                return
            if coord is not None:
                coord.request_stop(error)
                return
            get_logger().error("Exception in QueueRunner: %s", error)
            with self._lock:
                self._raised.append(error)
            raise
        finally:
            with self._lock:
                self._running[sess] -= 1
                last = self._running[sess] == 0
            if ended and last:
                _run_quietly(sess, self._close_op)

    def _cancel_on_stop(self, sess: Session, coord: Any) -> None:
        coord.wait_for_stop()
        _run_quietly(sess, self._cancel_op)


def _run_quietly(sess: Session, operation: Operation) -> None:
    """Runs an operation of a session that may be closed."""
    try:
        sess.run(operation)
    except Exception as error:
        get_logger().debug("Ignored exception: %s", error)


def _check_types(kinds: Any) -> None:
    if kinds is None:
        return
    if not isinstance(kinds, tuple) or not kinds or not all(issubclass(kind, errors.OpError) for kind in kinds):
        raise TypeError(
            f"queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: {kinds}"
        )


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a queue runner to a collection of the default graph, for `start_queue_runners` to find.

    Args:
        qr: a `QueueRunner`.
        collection: the key of the collection; by default the one of all queue runners.

    Example:
        >>> with tf.Graph().as_default():
        ...     queue = tf.queue.FIFOQueue(10, tf.int32)
        ...     tf.compat.v1.train.add_queue_runner(tf.compat.v1.train.QueueRunner(queue, [queue.enqueue(1)]))
        ...     print(len(tf.compat.v1.get_collection("queue_runners")))
        1
    """
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Session | None = None,
    coord: Any = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts the threads of all queue runners of the default graph.

    Args:
        sess: the session; by default the default one. A monitored session has started them already.
        coord: the coordinator, which stops them and receives their errors.
        daemon: whether the threads end with the program; True by default.
        start: whether to start the threads; True by default.
        collection: the runners' collection.

    Returns:
        The threads.

    Raises:
        ValueError: there is no session.
        TypeError: `sess` is no session.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     number = tf.compat.v1.train.range_input_producer(3, shuffle=False).dequeue()
        ...     coordinator = tf.train.Coordinator()
        ...     threads = tf.compat.v1.train.start_queue_runners(coord=coordinator)
        ...     print(sess.run(number), sess.run(number))
        ...     coordinator.request_stop()
        ...     coordinator.join(threads)
        0 1
    """
    if state.graph is None:
        raise RuntimeError("Queues are not compatible with eager execution.")
    sess = get_default_session() if sess is None else sess
    if sess is None:
        raise ValueError(
            "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an "
            "explicit session to tf.start_queue_runners(sess=sess)"
        )
    if not isinstance(sess, Session):
        from tapeflow_compat.compat.v1.train.monitored import _MonitoredSession  # which starts queue runners

        if isinstance(sess, _MonitoredSession):
            return []
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    runners = get_collection(collection)
    if not runners:
        get_logger().warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. You can safely remove the "
            "call to this deprecated function."
        )
    with sess.graph.as_default():
        return [thread for runner in runners for thread in runner.create_threads(sess, coord, daemon, start)]
