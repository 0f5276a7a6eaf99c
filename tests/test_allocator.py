"""How memory comes and goes."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import tapeflow as tf

def step(count, size):
    return [tf.ones([size]) + 1.0 for _ in range(count)]

for count, size in ((1, 1 << 20), (12, 1 << 20), (3, 6 << 20)):
    for _ in range(4):
        step(count, size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        step(count, size)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is what glibc does")
def test_freed_memory_is_taken_again():
    """Fresh memory for every tensor would be a fault for each 4 KiB: from 20,000 to 370,000 in the cases above."""
    run = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    assert all(int(faults) < 5000 for faults in run.stdout.split())


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is what glibc does")
def test_what_the_environment_says_of_memory_stays_in_force():
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "0", "MALLOC_MMAP_THRESHOLD_": "131072"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=environment)
    assert all(int(faults) > 15_000 for faults in run.stdout.split())
