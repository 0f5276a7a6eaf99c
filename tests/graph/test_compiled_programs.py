"""What the compiler makes of small programs is what it made when `scripts/record.py compiled_programs` ran.

A program that needs more steps, kernels or instructions than recorded got slower. Record a change that is intended.
"""

import platform
import sys

import numpy as np
import pytest

import tapeflow as tf
from compiled_programs import PROGRAMS, compile_program, read_record, values_of

RECORDED = read_record()


def test_all_programs_are_recorded():
    assert list(RECORDED) == list(PROGRAMS)


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="machine code is recorded for this platform"
)
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_sources_and_machine_code_are_those_recorded(name, monkeypatch):
    results, text = compile_program(name, monkeypatch)
    assert text == RECORDED[name]
    if not name.startswith("update"):
        eager = PROGRAMS[name][0](*values_of(name))
        for result, expected in zip(tf.nest.flatten(results), tf.nest.flatten(eager), strict=True):
            exact = [tf.cast(t, tf.float64) for t in (result, expected)]
            np.testing.assert_allclose(*exact, rtol=1e-4, atol=1e-5)
