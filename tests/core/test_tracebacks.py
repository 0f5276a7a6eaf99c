"""Tracebacks without the library's own frames."""

import traceback

import pytest
import torch

import tapeflow as tf
from tapeflow.core import tracebacks


def files_of(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def count_of_engine(error):
    return sum(tracebacks.is_engine_file[file] for file in files_of(error))


def raised_by(call):
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_which_files_are_the_engines():
    assert tracebacks.is_engine(tracebacks.is_engine.__code__)
    assert not tracebacks.is_engine(raised_by.__code__)
    for file, own in (
        (tracebacks.__file__, True),
        ("<function f 3>", True),
        (torch.__file__, False),
        (__file__, False),
        ("<stdin>", False),
    ):
        assert tracebacks.is_engine_file[file] is own
        assert file in tracebacks.is_engine_file  # from now on


def test_errors_show_the_programs_lines_alone():
    for call in (
        lambda: tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0]),
        lambda: tf.function(lambda: tf.reshape(tf.zeros([3]), [2]))(),
        lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])),
    ):
        error = raised_by(call)
        assert count_of_engine(error) <= 2 and __file__ in files_of(error)  # the functions that raise it again


def test_nothing_is_hidden_without_filtering():
    tf.debugging.disable_traceback_filtering()
    try:
        whole = count_of_engine(raised_by(lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))))
    finally:
        tf.debugging.enable_traceback_filtering()
    error = raised_by(lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])))
    assert count_of_engine(error) <= 2 < whole


def test_traces_of_the_program():
    assert tracebacks.user_traceback(None) is None

    def inner():
        raise KeyError

    error = raised_by(inner)
    found = tracebacks.user_traceback(error.__traceback__)
    assert [frame.name for frame in traceback.extract_tb(found)] == ["raised_by", "inner"]
    assert traceback.extract_tb(found)[1].lineno == traceback.extract_tb(error.__traceback__)[1].lineno


def test_causes_of_the_program_stay():
    inside = raised_by(lambda: torch.zeros(2) + torch.zeros(3))  # with a line of this file
    outer = ValueError("outer")
    outer.__cause__ = inside
    assert tracebacks.filter_traceback(outer) is outer and outer.__cause__ is inside
    other = ValueError("other")
    other.__cause__ = RuntimeError("raised nowhere")
    assert tracebacks.filter_traceback(other).__cause__ is None and other.__suppress_context__
    context = ValueError("context")
    context.__context__ = inside
    tracebacks.filter_traceback(context)
    assert context.__context__ is inside and not context.__suppress_context__


def test_errors_of_kernels_do_not_show_torchs():
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    assert raised.value.__cause__ is None and raised.value.__suppress_context__
