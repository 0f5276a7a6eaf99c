"""Products of large and of narrow matrices, where MKL is slow on the processor."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core import mkl
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.linalg import large_products
from tapeflow.linalg.large_products import chooses, product

needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="there is no oneDNN")


def say_slow(monkeypatch, is_slow):
    for products in ("products_are_slow", "narrow_products_are_slow"):
        monkeypatch.setattr(mkl, products, lambda: is_slow)


@pytest.fixture
def for_all_sizes(monkeypatch):
    """Has oneDNN compute small products, too, on every processor."""
    say_slow(monkeypatch, True)
    monkeypatch.setattr(large_products, "_LARGE", 1)
    monkeypatch.setattr(large_products, "_MANY_ROWS", 20)


@pytest.fixture(params=[False, True], ids=["fast MKL", "slow MKL"])
def slow_mkl(request, monkeypatch):
    say_slow(monkeypatch, request.param)
    return request.param


ROWS, MATRIX = torch.randn(24, 40), torch.randn(40, 60)


@needs_onednn
@pytest.mark.usefixtures("for_all_sizes")
@pytest.mark.parametrize(
    ("rows", "matrix"),
    {
        "plain": (ROWS, MATRIX),
        "few rows": (ROWS[:3], MATRIX),
        "three dimensions": (ROWS.view(2, 12, 40), MATRIX),
        "transposed": (torch.randn(40, 24).t(), torch.randn(60, 40).t()),
        "swapped dimensions": (torch.randn(12, 2, 40).transpose(0, 1), MATRIX),
        "gaps": (torch.randn(48, 80)[::2, ::2], torch.randn(80, 120)[::2, ::2]),
        "repeated": (ROWS[:1].expand(24, 40), MATRIX[:, :1].expand(40, 60)),
        "one number": (torch.ones(()).expand(24, 40), torch.ones(()).expand(40, 60)),
        "negated": (ROWS._neg_view(), MATRIX._neg_view()),
        "empty": (ROWS[:0], MATRIX),
        "float64": (ROWS.double(), MATRIX.double()),
    }.values(),
)
def test_the_product_is_that_of_aten(rows, matrix):
    torch.testing.assert_close(product(rows, matrix), torch.matmul(rows, matrix), rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("for_all_sizes")
@pytest.mark.parametrize(
    ("a", "b"),
    {
        "plain": (torch.randn(300, 64), torch.randn(64, 10)),
        "both transposed": (torch.randn(64, 300).t(), torch.randn(10, 64).t()),
        "repeated, and gaps": (torch.randn(300, 64)[:1].expand(300, 64), torch.randn(64, 20)[:, ::2]),
    }.values(),
)
def test_narrow_products_are_those_of_aten(a, b):
    result = product(a, b)
    torch.testing.assert_close(result, a @ b, rtol=1e-4, atol=1e-4)
    assert result.is_contiguous()


@pytest.mark.usefixtures("for_all_sizes")
def test_torch_may_follow_the_product():
    matrix = torch.randn(40, 60, requires_grad=True)
    product(ROWS, matrix).sum().backward()
    torch.testing.assert_close(matrix.grad, ROWS.sum(0)[:, None].expand(40, 60), rtol=1e-4, atol=1e-4)


def test_what_functions_leave_to_the_choice_by_size(slow_mkl):
    assert chooses(float32, tf.TensorShape([512, 512]), 512) == slow_mkl
    assert chooses(float32, tf.TensorShape([256, 64]), 10) == slow_mkl
    assert chooses(float32, tf.TensorShape([None, 64]), 10) == slow_mkl
    assert chooses(float32, tf.TensorShape([None, 512]), 512) == slow_mkl
    assert not chooses(float32, tf.TensorShape([None, 64]), 64)
    assert not chooses(float32, tf.TensorShape(None), 64)
    assert not chooses(float32, tf.TensorShape([16, 64]), 64)
    assert not chooses(float32, tf.TensorShape([16, 64]), 10)
    assert not chooses(float64, tf.TensorShape([512, 512]), 512)


def test_functions_of_matrices_of_unknown_rank_are_compiled():
    unknown = tf.TensorSpec(None)

    @tf.function(input_signature=[unknown, unknown, unknown])
    def product(a, b, bias):
        return tf.raw_ops.MatMul(a=a, b=b), tf.raw_ops.MatMul(a=a, b=b) + bias

    plain, biased = product(tf.ones([2, 3]), tf.ones([3, 4]), tf.ones(4))
    np.testing.assert_array_equal(plain, np.full((2, 4), 3.0))
    np.testing.assert_array_equal(biased, np.full((2, 4), 4.0))


@pytest.mark.usefixtures("slow_mkl")
@pytest.mark.parametrize("shape", [(320, 320), (2, 160, 320)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_functions_of_large_matrices_compute_what_eager_code_does(shape, with_bias):
    rng = np.random.default_rng(0)
    x, w, b = (tf.constant(rng.standard_normal(s), tf.float32) for s in (shape, (320, 512), (512,)))

    def step(x, w, b):
        with tf.GradientTape() as tape:
            tape.watch([x, w, b])
            y = tf.matmul(x, w)
            y = tf.nn.bias_add(y, b) if with_bias else y
            loss = tf.reduce_mean(y**2)
        return y, *tape.gradient(loss, [x, w, b])[: 2 + with_bias]

    for ours, expected in zip(tf.function(step)(x, w, b), step(x, w, b), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("slow_mkl")
@pytest.mark.parametrize("rows", [300, 0])
def test_a_classifier_in_a_function_computes_what_eager_code_does(rows):
    rng = np.random.default_rng(0)
    x, w, b = (tf.constant(rng.standard_normal(s), tf.float32) for s in ((rows, 64), (64, 10), (10,)))

    def step(x, w, b):
        with tf.GradientTape() as tape:
            tape.watch([x, w, b])
            loss = tf.reduce_sum(tf.nn.log_softmax(x @ w + b)[:, 0])
        return loss, *tape.gradient(loss, [x, w, b])

    unknown = [tf.TensorSpec(shape, tf.float32) for shape in ([None, 64], [64, 10], [10])]
    for function in (tf.function(step), tf.function(step, input_signature=unknown)):
        for ours, expected in zip(function(x, w, b), step(x, w, b), strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)


_EAGER = """
import numpy as np
import tapeflow as tf
from tapeflow.core import mkl
from tapeflow.core.hooks import hooks
from tapeflow.linalg import large_products
mkl.products_are_slow = lambda: True
large_products._LARGE = 1
calls = []

def counted(function):
    return lambda *args: calls.append(1) or function(*args)

large_products._by_onednn = counted(large_products._by_onednn)
code = hooks.wide_code()
code = code._replace(transposed_product=counted(code.transposed_product))
hooks.wide_code = lambda: code

rng = np.random.default_rng(0)
x, y, z = (tf.constant(rng.standard_normal(s), tf.float32) for s in ((160, 120), (120, 140), (4, 40, 120)))

def check(ours, expected, count):
    global calls
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)
    assert len(calls) == count, (len(calls), count)
    calls = []

check(tf.matmul(x, y), x.numpy() @ y.numpy(), 1)
check(tf.matmul(x, x, transpose_b=True), x.numpy() @ x.numpy().T, 1)
check(tf.matmul(x, x, transpose_a=True), x.numpy().T @ x.numpy(), 1)
check(tf.matmul(z, y), z.numpy() @ y.numpy(), 1)
check(tf.tensordot(z, y, 1), z.numpy() @ y.numpy(), 1)
check(tf.einsum("bth,hk->kbt", z, y), np.einsum("bth,hk->kbt", z.numpy(), y.numpy()), 1)
check(tf.einsum("bth,bsh->bts", z, z), np.einsum("bth,bsh->bts", z.numpy(), z.numpy()), 0)
for _ in range(2):
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        p = tf.matmul(x, y)
        loss = tf.reduce_sum(p * p) + tf.reduce_sum(tf.matmul(x, y))
    dx, dy = tape.gradient(loss, [x, y])
    p = 2 * p.numpy() + 1
    np.testing.assert_allclose(dx, p @ y.numpy().T, rtol=1e-3, atol=1e-3)
    check(dy, x.numpy().T @ p, 6)
try:
    tf.matmul(x, x)
except tf.errors.InvalidArgumentError as error:
    assert "Matrix size-incompatible" in str(error), error
else:
    raise AssertionError
"""


@needs_onednn
def test_eager_products_and_gradients_choose_by_size():
    """The choice is made once in a process, so another one is told that MKL is slow."""
    done = subprocess.run([sys.executable, "-c", _EAGER], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_the_choice_is_measured_once(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    available = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    monkeypatch.setattr(mkl, "_find_slowness", mkl._find_slowness.__wrapped__)  # as in new processes
    questions = mkl.products_are_slow, mkl.narrow_products_are_slow
    cases = ((1.1, 1.1), (True, False)), ((1.0, 3.0), (False, True)), ((0.8, 1.0), (False, False))
    for times_slower, answers in cases:
        monkeypatch.setenv("MKL_TESTED_WITH", str(times_slower))  # settings of MKL have outcomes of their own
        for measured in (lambda times=times_slower: mkl.Slowness(*times), lambda: 1 / 0):
            monkeypatch.setattr(mkl, "_measure_slowness", measured)
            assert [question() for question in questions] == [a and available for a in answers]
