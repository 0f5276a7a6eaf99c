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
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    print(faults / (10 * count * 2 * size * 4 / resource.getpagesize()))  # of the pages of all tensors
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is what glibc does")
def test_freed_memory_is_taken_again():
    """Fresh memory for every tensor would be a fault for each page. Some are there once, when the heap grows."""
    run = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    assert all(float(share) < 0.3 for share in run.stdout.split())


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is what glibc does")
def test_what_the_environment_says_of_memory_stays_in_force():
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "0", "MALLOC_MMAP_THRESHOLD_": "131072"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=environment)
    assert all(float(share) > 0.9 for share in run.stdout.split())
