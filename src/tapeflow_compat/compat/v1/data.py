"""`tf.compat.v1.data`: datasets whose iterators sessions initialize and take elements from."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import as_dtype, resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.boxed_objects import hold_object
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.data import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset, elements
from tapeflow.data.dataset import Dataset
from tapeflow.data.elements import element_attrs
from tapeflow.data.iterator_kernels import IteratorSlot
from tapeflow.data.iterators import GraphIterator, OwnedIterator
from tapeflow.graph.ir.python_op import python_op
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


class Iterator(GraphIterator):
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

    def __init__(self, slot: Any, element_spec: Any, dataset: Dataset | None = None) -> None:
        super().__init__(_handle(slot, element_spec), element_spec)
        self._initializer = None if dataset is None else self.make_initializer(dataset)

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
        types = elements.flatten(output_types)
        shapes = (
            [None] * len(types) if output_shapes is None else elements.flatten_up_to(output_types, output_shapes)
        )  # fmt: skip
        specs = [TensorSpec(TensorShape(s), as_dtype(t)) for s, t in zip(shapes, types, strict=True)]
        return Iterator(IteratorSlot(), elements.pack(output_types, specs))

    @property
    def initializer(self) -> Any:
        """The operation that begins to go over the dataset.

        Raises:
            ValueError: there is none, as the iterator was created without a dataset, or for one time only.
        """
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Dataset, name: str | None = None) -> Any:
        """Returns an operation that begins to go over a dataset.

        Raises:
            TypeError: its elements are of other dtypes or shapes.
        """
        elements.common_spec(self._spec, dataset.element_spec)
        pairs = zip(elements.flatten(self._spec), elements.flatten(dataset.element_spec), strict=True)
        if not all(mine.is_compatible_with(other) for mine, other in pairs):
            raise TypeError(f"Expected a dataset of elements of {self._spec}, but got one of {dataset.element_spec}.")

        return ops.MakeIterator(dataset._variant_tensor, self._handle)

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements."""
        return get_output_types(self)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements."""
        return get_output_shapes(self)

    @property
    def output_classes(self) -> Any:
        """The classes of the elements."""
        return get_output_classes(self)


def make_one_shot_iterator(dataset: Dataset) -> Any:
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
    slot = IteratorSlot()
    slot.iterator = OwnedIterator(value[()])
    return Iterator(slot, dataset.element_spec)


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
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
    return Iterator(IteratorSlot(), dataset.element_spec, dataset)


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
