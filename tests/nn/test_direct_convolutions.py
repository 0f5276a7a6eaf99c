"""Convolutions as machine code that reads TensorFlow's layouts, beside the kernels for float64."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core import mkl
from tapeflow.core.hooks import hooks
from tapeflow.nn import conv, direct_convolutions
from tapeflow.nn.conv_layout import convolution_layout

pytestmark = pytest.mark.skipif(hooks.wide_code() is None, reason="there is no machine code for it")


def draw_case(rng):
    """Returns the shapes and attrs of a convolution."""
    window = [int(n) for n in rng.integers(1, 6, 2)]
    strides = [int(n) for n in rng.integers(1, 4, 2)]
    rates = [int(n) for n in rng.integers(1, 3, 2)] if max(strides) == 1 else [1, 1]
    padding = str(rng.choice(["SAME", "VALID", "EXPLICIT"]))
    explicit = (0, 0, *map(int, rng.integers(0, 4, 4)), 0, 0) if padding == "EXPLICIT" else ()
    sizes = [int(n) for n in rng.integers(9, 24, 2)]
    channels = int(rng.choice([1, 3, 5, 16, 24, 32, 48]))
    images = (int(rng.integers(1, 6)), *sizes, channels)
    filters = (*window, channels, int(rng.choice([16, 32, 48])))
    return images, filters, ((1, *strides, 1), padding, explicit, "NHWC", (1, *rates, 1))


def random_tensor(rng, shape):
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))


def directness(images, filters, attrs, *tensors):
    """Returns whether the convolution and its two gradients are computed by the machine code."""
    layout = convolution_layout("Conv2D", images, filters, *attrs)
    return tuple(
        direct_convolutions.is_direct(layout, filters, n, *tensors) for n in (filters[3], filters[2], filters[3])
    )


@pytest.mark.parametrize("seed", range(60))
def test_convolution_and_gradients(seed):
    rng = np.random.default_rng(seed)
    images, filters, attrs = draw_case(rng)
    x, w = (random_tensor(rng, shape) for shape in (images, filters))
    wanted = conv.convolve("Conv2D", x.double(), w.double(), *attrs)
    np.testing.assert_allclose(conv.convolve("Conv2D", x, w, *attrs), wanted, rtol=1e-4, atol=1e-4)
    dy = random_tensor(rng, wanted.shape)
    wanted = conv.convolve_back_input("Conv2DBackpropInput", images, w.double(), dy.double(), *attrs)
    dx = conv.convolve_back_input("Conv2DBackpropInput", images, w, dy, *attrs)
    np.testing.assert_allclose(dx, wanted, rtol=1e-4, atol=2e-4)
    wanted = conv.convolve_back_filter("Conv2DBackpropFilter", x.double(), filters, dy.double(), *attrs)
    dw = conv.convolve_back_filter("Conv2DBackpropFilter", x, filters, dy, *attrs)
    np.testing.assert_allclose(dw, wanted, rtol=1e-4, atol=1e-3)


def test_operands_with_gaps():
    rng = np.random.default_rng(0)
    x, w = random_tensor(rng, (2, 9, 8, 32))[..., ::2], random_tensor(rng, (3, 3, 32, 16)).transpose(2, 3)[..., :16, :]
    attrs = (1, 1, 1, 1), "SAME", (), "NHWC", (1, 1, 1, 1)
    wanted = conv.convolve("Conv2D", x.double(), w.double(), *attrs)
    np.testing.assert_allclose(conv.convolve("Conv2D", x, w, *attrs), wanted, rtol=1e-4, atol=1e-4)
    for gradient, operands in ((conv.convolve_back_input, (x.shape, w)), (conv.convolve_back_filter, (x, w.shape))):
        first, second = operands
        dy = wanted.float().transpose(1, 2).contiguous().transpose(1, 2)
        got = gradient("Conv2DBackprop", first, second, dy, *attrs)
        double = [t.double() if isinstance(t, torch.Tensor) else t for t in operands]
        np.testing.assert_allclose(got, gradient("Conv2DBackprop", *double, wanted, *attrs), rtol=1e-3, atol=1e-3)


def test_threads_give_the_same_bits():
    rng = np.random.default_rng(0)
    images, filters, attrs = (3, 19, 17, 32), (3, 3, 32, 48), ((1, 2, 1, 1), "SAME", (), "NHWC", (1, 1, 1, 1))
    x, w, dy = (random_tensor(rng, shape) for shape in (images, filters, (3, 10, 17, 48)))

    def compute():
        return [
            conv.convolve("Conv2D", x, w, *attrs),
            conv.convolve_back_input("Conv2DBackpropInput", images, w, dy, *attrs),
            conv.convolve_back_filter("Conv2DBackpropFilter", x, filters, dy, *attrs),
        ]

    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            results.append(compute())
    finally:
        torch.set_num_threads(threads)
    for others in results[1:]:
        assert all(map(torch.equal, results[0], others))


def test_only_some_convolutions_are_direct():
    attrs = (1, 1, 1, 1), "SAME", (), "NHWC", (1, 1, 1, 1)
    x = torch.zeros((2, 9, 9, 16))
    assert directness((2, 9, 9, 16), (3, 3, 16, 32), attrs, x) == (True, True, True)
    assert directness((2, 9, 9, 3), (3, 3, 3, 32), attrs, x) == (True, False, True)
    assert directness((2, 9, 9, 16), (3, 3, 16, 5), attrs, x) == (False, True, False)
    assert directness((2, 9, 9, 16), (1, 1, 16, 32), attrs, x) == (mkl.products_are_slow(),) * 3
    assert not any(directness((2, 9, 9, 32), (3, 3, 16, 32), attrs, x))
    assert not any(directness((2, 9, 9, 16), (3, 3, 16, 32), attrs, x.double()))
    assert not any(directness((2, 9, 9, 16), (3, 3, 16, 32), attrs, x.clone().requires_grad_()))
    assert not any(directness((2, 16, 9, 9), (3, 3, 16, 32), (*attrs[:3], "NCHW", attrs[4]), x))


def test_a_function_and_its_second_gradient():
    rng = np.random.default_rng(0)
    x, w = (tf.constant(rng.standard_normal(s).astype(np.float32)) for s in ((2, 10, 9, 16), (3, 3, 16, 16)))

    def second(x, w):
        with tf.GradientTape() as outer:
            outer.watch([x, w])
            with tf.GradientTape() as inner:
                inner.watch([x, w])
                y = tf.reduce_sum(tf.nn.conv2d(x, w, 2, "SAME") ** 3)
            total = sum(tf.reduce_sum(g**2) for g in inner.gradient(y, [x, w]))
        return outer.gradient(total, [x, w])

    for got, wanted in zip(
        tf.function(second)(x, w), second(tf.cast(x, tf.float64), tf.cast(w, tf.float64)), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())
