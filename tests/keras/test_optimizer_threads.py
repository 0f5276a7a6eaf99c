"""Threads that share an optimizer lose no update: not of its count, nor of its moments."""

import copy
import sys
import threading

import pytest

import tapeflow as tf

OPTIMIZERS = {
    "SGD": lambda: tf.keras.optimizers.SGD(1.0),
    "momentum": lambda: tf.keras.optimizers.SGD(1e-3, momentum=0.9),
    "Adam": lambda: tf.keras.optimizers.Adam(1e-3),
}


@pytest.fixture(autouse=True)
def often():
    """Threads take turns often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def trained(optimizer, threads, steps, traced):
    """The optimizer's count and a variable after so many steps by each thread."""
    variables = [tf.Variable(tf.zeros([2])) for _ in range(2)]
    optimizer.build(variables)

    def step():
        optimizer.apply([tf.ones([2])] * 2, variables)

    step = tf.function(step) if traced else step
    step()
    together = threading.Barrier(threads)

    def work():
        together.wait()
        for _ in range(steps):
            step()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return int(optimizer.iterations.numpy()), variables[1].numpy().tolist()


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_eight_threads_are_as_good_as_one(name, traced):
    count, value = trained(OPTIMIZERS[name](), 8, 25, traced)
    assert count == 201
    assert (count, value) == trained(OPTIMIZERS[name](), 1, 200, traced)


def test_other_optimizers_do_not_wait():
    held, other = tf.keras.optimizers.SGD(), tf.keras.optimizers.SGD()
    trained(held, 1, 1, False)
    with held._updating.lock:
        assert trained(other, 2, 3, True)[0] == 7


def test_copies_have_turns_of_their_own():
    optimizer = tf.keras.optimizers.SGD()
    trained(optimizer, 1, 1, False)
    assert copy.deepcopy(optimizer._updating).lock is not optimizer._updating.lock
