"""Classes and words of the errors that functions raise while they are traced: those that TensorFlow raises."""

import json
import subprocess

import pytest

import tapeflow as tf
from tapeflow.autograph.source_map import StagingError

X = tf.constant([1.0, 2.0])


class Plain(Exception):
    """Has the constructor of `Exception`."""


class WithTwo(Exception):
    def __init__(self, first, second):
        super().__init__(first, second)


class OfAMessage(ValueError):
    def __init__(self, message):
        super().__init__(message)


class OfKey(KeyError):
    pass


class OfArgument(tf.errors.InvalidArgumentError):
    pass


SAME_CLASS = [
    AttributeError("m"), NameError("m"), UnboundLocalError("m"), TypeError("m"), AssertionError("m"), RuntimeError("m"),
    NotImplementedError("m"), StopIteration("m"), ValueError("m"), ValueError("a", "b"), Exception("m"), Plain("m"),
    tf.errors.InvalidArgumentError(None, None, "m"), tf.errors.OutOfRangeError(None, None, "m"),
    OfArgument(None, None, "m"), tf.errors.OperatorNotAllowedInGraphError("m"),
]  # fmt: skip
OTHERS = [
    IndexError("m"), LookupError("m"), ZeroDivisionError("m"), ArithmeticError("m"), OverflowError("m"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "m"), ModuleNotFoundError("m"), RecursionError("m"), MemoryError("m"),
    FileNotFoundError(2, "m", "f"), TimeoutError("m"), json.JSONDecodeError("m", "{", 0), UserWarning("m"),
    subprocess.CalledProcessError(1, "m"), ExceptionGroup("m", [ValueError()]), WithTwo("m", 2), OfAMessage("m"),
    OfKey("m"), tf.errors.OpError(None, None, "m", 3),
]  # fmt: skip


def raised(function, *args):
    with pytest.raises(Exception) as caught:
        function(*args)
    return caught.value


def raising(error):
    def f(x):
        raise error

    return f


@pytest.mark.parametrize("error", SAME_CLASS, ids=lambda e: type(e).__name__)
def test_class_that_takes_a_message_stays(error):
    new = raised(tf.function(raising(error)), X)
    assert type(new) is type(error)
    assert str(new).startswith("in user code:\n\n    File ")
    assert str(new).endswith(f"    {type(error).__name__}: {error}\n")


@pytest.mark.parametrize("error", OTHERS, ids=lambda e: type(e).__name__)
def test_other_classes_become_staging_errors(error):
    new = raised(tf.function(raising(error)), X)
    assert type(new) is StagingError
    assert [c.__name__ for c in type(new).__mro__[1:4]] == ["AutoGraphError", "PyCTError", "Exception"]
    assert str(new).endswith(f"    {type(error).__name__}: {error}\n")
    assert new.__context__ is error
    assert new.__suppress_context__


def test_key_error_prints_its_message():
    new = raised(tf.function(raising(KeyError("k"))), X)
    assert isinstance(new, KeyError)
    assert type(new).__name__ == "KeyError"
    assert new.args == ("KeyError: 'k'",)
    assert str(new).startswith("in user code:\n\n")


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit("m")], ids=repr)
def test_what_is_no_error_passes(error):
    with pytest.raises(type(error)) as caught:
        tf.function(raising(error))(X)
    assert caught.value is error


class Passing(IndexError):
    ag_pass_through = True


@pytest.mark.parametrize("function", [
    tf.function(raising(Passing("m"))), tf.function(raising(IndexError("m")), autograph=False),
    tf.function(tf.autograph.experimental.do_not_convert(raising(IndexError("m")))),
])  # fmt: skip
def test_errors_of_unconverted_functions_pass(function):
    error = raised(function, X)
    assert isinstance(error, IndexError)
    assert str(error) == "m"


def test_notes_are_kept_once():
    error = RuntimeError("m")
    error.add_note("a note")
    assert raised(tf.function(raising(error)), X).__notes__ == ["a note"]


@pytest.mark.parametrize(("error", "cls"), [
    (IndexError("m"), StagingError), (KeyError("m"), StagingError), (ValueError("m"), ValueError),
])  # fmt: skip
def test_functions_within_functions_name_the_lines_of_all(error, cls):
    inner = tf.function(raising(error))

    @tf.function
    def outer(x):
        return inner(x)

    new = raised(outer, X)
    assert type(new) is cls
    text = str(new)
    assert text.index("return inner(x)") < text.index("raise error")
    assert text.count("in user code:") == 1
    assert text.endswith(f"    {type(error).__name__}: {error}\n")


@pytest.mark.parametrize("call", [
    lambda f: tf.data.Dataset.range(3).map(f), lambda f: tf.map_fn(f, X), lambda f: tf.vectorized_map(f, X),
    lambda f: tf.function(tf.map_fn)(f, X),
])  # fmt: skip
def test_functions_of_slices(call):
    assert type(raised(call, raising(IndexError("m")))) is StagingError


@pytest.mark.parametrize("call", [
    lambda f: tf.while_loop(lambda i: i < 3, f, [0]), lambda f: tf.cond(tf.constant(True), lambda: f(1), lambda: 1),
    lambda f: tf.scan(lambda a, b: f(b), X), lambda f: tf.foldl(lambda a, b: f(b), X),
])  # fmt: skip
def test_functions_that_are_just_called(call):
    assert type(raised(call, raising(IndexError("m")))) is IndexError


@pytest.mark.parametrize(("error", "cls"), [
    (KeyError("k"), tf.errors.UnknownError), (ValueError("m"), tf.errors.InvalidArgumentError),
    (StopIteration(), tf.errors.OutOfRangeError), (NotImplementedError("m"), tf.errors.UnimplementedError),
])  # fmt: skip
def test_errors_of_numpy_functions(error, cls):
    assert raised(tf.numpy_function, raising(error), [X], tf.float32) is error
    staged = tf.function(lambda: tf.numpy_function(raising(error), [X], tf.float32))
    assert type(raised(staged)) is cls


def test_the_first_frame_that_is_not_converted_has_two_marks():  # as in TensorFlow
    @tf.autograph.experimental.do_not_convert
    def inner(x):
        return innermost(x)

    def innermost(x):
        return tf.matmul(x, tf.ones([5, 2]))

    @tf.function
    def f(x):
        return inner(x)

    with pytest.raises(ValueError) as caught:
        f(tf.ones([2, 4]))
    frames = [line.rpartition(", in ")[2] for line in str(caught.value).splitlines() if line.startswith("    File")]
    assert [frame for frame in frames if not frame.startswith("wrapper")][:3] == ["f  *", "inner  **", "innermost"]
