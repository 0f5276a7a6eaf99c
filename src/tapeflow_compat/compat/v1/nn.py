"""The public `tf.compat.v1.nn` namespace: neural networks with the parameters of TensorFlow 1."""
# ruff: noqa: F401 (the imports are public names)

from __future__ import annotations

from typing import Any

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import ones_like, zeros
from tapeflow.array.identities import stop_gradient
from tapeflow.array.reshapes import transpose
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import name_scope
from tapeflow.core.types import dtypes
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.linalg.products import matmul
from tapeflow.math import topk
from tapeflow.math.comparison import logical_or, not_equal
from tapeflow.nn import activations, cross_entropy, ctc, dropouts, softmaxes, statistics
from tapeflow.nn.activations import relu
from tapeflow.nn.bias import bias_add
from tapeflow.ragged.ragged_ops import boolean_mask
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.sparse.tensor import SparseTensor
from tapeflow_compat import raw_ops
from tapeflow_compat.compat.v1 import names
from tapeflow_compat.compat.v1.aliases import either
from tapeflow_compat.compat.v1.arrays import space_to_batch
from tapeflow_compat.compat.v1.convolutions import (
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv3d_backprop_filter,
    conv3d_backprop_filter_v2,
    depthwise_conv2d_native,
    dilation2d,
    erosion2d,
    fractional_avg_pool,
    fractional_max_pool,
    max_pool_with_argmax,
)
from tapeflow_compat.compat.v1.embeddings import (
    embedding_lookup,
    embedding_lookup_sparse,
    nce_loss,
    safe_embedding_lookup_sparse,
    sampled_softmax_loss,
)
from tapeflow_compat.compat.v1.rnn import (
    bidirectional_dynamic_rnn,
    dynamic_rnn,
    raw_rnn,
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
)

# ---- activations and losses ------------------------------------------------------------------------------------------


def dropout(
    x: TensorLike,
    keep_prob: Any = None,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    """Sets elements at random to 0 and scales the others up, see `tf.nn.dropout`.

    Args:
        x: a float tensor.
        keep_prob: a float, the probability that an element stays, 1 - `rate`.
        rate: a float, the probability that an element becomes 0.
        noise_shape: a shape that broadcasts to the shape of `x`: along its ones, elements are kept or dropped together.
        seed: an int, the seed of this operation.

    Raises:
        ValueError: neither is specified, or both.

    Example:
        >>> tf.compat.v1.nn.dropout([1.0, 2.0], keep_prob=1.0).numpy().tolist()
        [1.0, 2.0]
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
    if rate is None and keep_prob is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    if rate is None:
        rate = 1.0 - keep_prob
    return dropouts.dropout(x, rate, noise_shape, seed, name)


def _labels_and_logits(function: str, labels: Any, logits: Any) -> tuple[Any, Any]:
    if labels is None or logits is None:
        raise ValueError(
            f"Both `labels` and `logits` must be provided for {function}, by keyword. Received: labels={labels} and "
            f"logits={logits}"
        )
    return labels, logits


def softmax_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Any:
    """Computes the cross-entropy of labels that are distributions; no gradient goes to the labels.

    Args:
        labels: a float tensor of probabilities that add up to 1 along the dimension of the classes.
        logits: a tensor of the shape and dtype of the labels.
        dim, axis: an int, the dimension of the classes; `axis` is used if `dim` is None.

    Returns:
        A tensor of the shape of the labels without that dimension.

    Raises:
        ValueError: labels or logits are missing, or the dimension was passed under both names.

    Example:
        >>> loss = tf.compat.v1.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[2.0, 2.0]])
        >>> print(loss.numpy().round(4))
        [0.6931]
    """
    labels, logits = _labels_and_logits("softmax_cross_entropy_with_logits", labels, logits)
    along = either("axis", axis, "dim", dim)
    labels = stop_gradient(convert(labels))
    return cross_entropy.softmax_cross_entropy_with_logits(labels, logits, -1 if along is None else along, name)


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Any:
    """Computes the cross-entropy of labels that are numbers, see `tf.nn.sparse_softmax_cross_entropy_with_logits`.

    Args:
        labels: an int32 or int64 tensor, the classes.
        logits: a float tensor of the shape of the labels, with one more dimension for the classes.

    Raises:
        ValueError: labels or logits are missing, or of other shapes.

    Example:
        >>> loss = tf.compat.v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[[2.0, 2.0]])
        >>> print(loss.numpy().round(4))
        [0.6931]
    """
    labels, logits = _labels_and_logits("sparse_softmax_cross_entropy_with_logits", labels, logits)
    return cross_entropy.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Any:
    """Computes the cross-entropy of labels that do not exclude each other, see
    `tf.nn.sigmoid_cross_entropy_with_logits`.

    Args:
        labels: a float tensor, each element from 0 to 1.
        logits: a tensor of the shape and dtype of the labels.

    Raises:
        ValueError: labels or logits are missing, or of other shapes.

    Example:
        >>> loss = tf.compat.v1.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.5], logits=[0.0, 0.0])
        >>> print(loss.numpy().round(4))
        [0.6931 0.6931]
    """
    labels, logits = _labels_and_logits("sigmoid_cross_entropy_with_logits", labels, logits)
    return cross_entropy.sigmoid_cross_entropy_with_logits(labels, logits, name)


# ---- layers ----------------------------------------------------------------------------------------------------------


def xw_plus_b(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Any:
    """`matmul(x, weights) + biases`.

    Example:
        >>> tf.compat.v1.nn.xw_plus_b([[1.0, 2.0]], [[3.0], [4.0]], [0.5]).numpy().tolist()
        [[11.5]]
    """
    with name_scope(name or "xw_plus_b"):
        return bias_add(matmul(x, weights), biases)


def relu_layer(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Any:
    """`relu(matmul(x, weights) + biases)`.

    Example:
        >>> tf.compat.v1.nn.relu_layer([[1.0, 2.0]], [[-3.0], [1.0]], [0.5]).numpy().tolist()
        [[0.0]]
    """
    with name_scope(name or "relu_layer"):
        return relu(bias_add(matmul(x, weights), biases))


def fused_batch_norm(
    x: TensorLike, scale: Any, offset: Any, mean: Any = None, variance: Any = None, epsilon: float = 0.001,
    data_format: str = "NHWC", is_training: bool = True, name: str | None = None, exponential_avg_factor: float = 1.0,
) -> Any:  # fmt: skip
    """Normalizes the channels of images, then scales and shifts them.

    Args:
        x: a tensor of shape [batch, height, width, channels].
        scale, offset: tensors of shape [channels].
        mean, variance: the running mean and variance, of shape [channels]; required if `is_training` is false.
        epsilon: a float, added to the variance, at least 1.001e-5.
        data_format: "NHWC" or "NCHW".
        is_training: whether to normalize with the batch's mean and variance instead of `mean` and `variance`.
        exponential_avg_factor: a float, the weight of the batch's mean and variance in the running ones; 1.0 by
            default.

    Returns:
        The images, and the mean and variance: the batch's own, or the running ones moved towards them.

    Raises:
        ValueError: training is over, and `mean` or `variance` is missing.

    Example:
        >>> images = tf.reshape(tf.constant([1.0, 3.0]), [2, 1, 1, 1])
        >>> y, mean, variance = tf.compat.v1.nn.fused_batch_norm(images, [1.0], [0.0])
        >>> print(y.numpy().ravel().round(2), mean.numpy())
        [-1.  1.] [2.]

    References: Ioffe and Szegedy 2015 (https://arxiv.org/abs/1502.03167).
    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or `exponential_avg_factor` "
            f"!= 1.0. Received: `mean` {mean!r} and `variance` {variance!r}"
        )
    x = convert(x)
    nothing = zeros([0])
    outputs = raw_ops.FusedBatchNormV3(
        x=x, scale=convert(scale, float32), offset=convert(offset, float32),
        mean=nothing if mean is None else convert(mean, float32),
        variance=nothing if variance is None else convert(variance, float32),
        epsilon=max(epsilon, 1.001e-5), exponential_avg_factor=exponential_avg_factor, data_format=data_format,
        is_training=is_training, name=name,
    )  # fmt: skip
    return outputs[0], outputs[1], outputs[2]


# ---- sequences -------------------------------------------------------------------------------------------------------


def ctc_loss(
    labels: TensorLike, inputs: Any = None, sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True,
    logits: TensorLike | None = None,
) -> Any:  # fmt: skip
    """Computes the loss of labels that are not aligned with the logits. The last class is the blank.

    Args:
        labels: a `tf.SparseTensor` of int32, of shape [batch, longest labels].
        inputs, logits: tensors of shape [time, batch, classes], by either name.
        sequence_length: int32, of shape [batch], the number of steps of each example.
        preprocess_collapse_repeated: whether to merge repeated labels first; False by default.
        ctc_merge_repeated: whether to merge repeated classes of the logits; must be True.
        ignore_longer_outputs_than_inputs: whether the loss is 0 if there are more labels than steps; False by default.
        time_major: whether time comes before the batch; True by default.

    Returns:
        The losses, of shape [batch].

    Raises:
        TypeError: the labels are not sparse.
        ValueError: the logits were passed under both names.
        InvalidArgumentError: there are more labels than steps.
        NotImplementedError: `ctc_merge_repeated` is false.

    Example:
        >>> labels = tf.SparseTensor([[0, 0]], [0], [1, 1])
        >>> print(tf.compat.v1.nn.ctc_loss(labels, tf.zeros([1, 1, 2]), [1]).numpy().round(4))
        [0.6931]

    References: Graves et al. 2006 (https://www.cs.toronto.edu/~graves/icml_2006.pdf).
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    batch = convert(either("logits", logits, "inputs", inputs))
    labels = _without_repeats(labels) if preprocess_collapse_repeated else labels
    return raw_ops.CTCLoss(
        inputs=batch if time_major else transpose(batch, [1, 0, 2]), labels_indices=labels.indices,
        labels_values=labels.values, sequence_length=sequence_length,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )[0]  # fmt: skip


def _without_repeats(labels: Any) -> Any:
    """Returns rows of labels where equal ones that follow each other are one."""
    rows = RaggedTensor.from_sparse(labels)
    values, row = rows.values, rows.value_rowids()
    new = logical_or(not_equal(values[1:], values[:-1]), not_equal(row[1:], row[:-1]))
    mask = concat([ones_like(values[:1], dtypes.bool), new], 0)
    return boolean_mask(rows, rows.with_values(mask)).to_sparse()


def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> Any:
    """Searches the likeliest labels with a beam: see `tf.nn.ctc_beam_search_decoder`.

    Args:
        inputs: a tensor of shape [time, batch, classes], the last class the blank.
        sequence_length: int32, of shape [batch], the number of steps of each example.
        beam_width: an int, the number of prefixes to follow; 100 by default.
        top_paths: an int, the number of results, at most `beam_width`; 1 by default.
        merge_repeated: whether to merge repeated labels; True by default.

    Returns:
        A list of `top_paths` `tf.SparseTensor`s of int64, and their log probabilities, of shape [batch, top_paths].

    Example:
        >>> logits = tf.constant([[[5.0, 0.0, 0.0]], [[0.0, 5.0, 0.0]]])
        >>> decoded, _ = tf.compat.v1.nn.ctc_beam_search_decoder(logits, [2])
        >>> decoded[0].values.numpy().tolist()
        [0, 1]
    """
    indices, values, shapes, log_probability = raw_ops.CTCBeamSearchDecoder(
        inputs=inputs, sequence_length=sequence_length, beam_width=beam_width, top_paths=top_paths,
        merge_repeated=merge_repeated,
    )  # fmt: skip
    decoded = [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)]
    return decoded, log_probability


# ---- statistics ------------------------------------------------------------------------------------------------------


_find = names.finder("nn")


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed("nn")})
