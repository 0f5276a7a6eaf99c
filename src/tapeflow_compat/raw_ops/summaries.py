"""The ops that write summaries to the event file of a writer's handle."""

from __future__ import annotations

import time
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata

import tapeflow as tf
import tapeflow_compat.raw_ops as raw
from tapeflow.core import errors
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.raw_kernels import kernel_of
from tapeflow.core.ops.shape_rules import no_results, scalar
from tapeflow.core.session_resources import held_here
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.summary.writer import FileWriter


class _Slot:
    """A writer's place, empty until `CreateSummaryFileWriter` fills it."""

    def __init__(self) -> None:
        self.lock = new_lock()
        self.writer: FileWriter | None = None


def _text(value: Any) -> str:
    return value.item().decode()


def _writer(handle: Any) -> FileWriter:
    """Returns the writer of a handle."""
    slot = handle[()]
    writer = slot.writer if isinstance(slot, _Slot) else slot
    if writer is None:
        raise errors.NotFoundError.of("The summary writer was not created by CreateSummaryFileWriter")
    return writer


@kernel_of("SummaryWriter", shape=scalar)
def _summary_writer(shared_name: str, container: str) -> Any:
    if not shared_name:
        return box_object(_Slot())
    return box_object(held_here(("SummaryWriter", container, shared_name), _Slot))


@kernel_of("CreateSummaryFileWriter", shape=no_results)
def _create(writer: Any, logdir: str, max_queue: Any, flush_millis: Any, filename_suffix: Any) -> None:
    slot = writer[()]
    with slot.lock:
        if slot.writer is None:
            slot.writer = FileWriter(_text(logdir), int(max_queue), int(flush_millis), _text(filename_suffix))


@kernel_of("FlushSummaryWriter", shape=no_results)
def _flush(writer: Any) -> None:
    _writer(writer).flush()


@kernel_of("CloseSummaryWriter", shape=no_results)
def _close(writer: Any) -> None:
    _writer(writer).close()


@kernel_of("ImportEvent", shape=no_results)
def _import_event(writer: Any, event: Any) -> None:
    _writer(writer).add(Event.FromString(event.item()))


def _add(writer: Any, step: Any, summary: Summary) -> None:
    _writer(writer).add(Event(wall_time=time.time(), step=int(step), summary=summary))


@kernel_of("WriteRawProtoSummary", shape=no_results)
def _write_proto(writer: Any, step: Any, tensor: Any) -> None:
    for index, text in enumerate(tensor.reshape(-1).tolist()):
        try:
            summary = Summary.FromString(text)
        except DecodeError:
            raise errors.DataLossError.of(
                f"Bad tf.compat.v1.Summary binary proto tensor string at index {index}"
            ) from None
        _add(writer, step, summary)


@kernel_of("WriteGraphSummary", shape=no_results)
def _write_graph(writer: Any, step: Any, tensor: Any) -> None:
    graph = GraphDef.FromString(tensor.item())
    _writer(writer).add(Event(wall_time=time.time(), step=int(step), graph_def=graph.SerializeToString()))


@kernel_of("WriteSummary", shape=no_results)
def _write(writer: Any, step: Any, tensor: TensorLike, tag: Any, summary_metadata: Any) -> None:
    summary = Summary()
    value = summary.value.add(tag=_text(tag))
    value.tensor.CopyFrom(tf.make_tensor_proto(tensor.numpy() if hasattr(tensor, "numpy") else tensor))
    value.metadata.CopyFrom(SummaryMetadata.FromString(summary_metadata.item()))
    _add(writer, step, summary)


def _write_serialized(writer: Any, step: Any, summary: EagerTensor) -> None:
    _add(writer, step, Summary.FromString(summary.numpy()))


@kernel_of("WriteScalarSummary", shape=no_results)
def _write_scalar(writer: Any, step: Any, tag: Any, value: Any) -> None:
    with executing_eagerly():
        _write_serialized(writer, step, raw.ScalarSummary(tags=_text(tag), values=convert(value)))


@kernel_of("WriteHistogramSummary", shape=no_results)
def _write_histogram(writer: Any, step: Any, tag: Any, values: Any) -> None:
    with executing_eagerly():
        _write_serialized(writer, step, raw.HistogramSummary(tag=_text(tag), values=convert(values)))


@kernel_of("WriteImageSummary", shape=no_results)
def _write_image(writer: Any, step: Any, tag: Any, tensor: TensorLike, bad_color: Any, max_images: int) -> None:
    with executing_eagerly():
        summary = raw.ImageSummary(tag=_text(tag), tensor=convert(tensor), max_images=max_images)
        _write_serialized(writer, step, summary)


@kernel_of("WriteAudioSummary", shape=no_results)
def _write_audio(writer: Any, step: Any, tag: Any, tensor: TensorLike, sample_rate: Any, max_outputs: int) -> None:
    with executing_eagerly():
        summary = raw.AudioSummaryV2(
            tag=_text(tag), tensor=convert(tensor), sample_rate=float(sample_rate), max_outputs=max_outputs
        )
        _write_serialized(writer, step, summary)
