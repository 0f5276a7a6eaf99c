"""Attention whose gradient is one op: values, gradients of two orders, masks, and what keeps its weights."""

import numpy as np
import pytest

import tapeflow as tf

LONG = 260  # positions: enough for a gradient without stored weights


def random(*shape, seed=0, dtype="float32"):
    return tf.constant(np.random.default_rng(seed).normal(size=shape) * 0.3, dtype)


def attention(q, k, v, mask=None, number=-1e9, bias=None, zeros=False):
    scores = tf.matmul(q, k, transpose_b=True) * 0.4
    scores = scores if bias is None else scores + bias
    scores = scores if mask is None else tf.where(mask, scores, number)
    weights = tf.nn.softmax(scores)
    return tf.matmul(tf.where(mask, weights, 0.0) if zeros else weights, v)


def with_gradients(function):
    def step(*args):
        with tf.GradientTape() as tape:
            tape.watch(args)
            y = function(*args)
            loss = tf.reduce_sum(y * tf.cos(y))
        return y, *tape.gradient(loss, args)

    return step


def check(function, *args, count=1, rtol=1e-4, atol=1e-5):
    """Checks a function and its gradients, in one graph and through a call, against eager mode."""
    step = with_gradients(function)
    expected = step(*args)
    concrete = tf.function(step).get_concrete_function(*args)
    source = concrete.source()
    assert source.count("op_AttentionGrad(") == source.count("op_Attention(") == count, source
    assert "Softmax" not in source or not count
    for got in (concrete(*args), with_gradients(tf.function(function))(*args)):
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
    return concrete


QKV = [random(2, 3, LONG, 4, seed=i) for i in range(3)]
CAUSAL = tf.linalg.band_part(tf.ones([LONG, LONG], tf.bool), -1, 0)
PADDING = tf.constant(np.arange(LONG) < np.array([[LONG], [7]]))[:, None, None, :]
# The second example has queries without keys.
PAIRS = PADDING & tf.constant(np.arange(LONG) < np.array([[LONG], [100]]))[:, None, :, None]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients(dtype):
    check(attention, *(tf.cast(t, dtype) for t in QKV))


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("number", [-1e9, -1e30, -np.inf])
@pytest.mark.parametrize("mask", [CAUSAL, PADDING, PADDING & CAUSAL, PAIRS], ids=["causal", "padding", "both", "pairs"])
def test_masks(mask, number, zeros):
    check(lambda q, k, v: attention(q, k, v, mask, number, zeros=zeros), *QKV)


@pytest.mark.parametrize("number", [-1e9, -np.inf])
def test_bias(number):
    check(lambda q, k, v: attention(q, k, v, bias=tf.where(PAIRS, 0.0, number)), *QKV)


def test_bias_with_a_gradient_keeps_the_weights():
    check(lambda q, k, v, b: attention(q, k, v, bias=b), *QKV, random(LONG, LONG), count=0)


def test_shapes_that_broadcast():
    q, k, v = random(2, 3, 4, LONG, 5), random(2, 3, 1, LONG, 5, seed=1), random(2, 3, 1, LONG, 5, seed=2)
    check(attention, q, k, v)
    check(attention, q[0, 0], k[0, 0], v[0, 0])
    check(attention, q[0], k[0, :1], v[0])
    check(attention, q, k[0, 0, 0], v[0, 0, 0])


def test_other_numbers_of_keys_and_channels():
    check(attention, random(2, 3, 300, 4), random(2, 3, LONG, 4, seed=1), random(2, 3, LONG, 4, seed=2))
    check(attention, random(2, 3, 300, 4), random(2, 3, LONG, 4, seed=1), random(2, 3, LONG, 7, seed=2))


def test_short_sequences_keep_the_weights():
    check(attention, *(t[:, :, :128] for t in QKV), count=0)


def test_unknown_lengths():
    step = with_gradients(attention)
    function = tf.function(step, input_signature=[tf.TensorSpec([None, 3, None, 4])] * 3)
    for count in (0, 1, 9, LONG):
        args = [t[:, :, :count] for t in QKV]
        for a, b in zip(function(*args), step(*args), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(QKV[0], QKV[1], QKV[2][:, :, :9])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_nan(place):
    """A NaN among the keys that a mask leaves out has no effect on weights."""
    args = list(QKV)
    args[place] = tf.tensor_scatter_nd_update(args[place], [[1, 1, 50, 2]], [np.nan])
    check(lambda q, k, v: attention(q, k, v, PADDING), *args)


def test_second_derivatives():
    def double(*args):
        with tf.GradientTape() as outer:
            outer.watch(args)
            with tf.GradientTape() as tape:
                tape.watch(args)
                y = attention(*args, PAIRS[..., :LONG], -1e9)
                loss = tf.reduce_sum(y * tf.cos(y))
            total = tf.add_n([tf.reduce_sum(g * tf.sin(g)) for g in tape.gradient(loss, args)])
        return outer.gradient(total, args)

    args = [t[:, :1] for t in QKV]
    concrete = tf.function(double).get_concrete_function(*args)
    assert "AttentionGrad" in concrete.source()
    for a, b in zip(concrete(*args), double(*args), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_weights_that_are_used_are_kept():
    def function(q, k, v):
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True))
        return tf.matmul(weights, v) + tf.reduce_max(weights)

    check(function, *QKV, count=0)


def test_gradients_of_the_weights_themselves():
    @tf.function
    def function(q, k, v):
        with tf.GradientTape() as tape:
            tape.watch(q)
            weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True))
            y = tf.reduce_sum(tf.matmul(weights, v) ** 2)
        return tape.gradient(y, [q, weights])

    assert all(g is not None for g in function(*QKV))
    assert "AttentionGrad" not in function.get_concrete_function(*QKV).source()


def test_weights_without_a_gradient():
    def function(q, v):
        weights = tf.stop_gradient(tf.nn.softmax(tf.matmul(q, v, transpose_b=True)))
        return tf.matmul(weights, v) + q

    step = with_gradients(function)
    for a, b in zip(tf.function(step)(*QKV[:2]), step(*QKV[:2]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_loops():
    def function(q, k, v):
        for _ in tf.range(3):
            q = attention(q, k, v)
        return q

    step = with_gradients(tf.function(function))
    args = [t[:1, :1] for t in QKV]
    expected = with_gradients(lambda q, k, v: attention(attention(attention(q, k, v), k, v), k, v))(*args)
    for a, b in zip(step(*args), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_gradients_of_slices():
    """The gradients of each slice of a batch, with operands that all slices share."""
    shared = QKV[1][0]

    def of_slice(qv):
        return with_gradients(lambda q, v: attention(q, shared, v, PADDING[1, 0]))(*qv)

    args = QKV[0], QKV[2]
    concrete = tf.function(lambda *args: tf.vectorized_map(of_slice, args)).get_concrete_function(*args)
    assert "AttentionGrad" in concrete.source()
    for a, b in zip(concrete(*args), tf.map_fn(of_slice, args, fn_output_signature=(tf.float32,) * 3), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_gradients_of_a_graph():
    with tf.Graph().as_default():
        args = [tf.compat.v1.placeholder(tf.float32, t.shape) for t in QKV]
        y = attention(*args, CAUSAL)
        grads = tf.gradients(tf.reduce_sum(y * tf.cos(y)), args)
        assert any(o.type == "AttentionGrad" for o in grads[0].graph.get_operations())
        with tf.compat.v1.Session() as session:
            got = session.run([y, *grads], dict(zip(args, QKV, strict=True)))
    for a, b in zip(got, with_gradients(lambda *qkv: attention(*qkv, CAUSAL))(*QKV), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_export(tmp_path):
    """A saved training step has TensorFlow's ops alone."""
    module = tf.Module()
    module.step = tf.function(with_gradients(lambda *qkv: attention(*qkv, PAIRS, zeros=True)))
    expected = module.step(*QKV)
    types = {n.op for n in module.step.get_concrete_function(*QKV).graph.as_graph_def().node}
    assert not any("Attention" in t for t in types)
    tf.saved_model.save(module, str(tmp_path))
    for a, b in zip(tf.saved_model.load(str(tmp_path)).step(*QKV), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layer", ["MultiHeadAttention", "GroupQueryAttention"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_layers_of_keras(layer, causal, masked):
    sizes = (2, 3) if layer == "MultiHeadAttention" else (3, 4, 2)
    attend = getattr(tf.keras.layers, layer)(*sizes)
    x = random(2, LONG, 5)
    mask = PAIRS[:, 0] if masked else None
    function = lambda x: attend(x, x, attention_mask=mask, use_causal_mask=causal)  # noqa: E731
    function(x)
    check(function, x, atol=1e-4)


def test_training_of_keras():
    inputs = tf.keras.Input((LONG, 6))
    y = tf.keras.layers.MultiHeadAttention(2, 3)(inputs, inputs, use_causal_mask=True)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(y))
    model.compile("sgd", "mse", run_eagerly=True)
    weights = model.get_weights()
    x, y = random(4, LONG, 6), random(4, LONG, 1, seed=1)
    eager = [model.train_on_batch(x, y) for _ in range(3)]
    model.set_weights(weights)
    model.compile("sgd", "mse")
    np.testing.assert_allclose([model.train_on_batch(x, y) for _ in range(3)], eager, rtol=1e-4)


def random_attention(seed):
    """Returns attention in a random spelling, and its arguments."""
    rng = np.random.default_rng(seed)
    heads, count, keys, size = (int(rng.integers(low, high)) for low, high in ((1, 4), (1, 300), (1, 300), (1, 9)))
    positions = 1 + 70_000 // keys if rng.random() < 0.7 else count
    equations = [("bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd"), ("bkhd,bqhd->bhkq", "bhqk,bkhd->bqhd"), None]
    equation = equations[rng.integers(3)]
    of_keys, where = bool(equation and "kq" in equation[0]), rng.integers(4)
    q, k, v = (
        random(2, *((n, heads) if equation else (heads, n)), size, seed=seed + i)
        for i, n in enumerate((positions, keys, keys))
    )
    allowed = tf.constant(rng.random((rng.integers(1, 3), 1, positions, keys)) < rng.random())
    kind, number = rng.integers(4), float(rng.choice([-1e9, -1e30, -np.inf]))

    def function(q, k, v):
        q = q * 0.5 if where == 0 else q
        k = k / 3.0 if where == 1 else k
        if equation:
            scores = tf.einsum(equation[0], *((k, q) if of_keys else (q, k)))
            scores = tf.linalg.matrix_transpose(scores) if of_keys else scores
        else:
            scores = tf.matmul(q, k, transpose_b=True)
        scores = scores * 0.7 if where == 2 else scores / 1.5 if where == 3 else scores
        if kind == 1:
            scores += tf.where(allowed, 0.0, number)
        elif kind > 1:
            scores = tf.where(allowed, scores, number)
        weights = tf.nn.softmax(scores)
        weights = tf.where(allowed, weights, 0.0) if kind == 3 else weights
        return tf.einsum(equation[1], weights, v) if equation else tf.matmul(weights, v)

    return function, (q, k, v)


@pytest.mark.parametrize("seed", range(10))
def test_random_spellings(seed):
    function, args = random_attention(seed)
    step = with_gradients(function)
    for a, b in zip(tf.function(step)(*args), step(*args), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
