"""Iterators over datasets."""

from __future__ import annotations

import base64
import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator as AbstractIterator
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from tapeflow.control.optional import GraphOptional, Optional
from tapeflow.core.context import state
from tapeflow.core.errors import OpError, OutOfRangeError
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import resource, string
from tapeflow.core.types.spec import NoneTensorSpec, TensorSpec, TypeSpec
from tapeflow.core.values.boxed_objects import hold_object
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.core.values.trackable import Trackable
from tapeflow.data.elements import (
    CheckingPacker,
    Element,
    Packer,
    check_shapes,
    element_attrs,
    encode_values,
    flatten,
    pack_element,
)
from tapeflow.data.function_errors import with_transformation
from tapeflow.data.node import Node
from tapeflow.data.seeds import SeedLog
from tapeflow.data.tensorflow_positions import position_in
from tapeflow.data.threads import AUTOTUNE, IteratorState, ahead, running, working_for
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.sparse.tensor import SparseTensorSpec

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

_MOST_ELEMENTS = 256  # that a trace takes from an iterator one by one


class Iterator(AbstractIterator, CompositeTensor, ABC):
    """An iterator over a dataset: what `iter(dataset)` returns.

    Example:
        >>> iterator = iter(tf.data.Dataset.range(2))
        >>> iterator.get_next().numpy().item(), next(iterator).numpy().item()
        (0, 1)
        >>> iterator.get_next_as_optional().has_value().numpy().item()
        False
    """

    @property
    @abstractmethod
    def element_spec(self) -> Any:
        """The spec of the elements."""

    @abstractmethod
    def get_next(self) -> Any:
        """Returns the next element.

        Returns:
            The element, in its structure.

        Raises:
            OutOfRangeError: there is none.
        """

    @abstractmethod
    def get_next_as_optional(self) -> Optional:
        """Returns the next element, or nothing at the end.

        Returns:
            A `tf.experimental.Optional`.
        """

    def __tf_autograph_for__(self, loop: Any) -> None:
        loop_over(self._in_graph(), loop)

    def _in_graph(self) -> Any:
        """Returns an iterator of the graph that is being built, for this one."""
        return self


def loop_over(iterator: Any, loop: Any, relaxed: bool = False) -> None:
    """Writes `for x in iterator` in the graph that is being built.

    Args:
        iterator: the iterator.
        loop: the loop.
        relaxed: whether the loop's variables may change their shapes.
    """
    loop.over(
        (iterator.get_next_as_optional(),),
        more=lambda optional: optional.has_value(),
        take=lambda optional: (optional.get_value(), lambda: (iterator.get_next_as_optional(),)),
        relaxed=relaxed,
    )


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

    def get_next(self, name: str | None = None) -> Any:
        """Returns the next element. When the graph runs at the end of the dataset, an OutOfRangeError is raised.

        Args:
            name: of the operation.

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
        return pack_element(self._spec, ops.IteratorGetNext(self._handle, *element_attrs(self._spec), name=name))

    def get_next_as_optional(self) -> Optional:
        """Returns the next element, or nothing at the end.

        Returns:
            A `GraphOptional`.
        """
        return GraphOptional(ops.IteratorGetNextAsOptional(self._handle, *element_attrs(self._spec)), self._spec)


def iterator_of(node: Node) -> GraphIterator:
    """Returns a new iterator, created whenever the graph runs."""
    handle = ops.AnonymousIteratorV3(*element_attrs(node.spec))
    ops.MakeIterator(node.variant, handle)
    return GraphIterator(handle, node.spec)


class _Plan:
    """The state that all iterators over a dataset share.

    Args:
        node: its last node.

    Attributes:
        running: the node that runs in its place.
        spec: the spec of the elements.
        type_spec: the spec of the iterators.
        declares_shapes: True if shapes of elements are declared, but not checked.
        pack: the function from an element to a user's structure.
        is_plain: True if operations see unencoded elements.
        is_ahead: True if a thread computes elements ahead of the consumer.
        draws: True if its iterators draw seeds, which they log, or random numbers.
    """

    __slots__ = ("declares_shapes", "draws", "is_ahead", "is_plain", "pack", "running", "spec", "type_spec")

    def __init__(self, node: Node) -> None:
        self.running, self.is_ahead, self.draws = node.outermost(), node.computes_ahead(), node.draws()
        self.spec = node.spec
        self.declares_shapes = node.declares_shapes()
        self.type_spec = IteratorSpec(self.spec)
        self.pack = CheckingPacker(self.spec) if self.declares_shapes else Packer(self.spec)
        self.is_plain = all(type(s) is TensorSpec for s in flatten(self.spec))


class OwnedIterator(Iterator, Trackable):
    """An iterator over a dataset. Several threads may take elements from it.

    It owns the streams of random ops in the pipeline's functions, and in the functions of datasets that these create. A
    checkpoint saves its position, and the seeds that its shuffles began with; it is restored by going there again.

    Args:
        node: the last node of the dataset.
    """

    def __init__(self, node: Node) -> None:
        fields = node.__dict__
        plan: _Plan | None = fields.get("_plan")
        if plan is None:
            plan = fields["_plan"] = _Plan(node)
        self._node, self._plan, self._pack, self._spec = node, plan, plan.pack, plan.spec
        self._lock = new_lock()
        self._log: SeedLog | None
        if plan.draws or plan.is_ahead:
            self._begin(SeedLog())
        else:
            self._log, self._count, self._elements = None, 0, plan.running.iterate()

    def _begin(self, log: SeedLog) -> None:
        self._log, self._count = log, 0
        self._state = IteratorState(log)
        with working_for(self._state):
            elements = self._plan.running.iterate()
            self._elements = ahead(elements, AUTOTUNE) if self._plan.is_ahead else elements

    def take(self) -> Element:
        """Returns the next element as it goes through pipelines. After an error the next call goes on."""
        with self._lock:
            self._count += 1
            try:
                return next(self._elements) if self._log is None else self._logged()
            except StopIteration:
                self._count -= 1
                raise
            except OpError as error:
                raise with_transformation(error, self._node).with_traceback(error.__traceback__) from error.__cause__

    def _logged(self) -> Element:
        """Returns the next element, while shuffles that begin log their seeds."""
        before, running.state = running.state, self._state
        try:
            return next(self._elements)
        finally:
            running.state = before

    def take_encoded(self, checks: bool = True) -> Element:
        """Returns the next element as operations see it.

        Args:
            checks: whether declared shapes are checked.

        Raises:
            InvalidArgumentError: a tensor has another shape than declared.
        """
        element = self.take()
        if checks and self._plan.declares_shapes:
            check_shapes(element, self._spec)
        return element if self._plan.is_plain else tuple([t.value for t in encode_values(element, flatten(self._spec))])

    @property
    def iterator(self) -> OwnedIterator:
        """This iterator, as a resource holds it."""
        return self

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    def position(self) -> str:
        """Returns the number of elements so far, and the seeds of the shuffles, as JSON."""
        with self._lock:
            return json.dumps({"taken": self._count, "seeds": [] if self._log is None else self._log.state()})

    def go_to(self, position: str) -> None:
        """Goes to the position of another iterator over such a dataset.

        Raises:
            InvalidArgumentError: that was no iterator's state.
            OutOfRangeError: the dataset is shorter.
        """
        try:
            state = json.loads(position)
            log, count = SeedLog(state["seeds"]), int(state["taken"])
        except (KeyError, TypeError, ValueError) as error:
            raise invalid(f"This is no state of an iterator: {position[:100]!r}. [Op:DeserializeIterator]") from error
        with self._lock:
            self._begin(log)
        for i in range(count):
            try:
                with suppress(OpError):  # the other iterator has had it too
                    self.take()
            except StopIteration:
                raise OutOfRangeError.of(
                    f"The dataset ended after {i} elements; the iterator that was saved had taken {count}."
                ) from None

    _saveable_name = "ITERATOR"

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"ITERATOR_STATE": convert(self.position(), string)}

    def _restore_from_variants(self, states: list[bytes]) -> None:
        """Goes to the position of an iterator of TensorFlow.

        Raises:
            InvalidArgumentError: the dataset is another one.
            UnimplementedError: TensorFlow's states don't tell the position.
        """
        yielded, seeds, following = position_in(self._node, states)
        self.go_to(json.dumps({"taken": yielded, "seeds": seeds}))
        ahead = self._next(len(following))
        if len(ahead) < len(following) or not all(map(_are_equal, ahead, following)):
            raise invalid(
                "The dataset differs from the one of the iterator that TensorFlow saved: the next elements are others. "
                "[Op:DeserializeIterator]"
            )

    def _next(self, count: int) -> list[Element]:
        """Returns the next elements, which stay the next ones."""
        with self._lock:
            with working_for(self._state):
                ahead = list(itertools.islice(self._elements, count))
            self._elements = itertools.chain(ahead, self._elements)
        return ahead

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.go_to(restored_tensors["ITERATOR_STATE"].numpy().decode())

    # ---- elements ----------------------------------------------------------------------------------------------------

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return self._plan.type_spec

    @property
    def _handle(self) -> Tensor:
        return hold_object(self, resource)

    def _in_graph(self) -> Any:
        return GraphIterator(self._handle, self._spec)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        raise invalid("An iterator can't be pickled. A tf.train.Checkpoint saves its position.")

    def __iter__(self) -> OwnedIterator:
        return self

    def __next__(self) -> Any:
        return self._pack(self.take()) if state.graph is None else self._in_graph().get_next()

    def get_next(self) -> Any:
        """Returns the next element.

        Returns:
            The element, in its structure.

        Raises:
            OutOfRangeError: there is none.
        """
        try:
            return self.__next__()
        except StopIteration:
            raise OutOfRangeError.of("End of sequence [Op:IteratorGetNext] name: ") from None

    def get_next_as_optional(self) -> Optional:
        """Returns the next element, or nothing at the end.

        Returns:
            A `tf.experimental.Optional`.
        """
        if state.graph is not None:
            return self._in_graph().get_next_as_optional()
        try:
            return Optional(self.__next__(), self._spec)
        except StopIteration:
            return Optional.empty(self._spec)


def _are_equal(element: Element, expected: list[Any]) -> bool:
    """Returns True if the tensors of an element are some arrays."""
    return len(element) == len(expected) and all(map(np.array_equal, element, expected))


class NumpyIterator:
    """An iterator over a dataset whose elements are arrays that can't be written to.

    Args:
        dataset: the dataset.

    Example:
        >>> isinstance(tf.data.Dataset.range(2).as_numpy_iterator(), tf.data.NumpyIterator)
        True
    """

    __slots__ = ("_iterator", "_pack")

    def __init__(self, dataset: Dataset) -> None:
        self._iterator = OwnedIterator(dataset._node)
        self._pack = self._iterator._pack

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator})"

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return self._pack.arrays(self._iterator.take())

    def save(self) -> bytes:
        """Returns the iterator's position.

        Returns:
            Bytes that `restore` takes.
        """
        return base64.urlsafe_b64encode(self._iterator.position().encode())

    def restore(self, state: bytes) -> None:
        """Goes to the position of another iterator over such a dataset.

        Args:
            state: the bytes that its `save` returned.

        Raises:
            InvalidArgumentError: these are no iterator's state.
        """
        try:
            position = base64.urlsafe_b64decode(state).decode()
        except ValueError as error:
            raise invalid("Invalid character found in base64. [Op:DecodeBase64]") from error
        self._iterator.go_to(position)

    def next(self) -> Any:
        """Returns the next element.

        Returns:
            The element, in arrays.
        """
        return self.__next__()


def check_arrays(spec: Any) -> None:
    """Refuses elements that are no arrays.

    Raises:
        TypeError: there are datasets or the like among the components.
    """
    for s in flatten(spec):
        if not isinstance(s, (TensorSpec, RaggedTensorSpec, SparseTensorSpec, NoneTensorSpec)):
            raise TypeError(
                "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type "
                f"{s.value_type}"
            )


class IteratorSpec(TypeSpec):
    """The spec of a `tf.data.Iterator`.

    Args:
        element_spec: the spec of its elements.

    Example:
        >>> tf.data.IteratorSpec(tf.TensorSpec([], tf.int32))
        IteratorSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)
    """

    __slots__ = ("_element_spec", "_hash")

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec
        self._hash: int | None = None  # computed once: a step of training looks its trace up by it

    @staticmethod
    def from_value(value: OwnedIterator) -> IteratorSpec:
        """Returns the spec of an iterator.

        Args:
            value: the iterator.

        Returns:
            Its spec.
        """
        return IteratorSpec(value.element_spec)

    @property
    def value_type(self) -> type:
        """The class of iterators."""
        return OwnedIterator

    @property
    def _component_specs(self) -> Any:
        return (TensorSpec([], resource),)

    def _to_components(self, value: OwnedIterator) -> Any:
        return (value._handle,)

    def _from_components(self, components: Sequence[Any]) -> Any:
        if isinstance(components[0], SymbolicTensor):
            return GraphIterator(components[0], self._element_spec)
        return components[0].value[()].iterator

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def __eq__(self, other: object) -> bool:
        same = type(other) is IteratorSpec and self._element_spec is other._element_spec
        return same or super().__eq__(other)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = super().__hash__()
        return self._hash
