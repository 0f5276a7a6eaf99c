"""CUDA graphs. On a CPU, a recorder stands for the device: it repeats a recording by running it again on the same
memory. What is marked `gpu` captures."""

import contextlib
import gc
import threading
import time

import numpy as np
import pytest
import torch

import tapeflow as tf
from recorder import Recorder, called, captured, explanation
from tapeflow.core.settings import settings
from tapeflow.graph.backends import cuda_graphs, recordings
from tapeflow.graph.backends.capturable import obstacle
from tapeflow.graph.backends.cuda_graphs import MOST_RECORDINGS, WARM_UPS
from tapeflow.graph.backends.dispatch_modes import Keep, Watch


@pytest.fixture
def recorders(monkeypatch):
    """Has functions recorded on the CPU; gives the recorders that were made for recordings (the first is for the
    rehearsal)."""
    monkeypatch.setattr(Recorder, "made", [])
    monkeypatch.setitem(cuda_graphs.RECORDERS, "cpu", Recorder)
    return Recorder.made


def warnings_of(caplog):
    return [r.getMessage() for r in caplog.records if "cuda_graph=True" in r.getMessage()]


# ---- replays ---------------------------------------------------------------------------------------------------------


def test_arguments_are_copied_in_and_results_out(recorders):
    @captured
    def f(x, y):
        return x * 2.0 + y, x, tf.constant([7.0])

    ones = tf.ones([3])
    called(f, ones, ones)
    results = [f(tf.constant([float(i)] * 3), ones) for i in range(4)]
    for i, (total, same, constant) in enumerate(results):  # later calls left earlier results alone
        assert total.numpy().tolist() == [2.0 * i + 1] * 3
        assert same.numpy().tolist() == [float(i)] * 3
        assert constant.numpy().tolist() == [7.0]
    assert len(recorders) == 2  # one rehearsed, one recorded
    assert recorders[1]().replays == 5
    assert explanation(f).endswith("replayed 4 times")


def test_variables_are_updated_and_results_from_before_stay(recorders):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([10.0])

    @captured
    def f(x):
        before = v.read_value()
        v.assign_add(x)
        return before, v.read_value(), w * x[0]

    want = np.array([1.0, 2.0])
    for i in range(8):
        before, after, product = f(tf.constant([1.0, float(i)]))
        np.testing.assert_array_equal(before.numpy(), want)
        want = want + [1.0, i]
        np.testing.assert_array_equal(after.numpy(), want)
        np.testing.assert_array_equal(v.numpy(), want)
        np.testing.assert_array_equal(product.numpy(), [10.0])
    assert len(recorders) == 2


@pytest.mark.parametrize("size", [3, 1 << 13])  # small values are replaced, large ones change in place
def test_variables_that_trade_places(recorders, size):
    a, b = tf.Variable(tf.zeros([size])), tf.Variable(tf.ones([size]))

    @captured
    def swap():
        held = a.read_value()
        a.assign(b)
        b.assign(held)
        b.assign_add(tf.ones([size]))

    x, y = 0.0, 1.0
    for _ in range(9):
        swap()
        x, y = y, x + 1.0
        assert (a.numpy()[0], b.numpy()[-1]) == (x, y)
    assert len(recorders) == 2


def test_another_tensor_assigned_is_copied_to_the_recorded_place(recorders):
    v = tf.Variable([1.0, 2.0])
    f = captured(lambda: v * 3.0)
    called(f)
    given = tf.constant([5.0, 6.0])
    v.assign(given)
    assert f().numpy().tolist() == [15.0, 18.0]
    v.assign_add([1.0, 1.0])
    assert f().numpy().tolist() == [18.0, 21.0]
    assert given.numpy().tolist() == [5.0, 6.0]
    assert len(recorders) == 2


def test_a_value_that_somebody_keeps_is_never_written_to(recorders):
    v = tf.Variable([0.0, 0.0])

    @captured
    def f():
        v.assign_add([1.0, 2.0])

    called(f)
    kept = v.read_value()
    view = tf.reshape(kept, [2, 1])
    f()
    f()
    assert kept.numpy().tolist() == [4.0, 8.0]
    assert view.numpy().tolist() == [[4.0], [8.0]]
    assert v.numpy().tolist() == [6.0, 12.0]
    assert len(recorders) == 3  # recorded again, elsewhere
    assert "replayed 1 times" in explanation(f)


def test_a_trace_whose_variables_are_always_kept_stays_uncaptured(recorders, caplog):
    v = tf.Variable([0.0])

    @captured
    def f():
        v.assign_add([1.0])

    history = []
    for _ in range(WARM_UPS + MOST_RECORDINGS + 3):
        f()
        history.append(v.read_value())
    assert [h.numpy()[0] for h in history] == list(range(1, len(history) + 1))
    assert len(recorders) == 1 + MOST_RECORDINGS
    assert "are kept by others" in explanation(f)
    assert len(warnings_of(caplog)) == 1


def test_functions_share_the_memory_of_a_variable(recorders):
    v = tf.Variable([1.0, 1.0])

    @captured
    def train(x):
        v.assign_sub(0.5 * x)

    evaluate = captured(lambda x: tf.reduce_sum(v * x))
    x = tf.ones([2])
    want = 1.0
    for _ in range(8):
        train(x)
        want -= 0.5
        assert float(evaluate(x)) == 2 * want
    assert len(recorders) == 4


def test_random_numbers_are_others_at_each_replay(recorders):
    f = captured(lambda: tf.random.normal([4]) + tf.random.uniform([4]))
    drawn = [tuple(f().numpy()) for _ in range(8)]
    assert len(set(drawn)) == 8
    assert len(recorders) == 2


def test_other_shapes_than_were_recorded_run_uncaptured(recorders):
    f = captured(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([2], tf.float32))
    called(f, tf.zeros([2]))
    assert f(tf.zeros([3])).numpy().tolist() == [1.0, 1.0, 1.0]
    assert f(tf.zeros([2])).numpy().tolist() == [1.0, 1.0]
    assert len(recorders) == 2


def _train(attributes, steps=8):
    tf.random.set_seed(None)
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=(8, 8)).astype("f") / 3) for _ in range(10)]
    slots = [[tf.Variable(tf.zeros([8, 8])) for _ in weights] for _ in range(2)]
    count = tf.Variable(0.0)

    @tf.function(experimental_attributes=attributes)
    def step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.tanh(tf.matmul(h, w))
            loss = tf.reduce_mean(tf.square(h - 1.0))
        count.assign_add(1.0)
        rate = 0.01 * tf.sqrt(1.0 - tf.pow(0.999, count)) / (1.0 - tf.pow(0.9, count))
        for w, m, v, g in zip(weights, *slots, tape.gradient(loss, weights), strict=True):
            m.assign_add((g - m) * 0.1)
            v.assign_add((tf.square(g) - v) * 0.001)
            w.assign_sub(rate * m / (tf.sqrt(v) + 1e-7))
        return loss

    losses = [step(tf.constant(rng.normal(size=(4, 8)).astype("f"))) for _ in range(steps)]
    return [t.numpy() for t in (*losses, *weights, *slots[0], *slots[1], count)], step


def test_a_training_step_with_adam_gives_what_it_gives_uncaptured(recorders):
    got, step = _train({"cuda_graph": "auto"})
    want, plain = _train({"cuda_graph": False})
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-6, atol=1e-7)
    assert "in a CUDA graph, replayed 4 times" in explanation(step)
    assert explanation(plain) == "not captured: it is not to be"


def test_gradients_through_a_call_come_from_an_uncaptured_one(recorders):
    v = tf.Variable([2.0])
    f = captured(lambda x: v * x * x)
    x = tf.constant([3.0])
    called(f, x)
    replays = recorders[1]().replays
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    of_x, of_v = tape.gradient(y, [x, v])
    assert (float(of_x[0]), float(of_v[0])) == (12.0, 9.0)
    assert recorders[1]().replays == replays
    assert float(f(x)[0]) == 18.0


def test_functions_called_in_a_captured_one_are_part_of_it(recorders):
    v = tf.Variable(1.0)

    @captured
    def inner(x):
        v.assign_add(x)
        return v * 2.0

    f = captured(lambda x: inner(x) + inner(x))
    x = tf.constant(1.0)
    assert [float(f(x)) for _ in range(7)] == [2 * (4.0 * i + 1) for i in range(1, 8)]
    assert "in a CUDA graph" in explanation(f)


def wrong_in_threads(f, size, calls, context=contextlib.nullcontext):
    """The calls, of four threads at once, in which a function did not double its argument."""
    wrong = []

    def work(number):
        with context():
            x = tf.fill([size], float(number))
            wrong.extend(i for i in range(calls) if not (f(x).numpy() == 2.0 * number).all())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_threads_take_turns(recorders):
    f = captured(lambda x: tf.tile(x[None], [64, 1]) * 2.0)
    called(f, tf.zeros([32]))
    assert not wrong_in_threads(f, 32, calls=200)
    assert recorders[1]().replays == 801


def test_a_call_while_another_thread_captures_runs_uncaptured(recorders):
    f = captured(lambda x: x + 1.0)
    called(f, tf.constant(1.0), times=WARM_UPS)
    with recordings.recording:
        assert float(f(tf.constant(1.0))) == 2.0
    assert len(recorders) == 1
    f(tf.constant(1.0))
    assert len(recorders) == 2


def test_a_recording_goes_with_its_function(recorders):
    v = tf.Variable([1.0])

    def make():
        f = captured(lambda x: v * x)
        called(f, tf.constant([1.0]))

    make()
    gc.collect()
    assert [r() for r in recorders] == [None, None]
    assert vars(v)["_home"]() is None


def test_a_capture_that_fails_leaves_the_function_uncaptured(recorders, monkeypatch, caplog):
    def record(self, run):
        raise RuntimeError("operation not permitted when stream is capturing\nand more")

    monkeypatch.setattr(Recorder, "record", record)
    v = tf.Variable(0.0)

    @captured
    def count():
        v.assign_add(1.0)

    called(count, times=6)
    assert float(v) == 6.0
    assert explanation(count) == ("not captured: the capture failed: operation not permitted when stream is capturing")
    assert len(warnings_of(caplog)) == 1


def test_an_error_of_an_op_is_the_same_as_uncaptured(recorders):
    f = captured(lambda x, y: x + y).get_concrete_function(tf.TensorSpec([2]), tf.TensorSpec([2]))
    called(f, tf.zeros([2]), tf.zeros([2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        f(tf.zeros([2]), tf.zeros([3]))


# ---- what can't be captured ------------------------------------------------------------------------------------------

X = tf.TensorSpec([4], tf.float32)
N = tf.TensorSpec([], tf.int32)
V = tf.Variable([1.0, 2.0])


def _loop(x):
    while tf.reduce_sum(x) < 10.0:
        x = x * 2.0
    return x


def _print(x):
    tf.print(x)
    return x


def _check(x):
    tf.debugging.assert_positive(x)
    return x


def _next(x):
    for y in tf.data.Dataset.range(3):
        x = x + tf.cast(y, tf.float32)
    return x


@pytest.mark.parametrize(
    ("function", "specs", "why"),
    [
        (lambda x: x + 1.0, [tf.TensorSpec([None], tf.float32)], "'x' has a shape with unknown dimensions, (None,)"),
        (tf.strings.length, [tf.TensorSpec([], tf.string)], "is of dtype string, which no GPU can hold"),
        (lambda x: tf.strings.as_string(x), [X], "gives a tensor of dtype string"),
        (lambda x: tf.where(x > 0), [X], "Where gives a tensor whose shape, (None, 1), only its run can tell"),
        (lambda x: tf.boolean_mask(x, x > 0), [X], "only its run can tell"),
        (lambda x, n: tf.reduce_sum(x, n), [X, N], "takes its 'axis' from a tensor, which the host has to read"),
        (lambda x, n: tf.reshape(x, [n, 2]), [X, N], "takes its 'shape' from a tensor"),
        (lambda x: tf.cond(x[0] > 0, lambda: x, lambda: -x), [X], "chooses its branch on the host"),
        (_loop, [X], "decides on the host whether to go on"),
        (_print, [X], "StringFormat"),
        (_check, [X], "Assert"),
        (_next, [X], "AnonymousIteratorV3 does more than to compute its result"),
        (lambda x: tf.py_function(lambda y: y, [x], tf.float32), [X], "is run by Python"),
        (lambda x: tf.random.normal([2], seed=1) + x[:2], [X], "draws from the stream of a seed"),
        (lambda x: V.scatter_nd_update([[0]], x[:1]), [X], "is run by Python"),
    ],
)
def test_what_stands_in_the_way_is_named(function, specs, why):
    concrete = tf.function(function).get_concrete_function(*specs)
    assert why in obstacle(concrete.body.compiled.program) or why in concrete.explain_cuda_graph()
    assert concrete.explain_cuda_graph().startswith("not captured: there is no GPU here; and where there is one, ")


def test_what_stands_in_the_way_is_said_once_where_capturing_was_asked_for(recorders, caplog):
    f = captured(lambda x: tf.where(x > 0))
    called(f, tf.ones([2]))
    called(f, tf.ones([3]))
    (said,) = warnings_of(caplog)
    assert "it runs uncaptured, because Where gives a tensor whose shape" in said


def test_a_program_whose_run_looks_at_values_is_not_captured(recorders, monkeypatch):
    def rehearse(self, run, watch, uses):
        with watch:
            return run()

    monkeypatch.setattr(Recorder, "rehearse", rehearse)
    f = captured(lambda x: tf.linalg.inv(x + 1.0))
    assert called(f, tf.eye(2)).shape == (2, 2)
    assert explanation(f) == "not captured: MatrixInverse reads a value on the host"


def test_the_watch_sees_what_the_host_asks_for():
    x, cpu = torch.arange(3.0), torch.device("cpu")
    for look, why in [
        (lambda: x[0].item(), "reads a value on the host"),
        (lambda: torch.equal(x, x), "reads a value on the host"),
        (lambda: x[x > 1], "takes elements by a mask"),
        (lambda: torch.nonzero(x), "shape depends on values"),
        (lambda: x.to("meta"), "copies between devices"),
        (lambda: torch.linalg.inv(torch.eye(2)), "reads a value on the host"),
        (lambda: x[torch.tensor([0, 1])] + x.sum() * 2, None),
    ]:
        with Watch(cpu, lambda: None) as watch:
            look()
        assert (watch.obstacle is None) if why is None else why in watch.obstacle


def test_the_watch_sees_indices_that_are_elsewhere():
    x = torch.ones(3, device="meta")
    with Watch(torch.device("meta"), lambda: None) as watch:
        _ = x[torch.tensor([0, 1], device="meta")] + x.to("meta")[0]
    assert watch.obstacle is None
    with Watch(torch.device("meta"), lambda: None) as watch:
        _ = x[torch.tensor([0, 1])]
    assert watch.obstacle.endswith("copies between devices")


def test_tensors_from_before_are_kept_as_long_as_what_was_captured():
    before, argument = torch.ones(3), torch.ones(3)
    with Keep({argument.untyped_storage().data_ptr()}) as keep:
        made = torch.add(before, argument)
        torch.stack([made, before, made * 2.0]).sum()
    assert [t is before for t in keep.tensors] == [True]


def test_only_many_small_kernels_are_captured_unasked(recorders):
    few = tf.function(lambda x: x * 2.0 + 1.0)
    called(few, tf.ones([3]))
    assert explanation(few) == "not captured: it has 2 kernels, and 16 are worth it"

    def chain(x):
        for _ in range(20):
            x = tf.sin(x) + 1.0
        return x

    many, large = tf.function(chain), tf.function(chain).get_concrete_function(tf.TensorSpec([1 << 21], tf.float32))
    called(many, tf.ones([3]))
    assert explanation(many).startswith("captured: 40 kernels in a CUDA graph")
    assert "and take longer than their launch" in large.explain_cuda_graph()
    assert len(recorders) == 2


# ---- the option ------------------------------------------------------------------------------------------------------


def test_the_option_of_a_function():
    for attributes, said in [
        ({"implements": "x"}, "`implements is not supported by tf.function as an attribute."),
        ({"cuda_graph": "yes"}, "must be True, False or"),
    ]:
        with pytest.raises(ValueError, match=said):
            tf.function(lambda x: x, experimental_attributes=attributes)
    assert float(tf.function(lambda x: x, experimental_attributes={"_noinline": True})(1.0)) == 1.0


def test_the_option_of_a_process(recorders, monkeypatch):
    monkeypatch.setattr(settings, "optimizer_options", {})
    with pytest.raises(ValueError, match="cuda_graphs"):
        tf.config.optimizer.set_experimental_options({"cuda_graphs": "no"})
    for mode, count in [(False, 0), (True, 2)]:
        tf.config.optimizer.set_experimental_options({"cuda_graphs": mode})
        called(tf.function(lambda x: x + 1.0), tf.constant(1.0))
        assert len(recorders) == count


def test_where_there_is_no_gpu_functions_are_what_they_were(caplog):
    f = captured(lambda x: x + 1.0)
    called(f, tf.constant(1.0))
    assert type(f.get_concrete_function(tf.constant(1.0)).body.compiled).__name__ == "Compiled"
    assert warnings_of(caplog) == ["tf.function <lambda>, cuda_graph=True: it runs uncaptured, because there is no GPU "
                                   "here."]  # fmt: skip


def test_compiled_functions_are_not_captured(recorders, caplog):
    f = tf.function(lambda x: x, jit_compile=True, experimental_attributes={"cuda_graph": True})
    concrete = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert "jit_compile" in concrete.explain_cuda_graph()
    assert "because it has jit_compile=True" in warnings_of(caplog)[0]


# ---- on a GPU --------------------------------------------------------------------------------------------------------


def _seconds(step, x, count=50):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step(x)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / count


@pytest.mark.gpu
def test_a_training_step_on_a_gpu_is_captured_and_faster():
    got, step = _train({"cuda_graph": "auto"}, steps=20)
    want, plain = _train({"cuda_graph": False}, steps=20)
    assert "in a CUDA graph, replayed 16 times" in explanation(step)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-6)
    x = tf.ones([4, 8])
    assert _seconds(step, x) < _seconds(plain, x)


@pytest.mark.gpu
def test_random_numbers_on_a_gpu_are_others_at_each_replay():
    f = captured(lambda: tf.random.normal([1000]))
    drawn = np.array([f().numpy() for _ in range(10)])
    assert "in a CUDA graph" in explanation(f)
    assert len(np.unique(drawn)) > 9900
    assert abs(drawn.mean()) < 0.05 and abs(drawn.std() - 1) < 0.05


@pytest.mark.gpu
def test_a_kernel_that_looks_at_values_on_a_gpu_is_found(caplog):
    f = captured(lambda x: tf.linalg.inv(x) + tf.one_hot(tf.argmax(x, 1), 3))
    x = tf.eye(3)
    called(f, x, times=6)
    assert explanation(f).startswith(("captured", "not captured: "))
    assert "capture failed" not in explanation(f)
    np.testing.assert_allclose(f(x).numpy(), 2 * np.eye(3))


@pytest.mark.gpu
def test_the_memory_of_graphs_on_a_gpu_goes_with_their_functions():
    def make():
        f = captured(lambda x: tf.matmul(x, x) + 1.0)
        called(f, tf.ones([256, 256]), times=6)
        assert "in a CUDA graph" in explanation(f)

    make()  # what libraries take once
    gc.collect()
    before = torch.cuda.memory_allocated()
    for _ in range(5):
        make()
    gc.collect()
    assert torch.cuda.memory_allocated() <= before
    assert not cuda_graphs._pools


@pytest.mark.gpu
def test_threads_on_streams_of_their_own_take_turns_on_a_gpu():
    f = captured(lambda x: tf.tile(x[None], [256, 1]) * 2.0)
    called(f, tf.zeros([1024]))
    assert not wrong_in_threads(f, 1024, calls=100, context=lambda: torch.cuda.stream(torch.cuda.Stream()))
