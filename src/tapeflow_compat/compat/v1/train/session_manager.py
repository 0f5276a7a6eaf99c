"""`tf.compat.v1.train.SessionManager`: sessions that begin with a checkpoint or with initializers."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core import errors
from tapeflow.core.logger import get_logger
from tapeflow.train.states import get_checkpoint_state
from tapeflow_compat.compat.v1.session import Session
from tapeflow_compat.compat.v1.variables import get_collection
from tapeflow_compat.default_graph import get_default_graph

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph
    from tapeflow.graph.ir.operation import Operation


class SessionManager:
    """Creates sessions whose variables are restored from a checkpoint or initialized.

    Args:
        local_init_op: an operation to run in every session once its variables have values.
        ready_op: an operation that returns the names of the uninitialized variables; none if the session is ready.
        ready_for_local_init_op: the same for the variables that `local_init_op` needs.
        graph: the graph; by default the default graph.
        recovery_wait_secs: a float, the seconds between two checks of the checkpoint or the variables; 30 by default.
        local_init_run_options: accepted, and without effect.
        local_init_feed_dict: a dict, the feeds of `local_init_op`.

    Raises:
        ValueError: there is a `ready_for_local_init_op`, and no `local_init_op`.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0)
        ...     init, ready = tf.compat.v1.global_variables_initializer(), tf.compat.v1.report_uninitialized_variables()
        ...     sess = tf.compat.v1.train.SessionManager(ready_op=ready).prepare_session("", init_op=init)
        ...     print(sess.run(v))
        1.0
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
        local_init_feed_dict: Any = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , ready_for_local_init_op "
                f"[{ready_for_local_init_op}]"
            )
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op, self._local_init_feed_dict = local_init_op, local_init_feed_dict
        self._ready_op, self._ready_for_local_init_op = ready_op, ready_for_local_init_op
        self._wait_seconds = recovery_wait_secs

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[..., Any] | None = None,
    ) -> Session:
        """Returns a session that is ready: with a checkpoint's values if there is one, and initialized otherwise.

        Args:
            master, config: see `Session`.
            init_op: initializes the variables if there is no checkpoint.
            saver: a `Saver` that restores the checkpoint.
            checkpoint_dir: a path, the folder whose latest checkpoint is restored.
            checkpoint_filename_with_path: a path, the checkpoint to restore instead.
            wait_for_checkpoint: whether to wait for a checkpoint if the folder has none; False by default.
            max_wait_secs: a float, the longest wait in seconds; 7200 by default.
            init_feed_dict: a dict, the feeds of `init_op`.
            init_fn: a function that is called with the session after `init_op`.

        Raises:
            RuntimeError: there is no checkpoint and nothing to initialize with, or something has no value then.
            ValueError: there is a folder and a checkpoint.
        """
        sess, restored = self._open_and_restore(
            master, config, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs
        )
        if not restored:
            if init_op is None and init_fn is None and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                sess.run(init_op, init_feed_dict)
            if init_fn is not None:
                init_fn(sess)
        missing = self._initialize_locally(sess)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready for local_init.  Init op: {_name(init_op)}, init fn: "
                f"{init_fn}, error: {missing}"
            )
        missing = _missing(self._ready_op, sess)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready.  Init op: {_name(init_op)}, init fn: {init_fn}, "
                f"local_init_op: {_name(self._local_init_op)}, error: {missing}"
            )
        return sess

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """Returns a session with a checkpoint's values, if there is one.

        Args:
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config:
                see `prepare_session`.

        Returns:
            The session, and whether it is ready with a checkpoint's values.
        """
        sess, restored = self._open_and_restore(
            master, config, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs
        )
        missing = self._initialize_locally(sess)
        if not restored:
            return sess, False
        missing = missing or _missing(self._ready_op, sess)
        if missing:
            where = checkpoint_dir or checkpoint_filename_with_path
            get_logger().info("Restoring model from %s did not make model ready: %s", where, missing)
        return sess, not missing

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float | None = math.inf) -> Session:
        """Waits until others have initialized the variables, and returns a session that is ready.

        Args:
            master, config: see `Session`.
            max_wait_secs: a float, the longest wait in seconds.

        Raises:
            DeadlineExceededError: it did not become ready.
        """
        most = math.inf if max_wait_secs is None else max_wait_secs
        until = time.monotonic() + most
        while True:
            sess = Session(master, graph=self._graph, config=config)
            missing = self._initialize_locally(sess) or _missing(self._ready_op, sess)
            if not missing:
                return sess
            with contextlib.suppress(Exception):
                sess.close()
            if time.monotonic() + self._wait_seconds > until:
                raise errors.DeadlineExceededError.of(f"Session was not ready after waiting {most} secs.")
            get_logger().info("Waiting for model to be ready: %s", missing)
            time.sleep(self._wait_seconds)

    # ---- steps -------------------------------------------------------------------------------------------------------

    def _open_and_restore(
        self, master: str, config: Any, saver: Any, directory: Any, path: Any, wait: bool, max_wait_secs: float
    ) -> tuple[Session, bool]:
        """Returns a new session, and whether it has a checkpoint's values."""
        if directory and path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        sess = Session(master, graph=self._graph, config=config)
        if saver is None or not (directory or path):
            return sess, False
        if path:
            self._restore(sess, saver, path)
            return sess, True
        until = time.monotonic() + max_wait_secs
        while not (checkpoint := get_checkpoint_state(directory)) or not checkpoint.model_checkpoint_path:
            if not wait or time.monotonic() >= until:
                return sess, False
            get_logger().info("Waiting for checkpoint to be available.")
            time.sleep(self._wait_seconds)
        self._restore(sess, saver, checkpoint.model_checkpoint_path)
        saver.recover_last_checkpoints(checkpoint.all_model_checkpoint_paths)
        return sess, True

    def _restore(self, sess: Session, saver: Any, path: Any) -> None:
        with self._graph.as_default():
            initializers = get_collection("saved_model_initializers")
        if initializers:
            sess.run(initializers)
        saver.restore(sess, path)

    def _initialize_locally(self, sess: Session) -> str:
        """Runs `local_init_op`, if the session is ready for it. Returns the names it still waits for, or ""."""
        if self._local_init_op is None:
            return ""
        missing = _missing(self._ready_for_local_init_op, sess)
        if not missing:
            get_logger().info("Running local_init_op.")
            sess.run(self._local_init_op, self._local_init_feed_dict)
            get_logger().info("Done running local_init_op.")
        return missing


def _missing(ready_op: Any, sess: Session) -> str:
    """Returns the names that an operation lists as missing in a session; none if the session is ready."""
    if ready_op is None:
        return ""
    try:
        names = sess.run(ready_op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            raise
        return str(error)
    if names is None or names.dtype.kind != "O" or not names.size:
        return ""
    return "Variables not initialized: " + ", ".join(name.decode() for name in names)


def _name(operation: Operation) -> str:
    return str(getattr(operation, "name", operation))
