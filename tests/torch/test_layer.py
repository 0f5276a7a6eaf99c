"""A module of torch as a layer of Keras."""

import copy

import keras
import numpy as np
import pytest
import torch

import tapeflow as tf


def block():
    """A residual block of ResNet, on images with channels first."""

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = torch.nn.Conv2d(3, 3, 3, padding=1, bias=False)
            self.norm = torch.nn.BatchNorm2d(3)
            self.relu = torch.nn.ReLU(inplace=True)
            self.conv2 = torch.nn.Conv2d(3, 3, 3, padding=1)

        def forward(self, x):
            return x + self.conv2(self.relu(self.norm(self.conv1(x))))

    return Block()


@keras.saving.register_keras_serializable("tests")
def small():
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return tf.torch.Layer(small())


X = tf.constant(np.random.default_rng(0).normal(size=(5, 3)), tf.float32)


def test_variables_are_the_modules_parameters(layer):
    weight = layer.variables[0]
    assert [v.path.split("/")[-1] for v in layer.variables] == ["0_weight", "0_bias", "2_weight", "2_bias"]
    weight.assign(tf.ones([4, 3]))
    assert layer.module[0].weight.sum() == 12
    before = weight.value.read_value()
    with torch.no_grad():
        layer.module[0].weight.mul_(2.0)
    assert weight.numpy().sum() == 24
    assert before.numpy().sum() == 12
    layer.module[0].weight.data.fill_(3.0)
    assert weight.numpy().sum() == 36
    weight.assign_add(tf.ones([4, 3]))
    assert layer.module[0].weight.sum() == 48
    layer.module.load_state_dict({n: torch.zeros_like(p) for n, p in layer.module.state_dict().items()})
    assert not any(v.numpy().any() for v in layer.variables)


def test_training_step_is_torchs():
    torch.manual_seed(0)
    module = block()
    twin = copy.deepcopy(module)
    model = tf.keras.Sequential([tf.keras.Input((3, 6, 6)), tf.torch.Layer(module)])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    x = torch.randn(8, 3, 6, 6)
    y = torch.randn(8, 3, 6, 6)
    model.fit(x.numpy(), y.numpy(), batch_size=4, epochs=2, shuffle=False, verbose=0)
    optimizer = torch.optim.SGD(twin.parameters(), 0.1)
    for _ in range(2):
        for part in (slice(4), slice(4, 8)):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(twin(x[part]), y[part]).backward()
            optimizer.step()
    for (name, mine), theirs in zip(module.state_dict().items(), twin.state_dict().values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5, err_msg=name)
    assert module.norm.num_batches_tracked == 4
    np.testing.assert_allclose(model.layers[0].non_trainable_variables[0], twin.norm.running_mean, rtol=1e-4, atol=1e-5)
    evaluated = model.predict(x.numpy(), verbose=0)
    assert not module.training
    np.testing.assert_allclose(evaluated, twin.eval()(x).detach(), rtol=1e-3, atol=1e-4)


def test_adam_trains_it(layer):
    model = tf.keras.Sequential([tf.keras.Input((3,)), layer, tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    x = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
    losses = model.fit(x, x.sum(1, keepdims=True), epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    np.testing.assert_array_equal(layer.module[0].weight.detach(), layer.variables[0])


def test_checkpoint(layer, tmp_path):
    x = layer(X)
    path = tf.train.Checkpoint(layer=layer).save(tmp_path / "checkpoint")
    other = tf.torch.Layer(small())
    tf.train.Checkpoint(layer=other).restore(path).assert_existing_objects_matched()
    np.testing.assert_array_equal(other(X), x)
    np.testing.assert_array_equal(other.module(tf.torch.to_torch(X)).detach(), x)


def test_keras_file(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.torch.Layer(small)])
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(X), model(X))
    model.save_weights(tmp_path / "model.weights.h5")
    other = tf.keras.Sequential([tf.keras.Input((3,)), tf.torch.Layer(small())])
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other(X), model(X))
    with pytest.raises(NotImplementedError, match="registered function"):
        other.layers[0].get_config()


def test_refuses():
    with pytest.raises(TypeError, match=r"torch\.nn\.Module"):
        tf.torch.Layer(3)
    with pytest.raises(TypeError, match=r"torch\.nn\.Module"):
        tf.torch.Layer(lambda: 3)


def test_the_dtype_is_that_of_the_first_of_several_dtypes():
    module = torch.nn.Sequential(torch.nn.Linear(4, 2, dtype=torch.float64), torch.nn.Linear(2, 2))
    assert tf.torch.Layer(module).compute_dtype == "float64"


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_the_dtype_is_that_of_the_parameters(dtype):
    """Keras would cast inputs to the policy's dtype, and can't cast a module's parameters."""
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        layer = tf.torch.Layer(torch.nn.Linear(4, 2).to(getattr(torch, dtype)))
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4), layer])
        model.compile("sgd", "mse")
        x = np.ones([4, 3], "float32")
        model.fit(x, np.ones([4, 2], "float32"), verbose=0)
        assert layer(tf.ones([1, 4])).dtype.name == model(x).dtype.name == dtype
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


def test_a_module_that_averages_gradients_in_backward_is_refused():
    class Averaged(torch.nn.parallel.DistributedDataParallel):
        def __init__(self):  # a process group is not what is tested
            torch.nn.Module.__init__(self)

    with pytest.raises(ValueError, match=r"DistributedDataParallel.*all_reduce"):
        tf.torch.Layer(torch.nn.Sequential(torch.nn.Linear(2, 2), Averaged()))
