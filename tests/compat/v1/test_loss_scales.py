"""Loss scales of TensorFlow 1: when they grow and shrink, and how an optimizer uses them."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
mixed = v1.mixed_precision


@pytest.mark.parametrize(
    ("value", "message"),
    [("8", "must be a Python int or float"), (0.5, "must be at least 1"), (0, "must be at least 1")],
)
def test_scales_that_are_none(value, message):
    with pytest.raises(ValueError, match=message):
        mixed.FixedLossScale(value)


def test_a_fixed_scale():
    scale = mixed.FixedLossScale(8)
    assert scale().numpy() == 8.0
    assert scale().dtype == tf.float32
    update, apply = scale.update([tf.constant(np.nan)])
    assert update is None
    assert apply is True
    assert scale.get_config() == {"loss_scale_value": 8.0}
    assert mixed.FixedLossScale.from_config({"loss_scale_value": 4.0})().numpy() == 4.0
    assert repr(scale) == "FixedLossScale(8.0)"
    assert mixed.FixedLossScale(1)().numpy() == 1.0


def test_a_dynamic_scale_by_default():
    scale = mixed.DynamicLossScale()
    assert (scale.initial_loss_scale, scale.increment_period, scale.multiplier) == (2.0**15, 2000, 2.0)
    assert scale().numpy() == 2.0**15
    assert scale().dtype == tf.float32
    assert scale.get_config() == {"initial_loss_scale": 32768.0, "increment_period": 2000, "multiplier": 2.0}


def test_growth_and_decline():
    scale = mixed.DynamicLossScale(initial_loss_scale=8, increment_period=2, multiplier=4)
    good, bad = [tf.constant([1.0, 2.0]), None], [tf.constant([1.0, np.inf]), tf.constant(1.0)]
    found = []
    for grads in (good, good, good, bad, good, bad, bad, bad, good, good):
        _, finite = scale.update(grads)
        found.append((float(scale()), bool(finite)))
    assert found == [
        (8.0, True), (32.0, True), (32.0, True), (8.0, False), (8.0, True), (2.0, False), (1.0, False), (1.0, False),
        (1.0, True), (4.0, True),
    ]  # fmt: skip
    slices = tf.IndexedSlices(tf.constant([[np.nan]]), tf.constant([0]), tf.constant([3, 1]))
    assert not scale.update([slices])[1]
    again = mixed.DynamicLossScale.from_config(scale.get_config())
    assert again().numpy() == 8.0
    assert again.increment_period == 2
    assert again.multiplier == 4.0


def test_a_scale_that_would_overflow_stays():
    scale = mixed.DynamicLossScale(initial_loss_scale=3e38, increment_period=1)
    scale.update([tf.constant(1.0)])
    assert scale().numpy() == np.float32(3e38)


def test_scales_are_saved(tmp_path):
    scale = mixed.DynamicLossScale(16, 1)
    scale.update([tf.constant(1.0)])
    path = tf.train.Checkpoint(scale=scale).save(str(tmp_path / "m"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "scale/current_loss_scale/.ATTRIBUTES/VARIABLE_VALUE" in names
    assert "scale/good_steps/.ATTRIBUTES/VARIABLE_VALUE" in names
    other = mixed.DynamicLossScale(2, 1)
    tf.train.Checkpoint(scale=other).restore(path).assert_consumed()
    assert other().numpy() == 32.0


def test_own_scales():
    class Mine(mixed.LossScale):
        def __init__(self, first=4.0):
            super().__init__()
            self.scale = self._add_weight("scale", first, tf.float32)

        def __call__(self):
            return tf.convert_to_tensor(self.scale)

        def update(self, grads):
            self.scale.assign(self.scale + 1.0)
            return None, True

        def get_config(self):
            return {"first": 4.0}

    scale = Mine.from_config({"first": 5.0})
    assert scale().numpy() == 5.0
    assert not scale.scale.trainable
    with pytest.raises(RuntimeError, match="Duplicate variables detected"):
        scale._add_weight("scale", 1.0)
    with pytest.raises(TypeError):
        mixed.LossScale()


# ---- optimizers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [8.0, "dynamic", "fixed"])
def test_gradients_are_scaled_back(given):
    scale = mixed.FixedLossScale(8.0) if given == "fixed" else given
    v, rows = tf.Variable([1.0, 2.0]), tf.Variable([[1.0], [2.0], [3.0]])
    optimizer = mixed.MixedPrecisionLossScaleOptimizer(v1.train.GradientDescentOptimizer(0.5), scale)

    def loss():
        return tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(rows, [2, 0]))

    pairs = optimizer.compute_gradients(loss, [v, rows])
    assert pairs[0][0].numpy().tolist() == [2.0, 4.0]
    assert pairs[0][1] is v
    assert isinstance(pairs[1][0], tf.IndexedSlices)
    assert pairs[1][0].values.numpy().tolist() == [[1.0], [1.0]]
    optimizer.apply_gradients(pairs)
    assert v.numpy().tolist() == [0.0, 0.0]
    assert rows.numpy().tolist() == [[0.5], [2.0], [2.5]]


def test_steps_with_infinite_gradients_are_dropped():
    v, step = tf.Variable([1.0, 2.0]), tf.Variable(0)
    scale = mixed.DynamicLossScale(8, 1)
    optimizer = mixed.MixedPrecisionLossScaleOptimizer(v1.train.MomentumOptimizer(0.5, 0.9), scale)
    optimizer.apply_gradients([(tf.constant([np.nan, 1.0]), v)], step)
    assert v.numpy().tolist() == [1.0, 2.0]
    assert scale().numpy() == 4.0
    assert step.numpy() == 0
    optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)], step)
    assert v.numpy().tolist() == [0.5, 1.5]
    assert scale().numpy() == 8.0
    assert step.numpy() == 1
    assert len(optimizer.variables()) == 3


def test_in_graphs():
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [])
        v = v1.get_variable("v", initializer=1.0)
        scale = mixed.DynamicLossScale(8, 1)
        optimizer = mixed.MixedPrecisionLossScaleOptimizer(v1.train.GradientDescentOptimizer(0.25), scale)
        train = optimizer.minimize(v * x)
        sess.run(v1.global_variables_initializer())
        sess.run(train, {x: 2.0})
        assert sess.run([v, scale()]) == [0.5, 16.0]
        sess.run(train, {x: np.inf})
        assert sess.run([v, scale()]) == [0.5, 8.0]


def test_wrapped_optimizers():
    optimizer = v1.train.GradientDescentOptimizer(0.5)
    wrapped = v1.train.experimental.enable_mixed_precision_graph_rewrite(optimizer)
    assert type(wrapped).__name__ == "MixedPrecisionLossScaleOptimizer"
    with pytest.raises(ValueError, match='"opt" must not already be an instance'):
        v1.train.experimental.enable_mixed_precision_graph_rewrite(wrapped)
    with pytest.raises(ValueError, match='"opt" must be an instance'):
        v1.train.experimental.enable_mixed_precision_graph_rewrite(3)
    with pytest.raises(ValueError, match="Could not interpret loss scale identifier: static"):
        mixed.MixedPrecisionLossScaleOptimizer(optimizer, "static")
    v1.train.experimental.disable_mixed_precision_graph_rewrite()
