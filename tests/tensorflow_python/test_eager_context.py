"""The interface of the eager runtime."""

import sys
import types

import pytest
import torch

import tapeflow as tf
from tapeflow.core.device import machine
from tapeflow_compat.tensorflow_python import eager_context


def test_the_device_of_the_surrounding_scopes():
    context = eager_context.context()
    assert context is eager_context.context()
    assert context.device_name == "" and eager_context.get_device_name() == ""
    assert context.device_spec == tf.DeviceSpec()
    with tf.device("/device:CPU:0"):
        full = "/job:localhost/replica:0/task:0/device:CPU:0"
        assert context.device_name == full and eager_context.get_device_name() == full
        assert context.device_spec == tf.DeviceSpec.from_string(full)
        assert (context.device_spec.device_type, context.device_spec.device_index) == ("CPU", 0)
    assert context.device_name == ""


def test_the_runtime_says_how_ops_run():
    context = eager_context.context()
    assert context.executing_eagerly() is True
    with tf.Graph().as_default():
        assert context.executing_eagerly() is False
        with eager_context.eager_mode():
            assert context.executing_eagerly() is True
    seen = []
    tf.function(lambda: seen.append(context.executing_eagerly()))()
    assert seen == [False]


def test_scopes_of_modes_end_after_errors():
    with pytest.raises(KeyError), eager_context.graph_mode():
        assert not tf.executing_eagerly()
        raise KeyError
    assert tf.executing_eagerly()
    with tf.Graph().as_default() as graph:
        with pytest.raises(KeyError), eager_context.eager_mode():
            raise KeyError
        assert tf.compat.v1.get_default_graph() is graph and not tf.executing_eagerly()
        with eager_context.graph_mode():  # the graph stays
            assert tf.compat.v1.get_default_graph() is graph
        assert not tf.executing_eagerly()


def test_clearing_refills_the_state_of_keras(monkeypatch):
    filled = []
    monkeypatch.setitem(sys.modules, "tapeflow.keras.state", types.SimpleNamespace(fill=lambda: filled.append(1)))
    eager_context.context().clear_kernel_cache()
    assert filled == [1]
    monkeypatch.delitem(sys.modules, "tapeflow.keras.state")
    eager_context.context().clear_kernel_cache()
    assert filled == [1]


def test_the_configuration_of_devices_is_reset():
    before = dict(vars(machine))
    try:
        machine.soft_placement = False
        tf.config.list_logical_devices()
        assert machine.initialized
        eager_context._reset_context()
        assert machine.soft_placement is True and not machine.initialized
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
        assert len(tf.config.list_logical_devices("CPU")) == 3
    finally:
        vars(machine).update(before)


def test_deterministic_ops_end():
    assert not eager_context.is_op_determinism_enabled()
    tf.config.experimental.enable_op_determinism()
    try:
        assert eager_context.is_op_determinism_enabled() is True and torch.are_deterministic_algorithms_enabled()
    finally:
        eager_context.disable_op_determinism()
    assert eager_context.is_op_determinism_enabled() is False and not torch.are_deterministic_algorithms_enabled()


def test_tapes_record_what_they_watch():
    x = tf.constant(1.0)
    watched = eager_context.should_record_backprop
    assert watched([x]) is False
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape():
            assert watched([tf.constant(2.0), x]) is True  # the outer one
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)):
        assert watched([x]) is False  # no tape
    eager_context.async_wait()
