"""Variables that several threads change and read."""

import math
import threading

import numpy as np
import pytest

import tapeflow as tf

_THREADS, _TIMES = 8, 500


def _in_threads(work, threads=_THREADS, times=_TIMES):
    """Calls `work` that many times in each of the threads, which begin together."""
    barrier, errors = threading.Barrier(threads), []

    def run():
        barrier.wait()
        try:
            for _ in range(times):
                work()
        except BaseException as error:
            errors.append(error)

    started = [threading.Thread(target=run) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if errors:
        raise errors[0]


_ROW = tf.IndexedSlices(tf.ones([1, 2]), [1])
_BATCH_ROW = tf.IndexedSlices(tf.ones([1, 1]), [[1]])
_UPDATES = {
    "assign_add": lambda v: v.assign_add(tf.ones_like(v)),
    "assign_sub": lambda v: v.assign_sub(-tf.ones_like(v)),
    "scatter_add": lambda v: v.scatter_add(_ROW),
    "scatter_sub": lambda v: v.scatter_sub(tf.IndexedSlices(-tf.ones([1, 2]), [1])),
    "scatter_nd_add": lambda v: v.scatter_nd_add([[1]], tf.ones([1, 2])),
}


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", _UPDATES)
def test_an_update_waits_for_the_one_before(name, in_function):
    v = tf.Variable(tf.zeros([3, 2]))
    update = tf.function(lambda: _UPDATES[name](v)) if in_function else lambda: _UPDATES[name](v)
    update()  # it is traced
    before, thread = v.numpy(), threading.Thread(target=update)
    with v._lock:  # as within another thread's update
        thread.start()
        thread.join(0.05)
        assert thread.is_alive()
        np.testing.assert_array_equal(v, before)
    thread.join()
    np.testing.assert_array_equal(v, 2.0 * before)


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", _UPDATES)
def test_no_update_is_lost(name, in_function):
    v = tf.Variable(tf.zeros([3, 2]))

    def update():
        _UPDATES[name](v)

    _in_threads(tf.function(update) if in_function else update)
    assert v.numpy()[1].tolist() == [_THREADS * _TIMES] * 2


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
def test_no_update_in_place_is_lost(in_function):
    v = tf.Variable(tf.zeros([100, 100]))
    one = tf.ones([100, 100])

    def update():
        v.assign_add(one)

    _in_threads(tf.function(update) if in_function else update, times=100)
    assert np.unique(v.numpy()).tolist() == [_THREADS * 100]


def test_counting_loses_nothing():
    v = tf.Variable(0)
    _in_threads(lambda: v.count_up_to(_THREADS * _TIMES))
    assert v.numpy() == _THREADS * _TIMES


@pytest.mark.parametrize("count", [1, 5], ids=["one", "grouped"])
def test_no_update_of_a_step_with_several_variables_is_lost(count):
    variables = [tf.Variable(tf.zeros([3])) for _ in range(count)]
    one = tf.ones([3])

    @tf.function
    def step(backwards):
        for v in reversed(variables) if backwards else variables:
            v.assign_add(one)

    sides = iter([True, False] * _THREADS * 250)
    _in_threads(lambda: step(next(sides)), times=250)
    assert [v.numpy()[0] for v in variables] == [_THREADS * 250] * count


@pytest.mark.parametrize("size", [3, 100], ids=["small", "in_place"])
def test_no_step_of_keras_adam_is_lost(size):
    keras = pytest.importorskip("tapeflow.keras")
    variables = [tf.Variable(tf.zeros([size, size])) for _ in range(3)]
    gradients = [tf.ones([size, size])] * 3
    adam = keras.optimizers.Adam(0.001, beta_1=0.9999)  # so slowly does the average come near the gradient
    adam.build(variables)

    @tf.function
    def step():
        adam.apply_gradients(zip(gradients, variables, strict=True))

    step()
    _in_threads(step, times=50)
    average = adam._momentums[0].numpy()[0, 0]
    assert math.log(1 - average) / math.log(0.9999) == pytest.approx(_THREADS * 50 + 1, abs=0.5)


def test_no_step_of_keras_sgd_is_lost():
    keras = pytest.importorskip("tapeflow.keras")
    v = tf.Variable([0.0, 0.0])
    sgd = keras.optimizers.SGD(1.0)
    sgd.build([v])
    _in_threads(lambda: sgd.apply_gradients([(tf.constant([-1.0, -1.0]), v)]), times=50)
    assert v.numpy().tolist() == [_THREADS * 50] * 2


def test_no_step_of_an_optimizer_of_tensorflow_1_is_lost():
    v = tf.Variable([0.0, 0.0])
    optimizer = tf.compat.v1.train.MomentumOptimizer(-1.0, 0.0)
    gradient = tf.constant([1.0, 1.0])
    optimizer.apply_gradients([(gradient, v)])
    _in_threads(lambda: optimizer.apply_gradients([(gradient, v)]), times=100)
    assert v.numpy().tolist() == [_THREADS * 100 + 1] * 2


def test_tensors_read_while_others_update_in_place_never_change():
    v = tf.Variable(tf.zeros([200, 200]))
    one = tf.ones([200, 200])
    torn, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            held = v.value()
            first, second = held.numpy(), held.numpy()
            if len(np.unique(first)) != 1 or (first != second).any():
                torn.append(first)

    reader = threading.Thread(target=read)
    reader.start()
    _in_threads(lambda: v.assign_add(one), threads=2, times=300)
    stop.set()
    reader.join()
    assert not torn
    assert v.numpy()[0, 0] == 600


def test_an_assignment_while_an_update_is_computed_is_not_lost():
    v = tf.Variable(1.0)

    def kernel(value, delta):
        v.assign(10.0)  # as another thread may
        return value + delta

    v._update("AssignAddVariableOp", tf.constant(1.0), kernel, None)
    assert v.numpy() == 10


def test_a_failed_update_leaves_the_variable_usable():
    v = tf.Variable(tf.zeros([100, 100]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.assign_add(tf.zeros([3]))
    with pytest.raises(ZeroDivisionError):
        v._update("AssignAddVariableOp", tf.zeros([100, 100]), None, lambda value, delta: 1 / 0)
    assert type(v.value()) is type(tf.constant(1))
    _in_threads(lambda: v.assign_add(tf.ones([100, 100])), threads=1, times=1)
    assert v.numpy()[0, 0] == 1
