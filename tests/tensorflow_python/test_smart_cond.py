"""Conditionals that are evaluated in Python; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python.smart_cond import smart_cond, smart_constant_value


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [(True, True), (False, False), (1, True), (0, False), (1.0, True), (lambda: tf.constant(True), True),
     (lambda: tf.constant(0), False)],
)  # fmt: skip
def test_static_predicates(predicate, expected):
    predicate = predicate() if callable(predicate) else predicate
    assert smart_constant_value(predicate) is expected
    ran = []
    assert smart_cond(predicate, lambda: ran.append(1) or "yes", lambda: ran.append(0) or "no") == (
        "yes" if expected else "no"
    )
    assert ran == [int(expected)]


@pytest.mark.parametrize("predicate", [2, "a", None, -1])
def test_other_predicates_are_refused(predicate):
    message = rf"Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. Received: pred={predicate} of type"
    with pytest.raises(TypeError, match=message):
        smart_constant_value(predicate)


@pytest.mark.parametrize("predicate", [True, False])
def test_both_functions_are_needed(predicate):
    with pytest.raises(TypeError, match=r"Argument `true_fn` must be callable\. Received None"):
        smart_cond(predicate, None, lambda: 1)
    with pytest.raises(TypeError, match=r"Argument `false_fn` must be callable\. Received 3"):
        smart_cond(predicate, lambda: 1, 3)


def test_predicates_of_graphs():
    with tf.Graph().as_default():
        unknown, static = tf.compat.v1.placeholder(tf.bool, []), tf.constant(True)
        assert smart_constant_value(unknown) is None and smart_constant_value(static) is True
        assert smart_constant_value(tf.logical_not(static)) in (False, None)
        chosen = smart_cond(unknown, lambda: tf.constant(3), lambda: tf.constant(5), name="choice")
        assert smart_cond(static, lambda: "python", lambda: 1 / 0) == "python"
        with tf.compat.v1.Session() as session:
            assert [session.run(chosen, {unknown: value}) for value in (True, False)] == [3, 5]
        assert chosen.op.name.startswith("choice")
