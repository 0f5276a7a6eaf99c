"""Decodes the outputs of a network trained with `ctc_loss` to labellings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core.errors import FailedPreconditionError
from tapeflow.core.loops import Int64s, Numbers, loop
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid

if TYPE_CHECKING:
    from tapeflow.sparse.tensor import SparseTensor


def _lengths(inputs: torch.Tensor, sequence_length: torch.Tensor) -> list[int]:
    """Returns the number of steps of each example.

    Raises:
        InvalidArgumentError: the inputs have another rank, or are empty.
        FailedPreconditionError: there are not as many lengths as examples, or one is too large.
    """
    if inputs.dim() != 3:
        raise invalid("inputs is not a 3-Tensor")
    if not inputs.numel():
        raise invalid("inputs must not be empty")
    if sequence_length.dim() != 1:
        raise invalid("sequence_length is not a vector")
    time, batch, _ = inputs.shape
    lengths = sequence_length.tolist()
    if len(lengths) != batch:
        raise FailedPreconditionError.of(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(lengths)} batch_size: {batch}"
        )
    for i, length in enumerate(lengths):
        if length > time:
            raise FailedPreconditionError.of(f"sequence_length({i}) <= {time}")
    return lengths


def _as_sparse(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Converts rows to the indices, values and shape of a sparse tensor."""
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = [v for row in rows for v in row]
    longest = max(map(len, rows), default=0)
    return (
        torch.tensor(indices, dtype=torch.int64).view(-1, 2),
        torch.tensor(values, dtype=torch.int64),
        torch.tensor([len(rows), longest], dtype=torch.int64),
    )


def _paths_rule(inputs: TensorShape, lengths: TensorShape, beam_width: int, top_paths: int, *_: Any) -> list[Any]:
    """Returns the shapes of the sparse tensors of some paths for each example, and of the paths' scores."""
    batch = inputs.with_rank(3)[1:2].merge_with(lengths)
    return [*[[None, 2]] * top_paths, *[[None]] * top_paths, *[[2]] * top_paths, batch + [top_paths]]


@op("CTCGreedyDecoder", shape=lambda inputs, lengths, *_: _paths_rule(inputs, lengths, 1, 1))
def _greedy(
    inputs: torch.Tensor, sequence_length: torch.Tensor, merge_repeated: bool = False, blank_index: int = -1
) -> tuple[torch.Tensor, ...]:
    """Decodes by the most likely class at each step."""
    lengths = _lengths(inputs, sequence_length)
    classes = inputs.shape[2]
    if not -classes <= blank_index < classes:
        raise invalid(f"blank_index expected to be between {-classes} and {classes - 1} but was {blank_index}")
    time, batch, _ = inputs.shape
    values, indices = torch.empty(time * batch, dtype=torch.int64), torch.empty(time * batch, 2, dtype=torch.int64)
    shape, scores = torch.tensor([batch, 0]), inputs.new_zeros(batch, 1, device="cpu")
    count = _find_paths(
        inputs.detach().cpu().contiguous(), batch, classes, torch.tensor(lengths), merge_repeated,
        blank_index % classes, indices, values, shape, scores,
    )  # fmt: skip
    return indices[:count], values[:count], shape, scores.to(inputs.device)


@loop
def _find_paths(
    inputs: Numbers, batch: int, classes: int, lengths: Int64s, merge_repeated: int, blank: int, indices: Int64s,
    values: Int64s, shape: Int64s, scores: Numbers,
) -> int:  # fmt: skip
    """Decodes by the most likely class at each step, and returns the number of labels.

    Args:
        inputs: the logits, `[time, batch, classes]`.
        batch, classes: the sizes.
        lengths: the number of steps of each example.
        merge_repeated: leaves out labels like the class before.
        blank: the class that is no label.
        indices, values: receive the labels of all examples as a sparse tensor.
        shape: receives the largest number of labels as its second number.
        scores: receives the negative sums of the chosen logits; zeros before.
    """
    count = 0
    for example in range(batch):
        before, labels = -1, 0
        for time in range(lengths[example]):
            row, best = (time * batch + example) * classes, 0
            for i in range(1, classes):
                if inputs[row + best] != inputs[row + best]:
                    break
                if not inputs[row + i] <= inputs[row + best]:
                    best = i
            scores[example] -= inputs[row + best]
            if best != blank and not (merge_repeated and best == before):
                indices[2 * count], indices[2 * count + 1], values[count] = example, labels, best
                labels += 1
                count += 1
            before = best
        shape[1] = max(shape[1], labels)
    return count


def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True, blank_index: int | None = None
) -> tuple[list[SparseTensor], Tensor]:
    """Takes the most likely class at each step, merges equal neighbours and removes blanks.

    Args:
        inputs: a tensor of shape `[time, batch, classes]`, float32 or float64: logits.
        sequence_length: a tensor of shape `[batch]`, int32: the number of steps of each example.
        merge_repeated: whether to merge equal neighbours; True by default.
        blank_index: an int, the blank class; by default the last, and a negative one counts from the end.

    Returns:
        A list of one `tf.SparseTensor` of labels (int64), and `[batch, 1]`: the negative sums of the chosen logits.

    Raises:
        InvalidArgumentError: the inputs have another rank, or there is no such class.
        FailedPreconditionError: there are not as many lengths as examples, or one is too large.

    Example:
        >>> logits = tf.constant([[[0.0, 9.0, 0.0]], [[0.0, 9.0, 0.0]], [[9.0, 0.0, 0.0]]])
        >>> tf.nn.ctc_greedy_decoder(logits, [3])[0][0].values.numpy().tolist()
        [1, 0]
    """
    from tapeflow.sparse.tensor import SparseTensor

    lengths = convert(sequence_length, hint=int32)
    blank = -1 if blank_index is None else blank_index
    indices, values, shape, scores = _greedy(inputs, lengths, merge_repeated, blank)
    return [SparseTensor(indices, values, shape)], scores


# ---- beam search: Graves, Supervised Sequence Labelling with Recurrent Neural Networks, 2012, chapter 7.5.3 ----------


def _log_add(a: float, b: float) -> float:
    """Computes `log(exp(a) + exp(b))`."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


class _Beam:
    """A labelling and the logarithms of its probability.

    Attributes:
        blank: the log probability of alignments that end in a blank.
        labelled: the log probability of alignments that end in the last label.
        total: the log probability of all alignments.
        before: `(total, blank, labelled)` after the previous step.
    """

    __slots__ = ("before", "blank", "children", "label", "labelled", "parent", "total")

    def __init__(self, parent: _Beam | None, label: int) -> None:
        self.parent, self.label = parent, label
        self.children: dict[int, _Beam] = {}
        self.clear()
        self.before = (-math.inf, -math.inf, -math.inf)

    def clear(self) -> None:
        self.total = self.blank = self.labelled = -math.inf

    def labels(self) -> list[int]:
        """Returns the labels, from the first to the last."""
        labels: list[int] = []
        beam = self
        while beam.parent is not None:
            labels.append(beam.label)
            beam = beam.parent
        return labels[::-1]

    def child(self, label: int) -> _Beam:
        if label not in self.children:
            self.children[label] = _Beam(self, label)
        return self.children[label]

    def extended(self, label: int, log_p: float) -> float:
        """Computes the log-probability of the labelling with one more label; after an equal one a blank must stand."""
        total, blank, _ = self.before
        return log_p + (blank if label == self.label else total)


def _beam_search(log_p: np.ndarray, width: int) -> list[_Beam]:
    """Finds the most likely labellings of `[time, classes]`, best first; the last class is the blank."""
    root = _Beam(None, -1)
    root.total = root.blank = 0.0
    leaves = [root]
    blank = log_p.shape[1] - 1
    for row in log_p.tolist():
        branches = sorted(leaves, key=lambda b: -b.total)
        for b in branches:
            b.before = (b.total, b.blank, b.labelled)
        for b in branches:
            if b.parent is not None:
                if b.parent.total > -math.inf:
                    total, blank_before, _ = b.parent.before
                    same = b.label == b.parent.label
                    b.labelled = _log_add(b.labelled, blank_before if same else total)
                b.labelled += row[b.label]
            b.blank = b.before[0] + row[blank]
            b.total = _log_add(b.blank, b.labelled)
        leaves = list(branches)
        for b in branches:
            for label in range(blank):
                child = b.children.get(label)
                if child is not None and child.total > -math.inf:
                    continue
                grown = b.extended(label, row[label])
                lowest = min(leaves, key=lambda leaf: leaf.total) if len(leaves) >= width else None
                if grown == -math.inf or (lowest is not None and grown <= lowest.total):
                    continue
                if lowest is not None:
                    leaves.remove(lowest)
                    lowest.clear()
                child = b.child(label)
                child.blank, child.labelled, child.total = -math.inf, grown, grown
                leaves.append(child)
    return sorted(leaves, key=lambda b: -b.total)


@op("CTCBeamSearchDecoder", shape=_paths_rule)
def _beam(
    inputs: torch.Tensor, sequence_length: torch.Tensor, beam_width: int, top_paths: int, merge_repeated: bool = True
) -> tuple[torch.Tensor, ...]:
    """Decodes by beam search."""
    lengths = _lengths(inputs, sequence_length)
    if top_paths > beam_width:
        raise invalid("requested more paths than the beam width.")
    log_p = torch.log_softmax(inputs.detach().double().cpu(), 2).numpy()
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    scores = np.full((len(lengths), top_paths), -np.inf)
    for i, length in enumerate(lengths):
        beams = _beam_search(log_p[:length, i], beam_width)
        if len(beams) < top_paths:
            raise invalid("Less leaves in the beam search than requested.")
        for k, beam in enumerate(beams[:top_paths]):
            labels = beam.labels()
            if merge_repeated:
                labels = [v for j, v in enumerate(labels) if not j or v != labels[j - 1]]
            paths[k].append(labels)
            scores[i, k] = beam.total
    sparse = [_as_sparse(rows) for rows in paths]
    indices, values, shapes = zip(*sparse, strict=True)
    return *indices, *values, *shapes, torch.from_numpy(scores).to(inputs.dtype)


not_differentiable(_greedy, _beam)


def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """Decodes by beam search: extends the `beam_width` most likely labellings at each step.

    Args:
        inputs: a tensor of shape `[time, batch, classes]`, float32 or float64: logits; the last class is the blank one.
        sequence_length: a tensor of shape `[batch]`, int32: the number of steps of each example.
        beam_width: an int, the number of labellings that are extended at each step; 100 by default.
        top_paths: an int, the number of labellings to return, at most `beam_width`; 1 by default.

    Returns:
        A list of `top_paths` `tf.SparseTensor`s of labels (int64), the most likely first, and `[batch, top_paths]`: the
        logarithms of their probabilities.

    Raises:
        InvalidArgumentError: the inputs have another rank, or there are more paths than beams.
        FailedPreconditionError: there are not as many lengths as examples, or one is too large.

    Example:
        >>> decoded, _ = tf.nn.ctc_beam_search_decoder(tf.constant([[[0.0, 9.0, 0.0]], [[9.0, 0.0, 0.0]]]), [2])
        >>> decoded[0].values.numpy().tolist()
        [1, 0]
    """
    from tapeflow.sparse.tensor import SparseTensor

    lengths = convert(sequence_length, hint=int32)
    *parts, scores = _beam(inputs, lengths, beam_width, top_paths, False)
    n = top_paths
    return [SparseTensor(parts[i], parts[n + i], parts[2 * n + i]) for i in range(n)], scores
