"""`tf.data.Dataset`: a pipeline, whose methods return longer ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from tapeflow.core.context import state
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, bool_, float32, float64, int64, uint64, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.core.values.trackable import CHECKPOINT, SAVED_MODEL, Trackable
from tapeflow.data import elements
from tapeflow.data.bucket_by_length import bucket_by_sequence_length
from tapeflow.data.functions import MappedFunction
from tapeflow.data.graph_defs import DatasetResource, fingerprint
from tapeflow.data.iterators import GraphIterator, NumpyIterator, OwnedIterator, check_arrays, iterator_of, loop_over
from tapeflow.data.node import INFINITE, Node, Variant, integer, structure_node, truth
from tapeflow.data.options import Options
from tapeflow.data.rejection_resample import rejection_resample
from tapeflow.data.saved_datasets import save
from tapeflow.data.seeds import Seeds, seeds_of
from tapeflow.data.sources.files import list_files
from tapeflow.data.sources.from_generator import Generator, signature_of
from tapeflow.data.sources.from_tensor_slices import FromTensorSlices
from tapeflow.data.sources.from_tensors import FromTensors
from tapeflow.data.sources.load import load
from tapeflow.data.sources.random import Random
from tapeflow.data.sources.range import Range
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.threads import AUTOTUNE
from tapeflow.data.transformations.batch import Batch, ParallelBatch
from tapeflow.data.transformations.cache import Cache, FileCache
from tapeflow.data.transformations.choices import Choices
from tapeflow.data.transformations.concatenate import Concatenate
from tapeflow.data.transformations.directed_interleave import DirectedInterleave, check_compatible
from tapeflow.data.transformations.filter import Filter, TakeWhile
from tapeflow.data.transformations.flat_map import FlatMap
from tapeflow.data.transformations.group_by_window import GroupByWindow
from tapeflow.data.transformations.ignore_errors import IgnoreErrors
from tapeflow.data.transformations.interleave import Interleave, ParallelInterleave
from tapeflow.data.transformations.map import Map, ParallelMap, order_attr
from tapeflow.data.transformations.padded_batch import PaddedBatch
from tapeflow.data.transformations.prefetch import Prefetch
from tapeflow.data.transformations.ragged_batch import Ragged
from tapeflow.data.transformations.rebatch import Rebatch
from tapeflow.data.transformations.reduce import reduce_node
from tapeflow.data.transformations.repeat import Repeat
from tapeflow.data.transformations.scan import Scan
from tapeflow.data.transformations.shard import Shard
from tapeflow.data.transformations.shuffle import Shuffle
from tapeflow.data.transformations.skip import Skip
from tapeflow.data.transformations.snapshot import Snapshot
from tapeflow.data.transformations.sparse_batch import SparseBatch
from tapeflow.data.transformations.take import Take
from tapeflow.data.transformations.unbatch import Unbatch
from tapeflow.data.transformations.unique import Unique
from tapeflow.data.transformations.window import Window
from tapeflow.data.transformations.with_options import WithOptions
from tapeflow.data.transformations.zip import Zip
from tapeflow.math.elementwise import log
from tapeflow.random.stateless import stateless_categorical


class DatasetV2:
    """The name of TensorFlow's class. Keras recognizes datasets by it, without importing TensorFlow."""

    __slots__ = ()
    __module__ = "tensorflow.python.data.ops.dataset_ops"


class Dataset(DatasetV2, Iterable, CompositeTensor, Trackable):
    """A sequence of elements, each a structure of tensors, that can be iterated over any number of times.

    It is created from a source and transformed step by step. Nothing runs before an iterator asks for elements. Lists
    are no structures but convert to tensors. A `name` argument has no effect.

    Args:
        variant_tensor: the tensor of another dataset, for a subclass that stands for it.

    Example:
        >>> ds = tf.data.Dataset.range(10).filter(lambda x: x % 2 == 0).map(lambda x: x * x).batch(2)
        >>> [batch.numpy().tolist() for batch in ds]
        [[0, 4], [16, 36], [64]]
    """

    def __init__(self, variant_tensor: Any) -> None:
        if isinstance(variant_tensor, Node):
            self._node = variant_tensor
            return
        if not isinstance(variant_tensor, Tensor) or variant_tensor.dtype is not variant:
            raise TypeError(
                "A `tf.data.Dataset` is created by its static methods, such as `Dataset.range`. A subclass calls the "
                f"constructor with the variant tensor of another dataset, not with {variant_tensor!r}."
            )
        self._wrapped = variant_tensor

    # ---- properties --------------------------------------------------------------------------------------------------

    @cached_property
    def _node(self) -> Node:
        """The last node of the pipeline. A subclass may know more of the elements of its tensor."""
        wrapped = self._wrapped
        own = None if type(self).element_spec is Dataset.element_spec else self.element_spec
        if isinstance(wrapped, SymbolicTensor):
            return Variant(wrapped, own)
        return wrapped.value[()] if own is None else structure_node(wrapped.value[()], own)

    @property
    def element_spec(self) -> Any:
        """The spec of the elements, in their structure."""
        return self._node.spec

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    @property
    def _variant_tensor(self) -> Tensor:
        return self._node.variant

    @property
    def _graph(self) -> Any:
        """The graph that the dataset is an operation of; None for a dataset that exists now."""
        return self._node.graph

    # Keras and other libraries ask TensorFlow's datasets for these private attributes.

    def __getattr__(self, name: str) -> Any:
        """Returns a field of the last node by TensorFlow's name: `_batch_size`, `_drop_remainder`, `_input_dataset`."""
        node = self.__dict__.get("_node") or ("_wrapped" in self.__dict__ and self._node)
        field = name[1:]
        if not node or name[0] != "_" or field not in node.fields or field == "spec":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = getattr(node, field)
        if isinstance(value, Node):
            return Dataset(value)
        return convert(value, bool_ if isinstance(value, bool) else int64) if isinstance(value, int) else value

    @property
    def _flat_shapes(self) -> list[Any]:
        return elements.element_attrs(self.element_spec)[1]

    @property
    def _flat_types(self) -> list[Any]:
        return elements.element_attrs(self.element_spec)[0]

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        return {"_variant_tracker": self._tracker} if save_type == SAVED_MODEL else {}

    @cached_property
    def _tracker(self) -> DatasetResource:
        return DatasetResource(self._node)

    def _inputs(self) -> list[Dataset]:
        return [Dataset(node) for node in self._node.inputs]

    def options(self) -> Options:
        """Returns the options of the pipeline.

        Returns:
            The options set on this dataset and its inputs, as `tf.data.Options`; later ones win.
        """
        return Options().merge(self._node.options())

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
        return convert(self._node.cardinality(), int64)

    def __iter__(self) -> OwnedIterator | GraphIterator:
        return OwnedIterator(self._node) if state.graph is None else iterator_of(self._node)

    def __tf_autograph_for__(self, loop: Any) -> None:
        loop_over(iter(self), loop, relaxed=True)

    def __copy__(self) -> Any:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
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
        size = self._node.cardinality()
        if size < 0:
            raise TypeError("The dataset is infinite." if size == INFINITE else "The dataset length is unknown.")
        return size

    def __repr__(self) -> str:
        name = self._node.name if type(self) is Dataset else type(self).__name__
        return f"<{name} element_spec={self.element_spec}>"

    # ---- results -----------------------------------------------------------------------------------------------------

    def as_numpy_iterator(self) -> NumpyIterator:
        """Returns an iterator whose elements are NumPy arrays.

        Returns:
            A `tf.data.NumpyIterator`.

        Raises:
            TypeError: an element has a component that is no array, such as a dataset.
            RuntimeError: a graph is being built.

        Example:
            >>> [x.item() for x in tf.data.Dataset.range(3).as_numpy_iterator()]
            [0, 1, 2]
        """
        if state.graph is not None:
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        check_arrays(self.element_spec)
        return NumpyIterator(self)

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
        spec = self.element_spec
        if state.graph is None:
            return elements.Packer(spec)(self._node.only_element())
        tensors = ops.DatasetToSingleElement(self._variant_tensor, *elements.element_attrs(spec), "")
        return elements.pack_element(spec, tensors)

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
        return reduce_node(self._node, initial_state, reduce_func)

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
        return Dataset(WithOptions(self._node, options))

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
        return Dataset(FromTensors(tensors))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """Returns a dataset of the slices of tensors along their first dimension.

        Args:
            tensors: a structure of tensors whose first dimensions agree; or a table of pyarrow or Polars, whose rows
                become dicts by the names of the columns.

        Returns:
            A dataset of as many elements as the first dimension.

        Raises:
            ValueError: there is a scalar, or first dimensions differ.

        Example:
            >>> list(tf.data.Dataset.from_tensor_slices({"a": [1, 2]}).as_numpy_iterator())[1]["a"].item()
            2
        """
        return Dataset(FromTensorSlices(_columns_of(tensors)))

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
        spec = signature_of(output_types, output_shapes, output_signature)
        return Dataset(Generator(generator, spec, tuple([convert(a) for a in args or ()])))

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
        return Dataset(Range.of(args, kwargs.get("output_type", int64)))

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
        return Dataset(Random.of(seed, rerandomize_each_iteration))

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
        return Dataset(list_files(file_pattern, shuffle is None or shuffle, seed))

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
        nested = datasets if datasets is not None else args[0] if len(args) == 1 else args
        flat = elements.flatten(nested)
        for ds in flat:
            if isinstance(ds, list):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` "
                    "objects. Python `list` is not supported and you should use `tuple` instead."
                )
            if not isinstance(ds, Dataset):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` "
                    f"objects but encountered object of type {type(ds)}."
                )
        spec = elements.pack(nested, [ds.element_spec for ds in flat])
        return Dataset(Zip([ds._node for ds in flat], spec))

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
        nodes = [ds._node for ds in datasets]
        check_compatible(nodes)
        spec = choice_dataset.element_spec
        if not (type(spec) is TensorSpec and spec.dtype is int64 and spec.shape.rank in (0, None)):
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
                f"{spec}."
            )
        return Dataset(DirectedInterleave(choice_dataset._node, nodes, bool(stop_on_empty_dataset)))

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
        nodes = [ds._node for ds in datasets]
        check_compatible(nodes)
        pairs = Dataset.random(seed, rerandomize_each_iteration).batch(2)  # each pair is the seed of a choice
        if isinstance(weights, Dataset):
            choices = Dataset.zip((pairs, weights)).map(lambda pair, w: _draw_choice(log(w)[None], pair))
            return Dataset(DirectedInterleave(choices._node, nodes, bool(stop_on_empty_dataset)))
        if weights is None:
            logits: Any = [[1.0] * len(nodes)]
        else:
            probabilities = weights if isinstance(weights, Tensor) else convert(weights)
            if probabilities.dtype not in (float32, float64):
                raise TypeError(
                    "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
                    f"{probabilities.dtype!s}."
                )
            count = probabilities.shape.num_elements()
            if count != len(nodes):
                raise ValueError(
                    "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                    f"`len(weights)={count}` vs. `len(datasets)={len(nodes)}`."
                )
            if isinstance(probabilities, EagerTensor):  # datasets that are never drawn are left out
                drawn = [(node, p) for node, p in zip(nodes, probabilities.value.tolist(), strict=True) if p > 0]
                nodes = [node for node, _ in drawn]
                probabilities = convert([p for _, p in drawn], probabilities.dtype)
            logits = log(probabilities)[None]
        if len(nodes) == 1:
            return Dataset(nodes[0])
        function = MappedFunction.for_node(pairs._node, lambda pair: _draw_choice(logits, pair), "sample_from_datasets")
        chosen: Node = Map(pairs._node, function)
        if not isinstance(logits, SymbolicTensor):
            chosen = Choices(pairs._node, function, convert(logits).value.cpu())
        return Dataset(DirectedInterleave(chosen, nodes, bool(stop_on_empty_dataset)))

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
        return Dataset(load(path, element_spec, compression, reader_func, wait))

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
        return Dataset(IgnoreErrors(self._node, log_warning))

    def rejection_resample(
        self, class_func: Callable[..., Any], target_dist: TensorLike, initial_dist: TensorLike | None = None,
        seed: TensorLike | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns pairs of a class and an element. Elements are dropped at random for a target distribution of classes.

        Args:
            class_func: returns an element's class, an integer from 0 on.
            target_dist: the target distribution, a vector of probabilities.
            initial_dist: the distribution of the elements; estimated from them for None.
            seed: the seed of the random numbers.

        Returns:
            A dataset of pairs.

        Raises:
            TypeError: `class_func` returns no integer scalar.

        Example:
            >>> ds = tf.data.Dataset.range(100).rejection_resample(lambda x: x % 2, [1.0, 0.0], initial_dist=[0.5, 0.5])
            >>> sorted({label.item() for label, _ in ds.as_numpy_iterator()})
            [0]
        """
        return rejection_resample(self, class_func, target_dist, initial_dist, seed)

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
        save(self._node, path, compression, shard_func)

    def snapshot(
        self, path: str | os.PathLike[str], compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None, shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns the same elements, which the first iterator that goes through all writes to files that later ones
        read.

        Args:
            path: a folder. Each pipeline has its own folder in there.
            compression, reader_func, shard_func: as for `save` and `load`.

        Returns:
            A dataset of the same elements.

        Example:
            >>> import tempfile
            >>> ds = tf.data.Dataset.range(3).snapshot(tempfile.mkdtemp())
            >>> [x.item() for x in ds.as_numpy_iterator()] == [x.item() for x in ds.as_numpy_iterator()]
            True
        """
        return Dataset(Snapshot.of(self._node, path, compression, reader_func, shard_func))

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
        return convert(fingerprint(self._node), uint64)

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """Returns the elements of this dataset, then the elements of another.

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
        return Dataset(Concatenate(self._node, dataset._node))

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
        return Dataset(Take(self._node, integer(count)))

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
        return Dataset(Skip(self._node, integer(count)))

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
        return Dataset(Repeat(self._node, -1 if count is None else integer(count)))

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
        return Dataset(Shard(self._node, integer(num_shards), integer(index)))

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
        return Dataset.zip((Dataset.range(start, 2**63 - 1), self))

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
        seeds = Seeds(seeds_of(seed), reshuffle_each_iteration is not False)
        return Dataset(Shuffle(self._node, integer(buffer_size), seeds))

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
        return Dataset(FileCache(self._node, os.fsdecode(filename)) if filename else Cache(self._node))

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
        return Dataset(Prefetch(self._node, integer(buffer_size)))

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
        size, drop = integer(batch_size), truth(drop_remainder)
        if num_parallel_calls is None:
            return Dataset(Batch(self._node, size, drop))
        return Dataset(ParallelBatch(self._node, size, drop, integer(num_parallel_calls), order_attr(deterministic)))

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
        size, drop = integer(batch_size), truth(drop_remainder)
        return Dataset(PaddedBatch(self._node, size, drop, padded_shapes, padding_values))

    def ragged_batch(
        self, batch_size: TensorLike, drop_remainder: TensorLike = False, row_splits_dtype: DTypeLike = int64,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns batches whose tensors of different shapes are rows of a ragged tensor.

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
        return Dataset(Ragged(self._node, as_dtype(row_splits_dtype))).batch(batch_size, drop_remainder)

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
        sizes = [integer(n) for n in np.ravel(np.asarray(batch_size)).tolist()]
        return Dataset(Rebatch(self._node, sizes, bool(drop_remainder)))

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
        row = [-1 if d is None else d for d in TensorShape(row_shape).as_list()]
        return Dataset(SparseBatch(self._node, integer(batch_size), row))

    def bucket_by_sequence_length(
        self, element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
        pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns batches of elements of similar length, padded to the longest of the batch.

        Args:
            element_length_func: returns an element's length.
            bucket_boundaries: the lengths that separate the buckets, in ascending order.
            bucket_batch_sizes: the number of elements in a batch, for each bucket; one more than there are boundaries.
            padded_shapes, padding_values: as for `padded_batch`.
            pad_to_bucket_boundary: whether to pad to the greatest length of the bucket.
            no_padding: whether elements are batched without padding.
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
        return bucket_by_sequence_length(
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
        return Dataset(Unbatch(self._node))

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
        shift = size if shift is None else shift
        return Dataset(Window(self._node, integer(size), integer(shift), integer(stride), truth(drop_remainder)))

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
        if synchronous and num_parallel_calls is not None:
            raise ValueError(
                "`synchronous` is not supported with `num_parallel_calls`, but `num_parallel_calls` was set to ",
                num_parallel_calls,
            )
        function = MappedFunction.for_node(self._node, map_func, "map")
        if num_parallel_calls is None:
            return Dataset(Map(self._node, function))
        return Dataset(ParallelMap(self._node, function, integer(num_parallel_calls), order_attr(deterministic)))

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
        return Dataset(FlatMap(self._node, MappedFunction.for_node(self._node, map_func, "flat_map")))

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: TensorLike | None = None,
        block_length: TensorLike | None = None, num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None, name: str | None = None,
    ) -> Dataset:  # fmt: skip
        """Returns the elements of several of the datasets that a function returns, in turn.

        Args:
            map_func: takes an element and returns a dataset.
            cycle_length: the number of datasets that take turns; by default the number of cores.
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
        function = MappedFunction.for_node(self._node, map_func, "interleave")
        cycle = AUTOTUNE if cycle_length is None else integer(cycle_length)
        block = 1 if block_length is None else integer(block_length)
        if num_parallel_calls is None:
            return Dataset(Interleave(self._node, function, cycle, block))
        calls, order = integer(num_parallel_calls), order_attr(deterministic)
        return Dataset(ParallelInterleave(self._node, function, cycle, block, calls, order))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Returns the elements that satisfy a predicate.

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
        return Dataset(Filter(self._node, MappedFunction.for_node(self._node, predicate, "filter")))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """Returns the elements before the first one that does not satisfy a predicate.

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
        return Dataset(TakeWhile(self._node, MappedFunction.for_node(self._node, predicate, "take_while")))

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
        return Dataset(Scan.of(self._node, initial_state, scan_func))

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
        return Dataset(Unique(self._node))

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
            window_size_func: takes a key and returns that number. Specify either `window_size` or `window_size_func`.

        Returns:
            A dataset of the elements.

        Raises:
            ValueError: both `window_size` and `window_size_func` are specified, or neither.
            TypeError: `reduce_func` returns no dataset.

        Example:
            >>> ds = tf.data.Dataset.range(5).group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), 2)
            >>> [x.tolist() for x in ds.as_numpy_iterator()]
            [[0, 2], [1, 3], [4]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        return Dataset(GroupByWindow.of(self._node, key_func, reduce_func, window_size_func or (lambda _: window_size)))


DatasetSpec.dataset = Dataset


def _columns_of(tensors: Any) -> Any:
    """Returns a structure with the columns of tables (pyarrow's and Polars') in the place of tables."""
    if type(tensors) is tuple:
        return tuple(map(_columns_of, tensors))
    if not hasattr(tensors, "__arrow_c_stream__"):
        return tensors
    names = tensors.columns if hasattr(tensors, "get_column") else getattr(tensors, "column_names", None)
    return tensors if names is None else {name: tensors[name] for name in names}


def _draw_choice(logits: TensorLike, pair: Tensor) -> Any:
    """Draws a number with the log-probabilities `[1, n]`."""
    return stateless_categorical(logits, 1, pair)[0, 0]
