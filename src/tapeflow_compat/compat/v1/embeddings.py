"""Embeddings and losses over many classes with the parameters of TensorFlow 1: tables may be in several pieces."""

from __future__ import annotations

from typing import Any

from tapeflow.array import creation, properties
from tapeflow.array.concat_and_split import concat
from tapeflow.array.dynamic_partition import dynamic_partition, dynamic_stitch
from tapeflow.array.masks import where
from tapeflow.array.properties import size
from tapeflow.array.reshapes import reshape
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.math.arithmetic import add_n
from tapeflow.math.casting import cast
from tapeflow.math.extrema import maximum
from tapeflow.nn import embedding, sampled_losses
from tapeflow_compat.compat.v1.partitioned import PartitionedVariable


def embedding_lookup(
    params: Any, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None,
    validate_indices: bool = True, max_norm: Any = None,
) -> Any:  # fmt: skip
    """Returns rows of a table by their numbers, see `tf.nn.embedding_lookup`.

    Args:
        params: a tensor of shape [rows, ...], the table; or a list of the pieces of a table.
        ids: int32 or int64, of any shape, the numbers of the rows.
        partition_strategy: the division of rows among n pieces: "div" for consecutive rows, or "mod" (the default) for
            every nth row.
        max_norm: a float; rows with a larger norm are scaled down to it. None for no limit.
        validate_indices: accepted, and without effect.

    Returns:
        A tensor of the shape of `ids` followed by the shape of a row.

    Raises:
        ValueError: there is no table, or no such strategy.
        InvalidArgumentError: there is no row of a number.

    Example:
        >>> pieces = [tf.constant([[0.0], [2.0]]), tf.constant([[1.0], [3.0]])]  # of even and of odd numbers
        >>> tf.compat.v1.nn.embedding_lookup(pieces, [3, 0]).numpy().tolist()
        [[3.0], [0.0]]
    """
    many = isinstance(params, (list, tuple, PartitionedVariable))
    pieces = list(params) if many else [] if params is None else [params]
    if not pieces:
        raise ValueError("Need at least one param: `params` must be specified.")
    if len(pieces) == 1:
        return embedding.embedding_lookup(pieces[0], ids, max_norm, name)
    pieces, ids = [p if hasattr(p, "dtype") else convert(p) for p in pieces], convert(ids)
    flat = reshape(ids, [-1])
    piece, row = _places(flat, pieces, partition_strategy)
    order = dynamic_partition(creation.range(size(flat)), piece, len(pieces))
    rows = dynamic_partition(row, piece, len(pieces))
    values = [embedding.embedding_lookup(p, r, max_norm) for p, r in zip(pieces, rows, strict=True)]
    shape = concat([properties.shape(ids), properties.shape(pieces[0])[1:]], 0)
    return reshape(dynamic_stitch(order, values), shape, name)


def _places(ids: Any, pieces: list[Any], strategy: str) -> tuple[Any, Any]:
    """Returns for each row the piece of a table that holds it, and the row's position in this piece."""
    count = len(pieces)
    if strategy == "mod":
        return cast(ids % count, int32), ids // count
    if strategy != "div":
        raise ValueError(f'Unrecognized partition strategy: {strategy}. Must be one of either `"mod"` or `"div"`.')
    total = add_n([cast(properties.shape(p)[0], ids.dtype) for p in pieces])
    least, larger = total // count, total % count  # the first pieces have a row more
    piece = maximum(ids // (least + 1), (ids - larger) // least)
    in_larger = piece < larger
    row = where(in_larger, ids % (least + 1), (ids - larger) % least)
    return cast(piece, int32), row


def _whole(pieces: Any, strategy: str) -> Any:
    """Returns a table in one piece, its rows in order."""
    if not isinstance(pieces, (list, tuple)):
        return pieces
    if len(pieces) == 1:
        return pieces[0]
    count = add_n([properties.shape(p)[0] for p in pieces])
    return embedding_lookup(pieces, creation.range(count), strategy)


def embedding_lookup_sparse(
    params: TensorLike, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod", name: str | None = None,
    combiner: str | None = None, max_norm: Any = None, allow_fast_lookup: bool = False,
) -> Any:  # fmt: skip
    """Combines the rows of a table for each row of ids: see `tf.nn.embedding_lookup_sparse`.

    Args:
        params, partition_strategy: see `embedding_lookup`.
        sp_ids: a `tf.SparseTensor` of int64, or a ragged one, the numbers of the rows.
        sp_weights: a `tf.SparseTensor` of floats of the same shape, or None for ones.
        combiner: "mean" (the default), "sqrtn" or "sum".
        max_norm: a float; rows with a larger norm are scaled down to it. None for no limit.
        allow_fast_lookup: accepted, and without effect.

    Raises:
        ValueError: there is no such combiner.

    Example:
        >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [0, 2], [1, 2])
        >>> tf.compat.v1.nn.embedding_lookup_sparse([[1.0], [2.0], [5.0]], ids, None).numpy().tolist()
        [[3.0]]
    """
    table = _whole_table(params, partition_strategy)
    return embedding.embedding_lookup_sparse(table, sp_ids, sp_weights, combiner, max_norm, name, allow_fast_lookup)


def safe_embedding_lookup_sparse(
    embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None, combiner: str = "mean", default_id: Any = None,
    name: str | None = None, partition_strategy: str = "div", max_norm: Any = None, allow_fast_lookup: bool = False,
) -> Any:  # fmt: skip
    """Computes `embedding_lookup_sparse`, with negative ids ignored and rows without ids filled.

    Args:
        embedding_weights: a tensor of shape [rows, ...], the table; or a list of the pieces of a table.
        default_id: an int, the row for examples without ids; None for zeros.
        sparse_ids, sparse_weights, combiner, partition_strategy, max_norm: see `embedding_lookup_sparse`.

    Raises:
        ValueError: there is no table, or no such combiner.

    Example:
        >>> ids = tf.SparseTensor([[0, 0]], [1], [2, 1])
        >>> tf.compat.v1.nn.safe_embedding_lookup_sparse(tf.constant([[1.0], [2.0]]), ids).numpy().tolist()
        [[2.0], [0.0]]
    """
    if embedding_weights is None or (_in_pieces(embedding_weights) and not len(embedding_weights)):
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    table = _whole_table(embedding_weights, partition_strategy)
    return embedding.safe_embedding_lookup_sparse(
        table, sparse_ids, sparse_weights, combiner, default_id, max_norm, name, allow_fast_lookup
    )


def _whole_table(params: TensorLike, partition_strategy: str) -> Any:
    """Returns a table, given as one, in pieces, or as a nest of numbers."""
    if _in_pieces(params):
        return _whole(params, partition_strategy)
    return convert(params) if isinstance(params, (list, tuple)) else params


def _in_pieces(params: TensorLike) -> bool:
    """Returns True if a table is a list of its pieces, and not a nest of numbers."""
    return isinstance(params, (list, tuple, PartitionedVariable)) and all(hasattr(p, "shape") for p in params)


def sampled_softmax_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int, num_classes: int,
    num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = True, partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss", seed: int | None = None,
) -> Any:  # fmt: skip
    """Computes the cross-entropy over the labels and a sample of the other classes: see `tf.nn.sampled_softmax_loss`.

    Args:
        weights: a tensor of shape [num_classes, dim], or a list of its pieces (see `embedding_lookup`).
        biases: a tensor of shape [num_classes].
        labels: int64, of shape [batch, num_true].
        inputs: a tensor of shape [batch, dim].
        num_sampled: an int, the number of classes to draw for the batch.
        num_classes: an int, the number of classes.
        num_true: an int, the number of labels of each example; 1 by default.
        sampled_values: the result of a candidate sampler; by default `log_uniform_candidate_sampler` draws.
        remove_accidental_hits: whether to drop drawn classes that are labels of the example.
        partition_strategy: "mod" (the default) or "div".
        seed: an int, the seed of the draw.

    Returns:
        The losses, of shape [batch].

    Example:
        >>> loss = tf.compat.v1.nn.sampled_softmax_loss(tf.zeros([5, 2]), tf.zeros([5]), [[1]], tf.ones([1, 2]), 3, 5)
        >>> loss.shape
        TensorShape([1])
    """
    table = _whole(weights, partition_strategy)
    return sampled_losses.sampled_softmax_loss(
        table, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, seed,
        name,
    )  # fmt: skip


def nce_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: Any, num_sampled: int, num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None, remove_accidental_hits: bool = False, partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Any:  # fmt: skip
    """Computes the noise-contrastive loss of the labels against a sample of the other classes: see `tf.nn.nce_loss`.

    See `sampled_softmax_loss` for the arguments.

    Example:
        >>> loss = tf.compat.v1.nn.nce_loss(tf.zeros([5, 2]), tf.zeros([5]), [[1]], tf.ones([1, 2]), 3, 5)
        >>> loss.shape
        TensorShape([1])
    """
    table = _whole(weights, partition_strategy)
    return sampled_losses.nce_loss(
        table, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, name
    )
