"""`tf.audio`: what TensorFlow 2.21 made of the same sounds and files."""

import struct

import numpy as np
import pytest

import tapeflow as tf

SAMPLES = b"\1\0\2\0\xff\x7f\0\x80"  # 1, 2, 32767, -32768


def wav(kind=1, channels=1, rate=8000, bits=16, data=SAMPLES, more=b"", before=b"", after=b""):
    """A WAV file; `more` ends its format chunk, and `before` and `after` are other chunks."""
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", kind, channels, rate, rate * frame, frame, bits) + more
    body = b"WAVE" + before + chunk(b"fmt ", form) + after + chunk(b"data", data)
    return chunk(b"RIFF", body)


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data


def test_encodes_what_tensorflow_does():
    samples = [[0.0, 1.0], [-1.0, 0.5], [2.0, -2.0], [1e-5, -2e-5], [1.5 / 32768, -2.5 / 32768]]
    assert tf.audio.encode_wav(samples, 8000).numpy().hex() == (
        "524946463800000057415645666d74201000000001000200401f0000007d000004001000646174611400"
        "00000000ff7f00800040ff7f00800000ffff0200fdff"
    )
    assert tf.audio.encode_wav([[np.nan, np.inf, -np.inf]], 8000).numpy()[-6:].hex() == "0000ff7f0080"


def test_decodes_what_was_encoded():
    sound = tf.audio.decode_wav(tf.audio.encode_wav([[0.5, -0.25], [0.0, 1.0]], 44100))
    assert sound.audio.numpy().tolist() == [[0.5, -0.25], [0.0, 32767 / 32768]]
    assert sound.sample_rate.dtype is tf.int32 and int(sound.sample_rate) == 44100


@pytest.mark.parametrize(
    ("file", "options", "expected"),
    [
        (wav(), {}, [[1], [2], [32767], [-32768]]),
        (wav(channels=2), {}, [[1, 2], [32767, -32768]]),
        (wav(), {"desired_channels": 2}, [[1, 1], [2, 2], [32767, 32767], [-32768, -32768]]),
        (wav(channels=2), {"desired_channels": 1}, [[1], [32767]]),
        (wav(channels=2), {"desired_channels": 3}, [[1, 2, 2], [32767, -32768, -32768]]),
        (wav(), {"desired_channels": 0}, np.zeros((4, 0))),
        (wav(), {"desired_samples": 2}, [[1], [2]]),
        (wav(), {"desired_samples": 5}, [[1], [2], [32767], [-32768], [0]]),
        (wav(more=b"\0\0"), {"desired_samples": 1}, [[1]]),
        (wav(before=chunk(b"JUNK", b"abcd"), after=chunk(b"LIST", b"abc")), {"desired_samples": 1}, [[1]]),
        (wav(data=b""), {}, np.zeros((0, 1))),
        (wav() + b"what follows", {"desired_samples": 1}, [[1]]),
        (b"RIFF\0\0\0\0" + wav()[8:], {"desired_samples": 1}, [[1]]),
    ],
)
def test_decodes(file, options, expected):
    np.testing.assert_array_equal(tf.audio.decode_wav(file, **options).audio * 32768, expected)


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        (b"", {}, "Data too short when trying to read string"),
        (wav()[:30], {}, "Data too short"),
        (wav()[:-2], {}, "Data too short"),
        (wav()[:40] + b"\xff\xff\xff\x7f", {}, "Data too short"),
        (b"RIFX" + wav()[4:], {}, "Header mismatch: Expected RIFF but found RIFX"),
        (wav(bits=8), {}, "Can only read 16-bit WAV files, but received 8"),
        (wav(kind=3), {}, "Bad audio format for WAV: Expected 1"),
        (wav(channels=0), {}, "Bad number of channels for WAV: Expected at least 1, but got 0"),
        (wav(more=bytes(24)), {}, "Bad format chunk size for WAV: Expected 16 or 18"),
        (wav()[:28] + b"\1\0\0\0" + wav()[32:], {}, "Bad bytes per second in WAV header: Expected 16000 but got 1"),
        (wav()[:36], {}, "No data chunk found in WAV"),
        (wav(after=chunk(b"data", b"")), {}, "More than one data chunk found in WAV"),
        (wav()[:36] + b"LIST\xff\xff\xff\xff", {}, "'LIST' is too large: 4294967295 bytes"),
        ([wav()], {}, r"contents must be scalar, got shape \[1\]"),
        (wav(), {"desired_samples": -2}, "desired_samples must be >= -1, got -2"),
    ],
)
def test_refuses_what_is_no_such_file(file, options, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.audio.decode_wav(file, **options)


@pytest.mark.parametrize(
    ("audio", "rate", "message"),
    [
        ([1.0, 2.0], 8000, r"audio must be 2-dimensional\[2\]"),
        ([[1.0]], 0, r"sample_rate must be in \(0, 2\^32\), got: 0"),
        ([[1.0]], [8000], "Input sample_rate should be a scalar tensor"),
        (np.zeros((3, 0), np.float32), 8000, r"num_channels must be in \(0, 2\^16\), got: 0"),
    ],
)
def test_refuses_what_is_no_sound(audio, rate, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.audio.encode_wav(audio, rate)


def test_in_functions():
    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def louder(file):
        sound = tf.audio.decode_wav(file, desired_channels=1)
        assert sound.audio.shape.as_list() == [None, 1] and sound.sample_rate.shape == []
        return tf.audio.encode_wav(2.0 * sound.audio, sound.sample_rate)

    assert louder(wav(data=SAMPLES[:4])).numpy() == wav(data=b"\2\0\4\0")
