"""`tf.compat.v1.data`: datasets whose iterators sessions initialize and take elements from."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import as_dtype, resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.boxed_objects import hold_object
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.data import dataset as datasets
from tapeflow.data import elements, files
from tapeflow.data import experimental as dataset_functions
from tapeflow.data.elements import Element, element_attrs
from tapeflow.data.iterator_kernels import IteratorSlot
from tapeflow.data.iterators import GraphIterator, OwnedIterator
from tapeflow.graph.ir.python_op import python_op
from tapeflow.sparse.tensor import SparseTensor
from tapeflow_compat.compat.v1 import names

__all__ = ["Dataset", "FixedLengthRecordDataset", "Iterator", "TFRecordDataset", "TextLineDataset"]

__getattr__ = names.finder("data")


def _handle(slot: Any, element_spec: Any) -> Any:
    """Returns the tensor that stands for an iterator: in a graph the output of an operation, which can be written."""
    if state.graph is None:
        return hold_object(slot, resource)
    types, shapes = element_attrs(element_spec)
    attrs = {"container": "", "output_shapes": shapes, "output_types": types, "shared_name": ""}
    specs = [(resource, ())]
    return python_op(
        "IteratorV2", lambda: [hold_object(slot, resource)], [], specs, stateful=False, attrs=attrs
    ).outputs[0]


def _element_spec(output_types: Any, output_shapes: Any) -> Any:
    """Returns the spec of elements of these dtypes and shapes, in the structure of the dtypes."""
    types = elements.flatten(output_types)
    shapes = [None] * len(types) if output_shapes is None else elements.flatten_up_to(output_types, output_shapes)
    specs = [TensorSpec(TensorShape(s), as_dtype(t)) for s, t in zip(shapes, types, strict=True)]
    return elements.pack(output_types, specs)


class _WithOutputs:
    """The attributes of TensorFlow 1 that say what `element_spec` does."""

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements, in their structure."""
        return get_output_types(self)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements, in their structure."""
        return get_output_shapes(self)

    @property
    def output_classes(self) -> Any:
        """The classes of the elements, in their structure."""
        return get_output_classes(self)


class Iterator(_WithOutputs, GraphIterator):
    """An iterator in a graph, which a session initializes with the operation that `make_initializer` gives.

    Made by `from_structure`, `make_initializable_iterator` and `make_one_shot_iterator`.

    Example:
        >>> with tf.Graph().as_default():
        ...     iterator = tf.compat.v1.data.make_initializable_iterator(tf.data.Dataset.range(3))
        ...     element = iterator.get_next()
        ...     with tf.compat.v1.Session() as session:
        ...         session.run(iterator.initializer)
        ...         print(session.run(element), session.run(element))
        0 1
    """

    def __init__(self, handle: Any, element_spec: Any, dataset: datasets.Dataset | None = None) -> None:
        super().__init__(handle, element_spec)
        self._initializer = None if dataset is None else self.make_initializer(dataset)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """Returns the iterator that a string names when the graph runs: see `string_handle`.

        Args:
            string_handle: a string scalar.
            output_types, output_shapes: the dtypes and shapes of the elements, in their structure.
            output_classes: accepted, and without effect.

        Returns:
            An iterator without an initializer.

        Raises:
            InvalidArgumentError: the string names no iterator, or an iterator of other elements; at run time.

        Example:
            >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            ...     iterator = tf.compat.v1.data.Dataset.range(3).make_one_shot_iterator()
            ...     handle = tf.compat.v1.placeholder(tf.string, [])
            ...     element = tf.compat.v1.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
            ...     print(session.run(element, {handle: session.run(iterator.string_handle())}))
            0
        """
        spec = _element_spec(output_types, output_shapes)
        return Iterator(ops.IteratorFromStringHandleV2(string_handle, *element_attrs(spec)), spec)

    def string_handle(self, name: str | None = None) -> Any:
        """Returns a string scalar that names the iterator; `from_string_handle` has an example.

        Args:
            name: of the operation.
        """
        return ops.IteratorToStringHandle(self._handle, name=name)

    @staticmethod
    def from_structure(
        output_types: Any, output_shapes: Any = None, shared_name: str | None = None, output_classes: Any = None
    ) -> Iterator:
        """Returns an iterator for datasets of elements of these dtypes and shapes, yet without one.

        Example:
            >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            ...     iterator = tf.compat.v1.data.Iterator.from_structure(tf.int64, [])
            ...     begin, element = iterator.make_initializer(tf.data.Dataset.range(3)), iterator.get_next()
            ...     session.run(begin)
            ...     print(session.run(element), session.run(element))
            0 1
        """
        spec = _element_spec(output_types, output_shapes)
        return Iterator(_handle(IteratorSlot(spec), spec), spec)

    @property
    def initializer(self) -> Any:
        """The operation that begins to go over the dataset.

        Raises:
            ValueError: there is none, as the iterator was created without a dataset, or for one time only.
        """
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: datasets.Dataset, name: str | None = None) -> Any:
        """Returns an operation that begins to go over a dataset.

        Raises:
            TypeError: its elements are of other dtypes or shapes.
        """
        elements.common_spec(self._spec, dataset.element_spec)
        pairs = zip(elements.flatten(self._spec), elements.flatten(dataset.element_spec), strict=True)
        if not all(mine.is_compatible_with(other) for mine, other in pairs):
            raise TypeError(f"Expected a dataset of elements of {self._spec}, but got one of {dataset.element_spec}.")

        return ops.MakeIterator(dataset._variant_tensor, self._handle)


def make_one_shot_iterator(dataset: datasets.Dataset) -> Any:
    """Returns an iterator that goes over a dataset once, and needs no initializer.

    Args:
        dataset: one that depends on no tensor of a graph.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        ...     element = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
        ...     print(session.run(element), session.run(element))
        0 1
    """
    if state.graph is None:
        return iter(dataset)
    held_by = dataset._variant_tensor
    value = state.graph.value_now(held_by) if isinstance(held_by, SymbolicTensor) else held_by.value
    spec = dataset.element_spec
    slot = IteratorSlot(spec)
    slot.iterator = OwnedIterator(value[()])
    return Iterator(_handle(slot, spec), spec)


def make_initializable_iterator(dataset: datasets.Dataset, shared_name: str | None = None) -> Iterator:
    """Returns an iterator that goes over a dataset whenever its initializer has run.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        ...     iterator = tf.compat.v1.data.make_initializable_iterator(tf.data.Dataset.range(3))
        ...     element = iterator.get_next()
        ...     session.run(iterator.initializer)
        ...     print(session.run(element))
        0
    """
    if state.graph is None:
        raise RuntimeError(
            "make_initializable_iterator() is not supported in eager mode. Use Python-style iteration instead."
        )
    spec = dataset.element_spec
    return Iterator(_handle(IteratorSlot(spec), spec), spec, dataset)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Returns the dtypes of the elements, in their structure.

    Example:
        >>> dataset = tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0]})
        >>> tf.compat.v1.data.get_output_types(dataset)
        {'x': tf.float32}
    """
    return elements.map_specs(lambda s: getattr(s, "dtype", None), dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Returns the shapes of the elements, in their structure.

    Example:
        >>> dataset = tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0]})
        >>> tf.compat.v1.data.get_output_shapes(dataset)
        {'x': TensorShape([])}
    """
    return elements.map_specs(lambda s: getattr(s, "shape", None), dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """Returns the classes of the elements, in their structure.

    Example:
        >>> dataset = tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0]})
        >>> tf.compat.v1.data.get_output_classes(dataset)["x"] is tf.Tensor
        True
    """
    return elements.map_specs(lambda s: s.value_type, dataset_or_iterator.element_spec)


class Dataset(_WithOutputs, datasets.Dataset):
    """A `tf.data.Dataset` with the methods of TensorFlow 1. Its transformations return datasets of this class, too.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        ...     element = tf.compat.v1.data.Dataset.range(3).map(lambda x: x * x).make_one_shot_iterator().get_next()
        ...     print(session.run(element), session.run(element))
        0 1
    """

    def make_one_shot_iterator(self) -> Any:
        """Returns an iterator that goes over the dataset once; see `tf.compat.v1.data.make_one_shot_iterator`.

        Example:
            >>> int(tf.compat.v1.data.Dataset.range(3).make_one_shot_iterator().get_next())
            0
        """
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """Returns an iterator with an initializer; see `tf.compat.v1.data.make_initializable_iterator`.

        Args:
            shared_name: accepted, and without effect.

        Raises:
            RuntimeError: no graph is being built.

        Example:
            >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            ...     iterator = tf.compat.v1.data.Dataset.range(3).make_initializable_iterator()
            ...     element = iterator.get_next()
            ...     session.run(iterator.initializer)
            ...     print(session.run(element))
            0
        """
        return make_initializable_iterator(self, shared_name)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: SparseTensor) -> Dataset:
        """Returns a dataset of the rows of a sparse tensor: their indices, their values, and their dense shape.

        Args:
            sparse_tensor: a `tf.sparse.SparseTensor` of rank 1 or more.

        Raises:
            TypeError: the argument is no sparse tensor.

        Example:
            >>> matrix = tf.sparse.from_dense([[0, 5], [6, 0]])
            >>> rows = tf.compat.v1.data.Dataset.from_sparse_tensor_slices(matrix)
            >>> [values.numpy().tolist() for _, values, _ in rows]
            [[5], [6]]
        """
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"`sparse_tensor` must be a `tf.sparse.SparseTensor`. Got {type(sparse_tensor)}.")
        rows = datasets.Dataset.from_tensor_slices(sparse_tensor)
        return adapt(rows.map(lambda row: (row.indices, row.values, row.dense_shape)))

    def map_with_legacy_function(
        self,
        map_func: Callable[..., Element],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        use_unbounded_threadpool: bool = False,
    ) -> datasets.Dataset:
        """Returns `map(...)` with the first three arguments: there is one kind of functions here.

        Example:
            >>> [int(x) for x in tf.compat.v1.data.Dataset.range(2).map_with_legacy_function(lambda x: x + 1)]
            [1, 2]
        """
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> datasets.Dataset:
        """Returns `filter(predicate)`: there is one kind of functions here.

        Example:
            >>> [int(x) for x in tf.compat.v1.data.Dataset.range(2).filter_with_legacy_function(lambda x: x > 0)]
            [1]
        """
        return self.filter(predicate)


def adapt(value: Any) -> Any:
    """Returns a dataset with the methods of TensorFlow 1; everything else unchanged."""
    return Dataset(value._node) if isinstance(value, datasets.Dataset) and not isinstance(value, Dataset) else value


def _adapting(function: Any) -> Any:
    """Returns a function whose results are adapted."""

    @functools.wraps(function)
    def adapted(*args: Any, **kwargs: Any) -> Any:
        return adapt(function(*args, **kwargs))

    return adapted


for _name, _member in [(n, inspect.getattr_static(datasets.Dataset, n)) for n in dir(datasets.Dataset) if n[0] != "_"]:
    if isinstance(_member, staticmethod):
        setattr(Dataset, _name, staticmethod(_adapting(_member.__func__)))
    elif inspect.isfunction(_member):
        setattr(Dataset, _name, _adapting(_member))


class FixedLengthRecordDataset(Dataset, files.FixedLengthRecordDatasetV2):
    __doc__ = files.FixedLengthRecordDatasetV2.__doc__


class TextLineDataset(Dataset, files.TextLineDatasetV2):
    __doc__ = files.TextLineDatasetV2.__doc__


class TFRecordDataset(Dataset, files.TFRecordDatasetV2):
    __doc__ = files.TFRecordDatasetV2.__doc__


class CsvDataset(Dataset, files.CsvDatasetV2):
    __doc__ = files.CsvDatasetV2.__doc__


class RandomDataset(Dataset, files.RandomDatasetV2):
    __doc__ = files.RandomDatasetV2.__doc__


class SqlDataset(Dataset, files.SqlDatasetV2):
    __doc__ = files.SqlDatasetV2.__doc__


Counter, choose_from_datasets, make_batched_features_dataset, make_csv_dataset, sample_from_datasets = map(
    _adapting,
    (
        dataset_functions.Counter,
        dataset_functions.choose_from_datasets,
        dataset_functions.make_batched_features_dataset,
        dataset_functions.make_csv_dataset,
        dataset_functions.sample_from_datasets,
    ),
)
