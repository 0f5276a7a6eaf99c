"""`keras.distribution` on DTensors: a model trains as on one device, wherever its weights and batches are."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.experimental import dtensor
from worker_processes import free_addresses, run_workers
from worker_programs import keras_sharded

keras = tf.keras
distribution = keras.distribution


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return keras_sharded.train(keras_sharded.build(), str(tmp_path_factory.mktemp("alone") / "model.keras"))


def assert_alike(result, alone):
    for name, values in alone["history"].items():
        assert result["history"][name] == pytest.approx(values, rel=1e-4), name
    assert result["evaluated"] == pytest.approx(alone["evaluated"], rel=1e-3)
    np.testing.assert_allclose(result["predicted"], alone["predicted"], rtol=1e-3, atol=1e-3)
    assert result["restored"]


def model_parallel():
    mesh = distribution.DeviceMesh((2, 2), ["batch", "model"], devices=[f"cpu:{i}" for i in range(4)])
    layouts = distribution.LayoutMap(mesh)
    layouts[".*conv2d.*kernel"] = (None, None, None, "model")
    layouts[".*dense.*kernel"] = (None, "model")
    layouts[".*(conv2d|dense).*bias"] = ("model",)
    layouts["sequential.*/flatten.*/output"] = ("batch", None)
    return distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")


def data_parallel():
    return distribution.DataParallel(devices=["cpu:0", "cpu:1"])


@pytest.mark.parametrize(("create", "parts"), [(data_parallel, 1), (model_parallel, 2)], ids=["data", "model"])
def test_training_is_that_of_one_device(alone, create, parts, tmp_path):
    with create().scope():
        model = keras_sharded.build()
        result = keras_sharded.train(model, str(tmp_path / "model.keras"))
    assert_alike(result, alone)
    kernel = model.layers[-1].kernel
    momentum = next(v for v in model.optimizer.variables if v.shape == kernel.shape)
    for variable in (kernel, momentum):
        assert dtensor.unpack(variable.value)[0].shape.num_elements() * parts == int(np.prod(kernel.shape))
    read = keras.models.load_model(tmp_path / "model.keras")  # without a distribution
    assert read.layers[-1].kernel.value.__class__ is type(tf.Variable(1.0))
    np.testing.assert_array_equal(read.layers[-1].kernel.numpy(), kernel.numpy())


def test_two_processes_divide_weights_and_momenta(alone, tmp_path):
    addresses = ",".join(free_addresses(2))
    environments = [{"KERAS_DISTRIBUTION_PROCESS_ID": str(i)} for i in range(2)]
    workers = run_workers("keras_sharded", environments, addresses, str(tmp_path / "model"))
    for worker in workers:
        assert worker.code == 0, worker.errors
        assert worker.result["agreed"] == workers[0].result["agreed"]
        assert worker.result["devices"] == ["cpu:0", "cpu:1"]
        for kind in ("weights", "momenta"):
            whole, own = worker.result[kind]
            assert own == whole / 2, kind
        assert_alike(worker.result, alone)


def test_batches_and_arrays():
    x, y = keras_sharded.data()
    with data_parallel().scope():
        model = keras_sharded.build()
        loss, _ = model.train_on_batch(x[:15], y[:15])  # which two devices can't divide
        assert model.predict(x[:5], batch_size=3, verbose=0).shape == (5, 4)
        assert model(x[:4]).shape == (4, 4)
    same = keras_sharded.build()
    assert loss == pytest.approx(same.train_on_batch(x[:15], y[:15])[0], rel=1e-4)
    assert model.predict(x[:5], verbose=0).shape == (5, 4)  # outside of the distribution


def test_tensors_in_layouts():
    mesh = distribution.DeviceMesh((2,), ["x"], devices=["cpu:0", "cpu:1"])
    layout = distribution.TensorLayout(("x", None), mesh)
    divided = distribution.distribute_tensor(tf.ones([4, 3]), layout)
    assert dtensor.fetch_layout(divided).sharding_specs == ["x", dtensor.UNSHARDED]
    in_function = tf.function(lambda x: distribution.distribute_tensor(2.0 * x, layout))(tf.ones([4, 3]))
    assert [p.shape.as_list() for p in dtensor.unpack(in_function)] == [[2, 3], [2, 3]]
    assert distribution.get_device_count("cpu") == len(distribution.list_devices("cpu")) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be divisible by the sharding"):
        distribution.distribute_tensor(tf.ones([3, 3]), layout)


def test_addresses_and_processes_agree_in_number():
    with pytest.raises(ValueError, match="has 3 jobs, but num_processes is 2"):
        distribution.initialize("a:1,b:1,c:1", 2, 0)


class VariableOfKeras312(tf.keras.Variable):
    """A variable as of Keras 3.12, which has no `_layout`."""

    def __getattribute__(self, name):
        if name == "_layout":
            raise AttributeError(name)
        return super().__getattribute__(name)


def test_variables_without_layouts():
    assert VariableOfKeras312([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]
