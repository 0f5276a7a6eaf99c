"""Products of a transposed matrix, as gradients of weights are."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core import mkl
from tapeflow.core.hooks import hooks
from tapeflow.linalg.large_products import product

pytestmark = pytest.mark.skipif(hooks.wide_code() is None, reason="there is no machine code for it")
ROWS = (1, 2, 127, 128, 129, 400)
SIZES = (1, 2, 5, 6, 7, 8, 13, 15, 16, 17, 31, 33, 63, 64, 65, 100)


@pytest.fixture
def slow_mkl(monkeypatch):
    monkeypatch.setattr(mkl, "products_are_slow", lambda: True)


def _matrices(rows, m, n):
    """Returns matrices between numbers that are NaN: a kernel that reads beyond them gives NaN."""
    rng = np.random.default_rng([rows, m, n])
    whole = [torch.full((rows * k + 256,), torch.nan) for k in (m, n)]
    a, b = (w[128 : 128 + rows * k].view(rows, k) for w, k in zip(whole, (m, n), strict=True))
    a.copy_(torch.from_numpy(rng.normal(size=a.shape))), b.copy_(torch.from_numpy(rng.normal(size=b.shape)))
    return a, b


@pytest.mark.parametrize("rows", ROWS)
def test_sizes(rows):
    for m in SIZES:
        for n in SIZES:
            a, b = _matrices(rows, m, n)
            want = a.double().t() @ b.double()
            np.testing.assert_allclose(hooks.wide_code().transposed_product(a, b), want, rtol=1e-5, atol=1e-4)


def test_sums_of_many_rows_are_as_exact_as_those_of_blocks():
    a, b = torch.full((2**17, 8), 0.1), torch.full((2**17, 8), 0.3)
    want = (a.double().t() @ b.double()).numpy()
    np.testing.assert_allclose(hooks.wide_code().transposed_product(a, b), want, rtol=1e-5)


def test_the_bits_do_not_depend_on_threads():
    a, b = _matrices(300, 101, 77)
    threads = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3, 7):
            torch.set_num_threads(count)
            results.append(hooks.wide_code().transposed_product(a, b))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(results[0], r) for r in results[1:])


@pytest.mark.usefixtures("slow_mkl")
def test_products_choose_it(monkeypatch):
    called = []
    code = hooks.wide_code()
    counted = code._replace(transposed_product=lambda *args: called.append(1) or code.transposed_product(*args))
    monkeypatch.setattr(hooks, "wide_code", lambda: counted)
    a, b = _matrices(40, 24, 16)
    others = [(a._neg_view(), b), (a.t().contiguous().t(), b), (a, b.t().contiguous().t()), (a.double(), b.double()),
              (a[:, :4], b), (a[:0], b[:0]), (a[:, ::2], b), (a.clone().requires_grad_(), b)]  # fmt: skip
    for x, y in [(a, b), *others]:
        want = x.detach().double().t() @ y.double()
        np.testing.assert_allclose(product(x.t(), y).detach(), want, rtol=1e-5, atol=1e-5)
    assert len(called) == 1  # the first pair
    with pytest.raises(RuntimeError):
        product(a.t(), b[:-1])


@pytest.mark.usefixtures("slow_mkl")
def test_gradients_of_filters():
    x, filters = tf.random.stateless_normal([2, 5, 6, 20], [1, 2]), tf.random.stateless_normal([1, 1, 20, 12], [3, 4])
    with tf.GradientTape() as tape:
        tape.watch(filters)
        y = tf.reduce_sum(tf.nn.conv2d(x, filters, 1, "SAME") ** 2)
    rows = x.numpy().reshape(-1, 20).astype(np.float64)
    want = 2 * rows.T @ (rows @ filters.numpy()[0, 0])
    np.testing.assert_allclose(tape.gradient(y, filters)[0, 0], want, rtol=1e-4, atol=1e-4)
