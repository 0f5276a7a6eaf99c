"""What a machine without a GPU can tell of programs on one, see `pretended_gpu.py`. The op table runs on a real one
under `pytest -m gpu`."""

import numpy as np
import pytest

import op_table
import tapeflow as tf
from pretended_gpu import Pretended, pretended_gpu
from tapeflow.core.ops import kernels
from tapeflow.graph.backends import graph_source, torch_compile

# What TensorFlow keeps in the host's memory, too.
ON_THE_HOST = {"rank", "shape_n"}


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    with pretended_gpu(monkeypatch):
        yield


@pytest.fixture
def sources(monkeypatch):
    """The functions that `torch.compile` would get, which run as they are."""
    found = []

    def compiled(self, function, **options):
        found.append(function)
        return function

    monkeypatch.setattr(torch_compile.TorchCompile, "compile", compiled)
    monkeypatch.setattr(graph_source, "opaque", graph_source.run_opaque)  # torch has no op for pretended tensors
    return found


@pytest.fixture
def on_the_cpu(monkeypatch):
    """The names of the ops that were computed on the CPU after all."""
    found = set()
    compute = kernels._on_the_cpu

    def noted(op, kernel, values):
        found.add(op.name)
        return compute(op, kernel, values)

    monkeypatch.setattr(kernels, "_on_the_cpu", noted)
    return found


def tensors_in(value):
    return [t.value for t in tf.nest.flatten(value, expand_composites=True) if isinstance(t, tf.Tensor)]


@pytest.mark.parametrize("row", [r for r in op_table.all_rows() if r.reference is not None], ids=str)
def test_ops_stay_on_the_gpu(row, on_the_cpu):
    dtype = "float32" if "float32" in row.dtypes else row.dtypes[0]
    for args, kwargs in row.samples:
        given = [op_table.cast(a, dtype) for a in args], {k: op_table.cast(v, dtype) for k, v in kwargs.items()}
        result = row.function(*given[0], **given[1])
        if str(row) not in ON_THE_HOST and any(isinstance(t, Pretended) for t in tensors_in(given)):
            assert all(isinstance(t, Pretended) for t in tensors_in(result))
        op_table.check_values(row, args, kwargs, dtype)
    assert not on_the_cpu


@pytest.mark.parametrize("row", [r for r in op_table.all_rows() if r.gradient and r.samples], ids=str)
def test_gradients_stay_on_the_gpu(row, on_the_cpu):
    args, kwargs = row.samples[0]
    given, named = (
        [op_table.cast(a, "float64") for a in args],
        {k: op_table.cast(v, "float64") for k, v in kwargs.items()},
    )
    found = op_table._gradients(row.function, given, named, op_table._differentiated(row, args), seed=7)
    assert all(isinstance(g.value, Pretended) for g in found)
    assert not on_the_cpu


def test_where_values_are():
    x = tf.constant([1.0, 2.0])
    assert x.device == "/job:localhost/replica:0/task:0/device:GPU:0"
    assert isinstance(x.value, Pretended) and not isinstance(x.cpu().value, Pretended)
    assert x.cpu().gpu().device == x.device
    assert x.numpy().tolist() == [1.0, 2.0]
    with tf.device("CPU:0"):
        assert (x + 1.0).device.endswith("CPU:0")
    assert (x.cpu() + x).device.endswith("GPU:0")


def test_variables_stay_where_they_were_made():
    v = tf.Variable(1.0)
    with tf.device("CPU:0"):
        w = tf.Variable([1.0, 2.0])
    for change in (lambda: v.assign(3.0), lambda: v.assign_add(1.0), lambda: w.assign(tf.constant([3.0, 4.0]))):
        change()
        assert v.device.endswith("GPU:0") and isinstance(v.read_value().value, Pretended)
        assert w.device.endswith("CPU:0") and not isinstance(w.read_value().value, Pretended)
    assert (float(v), w.numpy().tolist()) == (4.0, [3.0, 4.0])


def test_functions_bring_together_what_is_on_several_devices():
    with tf.device("CPU:0"):
        there = tf.constant(np.ones(200, "f"))

    @tf.function
    def f(x):
        with tf.device("CPU:0"):
            y = x * 2.0
        return y, y + x + there, tf.gather(x, [1, 0])

    x = tf.ones([200])
    for _ in range(3):
        y, total, taken = f(x)
        assert [t.device[-5:] for t in (y, total, taken)] == ["CPU:0", "GPU:0", "GPU:0"]
        assert float(total[7]) == 4.0
    assert [op.device for op in f.get_concrete_function(x).graph.get_operations() if op.type == "Mul"] == [
        "/device:CPU:0"
    ]


def test_strings_and_ragged_tensors_meet_what_is_on_the_gpu():
    names = tf.constant(["a", "b", "c"])
    assert tf.gather(names, tf.constant([2, 0])).numpy().tolist() == [b"c", b"a"]
    assert tf.function(tf.gather)(names, tf.constant([1])).numpy().tolist() == [b"b"]
    assert tf.strings.as_string(tf.constant([1, 2])).numpy().tolist() == [b"1", b"2"]
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    assert (ragged + [[1.0], [2.0]]).to_list() == [[2.0], [4.0, 5.0]]
    assert ragged.to_tensor().numpy().tolist() == [[1.0, 0.0], [2.0, 3.0]]


def test_a_dtype_that_a_kernel_lacks_is_found_beside_a_number():
    assert (tf.constant([1, 2**63], tf.uint64) > 5).numpy().tolist() == [False, True]


def test_a_kernel_that_needs_the_cpu_gets_it(on_the_cpu):
    x = tf.constant([3.0, 1.0, 2.0])
    y, _ = tf.nn.isotonic_regression(x, axis=0)
    assert on_the_cpu <= {"IsotonicRegression"}
    assert y.device.endswith("GPU:0")
    assert y.numpy().tolist() == [3.0, 1.5, 1.5]


def test_the_data_of_pipelines_is_on_the_cpu():
    dataset = tf.data.Dataset.from_tensor_slices(tf.range(4.0)).batch(2)
    assert [x.device[-5:] for x in dataset] == ["CPU:0", "CPU:0"]


def _optimizer_step(weights, slots, count):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.relu(tf.matmul(h, w))
            loss = tf.reduce_mean(tf.square(h - 1.0))
        count.assign_add(1.0)
        rate = 0.1 / tf.sqrt(count)
        for w, m, g in zip(weights, slots, tape.gradient(loss, weights), strict=True):
            m.assign_add((g - m) * (rate * 2.0))
            w.assign_sub(m * rate)
        return loss

    return step


def test_a_training_step_asks_the_gpu_for_nothing(monkeypatch):
    asked = []
    monkeypatch.setattr(Pretended, "item", lambda t: asked.append(t), raising=False)
    monkeypatch.setattr(Pretended, "tolist", lambda t: asked.append(t), raising=False)
    weights = [tf.Variable(0.9 * tf.eye(8)) for _ in range(5)]
    step = _optimizer_step(weights, [tf.Variable(tf.zeros([8, 8])) for _ in weights], tf.Variable(0.0))
    losses = [step(tf.ones([2, 8])) for _ in range(4)]
    assert not asked
    assert len({float(loss) for loss in losses}) == 4


def test_a_compiled_training_step_gives_what_it_gives_uncompiled(sources):
    def losses(**options):
        tf.random.set_seed(1)
        weights = [tf.Variable(0.9 * tf.eye(8)) for _ in range(5)]
        slots = [tf.Variable(tf.zeros([8, 8])) for _ in weights]
        step = tf.function(_optimizer_step(weights, slots, tf.Variable(0.0)), **options)
        return [float(step(tf.ones([2, 8]))) for _ in range(4)]

    np.testing.assert_allclose(losses(jit_compile=True), losses(), rtol=1e-6)
    assert len(sources) == 1


def test_arguments_on_the_cpu_are_copied_to_what_is_compiled(sources):
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda x: v * x, experimental_attributes={"cuda_graph": True})
    with tf.device("CPU:0"):
        inputs = [tf.constant([float(i), 1.0]) for i in range(6)]
    for i, x in enumerate(inputs):
        assert f(x).numpy().tolist() == [float(i), 2.0]
    assert f(inputs[0]).device.endswith("GPU:0")
    assert len(sources) == 1


def test_steps_on_another_device_stay_out_of_compiled_parts(sources):
    @tf.function(jit_compile=True)
    def f(x):
        with tf.device("CPU:0"):
            y = x * 2.0
        return y, x + 1.0

    x = tf.ones([3])
    for _ in range(3):
        y, z = f(x)
        assert [t.device[-5:] for t in (y, z)] == ["CPU:0", "GPU:0"]
    assert "Mul (mul) runs on /device:CPU:0" in f.get_concrete_function(x).explain_jit_compile()


def test_random_numbers_are_drawn_on_the_gpu_in_the_streams_of_eager_mode(sources):
    drawn = []
    for options in ({"jit_compile": True}, {}):
        tf.random.set_seed(1)
        f = tf.function(lambda x: tf.nn.dropout(x, 0.5) + tf.random.normal([4], seed=2), **options)
        drawn.append([f(tf.ones([4])).numpy().tolist() for _ in range(4)])
    assert drawn[0] == drawn[1]
    assert len({str(numbers) for numbers in drawn[0]}) == 4
    assert len(sources) == 1


def test_a_step_that_a_loop_over_an_iterator_calls_is_compiled(sources):
    v = tf.Variable([0.0])

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(x)
        return v * 2.0

    @tf.function
    def next_step(iterator):
        return step(next(iterator))

    iterator = iter(tf.data.Dataset.from_tensors([1.0]).repeat(8))
    assert [float(next_step(iterator)[0]) for _ in range(8)] == [2.0 * i for i in range(1, 9)]
    assert len(sources) == 1


def _cudnn():
    zeros = tf.zeros([1, 1, 1])
    return tf.raw_ops.CudnnRNNV3(
        input=zeros, input_h=zeros, input_c=zeros, params=zeros, sequence_lengths=tf.constant([1])
    ).output


def test_recurrent_layers_of_keras_do_without_cudnn():
    with pytest.raises(tf.errors.NotFoundError, match="No OpKernel"):
        tf.raw_ops.CudnnRNNV3(input=tf.zeros([1]), input_h=0, input_c=0, params=0, sequence_lengths=0)
    with pytest.raises(tf.errors.NotFoundError, match="No OpKernel"):
        tf.function(_cudnn).get_concrete_function()  # so that Keras goes on without


def test_of_functions_for_several_devices_all_can_be_traced():
    alternative = tf.function(_cudnn, experimental_attributes={"api_implements": "lstm"})
    assert alternative.get_concrete_function().output_dtypes == tf.float32
