"""Settings of the execution of functions."""

import tapeflow as tf


def test_functions_run_eagerly():
    calls = []

    @tf.function
    def function(x):
        calls.append(tf.executing_eagerly())
        return x + 1

    assert tf.config.functions_run_eagerly() is False
    assert [int(function(tf.constant(i))) for i in range(2)] == [1, 2] and calls == [False]
    tf.config.run_functions_eagerly(1)
    try:
        assert tf.config.functions_run_eagerly() is True
        assert [int(function(tf.constant(i))) for i in range(2)] == [1, 2] and calls == [False, True, True]
    finally:
        tf.config.run_functions_eagerly(0)
    assert tf.config.functions_run_eagerly() is False
    assert int(function(tf.constant(2))) == 3 and len(calls) == 3
