"""The configuration of devices, on a machine that pretends to have two GPUs. Errors and results are TensorFlow's."""

import pytest
import torch

import tapeflow as tf
from tapeflow.core import device

CPU, GPU0, GPU1 = (
    tf.config.PhysicalDevice(f"/physical_device:{name}", name[:3]) for name in ("CPU:0", "GPU:0", "GPU:1")
)
PART = tf.config.LogicalDeviceConfiguration


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine whose devices nobody has used."""
    monkeypatch.setattr(device, "accelerator", lambda index: torch.device("cuda", index))
    monkeypatch.setattr(device.machine, "_physical", [CPU, GPU0, GPU1])
    for name in ("_logical", "_default", "visible"):
        monkeypatch.setattr(device.machine, name, None)
    for name in ("split", "memory_growth"):
        monkeypatch.setattr(device.machine, name, {})
    return device.machine


def test_lists_of_devices():
    assert tf.config.list_physical_devices() == [CPU, GPU0, GPU1]
    assert tf.config.list_physical_devices("GPU") == [GPU0, GPU1]
    assert tf.config.list_physical_devices("TPU") == []
    assert tf.config.get_visible_devices() == [CPU, GPU0, GPU1]
    assert tf.config.get_visible_devices("CPU") == [CPU]
    assert tf.config.list_logical_devices("GPU") == [("/device:GPU:0", "GPU"), ("/device:GPU:1", "GPU")]
    assert [d.name for d in tf.config.list_logical_devices()] == ["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"]


def test_visible_devices_of_one_type():
    tf.config.set_visible_devices(GPU1, "GPU")
    assert tf.config.get_visible_devices() == [CPU, GPU1]
    tf.config.set_visible_devices([GPU1, GPU0], "GPU")
    assert tf.config.get_visible_devices() == [CPU, GPU0, GPU1]  # in the machine's order
    tf.config.set_visible_devices([], "CPU")
    assert tf.config.get_visible_devices() == [GPU0, GPU1] and tf.config.get_visible_devices("CPU") == []
    assert tf.config.list_physical_devices("CPU") == [CPU]


def test_visible_devices_of_all_types():
    chosen = [GPU0]
    tf.config.set_visible_devices(chosen)
    assert tf.config.get_visible_devices() == [GPU0] and chosen == [GPU0]
    tf.config.set_visible_devices((CPU, GPU1))
    assert tf.config.get_visible_devices("GPU") == [GPU1]
    tf.config.set_visible_devices(CPU)
    assert tf.config.list_logical_devices() == [("/device:CPU:0", "CPU")]


def test_what_devices_are_refused():
    with pytest.raises(ValueError, match="Unrecognized device: 'x'"):
        tf.config.set_visible_devices(["x"])
    with pytest.raises(ValueError, match=r"Unrecognized device: PhysicalDevice\(name='/physical_device:CPU:0'"):
        tf.config.set_visible_devices([GPU0, CPU], "GPU")
    assert tf.config.get_visible_devices() == [CPU, GPU0, GPU1]
    for call in (
        tf.config.get_logical_device_configuration,
        lambda d: tf.config.set_logical_device_configuration(d, []),
    ):
        with pytest.raises(ValueError, match="Unrecognized device: 'x'"):
            call("x")


def test_visible_devices_are_fixed_when_devices_are_in_use(machine):
    tf.config.set_visible_devices([CPU, GPU0])
    tf.config.list_logical_devices()
    tf.config.set_visible_devices([CPU, GPU0])  # as before
    tf.config.set_visible_devices(GPU0, "GPU")
    for devices, kind in (([CPU], None), ([], "GPU"), ([GPU0, CPU, GPU1], None)):
        with pytest.raises(RuntimeError, match="Visible devices cannot be modified after being initialized"):
            tf.config.set_visible_devices(devices, kind)
    assert machine.visible == [CPU, GPU0]


def test_a_split_cpu():
    assert tf.config.get_logical_device_configuration(CPU) is None
    parts = [PART(), PART()]
    tf.config.set_logical_device_configuration(CPU, parts)
    parts.append(PART())
    assert tf.config.get_logical_device_configuration(CPU) == [PART(), PART()]  # a copy
    assert tf.config.get_logical_device_configuration(GPU0) is None
    tf.config.set_logical_device_configuration(CPU, [PART()] * 3)
    assert len(tf.config.list_logical_devices("CPU")) == 3
    tf.config.set_logical_device_configuration(CPU, [PART()] * 3)  # as before
    for count in (1, 2, 4):
        with pytest.raises(RuntimeError, match="Virtual devices cannot be modified after being initialized"):
            tf.config.set_logical_device_configuration(CPU, [PART()] * count)
    assert tf.config.get_logical_device_configuration(CPU) == [PART()] * 3


def test_limits_of_memory_are_for_gpus():
    for parts in ([PART(memory_limit=10)], [PART(), PART(0)]):
        with pytest.raises(ValueError, match="Setting memory limit on CPU virtual devices is currently not supported"):
            tf.config.set_logical_device_configuration(CPU, parts)
    assert tf.config.get_logical_device_configuration(CPU) is None
    tf.config.set_logical_device_configuration(GPU0, [PART(1000), PART(2000, 1)])
    assert tf.config.get_logical_device_configuration(GPU0) == [(1000, None, None), (2000, 1, None)]
    assert len(tf.config.list_logical_devices("GPU")) == 3


def test_a_gpu_with_memory_growth_is_not_split():
    tf.config.experimental.set_memory_growth(GPU0, True)
    with pytest.raises(ValueError, match="Cannot configure virtual devices: memory growth is set on this device"):
        tf.config.set_logical_device_configuration(GPU0, [PART(1000)])
    tf.config.experimental.set_memory_growth(GPU0, False)
    tf.config.set_logical_device_configuration(GPU0, [PART(1000)])
    tf.config.experimental.set_memory_growth(GPU1, True)
    with pytest.raises(ValueError, match="Cannot set memory growth on device when virtual devices configured"):
        tf.config.experimental.set_memory_growth(GPU0, True)


def test_soft_placement():
    assert tf.config.get_soft_device_placement() is True
    tf.config.set_soft_device_placement(0)
    try:
        assert tf.config.get_soft_device_placement() is False
    finally:
        tf.config.set_soft_device_placement(True)
    assert tf.config.get_soft_device_placement() is True
