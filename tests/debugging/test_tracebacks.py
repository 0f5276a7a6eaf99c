"""Tracebacks have the user's frames, and few of the library's."""

import pathlib
import subprocess
import sys
import traceback

import pytest

import tapeflow as tf

HERE = pathlib.Path(__file__).name


def frames(function):
    """Returns the frames of the error that a function raises, as file names, below this file's first two."""
    try:
        function()
    except Exception as error:
        stack = [pathlib.Path(f.filename).name for f in traceback.extract_tb(error.__traceback__)]
        return stack[2:], error
    raise AssertionError("no error")


@tf.function
def product(x):
    return helper(x)


def helper(x):
    return tf.matmul(x, x)


@tf.function
def pick(x, i):
    return tf.gather(x, i)


ERRORS = {
    "op": lambda: tf.ones([2]) + tf.ones([3]),
    "op of other dtypes": lambda: tf.ones([2]) + tf.ones([2], tf.int32),
    "composite": lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
    "several inputs": lambda: tf.nn.conv2d(tf.ones([2]), tf.ones([2]), 1, "SAME"),
    "host argument": lambda: tf.reduce_sum(tf.ones([2]), 5),
    "file": lambda: tf.io.read_file("/no/such/file"),
    "run of a graph": lambda: pick(tf.ones([2]), tf.constant([9])),
    "concrete function": lambda: product.get_concrete_function(tf.TensorSpec([2, 2]))(tf.ones([3])),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_show_few_frames_of_the_library(kind):
    for _ in range(2):  # a fast path may take the second call
        stack, error = frames(ERRORS[kind])
        assert len(stack) <= 2
        assert error.__cause__ is None
        assert error.__suppress_context__ or error.__context__ is None


def test_errors_of_the_first_call_in_a_process():
    done = subprocess.run(
        [sys.executable, "-c", "import tapeflow as tf\ntf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))"],
        env={"PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1]), "PATH": ""}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "InvalidArgumentError" in done.stderr
    assert done.stderr.count("File ") <= 3
    assert done.stderr.count("Traceback") == 1


def test_frames_of_the_user_stay_while_tracing():
    stack, _ = frames(lambda: product(tf.ones([2, 3])))
    assert [name for name in stack if name == HERE] == [HERE, HERE]
    assert len(stack) <= 4


def test_frames_of_the_user_stay_below_an_op():
    class Wrong:
        def __tf_tensor__(self, dtype=None, name=None):
            raise ZeroDivisionError("in the user's code")

    stack, error = frames(lambda: tf.add(Wrong(), tf.ones([2])))
    assert isinstance(error, ZeroDivisionError)
    assert stack[-1] == HERE


def test_the_error_of_a_python_function_stays_the_cause():
    @tf.function
    def call():
        return tf.py_function(lambda: 1 / 0, [], tf.float32)

    _, error = frames(call)
    assert isinstance(error, tf.errors.UnknownError)
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_without_the_filter_all_frames_are_shown():
    assert tf.debugging.is_traceback_filtering_enabled()
    few, _ = frames(ERRORS["op"])
    tf.debugging.disable_traceback_filtering()
    try:
        assert not tf.debugging.is_traceback_filtering_enabled()
        many, _ = frames(ERRORS["op"])
    finally:
        tf.debugging.enable_traceback_filtering()
    assert len(many) > len(few) + 2
