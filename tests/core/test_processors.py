"""How many threads kernels use."""

import concurrent.futures
import time

import pytest
import torch

import tapeflow as tf
from tapeflow.core import processors
from tapeflow.core.processors import Share, idle_seconds, quota, threads_for, use_threads
from tapeflow.core.settings import settings


def in_thread_with(count, function):
    """Returns the result of a function in a new Python thread, whose kernels may use `count` threads."""

    def run():
        use_threads(count)
        return function()

    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        return executor.submit(run).result()


@pytest.mark.parametrize(
    ("free", "threads", "expected"),
    [
        (2.0, 2, 2),
        (1.61, 2, 2),  # the second thread runs more than half of the time
        (1.59, 2, 1),
        (1.0, 2, 1),
        (0.3, 2, 1),
        (0.3, 1, 1),
        (1.79, 1, 1),  # too little for one more
        (1.81, 1, 2),
        (16.0, 16, 16),
        (15.0, 16, 15),
        (7.5, 16, 7),
        (16.0, 7, 16),
    ],
)
def test_threads_for_free_processors(free, threads, expected):
    assert threads_for(free, threads) == expected


def counts(free, threads=4):
    """Returns the numbers of threads after seconds with some free processors each."""

    def run():
        share, used, result = Share(), 0.0, []
        for second, processors_free in enumerate([0.0, *free]):
            used += processors_free
            share.measure(float(second), used / 2, used / 2)
            result.append(torch.get_num_threads())
        return result[1:]

    return in_thread_with(threads, run)


def test_kernels_use_the_processors_that_others_leave():
    assert counts([4.0, 2.5, 1.0, 1.0, 4.0]) == [4, 2, 1, 1, 4]


def test_kernels_never_use_more_threads_than_the_user_allows():
    assert counts([8.0, 1.0, 8.0], threads=2) == [2, 1, 2]


def test_a_number_that_the_user_sets_later_is_the_new_limit():
    def run():
        share = Share()
        share.measure(0.0, 0.0, 1.0)
        share.measure(1.0, 1.0, 1.0)
        fewer = torch.get_num_threads()
        tf.config.threading.set_intra_op_parallelism_threads(2)
        share.measure(2.0, 2.0, 10.0)
        return fewer, torch.get_num_threads()

    setting, here = tf.config.threading.get_intra_op_parallelism_threads(), torch.get_num_threads()
    try:
        assert in_thread_with(4, run) == (1, 2)
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(setting)
        torch.set_num_threads(here)  # the number of new threads, too


def test_other_threads_keep_their_number():
    before = torch.get_num_threads()
    assert counts([1.0]) == [1]
    assert torch.get_num_threads() == before
    with concurrent.futures.ThreadPoolExecutor(1) as executor:  # one that starts later
        assert executor.submit(torch.get_num_threads).result() == before


def test_deterministic_ops_keep_the_number(monkeypatch):
    monkeypatch.setattr(settings, "deterministic", True)
    assert counts([1.0, 0.5]) == [4, 4]


def test_kernels_use_all_threads_after_a_pause():
    def run():
        share, result = Share(), []
        for now, used in [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (9.0, 2.1)]:  # no processor has ever been idle
            share.measure(now, used, 1.0)
            result.append(torch.get_num_threads())
        return result

    assert in_thread_with(4, run) == [4, 1, 1, 4]


def test_unknown_times_keep_the_number():
    def run():
        share = Share()
        for second in range(3):
            share.measure(float(second), float(second), None)
        return torch.get_num_threads()

    assert in_thread_with(3, run) == 3


@pytest.mark.parametrize("program", ["function", "tape"])
def test_functions_and_tapes_share_the_processors(monkeypatch, program):
    x = tf.Variable(tf.ones([300, 300]))

    @tf.function
    def chain():
        y = x
        for _ in range(4):
            y = tf.matmul(y, x)
        return y

    def step():
        if program == "function":
            return chain()
        with tf.GradientTape() as tape:
            y = x * x
        return tape.gradient(y, x)

    def run():
        monkeypatch.setattr(processors, "_share", Share())
        monkeypatch.setattr(processors, "_PERIOD", 0.0)
        monkeypatch.setattr(processors, "idle_seconds", lambda statistics: 1.0)
        monkeypatch.setattr(processors.time, "process_time", lambda: time.perf_counter() / 2)  # others use the rest
        step()
        step()
        return torch.get_num_threads()

    step()
    assert in_thread_with(3, run) == 1


STATISTICS = """cpu  60 0 40 1000 50 0 0 0 0 0
cpu0 30 0 20 400 20 0 0 0 0 0
cpu1 30 0 20 600 30 0 0 0 0 0
intr 1 2 3
"""


@pytest.mark.parametrize(
    ("text", "affinity", "ticks"),
    [
        (STATISTICS, {0, 1}, 1050),
        (STATISTICS, {1}, 630),
        (STATISTICS, {7}, None),  # the file numbers processors otherwise
        ("cpu  0 0 0 0 0\ncpu0 0 0 0 0 0\n", {0}, None),  # nothing is counted
        ("cpu0 none\n", {0}, None),
        ("", {0}, None),
        (None, {0}, None),
    ],
)
def test_idle_seconds(tmp_path, monkeypatch, text, affinity, ticks):
    monkeypatch.setattr(processors.os, "sched_getaffinity", lambda process: affinity, raising=False)
    file = tmp_path / "stat"
    if text is not None:
        file.write_text(text)
    assert idle_seconds(file) == (None if ticks is None else ticks / processors._TICKS)


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
