"""Attention of a function as one kernel."""

import numpy as np
import pytest

import tapeflow as tf

layers = tf.keras.layers


def check(function, x, spec=None):
    """Returns the source of a function, whose results and gradients are those of eager calls."""
    concrete = tf.function(function).get_concrete_function(spec or tf.TensorSpec(x.shape, x.dtype))

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(function(x) ** 3)
        return tape.gradient(loss, x)

    np.testing.assert_allclose(concrete(x), function(x), rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(tf.function(gradient)(x), gradient(x), rtol=1e-4, atol=1e-5)
    with tf.GradientTape() as tape:  # of a call
        tape.watch(x)
        loss = tf.reduce_sum(concrete(x) ** 3)
    np.testing.assert_allclose(tape.gradient(loss, x), gradient(x), rtol=1e-4, atol=1e-5)
    return concrete.source()


def random(*shape, dtype="float32"):
    return tf.constant(np.random.default_rng(0).normal(size=shape), dtype)


def attention(q, k, v, mask=None, scale=0.5):
    scores = tf.matmul(q, k, transpose_b=True) * scale
    return tf.matmul(tf.nn.softmax(scores if mask is None else scores + mask), v)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: attention(x, x * 2.0, x + 1.0),
        lambda x: attention(x * 0.3, x * 2.0, x + 1.0, tf.reduce_mean(x, -1)[..., None, :]),
        lambda x: attention(x, x * 2.0, x + 1.0, tf.constant([[0.0, -1e9, 0.0, 0.0]])),
        lambda x: attention(x / tf.sqrt(tf.cast(tf.shape(x)[-1], tf.float32)), x, x + 1.0),
        lambda x: tf.nn.softmax(x @ tf.linalg.matrix_transpose(x) / 5.0**0.5 + [[0.0, -1e9, 0.0, 0.0]]) @ x,
        lambda x: tf.nn.softmax(0.5 * tf.linalg.matrix_transpose(x * 2.0 @ tf.linalg.matrix_transpose(x))) @ x,
    ],
    ids=["plain", "mask", "constant mask", "queries divided", "divided", "transposed"],
)
@pytest.mark.parametrize("shape", [(4000, 3, 4, 5), (12000, 4, 5)], ids=str)
def test_attention(function, shape):
    source = check(function, 0.3 * random(*shape))
    assert source.count("op_Attention(") == 1
    assert "Softmax" not in source


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_attention_of_keras(causal, masked, dropout):
    layer = layers.MultiHeadAttention(2, 3, dropout=dropout)
    mask = tf.constant([[True, True, True, False]]) if masked else None

    def function(x):
        return layer(x, x, attention_mask=mask, use_causal_mask=causal)

    function(tf.zeros([2, 4, 5]))
    assert "op_Attention(" in check(function, 0.3 * random(12000, 4, 5))


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_attention_where_everything_may_be_masked(dropout):
    layer = layers.MultiHeadAttention(2, 3, dropout=dropout)
    x = random(2, 4, 5)
    function = lambda x: layer(x, x, attention_mask=x[:, None, :, 0] > 10.0)  # noqa: E731
    function(x)
    check(function, x)


def test_attention_whose_weights_are_used():
    def function(x):
        weights = tf.nn.softmax(tf.matmul(x, x, transpose_b=True))
        return tf.matmul(weights, x) + tf.reduce_sum(weights)

    assert "op_Attention(" not in check(function, 0.3 * random(2, 3, 4, 5))


ROWS = tf.constant([[True, False, False], [False, False, False], [True, True, True]])  # the second one has no scores


@pytest.mark.parametrize("are_zeros", [False, True])
@pytest.mark.parametrize("number", [-np.inf, -1e30, -1e9])
def test_masked_scores(number, are_zeros):
    def function(x):
        weights = tf.nn.softmax(tf.where(ROWS, tf.matmul(x, x, transpose_b=True), number))
        return tf.matmul(tf.where(ROWS, weights, 0.0) if are_zeros else weights, x)

    x = random(2, 2, 3, 5)
    np.testing.assert_allclose(tf.function(function)(x), function(x), rtol=1e-5)


def test_infinite_summands_that_leave_no_scores():
    def function(x):
        return attention(x, x, x, tf.where(x[0, 0, :, 0] > 10.0, 0.0, -np.inf)[None])

    concrete = tf.function(function).get_concrete_function(tf.TensorSpec([8000, 2, 3, 5]))
    assert "op_Attention(" in concrete.source()
    x = random(8000, 2, 3, 5)
    assert np.isnan(function(x)).all() and np.isnan(concrete(x)).all()
    x += tf.constant([[11.0], [0.0], [11.0]])
    np.testing.assert_allclose(concrete(x), function(x), rtol=1e-5)


def test_scores_that_are_divided_by_zero():
    function = lambda x: tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True) / 0.0), x)  # noqa: E731
    x = random(2, 3, 4, 5)
    np.testing.assert_array_equal(tf.function(function)(x), function(x))


def test_long_chains_of_products_take_no_time_to_search():
    def function(x):
        scores = tf.matmul(x, x, transpose_b=True)
        for _ in range(40):
            scores = scores * scores
        return tf.matmul(tf.nn.softmax(scores), x)

    assert "op_Attention(" not in check(function, 0.1 * random(2, 3, 4, 5))


def test_a_divisor_that_is_no_number_is_explained():
    def function(x, scale):
        scores = tf.matmul(x, x, transpose_b=True)
        scores /= tf.sqrt(scale)
        return tf.matmul(tf.nn.softmax(scores), x)

    concrete = tf.function(function).get_concrete_function(random(2, 3, 4, 5), tf.constant(2.0))
    line = function.__code__.co_firstlineno + 2
    assert f"RealDiv by a number is expected (RealDiv at {__file__}:{line})" in concrete.explain_rewrites()


def test_explained():
    def function(x):
        used = tf.nn.softmax(tf.matmul(x, x, transpose_b=True))
        odd = tf.nn.softmax(tf.exp(tf.matmul(x, x + 1.0, transpose_b=True)))
        return attention(x * 2.0, x, x), tf.matmul(used, x) + tf.reduce_sum(used), odd @ x

    x = random(4000, 3, 4, 5)
    text = tf.function(function).get_concrete_function(x).explain_rewrites()
    lines = text.splitlines()
    first = function.__code__.co_firstlineno
    assert any(line.endswith("ops as Attention") for line in lines), text
    last, softmax, exp = (f"{__file__}:{first + line}" for line in (3, 1, 2))
    assert f"near miss: attention at {last}: used elsewhere, such as in a gradient (Softmax at {softmax})" in text
    assert f"near miss: attention at {last}: the scores are not a product, a constant times a product" in text
    assert f"(Exp at {exp})" in text


def test_loops_and_branches_are_explained():
    @tf.function
    def function(x):
        for _ in tf.range(3):
            x = attention(x, x, x)
            if tf.reduce_sum(x) > 0.0:
                x = attention(x, x, x) + 1.0
        return x

    text = function.get_concrete_function(random(2, 3, 4, 5)).explain_rewrites()
    assert text.count("as Attention") == 2, text


SIZES = [(1, 1, 4, 8)] * 3
OTHER_SIZES = {
    "fewer values than keys": [(1, 1, 4, 8), (1, 1, 60, 8), (1, 1, 3, 8)],
    "fewer keys than values": [(1, 1, 4, 8), (1, 1, 3, 8), (1, 1, 60, 8)],
    "a batch of queries": [(3, 1, 4, 8), (1, 1, 4, 8), (1, 1, 4, 8)],
    "a batch of keys": [(1, 1, 4, 8), (3, 2, 4, 8), (3, 2, 4, 8)],
    "no queries": [(1, 1, 0, 8), (1, 1, 4, 8), (1, 1, 4, 8)],
    "no keys": [(1, 1, 4, 8), (1, 1, 0, 8), (1, 1, 0, 8)],
    "a batch of masks": [*SIZES, (5, 1, 1, 1)],
    "masks of more queries": [(1, 1, 1, 8), (1, 1, 4, 8), (1, 1, 4, 8), (1, 1, 6, 4)],
    "masks of other keys": [*SIZES, (1, 1, 1, 7)],
    "masks without queries": [(1, 1, 0, 8), (1, 1, 4, 8), (1, 1, 4, 8), (1, 1, 6, 4)],
}


@pytest.mark.parametrize("name", OTHER_SIZES)
def test_sizes_that_torch_does_not_check(name):
    """Sizes are unknown until the call. Results and errors are those of eager calls."""
    shapes = OTHER_SIZES[name]
    compiled = tf.function(attention, input_signature=[tf.TensorSpec([None] * 4)] * len(shapes))
    assert "op_Attention(" in compiled.get_concrete_function().source()
    arguments = [random(*shape) for shape in shapes]
    try:
        expected = attention(*arguments)
    except tf.errors.InvalidArgumentError:
        with pytest.raises(tf.errors.InvalidArgumentError):
            compiled(*arguments)
    else:
        np.testing.assert_allclose(compiled(*arguments), expected, rtol=1e-5, atol=1e-6)


def scaled(x):
    return attention(x, x * 2.0, x + 1.0, scale=1.0 / tf.sqrt(tf.cast(tf.shape(x)[-1], tf.float32)))


def of_heads(x):
    """Returns attention in the layout of Keras, with heads after positions."""
    scores = tf.einsum("bthd,bshd->bhts", x, x * 2.0)
    return tf.einsum("bhts,bshd->bthd", tf.nn.softmax(scores), x + 1.0)


def scaled_by_constants(x):
    return attention(x, x * 2.0, x + 1.0, scale=1.0 / tf.sqrt(tf.constant(5.0)))


@pytest.mark.parametrize("form", [scaled, scaled_by_constants, lambda x: of_heads(x[:, :, None])])
def test_gradients_of_several_outputs_share_one_residual(form):
    def function(x):
        y = form(x)
        return tf.sin(y), y * 3.0

    x = 0.3 * random(2, 4, 5)
    concrete = tf.function(function).get_concrete_function(tf.TensorSpec([2, None, 5]))
    for chosen in (0, 1):
        gradients = []
        for call in (concrete, function):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(call(x)[chosen] ** 2)
            gradients.append(tape.gradient(loss, x))
        np.testing.assert_allclose(*gradients, rtol=1e-4, atol=1e-5)
    kinds = [operation.type for operation in concrete.body.differentiable.graph.get_operations()]
    assert kinds.count("AttentionLogSums") == 1
