"""TensorFlow's ops on whole ragged tensors, for raw ops and graphs that TensorFlow wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import check_shape_scalar
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.sparse.index_order import components


def _partition_splits(partition: torch.Tensor, kind: str, rows: int | None) -> torch.Tensor:
    """Returns the row splits of a partition of any kind."""
    if kind == "ROW_SPLITS":
        return partition
    if kind != "VALUE_ROWIDS" or rows is None:
        raise invalid(f"Unsupported row partition type {kind}")
    counts = torch.bincount(partition.long(), minlength=rows)
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def _all_splits(partitions: Sequence[torch.Tensor], kinds: Sequence[str]) -> list[torch.Tensor]:
    rows = None
    splits = []
    for partition, kind in zip(partitions, kinds, strict=True):
        if kind == "FIRST_DIM_SIZE":
            rows = int(partition)
            continue
        splits.append(_partition_splits(partition, kind, rows))
        rows = int(splits[-1][-1])
    return splits


def _target_dims(shape: Any, rank: int) -> tuple[int | None, ...]:
    """Returns the dimensions of the dense tensor. None stands for the length of the longest row."""
    if not isinstance(shape, tuple):
        return (None,) * rank
    if len(shape) != rank:
        raise invalid(f"rt_input.shape and shape={list(shape)} are incompatible: rt_input.rank = {rank} but "
                      f"shape.rank = {len(shape)}")  # fmt: skip
    return tuple([None if d is None or d < 0 else d for d in shape])


_KINDS = ("FIRST_DIM_SIZE", "ROW_LENGTHS", "ROW_LIMITS", "ROW_SPLITS", "ROW_STARTS", "VALUE_ROWIDS")


def _padded_shape(
    shape: Any, values: TensorShape, default: TensorShape, partitions: Sequence[TensorShape],
    kinds: Sequence[str],
) -> TensorShape:  # fmt: skip
    check_shape_scalar(shape)
    unknown = next((kind for kind in kinds if kind not in _KINDS), None)
    if unknown is not None:
        raise invalid(f"Unknown string for partition info type: {unknown}")
    if values.rank is None:
        return TensorShape(None)
    levels = sum(kind != "FIRST_DIM_SIZE" for kind in kinds)
    rank = levels + values.rank
    outer = [None] * (levels + 1) if not isinstance(shape, tuple) else list(_target_dims(shape, rank))[: levels + 1]
    # A -1 stands for the rows there are. A number that is not static need not be -1.
    all_rows = not isinstance(shape, Tensor) and (not isinstance(shape, tuple) or shape[0] == -1)
    if all_rows and kinds[0] == "ROW_SPLITS" and partitions[0].rank == 1 and partitions[0][0] is not None:
        outer[0] = partitions[0][0] - 1
    return TensorShape(outer).concatenate(values[1:])


@op("RaggedTensorToTensor", host=("shape",), moves=True, shape=_padded_shape)
def ragged_to_tensor(
    shape: tuple[int, ...] | int,
    values: torch.Tensor,
    default_value: torch.Tensor,
    row_partition_tensors: list[torch.Tensor],
    row_partition_types: Sequence[str],
) -> torch.Tensor:
    """Pads rows to a dense tensor."""
    device = values.device
    splits = [s.to(device) for s in _all_splits(row_partition_tensors, row_partition_types)]
    bounds = [len(splits[0]) - 1, *[int(s.diff().max()) if len(s) > 1 else 0 for s in splits]]
    rank = len(bounds) + values.ndim - 1
    dims = _target_dims(shape, rank)
    if any(n is not None and n != d for n, d in zip(dims[len(bounds) :], values.shape[1:], strict=True)):
        raise invalid(f"The inner dimensions of shape={list(dims)} must be {list(values.shape[1:])}")
    rows = None if dims[0] is None else torch.arange(dims[0], device=device).clamp_(max=bounds[0])
    for level, width, n in zip(splits, bounds[1:], dims[1:], strict=False):
        starts, ends = level[:-1], level[1:]
        if rows is not None:  # after the last row comes an empty one, for padding
            starts, ends = level[rows], torch.cat([ends, level[-1:]])[rows]
        places = starts.unsqueeze(-1) + torch.arange(width if n is None else n, device=device)
        rows = torch.where(places < ends.unsqueeze(-1), places, level[-1])
    assert rows is not None  # there is a level
    padded = torch.cat([values, default_value.expand(1, *values.shape[1:])])
    return padded.index_select(0, rows.reshape(-1)).view(*rows.shape, *values.shape[1:])


@op("RaggedTensorToSparse", moves=True,
    shape=lambda splits, values: components(None if values.rank is None else len(splits) + values.rank))  # fmt: skip
def ragged_to_sparse(
    rt_nested_splits: list[torch.Tensor], rt_dense_values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the indices, values and shape of the sparse tensor for a ragged one."""
    device = rt_dense_values.device
    columns = [torch.arange(len(rt_nested_splits[0]) - 1, device=device)]
    sizes = [len(rt_nested_splits[0]) - 1]
    for level in rt_nested_splits:
        lengths = level.diff()
        rows = torch.arange(len(lengths), device=device).repeat_interleave(lengths)
        columns = [c[rows] for c in columns] + [torch.arange(len(rows), device=device) - level[rows]]
        sizes.append(int(lengths.max()) if len(lengths) else 0)
    indices = torch.stack(columns, 1)
    for size in rt_dense_values.shape[1:]:
        rest = torch.arange(size, device=device).repeat(len(indices))
        indices = torch.cat([indices.repeat_interleave(size, 0), rest.unsqueeze(1)], 1)
    return indices.long(), rt_dense_values.reshape(-1), torch.tensor([*sizes, *rt_dense_values.shape[1:]])


def _gathered_shapes(
    splits: Sequence[TensorShape], values: TensorShape, indices: TensorShape, rank: int
) -> list[TensorShape]:
    whole = TensorShape(None) if values.rank is None else TensorShape([None]).concatenate(values[1:])
    return [*[TensorShape([None])] * rank, whole]


@op("RaggedGather", moves=True, shape=_gathered_shapes, rename={"output_ragged_rank": "OUTPUT_RAGGED_RANK"})
def ragged_gather(
    params_nested_splits: list[torch.Tensor],
    params_dense_values: torch.Tensor,
    indices: torch.Tensor,
    output_ragged_rank: int,
) -> Any:
    """Gathers rows of a ragged tensor: their nested row splits, and their flat values."""
    if output_ragged_rank != len(params_nested_splits) + indices.ndim - 1:
        raise invalid(
            f"OUTPUT_RAGGED_RANK must be {len(params_nested_splits) + indices.ndim - 1}, the number of row splits and "
            f"of dimensions of the indices less 1, but is {output_ragged_rank}"
        )
    count = len(params_nested_splits[0]) - 1
    rows = indices.reshape(-1).long()
    wrong = ((rows < 0) | (rows >= count)).nonzero()
    if len(wrong):
        raise invalid(f"indices[{int(wrong[0])}] = {int(rows[wrong[0]])} is not in [0, {count})")
    gathered = []
    for level in params_nested_splits:
        lengths = level.diff()[rows]
        new = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).to(level.dtype)
        rows = (level[:-1][rows] - new[:-1]).repeat_interleave(lengths)
        rows = rows + torch.arange(len(rows), device=rows.device)
        gathered.append(new)
    outer = []
    total = 1
    for size, length in zip(indices.shape[:-1], indices.shape[1:], strict=True):
        total *= size
        outer.append(torch.arange(total + 1, dtype=params_nested_splits[0].dtype, device=rows.device) * length)
    return (*outer, *gathered, params_dense_values[rows])
