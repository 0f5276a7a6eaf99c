"""Access to the tensors of checkpoints: `load_checkpoint`, `load_variable`, `list_variables`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tapeflow.core.ops.convert import datatype_name
from tapeflow.core.types.dtypes import DType
from tapeflow.train.bundle import Bundle
from tapeflow.train.states import latest_checkpoint

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


class CheckpointReader:
    """Reads a checkpoint's tensors by name. Created by `tf.train.load_checkpoint`.

    Args:
        filename: the checkpoint's name, as `tf.train.Checkpoint.save` returned it.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: it is damaged.

    Example:
        >>> import tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/ckpt")
        >>> tf.train.load_checkpoint(path).get_variable_to_shape_map()["v/.ATTRIBUTES/VARIABLE_VALUE"]
        [2]
    """

    def __init__(self, filename: str) -> None:
        self.bundle = Bundle(filename)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Returns the shapes of the tensors.

        Returns:
            Lists of ints, by name.
        """
        return {key: list(self.bundle.shape(key)) for key in self.bundle.entries}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Returns the dtypes of the tensors.

        Returns:
            Dtypes, by name.
        """
        return {key: self.bundle.dtype(key) for key in self.bundle.entries}

    def has_tensor(self, tensor_str: str) -> bool:
        """Returns True if there is a tensor of that name.

        Args:
            tensor_str: the name.

        Returns:
            True or False.
        """
        return tensor_str in self.bundle.entries

    def get_tensor(self, tensor_str: str) -> Any:
        """Reads a tensor.

        Args:
            tensor_str: the name.

        Returns:
            A NumPy array; `bytes` for a single string.

        Raises:
            NotFoundError: there is no tensor of that name.
            DataLossError: it is damaged.
        """
        return self.bundle.read(tensor_str).numpy()

    def debug_string(self) -> bytes:
        """Returns the names, dtypes and shapes.

        Returns:
            Text with a line for each tensor.
        """
        names = {key: datatype_name(self.bundle.dtype(key)).upper() for key in sorted(self.bundle.entries)}
        shapes = {key: ",".join(map(str, self.bundle.shape(key))) for key in names}
        return "".join(f"{key} (DT_{name}) [{shapes[key]}]\n" for key, name in names.items()).encode()


def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """Returns a reader of a checkpoint.

    Args:
        ckpt_dir_or_file: its name, or a directory with a `checkpoint` file, for the latest one there.

    Returns:
        A `CheckpointReader`.

    Raises:
        ValueError: the directory has no latest checkpoint.
        NotFoundError: there is no such checkpoint.

    Example:
        >>> import tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/ckpt")
        >>> tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").tolist()
        [1.0, 2.0]
    """
    path = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
        path = latest
    return CheckpointReader(path)


def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> np.ndarray | bytes:
    """Reads a tensor of a checkpoint. See `load_checkpoint`.

    Args:
        ckpt_dir_or_file: the checkpoint's name, or a directory.
        name: the name of the tensor; a `:0` at its end is left out.

    Returns:
        A NumPy array; `bytes` for a single string.

    Raises:
        NotFoundError: there is no such checkpoint, or no tensor of that name.

    Example:
        >>> import tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/ckpt")
        >>> tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE").tolist()
        [1.0, 2.0]
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """Returns the names and shapes of the tensors in a checkpoint. See `load_checkpoint`.

    Args:
        ckpt_dir_or_file: the checkpoint's name, or a directory.

    Returns:
        Pairs of a name and a shape, sorted.

    Raises:
        NotFoundError: there is no checkpoint.
        DataLossError: the files are damaged.

    Example:
        >>> import tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/ckpt")
        >>> tf.train.list_variables(path)
        [('_CHECKPOINTABLE_OBJECT_GRAPH', []), ('v/.ATTRIBUTES/VARIABLE_VALUE', [2])]
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())
