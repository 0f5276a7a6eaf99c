"""The kernels of ops of iterators."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from tapeflow.core import errors
from tapeflow.core.ops import raw_kernels
from tapeflow.core.ops.shape_rules import no_results, scalar
from tapeflow.core.session_resources import held_here
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data.functions import OpFunction
from tapeflow.data.iterators import OwnedIterator
from tapeflow.data.node import Node, check_declared, op_kernel
from tapeflow.data.spec import DatasetSpec
from tapeflow.graph.ir.python_op import executing_eagerly


class IteratorSlot:
    """The place of an iterator, which is empty until `MakeIterator` fills it.

    Args:
        spec: the declared spec of its elements; None if it is not known.
    """

    def __init__(self, spec: Any = None) -> None:
        self._iterator: OwnedIterator | None = None
        self.spec = spec

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
def _anonymous_iterator(spec: Any) -> Any:
    return box_object(IteratorSlot(spec))


@op_kernel("Iterator", "IteratorV2")
def _shared_iterator(spec: Any, shared_name: str, container: str) -> Any:
    key = "Iterator", container, shared_name
    return box_object(held_here(key, lambda: IteratorSlot(spec)) if shared_name else IteratorSlot(spec))


@op_kernel("AnonymousIteratorV2", shape=lambda *_: [[], []])
def _anonymous_v2() -> Any:
    return box_object(IteratorSlot()), box_object(None)


@op_kernel("MakeIterator", shape=no_results)
def _make_iterator(dataset: Node, iterator: IteratorSlot) -> None:
    if iterator.spec is not None:
        check_declared(dataset.spec, iterator.spec, "MakeIterator")
    iterator.iterator = OwnedIterator(dataset)


@op_kernel("OneShotIterator")
def _one_shot(dataset_factory: OpFunction) -> Any:
    (dataset,) = dataset_factory.typed((), lambda f: DatasetSpec(f.declared))(())
    return box_object(OwnedIterator(dataset._node))


@op_kernel(
    "DeleteIterator", "DeleteMemoryCache", "DeleteRandomSeedGenerator", "DeleteSeedGenerator",
    "StatsAggregatorSetSummaryWriter", shape=no_results,
)  # fmt: skip
def _nothing_to_do() -> None:
    pass


def _declared_shapes(_iterator: object, _types: object, shapes: Sequence[Any]) -> list[Any]:
    return list(shapes)


def _next_element(handle: Tensor, *_: Any) -> Any:
    with executing_eagerly():
        try:
            return handle[()].iterator.take_encoded()
        except StopIteration:
            raise errors.OutOfRangeError.of("End of sequence [Op:IteratorGetNext] name: ") from None


for _name in ("IteratorGetNext", "IteratorGetNextSync"):
    raw_kernels.define(_name, _next_element, _declared_shapes)


@raw_kernels.kernel_of("IteratorGetNextAsOptional", shape=scalar)
def _next_as_optional(handle: Tensor, *_: Any) -> Any:
    with executing_eagerly():
        try:
            return box_object(handle[()].iterator.take_encoded(checks=False))
        except StopIteration:
            return box_object(())


@op_kernel("IteratorToStringHandle")
def _to_string(resource_handle: IteratorSlot) -> Any:
    name = f"iterator_{id(resource_handle)}"
    _by_string[name] = resource_handle
    return StringArray.scalar(name.encode())


@op_kernel("IteratorFromStringHandle", "IteratorFromStringHandleV2")
def _from_string(string_handle: bytes, spec: Any) -> Any:
    iterator = _by_string.get(string_handle.decode(errors="replace"))
    if iterator is None:
        raise invalid(f"Could not parse string_handle: no iterator has the handle {string_handle!r}")
    own = iterator.element_spec if isinstance(iterator, OwnedIterator) else iterator.spec
    if spec and own is not None:
        check_declared(own, spec, "IteratorFromStringHandleV2")
    return box_object(iterator)


@op_kernel("IteratorGetDevice")
def _iterator_device() -> Any:
    return StringArray.scalar(b"/job:localhost/replica:0/task:0/device:CPU:0")


@op_kernel("SerializeIterator")
def _serialize_iterator(resource_handle: IteratorSlot) -> Any:
    return StringArray.scalar(resource_handle.iterator.position().encode())


@op_kernel("DeserializeIterator", shape=no_results)
def _deserialize_iterator(resource_handle: IteratorSlot, serialized: bytes) -> None:
    resource_handle.iterator.go_to(serialized.decode())
