"""Memory, policies and determinism of devices, on a machine that pretends to have a GPU."""

import pytest
import torch

import tapeflow as tf
from tapeflow.core import device
from tapeflow.core.settings import settings

CPU, GPU = (tf.config.PhysicalDevice(f"/physical_device:{kind}:0", kind) for kind in ("CPU", "GPU"))


@pytest.fixture
def machine(monkeypatch):
    """A machine whose devices nobody has used."""
    monkeypatch.setattr(device, "accelerator", lambda index: torch.device("cuda", index))
    monkeypatch.setattr(device.machine, "_physical", [CPU, GPU])
    for name in ("_logical", "_default", "visible"):
        monkeypatch.setattr(device.machine, name, None)
    for name in ("split", "memory_growth"):
        monkeypatch.setattr(device.machine, name, {})
    return device.machine


def test_memory_growth(machine):
    assert tf.config.experimental.get_memory_growth(GPU) is False
    tf.config.experimental.set_memory_growth(GPU, 1)
    assert tf.config.experimental.get_memory_growth(GPU) is True
    tf.config.list_logical_devices()
    tf.config.experimental.set_memory_growth(GPU, True)  # as before
    with pytest.raises(RuntimeError, match="Physical devices cannot be modified after being initialized"):
        tf.config.experimental.set_memory_growth(GPU, False)
    assert tf.config.experimental.get_memory_growth(GPU) is True


def test_memory_growth_is_for_gpus(machine):
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU and non-Pluggable devices"):
        tf.config.experimental.set_memory_growth(CPU, True)
    with pytest.raises(ValueError, match="Memory growth is a setting of GPUs, not of PhysicalDevice"):
        tf.config.experimental.get_memory_growth(CPU)
    for call in (tf.config.experimental.get_memory_growth, lambda d: tf.config.experimental.set_memory_growth(d, True)):
        with pytest.raises(ValueError, match="Unrecognized device: 'x'"):
            call("x")


def test_details_of_a_cpu():
    assert tf.config.experimental.get_device_details(CPU) == {}
    with pytest.raises(ValueError, match=r"obtained from calling `tf.config.list_physical_devices`, but got"):
        tf.config.experimental.get_device_details(tf.config.PhysicalDevice("x", "CPU"))


@pytest.mark.parametrize("name", ["CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0", "cpu:0"])
def test_memory_of_a_cpu(name):
    assert tf.config.experimental.get_memory_info(name) == {"current": 0, "peak": 0}
    assert tf.config.experimental.get_memory_usage(name) == 0
    assert tf.config.experimental.reset_memory_stats(name) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CPU", "Failed parsing device name: 'CPU'. Note a valid device string should at least contain a device type"),
        ("/job:a", "Failed parsing device name: '/job:a'"),
        ("/device:CPU:*", "Failed parsing device name"),
        ("CPU:7", "No matching devices found for 'CPU:7'"),
    ],
)
def test_memory_of_devices_that_are_not_there(name, said):
    for call in (tf.config.experimental.get_memory_info, tf.config.experimental.reset_memory_stats):
        with pytest.raises(ValueError, match=said):
            call(name)


def test_filters_of_devices():
    filters = tf.config.experimental.ClusterDeviceFilters()
    given = ["/job:ps", "/job:worker/task:1"]
    filters.set_device_filters("worker", 1, given)
    filters.set_device_filters("worker", 0, [])
    filters.set_device_filters("ps", 0, ["/job:worker"])
    given.clear()
    assert filters._filters == {"worker": {1: ("/job:ps", "/job:worker/task:1"), 0: ()}, "ps": {0: ("/job:worker",)}}
    with pytest.raises(ValueError, match=r"Device filter spec must be strings. Got \['/job:ps', 3\]"):
        filters.set_device_filters("worker", 0, ["/job:ps", 3])


def test_ops_on_the_cpu_are_listed_in_order(monkeypatch):
    computed = {"Zeta": {"int64", "float32"}, "Add": {"bfloat16"}}
    monkeypatch.setattr(device.machine, "computed_on_cpu", computed)
    found = tf.config.experimental.ops_computed_on_cpu()
    assert [*found.items()] == [("Add", ["bfloat16"]), ("Zeta", ["float32", "int64"])]


def test_policies():
    assert tf.config.experimental.get_device_policy() == "silent"
    try:
        for policy in ("warn", "explicit", "silent_for_int32", "silent"):
            tf.config.experimental.set_device_policy(policy)
            assert tf.config.experimental.get_device_policy() == policy
        tf.config.experimental.set_device_policy("warn")
        with pytest.raises(ValueError, match="It must be one of 'silent', 'silent_for_int32', 'warn', 'explicit'"):
            tf.config.experimental.set_device_policy("")
        assert tf.config.experimental.get_device_policy() == "warn"
    finally:
        tf.config.experimental.set_device_policy(None)
    assert tf.config.experimental.get_device_policy() == "silent"


def test_synchronous_execution():
    assert tf.config.experimental.get_synchronous_execution() is True
    try:
        tf.config.experimental.set_synchronous_execution(False)
        assert tf.config.experimental.get_synchronous_execution() is False
    finally:
        tf.config.experimental.set_synchronous_execution(None)
    assert tf.config.experimental.get_synchronous_execution() is True


def test_determinism(monkeypatch):
    monkeypatch.setattr(settings, "deterministic", False)
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        tf.config.experimental.enable_op_determinism()
        assert settings.deterministic is True
        assert torch.are_deterministic_algorithms_enabled() and torch.is_deterministic_algorithms_warn_only_enabled()
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def test_tensor_float_32():
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    assert tf.config.experimental.tensor_float_32_execution_enabled() is True
    try:
        for enabled in (0, 1):
            tf.config.experimental.enable_tensor_float_32_execution(enabled)
            assert tf.config.experimental.tensor_float_32_execution_enabled() is bool(enabled)
            assert torch.backends.cuda.matmul.allow_tf32 is torch.backends.cudnn.allow_tf32 is bool(enabled)
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before
