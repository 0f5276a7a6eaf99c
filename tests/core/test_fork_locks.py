"""Forked processes of programs with threads."""

import os
import pathlib
import re
import subprocess
import sys
import threading
import weakref

import pytest

import tapeflow as tf
from tapeflow.core import fork_locks

SOURCES = pathlib.Path(tf.__file__).parents[1]
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


def succeeds_in_child(function):
    """Returns True if a function returns True in a forked process, within a minute."""
    child = os.fork()
    if not child:
        code = 1
        try:
            watch = threading.Timer(60.0, os._exit, (2,))
            watch.daemon = True
            watch.start()
            code = 0 if function() else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def held_by_a_thread(lock, function):
    """Returns the result of a function while another thread holds a lock."""
    is_held, ends = threading.Event(), threading.Event()

    def hold():
        with lock:
            is_held.set()
            ends.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    try:
        return function()
    finally:
        ends.set()
        thread.join()


@pytest.mark.parametrize("new", [fork_locks.new_lock, fork_locks.new_rlock, fork_locks.new_condition])
def test_a_lock_that_another_thread_holds(new):
    lock = new()
    assert held_by_a_thread(lock, lambda: succeeds_in_child(lambda: lock.acquire(timeout=10.0)))


def test_a_lock_that_the_forking_thread_holds():
    lock = fork_locks.new_rlock()

    def release():
        lock.release()
        return not lock._is_owned()

    with lock:
        assert succeeds_in_child(release)


def test_a_variable_that_another_thread_updates():
    variable = tf.Variable(1.0)

    def update():
        return float(variable.assign_add(1.0)) == 2.0

    assert held_by_a_thread(variable._lock, lambda: succeeds_in_child(update))


def test_locks_are_made_in_one_place():
    """Locks that `core/fork_locks.py` does not know stay locked in forked processes."""
    kinds = "Lock|RLock|Condition|Event|Semaphore|BoundedSemaphore|Barrier"
    pattern = re.compile(rf"threading\.({kinds})\(|, threading\.({kinds})\)|functools\.cached_property")
    paths = [p for name in ("tapeflow", "tapeflow_compat") for p in (SOURCES / name).rglob("*.py")]
    found = {p.name for p in paths if p.name != "fork_locks.py" and pattern.search(p.read_text())}
    # The first makes a new one in a forked process. Those of the second serve one call.
    assert found == {"batch_function.py", "mirrored.py"}


def test_batches_of_other_threads():
    """One thread computes a batch, and one waits for others: a forked process has neither."""
    computing, ends = threading.Event(), threading.Event()

    def twice(x):
        if float(x[0]) == 1.0:
            computing.set()
            ends.wait()
        return x * 2.0

    batched = tf.nondifferentiable_batch_function(1, 2, 60_000_000, autograph=False)(twice)
    threads = [threading.Thread(target=batched, args=(tf.fill([count], 1.0),)) for count in (2, 1)]
    threads[0].start()
    computing.wait()
    threads[1].start()
    try:
        assert succeeds_in_child(lambda: batched(tf.constant([3.0, 4.0])).numpy().tolist() == [6.0, 8.0])
    finally:
        ends.set()
        batched(tf.constant([2.0]))  # fills the batch of the second thread
        for thread in threads:
            thread.join()


PROGRAM = """
import os, sys, threading
import tapeflow as tf
from tapeflow.core import processors

def function(count):
    return tf.function(lambda x: tf.exp(x) + tf.sin(x) * float(count), jit_compile=True)(tf.ones([count, 3]))

def compile_often():
    count = 0
    while True:
        count += 1
        function(count)

def child():
    large = tf.ones([600, 600])
    return float(tf.reduce_sum(function(7))) > 0 and float(tf.reduce_sum(tf.exp(large) @ large)) > 0

processors.use_threads(2)
child()  # it starts the threads of kernels
for _ in range(2):
    threading.Thread(target=compile_often, daemon=True).start()
codes = []
for _ in range(8):
    pid = os.fork()
    if not pid:
        watch = threading.Timer(100.0, os._exit, (2,))
        watch.daemon = True
        watch.start()
        os._exit(0 if child() else 1)
    codes.append(os.waitpid(pid, 0)[1])
print(codes)
os._exit(0)
"""


def test_forks_while_other_threads_compile(tmp_path):
    environment = {**os.environ, "TAPEFLOW_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == f"{[0] * 8}\n", done.stderr


def test_locks_of_other_threads_are_unlocked(monkeypatch):
    """What a forked process does, without a fork."""
    monkeypatch.setattr(fork_locks, "_renewed", weakref.WeakSet())
    others, mine, event = fork_locks.new_lock(), fork_locks.new_rlock(), fork_locks.new_event()
    elsewhere, renewed = fork_locks.new_rlock(), []

    class Renewed:
        def _at_fork_reinit(self):
            renewed.append(self)

    value = fork_locks.renew_in_children(Renewed())
    assert set(fork_locks._renewed) == {others, mine, elsewhere, event, value}
    others.acquire()
    mine.acquire()
    event.set()

    fork_locks._unlock_all()
    assert others.acquire(blocking=False) and mine._is_owned() and not elsewhere._is_owned()
    assert renewed == [value]
    mine.release()


def test_locks_that_are_held_during_forks(monkeypatch):
    registered, calls = {}, []
    monkeypatch.setattr(os, "register_at_fork", lambda **when: registered.update(when))
    answers = [True, False]
    fork_locks.hold_during_forks(lambda: calls.append("acquire") or answers.pop(0), lambda: calls.append("release"))
    assert set(registered) == {"before", "after_in_parent", "after_in_child"}
    registered["before"]()
    registered["after_in_parent"]()
    assert calls == ["acquire", "release"]
    registered["before"]()  # it forks without the lock
    registered["after_in_child"]()
    assert calls == ["acquire", "release", "acquire"]


def test_cached_properties():
    class Class:
        count = 0

        @fork_locks.cached_property
        def value(self):
            self.count += 1
            return [self.count]

    first, second = Class(), Class()
    assert first.value is first.value and first.count == 1 and second.value is not first.value
    assert Class.value.attrname == "value" and vars(first)["value"] == [1]
    del first.value
    assert first.value == [2]
