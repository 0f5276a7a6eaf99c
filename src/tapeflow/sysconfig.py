"""The public `tf.sysconfig` namespace: how the kernels were built."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch


def get_build_info() -> OrderedDict[str, Any]:
    """Returns how the kernels were built, with CUDA's and cuDNN's versions where there are any.

    Returns:
        A dict from the names of properties to their values.

    Example:
        >>> sorted(tf.sysconfig.get_build_info())[:3]
        ['cpu_compiler', 'is_cuda_build', 'is_rocm_build']
    """
    info: OrderedDict[str, Any] = OrderedDict(cpu_compiler=torch.__config__.show().splitlines()[1].strip(" -"))
    if torch.version.cuda:
        info["cuda_version"] = torch.version.cuda
        info["cudnn_version"] = str((torch.backends.cudnn.version() or 0) // 10000)
    info["is_cuda_build"] = torch.version.cuda is not None
    info["is_rocm_build"] = torch.version.hip is not None
    info["is_tensorrt_build"] = False
    return info
