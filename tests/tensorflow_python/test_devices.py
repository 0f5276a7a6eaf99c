"""The devices of this machine."""

import types

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import devices


def test_local_devices():
    found = devices.list_local_devices()
    assert [d.name for d in found] == [d.name for d in tf.config.list_logical_devices()]
    assert found[0].device_type == "CPU" and found[0].physical_device_desc == "" and found[0].memory_limit == 0
    assert devices.list_local_devices(session_config=None) == found


def test_descriptions_of_gpus(monkeypatch):
    listed = [types.SimpleNamespace(name=f"/device:{kind}", device_type=kind[:3]) for kind in ("CPU:1", "GPU:12")]
    monkeypatch.setattr(devices, "list_logical_devices", lambda: listed)
    assert devices.list_local_devices() == [
        ("/device:CPU:1", "CPU", 0, ""), ("/device:GPU:12", "GPU", 0, "device: 12, name: GPU"),
    ]  # fmt: skip


def test_the_number_of_gpus(monkeypatch):
    assert devices.num_gpus() == len(tf.config.list_physical_devices("GPU"))
    monkeypatch.setattr(devices, "list_physical_devices", lambda kind: [kind, kind])
    assert devices.num_gpus() == 2


@pytest.mark.parametrize(
    ("configured", "number", "expected"),
    [(None, 1, None), (None, 2, 2), ([1, 2], 2, None), ([1, 2], 3, 3), ([], 1, None)],
)
def test_the_cpu_is_divided_unless_there_are_enough(configured, number, expected, monkeypatch):
    calls = []
    monkeypatch.setattr(devices, "list_physical_devices", lambda kind: [f"first {kind}", "second"])
    monkeypatch.setattr(devices, "get_logical_device_configuration", lambda device: configured)
    monkeypatch.setattr(devices, "set_logical_device_configuration", lambda *args: calls.append(args))
    devices.set_virtual_cpus_to_at_least(number)
    one = tf.config.LogicalDeviceConfiguration()
    assert calls == ([] if expected is None else [("first CPU", [one] * expected)])


@pytest.mark.parametrize("number", [0, -1])
def test_there_is_at_least_one_cpu(number):
    with pytest.raises(ValueError, match=f"`num` must be at least 1 not {number}"):
        devices.set_virtual_cpus_to_at_least(number)
