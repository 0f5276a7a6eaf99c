"""Tensors in DLPack capsules."""

from __future__ import annotations

import torch
from torch.utils import dlpack

from tapeflow.core.types.dtypes import FROM_TORCH
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.core.values.variable import Variable


def to_dlpack(tf_tensor: Tensor | Variable) -> object:
    """Returns a capsule with a copy of a tensor, for another library.

    Args:
        tf_tensor: a tensor or variable of any shape with a value, of a dtype that DLPack has.

    Returns:
        A DLPack capsule, which can be read once.

    Raises:
        InvalidArgumentError: it is no such tensor.

    Example:
        >>> capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1, 2]))
        >>> tf.experimental.dlpack.from_dlpack(capsule).numpy().tolist()
        [1, 2]
    """
    tensor = tf_tensor._read() if isinstance(tf_tensor, Variable) else tf_tensor
    if not isinstance(tensor, Tensor) or isinstance(tensor, SymbolicTensor):
        raise invalid(f"The argument to `to_dlpack` must be a TF tensor, not {type(tf_tensor).__name__}")
    if not isinstance(tensor.value, torch.Tensor):
        raise invalid(f"DLPack has no tensors of {tensor.dtype.name}")
    # A copy: the other library may write to it, and tensors never change.
    return dlpack.to_dlpack(tensor.value.clone())


def from_dlpack(dlcapsule: object) -> EagerTensor:
    """Returns a tensor with a copy of the values of a capsule.

    Args:
        dlcapsule: a DLPack capsule, or an object with a method `__dlpack__`.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        RuntimeError: the capsule was read already.
        TypeError: it is no capsule.

    Example:
        >>> import numpy as np
        >>> tf.experimental.dlpack.from_dlpack(np.array([1.0, 2.0])).numpy().tolist()
        [1.0, 2.0]
    """
    if not hasattr(dlcapsule, "__dlpack__") and type(dlcapsule).__name__ != "PyCapsule":
        raise TypeError(f"from_dlpack takes a DLPack capsule, not {type(dlcapsule).__name__}.")
    value = dlpack.from_dlpack(dlcapsule).clone()  # the other library may write to its memory
    return EagerTensor(value, FROM_TORCH[value.dtype])
