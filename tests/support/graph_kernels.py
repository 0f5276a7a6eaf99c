"""Graphs with ops for which TensorFlow has no kernel for all arguments, and gradients of ops of unknown sizes, as
`graph_programs.py` has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graph_programs import Built, program


def unknown(tf: Any, rank: int, name: str = "x", dtype: str = "float64") -> Any:
    return tf.compat.v1.placeholder(dtype, [None] * rank, name=name)


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed + sum(shape)).uniform(-1.0, 1.0, shape)


def with_gradients(tf: Any, found: list[Any], *xs: Any) -> list[Any]:
    """Tensors, and the gradients of the sums of their squares."""
    grads = [g for y in found for g in tf.gradients(abs(y) ** 2.0, xs) if g is not None]
    return [*found, *map(tf.convert_to_tensor, grads)]


# ---- what TensorFlow's Python functions do before or instead of a kernel ---------------------------------------------


@program
def fourier_transforms_of_short_signals(tf):
    x, z = unknown(tf, 2), tf.compat.v1.placeholder(tf.float64, [2, 3], name="z")
    n = tf.compat.v1.placeholder(tf.int32, [1], name="n")
    found = [
        tf.signal.rfft(x, [8]),
        tf.signal.rfft(z, [8]),
        tf.signal.rfft(x, n),
        tf.signal.rfft2d(x, [4, 6]),
        tf.signal.irfft(tf.complex(x, x), [8]),
        tf.signal.irfft2d(tf.complex(x, -x), [4, 5]),
    ]
    cut_off = tf.signal.rfft(x, [2])
    return Built([cut_off, *with_gradients(tf, found, x, z)], {x: numbers(2, 3), z: numbers(2, 3, seed=1), n: [5]})


@program
def matrix_exponentials(tf):
    x, z = unknown(tf, 3), tf.compat.v1.placeholder(tf.float64, [3, 3], name="z")
    small = tf.linalg.expm(x)
    feeds = {x: np.stack([numbers(3, 3), 20.0 * numbers(3, 3, seed=1) - 15.0 * np.eye(3)]), z: numbers(3, 3, seed=2)}
    return Built([small, *with_gradients(tf, [tf.linalg.expm(z)], z)], feeds)


@program
def dilated_depthwise_convolutions(tf):
    x = tf.compat.v1.placeholder(tf.float32, [2, None, None, 2], name="x")
    f = tf.compat.v1.placeholder(tf.float32, [3, 2, 2, 2], name="f")
    found = [
        tf.nn.depthwise_conv2d(x, f, [1] * 4, padding, dilations=rates)
        for padding, rates in (("SAME", (2, 2)), ("VALID", (2, 2)), ("VALID", (1, 3)))
    ]
    feeds = {x: numbers(2, 7, 6, 2).astype(np.float32), f: numbers(3, 2, 2, 2).astype(np.float32)}
    return Built(with_gradients(tf, found, x, f), feeds)
