"""The public `tf.sysconfig` namespace: how the kernels were built."""

import os as _os
from collections import OrderedDict as _OrderedDict
from typing import Any as _Any

import torch as _torch

from tapeflow.core.public_names import publish as _publish

CXX11_ABI_FLAG = int(_torch.compiled_with_cxx11_abi())
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
    return _os.path.dirname(_os.path.abspath(__file__))


def get_include() -> str:
    """Returns the path where C++ headers would be. There are none, because there is no library to link.

    Returns:
        An absolute path.

    Example:
        >>> tf.sysconfig.get_include() == tf.sysconfig.get_lib() + "/include"
        True
    """
    return _os.path.join(get_lib(), "include")


def get_compile_flags() -> list[str]:
    """Returns the flags for compiling C++, for build scripts.

    Returns:
        Flags of a compiler.

    Example:
        >>> tf.sysconfig.get_compile_flags()[-1]
        '--std=c++17'
    """
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}", "--std=c++17"]


def get_link_flags() -> list[str]:
    """Returns the flags for linking C++. There is no library to link.

    Returns:
        Flags of a linker.

    Example:
        >>> len(tf.sysconfig.get_link_flags())
        1
    """
    return [f"-L{get_lib()}"]


def get_build_info() -> _OrderedDict[str, _Any]:
    """Returns facts about the build of the kernels, with the versions of CUDA and cuDNN if there are any.

    Returns:
        A dict from the names of properties to their values.

    Example:
        >>> tf.sysconfig.get_build_info()["is_tensorrt_build"]
        False
    """
    info: _OrderedDict[str, _Any] = _OrderedDict(cpu_compiler=_torch.__config__.show().splitlines()[1].strip(" -"))
    if _torch.version.cuda:
        info["cuda_version"] = _torch.version.cuda
        info["cudnn_version"] = str((_torch.backends.cudnn.version() or 0) // 10000)
    info["is_cuda_build"] = _torch.version.cuda is not None
    info["is_rocm_build"] = _torch.version.hip is not None
    info["is_tensorrt_build"] = False
    return info


_publish(globals())
