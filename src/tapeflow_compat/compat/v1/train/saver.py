"""`tf.compat.v1.train.Saver`: the variables of a session in checkpoints, by their names."""

from __future__ import annotations

import numbers
import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.array import reshapes
from tapeflow.core import errors
from tapeflow.core.fork_locks import new_rlock
from tapeflow.core.ops.convert import convert
from tapeflow.core.protos import CheckpointState
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.io import gfile
from tapeflow.train.bundle import Bundle, write_bundle
from tapeflow.train.manager import remove_checkpoint
from tapeflow.train.object_graph import keys_by_full_name
from tapeflow.train.reader import OBJECT_GRAPH, CheckpointReader, load_checkpoint
from tapeflow.train.states import checkpoint_exists, update_checkpoint_state
from tapeflow_compat.compat.v1.global_step import global_step as step_of
from tapeflow_compat.compat.v1.partitioned import PartitionedVariable, joined_parts, part_values, pieces_of, whole_value
from tapeflow_compat.compat.v1.placeholders import placeholder
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.train.meta_graph import export_meta_graph
from tapeflow_compat.compat.v1.variables import GraphKeys, get_collection, global_variables
from tapeflow_compat.default_graph import get_default_graph

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tapeflow_compat.compat.v1.session import Session


class Saver:
    """Writes the variables of a session to checkpoints, which are TensorFlow's own, and restores them.

    Args:
        var_list: the variables, in a list, or in a dict by the names that they have in checkpoints; by default all
            global ones.
        reshape: whether to restore values of another shape with the same number of elements; False by default.
        max_to_keep: an int, the number of checkpoints to keep; 5 by default, 0 or None for all.
        keep_checkpoint_every_n_hours: a float; one checkpoint in this many hours is kept besides. 10000 by default.
        defer_build: whether to collect the variables only at the first save or restore; False by default.
        allow_empty: whether the graph may have no variables; False by default.
        pad_step_number: whether to write global steps with leading zeros; False by default.
        saver_def: a message with `max_to_keep`, `keep_checkpoint_every_n_hours` and the names of the operations that
            save and restore. If the graph has these operations, they run.
        sharded, name, restore_sequentially, builder, write_version, save_relative_paths, filename: accepted, and
            without effect.

    Raises:
        ValueError: there are no variables, or two have one name.
        TypeError: something else than a variable is in `var_list`.

    Example:
        >>> import tempfile
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(1.0, name="v")
        ...     saver = tf.compat.v1.train.Saver()
        ...     sess.run(v.initializer)
        ...     path = saver.save(sess, tempfile.mkdtemp() + "/model")
        ...     sess.run(v.assign(5.0).op)
        ...     saver.restore(sess, path)
        ...     print(sess.run(v), tf.train.list_variables(path))
        1.0 [('v', [])]
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Message | None = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = 2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if defer_build and var_list is not None:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                "var_list=None."
            )
        self._var_list, self._reshape, self._allow_empty = var_list, reshape, allow_empty
        self._pad_step_number = pad_step_number
        self._max_to_keep, self._keep_every = max_to_keep or 0, keep_checkpoint_every_n_hours
        if saver_def is not None:
            self._max_to_keep, self._keep_every = saver_def.max_to_keep, saver_def.keep_checkpoint_every_n_hours
        self._operations = _SaverOperations.of(saver_def) if var_list is None else None
        self._next_kept = time.time() + self._keep_every * 3600
        self._last: list[tuple[str, float]] = []
        self._saving = new_rlock()
        self._variables: dict[str, Any] | None = None
        self._others: list[_Other] = []
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Collects the variables, which `defer_build` postpones.

        Raises:
            ValueError: there are none.
        """
        variables = self._var_list
        if variables is None:
            variables = [*global_variables(), *get_collection(GraphKeys.SAVEABLE_OBJECTS)]
        others = [] if isinstance(variables, Mapping) else [v for v in variables if hasattr(v, "specs")]
        self._others = [_Other(other) for other in others]
        self._variables = variables_by_name([v for v in variables if not hasattr(v, "specs")] if others else variables)
        if not self._variables and not self._others and not self._allow_empty and self._operations is None:
            raise ValueError("No variables to save")

    def as_saver_def(self) -> Any:
        """Returns the saver's arguments, as a `SaverDef` message."""
        return message("SaverDef")(
            max_to_keep=self._max_to_keep, keep_checkpoint_every_n_hours=self._keep_every, version=2
        )

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Returns the saver's arguments, as a `SaverDef` message.

        Args:
            export_scope: accepted, and without effect.
        """
        return self.as_saver_def()

    @staticmethod
    def from_proto(saver_def: Message, import_scope: str | None = None) -> Saver:
        """Returns a saver of the global variables there will be at its first use, with these arguments.

        Args:
            saver_def: a `SaverDef` message.
            import_scope: accepted, and without effect.

        Example:
            >>> saver = tf.compat.v1.train.Saver(max_to_keep=3, allow_empty=True)
            >>> tf.compat.v1.train.Saver.from_proto(saver.to_proto()).to_proto().max_to_keep
            3
        """
        return Saver(saver_def=saver_def, defer_build=True)

    def export_meta_graph(
        self, filename: str | None = None, collection_list: Any = None, as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False, clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:  # fmt: skip
        """Returns the default graph with its collections, see `tf.compat.v1.train.export_meta_graph`.

        The message holds no `SaverDef`: savers have no operations in the graph, and who imports it makes a new one.

        Args:
            filename: a file to write it to.
            collection_list: the collections; by default all.
            as_text: whether to write the message as text; False by default.
            clear_devices: whether to leave out the devices of the nodes; False by default.
            export_scope, clear_extraneous_savers, strip_default_attrs, save_debug_info: accepted, and without effect.

        Example:
            >>> with tf.Graph().as_default():
            ...     v = tf.Variable(1.0, name="v")
            ...     meta_graph = tf.compat.v1.train.Saver().export_meta_graph()
            >>> with tf.Graph().as_default():
            ...     saver = tf.compat.v1.train.import_meta_graph(meta_graph)
            ...     print(tf.compat.v1.global_variables())
            [<tf.Variable 'v:0' shape=() dtype=float32>]
        """
        return export_meta_graph(filename, None, None, None, collection_list, as_text, clear_devices=clear_devices)

    # ---- existing checkpoints ----------------------------------------------------------------------------------------

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints that were not deleted, oldest first."""
        return [path for path, _ in self._last]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Replaces the list of existing checkpoints. They are kept: only checkpoints with a time are deleted.

        Args:
            last_checkpoints: a list of checkpoints' names, oldest first.
        """
        self._last = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Sequence[tuple[str, float]]) -> None:
        """Replaces the list of existing checkpoints, with the times when they were written.

        Args:
            last_checkpoints_with_time: a list of pairs of a checkpoint's name and its time in seconds since 1970,
                oldest first.
        """
        self._last = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Replaces the list of existing checkpoints by the given ones that still exist, with the times of their files.

        Args:
            checkpoint_paths: a list of checkpoints' names, oldest first.
        """
        self._last = [(p, os.path.getmtime(f"{p}.index")) for p in checkpoint_paths if checkpoint_exists(p)]

    # ---- saving and restoring ----------------------------------------------------------------------------------------

    def save(
        self,
        sess: Session,
        save_path: Any,
        global_step: TensorLike | None = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Writes the variables' values in a session.

        Args:
            sess: the session; eagerly None.
            save_path: the checkpoint's name, a path.
            global_step: a number (or a variable that holds it) that is appended to the name.
            latest_filename: a string, the name of the file that names the latest checkpoint; by default "checkpoint".
            meta_graph_suffix: a string, the ending of the file with the graph; "meta" by default.
            write_meta_graph: whether to write the graph, too; True by default. Eagerly there is no graph.
            write_state: whether to write `latest_filename`; True by default.
            strip_default_attrs, save_debug_info: accepted, and without effect.

        Returns:
            The checkpoint's name with the step.

        Raises:
            TypeError: `sess` is no session.
            ValueError: there is no such directory, or `latest_filename` is a path.
            FailedPreconditionError: a variable has no value.
        """
        if latest_filename is not None and os.path.basename(latest_filename) != latest_filename:
            raise ValueError("'latest_filename' must not contain path components")
        variables = self._built_variables()
        path = os.fspath(save_path)
        if global_step is None and os.path.basename(path) == (latest_filename or "checkpoint"):
            raise ValueError(f"'latest_filename' collides with 'save_path': '{os.path.basename(path)}' and '{path}'")
        with self._saving:  # values and the list of checkpoints in one order, whatever threads save
            if global_step is not None:
                step = global_step if isinstance(global_step, numbers.Integral) else step_of(sess, global_step)
                path = f"{path}-{step:08d}" if self._pad_step_number else f"{path}-{step}"
            if not variables and not self._others and self._operations is None:
                if write_meta_graph and sess is not None:
                    export_meta_graph(f"{path}.{meta_graph_suffix}", graph=sess.graph)
                return None
            directory = os.path.dirname(path)
            in_graph = self._operations if sess is not None and self._operations and self._operations.save else None
            if in_graph is not None:
                variables = {}
            try:
                values = _values(sess, variables)
                of_others = [pair for other in self._others for pair in other.values(sess)]
                gfile.mkdir(directory)  # but none above it, as in TensorFlow
                if not gfile.isdir(directory or "."):
                    raise errors.FailedPreconditionError.of(f"{directory} is not a directory")
            except (errors.FailedPreconditionError, errors.NotFoundError):
                if os.path.isdir(directory or "."):
                    raise
                raise ValueError(f"Parent directory of {path} doesn't exist, can't save.") from None
            tensors = [(n, convert(value, v.dtype)) for (n, v), value in zip(variables.items(), values, strict=True)]
            if in_graph is not None:
                sess.run(in_graph.save, {in_graph.filename: path})
            else:
                write_bundle(path, sorted([*tensors, *of_others]))
            if write_meta_graph and sess is not None:
                export_meta_graph(f"{path}.{meta_graph_suffix}", graph=sess.graph)
            if write_state:
                superseded = self._add(path)
                update_checkpoint_state(directory, path, self.last_checkpoints, latest_filename=latest_filename)
                for old in superseded:
                    remove(old, meta_graph_suffix=meta_graph_suffix)
            return path

    def restore(self, sess: Session, save_path: Any) -> None:
        """Restores the variables of a session from a checkpoint.

        Args:
            sess: the session; eagerly None.
            save_path: the checkpoint's name.

        Raises:
            ValueError: there is no such checkpoint.
            NotFoundError: a variable is not in it.
            InvalidArgumentError: a variable's value is of another shape or dtype.
        """
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = os.fspath(save_path)
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        bundle = Bundle(path)
        if sess is not None and self._operations is not None:
            try:
                sess.run(self._operations.restore, {self._operations.filename: path})
                return
            except errors.NotFoundError:
                if OBJECT_GRAPH not in bundle.entries:  # its variables have other keys
                    raise
        built = self._built_variables()
        for other in self._others:
            other.restore(sess, [self._read(bundle, spec.name, spec.tensor) for spec in other.specs])
        pairs = [
            pair
            for name, v in built.items()
            for pair in zip(pieces_of(v), part_values(v, self._read(bundle, name, v)), strict=True)
        ]
        if sess is None:
            for variable, value in pairs:
                variable.assign(value)
            return
        while pairs:  # variables that begin with one tensor are fed in turns
            now = {v.initializer.inputs[1]: (v, value) for v, value in reversed(pairs)}
            sess.run([v.initializer for v, _ in now.values()], {t: value for t, (_, value) in now.items()})
            done = {id(v) for v, _ in now.values()}
            pairs = [pair for pair in pairs if id(pair[0]) not in done]

    def _built_variables(self) -> dict[str, Any]:
        if self._variables is None:
            self.build()
        return self._variables or {}

    def _read(self, bundle: Bundle, name: str, variable: Variable) -> Any:
        if name not in bundle.entries and OBJECT_GRAPH in bundle.entries:
            name = keys_by_full_name(bundle).get(name, name)
        if name not in bundle.entries:
            raise errors.NotFoundError.of(
                "Restoring from checkpoint failed. This is most likely due to a Variable name or other graph key that "
                "is missing from the checkpoint. Please ensure that you have not altered the graph expected based on "
                f"the checkpoint. Original error:\n\nKey {name} not found in checkpoint"
            )
        value = bundle.read(name)
        if value.dtype is not variable.dtype:
            raise _mismatch(
                f"tensor_name = {name}; expected dtype {variable.dtype.name} does not equal original dtype "
                f"{value.dtype.name}"
            )
        if variable.shape.is_compatible_with(value.shape):
            return value
        if not self._reshape or variable.shape.num_elements() != value.shape.num_elements():
            raise _mismatch(
                f"Assign requires shapes of both tensors to match. lhs shape= {_text(variable.shape)} rhs shape= "
                f"{_text(value.shape)} (tensor_name = {name})"
            )
        with executing_eagerly():
            return reshapes.reshape(value, variable.shape)

    def _add(self, path: str) -> list[str]:
        """Adds a checkpoint; returns the oldest ones beyond the limit, which are to be deleted."""
        superseded: list[str] = []
        if not self._max_to_keep:
            return superseded
        self._last = [(p, t) for p, t in self._last if p != path] + [(path, time.time())]
        while len(self._last) > self._max_to_keep:
            oldest, written = self._last.pop(0)
            if written > self._next_kept:
                self._next_kept += self._keep_every * 3600
                continue
            superseded.append(oldest)
        return superseded


class _SaverOperations(NamedTuple):
    """The names of the operations in a graph that save and restore its variables.

    Attributes:
        filename: the tensor that takes a checkpoint's name.
        save: the fetch that saves; empty for shards of the format before TensorFlow 1.0, which are not written.
        restore: the operation that restores.
    """

    filename: str
    save: str
    restore: str

    @staticmethod
    def of(saver_def: Any) -> _SaverOperations | None:
        """Returns those that a `SaverDef` message names; None if the default graph has none of them."""
        if saver_def is None or not saver_def.restore_op_name:
            return None
        own = _SaverOperations(
            saver_def.filename_tensor_name,
            saver_def.save_tensor_name if saver_def.version == saver_def.V2 or not saver_def.sharded else "",
            saver_def.restore_op_name.partition(":")[0],
        )
        graph = get_default_graph()
        return own if own.restore in graph._by_name and own.filename.partition(":")[0] in graph._by_name else None


class _Other:
    """Something in a graph that is no variable, such as an iterator's position: tensors, and how they are restored."""

    def __init__(self, saveable: Any) -> None:
        self.specs = saveable.specs
        with self.specs[0].tensor.graph.as_default():
            self._fed = [placeholder(spec.dtype) for spec in self.specs]
            self._restoring = saveable.restore(self._fed, None)

    def values(self, sess: Session) -> list[tuple[str, Any]]:
        """Returns the tensors' values in a session, by their names in checkpoints."""
        values = sess.run([spec.tensor for spec in self.specs])
        return [(spec.name, convert(value, spec.dtype)) for spec, value in zip(self.specs, values, strict=True)]

    def restore(self, sess: Session, values: list[Any]) -> None:
        """Restores values in a session."""
        sess.run(self._restoring, dict(zip(self._fed, [v.numpy() for v in values], strict=True)))


def variables_by_name(variables: Any) -> dict[str, Any]:
    """Returns the variables by their names in checkpoints. Parts of one variable become a `PartitionedVariable`.

    Args:
        variables: a sequence of variables, or a mapping from names to variables.

    Raises:
        TypeError: a value is no variable.
        ValueError: two variables have the same name.
    """
    if isinstance(variables, Mapping):
        pairs = list(variables.items())
    else:
        pairs = [(getattr(v, "_name", ""), v) for v in joined_parts(variables)]
    by_name: dict[str, Any] = {}
    for name, variable in pairs:
        if not isinstance(variable, (Variable, PartitionedVariable)):
            raise TypeError(f"Variable to save is not a Variable: {variable!r}")
        if name in by_name:
            raise ValueError(f"At least two variables have the same name: {name}")
        by_name[name] = variable
    return dict(sorted(by_name.items()))


def _values(sess: Session, variables: dict[str, Any]) -> list[Any]:
    pieces = [pieces_of(v) for v in variables.values()]
    if sess is None:
        values = [[p.read_value() for p in parts] for parts in pieces]
    elif hasattr(sess, "run"):
        values = sess.run(pieces)
    else:
        raise TypeError(f"'sess' must be a Session; {sess}")
    return [whole_value(v, value) for v, value in zip(variables.values(), values, strict=True)]


def _mismatch(reason: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError.of(
        "Restoring from checkpoint failed. This is most likely due to a mismatch between the current graph and the "
        "graph from the checkpoint. Please ensure that you have not altered the graph expected based on the "
        f"checkpoint. Original error:\n\n{reason}"
    )


def _text(shape: TensorShape) -> str:
    return str(shape.as_list()).replace(" ", "")


# ---- checkpoints by their paths --------------------------------------------------------------------------------------


def write_checkpoint_state(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the file that names the latest checkpoint of a directory.

    Args:
        save_dir: a path, the directory.
        model_checkpoint_path: a string, the latest checkpoint.
        all_model_checkpoint_paths: a list of strings, all checkpoints, oldest first; by default only the latest.
        latest_filename: the name of the file; by default "checkpoint".
        all_model_checkpoint_timestamps: a list of floats, the times of all checkpoints in seconds since 1970.
        last_preserved_timestamp: a float, the time of the last checkpoint that is kept for ever.

    Raises:
        ValueError: the numbers of paths and times differ.

    Example:
        >>> import tempfile
        >>> directory = tempfile.mkdtemp()
        >>> tf.compat.v1.train.update_checkpoint_state(directory, directory + "/model-1")
        >>> tf.train.get_checkpoint_state(directory).model_checkpoint_path == directory + "/model-1"
        True
    """
    update_checkpoint_state(
        save_dir, model_checkpoint_path, all_model_checkpoint_paths or (), all_model_checkpoint_timestamps or (),
        last_preserved_timestamp, latest_filename,
    )  # fmt: skip


def generate_checkpoint_state_proto(
    save_dir: Any,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """Returns the message that says which checkpoint of a directory is the latest.

    Args:
        save_dir: a path, the directory. If it is relative, the paths are written relative to it.
        model_checkpoint_path: a string, the latest checkpoint.
        all_model_checkpoint_paths: a list of strings, all checkpoints, oldest first; by default only the latest.
        all_model_checkpoint_timestamps: a list of floats, the times of all checkpoints in seconds since 1970.
        last_preserved_timestamp: a float, the time of the last checkpoint that is kept for ever.

    Raises:
        ValueError: the numbers of paths and times differ.

    Example:
        >>> state = tf.compat.v1.train.generate_checkpoint_state_proto("models", "models/model-1")
        >>> state.model_checkpoint_path
        'model-1'
    """
    paths = list(all_model_checkpoint_paths or ())
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or ())
    if times and len(times) != len(paths):
        raise ValueError(
            f"Checkpoint timestamps, if provided, must match checkpoint paths (got paths {paths} and timestamps "
            f"{times})"
        )
    directory = os.fspath(save_dir)
    if not os.path.isabs(directory):
        paths = [p if os.path.isabs(p) else os.path.relpath(p, directory) for p in paths]
    return CheckpointState(
        model_checkpoint_path=paths[-1], all_model_checkpoint_paths=paths, all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp,
    )  # fmt: skip


def exists(checkpoint_prefix: Any) -> bool:
    """Returns True if a checkpoint of that name exists.

    Args:
        checkpoint_prefix: a path, the checkpoint's name.

    Example:
        >>> tf.compat.v1.train.checkpoint_exists("/nowhere/model")
        False
    """
    return checkpoint_exists(os.fspath(checkpoint_prefix))


def remove(checkpoint_prefix: Any, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta") -> None:
    """Deletes a checkpoint, and the graph beside it.

    Args:
        checkpoint_prefix: the checkpoint's name.
        checkpoint_format_version: accepted, and without effect.
        meta_graph_suffix: the ending of the file with the graph.

    Example:
        >>> import tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tempfile.mkdtemp() + "/model")
        >>> tf.compat.v1.train.remove_checkpoint(path)
        >>> tf.compat.v1.train.checkpoint_exists(path)
        False
    """
    remove_checkpoint(os.fspath(checkpoint_prefix))
    graph = f"{os.fspath(checkpoint_prefix)}.{meta_graph_suffix}"
    if gfile.exists(graph):
        gfile.remove(graph)


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[Any]) -> list[float]:
    """Returns the times when the existing checkpoints were written, in seconds since 1970.

    Args:
        checkpoint_prefixes: a list of paths, the checkpoints' names.

    Returns:
        A list of floats. Checkpoints that do not exist are left out.

    Example:
        >>> tf.compat.v1.train.get_checkpoint_mtimes(["/nowhere/model"])
        []
    """
    paths = [f"{os.fspath(p)}.index" for p in checkpoint_prefixes]
    return [os.path.getmtime(p) for p in paths if os.path.exists(p)]


def NewCheckpointReader(filepattern: Any) -> CheckpointReader:
    """Reads a checkpoint's tensors by name, see `tf.train.load_checkpoint`.

    Args:
        filepattern: the checkpoint's name.

    Raises:
        NotFoundError: there is none.

    Example:
        >>> import tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tempfile.mkdtemp() + "/model")
        >>> reader = tf.compat.v1.train.NewCheckpointReader(path)
        >>> reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").item()
        1.0
    """
    return CheckpointReader(os.fspath(filepattern))


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Mapping[str, Any]) -> None:
    """Makes the initializers of a graph's variables return the values of a checkpoint.

    Args:
        ckpt_dir_or_file: a path, a checkpoint's name or a directory with a latest checkpoint.
        assignment_map: a dict from names in the checkpoint to variables or their names; or from a scope in the
            checkpoint, with a `/` at its end, to a scope of the graph.

    Raises:
        ValueError: a name is not in the checkpoint or the graph, or a value is of another shape.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(5.0, name="v")
        ...     sess.run(v.initializer)
        ...     saved = tf.compat.v1.train.Saver([v]).save(sess, path)
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     w = tf.Variable(1.0)
        ...     tf.compat.v1.train.init_from_checkpoint(path, {"v": w})
        ...     sess.run(w.initializer)
        ...     print(sess.run(w))
        5.0
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    shapes = reader.get_variable_to_shape_map()
    by_name = {v._name: v for v in get_default_graph().get_collection("variables")}
    pairs: list[tuple[str, Any]] = []
    for source, target in assignment_map.items():
        if not source.endswith("/"):
            pairs.append((source, by_name.get(target) if isinstance(target, str) else target))
            continue
        checkpoint_prefix, scope_prefix = source.removeprefix("/"), target.removeprefix("/")
        in_scope = [(name, v) for name, v in by_name.items() if name.startswith(scope_prefix)]
        pairs += [(checkpoint_prefix + name.removeprefix(scope_prefix), v) for name, v in in_scope]
    for name, variable in pairs:
        if variable is None:
            raise ValueError(f"There is no variable for {name} of the checkpoint in the graph")
        if name not in shapes:
            raise ValueError(f"Tensor {name} is not found in {ckpt_dir_or_file} checkpoint {shapes}")
        value = convert(reader.get_tensor(name), variable.dtype)
        if not variable.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape of tensor {name} "
                f"({value.shape}) from checkpoint reader."
            )
        for piece, part in zip(pieces_of(variable), part_values(variable, value), strict=True):
            initialize_with(piece, part)


def initialize_with(variable: Variable, value: TensorLike) -> None:
    """Makes the initializer of a graph's variable assign a value.

    Args:
        variable: the variable.
        value: a tensor of its dtype and shape.
    """
    graph, initializer = get_default_graph(), variable.initializer
    with graph._outside_of_scopes():
        initializer.args = [initializer.args[0], graph.capture(value)]
