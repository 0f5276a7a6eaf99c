"""`tf.compat.v1.train.Scaffold`: the operations that a session needs before training can begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.identities import group
from tapeflow.train.checkpoint import Checkpoint
from tapeflow_compat.compat.v1.summary.kinds import merge_all
from tapeflow_compat.compat.v1.tables import tables_initializer
from tapeflow_compat.compat.v1.train.saver import Saver
from tapeflow_compat.compat.v1.train.saving_hooks import the_only_saver
from tapeflow_compat.compat.v1.variables import (
    GraphKeys,
    add_to_collection,
    get_collection,
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from tapeflow_compat.default_graph import get_default_graph


def first_or_new(key: str, make: Callable[[], Any]) -> Any:
    """Returns the first item of a collection of the default graph. If it is empty, creates an item and adds it.

    Args:
        key: a string, the collection.
        make: a function without arguments that creates the item. None is not added.
    """
    items = get_collection(key)
    if items:
        return items[0]
    item = make()
    if item is not None:
        add_to_collection(key, item)
    return item


class Scaffold:
    """The operations and objects that a training session needs; `finalize` looks up or creates those not specified.

    Args:
        init_op: initializes the variables if there is no checkpoint; by default all global variables.
        init_feed_dict: a dict, the feeds of `init_op`.
        init_fn: a function that is called with the scaffold and the session after `init_op`.
        ready_op: an operation that returns the names of the uninitialized variables; none if the session is ready.
        ready_for_local_init_op: the same for the variables that `local_init_op` needs.
        local_init_op: an operation that initializes local variables and tables, also after a checkpoint was restored.
        summary_op: the summary of the training; by default all summaries of the graph.
        saver: a `Saver` of the checkpoints; by default one of all variables.
        copy_from_scaffold: another scaffold, the source of the arguments that are not specified.
        local_init_feed_dict: what to feed to `local_init_op`.

    Raises:
        TypeError: `copy_from_scaffold` is no scaffold.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0)
        ...     scaffold = tf.compat.v1.train.Scaffold(
        ...         init_fn=lambda scaffold, sess: print("begins with", sess.run(v)))
        ...     with tf.compat.v1.train.MonitoredTrainingSession(scaffold=scaffold) as sess:
        ...         print(sess.run(v))
        begins with 1.0
        1.0
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Scaffold, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Scaffold | None = None,
        local_init_feed_dict: Any = None,
    ) -> None:
        self._user_init_fn = init_fn
        self._init_op, self._init_feed_dict = init_op, init_feed_dict
        self._ready_op, self._ready_for_local_init_op = ready_op, ready_for_local_init_op
        self._local_init_op, self._local_init_feed_dict = local_init_op, local_init_feed_dict
        self._summary_op, self._saver = summary_op, saver
        if copy_from_scaffold is not None:
            if not isinstance(copy_from_scaffold, Scaffold):
                raise TypeError("copy_from_scaffold is not a Scaffold instance.")
            for name, value in vars(copy_from_scaffold).items():
                if getattr(self, name) is None:
                    setattr(self, name, value)

    def finalize(self) -> Scaffold:
        """Looks up or creates the parts that were not specified, and finalizes the default graph."""
        for name, key, make in (
            ("init_op", GraphKeys.INIT_OP, _init_all),
            ("ready_op", GraphKeys.READY_OP, report_uninitialized_variables),
            ("ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, _report_uninitialized_global_variables),
            ("local_init_op", GraphKeys.LOCAL_INIT_OP, self.default_local_init_op),
            ("summary_op", GraphKeys.SUMMARY_OP, merge_all),
        ):
            if getattr(self, f"_{name}") is None:
                setattr(self, f"_{name}", self.get_or_default(name, key, make))
        if self._saver is None:
            self._saver = the_only_saver()
            if self._saver is None:
                self._saver = Saver(sharded=True, allow_empty=True)
                add_to_collection(GraphKeys.SAVERS, self._saver)
        if isinstance(self._saver, Checkpoint):
            raise TypeError("The saver of a scaffold must be a tf.compat.v1.train.Saver, and no tf.train.Checkpoint")
        self._saver.build()
        get_default_graph().finalize()
        return self

    # ---- its parts ---------------------------------------------------------------------------------------------------

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """The function that is called with a session after `init_op`, or None."""
        function = self._user_init_fn
        return None if function is None else lambda sess: function(self, sess)

    @property
    def init_op(self) -> Any:
        """The operation that initializes the variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """The feeds of `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """The operation that returns the names of the uninitialized variables."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The operation that returns the names of the variables that `local_init_op` waits for."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """The operation that initializes local variables and tables."""
        return self._local_init_op

    @property
    def local_init_feed_dict(self) -> Any:
        """The feeds of `local_init_op`."""
        return self._local_init_feed_dict

    @property
    def summary_op(self) -> Any:
        """The summary of the training, or None."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """The `Saver` of the checkpoints."""
        return self._saver

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """Returns the only item of a collection of the default graph. If it is empty, creates an item and adds it.

        Args:
            arg_name: a string, the argument of `Scaffold` that the error names.
            collection_key: a string, the collection.
            default_constructor: a function without arguments that creates the item. None is not added.

        Raises:
            RuntimeError: the collection has several items.
        """
        if len(get_collection(collection_key)) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which one to use by passing '
                f"it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        return first_or_new(collection_key, default_constructor)

    @staticmethod
    def default_local_init_op() -> Any:
        """Returns an operation that initializes the local variables and tables of the default graph."""
        return group(local_variables_initializer(), tables_initializer())


def _init_all() -> Any:
    return group(global_variables_initializer(), *get_collection("saved_model_initializers"))


def _report_uninitialized_global_variables() -> Any:
    return report_uninitialized_variables(global_variables())
