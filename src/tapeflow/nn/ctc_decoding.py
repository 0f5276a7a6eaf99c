"""Decodes the outputs of a network trained with `ctc_loss` to labellings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core.errors import FailedPreconditionError
from tapeflow.core.loops import Float64s, Int64s, Numbers, exp, log1p, loop
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid

if TYPE_CHECKING:
    from tapeflow.sparse.tensor import SparseTensor


def _step_counts(inputs: torch.Tensor, sequence_length: torch.Tensor) -> list[int]:
    """Returns the number of steps of each example.

    Raises:
        InvalidArgumentError: the inputs have another rank, or are empty.
        FailedPreconditionError: there are not as many lengths as examples, or one is too large. Negative ones are 0.
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
    return [max(length, 0) for length in lengths]


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
def _ctc_greedy_decoder(
    inputs: torch.Tensor, sequence_length: torch.Tensor, merge_repeated: bool = False, blank_index: int = -1
) -> tuple[torch.Tensor, ...]:
    """Decodes by the most likely class at each step."""
    lengths = _step_counts(inputs, sequence_length)
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
                if inputs[row + i] > inputs[row + best]:
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
    indices, values, shape, scores = _ctc_greedy_decoder(inputs, lengths, merge_repeated, blank)
    return [SparseTensor(indices, values, shape)], scores


# ---- beam search: Graves, Supervised Sequence Labelling with Recurrent Neural Networks, 2012, chapter 7.5.3 ----------


_NEVER = -math.inf  # the logarithm of the probability 0


@loop
def _log_add(a: float, b: float) -> float:
    """Computes `log(exp(a) + exp(b))`."""
    high, low = b if a < b else a, a if a < b else b  # NaN stays
    return high if low == _NEVER else high + log1p(exp(low - high))


@loop
def _search_beams(
    log_p: Float64s, start: int, step: int, first: int, steps: int, classes: int, width: int, capacity: int,
    room: int, nodes: Int64s, scores: Float64s, leaves: Int64s, branches: Int64s, sizes: Int64s,
) -> int:  # fmt: skip
    """Extends the most likely labellings of an example, step by step.

    A node of the tree of labellings has its parent, its label, its first child and its next sibling in `nodes`, -1 for
    none. Its `scores` are logarithms of probabilities: of all alignments, of those that end in a blank, of those that
    end in the label, and the first two of these after the step before.

    Args:
        log_p: the logarithms of the probabilities of classes; the last class is the blank.
        start: the place of the example's first one.
        step: the distance between two steps.
        first, steps: the first step, and the end of the steps.
        classes: the number of classes.
        width: the largest number of leaves.
        capacity: the number of nodes that there is room for.
        room: the number of leaves that there is room for.
        nodes, scores: the tree.
        leaves: the nodes of the labellings that are looked at.
        branches: a buffer like `leaves`.
        sizes: the numbers of nodes and of leaves.

    Returns:
        The number of steps that are done. There are fewer than `steps` if there is no more room.
    """
    blank = classes - 1
    for time in range(first, steps):
        count, active, row = sizes[0], sizes[1], start + time * step
        if count + active * blank > capacity or min(width, active * classes) > room:
            return time
        for i in range(active):  # sorts the leaves, the most likely one first
            node, place = leaves[i], i
            while place > 0 and scores[5 * branches[place - 1]] < scores[5 * node]:
                branches[place] = branches[place - 1]
                place -= 1
            branches[place] = node
        for i in range(active):
            node = 5 * branches[i]
            scores[node + 3], scores[node + 4] = scores[node], scores[node + 1]
            leaves[i] = branches[i]
        for i in range(active):
            node, parent, label = branches[i], nodes[4 * branches[i]], nodes[4 * branches[i] + 1]
            labelled = scores[5 * node + 2]
            if parent >= 0:
                if scores[5 * parent] > _NEVER:  # an equal label before must be followed by a blank
                    same = label == nodes[4 * parent + 1]
                    labelled = _log_add(labelled, scores[5 * parent + 4] if same else scores[5 * parent + 3])
                labelled += log_p[row + label]
            blanks = scores[5 * node + 3] + log_p[row + blank]
            scores[5 * node] = _log_add(blanks, labelled)
            scores[5 * node + 1], scores[5 * node + 2] = blanks, labelled
        lowest, evicted = -1, 0
        for i in range(active):
            node = branches[i]
            for label in range(-1, blank):  # -1 for the node itself
                same = label == nodes[4 * node + 1]
                grown = scores[5 * node + 3]
                if label >= 0:
                    grown = log_p[row + label] + (scores[5 * node + 4] if same else grown)
                full = sizes[1] >= width
                if full and lowest < 0:
                    lowest = 0
                    for j in range(1, sizes[1]):
                        if scores[5 * leaves[j]] < scores[5 * leaves[lowest]]:
                            lowest = j
                rejected = not grown > _NEVER or (full and grown <= scores[5 * leaves[lowest]])  # NaN is, too
                if label < 0:
                    if rejected:
                        break
                    continue
                if rejected and not evicted:
                    continue
                child = nodes[4 * node + 2]
                while child >= 0 and nodes[4 * child + 1] != label:
                    child = nodes[4 * child + 3]
                if child >= 0 and scores[5 * child] > _NEVER:
                    continue
                if rejected:
                    if child >= 0:  # as in TensorFlow, a leaf that was lost in this step does not grow then
                        scores[5 * child + 3], scores[5 * child + 4] = _NEVER, _NEVER
                    continue
                if full:
                    lost, evicted = 5 * leaves[lowest], 1
                    scores[lost], scores[lost + 1], scores[lost + 2] = _NEVER, _NEVER, _NEVER
                    for j in range(lowest, sizes[1] - 1):
                        leaves[j] = leaves[j + 1]
                    sizes[1] -= 1
                if child < 0:
                    child = sizes[0]
                    sizes[0] += 1
                    nodes[4 * child], nodes[4 * child + 1], nodes[4 * child + 2] = node, label, -1
                    nodes[4 * child + 3], nodes[4 * node + 2] = nodes[4 * node + 2], child
                    scores[5 * child + 3], scores[5 * child + 4] = _NEVER, _NEVER
                scores[5 * child], scores[5 * child + 1], scores[5 * child + 2] = grown, _NEVER, grown
                leaves[sizes[1]] = child
                sizes[1] += 1
                lowest = -1
    return steps


def _find_beams(log_p: torch.Tensor, example: int, steps: int, width: int) -> list[tuple[list[int], float]]:
    """Finds the most likely labellings of an example, best first, and the logarithms of their probabilities.

    Args:
        log_p: the logarithms of the probabilities of classes, `[time, batch, classes]`.
        example: its number.
        steps: its length.
        width: the number of labellings that are extended.
    """
    _, batch, classes = log_p.shape
    nodes, scores = np.array([[-1, -1, -1, -1]]), np.array([[0.0, 0.0, _NEVER, _NEVER, _NEVER]])
    leaves, sizes, done = np.zeros(1, np.int64), np.array([1, 1]), 0
    while done < steps:
        grown = int(sizes[1]) * classes
        capacity, room = 2 * len(nodes) + grown, max(len(leaves), min(width, 2 * grown))
        nodes, scores = np.resize(nodes, (capacity, 4)), np.resize(scores, (capacity, 5))
        leaves = np.resize(leaves, room)
        done = _search_beams(
            log_p, example * classes, batch * classes, done, steps, classes, width, capacity, room, nodes, scores,
            leaves, np.empty_like(leaves), sizes,
        )  # fmt: skip
    found = leaves[: sizes[1]]
    beams = []
    for node in found[np.argsort(-scores[found, 0], kind="stable")].tolist():
        labels, at = [], node
        while nodes[at, 0] >= 0:
            labels.append(int(nodes[at, 1]))
            at = nodes[at, 0]
        beams.append((labels[::-1], scores[node, 0]))
    return beams


@op("CTCBeamSearchDecoder", shape=_paths_rule)
def _ctc_beam_search_decoder(
    inputs: torch.Tensor, sequence_length: torch.Tensor, beam_width: int, top_paths: int, merge_repeated: bool = True
) -> tuple[torch.Tensor, ...]:
    """Decodes by beam search."""
    lengths = _step_counts(inputs, sequence_length)
    if top_paths > beam_width:
        raise invalid("requested more paths than the beam width.")
    log_p = torch.log_softmax(inputs.detach().double().cpu(), 2)
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    scores = np.full((len(lengths), top_paths), _NEVER)
    for i, length in enumerate(lengths):
        beams = _find_beams(log_p, i, length, beam_width)
        if len(beams) < top_paths:
            raise invalid("Less leaves in the beam search than requested.")
        for k, (labels, score) in enumerate(beams[:top_paths]):
            if merge_repeated:
                labels = [v for j, v in enumerate(labels) if not j or v != labels[j - 1]]
            paths[k].append(labels)
            scores[i, k] = score
    sparse = [_as_sparse(rows) for rows in paths]
    indices, values, shapes = zip(*sparse, strict=True)
    return *indices, *values, *shapes, torch.from_numpy(scores).to(inputs.dtype)


not_differentiable(_ctc_greedy_decoder, _ctc_beam_search_decoder)


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
    *parts, scores = _ctc_beam_search_decoder(inputs, lengths, beam_width, top_paths, False)
    n = top_paths
    return [SparseTensor(parts[i], parts[n + i], parts[2 * n + i]) for i in range(n)], scores
