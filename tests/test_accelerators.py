"""GPUs of other kinds than CUDA's: what torch calls accelerators. One without float64, as Apple's are, is pretended."""

import pytest
import torch

import tapeflow as tf
from pretended_gpu import pretended_gpu
from tapeflow.core import device

MPS = torch.device("mps", 0)


@pytest.fixture(autouse=True)
def apple(monkeypatch):
    with pretended_gpu(monkeypatch, MPS, frozenset([torch.float64, torch.complex128])):
        yield


def test_an_accelerator_of_any_kind_is_a_gpu():
    x = tf.constant([1.0, 2.0])
    assert x.device.endswith("GPU:0") and x.value.device == MPS
    assert (x.cpu().gpu() + 1.0).device == x.device
    v = tf.Variable(x)
    v.assign_add([1.0, 1.0])
    step = tf.function(lambda x: tf.reduce_sum(v * x) + tf.random.uniform([]) * 0.0)
    assert [float(step(x)) for _ in range(3)] == [8.0] * 3
    assert v.device.endswith("GPU:0") and step(x).device.endswith("GPU:0")


def test_dtypes_that_an_accelerator_lacks_stay_on_the_cpu():
    makers = (
        lambda: tf.constant([1.0, 2.0], tf.float64), lambda: tf.zeros([2], tf.float64),
        lambda: tf.eye(2, dtype=tf.float64), lambda: tf.range(2.0, dtype=tf.float64),
        lambda: tf.fill([2], tf.constant(1.0, tf.float64)),
        lambda: tf.random.uniform([2], dtype=tf.float64), lambda: tf.cast(tf.constant([1.0]), tf.complex128),
        lambda: tf.random.stateless_normal([2], [1, 2], dtype=tf.float64),
    )  # fmt: skip
    for make in makers:
        assert make().device.endswith("CPU:0")
        assert tf.function(make)().device.endswith("CPU:0")
    assert tf.Variable([1.0], dtype=tf.float64).read_value().device.endswith("CPU:0")
    x = tf.constant([1.5], tf.float64)
    assert tf.cast(x, tf.float32).numpy().tolist() == [1.5]
    assert (x * 2.0).numpy().tolist() == [3.0]


def test_what_an_accelerator_has_no_kernel_for_is_computed_on_the_cpu_and_listed():
    x = tf.constant([3.0, 1.0, 2.0])
    with tf.device("GPU:0"):
        y, _ = tf.nn.isotonic_regression(x, axis=0)
    assert y.device.endswith("GPU:0") and y.numpy().tolist() == [3.0, 1.5, 1.5]
    assert tf.config.experimental.ops_computed_on_cpu() == {"IsotonicRegression": ["float32"]}


def test_without_soft_placement_it_is_refused(monkeypatch):
    monkeypatch.setattr(device.machine, "soft_placement", False)
    x = tf.constant([3.0, 1.0, 2.0])
    assert tf.nn.isotonic_regression(x, axis=0)[0].numpy().tolist() == [3.0, 1.5, 1.5]
    with tf.device("GPU:0"), pytest.raises(tf.errors.InvalidArgumentError, match="mps has no kernel for Isotonic"):
        tf.nn.isotonic_regression(x, axis=0)
