"""The kinds of summaries that TensorBoard has plugins for: scalars, histograms, images, texts and audio.

A plugin reads a tensor with metadata, which TensorBoard's own `metadata` modules create; the formats of the tensors are
described in TensorBoard's `tensorboard/plugins/*/summary_v2.py`.
"""

from __future__ import annotations

import functools
import io
from typing import Any

import numpy as np
from tensorboard.plugins.audio import metadata as audio_metadata
from tensorboard.plugins.histogram import metadata as histogram_metadata
from tensorboard.plugins.image import metadata as image_metadata
from tensorboard.plugins.scalar import metadata as scalar_metadata
from tensorboard.plugins.text import metadata as text_metadata

from tapeflow.audio import encode_wav
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, float64, int32, string
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid, strings
from tapeflow.debugging.shapes import assert_rank, assert_scalar
from tapeflow.debugging.types import assert_type
from tapeflow.debugging.values import assert_non_negative
from tapeflow.math.casting import cast
from tapeflow.summary.write_ops import summary_scope, write, write_encoded

_BUCKETS = 30


@functools.lru_cache(maxsize=64)
def _summary_metadata(module: Any, description: str | None) -> bytes:
    return module.create_summary_metadata(display_name=None, description=description).SerializeToString()


def scalar(name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Writes a number.

    Args:
        name: the name of the summary; name scopes in force are put before it.
        data: a real scalar, written as float32.
        step: an int64 scalar; by default the default step.
        description: in Markdown.

    Returns:
        A boolean scalar tensor: whether it was written. Without a default writer it is not.

    Raises:
        ValueError: `data` is no scalar; or there is a writer, but no step.

    Example:
        >>> import tempfile
        >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        ...     tf.summary.scalar("loss", 0.5, step=1).numpy().item()
        True
    """
    with summary_scope(name, "scalar_summary") as (tag, _):
        data = convert(data)
        assert_scalar(data)
        return write(tag, cast(data, float32), step, _summary_metadata(scalar_metadata, description))


def histogram(
    name: str, data: TensorLike, step: TensorLike | None = None, buckets: TensorLike | None = None,
    description: str | None = None,
) -> Tensor:  # fmt: skip
    """Writes the distribution of a tensor's elements.

    Args:
        name: the name of the summary; name scopes in force are put before it.
        data: real numbers of any shape.
        step: an int64 scalar; by default the default step.
        buckets: the number of intervals of equal width into which the range of the elements is divided, an int32
            scalar; 30 by default.
        description: in Markdown.

    Returns:
        A boolean scalar tensor: whether it was written. Without a default writer it is not.

    Raises:
        ValueError: there is a writer, but no step.

    Example:
        >>> import tempfile
        >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        ...     tf.summary.histogram("weights", tf.linspace(-1.0, 1.0, 100), step=1).numpy().item()
        True
    """

    def inputs() -> list[Any]:
        count = convert(_BUCKETS if buckets is None else buckets)
        assert_scalar(count)
        assert_type(count, int32)
        return [cast(data, float64), count]

    with summary_scope(name, "histogram_summary") as (tag, _):
        return write_encoded(tag, inputs, step, _summary_metadata(histogram_metadata, description), _histogram_buckets)


def _histogram_buckets(data: EagerTensor, buckets: EagerTensor) -> EagerTensor:
    """Returns a row `[left edge, right edge, count]` for each bucket."""
    values, count = data.numpy().reshape(-1), max(0, int(buckets))
    rows = np.zeros((count, 3))
    if values.size and count:
        low, high = values.min(), values.max()
        if low == high:
            rows[:, :2] = high
            rows[-1, 2] = values.size
        else:
            places = np.floor((values - low) / ((high - low) / count)).astype(np.int64)
            edges = np.linspace(low, high, count + 1)
            rows[:, 0], rows[:, 1] = edges[:-1], edges[1:]
            rows[:, 2] = np.bincount(np.clip(places, 0, count - 1), minlength=count)
    return convert(rows)


def image(
    name: str, data: TensorLike, step: TensorLike | None = None, max_outputs: TensorLike = 3,
    description: str | None = None,
) -> Tensor:  # fmt: skip
    """Writes images.

    Args:
        name: the name of the summary; name scopes in force are put before it.
        data: images `[k, height, width, channels]` with 1 channel (gray), 2 (gray and alpha), 3 (RGB) or 4 (RGBA).
            Floats are clipped to `[0, 1]`. Integers are scaled from the range of their dtype to the range of uint8.
        step: an int64 scalar; by default the default step.
        max_outputs: a scalar, the number of images to write at most; 3 by default.
        description: in Markdown.

    Returns:
        A boolean scalar tensor: whether it was written. Without a default writer it is not.

    Raises:
        ValueError: `data` is not of rank 4; or there is a writer, but no step.
        InvalidArgumentError: there are other numbers of channels; or `max_outputs` is negative.

    Example:
        >>> import tempfile
        >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        ...     tf.summary.image("noise", tf.ones([2, 8, 8, 1]), step=1).numpy().item()
        True
    """

    def inputs() -> list[Any]:
        images = convert(data)
        assert_rank(images, 4)
        if not (images.dtype.is_floating or images.dtype.is_integer):
            raise AttributeError("image dtype must be either floating point or integer")
        return [images, max_outputs]

    with summary_scope(name, "image_summary") as (tag, _):
        return write_encoded(tag, inputs, step, _summary_metadata(image_metadata, description), _png_images)


def _png_images(data: EagerTensor, max_outputs: EagerTensor) -> EagerTensor:
    """Returns the width, the height, and the images as PNG files."""
    assert_non_negative(max_outputs)
    _, height, width, channels = data.shape.as_list()
    if not 1 <= channels <= 4:
        raise invalid(f"image must have 1, 2, 3, or 4 channels, got {channels} [Op:EncodePng] name: ")
    if not height or not width:
        raise invalid(f"image must be larger than 0x0, got {height}x{width} [Op:EncodePng] name: ")
    pixels = _as_uint8(data.numpy()[: int(max_outputs)])
    files = [png_file(p) for p in pixels]
    return strings(StringArray.of([str(width).encode(), str(height).encode(), *files]))


def _as_uint8(array: np.ndarray) -> np.ndarray:
    """Converts pixels to uint8, by the rules of `tf.image.convert_image_dtype` with `saturate`."""
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind not in "iu":
        return np.clip(array.astype(np.float32) * np.float32(255.5), 0, 255).astype(np.uint8)
    limit = int(np.iinfo(array.dtype).max)
    if limit > 255:
        return np.clip(array // ((limit + 1) // 256), 0, 255).astype(np.uint8)
    return np.clip(array, 0, 255).astype(np.uint8) * np.uint8(256 // (limit + 1))


def png_file(pixels: np.ndarray) -> bytes:
    """Encodes pixels in bytes, `[height, width, channels]`, as a PNG file."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(file, "png")
    return file.getvalue()


def text(name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Writes texts in Markdown.

    Args:
        name: the name of the summary; name scopes in force are put before it.
        data: a string tensor. TensorBoard shows a tensor of rank 1 or 2 as a table.
        step: an int64 scalar; by default the default step.
        description: in Markdown.

    Returns:
        A boolean scalar tensor: whether it was written. Without a default writer it is not.

    Raises:
        TypeError: `data` is no string tensor.
        ValueError: there is a writer, but no step.

    Example:
        >>> import tempfile
        >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        ...     tf.summary.text("note", "**all** is well", step=1).numpy().item()
        True
    """
    with summary_scope(name, "text_summary") as (tag, _):
        data = convert(data)
        assert_type(data, string)
        return write(tag, data, step, _summary_metadata(text_metadata, description))


def audio(
    name: str,
    data: TensorLike,
    sample_rate: TensorLike,
    step: TensorLike | None = None,
    max_outputs: TensorLike = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes sound.

    Args:
        name: the name of the summary; name scopes in force are put before it.
        data: float32 samples in `[-1, 1]` of shape `[k, frames, channels]`.
        sample_rate: an int32 scalar, in Hz.
        step: an int64 scalar; by default the default step.
        max_outputs: a scalar, the number of clips to write at most; 3 by default.
        encoding: "wav".
        description: in Markdown.

    Returns:
        A boolean scalar tensor: whether it was written. Without a default writer it is not.

    Raises:
        ValueError: `data` is not of rank 3, the encoding is unknown, or there is a writer but no step.
        InvalidArgumentError: `data` is not float32, or `sample_rate` or `max_outputs` is out of range.

    Example:
        >>> import tempfile
        >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        ...     tf.summary.audio("silence", tf.zeros([1, 100, 2]), 8000, step=1).numpy().item()
        True
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    metadata = audio_metadata.create_summary_metadata(
        display_name=None, description=description, encoding=audio_metadata.Encoding.Value("WAV")
    )

    def inputs() -> list[Any]:
        clips = convert(data)
        assert_rank(clips, 3)
        if clips.dtype is not float32:
            raise invalid(
                "cannot compute EncodeWav as input #0(zero-based) was expected to be a float tensor but is a "
                f"{clips.dtype.name} tensor [Op:EncodeWav] name: "
            )
        return [clips, convert(sample_rate, int32), max_outputs]

    with summary_scope(name, "audio_summary") as (tag, _):
        return write_encoded(tag, inputs, step, metadata, _wav_clips)


def _wav_clips(data: EagerTensor, sample_rate: EagerTensor, max_outputs: EagerTensor) -> EagerTensor:
    """Returns a row `[WAV file, label]` for each clip."""
    assert_non_negative(max_outputs)
    clips = data.numpy()[: int(max_outputs)]
    rows = [text for clip in clips for text in (encode_wav(clip, sample_rate).numpy(), b"")]
    return strings(StringArray.of(rows, (len(clips), 2)))
