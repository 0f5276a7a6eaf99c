"""WAV files of 16-bit samples.

The format: "Multimedia Programming Interface and Data Specifications 1.0" (IBM and Microsoft, 1991), under "Waveform
Audio File Format".
"""

from __future__ import annotations

import struct
from collections import namedtuple
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import check_rank, text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid

DecodeWav = namedtuple("DecodeWav", ["audio", "sample_rate"])

_SCALE = np.float32(1 << 15)
_PCM, _BITS = 1, 16
_LARGEST_CHUNK = (1 << 31) - 1


class _Reader:
    """Reads a file from its beginning to its end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def at_end(self) -> bool:
        return self._at >= len(self._data)

    def read(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise invalid("Data too short when trying to read string")
        self._at += count
        return self._data[self._at - count : self._at]

    def expect(self, magic: bytes) -> None:
        actual = self.read(len(magic))
        if actual != magic:
            raise invalid(f"Header mismatch: Expected {magic.decode()} but found {actual.decode('latin-1')}")

    def chunk(self) -> tuple[bytes, int]:
        """Reads the name and the size of the next chunk."""
        name, (size,) = self.read(4), struct.unpack("<I", self.read(4))
        if size > _LARGEST_CHUNK:
            kind = name.decode("latin-1")
            raise invalid(f"WAV data chunk '{kind}' is too large: {size} bytes, but the limit is {_LARGEST_CHUNK}")
        return name, size

    def skip(self, count: int) -> None:
        self._at += count


def _read_format(reader: _Reader) -> tuple[int, int]:
    """Reads the sample rate and the number of channels from the chunk `fmt `."""
    name, size = reader.chunk()
    while name != b"fmt ":
        reader.skip(size)
        name, size = reader.chunk()
    if size not in (16, 18):
        raise invalid(f"Bad format chunk size for WAV: Expected 16 or 18, but got{size}")
    kind, channels, rate, bytes_per_second, bytes_per_frame, bits = struct.unpack("<HHIIHH", reader.read(16))
    reader.skip(size - 16)
    if kind != _PCM:
        raise invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got{kind}")
    if channels < 1:
        raise invalid(f"Bad number of channels for WAV: Expected at least 1, but got {channels}")
    if bits != _BITS:
        raise invalid(f"Can only read 16-bit WAV files, but received {bits}")
    expected = bits * channels // 8
    if bytes_per_frame != expected:
        raise invalid(f"Bad bytes per sample in WAV header: Expected {expected} but got {bytes_per_frame}")
    if bytes_per_second != expected * rate:
        raise invalid(
            f"Bad bytes per second in WAV header: Expected {expected * rate} but got {bytes_per_second} "
            f"(sample_rate={rate}, bytes_per_sample={expected})"
        )
    return rate, channels


def _read_wav(data: bytes) -> tuple[np.ndarray, int]:
    """Returns the samples of a file, `[samples, channels]`, and their rate."""
    reader = _Reader(data)
    reader.expect(b"RIFF")
    reader.read(4)  # the size of the rest; it is wrong in streamed files
    reader.expect(b"WAVE")
    rate, channels = _read_format(reader)
    samples = None
    while not reader.at_end():
        name, size = reader.chunk()
        if name != b"data":
            reader.skip(size)
            continue
        if samples is not None:
            raise invalid("More than one data chunk found in WAV")
        frame = 2 * channels
        samples = np.frombuffer(reader.read(size // frame * frame), "<i2").reshape(-1, channels)
    if samples is None:
        raise invalid("No data chunk found in WAV")
    return samples / _SCALE, rate


def _fit_samples(samples: np.ndarray, desired_channels: int, desired_samples: int) -> np.ndarray:
    """Returns samples with a number of channels, the last one repeated, and of a length, with silence at the end."""
    if desired_channels != -1:
        samples = samples[:, np.minimum(np.arange(desired_channels), samples.shape[1] - 1)]
    if desired_samples != -1:
        missing = max(0, desired_samples - len(samples))
        samples = np.pad(samples[:desired_samples], [(0, missing), (0, 0)])
    return samples


def _decoded_shape(
    contents: TensorShape, desired_channels: int = -1, desired_samples: int = -1
) -> tuple[TensorShape, TensorShape]:
    if contents.rank:
        raise invalid(f"Shape must be rank 0 but is rank {contents.rank}")
    sizes = [None if size == -1 else size for size in (desired_samples, desired_channels)]
    return TensorShape(sizes), TensorShape([])


@op("DecodeWav", strings=True, shape=_decoded_shape)
def _decode_wav(
    contents: np.ndarray, desired_channels: int = -1, desired_samples: int = -1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Decodes a WAV file."""
    if contents.ndim:
        raise invalid(f"contents must be scalar, got shape {text(contents.shape)}")
    for name, value in (("desired_channels", desired_channels), ("desired_samples", desired_samples)):
        if value < -1:
            raise invalid(f"{name} must be >= -1, got {value}")
    samples, rate = _read_wav(contents.item())
    audio = np.ascontiguousarray(_fit_samples(samples, desired_channels, desired_samples), np.float32)
    return torch.from_numpy(audio), torch.tensor(rate, dtype=torch.int32)


not_differentiable(_decode_wav)


def decode_wav(
    contents: TensorLike, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """Decodes a WAV file with 16-bit samples.

    Args:
        contents: a string scalar, the bytes of the file.
        desired_channels: an int, the number of channels of the result; -1 for the number in the file. If the file has
            fewer, its last channel is repeated.
        desired_samples: an int, the number of samples of the result, with silence at the end; -1 for the number in the
            file.

    Returns:
        `audio`, float32 in `[-1, 1)` of shape `[samples, channels]`, and `sample_rate`, an int32 scalar.

    Raises:
        InvalidArgumentError: the bytes are no such file.

    Example:
        >>> file = tf.audio.encode_wav([[0.5], [-0.25]], sample_rate=8000)
        >>> sound = tf.audio.decode_wav(file)
        >>> sound.audio.numpy().tolist(), int(sound.sample_rate)
        ([[0.5], [-0.25]], 8000)
    """
    return DecodeWav(*_decode_wav(contents, desired_channels, desired_samples, name))


def _wav_file(samples: np.ndarray, rate: int) -> bytes:
    """Returns the WAV file of float samples `[samples, channels]`.

    Raises:
        InvalidArgumentError: they are too many, or the rate or the number of channels is out of range.
    """
    if not 0 < rate < 1 << 32:
        raise invalid(f"sample_rate must be in (0, 2^32), got: {rate}")
    frames, channels = samples.shape
    if not 0 < channels < 1 << 16:
        raise invalid(f"num_channels must be in (0, 2^16), got: {channels}")
    size = 2 * channels * frames
    if size + 36 >= 1 << 32:
        raise invalid(f"the audio has {frames} samples of {channels} channels, too many for a WAV file")
    scaled = np.nan_to_num(samples * _SCALE)
    rounded = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)  # halves away from zero
    frame = 2 * channels
    header = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", size + 36, b"WAVE", b"fmt ", 16, _PCM, channels, rate,
                         rate * frame & 0xFFFFFFFF, frame & 0xFFFF, _BITS, b"data", size)  # fmt: skip
    return header + np.clip(rounded, -32768, 32767).astype("<i2").tobytes()


def _encode_wav(audio: torch.Tensor, sample_rate: int) -> StringArray:
    if audio.ndim != 2:
        raise invalid(f"audio must be 2-dimensional{text(audio.shape)}")
    if not isinstance(sample_rate, int):
        raise invalid(f"Input sample_rate should be a scalar tensor, got {list(np.shape(sample_rate))} instead.")
    return StringArray.scalar(_wav_file(audio.cpu().numpy(), sample_rate))


def _encoded_shape(audio: TensorShape, sample_rate: Any) -> TensorShape:
    check_rank(sample_rate, 0)
    if audio.rank not in (None, 2):
        raise invalid(f"Shape must be rank 2 but is rank {audio.rank}")
    return TensorShape([])


@op("EncodeWav", kernel=_encode_wav, host=("sample_rate",), shape=_encoded_shape)
def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """Encodes samples as a WAV file of 16-bit samples.

    Args:
        audio: a float32 tensor of shape `[samples, channels]`; values outside of `[-1, 1]` are clipped.
        sample_rate: an int32 scalar, in Hz.

    Returns:
        A string scalar, the bytes of the file.

    Raises:
        InvalidArgumentError: `audio` is not of rank 2, or the rate or the number of channels is out of range.

    Example:
        >>> tf.audio.encode_wav(tf.zeros([3, 2]), 8000).numpy()[:4]
        b'RIFF'
    """


not_differentiable(encode_wav)
