"""DTensors: tensors whose parts are on the devices of a mesh, and the functions that create them and look into them.

A DTensor is an eager tensor whose raw value is a `Divided` (`divided.py`). That is loaded at the first use: it loads
`torch.distributed.tensor`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core import errors
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import detours, discard, state
from tapeflow.core.device import CPU, PREFIX, Device, DeviceScope
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.experimental.dtensor.layout import Layout
from tapeflow.experimental.dtensor.mesh import Mesh
from tapeflow.sparse.tensor import SparseTensor

if TYPE_CHECKING:
    from tapeflow.experimental.dtensor.divided import Divided

DEVICE_NAME = f"{PREFIX}CUSTOM:0"


def layout_of(value: Divided | torch.Tensor) -> Layout | None:
    """Returns the layout of a raw value, or None where it is plain."""
    return getattr(value, "tf_layout", None)


def _divide_value(value: Any, layout: Layout) -> Any:
    """Returns a raw value in a layout. Strings are whole on every device."""
    if not isinstance(value, torch.Tensor):
        if not layout.is_fully_replicated():
            raise errors.UnimplementedError.of("Strings can't be divided among devices.")
        return value
    from tapeflow.experimental.dtensor import divided

    return divided.divide(value, layout)


# ---- changing layouts ------------------------------------------------------------------------------------------------


@op(
    "Relayout",
    signature="input:T -> output:T; attr=layout:string; attr=T:type",
    shape=lambda input, layout: input,
    strings=True,
)
def _relayout_op(input: Any, layout: str) -> Any:
    """Returns a tensor in a layout."""
    return _divide_value(input, Layout.from_string(layout))


@_relayout_op.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return _relayout_like(dy, call.inputs[0])


def _whole_shape(input: TensorShape, layout: str) -> TensorShape:
    of = Layout.from_string(layout)
    parts = 1 if of.mesh.num_local_devices() == of.mesh.size else of.num_shards(0)
    return TensorShape([None if d is None else d * parts for d in input.as_list()[:1]]).concatenate(input[1:])


@op(
    "FromLocal",
    signature="input:T -> output:T; attr=layout:string; attr=T:type; is_stateful=true; "
    "is_distributed_communication=true",
    shape=_whole_shape,
)
def from_local(input: Any, layout: str) -> Any:
    """Returns a DTensor from each process's part of it. A part is one tensor along the first axis."""
    from tapeflow.experimental.dtensor import divided

    return divided.from_local(input, Layout.from_string(layout))


@op(
    "RelayoutLike",
    signature="input:T, layout_input:U -> output:T; attr=T:type; attr=U:type",
    shape=lambda input, layout_input: input,
)
def _relayout_like(input: Any, layout_input: Any) -> Any:
    """Returns a tensor in the layout of another one."""
    layout = layout_of(layout_input)
    if layout is not None:
        return _divide_value(input, layout)
    return input.whole() if layout_of(input) is not None else input


@_relayout_like.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return _relayout_like(dy, call.inputs[0]), None


def relayout(tensor: TensorLike, layout: Layout, name: str | None = None) -> Tensor:
    """Returns a tensor in another layout.

    Gradients come back in the layout of `tensor`.

    Args:
        tensor: a DTensor, or a tensor that all clients have; of any shape.
        layout: the layout.

    Returns:
        A DTensor.

    Raises:
        InvalidArgumentError: the layout does not fit the tensor's shape.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> layout = tf.experimental.dtensor.Layout(["x"], mesh)
        >>> tf.experimental.dtensor.fetch_layout(tf.experimental.dtensor.relayout([1.0, 2.0], layout)) == layout
        True
    """
    return _relayout_op(convert(tensor), layout.to_string(), name=name)


def relayout_like(tensor: TensorLike, layout_tensor: Tensor, name: str | None = None) -> Tensor:
    """Returns a tensor in the layout of another one. See `relayout`.

    Args:
        tensor: a DTensor, or a tensor that all clients have; of any shape.
        layout_tensor: a DTensor of the same rank.

    Returns:
        A DTensor.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> like = tf.experimental.dtensor.relayout([1.0], tf.experimental.dtensor.Layout(["x"], mesh))
        >>> tf.experimental.dtensor.is_dtensor(tf.experimental.dtensor.relayout_like([2.0], like))
        True
    """
    return _relayout_like(convert(tensor), convert(layout_tensor), name=name)


def copy_to_mesh(tensor: TensorLike, layout: Layout, source_layout: Layout | None = None) -> Tensor:
    """Returns a tensor in a layout: the same as `relayout`.

    Args:
        tensor: a DTensor, or anything convertible to a tensor that all clients have; of any shape.
        layout: the layout.
        source_layout: without effect.

    Returns:
        A DTensor.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> tf.experimental.dtensor.copy_to_mesh(1.0, tf.experimental.dtensor.Layout.replicated(mesh, 0)).numpy()
        np.float32(1.0)
    """
    return relayout(tensor, layout)


def call_with_layout(fn: Callable[..., Any], layout: Layout | None, *args: Any, **kwargs: Any) -> Any:
    """Calls a function and returns its result in a layout.

    Args:
        fn: a function that returns tensors.
        layout: the layout; None leaves the result unchanged.
        *args: the function's arguments.
        **kwargs: its keyword arguments.

    Returns:
        The result, with DTensors.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> layout = tf.experimental.dtensor.Layout(["x"], mesh)
        >>> tf.experimental.dtensor.call_with_layout(tf.zeros, layout, [2]).shape
        TensorShape([2])
    """
    result = fn(*args, **kwargs)
    return result if layout is None else nest.map_structure(lambda t: relayout(t, layout), result)


# ---- parts -----------------------------------------------------------------------------------------------------------


def pack(tensors: Sequence[Any], layout: Layout) -> Tensor:
    """Returns the DTensor of parts.

    Args:
        tensors: the part of each of this client's devices, all of one shape.
        layout: the layout of the whole.

    Returns:
        A DTensor; strings stay plain.

    Raises:
        RuntimeError: this is in a `tf.function`.
        InvalidArgumentError: there are as many parts as devices.
        UnimplementedError: they are of several shapes, or sparse.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> tf.experimental.dtensor.pack([[1, 2]], tf.experimental.dtensor.Layout(["x"], mesh)).shape
        TensorShape([2])
    """
    _require_eager("pack")
    if any(isinstance(t, SparseTensor) for t in tensors):
        raise errors.UnimplementedError.of("tf.experimental.dtensor.pack takes no sparse tensors.")
    parts = [convert(t) for t in tensors]
    count = layout.mesh.num_local_devices()
    if len(parts) != count:
        raise errors.InvalidArgumentError.of(
            f"The dtensor device {DEVICE_NAME} expected {count} inputs to DTensorPack, but got {len(parts)}"
        )
    if any(p.shape != parts[0].shape or p.dtype is not parts[0].dtype for p in parts):
        raise errors.UnimplementedError.of("Components of a PackedTensor must currently all have the same shape")
    if parts[0].dtype is string:
        return EagerTensor(_divide_value(parts[0].value, layout), string)
    from tapeflow.experimental.dtensor import divided

    return EagerTensor(divided.assemble([p.value for p in parts], layout), parts[0].dtype)


def unpack(tensor: Any) -> list[EagerTensor]:
    """Returns the parts of a DTensor on this client's devices.

    Args:
        tensor: a DTensor or `DVariable`.

    Returns:
        A list of plain tensors, in the order of the devices.

    Raises:
        RuntimeError: this is in a `tf.function`.
        InvalidArgumentError: it is no DTensor.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> whole = tf.experimental.dtensor.relayout([1, 2], tf.experimental.dtensor.Layout(["x"], mesh))
        >>> [part.numpy().tolist() for part in tf.experimental.dtensor.unpack(whole)]
        [[1, 2]]
    """
    _require_eager("unpack")
    tensor = convert(tensor)
    layout = layout_of(tensor.value)
    if layout is None:
        raise errors.InvalidArgumentError.of(
            f"DTensorUnpack expects a tensor placed on the DTensor device: {DEVICE_NAME}, but input was placed on "
            f"device: {tensor.device}"
        )
    tensor.value.settle()
    parts = [EagerTensor(part, tensor.dtype) for part in tensor.value.parts]
    for part, device in zip(parts, layout.mesh.local_devices(), strict=True):
        part._device = device
    return parts


def fetch_layout(tensor: object) -> Layout | None:
    """Returns the layout of a DTensor.

    Args:
        tensor: a DTensor or `DVariable`.

    Returns:
        Its layout; None for a value that is not a tensor.

    Raises:
        RuntimeError: this is in a `tf.function`.
        InvalidArgumentError: it is another tensor.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> x = tf.experimental.dtensor.relayout([1, 2], tf.experimental.dtensor.Layout(["x"], mesh))
        >>> tf.experimental.dtensor.fetch_layout(x + x).sharding_specs
        ['x']
    """
    _require_eager("fetch_layout")
    if not isinstance(tensor, (Tensor, ReadAsTensor)):
        return None
    layout = layout_of(convert(tensor).value)
    if layout is None:
        raise errors.InvalidArgumentError.of("FetchLayout expects a tensor placed on the layout device.")
    return layout


def check_layout(tensor: object, layout: Layout) -> None:
    """Checks the layout of a DTensor.

    Args:
        tensor: a DTensor or `DVariable`.
        layout: the layout that it has to have.

    Raises:
        ValueError: it has another one.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> layout = tf.experimental.dtensor.Layout(["x"], mesh)
        >>> tf.experimental.dtensor.check_layout(tf.experimental.dtensor.relayout([1, 2], layout), layout)
    """
    own = fetch_layout(tensor)
    if own != layout:
        raise ValueError(f"Layout of tensor: {own}, did not match expected layout: {layout}")


def is_dtensor(tensor: object) -> bool:
    """Returns True if a value is a DTensor or a variable that holds one.

    Args:
        tensor: anything.

    Returns:
        A bool.

    Raises:
        RuntimeError: this is in a `tf.function`.

    Example:
        >>> tf.experimental.dtensor.is_dtensor(tf.constant(1))
        False
    """
    _require_eager("is_dtensor")
    return isinstance(tensor, (Tensor, ReadAsTensor)) and layout_of(convert(tensor).value) is not None


def _require_eager(name: str) -> None:
    if state.graph is not None:
        raise RuntimeError(f"`{name}` must be called eagerly.")


# ---- the default mesh ------------------------------------------------------------------------------------------------


class _Meshes(threading.local):
    """The default meshes of a thread, outermost first."""

    def __init__(self) -> None:
        self.stack: list[Mesh] = []


_meshes = _Meshes()


class _MeshDevice(Device):
    """The devices of a mesh together, as the device of a scope: results are DTensors."""

    __slots__ = ()

    def claim(self, outputs: Sequence[Any]) -> None:
        for output in outputs:
            value = output._value.value if isinstance(output, ReadAsTensor) else output.value
            if not isinstance(value, torch.Tensor) or layout_of(value) is not None:
                continue
            raw = _divide_value(value, Layout.replicated(_meshes.stack[-1], value.ndim))
            if isinstance(output, ReadAsTensor):
                output._set(raw)
            else:
                output.value = raw


class _MeshScope(DeviceScope):
    """A scope whose ops give DTensors."""

    def __init__(self) -> None:
        super().__init__("")

    def __enter__(self) -> None:
        self.device = _MeshDevice("CUSTOM", 0, CPU)
        state.devices.append(self)
        detours.append(self)

    def __exit__(self, *_: object) -> None:
        discard(state.devices, self)
        discard(detours, self)


@contextmanager
def default_mesh(mesh: Mesh) -> Iterator[None]:
    """Runs ops on a mesh also where they take no DTensor: their results are replicated.

    Args:
        mesh: the mesh.

    Returns:
        A context manager.

    Raises:
        ValueError: it is no mesh.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> with tf.experimental.dtensor.default_mesh(mesh):
        ...     tf.experimental.dtensor.is_dtensor(tf.ones([2]))
        True
    """
    if not isinstance(mesh, Mesh):
        raise ValueError(f"Expect `mesh` to be `Mesh`, got {type(mesh)}")
    _meshes.stack.append(mesh)
    try:
        with _MeshScope():
            yield
    finally:
        _meshes.stack.pop()


def run_on(mesh: Mesh) -> Any:
    """Returns the same as `default_mesh`.

    Args:
        mesh: the mesh.

    Returns:
        A context manager.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> with tf.experimental.dtensor.run_on(mesh):
        ...     tf.experimental.dtensor.get_default_mesh() == mesh
        True
    """
    return default_mesh(mesh)


def get_default_mesh() -> Mesh | None:
    """Returns the mesh of the innermost `default_mesh`, or None.

    Returns:
        A mesh, or None.

    Example:
        >>> tf.experimental.dtensor.get_default_mesh() is None
        True
    """
    return _meshes.stack[-1] if _meshes.stack else None


def device_name() -> str:
    """Returns the device that DTensors say they are on.

    Returns:
        The name.

    Example:
        >>> tf.experimental.dtensor.device_name()
        '/job:localhost/replica:0/task:0/device:CUSTOM:0'
    """
    return DEVICE_NAME
