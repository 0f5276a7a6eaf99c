"""Tensors of TapeFlow and of torch, in the same memory.

A `tf.Tensor` never changes, and a `torch.Tensor` may be written to. So the two share their memory until either is
written to, and then part: torch copies on write (`alias`). Nothing is copied where nobody writes.
"""

from __future__ import annotations

import torch

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH
from tapeflow.core.values.tensor import EagerTensor, Tensor, alias


def from_torch(x: torch.Tensor) -> Tensor:
    """Returns the tensor of a `torch.Tensor`, in the same memory, on the same device.

    Writing to `x` later does not change the result: torch copies the memory then. It is copied at once where torch
    can't tell who writes: in memory that NumPy or another library owns. Through an array that `x.numpy()` returned
    before this call, writing changes both.

    Args:
        x: a dense `torch.Tensor` of any shape and of a dtype that TensorFlow has. Its autograd history is left behind:
            use `tapeflow.torch.Layer` for gradients of torch's.

    Returns:
        A `tf.Tensor` of the same shape and dtype.

    Raises:
        TypeError: `x` is no dense `torch.Tensor`, or TensorFlow has no such dtype.

    Example:
        >>> import torch
        >>> x = torch.ones(3)
        >>> t = tf.torch.from_torch(x)
        >>> x.zero_()
        tensor([0., 0., 0.])
        >>> t.numpy().tolist()
        [1.0, 1.0, 1.0]
    """
    if not isinstance(x, torch.Tensor) or x.layout != torch.strided:
        raise TypeError(f"from_torch takes a dense torch.Tensor, not {x!r}.")
    dtype = FROM_TORCH.get(x.dtype)
    if dtype is None:
        raise TypeError(f"TensorFlow has no dtype {x.dtype}.")
    return EagerTensor(alias(x), dtype)


def to_torch(x: TensorLike) -> torch.Tensor:
    """Returns the `torch.Tensor` of a tensor, in the same memory, on the same device.

    Writing to the result does not change `x`: torch copies the memory then. A tensor of a NumPy array is
    copied at once.

    Args:
        x: a tensor, a variable, or a value that converts to a tensor; of any shape.

    Returns:
        A `torch.Tensor` of the same shape and dtype, that requires no gradient.

    Raises:
        TypeError: `x` has no value, as in a `tf.function`, or is of a dtype that torch lacks, such as strings.

    Example:
        >>> t = tf.constant([1.0, 2.0])
        >>> tf.torch.to_torch(t).mul_(2.0)
        tensor([2., 4.])
        >>> t.numpy().tolist()
        [1.0, 2.0]
    """
    tensor = convert(x)
    value = tensor.value if isinstance(tensor, EagerTensor) else None
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"torch has no tensor for {x!r}: it has no value while a graph is built, or no such dtype.")
    return alias(value)
