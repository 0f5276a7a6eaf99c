"""The raw value of a DTensor: a `torch.Tensor` whose parts are on the devices of a mesh.

Kernels take it as any `torch.Tensor`. For each call of ATen, the rules of `torch.distributed.tensor` give the
placements of operands and results; the parts are moved accordingly, and ATen computes with the parts of each device.
Operands are replicated if there is no rule, or if no layout can express its result.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar, SupportsIndex, cast

import numpy as np
import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Partial, Placement, Replicate, Shard

from tapeflow.array.tensor_text import tensor_text
from tapeflow.core import aten, errors
from tapeflow.core.aten import DTensorSpec, OpSchema, OutputSharding, TensorMeta
from tapeflow.core.types.dtypes import FROM_TORCH
from tapeflow.core.values.tensor import EagerTensor, as_numpy
from tapeflow.experimental.dtensor.layout import UNSHARDED, Layout
from tapeflow.experimental.dtensor.mesh import Mesh
from tapeflow.experimental.dtensor.redistribution import REDUCTIONS, LocalLinks, links_of, placements_of, redistribute

_aten = torch.ops.aten
_rules: Any = aten.sharding_propagator
# What the rules raise where they have no answer; a wrong call fails again when ATen computes it.
_NO_ANSWER = (NotImplementedError, RuntimeError, AssertionError, ValueError, TypeError, IndexError)
# Ops whose results depend on other parts if any axis but the batch axis is divided. The number counts the first
# operands with a batch axis.
_BY_BATCH = {_aten.convolution.default: 1, _aten.convolution_backward.default: 2}
_WHOLE = {_aten._local_scalar_dense.default, _aten.equal.default}
# This one writes to the running statistics although its schema does not say so; the schema of its other name does.
_UNSAID, _SAID = _aten.native_batch_norm.default, _aten._native_batch_norm_legit.default


class Divided(torch.Tensor):
    """A tensor whose parts are on the devices of a mesh.

    Attributes:
        mesh: the mesh.
        spec: its shape, dtype and placements, as `torch.distributed.tensor` describes them.
        parts: the part of each of this process's devices.
    """

    mesh: Mesh
    spec: DTensorSpec
    parts: list[torch.Tensor]

    device_name: ClassVar[str] = "/job:localhost/replica:0/task:0/device:CUSTOM:0"
    __torch_function__ = aten.disabled_torch_function

    @staticmethod
    def __new__(cls, mesh: Mesh, spec: DTensorSpec, parts: list[torch.Tensor]) -> Divided:
        meta: Any = spec.tensor_meta
        self: Any = aten.make_wrapper_subclass(
            cls, meta.shape, strides=meta.stride, dtype=meta.dtype, device=parts[0].device
        )
        self.mesh, self.spec, self.parts = mesh, spec, parts
        return self

    def __init__(self, mesh: Mesh, spec: DTensorSpec, parts: list[torch.Tensor]) -> None: ...

    @classmethod
    def of(cls, mesh: Mesh, placements: Sequence[Placement], parts: list[torch.Tensor], shape: Any = None) -> Divided:
        """Returns a tensor of parts.

        Args:
            mesh: the mesh.
            placements: their placements.
            parts: the part of each of this process's devices.
            shape: the shape of the whole; by default the shape of each part.
        """
        size = torch.Size(parts[0].shape if shape is None else shape)
        stride = parts[0].stride() if shape is None else torch.empty(size, device="meta").stride()
        meta = TensorMeta(size, stride, parts[0].dtype)
        return cls(mesh, DTensorSpec(device_mesh(mesh), tuple(placements), meta), parts)

    # ---- layouts -----------------------------------------------------------------------------------------------------

    @property
    def tf_layout(self) -> Layout:
        """The layout."""
        specs = [UNSHARDED] * self.ndim
        for name, placement in zip(self.mesh.dim_names, self.spec.placements, strict=True):
            if isinstance(placement, Shard):
                specs[placement.dim] = name
        return Layout(specs, self.mesh)

    def placed(self, placements: Sequence[Placement]) -> Divided:
        """Returns the same tensor by other placements."""
        placements = tuple(placements)
        if placements == self.spec.placements:
            return self
        parts = redistribute(self.parts, self.mesh, self.spec.placements, placements)
        return Divided(self.mesh, DTensorSpec(self.spec.mesh, placements, self.spec.tensor_meta), parts)

    def settle(self) -> None:
        """Adds up partial sums, which stay unadded until their first use."""
        placements = self.spec.placements
        if any(isinstance(p, Partial) for p in placements):
            whole = self.placed([Replicate() if isinstance(p, Partial) else p for p in placements])
            self.spec, self.parts = whole.spec, whole.parts

    def whole(self) -> torch.Tensor:
        """Returns the tensor as a plain one on the first device."""
        return self.placed([Replicate()] * len(self.spec.placements)).parts[0]

    # ---- conversions from torch --------------------------------------------------------------------------------------

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """Returns a replicated tensor as an array.

        Raises:
            UnimplementedError: it is divided.
        """
        self.settle()
        if not self.tf_layout.is_fully_replicated():
            raise errors.UnimplementedError.of(
                "Trying to copy a non-single-device and non-replicated DTensor is not supported. Input tensor is: "
                f"DTensor({self.text()})"
            )
        return as_numpy(self.parts[0], FROM_TORCH[self.dtype])

    def tolist(self) -> Any:
        """Returns the values of the whole, as kernels read seeds and sizes."""
        return self.whole().tolist()

    def text(self) -> str:
        """Returns the values and the layout, as TensorFlow prints them."""
        self.settle()
        dtype = FROM_TORCH[self.dtype]
        texts = [tensor_text(EagerTensor(part, dtype)) for part in self.parts]
        values = texts[0]
        if not self.tf_layout.is_fully_replicated():
            names = [d.rpartition("device:")[2] for d in self.mesh.local_devices()]
            values = "{" + ", ".join(f'"{n}": {t}' for n, t in zip(names, texts, strict=True)) + "}"
        return f'{values}, layout="{self.tf_layout.to_string()}"'

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        raise TypeError("A DTensor can't be pickled: save it by tf.train.Checkpoint.")

    # ---- computing ---------------------------------------------------------------------------------------------------

    @classmethod
    def __torch_dispatch__(cls, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        leaves, structure = aten.pytree.tree_flatten((tuple(args), dict(kwargs or {})))
        if op is _UNSAID and args[3] is not None:
            op = _SAID
        operands = [leaf for leaf in leaves if isinstance(leaf, Divided)]
        mesh = operands[0].mesh
        if any(operand.mesh != mesh for operand in operands):
            raise errors.InvalidArgumentError.of(
                "All DTensors of an op must be on the same mesh. List of meshes: "
                + ", ".join(sorted({repr(operand.mesh) for operand in operands}))
            )
        for operand in operands:
            operand.settle()
        if op._schema.is_mutable and not _written_operands(op, *aten.pytree.tree_unflatten(leaves, structure)):
            # Plain memory is written to: by plain values.
            leaves = [leaf.whole() if isinstance(leaf, Divided) else leaf for leaf in leaves]
            own_args, own_kwargs = aten.pytree.tree_unflatten(leaves, structure)
            return op(*own_args, **own_kwargs)
        leaves = [_replicate_value(leaf, mesh) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        results, specs = _compute_op(op, leaves, structure, mesh)
        if op._schema.returns and not any(r.alias_info and r.alias_info.is_write for r in op._schema.returns):
            return _wrap_results(results, specs, mesh)
        written = _written_operands(op, *aten.pytree.tree_unflatten(leaves, structure))
        return written[0] if len(written) == 1 else None


def _replicate_value(value: torch.Tensor, mesh: Mesh) -> Divided:
    """Returns a plain tensor as a tensor replicated on all devices. Divided tensors stay unchanged."""
    if isinstance(value, Divided):
        return value
    return Divided.of(mesh, [Replicate()] * len(mesh.dim_names), [value] * mesh.num_local_devices())


def _compute_op(op: Any, leaves: list[Any], structure: Any, mesh: Mesh) -> tuple[list[Any], Any]:
    """Computes an op.

    Args:
        op: the overload of ATen.
        leaves: the flat arguments, with `Divided` for tensors.
        structure: their structure.
        mesh: the mesh.

    Returns:
        The results of each device; and the specs of the outputs, None where these are replicated.
    """
    operands = [leaf.spec if isinstance(leaf, Divided) else leaf for leaf in leaves]
    plan = None if op in _WHOLE else _plan_op(op, structure, len(mesh.dim_names), *operands)
    kernel, specs = op, None
    nowhere = [Replicate()] * len(mesh.dim_names)
    if plan is None:
        placed = [leaf.placed(nowhere) if isinstance(leaf, Divided) else leaf for leaf in leaves]
    else:
        specs, schema = plan.output_spec, plan.redistribute_schema
        placed = leaves
        if plan.needs_redistribute and schema is not None:
            kernel = schema.op
            targets, rewritten = aten.pytree.tree_flatten((schema.args_schema, dict(schema.kwargs_schema)))
            structure = structure if kernel is op else rewritten
            tensors = iter([leaf for leaf in leaves if isinstance(leaf, Divided)])
            placed = [next(tensors).placed(t.placements) if isinstance(t, DTensorSpec) else t for t in targets]
    if op._schema.is_mutable:
        written = set(map(id, _written_operands(op, *aten.pytree.tree_unflatten(leaves, structure))))
        placed = [_replace_parts(o, leaf) if id(o) in written else leaf for o, leaf in zip(leaves, placed, strict=True)]
        _part_with(op, *aten.pytree.tree_unflatten(placed, structure))
    if kernel is _aten.view.default or kernel is _aten._unsafe_view.default:
        kernel = torch.reshape  # a part need not be contiguous
    results: list[Any] = []
    of_parts: dict[tuple[int, ...], Any] = {}  # devices with the same tensors have the same results
    for number in range(mesh.num_local_devices()):
        own = [leaf.parts[number] if isinstance(leaf, Divided) else leaf for leaf in placed]
        key = tuple(id(part) for part in own if isinstance(part, torch.Tensor))
        if key not in of_parts:
            own_args, own_kwargs = aten.pytree.tree_unflatten(own, structure)
            of_parts[key] = kernel(*own_args, **own_kwargs)
        results.append(of_parts[key])
    return results, specs


def _replace_parts(value: Divided, by: Divided) -> Divided:
    """Gives a tensor the placements and parts of another."""
    value.spec, value.parts = by.spec, by.parts
    return value


@functools.lru_cache(maxsize=1 << 14, typed=True)  # steps of a training are alike, and the rules are slow
def _plan_op(op: Any, structure: Any, dims: int, *operands: Any) -> Any:
    """Returns the plan of the rules, with operands replicated along as many dimensions of the mesh, from the last one,
    as it takes; None where there is none.

    Args:
        op: the overload of ATen.
        structure: the structure of its arguments.
        dims: the number of dimensions of the mesh.
        *operands: the flat arguments, with specs for tensors.
    """
    info = _rules.op_to_schema_info.get(op) or getattr(_rules, "op_to_schema_info_for_single_dim_strategy", {}).get(op)
    for divided in range(dims, 0, -1):
        described = [
            _describe_operand(operand, divided, None if op not in _BY_BATCH else i < _BY_BATCH[op])
            if isinstance(operand, DTensorSpec)
            else operand
            for i, operand in enumerate(operands)
        ]
        args, kwargs = aten.pytree.tree_unflatten(described, structure)
        try:
            plan: Any = _rules.propagate_op_sharding(OpSchema(op, args, kwargs, schema_info=info))
        except _NO_ANSWER:
            return None
        targets = aten.pytree.tree_flatten((plan.redistribute_schema or OpSchema(op, args, kwargs)).args_schema)[0]
        if _can_express(plan.output_spec, terms=True) and _can_express(targets, terms=False):
            if not plan.needs_redistribute and any(o is not d for o, d in zip(operands, described, strict=True)):
                plan = OutputSharding(plan.output_spec, OpSchema(op, args, kwargs), needs_redistribute=True)
            return plan
    return None


def _describe_operand(spec: DTensorSpec, divided: int, has_batch: bool | None) -> DTensorSpec:
    """Returns the spec of an operand, replicated along all but the first dimensions of the mesh.

    Args:
        spec: the operand's spec.
        divided: the number of these dimensions.
        has_batch: True if only its first axis, the batch axis, may stay divided; None if any axis may.
    """
    placements = tuple(
        p if i < divided and (has_batch is None or (has_batch and p == Shard(0))) else Replicate()
        for i, p in enumerate(spec.placements)
    )
    return spec if placements == spec.placements else DTensorSpec(spec.mesh, placements, spec.tensor_meta)


def _can_express(specs: Any, terms: bool) -> bool:
    """Returns True if layouts can express specs.

    Args:
        specs: a spec, or a nest of specs and other values.
        terms: whether terms of sums are allowed too.
    """
    for spec in aten.pytree.tree_flatten(specs)[0]:
        if not isinstance(spec, DTensorSpec):
            continue
        axes = [p.dim for p in spec.placements if type(p) is Shard]
        sizes, meta = spec.mesh.shape, cast(TensorMeta, spec.tensor_meta)
        if len(set(axes)) < len(axes) or any(
            not (
                type(p) is Replicate
                or (type(p) is Shard and meta.shape[p.dim] % sizes[i] == 0)
                or (terms and type(p) is Partial and p.reduce_op in REDUCTIONS)
            )
            for i, p in enumerate(spec.placements)
        ):
            return False
    return True


def _wrap_results(results: list[Any], specs: Any, mesh: Mesh) -> Any:
    """Returns the results of the devices as tensors of the mesh, in the structure of the op's result."""
    first = results[0]
    if isinstance(first, (tuple, list)):
        columns = zip(*results, strict=True)
        of_each = specs if isinstance(specs, (tuple, list)) else [specs] * len(first)
        return type(first)([_wrap_results(list(c), s, mesh) for c, s in zip(columns, of_each, strict=True)])
    if not isinstance(first, torch.Tensor):
        return first
    if specs is None:
        return Divided.of(mesh, [Replicate()] * len(mesh.dim_names), results)
    return Divided(mesh, specs, results)


def _written_operands(op: Any, args: tuple[Any, ...], kwargs: Any) -> list[Divided]:
    """Returns the operands that an op writes to."""
    written: list[Any] = []
    for i, argument in enumerate(op._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = kwargs.get(argument.name) if argument.kwarg_only or i >= len(args) else args[i]
            written += value if isinstance(value, (list, tuple)) else [value]
    return [value for value in written if isinstance(value, Divided)]


def _part_with(op: Any, args: tuple[Any, ...], kwargs: Any) -> None:
    """Gives each device its own copy of an op's written operands if several devices share a tensor."""
    for value in _written_operands(op, args, kwargs):
        if len(set(map(id, value.parts))) < len(value.parts):
            value.parts = [part.clone() for part in value.parts]


# ---- plain tensors and layouts ---------------------------------------------------------------------------------------


def divide(value: torch.Tensor, layout: Layout) -> Divided:
    """Returns a tensor in a layout.

    Args:
        value: a plain tensor, the same in all processes, or a DTensor.
        layout: the layout.

    Raises:
        InvalidArgumentError: the layout does not fit the tensor's shape.
    """
    layout.check_divides(value.shape)
    mesh = layout.mesh
    if isinstance(value, Divided) and value.mesh != mesh:
        value = value.whole()
    return _replicate_value(value, mesh).placed(placements_of(mesh, layout.sharding_specs))


def assemble(parts: list[torch.Tensor], layout: Layout) -> Divided:
    """Returns a tensor of the parts that this process's devices have.

    Args:
        parts: the parts.
        layout: the layout of the whole.
    """
    shape = layout.global_shape_from_local_shape(parts[0].shape)
    return Divided.of(layout.mesh, placements_of(layout.mesh, layout.sharding_specs), parts, shape)


def from_local(value: torch.Tensor, layout: Layout) -> Divided:
    """Returns a tensor from each process's part of it. A part is one tensor along the first axis.

    Args:
        value: this process's part; with a single process, all. A batch of a single process that its devices can't
            divide evenly is whole on each of them.
        layout: the layout of the whole, divided along the first axis at most.

    Raises:
        InvalidArgumentError: the parts of the processes differ in size.
    """
    mesh = layout.mesh
    links = links_of(mesh)
    if isinstance(links, LocalLinks):
        even = value.shape[0] % layout.num_shards(0) == 0
        return divide(value, layout if even else Layout.replicated(mesh, value.ndim))
    for dim in range(len(mesh.dim_names)):
        (sizes,) = links.gather([torch.tensor([value.shape[0]])], dim, 0)
        if len(set(sizes.tolist())) > 1:
            raise errors.InvalidArgumentError.of(
                f"The processes have parts of a batch that differ in size: {sizes.tolist()}. Let the dataset drop what "
                "remains, `batch(..., drop_remainder=True)`."
            )
    return assemble([value], layout)


@functools.cache
def device_mesh(mesh: Mesh) -> DeviceMesh:
    """Returns the mesh as the rules of `torch.distributed.tensor` describe it; it has no processes of its own."""
    ids = torch.from_numpy(mesh.global_device_ids() - mesh.min_global_device_id())
    own = mesh.local_device_ids()[0] - mesh.min_global_device_id()
    return DeviceMesh("cpu", ids, mesh_dim_names=tuple(mesh.dim_names), _init_backend=False, _rank=own)
