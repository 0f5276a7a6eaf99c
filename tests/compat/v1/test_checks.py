"""Checks of TensorFlow 1: their operations in graphs, and their results in eager programs."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1

ROWS = [
    ("assert_equal", ([1, 2], [1, 2]), ([1, 2], [1, 3])),
    ("assert_none_equal", ([1, 2], [3, 4]), ([1, 2], [3, 2])),
    ("assert_less", ([1, 2], [2, 3]), ([1, 3], [2, 3])),
    ("assert_less_equal", ([1, 3], [2, 3]), ([1, 4], [2, 3])),
    ("assert_greater", ([3, 4], [2, 3]), ([3, 3], [2, 3])),
    ("assert_greater_equal", ([3, 3], [2, 3]), ([3, 2], [2, 3])),
    ("assert_near", ([1.0, 2.0], [1.0, 2.0]), ([1.0, 2.0], [1.0, 2.1])),
    ("assert_positive", ([1, 2],), ([1, 0],)),
    ("assert_negative", ([-1, -2],), ([-1, 0],)),
    ("assert_non_negative", ([1, 0],), ([1, -1],)),
    ("assert_non_positive", ([-1, 0],), ([-1, 1],)),
]


@pytest.mark.parametrize(("name", "good", "bad"), ROWS)
def test_values(name, good, bad):
    check = getattr(v1, name)
    assert check(*map(tf.constant, good)) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
        check(*map(tf.constant, bad), message="mine")
    with tf.Graph().as_default(), v1.Session() as sess:
        feeds = [
            (v1.placeholder(tf.as_dtype(np.asarray(x).dtype), [None]), x, y) for x, y in zip(good, bad, strict=False)
        ]
        operation = check(*[p for p, _, _ in feeds], message="mine", name="named")
        sess.run(operation, {p: x for p, x, _ in feeds})
        with pytest.raises(tf.errors.InvalidArgumentError, match="mine"):
            sess.run(operation, {p: y for p, _, y in feeds})


def test_tolerances():
    one, near = tf.constant([1.0]), tf.constant([1.01])
    v1.assert_near(one, near, rtol=0.02)
    v1.assert_near(one, near, rtol=0.0, atol=0.02)
    for options in ({}, {"rtol": 0.005, "atol": 0.0}, {"rtol": 0.0, "atol": 0.005}):
        with pytest.raises(tf.errors.InvalidArgumentError):
            v1.assert_near(one, near, **options)


def test_checks_of_all_numbers():
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        v1.add_check_numerics_ops()
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [2], name="x")
        tf.math.log(x, name="y")
        tf.cast(x, tf.int32)
        check = v1.add_check_numerics_ops()
        sess.run(check, {x: [1.0, 2.0]})
        for bad in ([0.0, 1.0], [1.0, np.nan]):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?i)inf|nan"):
                sess.run(check, {x: bad})


def test_ranks_and_dtypes():
    x = tf.zeros([2, 3])
    v1.assert_rank(x, 2)
    v1.assert_rank_at_least(x, 2)
    v1.assert_rank_in(x, (1, 2))
    v1.assert_scalar(tf.constant(1.0))
    v1.assert_type(x, tf.float32)
    v1.assert_integer(tf.constant(1))
    for call, kind in (
        (lambda: v1.assert_rank(x, 1), ValueError),
        (lambda: v1.assert_rank_at_least(x, 3), ValueError),
        (lambda: v1.assert_rank_in(x, (1, 3)), ValueError),
        (lambda: v1.assert_scalar(x), ValueError),
        (lambda: v1.assert_type(x, tf.int32), TypeError),
        (lambda: v1.assert_integer(x), TypeError),
        (lambda: v1.debugging.assert_shapes([(x, (2, 4))]), ValueError),
        (lambda: v1.debugging.assert_shapes([(x, ("A", "A"))]), ValueError),
    ):
        with pytest.raises(kind):
            call()
    assert v1.is_numeric_tensor(x)
    assert not v1.is_numeric_tensor(tf.constant("a"))
    assert not v1.is_numeric_tensor([1])
    assert v1.is_strictly_increasing([1, 2, 4]).numpy()
    assert not v1.is_strictly_increasing([1, 1]).numpy()
    assert v1.is_non_decreasing([1, 1, 4]).numpy()
    assert not v1.is_non_decreasing([1, 0]).numpy()
