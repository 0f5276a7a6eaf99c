"""Recurrent layers, and loops written by hand like them, are compiled: the same values and gradients."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.graph.codegen.loop_kernel import Loop
from tapeflow.graph.transform.loop_gradients import LoopGradient

BATCH, STEPS, FEATURES, SIZE = 4, 6, 5, 3

MASKS = {
    "all": np.ones((BATCH, STEPS), bool),
    "ends": np.arange(STEPS) < np.array([[3], [6], [1], [4]]),
    "begins later": np.arange(STEPS) >= np.array([[3], [5], [1], [0]]),
    "holes": np.array([[1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 1], [1, 1, 1, 1, 1, 0]], bool),
    "rows without": np.arange(STEPS) < np.array([[0], [2], [0], [4]]),
    "none": np.zeros((BATCH, STEPS), bool),
}


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def run_layer(layer, x, mask=None, states=None):
    """A layer's outputs, and the gradients of all that they depend on."""
    variables = [*layer.trainable_variables, *(states or [])]
    with tf.GradientTape() as tape:
        tape.watch(x)
        initial = None if states is None else [1.0 * s for s in states]
        outputs = tf.nest.flatten(layer(x, mask=mask, initial_state=initial))
        loss = sum(tf.reduce_sum(tf.sin((i + 1.0) * y)) for i, y in enumerate(outputs))
    return outputs, tape.gradient(loss, [x, *variables])


@pytest.fixture
def machine_code(monkeypatch):
    """Fails if a loop or its gradient runs in Python."""

    def fail(*args):
        raise AssertionError("the loop runs in Python")

    monkeypatch.setattr(Loop, "__call__", fail)
    monkeypatch.setattr(LoopGradient, "_from_last", fail)


def check(layer, *args, dims=None, **kwargs):
    """Compares a layer with its own loop, as eager mode runs it."""
    layer.build((BATCH, STEPS, FEATURES))
    function = tf.function(lambda *args: run_layer(layer, *args, **kwargs))
    specs = [tf.TensorSpec(dims or a.shape, a.dtype) if i == 0 else a for i, a in enumerate(args)]
    concrete = function.get_concrete_function(*specs)
    for value, expected in zip(
        tf.nest.flatten(concrete(*args)), tf.nest.flatten(run_layer(layer, *args, **kwargs)), strict=True
    ):
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=2e-6)


def make(kind, **kwargs):
    return getattr(tf.keras.layers, kind)(SIZE, bias_initializer="random_normal", seed=1, **kwargs)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("form", ["last", "sequences", "backwards", "zeros", "states"])
def test_masks(kind, form, mask):
    layer = make(
        kind, return_sequences=form != "last", go_backwards=form == "backwards", return_state=form == "states",
        zero_output_for_mask=form == "zeros",
    )  # fmt: skip
    states = [tf.Variable(values(BATCH, SIZE, seed=i)) for i in range(1 + (kind == "LSTM"))]
    states = states if form == "states" else None
    check(layer, tf.constant(values(BATCH, STEPS, FEATURES)), tf.constant(MASKS[mask]), states=states)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("sequences", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_all_steps(kind, sequences, bias):
    layer = make(kind, return_sequences=sequences, use_bias=bias)
    check(layer, tf.constant(values(BATCH, STEPS, FEATURES)), dims=(None, STEPS, FEATURES))
    check(layer, tf.constant(values(BATCH, STEPS, FEATURES)), dims=(None, None, FEATURES))


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(
    "kind, options",
    [
        ("LSTM", {}),
        ("LSTM", {"activation": "relu"}),
        ("LSTM", {"recurrent_activation": "hard_sigmoid"}),
        ("GRU", {}),
        ("GRU", {"reset_after": False}),
        ("GRU", {"activation": "softsign"}),
        ("SimpleRNN", {}),
    ],
)
@pytest.mark.parametrize("dims", [(BATCH, 30, FEATURES), (None, 30, FEATURES), (None, None, FEATURES)])
def test_cells_in_machine_code(kind, options, dims):
    layer = make(kind, return_sequences=True, **options)
    check(layer, tf.constant(values(BATCH, 30, FEATURES)), dims=dims)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_masked_cells_in_machine_code(kind):
    layer, mask = make(kind), tf.constant(MASKS["holes"])
    check(layer, tf.constant(values(BATCH, STEPS, FEATURES)), mask, dims=(None, None, FEATURES))


@pytest.mark.parametrize("size", [3, 40, 300])
def test_sizes_that_change_between_calls(size):
    """Machine code is for the sizes of some calls. Weights of many elements have their products before the loop."""
    layer = tf.keras.layers.LSTM(size, return_sequences=True, seed=1)
    layer.build((None, None, size))
    compiled = tf.function(lambda x: run_layer(layer, x), input_signature=[tf.TensorSpec([None, None, size])])
    for batch, steps in ((2, 5), (2, 9), (1, 5), (3, 1), *[(3, 4)] * 9, (2, 5)):
        x = tf.constant(values(batch, steps, size))
        for value, expected in zip(tf.nest.flatten(compiled(x)), tf.nest.flatten(run_layer(layer, x)), strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5)


def check_second_order(layer, x, **tolerances):
    """Compares the gradients of a layer's gradients with those of its own loop."""
    layer.build(x.shape)

    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(tf.sin(layer(x)))
            gradients = tape.gradient(loss, [x, layer.trainable_variables[0]])
            norm = sum(tf.reduce_sum(g * g) for g in gradients)
        return outer.gradient(norm, [x, *layer.trainable_variables])

    for value, expected in zip(tf.function(second)(x), second(x), strict=True):
        np.testing.assert_allclose(value, expected, **tolerances)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_gradients_of_second_order(kind):
    layer = make(kind, return_sequences=True)
    check_second_order(layer, tf.constant(values(BATCH, STEPS, FEATURES)), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_other_dtypes(kind):
    layer = make(kind, dtype="float64")
    check(layer, tf.constant(values(BATCH, STEPS, FEATURES), tf.float64))


def test_a_limit_and_a_counter_that_begins_later():
    cell = make("LSTM").cell
    cell.build((BATCH, FEATURES))
    x = tf.constant(values(STEPS, BATCH, FEATURES))

    def layer(x, first, limit):
        inputs = tf.TensorArray(tf.float32, STEPS, element_shape=(BATCH, FEATURES)).unstack(x)
        outputs = tf.TensorArray(tf.float32, STEPS, element_shape=(BATCH, SIZE))
        zeros = tf.zeros((BATCH, SIZE))

        def step(i, outputs, h, c):
            h, (_, c) = cell(inputs.read(i), [h, c])
            return i + 1, outputs.write(i, h), h, c

        with tf.GradientTape() as tape:
            tape.watch(x)
            i, outputs, h, c = tf.while_loop(
                lambda i, *_: i < STEPS - 1, step, (first, outputs, zeros, zeros), maximum_iterations=limit
            )
            loss = tf.reduce_sum(tf.sin(outputs.stack())) + tf.reduce_sum(h * c)
        return i, outputs.stack(), h, c, tape.gradient(loss, cell.trainable_variables, unconnected_gradients="zero")

    compiled = tf.function(layer)
    concrete = compiled.get_concrete_function(x, tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32))
    for first, limit in ((0, 9), (2, 9), (1, 2), (2, 0), (5, 9)):
        numbers = tf.constant(first), tf.constant(limit)
        for value, expected in zip(
            tf.nest.flatten(concrete(x, *numbers)), tf.nest.flatten(layer(x, *numbers)), strict=True
        ):
            np.testing.assert_allclose(value, expected, rtol=2e-5, atol=2e-6)


def test_wrong_shapes_are_the_loops_errors():
    layer = make("LSTM")
    layer.build((BATCH, STEPS, FEATURES))
    x = tf.zeros((BATCH, STEPS, FEATURES))
    states = tf.TensorSpec([None, SIZE]), tf.TensorSpec([None, SIZE])
    function = tf.function(lambda x, *states: layer(x, initial_state=states)).get_concrete_function(x, *states)
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(x, tf.zeros((BATCH + 1, SIZE)), tf.zeros((BATCH + 1, SIZE)))


def lstm(x, states, w, u, b):
    h, c = states
    i, f, g, o = tf.split(x @ w + h @ u + b, 4, axis=1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c


def gru(x, states, w, u, b):
    (h,) = states
    inputs, recurrent = tf.split(x @ w + b, 3, axis=1), tf.split(h @ u, 3, axis=1)
    z, r = (tf.sigmoid(inputs[i] + recurrent[i]) for i in range(2))
    return (z * h + (1.0 - z) * tf.tanh(inputs[2] + r * recurrent[2]),)


# Where the entry of a step lies in the inputs.
ENTRIES = {
    "rows": (lambda x, t: x[t], 0),
    "columns": (lambda x, t: x[:, t], 1),
    "columns, and all features": (lambda x, t: x[:, t, :], 1),
    "gathered rows": (lambda x, t: tf.gather(x, t), 0),
    "gathered columns": (lambda x, t: tf.gather(x, t, axis=-2), -2),
    "from the end": (lambda x, t: x[STEPS - 1 - t], 0),
    "every other feature": (lambda x, t: x[t, :, ::2], 0),
}


@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("cell", [lstm, gru])
@pytest.mark.parametrize("first, last", [(0, STEPS), (2, STEPS - 1), (3, 3)])
def test_loops_written_by_hand_read_entries_of_tensors(entries, cell, first, last):
    entry, axis = ENTRIES[entries]
    gates = 4 if cell is lstm else 3
    features = (FEATURES + 1) // 2 if "every" in entries else FEATURES
    weights = [values(features, gates * SIZE), values(SIZE, gates * SIZE), values(gates * SIZE)]
    x = tf.constant(values(*((STEPS, BATCH) if axis == 0 else (BATCH, STEPS)), FEATURES))

    def layer(x, *weights):
        states = (tf.zeros([BATCH, SIZE]),) * (2 if cell is lstm else 1)
        with tf.GradientTape() as outer:
            outer.watch([x, *weights])
            with tf.GradientTape() as tape:
                tape.watch([x, *weights])
                total = tf.reduce_sum(x * x)
                for t in tf.range(first, last):
                    states = cell(entry(x, t), states, *weights)
                total += sum(tf.reduce_sum(tf.sin(s)) for s in states)
            gradients = tape.gradient(total, [x, *weights], unconnected_gradients="zero")
            norm = sum(tf.reduce_sum(g * g) for g in gradients)
        return *states, *gradients, *outer.gradient(norm, [x, *weights], unconnected_gradients="zero")

    weights = [tf.constant(w) for w in weights]
    concrete = tf.function(layer).get_concrete_function(x, *weights)
    for value, expected in zip(concrete(x, *weights), layer(x, *weights), strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-4, atol=2e-5)


def check_by_hand(layer, *args, others=()):
    """Compares a loop in a function with the same loop run eagerly, and the gradients of what it depends on."""

    def with_gradients(others, *args):
        with tf.GradientTape() as tape:
            tape.watch(args)
            outputs = tf.nest.flatten(layer(*others, *args))
            loss = sum(tf.reduce_sum(tf.sin(y)) for y in outputs)
        return *outputs, *tape.gradient(loss, args, unconnected_gradients="zero")

    concrete = tf.function(with_gradients).get_concrete_function(others, *args)
    for value, expected in zip(concrete(others, *args), with_gradients(others, *args), strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=2e-6)


def weights_of(cell):
    columns = SIZE * (4 if cell is lstm else 3)
    return [tf.constant(values(*s)) for s in ((FEATURES, columns), (SIZE, columns), (columns,))]


SCANS = {
    "outputs": lambda h, *c: h,
    "last output": lambda h, *c: h[-1],
    "all states": lambda *states: states,
    "last states": lambda *states: [s[-1] for s in states],
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", [lstm, gru])
@pytest.mark.parametrize("use", SCANS)
def test_scans_write_all_states(use, cell, reverse):
    used = SCANS[use]

    def layer(x, *weights):
        zeros = (tf.zeros([BATCH, SIZE]),) * (2 if cell is lstm else 1)
        return used(*tf.scan(lambda states, x: cell(x, states, *weights), x, zeros, reverse=reverse))

    check_by_hand(layer, tf.constant(values(STEPS, BATCH, FEATURES)), *weights_of(cell))


COLUMNS = {
    "new axis": lambda m, t: m[t][:, tf.newaxis],
    "expand_dims": lambda m, t: tf.expand_dims(m[t], 1),
    "reshape": lambda m, t: tf.reshape(m[t], [-1, 1]),
    "gather": lambda m, t: tf.gather(m, t)[:, tf.newaxis],
    "turned around": lambda m, t: m[t][::-1, tf.newaxis],
    "rows": lambda m, t: m[t, :SIZE],  # for each feature, not for each row
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("cell", [lstm, gru])
@pytest.mark.parametrize("column", COLUMNS)
def test_masks_written_by_hand(column, cell, mask):
    column = COLUMNS[column]

    def layer(mask, x, *weights):
        states = [tf.zeros([BATCH, SIZE])] * (2 if cell is lstm else 1)
        outputs = tf.TensorArray(tf.float32, STEPS, element_shape=[BATCH, SIZE])
        for t in tf.range(STEPS):
            after = cell(x[t], states, *weights)
            states = [tf.where(column(mask, t), new, old) for new, old in zip(after, states, strict=True)]
            outputs = outputs.write(t, states[0])
        return outputs.stack(), states

    x, others = tf.constant(values(STEPS, BATCH, FEATURES)), [tf.constant(MASKS[mask].T)]
    check_by_hand(layer, x, *weights_of(cell), others=others)


# ---- images ----------------------------------------------------------------------------------------------------------

IMAGES = BATCH, STEPS, 5, 6, 2

CONVOLUTIONAL = {
    "last": {},
    "sequences": {"return_sequences": True},
    "backwards": {"return_sequences": True, "go_backwards": True},
    "no bias": {"use_bias": False},
    "strides": {"strides": 2, "return_sequences": True},
    "no padding": {"padding": "valid", "return_state": True},
    "dilated": {"dilation_rate": 2, "padding": "same"},
    "float32": {"dtype": "float32", "padding": "same", "return_sequences": True},
    "windows of one pixel": {"kernel_size": 1},
}


def make_convolutional(**options):
    options = {"kernel_size": 3, "bias_initializer": "random_normal", "dtype": "float64", **options}
    return tf.keras.layers.ConvLSTM2D(SIZE, seed=1, **options)


def check_convolutional(layer, dims=IMAGES, **kwargs):
    """Compares a layer with its own loop; gradients by filters are sums over all steps and pixels."""
    dtype = layer.compute_dtype
    layer.build(IMAGES)
    concrete = tf.function(lambda x: run_layer(layer, x, **kwargs)).get_concrete_function(tf.TensorSpec(dims, dtype))
    x = tf.constant(values(*IMAGES), dtype)
    tolerances = {"rtol": 1e-9, "atol": 1e-10} if dtype == "float64" else {"rtol": 1e-4, "atol": 2e-5}
    for value, expected in zip(
        tf.nest.flatten(concrete(x)), tf.nest.flatten(run_layer(layer, x, **kwargs)), strict=True
    ):
        np.testing.assert_allclose(value, expected, **tolerances)


@pytest.mark.parametrize("options", CONVOLUTIONAL)
def test_convolutional_cells(options):
    check_convolutional(make_convolutional(**CONVOLUTIONAL[options]))


@pytest.mark.parametrize("dims", [(None, *IMAGES[1:]), (None, None, *IMAGES[2:])])
def test_convolutional_cells_of_any_number_of_images(dims):
    check_convolutional(make_convolutional(padding="same", return_sequences=True), dims)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_convolutional_cell_begins_with_states(dtype):
    states = [tf.Variable(values(BATCH, 5, 6, SIZE, seed=i).astype(dtype)) for i in range(2)]
    check_convolutional(make_convolutional(padding="same", return_state=True, dtype=dtype), states=states)


def test_the_gradients_of_a_convolutional_cells_weights_alone():
    layer = make_convolutional(padding="same")
    layer.build(IMAGES)

    def gradients(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sin(layer(x)))
        return tape.gradient(loss, layer.trainable_variables)

    x = tf.constant(values(*IMAGES), tf.float64)
    for value, expected in zip(tf.function(gradients)(x), gradients(x), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-10)


def test_infinite_filters_of_a_state_of_zeros():
    layer = make_convolutional(padding="same")
    layer.build(IMAGES)
    layer.cell.recurrent_kernel.assign(tf.fill(layer.cell.recurrent_kernel.shape, np.inf))
    x = tf.constant(values(*IMAGES), tf.float64)
    np.testing.assert_array_equal(tf.function(layer)(x), layer(x))


@pytest.mark.parametrize("mask", ["all", "holes"])
def test_masked_convolutional_layers(mask):
    layer = make_convolutional(padding="same", return_sequences=True)
    layer.build(IMAGES)
    x, mask = tf.constant(values(*IMAGES), tf.float64), tf.constant(MASKS[mask])
    results = tf.function(lambda: layer(x, mask=mask))()
    np.testing.assert_allclose(results, layer(x, mask=mask), rtol=1e-9, atol=1e-10)


def test_gradients_of_second_order_of_a_convolutional_cell():
    layer = make_convolutional(padding="same")
    check_second_order(layer, tf.constant(values(*IMAGES), tf.float64), rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("machine_code")
def test_threads_give_the_same_bits():
    layer = tf.keras.layers.LSTM(96, return_sequences=True, seed=1)
    layer.build((None, None, 64))
    compiled = tf.function(lambda x: run_layer(layer, x), input_signature=[tf.TensorSpec([None, None, 64])])
    x, before = tf.constant(values(40, 5, 64)), torch.get_num_threads()
    try:
        results = []
        for threads in (1, 3):
            torch.set_num_threads(threads)
            results.append(tf.nest.flatten(compiled(x)))
    finally:
        torch.set_num_threads(before)
    for one, several, eager in zip(*results, tf.nest.flatten(run_layer(layer, x)), strict=True):
        np.testing.assert_array_equal(one, several)
        np.testing.assert_allclose(one, eager, rtol=1e-4, atol=1e-5)
