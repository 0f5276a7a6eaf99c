"""Ragged tensors by their rows: with more of them ragged, or some of them alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.array.gathers import gather
from tapeflow.ragged.row_partition import RowPartition, length_of, repeat_values, splits_of, up_to
from tapeflow.ragged.tensor import RaggedTensor

if TYPE_CHECKING:
    from tapeflow.core.values.tensor import Tensor


def as_ragged(value: RaggedTensor | Tensor, ragged_rank: int) -> Any:
    """Returns a tensor or ragged tensor with at least that many partitioned dimensions."""
    if ragged_rank == 0:
        return value
    if isinstance(value, RaggedTensor):
        return value.with_values(as_ragged(value.values, ragged_rank - 1))
    return RaggedTensor.from_tensor(value, ragged_rank=ragged_rank)


def gather_rows(value: RaggedTensor | Tensor, positions: Tensor) -> Any:
    """Returns the rows of a tensor or ragged tensor at these positions, a vector, in their order."""
    return take_rows(value, positions) if isinstance(value, RaggedTensor) else gather(value, positions)


def take_rows(rt: RaggedTensor, rows: Tensor) -> RaggedTensor:
    """Returns the rows of a ragged tensor at these positions, a vector, in their order."""
    partition = rt._row_partition
    lengths = gather(partition.row_lengths(), rows)
    splits = splits_of(lengths)
    shift = gather(partition.row_starts(), rows) - splits[:-1]
    values = gather_rows(rt.values, repeat_values(shift, splits) + up_to(splits[-1]))
    return with_lengths(rt, values, lengths)


def with_lengths(like: RaggedTensor, values: RaggedTensor | Tensor, lengths: Tensor) -> RaggedTensor:
    """Returns rows of these lengths. The length is static if the row length of `like` is static."""
    uniform = like._row_partition.uniform_row_length()
    if uniform is None:
        new = RowPartition.from_row_lengths(lengths, validate=False)
    else:
        new = RowPartition.from_uniform_row_length(uniform, nrows=length_of(lengths))
    return RaggedTensor._from_row_partition(values, new, validate=False)
