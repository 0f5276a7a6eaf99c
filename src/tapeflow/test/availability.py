"""Features of the installation, and devices of the machine."""

from __future__ import annotations

import platform

import torch

from tapeflow.core.device import machine

_TARGETS = {"x86": ("x86_64", "AMD64", "i386", "i686"), "aarch64": ("aarch64", "arm64"), "arm": ("armv7l",)}


def is_built_with_cuda() -> bool:
    """Returns True if the kernels can run on NVIDIA's GPUs.

    Returns:
        True or False.

    Example:
        >>> tf.test.is_built_with_cuda() in (True, False)
        True
    """
    return torch.version.cuda is not None


def is_built_with_rocm() -> bool:
    """Returns True if the kernels can run on AMD's GPUs.

    Returns:
        True or False.

    Example:
        >>> tf.test.is_built_with_rocm() in (True, False)
        True
    """
    return torch.version.hip is not None


def is_built_with_gpu_support() -> bool:
    """Returns True if the kernels can run on GPUs of any vendor.

    Returns:
        True or False.

    Example:
        >>> tf.test.is_built_with_gpu_support() or not tf.test.is_built_with_cuda()
        True
    """
    return torch.accelerator.current_accelerator() is not None


def is_built_with_xla() -> bool:
    """Returns True if `tf.function(jit_compile=True)` compiles with XLA.

    Returns:
        False: TorchInductor compiles it.

    Example:
        >>> tf.test.is_built_with_xla()
        False
    """
    return False


def is_cpu_target_available(target: str) -> bool:
    """Returns True if this is a machine of an architecture.

    Args:
        target: `x86`, `aarch64` or `arm`.

    Returns:
        True or False.

    Example:
        >>> tf.test.is_cpu_target_available("z80")
        False
    """
    return platform.machine() in _TARGETS.get(target, ())


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None) -> bool:
    """Returns True if there is a GPU; `tf.config.list_physical_devices("GPU")` lists them.

    Args:
        cuda_only: whether only CUDA devices count.
        min_cuda_compute_capability: the least compute capability that counts, `(major, minor)`.

    Returns:
        True or False.

    Example:
        >>> tf.test.is_gpu_available() == bool(tf.config.list_physical_devices("GPU"))
        True
    """
    gpus = [d for d in machine.physical_devices() if d.device_type == "GPU"]
    if not is_built_with_cuda():  # no other GPU has a compute capability
        return bool(gpus) and not cuda_only
    least = min_cuda_compute_capability or (0, 0)
    return any(torch.cuda.get_device_capability(index) >= least for index, _ in enumerate(gpus))


def gpu_device_name() -> str:
    """Returns the name of the first GPU.

    Returns:
        Its name, or `""` if there is none.

    Example:
        >>> tf.test.gpu_device_name() in ("", "/device:GPU:0")
        True
    """
    return next((f"/device:GPU:{d.index}" for d in machine.logical_devices() if d.kind == "GPU"), "")
