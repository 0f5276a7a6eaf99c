"""Ops that return serialized `Summary` messages. TensorFlow 1's graphs fetch the messages, and its writers write them.

TensorBoard's `summary.proto` defines the formats: numbers, histograms, images, sound, and tensors with metadata.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import summary_pb2

from tapeflow.array.protos import make_tensor_proto
from tapeflow.audio import encode_wav
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import scalar
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid, strings
from tapeflow.summary.kinds import png_file

_SMALLEST, _LARGEST, _GROWTH = 1e-12, 1e20, 1.1  # the edges of a histogram's buckets
_BAD_COLOR = np.array([255, 0, 0, 255], np.uint8)  # the color of pixels that are no finite numbers


def _text(array: StringArray) -> str:
    return array.reshape(-1)[0].decode("utf-8", "replace")


def _serialized(*values: Any) -> StringArray:
    return StringArray.scalar(summary_pb2.Summary(value=values).SerializeToString())


def _as_array(values: Any) -> np.ndarray:
    """Returns numbers of any dtype as an array."""
    return values.float().numpy() if values.dtype is torch.bfloat16 else values.cpu().numpy()


@op("ScalarSummary", strings=True, shape=scalar)
def scalar_summary(tags: StringArray, values: Any) -> StringArray:
    """Writes numbers with their tags, of the same shape, as a `Summary` message."""
    if tuple(tags.shape) != tuple(values.shape):
        tag = f" (tag '{_text(tags)}')" if tags.size == 1 else ""
        raise invalid(f"tags and values are not the same shape: {list(tags.shape)} != {list(values.shape)}{tag}")
    numbers = _as_array(values).reshape(-1)
    return _serialized(
        *[
            summary_pb2.Summary.Value(tag=tag.decode("utf-8", "replace"), simple_value=float(value))
            for tag, value in zip(tags.reshape(-1), numbers, strict=True)
        ]
    )


@functools.cache
def _edges() -> np.ndarray:
    """Returns the upper edges of the buckets: powers of 1.1 on both sides of 0, and the largest number."""
    positive, edge = [], _SMALLEST
    while edge < _LARGEST:
        positive.append(edge)
        edge *= _GROWTH
    positive.append(np.finfo(np.float64).max)
    return np.array([*(-e for e in reversed(positive)), 0.0, *positive])


def histogram_proto(numbers: np.ndarray) -> Any:
    """Returns the distribution of float64 numbers as a `HistogramProto`; empty neighbouring buckets are merged."""
    edges = _edges()
    counts = np.bincount(np.searchsorted(edges, numbers, side="right"), minlength=len(edges))[: len(edges)]
    last_of_run = np.ones(len(edges), bool)
    last_of_run[:-1] = (counts[:-1] > 0) | (counts[1:] > 0)
    smallest, largest = (numbers.min(), numbers.max()) if numbers.size else (np.finfo(np.float64).max, -edges[-1])
    return summary_pb2.HistogramProto(
        min=smallest,
        max=largest,
        num=len(numbers),
        sum=numbers.sum(),
        sum_squares=np.square(numbers).sum(),
        bucket_limit=edges[last_of_run],
        bucket=counts[last_of_run],
    )


@op("HistogramSummary", strings=True, shape=scalar)
def histogram_summary(tag: StringArray, values: Any) -> StringArray:
    """Writes the distribution of a tensor's elements as a `Summary` message."""
    numbers = _as_array(values).astype(np.float64).reshape(-1)
    for wrong, kind in ((np.isnan(numbers), "Nan"), (np.isinf(numbers), "Infinity")):
        if wrong.any():
            raise invalid(f"{kind} in summary histogram for: {_text(tag)}")
    return _serialized(summary_pb2.Summary.Value(tag=_text(tag), histo=histogram_proto(numbers)))


def _numbered(tag: StringArray, kind: str, at: int, most: int) -> str:
    return f"{_text(tag)}/{kind}/{at}" if most > 1 else f"{_text(tag)}/{kind}"


def _normalized(image: np.ndarray) -> np.ndarray:
    """Scales an image to bytes: from 0 to its largest number, or around 128 if some are negative."""
    if image.dtype == np.uint8:
        return image
    finite = np.isfinite(image)
    low, high = (image[finite].min(), image[finite].max()) if finite.any() else (0.0, 0.0)
    largest, offset, top = (max(abs(low), abs(high)), 128, 127) if low < 0 else (high, 0, 255)
    scale = image.dtype.type(0 if largest < 1e-6 else np.float32(top) / np.float32(largest))
    whole = finite.all(axis=-1, keepdims=True)
    scaled = (np.where(whole, image, 0) * scale + image.dtype.type(offset)).astype(np.uint8)
    return np.where(whole, scaled, _BAD_COLOR[: image.shape[-1]])


@op("ImageSummary", strings=True, shape=scalar)
def image_summary(tag: StringArray, tensor: Any, max_images: int = 3) -> StringArray:
    """Writes images of shape `[batch, height, width, channels]` as a `Summary` message."""
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        shape = ",".join(map(str, tensor.shape))
        raise invalid(f"Tensor must be 4-D with last dim 1, 3, or 4, not [{shape}]")
    pixels = tensor[:max_images].cpu().numpy()
    _, height, width, channels = tensor.shape
    return _serialized(
        *[
            summary_pb2.Summary.Value(
                tag=_numbered(tag, "image", i, max_images),
                image=summary_pb2.Summary.Image(
                    height=height, width=width, colorspace=channels, encoded_image_string=png_file(_normalized(image))
                ),
            )
            for i, image in enumerate(pixels)
        ]
    )


@op("AudioSummaryV2", strings=True, host=("sample_rate",), shape=scalar)
def audio_summary(tag: StringArray, tensor: Any, sample_rate: float, max_outputs: int = 3) -> StringArray:
    """Writes sound `[batch, frames, channels]` (or of one channel `[batch, frames]`) as a `Summary` message."""
    if tensor.ndim not in (2, 3):
        raise invalid(f"Tensor must be 3-D or 2-D, got: [{','.join(map(str, tensor.shape))}]")
    if sample_rate <= 0:
        raise invalid("sample_rate must be > 0")
    clips = tensor if tensor.ndim == 3 else tensor[:, :, None]
    return _serialized(
        *[
            summary_pb2.Summary.Value(
                tag=_numbered(tag, "audio", i, max_outputs),
                audio=summary_pb2.Summary.Audio(
                    sample_rate=sample_rate,
                    num_channels=clip.shape[1],
                    length_frames=clip.shape[0],
                    encoded_audio_string=encode_wav(EagerTensor(clip, float32), int(sample_rate)).numpy(),
                    content_type="audio/wav",
                ),
            )
            for i, clip in enumerate(clips[:max_outputs])
        ]
    )


def _tensor(tag: StringArray, tensor: TensorLike, serialized_summary_metadata: StringArray) -> StringArray:
    proto = make_tensor_proto(strings(tensor) if isinstance(tensor, StringArray) else tensor)
    try:
        metadata = summary_pb2.SummaryMetadata.FromString(serialized_summary_metadata.item())
    except DecodeError:
        raise invalid("serialized_summary_metadata is no SummaryMetadata message") from None
    return _serialized(summary_pb2.Summary.Value(tag=_text(tag), tensor=proto, metadata=metadata))


@op("TensorSummaryV2", kernel=_tensor, strings=_tensor, shape=scalar)
def tensor_summary(
    tag: TensorLike, tensor: TensorLike, serialized_summary_metadata: TensorLike, name: str | None = None
) -> Tensor:
    """Writes a tensor as a `Summary` message, with metadata that name a plugin of TensorBoard."""


@op("MergeSummary", strings=True, shape=scalar)
def merge_summary(inputs: list[np.ndarray]) -> StringArray:
    """Merges several `Summary` messages into one."""
    if not inputs:
        raise invalid("Value for attr 'N' of 0 must be at least minimum 1")
    merged, tags = summary_pb2.Summary(), set()
    for text in (t for array in inputs for t in array.reshape(-1)):
        try:
            part = summary_pb2.Summary.FromString(text)
        except DecodeError:
            raise invalid("Could not parse one of the summary inputs") from None
        for value in part.value:
            if value.tag in tags:
                raise invalid(f"Duplicate tag {value.tag} found in summary inputs")
            tags.add(value.tag)
        merged.MergeFrom(part)
    return _serialized(*merged.value)


not_differentiable(scalar_summary, histogram_summary, image_summary, audio_summary, tensor_summary, merge_summary)
