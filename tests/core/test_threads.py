"""How many threads kernels use, and how they wait."""

import os
import platform
import subprocess
import sys
import threading

import pytest
import torch

import tapeflow as tf
from tapeflow.core.parallel import one_thread
from tapeflow.core.threads import quota

PROGRAM = "import tapeflow, os; print(os.environ.get('GOMP_SPINCOUNT'))"


def spins(**settings):
    """Returns the setting that libgomp says it has, and the one that child processes would have."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True, capture_output=True, text=True, env=inherited | {"OMP_DISPLAY_ENV": "verbose"} | settings,
    )  # fmt: skip
    shown = {line.split("GOMP_SPINCOUNT = ")[1].strip("'") for line in run.stderr.splitlines() if "SPINCOUNT" in line}
    return shown, run.stdout.strip()


@pytest.mark.skipif(platform.system() != "Linux", reason="torch has libgomp there")
def test_waiting_threads_soon_sleep():
    assert spins() == ({"1000"}, "None")


@pytest.mark.skipif(platform.system() != "Linux", reason="torch has libgomp there")
def test_settings_of_the_user_stay_in_force():
    assert spins(GOMP_SPINCOUNT="77") == ({"77"}, "77")
    assert "1000" not in spins(OMP_WAIT_POLICY="active")[0]


@pytest.mark.skipif(platform.system() != "Linux", reason="counts threads in /proc")
def test_small_kernels_of_functions_wake_no_threads():
    """libgomp starts its threads when the first kernel uses them."""
    script = """
import os, sys, torch, tapeflow as tf
from tapeflow.core.parallel import one_thread
torch.set_num_threads(3)
f = tf.function(lambda x: tf.reduce_sum(tf.concat([tf.exp(x * 2.0) + x, x], 1), 0))
f.get_concrete_function(tf.TensorSpec([int(sys.argv[1]), 100]))
with one_thread():
    x = tf.ones([int(sys.argv[1]), 100])
before = len(os.listdir("/proc/self/task"))
f(x)
print(len(os.listdir("/proc/self/task")) - before)
"""
    started = [
        subprocess.run([sys.executable, "-c", script, rows], check=True, capture_output=True, text=True)
        for rows in ("400", "40000")
    ]
    assert [run.stdout.strip() for run in started] == ["0", "2"]


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_a_failed_small_kernel_leaves_the_number_of_threads(two_threads):
    f = tf.function(lambda x, i: tf.gather(tf.transpose(x), i))
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.ones([300, 400]), tf.constant([1, 500]))
    assert torch.get_num_threads() == 2


def test_small_kernels_of_one_thread_leave_others_alone(two_threads):
    counts = []
    with one_thread():
        thread = threading.Thread(target=lambda: counts.append(torch.get_num_threads()))
        thread.start()
        thread.join()
    assert counts == [2]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"cpu.max": "max 100000"}, None),
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "100000 100000"}, 1),
        ({"cpu.max": "5000 100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        ({}, None),
    ],
)
def test_quota_of_a_container(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert quota(tmp_path) == expected
