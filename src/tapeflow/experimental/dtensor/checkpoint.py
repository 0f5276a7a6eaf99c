"""Checkpoints of DTensors: one whole file, which any number of devices and TensorFlow read."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.errors import OpError
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import bfloat16, string
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.experimental.dtensor.accelerators import barrier
from tapeflow.experimental.dtensor.api import fetch_layout, layout_of, relayout
from tapeflow.experimental.dtensor.clients import client_id
from tapeflow.experimental.dtensor.mesh import Mesh
from tapeflow.experimental.dtensor.variable import DVariable
from tapeflow.math.casting import cast
from tapeflow.train.bundle import Bundle, write_bundle
from tapeflow.train.checkpoint import Checkpoint
from tapeflow.train.object_graph import graph_and_tensors
from tapeflow.train.options import CheckpointOptions


def sharded_save(
    mesh: Mesh,
    file_prefix: str | Tensor,
    tensor_names: Sequence[str] | Tensor,
    shape_and_slices: Sequence[str] | Tensor,
    tensors: Sequence[Tensor | Variable],
) -> None:
    """Writes DTensors to a checkpoint, which the first client does for all.

    Args:
        mesh: a `tf.experimental.dtensor.Mesh`.
        file_prefix: a string, the name of the checkpoint.
        tensor_names: a list of strings, the names of the tensors in the checkpoint.
        shape_and_slices: a list with an empty string for each tensor.
        tensors: a list of the tensors.

    Example:
        >>> import tempfile
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> v = tf.experimental.dtensor.relayout([1.0], tf.experimental.dtensor.Layout(["x"], mesh))
        >>> prefix = tempfile.mkdtemp() + "/saved"
        >>> tf.experimental.dtensor.sharded_save(mesh, prefix, ["v"], [""], [v])
        >>> tf.train.load_variable(prefix, "v").tolist()
        [1.0]
    """
    names = [n.decode() for n in convert(tensor_names, string).numpy().reshape(-1).tolist()]
    wholes = [_whole_tensor(t) for t in tensors]
    if client_id() == 0:
        write_bundle(_prefix_text(file_prefix), zip(names, wholes, strict=True))
    barrier(mesh.host_mesh(), "SaveV2")


def enable_save_as_bf16(variables: Sequence[Variable]) -> None:
    """Lets checkpoints have float32 variables in bfloat16.

    Args:
        variables: variables. Only `DVariable`s among them are affected.

    Example:
        >>> tf.experimental.dtensor.enable_save_as_bf16([])
    """
    for variable in variables:
        if isinstance(variable, DVariable):
            variable.save_as_bf16 = True


def name_based_save(
    mesh: Mesh, checkpoint_prefix: str | Tensor, name_tensor_dict: Mapping[str, Tensor | Variable]
) -> None:
    """Writes DTensors under names.

    Args:
        mesh: a `tf.experimental.dtensor.Mesh`.
        checkpoint_prefix: a string, the name of the checkpoint.
        name_tensor_dict: a dict from names to tensors.

    Raises:
        ValueError: this is in a `tf.function`.

    Example:
        >>> import tempfile
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> v = tf.experimental.dtensor.relayout([1.0], tf.experimental.dtensor.Layout(["x"], mesh))
        >>> tf.experimental.dtensor.name_based_save(mesh, tempfile.mkdtemp() + "/saved", {"v": v})
    """
    if state.graph is not None:
        raise ValueError("name based save must run eagerly.")
    names = list(name_tensor_dict)
    sharded_save(mesh, checkpoint_prefix, names, [""] * len(names), list(name_tensor_dict.values()))


def name_based_restore(
    mesh: Mesh, checkpoint_prefix: str, name_tensor_dict: Mapping[str, Tensor | Variable]
) -> OrderedDict[str, Tensor]:
    """Reads DTensors by names.

    Args:
        mesh: a `tf.experimental.dtensor.Mesh`.
        checkpoint_prefix: a string, the name of the checkpoint.
        name_tensor_dict: a dict from names to DTensors; the results get their layouts and dtypes.

    Returns:
        The tensors by their names.

    Raises:
        ValueError: the call is in a `tf.function`, or a value is no DTensor.

    Example:
        >>> import tempfile
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> v = tf.experimental.dtensor.relayout([1.0], tf.experimental.dtensor.Layout(["x"], mesh))
        >>> prefix = tempfile.mkdtemp() + "/saved"
        >>> tf.experimental.dtensor.name_based_save(mesh, prefix, {"v": v})
        >>> tf.experimental.dtensor.name_based_restore(mesh, prefix, {"v": v})["v"].numpy().tolist()
        [1.0]
    """
    if state.graph is not None:
        raise ValueError("name based restore must run eagerly.")
    bundle = Bundle(_prefix_text(checkpoint_prefix))
    restored: OrderedDict[str, Tensor] = OrderedDict()
    for name, tensor in name_tensor_dict.items():
        try:
            layout = fetch_layout(tensor)
        except OpError as error:
            raise ValueError("Saving/Restoring tensor must be a DTensor") from error
        assert layout is not None
        restored[name] = relayout(cast(bundle.read(name), tensor.dtype), layout)
    return restored


class DTensorCheckpoint(Checkpoint):
    """A `tf.train.Checkpoint` of `DVariable`s and other objects, which the first client writes for all.

    Args:
        mesh: a `tf.experimental.dtensor.Mesh`.
        root: an object whose own attributes are saved, or None.
        **kwargs: objects to save, by name.

    Raises:
        ValueError: an object can't be saved.

    Example:
        >>> import tempfile
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> v = tf.experimental.dtensor.DVariable([1.0], layout=tf.experimental.dtensor.Layout(["x"], mesh))
        >>> checkpoint = tf.experimental.dtensor.DTensorCheckpoint(mesh, v=v)
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/training")
        >>> status = checkpoint.restore(path).assert_consumed()
    """

    def __init__(self, mesh: Mesh, root: Any = None, **kwargs: Any) -> None:
        super().__init__(root, **kwargs)
        self._setattr_tracking = False
        self._mesh = mesh
        self._setattr_tracking = True

    def _write(self, path: str, options: CheckpointOptions | None, done: Callable[[], None]) -> None:
        if client_id() == 0:
            super()._write(path, options, done)
        else:
            graph_and_tensors(self._view())  # with the first client, which needs the parts that are here
        barrier(self._mesh.host_mesh(), "SaveV2")


def _whole_tensor(tensor: Any) -> EagerTensor:
    """Returns a DTensor as a plain tensor, in the dtype that checkpoints have it in."""
    value = convert(tensor)
    if layout_of(value.value) is not None:
        value = EagerTensor(value.value.whole(), value.dtype)
    return cast(value, bfloat16) if getattr(tensor, "save_as_bf16", False) else value  # type: ignore[return-value]


def _prefix_text(prefix: Any) -> str:
    return prefix.numpy().decode() if isinstance(prefix, Tensor) else os.fspath(prefix)
