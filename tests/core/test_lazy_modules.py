"""Modules that threads load one at a time. Python's own locks of modules are set up as imports would leave them."""

import importlib
import sys
import threading
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder

import pytest

from tapeflow.core import lazy_modules
from tapeflow.core.lazy_modules import _locked_submodules, _submodules, _Turn, _unlocked_modules, _waits_for

module_lock = importlib._bootstrap._get_module_lock
LIMIT = 30  # seconds until a test that hangs fails


class Worker:
    """A thread that runs functions one after the other, so that locks belong to it."""

    def __init__(self):
        self._given, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._function = self._result = None
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        while self._given.acquire() and self._function is not None:
            self._result = self._function()
            self._done.release()

    @property
    def ident(self):
        return self.thread.ident

    def start(self, function):
        self._function = function
        self._given.release()

    def result(self):
        assert self._done.acquire(timeout=LIMIT)
        return self._result

    def run(self, function):
        self.start(function)
        return self.result()

    def stop(self):
        self.start(None)
        self.thread.join(LIMIT)


@pytest.fixture
def worker():
    made = Worker()
    yield made
    made.stop()


@contextmanager
def held_by(worker, *locks):
    """A context in which a thread holds locks."""
    for lock in locks:
        worker.run(lock.acquire)
    yield
    for lock in locks:
        worker.run(lock.release)


def waits(worker):
    """Returns True if a thread waits for the lock of a module."""
    return bool(importlib._bootstrap._blocking_on.get(worker.ident))


def wait_until(condition):
    event = threading.Event()
    for _ in range(LIMIT * 1000):
        if condition():
            return
        event.wait(0.001)
    raise AssertionError("waited for ever")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The spec of a package with modules and a package of its own, which is not loaded."""
    for path in ("__init__.py", "one.py", "inner/__init__.py", "inner/two.py", "__pycache__/three.py", "data.txt"):
        file = tmp_path / "tapeflow_probe" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("LOADED = __name__\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield PathFinder.find_spec("tapeflow_probe", [str(tmp_path)])
    for name in [name for name in sys.modules if name.startswith("tapeflow_probe")]:
        del sys.modules[name]


def test_a_turn_is_taken_several_times_by_one_thread(worker):
    turn = _Turn()
    assert turn.acquire() and turn.acquire()
    assert turn._holder == threading.get_ident()
    turn.release()
    assert turn._holder == threading.get_ident()
    worker.start(turn.acquire)
    assert worker.thread.is_alive() and turn._holder == threading.get_ident()
    turn.release()
    assert worker.result() is True
    assert turn._holder == worker.ident
    worker.run(turn.release)
    assert turn._holder is None
    assert turn.acquire()
    turn.release()


def test_nobody_waits_for_the_turn_of_a_thread_that_waits_for_it(worker):
    turn, lock = _Turn(), module_lock("tapeflow_probe_of_this_thread")
    assert worker.run(turn.acquire)
    lock.acquire()
    worker.start(lock.acquire)  # as an import of the module that this thread imports
    wait_until(lambda: waits(worker))
    sys.modules["tapeflow_probe_of_this_thread"] = lazy_modules  # it has begun to run, and stays locked
    try:
        assert turn.acquire() is False
    finally:
        del sys.modules["tapeflow_probe_of_this_thread"]
    assert turn._holder == worker.ident
    lock.release()
    worker.result()
    worker.run(lock.release)
    worker.run(turn.release)


def test_modules_are_unlocked_while_a_thread_waits_for_its_turn(worker):
    turn, lock = _Turn(), module_lock("tapeflow_probe_of_this_thread")
    assert worker.run(turn.acquire)
    lock.acquire()

    def load():
        lock.acquire()
        lock.release()
        turn.release()
        return True

    worker.start(load)  # it loads the module that the import statement of this thread has locked
    assert turn.acquire() is True
    assert lock.owner == threading.get_ident() and worker.result()
    lock.release()
    turn.release()


def test_which_modules_are_unlocked(worker):
    names = "tapeflow_probe_a", "keras_probe", "tensorflow_probe", "other_probe", "tapeflow.core.lazy_modules"
    unlocked, kept = [module_lock(name) for name in names[:3]], [module_lock(name) for name in names[3:]]
    others = module_lock("tapeflow_probe_of_another")
    for lock in unlocked + kept:
        lock.acquire()
    with held_by(worker, others), _unlocked_modules(threading.get_ident()):
        assert [lock.owner for lock in unlocked] == [None] * 3
        assert [lock.owner for lock in kept] == [threading.get_ident()] * 2
        assert others.owner == worker.ident
    for lock in unlocked + kept:
        assert lock.owner == threading.get_ident()
        lock.release()


def test_a_thread_waits_for_another_by_way_of_others(worker):
    second, third = Worker(), Worker()
    me, locks = threading.get_ident(), [module_lock(f"tapeflow_probe_{i}") for i in range(2)]
    locks[0].acquire()
    with held_by(second, locks[1]):
        second.start(locks[0].acquire)
        worker.start(locks[1].acquire)
        wait_until(lambda: waits(worker) and waits(second))
        assert _waits_for(second.ident, me) and _waits_for(worker.ident, me) and _waits_for(worker.ident, second.ident)
        assert _waits_for(me, me)
        assert not _waits_for(second.ident, worker.ident) and not _waits_for(me, worker.ident)
        assert not _waits_for(third.ident, me) and not _waits_for(worker.ident, third.ident)
        assert not _waits_for(None, me)
        locks[0].release()
        second.result()
        second.run(locks[0].release)
    worker.result()
    worker.run(locks[1].release)
    for each in (second, third):
        each.stop()


def test_threads_that_wait_for_each_other(monkeypatch):
    """Python finds such circles only when their last thread begins to wait."""
    owner = lambda thread: type("Lock", (), {"owner": thread})()  # noqa: E731
    monkeypatch.setattr(importlib._bootstrap, "_blocking_on", {1: [owner(2)], 2: owner(1), 3: [owner(None), owner(2)]})
    assert _waits_for(1, 2) and _waits_for(2, 1) and _waits_for(3, 1)
    assert not _waits_for(1, 3) and not _waits_for(4, 1)


def test_modules_of_a_package(worker, package):
    assert sorted(_submodules(package)) == ["tapeflow_probe.inner", "tapeflow_probe.inner.two", "tapeflow_probe.one"]
    assert list(_submodules(ModuleSpec("tapeflow_module", None))) == []


def test_modules_of_a_package_are_locked_before_it_runs(worker, package):
    me, lock = threading.get_ident(), module_lock
    own, inner, two, one = (lock(f"tapeflow_probe{end}") for end in ("", ".inner", ".inner.two", ".one"))
    own.acquire()
    inner.acquire()
    with held_by(worker, one):
        pass
    with _locked_submodules(me, package):
        assert [each.owner for each in (own, inner, two, one)] == [me] * 4
    assert [each.owner for each in (own, inner, two, one)] == [me, me, None, None]
    own.release()
    inner.release()
    with _locked_submodules(me, package):  # another thread imports the package
        assert [each.owner for each in (own, inner, two, one)] == [None] * 4


def test_a_thread_that_has_locked_a_module_gets_the_package(worker, package):
    me = threading.get_ident()
    own, one = module_lock("tapeflow_probe"), module_lock("tapeflow_probe.one")
    own.acquire()
    worker.run(one.acquire)

    def import_package():
        own.acquire()
        own.release()
        one.release()

    worker.start(import_package)
    with _locked_submodules(me, package):
        assert own.owner == me and one.owner == me
    worker.result()
    assert own.owner == me and one.owner is None
    own.release()


def test_one_thread_loads_at_a_time(worker, package):
    entered = []

    def enter():
        with lazy_modules.one_at_a_time():
            entered.append(threading.get_ident())

    with lazy_modules.one_at_a_time(package):
        worker.start(enter)
        with lazy_modules.one_at_a_time():
            entered.append("here")
        assert entered == ["here"]
    worker.result()
    assert entered == ["here", worker.ident]
    assert lazy_modules._turn._holder is None


def test_errors_give_the_turn_back():
    with pytest.raises(KeyError), lazy_modules.one_at_a_time():
        raise KeyError
    assert lazy_modules._turn._holder is None


def test_a_thread_without_a_turn_goes_on(monkeypatch):
    monkeypatch.setattr(lazy_modules._turn, "acquire", lambda: False)
    monkeypatch.setattr(lazy_modules._turn, "release", lambda: pytest.fail("it has no turn"))
    with lazy_modules.one_at_a_time():
        pass


def test_modules_are_loaded_after_their_packages(package):
    two = lazy_modules.load("tapeflow_probe.inner.two")
    assert two.LOADED == "tapeflow_probe.inner.two" and two is sys.modules["tapeflow_probe.inner.two"]
    assert sys.modules["tapeflow_probe.inner"].LOADED == "tapeflow_probe.inner"
    assert lazy_modules.load("tapeflow_probe.inner.two") is two
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        lazy_modules.load("tapeflow_probe.missing.one")


def test_incomplete_modules():
    module = type(sys)("module")
    assert not lazy_modules.is_incomplete(module)
    module.__spec__ = ModuleSpec("module", None)
    assert not lazy_modules.is_incomplete(module)
    module.__spec__._initializing = True
    assert lazy_modules.is_incomplete(module)
