"""`tf.train.Checkpoint`: saves and restores everything that can be reached from some objects."""

from __future__ import annotations

import inspect
import os
import weakref
from collections.abc import Callable
from typing import Any

from tapeflow.core import errors
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import executing_eagerly
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.trackable import AutoTrackable, Trackable, has_state
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.python_op import python_op
from tapeflow.train.background import Background
from tapeflow.train.bundle import Bundle, write_bundle
from tapeflow.train.load_status import CheckpointLoadStatus, InitializationOnlyStatus, NameBasedSaverStatus
from tapeflow.train.object_graph import View, graph_and_tensors, state_of
from tapeflow.train.options import CheckpointOptions
from tapeflow.train.reader import OBJECT_GRAPH
from tapeflow.train.restoration import Position, Restoration, parse_graph, restored_tensor
from tapeflow.train.states import latest_checkpoint, update_checkpoint_state


class Checkpoint(AutoTrackable):
    """Saves and restores modules, variables, optimizers, and lists and dicts of them, in TensorFlow's own files.

    Objects are saved under the names of attributes, and matched by them. What a checkpoint has and the program has not
    yet is restored when it is created.

    Args:
        root: an object whose own attributes are to be saved, or a weak reference to it; others can be added by name.
        **kwargs: objects by name.

    Raises:
        ValueError: an object can't be saved, or root has a different object of the same name.

    Example:
        >>> import tempfile
        >>> v = tf.Variable([1.0, 2.0])
        >>> checkpoint = tf.train.Checkpoint(v=v)
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/training")
        >>> path.endswith("/training-1")
        True
        >>> v.assign([0.0, 0.0])
        <tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([0., 0.], dtype=float32)>
        >>> status = checkpoint.restore(path).assert_consumed()
        >>> v.numpy().tolist()
        [1.0, 2.0]
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._maybe_initialize_trackable()
        self._setattr_tracking = False
        self._save_counter: Variable | None = None
        self._attached: dict[str, Any] = {}
        self._background = Background()
        self._held_root = root
        root = None if root is None else self._root
        if root is not None:
            _check_trackable(root, "root")
            if isinstance(root, Checkpoint):
                root._maybe_create_save_counter()
            root._maybe_initialize_trackable()
        self._setattr_tracking = True
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)
            child = getattr(self, name)
            if isinstance(child, tuple):
                child = self._lookup_dependency(name)
            _check_trackable(child, name)
            if root is not None:
                existing = root._lookup_dependency(name)
                if existing is not None and existing is not child:
                    raise ValueError(
                        f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already exists."
                    )
                self._attach(name, child)

    @property
    def _root(self) -> Any:
        """The object whose attributes are saved; it may be held weakly, by the object that holds this one."""
        root = self._held_root
        return self if root is None else root() if isinstance(root, weakref.ref) else root

    def _attach(self, name: str, child: Any) -> None:
        self._attached[name] = child
        self._root._handle_deferred_dependencies(name, child)

    def _view(self) -> View:
        return View(self._root, self._attached)

    # ---- saving ------------------------------------------------------------------------------------------------------

    def _maybe_create_save_counter(self) -> Variable:
        if self._save_counter is None:
            counter = self._root._lookup_dependency("save_counter") if self._root is not self else None
            if counter is None:
                counter = Variable(0, dtype=int64, trainable=False, name="save_counter")
            self._setattr_tracking = False
            self._save_counter = counter
            self._setattr_tracking = True
            if self._root is self:
                self._track_trackable(counter, "save_counter")
            else:
                self._attach("save_counter", counter)
        return self._save_counter

    @property
    def save_counter(self) -> Variable:
        """The number of calls of `save`: an int64 variable, saved and restored with the rest."""
        return self._maybe_create_save_counter()

    def write(
        self, file_prefix: str | os.PathLike[str] | Tensor, options: CheckpointOptions | None = None
    ) -> str | Tensor:
        """Writes a checkpoint of exactly that name; in a `tf.function`, each time it runs.

        Args:
            file_prefix: the path, without the endings of the files' names; its directory is created if need be.
            options: with `enable_async`, the files are written while the program goes on, with the values of now.

        Returns:
            `file_prefix`; in a function, as a string tensor.
        """
        if not executing_eagerly():
            return self._write_in_graph(file_prefix, options)
        prefix: Any = file_prefix
        path = os.fspath(prefix)
        self._write(path, options, lambda: None)
        return path

    def _write(self, path: str, options: CheckpointOptions | None, done: Callable[[], None]) -> None:
        """Writes a checkpoint, and calls `done` when it is there."""
        graph, tensors = graph_and_tensors(self._view())
        tensors.append((OBJECT_GRAPH, convert(graph.SerializeToString(deterministic=True), string)))
        callbacks = (options and options.experimental_write_callbacks) or ()

        def write_files() -> None:
            write_bundle(path, tensors)
            done()
            for callback in callbacks:
                callback(path) if inspect.signature(callback).parameters else callback()

        self.sync()
        if options is not None and options.enable_async:
            self._background.start(write_files)
        else:
            write_files()

    def _write_in_graph(self, file_prefix: Any, options: CheckpointOptions | None) -> Any:
        def write_now(path: Any) -> list[Any]:
            self.write(path.numpy().decode(), options)
            return [path]

        path = convert(file_prefix if isinstance(file_prefix, Tensor) else os.fspath(file_prefix), string)
        return python_op("SaveV2", write_now, [path], [TensorSpec([], string)]).outputs[0]

    def save(self, file_prefix: str | os.PathLike[str], options: CheckpointOptions | None = None) -> str:
        """Writes a checkpoint named `<file_prefix>-<save_counter>`, and makes it the directory's latest.

        Args:
            file_prefix: the first part of its name.
            options: with `enable_async`, the files are written while the program goes on, with the values of now.

        Returns:
            Its name, for `restore`.

        Raises:
            NotImplementedError: this is in a `tf.function`.
        """
        refuse_in_functions("tf.train.Checkpoint.save()", "tf.train.Checkpoint.write()")
        counter = self._maybe_create_save_counter()
        counter.assign_add(1)
        path = f"{os.fspath(file_prefix)}-{int(counter.numpy())}"
        self._write(path, options, lambda: update_checkpoint_state(os.path.dirname(path), path, [path]))
        return path

    def sync(self) -> None:
        """Waits for a write in the background (`CheckpointOptions.enable_async`).

        Raises:
            Exception: the exception that the write raised.
        """
        self._background.wait()

    # ---- restoring ---------------------------------------------------------------------------------------------------

    def read(
        self, save_path: str | os.PathLike[str] | None, options: CheckpointOptions | None = None
    ) -> CheckpointLoadStatus | InitializationOnlyStatus | NameBasedSaverStatus:
        """Restores from a checkpoint that `write` wrote.

        Args:
            save_path: the name of the checkpoint; None restores nothing.
            options: `experimental_skip_slot_variables` skips the slot variables of optimizers.

        Returns:
            A status, with assertions about the restored values.

        Raises:
            NotFoundError: there is no such checkpoint.
            DataLossError: it is damaged.
            InvalidArgumentError: a value has another dtype than its variable.
            ValueError: a value has another shape than its variable.
            NotImplementedError: this is in a `tf.function`.
        """
        refuse_in_functions("tf.train.Checkpoint.read() and restore()", "them outside of it")
        self.sync()
        if save_path is None:
            return InitializationOnlyStatus()
        bundle, view = Bundle(os.fspath(save_path)), self._view()
        if OBJECT_GRAPH not in bundle.entries:
            return _restore_by_names(bundle, view)
        if bundle.dtype(OBJECT_GRAPH) is not string or bundle.shape(OBJECT_GRAPH):
            raise errors.DataLossError.of(f"The entry {OBJECT_GRAPH!r} of {bundle.prefix} is no single string.")
        graph = parse_graph(bundle, bundle.read(OBJECT_GRAPH).numpy())
        restoration = Restoration(bundle, graph, view, options is not None and options.experimental_skip_slot_variables)
        Position(restoration, 0).restore(view.root)
        restoration.expect_partial = False
        return CheckpointLoadStatus(restoration)

    def restore(
        self, save_path: str | os.PathLike[str] | None, options: CheckpointOptions | None = None
    ) -> CheckpointLoadStatus | InitializationOnlyStatus | NameBasedSaverStatus:
        """Restores from a checkpoint that `save` wrote. See `read`.

        Args:
            save_path: its name; a directory stands for its latest checkpoint.
            options: `experimental_skip_slot_variables` skips the slot variables of optimizers.

        Returns:
            A status, with assertions about the restored values.

        Raises:
            NotFoundError: there is no such checkpoint.
        """
        if save_path is not None:
            save_path = os.fspath(save_path)
            if os.path.isdir(save_path):
                save_path = latest_checkpoint(save_path) or save_path
        try:
            status = self.read(save_path, options)
        except errors.NotFoundError as error:
            raise errors.NotFoundError.of(
                f"Error when restoring from checkpoint or SavedModel at {save_path}: {error.message}\nPlease "
                "double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in "
                "'path/to/ckpt-1')."
            ) from None
        self._maybe_create_save_counter()
        return status


def refuse_in_functions(what: str, instead: str) -> None:
    """Refuses calls that depend on files, and not only on tensors.

    Raises:
        NotImplementedError: a function is being traced.
    """
    if not executing_eagerly():
        raise NotImplementedError(f"Calling {what} from a function is not supported. Use {instead} instead.")


def _check_trackable(value: Any, name: str) -> None:
    if not isinstance(value, Trackable):
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from `Trackable`), got "
            f"{value}. If you believe this object should be trackable (i.e. it is part of the TensorFlow Python API "
            "and manages state), please open an issue."
        )


def _restore_by_names(bundle: Bundle, view: View) -> NameBasedSaverStatus:
    """Restores from a file of TensorFlow 1's `Saver`, which knows variables by their names alone."""
    restored = []
    for trackable in view.walk()[0]:
        name = getattr(trackable, "_shared_name", None)
        if name in bundle.entries and has_state(trackable):
            (kind, now), *more = state_of(trackable).items()
            if not more:
                trackable._restore_from_tensors({kind: restored_tensor(bundle, name, now)})
                restored.append(trackable)
    return NameBasedSaverStatus(view, restored)
