"""Connectionist temporal classification: the loss of a labelling whose alignment with the input is unknown.

Graves et al., Connectionist Temporal Classification, 2006.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from tapeflow.array import creation
from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import ones_like, zeros
from tapeflow.array.gathers import gather
from tapeflow.array.identities import less_static
from tapeflow.array.masks import boolean_mask, sequence_mask, where
from tapeflow.array.properties import ensure_shape, shape
from tapeflow.array.reshapes import expand_dims, reshape, transpose
from tapeflow.array.scatters import scatter_nd
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import broadcast, with_rank
from tapeflow.core.types import dtypes
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, less, logical_and, logical_or, not_equal
from tapeflow.math.cumulative import cumsum
from tapeflow.math.reduction import reduce_min, reduce_sum

# TensorFlow's logarithm of 0. Being finite, it gives an impossible labelling with dense labels a finite loss.
LOG_ZERO = math.log(1e-307)

# ---- the kernels -----------------------------------------------------------------------------------------------------


def _check_inputs(logits: torch.Tensor, lengths: torch.Tensor) -> None:
    if logits.dim() != 3:
        raise invalid(f"inputs is not a 3-Tensor: {list(logits.shape)}")
    time, batch, _ = logits.shape
    if list(lengths.shape) != [batch]:
        raise invalid(f"len(sequence_length) != batch_size: {list(lengths.shape)} and {batch}")
    for i, length in enumerate(lengths.tolist()):
        if not 0 <= length <= time:
            raise invalid(f"sequence_length({i}) <= {time}")


def _label_rows(
    indices: torch.Tensor, values: torch.Tensor, batch: int, classes: int, blank: int | None
) -> list[list[int]]:
    """Collects the labels of each example.

    Args:
        indices: of each label the example and its place.
        values: the labels.
        batch: the number of examples.
        classes: the number of classes.
        blank: the blank class, which is no label; None takes every number for a label.
    """
    rows: list[list[int]] = [[] for _ in range(batch)]
    for (example, _), label in zip(indices.tolist(), values.tolist(), strict=True):
        if not 0 <= example < batch:
            raise invalid(f"label batch index {example} is out of range [0, {batch})")
        is_class = 0 <= label < classes
        if blank is not None and (not is_class or label == blank):
            raise invalid(f"Saw a label that is no class, or the blank one: label {label} of example {example}")
        rows[example].append(label if is_class else classes)
    return rows


def _time_needed(labels: list[int]) -> int:
    """Counts the steps that a labelling takes: between equal neighbours there must be a blank."""
    return len(labels) + sum(a == b for a, b in itertools.pairwise(labels))


def _loss_and_gradient(
    logits: torch.Tensor, rows: list[list[int]], lengths: torch.Tensor, blank: int, impossible: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the losses and their gradients by the logits.

    Args:
        logits: `[time, batch, classes]`.
        rows: the labels of each example; one that is no class has their number, and is certain at every step.
        lengths: the number of steps of each example.
        blank: the blank class.
        impossible: the treatment of labellings that need more steps: "raise" and "ignore" (a loss of 0) where there
            are more labels than steps, and a loss of infinity where only blanks lack, as in TensorFlow; or "penalize".
    """
    steps = lengths.tolist()
    wrong = [i for i, row in enumerate(rows) if _time_needed(row) > steps[i]]
    longer = [i for i in wrong if len(rows[i]) > steps[i]]
    if longer and impossible == "raise":
        need, have = len(rows[longer[0]]), steps[longer[0]]
        raise invalid(
            f"Not enough time for target transition sequence (required: {need}, available: {have}){longer[0]}. "
            "You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs"
        )
    possible = [[] if i in wrong else row for i, row in enumerate(rows)]
    targets = torch.tensor([v for row in possible for v in row], dtype=torch.long, device=logits.device)
    with torch.enable_grad():
        leaf = logits.detach().requires_grad_()
        normalized = torch.log_softmax(leaf, 2)
        log_probabilities, source = normalized, leaf
        if any(logits.shape[2] in row for row in possible):
            log_probabilities, source = torch.nn.functional.pad(normalized, (0, 1)), normalized
        losses = leaf.sum((0, 2))  # without a step
        if len(leaf):
            losses = functional.ctc_loss(
                log_probabilities, targets, lengths.long(), torch.tensor([len(r) for r in possible]), blank, "none"
            )
        losses = losses.masked_fill(lengths.to(losses.device) == 0, 0.0)
        if wrong:
            chosen = torch.zeros_like(losses, dtype=torch.bool)
            chosen[wrong] = True
            instead = torch.zeros_like(losses)
            if impossible == "penalize":
                penalties = [_penalized_loss(log_probabilities[: steps[i], i], rows[i], blank) for i in wrong]
                instead = instead.index_put((torch.tensor(wrong, device=losses.device),), torch.stack(penalties))
            elif lacking := [i for i in wrong if i not in longer]:
                infinite = [leaf[: steps[i], i].logsumexp(1).sum() + torch.inf for i in lacking]  # by softmax
                instead = instead.index_put((torch.tensor(lacking, device=losses.device),), torch.stack(infinite))
            losses = torch.where(chosen, instead, losses)
        (gradient,) = torch.autograd.grad(losses.sum(), source)
    return losses.detach().to(logits.dtype), gradient.to(logits.dtype)


def _penalized_loss(log_probabilities: torch.Tensor, labels: list[int], blank: int) -> torch.Tensor:
    """Computes the loss of a labelling that needs more steps; as in TensorFlow, an early end has probability 1e-307."""
    extended = [blank]
    for label in labels:
        extended += [label, blank]
    states = len(extended)
    wide = log_probabilities.double()
    never = wide.new_full((states,), -1e30)  # the gradient of -inf would be NaN
    begin, end = never.clone(), wide.new_full((states,), LOG_ZERO)
    begin[:2], end[-2:] = 0.0, 0.0
    if not len(wide):
        return wide.new_tensor(-LOG_ZERO).to(log_probabilities.dtype)
    skips = [i >= 2 and extended[i] != blank and extended[i] != extended[i - 2] for i in range(states)]
    may_skip = torch.tensor(skips, device=wide.device)
    alpha = begin + wide[0, extended]
    for row in wide[1:]:
        by_one = torch.cat([never[:1], alpha[:-1]])
        by_two = torch.where(may_skip, torch.cat([never[:2], alpha[:-2]]), never)
        alpha = torch.logsumexp(torch.stack([alpha, by_one, by_two]), 0) + row[extended]
    return -torch.logsumexp(alpha + end, 0).to(log_probabilities.dtype)


def _losses_rule(
    inputs: TensorShape, indices: TensorShape, values: TensorShape, lengths: TensorShape, *_: Any
) -> list[TensorShape]:
    inputs = with_rank(inputs, 3)
    with_rank(indices, 2)[:1].assert_is_compatible_with(with_rank(values, 1))
    batch = inputs[1:2].merge_with(with_rank(lengths, 1))
    return [batch, inputs[:1] + batch + inputs[2:]]


@op("CTCLoss", shape=_losses_rule)
def _ctc_loss_of_sparse(
    inputs: torch.Tensor,
    labels_indices: torch.Tensor,
    labels_values: torch.Tensor,
    sequence_length: torch.Tensor,
    ignore_longer_outputs_than_inputs: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the losses and their gradients; the last class is the blank one."""
    _check_inputs(inputs, sequence_length)
    batch, classes = inputs.shape[1:]
    rows = _label_rows(labels_indices, labels_values, batch, classes, classes - 1)
    if any(not row for row in rows):
        raise invalid("Labels length is zero in batch " + str(next(i for i, row in enumerate(rows) if not row)))
    impossible = "ignore" if ignore_longer_outputs_than_inputs else "raise"
    return _loss_and_gradient(inputs, rows, sequence_length, classes - 1, impossible)


def _by_inputs(call: Call, dy: Tensor, d_gradient: Any) -> Any:
    if d_gradient is not None:
        raise LookupError(f"{call.op.name} has no gradient of second order")
    return multiply(reshape(dy, (1, -1, 1)), call.outputs[1]), None, None, None


_ctc_loss_of_sparse.gradient(needs="outputs", none_for_zero=True)(_by_inputs)


def _dense_losses_rule(inputs: TensorShape, *others: Any) -> list[TensorShape]:
    if with_rank(inputs, 3)[2] == 0:
        raise invalid(_NO_CLASSES)
    return _losses_rule(inputs, *others)


_NO_CLASSES = "There must be one class at least, the blank one"


@op("CTCLossV2", shape=_dense_losses_rule)
def _ctc_loss_of_dense(
    inputs: torch.Tensor, labels_indices: torch.Tensor, labels_values: torch.Tensor, sequence_length: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the losses and their gradients; the first class is the blank one."""
    sequence_length = sequence_length.clamp(0, len(inputs))  # there are as many steps as logits
    _check_inputs(inputs, sequence_length)
    if not inputs.shape[2]:
        raise invalid(_NO_CLASSES)
    rows = _label_rows(labels_indices, labels_values, inputs.shape[1], inputs.shape[2], None)  # dense labels may be any
    return _loss_and_gradient(inputs, rows, sequence_length, 0, "penalize")


_ctc_loss_of_dense.gradient(needs="outputs", none_for_zero=True)(_by_inputs)

# ---- the public function ---------------------------------------------------------------------------------------------


def ctc_loss(
    labels: TensorLike,
    logits: TensorLike,
    label_length: TensorLike | None,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: Sequence[TensorLike] | None = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the loss of labellings, summed over all their alignments with the steps of the input.

    An alignment assigns each step a label or a blank; the labelling remains when equal neighbours are merged and then
    blanks removed.

    Args:
        labels: a tensor of shape `[batch, most labels]` of int32 or int64, or a `tf.SparseTensor` of int32.
        logits: a tensor of shape `[time, batch, classes]`, float32 (with sparse labels also float64, with dense ones
            also float16).
        label_length: a tensor of shape `[batch]`: the number of labels of each example; None for sparse labels.
        logit_length: a tensor of shape `[batch]`: the number of steps of each example.
        logits_time_major: whether the time is the first dimension of the logits, or else the batch; True by default.
        unique: not used.
        blank_index: an int, the blank class; 0 by default, and a negative one counts from the end.

    Returns:
        `[batch]`: the negative log-likelihoods.

    Raises:
        ValueError: sparse labels without a `blank_index`.
        InvalidArgumentError: a label is no class; or, for sparse labels, there are
            fewer steps than the labels need. (Dense ones then have a loss above 706.)

    Example:
        >>> tf.nn.ctc_loss([[1]], tf.zeros([2, 1, 3]), [1], [2]).numpy().tolist()
        [1.0986123085021973]
    """
    sparse: Any = labels if hasattr(labels, "dense_shape") and hasattr(labels, "indices") else None
    if sparse is not None and blank_index is None:
        raise ValueError("Argument `blank_index` must be provided when `labels` is a `SparseTensor`.")
    x = convert(logits)
    if not logits_time_major:
        x = transpose(x, [1, 0, 2])
    classes = shape_of(x)[2]
    blank = (blank_index or 0) + (classes if (blank_index or 0) < 0 else 0)
    lengths = cast(convert(logit_length), int32)
    if sparse is not None:
        values = cast(sparse.values, int32)
        if not (isinstance(blank, int) and isinstance(classes, int) and blank == classes - 1):
            x = concat([x[:, :, :blank], x[:, :, blank + 1 :], x[:, :, blank : blank + 1]], 2)
            values = where(less(values, blank), values, subtract(values, 1))
        return _ctc_loss_of_sparse(x, cast(sparse.indices, int64), values, lengths, False, name)[0]
    dtype = x.dtype
    if dtype in (dtypes.float16, dtypes.bfloat16):
        x = cast(x, dtypes.float32)
    dense = cast(convert(labels), int32)
    counts = convert(label_length)
    if counts.shape.rank is None:
        counts = ensure_shape(counts, [None])
    present = sequence_mask(counts, shape_of(dense)[1])
    if state.graph is None and present.shape != dense.shape:
        raise invalid(f"Incompatible shapes: {present.shape} vs. {dense.shape}")
    values = boolean_mask(dense, present)
    if not isinstance(blank, int) or blank:
        x = concat([x[:, :, blank : blank + 1], x[:, :, :blank], x[:, :, blank + 1 :]], 2)
        values = where(less(values, blank), add(values, 1), values)
    losses = _ctc_loss_of_dense(x, where(present), values, lengths, name)[0]
    batch = broadcast(x.shape[1:2], counts.shape)
    return cast(less_static(losses, batch if dense.shape.rank is None else broadcast(batch, dense.shape[:1])), dtype)


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> list[Tensor]:
    """Returns the distinct labels of each row, and the index of each label among them.

    Args:
        labels: a tensor of shape `[batch, n]`, int32 or int64.

    Returns:
        Two tensors `[batch, n]`: the distinct labels in order of appearance, and after them zeros (int64); and of each
        label the index among them (int32).

    Raises:
        ValueError: the labels are a scalar.

    Example:
        >>> [t.numpy().tolist() for t in tf.nn.ctc_unique_labels([[3, 4, 4, 3]])]
        [[[3, 4, 0, 0]], [[0, 1, 1, 0]]]
    """
    rows = convert(labels)
    if rows.shape.rank == 0:
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    if state.graph is None and rows.shape[:1] == [0]:  # no row says how long the others are
        return [zeros([0], int64), zeros([0], int32)]
    is_unranked, rows = rows.shape.rank is None, ensure_shape(rows, [None, None])
    matrix = cast(rows, int64)
    width = shape_of(matrix)[1]
    places = creation.range(width)
    is_same = equal(expand_dims(rows, 2), expand_dims(rows, 1))
    if rows.dtype.is_floating:  # NaN, too, stands where it stands
        is_same = logical_or(is_same, equal(expand_dims(places, 1), places))
    first = reduce_min(where(is_same, places, width), 2)  # the first position of each label
    is_first = cast(equal(first, places), int32)
    ranks = subtract(cumsum(is_first, 1), 1)
    indices = gather(ranks, first, axis=1, batch_dims=1)
    at_rank = equal(expand_dims(ranks, 1), expand_dims(places, 1))  # [batch, rank, label]
    distinct = multiply(cast(at_rank, int64), expand_dims(multiply(matrix, cast(is_first, int64)), 1))
    if is_unranked:
        indices = less_static(indices, None)
    return [less_static(reduce_sum(distinct, 2), [matrix.shape[0], None]), indices]


def collapse_repeated(labels: TensorLike, seq_length: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Merges equal neighbours in each row.

    Args:
        labels: a tensor of shape `[batch, n]`, integers.
        seq_length: a tensor of shape `[batch]`: the number of labels of each row that count.

    Returns:
        The rows, filled up with zeros to the length of the longest, and their lengths.

    Raises:
        InvalidArgumentError: `labels` is not a matrix, or `seq_length` not a vector.

    Example:
        >>> [t.numpy().tolist() for t in tf.nn.collapse_repeated([[1, 1, 2, 2]], [4])]
        [[[1, 2]], [2]]
    """
    matrix, lengths = ensure_shape(labels, [None, None]), ensure_shape(seq_length, [None])
    width = shape_of(matrix)[1]
    first = ones_like(matrix[:, :1], dtypes.bool)
    changes = concat([first, not_equal(matrix[:, 1:], matrix[:, :-1])], 1)
    keep = logical_and(changes, sequence_mask(lengths, width))
    counts = reduce_sum(cast(keep, lengths.dtype), 1)
    present = sequence_mask(counts)
    merged = scatter_nd(where(present), boolean_mask(matrix, keep), shape(present, int64))
    if None in (convert(labels).shape.rank, convert(seq_length).shape.rank):
        counts = less_static(counts, None)
    return merged if matrix.shape[0] is not None else less_static(merged, [None, None]), counts
