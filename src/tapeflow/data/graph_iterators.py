"""Iterators in graphs, and the ops of iterators."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops import raw_kernels
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.shape_rules import no_results, scalar
from tapeflow.core.values.boxed_objects import boxed
from tapeflow.core.values.tensor import Tensor
from tapeflow.data import structure
from tapeflow.data.dataset import Dataset
from tapeflow.data.iterators import Iterator, OwnedIterator
from tapeflow.data.node import OpFunction, op_kernel
from tapeflow.data.parts import register
from tapeflow.data.spec import DatasetSpec, IteratorSpec
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.graph.ir.session_resources import held_here
from tapeflow.optional import GraphOptional, Optional

_MOST_ELEMENTS = 256  # that a trace takes from an iterator one by one


def element_attrs(spec: Any) -> tuple[list[Any], list[Any]]:
    """Returns the attrs `output_types` and `output_shapes` of ops whose elements have a spec."""
    specs = structure.encoded_specs(spec)
    return [s.dtype for s in specs], [s.shape for s in specs]


class GraphIterator(Iterator):
    """An iterator in a graph.

    Args:
        handle: the tensor that stands for it.
        element_spec: the spec of its elements.
    """

    def __init__(self, handle: Tensor, element_spec: Any) -> None:
        self._handle = handle
        self._spec = element_spec
        self._type_spec = IteratorSpec(element_spec)

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._spec

    def __iter__(self) -> GraphIterator:
        return self

    def __next__(self) -> Any:
        return self.get_next()

    def get_next(self) -> Any:
        """Returns the next element. When the graph runs at the end of the dataset, an OutOfRangeError is raised.

        Returns:
            A structure of symbolic tensors.

        Raises:
            ValueError: Python iterates over the dataset while the function is traced, which would never end.
        """
        graph: Any = state.graph
        if graph.building_function and len(graph.capture(self._handle).consumers()) >= _MOST_ELEMENTS:
            raise ValueError(
                "An unusually high number of `tf.data.Iterator.get_next()` calls was detected. This suggests that "
                "Python's own iteration, as in `list(dataset)`, is used within tf.function, where it never ends: use "
                "`for element in dataset: ...` with AutoGraph, or the dataset's own methods."
            )
        outputs = ops.IteratorGetNext(self._handle, *element_attrs(self._spec))
        return structure.pack(self._spec, structure.decoded_values(outputs, structure.flatten(self._spec)))

    def get_next_as_optional(self) -> Optional:
        """Returns the next element, or nothing at the end.

        Returns:
            A `GraphOptional`.
        """
        return GraphOptional(ops.IteratorGetNextAsOptional(self._handle, *element_attrs(self._spec)), self._spec)


def iterator_of(dataset: Dataset) -> GraphIterator:
    """Returns a new iterator, created whenever the graph runs."""
    handle = ops.AnonymousIteratorV3(*element_attrs(dataset.element_spec))
    ops.MakeIterator(dataset._variant_tensor, handle)
    return GraphIterator(handle, dataset.element_spec)


# ---- kernels ---------------------------------------------------------------------------------------------------------


class IteratorSlot:
    """The place of an iterator, which is empty until `MakeIterator` fills it."""

    def __init__(self, dataset: Dataset | None = None) -> None:
        self._iterator = None if dataset is None else OwnedIterator(dataset)

    @property
    def iterator(self) -> OwnedIterator:
        """The iterator.

        Raises:
            FailedPreconditionError: there is none yet.
        """
        if self._iterator is None:
            raise errors.FailedPreconditionError.of(
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
                "initializer operation for this iterator before getting the next element."
            )
        return self._iterator

    @iterator.setter
    def iterator(self, iterator: OwnedIterator) -> None:
        self._iterator = iterator


# Iterators and their slots by their string handles, as long as something else holds them.
_by_string: weakref.WeakValueDictionary[str, IteratorSlot | OwnedIterator] = weakref.WeakValueDictionary()


@op_kernel("AnonymousIterator", "AnonymousIteratorV3")
def _anonymous() -> Any:
    return boxed(IteratorSlot())


@op_kernel("Iterator", "IteratorV2")
def _shared(shared_name: str, container: str) -> Any:
    return boxed(held_here(("Iterator", container, shared_name), IteratorSlot) if shared_name else IteratorSlot())


@op_kernel("AnonymousIteratorV2", shape=lambda *_: [[], []])
def _anonymous_v2() -> Any:
    return boxed(IteratorSlot()), boxed(None)


@op_kernel("MakeIterator", shape=no_results)
def _make(dataset: Any, iterator: Any) -> None:
    iterator.iterator = OwnedIterator(dataset)


@op_kernel("OneShotIterator")
def _one_shot(dataset_factory: OpFunction, spec: Any) -> Any:
    (dataset,) = dataset_factory.typed((), DatasetSpec(spec))(())
    return boxed(OwnedIterator(dataset))


@op_kernel("DeleteIterator", "DeleteMemoryCache", "DeleteRandomSeedGenerator", "DeleteSeedGenerator", shape=no_results)
def _delete() -> None:
    pass


def _declared(_iterator: Any, _types: Any, shapes: Sequence[Any]) -> list[Any]:
    return list(shapes)


def _next(handle: Any, *_: Any) -> Any:
    with executing_eagerly():
        try:
            return handle[()].iterator.take_encoded()
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext] name: ") from None


for _name in ("IteratorGetNext", "IteratorGetNextSync"):
    raw_kernels.define(_name, _next, _declared)


@raw_kernels.kernel_of("IteratorGetNextAsOptional", shape=scalar)
def _next_as_optional(handle: Any, *_: Any) -> Any:
    with executing_eagerly():
        try:
            return boxed(handle[()].iterator.take_encoded())
        except StopIteration:
            return boxed(())


@op_kernel("IteratorToStringHandle")
def _to_string(resource_handle: Any) -> Any:
    name = f"iterator_{id(resource_handle)}"
    _by_string[name] = resource_handle
    return boxed(name.encode())


@op_kernel("IteratorFromStringHandle", "IteratorFromStringHandleV2")
def _from_string(string_handle: bytes) -> Any:
    iterator = _by_string.get(string_handle.decode())
    if iterator is None:
        raise errors.NotFoundError.of(f"No iterator has the handle {string_handle!r}")
    return boxed(iterator)


@op_kernel("IteratorGetDevice")
def _device() -> Any:
    return boxed(b"/job:localhost/replica:0/task:0/device:CPU:0")


@op_kernel("SerializeIterator")
def _serialize(resource_handle: Any) -> Any:
    return boxed(resource_handle.iterator.position().encode())


@op_kernel("DeserializeIterator", shape=no_results)
def _deserialize(resource_handle: Any, serialized: Any) -> None:
    resource_handle.iterator.go_to(serialized[()].decode())


register(GraphIterator, iterator_of)
