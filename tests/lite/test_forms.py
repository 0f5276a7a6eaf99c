"""Forms of ops: the runtime and TapeFlow compute the same values."""

import importlib

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import op_table
import tapeflow as tf
from lite_runtime import assert_close, check, codes, convert, run

# How many rows of each file of the op table convert. The others are named by an error.
CONVERTED = {
    "arithmetic": 26, "array_picking": 12, "array_shaping": 21, "array_sorting": 13, "comparison": 17, "counting": 8,
    "elementwise": 40, "image": 26, "linalg_diagonals": 9, "linalg_products": 5, "nn_activations": 11, "nn_losses": 5,
    "nn_normalizing": 10, "nn_windows": 16, "reductions": 17, "segments": 9, "signal_frames": 7,
}  # fmt: skip


@pytest.mark.parametrize("module", CONVERTED)
def test_rows_of_the_op_table(module):
    found = importlib.import_module(f"rows.{module}").ROWS
    rows = [row for row in found if row.samples and {"float32", "int32"} & set(row.dtypes)]
    assert sum(map(is_converted, rows)) >= CONVERTED[module]


def is_converted(row):
    dtype = "float32" if "float32" in row.dtypes else "int32"
    args, kwargs = row.samples[0]
    places = [i for i, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    if not places:
        return True

    def function(*tensors):
        given = [op_table.cast(a, dtype) for a in args]
        for i, t in zip(places, tensors, strict=True):
            given[i] = t
        return tf.nest.flatten(row.function(*given, **{k: op_table.cast(v, dtype) for k, v in kwargs.items()}))

    tensors = [op_table.cast(args[i], dtype) for i in places]
    want = function(*tensors)
    concrete = tf.function(function).get_concrete_function(*[tf.TensorSpec(t.shape, t.dtype) for t in tensors])
    try:
        content = tf.lite.TFLiteConverter.from_concrete_functions([concrete]).convert()
    except TypeError as error:
        assert str(error).startswith("The operation '"), (row.name, error)
        return False
    for got, expected in zip(run(content, *[t.numpy() for t in tensors]), want, strict=True):
        assert got.shape == tuple(expected.shape), row.name
        assert_close(got, expected.numpy(), 1e-4)
    return True


rng = np.random.default_rng(0)
IMAGES = rng.standard_normal([2, 8, 8, 3]).astype(np.float32)
MATRIX = rng.standard_normal([3, 4]).astype(np.float32)


@pytest.mark.parametrize(
    "layer",
    [
        lambda k: k.Conv2D(4, 3, strides=2, padding="same"),
        lambda k: k.Conv2D(4, 3, dilation_rate=2),
        lambda k: k.Conv2D(6, 3, groups=3),
        lambda k: k.DepthwiseConv2D(3, depth_multiplier=2),
        lambda k: k.SeparableConv2D(4, 3),
        lambda k: k.Conv2DTranspose(4, 3, strides=2, padding="same"),
        lambda k: k.MaxPooling2D(),
        lambda k: k.AveragePooling2D(3, strides=1, padding="same"),
        lambda k: k.GlobalAveragePooling2D(),
        lambda k: k.GlobalMaxPooling2D(keepdims=True),
        lambda k: k.UpSampling2D(interpolation="bilinear"),
        lambda k: k.UpSampling2D(),
        lambda k: k.ZeroPadding2D(((1, 2), (0, 3))),
        lambda k: k.Cropping2D(1),
        lambda k: k.Resizing(5, 11),
        lambda k: k.Flatten(),
        lambda k: k.Permute([3, 1, 2]),
        lambda k: k.LayerNormalization(),
        lambda k: k.GroupNormalization(3),
        lambda k: k.UnitNormalization(),
        lambda k: k.Softmax(axis=1),
        lambda k: k.PReLU(),
        lambda k: k.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0]),
        lambda k: k.Rescaling(1 / 255, offset=-1),
        lambda k: k.CenterCrop(4, 5),
    ],
)
def test_layers_of_images(layer):
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([tf.keras.Input([8, 8, 3]), layer(tf.keras.layers)])
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    for x in (IMAGES, IMAGES[:1]):
        assert_close(run(content, x)[0], model(x).numpy(), 1e-5)


@pytest.mark.parametrize(
    "activation",
    ["elu", "exponential", "gelu", "hard_sigmoid", "hard_silu", "leaky_relu", "log_softmax", "mish", "relu", "relu6",
     "selu", "sigmoid", "silu", "softmax", "softplus", "softsign", "tanh", "celu", "glu", "log_sigmoid", "squareplus"],
)  # fmt: skip
def test_activations(activation):
    check(getattr(tf.keras.activations, activation), MATRIX, tolerance=2e-6)


@pytest.mark.parametrize(
    "build",
    [
        lambda k, x: k.MultiHeadAttention(2, 4)(x, x),
        lambda k, x: k.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True),
        lambda k, x: k.Attention()([x, x]),
        lambda k, x: k.Conv1D(5, 3, padding="causal")(x),
        lambda k, x: k.MaxPooling1D()(x),
        lambda k, x: k.Bidirectional(k.LSTM(3))(x),
        lambda k, x: k.TimeDistributed(k.Dense(2))(x),
        lambda k, x: k.EinsumDense("abc,cd->abd", output_shape=(None, 7), bias_axes="d")(x),
        lambda k, x: k.RMSNormalization()(x),
        lambda k, x: k.Dot(axes=2)([x, x]),
    ],
)
def test_layers_of_sequences(build):
    tf.keras.utils.set_random_seed(0)
    x = tf.keras.Input([6, 8])
    model = tf.keras.Model(x, build(tf.keras.layers, x))
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    for batch in (3, 1):
        values = rng.standard_normal([batch, 6, 8]).astype(np.float32)
        assert_close(run(content, values)[0], model(values).numpy(), 1e-5)


def test_embeddings_with_masks():
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input([7], dtype="int32"), layers.Embedding(10, 4, mask_zero=True),
                                 layers.LSTM(3)])  # fmt: skip
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    assert codes(content)["EMBEDDING_LOOKUP"] == 1
    words = np.array([[1, 2, 3, 0, 0, 0, 0], [4, 5, 6, 7, 8, 9, 1]], np.int32)
    assert_close(run(content, words)[0], model(words).numpy(), 1e-5)


def test_sequences_of_any_length():
    tf.keras.utils.set_random_seed(0)
    x = tf.keras.Input([None, 8])
    layers = tf.keras.layers
    y = layers.GRU(4, return_sequences=True)(layers.MultiHeadAttention(2, 4)(x, x))
    model = tf.keras.Model(x, layers.Conv1D(2, 3, padding="same")(y))
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    for shape in ([1, 5, 8], [3, 9, 8]):
        values = rng.standard_normal(shape).astype(np.float32)
        assert_close(run(content, values)[0], model(values).numpy(), 1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:, ::-1],
        lambda x: x[..., tf.newaxis, 1:3],
        lambda x: x[:, 1],
        lambda x: x[1:, tf.newaxis],
        lambda x: tf.roll(x, 5, axis=1),
        lambda x: tf.gather(x, [2, 0], axis=1),
        lambda x: tf.gather_nd(x, [[0, 1], [2, 3]]),
        lambda x: tf.math.top_k(x, 2),
        lambda x: tf.one_hot(tf.argmax(x, axis=1), 4),
        lambda x: tf.where(x > 0.0, x, -1.0),
        lambda x: tf.where(x > 0.0),
        lambda x: tf.boolean_mask(x, x > 0.0),
        lambda x: tf.cumsum(x, axis=1, exclusive=True),
        lambda x: tf.clip_by_value(x, -0.5, 0.5),
        lambda x: tf.tensor_scatter_nd_update(x, [[0, 1], [1, 2]], [5.0, 6.0]),
        lambda x: tf.repeat(x, 2, axis=1),
        lambda x: tf.pad(x, [[0, 0], [1, 2]], constant_values=3.0),
        lambda x: tf.pad(x, [[0, 0], [1, 2]], mode="REFLECT"),
        lambda x: tf.split(x, [1, 3], axis=1),
        lambda x: tf.unstack(x, axis=1),
        lambda x: tf.stack([x, -x], axis=1),
        lambda x: tf.reduce_logsumexp(x, axis=1),
        lambda x: tf.math.reduce_std(x, axis=1),
        lambda x: tf.linalg.norm(x, axis=1),
        lambda x: tf.einsum("ij,kj->ik", x, x),
        lambda x: tf.einsum("ij,kj,lj->il", x, x, x),
        lambda x: tf.linalg.band_part(tf.matmul(x, x, transpose_a=True), -1, 0),
        lambda x: tf.math.erf(x),
        lambda x: tf.linalg.diag(x),
        lambda x: tf.cast(tf.cast(x * 10.0, tf.int32), tf.float32) / 3.0,
        lambda x: tf.cast(tf.math.floormod(tf.cast(x * 10.0, tf.int32), 3), tf.float32),
        lambda x: tf.broadcast_to(x[:, :1], tf.shape(x)),
        lambda x: tf.reverse(x, [0, 1]),
        lambda x: tf.sort(x, axis=1, direction="DESCENDING"),
        lambda x: tf.reshape(x, [-1, 2, 2])[:, 0],
        lambda x: tf.transpose(x) @ x,
        lambda x: tf.zeros([tf.shape(x)[0], 2]) + tf.reduce_sum(x),
        lambda x: tf.math.l2_normalize(x, axis=1),
        lambda x: tf.nn.moments(x, axes=[1]),
        lambda x: tf.image.resize(tf.reshape(x, [-1, 2, 2, 1]), [5, 3]),
        lambda x: tf.nn.space_to_depth(tf.reshape(x, [-1, 2, 2, 1]), 2),
        lambda x: tf.math.unsorted_segment_sum(x, [0, 2, 0], 3),
        lambda x: (x, x, tf.constant([1.0, 2.0])),
        lambda x: tf.range(tf.shape(x)[0]),
        lambda x: tf.keras.ops.argmax(x, axis=-1),
        lambda x: tf.linalg.diag_part(tf.matmul(x, x, transpose_a=True)),
        lambda x: tf.math.bincount(tf.cast(tf.abs(x) * 3.0, tf.int32), minlength=9, axis=-1),
        lambda x: tf.sort(tf.cast(x * 10.0, tf.int32), axis=1),
        lambda x: ~tf.cast(x * 10.0, tf.int32) & 7,
        lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x), x),
    ],
)
def test_functions(function):
    check(function, MATRIX)


SLICES = [slice(1, None), slice(None), slice(2), slice(0, 3), slice(1, 3), slice(None, None, 2), slice(-1, None)]


@pytest.mark.parametrize("first", SLICES, ids=str)
@pytest.mark.parametrize("others", [(), *((s,) for s in SLICES), (slice(4),), (..., slice(1, None)),
                                    (tf.newaxis, slice(None)), (1,)], ids=str)  # fmt: skip
def test_slices(first, others):
    check(lambda x: (x[(first, *others)], x + 1.0), MATRIX)


@pytest.mark.parametrize("key", [(...,), (..., None), (..., None, slice(1, None)), (slice(None), None, ..., 0, None),
                                 (slice(1, None), ..., None, 2)], ids=str)  # fmt: skip
def test_slices_of_several_unknown_sizes(key):
    x = rng.standard_normal([2, 4, 3]).astype(np.float32)
    concrete = tf.function(lambda x: x[key]).get_concrete_function(tf.TensorSpec([None, None, 3]))
    content = tf.lite.TFLiteConverter.from_concrete_functions([concrete]).convert()
    np.testing.assert_array_equal(run(content, x)[0], x[key])


def test_integers_of_all_sizes():
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8):
        x = np.array([[1, 2, 3], [4, 5, 100]], dtype)
        check(lambda x: (x + x, x * x, tf.maximum(x, 3), tf.reduce_max(x, axis=1), x > 3, tf.concat([x, x], 1)), x)
    check(lambda x: (tf.stack([x, ~x]), tf.reduce_any(x, 0), x == tf.constant(True)), np.array([[True], [False]]))


def test_three_dimensions():
    x = rng.standard_normal([2, 4, 6, 6, 3]).astype(np.float32)
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    for layer in (layers.Conv3D(4, 2, strides=2), layers.MaxPooling3D(), layers.AveragePooling3D(2, padding="same"),
                  layers.Conv3DTranspose(2, 2, strides=2)):  # fmt: skip
        model = tf.keras.Sequential([tf.keras.Input([4, 6, 6, 3]), layer])
        content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
        assert_close(run(content, x)[0], model(x).numpy(), 1e-5)


def test_checks_and_prints_are_left_out():
    def f(x):
        tf.debugging.assert_all_finite(x, "bad")
        tf.debugging.assert_greater(tf.reduce_sum(x), -1e9)
        tf.print(x)
        return x * 2.0

    assert codes(convert(f, tf.TensorSpec([None, 2]))) == {"MUL": 1}
