"""Moving the parts of tensors among the devices of a mesh.

A value's placements say for each dimension of the mesh: the devices along it have parts of one axis (Shard), the whole
(Replicate), or terms of a sum (Partial). Devices of one process pass tensors directly. Devices of several processes
communicate by collectives of `torch.distributed`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as c10d
from torch.distributed.tensor import Partial, Placement, Replicate, Shard

from tapeflow.core import errors
from tapeflow.experimental.dtensor import accelerators, clients
from tapeflow.experimental.dtensor.mesh import Mesh

_reduce_scatter: Any = getattr(c10d, "reduce_scatter_single", None) or c10d.reduce_scatter_tensor  # its older name
REDUCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum": lambda terms: terms.sum(0, dtype=terms.dtype),
    "avg": lambda terms: terms.mean(0),
    "max": lambda terms: terms.amax(0),
    "min": lambda terms: terms.amin(0),
    "product": lambda terms: terms.prod(0, dtype=terms.dtype),
}


def redistribute(
    parts: Sequence[torch.Tensor], mesh: Mesh, before: Sequence[Placement], after: Sequence[Placement]
) -> list[torch.Tensor]:
    """Returns the parts of a tensor by other placements.

    Args:
        parts: the part of each of this process's devices.
        mesh: the mesh.
        before: the placements of the parts.
        after: the placements of the result; none is Partial.
    """
    links = links_of(mesh)
    result = list(parts)
    changes = [(i, b, a) for i, (b, a) in enumerate(zip(before, after, strict=True)) if b != a]
    for i, old, _ in changes:
        if isinstance(old, Shard):
            result = links.gather(result, i, old.dim)
    for i, old, new in changes:
        if isinstance(old, Partial):
            result = links.reduce(result, i, old.reduce_op, new.dim if isinstance(new, Shard) else None)
        elif isinstance(new, Shard):
            result = [
                part.chunk(mesh.shape()[i], new.dim)[place[i]].contiguous()
                for part, place in zip(result, links.places, strict=True)
            ]
    return result


class LocalLinks:
    """The devices of a mesh that are all of this process.

    Args:
        mesh: the mesh.

    Attributes:
        places: the positions of the devices in the mesh.
    """

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self.places = [mesh.position(i) for i in range(mesh.size)]

    def _combined(
        self, parts: Sequence[torch.Tensor], dim: int, combine: Callable[[list[torch.Tensor]], list[torch.Tensor]]
    ) -> list[torch.Tensor]:
        """Applies a function to the parts of the devices along each line of a dimension."""
        lines: dict[tuple[int, ...], list[int]] = {}
        for number, place in enumerate(self.places):
            lines.setdefault(place[:dim] + place[dim + 1 :], []).append(number)
        result: list[Any] = [None] * len(parts)
        of_line: dict[tuple[int, ...], list[torch.Tensor]] = {}  # lines of the same tensors have the same results
        for numbers in lines.values():
            own = [parts[n] for n in numbers]
            key = tuple(map(id, own))
            if key not in of_line:
                of_line[key] = combine([part.to(own[0].device) for part in own])
            for n, part in zip(numbers, of_line[key], strict=True):
                result[n] = part.to(parts[n].device)
        return result

    def gather(self, parts: Sequence[torch.Tensor], dim: int, axis: int) -> list[torch.Tensor]:
        """Returns, for each device, the parts of all devices along a dimension, joined along an axis."""
        return self._combined(parts, dim, lambda line: [torch.cat(line, axis)] * len(line))

    def reduce(self, parts: Sequence[torch.Tensor], dim: int, how: str, axis: int | None) -> list[torch.Tensor]:
        """Returns, for each device, the sum (or another reduction) along a dimension.

        Args:
            parts: the terms.
            dim: the dimension of the mesh.
            how: a name of `REDUCTIONS`.
            axis: the axis along which each device gets a part of the result; None for all of it.
        """

        def combine(line: list[torch.Tensor]) -> list[torch.Tensor]:
            total = REDUCTIONS[how](torch.stack(line))
            if axis is None:
                return [total] * len(line)
            return [part.contiguous() for part in total.chunk(len(line), axis)]

        return self._combined(parts, dim, combine)


class ProcessLinks:
    """The devices of a mesh with one device per process.

    Args:
        mesh: the mesh.

    Attributes:
        places: the position of this process's device in the mesh, as a list of one.
    """

    def __init__(self, mesh: Mesh) -> None:
        own = mesh.local_device_ids()
        if len(own) != 1:
            raise errors.UnimplementedError.of(
                f"In a mesh of several processes each has one device; this one has {len(own)}: {mesh}"
            )
        self.places = [mesh.position(own[0] - mesh.min_global_device_id())]
        # Every process creates all groups, in the same order.
        ids = mesh.global_device_ids()
        self._groups = []
        for dim in range(ids.ndim):
            lines = ids.swapaxes(dim, -1).reshape(-1, ids.shape[dim]).tolist()
            groups = {own[0] in line: c10d.new_group(line) for line in lines}
            self._groups.append((groups[True], ids.shape[dim]))

    def gather(self, parts: Sequence[torch.Tensor], dim: int, axis: int) -> list[torch.Tensor]:
        """Returns the parts of all devices along a dimension, joined along an axis."""
        group, size = self._groups[dim]
        (own,) = parts
        own = own.contiguous()
        whole = own.new_empty([size, *own.shape])
        as_bytes = functools.partial(torch.Tensor.view, dtype=torch.uint8)  # Gloo moves bytes of any dtype
        if own.numel():
            with accelerators.reporting("an all-gather"):
                c10d.all_gather(list(as_bytes(whole.view(size, -1)).unbind()), as_bytes(own.view(-1)), group=group)
        return [whole[0] if size == 1 else torch.cat(list(whole.unbind()), axis)]

    def reduce(self, parts: Sequence[torch.Tensor], dim: int, how: str, axis: int | None) -> list[torch.Tensor]:
        """Returns the sum (or another reduction) along a dimension. See `LocalLinks.reduce`."""
        group, size = self._groups[dim]
        (own,) = parts
        op = {"max": c10d.ReduceOp.MAX, "min": c10d.ReduceOp.MIN, "product": c10d.ReduceOp.PRODUCT}.get(
            how, c10d.ReduceOp.SUM
        )
        if axis is None:
            total = own.clone(memory_format=torch.contiguous_format)
            with accelerators.reporting("an all-reduce"):
                c10d.all_reduce(total, op, group=group)
        else:
            terms = torch.stack(own.chunk(size, axis))
            total = torch.empty_like(terms[0])
            with accelerators.reporting("a reduce-scatter"):
                _reduce_scatter(total.view(-1), terms.view(-1), op, group=group)
        return [total / size if how == "avg" else total]


@functools.cache
def links_of(mesh: Mesh) -> LocalLinks | ProcessLinks:
    """Returns the links among the devices of a mesh.

    Raises:
        UnimplementedError: this process has several devices, and others have more.
    """
    whole = mesh.num_local_devices() == mesh.size and clients.num_clients() == 1
    return LocalLinks(mesh) if whole else ProcessLinks(mesh)


def placements_of(mesh: Mesh, specs: Sequence[str]) -> tuple[Placement, ...]:
    """Returns the placements of a layout's sharding specs."""
    axes = {spec: axis for axis, spec in enumerate(specs)}
    return tuple(Shard(axes[name]) if name in axes else Replicate() for name in mesh.dim_names)
