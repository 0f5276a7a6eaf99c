"""Python can't read a variable while a function is traced: the trace would contain today's value for ever.

The errors are recorded from TensorFlow.
"""

import copy
import math
import pickle

import keras
import numpy as np
import pytest

import tapeflow as tf

NO_NUMPY = NotImplementedError, r"numpy\(\) is only available when eager execution is enabled"
NO_COPY = NotImplementedError, r"__deepcopy__\(\) is only available when eager execution is enabled"
NO_NUMBER = AttributeError, "'SymbolicTensor' object has no attribute 'numpy'"
NO_BOOL = tf.errors.OperatorNotAllowedInGraphError, "as a Python `bool` is not allowed"
NO_LEN = TypeError, r"object of type 'ResourceVariable' has no len\(\)"
NO_FORMAT = TypeError, "unsupported format string"

v = tf.Variable(2.0)
matrix = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
count = tf.Variable(3)
flag = tf.Variable(True)
text = tf.Variable("a")
generator = tf.random.Generator.from_seed(1)
layer = keras.layers.Dense(1)
layer.build((None, 2))
optimizer = keras.optimizers.SGD(0.5)

READS = {
    "numpy": (lambda: v.numpy(), NO_NUMPY),
    "numpy of strings": (lambda: text.numpy(), NO_NUMPY),
    "np.array": (lambda: np.array(v), NO_NUMPY),
    "np.asarray": (lambda: np.asarray(matrix), NO_NUMPY),
    "np.sum": (lambda: np.sum(matrix), NO_NUMPY),
    "np.size": (lambda: np.size(matrix), NO_NUMPY),
    "np.float32": (lambda: np.float32(v), NO_NUMPY),
    "a condition": (lambda: 1 if v.numpy() > 3 else 2, NO_NUMPY),
    "pickle": (lambda: pickle.dumps(v), NO_NUMPY),
    "deepcopy": (lambda: copy.deepcopy(v), NO_COPY),
    "an assignment's result": (lambda: v.assign(2.0).numpy(), NO_NUMPY),
    "value().numpy": (lambda: v.value().numpy(), NO_NUMBER),
    "float": (lambda: float(v), NO_NUMBER),
    "int": (lambda: int(count), NO_NUMBER),
    "complex": (lambda: complex(v), NO_NUMBER),
    "%": (lambda: "%.1f" % v, NO_NUMBER),  # noqa: UP031
    "math": (lambda: math.sqrt(v), NO_NUMBER),
    "an assignment as float": (lambda: float(v.assign(2.0)), NO_NUMBER),
    "bool": (lambda: bool(flag), NO_BOOL),
    "not": (lambda: not flag, NO_BOOL),
    "len": (lambda: len(matrix), NO_LEN),
    "format": (lambda: f"{v:.1f}", NO_FORMAT),
    "the state of a generator": (lambda: generator.state.numpy(), NO_NUMPY),
    "Keras's variable": (lambda: layer.kernel.numpy(), NO_NUMPY),
    "Keras's variable in np.array": (lambda: np.array(layer.kernel), NO_NUMPY),
    "Keras's learning rate": (lambda: float(optimizer.learning_rate), NO_NUMBER),
    "get_weights": (lambda: layer.get_weights(), NO_NUMPY),
    "convert_to_numpy": (lambda: keras.ops.convert_to_numpy(layer.kernel), NO_NUMPY),
}


@pytest.mark.parametrize("name", READS)
def test_python_reads_no_variable_while_a_function_is_traced(name):
    read, (error, message) = READS[name]

    @tf.function(autograph=False)
    def f():
        read()
        return 0

    with pytest.raises(error, match=message):
        f()


@pytest.mark.parametrize("name", [n for n, (_, expected) in READS.items() if expected not in (NO_LEN, NO_FORMAT)])
def test_python_reads_variables_in_an_init_scope(name):
    @tf.function(autograph=False)
    def f():
        with tf.init_scope():
            read, _ = READS[name]
            read()
        return 0

    f()


def test_python_reads_no_variable_in_the_function_of_a_dataset():
    with pytest.raises(NotImplementedError, match="numpy"):
        tf.data.Dataset.range(2).map(lambda x: tf.cast(x, tf.float32) * v.numpy())


def test_python_reads_no_variable_in_the_step_of_fit():
    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, x):
            self.dense(x)
            return x * np.sum(self.dense.get_weights()[0])

    model = Model()
    model.compile("sgd", "mse")
    with pytest.raises(NotImplementedError, match="numpy"):
        model.fit(np.ones([4, 2]), np.ones([4, 2]), verbose=0)


def test_python_reads_no_copies_of_a_variable_while_a_function_is_traced():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        copies = tf.Variable(1.0)
    for read in (copies.numpy, lambda: np.array(copies)):
        with pytest.raises(NotImplementedError, match=r"DistributedVariable.numpy\(\) is only available"):
            tf.function(read, autograph=False)()


def test_constants_from_outside_have_values_while_a_function_is_traced():
    x = tf.constant(2.0)
    f = tf.function(lambda: tf.constant(0.0) + x.numpy() + float(x) + np.array(x), autograph=False)
    assert f().numpy() == 6.0


def test_what_needs_no_value_works_while_a_function_is_traced():
    seen = []

    @tf.function(autograph=False)
    def f():
        seen.extend([str(v), f"{v}", copy.copy(v) is v, np.shape(matrix), v.shape, tf.get_static_value(v)])
        return v * 2.0

    assert f().numpy() == 4.0
    assert seen == [*["<tf.Variable 'Variable:0' shape=() dtype=float32>"] * 2, True, (2, 2), tf.TensorShape([]), None]
