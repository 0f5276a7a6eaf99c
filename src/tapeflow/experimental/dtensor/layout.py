"""Layouts: along which dimensions of a mesh each axis of a tensor is divided."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from tapeflow.core import errors
from tapeflow.core.fork_locks import cached_property
from tapeflow.experimental.dtensor.mesh import Mesh, TextValue

UNSHARDED = "unsharded"
MATCH = "match"
_SINGLE = "maximal:true, mesh:"


class Layout(TextValue):
    """The division of a tensor among the devices of a mesh.

    Args:
        sharding_specs: a string for each axis of the tensor: the name of the mesh dimension that divides it, or
            `UNSHARDED`.
        mesh: a `tf.experimental.dtensor.Mesh`.

    Raises:
        ValueError: `mesh` is no mesh; a name is used twice, or is not a dimension of the mesh.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> tf.experimental.dtensor.Layout(["x", tf.experimental.dtensor.UNSHARDED], mesh).rank
        2
    """

    def __init__(self, sharding_specs: Sequence[str], mesh: Mesh) -> None:
        if not isinstance(mesh, Mesh):
            raise ValueError("mesh is not a valid Mesh object.")
        specs = list(sharding_specs)
        for spec in specs:
            if spec in (UNSHARDED, MATCH):
                continue
            if specs.count(spec) > 1:
                raise ValueError(
                    f"Mesh dimension {spec} was repeated in sharding specification {sharding_specs}. Mesh dimensions "
                    "must be unique in a layout."
                )
            if spec not in mesh:
                raise ValueError(f"{spec}: A dimension sharding must either be a valid mesh dimension or UNSHARDED.")
        self.mesh = mesh
        self._specs = specs

    # ---- other ways to create one ------------------------------------------------------------------------------------

    @classmethod
    def replicated(cls, mesh: Mesh, rank: int) -> Layout:
        """Returns the layout of a tensor that each device has as a whole.

        Args:
            mesh: a `tf.experimental.dtensor.Mesh`.
            rank: an int, the number of axes.
        """
        return cls([UNSHARDED] * rank, mesh)

    @classmethod
    def batch_sharded(cls, mesh: Mesh, batch_dim: str, rank: int, axis: int = 0) -> Layout:
        """Returns the layout of a tensor that is divided along one axis.

        Args:
            mesh: a `tf.experimental.dtensor.Mesh`.
            batch_dim: a string, the mesh dimension that divides the axis.
            rank: an int, the number of axes.
            axis: an int, the axis to divide; 0 by default.

        Raises:
            RuntimeError: the mesh has no such dimension.
        """
        if batch_dim not in mesh:
            raise RuntimeError(
                f"Bad StatusOr access: INVALID_ARGUMENT: sharding spec ({batch_dim}) refers to mesh dimension not "
                f"contained in mesh {mesh.to_string()}"
            )
        return cls([batch_dim if i == axis else UNSHARDED for i in range(rank)], mesh)

    @classmethod
    def inner_sharded(cls, mesh: Mesh, inner_dim: str, rank: int) -> Layout:
        """Returns the layout of a tensor that is divided along its last axis. See `batch_sharded`."""
        return cls.batch_sharded(mesh, inner_dim, rank, axis=rank - 1)

    @classmethod
    def from_single_device_mesh(cls, mesh: Mesh) -> Layout:
        """Returns the layout of a tensor on the only device of a mesh.

        Args:
            mesh: a mesh without dimensions.
        """
        return cls([], mesh)

    @classmethod
    def from_device(cls, device: str) -> Layout:
        """Returns the layout of a tensor on a device.

        Args:
            device: a string, the device's name.
        """
        return cls.from_single_device_mesh(Mesh.from_device(device))

    @classmethod
    def from_string(cls, layout_str: str) -> Layout:
        """Returns the layout that `to_string` wrote.

        Args:
            layout_str: a string, as `to_string` returns it.

        Raises:
            ValueError: it is no such text.
        """
        if layout_str.startswith(_SINGLE):
            return cls.from_device(layout_str.removeprefix(_SINGLE))
        specs, separator, mesh = layout_str.partition(" mesh:")
        if not separator or not specs.startswith("sharding_specs:"):
            raise ValueError(f"Expected 2 items but found 1{layout_str}")
        names = specs.removeprefix("sharding_specs:").split(",")
        return cls([n for n in names if n], _mesh_of(mesh))

    # ---- properties --------------------------------------------------------------------------------------------------

    @property
    def sharding_specs(self) -> list[str]:
        """For each axis the dimension of the mesh, or `UNSHARDED`."""
        return list(self._specs)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self._specs)

    @property
    def shape(self) -> list[int]:
        """The shape of the mesh."""
        return self.mesh.shape()

    def num_shards(self, idx: int) -> int:
        """Returns the number of parts of an axis.

        Args:
            idx: an int, the axis.
        """
        spec = self._specs[idx]
        return 1 if spec in (UNSHARDED, MATCH) else self.mesh.dim_size(spec)

    def is_fully_replicated(self) -> bool:
        """Returns True if each device has the whole tensor."""
        return all(self.num_shards(i) == 1 for i in range(self.rank))

    def is_batch_parallel(self) -> bool:
        """Returns True if no axis but the first is divided."""
        return all(self.num_shards(i) == 1 for i in range(1, self.rank))

    def is_single_device(self) -> bool:
        """Returns True if the mesh is a single device without dimensions."""
        return self.mesh.is_single_device()

    def delete(self, dims: int | list[int]) -> Layout:
        """Returns the layout without some axes.

        Args:
            dims: an int or a list of ints, the axes.
        """
        deleted = dims if isinstance(dims, list) else [dims]
        return Layout([s for i, s in enumerate(self._specs) if i not in deleted], self.mesh)

    def global_shape_from_local_shape(self, local_shape: Sequence[int]) -> tuple[int, ...]:
        """Returns the shape of the whole tensor.

        Args:
            local_shape: the shape of each part, a sequence of ints.
        """
        return tuple(size * self.num_shards(i) for i, size in enumerate(local_shape))

    def local_shape_from_global_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """Returns the shape of each part.

        Args:
            global_shape: the shape of the whole tensor, a sequence of ints.
        """
        return tuple(size // self.num_shards(i) for i, size in enumerate(global_shape))

    def offset_to_shard(self) -> list[tuple[int, ...]]:
        """Returns, for each device, which part along each axis it has."""
        return [
            tuple(0 if s == UNSHARDED else place[s] for s in self._specs)
            for place in self.mesh.unravel_index().values()
        ]

    def offset_tuple_to_global_index(self, offset_tuple: Sequence[int]) -> int:
        """Returns the number of a part.

        Args:
            offset_tuple: which part it is along each axis.
        """
        index = 0
        for axis, offset in enumerate(offset_tuple):
            index = index * self.num_shards(axis) + offset
        return index

    def check_divides(self, shape: Sequence[int]) -> None:
        """Checks that a tensor can be divided so.

        Args:
            shape: the tensor's shape.

        Raises:
            InvalidArgumentError: it has another rank, or an axis is not divisible by the number of its parts.
        """
        if len(shape) != self.rank:
            raise errors.InvalidArgumentError.of(
                f"A layout of rank {self.rank} does not fit a tensor of shape {list(shape)}: {self}"
            )
        for axis, size in enumerate(shape):
            if size % self.num_shards(axis):
                raise errors.InvalidArgumentError.of(
                    f"Dimension {axis} must be divisible by the sharding of the layout, but its size {size} is not "
                    f"divisible by the number of shards {self.num_shards(axis)}: {self}"
                )

    # ---- as text -----------------------------------------------------------------------------------------------------

    @cached_property
    def _text(self) -> str:
        if self.mesh.is_single_device():
            return f"{_SINGLE}{self.mesh.to_string()}"
        return f"sharding_specs:{','.join(self._specs)}{',' if self._specs else ''} mesh:{self.mesh.to_string()}"


# One mesh for each text, as parts of tensors refer to their mesh.
_mesh_of = functools.cache(Mesh.from_string)
