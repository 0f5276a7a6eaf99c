"""Meshes: devices in a grid with named dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core.device_spec import DeviceSpec
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int32
from tapeflow.experimental.dtensor import accelerators, clients


class MeshDimension(NamedTuple):
    """A dimension of a mesh.

    Attributes:
        name: its name.
        size: the number of devices along it.
    """

    name: str
    size: int


class TextValue:
    """A value that its text defines: a mesh or a layout. A class has `from_string`, too."""

    @property
    def _text(self) -> str:
        raise NotImplementedError

    def to_string(self) -> str:
        """Returns the text that `from_string` reads."""
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}.from_string({self._text})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextValue) and type(self) is type(other) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        kind: Any = type(self)
        return kind.from_string, (self._text,)


class Mesh(TextValue):
    """Devices in a grid with named dimensions. `create_mesh` and `create_distributed_mesh` are simpler to call.

    Args:
        dim_names: a list of strings, the names of the dimensions.
        global_device_ids: an integer array of consecutive numbers in the shape of the grid.
        local_device_ids: a list of ints, the numbers of this client's devices.
        local_devices: this client's devices, as `tf.DeviceSpec`s or names.
        mesh_name: a string, a name for the mesh; "" by default.
        global_devices: the devices of all clients, as `local_devices`; by default unknown.
        use_xla_spmd: must be False.

    Raises:
        ValueError: the arguments do not fit each other.

    Example:
        >>> import numpy as np
        >>> mesh = tf.experimental.dtensor.Mesh(["x"], np.array([0]), [0], ["/job:localhost/device:CPU:0"])
        >>> mesh.dim_size("x")
        1
    """

    def __init__(
        self,
        dim_names: Sequence[str],
        global_device_ids: np.ndarray,
        local_device_ids: list[int],
        local_devices: list[DeviceSpec | str],
        mesh_name: str = "",
        global_devices: list[DeviceSpec | str] | None = None,
        use_xla_spmd: bool = False,
    ) -> None:
        if not isinstance(global_device_ids, np.ndarray):
            raise ValueError("Variable global_device_ids must be an ndarray.")
        if global_device_ids.size == 0:
            raise ValueError("Variable global_device_ids must be non-empty.")
        ids = global_device_ids.ravel().tolist()
        if ids != list(range(ids[0], ids[0] + len(ids))):
            raise ValueError(f"global_device_ids must sequentially increase: {global_device_ids}")
        if len(dim_names) != global_device_ids.ndim:
            raise ValueError("Number of mesh dimensions does not match number of dimension names.")
        if not isinstance(local_device_ids, list):
            raise ValueError("Variable local_device_ids must be a list of integers.")
        if not isinstance(local_devices, list):
            raise ValueError("Variable local_devices must be a list of DeviceSpecs.")
        if global_devices and not isinstance(global_devices, list):
            raise ValueError("Variable global_devices must be a list of DeviceSpecs.")
        if not local_devices and not global_devices:
            raise ValueError("Empty list of devices not allowed.")
        specs = [_as_device_spec(d) for d in local_devices]
        kinds = {d.device_type for d in specs or map(_as_device_spec, global_devices or ())}
        if len(set(specs)) != len(specs) and not (len(set(specs)) == 1 and kinds == {"CPU"}):
            repeated = [d for d in local_devices if local_devices.count(d) > 1]
            raise ValueError(f"Duplicate devices found in mesh specification {repeated}.")
        if len(local_device_ids) != len(local_devices):
            raise ValueError("Variable local_device_ids does not have same size as local_devices.")
        if len(local_device_ids) > len(ids):
            raise ValueError("Cannot have more local than gobal device IDs.")
        if None in kinds:
            raise ValueError("device_type is required")
        if len(kinds) > 1:
            raise ValueError(f"Devices containing multiple device_types : {kinds}")
        (self._device_type,) = kinds
        if use_xla_spmd:
            raise ValueError(f"XLA SPMD is not currently not supported for {self._device_type} mesh.")
        self.name = mesh_name
        self._dims = tuple(map(MeshDimension, dim_names, global_device_ids.shape))
        self._first, self._local_ids = ids[0], list(local_device_ids)
        self._local_devices = [d if isinstance(d, str) else d.to_string() for d in local_devices]
        self._global_devices = [d if isinstance(d, str) else d.to_string() for d in global_devices or ()]

    @classmethod
    def from_string(cls, mesh_str: str) -> Mesh:
        """Returns the mesh that `to_string` wrote.

        Args:
            mesh_str: a string, as `to_string` returns it.

        Raises:
            ValueError: it is no such text.
        """
        try:
            name, dims, ids, local_ids, devices, *more = mesh_str.split("|")
            pairs = [pair.split("=") for pair in dims.split(",") if pair]
            shape = [int(size) for _, size in pairs]
            grid = np.array(_parse_integers(ids)).reshape(shape)
            global_devices: list[DeviceSpec | str] = [d for d in (more[0] if more else "").split(",") if d]
            local: list[DeviceSpec | str] = [d for d in devices.split(",") if d]
            return cls([n for n, _ in pairs], grid, _parse_integers(local_ids), local, name, global_devices)
        except ValueError as error:
            raise ValueError(f"Input string is invalid: {mesh_str}") from error

    @classmethod
    def from_device(cls, device: str) -> Mesh:
        """Returns the mesh of a single device, without dimensions.

        Args:
            device: a string, the device's name.
        """
        return cls([], np.array(0), [0], [device])

    # ---- dimensions --------------------------------------------------------------------------------------------------

    @property
    def dim_names(self) -> list[str]:
        """The names of the dimensions."""
        return [d.name for d in self._dims]

    def shape(self) -> list[int]:
        """Returns the sizes of the dimensions."""
        return [d.size for d in self._dims]

    @cached_property
    def size(self) -> int:
        """The number of devices."""
        return int(np.prod(self.shape(), dtype=int))

    def dim_size(self, dim_name: str) -> int:
        """Returns the size of a dimension.

        Args:
            dim_name: a string, the dimension's name.

        Raises:
            ValueError: there is no such dimension.
        """
        return self[dim_name].size

    def __getitem__(self, dim_name: str) -> MeshDimension:
        for dim in self._dims:
            if dim.name == dim_name:
                return dim
        names = ",".join(self.dim_names)
        raise ValueError(f"Dimension {dim_name} does not exist in mesh.Available dimensions: {names}")

    def contains_dim(self, dim_name: str) -> bool:
        """Returns True if there is a dimension of that name."""
        return dim_name in self.dim_names

    __contains__ = contains_dim

    @property
    def strides(self) -> list[int]:
        """For each dimension, the distance of neighbors along it in the list of devices."""
        return [int(np.prod(self.shape()[i + 1 :], dtype=int)) for i in range(len(self._dims))]

    # ---- devices -----------------------------------------------------------------------------------------------------

    def device_type(self) -> str:
        """Returns "CPU" or "GPU"."""
        return str(self._device_type)

    def local_devices(self) -> list[str]:
        """Returns the names of this client's devices."""
        return list(self._local_devices)

    def global_devices(self) -> list[str]:
        """Returns the names of all devices, or an empty list if they were not specified."""
        return list(self._global_devices)

    def local_device_ids(self) -> list[int]:
        """Returns the numbers of this client's devices."""
        return list(self._local_ids)

    def global_device_ids(self) -> np.ndarray:
        """Returns the numbers of all devices, in the shape of the grid."""
        return np.arange(self._first, self._first + self.size).reshape(self.shape())

    def min_global_device_id(self) -> int:
        """Returns the first device's number."""
        return self._first

    def num_local_devices(self) -> int:
        """Returns the number of this client's devices."""
        return len(self._local_ids)

    def use_xla_spmd(self) -> bool:
        """Returns False: XLA divides no work here."""
        return False

    def is_remote(self) -> bool:
        """Returns True if none of the devices is this client's."""
        return not self._local_devices

    def is_single_device(self) -> bool:
        """Returns True if it is one device without dimensions."""
        return not self._dims

    @property
    def single_device(self) -> str:
        """The name of the only device of a mesh without dimensions."""
        return self._local_devices[0] if self.is_single_device() else ""

    def host_mesh(self) -> Mesh:
        """Returns the mesh of the CPUs beside the devices."""
        if self._device_type == "CPU":
            return self
        hosts: list[DeviceSpec | str] = [_as_device_spec(d).replace(device_type="CPU") for d in self._local_devices]
        return Mesh(self.dim_names, self.global_device_ids(), self._local_ids, hosts, self.name)

    def coords(self, device_idx: int) -> Any:
        """Returns where a device stands, as an int32 vector.

        Args:
            device_idx: an int, the device's number.
        """
        return convert(np.array(self.position(device_idx), np.int32), int32)

    def position(self, device_idx: int) -> tuple[int, ...]:
        """Returns where a device stands, as `coords` does, as a tuple."""
        return tuple(int(i) for i in np.unravel_index(int(device_idx), self.shape() or [1]))[: len(self._dims)]

    def unravel_index(self) -> dict[int, dict[str, int]]:
        """Returns where each device stands: from its number to a dict from dimensions to places."""
        return {i: dict(zip(self.dim_names, self.position(i), strict=True)) for i in range(self.size)}

    def local_device_locations(self) -> list[dict[str, int]]:
        """Returns where this client's devices stand."""
        places = self.unravel_index()
        return [places[i - self._first] for i in self._local_ids]

    # ---- as text -----------------------------------------------------------------------------------------------------

    @cached_property
    def _text(self) -> str:
        if self.is_single_device():
            return self.single_device
        dims = ",".join(f"{d.name}={d.size}" for d in self._dims)
        ids = ",".join(map(str, self.global_device_ids().ravel().tolist()))
        local_ids = ",".join(map(str, self._local_ids))
        parts = [self.name, dims, ids, local_ids, ",".join(self._local_devices)]
        return "|".join(parts + ([",".join(self._global_devices)] if self._global_devices else []))


def create_mesh(
    mesh_dims: Sequence[tuple[str, int]] | Mapping[str, int] | None = None,
    mesh_name: str = "",
    devices: Sequence[DeviceSpec | str] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """Creates a mesh of devices of this process.

    Args:
        mesh_dims: a list of pairs of a name and a size, or a dict from names to sizes; the size of a single dimension
            may be -1. By default one dimension "x" of all devices.
        mesh_name: a string, a name for the mesh; "" by default.
        devices: the devices, as names or `tf.DeviceSpec`s; by default all of the type.
        device_type: "CPU" (the default) or "GPU".
        use_xla_spmd: must be False.

    Returns:
        A `tf.experimental.dtensor.Mesh`.

    Raises:
        ValueError: the number of devices differs from the size of the mesh; or the devices are of another type.

    Example:
        >>> tf.experimental.dtensor.create_mesh([("batch", 1)], devices=["CPU:0"]).shape()
        [1]
    """
    specs = _device_specs(devices, device_type, 0)
    dims = list(mesh_dims.items()) if isinstance(mesh_dims, Mapping) else mesh_dims
    dims = [("x", len(specs))] if dims is None else list(dims)
    if len(dims) == 1 and dims[0][1] == -1:
        dims = [(dims[0][0], len(specs))]
    shape = [size for _, size in dims]
    if np.prod(shape) != len(specs):
        raise ValueError(f"length of devices ({len(specs)}) must be equal to total size of the mesh of shape {shape}")
    ids = np.arange(len(specs)).reshape(shape)
    return Mesh([n for n, _ in dims], ids, ids.ravel().tolist(), list(specs), mesh_name, use_xla_spmd=use_xla_spmd)


def create_distributed_mesh(
    mesh_dims: Sequence[tuple[str, int]] | Mapping[str, int],
    mesh_name: str = "",
    local_devices: Sequence[DeviceSpec | str] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """Creates a mesh of the devices of all clients.

    Args:
        mesh_dims: a list of pairs of a name and a size, or a dict from names to sizes.
        mesh_name: a string, a name for the mesh; "" by default.
        local_devices: this client's devices, as names or `tf.DeviceSpec`s; by default all of the type.
        device_type: "CPU" (the default) or "GPU".
        use_xla_spmd: must be False.

    Returns:
        A `tf.experimental.dtensor.Mesh`.

    Raises:
        ValueError: `initialize_accelerator_system` was not called; the number of devices differs from the size of the
            mesh; or the devices are of another type.

    Example:
        >>> tf.experimental.dtensor.create_distributed_mesh([("batch", 1)])
        Traceback (most recent call last):
        ...
        ValueError: Accelerators are uninitialized, please run dtensor.initialize_accelerator_system() first.
    """
    dims = list(mesh_dims.items()) if isinstance(mesh_dims, Mapping) else list(mesh_dims)
    shape = tuple(size for _, size in dims)
    if not accelerators.is_initialized():
        raise ValueError("Accelerators are uninitialized, please run dtensor.initialize_accelerator_system() first.")
    client, count = clients.client_id(), clients.num_clients()
    specs = _device_specs(local_devices, device_type, client)
    total = len(specs) * count
    if np.prod(shape) != total:
        raise ValueError(
            f"Global number of devices ({len(specs)} per client * {count} clients = {total}) must be equal to total "
            f"size of the mesh of shape {shape}"
        )
    ids = np.arange(total).reshape(shape)
    own = list(range(len(specs) * client, len(specs) * (client + 1)))
    return Mesh([n for n, _ in dims], ids, own, list(specs), mesh_name, use_xla_spmd=use_xla_spmd)


def _device_specs(devices: Sequence[DeviceSpec | str] | None, device_type: str | None, client: int) -> list[DeviceSpec]:
    """Returns the full specs of a client's devices: of those that are given, or else of all of a type."""
    if devices is None:
        specs = clients.local_devices(device_type or "CPU")
    else:
        specs = [_as_device_spec(d) for d in devices]
        if device_type is not None and device_type.upper() != str(specs[0].device_type).upper():
            raise ValueError(f"Conflicting devices {specs} and device_type {device_type}")
    return [DeviceSpec(clients.job_name(), 0, client).make_merged_spec(d) for d in specs]


def _as_device_spec(device: DeviceSpec | str) -> DeviceSpec:
    return DeviceSpec.from_string(device) if isinstance(device, str) else device


def _parse_integers(text: str) -> list[int]:
    return [int(i) for i in text.split(",") if i]
