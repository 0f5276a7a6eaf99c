"""`tf.errors`. Codes and printed forms were recorded from TensorFlow 2.21."""

import pickle
import re
import traceback

import pytest

import tapeflow as tf
from ids import stable
from tapeflow import errors

CODES = {
    "CANCELLED": (1, "CancelledError"),
    "UNKNOWN": (2, "UnknownError"),
    "INVALID_ARGUMENT": (3, "InvalidArgumentError"),
    "DEADLINE_EXCEEDED": (4, "DeadlineExceededError"),
    "NOT_FOUND": (5, "NotFoundError"),
    "ALREADY_EXISTS": (6, "AlreadyExistsError"),
    "PERMISSION_DENIED": (7, "PermissionDeniedError"),
    "RESOURCE_EXHAUSTED": (8, "ResourceExhaustedError"),
    "FAILED_PRECONDITION": (9, "FailedPreconditionError"),
    "ABORTED": (10, "AbortedError"),
    "OUT_OF_RANGE": (11, "OutOfRangeError"),
    "UNIMPLEMENTED": (12, "UnimplementedError"),
    "INTERNAL": (13, "InternalError"),
    "UNAVAILABLE": (14, "UnavailableError"),
    "DATA_LOSS": (15, "DataLossError"),
    "UNAUTHENTICATED": (16, "UnauthenticatedError"),
}


@pytest.mark.parametrize("constant", CODES)
def test_codes_and_classes(constant):
    code, class_name = CODES[constant]
    cls = getattr(errors, class_name)
    assert getattr(errors, constant) == code
    assert tf.compat.v1.errors.exception_type_from_error_code(code) is cls
    assert tf.compat.v1.errors.error_code_from_exception_type(cls) == code
    assert issubclass(cls, errors.OpError)
    error = cls(None, None, "a message")
    assert error.error_code == code
    assert (error.node_def, error.op, error.message) == (None, None, "a message")
    assert str(error) == "a message"
    assert repr(error) == f"{class_name}()"
    assert error.args == ()
    assert traceback.format_exception_only(error) == [f"tapeflow.errors.{class_name}: a message\n"]


def test_ok_has_no_class():
    assert errors.OK == 0
    with pytest.raises(KeyError):
        tf.compat.v1.errors.exception_type_from_error_code(errors.OK)


@pytest.mark.parametrize("cls", [errors.OpError, ValueError, None])
def test_class_without_a_code(cls):
    with pytest.warns(UserWarning, match="Unknown class exception"):
        assert isinstance(tf.compat.v1.errors.error_code_from_exception_type(cls), errors.UnknownError)


def test_keywords_and_payloads():
    node_def, op = object(), None
    error = errors.InvalidArgumentError(node_def=node_def, op=op, message="m")
    assert error.node_def is node_def
    assert error.experimental_payloads == {}
    assert errors.InternalError(None, None, "m", {"a": 1}).experimental_payloads == {"a": 1}
    assert errors.OpError(None, None, "m", 77, {"a": 1}).error_code == 77
    with pytest.raises(AttributeError):
        error.message = "another"


@pytest.mark.parametrize("arguments", [(), ("m",), (None, None)])
def test_missing_arguments(arguments):
    with pytest.raises(TypeError, match="missing"):
        errors.InvalidArgumentError(*arguments)
    with pytest.raises(TypeError, match="missing"):
        errors.OpError(None, None, "m")


class OwnError(errors.InvalidArgumentError):
    def __init__(self, message):
        super().__init__(None, None, message)


@pytest.mark.parametrize(
    "error",
    [
        errors.NotFoundError(None, None, "a.txt"),
        errors.OpError(None, None, "m", 77),
        errors.InternalError(None, None, "m", {"a": b"1"}),
        errors.OpError(None, None, "m", 77, {"a": b"1"}),
        OwnError("m"),
    ],
    ids=stable,
)
def test_pickle(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.error_code == error.error_code
    assert again.experimental_payloads == error.experimental_payloads


def test_not_allowed_in_graph_is_a_type_error():
    assert issubclass(errors.OperatorNotAllowedInGraphError, TypeError)
    assert not issubclass(errors.OperatorNotAllowedInGraphError, errors.OpError)


class Operation:
    """As much of a `tf.Operation` as an error prints."""

    def __init__(self, name, traceback, original=None):
        self.name = name
        self.traceback = traceback
        self._original_op = original


def frame(line, text, file="f.py"):
    return (file, line, "main", text)


def printed(*lines):
    return "".join(f"{line}\n" for line in lines)


def test_printed_with_its_op():
    error = errors.InternalError(None, Operation("my_op", [frame(3, "a = b")]), "msg")
    assert error.op.name == "my_op"
    assert str(error) == printed(
        "msg", "", "Original stack trace for 'my_op':", '  File "f.py", line 3, in main', "    a = b"
    )


def test_printed_with_an_op_without_a_traceback():
    assert str(errors.InternalError(None, Operation("o", None), "msg")) == "msg\n\nOriginal stack trace for 'o':\n"


def test_printed_with_the_op_it_was_derived_from():
    common = [frame(3, "a"), frame(4, "b"), frame(5, "c"), frame(6, "d")]
    original = Operation("first", [*common, frame(7, "e")])
    derived = Operation("second", [*common, frame(8, "f")], original)
    text = str(errors.InternalError(None, derived, "msg"))
    assert text.endswith(
        printed(
            "",
            "...which was originally created as op 'first', defined at:",
            '  File "f.py", line 3, in main',
            "    a",
            "[elided 2 identical lines from previous traceback]",
            '  File "f.py", line 6, in main',
            "    d",
            '  File "f.py", line 7, in main',
            "    e",
        )
    )


def test_nothing_is_elided_from_short_or_final_runs():
    lines = [frame(1, "a"), frame(2, "b"), frame(3, "c")]
    original = Operation("first", lines)
    same_everywhere = str(errors.InternalError(None, Operation("second", lines, original), "msg"))
    assert same_everywhere.endswith("defined at:\n" + printed('  File "f.py", line 1, in main', "    a"))
    one_alike = Operation("second", [frame(9, "z"), lines[1], frame(9, "z")], original)
    assert str(errors.InternalError(None, one_alike, "msg")).endswith("".join(traceback.format_list(lines)))


def test_too_little_memory_is_a_resource_exhausted_error():
    x = tf.ones([1 << 22, 1])
    message = re.escape("OOM when allocating tensor with shape[4194304,4194304] and type float")
    for add in (lambda a: a + tf.transpose(a), tf.function(lambda a: a + tf.transpose(a))):
        with pytest.raises(tf.errors.ResourceExhaustedError, match=message):
            add(x)
    elements = tf.data.Dataset.from_tensors(tf.broadcast_to(1.0, [1 << 30])).repeat()
    message = re.escape("OOM when allocating tensor with shape[16384,1073741824] and type float")
    with pytest.raises(tf.errors.ResourceExhaustedError, match=message):
        next(iter(elements.batch(1 << 14)))
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tf.zeros([1 << 44])
