"""The public `tf.sysconfig` namespace: how the kernels were built."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import Any

import torch

CXX11_ABI_FLAG = int(torch.compiled_with_cxx11_abi())
CXX_VERSION = 201703
MONOLITHIC_BUILD = 0


def get_lib() -> str:
    """Returns the directory of the package.

    Returns:
        An absolute path.

    Example:
        >>> import os
        >>> os.path.isdir(tf.sysconfig.get_lib())
        True
    """
    return os.path.dirname(os.path.abspath(__file__))


def get_include() -> str:
    """Returns where C++ headers would be. There are none: nothing here is to be linked against.

    Returns:
        An absolute path.

    Example:
        >>> tf.sysconfig.get_include() == tf.sysconfig.get_lib() + "/include"
        True
    """
    return os.path.join(get_lib(), "include")


def get_compile_flags() -> list[str]:
    """Returns the flags with which C++ is compiled, as build scripts ask for them.

    Returns:
        Flags of a compiler.

    Example:
        >>> tf.sysconfig.get_compile_flags()[-1]
        '--std=c++17'
    """
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}", "--std=c++17"]


def get_link_flags() -> list[str]:
    """Returns the flags with which C++ is linked; there is no library to name.

    Returns:
        Flags of a linker.

    Example:
        >>> len(tf.sysconfig.get_link_flags())
        1
    """
    return [f"-L{get_lib()}"]


def get_build_info() -> OrderedDict[str, Any]:
    """Returns how the kernels were built, with CUDA's and cuDNN's versions where there are any.

    Returns:
        A dict from the names of properties to their values.

    Example:
        >>> tf.sysconfig.get_build_info()["is_tensorrt_build"]
        False
    """
    info: OrderedDict[str, Any] = OrderedDict(cpu_compiler=torch.__config__.show().splitlines()[1].strip(" -"))
    if torch.version.cuda:
        info["cuda_version"] = torch.version.cuda
        info["cudnn_version"] = str((torch.backends.cudnn.version() or 0) // 10000)
    info["is_cuda_build"] = torch.version.cuda is not None
    info["is_rocm_build"] = torch.version.hip is not None
    info["is_tensorrt_build"] = False
    return info
