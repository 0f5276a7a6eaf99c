"""Summaries of numbers, images, sound and texts as TensorFlow 1 has them: strings that a session computes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf import json_format

from tapeflow.core.context import state
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, string
from tapeflow.core.values.tensor import ReadAsTensor, Tensor
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.summary import kinds as recorded
from tapeflow.summary.summary_state import get_step, recording
from tapeflow.summary.write_ops import graph as write_graph
from tapeflow_compat.compat.v1.arrays import constant
from tapeflow_compat.compat.v1.global_step import get_global_step
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.scopes import name_scope
from tapeflow_compat.compat.v1.variable_scopes import in_name_scope
from tapeflow_compat.compat.v1.variables import GraphKeys
from tapeflow_compat.default_graph import executing_eagerly_outside_functions, get_default_graph, get_default_session
from tapeflow_compat.raw_ops import summary_protos

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tapeflow.graph.ir.graph import Graph
    from tapeflow_compat.compat.v1.session import Session

_NOT_IN_TAGS = re.compile(r"[^-/\w.]")
_WRITING = ("WriteSummary", "WriteRawProtoSummary")  # the operations of `tf.summary`'s functions in a graph


def _clean(name: str) -> str:
    """Returns a name without the characters that names of operations may not have."""
    cleaned = _NOT_IN_TAGS.sub("_", name).lstrip("/")
    if cleaned != name:
        get_logger().info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextmanager
def _tagged(name: str, family: str | None) -> Iterator[tuple[str, str]]:
    """Returns a name scope for a summary, with its tag."""
    name = _clean(name)
    family = family and _clean(family)
    with name_scope(f"{family}/{name}" if family else name) as scope:
        path = scope.rstrip("/")
        yield (f"{family}/{path}" if family else path), scope


def _tag(tag: str | bytes, name: str = "tag") -> Any:
    return constant(tag, name=name)


def _numbers(values: Any) -> Any:
    """Real numbers as a tensor."""
    values = convert(values)
    if not (values.dtype.is_floating or values.dtype.is_integer):
        raise TypeError(
            f"Value passed to parameter 'values' has DataType {values.dtype.name}: a summary is of real numbers"
        )
    return values


def _collected(summary: TensorLike, collections: Sequence[str] | None) -> Any:
    """Adds the summary to its collections and returns it."""
    if state.graph is not None:
        for key in (GraphKeys.SUMMARIES,) if collections is None else collections:
            state.graph.add_to_collection(key, summary)
    return summary


def _step() -> Any:
    step = get_step()
    return get_global_step() if step is None else step


def _has_recorder() -> bool:
    """Returns True if `tf.summary` has a default writer that records the summary at once, and a step for it."""
    if not executing_eagerly_outside_functions():
        return False
    if recording.writer is None:
        warnings.warn("This summary goes nowhere: there is no default writer of tf.summary", stacklevel=3)
        return False
    if _step() is None:
        warnings.warn("This summary goes nowhere: there is no step (tf.summary.experimental.set_step)", stacklevel=3)
        return False
    return True


def scalar(
    name: str, tensor: TensorLike, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """Returns a summary of a number.

    Args:
        name: a string, the name of the operation. With the name scopes in force, it becomes the tag.
        tensor: a real scalar.
        collections: the graph's collections to add the summary to; by default the collection of all summaries.
        family: a string put before the tag. TensorBoard groups summaries by it.

    Returns:
        A string scalar, a serialized `Summary` message. In eager mode the number is written to the default writer of
        `tf.summary`, if there is one, and the string is empty.

    Raises:
        TypeError: `tensor` is not of numbers.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     loss = tf.compat.v1.summary.scalar("loss", 0.5)
        ...     text = sess.run(loss)
        >>> tf.compat.v1.summary.Summary.FromString(text).value[0].simple_value
        0.5
    """
    if _has_recorder():
        with _tagged(name, family) as (tag, _), in_name_scope(""):
            recorded.scalar(tag, tensor, _step())
        return convert(b"")
    with _tagged(name, family) as (tag, scope):
        summary = summary_protos.scalar_summary(_tag(tag, "tags"), _numbers(tensor), name=scope)
    return _collected(summary, collections)


def histogram(name: str, values: Any, collections: Sequence[str] | None = None, family: str | None = None) -> Tensor:
    """Returns a summary of how the elements of a tensor are distributed.

    Args:
        name, collections, family: see `scalar`.
        values: real numbers of any shape.

    Returns:
        A string scalar, a serialized `Summary` message.

    Raises:
        InvalidArgumentError: when it runs: an element is no finite number.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     text = sess.run(tf.compat.v1.summary.histogram("weights", [1.0, 2.0, 4.0]))
        >>> proto = tf.compat.v1.summary.Summary.FromString(text).value[0].histo
        >>> proto.min, proto.max, proto.num
        (1.0, 4.0, 3.0)
    """
    if _has_recorder():
        with _tagged(name, family) as (tag, _), in_name_scope(""):
            recorded.histogram(tag, values, _step())
        return convert(b"")
    if not isinstance(values, (Tensor, ReadAsTensor)) and convert(values).dtype.is_bool:
        values = np.asarray(values, np.float32)  # as in TensorFlow, which refuses tensors of booleans
    with _tagged(name, family) as (tag, scope):
        summary = summary_protos.histogram_summary(_tag(tag), _numbers(values), name=scope)
    return _collected(summary, collections)


def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """Returns a summary of images.

    Args:
        name, collections, family: see `scalar`. The tags end in `/image/0`, `/image/1`, ..., or only in `/image` if
            `max_outputs` is 1.
        tensor: a tensor of shape `[batch, height, width, channels]` with 1 channel (gray), 3 (RGB) or 4 (RGBA). Bytes
            are used unchanged. Floats are scaled per image: the largest one becomes 255. If some are negative, 0
            becomes 128 instead, and the largest absolute value falls within `[1, 255]`.
        max_outputs: the largest number of images.

    Returns:
        A string scalar, a serialized `Summary` message.

    Raises:
        InvalidArgumentError: when it runs: `tensor` is of another shape.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     text = sess.run(tf.compat.v1.summary.image("noise", tf.ones([2, 4, 6, 1])))
        >>> [v.tag for v in tf.compat.v1.summary.Summary.FromString(text).value]
        ['noise/image/0', 'noise/image/1']
    """
    if _has_recorder():
        with _tagged(name, family) as (tag, _), in_name_scope(""):
            recorded.image(tag, tensor, _step(), max_outputs)
        return convert(b"")
    with _tagged(name, family) as (tag, scope):
        summary = summary_protos.image_summary(_tag(tag), tensor, max_outputs, name=scope)
    return _collected(summary, collections)


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """Returns a summary of sound.

    Args:
        name, collections, family: see `scalar`. The tags end in `/audio/0`, `/audio/1`, ..., or only in `/audio` if
            `max_outputs` is 1.
        tensor: float32 in `[-1, 1]` of shape `[batch, frames, channels]`, or `[batch, frames]` for one channel.
        sample_rate: a float32 scalar, in Hz.
        max_outputs: the largest number of clips.

    Returns:
        A string scalar, a serialized `Summary` message.

    Raises:
        InvalidArgumentError: when it runs: `tensor` is of another rank, or the rate not positive.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     text = sess.run(tf.compat.v1.summary.audio("silence", tf.zeros([1, 100]), 8000.0, max_outputs=1))
        >>> tf.compat.v1.summary.Summary.FromString(text).value[0].audio.length_frames
        100
    """
    if _has_recorder():
        with _tagged(name, family) as (tag, _), in_name_scope(""):
            recorded.audio(tag, tensor, sample_rate, _step(), max_outputs)
        return convert(b"")
    with _tagged(name, family) as (tag, scope):
        rate = convert(sample_rate, float32)
        summary = summary_protos.audio_summary(_tag(tag), tensor, rate, max_outputs, name=scope)
    return _collected(summary, collections)


def text(name: str, tensor: Any, collections: Sequence[str] | None = None) -> Tensor:
    """Returns a summary of texts in Markdown.

    Args:
        name, collections: see `scalar`.
        tensor: strings. TensorBoard shows tensors of rank 1 or 2 as a table.

    Returns:
        A string scalar, a serialized `Summary` message.

    Raises:
        ValueError: `tensor` is not of strings.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     text = sess.run(tf.compat.v1.summary.text("note", tf.constant("**all** is well")))
        >>> tf.compat.v1.summary.Summary.FromString(text).value[0].metadata.plugin_data.plugin_name
        'text'
    """
    if _has_recorder():
        with _tagged(name, None) as (tag, _), in_name_scope(""):
            recorded.text(tag, tensor, _step())
        return convert(b"")
    tensor = convert(tensor)
    if tensor.dtype is not string:
        raise ValueError(f"Expected tensor {getattr(tensor, 'name', tensor)} to have dtype string, got {tensor.dtype}")
    metadata = message("SummaryMetadata")(plugin_data={"plugin_name": "text"})
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def tensor_summary(
    name: str,
    tensor: TensorLike,
    summary_description: str | None = None,
    collections: Sequence[str] | None = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """Returns a summary of a tensor, for a plugin of TensorBoard.

    Args:
        name, collections, family: see `scalar`.
        tensor: of any dtype and shape.
        summary_description: a string in Markdown, replaces the description in the metadata.
        summary_metadata: a `SummaryMetadata` message.
        display_name: a string that TensorBoard shows in place of the tag.

    Returns:
        A string scalar, a serialized `Summary` message.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     text = sess.run(tf.compat.v1.summary.tensor_summary("pair", [1, 2]))
        >>> tf.make_ndarray(tf.compat.v1.summary.Summary.FromString(text).value[0].tensor)
        array([1, 2], dtype=int32)
    """
    metadata = message("SummaryMetadata")()
    if summary_metadata is not None:
        metadata.CopyFrom(summary_metadata)
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with _tagged(name, family) as (tag, scope):
        serialized = _tag(metadata.SerializeToString(), "serialized_summary_metadata")
        summary = summary_protos.tensor_summary(_tag(tag), tensor, serialized, name=scope)
    return _collected(summary, collections)


def _check_graph() -> None:
    if state.graph is None:
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution: build them in a tf.Graph, or use "
            "tf.summary with a default writer."
        )


def merge(inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None) -> Tensor:
    """Merges several summaries into one.

    Args:
        inputs: results of the other functions.
        collections: the graph's collections that it is added to; by default none.
        name: a string, the operation's name.

    Raises:
        RuntimeError: no graph is being built.
        ValueError: there are none.
        InvalidArgumentError: when it runs: two have one tag.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     a, b = tf.compat.v1.summary.scalar("a", 1.0), tf.compat.v1.summary.scalar("b", 2.0)
        ...     text = sess.run(tf.compat.v1.summary.merge([a, b]))
        >>> [v.tag for v in tf.compat.v1.summary.Summary.FromString(text).value]
        ['a', 'b']
    """
    _check_graph()
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected list for 'inputs' argument to 'merge_summary' Op, not {inputs!r}.")
    if not inputs:
        raise ValueError("List argument 'inputs' to 'MergeSummary' Op with length 0 shorter than minimum length 1.")
    with name_scope(name, "Merge"):
        summary = summary_protos.merge_summary(list(inputs))
    return _collected(summary, collections or ())


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | None:
    """Returns one summary with all that are in a collection of the default graph, or None if there are none.

    Args:
        key: the collection.
        scope: a regular expression that the summaries' names must match from their beginning on.
        name: a string, the operation's name.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default():
        ...     print(tf.compat.v1.summary.merge_all())
        ...     loss = tf.compat.v1.summary.scalar("loss", 0.5)
        ...     print(tf.compat.v1.summary.merge_all().op.type)
        None
        MergeSummary
    """
    _check_graph()
    summaries = get_default_graph().get_collection(key, scope)
    return merge(summaries, name=name) if summaries else None


def get_summary_description(node_def: Message) -> Any:
    """Returns the description that a node of TensorFlow 1's first tensor summaries carries.

    Args:
        node_def: the `NodeDef` message of a `TensorSummary` operation, as old graphs have.

    Returns:
        A `SummaryDescription` message.

    Raises:
        ValueError: it is of another op.

    Example:
        >>> node = tf.compat.v1.NodeDef(op="TensorSummary")
        >>> node.attr["description"].s = b'{"type_hint": "scalar"}'
        >>> tf.compat.v1.summary.get_summary_description(node).type_hint
        'scalar'
    """
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    return json_format.Parse(node_def.attr["description"].s.decode(), message("SummaryDescription")())


def all_v2_summary_ops() -> list[Any] | None:
    """Returns the write operations of `tf.summary`'s functions in the default graph; None in eager mode.

    Example:
        >>> import tempfile
        >>> with tf.Graph().as_default(), tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=1):
        ...     written = tf.summary.scalar("loss", 0.5)
        ...     print(len(tf.compat.v1.summary.all_v2_summary_ops()))
        1
    """
    if state.graph is None:
        return None
    return [operation for operation in state.graph.get_operations() if operation.type in _WRITING]


def initialize(graph: Graph | None = None, session: Session | None = None) -> None:
    """Makes the default writer of `tf.summary` ready for a session to write to.

    Args:
        graph: a graph to write, too.
        session: by default the default one.

    Raises:
        RuntimeError: there is no default writer.
        ValueError: there is no session.

    Example:
        >>> tf.compat.v1.summary.initialize()  # eagerly, writers are ready
    """
    if state.graph is None:
        return
    if recording.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None and get_default_session() is None:
        raise ValueError("Argument `session must be passed if no default session exists")
    recording.writer.init()
    if graph is not None:
        with executing_eagerly():
            write_graph(graph)
