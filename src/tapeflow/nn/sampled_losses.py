"""Losses over very many classes, that look at the true ones and a sample of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import ones_like, zeros_like
from tapeflow.array.identities import stop_gradient
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.array.scatters import scatter_nd
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64
from tapeflow.core.values.tensor import Tensor
from tapeflow.linalg.products import matmul
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.casting import cast
from tapeflow.math.division import realdiv
from tapeflow.math.elementwise import log
from tapeflow.math.reduction import reduce_sum
from tapeflow.nn.candidate_sampling import compute_accidental_hits, log_uniform_candidate_sampler
from tapeflow.nn.cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from tapeflow.nn.embedding import embedding_lookup


def _sampled_logits(
    weights: TensorLike,
    biases: TensorLike,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    seed: int | None,
) -> tuple[Any, Any]:
    """Computes the logits of the true classes and then the sampled ones, and labels of the same shape.

    Each true class has the label 1 / num_true.
    """
    inputs = convert(inputs)
    labels = convert(labels)
    if labels.dtype is not int64:
        labels = cast(labels, int64)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
    sampled, true_expected, sampled_expected = (stop_gradient(v) for v in sampled_values)
    sampled = cast(sampled, int64)

    true = reshape(labels, (-1,))
    ids = concat([true, sampled], 0)
    rows = embedding_lookup(weights, ids)
    offsets = embedding_lookup(biases, ids)
    if rows.dtype is not inputs.dtype:
        rows, offsets = cast(rows, inputs.dtype), cast(offsets, inputs.dtype)
    count = shape_of(true)[0]
    batch, width = shape_of(inputs)[0], shape_of(rows)[-1]
    true_rows, sampled_rows = rows[:count], rows[count:]

    by_label = multiply(expand_dims(inputs, 1), reshape(true_rows, (-1, num_true, width)))
    true_logits = add(reduce_sum(by_label, -1), reshape(offsets[:count], (-1, num_true)))
    sampled_logits = add(matmul(inputs, sampled_rows, transpose_b=True), offsets[count:])
    if remove_accidental_hits:
        hits = compute_accidental_hits(labels, sampled, num_true)
        places = stack([cast(hits.indices, int64), hits.ids], 1)
        least = cast(hits.weights, sampled_logits.dtype)
        sampled_logits = add(sampled_logits, scatter_nd(places, least, (batch, shape_of(sampled)[0])))
    # Classes that are sampled often would otherwise be learned to be improbable.
    true_logits = subtract(true_logits, log(cast(true_expected, true_logits.dtype)))
    sampled_logits = subtract(sampled_logits, log(cast(sampled_expected, sampled_logits.dtype)))
    logits = concat([true_logits, sampled_logits], 1)
    ones = realdiv(ones_like(true_logits), float(num_true))
    return logits, concat([ones, zeros_like(sampled_logits)], 1)


def nce_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[TensorLike] | None = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Tensor:
    """Computes the noise-contrastive loss, which tells true classes from sampled ones (Gutmann and Hyvarinen, 2010).

    Args:
        weights: a tensor of shape `[num_classes, width]`, or a list of parts; see `tf.nn.embedding_lookup`.
        biases: a tensor of shape `[num_classes]`.
        labels: a tensor of shape `[batch, num_true]`, int64: the true classes.
        inputs: a tensor of shape `[batch, width]`.
        num_sampled: an int, the number of classes to sample for the batch.
        num_classes: an int, the number of all classes.
        num_true: an int, the number of true classes of an example; 1 by default.
        sampled_values: the result of a candidate sampler; by default of `log_uniform_candidate_sampler`.
        remove_accidental_hits: leaves out sampled classes that are true ones.

    Returns:
        `[batch]`: the losses.

    Raises:
        InvalidArgumentError: the shapes do not go together, or a class is out of range.

    Example:
        >>> tf.nn.nce_loss(tf.ones([4, 2]), tf.zeros([4]), [[1], [2]], tf.ones([2, 2]), 2, 4).shape
        TensorShape([2])
    """
    logits, true = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, None,
    )  # fmt: skip
    return reduce_sum(sigmoid_cross_entropy_with_logits(true, logits), 1)


def sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[TensorLike] | None = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str = "sampled_softmax_loss",
) -> Tensor:
    """Computes softmax cross-entropy over the true classes and a sample of the others (Jean et al., 2014).

    Args:
        weights: a tensor of shape `[num_classes, width]`, or a list of parts; see `tf.nn.embedding_lookup`.
        biases: a tensor of shape `[num_classes]`.
        labels: a tensor of shape `[batch, num_true]`, int64: the true classes.
        inputs: a tensor of shape `[batch, width]`.
        num_sampled: an int, the number of classes to sample for the batch.
        num_classes: an int, the number of all classes.
        num_true: an int, the number of true classes of an example; 1 by default.
        sampled_values: the result of a candidate sampler; by default of `log_uniform_candidate_sampler`.
        remove_accidental_hits: leaves out sampled classes that are true ones; True by default.
        seed: an int, the sampler's seed; see `tf.random.set_seed`.

    Returns:
        `[batch]`: the losses.

    Raises:
        InvalidArgumentError: the shapes do not go together, or a class is out of range.

    Example:
        >>> tf.nn.sampled_softmax_loss(tf.ones([4, 2]), tf.zeros([4]), [[1], [2]], tf.ones([2, 2]), 2, 4).shape
        TensorShape([2])
    """
    logits, true = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, seed,
    )  # fmt: skip
    return softmax_cross_entropy_with_logits(stop_gradient(true), logits)
