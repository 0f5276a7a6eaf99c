"""Members of layers that wrappers of cells have: weights, losses, metrics, shapes."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow_compat.rnn_cells.wrappers import _CellWrapper


class Counter:
    state_size = output_size = 3

    def __call__(self, inputs, state, factor=1.0):
        return inputs * factor + state, state + 1.0


class Plain(_CellWrapper):
    """A wrapper that changes nothing."""


@pytest.fixture
def cell():
    return tf.nn.RNNCellResidualWrapper(Counter())


def test_new_weights(cell):
    default = cell.add_weight()
    assert default.shape == [] and default.dtype == tf.float32 and float(default) == 0.0 and default.trainable
    shaped = cell.add_weight("w", [2, 3], tf.float64, tf.compat.v1.ones_initializer(), trainable=True)
    assert shaped.numpy().tolist() == [[1.0] * 3] * 2 and shaped.dtype == tf.float64 and shaped.name == "w:0"
    limited = cell.add_variable("limited", [2], constraint=tf.nn.relu, trainable=False)
    assert limited.constraint is tf.nn.relu and limited.trainable is False
    assert cell.count_params() == 1 + 6 + 2
    assert [v.name for v in cell.non_trainable_weights] == ["limited:0"] and len(cell.trainable_weights) == 2
    cell.trainable = False
    assert cell.trainable_weights == [] and len(cell.non_trainable_weights) == len(cell.weights) == 3


def test_values_of_weights(cell):
    for name in ("a", "b"):
        cell.add_weight(name, [2])
    cell.set_weights([[1.0, 2.0], np.array([3.0, 4.0])])
    assert [v.tolist() for v in cell.get_weights()] == [[1.0, 2.0], [3.0, 4.0]]
    for values in ([[1.0, 2.0]], [[1.0, 2.0]] * 3):
        with pytest.raises(ValueError):
            cell.set_weights(values)


def test_losses_and_metrics(cell):
    weight = cell.add_weight("w", [2], regularizer=lambda w: tf.reduce_sum(w) * 0.5)
    cell.add_loss([tf.constant(1.0), lambda: tf.constant(2.0)])
    weight.assign([4.0, 6.0])
    assert [float(loss) for loss in cell.losses] == [5.0, 1.0, 2.0]
    assert [float(loss) for loss in cell.get_losses_for(None)] == [5.0, 1.0, 2.0]
    cell.add_metric(3.0, name="three")
    metrics = cell.metrics
    assert metrics == [3.0]
    metrics.append(4.0)
    assert cell.metrics == [3.0]  # a copy
    cell.add_update([1])
    assert cell.updates == cell.get_updates_for(None) == []


def test_masks(cell):
    assert cell.compute_mask(1) is None and cell.compute_mask(1, [None, None]) == [None, None]
    with pytest.raises(TypeError, match="does not support masking, but was passed an input_mask"):
        cell.compute_mask(1, [None, True])


def test_shapes_of_outputs(cell):
    assert cell.compute_output_shape([7, 2]) == tf.TensorShape([7, 3])
    spec = cell.compute_output_signature(tf.TensorSpec([None, 2], tf.float64))
    assert spec == tf.TensorSpec([None, 3], tf.float64)


def test_layers_that_are_not_connected(cell):
    for name in ("input", "output", "input_shape", "output_mask"):
        with pytest.raises(AttributeError, match=r"is not connected: it has no node, input or output\."):
            getattr(cell, name)
    assert cell.inbound_nodes == cell.outbound_nodes == []
    assert cell.finalize_state() is None


def test_a_wrapper_calls_its_cell():
    wrapper = Plain(Counter())
    output, state = wrapper(tf.ones([1, 3]), tf.fill([1, 3], 2.0), factor=4.0)
    assert output.numpy().tolist() == [[6.0] * 3] and state.numpy().tolist() == [[3.0] * 3]
    output, _ = wrapper.apply(tf.ones([1, 3]), tf.zeros([1, 3]), factor=5.0)
    assert output.numpy().tolist() == [[5.0] * 3]
    assert wrapper.state_size == wrapper.output_size == 3
    assert wrapper.get_initial_state(batch_size=2, dtype=tf.float32).shape == [2, 3]
    assert wrapper.get_initial_state(inputs=tf.zeros([4, 1], tf.float64)).dtype == tf.float64
