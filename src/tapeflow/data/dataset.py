"""`tf.data.Dataset`: what all datasets have in common, and the functions that make new ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tapeflow.core.composite import CompositeTensor
from tapeflow.core.context import state
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import int64, variant
from tapeflow.core.held import held
from tapeflow.core.tensor import Tensor, invalid
from tapeflow.data import structure
from tapeflow.data.functions import MappedFunction, state_function
from tapeflow.data.options import Options
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.structure import Element
from tapeflow.data.threads import AUTOTUNE

INFINITE = -1
UNKNOWN = -2


def made(kind: Callable[..., Dataset], *args: Any) -> Any:
    """A node of a kind; of tensors of a graph, one that is made when it runs."""
    if state.graph is None:
        return kind(*args)
    from tapeflow.data.staged import node_of

    return node_of(kind, args)


def _of_tensors(kind: Any, tensors: Any, element_spec: Callable[[Any], Any]) -> Any:
    """A source that holds tensors; of tensors of a graph, one that is made when it runs."""
    if state.graph is None:
        return kind(tensors)
    from tapeflow.data.staged import source_of

    return source_of(kind, tensors, element_spec)


class DatasetV2:
    """The name of TensorFlow's class, by which Keras and others tell a dataset without importing TensorFlow."""

    __slots__ = ()
    __module__ = "tensorflow.python.data.ops.dataset_ops"


class Dataset(DatasetV2, Iterable, CompositeTensor, ABC):
    """A sequence of elements, each a structure of tensors, that can be gone through as often as one likes.

    It is made from a source and transformed step by step; nothing runs before somebody iterates. Lists are no
    structures but convert to tensors. A `name` argument means nothing here.

    Args:
        variant_tensor: the tensor of another dataset, for a subclass that stands for it.

    Example:
        >>> ds = tf.data.Dataset.range(10).filter(lambda x: x % 2 == 0).map(lambda x: x * x).batch(2)
        >>> [batch.numpy().tolist() for batch in ds]
        [[0, 4], [16, 36], [64]]
    """

    def __init__(self, variant_tensor: Any) -> None:
        self._wrapped = variant_tensor.value[()]

    # ---- what it is --------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def element_spec(self) -> Any:
        """The spec of the elements, in their structure."""

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    @property
    def _variant_tensor(self) -> Tensor:
        if state.graph is not None:
            from tapeflow.data.staged import variant_of

            return variant_of(self)
        return held(self, variant)

    def _inputs(self) -> list[Any]:
        return [self._wrapped]

    def _over(self, inputs: Sequence[Any]) -> Any:
        return inputs[0]

    def _size(self) -> int:
        return self._wrapped._size()

    def _iterate(self) -> Iterator[Element]:
        return self._wrapped._iterate()

    def _rows(self) -> Any:
        """The elements as rows that can be taken many at once, where they are."""
        return None

    def options(self) -> Options:
        """The options of the pipeline."""
        merged = Options()
        for source in self._inputs():
            merged = merged.merge(source.options())
        return merged

    def cardinality(self) -> Tensor:
        """How many elements there are, as an int64 scalar; `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY` are negative."""
        if state.graph is not None:
            from tapeflow.data.staged import cardinality

            return cardinality(self)
        return convert(self._size(), int64)

    def __iter__(self) -> Any:
        if state.graph is not None:
            from tapeflow.data.staged import iterator_of

            return iterator_of(self)
        from tapeflow.data.iterators import OwnedIterator

        return OwnedIterator(self)

    def __tf_autograph_for__(self, loop: Any) -> None:
        from tapeflow.data.staged import loop_over

        loop_over(iter(self), loop)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        size = self._size()
        if size < 0:
            raise TypeError("The dataset is infinite." if size == INFINITE else "The dataset length is unknown.")
        return size

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    def as_numpy_iterator(self) -> Any:
        """An iterator that gives elements as NumPy arrays.

        Raises:
            TypeError: an element has a component that is no array, such as a dataset.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(3).as_numpy_iterator()]
            [0, 1, 2]
        """
        from tapeflow.data.iterators import NumpyIterator, check_arrays

        check_arrays(self.element_spec)
        return NumpyIterator(self)

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element.

        Raises:
            InvalidArgumentError: there is none, or more than one.
        """
        elements = list(self.take(2))
        if len(elements) != 1:
            found = "had more than one element" if elements else "was empty"
            raise invalid(f"Dataset {found}. [Op:DatasetToSingleElement] name: ")
        return elements[0]

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """The state after `reduce_func(state, element)` has gone through all elements.

        Raises:
            TypeError: the new state is of another class or dtype.

        Example:
            >>> tf.data.Dataset.range(5).reduce(np.int64(0), lambda s, x: s + x).numpy().item()
            10
        """
        initial = MappedFunction(lambda: initial_state, "reduce()", ())
        function, spec = state_function(reduce_func, "reduce()", initial.output_spec, self.element_spec, lambda s: s)
        if state.graph is not None:
            from tapeflow.data.staged import reduced

            return reduced(self, initial, function, spec)
        return structure.Packer(spec)(maps.reduction(self, initial, function))

    def apply(self, transformation_func: Callable[[Any], Any]) -> Dataset:
        """What a function makes of this dataset.

        Raises:
            TypeError: it gives no dataset.
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(dataset)}.")
        return dataset

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements, made with these options over those set before."""
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be tf.data.Options, not {type(options)}")
        return nodes.OptionsDataset(self, options)

    # ---- sources -----------------------------------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """A dataset of one element."""
        return _of_tensors(nodes.TensorDataset, tensors, lambda spec: spec)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The slices of tensors along their first dimension.

        Raises:
            ValueError: there is a scalar, or first dimensions differ.

        Example:
            >>> list(tf.data.Dataset.from_tensor_slices({"a": [1, 2]}).as_numpy_iterator())[1]["a"].item()
            2
        """
        return _of_tensors(nodes.TensorSliceDataset, tensors, structure.unbatched)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any = None, output_shapes: Any = None, args: Any = None,
        output_signature: Any = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """What a Python generator gives.

        Args:
            generator: a callable that gives an iterable; called for each iterator anew.
            output_types, output_shapes: an older way to say what elements are.
            args: tensors, given to `generator` as arrays.
            output_signature: the spec of the elements.

        Raises:
            TypeError: `generator` is not callable, or elements are not declared once.
            InvalidArgumentError: at an iterator, if an element is not as declared.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        spec = generators.signature_of(output_types, output_shapes, output_signature)
        return generators.GeneratorDataset(generator, spec, args)

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """Numbers as the builtin `range` gives them; `output_type=tf.int64` is their dtype."""
        return made(nodes.RangeDataset, args, kwargs.get("output_type", int64))

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None) -> Dataset:
        """Numbers from `start` on, without an end."""
        return made(nodes.CounterDataset, start, step, dtype)

    @staticmethod
    def random(seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None) -> Dataset:
        """Random integers in [0, 2**32), without an end: TensorFlow's for the seed."""
        return made(shuffling.RandomDataset, seed, rerandomize_each_iteration)

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Dataset:
        """The names of the files that match patterns with `*`, `?` and `[...]`.

        Args:
            file_pattern: a string tensor of patterns.
            shuffle: whether the order is random, and another one with each iterator; True by default.
            seed: of the order.

        Raises:
            InvalidArgumentError: no file matches.

        Example:
            >>> import os, tempfile
            >>> folder = tempfile.mkdtemp()
            >>> tf.io.write_file(os.path.join(folder, "a.txt"), "")
            >>> [os.path.basename(f.numpy()) for f in tf.data.Dataset.list_files(os.path.join(folder, "*.txt"))]
            [b'a.txt']
        """
        from tapeflow.data.files import list_files

        return list_files(file_pattern, shuffle is None or shuffle, seed)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """The elements of several datasets side by side, as far as the shortest goes.

        Raises:
            TypeError: there is no dataset, or something else.
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        return nodes.ZipDataset(datasets if datasets is not None else args[0] if len(args) == 1 else args)

    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True) -> Dataset:
        """Elements of several datasets, in the order of the int64 numbers that another dataset gives."""
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        return maps.DirectedInterleaveDataset(choice_dataset, datasets, stop_on_empty_dataset)

    # ---- what chooses and orders ---------------------------------------------------------------------------------------

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements but for those that can't be made.

        Args:
            log_warning: whether to log the errors.

        Example:
            >>> ds = tf.data.Dataset.from_tensor_slices([1.0, 0.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad"))
            >>> [x.item() for x in ds.ignore_errors().as_numpy_iterator()]
            [1.0]
        """
        return maps.IgnoreErrorsDataset(self, log_warning)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of another.

        Raises:
            TypeError: elements have nothing in common.
        """
        return nodes.ConcatenateDataset(self, dataset)

    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first `count` elements; all for -1."""
        return made(nodes.TakeDataset, self, count)

    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first `count` elements; none for -1."""
        return made(nodes.SkipDataset, self, count)

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """The elements `count` times over; without an end for None and -1."""
        return made(nodes.RepeatDataset, self, count)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from number `index` on.

        Raises:
            InvalidArgumentError: there is no such shard.
        """
        return made(nodes.ShardDataset, self, num_shards, index)

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of an element's number, int64, and the element."""
        return Dataset.zip((Dataset.range(start, 2**63 - 1), self))

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
        return made(shuffling.ShuffleDataset, self, buffer_size, seed, reshuffle_each_iteration)

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """The same elements, kept in memory once an iterator has gone through all.

        Raises:
            NotImplementedError: a file name is given.
        """
        if filename:
            raise NotImplementedError("Dataset.cache() keeps elements in memory; caching them in a file is not supported.")
        return nodes.CacheDataset(self)

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements, up to `buffer_size` of them made ahead in a thread."""
        return made(maps.PrefetchDataset, self, buffer_size)

    # ---- batches -----------------------------------------------------------------------------------------------------

    def batch(
        self, batch_size: Any, drop_remainder: Any = False, num_parallel_calls: Any = None,
        deterministic: bool | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Elements stacked into batches; the last one may be smaller, unless `drop_remainder`.

        Raises:
            InvalidArgumentError: `batch_size` is not positive; at an iterator, if shapes differ.
        """
        kind = batches.BatchDataset if num_parallel_calls is None else batches.ParallelBatchDataset
        return made(kind, self, batch_size, drop_remainder)

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
        return made(batches.PaddedBatchDataset, self, batch_size, padded_shapes, padding_values, drop_remainder)

    def ragged_batch(
        self, batch_size: Any, drop_remainder: Any = False, row_splits_dtype: Any = int64, name: str | None = None
    ) -> Dataset:
        """Batches in which tensors of different shapes are rows of a ragged tensor."""
        return batches.RaggedDataset(self, row_splits_dtype).batch(batch_size, drop_remainder)

    def unbatch(self, name: str | None = None) -> Dataset:
        """The slices of the elements along their first dimension.

        Raises:
            ValueError: a component is a scalar, or first dimensions differ.
        """
        return batches.UnbatchDataset(self)

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False, name: str | None = None
    ) -> Dataset:
        """Datasets of `size` elements, a new one starting every `shift` elements, taking each `stride`-th.

        Example:
            >>> [[x.item() for x in w.as_numpy_iterator()] for w in tf.data.Dataset.range(5).window(3, 2)]
            [[0, 1, 2], [2, 3, 4], [4]]
        """
        return made(batches.WindowDataset, self, size, shift, stride, drop_remainder)

    # ---- functions -----------------------------------------------------------------------------------------------------

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
        """
        if num_parallel_calls is None:
            return maps.MapDataset(self, map_func)
        if synchronous:
            raise ValueError(
                "`synchronous` is not supported with `num_parallel_calls`, but `num_parallel_calls` was set to ",
                num_parallel_calls,
            )
        return maps.ParallelMapDataset(self, map_func, num_parallel_calls, deterministic)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that a function gives, one dataset after the other."""
        return maps.FlatMapDataset(self, map_func)

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
            return maps.InterleaveDataset(self, map_func, cycle, block)
        return maps.ParallelInterleaveDataset(self, map_func, cycle, block, num_parallel_calls)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of which a predicate gives a true boolean scalar.

        Raises:
            ValueError: it gives something else.
        """
        return maps.FilterDataset(self, predicate)

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements up to the first of which a predicate is false."""
        return maps.TakeWhileDataset(self, predicate)

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The second part of what `scan_func(state, element)` gives; the first is the next state.

        Example:
            >>> ds = tf.data.Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s + x))
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [0, 1, 3, 6]
        """
        return maps.ScanDataset(self, initial_state, scan_func)

    def unique(self, name: str | None = None) -> Dataset:
        """The elements without those that have been before."""
        return maps.UniqueDataset(self)

    def group_by_window(
        self, key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None,
        window_size_func: Callable[[Any], Any] | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Gathers `window_size` elements of equal keys, and gives the elements of what `reduce_func` makes of them.

        Raises:
            ValueError: not one of `window_size` and `window_size_func` is given.
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        return maps.GroupByWindowDataset(self, key_func, reduce_func, window_size_func or (lambda _: window_size))


# The nodes derive from `Dataset`, and its methods make nodes.
from tapeflow.data import batches, generators, maps, nodes, shuffling  # noqa: E402


