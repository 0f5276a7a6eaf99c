"""Assertions and checks, with the messages that TensorFlow 2.21 gives."""

import logging
import re

import numpy as np
import pytest

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError
D = tf.debugging


@pytest.mark.parametrize(
    "check",
    [
        lambda: D.assert_equal([1, 2], [1, 2]),
        lambda: D.assert_equal("a", "a"),
        lambda: D.assert_none_equal(1, [2, 3]),
        lambda: D.assert_less([1], [2]),
        lambda: D.assert_less_equal([2], [2]),
        lambda: D.assert_greater(tf.constant(1.5), 1.0),
        lambda: D.assert_greater_equal(2, 2),
        lambda: D.assert_near(1.0, 1.0000001),
        lambda: D.assert_near([1.0], [1.1], rtol=0.2),
        lambda: D.assert_negative([-1.0]),
        lambda: D.assert_positive(1),
        lambda: D.assert_non_negative([0, 1]),
        lambda: D.assert_non_positive([0, -1]),
        lambda: D.assert_integer(1),
        lambda: D.assert_type(1.0, tf.float32),
        lambda: D.assert_rank([1], 1),
        lambda: D.assert_rank_at_least([[1]], 1),
        lambda: D.assert_rank_in([1], [0, 1]),
        lambda: D.assert_shapes([(tf.ones([2, 3]), ("N", "D")), (tf.ones([3]), ("D",))]),
        lambda: D.assert_shapes([(tf.ones([2, 3]), ("...", 3)), (tf.ones([2]), "N"), (tf.ones([2, 5]), ("N", None))]),
        lambda: D.assert_scalar(1),
        lambda: D.assert_proper_iterable([1]),
    ],
)
def test_what_holds_is_silent(check):
    assert check() is None


@pytest.mark.parametrize(
    ("check", "error", "message"),
    [
        (
            lambda: D.assert_equal([1, 2], [1, 3], message="boo"),
            Invalid,
            "boo\nCondition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\nCorresponding x "
            "values:\n[2]\nCorresponding y values:\n[3]\nFirst 2 elements of x:\n[1 2]\nFirst 2 elements of y:\n[1 3]",
        ),
        (
            lambda: D.assert_equal([1, 2], [1, 3], summarize=1),
            Invalid,
            "Condition x == y did not hold.\nIndices of first 1 different values:\n[[1]]\nCorresponding x "
            "values:\n[2]\nCorresponding y values:\n[3]\nFirst 1 elements of x:\n[1]\nFirst 1 elements of y:\n[1]",
        ),
        (
            lambda: D.assert_less_equal(3, 2),
            Invalid,
            "Condition x <= y did not hold.\nFirst 1 elements of x:\n[3]\nFirst 1 elements of y:\n[2]",
        ),
        (
            lambda: D.assert_negative([-1, 0]),
            Invalid,
            "\nCondition x < 0 did not hold element-wise:\nx (shape=(2,) dtype=int32) = \n['-1', '0']",
        ),
        (
            lambda: D.assert_positive([1, 0], message="mm"),
            Invalid,
            "mm.  \nCondition x > 0 did not hold element-wise:\nx (shape=(2,) dtype=int32) = \n['1', '0']",
        ),
        (
            lambda: D.assert_integer(1.5, message="x"),
            TypeError,
            "x.  Expected \"x\" to be integer type.  Found: tensor of dtype <dtype: 'float32'>",
        ),
        (
            lambda: D.assert_type(tf.constant(1.0), tf.int32),
            TypeError,
            "tensor must be of type tf.int32; got tf.float32",
        ),
        (
            lambda: D.assert_rank([1, 2], 2, message="m"),
            ValueError,
            "m.  Tensor  must have rank 2.  Received rank 1, shape (2,)",
        ),
        (lambda: D.assert_rank([1], tf.constant([1])), ValueError, "Rank must be a scalar."),
        (lambda: D.assert_rank([1], 1.5), TypeError, "tensor must be of type tf.int32; got tf.float32"),
        (
            lambda: D.assert_rank_at_least([1], 2),
            ValueError,
            "Tensor  must have rank at least 2.  Received rank 1, shape (1,)",
        ),
        (
            lambda: D.assert_rank_in([1], [0, 2]),
            ValueError,
            "Tensor  must have rank in (0, 2).  Received rank 1, shape (1,)",
        ),
        (lambda: D.assert_scalar([1]), ValueError, "Expected scalar shape, saw shape: (1,)."),
        (
            lambda: D.assert_shapes([(tf.ones([2, 3]), ("N", "D")), (tf.ones([4]), ("D",))]),
            ValueError,
            "Specified by tensor shape=(2, 3) dtype=float32 dimension 1.  Tensor shape=(4,) dtype=float32 dimension 0 "
            "must have size 3.  Received size 4, shape (4,)",
        ),
        (
            lambda: D.assert_shapes([(tf.ones([2, 3]), ("N", 4))], message="m"),
            ValueError,
            "m.  Specified explicitly.  Tensor shape=(2, 3) dtype=float32 dimension 1 must have size 4.  "
            "Received size 3, shape (2, 3)",
        ),
        (
            lambda: D.assert_shapes([(tf.ones([2, 3]), ("N",))]),
            ValueError,
            "Tensor  must have rank in (0, 1).  Received rank 2, shape (2, 3)",
        ),
        (
            lambda: D.assert_same_float_dtype([tf.constant(1)]),
            ValueError,
            "Expected floating point type, got <dtype: 'int32'>.",
        ),
        (
            lambda: D.assert_proper_iterable(1),
            TypeError,
            "Expected argument \"values\" to be iterable.  Found: <class 'int'>",
        ),
    ],
)
def test_what_does_not_hold_says_so(check, error, message):
    with pytest.raises(error) as caught:
        check()
    assert str(caught.value) == message


def test_operands_of_other_shapes_and_dtypes():
    with pytest.raises(Invalid, match=r"Incompatible shapes: \[2\] vs. \[3\] \[Op:Equal\]"):
        D.assert_equal([1, 2], [1, 2, 3])
    with pytest.raises(Invalid, match="cannot compute Equal as input #1"):
        D.assert_equal(1, 1.5)


def test_near_shows_values_and_tolerances():
    with pytest.raises(Invalid) as caught:
        D.assert_near([1.0, 2.0], [1.0, 3.0], message="m")
    assert str(caught.value).startswith("m.  \nx and y not equal to tolerance rtol = ")
    assert "x (shape=(2,) dtype=float32) = \n1.0, 2.0\ny (shape=(2,) dtype=float32) = \n1.0, 3.0" in str(caught.value)
    with pytest.raises(ValueError, match="not inexact"):
        D.assert_near(1, 2)


def test_what_is_known_is_checked_while_a_function_is_traced():
    @tf.function
    def checked(x):
        tf.debugging.assert_equal(x.shape, (2, 3))
        tf.debugging.assert_less(tf.constant(1.0), 2.0)
        return x

    assert checked(tf.ones([2, 3])).shape == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x == y did not hold"):
        checked.get_concrete_function(tf.TensorSpec([2, 4]))


def test_same_float_dtype():
    assert D.assert_same_float_dtype() is tf.float32
    assert D.assert_same_float_dtype([tf.constant(1.0, tf.float64), None]) is tf.float64
    with pytest.raises(ValueError, match="must be of the same type"):
        D.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)])


@pytest.mark.parametrize(
    ("values", "found"), [([1.0, np.nan], "NaN"), ([np.inf, 1.0], "Inf"), ([np.inf, np.nan], "Inf and NaN")]
)
def test_check_numerics(values, found):
    with pytest.raises(Invalid, match=rf"weights : Tensor had {found} values \[Op:CheckNumerics\]"):
        D.check_numerics(values, "weights")
    with pytest.raises(Invalid, match=f"Tensor had {found} values"):
        D.assert_all_finite(values, "x")


def test_check_numerics_lets_numbers_and_gradients_pass():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = D.check_numerics(x * x, "y")
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]


def test_every_op_is_checked_on_request():
    D.enable_check_numerics()
    D.enable_check_numerics()
    try:
        assert float(tf.constant(1.0) + 1.0) == 2.0
        with pytest.raises(Invalid) as caught:
            tf.constant([-1.0, 1.0]) / 0.0
        assert 'Detected Infinity or NaN in output 0 of eagerly-executing op "RealDiv"' in str(caught.value)
        assert "# of -Inf elements: 1" in str(caught.value)
    finally:
        D.disable_check_numerics()
    assert np.isinf((tf.constant(1.0) / 0.0).numpy())


def test_placements_are_logged_on_request(caplog):
    D.set_log_device_placement(True)
    try:
        assert D.get_log_device_placement() is True
        with caplog.at_level(logging.WARNING, logger="tensorflow"):
            tf.constant(1.0) + 1.0
    finally:
        D.set_log_device_placement(False)
    assert "Executing op AddV2 in device /job:localhost/replica:0/task:0/device:" in caplog.text
    assert D.get_log_device_placement() is False


def test_the_log_of_devices_looks_into_functions(caplog):
    inner = tf.function(lambda x: tf.cond(x[0] > 0.0, lambda: tf.sin(x), lambda: tf.cos(x)))
    outer = tf.function(lambda x: inner(x * 2.0))
    D.set_log_device_placement(True)
    try:
        with caplog.at_level(logging.WARNING, logger="tensorflow"):
            outer(tf.ones([2]))
            first = caplog.text
            outer(tf.ones([2]))
    finally:
        D.set_log_device_placement(False)
    for name in ("mul: (Mul)", "Greater: (Greater)", "cond: (StatelessIf)", "cond/Sin: (Sin)", "cond/Cos: (Cos)"):
        assert f"{name}: /job:localhost/replica:0/task:0/device:" in first
    assert caplog.text.count("(Mul)") == 1 and caplog.text.count("Executing op __inference_<lambda> in device") == 2


def test_numeric_tensors():
    assert [D.is_numeric_tensor(v) for v in (tf.constant(1), tf.Variable(1.0), tf.constant("a"), 1)] == [
        True, False, False, False,
    ]  # fmt: skip


def test_traceback_filtering_is_a_switch():
    assert D.is_traceback_filtering_enabled() is True
    D.disable_traceback_filtering()
    assert D.is_traceback_filtering_enabled() is False
    D.enable_traceback_filtering()


ANY_RANK, MATRIX, CUBE = tf.TensorSpec(None), tf.TensorSpec([None, None]), tf.TensorSpec([3, 3, 3])
SHAPES = [
    (lambda x: tf.debugging.assert_rank(x, 2), "Tensor x:0 must have rank 2.  Received rank 3, shape (3, 3, 3)",
     "assertion failed: [] [Tensor x:0 must have rank] [2] [Received shape: ] [3 3 3]"),
    (lambda x: tf.debugging.assert_rank_at_least(x, 4), "Tensor x:0 must have rank at least 4.",
     "assertion failed: [] [Tensor x:0 must have rank at least] [4] [Received shape: ] [3 3 3]"),
    (lambda x: tf.debugging.assert_rank_in(x, [1, 2], message="m"), "m.  Tensor x:0 must have rank in (1, 2).",
     "assertion failed: [m.  ] [Tensor x:0 must have rank in] [1 2] [Received shape: ] [3 3 3]"),
    (lambda x: tf.debugging.assert_shapes([(x, (None, 2))]), "Tensor x:0 must have rank 2.",
     "assertion failed: [] [Tensor x:0 must have rank] [2] [Received shape: ] [3 3 3]"),
    (lambda x: tf.debugging.assert_shapes([(x, ("...", "D", 7))]),
     "Specified explicitly.  Tensor x:0 dimension 2 must have size 7",
     "assertion failed: [] [Specified explicitly] [Tensor x:0 dimension] [-1] [must have size] [7]"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "traced", "run"), SHAPES)
def test_shapes_in_functions(check, traced, run):
    """What is known to be wrong fails while the function is traced, and the rest when it runs."""

    def function(x):
        check(x)
        return x

    with pytest.raises(ValueError, match=re.escape(traced)):
        tf.function(function, input_signature=[CUBE]).get_concrete_function()
    later = tf.function(function, input_signature=[ANY_RANK])
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(run)):
        later(tf.ones([3, 3, 3]))


def test_sizes_with_one_name_in_functions():
    @tf.function(input_signature=[MATRIX, tf.TensorSpec([None])])
    def function(x, y):
        tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("D",))], message="hello")
        return x

    assert function(tf.ones([2, 3]), tf.ones([3])).shape == [2, 3]
    said = "[hello.  ] [Specified by tensor x:0 dimension 1] [Tensor y:0 dimension] [0] [must have size] [4]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(said)):
        function(tf.ones([2, 4]), tf.ones([3]))


def test_a_scalar_must_be_known_to_be_one():
    with pytest.raises(ValueError, match="Expected scalar shape for x:0, saw shape: <unknown>"):
        tf.function(lambda x: tf.debugging.assert_scalar(x), input_signature=[ANY_RANK]).get_concrete_function()
