"""The public `tf.experimental.dlpack` namespace: tensors that other libraries share, through DLPack capsules."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import dlpack

from tapeflow.core.types.dtypes import FROM_TORCH
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.core.values.variable import Variable


def to_dlpack(tf_tensor: Any) -> Any:
    """A capsule with the memory of a tensor, which one other library takes over.

    Raises:
        InvalidArgumentError: it is no tensor that has a value in memory that libraries share.

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
    # A copy: whoever takes the capsule may write to it, and tensors never change.
    return dlpack.to_dlpack(tensor.value.clone())


def from_dlpack(dlcapsule: Any) -> EagerTensor:
    """The tensor in a capsule, or in an object that gives one.

    Raises:
        RuntimeError: the capsule was taken already.
        TypeError: it is no capsule.

    Example:
        >>> import numpy as np
        >>> tf.experimental.dlpack.from_dlpack(np.array([1.0, 2.0])).numpy().tolist()
        [1.0, 2.0]
    """
    if not hasattr(dlcapsule, "__dlpack__") and type(dlcapsule).__name__ != "PyCapsule":
        raise TypeError(f"from_dlpack takes a DLPack capsule, not {type(dlcapsule).__name__}.")
    value = dlpack.from_dlpack(dlcapsule).clone()  # what another library may write to is no tensor of ours
    return EagerTensor(value, FROM_TORCH[value.dtype])
