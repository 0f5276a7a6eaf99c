"""A value that an attr does not allow is refused by every call of an op, not by the first alone."""

import pytest

import tapeflow as tf

WRONG = {"bool": 2, "int": "text", "string": 2}  # by the attr's type


def wrong_values(attr):
    """Yields values that an attr does not take, and the errors for them."""
    if attr.type in WRONG:
        yield WRONG[attr.type], TypeError
    if attr.type == "string" and attr.allowed is not None:
        yield "text", tf.errors.InvalidArgumentError
    if attr.type == "int" and attr.minimum is not None:
        yield attr.minimum - 1, tf.errors.InvalidArgumentError


def test_wrong_value_after_a_right_one(calls, subtests):
    for name, (op, args, _) in [(name, of_op[0]) for name, of_op in calls.items() if of_op]:
        wrong = [(i, attr.name, *pair) for i, attr in op.attr_params() for pair in wrong_values(attr)]
        if wrong:
            op.function(*args)
        for i, attr, value, error in wrong:
            with subtests.test(f"{name}({attr}={value!r})"), pytest.raises(error, match=attr):
                op.function(*args[:i], value, *args[i + 1 :])


def test_none_is_the_default():
    codes = tf.constant([65, 0x110000, 66])
    for errors in ("replace", None, None):
        assert tf.strings.unicode_encode(codes, "UTF-8", errors).numpy() == b"A\xef\xbf\xbdB"
