"""Iterators over datasets."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator as AbstractIterator
from typing import Any

from tapeflow.core.composite import CompositeTensor
from tapeflow.core.context import state
from tapeflow.core.dtypes import resource
from tapeflow.core.held import held
from tapeflow.core.tensor import Tensor
from tapeflow.data.rewriting import rewritten
from tapeflow.data.spec import IteratorSpec
from tapeflow.data.structure import Packer, flatten
from tapeflow.errors import OutOfRangeError
from tapeflow.optional import Optional


class Iterator(AbstractIterator, CompositeTensor, ABC):
    """Gives the elements of a dataset, one at a time; what `iter(dataset)` gives.

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
        """The next element.

        Raises:
            OutOfRangeError: there is none.
        """

    @abstractmethod
    def get_next_as_optional(self) -> Optional:
        """The next element, or nothing at the end."""

    def __tf_autograph_for__(self, loop: Any) -> None:
        from tapeflow.data.staged import loop_over

        loop_over(self._in_graph(), loop)

    def _in_graph(self) -> Any:
        """This iterator as one of the graph that is being built."""
        return self


class OwnedIterator(Iterator):
    """An iterator over a dataset. Several threads may take elements from it.

    Args:
        dataset: the dataset.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._spec = dataset.element_spec
        self._elements = rewritten(dataset)._iterate()
        self._pack = Packer(self._spec)
        self._lock = threading.Lock()

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._spec)

    @property
    def _handle(self) -> Tensor:
        return held(self, resource)

    def _in_graph(self) -> Any:
        from tapeflow.data.staged import StagedIterator

        return StagedIterator(self._handle, self._spec)

    def __iter__(self) -> OwnedIterator:
        return self

    def __next__(self) -> Any:
        if state.graph is not None:
            return self._in_graph().get_next()
        with self._lock:
            element = next(self._elements)
        return self._pack(element)

    def get_next(self) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: there is none.
        """
        try:
            return self.__next__()
        except StopIteration:
            raise OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext] name: ") from None

    def get_next_as_optional(self) -> Optional:
        """The next element, or nothing at the end."""
        if state.graph is not None:
            return self._in_graph().get_next_as_optional()
        try:
            return Optional(self.__next__(), self._spec)
        except StopIteration:
            return Optional.empty(self._spec)


class NumpyIterator:
    """Gives the elements of a dataset as arrays that can't be written to.

    Args:
        dataset: the dataset.
    """

    __slots__ = ("_iterator", "_pack")

    def __init__(self, dataset: Any) -> None:
        self._iterator = OwnedIterator(dataset)
        self._pack = Packer(dataset.element_spec)

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator})"

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        with self._iterator._lock:
            element = next(self._iterator._elements)
        return self._pack.arrays(element)

    def next(self) -> Any:
        """The next element."""
        return self.__next__()


def check_arrays(spec: Any) -> None:
    """Refuses elements that are no arrays.

    Raises:
        TypeError: there are datasets or the like among the components.
    """
    from tapeflow.core.spec import NoneTensorSpec, TensorSpec
    from tapeflow.ragged.spec import RaggedTensorSpec
    from tapeflow.sparse.tensor import SparseTensorSpec

    for s in flatten(spec):
        if not isinstance(s, (TensorSpec, RaggedTensorSpec, SparseTensorSpec, NoneTensorSpec)):
            raise TypeError(
                "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type "
                f"{s.value_type}"
            )
