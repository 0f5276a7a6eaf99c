"""Numbers of threads. Those between ops are set in a fresh process: torch fixes them at their first use."""

import subprocess
import sys

import pytest
import torch

import tapeflow as tf
from tapeflow.config import threading as threads_of_ops


def test_threads_of_one_op(monkeypatch):
    monkeypatch.setitem(threads_of_ops._configured, "intra", 0)
    before = torch.get_num_threads()
    try:
        assert tf.config.threading.get_intra_op_parallelism_threads() == 0
        tf.config.threading.set_intra_op_parallelism_threads(2)
        assert tf.config.threading.get_intra_op_parallelism_threads() == torch.get_num_threads() == 2
        tf.config.threading.set_intra_op_parallelism_threads(0)  # torch's number stays
        assert tf.config.threading.get_intra_op_parallelism_threads() == 0 and torch.get_num_threads() == 2
        assert tf.config.threading.get_inter_op_parallelism_threads() == 0
    finally:
        torch.set_num_threads(before)


def test_numbers_are_not_negative():
    for set_number in (
        tf.config.threading.set_intra_op_parallelism_threads,
        tf.config.threading.set_inter_op_parallelism_threads,
    ):
        with pytest.raises(ValueError, match="The number of threads can't be negative: -1"):
            set_number(-1)


PROGRAM = """
import tapeflow as tf, torch
threading = tf.config.threading
threading.set_inter_op_parallelism_threads(0)
print(threading.get_inter_op_parallelism_threads())
threading.set_inter_op_parallelism_threads(3)
print(threading.get_inter_op_parallelism_threads(), torch.get_num_interop_threads())
print(threading.get_intra_op_parallelism_threads())
try:
    threading.set_inter_op_parallelism_threads(2)
except RuntimeError as error:
    print(error)
threading.set_inter_op_parallelism_threads(3)
print(threading.get_inter_op_parallelism_threads())
"""


def test_threads_between_ops():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == [
        "0",
        "3 3",
        "0",
        "Inter op parallelism cannot be modified after initialization.",
        "3",
    ]
