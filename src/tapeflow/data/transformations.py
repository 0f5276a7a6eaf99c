"""The methods of `tf.data.Dataset` that return another dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int64, uint64
from tapeflow.core.values.tensor import Tensor
from tapeflow.data.parts import parts
from tapeflow.data.threads import AUTOTUNE

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


class Transformations:
    """The methods of datasets that return other datasets."""

    _variant_tensor: Any

    # ---- choosing and ordering ---------------------------------------------------------------------------------------

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Returns a dataset without the elements whose computation fails.

        Args:
            log_warning: whether to log the errors.

        Returns:
            A dataset of the others.

        Example:
            >>> ds = tf.data.Dataset.from_tensor_slices([1.0, 0.0])
            >>> ds = ds.map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad"))
            >>> [x.item() for x in ds.ignore_errors().as_numpy_iterator()]
            [1.0]
        """
        return parts.IgnoreErrorsDataset(self, log_warning)

    def rejection_resample(
        self, class_func: Callable[..., Any], target_dist: TensorLike, initial_dist: TensorLike | None = None,
        seed: TensorLike | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns pairs of a class and an element, with elements left out at random so that the classes have a target
        distribution.

        Args:
            class_func: returns an element's class, an integer from 0 on.
            target_dist: the target distribution, a vector of probabilities.
            initial_dist: the distribution of the elements; estimated from them for None.
            seed: the seed of what is left out.

        Returns:
            A dataset of pairs.

        Raises:
            TypeError: `class_func` returns no integer scalar.

        Example:
            >>> ds = tf.data.Dataset.range(100).rejection_resample(lambda x: x % 2, [1.0, 0.0], initial_dist=[0.5, 0.5])
            >>> sorted({label.item() for label, _ in ds.as_numpy_iterator()})
            [0]
        """
        return parts.RejectionResampleDataset(self, class_func, target_dist, initial_dist, seed)

    def save(
        self, path: str | os.PathLike[str], compression: str | None = None,
        shard_func: Callable[..., Any] | None = None, checkpoint_args: Any = None,
    ) -> None:  # fmt: skip
        """Writes the elements to a folder, in TensorFlow's format.

        Args:
            path: the folder.
            compression: None or "GZIP".
            shard_func: returns the number of an element's file, an int64 scalar.
            checkpoint_args: must be None.

        Raises:
            NotImplementedError: `checkpoint_args` are specified.
            InvalidArgumentError: `shard_func` returns no int64 scalar, or the compression is another.

        Example:
            >>> import tempfile
            >>> folder = tempfile.mkdtemp()
            >>> tf.data.Dataset.range(3).save(folder)
            >>> [x.item() for x in tf.data.Dataset.load(folder).as_numpy_iterator()]
            [0, 1, 2]
        """
        if checkpoint_args is not None:
            raise NotImplementedError("Dataset.save() saves at once: checkpoints on the way are not supported.")
        parts.save(self, path, compression, shard_func)

    def snapshot(
        self, path: str | os.PathLike[str], compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None, shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns the same elements, which the first iterator that goes through all writes to files that later ones
        read.

        Args:
            path: a folder, in which datasets that differ have folders of their own.
            compression, reader_func, shard_func: as for `save` and `load`.

        Returns:
            A dataset of the same elements.

        Example:
            >>> import tempfile
            >>> ds = tf.data.Dataset.range(3).snapshot(tempfile.mkdtemp())
            >>> [x.item() for x in ds.as_numpy_iterator()] == [x.item() for x in ds.as_numpy_iterator()]
            True
        """
        return parts.snapshot(self, path, compression, reader_func, shard_func)

    def fingerprint(self) -> Tensor:
        """Returns a hash of the pipeline, which datasets built in the same way share.

        Returns:
            A uint64 scalar.

        Example:
            >>> bool(tf.data.Dataset.range(3).fingerprint() == tf.data.Dataset.range(3).fingerprint())
            True
        """
        if state.graph is not None:
            return ops.DatasetFingerprint(self._variant_tensor)
        return convert(parts.fingerprint(self), uint64)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """Returns the elements of this dataset, then those of another.

        Args:
            dataset: the other one.

        Returns:
            A dataset of both.

        Raises:
            TypeError: the datasets have no spec in common.

        Example:
            >>> ds = tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(7, 9))
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [0, 1, 7, 8]
        """
        return parts.ConcatenateDataset(self, dataset)

    def take(self, count: TensorLike, name: str | None = None) -> Dataset:
        """Returns the first elements.

        Args:
            count: how many; all for -1.

        Returns:
            A dataset of at most `count` elements.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(9).take(2).as_numpy_iterator()]
            [0, 1]
        """
        return parts.TakeDataset(self, count)

    def skip(self, count: TensorLike, name: str | None = None) -> Dataset:
        """Returns all but the first elements.

        Args:
            count: how many are left out; all for -1.

        Returns:
            A dataset of the others.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(4).skip(2).as_numpy_iterator()]
            [2, 3]
        """
        return parts.SkipDataset(self, count)

    def repeat(self, count: TensorLike | None = None, name: str | None = None) -> Dataset:
        """Returns the elements several times over.

        Args:
            count: how often; without an end for None and -1.

        Returns:
            A dataset of `count` times as many elements.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(2).repeat(2).as_numpy_iterator()]
            [0, 1, 0, 1]
        """
        return parts.RepeatDataset(self, -1 if count is None else count)

    def shard(self, num_shards: TensorLike, index: TensorLike, name: str | None = None) -> Dataset:
        """Returns every `num_shards`-th element.

        Args:
            num_shards: the number of shards.
            index: the number of the first element, from 0 to `num_shards - 1`.

        Returns:
            A dataset of the shard's elements.

        Raises:
            InvalidArgumentError: `num_shards` is not positive, or there is no such shard.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(7).shard(3, 1).as_numpy_iterator()]
            [1, 4]
        """
        return parts.ShardDataset(self, num_shards, index)

    def enumerate(self, start: TensorLike = 0, name: str | None = None) -> Dataset:
        """Returns pairs of an element's number and the element.

        Args:
            start: the number of the first.

        Returns:
            A dataset of pairs; the numbers are int64 scalars.

        Example:
            >>> [(i.item(), x.item()) for i, x in tf.data.Dataset.range(5, 7).enumerate().as_numpy_iterator()]
            [(0, 5), (1, 6)]
        """
        return parts.Dataset.zip((parts.Dataset.range(start, 2**63 - 1), self))

    def shuffle(
        self, buffer_size: TensorLike, seed: TensorLike | None = None, reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns the elements in a random order: each is drawn from the next `buffer_size`, as TensorFlow does for the
        seed.

        Args:
            buffer_size: from how many elements each is drawn; -2 for all.
            seed: the seed of the order.
            reshuffle_each_iteration: whether each iterator has an order of its own.

        Returns:
            A dataset of the same elements.

        Raises:
            InvalidArgumentError: `buffer_size` is not positive.

        Example:
            >>> ds = tf.data.Dataset.range(10).shuffle(3, seed=42, reshuffle_each_iteration=False)
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [2, 0, 3, 4, 6, 7, 1, 9, 5, 8]
        """
        return parts.ShuffleDataset(self, buffer_size, *parts.seeds_of(seed), reshuffle_each_iteration is not False)

    def cache(self, filename: str | bytes | os.PathLike[str] = "", name: str | None = None) -> Dataset:
        """Returns the same elements, stored once an iterator has gone through all.

        Args:
            filename: the file to store them in; "" for memory.

        Returns:
            A dataset of the same elements.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(2).cache().repeat(2).as_numpy_iterator()]
            [0, 1, 0, 1]
        """
        return parts.FileCacheDataset(self, filename) if filename else parts.CacheDataset(self)

    def prefetch(self, buffer_size: TensorLike, name: str | None = None) -> Dataset:
        """Returns the same elements, computed ahead in a thread.

        Args:
            buffer_size: how many at most; 0 for none, -1 for a number chosen automatically.

        Returns:
            A dataset of the same elements.

        Raises:
            InvalidArgumentError: `buffer_size` is below -1.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(3).prefetch(tf.data.AUTOTUNE).as_numpy_iterator()]
            [0, 1, 2]
        """
        return parts.PrefetchDataset(self, buffer_size)

    # ---- batches -----------------------------------------------------------------------------------------------------

    def batch(
        self, batch_size: TensorLike, drop_remainder: TensorLike = False, num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns elements stacked into batches.

        Args:
            batch_size: the number of elements in a batch.
            drop_remainder: whether to leave out a smaller last batch.
            num_parallel_calls, deterministic: accepted; batches are gathered whole.

        Returns:
            A dataset whose components have one more dimension in front.

        Raises:
            InvalidArgumentError: `batch_size` is not positive; at an iterator, if shapes differ.

        Example:
            >>> [x.tolist() for x in tf.data.Dataset.range(5).batch(2).as_numpy_iterator()]
            [[0, 1], [2, 3], [4]]
        """
        if num_parallel_calls is None:
            return parts.BatchDataset(self, batch_size, drop_remainder)
        order = parts.order_attr(deterministic)
        return parts.ParallelBatchDataset(self, batch_size, num_parallel_calls, drop_remainder, order)

    def padded_batch(
        self, batch_size: TensorLike, padded_shapes: Any = None, padding_values: Any = None,
        drop_remainder: TensorLike = False, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns elements padded to the same shape and stacked into batches.

        Args:
            batch_size: the number of elements in a batch.
            padded_shapes: shapes in the structure of an element; None or -1 for the longest of the batch.
            padding_values: scalars of the components' dtypes; 0 or "" where there are none.
            drop_remainder: whether to leave out a smaller last batch.

        Returns:
            A dataset whose components have one more dimension in front.

        Raises:
            ValueError: a shape can't be padded to that.
            TypeError: a component is no tensor, or a value of another dtype.
            DataLossError: at an iterator, if an element is larger.

        Example:
            >>> ds = tf.data.Dataset.range(1, 3).map(lambda x: tf.fill([x], x)).padded_batch(2, padded_shapes=[None])
            >>> next(iter(ds)).numpy().tolist()
            [[1, 0], [2, 2]]
        """
        return parts.PaddedBatchDataset(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def ragged_batch(
        self, batch_size: TensorLike, drop_remainder: TensorLike = False, row_splits_dtype: DTypeLike = int64,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns batches in which tensors of different shapes are rows of a ragged tensor.

        Args:
            batch_size: the number of elements in a batch.
            drop_remainder: whether to leave out a smaller last batch.
            row_splits_dtype: int32 or int64.

        Returns:
            A dataset whose components of unknown dimensions are ragged tensors.

        Example:
            >>> ds = tf.data.Dataset.range(1, 3).map(lambda x: tf.range(x)).ragged_batch(2)
            >>> next(iter(ds)).to_list()
            [[0], [0, 1]]
        """
        return parts.RaggedDataset(self, row_splits_dtype).batch(batch_size, drop_remainder)

    def rebatch(self, batch_size: TensorLike, drop_remainder: TensorLike = False, name: str | None = None) -> Dataset:
        """Returns batches of another size, cut and joined from batches.

        Args:
            batch_size: the size, or several sizes that come in turn.
            drop_remainder: whether to leave out a smaller last batch.

        Returns:
            A dataset of batches.

        Raises:
            InvalidArgumentError: a size is not positive.
            ValueError: a component is a scalar.

        Example:
            >>> [b.tolist() for b in tf.data.Dataset.range(6).batch(4).rebatch(3).as_numpy_iterator()]
            [[0, 1, 2], [3, 4, 5]]
        """
        return parts.RebatchDataset(self, batch_size, drop_remainder)

    def sparse_batch(self, batch_size: TensorLike, row_shape: ShapeLike, name: str | None = None) -> Dataset:
        """Returns batches of tensors of different shapes as sparse tensors.

        Args:
            batch_size: the number of elements in a batch.
            row_shape: the shape of a row, at least as large as every element; None for the longest of the batch.

        Returns:
            A dataset of sparse tensors `[batch, *row_shape]`.

        Raises:
            TypeError: an element is no single tensor.
            DataLossError: at an iterator, if an element is larger.

        Example:
            >>> ds = tf.data.Dataset.range(1, 3).map(lambda x: tf.fill([x], x)).sparse_batch(2, [3])
            >>> tf.sparse.to_dense(next(iter(ds))).numpy().tolist()
            [[1, 0, 0], [2, 2, 0]]
        """
        return parts.SparseBatchDataset(self, batch_size, row_shape)

    def bucket_by_sequence_length(
        self, element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
        pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns batches of elements of similar length, padded to the longest of the batch.

        Args:
            element_length_func: returns an element's length.
            bucket_boundaries: the lengths at which buckets end and the next begin.
            bucket_batch_sizes: the number of elements in a batch, for each bucket; one more than there are boundaries.
            padded_shapes, padding_values: as for `padded_batch`.
            pad_to_bucket_boundary: whether to pad to the greatest length of the bucket.
            no_padding: whether elements are batched as they are.
            drop_remainder: whether to leave out smaller last batches.

        Returns:
            A dataset of batches.

        Raises:
            ValueError: there are not as many sizes as buckets.

        Example:
            >>> ds = tf.data.Dataset.range(1, 5).map(lambda x: tf.fill([x], x))
            >>> ds = ds.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])
            >>> [b.tolist() for b in ds.as_numpy_iterator()]
            [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
        """
        return parts.bucket_by_sequence_length(
            self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
            pad_to_bucket_boundary, no_padding, drop_remainder,
        )  # fmt: skip

    def unbatch(self, name: str | None = None) -> Dataset:
        """Returns the slices of the elements along their first dimension.

        Returns:
            A dataset whose components have a dimension less.

        Raises:
            ValueError: a component is a scalar, or first dimensions differ.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(3).batch(2).unbatch().as_numpy_iterator()]
            [0, 1, 2]
        """
        return parts.UnbatchDataset(self)

    def window(
        self, size: TensorLike, shift: TensorLike | None = None, stride: TensorLike = 1,
        drop_remainder: TensorLike = False, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns datasets of `size` elements, a new one starting every `shift` elements.

        Args:
            size: the number of elements in a window.
            shift: the distance between the starts of two windows; `size` by default.
            stride: the distance between two elements of a window.
            drop_remainder: whether to leave out smaller last windows.

        Returns:
            A dataset of datasets; of tuples of datasets where elements have several components.

        Raises:
            InvalidArgumentError: a number is not positive.

        Example:
            >>> [[x.item() for x in w.as_numpy_iterator()] for w in tf.data.Dataset.range(5).window(3, 2)]
            [[0, 1, 2], [2, 3, 4], [4]]
        """
        return parts.WindowDataset(self, size, shift, stride, drop_remainder)

    # ---- functions ---------------------------------------------------------------------------------------------------

    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None, synchronous: bool | None = None, use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns the results of a function of each element.

        Args:
            map_func: takes an element; the items of a tuple come as arguments. A list that it returns counts as a
                tuple.
            num_parallel_calls: the number of threads; `AUTOTUNE` for a number chosen automatically; None for none.
            deterministic: whether the threads' results keep the order of the elements.
            synchronous: whether no thread may be used.
            use_unbounded_threadpool: accepted, and has no effect.

        Returns:
            A dataset of the results.

        Raises:
            ValueError: `map_func` is not callable, or both `synchronous` and `num_parallel_calls` are specified.
            TypeError: a result can't be a tensor.

        Example:
            >>> ds = tf.data.Dataset.range(3).map(lambda x: {"x": x, "even": x % 2 == 0})
            >>> [e["even"].item() for e in ds.as_numpy_iterator()]
            [True, False, True]
        """
        if num_parallel_calls is None:
            return parts.MapDataset(self, parts.function_of(self, map_func, "map"))
        if synchronous:
            raise ValueError(
                "`synchronous` is not supported with `num_parallel_calls`, but `num_parallel_calls` was set to ",
                num_parallel_calls,
            )
        function = parts.function_of(self, map_func, "map")
        return parts.ParallelMapDataset(self, function, num_parallel_calls, deterministic)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Returns the elements of the datasets that a function returns, one dataset after the other.

        Args:
            map_func: takes an element and returns a dataset.

        Returns:
            A dataset of their elements.

        Raises:
            TypeError: `map_func` returns no dataset.

        Example:
            >>> ds = tf.data.Dataset.range(4).flat_map(lambda x: tf.data.Dataset.range(x))
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [0, 0, 1, 0, 1, 2]
        """
        return parts.FlatMapDataset(self, parts.function_of(self, map_func, "flat_map"))

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: TensorLike | None = None,
        block_length: TensorLike | None = None, num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns the elements of several of the datasets that a function returns, in turn.

        Args:
            map_func: takes an element and returns a dataset.
            cycle_length: the number of datasets that take turns; by default as many as there are cores.
            block_length: the number of elements that each contributes in its turn; 1 by default.
            num_parallel_calls: the number of threads; None for none.
            deterministic: accepted, and has no effect: the order never depends on the threads.

        Returns:
            A dataset of their elements.

        Raises:
            TypeError: `map_func` returns no dataset.
            InvalidArgumentError: a number is not positive.

        Example:
            >>> ds = tf.data.Dataset.range(2).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2)
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [0, 1, 0, 1]
        """
        function = parts.function_of(self, map_func, "interleave")
        cycle = AUTOTUNE if cycle_length is None else cycle_length
        block = 1 if block_length is None else block_length
        if num_parallel_calls is None:
            return parts.InterleaveDataset(self, function, cycle, block)
        return parts.ParallelInterleaveDataset(self, function, cycle, block, num_parallel_calls, deterministic)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Returns the elements for which a predicate is true.

        Args:
            predicate: takes an element and returns a boolean scalar.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            ValueError: the predicate returns something else.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(5).filter(lambda x: x % 2 == 1).as_numpy_iterator()]
            [1, 3]
        """
        return parts.FilterDataset(self, parts.function_of(self, predicate, "filter"))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Returns the elements up to the first for which a predicate is false.

        Args:
            predicate: takes an element and returns a boolean scalar.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            ValueError: the predicate returns something else.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(9).take_while(lambda x: x < 3).as_numpy_iterator()]
            [0, 1, 2]
        """
        return parts.TakeWhileDataset(self, parts.function_of(self, predicate, "take_while"))

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """Returns the outputs of a function of a state, which it passes on, and each element.

        Args:
            initial_state: a structure of tensors.
            scan_func: takes the state and an element, and returns the new state and an output.

        Returns:
            A dataset of the outputs.

        Raises:
            TypeError: `scan_func` returns no pair, or the state changes its structure or dtypes.

        Example:
            >>> ds = tf.data.Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s + x))
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [0, 1, 3, 6]
        """
        return parts.scanned(self, initial_state, scan_func)

    def unique(self, name: str | None = None) -> Dataset:
        """Returns the elements without repetitions.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            TypeError: elements are neither int32, int64 nor strings.
            InvalidArgumentError: elements have several components.

        Example:
            >>> [x.item() for x in tf.data.Dataset.from_tensor_slices([1, 2, 1]).unique().as_numpy_iterator()]
            [1, 2]
        """
        return parts.UniqueDataset(self)

    def group_by_window(
        self, key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: TensorLike | None = None,
        window_size_func: Callable[[Any], Any] | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Gathers elements of equal keys in windows, and returns the elements of the datasets that `reduce_func`
        returns for them.

        Args:
            key_func: returns an element's key, an int64 scalar.
            reduce_func: takes a key and a dataset of `window_size` elements that have it, and returns a dataset.
            window_size: the number of elements of a window.
            window_size_func: takes a key and returns that number; exactly one of the two must be specified.

        Returns:
            A dataset of the elements.

        Raises:
            ValueError: not exactly one of `window_size` and `window_size_func` is specified.
            TypeError: `reduce_func` returns no dataset.

        Example:
            >>> ds = tf.data.Dataset.range(5).group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), 2)
            >>> [x.tolist() for x in ds.as_numpy_iterator()]
            [[0, 2], [1, 3], [4]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        size_of = window_size_func or (lambda _: window_size)
        return parts.grouped_by_window(self, key_func, reduce_func, size_of)
