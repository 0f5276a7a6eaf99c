"""The classes that create the sessions of monitored sessions."""

from __future__ import annotations

import abc
from typing import Any

from tapeflow_compat.compat.v1.session import Session
from tapeflow_compat.compat.v1.train.scaffold import Scaffold
from tapeflow_compat.compat.v1.train.session_manager import SessionManager
from tapeflow_compat.default_graph import get_default_graph


class SessionCreator(abc.ABC):
    """Base class of the objects that create sessions.

    Example:
        >>> class Plain(tf.compat.v1.train.SessionCreator):
        ...     def create_session(self):
        ...         return tf.compat.v1.Session()
        >>> with tf.Graph().as_default():
        ...     x = tf.constant(1.0)
        ...     with tf.compat.v1.train.MonitoredSession(Plain()) as sess:
        ...         print(sess.run(x))
        1.0
    """

    @abc.abstractmethod
    def create_session(self) -> Any:
        """Returns a new session."""


def _manager(scaffold: Scaffold) -> SessionManager:
    """Returns the session manager of a finalized scaffold."""
    return SessionManager(
        local_init_op=scaffold.local_init_op,
        local_init_feed_dict=scaffold.local_init_feed_dict,
        ready_op=scaffold.ready_op,
        ready_for_local_init_op=scaffold.ready_for_local_init_op,
        graph=get_default_graph(),
    )


class ChiefSessionCreator(SessionCreator):
    """Creates sessions that begin with a checkpoint, or with initializers where there is none.

    Args:
        scaffold: a `Scaffold`, the operations that a session needs; by default the graph's operations.
        master, config: see `Session`.
        checkpoint_dir: a path, the folder whose latest checkpoint is restored.
        checkpoint_filename_with_path: a path, the checkpoint to restore instead.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(3.0)
        ...     print(tf.compat.v1.train.ChiefSessionCreator().create_session().run(v))
        3.0
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        self._scaffold = Scaffold() if scaffold is None else scaffold
        self._master, self._config = master, config
        self._directory, self._path = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self) -> Session:
        """Returns a session that is ready.

        Raises:
            RuntimeError: something has no value.
        """
        scaffold = self._scaffold.finalize()
        return _manager(scaffold).prepare_session(
            self._master,
            init_op=scaffold.init_op,
            saver=scaffold.saver,
            checkpoint_dir=self._directory,
            checkpoint_filename_with_path=self._path,
            config=self._config,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )


class WorkerSessionCreator(SessionCreator):
    """Creates sessions that wait until their variables are initialized.

    A session has variables of its own here. Only a graph without variables is ready.

    Args:
        scaffold: a `Scaffold`, the operations that a session needs; by default the graph's operations.
        master, config: see `Session`.
        max_wait_secs: a float, the longest wait in seconds.

    Example:
        >>> with tf.Graph().as_default():
        ...     x = tf.constant(1.0)
        ...     print(tf.compat.v1.train.WorkerSessionCreator().create_session().run(x))
        1.0
    """

    def __init__(
        self, scaffold: Scaffold | None = None, master: str = "", config: Any = None, max_wait_secs: float = 30 * 60
    ) -> None:
        self._scaffold = Scaffold() if scaffold is None else scaffold
        self._master, self._config, self._max_wait_secs = master, config, max_wait_secs

    def create_session(self) -> Session:
        """Returns a session that is ready.

        Raises:
            DeadlineExceededError: it did not become ready.
        """
        manager = _manager(self._scaffold.finalize())
        return manager.wait_for_session(self._master, self._config, self._max_wait_secs)
