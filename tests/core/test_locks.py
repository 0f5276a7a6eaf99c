"""What threads share is changed and read while its lock is held: each call takes the lock, and gives it back."""

import importlib
import threading
import types

import pytest

import tapeflow as tf
from tapeflow.core.rng import seeds
from tapeflow.core.session_resources import Resources
from tapeflow.data import seeds as shuffle_seeds
from tapeflow.data.iterators import OwnedIterator
from tapeflow.lookup import storage as lookup_storage
from tapeflow.nn.candidate_sampling import _LearnedCounts
from tapeflow.random import generator as generators
from tapeflow.summary import event_file, traces
from tapeflow.train import bundle
from tapeflow.train.coordinator import Coordinator
from tapeflow_compat.queue.readers import Reading

profiles = importlib.import_module("tapeflow.profiler.experimental.profiles")
messages = importlib.import_module("tapeflow.compat.v1.logging")
writers = importlib.import_module("tapeflow.compat.v1.summary.writers")


class CountedLock:
    """A lock that counts how often it was taken."""

    def __init__(self, lock):
        self.lock, self.taken = lock, 0

    def acquire(self):
        self.taken += 1
        return self.lock.acquire()

    def release(self):
        self.lock.release()

    __enter__ = acquire

    def __exit__(self, *_):
        self.release()


@pytest.fixture
def count(monkeypatch):
    """Returns a function: how often a call takes a lock."""

    def count_taken(owner, call, attribute="_lock"):
        lock = CountedLock(threading.RLock())
        with monkeypatch.context() as patch:
            patch.setattr(owner, attribute, lock)
            call()
        assert lock.lock.acquire(blocking=False)
        return lock.taken

    return count_taken


def one(value):
    return tf.constant([value])


def hash_table():
    table = lookup_storage.TableStorage(tf.int32, tf.int32)
    table.fill(one(1), one(2))
    return table


def mutable_table():
    table = lookup_storage.MutableStorage(tf.int32, tf.int32)
    table.insert(one(1), one(2))
    return table


def dense_table():
    return lookup_storage.DenseStorage(tf.int32, (), tf.constant(-1), tf.constant(-2), 4)


@pytest.mark.parametrize(
    ("make", "call"),
    [
        (hash_table, lambda t: t.fill(one(1), one(2))),
        (hash_table, lambda t: t.find(one(1), tf.constant(0))),
        (hash_table, lambda t: t.export()),
        (mutable_table, lambda t: t.fill(one(1), one(2))),
        (mutable_table, lambda t: t.insert(one(1), one(2))),
        (mutable_table, lambda t: t.remove(one(1))),
        (dense_table, lambda t: t.export()),
        (dense_table, lambda t: t.fill(one(1), one(2))),
    ],
)
def test_tables(make, call, count):
    table = make()
    assert count(table, lambda: call(table), "lock") == 1


@pytest.mark.parametrize(
    "call", [lambda: tf.random.set_seed(1), lambda: seeds.lasting_seeds(1), lambda: seeds.reserve("op", 1, 2, 1)]
)
def test_seeds(call, count):
    assert count(seeds.state, call, "lock") == 1


def test_a_seed_that_is_used_once(count):
    tf.random.set_seed(1)
    assert count(seeds.state, lambda: seeds.op_seeds(None), "lock") == 2


@pytest.mark.parametrize("call", [lambda i: i.take(), lambda i: i.position(), lambda i: i._next(1)])
def test_iterators(call, count):
    iterator = iter(tf.data.Dataset.range(5).shuffle(2))
    assert isinstance(iterator, OwnedIterator)
    assert count(iterator, lambda: call(iterator)) == 1


def test_an_iterator_that_goes_to_a_position(count):
    iterator = iter(tf.data.Dataset.range(5).shuffle(2))
    position = iterator.position()
    assert count(iterator, lambda: iterator.go_to(position)) == 1


def test_numbers_of_iterators(count):
    numbers = shuffle_seeds.Seeds((1, 2), True)
    assert count(numbers, numbers.number) == 1


@pytest.mark.parametrize("call", [tf.random.get_global_generator, lambda: tf.random.set_global_generator(None)])
def test_the_global_generator(call, count, monkeypatch):
    monkeypatch.setattr(generators, "_global", [])
    assert count(generators, call) == 1


@pytest.mark.parametrize(
    ("call", "times"),
    [
        (lambda c: c.request_stop(), 1),
        (lambda c: c.clear_stop(), 1),
        (lambda c: c.register_thread(threading.current_thread()), 1),
        (lambda c: c.join(), 2),
        (lambda c: c.raise_requested_exception(), 1),
    ],
)
def test_coordinators(call, times, count):
    coordinator = Coordinator()
    assert count(coordinator, lambda: call(coordinator)) == times


def test_checkpoints(tmp_path, count):
    path = tf.train.Checkpoint(v=tf.Variable([1.0]), w=tf.Variable(["a"])).write(str(tmp_path / "c"))
    reader = bundle.Bundle(path)
    for key in ("v/.ATTRIBUTES/VARIABLE_VALUE", "w/.ATTRIBUTES/VARIABLE_VALUE"):
        assert count(reader, lambda key=key: reader.read(key)) == 1


@pytest.mark.parametrize("call", [lambda r: r.get("key", list), lambda r: r.close()])
def test_resources_of_sessions(call, count):
    resources = Resources()
    assert count(resources, lambda: call(resources)) == 1


def test_variables_that_count(count):
    variable = tf.Variable(1)
    assert count(variable, lambda: variable.count_up_to(3)) == 1


def test_scatters_into_variables(count):
    variable = tf.Variable([1.0, 2.0])
    delta = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert count(variable, lambda: variable.scatter_add(delta)) == 1
    function = tf.function(lambda: variable.scatter_add(delta))
    function()
    assert count(variable, function) >= 1


@pytest.mark.parametrize("call", [lambda f: f.flush(), lambda f: f.close()])
def test_event_files(call, tmp_path, count):
    file = event_file.EventFile(str(tmp_path), 10, 1000, "")
    assert count(file, lambda: call(file)) == 1
    file.close()


def test_events(tmp_path, count):
    file = event_file.EventFile(str(tmp_path), 10, 1000, "")
    assert count(file, lambda: file.add(tf.compat.v1.Event(step=3))) == 1
    file.close()


@pytest.mark.parametrize("call", [tf.summary.trace_on, tf.summary.trace_off])
def test_traces(call, count):
    assert count(traces, call) == 1
    tf.summary.trace_off()


def test_profiles(tmp_path, count, monkeypatch):
    monkeypatch.setattr(profiles, "_Session", lambda *_: types.SimpleNamespace(stop=lambda: None))
    profiler = tf.profiler.experimental
    assert count(profiles, lambda: profiler.start(str(tmp_path))) == 1
    assert count(profiles, lambda: profiler.stop(save=False)) == 1


def test_messages_that_are_counted(count):
    assert count(messages, lambda: messages.log_first_n(messages.DEBUG, "text", 1)) == 1


def test_writers_of_folders(tmp_path, count):
    cache = writers.FileWriterCache
    with tf.Graph().as_default():
        assert count(cache, lambda: cache.get(str(tmp_path))) == 1
    assert count(cache, cache.clear) == 1


def test_sampled_classes(count):
    counts = _LearnedCounts(5)
    assert count(counts, lambda: counts.add(tf.constant([1, 2], tf.int64).value)) == 1


@pytest.mark.parametrize("call", [lambda r: r.reset(), lambda r: r.state(), lambda r: r.restore(b"")])
def test_readers(call, count):
    reader = Reading("IdentityReaderV2", {})
    assert count(reader, lambda: call(reader)) == 1


def test_critical_sections(count):
    section = tf.CriticalSection()
    assert count(section, lambda: section.execute(lambda: 1)) == 1
