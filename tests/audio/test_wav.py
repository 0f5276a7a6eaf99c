"""WAV files: samples, rates, channels and chunks, and files that are refused. TensorFlow gave the outcomes."""

import struct

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

A = tf.audio


SAMPLES = b"\1\0\2\0\xff\x7f\0\x80"  # 1, 2, 32767, -32768


def chunk(name, data, size=None):
    return name + struct.pack("<I", len(data) if size is None else size) + data


def wav(kind=1, channels=1, rate=8, bits=16, frame=None, speed=None, data=SAMPLES, after=b"", more=b""):
    frame = channels * bits // 8 if frame is None else frame
    speed = rate * frame if speed is None else speed
    form = struct.pack("<HHIIHH", kind, channels, rate, speed, frame, bits) + more
    return chunk(b"RIFF", b"WAVE" + chunk(b"fmt ", form) + after + chunk(b"data", data))


def read(data, *args, **options):
    return tuple(A.decode_wav(data, *args, **options))


def static(*args, **options):
    found = []
    spec = [tf.TensorSpec([], tf.string)]
    tf.function(lambda x: found.append([v.shape for v in A.decode_wav(x, *args, **options)]) or x,
                input_signature=spec).get_concrete_function()  # fmt: skip
    return found[0]


ROWS = read_rows(r"""
read(wav())
    (float32 [4, 1] [[3.0518e-05], [6.1035e-05], [0.99997], [-1]]; int32 [] 8)
read(wav(channels=2))
    (float32 [2, 2] [[3.0518e-05, 6.1035e-05], [0.99997, -1]]; int32 [] 8)
read(wav(channels=4))
    (float32 [1, 4] [[3.0518e-05, 6.1035e-05, 0.99997, -1]]; int32 [] 8)
read(wav(rate=44100))
    (float32 [4, 1] [[3.0518e-05], [6.1035e-05], [0.99997], [-1]]; int32 [] 44100)
read(wav(), desired_channels=2)
    (float32 [4, 2] [[3.0518e-05, 3.0518e-05], [6.1035e-05, 6.1035e-05], [0.99997, 0.99997], [-1, -1]]; int32 [] 8)
read(wav(channels=2), 1)
    (float32 [2, 1] [[3.0518e-05], [0.99997]]; int32 [] 8)
read(wav(channels=2), 3)
    (float32 [2, 3] [[3.0518e-05, 6.1035e-05, 6.1035e-05], [0.99997, -1, -1]]; int32 [] 8)
read(wav(), desired_samples=2)
    (float32 [2, 1] [[3.0518e-05], [6.1035e-05]]; int32 [] 8)
read(wav(), desired_samples=6)
    (float32 [6, 1] [[3.0518e-05], [6.1035e-05], [0.99997], [-1], [0], [0]]; int32 [] 8)
read(wav(channels=2), desired_channels=1, desired_samples=3)
    (float32 [3, 1] [[3.0518e-05], [0.99997], [0]]; int32 [] 8)
read(wav(), -1, -1)
    (float32 [4, 1] [[3.0518e-05], [6.1035e-05], [0.99997], [-1]]; int32 [] 8)
read(wav(), 0)
    (float32 [4, 0] [[], [], [], []]; int32 [] 8)
read(wav(), desired_samples=0)
    (float32 [0, 1] []; int32 [] 8)
read(wav(), desired_samples=-2)
    InvalidArgumentError: desired_samples must be >= -1, got -2
read(wav(data=b''))
    (float32 [0, 1] []; int32 [] 8)
read(wav(data=b'\1\0\2'))
    InvalidArgumentError: Data too short when trying to read string
read(wav(more=b'\0\0'))
    (float32 [4, 1] [[3.0518e-05], [6.1035e-05], [0.99997], [-1]]; int32 [] 8)
read(wav(more=b'\0\0\0'))
    InvalidArgumentError: Bad format chunk size for WAV: Expected 16 or 18, but got19
read(wav(after=chunk(b'LIST', b'abcd')))
    (float32 [4, 1] [[3.0518e-05], [6.1035e-05], [0.99997], [-1]]; int32 [] 8)
read(wav(after=chunk(b'LIST', b'abc')))
    (float32 [4, 1] [[3.0518e-05], [6.1035e-05], [0.99997], [-1]]; int32 [] 8)
read(wav(after=chunk(b'data', b'\1\0')))
    InvalidArgumentError: More than one data chunk found in WAV
read(wav(kind=3))
    InvalidArgumentError: Bad audio format for WAV: Expected 1 (PCM), but got3
read(wav(channels=0))
    InvalidArgumentError: Bad number of channels for WAV: Expected at least 1, but got 0
read(wav(bits=8))
    InvalidArgumentError: Can only read 16-bit WAV files, but received 8
read(wav(bits=24))
    InvalidArgumentError: Can only read 16-bit WAV files, but received 24
read(wav(frame=4))
    InvalidArgumentError: Bad bytes per sample in WAV header: Expected 2 but got 4
read(wav(speed=7))
    InvalidArgumentError: Bad bytes per second in WAV header: Expected 16 but got 7 (sample_rate=8,
    bytes_per_sample=2)
read(wav()[:30])
    InvalidArgumentError: Data too short when trying to read string
read(wav()[:46])
    InvalidArgumentError: Data too short when trying to read string
read(wav()[:36])
    InvalidArgumentError: No data chunk found in WAV
read(b'')
    InvalidArgumentError: Data too short when trying to read string
read(b'RIFX' + wav()[4:])
    InvalidArgumentError: Header mismatch: Expected RIFF but found RIFX
read(wav()[:8] + b'WAVX' + wav()[12:])
    InvalidArgumentError: Header mismatch: Expected WAVE but found WAVX
read(wav() + b'ab')
    InvalidArgumentError: Data too short when trying to read string
read([wav()])
    InvalidArgumentError: contents must be scalar, got shape [1]
static()
    (TensorShape([None, None]); TensorShape([]))
static(2)
    (TensorShape([None, 2]); TensorShape([]))
static(desired_samples=5)
    (TensorShape([5, None]); TensorShape([]))
static(2, 5)
    (TensorShape([5, 2]); TensorShape([]))
A.encode_wav([[0.5, -0.5], [1.0, -1.0]], 8000)
    string [] b'RIFF,\x00\x00\x00WAVEfmt
    \x10\x00\x00\x00\x01\x00\x02\x00@\x1f\x00\x00\x00}\x00\x00\x04\x00\x10\x00data\x08\x00\x00\x00\x00@\x00\xc0\xff\x7f\x00\x80'
A.encode_wav([[0.25]], 1)
    string [] b'RIFF&\x00\x00\x00WAVEfmt
    \x10\x00\x00\x00\x01\x00\x01\x00\x01\x00\x00\x00\x02\x00\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\x00 '
A.encode_wav(tf.zeros([0, 1]), 8000)
    string [] b'RIFF$\x00\x00\x00WAVEfmt
    \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data'
A.encode_wav([[0.5]], 0)
    InvalidArgumentError: sample_rate must be in (0, 2^32), got: 0
A.encode_wav([[0.5]], -1)
    InvalidArgumentError: sample_rate must be in (0, 2^32), got: -1
A.encode_wav([0.5], 8000)
    InvalidArgumentError: audio must be 2-dimensional[1]
A.encode_wav([[[0.5]]], 8000)
    InvalidArgumentError: audio must be 2-dimensional[1,1,1]
A.encode_wav([[0.5]], [8000])
    InvalidArgumentError: Input sample_rate should be a scalar tensor, got [1] instead.
A.encode_wav(tf.zeros([1, 0]), 8000)
    InvalidArgumentError: num_channels must be in (0, 2^16), got: 0
A.encode_wav(tf.zeros([1, 65536]), 8000)
    InvalidArgumentError: num_channels must be in (0, 2^16), got: 65536
tf.strings.length(A.encode_wav(tf.zeros([1, 65535]), 8000))
    int32 [] 131114
A.encode_wav([[2.0], [-2.0], [0.5 / 32768], [1.5 / 32768], [-0.5 / 32768], [-1.5 / 32768]], 8000)
    string [] b'RIFF0\x00\x00\x00WAVEfmt
    \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x0c\x00\x00\x00\xff\x7f\x00\x80\x01\x00\x02\x00\xff\xff\xfe\xff'
A.encode_wav([[1]], 8000)
    string [] b'RIFF&\x00\x00\x00WAVEfmt
    \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\xff\x7f'
A.decode_wav(wav()).sample_rate
    int32 [] 8
A.decode_wav(wav()).audio.dtype
    tf.float32
tf.function(lambda x: A.encode_wav(x, 8), input_signature=[tf.TensorSpec(None)])([0.5])
    InvalidArgumentError: audio must be 2-dimensional[1]
tf.function(lambda x: A.decode_wav(x).audio, input_signature=[tf.TensorSpec(None, tf.string)])([wav()])
    InvalidArgumentError: contents must be scalar, got shape [1]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
