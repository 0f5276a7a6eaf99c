"""Tensors that stay in a session between its runs, by their handles."""

from __future__ import annotations

import itertools
from typing import Any

import torch

from tapeflow.core import errors
from tapeflow.core.ops.raw_kernels import kernel_of
from tapeflow.core.ops.shape_rules import no_results, scalar
from tapeflow.core.session_resources import held_here
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, as_dtype, string
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow_compat import raw_ops
from tapeflow_compat.compat.v1.placeholders import placeholder

Raw = Any

_numbers = itertools.count()


def _tensors() -> dict[str, Raw]:
    """Returns the tensors of the session that runs."""
    return held_here(("session tensors",), dict)


def _dtype(value: Raw) -> DType:
    return FROM_TORCH[value.dtype] if isinstance(value, torch.Tensor) else string


def _found(tensors: dict[str, Raw], handle: str) -> Raw:
    if handle not in tensors:
        raise errors.InvalidArgumentError.of(f"The tensor with handle '{handle}' is not in the session store.")
    return tensors[handle]


def _name(handle: Raw) -> str:
    handle = handle.item()
    return handle.decode() if isinstance(handle, bytes) else str(handle)


@kernel_of("GetSessionHandle", shape=scalar)
def _keep(value: Raw) -> Raw:
    handle = f"GetSessionHandle;{next(_numbers)};/job:localhost/replica:0/task:0/device:CPU:0"
    tensors = _tensors()
    tensors[handle] = value
    return box_object(TensorHandle(handle, tensors))


@kernel_of("GetSessionTensor")
def _get(handle: Raw, dtype: DType) -> Raw:
    value = _found(_tensors(), _name(handle))
    if _dtype(value) is not dtype:
        raise invalid(f"The tensor of the handle has the dtype {_dtype(value).name}, and {dtype.name} is expected.")
    return value


@kernel_of("DeleteSessionTensor", shape=no_results)
def _delete(handle: Raw) -> None:
    _found(_tensors(), _name(handle))
    del _tensors()[_name(handle)]


class TensorHandle:
    """The handle of a tensor that stays in a session: what `get_session_handle` gives when it is fetched.

    A tensor is deleted with its handle, unless `get_raw_handle` was called.

    Args:
        handle: its name.
        tensors: the tensors of the session, by name.
    """

    def __init__(self, handle: str, tensors: dict[str, Any]) -> None:
        self._handle, self._tensors, self._owns = handle, tensors, True

    def __del__(self) -> None:
        if self._owns:
            self._tensors.pop(self._handle, None)

    def __str__(self) -> str:
        return self._handle

    @property
    def handle(self) -> str:
        """The name, which is fed to the placeholders of `get_session_tensor` and `delete_session_tensor`."""
        return self._handle

    def eval(self) -> Any:
        """Returns the value of the tensor.

        Raises:
            TypeError: it may have been deleted.
            InvalidArgumentError: it has been deleted.
        """
        return EagerTensor(self._value(), _dtype(self._value())).numpy()

    def delete(self) -> None:
        """Deletes the tensor.

        Raises:
            TypeError: it may have been deleted.
            InvalidArgumentError: it has been deleted.
        """
        self._value()
        self._owns = False
        del self._tensors[self._handle]

    def get_raw_handle(self) -> str:
        """Returns the name. The tensor stays until `delete_session_tensor` deletes it."""
        self._owns = False
        return self._handle

    def _value(self) -> Raw:
        if not self._owns:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")
        return _found(self._tensors, self._handle)


def get_session_handle(data: TensorLike, name: str | None = None) -> Tensor:
    """Keeps a tensor in the session.

    Args:
        data: the tensor.
        name: the operation's name.

    Returns:
        A scalar string tensor. Fetching it gives a `TensorHandle`.

    Raises:
        TypeError: `data` is no tensor.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     handle = sess.run(tf.compat.v1.get_session_handle(tf.constant([1.0, 2.0])))
        ...     holder, tensor = tf.compat.v1.get_session_tensor(handle.handle, tf.float32)
        ...     print(sess.run(tensor * 2.0, {holder: handle.handle}))
        [2. 4.]
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    return raw_ops.GetSessionHandle(value=data, name=name)


def get_session_tensor(handle: Tensor, dtype: DTypeLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Returns a placeholder for a handle, and the tensor in the session that has it.

    Args:
        handle: the name of a handle.
        dtype: the dtype of the tensor.
        name: the operation's name.

    Example: see `get_session_handle`.
        >>> with tf.Graph().as_default():
        ...     tf.compat.v1.get_session_tensor("GetSessionHandle;0;", tf.float32)[1].dtype
        tf.float32
    """
    holder = placeholder(string)
    return holder, raw_ops.GetSessionTensor(handle=holder, dtype=as_dtype(dtype), name=name)


def delete_session_tensor(handle: Tensor, name: str | None = None) -> tuple[Tensor, Any]:
    """Returns a placeholder for a handle, and an operation that deletes the tensor in the session that has it.

    Args:
        handle: the name of a handle.
        name: the operation's name.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     handle = sess.run(tf.compat.v1.get_session_handle(tf.constant(1.0))).get_raw_handle()
        ...     holder, deletion = tf.compat.v1.delete_session_tensor(handle)
        ...     sess.run(deletion, {holder: handle})
    """
    holder = placeholder(string)
    return holder, raw_ops.DeleteSessionTensor(handle=holder, name=name)
