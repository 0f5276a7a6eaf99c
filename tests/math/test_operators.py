"""Python's operators on tensors and variables. What each gives for many operands is in the goldens."""

import operator

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import kernels

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod,
            operator.ipow]  # fmt: skip


@pytest.mark.parametrize("symbol", [*ARITHMETIC, *COMPARISONS])
@pytest.mark.parametrize("make", [tf.constant, tf.Variable])
def test_an_operator_gives_what_numpy_gives(symbol, make):
    x, y = np.array([[5.5, -2.0], [1.0, 3.0]], np.float32), np.array([2.0, 3.0], np.float32)
    for left, right in ((make(x), make(y)), (make(x), y), (x, make(y)), (make(x), tf.constant(y))):
        result = symbol(left, right)
        assert isinstance(result, tf.Tensor)
        np.testing.assert_allclose(result.numpy(), symbol(x, y), rtol=1e-6)


@pytest.mark.parametrize("symbol", ARITHMETIC)
def test_python_numbers_take_the_dtype_of_the_tensor(symbol):
    x = tf.constant([1.0, 4.0], tf.float16)
    assert symbol(x, 2).dtype == tf.float16
    assert symbol(2, x).dtype == tf.float16
    assert symbol(3, x).numpy().tolist() == symbol(3, np.array([1, 4], np.float16)).tolist()


@pytest.mark.parametrize("symbol", [*ARITHMETIC, *COMPARISONS])
def test_a_float_does_not_become_an_integer(symbol):
    x = tf.constant([1, 2])
    error = tf.errors.InvalidArgumentError if symbol is operator.add else TypeError
    with pytest.raises(error):
        symbol(x, 1.5)
    with pytest.raises(TypeError):
        symbol(1.5, x)


def test_dividing_integers_gives_floats():
    assert (tf.constant(7) / 2).dtype == tf.float64
    assert (7 / tf.constant(2, tf.int16)).dtype == tf.float32
    assert (tf.constant([7, 1]) / tf.constant(2)).numpy().tolist() == [3.5, 0.5]


@pytest.fixture
def no_careful_path(monkeypatch):
    """Fails a test, from when it calls what this gives, where an op leaves the fast path."""

    def careful(*args):
        pytest.fail("left the fast path")

    def start():
        monkeypatch.setattr(kernels, "compute", careful)
        monkeypatch.setattr("tapeflow.core.ops.op.compute", careful)

    return start


def test_the_fast_path_is_taken_from_the_second_time_on(no_careful_path):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])
    calls = [*ARITHMETIC, *COMPARISONS]
    for symbol in calls:
        symbol(x, y), symbol(x, 2.0), symbol(2.0, x)
    no_careful_path()
    for symbol in calls:
        symbol(x, y), symbol(x, 2.0), symbol(2.0, x)


def test_ops_with_several_results_have_a_fast_path(no_careful_path):
    logits, labels = tf.constant([[1.0, 2.0], [3.0, 1.0]]), tf.constant([1, 0])

    def loss_and_gradient():
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return loss, tape.gradient(loss, logits)

    calls = [
        loss_and_gradient,
        lambda: tf.math.top_k(logits, 1),
        lambda: tf.unique(labels),
        lambda: tf.raw_ops.QuantizeV2(
            input=logits, min_range=tf.constant(0.0), max_range=tf.constant(4.0), T=tf.quint8, mode="SCALED"
        ),
    ]
    before = [call() for call in calls]
    no_careful_path()
    for call, given in zip(calls, before, strict=True):
        again = call()
        for a, b in zip(tf.nest.flatten(again), tf.nest.flatten(given), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_attrs_are_checked_on_the_fast_path_too():
    x, low, high = tf.constant([1.0, 2.0]), tf.constant(0.0), tf.constant(4.0)
    for _ in range(2):
        tf.raw_ops.QuantizeV2(input=x, min_range=low, max_range=high, T=tf.quint8, mode="SCALED")
        with pytest.raises(tf.errors.InvalidArgumentError, match="'mode' of \"other\" is not in the list"):
            tf.raw_ops.QuantizeV2(input=x, min_range=low, max_range=high, T=tf.quint8, mode="other")


def test_tensors_of_different_shapes_are_unequal_as_a_whole():
    x = tf.constant([1, 2])
    assert (x == [1, 2, 3]).numpy() is np.False_
    assert (x != tf.constant([1, 2, 3])).numpy() is np.True_
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tf.equal(x, [1, 2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute Equal"):
        x == tf.constant([1.0, 2.0])  # noqa: B015


def test_nothing_equals_none():
    x = tf.constant(1)
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711
    with pytest.raises(ValueError, match="None"):
        tf.Variable(1) == None  # noqa: B015, E711


def test_and_or_xor_are_logic_for_bools_and_bits_for_integers():
    truths, numbers = tf.constant([True, False]), tf.constant([12, 10])
    assert (truths & True).numpy().tolist() == [True, False]
    assert (True ^ truths).numpy().tolist() == [False, True]
    assert (~truths | [False, False]).numpy().tolist() == [False, True]
    assert (numbers & 6).numpy().tolist() == [4, 2]
    assert (6 | numbers).numpy().tolist() == [14, 14]
    assert (~numbers).numpy().tolist() == [-13, -11]
    with pytest.raises(TypeError, match="Cannot convert 1 to EagerTensor of dtype bool"):
        truths & 1
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(1.0) & 1.0


def test_what_tensors_have_no_operator_for():
    x = tf.constant(7)
    for call in (lambda: x << 1, lambda: x >> 1, lambda: divmod(x, 2), lambda: +x):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("symbol", IN_PLACE)
def test_variables_do_not_change_by_operators(symbol):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(RuntimeError, match="not supported"):
        symbol(v, 1.0)
    x = tf.constant([1.0, 2.0])
    y = symbol(x, 2.0)
    assert y is not x


def test_an_unknown_right_operand_gets_its_chance():
    class Other:
        def __radd__(self, left):
            return "radd"

        def __rmul__(self, left):
            return "rmul"

    assert tf.constant(1) + Other() == "radd"
    assert tf.Variable(1.0) * Other() == "rmul"
    with pytest.raises(ValueError, match="unsupported type"):
        tf.constant(1) - object()


def test_strings_are_joined_and_compared():
    x = tf.constant(["a", "b"])
    assert (x + "c").numpy().tolist() == [b"ac", b"bc"]
    assert ("c" + x).numpy().tolist() == [b"ca", b"cb"]
    assert (x == "a").numpy().tolist() == [True, False]


def test_unsigned_integers_of_all_sizes_are_ordered_and_divided_exactly():
    big = tf.constant([2**63 + 5, 3], tf.uint64)
    assert (big > 7).numpy().tolist() == [True, False]
    assert tf.maximum(big, 7).numpy().tolist() == [2**63 + 5, 7]
    assert (big // 2).numpy().tolist() == [2**62 + 2, 1]
    assert (big % 10).numpy().tolist() == [(2**63 + 5) % 10, 3]


def test_gradients_pass_through_operators_and_copies():
    x, v = tf.constant([2.0, 3.0]), tf.Variable([5.0, 7.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 2.0 * x.cpu() ** 2 - v / x
    dx, dv = tape.gradient(y, [x, v])
    np.testing.assert_allclose(dx.numpy(), [4 * 2 + 5 / 4, 4 * 3 + 7 / 9], rtol=1e-6)
    np.testing.assert_allclose(dv.numpy(), [-1 / 2, -1 / 3], rtol=1e-6)


def test_there_is_no_copy_on_a_device_that_is_not_there():
    x = tf.constant(1.0)
    assert x.cpu().device.endswith("CPU:0")
    with pytest.raises(RuntimeError, match="gpu:99"):
        x.gpu(99)


@pytest.mark.parametrize(
    ("value", "source", "to", "result"),
    [
        ([1e20, -1e20], tf.float32, tf.int32, [2147483520, -2147483648]),
        ([1e300, -1e300], tf.float64, tf.float32, [3.4028234663852886e38, -3.4028234663852886e38]),
        ([-5, 300], tf.int64, tf.uint8, [0, 255]),
        ([2**63 + 5], tf.uint64, tf.int64, [2**63 - 1]),
        ([-5], tf.int64, tf.uint64, [0]),
        ([1e300 + 1j], tf.complex128, tf.complex64, [3.4028234663852886e38 + 1j]),
        ([1e3 + 1j], tf.complex128, tf.uint8, [255]),
    ],
)
def test_saturate_cast_stops_at_the_limits(value, source, to, result):
    given = tf.saturate_cast(tf.constant(value, source), to)
    assert given.dtype == to
    assert given.numpy().tolist() == result


@pytest.mark.parametrize(
    ("shape", "source", "to", "result"),
    [
        ([2, 2], tf.uint8, tf.uint16, [2]),
        ([3], tf.float32, tf.uint8, [3, 4]),
        ([0, 4], tf.uint8, tf.int32, [0]),
        ([1], tf.complex128, tf.complex64, [1, 2]),
        ([2], tf.uint8, tf.qint8, [2]),
        ([], tf.int64, tf.float64, []),
    ],
)
def test_bitcast_adds_or_takes_a_dimension_where_sizes_differ(shape, source, to, result):
    given = tf.bitcast(tf.zeros(shape, source), to)
    assert given.dtype == to
    assert given.shape == result


def test_casts_to_and_from_dtypes_without_kernels():
    int4 = tf.dtypes.experimental.int4
    x = tf.cast([1.0, -3.0], int4)
    assert x.dtype == int4
    assert tf.cast(x, tf.float32).numpy().tolist() == [1.0, -3.0]


@pytest.mark.parametrize("size", [100, 20_000, 600_001])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=lambda d: d.name)
def test_tanh_of_few_and_many(size, dtype):
    x = np.concatenate([[np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, -90.0], np.linspace(-9, 9, size - 7)])
    x = x.astype(dtype.as_numpy_dtype)
    got, expected = tf.tanh(x).numpy(), np.tanh(x.astype(np.float64))
    np.testing.assert_allclose(got, expected, rtol=np.finfo(np.float32).eps if dtype is tf.float32 else 1e-15)
    np.testing.assert_array_equal(np.signbit(got[3:5]), [False, True])


def test_tanh_of_many_in_other_layouts_and_on_slices():
    x = tf.reshape(tf.linspace(-3.0, 3.0, 60_000), [200, 300])
    expected = np.tanh(x.numpy().astype(np.float64))
    last_place = np.finfo(np.float32).eps
    np.testing.assert_allclose(tf.tanh(tf.transpose(x)), expected.T, rtol=last_place)
    np.testing.assert_allclose(tf.tanh(x[:, 10:]), expected[:, 10:], rtol=last_place)
    batch = tf.reshape(x, [2, 30_000])
    np.testing.assert_allclose(tf.vectorized_map(tf.tanh, batch), expected.reshape(2, -1), rtol=last_place)


def test_python_bools_are_numbers_where_an_axis_is_wanted():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert tf.reduce_sum(x, axis=True).numpy().tolist() == [3.0, 7.0]
    assert tf.argmax(x, axis=True).numpy().tolist() == [1, 1]
    assert tf.expand_dims([1.0], True).shape == tf.squeeze(tf.ones([1, 1, 1]), True).shape == [1, 1]
    assert tf.concat([[1], [2]], False).numpy().tolist() == [1, 2]
    module = tf.Module()
    module.axes = [True]
    for axes in ([True], (True,), module.axes):
        assert tf.reduce_sum(x, axes).numpy().tolist() == [3.0, 7.0]
        mean, _ = tf.function(lambda x, axes=axes: tf.nn.moments(x, axes))(x)
        assert mean.numpy().tolist() == [1.5, 3.5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="bool"):
        tf.reduce_sum(x, axis=tf.constant(True))


def test_numbers_and_texts_are_no_shape_together():
    with pytest.raises(ValueError, match="Can't convert Python sequence with mixed types to Tensor"):
        tf.reshape(tf.ones([2]), [2, "one"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="string"):
        tf.reshape(tf.ones([2]), ["one"])
