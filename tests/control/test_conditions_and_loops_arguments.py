"""`tf.cond`, `tf.case`, `tf.switch_case`, `tf.while_loop` and `tf.Assert`: what they take and refuse."""

import numpy as np
import pytest

import tapeflow as tf

YES, NO = tf.constant(True), tf.constant(False)


def one():
    return tf.constant(1)


def two():
    return tf.constant(2)


def three():
    return tf.constant(3)


def both_ways(function):
    """Returns the results of a function of nothing, eagerly and in a graph."""
    return [int(function()), int(tf.function(function, autograph=False)())]


def flags(*values):
    """Returns flags as tensors, which a graph does not know."""
    return [tf.Variable(v) for v in values]


@pytest.mark.parametrize(
    ("values", "default", "expected"),
    [
        ((True, True), three, 1),
        ((False, True), three, 2),
        ((False, False), three, 3),
        ((False, True), None, 2),
        ((True, False), None, 1),
    ],
)
def test_the_first_true_predicate(values, default, expected):
    first, second = flags(*values)

    def choose():
        return tf.case([(first.read_value(), one), (second.read_value(), two)], default)

    assert both_ways(choose) == [expected] * 2


def test_exclusive_cases():
    first, second = flags(False, True)

    def choose(default=three, pairs=tuple):
        chosen = ((first.read_value(), one), (second.read_value(), two))
        return tf.case(pairs(chosen), default=default, exclusive=True)

    assert both_ways(choose) == [2, 2] == both_ways(lambda: choose(pairs=list))
    assert both_ways(lambda: choose(None)) == [2, 2]
    first.assign(True)
    for function in (choose, tf.function(choose, autograph=False)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
            function()
    second.assign(False)
    assert both_ways(choose) == [1, 1]


def test_no_case():
    first, second = flags(False, False)

    def choose():
        return tf.case([(first.read_value(), one), (second.read_value(), two)])

    for function in (choose, tf.function(choose, autograph=False)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
            function()


def test_dicts_of_cases():
    with pytest.raises(ValueError, match="Unordered dictionaries are not supported"):
        tf.case({YES.ref(): one})
    assert int(tf.case({NO.ref(): one, YES.ref(): two}, exclusive=True)) == 2
    assert int(tf.case({NO.ref(): one}, default=three, exclusive=True)) == 3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tf.case(3), TypeError, "'pred_fn_pairs' must be a list, tuple, or dict"),
        (lambda: tf.case([]), ValueError, ""),
        (lambda: tf.case([(YES, one, two)]), TypeError, "Each entry in 'pred_fn_pairs' must be a 2-tuple"),
        (lambda: tf.case([[YES, one]]), TypeError, "must be a 2-tuple"),
        (lambda: tf.case([(True, one)]), TypeError, "pred must be a Tensor, got: True"),
        (lambda: tf.case([(tf.constant(1), one)]), TypeError, "bool"),
        (lambda: tf.case([(YES, 3)]), TypeError, "must be callable"),
        (lambda: tf.case([(YES, one)], default=3), TypeError, "'default' must be callable|default must be callable"),
        (lambda: tf.switch_case(1, [one]), TypeError, "'branch_index' must be a Tensor, got"),
        (lambda: tf.switch_case(tf.constant(1.0), [one]), TypeError, "integer"),
        (lambda: tf.switch_case(tf.constant(1), one), TypeError, "'branch_fns' must be a list, tuple, or dict"),
        (lambda: tf.switch_case(tf.constant(1), []), ValueError, "Must provide at least one item in 'branch_fns'"),
        (lambda: tf.switch_case(tf.constant(1), {}), ValueError, "Must provide at least one item in 'branch_fns'"),
        (lambda: tf.switch_case(tf.constant(1), [3]), TypeError, "must be a 2-tuple"),
        (lambda: tf.switch_case(tf.constant(1), [(0, one), (1, two, 3)]), TypeError, "must be a 2-tuple"),
        (lambda: tf.switch_case(tf.constant(1), {"a": one}), TypeError, "Key must be a Python `int`"),
        (lambda: tf.switch_case(tf.constant(1), {0: 3}), TypeError, "fn for key 0 must be callable"),
        (lambda: tf.switch_case(tf.constant(1), {0: one, 2: two}), ValueError, "must form contiguous range of"),
        (lambda: tf.switch_case(tf.constant(1), [(0, one), (0, two)]), ValueError, "must form contiguous range of"),
        (lambda: tf.switch_case(tf.constant(1), [one], default=3), TypeError, "callable"),
        (lambda: tf.while_loop(3, one, [one()]), TypeError, "'cond' must be callable"),
        (lambda: tf.while_loop(one, 3, [one()]), TypeError, "'body' must be callable"),
        (lambda: tf.while_loop(one, one, []), ValueError, "'loop_vars' must be provided|No loop variables provided"),
        (lambda: tf.while_loop(one, one, None), ValueError, "'loop_vars' must be provided|No loop variables provided"),
        (lambda: tf.while_loop(one, one, [one()], parallel_iterations=0), TypeError, "'parallel_iterations' must be a"),
        (lambda: tf.cond(YES, 3, one), TypeError, "'true_fn' must be callable|true_fn must be callable"),
        (lambda: tf.cond(YES, one, 3), TypeError, "'false_fn' must be callable|false_fn must be callable"),
    ],
)  # fmt: skip
def test_refuses(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert any(part in str(raised.value) for part in message.split("|"))


def test_an_index_is_a_scalar():
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError, TypeError)):
        tf.switch_case(tf.constant([0, 1]), [one, two])


@pytest.mark.parametrize("branches", [[one, two, three], ((0, one), (1, two), (2, three)), {2: three, 0: one, 1: two}])
@pytest.mark.parametrize(("index", "expected"), [(0, 1), (1, 2), (2, 3), (3, 3), (-1, 3)])
def test_indices(branches, index, expected):
    place = tf.Variable(index)
    for dtype in (tf.int32, tf.int64, tf.uint8):
        if index >= 0 or dtype != tf.uint8:
            assert both_ways(lambda d=dtype: tf.switch_case(tf.cast(place.read_value(), d), branches)) == [expected] * 2
    default = both_ways(lambda: tf.switch_case(place.read_value(), branches, default=lambda: tf.constant(9)))
    assert default == [expected if 0 <= index < 3 else 9] * 2


def test_conditions():
    flag = tf.Variable(False)
    assert both_ways(lambda: tf.cond(flag.read_value(), one, two)) == [2, 2]
    flag.assign(True)
    assert both_ways(lambda: tf.cond(flag, one, two)) == [1, 1]
    assert int(tf.cond(True, one, two)) == 1 and int(tf.cond(tf.constant(False), one, two)) == 2


@pytest.mark.parametrize(("limit", "expected"), [(None, (5, 10)), (3, (3, 3)), (0, (0, 0)), (9, (5, 10))])
def test_the_most_iterations(limit, expected):
    def count():
        return tf.while_loop(lambda i, t: i < 5, lambda i, t: (i + 1, t + i), (0, 0), maximum_iterations=limit)

    for function in (count, tf.function(count, autograph=False)):
        assert tuple(map(int, function())) == expected
    staged = tf.function(
        lambda n: tf.while_loop(lambda i, t: i < 5, lambda i, t: [i + 1, t + i], [0, 0], maximum_iterations=n)
    )
    if limit is not None:
        assert [int(v) for v in staged(tf.constant(limit))] == list(expected)


def test_structures_of_loop_variables():
    def body(i, nest):
        return i + 1, {"a": nest["a"] * 2, "b": (nest["b"][0] + 1.0,)}

    start = (tf.constant(0), {"a": 1, "b": (np.float32(0.5),)})
    for loop in (tf.while_loop, tf.function(tf.while_loop, autograph=False)):
        i, nest = loop(lambda i, nest: i < 3, body, start)
        assert (int(i), int(nest["a"]), float(nest["b"][0])) == (3, 8, 3.5) and isinstance(nest["b"], tuple)
    with pytest.raises((ValueError, TypeError), match="structure"):
        tf.while_loop(lambda i: i < 3, lambda i: (i, i), (0,))
    v = tf.Variable(1)
    (read,) = tf.while_loop(lambda x: x < 5, lambda x: (x * 2,), [v])
    assert int(read) == 8 and int(v.numpy()) == 1


def test_assertions():
    assert tf.Assert(True, ["never"]) is None and tf.Assert(tf.constant(True), []) is None
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.Assert(tf.constant(1) > 2, ["small", tf.range(5), 7.5])
    text = raised.value.message
    assert (
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'small'\n0, 1, 2, ...\n7.5"
        in text
    )
    for summarize, shown in ((1, "0, ..."), (5, "0, 1, 2, 3, 4"), (4, "0, 1, 2, 3, ..."), (-1, "0, 1, 2, 3, 4")):
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            tf.Assert(False, [tf.range(5)], summarize=summarize)
        assert raised.value.message.endswith(f"Summarized data: {shown}")
    with pytest.raises(TypeError, match="must be a sequence"):
        tf.Assert(True, tf.constant(1))


@pytest.mark.parametrize(
    ("data", "summarize", "shown"),
    [
        ([tf.range(5)], None, "[0 1 2...]"),
        ([tf.range(3)], None, "[0 1 2]"),
        ([tf.range(2)], None, "[0 1]"),
        ([tf.range(5)], -1, "[0 1 2 3 4]"),
        ([tf.constant([[1.5, 2.0], [3.0, 4.0]])], 3, "[[1.5 2][3...]...]"),
        ([tf.constant([[1, 2], [3, 4]])], -1, "[[1 2][3 4]]"),
        ([tf.constant("text"), tf.constant([True, False])], None, "[text] [1 0]"),
        ([tf.constant(["a", "b"])], 1, "[a...]"),
    ],
)
def test_messages_of_assertions_in_graphs(data, summarize, shown):
    flag = tf.Variable(False)

    @tf.function
    def check():
        operation = tf.Assert(flag, data, summarize=summarize)
        with tf.control_dependencies([operation]):
            return tf.constant(1)

    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        check()
    assert f"assertion failed: {shown}" in raised.value.message
    flag.assign(True)
    assert int(check()) == 1


def test_assertions_of_graphs_have_data():
    with pytest.raises(ValueError, match="length 0 less than minimum 1"):
        tf.function(lambda x: tf.Assert(x, []))(YES)
