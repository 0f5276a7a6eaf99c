"""Ops on many elements, which take another way than on few: the same bits, but for the last ones of functions."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.definition import registry

DTYPES = [tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int32, tf.int64, tf.uint8]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40]
NANS = [0, 5, 77_000]


def values(dtype, seed, count=80_000, special=True):
    x = np.random.default_rng(seed).integers(0, 5, count).astype(dtype.as_numpy_dtype)
    if dtype.is_floating and special:
        x[: len(SPECIAL)] = SPECIAL
        x[NANS] = np.nan
    return x


@pytest.fixture(params=DTYPES, ids=lambda d: d.name)
def dtype(request):
    return request.param


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons(dtype, name):
    x, y = values(dtype, 0), values(dtype, 1)
    op, expected = getattr(tf, name), getattr(np, name)
    rows, row = x[:60_000].reshape(200, 300), y[:300]
    with np.errstate(invalid="ignore"):  # NaN in bfloat16
        np.testing.assert_array_equal(op(x, y), expected(x, y))
        np.testing.assert_array_equal(op(x, y[3]), expected(x, y[3]))
        np.testing.assert_array_equal(op(rows, row), expected(rows, row))
    assert op(x, y).dtype is tf.bool


@pytest.mark.parametrize("name", ["is_nan", "is_inf", "is_finite"])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.is_floating], ids=lambda d: d.name)
def test_tests_of_floats(dtype, name):
    x = values(dtype, 0)
    np.testing.assert_array_equal(getattr(tf.math, name)(x), getattr(np, name.replace("_", ""))(x.astype(np.float64)))


@pytest.mark.parametrize(
    "shapes",
    [
        ("nm", "nm", "nm"),
        ("nm", "", "nm"),
        ("nm", "nm", ""),
        ("nm", "", ""),
        ("n1", "nm", "m"),
        ("m", "nm", "n1"),
        ("nm", "1m", "n1"),
    ],
)
def test_choices(dtype, shapes):
    sizes = {"nm": (250, 320), "": (), "n1": (250, 1), "m": (320,), "1m": (1, 320)}
    condition, x, y = (
        values(d, i)[: int(np.prod(sizes[s]))].reshape(sizes[s])
        for i, (d, s) in enumerate(zip((tf.int32, dtype, dtype), shapes, strict=True))
    )
    found = tf.where(condition > 2, x, y).numpy()
    expected = np.where(condition > 2, x, y)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_array_equal(found.view(f"i{found.itemsize}"), expected.view(f"i{found.itemsize}"))


def test_choices_of_slices_that_are_not_contiguous():
    x, y = values(tf.float32, 0).reshape(200, 400), values(tf.float32, 1).reshape(400, 200)
    condition = tf.constant(x > 2)
    np.testing.assert_array_equal(
        tf.where(condition[:, ::2], tf.transpose(y)[:, ::2], x[:, ::2]), np.where(x > 2, y.T, x)[:, ::2]
    )


@pytest.mark.parametrize("dtype", [tf.float32, tf.float16, tf.int32])
def test_zeros_where_a_condition_does_not_hold(dtype):
    x, condition = values(dtype, 0).reshape(200, 400), values(tf.int32, 1).reshape(200, 400) > 2
    for part in (np.s_[:], np.s_[:, ::2]):
        found = tf.where(tf.constant(condition)[part], tf.constant(x)[part], tf.zeros([], dtype)).numpy()
        expected = np.where(condition[part], x[part], np.zeros((), x.dtype))
        np.testing.assert_array_equal(found.view(f"i{found.itemsize}"), expected.view(f"i{found.itemsize}"))
    of_columns = tf.where(tf.transpose(tf.constant(condition)), tf.constant(x.T), tf.zeros([], dtype)).numpy()
    np.testing.assert_array_equal(of_columns, np.where(condition.T, x.T, np.zeros((), x.dtype)))


def test_shapes_that_do_not_fit_are_refused():
    many, other = tf.zeros([200, 300]), tf.zeros([200, 299])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be broadcastable"):
        tf.where(many > 0.0, many, other)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tf.less(many, other)


def test_bools_to_numbers(dtype):
    x = values(tf.int32, 0) > 2
    found = tf.cast(x, dtype)
    assert found.dtype is dtype
    np.testing.assert_array_equal(found, x.astype(dtype.as_numpy_dtype))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, [0, 1], []], ids=str)
@pytest.mark.parametrize("share", [0.0, 0.002, 0.998, 1.0])
def test_any_and_all(axis, share):
    x = np.random.default_rng(0).random((250, 320)) < share
    along = tuple(axis) if isinstance(axis, list) else axis
    np.testing.assert_array_equal(tf.reduce_any(x, axis), np.any(x, along))
    np.testing.assert_array_equal(tf.reduce_all(x, axis, keepdims=True), np.all(x, along, keepdims=True))


@pytest.mark.parametrize("shape", [(300,), (10, 30), ()], ids=str)
@pytest.mark.parametrize("axis", [-1, 0])
def test_one_hot(shape, axis):
    indices = np.random.default_rng(0).integers(-2, 202, shape) if shape else np.array(7)
    depth = 200 if shape else 40_000
    expected = np.where(
        np.expand_dims(indices, axis) == np.arange(depth).reshape((-1,) + (1,) * (len(shape) if axis == 0 else 0)),
        2.0,
        0.5,
    )
    np.testing.assert_array_equal(tf.one_hot(indices, depth, 2.0, 0.5, axis), expected)


def test_signs_and_quotients():
    x, y = values(tf.float32, 0), values(tf.float32, 1)
    np.testing.assert_array_equal(tf.sign(x), np.sign(x))
    np.testing.assert_array_equal(tf.sign(np.abs(np.nan_to_num(x))), np.sign(np.abs(np.nan_to_num(x))))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(tf.math.divide_no_nan(x, y), np.where(y == 0, 0, x / y))
        np.testing.assert_array_equal(tf.math.squared_difference(x, y), (x - y) ** 2)


def test_each_slice_of_a_batch():
    x, y = values(tf.float32, 0, special=False).reshape(2, -1), values(tf.float32, 1, special=False).reshape(2, -1)

    def f(pair):
        x, y = pair
        return tf.where(x > y, x, y) + tf.cast(tf.equal(x, y), tf.float32) + tf.cast(tf.reduce_any(x > 3.0), tf.float32)

    np.testing.assert_array_equal(tf.vectorized_map(f, (x, y)), np.maximum(x, y) + (x == y) + (x > 3).any())
    np.testing.assert_array_equal(
        tf.vectorized_map(lambda i: tf.one_hot(i, 500), np.arange(200).reshape(2, 100))[1, 5], np.eye(500)[105]
    )


def test_gradients_pass_through_choices(dtype=tf.float32):
    x, y = tf.constant(values(dtype, 0, special=False)), tf.constant(values(dtype, 1, special=False))
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        loss = tf.reduce_sum(tf.where(x > y, x * 2.0, y * y))
    dx, dy = tape.gradient(loss, [x, y])
    chosen = x.numpy() > y.numpy()
    np.testing.assert_array_equal(dx, np.where(chosen, 2.0, 0.0))
    np.testing.assert_array_equal(dy, np.where(chosen, 0.0, 2 * y.numpy()))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=lambda d: d.name)
def test_square_roots(dtype):
    x = np.arange(10_000).astype(dtype.as_numpy_dtype)
    x[: len(SPECIAL) + 1] = [*SPECIAL, -1.0]
    with np.errstate(invalid="ignore"):
        expected = np.sqrt(x)
    eps = np.finfo(x.dtype).eps
    np.testing.assert_allclose(tf.sqrt(x), expected, eps)
    np.testing.assert_allclose(tf.sqrt(tf.constant(x)[::3]), expected[::3], eps)
    number = ~np.isnan(expected)  # the sign of a NaN differs from processor to processor
    np.testing.assert_array_equal(np.signbit(tf.sqrt(x))[number], np.signbit(expected)[number])
    in_place = tf.function(lambda x: tf.sqrt(x + 1.0) * 2.0)
    for _ in range(2):
        np.testing.assert_allclose(in_place(x[7:]), np.sqrt(x[7:] + 1) * 2, eps)


NUMPYS = {name: name.replace("a", "arc", 1) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")}


@pytest.mark.parametrize("name, low, high", [
    ("asinh", -1e6, 1e6), ("atanh", -1.0, 1.0), ("sinh", -80.0, 80.0), ("cosh", -80.0, 80.0), ("expm1", -80.0, 80.0),
    ("exp", -80.0, 80.0), ("log", 0.0, 1e6), ("log1p", 0.0, 1e6), ("sin", -10.0, 10.0), ("cos", -10.0, 10.0),
    ("tan", -1.5, 1.5), ("tanh", -10.0, 10.0), ("asin", -1.0, 1.0), ("acos", -1.0, 1.0), ("atan", -9.0, 9.0),
    ("acosh", 1.0, 1e6),
])  # fmt: skip
def test_functions_of_floats_on_one_thread(name, low, high):
    """By NumPy's code for wide vectors, if there is any; the last digits may be others."""
    function, exact = getattr(tf.math, name), getattr(np, NUMPYS.get(name, name))
    x = np.random.default_rng(0).uniform(low, high, 300_000).astype("f")
    if low < 0:
        x[::3] *= 1e-6
    special = np.array([*SPECIAL, 1e38, -1e38], "f")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for y in (x, np.concatenate([special, x]), x[::2], np.resize(special, len(x))):
            with np.errstate(all="ignore"):
                expected = exact(y.astype("d")).astype("f")
            kwargs = {"rtol": 4e-6, "atol": 1e-6 if name in ("sin", "cos", "tan") else 0.0}  # near their zeros
            np.testing.assert_allclose(function(tf.constant(y)), expected, **kwargs)
            result = tf.function(lambda y: function(y) * 1.0)(tf.constant(y))
            np.testing.assert_allclose(result, expected, **kwargs)
            result = tf.function(lambda y: function(y * 1.0) * 1.0)(tf.constant(y))  # in place
            np.testing.assert_allclose(result, expected, **kwargs)
    finally:
        torch.set_num_threads(threads)


ELEMENTWISE = sorted(
    name
    for name, op in registry.items()
    if op.elementwise and op.autograd and op.fills is None and set(op.kinds) == {"tensor"} and op.kernel is not None
    if all(input.type is not tf.string for input in op.opdef.inputs)
)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_autograd_follows_many_elements_as_it_follows_few(name):
    def connected(count, first):
        args = [first(count), *[torch.rand(count, requires_grad=True) for _ in op.kinds[1:]]]
        results = op.kernel(*args)
        return [r.requires_grad for r in (results if isinstance(results, (list, tuple)) else [results])]

    op = registry[name]
    for first in (lambda n: torch.rand(n, requires_grad=True), lambda n: torch.rand(n) > 0.5):
        try:
            expected = connected(2, first)
        except (RuntimeError, TypeError, ValueError):
            continue  # it takes no such numbers
        assert connected(1 << 16, first) == expected
        return


@pytest.mark.parametrize("other", ["numbers", 0.0, -0.0, -3.0, -np.inf])
@pytest.mark.parametrize("shape", [(3, 90, 90), (90, 90), (3, 1, 90), (3, 90, 1), ()], ids=str)
def test_choices_by_conditions_of_other_shapes(dtype, shape, other):
    if not dtype.is_floating and other != "numbers":
        other = 0 if not other else 3
    condition = np.random.default_rng(2).random(shape) < 0.5
    x = values(dtype, 0)[: 3 * 90 * 90].reshape(3, 90, 90)
    y = np.array(values(dtype, 1)[: 3 * 90 * 90].reshape(3, 90, 90) if other == "numbers" else other, x.dtype)
    for a, b in ((x, y), (y, x), (x.swapaxes(1, 2), y)):
        result = tf.where(condition, tf.constant(a), tf.constant(b)).numpy()
        expected = np.where(condition, a, b)
        assert result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cross_entropies_and_softmaxes_of_many_logits(dtype):
    generator = np.random.default_rng(5)
    x = generator.normal(size=(40, 1000)).astype(dtype) * 3
    x[1, :3], x[2, 5] = -np.inf, np.nan
    labels, shares = generator.integers(3, 1000, 40), generator.random((40, 1000)).astype(dtype)
    logs = np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)) + x.max(1, keepdims=True)
    softmax = np.exp(x - logs)
    expected = {"rtol": 2e-5, "atol": 2e-6}
    for logits in (tf.constant(x), tf.transpose(tf.constant(x.T.copy()))):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(logits)
            sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            dense = tf.nn.softmax_cross_entropy_with_logits(shares, logits)
        np.testing.assert_allclose(sparse, (logs - x)[np.arange(40), labels], **expected)
        np.testing.assert_allclose(dense, (shares * (logs - x)).sum(1), **expected)
        np.testing.assert_allclose(tape.gradient(sparse, logits), softmax - np.eye(1000)[labels], **expected)
        np.testing.assert_allclose(tape.gradient(dense, logits), softmax - shares, **expected)
        np.testing.assert_allclose(tf.nn.softmax(logits), softmax, **expected)
        np.testing.assert_allclose(tf.nn.log_softmax(logits), x - logs, **expected)
    for wrong in (-1, 1000):
        labels[7] = wrong
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"label value of {wrong} "):
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.constant(x))
