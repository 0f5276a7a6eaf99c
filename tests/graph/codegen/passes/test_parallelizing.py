"""Steps on different CPUs run at the same time, with the results that they have one after another."""

import threading

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core import parallel
from tapeflow.core.rng.seeds import Streams, own_streams

pytestmark = pytest.mark.usefixtures("two_cpus", "kernels_of_one_thread")


@pytest.fixture
def kernels_of_one_thread():
    """Has little work be worth a thread; the number of threads decides the last digits of sums, too."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def one_at_a_time(monkeypatch):
    """Has functions run one after another from its call on, and before it at once."""
    monkeypatch.setattr(torch, "get_num_interop_threads", lambda: 2)
    return lambda: monkeypatch.setattr(torch, "get_num_interop_threads", lambda: 1)


def long_chain(x):
    """Enough work for a thread, and no element form, so that it is no cluster."""
    for _ in range(20):
        x = tf.math.bessel_i1e(x) + x * 0.5
    return x


def on_both(function):
    """Returns a function of one argument that computes `function` of it, and of its double, each on a CPU."""

    @tf.function
    def both(x):
        with tf.device("CPU:0"):
            first = function(x)
        with tf.device("CPU:1"):
            second = function(x * 2.0)
        return first, second

    return both


def source(function, *args):
    return function.get_concrete_function(*args).source()


# ---- running functions -----------------------------------------------------------------------------------------------


def test_functions_run_at_the_same_time(monkeypatch):
    monkeypatch.setattr(torch, "get_num_interop_threads", lambda: 2)
    here = threading.Barrier(3)

    def meet(number):
        here.wait(60)
        return number

    assert parallel.run_all(*[lambda i=i: meet(i) for i in range(3)]) == [0, 1, 2]


def test_the_first_error_is_raised_after_all_have_ended(monkeypatch):
    monkeypatch.setattr(torch, "get_num_interop_threads", lambda: 2)
    failed, ended = threading.Event(), []

    def fail():
        failed.set()
        raise KeyError("first")

    def end():
        failed.wait(60)
        ended.append(True)
        raise ValueError("second")

    with pytest.raises(KeyError, match="first"):
        parallel.run_all(fail, end)
    assert ended


def test_the_processors_are_divided(monkeypatch):
    monkeypatch.setattr(torch, "get_num_interop_threads", lambda: 2)
    before = torch.get_num_threads()
    torch.set_num_threads(6)
    try:
        assert parallel.run_all(*[torch.get_num_threads] * 3) == [2, 2, 2]
        assert torch.get_num_threads() == 6
        later = []
        thread = threading.Thread(target=lambda: later.append(torch.get_num_threads()))
        thread.start()
        thread.join()
        assert later == [6]
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("why", ["configuration", "streams"])
def test_functions_run_one_after_another(monkeypatch, why):
    monkeypatch.setattr(torch, "get_num_interop_threads", lambda: 1 if why == "configuration" else 2)
    with own_streams(Streams() if why == "streams" else None):
        assert parallel.run_all(*[threading.current_thread] * 2) == [threading.current_thread()] * 2


# ---- programs --------------------------------------------------------------------------------------------------------


def test_steps_on_different_cpus():
    x = tf.constant(np.linspace(-1, 1, 50_000, dtype="float32"))
    both = on_both(long_chain)
    assert "run_all(on_CPU_0, on_CPU_1)" in source(both, x)
    for result, expected in zip(both(x), (long_chain(x), long_chain(x * 2.0)), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("function", [lambda x: x + 1.0, tf.identity], ids=["little work", "no work"])
def test_little_work_is_not_worth_a_thread(function):
    assert "run_all" not in source(on_both(function), tf.ones([4]))


def test_small_kernels_are_not_worth_threads_where_each_has_several():
    torch.set_num_threads(2)
    product = lambda x: tf.matmul(tf.matmul(x, x), x)  # noqa: E731
    assert "run_all" not in source(on_both(product), tf.ones([20, 20]))
    assert "run_all" in source(on_both(product), tf.ones([1000, 1000]))
    assert "run_all" not in source(on_both(long_chain), tf.ones([1000, 1000]))  # waits for memory


def test_one_cpu_needs_no_other():
    @tf.function
    def function(x):
        with tf.device("CPU:0"):
            return long_chain(x)

    assert "run_all" not in source(function, tf.ones([4]))


def test_what_both_need_comes_first():
    @tf.function
    def function(x):
        with tf.device("CPU:0"):
            shared = x + 1.0
            first = long_chain(shared)
        with tf.device("CPU:1"):
            second = long_chain(shared * 2.0)
        return first + second

    x = tf.constant([0.25, 0.5])
    text = source(function, x)
    assert text.index("op_AddV2(x") < text.index("def on_CPU_0") < text.index("run_all(on_CPU_0, on_CPU_1)")
    np.testing.assert_allclose(function(x), long_chain(x + 1.0) + long_chain((x + 1.0) * 2.0), rtol=1e-6)


def test_a_chain_over_two_cpus_stays_one():
    @tf.function
    def function(x):
        with tf.device("CPU:0"):
            x = long_chain(x)
        with tf.device("CPU:1"):
            return long_chain(x)

    x = tf.constant([0.25, 0.5])
    assert "run_all" not in source(function, x)
    np.testing.assert_allclose(function(x), long_chain(long_chain(x)), rtol=1e-6)


def test_variables_are_read_and_changed_in_order():
    v, w = tf.Variable([1.0]), tf.Variable([0.0])

    @tf.function
    def function(x):
        with tf.device("CPU:0"):
            before = long_chain(v + x)
            v.assign(before)
        with tf.device("CPU:1"):
            w.assign(long_chain(v * x))
            v.assign_add([100.0])
        with tf.device("CPU:0"):
            return long_chain(v - w)

    x = tf.constant([0.5])
    changed = long_chain(tf.constant([1.0]) + x)
    expected = long_chain(changed * x)
    np.testing.assert_allclose(function(x), long_chain(changed + 100.0 - expected), rtol=1e-5)
    np.testing.assert_allclose(v, changed + 100.0, rtol=1e-6)
    np.testing.assert_allclose(w, expected, rtol=1e-5)


def test_prints_keep_their_order(capsys):
    def printing(x):
        x = long_chain(x)
        tf.print("sum", tf.cast(tf.round(tf.reduce_sum(x)), tf.int32))
        return long_chain(x)

    on_both(printing)(tf.zeros([3]))
    both = on_both(printing)
    both(tf.constant([1.0]))
    alone = [int(tf.round(tf.reduce_sum(long_chain(tf.constant([x]))))) for x in (1.0, 2.0)]
    assert capsys.readouterr().err.split() == ["sum", "0", "sum", "0", *(w for n in alone for w in ("sum", str(n)))]


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_names_the_op(failing):
    def gather(x):
        return tf.gather(long_chain(x), tf.cast(x[:1] * 3.0, tf.int32))

    both = on_both(gather)
    assert "run_all" in source(both, tf.zeros([4]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = (4|6) is not in \[0, 4\)"):
        both(tf.constant([1.5 - failing * 0.5, 0.0, 0.0, 0.0]))


def test_conditionals_and_loops():
    def function(x):
        x = tf.cond(tf.reduce_sum(x) > 5.0, lambda: long_chain(x), lambda: x - 1.0)
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, long_chain(y)), (0, x))[1]

    both = on_both(function)
    x = tf.constant([1.0, 2.0])
    text = source(both, x)
    assert "run_all" in text and " in range(" in text and "if " in text
    for result, expected in zip(both(x), (function(x), function(x * 2.0)), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_in_the_body_of_a_loop():
    both = on_both(long_chain)

    @tf.function
    def function(x):
        for _ in tf.range(3):
            first, second = both(x)
            x = first - second
        return x

    x = tf.constant([0.5, 0.25])
    assert "run_all" in source(function, x)
    expected = x
    for _ in range(3):
        expected = long_chain(expected) - long_chain(expected * 2.0)
    np.testing.assert_allclose(function(x), expected, rtol=1e-5)


# ---- strategies ------------------------------------------------------------------------------------------------------


def trained(strategy, steps):
    """Returns the losses and the weights of a small convolutional model with dropout, trained by some steps."""
    keras = tf.keras
    tf.random.set_seed(1)
    keras.utils.set_random_seed(1)
    with strategy.scope():
        layers = [keras.layers.Conv2D(8, 3, activation="relu"), keras.layers.BatchNormalization()]
        layers += [keras.layers.Flatten(), keras.layers.Dropout(0.3), keras.layers.Dense(3)]
        model = keras.Sequential([keras.Input((12, 12, 1)), *layers])
        optimizer = keras.optimizers.Adam(0.01)
        optimizer.build(model.trainable_variables)
    losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)

    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(losses(y, model(x, training=True))) / 16.0
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def step(x, y):
        return strategy.reduce("SUM", strategy.run(replica, (x, y)), axis=None)

    rng = np.random.default_rng(0)
    data = tf.data.Dataset.from_tensor_slices(
        (rng.random((16 * steps, 12, 12, 1), dtype=np.float32), rng.integers(0, 3, 16 * steps))
    )
    batches = iter(strategy.experimental_distribute_dataset(data.batch(16)))
    results = [float(step(*next(batches))) for _ in range(steps)]
    return step, results, [w.numpy() for w in model.weights]


def test_replicas_train_as_one_after_another(strategy, one_at_a_time):
    step, losses, weights = trained(strategy, 4)
    (concrete,) = step._list_all_concrete_functions()
    assert "run_all(on_CPU_0, on_CPU_1)" in concrete.source()
    one_at_a_time()
    _, expected, expected_weights = trained(strategy, 4)
    assert losses == expected
    for weight, other in zip(weights, expected_weights, strict=True):
        np.testing.assert_array_equal(weight, other)
