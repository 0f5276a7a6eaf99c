"""The members that wrappers of cells have of layers."""

import pytest

import tapeflow as tf


class Counter:
    state_size = output_size = 1

    def __call__(self, inputs, state):
        return inputs + state, state + 1.0


def test_weights_and_losses():
    cell = tf.nn.RNNCellResidualWrapper(Counter())
    assert (cell.weights, cell.losses, cell.metrics, cell.updates, cell.count_params()) == ([], [], [], [], 0)
    weight = cell.add_weight("w", [2], regularizer=tf.reduce_sum)
    fixed = cell.add_weight("fixed", [], trainable=False)
    cell.set_weights([[1.0, 2.0], 3.0])
    assert [v is w for v, w in zip(cell.weights, (weight, fixed), strict=True)] == [True, True]
    assert cell.trainable_weights[0] is weight and cell.non_trainable_weights[0] is fixed
    assert cell.count_params() == 3 and [loss.numpy() for loss in cell.losses] == [3.0]
    assert [w.tolist() for w in cell.get_weights()] == [[1.0, 2.0], 3.0]


def test_shapes_masks_and_nodes():
    cell = tf.nn.RNNCellDeviceWrapper(Counter(), "cpu:0")
    assert cell.compute_output_shape([2, 1]) == [2, 1] and cell.compute_mask(None) is None
    assert cell.inbound_nodes == [] and not hasattr(cell, "input")
    with pytest.raises(AttributeError, match="is not connected"):
        cell.get_output_at(0)
    output, _ = cell.apply(tf.ones([1, 1]), tf.zeros([1, 1]))
    assert output.numpy().tolist() == [[1.0]]
