"""`tf.data.experimental.make_saveable_from_iterator`: positions of iterators in checkpoints of TensorFlow 1."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import Tensor
from tapeflow.graph.ir.python_op import python_op
from tapeflow.tracking.resources import SaveSpec


class IteratorSaveable:
    """The position of an iterator of a graph.

    Args:
        handle: the tensor that stands for the iterator.

    Attributes:
        op: the handle.
        name: its name.
        specs: one spec, of the position.
    """

    def __init__(self, handle: Any) -> None:
        self.op, self.name = handle, handle.name
        position = python_op("SerializeIterator", _serialize_position, [handle], [(string, ())]).outputs[0]
        self.specs = [SaveSpec(position, "", f"{self.name}_STATE", string)]

    @property
    def device(self) -> str:
        """The device of the iterator."""
        return self.op.device

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Returns the operation that goes to a saved position.

        Args:
            restored_tensors: a list of the position.
            restored_shapes: not used.
        """
        return python_op("DeserializeIterator", _go_to, [self.op, restored_tensors[0]])


def _serialize_position(handle: Tensor) -> list[Any]:
    return [convert(handle.value[()].iterator.position(), string)]


def _go_to(handle: Tensor, position: Any) -> None:
    handle.value[()].iterator.go_to(position.numpy().decode())


def make_saveable_from_iterator(iterator: Any, external_state_policy: Any = None) -> IteratorSaveable:
    """Returns the position of an iterator in a graph, for a `tf.compat.v1.train.Saver`.

    Add it to the collection `tf.compat.v1.GraphKeys.SAVEABLE_OBJECTS`, or to the list of a saver's variables. In
    TensorFlow 2, a `tf.train.Checkpoint` saves iterators.

    Args:
        iterator: of `tf.compat.v1.data.make_initializable_iterator` or `make_one_shot_iterator`.
        external_state_policy: accepted, and without effect.

    Returns:
        An object with `specs` and `restore`.

    Raises:
        AttributeError: it is no iterator, or no graph is being built.

    Example:
        >>> import tempfile
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     iterator = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(9))
        ...     element = iterator.get_next()
        ...     saver = tf.compat.v1.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
        ...     print(sess.run(element))
        ...     path = saver.save(sess, tempfile.mkdtemp() + "/ckpt")
        ...     print(sess.run(element))
        ...     saver.restore(sess, path)
        ...     print(sess.run(element))
        0
        1
        1
    """
    handle = iterator._handle
    return IteratorSaveable(handle if state.graph is None else state.graph.capture(handle, "IteratorV2"))
