"""Training with data, model and spatial parallelism, on the devices of one process and on processes."""

import numpy as np
import pytest

import tapeflow as tf
from dtensor_network import Network, train
from tapeflow.experimental import dtensor
from worker_processes import free_addresses, run_workers

U, Layout = dtensor.UNSHARDED, dtensor.Layout


@pytest.fixture(scope="module")
def alone():
    return train(Network(None, None), None, None)


def mesh_of(**dims):
    return dtensor.create_mesh(dims, devices=[f"CPU:{i}" for i in range(int(np.prod(list(dims.values()))))])


# The layouts of the weights of both layers, of their biases, and of the features.
WAYS = {
    "data": ({"batch": 4}, ([U, U], [U], [U, U], [U]), ["batch", U]),
    "model": ({"batch": 2, "model": 2}, ([U, "model"], ["model"], ["model", U], [U]), ["batch", U]),
    "spatial": ({"batch": 2, "space": 2}, (["space", U], [U], [U, U], [U]), ["batch", "space"]),
    "weights": ({"batch": 4}, (["batch", U], ["batch"], ["batch", U], [U]), ["batch", U]),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_losses_are_those_of_one_device(alone, way, compiled):
    dims, layouts, features = WAYS[way]
    mesh = mesh_of(**dims)
    network = Network(mesh, layouts)
    losses, gradients = train(network, Layout(features, mesh), Layout(["batch"], mesh), compiled)
    assert losses == pytest.approx(alone[0], rel=1e-5)
    for variable, gradient, expected in zip(network.variables_, gradients, alone[1], strict=True):
        dtensor.check_layout(gradient, variable.layout)
        whole = dtensor.relayout(gradient, Layout.replicated(mesh, gradient.shape.rank))
        assert whole.numpy() == pytest.approx(expected.numpy(), abs=1e-5)


def test_training_goes_on_from_a_checkpoint_in_another_layout(alone, tmp_path):
    dims, layouts, features = WAYS["data"]
    mesh = mesh_of(**dims)
    network = Network(mesh, layouts)
    train(network, Layout(features, mesh), Layout(["batch"], mesh), steps=2)
    path = dtensor.DTensorCheckpoint(mesh, network=network).save(str(tmp_path / "ck"))
    dims, layouts, features = WAYS["model"]
    mesh = mesh_of(**dims)
    other = Network(mesh, layouts)
    dtensor.DTensorCheckpoint(mesh, network=other).restore(path).assert_consumed()
    losses, _ = train(other, Layout(features, mesh), Layout(["batch"], mesh), steps=2)
    assert losses == pytest.approx(alone[0][2:4], rel=1e-5)


def test_two_processes_divide_weights_gradients_and_optimizer_state(alone, tmp_path):
    jobs = free_addresses(2)
    environments = [{"DTENSOR_JOBS": ",".join(jobs), "DTENSOR_CLIENT_ID": str(i)} for i in range(2)]
    for worker in run_workers("sharded_weights", environments, str(tmp_path / "both")):
        assert worker.code == 0, worker.errors
        assert worker.result["losses"] == pytest.approx(alone[0], rel=1e-5)
        whole = worker.result["bytes"]["whole"]
        for kind in ("weights", "gradients", "momenta"):
            assert worker.result["bytes"][kind] == whole / 2, kind
        assert worker.result["restored"]
        assert worker.result["placed"] == {"max": 3.0, "product": 2.0, "columns": [[1.0], [3.0]]}
    saved = tf.train.load_checkpoint(str(tmp_path / "both"))
    assert saved.get_variable_to_shape_map()["network/w1/.ATTRIBUTES/VARIABLE_VALUE"] == [16, 12]
