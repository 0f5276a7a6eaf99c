"""Branches, loops, lists and variables of functions, in the runtime of .tflite files."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import lite_runtime
import tapeflow as tf
from lite_runtime import check, codes, convert, run

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def test_branches_are_subgraphs():
    w = tf.Variable(tf.ones([4, 2]))

    def f(x, flag):
        return tf.cond(flag, lambda: tf.nn.relu(x @ w), lambda: -x[:, :2])

    content = convert(f, tf.TensorSpec([None, 4]), tf.TensorSpec([], tf.bool))
    assert codes(content) == {"IF": 1}
    for flag in (True, False):
        (got,) = run(content, X, np.array(flag))
        np.testing.assert_allclose(got, f(tf.constant(X), tf.constant(flag)), rtol=1e-6)


@pytest.mark.parametrize("index", [0, 1, 2, 7])
def test_case_is_a_chain_of_branches(index):
    def f(x, i):
        return tf.switch_case(i, [lambda: x + 1.0, lambda: x * 3.0, lambda: tf.zeros_like(x)])

    content = convert(f, tf.TensorSpec([None, 4]), tf.TensorSpec([], tf.int32))
    (got,) = run(content, X, np.array(index, np.int32))
    np.testing.assert_allclose(got, f(tf.constant(X), tf.constant(index)))


def test_python_statements():
    @tf.function
    def f(x, n):
        total = tf.zeros_like(x)
        i = 0
        while i < n:
            if tf.reduce_sum(total) > 10.0:
                total -= x
            else:
                total += x * tf.cast(i, tf.float32)
            i += 1
        return total, i

    content = convert(f, tf.TensorSpec([None, 4]), tf.TensorSpec([], tf.int32))
    assert codes(content)["WHILE"] == 1
    for n in (0, 1, 9):
        got = run(content, np.abs(X), np.array(n, np.int32))
        want = f(tf.constant(np.abs(X)), tf.constant(n))
        np.testing.assert_allclose(got[0], want[0], rtol=1e-6)
        assert got[1] == want[1]


def test_loop_with_a_limit():
    def f(x):
        return tf.while_loop(lambda v: tf.reduce_max(v) < 100.0, lambda v: (v * 2.0,), [x], maximum_iterations=3)[0]

    check(f, np.abs(X) + 0.1)


@pytest.mark.parametrize("batch", [True, False])
def test_lists_in_loops(batch):
    w = tf.constant(np.eye(4, dtype=np.float32) * 0.5)

    @tf.function
    def f(x):
        steps = tf.TensorArray(tf.float32, size=5)
        state = x
        for i in tf.range(5):
            state = tf.tanh(state @ w)
            steps = steps.write(i, state)
        return tf.transpose(steps.stack(), [1, 0, 2])

    check(f, X, batch=batch)


def test_lists_of_inputs():
    @tf.function
    def f(x):
        rows = tf.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
        total = tf.zeros([4])
        for i in tf.range(tf.shape(x)[0]):
            total = total * 0.5 + rows.read(i)
        return total

    check(f, X)


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize("sequences", [True, False])
def test_recurrent_layers(layer, sequences):
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential(
        [tf.keras.Input([6, 3]), getattr(tf.keras.layers, layer)(5, return_sequences=sequences)]
    )
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    for batch in (1, 4):
        x = np.random.default_rng(0).standard_normal([batch, 6, 3]).astype(np.float32)
        lite_runtime.assert_close(run(content, x)[0], model(x).numpy(), 1e-5)


def test_variables_keep_their_values_between_calls():
    class Counter(tf.Module):
        def __init__(self):
            self.total = tf.Variable([1.0, 2.0])

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def add(self, x):
            self.total.assign_add(x)
            return self.total * 1.0

        @tf.function(input_signature=[])
        def value(self):
            return self.total.read_value()

    counter = Counter()
    functions = [counter.add.get_concrete_function(), counter.value.get_concrete_function()]
    content = tf.lite.TFLiteConverter.from_concrete_functions(functions, counter).convert()
    interpreter = tf.lite.Interpreter(model_content=content)
    add, value = interpreter.get_signature_runner("add"), interpreter.get_signature_runner("value")
    x = np.array([1.0, 1.0], np.float32)
    assert add(x=x)["output_0"].tolist() == [2.0, 3.0]
    assert add(x=x)["output_0"].tolist() == [3.0, 4.0]
    assert value()["output_0"].tolist() == [3.0, 4.0]
    assert counter.total.numpy().tolist() == [1.0, 2.0]


def test_scatters_into_variables():
    class Memory(tf.Module):
        def __init__(self):
            self.rows = tf.Variable(tf.zeros([4, 2]))

        @tf.function(input_signature=[tf.TensorSpec([2, 2])])
        def write(self, x):
            self.rows.scatter_nd_update([[3], [1]], x)
            self.rows.scatter_nd_add([[1]], x[:1])
            return self.rows.read_value()

    memory = Memory()
    content = convert(memory.write)
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    np.testing.assert_allclose(run(content, x)[0], memory.write(x))


def test_a_branch_that_is_known():
    training = tf.constant(False)

    def f(x):
        return tf.cond(training, lambda: tf.linalg.inv(x), lambda: x * 2.0)

    assert codes(convert(tf.autograph.experimental.do_not_convert(f), tf.TensorSpec([2, 2]))) == {"MUL": 1}


def test_a_list_that_grows():
    @tf.function
    def f(x):
        steps = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(tf.shape(x)[0]):
            steps = steps.write(i, x[i] * 2.0)
        return steps.stack()

    check(f, X)
