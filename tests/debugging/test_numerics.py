"""`tf.debugging.enable_check_numerics` sees every op, and names it with the lines of the user's code."""

import re
import threading

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
Invalid = tf.errors.InvalidArgumentError


@pytest.fixture(autouse=True)
def checks():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def message_of(run, *args):
    with pytest.raises(Invalid) as caught:
        run(*args)
    return str(caught.value)


def test_the_message_of_an_eager_op():  # as TensorFlow's, and the first index and the range of inputs besides
    assert message_of(tf.math.log, tf.constant([-1.0, 0.0, 2.0])).splitlines()[2:] == [
        '!!! Detected Infinity or NaN in output 0 of eagerly-executing op "Log" (# of outputs: 1) !!!',
        "  dtype: <dtype: 'float32'>",
        "  shape: (3,)",
        "  # of -Inf elements: 1",
        "  # of +NaN elements: 1",
        "  first at index: [0]",
        "",
        "  Input tensor: tf.Tensor([-1.  0.  2.], shape=(3,), dtype=float32)",
        "  Range of input 0: -1 to 2",
        "",
        " : Tensor had -Inf and NaN values [Op:CheckNumericsV2] name: ",
    ]


def test_the_message_of_several_inputs():
    text = message_of(tf.divide, tf.constant([1.0, 0.0], tf.float64), tf.constant([0.0, 0.0], tf.float64))
    assert "  Input tensors (2):\n         0: tf.Tensor([1. 0.], shape=(2,), dtype=float64)\n         1: " in text
    assert " : Tensor had +Inf and NaN values" in text


def test_the_message_of_an_operation_shows_the_source():
    @tf.function
    def f(x):
        a = x - 1.0
        return tf.math.log(a)  # the user's line

    text = message_of(f, tf.constant([2.0, 0.5]))
    assert text.startswith("Graph execution error:\n\nDetected at node Log defined at (most recent call last):\n")
    source = r"      return tf.math.log\(a\)  # the user's line\n"
    assert re.search(rf'  File "{re.escape(__file__)}", line \d+, in f\n{source}', text)
    assert '!!! Detected Infinity or NaN in output 0 of graph op "Log" (# of outputs: 1) !!!\n' in text
    assert "  # of +NaN elements: 1\n  first at index: [1]\n" in text
    assert '  Input tensor: Tensor("sub:0", shape=(2,), dtype=float32)\n  Range of input 0: -0.5 to 1\n' in text
    assert '  Graph name: "f"\n\n : Tensor had NaN values\n\t [[{{node Log}}]] [Op:__inference_f_' in text


def hides(x):
    y = tf.math.log(x)
    return tf.where(tf.math.is_finite(y), y, 0.0)


def in_branch(x):
    if x[0] > 0.0:
        y = tf.math.log(x)
    else:
        y = x
    return tf.argmax(y)


def in_loop(x):
    for _ in tf.range(3):
        x = tf.math.log(x)
    return x


def in_condition(x):
    while tf.math.is_finite(tf.math.log(x)[1]):
        x = x + 1.0
    return x


def in_nested_function(x):
    return tf.function(hides)(x) + tf.function(hides)(x)


def unused(x):
    tf.math.log(x)
    return x


def of_constant(x):
    return hides(tf.constant([-1.0, 1.0])) + x


def in_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(tf.nn.relu(x))
    return tf.zeros_like(tape.gradient(y, x))


def in_gradient_of_loop(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.relu(x)
        for _ in tf.range(2):
            y = tf.sqrt(y)
    return tf.zeros_like(tape.gradient(y, x))


def on_slices(x):
    return tf.vectorized_map(hides, x)


def of_neutral_operand(x):
    return tf.argmax(x * np.float32("nan") * 1.0)


def in_jacobian(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.map_fn(lambda v: tf.sqrt(tf.nn.relu(v)), x)
    return tf.zeros_like(tape.jacobian(y, x))


def in_map_fn(x):
    return tf.map_fn(hides, x)


FUNCTIONS = [
    (hides, "Log"), (in_branch, "Log"), (in_loop, "Log"), (in_condition, "Log"), (in_nested_function, "Log"),
    (unused, "Log"), (of_constant, "Log"), (in_gradient, "SqrtGrad"), (in_gradient_of_loop, "SqrtGrad"),
    (on_slices, "Log"), (in_map_fn, "Log"), (in_jacobian, "SqrtGrad"), (of_neutral_operand, "Mul"),
]  # fmt: skip


@pytest.mark.parametrize("jit", [None, True], ids=["plain", "jit"])
@pytest.mark.parametrize(("function", "op"), FUNCTIONS, ids=[f.__name__ for f, _ in FUNCTIONS])
def test_results_inside_functions_are_checked(function, op, jit):
    text = message_of(tf.function(function, jit_compile=jit), tf.constant([2.0, -1.0]))
    assert f'of graph op "{op}"' in text
    assert __file__ in text


@pytest.mark.parametrize(("function", "op"), FUNCTIONS, ids=[f.__name__ for f, _ in FUNCTIONS])
def test_good_numbers_pass(function, op):
    x = tf.constant([30.0, 20.0])
    if function not in (in_condition, of_constant, of_neutral_operand):
        checked = tf.function(function)(x)
        tf.debugging.disable_check_numerics()
        np.testing.assert_allclose(checked, tf.function(function)(x))


def test_a_variable_keeps_its_value():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        v.assign(v / x)

    assert 'op "RealDiv"' in message_of(step, tf.constant([1.0, 0.0]))
    assert v.numpy().tolist() == [1.0, 2.0]


def as_dataset(*numbers):
    return tf.data.Dataset.from_tensor_slices(tf.constant(numbers))


DATASETS = {
    "map": lambda: as_dataset(1.0, -1.0).map(hides),
    "parallel map": lambda: as_dataset(1.0, -1.0).map(hides, num_parallel_calls=2).prefetch(1),
    "many elements": lambda: as_dataset(*[-1.0] * 200).map(hides).batch(50),
    "filter": lambda: as_dataset(1.0, -1.0).filter(lambda x: hides(x) < 5.0),
    "scan": lambda: as_dataset(1.0, -1.0).scan(0.0, lambda s, x: (s, hides(x))),
    "flat_map": lambda: as_dataset(-1.0).flat_map(lambda x: tf.data.Dataset.from_tensors(hides(x))),
    "inner": lambda: as_dataset(-1.0).flat_map(lambda x: tf.data.Dataset.from_tensors(x).map(hides)),
    "take_while": lambda: as_dataset(1.0, -1.0).take_while(lambda x: hides(x) < 5.0),
}


@pytest.mark.parametrize("make", DATASETS.values(), ids=DATASETS)
def test_functions_of_datasets_are_checked(make):
    text = message_of(lambda: list(make()))
    assert 'of graph op "Log"' in text
    assert "      y = tf.math.log(x)" in text


class Log(keras.layers.Layer):
    def call(self, x):
        return tf.math.log(x - 100.0)  # the user's line


def test_fit_names_the_layer_and_the_line():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), Log(name="mine")])
    model.compile("sgd", "mse")
    text = message_of(lambda: model.fit(np.ones((8, 4)), np.ones((8, 3)), verbose=0))
    assert re.search(r"Detected at node \S*/mine_1/Log defined at", text)
    assert "      return tf.math.log(x - 100.0)  # the user's line\n" in text
    assert "  # of +NaN elements: 24\n" in text


@pytest.mark.parametrize("call", ["fit", "predict", "evaluate", "train_on_batch"])
def test_data_with_a_nan_is_found(call):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((8, 3), "float32")
    x[2, 1] = np.nan
    arguments = [x] if call == "predict" else [x, np.ones((8, 1))]
    options = {} if call == "train_on_batch" else {"verbose": 0}
    assert " : Tensor had NaN values" in message_of(lambda: getattr(model, call)(*arguments, **options))


def test_models_train():
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((8, 8, 3)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.Dropout(0.5), layers.Reshape((9, 4)), layers.LSTM(4, return_sequences=True),
        layers.LayerNormalization(), layers.GRU(4), layers.Dense(3, activation="softmax"),
    ])  # fmt: skip
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(np.random.default_rng(0).random((8, 8, 8, 3)), np.arange(8) % 3, batch_size=4, verbose=0)
    assert np.isfinite(history.history["loss"][0])


def test_a_function_that_was_traced_before_and_after():
    tf.debugging.disable_check_numerics()
    f = tf.function(hides)
    x = tf.constant([1.0, -1.0])
    assert f(x).numpy().tolist() == [0.0, 0.0]
    tf.debugging.enable_check_numerics()
    assert 'op "Log"' in message_of(f, x)
    assert 'op "Log"' in message_of(tf.function(f), x)
    tf.debugging.disable_check_numerics()
    assert f(x).numpy().tolist() == [0.0, 0.0]
    assert tf.function(f)(x).numpy().tolist() == [0.0, 0.0]
    assert f.experimental_get_tracing_count() == 2


def test_results_of_a_trace_without_checks_are_checked():
    tf.debugging.disable_check_numerics()
    concrete = tf.function(tf.math.log).get_concrete_function(tf.TensorSpec([], tf.float32))
    tf.debugging.enable_check_numerics()
    assert 'eagerly-executing op "' in message_of(concrete, tf.constant(-1.0))
    assert 'op "Log"' in message_of(tf.function(lambda x: concrete(x)), tf.constant(-1.0))


def test_other_threads_go_on():
    f = tf.function(hides)
    results = []

    def run():
        results.append(f(tf.constant([1.0, -1.0])).numpy().tolist())
        results.append(float(tf.math.log(tf.constant(0.0))))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert results == [[0.0, 0.0], float("-inf")]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_large_finite_numbers_pass(dtype):
    largest = tf.fill([1000], tf.as_dtype(dtype).max)
    assert bool(tf.reduce_all(tf.math.negative(largest) < 0))
    assert bool(tf.function(lambda x: tf.reduce_all(tf.math.negative(x) < 0))(largest))


def test_an_operand_with_a_nan_is_found_where_it_is_used():
    x = tf.constant([1.0, np.nan])
    for f in (lambda x: x * 1.0, lambda x: x + 0.0, lambda x: tf.argmax(tf.math.abs(x))):
        assert ": Tensor had NaN values" in message_of(tf.function(f), x)


def test_unused_ranges_do_not_run():  # AutoGraph replaces them
    @tf.function
    def f(start):
        total = 0.0
        for x in tf.range(start, 0.0, 1.0):
            total += x
        return total

    assert float(f(tf.constant(1.0))) == 0.0


def test_ops_that_pass_values_on_are_not_checked():  # TensorFlow's list
    low = tf.fill([2], float("-inf"))
    assert tf.function(lambda x: tf.reshape(tf.maximum(x, low), [1, 2]))(tf.ones([2])).numpy().tolist() == [[1.0, 1.0]]
    assert np.isinf(tf.identity(tf.reshape(low, [1, 2]))).all()
    assert np.isnan(tf.constant([1 + 0j]) / tf.constant([0j])).all()  # complex numbers aren't either
    assert tf.zeros([0, 3]).shape == [0, 3]


def test_a_call_is_not_differentiated_without_a_tape():
    s = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])  # the gradient of its op needs eager tensors
    joined = tf.function(lambda s: tf.sparse.to_dense(tf.sparse.concat(0, [s, s])))(s)
    assert joined.numpy().tolist() == [[1.0, 0.0], [0.0, 2.0]] * 2
