"""Batches of single examples from TensorFlow 1's inputs, gathered in a queue by threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.array.creation import constant
from tapeflow.array.identities import identity, no_op
from tapeflow.array.masks import boolean_mask
from tapeflow.array.properties import ensure_shape, get_static_value
from tapeflow.control.conditions_and_loops import cond
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, float32, int32
from tapeflow.core.types.dtypes import bool as boolean
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.io.sparse import deserialize_many_sparse, serialize_many_sparse, serialize_sparse
from tapeflow.math.casting import cast
from tapeflow.math.extrema import maximum
from tapeflow.sparse.tensor import SparseTensor
from tapeflow_compat.compat.v1.scopes import name_scope
from tapeflow_compat.compat.v1.summary.kinds import scalar
from tapeflow_compat.compat.v1.train.producers import refuse_eagerly
from tapeflow_compat.compat.v1.train.queue_runner import QueueRunner, add_queue_runner
from tapeflow_compat.queue import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue

# ---- examples --------------------------------------------------------------------------------------------------------


class _Examples:
    """The tensors of an example (or of several), as the components of a queue's elements and back.

    Args:
        tensors: in a list, or in a dict.
        many: whether they are of several examples, with a dimension in front for their number.

    Raises:
        ValueError: there are none.
    """

    def __init__(self, tensors: Any, many: bool) -> None:
        self.keys = sorted(tensors, key=str) if isinstance(tensors, Mapping) else None
        items = [tensors[k] for k in self.keys] if self.keys is not None else list(tensors)
        if not items:
            raise ValueError("Expected at least one tensor in batch().")
        tensors_of_example = [t if isinstance(t, SparseTensor) else convert(t) for t in items]
        self.sparse = [t if isinstance(t, SparseTensor) else None for t in tensors_of_example]
        self.many = many
        self.components = [self._stored(t) for t in tensors_of_example]

    def _stored(self, tensor: Any) -> Tensor:
        """Returns a sparse tensor as strings; a dense tensor unchanged."""
        if not isinstance(tensor, SparseTensor):
            return tensor
        write = serialize_many_sparse if self.many else serialize_sparse
        return ensure_shape(write(tensor), [None, 3] if self.many else [3])

    def _read(self, tensor: Tensor, like: SparseTensor | None) -> Any:
        """Returns a batch of a tensor, from the results of `_stored`."""
        if like is None:
            return tensor
        rank = like.dense_shape.shape[0]
        return deserialize_many_sparse(tensor, like.dtype, rank if self.many or rank is None else rank + 1)

    def shapes(self) -> list[TensorShape]:
        """Returns the shapes of the components of one example.

        Raises:
            ValueError: a rank is not static.
        """
        for tensor in self.components:
            if tensor.shape.rank is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
        if not self.many:
            return [t.shape for t in self.components]
        return [t.shape.with_rank_at_least(1)[1:] for t in self.components]

    def batch(self, components: Any) -> Any:
        """Returns a batch as the program gave an example: in a list, in a dict, or alone."""
        elements = components if isinstance(components, list) else [components]
        whole = [self._read(t, like) for t, like in zip(elements, self.sparse, strict=True)]
        if self.keys is not None:
            return dict(zip(self.keys, whole, strict=True))
        return whole if isinstance(components, list) else whole[0]


def _common_dtypes(examples: Sequence[_Examples]) -> list[DType]:
    """Returns the dtypes of the components of several examples.

    Raises:
        TypeError: the dtypes differ.
    """
    first, *others = ([t.dtype for t in e.components] for e in examples)
    for other in others:
        if first != other:
            names = [", ".join(d.name for d in dtypes) for dtypes in (first, other)]
            raise TypeError(f"Expected types to be consistent: {names[0]} vs. {names[1]}.")
    return first


def _merged_shapes(examples: Sequence[_Examples]) -> list[TensorShape]:
    """Returns the shapes that the components of several examples have in common.

    Raises:
        ValueError: shapes differ.
    """
    shapes = examples[0].shapes()
    for other in examples[1:]:
        shapes = [a.merge_with(b) for a, b in zip(shapes, other.shapes(), strict=True)]
    return shapes


# ---- filling the queue -----------------------------------------------------------------------------------------------


def _keep(keep_input: Any, many: bool) -> Tensor:
    """Returns `keep_input` as a boolean tensor.

    Raises:
        ValueError: it is of a wrong rank.
    """
    keep = convert(keep_input, boolean)
    if keep.shape.rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not many and keep.shape.rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if keep.shape.rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def _enqueue(queue: QueueBase, examples: _Examples, keep: Tensor) -> Any:
    """Returns the operation that adds examples, as `keep` says."""
    add = queue.enqueue_many if examples.many else queue.enqueue
    if keep.shape.rank == 1:
        return add([boolean_mask(t, keep) for t in examples.components])
    static_keep = get_static_value(keep)
    if static_keep is not None:
        return add(examples.components) if static_keep else no_op()

    def added() -> Any:
        with control_dependencies([add(examples.components)]):
            return identity(True)

    return cond(keep, added, lambda: constant(False)).op


def _batches(
    scope: str,
    several: Sequence[Any],
    batch_size: TensorLike,
    keep_input: Any,
    make: Callable[..., QueueBase],
    fullness: Callable[[QueueBase], tuple[str, Any]],
    threads: int = 1,
    many: bool = False,
    shapes: Any = None,
    smaller: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples that come from several sources.

    Args:
        scope: the name by default.
        several: an example of each source.
        batch_size: the number of examples in a batch.
        keep_input: whether to add an example.
        make: makes the queue.
        fullness: the name and the value of a summary of how full it is.
        threads: the number of threads that add the examples of each source.
        many: whether each gives several examples at once.
        shapes: the shapes of an example; by default the tensors' shapes.
        smaller: whether the last batch may be smaller.
        shared_name, name: of the queue, and of the operations.
    """
    refuse_eagerly(ValueError)
    with name_scope(name, scope) as path:
        keep = _keep(keep_input, many)
        examples = [_Examples(tensors, many) for tensors in several]
        dtypes = _common_dtypes(examples)
        shapes = _merged_shapes(examples) if shapes is None else shapes
        queue = make(dtypes=dtypes, shapes=shapes, shared_name=shared_name)
        operations = [_enqueue(queue, e, keep) for e in examples]
        add_queue_runner(QueueRunner(queue, [op for op in operations for _ in range(threads)]))
        scalar(*fullness(queue))
        take = queue.dequeue_up_to if smaller else queue.dequeue_many
        return examples[0].batch(take(batch_size, name=path))


def _in_order(capacity: int, pad: bool) -> dict[str, Any]:
    """Returns a function that creates a queue in order, and one that says how full it is."""
    kind: Any = PaddingFIFOQueue if pad else FIFOQueue

    def fullness(queue: QueueBase) -> tuple[str, Any]:
        return f"fraction_of_{capacity}_full", cast(queue.size(), float32) * (1.0 / capacity)

    return {"make": lambda **specs: kind(capacity, **specs), "fullness": fullness}


def _shuffled(capacity: int, at_least: int, seed: int | None) -> dict[str, Any]:
    """Returns a function that creates a shuffling queue, and one that says how full it is.

    Raises:
        ValueError: it has no room to shuffle.
    """
    if capacity <= at_least:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {at_least}.")
    room = capacity - at_least

    def fullness(queue: QueueBase) -> tuple[str, Any]:
        over = cast(maximum(convert(0, int32), queue.size() - at_least), float32)
        return f"fraction_over_{at_least}_of_{room}_full", over * (1.0 / room)

    return {"make": lambda **specs: RandomShuffleQueue(capacity, at_least, seed=seed, **specs), "fullness": fullness}


def _joined(tensors_list: Sequence[Any]) -> Sequence[Any]:
    """Returns the examples of several sources.

    Raises:
        ValueError: there are none, or they have different keys.
    """
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(tensors_list[0], Mapping) and any(set(t) != set(tensors_list[0]) for t in tensors_list):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return tensors_list


# ---- in order --------------------------------------------------------------------------------------------------------


def batch(
    tensors: Any,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of an example, which is another one each time it runs; a queue runner gathers them.

    Args:
        tensors: the tensors of an example, in a list or a dict; sparse ones, too.
        batch_size: the number of examples in a batch.
        num_threads: the number of threads that gather; with more than one the order is not deterministic.
        capacity: the number of examples that are gathered ahead.
        enqueue_many: whether the tensors are of several examples, with a dimension in front for their number.
        shapes: of the tensors of one example; by default their static shapes.
        dynamic_pad: whether to pad shorter tensors with zeros or empty strings, along dimensions that `shapes` leaves
            unknown.
        allow_smaller_final_batch: whether the last batch may be smaller; otherwise it is left out.
        shared_name: a string, the queue's name.
        name: of the operations.

    Returns:
        The tensors with a dimension in front, of the batch; in a list or a dict, or alone if there is one.

    Raises:
        ValueError: there are no tensors, shapes are not static, or no graph is being built.
        OutOfRangeError: when it runs: there are no more examples.

    Example:
        >>> with tf.Graph().as_default():
        ...     number = tf.compat.v1.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
        ...     numbers = tf.compat.v1.train.batch([number], 2, allow_smaller_final_batch=True)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         while not sess.should_stop():
        ...             print(sess.run(numbers))
        [0 1]
        [2 3]
        [4]
    """
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Returns the same as `batch`, of the examples that `keep_input` selects.

    Args:
        keep_input: a boolean scalar, whether to add the example; with `enqueue_many` also a vector, one for each.
        tensors, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
            shared_name, name: see `batch`.

    Example:
        >>> with tf.Graph().as_default():
        ...     number = tf.compat.v1.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
        ...     odd = tf.compat.v1.train.maybe_batch([number], tf.equal(number % 2, 1), 3)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sess.run(odd))
        [1 3 5]
    """
    return _batches(
        "batch", [tensors], batch_size, keep_input, **_in_order(capacity, dynamic_pad), threads=num_threads,
        many=enqueue_many, shapes=shapes, smaller=allow_smaller_final_batch, shared_name=shared_name, name=name,
    )  # fmt: skip


def batch_join(
    tensors_list: Sequence[Any],
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Returns the same as `batch`, with examples of several sources. Each source has a thread.

    Args:
        tensors_list: an example of each source, of the same dtypes.
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name: see
            `batch`.

    Raises:
        TypeError: the dtypes differ.

    Example:
        >>> with tf.Graph().as_default():
        ...     numbers = tf.compat.v1.train.batch_join([[tf.constant(1)], [tf.constant(1)]], 3)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sess.run(numbers))
        [1 1 1]
    """
    return maybe_batch_join(
        tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


def maybe_batch_join(
    tensors_list: Sequence[Any],
    keep_input: Any,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Returns the same as `batch_join`, of the examples that `keep_input` selects, see `maybe_batch`.

    Args:
        tensors_list: an example of each source, of the same dtypes.
        keep_input: a boolean scalar, whether to add the example; with `enqueue_many` also a vector, one for each
            example.
        batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name: see
            `batch`.

    Example:
        >>> with tf.Graph().as_default():
        ...     sources = [[tf.constant(1)], [tf.constant(1)]]
        ...     numbers = tf.compat.v1.train.maybe_batch_join(sources, True, 3)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sess.run(numbers))
        [1 1 1]
    """
    return _batches(
        "batch_join", _joined(tensors_list), batch_size, keep_input, **_in_order(capacity, dynamic_pad),
        many=enqueue_many, shapes=shapes, smaller=allow_smaller_final_batch, shared_name=shared_name, name=name,
    )  # fmt: skip


# ---- shuffled --------------------------------------------------------------------------------------------------------


def shuffle_batch(
    tensors: Any,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Returns the same as `batch`, in random order.

    Args:
        min_after_dequeue: an int, the number of examples that stay in the queue to choose from.
        seed: of the random numbers.
        tensors, batch_size, capacity, num_threads, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name:
            see `batch`.

    Raises:
        ValueError: `capacity` is not larger than `min_after_dequeue`, there are no tensors, or shapes are not static.

    Example:
        >>> with tf.Graph().as_default():
        ...     number = tf.compat.v1.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
        ...     numbers = tf.compat.v1.train.shuffle_batch([number], 4, capacity=10, min_after_dequeue=2)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sorted(sess.run(numbers).tolist()))
        [0, 1, 2, 3]
    """
    return maybe_shuffle_batch(
        tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch(
    tensors: Any,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Returns the same as `shuffle_batch`, of the examples that `keep_input` selects, see `maybe_batch`.

    Args:
        tensors: the tensors of an example, in a list or a dict.
        min_after_dequeue: an int, the number of examples that stay in the queue to choose from.
        keep_input: a boolean scalar, whether to add the example; with `enqueue_many` also a vector, one for each
            example.
        seed: an int, the seed of the random order; None for another order each time.
        batch_size, capacity, num_threads, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name: see
            `batch`.

    Example:
        >>> with tf.Graph().as_default():
        ...     number = tf.constant(1)
        ...     numbers = tf.compat.v1.train.maybe_shuffle_batch([number], 3, 10, 2, True)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sess.run(numbers))
        [1 1 1]
    """
    refuse_eagerly(ValueError)
    return _batches(
        "shuffle_batch", [tensors], batch_size, keep_input, **_shuffled(capacity, min_after_dequeue, seed),
        threads=num_threads, many=enqueue_many, shapes=shapes, smaller=allow_smaller_final_batch,
        shared_name=shared_name, name=name,
    )  # fmt: skip


def shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Returns the same as `shuffle_batch`, with examples of several sources, see `batch_join`.

    Args:
        tensors_list: an example of each source, of the same dtypes.
        min_after_dequeue: an int, the number of examples that stay in the queue to choose from.
        seed: an int, the seed of the random order; None for another order each time.
        batch_size, capacity, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name: see `batch`.

    Example:
        >>> with tf.Graph().as_default():
        ...     sources = [[tf.constant(1)], [tf.constant(1)]]
        ...     numbers = tf.compat.v1.train.shuffle_batch_join(sources, 3, 10, 2)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sess.run(numbers))
        [1 1 1]
    """
    return maybe_shuffle_batch_join(
        tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Returns the same as `shuffle_batch_join`, of the examples that `keep_input` selects, see `maybe_batch`.

    Args:
        tensors_list: an example of each source, of the same dtypes.
        min_after_dequeue: an int, the number of examples that stay in the queue to choose from.
        keep_input: a boolean scalar, whether to add the example; with `enqueue_many` also a vector, one for each
            example.
        seed: an int, the seed of the random order; None for another order each time.
        batch_size, capacity, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name: see `batch`.

    Example:
        >>> with tf.Graph().as_default():
        ...     sources = [[tf.constant(1)], [tf.constant(1)]]
        ...     numbers = tf.compat.v1.train.maybe_shuffle_batch_join(sources, 3, 10, 2, True)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sess.run(numbers))
        [1 1 1]
    """
    refuse_eagerly(ValueError)
    return _batches(
        "shuffle_batch_join", _joined(tensors_list), batch_size, keep_input,
        **_shuffled(capacity, min_after_dequeue, seed), many=enqueue_many, shapes=shapes,
        smaller=allow_smaller_final_batch, shared_name=shared_name, name=name,
    )  # fmt: skip
