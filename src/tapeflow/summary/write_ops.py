"""Writing summaries of any kind to the default writer."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from google.protobuf.message import DecodeError, Message
from tensorboard.compat.proto import event_pb2, graph_pb2, summary_pb2

from tapeflow.array.protos import make_tensor_proto
from tapeflow.core import errors
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import executing_eagerly, get_current_name_scope, name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import bool as boolean
from tapeflow.core.types.dtypes import string
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import Tensor
from tapeflow.graph.ir.graph import Graph
from tapeflow.graph.ir.python_op import python_op
from tapeflow.summary.summary_state import checked_step, chosen_step, recording, should_record_summaries

_NOT_IN_SCOPES = re.compile(r"[^-_/.A-Za-z0-9]")


@contextmanager
def summary_scope(name: str | None, default_name: str = "summary", values: object = None) -> Iterator[tuple[str, str]]:
    """Opens a name scope for a new kind of summary, with the tag for TensorBoard.

    Args:
        name: the name of the summary, which may contain characters that a name scope may not.
        default_name: the name if there is no `name`; "summary" by default.
        values: accepted, and has no effect.

    Returns:
        A context manager of `(tag, scope)`: the name below the name scopes in force, and the new scope.

    Example:
        >>> with tf.name_scope("outer"), tf.summary.experimental.summary_scope("my loss!") as (tag, scope):
        ...     print(tag, scope, sep=", ")
        outer/my loss!, outer/myloss/
    """
    name = name or default_name
    outer = get_current_name_scope()
    with name_scope(_NOT_IN_SCOPES.sub("", name) or default_name) as scope:
        yield (f"{outer}/{name}" if outer else name), scope


def record(
    op: str, inputs: Sequence[Any] | Callable[[], Sequence[Any]], step: TensorLike | None, summary: Callable[..., Any]
) -> Tensor:
    """Writes a summary if `record_if` allows it; in a graph, each time it runs.

    Args:
        op: TensorFlow's name of the op.
        inputs: the tensors that `summary` takes, or a function that returns them, called only if they are needed.
        step: the step of the summary, or None for the default.
        summary: returns a `Summary` message of eager tensors.

    Returns:
        A boolean scalar tensor: whether it was written.
    """
    writer = recording.writer
    if writer is None:
        return convert(False)
    allowed = should_record_summaries()
    if executing_eagerly() and not allowed:
        return allowed
    at = chosen_step(step)
    tensors = [convert(x) for x in (inputs() if callable(inputs) else inputs)]

    def write_now(allowed: Any, at: Any, *values: Any) -> Any:
        if allowed:
            writer.add(event_pb2.Event(wall_time=time.time(), step=at.numpy().item(), summary=summary(*values)))
        return allowed

    if executing_eagerly():
        return write_now(allowed, at, *tensors)
    written, inputs = TensorSpec([], boolean), [allowed, at, *tensors]
    return python_op(op, lambda *values: [write_now(*values)], inputs, [written], diagnostic=True).outputs[0]


def write(
    tag: str, tensor: TensorLike | Callable[[], Any], step: TensorLike | None = None,
    metadata: Message | bytes | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Writes a tensor as a summary, for whatever plugin of TensorBoard the metadata names.

    Args:
        tag: the tag of the summary; usually from `tf.summary.experimental.summary_scope`.
        tensor: a tensor of any dtype and shape, or a function that returns one and is called only if the summary is
            written.
        step: an int64 scalar; by default the default step.
        metadata: a `SummaryMetadata` message, or its bytes.
        name: accepted, and has no effect.

    Returns:
        A boolean scalar tensor: whether it was written. Without a default writer it is not.

    Raises:
        ValueError: there is a writer, but no step; or the step is no scalar.
        InvalidArgumentError: the metadata are not a `SummaryMetadata` message.

    Example:
        >>> tf.summary.write("tag", tf.constant([1, 2]), step=0).numpy().item()  # there is no default writer
        False
    """
    return write_encoded(tag, lambda: [tensor() if callable(tensor) else tensor], step, metadata)


def write_encoded(
    tag: str, inputs: Callable[[], Sequence[Any]], step: TensorLike | None, metadata: Message | bytes | None,
    encode: Callable[..., Any] | None = None,
) -> Tensor:  # fmt: skip
    """Writes the result of `encode` for the inputs, like `write`. Without `encode`, it writes the only input."""
    if step is not None:
        step = checked_step(step)
    if metadata is not None:
        metadata = _parse_metadata(metadata)

    def summary(*values: Any) -> Any:
        proto = make_tensor_proto(encode(*values) if encode else values[0])
        return summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, tensor=proto, metadata=metadata)])

    return record("WriteSummary", inputs, step, summary)


def _parse_metadata(metadata: Any) -> Any:
    text = metadata if isinstance(metadata, bytes) else metadata.SerializeToString()
    try:
        return summary_pb2.SummaryMetadata.FromString(text)
    except DecodeError:
        raise errors.InvalidArgumentError.of(f"No serialized SummaryMetadata: {text!r} [Op:WriteSummary]") from None


def write_raw_pb(tensor: TensorLike, step: TensorLike | None = None, name: str | None = None) -> Tensor:
    """Writes serialized `Summary` messages.

    Args:
        tensor: a string tensor of any shape, each element a message.
        step: an int64 scalar; by default the default step.
        name: accepted, and has no effect.

    Returns:
        A boolean scalar tensor: whether it was written.

    Raises:
        ValueError: there is a writer, but no step; or the step is no scalar.
        DataLossError: an element is no `Summary` message.

    Example:
        >>> import tempfile
        >>> message = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="loss", simple_value=2.0)])
        >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        ...     bool(tf.summary.experimental.write_raw_pb(message.SerializeToString(), step=1))
        True
    """
    if step is not None:
        step = checked_step(step)

    def summary(texts: Any) -> Any:
        merged = summary_pb2.Summary()
        for i, text in enumerate(texts.value.reshape(-1).tolist()):
            try:
                merged.MergeFromString(text)
            except DecodeError:
                raise errors.DataLossError.of(f"Bad tf.compat.v1.Summary binary proto tensor string at index {i} "
                    "[Op:WriteRawProtoSummary] name: "
                ) from None  # fmt: skip
        return merged

    if recording.writer is not None:
        chosen_step(step)
    return record("WriteRawProtoSummary", lambda: [convert(tensor, string)], step, summary)


def import_event(tensor: TensorLike, name: str | None = None) -> None:
    """Writes an unchanged `Event` message, whatever `record_if` says.

    Args:
        tensor: a string scalar, the serialized message.
        name: accepted, and has no effect.

    Raises:
        ValueError: there is no default writer.
        DataLossError: it is no `Event` message.

    Example:
        >>> import tempfile
        >>> event = tf.compat.v1.Event(step=3)
        >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        ...     tf.summary.import_event(event.SerializeToString())
    """
    writer = recording.writer
    if writer is None:
        raise ValueError("import_event needs a default writer: call it inside of `with writer.as_default():`")

    def write_now(text: Any) -> None:
        try:
            writer.add(event_pb2.Event.FromString(text.numpy()))
        except DecodeError:
            raise errors.DataLossError.of("Bad tf.Event binary proto tensor string [Op:ImportEvent]") from None

    text = convert(tensor, string)
    if executing_eagerly():
        write_now(text)
    else:
        python_op("ImportEvent", write_now, [text])


def graph(graph_data: Graph | Message) -> Tensor:
    """Writes a graph for TensorBoard's graph explorer.

    Args:
        graph_data: a `tf.Graph`, such as `concrete_function.graph`, or a `GraphDef` message.

    Returns:
        A boolean scalar tensor: whether it was written.

    Raises:
        ValueError: `graph_data` is something else, or a function is being traced.

    Example:
        >>> import tempfile
        >>> double = tf.function(lambda x: x * 2.0)
        >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        ...     bool(tf.summary.graph(double.get_concrete_function(tf.constant(1.0)).graph))
        True
    """
    if not executing_eagerly():
        raise ValueError("graph() cannot be invoked inside a graph context.")
    writer = recording.writer
    if writer is None or not should_record_summaries():
        return convert(False)
    definition: Any = graph_data.as_graph_def(add_shapes=True) if hasattr(graph_data, "as_graph_def") else graph_data
    descriptor = getattr(definition, "DESCRIPTOR", None)
    if getattr(descriptor, "full_name", "").rpartition(".")[2] != graph_pb2.GraphDef.DESCRIPTOR.name:
        raise ValueError(
            "Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received graph_data="
            f"{graph_data} of type {type(graph_data).__name__}."
        )
    writer.add(event_pb2.Event(wall_time=time.time(), graph_def=definition.SerializeToString()))
    return convert(True)
