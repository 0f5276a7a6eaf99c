"""Ops that TensorFlow 2.21 refuses to run: each computes what its successor computes."""

import numpy as np
import pytest

import tapeflow as tf

R = tf.raw_ops
X = tf.constant([[4.0, 1.0, 3.0], [2.0, 5.0, 9.0]])
IMAGES = tf.reshape(tf.range(48, dtype=tf.float32), [1, 4, 4, 3])
SYMMETRIC = tf.constant([[[2.0, 1.0], [1.0, 3.0]], [[1.0, 0.0], [0.0, 4.0]]])
NORM = {"t": IMAGES, "m": [1.0, 2.0, 3.0], "v": [1.0, 4.0, 0.5], "gamma": [1.0, 2.0, 3.0], "variance_epsilon": 0.1}
BETA = [0.0, 1.0, 2.0]


def eigen(x):
    e, v = tf.linalg.eigh(x)
    return tf.concat([e[..., None, :], v], -2)


def contrast(images, factor, low, high):
    images = np.float32(images)
    mean = images.mean((1, 2), keepdims=True)
    return np.clip((images - mean) * factor + mean, low, high)


def normalized(scaled):
    return tf.nn.batch_normalization(
        IMAGES, NORM["m"], NORM["v"], BETA, NORM["gamma"] if scaled else None, NORM["variance_epsilon"]
    )


CASES = {
    "AccumulateNV2": lambda: (R.AccumulateNV2(inputs=[X, X + 1.0, X], shape=[2, 3]), 3 * X + 1.0),
    "AdjustContrast": lambda: (
        R.AdjustContrast(images=IMAGES, contrast_factor=0.5, min_value=3.0, max_value=30.0),
        contrast(IMAGES, 0.5, 3.0, 30.0),
    ),
    "AdjustContrast of bytes": lambda: (
        R.AdjustContrast(images=tf.cast(IMAGES, tf.uint8), contrast_factor=2.0, min_value=0.0, max_value=90.0),
        contrast(IMAGES, 2.0, 0.0, 90.0),
    ),
    "AdjustContrast of several images": lambda: (
        R.AdjustContrast(images=tf.concat([IMAGES, 3 - 2 * IMAGES], 0), contrast_factor=1.5, min_value=-70.0,
                         max_value=60.0),
        contrast(tf.concat([IMAGES, 3 - 2 * IMAGES], 0), 1.5, -70.0, 60.0),
    ),
    "Print": lambda: (R.Print(input=X, data=[X[0], "text"], message="said: ", summarize=1), X),
    "Enter": lambda: (R.Enter(data=X, frame_name="f", is_constant=True), X),
    "BatchMatrixDiag": lambda: (R.BatchMatrixDiag(diagonal=X), tf.linalg.diag(X)),
    "BatchMatrixDiagPart": lambda: (R.BatchMatrixDiagPart(input=IMAGES), tf.linalg.diag_part(IMAGES)),
    "BatchMatrixSetDiag": lambda: (
        R.BatchMatrixSetDiag(input=tf.ones([2, 3, 3]), diagonal=X),
        tf.linalg.set_diag(tf.ones([2, 3, 3]), X),
    ),
    "BatchNormWithGlobalNormalization": lambda: (
        R.BatchNormWithGlobalNormalization(**NORM, beta=BETA, scale_after_normalization=True),
        normalized(True),
    ),
    "BatchNormWithGlobalNormalization, unscaled": lambda: (
        R.BatchNormWithGlobalNormalization(**NORM, beta=BETA, scale_after_normalization=False),
        normalized(False),
    ),
    "SelfAdjointEig": lambda: (R.SelfAdjointEig(input=SYMMETRIC[0]), eigen(SYMMETRIC[0])),
    "BatchSelfAdjointEig": lambda: (R.BatchSelfAdjointEig(input=SYMMETRIC), eigen(SYMMETRIC)),
    "TileGrad": lambda: (
        R.TileGrad(input=tf.tile(X, [2, 3]), multiples=[2, 3]), 6 * X),
    "TileGrad of blocks": lambda: (R.TileGrad(input=tf.range(6.0), multiples=[3]), [6.0, 9.0]),
    "SymbolicGradient": lambda: (
        R.SymbolicGradient(
            input=[X, 2 * X], Tout=[tf.float32],
            f=tf.function(lambda x: x * x, autograph=False).get_concrete_function(tf.TensorSpec([2, 3])),
        )[0],
        4 * X * X,
    ),
    "Conv3DBackpropInput": lambda: (
        R.Conv3DBackpropInput(input=tf.ones([1, 2, 3, 3, 1]), **gradients()),
        R.Conv3DBackpropInputV2(input_sizes=[1, 2, 3, 3, 1], **gradients()),
    ),
    "Conv3DBackpropFilter": lambda: (
        R.Conv3DBackpropFilter(input=volume(), **gradients()),
        R.Conv3DBackpropFilterV2(input=volume(), filter_sizes=[2, 2, 2, 1, 1], **gradients(False)),
    ),
}  # fmt: skip


def volume():
    return tf.reshape(tf.range(18.0), [1, 2, 3, 3, 1])


def gradients(with_filter=True):
    options = {"out_backprop": tf.reshape(tf.range(4.0), [1, 1, 2, 2, 1]), "strides": [1] * 5, "padding": "VALID"}
    return {**options, "filter": tf.reshape(tf.range(8.0), [2, 2, 2, 1, 1])} if with_filter else options


@pytest.mark.parametrize("name", CASES)
def test_computes_what_its_successor_computes(name):
    found, expected = CASES[name]()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scaled", [True, False])
def test_gradient_of_normalization(scaled):
    names = ("t", "m", "v", "gamma")
    inputs = [tf.constant(NORM[name]) for name in names]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        options = {**dict(zip(names, inputs, strict=True)), "variance_epsilon": 0.1, "beta": BETA}
        found = R.BatchNormWithGlobalNormalization(**options, scale_after_normalization=scaled)
    dy = IMAGES * 0.1
    expected = tape.gradient(found, inputs, dy, tf.UnconnectedGradients.ZERO)
    given = R.BatchNormWithGlobalNormalizationGrad(**NORM, backprop=dy, scale_after_normalization=scaled)
    for one, other in zip((given.dx, given.dm, given.dv, given.dg), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(given.db, tf.reduce_sum(dy, [0, 1, 2]), rtol=1e-5)


def test_facts_are_strings():
    assert R.Fact().dtype == tf.string and R.Fact().shape == []


def test_prints_what_it_is_given(capfd):
    R.Print(input=X, data=[X[0], tf.constant(7)], message="said: ", summarize=1)
    assert capfd.readouterr().err == "said: [4 ... 3]7\n"


@pytest.mark.parametrize("name", ["MaxPoolV2"])
def test_windows_that_are_no_vectors(name):
    options = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    with pytest.raises(tf.errors.InvalidArgumentError):
        R.MaxPoolV2(input=IMAGES, ksize=[[1, 2, 2, 1]], **options)
    found = tf.function(lambda k: R.MaxPoolV2(input=IMAGES, ksize=k, **options))(tf.constant([1, 2, 2, 1]))
    np.testing.assert_array_equal(found, R.MaxPool(input=IMAGES, ksize=[1, 2, 2, 1], **options))
