"""What the compiler makes of small programs is what it made when `scripts/record.py compiled_programs` ran.

A program that needs more steps, kernels or instructions than recorded got slower. Record a change that is intended.
"""

import json
import platform
import subprocess
import sys

import pytest

import compiled_programs
from compiled_programs import PROGRAMS, read_record

RECORDED = read_record()


def test_all_programs_are_recorded():
    assert list(RECORDED) == list(PROGRAMS)


@pytest.fixture(scope="module")
def made():
    """What the compiler makes now of all programs."""
    return json.loads(subprocess.check_output([sys.executable, compiled_programs.__file__], text=True))


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="machine code is recorded for this platform"
)
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_sources_and_machine_code_are_those_recorded(name, made):
    text, wrong = made[name]
    assert not wrong
    assert text == RECORDED[name]
