"""`tf.data.Dataset`: what all datasets have in common, and the sources."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, int64, variant
from tapeflow.core.values.boxed_objects import held
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.core.values.trackable import CHECKPOINT, SAVED_MODEL, Trackable
from tapeflow.data.options import Options
from tapeflow.data.parts import parts, register
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.structure import Element
from tapeflow.data.transformations import Transformations

if TYPE_CHECKING:
    from tapeflow.data.iterators import NumpyIterator

INFINITE = -1
UNKNOWN = -2


class DatasetV2:
    """The name of TensorFlow's class, by which Keras and others tell a dataset without importing TensorFlow."""

    __slots__ = ()
    __module__ = "tensorflow.python.data.ops.dataset_ops"


class Dataset(DatasetV2, Transformations, Iterable, CompositeTensor, Trackable, ABC):
    """A sequence of elements, each a structure of tensors, that can be gone through as often as one likes.

    It is created from a source and transformed step by step; nothing runs before somebody iterates. Lists are no
    structures but convert to tensors. A `name` argument has no effect.

    Args:
        variant_tensor: the tensor of another dataset, for a subclass that stands for it.

    Example:
        >>> ds = tf.data.Dataset.range(10).filter(lambda x: x % 2 == 0).map(lambda x: x * x).batch(2)
        >>> [batch.numpy().tolist() for batch in ds]
        [[0, 4], [16, 36], [64]]
    """

    def __init__(self, variant_tensor: Any) -> None:
        self._wrapped = DatasetSpec(None)._from_components(variant_tensor)

    # ---- properties --------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def element_spec(self) -> Any:
        """The spec of the elements, in their structure."""

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    @property
    def _variant_tensor(self) -> Tensor:
        wrapped = self.__dict__.get("_wrapped")
        return held(self, variant) if wrapped is None or wrapped._graph is None else wrapped._variant_tensor

    @property
    def _graph(self) -> Any:
        """The graph that the dataset is an operation of; None for a dataset that exists now."""
        return next((g for ds in self._inputs() if (g := ds._graph) is not None), None)

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        if save_type != SAVED_MODEL:
            return {}
        if "_tracker" not in self.__dict__:
            self.__dict__["_tracker"] = parts.DatasetResource(self)
        return {"_variant_tracker": self.__dict__["_tracker"]}

    def _inputs(self) -> list[Any]:
        return [self._wrapped]

    def _over(self, inputs: Sequence[Any]) -> Any:
        return inputs[0]

    def _size(self) -> int:
        return self._wrapped._size()

    def _iterate(self) -> Iterator[Element]:
        return self._wrapped._iterate()

    def _rows(self) -> Any:
        """Returns the elements as `Rows`, of which many can be gathered at once; None where they are not rows of
        arrays.
        """
        return None

    def _batches(self, size: int, drop_remainder: bool) -> Iterator[Element] | None:
        """Returns an iterator over batches of the elements, where these need not be stacked one by one; else None.

        Args:
            size: the number of elements in a batch.
            drop_remainder: whether a last, smaller batch is dropped.
        """
        return None

    def options(self) -> Options:
        """Returns the options of the pipeline.

        Returns:
            The options set on this dataset and its inputs, as `tf.data.Options`; later ones win.
        """
        merged = Options()
        for source in self._inputs():
            merged = merged.merge(source.options())
        return merged

    def cardinality(self) -> Tensor:
        """Returns the number of elements.

        Returns:
            An int64 scalar; `INFINITE_CARDINALITY` and `UNKNOWN_CARDINALITY` are negative.

        Example:
            >>> tf.data.Dataset.range(5).batch(2).cardinality().numpy().item()
            3
        """
        if state.graph is not None:
            return ops.DatasetCardinality(self._variant_tensor, "")
        return convert(self._size(), int64)

    def __iter__(self) -> Any:
        if state.graph is not None:
            return parts.iterator_of(self)
        return parts.OwnedIterator(self)

    def __tf_autograph_for__(self, loop: Any) -> None:
        parts.loop_over(iter(self), loop, relaxed=True)

    def __copy__(self) -> Any:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise invalid(
            f"{self!r} can't be pickled: build the dataset where it is used, or write its elements with `Dataset.save`."
        )

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        if state.graph is not None:
            raise TypeError(
                "`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` instead."
            )
        size = self._size()
        if size < 0:
            raise TypeError("The dataset is infinite." if size == INFINITE else "The dataset length is unknown.")
        return size

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    def as_numpy_iterator(self) -> NumpyIterator:
        """Returns an iterator whose elements are NumPy arrays.

        Returns:
            A `tf.data.NumpyIterator`.

        Raises:
            TypeError: an element has a component that is no array, such as a dataset.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(3).as_numpy_iterator()]
            [0, 1, 2]
        """
        parts.check_arrays(self.element_spec)
        return parts.NumpyIterator(self)

    def get_single_element(self, name: str | None = None) -> Any:
        """Returns the only element.

        Returns:
            The element, in its structure.

        Raises:
            InvalidArgumentError: there is none, or more than one.

        Example:
            >>> tf.data.Dataset.range(5, 6).get_single_element().numpy().item()
            5
        """
        return parts.single_element(self)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """Computes the state after `reduce_func(state, element)` has run for all elements.

        Args:
            initial_state: a structure of tensors.
            reduce_func: takes the state and an element, and returns the new state, of the same structure and dtypes.

        Returns:
            The last state.

        Raises:
            TypeError: the new state is of another class or dtype.

        Example:
            >>> tf.data.Dataset.range(5).reduce(np.int64(0), lambda s, x: s + x).numpy().item()
            10
        """
        return parts.reduced(self, initial_state, reduce_func)

    def apply(self, transformation_func: Callable[[Any], Any]) -> Dataset:
        """Returns the dataset that a function returns for this one.

        Args:
            transformation_func: takes a dataset and returns a dataset.

        Returns:
            The result of the function.

        Raises:
            TypeError: the function returns no dataset.

        Example:
            >>> len(tf.data.Dataset.range(5).apply(lambda ds: ds.take(2)))
            2
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(dataset)}.")
        return dataset

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """Returns the same elements, with these options over those set before.

        Args:
            options: `tf.data.Options`.

        Returns:
            A dataset of the same elements.

        Raises:
            TypeError: `options` are of another class.

        Example:
            >>> options = tf.data.Options()
            >>> options.deterministic = False
            >>> tf.data.Dataset.range(3).with_options(options).options().deterministic
            False
        """
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be tf.data.Options, not {type(options)}")
        return parts.OptionsDataset(self, options)

    # ---- sources -----------------------------------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """Returns a dataset of one element.

        Args:
            tensors: the element, a structure of tensors.

        Returns:
            A dataset of one element.

        Example:
            >>> len(tf.data.Dataset.from_tensors([1, 2, 3]))
            1
        """
        return parts.TensorDataset(tensors)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """Returns a dataset of the slices of tensors along their first dimension.

        Args:
            tensors: a structure of tensors whose first dimensions agree.

        Returns:
            A dataset of as many elements as the first dimension.

        Raises:
            ValueError: there is a scalar, or first dimensions differ.

        Example:
            >>> list(tf.data.Dataset.from_tensor_slices({"a": [1, 2]}).as_numpy_iterator())[1]["a"].item()
            2
        """
        return parts.TensorSliceDataset(tensors)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any = None, output_shapes: Any = None,
        args: Sequence[TensorLike] | None = None, output_signature: Any = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns a dataset of the values that a Python generator yields.

        Args:
            generator: a callable that returns an iterable; called anew for each iterator.
            output_types, output_shapes: an older way to declare the elements' dtypes and shapes, in their structure.
            args: tensors, passed to `generator` as arrays.
            output_signature: the spec of the elements.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            TypeError: `generator` is not callable, or elements are not declared once.
            InvalidArgumentError: at an iterator, if an element is not as declared.

        Example:
            >>> ds = tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32))
            >>> [x.item() for x in ds.as_numpy_iterator()]
            [1, 2]
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        spec = parts.signature_of(output_types, output_shapes, output_signature)
        return parts.GeneratorDataset(generator, spec, args)

    @staticmethod
    def range(*args: TensorLike, **kwargs: Any) -> Dataset:
        """Returns a dataset of numbers, as the builtin `range` counts.

        Args:
            *args: stop; or start and stop; or start, stop and step; integers.
            **kwargs: `output_type=tf.int64` is their dtype.

        Returns:
            A dataset of scalars.

        Raises:
            ValueError: there are no or more than three numbers.
            InvalidArgumentError: the step is 0.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(10, 0, -3).as_numpy_iterator()]
            [10, 7, 4, 1]
        """
        return parts.RangeDataset(args, kwargs.get("output_type", int64))

    @staticmethod
    def counter(
        start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = int64, name: str | None = None
    ) -> Dataset:
        """Returns an infinite dataset of the numbers from `start` on.

        Args:
            start, step: integers.
            dtype: the dtype of the elements.

        Returns:
            A dataset of scalars.

        Example:
            >>> [x.item() for x in tf.data.Dataset.counter(5, 10).take(3).as_numpy_iterator()]
            [5, 15, 25]
        """
        first, distance = (convert(n, as_dtype(dtype)) for n in (start, step))
        return Dataset.from_tensors(0).repeat(None).scan(first, lambda number, _: (number + distance, number))

    @staticmethod
    def random(
        seed: TensorLike | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Returns an infinite dataset of random integers in [0, 2**32): TensorFlow's for the seed.

        Args:
            seed: an integer, or None for a random one.
            rerandomize_each_iteration: whether each iterator has numbers of its own.

        Returns:
            A dataset of int64 scalars.

        Example:
            >>> [x.item() for x in tf.data.Dataset.random(seed=3).take(2).as_numpy_iterator()]
            [3534849767, 279844183]
        """
        return parts.RandomDatasetV2(seed, rerandomize_each_iteration)

    @staticmethod
    def list_files(
        file_pattern: TensorLike | os.PathLike[str], shuffle: bool | None = None, seed: TensorLike | None = None,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns a dataset of the names of the files that match patterns with `*`, `?` and `[...]`.

        Args:
            file_pattern: a string, a list or a tensor of patterns.
            shuffle: whether the order is random, and differs with each iterator; True by default.
            seed: the seed of the order.

        Returns:
            A dataset of string scalars.

        Raises:
            InvalidArgumentError: no file matches.

        Example:
            >>> import os, tempfile
            >>> folder = tempfile.mkdtemp()
            >>> tf.io.write_file(os.path.join(folder, "a.txt"), "")
            >>> [os.path.basename(f.numpy()) for f in tf.data.Dataset.list_files(os.path.join(folder, "*.txt"))]
            [b'a.txt']
        """
        return parts.list_files(file_pattern, shuffle is None or shuffle, seed)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Returns a dataset of the elements of several datasets side by side, as many as the shortest has.

        Args:
            *args: datasets, or one structure of datasets.
            datasets: the same, as a keyword.

        Returns:
            A dataset whose elements have the structure of the datasets.

        Raises:
            TypeError: there is no dataset, or both are specified, or a part is no dataset.

        Example:
            >>> ds = tf.data.Dataset.zip(tf.data.Dataset.range(3), tf.data.Dataset.range(5, 7))
            >>> [(a.item(), b.item()) for a, b in ds.as_numpy_iterator()]
            [(0, 5), (1, 6)]
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        return parts.ZipDataset(datasets if datasets is not None else args[0] if len(args) == 1 else args)

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Returns a dataset that takes each element from the dataset whose number another dataset holds.

        Args:
            datasets: a list of datasets.
            choice_dataset: a dataset of int64 scalars, the numbers.
            stop_on_empty_dataset: whether the first dataset that ends ends all; otherwise its numbers are passed over.

        Returns:
            A dataset of the chosen elements.

        Raises:
            TypeError: the datasets have no spec in common, or the choices are no int64 scalars.
            ValueError: there is no dataset.

        Example:
            >>> two = [tf.data.Dataset.range(3), tf.data.Dataset.range(100, 103)]
            >>> choices = tf.data.Dataset.from_tensor_slices(tf.constant([1, 0, 1], tf.int64))
            >>> [x.item() for x in tf.data.Dataset.choose_from_datasets(two, choices).as_numpy_iterator()]
            [100, 0, 101]
        """
        return parts.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset], weights: TensorLike | Dataset | None = None, seed: TensorLike | None = None,
        stop_on_empty_dataset: bool = False, rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns a dataset that takes each element from a dataset drawn at random.

        Args:
            datasets: a list of datasets.
            weights: a probability for each, as floats, or a dataset of such vectors; all the same for None.
            seed: the seed of the choices.
            stop_on_empty_dataset: whether the first dataset that ends ends all.
            rerandomize_each_iteration: whether each iterator has choices of its own.

        Returns:
            A dataset of the drawn elements.

        Raises:
            ValueError: there is no dataset, or not a weight for each.
            TypeError: the datasets have no spec in common, or the weights are no floats.

        Example:
            >>> two = [tf.data.Dataset.range(3), tf.data.Dataset.range(100, 103)]
            >>> sorted(x.item() for x in tf.data.Dataset.sample_from_datasets(two, seed=1).as_numpy_iterator())
            [0, 1, 2, 100, 101, 102]
        """
        return parts.sample_from_datasets(
            datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration
        )  # fmt: skip

    @staticmethod
    def load(
        path: str | os.PathLike[str], element_spec: Any = None, compression: str | None = None,
        reader_func: Callable[..., Any] | None = None, wait: bool = False,
    ) -> Dataset:  # fmt: skip
        """Returns a dataset that `save` wrote, here or in TensorFlow.

        Args:
            path: the folder.
            element_spec: the spec of the elements; None for the saved one.
            compression: the compression it was saved with: None or "GZIP".
            reader_func: takes a dataset of shards and returns the dataset; by default elements of the shards come in
                turn.
            wait: whether to wait until it has been saved.

        Returns:
            A dataset of the saved elements.

        Raises:
            NotFoundError: there is no saved dataset.

        Example:
            >>> import tempfile
            >>> folder = tempfile.mkdtemp()
            >>> tf.data.Dataset.range(3).save(folder)
            >>> len(tf.data.Dataset.load(folder))
            3
        """
        return parts.load(path, element_spec, compression, reader_func, wait)


register(Dataset)
