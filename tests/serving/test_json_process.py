"""Functions that another process calls: results, errors, and the end of the process."""

import operator
import os
import signal

import numpy as np
import pytest

from tapeflow.core.values.strings import StringArray
from tapeflow.serving import json_values
from tapeflow.serving.json_process import JsonProcess
from tapeflow.serving.json_values import BadRequest


@pytest.fixture(scope="module")
def process():
    process = JsonProcess()
    yield process
    process.close()


def test_results_of_each_kind(process):
    assert process.call(json_values.columns, {"inputs": [1, 2]}, ["x"]) == ({"x": [1, 2]}, False)
    assert process.call(bytes, b"abc") == b"abc"
    assert process.call(len, b"abcd") == 4
    assert process.call(operator.mul, np.arange(3), 2).tolist() == [0, 2, 4]
    strings = process.call(operator.getitem, StringArray.of([b"a", b"bc", b""]), slice(1, None))
    assert isinstance(strings, StringArray)
    assert strings.tolist() == [b"bc", b""]
    assert process.call(os.getpid) == process.start().pid != os.getpid()
    assert process.call(bytes, b"x" * 300_000 + b"y") == b"x" * 300_000 + b"y"


def test_errors_of_functions(process):
    pid = process.call(os.getpid)
    with pytest.raises(BadRequest, match='either "instances" or "inputs"') as caught:
        process.call(json_values.columns, {}, ["x"])
    assert caught.value.status == 400
    with pytest.raises(ZeroDivisionError):
        process.call(operator.truediv, 1, 0)
    with pytest.raises(BadRequest, match="not enough memory") as caught:
        process.call(operator.mul, "a", 1 << 60)
    assert caught.value.status == 429
    assert process.call(os.getpid) == pid


def test_a_process_that_ends_is_started_again(process):
    pid = process.call(os.getpid)
    with pytest.raises(BadRequest, match="not enough memory") as caught:
        process.call(os.kill, pid, signal.SIGKILL)
    assert caught.value.status == 429
    again = process.call(os.getpid)
    assert again != pid
    process.close()
    with pytest.raises(ProcessLookupError):
        os.kill(again, 0)
    process.close()


def test_values_that_can_not_be_sent(process):
    with pytest.raises(Exception, match="lambda"):
        process.call(lambda: 3)
    assert process.call(operator.add, 1, 2) == 3
