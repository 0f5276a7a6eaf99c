"""Features of the installation, and devices of the machine."""

import platform

import pytest
import torch

import tapeflow as tf
from tapeflow.core.device import machine
from tapeflow.test import availability


@pytest.mark.parametrize(
    ("machine_name", "targets"),
    [
        ("x86_64", {"x86"}), ("AMD64", {"x86"}), ("i686", {"x86"}), ("aarch64", {"aarch64"}), ("arm64", {"aarch64"}),
        ("armv7l", {"arm"}), ("riscv64", set()),
    ],
)  # fmt: skip
def test_architectures(monkeypatch, machine_name, targets):
    monkeypatch.setattr(platform, "machine", lambda: machine_name)
    names = ("x86", "aarch64", "arm", "z80", "")
    assert {name for name in names if tf.test.is_cpu_target_available(name)} == targets


@pytest.mark.parametrize(("cuda", "hip"), [("12.4", None), (None, "6.0"), (None, None)])
def test_vendors(monkeypatch, cuda, hip):
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.version, "hip", hip)
    assert tf.test.is_built_with_cuda() is (cuda is not None)
    assert tf.test.is_built_with_rocm() is (hip is not None)
    assert tf.test.is_built_with_xla() is False


@pytest.mark.parametrize("accelerator", [None, torch.device("cuda")])
def test_accelerators(monkeypatch, accelerator):
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: accelerator)
    assert tf.test.is_built_with_gpu_support() is (accelerator is not None)


class Device:
    def __init__(self, kind, index=0):
        self.kind = self.device_type = kind
        self.index = index


@pytest.mark.parametrize(
    ("devices", "cuda", "options", "expected"),
    [
        (["CPU"], None, {}, False),
        (["CPU", "GPU"], None, {}, True),
        (["CPU", "GPU"], None, {"cuda_only": True}, False),
        (["CPU"], "12", {}, False),
        (["CPU", "GPU"], "12", {}, True),
        (["CPU", "GPU"], "12", {"cuda_only": True}, True),
        (["CPU", "GPU"], "12", {"min_cuda_compute_capability": (7, 5)}, True),
        (["CPU", "GPU"], "12", {"min_cuda_compute_capability": (7, 6)}, False),
        (["CPU", "GPU", "GPU"], "12", {"min_cuda_compute_capability": (8, 0)}, True),
        (["CPU", "GPU", "GPU"], "12", {"min_cuda_compute_capability": (9, 1)}, False),
    ],
)
def test_gpus(monkeypatch, devices, cuda, options, expected):
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda index: [(7, 5), (9, 0)][index])
    monkeypatch.setattr(type(machine), "physical_devices", lambda self: [Device(kind) for kind in devices])
    assert availability.is_gpu_available(**options) is expected


@pytest.mark.parametrize(
    ("devices", "expected"),
    [([("CPU", 0)], ""), ([("CPU", 0), ("GPU", 0)], "/device:GPU:0"), ([("GPU", 2), ("GPU", 3)], "/device:GPU:2")],
)
def test_names_of_gpus(monkeypatch, devices, expected):
    monkeypatch.setattr(type(machine), "logical_devices", lambda self: [Device(*device) for device in devices])
    assert tf.test.gpu_device_name() == expected
