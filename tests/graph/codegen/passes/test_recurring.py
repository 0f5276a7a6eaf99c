"""Loops that are recurrent layers are computed by kernels of their cells: the same values and gradients."""

import numpy as np
import pytest

import tapeflow as tf

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


def check(layer, *args, is_cell=True, dims=None, **kwargs):
    """Compares a layer with its own loop, as eager mode runs it."""
    layer.build((BATCH, STEPS, FEATURES))
    function = tf.function(lambda *args: run_layer(layer, *args, **kwargs))
    specs = [tf.TensorSpec(dims or a.shape, a.dtype) if i == 0 else a for i, a in enumerate(args)]
    concrete = function.get_concrete_function(*specs)
    assert (f"op_{type(layer).__name__}(" in concrete.source()) == is_cell
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


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_nothing_comes_from_inputs_that_the_mask_leaves_out(kind):
    x, mask = values(BATCH, STEPS, FEATURES), MASKS["ends"]
    layer = make(kind, return_state=True)
    layer.build(x.shape)
    compiled = tf.function(lambda x, mask: run_layer(layer, x, mask))
    expected, results = (
        compiled(tf.constant(np.where(mask[..., None], x, other)), tf.constant(mask)) for other in (0, np.nan)
    )
    for value, other in zip(tf.nest.flatten(results), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "kind, options",
    [
        ("LSTM", {"activation": "relu"}),
        ("LSTM", {"recurrent_activation": "hard_sigmoid"}),
        ("LSTM", {"recurrent_dropout": 0.5}),
        ("GRU", {"reset_after": False}),
        ("GRU", {"activation": "softsign"}),
    ],
)
def test_other_cells_stay_loops(kind, options):
    layer = make(kind, **options)
    layer.build((BATCH, STEPS, FEATURES))
    function = tf.function(lambda x: layer(x, training=True))
    concrete = function.get_concrete_function(tf.TensorSpec([BATCH, STEPS, FEATURES]))
    assert f"op_{kind}(" not in concrete.source()


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
    assert "op_LSTM(" in concrete.source()
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


# Where the entry of a step lies in the inputs, and whether the loop is a cell's.
ENTRIES = {
    "rows": (lambda x, t: x[t], 0, True),
    "columns": (lambda x, t: x[:, t], 1, True),
    "columns, and all features": (lambda x, t: x[:, t, :], 1, True),
    "gathered rows": (lambda x, t: tf.gather(x, t), 0, True),
    "gathered columns": (lambda x, t: tf.gather(x, t, axis=-2), -2, True),
    "from the end": (lambda x, t: x[STEPS - 1 - t], 0, False),
    "every other feature": (lambda x, t: x[t, :, ::2], 0, False),
}


@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("cell", [lstm, gru])
@pytest.mark.parametrize("first, last", [(0, STEPS), (2, STEPS - 1), (3, 3)])
def test_loops_written_by_hand_read_entries_of_tensors(entries, cell, first, last):
    entry, axis, is_cell = ENTRIES[entries]
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
    assert (("op_LSTM(" if cell is lstm else "op_GRU(") in concrete.source()) == is_cell
    for value, expected in zip(concrete(x, *weights), layer(x, *weights), strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-4, atol=2e-5)


def check_by_hand(cell, layer, *args, is_cell=True, others=()):
    """Compares a loop in a function with the same loop run eagerly, and the gradients of what it depends on."""

    def with_gradients(others, *args):
        with tf.GradientTape() as tape:
            tape.watch(args)
            outputs = tf.nest.flatten(layer(*others, *args))
            loss = sum(tf.reduce_sum(tf.sin(y)) for y in outputs)
        return *outputs, *tape.gradient(loss, args, unconnected_gradients="zero")

    concrete = tf.function(with_gradients).get_concrete_function(others, *args)
    assert (f"op_{cell.__name__.upper()}(" in concrete.source()) == is_cell
    for value, expected in zip(concrete(others, *args), with_gradients(others, *args), strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=2e-6)


def weights_of(cell):
    columns = SIZE * (4 if cell is lstm else 3)
    return [tf.constant(values(*s)) for s in ((FEATURES, columns), (SIZE, columns), (columns,))]


SCANS = {
    "outputs": (lambda h, *c: h, True),
    "last output": (lambda h, *c: h[-1], True),
    "all states": (lambda *states: states, False),
    "last states": (lambda *states: [s[-1] for s in states], False),
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", [lstm, gru])
@pytest.mark.parametrize("use", SCANS)
def test_scans_write_all_states(use, cell, reverse):
    used, is_cell = SCANS[use]

    def layer(x, *weights):
        zeros = (tf.zeros([BATCH, SIZE]),) * (2 if cell is lstm else 1)
        return used(*tf.scan(lambda states, x: cell(x, states, *weights), x, zeros, reverse=reverse))

    is_cell = (is_cell or cell is gru) and not reverse
    check_by_hand(cell, layer, tf.constant(values(STEPS, BATCH, FEATURES)), *weights_of(cell), is_cell=is_cell)


COLUMNS = {
    "new axis": (lambda m, t: m[t][:, tf.newaxis], True),
    "expand_dims": (lambda m, t: tf.expand_dims(m[t], 1), True),
    "reshape": (lambda m, t: tf.reshape(m[t], [-1, 1]), True),
    "gather": (lambda m, t: tf.gather(m, t)[:, tf.newaxis], True),
    "turned around": (lambda m, t: m[t][::-1, tf.newaxis], False),
    "rows": (lambda m, t: m[t, :SIZE], False),  # for each feature, not for each row
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("cell", [lstm, gru])
@pytest.mark.parametrize("column", COLUMNS)
def test_masks_written_by_hand(column, cell, mask):
    column, is_cell = COLUMNS[column]

    def layer(mask, x, *weights):
        states = [tf.zeros([BATCH, SIZE])] * (2 if cell is lstm else 1)
        outputs = tf.TensorArray(tf.float32, STEPS, element_shape=[BATCH, SIZE])
        for t in tf.range(STEPS):
            after = cell(x[t], states, *weights)
            states = [tf.where(column(mask, t), new, old) for new, old in zip(after, states, strict=True)]
            outputs = outputs.write(t, states[0])
        return outputs.stack(), states

    x, others = tf.constant(values(STEPS, BATCH, FEATURES)), [tf.constant(MASKS[mask].T)]
    check_by_hand(cell, layer, x, *weights_of(cell), is_cell=is_cell, others=others)


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
    assert "op_ConvLSTM2D(" in concrete.source()
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


@pytest.mark.parametrize(
    "options", [{"activation": "relu"}, {"recurrent_activation": "hard_sigmoid"}, {"recurrent_dropout": 0.5}]
)
def test_other_convolutional_cells_stay_loops(options):
    layer = make_convolutional(padding="same", **options)
    layer.build(IMAGES)
    concrete = tf.function(lambda x: layer(x, training=True)).get_concrete_function(tf.TensorSpec(IMAGES, tf.float64))
    assert "op_ConvLSTM2D(" not in concrete.source()


def test_gradients_of_second_order_of_a_convolutional_cell():
    layer = make_convolutional(padding="same")
    check_second_order(layer, tf.constant(values(*IMAGES), tf.float64), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("activation", "entry", "reason"),
    [
        (tf.nn.relu, lambda x, t: x[t], "Tanh is expected (Relu at "),
        (tf.tanh, lambda x, t: x[t] * 2.0, "its input is not the entry of a list or tensor at the counter of the loop"),
        (tf.tanh, lambda x, t: x[0], "its input is not the entry of a list or tensor at the counter of the loop"),
    ],
)
def test_loops_that_are_nearly_layers_say_why_they_are_none(activation, entry, reason):
    kernel, recurrent, bias = values(FEATURES, 4 * SIZE), values(SIZE, 4 * SIZE), values(4 * SIZE)

    @tf.function
    def f(x):
        h = c = tf.zeros([2, SIZE])
        for t in tf.range(5):
            gates = tf.matmul(entry(x, t), kernel) + tf.matmul(h, recurrent) + bias
            i, f, g, o = tf.split(gates, 4, axis=-1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * activation(c)
        return h

    text = f.get_concrete_function(tf.TensorSpec([5, 2, FEATURES])).explain_rewrites()
    assert "near miss: LSTM at " in text
    assert reason in text


def test_loops_without_products_of_states_are_no_near_misses():
    @tf.function
    def f(x):
        state = tf.zeros([2, FEATURES])
        for t in tf.range(5):
            state = tf.tanh(0.5 * state + x[t])
        return state

    assert "near miss" not in f.get_concrete_function(tf.TensorSpec([5, 2, FEATURES])).explain_rewrites()
