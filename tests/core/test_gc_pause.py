"""Pauses of the collection of garbage."""

import gc
import threading

import pytest

from tapeflow.core.gc_pause import pause_collection


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Has the tests run as if this thread were the only one, with the collection enabled."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    before = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if before else gc.disable)()


def test_nothing_is_collected_inside():
    frozen = gc.get_freeze_count()
    with pause_collection():
        assert not gc.isenabled()
        with pause_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()  # the inner pause changed nothing
    assert gc.isenabled() and gc.get_freeze_count() == frozen
    with pytest.raises(KeyError), pause_collection():
        raise KeyError
    assert gc.isenabled()


def test_objects_may_be_left_out_of_later_collections():
    frozen = gc.get_freeze_count()
    with pause_collection(freezes=True):
        objects = [[] for _ in range(1000)]
    assert gc.get_freeze_count() >= frozen + len(objects) and gc.isenabled()


def test_a_collection_that_is_off_stays_off():
    gc.disable()
    frozen = gc.get_freeze_count()
    with pause_collection(freezes=True):
        assert not gc.isenabled()
    assert not gc.isenabled() and gc.get_freeze_count() == frozen


def test_other_threads_may_set_it(monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    frozen = gc.get_freeze_count()
    with pause_collection(freezes=True):
        assert gc.isenabled()
    assert gc.isenabled() and gc.get_freeze_count() == frozen
