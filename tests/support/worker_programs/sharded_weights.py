"""Training whose weights, gradients and momenta are divided over processes; counts the bytes that this one has."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import tapeflow as tf
from dtensor_network import Network, train
from tapeflow.experimental import dtensor

U, Layout = dtensor.UNSHARDED, dtensor.Layout


def nbytes(tensors):
    return sum(part.numpy().nbytes for t in tensors for part in dtensor.unpack(t))


def main(path):
    dtensor.initialize_accelerator_system("CPU")
    mesh = dtensor.create_distributed_mesh([("batch", 2)], device_type="CPU")
    network = Network(mesh, (["batch", U], ["batch"], ["batch", U], ["batch"]))
    features, labels = Layout(["batch", U], mesh), Layout(["batch"], mesh)
    losses, gradients = train(network, features, labels, steps=4)
    momenta = [dtensor.DVariable(tf.zeros(v.shape), layout=v.layout) for v in network.variables_]
    for momentum, gradient in zip(momenta, gradients, strict=True):
        momentum.assign(0.9 * momentum + gradient)
    counted = {"weights": nbytes(network.variables_), "gradients": nbytes(gradients), "momenta": nbytes(momenta)}
    counted["whole"] = sum(4 * v.shape.num_elements() for v in network.variables_)
    checkpoint = dtensor.DTensorCheckpoint(mesh, network=network)
    checkpoint.write(path)
    before = [dtensor.unpack(v)[0].numpy().tolist() for v in network.variables_]
    for v in network.variables_:
        v.assign(tf.zeros(v.shape))
    checkpoint.read(path).assert_consumed()
    own = dtensor.pack([[float(dtensor.client_id()) + 1.0]], Layout(["batch"], mesh))
    table = dtensor.relayout([[1.0, 2.0], [3.0, 4.0]], Layout(["batch", U], mesh))
    columns = dtensor.unpack(dtensor.relayout(tf.reduce_sum(table[:, tf.newaxis], 1), Layout([U, "batch"], mesh)))
    placed = {
        "max": float(tf.reduce_max(own)) + 1.0,
        "product": float(tf.reduce_prod(own)),
        "columns": (columns[0].numpy() - dtensor.client_id()).tolist(),
    }
    dtensor.barrier(mesh, timeout_in_ms=60_000)
    print(
        json.dumps({
            "losses": losses, "bytes": counted, "placed": placed,
            "restored": before == [dtensor.unpack(v)[0].numpy().tolist() for v in network.variables_],
        })
    )  # fmt: skip


main(sys.argv[1])
