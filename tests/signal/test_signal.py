"""What the op table can't say of tf.signal: gradients of transforms to and from complex numbers, and round trips."""

import numpy as np
import pytest

import op_table
import tapeflow as tf
from op_table import rand

OF_COMPLEX = {
    "fft": tf.signal.fft,
    "ifft": tf.signal.ifft,
    "fft2d": tf.signal.fft2d,
    "ifft2d": tf.signal.ifft2d,
    "fft3d": tf.signal.fft3d,
    "ifft3d": tf.signal.ifft3d,
    "irfft": tf.signal.irfft,
    "irfft, odd": lambda x: tf.signal.irfft(x, [5]),
    "irfft, continued": lambda x: tf.signal.irfft(x, [12]),
    "irfft, cut off": lambda x: tf.signal.irfft(x, [3]),
    "irfft2d": tf.signal.irfft2d,
    "irfft3d": lambda x: tf.signal.irfft3d(x, [3, 2, 4]),
    "fftnd": lambda x: tf.signal.fftnd(x, [5, 2], axes=[0, 2], norm="ortho"),
    "ifftnd": lambda x: tf.signal.ifftnd(x, [5, 2], axes=[0, 2]),
    "irfftnd": lambda x: tf.signal.irfftnd(x, [2, 5], axes=[0, 2], norm="forward"),
    "inverse_stft": lambda x: tf.signal.inverse_stft(x, 6, 3),
}
OF_REAL = {
    "rfft": tf.signal.rfft,
    "rfft, continued": lambda x: tf.signal.rfft(x, [7]),
    "rfft, cut off": lambda x: tf.signal.rfft(x, [3]),
    "rfft2d": lambda x: tf.signal.rfft2d(x, [2, 5]),
    "rfft3d": tf.signal.rfft3d,
    "rfftnd": lambda x: tf.signal.rfftnd(x, [4, 3], axes=[2, 1]),
    "stft": lambda x: tf.signal.stft(x, 4, 2),
}


def parts(x):
    return [tf.math.real(x), tf.math.imag(x)] if x.dtype.is_complex else x


def check_both_orders(function, args):
    nth = list(range(len(args)))
    op_table.check_gradient(function, args, {}, nth)

    def gradients(*given):
        with tf.GradientTape() as tape:
            tape.watch(given)
            total = tf.add_n([tf.reduce_sum(p * p * p) for p in tf.nest.flatten(function(*given))])
        return tape.gradient(total, list(given))

    op_table.check_gradient(gradients, args, {}, nth)


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_gradient_of_complex(name):
    check_both_orders(lambda a, b: parts(OF_COMPLEX[name](tf.complex(a, b))), [rand(3, 2, 4), rand(3, 2, 4, seed=1)])


@pytest.mark.parametrize("name", OF_REAL)
def test_gradient_of_real(name):
    check_both_orders(lambda a: parts(OF_REAL[name](a)), [rand(3, 2, 4)])


def test_lists_become_what_the_transform_takes():
    assert tf.signal.fft([1.0, 2.0]).dtype == tf.complex64
    assert tf.signal.rfft([1, 2]).dtype == tf.complex64
    assert tf.signal.rfft(np.ones(4)).dtype == tf.complex64
    assert tf.signal.rfft(tf.ones([4], tf.float64)).dtype == tf.complex128


@pytest.mark.parametrize("fft_length", [None, 6, 12])
def test_inverse_stft_restores_the_signal(fft_length):
    x = tf.constant(rand(2, 30))
    window = tf.signal.inverse_stft_window_fn(3)
    y = tf.signal.inverse_stft(tf.signal.stft(x, 6, 3, fft_length), 6, 3, fft_length, window_fn=window)
    np.testing.assert_allclose(x[:, 3:-3], y[:, 3:-3])


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("window_fn", [tf.signal.vorbis_window, tf.signal.kaiser_bessel_derived_window, None])
def test_inverse_mdct_restores_the_signal(window_fn, norm):
    x = tf.constant(rand(2, 32))
    y = tf.signal.inverse_mdct(tf.signal.mdct(x, 8, window_fn, norm=norm), window_fn, norm=norm)
    np.testing.assert_allclose(x[:, 4:-4], y[:, 4:-4], atol=1e-12)


def test_inverse_cosine_transforms():
    x = tf.constant(rand(2, 6))
    for kind in (2, 3, 4):
        np.testing.assert_allclose(tf.signal.idct(tf.signal.dct(x, kind, norm="ortho"), kind, norm="ortho"), x)
        np.testing.assert_allclose(tf.signal.idct(tf.signal.dct(x, kind), kind) / 12, x)
    np.testing.assert_allclose(tf.signal.idct(tf.signal.dct(x, 1), 1) / 10, x)


def test_mel_weights():
    weights = tf.signal.linear_to_mel_weight_matrix(4, 9, 8000, 100.0, 3000.0)
    expected = [  # recorded from TensorFlow
        [0.0, 0.0, 0.0, 0.0],
        [0.676228, 0.323772, 0.0, 0.0],
        [0.0, 0.5390681, 0.46093187, 0.0],
        [0.0, 0.0, 0.69730175, 0.30269825],
        [0.0, 0.0, 0.02868412, 0.97131586],
        [0.0, 0.0, 0.0, 0.47399408],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
    np.testing.assert_allclose(weights, expected, atol=1e-5)
    wide = tf.signal.linear_to_mel_weight_matrix(4, 9, tf.constant(8000), 100.0, 3000.0, tf.float64)
    assert wide.dtype == tf.float64
    np.testing.assert_allclose(wide, expected, atol=1e-5)


def test_frames_of_strings():
    assert tf.signal.frame(tf.constant(["a", "b", "c"]), 2, 1).numpy().tolist() == [[b"a", b"b"], [b"b", b"c"]]
