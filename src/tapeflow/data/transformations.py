"""What datasets are transformed with: the methods of `tf.data.Dataset` that give another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import data  # its modules are used once all are loaded: nodes derive from `Dataset`
from tapeflow.core.context import state
from tapeflow.core.types.dtypes import int64
from tapeflow.core.values.tensor import Tensor
from tapeflow.data.threads import AUTOTUNE

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


def node_of(kind: Callable[..., Dataset], *args: Any) -> Any:
    """Returns a node of a kind; with tensors of a graph among the arguments, one that is created when it runs."""
    return kind(*args) if state.graph is None else data.staged.node_of(kind, args)


class Transformations:
    """The methods of datasets that give other datasets."""

    # ---- what chooses and orders -------------------------------------------------------------------------------------

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements but for those that can't be made.

        Args:
            log_warning: whether to log the errors.

        Example:
            >>> ds = tf.data.Dataset.from_tensor_slices([1.0, 0.0])
            >>> ds = ds.map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad"))
            >>> [x.item() for x in ds.ignore_errors().as_numpy_iterator()]
            [1.0]
        """
        return data.maps.IgnoreErrorsDataset(self, log_warning)

    def rejection_resample(
        self, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Pairs of a class and an element, without so many that the classes have a wanted distribution.

        Args:
            class_func: gives an element's class, an integer from 0 on.
            target_dist: the wanted distribution, a vector.
            initial_dist: that of the elements; estimated from them for None.
            seed: of what is left out.


        Example:
            >>> ds = tf.data.Dataset.range(100).rejection_resample(lambda x: x % 2, [1.0, 0.0], initial_dist=[0.5, 0.5])
            >>> sorted({label.item() for label, _ in ds.as_numpy_iterator()})
            [0]
        """
        return data.sampling.RejectionResampleDataset(self, class_func, target_dist, initial_dist, seed)

    def save(
        self, path: Any, compression: str | None = None, shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:  # fmt: skip
        """Writes the elements to a folder, in TensorFlow's format.

        Args:
            path: the folder.
            compression: None or "GZIP".
            shard_func: gives the number of an element's file, an int64 scalar.

        Raises:
            NotImplementedError: `checkpoint_args` are given.

        Example:
            >>> import tempfile
            >>> folder = tempfile.mkdtemp()
            >>> tf.data.Dataset.range(3).save(folder)
            >>> [x.item() for x in tf.data.Dataset.load(folder).as_numpy_iterator()]
            [0, 1, 2]
        """
        if checkpoint_args is not None:
            raise NotImplementedError("Dataset.save() saves at once: checkpoints on the way are not supported.")
        data.saving.save(self, path, compression, shard_func)

    def snapshot(
        self, path: Any, compression: str | None = "AUTO", reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """The same elements, written down by the first iterator that goes through all, and read by those after it.

        Args:
            path: a folder, in which datasets that differ have folders of their own.
            compression, reader_func, shard_func: as for `save` and `load`.


        Example:
            >>> import tempfile
            >>> ds = tf.data.Dataset.range(3).snapshot(tempfile.mkdtemp())
            >>> [x.item() for x in ds.as_numpy_iterator()] == [x.item() for x in ds.as_numpy_iterator()]
            True
        """
        return data.saving.SnapshotDataset(self, path, compression, reader_func, shard_func)

    def fingerprint(self) -> Tensor:
        """A uint64 scalar that datasets made in the same way share.

        Example:
            >>> bool(tf.data.Dataset.range(3).fingerprint() == tf.data.Dataset.range(3).fingerprint())
            True
        """
        return data.access.fingerprint(self)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of another.

        Raises:
            TypeError: elements have nothing in common.


        Example:
            >>> ds = tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(7, 9))
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [0, 1, 7, 8]
        """
        return data.nodes.ConcatenateDataset(self, dataset)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first `count` elements; all for -1.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(9).take(2).as_numpy_iterator()]
            [0, 1]
        """
        return node_of(data.nodes.TakeDataset, self, count)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first `count` elements; none for -1.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(4).skip(2).as_numpy_iterator()]
            [2, 3]
        """
        return node_of(data.nodes.SkipDataset, self, count)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The elements `count` times over; without an end for None and -1.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(2).repeat(2).as_numpy_iterator()]
            [0, 1, 0, 1]
        """
        return node_of(data.nodes.RepeatDataset, self, count)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from number `index` on.

        Raises:
            InvalidArgumentError: there is no such shard.


        Example:
            >>> [x.item() for x in tf.data.Dataset.range(7).shard(3, 1).as_numpy_iterator()]
            [1, 4]
        """
        return node_of(data.nodes.ShardDataset, self, num_shards, index)

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of an element's number, int64, and the element.

        Example:
            >>> [(i.item(), x.item()) for i, x in tf.data.Dataset.range(5, 7).enumerate().as_numpy_iterator()]
            [(0, 5), (1, 6)]
        """
        return data.Dataset.zip((data.Dataset.range(start, 2**63 - 1), self))

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = True, name: str | None = None
    ) -> Dataset:
        """The elements in a random order: each is drawn from the next `buffer_size`, as TensorFlow does for the seed.

        Args:
            buffer_size: how many elements there are to draw from; -2 for all.
            seed: of the order.
            reshuffle_each_iteration: whether each iterator has an order of its own.

        Raises:
            InvalidArgumentError: `buffer_size` is not positive.

        Example:
            >>> ds = tf.data.Dataset.range(10).shuffle(3, seed=42, reshuffle_each_iteration=False)
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [2, 0, 3, 4, 6, 7, 1, 9, 5, 8]
        """
        return node_of(data.shuffling.ShuffleDataset, self, buffer_size, seed, reshuffle_each_iteration)

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """The same elements, kept once an iterator has gone through all: in memory, or in a file of that name.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(2).cache().repeat(2).as_numpy_iterator()]
            [0, 1, 0, 1]
        """
        return data.saving.FileCacheDataset(self, filename) if filename else data.nodes.CacheDataset(self)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements, up to `buffer_size` of them made ahead in a thread.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(3).prefetch(tf.data.AUTOTUNE).as_numpy_iterator()]
            [0, 1, 2]
        """
        return node_of(data.maps.PrefetchDataset, self, buffer_size)

    # ---- batches -----------------------------------------------------------------------------------------------------

    def batch(
        self, batch_size: Any, drop_remainder: Any = False, num_parallel_calls: Any = None,
        deterministic: bool | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Elements stacked into batches; the last one may be smaller, unless `drop_remainder`.

        Raises:
            InvalidArgumentError: `batch_size` is not positive; at an iterator, if shapes differ.


        Example:
            >>> [x.tolist() for x in tf.data.Dataset.range(5).batch(2).as_numpy_iterator()]
            [[0, 1], [2, 3], [4]]
        """
        kind = data.batches.BatchDataset if num_parallel_calls is None else data.batches.ParallelBatchDataset
        return node_of(kind, self, batch_size, drop_remainder)

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: Any = False,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Elements padded to the same shape and stacked into batches.

        Args:
            batch_size: how many elements.
            padded_shapes: shapes in the structure of an element; None or -1 for the longest of the batch.
            padding_values: scalars of the components' dtypes; 0 or "" where there are none.
            drop_remainder: whether to leave out a smaller last batch.

        Raises:
            ValueError: a shape can't be padded to that.
            TypeError: a component is no tensor, or a value of another dtype.
            DataLossError: at an iterator, if an element is larger.

        Example:
            >>> ds = tf.data.Dataset.range(1, 3).map(lambda x: tf.fill([x], x)).padded_batch(2, padded_shapes=[None])
            >>> next(iter(ds)).numpy().tolist()
            [[1, 0], [2, 2]]
        """
        return node_of(data.batches.PaddedBatchDataset, self, batch_size, padded_shapes, padding_values, drop_remainder)

    def ragged_batch(
        self, batch_size: Any, drop_remainder: Any = False, row_splits_dtype: Any = int64, name: str | None = None
    ) -> Dataset:
        """Batches in which tensors of different shapes are rows of a ragged tensor.

        Example:
            >>> ds = tf.data.Dataset.range(1, 3).map(lambda x: tf.range(x)).ragged_batch(2)
            >>> next(iter(ds)).to_list()
            [[0], [0, 1]]
        """
        return data.batches.RaggedDataset(self, row_splits_dtype).batch(batch_size, drop_remainder)

    def rebatch(self, batch_size: Any, drop_remainder: Any = False, name: str | None = None) -> Dataset:
        """Batches of another size, or of several sizes in turn, of those that the elements are.

        Example:
            >>> [b.tolist() for b in tf.data.Dataset.range(6).batch(4).rebatch(3).as_numpy_iterator()]
            [[0, 1, 2], [3, 4, 5]]
        """
        return data.bucketing.RebatchDataset(self, batch_size, drop_remainder)

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset:
        """Batches of tensors of different shapes, none larger than `row_shape`, as sparse tensors.

        Example:
            >>> ds = tf.data.Dataset.range(1, 3).map(lambda x: tf.fill([x], x)).sparse_batch(2, [3])
            >>> tf.sparse.to_dense(next(iter(ds))).numpy().tolist()
            [[1, 0, 0], [2, 2, 0]]
        """
        return data.bucketing.SparseBatchDataset(self, batch_size, row_shape)

    def bucket_by_sequence_length(
        self, element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
        pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Batches of elements of like length, padded to the longest of the batch.

        Args:
            element_length_func: gives an element's length.
            bucket_boundaries: where buckets end and the next begin.
            bucket_batch_sizes: how many elements of a bucket make a batch, for one bucket more than boundaries.
            padded_shapes, padding_values: as for `padded_batch`.
            pad_to_bucket_boundary: whether to pad to the greatest length of the bucket.
            no_padding: whether elements are batched as they are.
            drop_remainder: whether to leave out smaller last batches.

        Raises:
            ValueError: there are not as many sizes as buckets.

        Example:
            >>> ds = tf.data.Dataset.range(1, 5).map(lambda x: tf.fill([x], x))
            >>> ds = ds.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])
            >>> [b.tolist() for b in ds.as_numpy_iterator()]
            [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
        """
        return data.bucketing.bucket_by_sequence_length(
            self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
            pad_to_bucket_boundary, no_padding, drop_remainder,
        )  # fmt: skip

    def unbatch(self, name: str | None = None) -> Dataset:
        """The slices of the elements along their first dimension.

        Raises:
            ValueError: a component is a scalar, or first dimensions differ.


        Example:
            >>> [x.item() for x in tf.data.Dataset.range(3).batch(2).unbatch().as_numpy_iterator()]
            [0, 1, 2]
        """
        return data.batches.UnbatchDataset(self)

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False, name: str | None = None
    ) -> Dataset:
        """Datasets of `size` elements, a new one starting every `shift` elements, taking each `stride`-th.

        Example:
            >>> [[x.item() for x in w.as_numpy_iterator()] for w in tf.data.Dataset.range(5).window(3, 2)]
            [[0, 1, 2], [2, 3, 4], [4]]
        """
        return node_of(data.batches.WindowDataset, self, size, shift, stride, drop_remainder)

    # ---- functions ---------------------------------------------------------------------------------------------------

    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None, deterministic: bool | None = None,
        synchronous: bool | None = None, use_unbounded_threadpool: bool = False, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """A function of each element.

        Args:
            map_func: takes an element; the items of a tuple come as arguments. A list that it gives counts as a tuple.
            num_parallel_calls: how many threads; `AUTOTUNE` to let it be found out; None for none.
            deterministic: whether results of threads keep the order of the elements.
            synchronous: whether no thread may be used.

        Raises:
            ValueError: `map_func` is not callable, or `synchronous` and `num_parallel_calls` are given.
            TypeError: it gives something that can't be a tensor.


        Example:
            >>> ds = tf.data.Dataset.range(3).map(lambda x: {"x": x, "even": x % 2 == 0})
            >>> [e["even"].item() for e in ds.as_numpy_iterator()]
            [True, False, True]
        """
        if num_parallel_calls is None:
            return data.maps.MapDataset(self, map_func)
        if synchronous:
            raise ValueError(
                "`synchronous` is not supported with `num_parallel_calls`, but `num_parallel_calls` was set to ",
                num_parallel_calls,
            )
        return data.maps.ParallelMapDataset(self, map_func, num_parallel_calls, deterministic)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that a function gives, one dataset after the other.

        Example:
            >>> ds = tf.data.Dataset.range(4).flat_map(lambda x: tf.data.Dataset.range(x))
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [0, 0, 1, 0, 1, 2]
        """
        return data.maps.FlatMapDataset(self, map_func)

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: Any = None, block_length: Any = None,
        num_parallel_calls: Any = None, deterministic: bool | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """The elements of `cycle_length` of the datasets that a function gives, `block_length` of each in turn.

        Example:
            >>> ds = tf.data.Dataset.range(2).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), 2)
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [0, 1, 0, 1]
        """
        cycle = AUTOTUNE if cycle_length is None else cycle_length
        block = 1 if block_length is None else block_length
        if num_parallel_calls is None:
            return data.maps.InterleaveDataset(self, map_func, cycle, block)
        return data.maps.ParallelInterleaveDataset(self, map_func, cycle, block, num_parallel_calls)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of which a predicate gives a true boolean scalar.

        Raises:
            ValueError: it gives something else.


        Example:
            >>> [x.item() for x in tf.data.Dataset.range(5).filter(lambda x: x % 2 == 1).as_numpy_iterator()]
            [1, 3]
        """
        return data.maps.FilterDataset(self, predicate)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements up to the first of which a predicate is false.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(9).take_while(lambda x: x < 3).as_numpy_iterator()]
            [0, 1, 2]
        """
        return data.maps.TakeWhileDataset(self, predicate)

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The second part of what `scan_func(state, element)` gives; the first is the next state.

        Example:
            >>> ds = tf.data.Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s + x))
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [0, 1, 3, 6]
        """
        return data.maps.ScanDataset(self, initial_state, scan_func)

    def unique(self, name: str | None = None) -> Dataset:
        """The elements without those that have been before.

        Example:
            >>> [x.item() for x in tf.data.Dataset.from_tensor_slices([1, 2, 1]).unique().as_numpy_iterator()]
            [1, 2]
        """
        return data.maps.UniqueDataset(self)

    def group_by_window(
        self, key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None,
        window_size_func: Callable[[Any], Any] | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Gathers `window_size` elements of equal keys, and gives the elements of what `reduce_func` makes of them.

        Raises:
            ValueError: not one of `window_size` and `window_size_func` is given.


        Example:
            >>> ds = tf.data.Dataset.range(5).group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), 2)
            >>> [x.tolist() for x in ds.as_numpy_iterator()]
            [[0, 2], [1, 3], [4]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        size_of = window_size_func or (lambda _: window_size)
        return data.grouping.GroupByWindowDataset(self, key_func, reduce_func, size_of)
