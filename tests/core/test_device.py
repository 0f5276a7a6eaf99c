"""Machines, their devices, and scopes that choose one. A machine with GPUs is pretended by its list of devices."""

import pytest
import torch

import tapeflow as tf
from pretended_gpu import pretended_gpu
from tapeflow.core import device

FIRST, SECOND = (f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(2))
CUDA = [torch.device("cuda", i) for i in range(2)]
PHYSICAL = [
    device.PhysicalDevice("/physical_device:CPU:0", "CPU"),
    device.PhysicalDevice("/physical_device:GPU:0", "GPU"),
    device.PhysicalDevice("/physical_device:GPU:1", "GPU"),
]


@pytest.fixture
def gpus(monkeypatch):
    """A machine with two GPUs, of which nothing is configured yet."""
    monkeypatch.setattr(device, "accelerator", CUDA.__getitem__)
    machine = device.Machine()
    machine._physical = PHYSICAL
    return machine


@pytest.fixture
def two_cpus(monkeypatch):
    """Two logical CPUs."""
    monkeypatch.setattr(device.machine, "_logical", [device.Device("CPU", i, device.CPU) for i in range(2)])


def test_this_machine_has_its_cpu_and_the_accelerators_of_torch():
    machine = device.Machine()
    assert machine.physical_devices() == PHYSICAL[:1] + [
        device.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(torch.accelerator.device_count())
    ]
    assert not machine.initialized
    assert machine.logical_devices()[0] == device.Device("CPU", 0, device.CPU)
    assert machine.initialized
    assert machine.logical_devices() is machine.logical_devices()


def test_each_gpu_is_a_logical_device_after_the_cpus(gpus):
    assert gpus.logical_devices() == [("CPU", 0, device.CPU), ("GPU", 0, CUDA[0]), ("GPU", 1, CUDA[1])]
    assert [d.name for d in gpus.logical_devices()] == [FIRST, *(f"{device.PREFIX}GPU:{i}" for i in range(2))]
    assert gpus.default() == CUDA[0] and gpus.has_gpu


def test_only_visible_devices_count(gpus):
    gpus.visible = [PHYSICAL[0], PHYSICAL[2]]
    assert gpus.visible_devices() == [PHYSICAL[0], PHYSICAL[2]]
    assert gpus.logical_devices() == [("CPU", 0, device.CPU), ("GPU", 0, CUDA[1])]
    assert gpus.default() == CUDA[1]


def test_without_a_gpu_the_default_is_the_cpu(gpus):
    gpus.visible = [PHYSICAL[0]]
    assert gpus.logical_devices() == [("CPU", 0, device.CPU)]
    assert gpus.default() is device.CPU and not gpus.has_gpu


def test_devices_may_be_split(gpus, monkeypatch):
    limits = []
    monkeypatch.setattr(device, "_limit_memory", lambda *args: limits.append(args))
    part = device.LogicalDeviceConfiguration
    gpus.split = {PHYSICAL[0]: [part()] * 3, PHYSICAL[1]: [part(10.0)] * 2, PHYSICAL[2]: [part(memory_limit=20.0)]}
    assert gpus.logical_devices() == [
        *(("CPU", i, device.CPU) for i in range(3)),
        *(("GPU", i, CUDA[0]) for i in range(2)),
        ("GPU", 2, CUDA[1]),
    ]
    assert limits == [(CUDA[1], 20.0)]  # the parts of a GPU share its memory


def test_names_of_devices(two_cpus):
    cpus = device.logical_devices()
    assert device.find("") is None and device.find("/job:localhost") is None
    assert device.find("CPU") is cpus[0] and device.find("cpu:1") is cpus[1]
    assert device.find(SECOND) is cpus[1]
    assert device.find("CPU:2") is cpus[0] and device.find("GPU:0") is cpus[0]  # soft placement
    assert [d.kind for d in cpus] == ["CPU", "CPU"] and cpus[1].name == SECOND


def test_devices_that_are_not_there_without_soft_placement(two_cpus, monkeypatch):
    monkeypatch.setattr(device.machine, "soft_placement", False)
    assert device.find("CPU:1").index == 1
    for name, index in (("GPU", 0), ("GPU:3", 3)):
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            device.find(name)
        assert raised.value.message == (
            f"Could not satisfy device specification '{device.PREFIX}GPU:{index}'. enable_soft_placement=0. "
            f"Supported device types [CPU]. All available devices [{FIRST}, {SECOND}]."
        )


@pytest.mark.parametrize(
    "name", ["CPU:1", tf.DeviceSpec(device_type="CPU", device_index=1), device.LogicalDevice("/device:CPU:1", "CPU")]
)
def test_a_scope_takes_names_specs_and_logical_devices(two_cpus, name):
    assert device.current() is None and device.requested_device() == ""
    with tf.device(name):
        assert device.current().index == 1 and device.requested_device() == "/device:CPU:1"
        x = tf.constant([1.0, 2.0])
        assert x.device == SECOND and (x + 1.0).device == SECOND
    assert device.current() is None
    assert tf.constant(1.0).device == FIRST


def test_scopes_in_scopes(two_cpus):
    with tf.device("CPU:1"):
        with tf.device("/job:localhost"):  # it leaves the device open
            assert device.current().index == 1
            assert device.requested_device() == "/job:localhost/device:CPU:1"
        with tf.device("CPU:0"):
            assert device.current().index == 0 and device.requested_device() == "/device:CPU:0"
        with tf.device(None):
            assert device.current() is None and device.requested_device() == ""
            with tf.device("/task:0"):
                assert device.current() is None and device.requested_device() == "/task:0"
            assert tf.constant(1.0).device == FIRST
        assert device.current().index == 1


def test_a_scope_may_be_entered_again(two_cpus):
    scope = tf.device("CPU:1")
    with scope:
        with scope:
            assert tf.constant(1.0).device == SECOND
        assert tf.constant(1.0).device == SECOND
    assert tf.constant(1.0).device == FIRST


def test_scopes_of_a_machine_with_one_device(monkeypatch):
    monkeypatch.setattr(device.machine, "_logical", [device.Device("CPU", 0, device.CPU)])
    with tf.device("CPU:0") as entered:
        assert entered is None
        assert not device.detours  # ops stay on the fast path
        assert device.current().index == 0 and tf.constant(1.0).device == FIRST
    assert device.current() is None


def test_what_a_scope_refuses():
    with pytest.raises(RuntimeError, match="does not support functions when eager"):
        tf.device(lambda op: "CPU:0")
    with pytest.raises(ValueError, match=r"Expecting a string device name. Got <class 'int'>\(3\)"):
        tf.device(3)


def test_the_place_of_new_tensors(monkeypatch):
    assert device.current_or_default() is device.CPU
    mps = torch.device("mps", 0)
    with pretended_gpu(monkeypatch, mps, frozenset([torch.float64])):
        assert device.current_or_default() == device.current_or_default(torch.float32) == mps
        assert device.current_or_default(torch.float64) is device.CPU  # which the GPU lacks
        with tf.device("CPU:0"):
            assert device.current_or_default(torch.float32) == device.CPU
        with tf.device("GPU:0"):
            assert device.current_or_default(torch.float32) == mps
        assert device.holds(mps, torch.float32) and not device.holds(mps, torch.float64)
        assert device.holds(device.CPU, torch.float64) and device.holds(CUDA[0], torch.float64)


def test_values_are_moved_with_those_in_their_lists(monkeypatch):
    mps = torch.device("mps", 0)
    with pretended_gpu(monkeypatch, mps, frozenset([torch.float64])):
        x, y, z = torch.arange(3), torch.tensor(2.5), torch.arange(2, dtype=torch.float64)
        target = device.find("GPU:0")
        values = [x, [y, z, "text"], 7, None]
        moved = device.place(values, target)
        assert moved[0].device == mps and moved[0].cpu().tolist() == [0, 1, 2]
        assert moved[1][0].device == mps and moved[1][0].dtype == torch.float32 and moved[1][0].item() == 2.5
        assert moved[1][1] is z and moved[1][2:] == ["text"] and moved[2:] == [7, None]
        assert values[0] is x and values[1][0] is y  # the caller's list stays as it was
        assert device.move_value(moved[0], mps) is moved[0]
        assert device.move_value(moved[0], device.CPU).tolist() == [0, 1, 2]
        assert device.name_of(moved[0]) == f"{device.PREFIX}GPU:0"
        same = device.place(values, None)
        assert same == values and same is not values
    assert device.name_of(torch.zeros(2)) == FIRST


def test_synchronizing_a_machine_of_cpus_does_nothing(two_cpus):
    device.synchronize()


def test_memory_is_limited_where_torch_can_limit_it():
    with pytest.raises(tf.errors.UnimplementedError, match="torch can't limit the memory on cpu: leave out memory_lim"):
        device._limit_memory(device.CPU, 10.0)
