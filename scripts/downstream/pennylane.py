"""The gradient of a quantum circuit."""

import pennylane as qml
import tensorflow as tf


@qml.qnode(qml.device("default.qubit", wires=2), interface="tf", diff_method="backprop")
def circuit(weights):
    qml.RX(weights[0], wires=0)
    qml.RY(weights[1], wires=1)
    qml.CNOT(wires=[0, 1])
    return qml.expval(qml.PauliZ(1))


weights = tf.Variable([0.1, 0.2], dtype=tf.float64)
with tf.GradientTape() as tape:
    value = circuit(weights)
assert abs(tape.gradient(value, weights)).numpy().max() > 0.01
