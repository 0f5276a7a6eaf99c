"""How memory comes and goes."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import tapeflow as tf

def step():
    return tf.ones([1 << 20]) + 1.0  # two blocks of 4 MiB

step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is what glibc does")
def test_freed_memory_is_taken_again():
    """Fresh memory for every tensor would be 100 blocks of 1024 pages, each with a fault."""
    faults = int(subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True).stdout)
    assert faults < 5000
