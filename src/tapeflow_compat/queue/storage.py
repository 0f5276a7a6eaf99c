"""The storage of queues, and the threads that wait for it."""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from tapeflow.core import errors
from tapeflow.core.fork_locks import new_condition
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import invalid
from tapeflow_compat.queue.waits import wait_until

Element = tuple[Any, ...]  # one raw value for each component


class QueueStorage:
    """A bounded buffer of elements, first in, first out.

    Threads that add wait in one line and threads that dequeue in another, so none overtakes.

    Args:
        name: for messages.
        capacity: the greatest number of elements; negative for any number.
        dtypes: of the components of an element.
        shapes: of the components; of unknown rank where they are not specified.
    """

    kind = "FIFOQueue"

    def __init__(self, name: str, capacity: int, dtypes: Sequence[DType], shapes: Sequence[TensorShape]) -> None:
        self.name, self.capacity = name, capacity
        self.dtypes, self.shapes = list(dtypes), list(shapes)
        self._items: Any = deque()
        self._changed = new_condition()
        self._adding: deque[object] = deque()
        self._dequeuing: deque[object] = deque()
        self._dropped: set[object] = set()  # turns in the line of those that add, which `close` cancelled
        self._closed = self._cancelled = False

    # ---- the order of elements ---------------------------------------------------------------------------------------

    def _add(self, element: Element) -> None:
        self._items.append(element)

    def _take(self) -> Element:
        return self._items.popleft()

    def _put_back(self, elements: Sequence[Element]) -> None:
        self._items.extendleft(reversed(elements))

    def _available(self) -> int:
        """Returns the number of elements that can be dequeued now."""
        return len(self._items)

    # ---- lines -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _turn(self, line: deque[object]) -> Iterator[object]:
        """Waits in a line; the context begins when this thread is the first."""
        turn = object()
        line.append(turn)
        try:
            self._wait(lambda: line[0] is turn or turn in self._dropped)
            yield turn
        finally:
            line.remove(turn)
            self._dropped.discard(turn)
            self._changed.notify_all()

    def _wait(self, ready: Callable[[], bool]) -> None:
        """Waits until a condition holds.

        Raises:
            CancelledError: the queue was cancelled.
        """
        wait_until(self._changed, lambda: self._cancelled or ready())
        if self._cancelled:
            raise errors.CancelledError.of(f"{self._described()}: the operation was cancelled")

    def _described(self) -> str:
        return f"{self.kind} '{self.name}'"

    # ---- adding ------------------------------------------------------------------------------------------------------

    def enqueue(self, elements: Sequence[Element]) -> None:
        """Adds elements, each as soon as there is room.

        Raises:
            CancelledError: the queue is closed, or was closed with all pending operations.
            InvalidArgumentError: an element is of another shape.
        """
        for element in elements:
            self._check(element)
        with self._changed, self._turn(self._adding) as turn:
            self._refuse_if_dropped(turn)
            if self._closed:
                raise errors.CancelledError.of(f"{self._described()} is closed.")
            for element in elements:
                self._wait(lambda: turn in self._dropped or not 0 <= self.capacity <= len(self._items))
                self._refuse_if_dropped(turn)
                self._add(element)
                self._changed.notify_all()

    def _refuse_if_dropped(self, turn: object) -> None:
        if turn in self._dropped:
            raise errors.CancelledError.of("Enqueue operation was cancelled")

    def _check(self, element: Element) -> None:
        for i, (value, shape) in enumerate(zip(element, self.shapes, strict=True)):
            if not shape.is_compatible_with(tuple(value.shape)):
                raise invalid(
                    f"Shape mismatch in tuple component {i}. Expected {_text(shape)}, got {_text(tuple(value.shape))}"
                )

    # ---- taking ------------------------------------------------------------------------------------------------------

    def dequeue(self, count: int, at_least: int) -> list[Element]:
        """Waits for elements, removes them, and returns them.

        Args:
            count: the number of elements.
            at_least: the number that is enough if the queue is closed and has no more.

        Raises:
            OutOfRangeError: the queue is closed, and has fewer.
        """
        elements: list[Element] = []
        with self._changed, self._turn(self._dequeuing):
            try:
                while len(elements) < count:
                    self._wait(lambda: self._closed or self._available() > 0)
                    if not self._available() and len(elements) >= at_least:
                        break
                    if not self._available():
                        raise errors.OutOfRangeError.of(
                            f"{self._described()} is closed and has insufficient elements (requested {count}, current "
                            f"size {len(elements)})"
                        )
                    elements.append(self._take())
                    self._changed.notify_all()
            except BaseException:
                self._put_back(elements)
                raise
        return elements

    def stacked(self, elements: Sequence[Element]) -> Element:
        """Stacks elements along a new first dimension.

        Raises:
            InvalidArgumentError: the shapes of the components are not specified.
        """
        self.check_batches()
        return tuple(
            _stack([element[i] for element in elements], dtype, shape)
            for i, (dtype, shape) in enumerate(zip(self.dtypes, self.shapes, strict=True))
        )

    def check_batches(self) -> None:
        """Refuses to dequeue several elements at once where their shapes may differ.

        Raises:
            InvalidArgumentError: the shapes of the components are not specified.
        """
        if not all(shape.is_fully_defined() for shape in self.shapes):
            raise invalid(f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes.")

    # ---- closing -----------------------------------------------------------------------------------------------------

    def close(self, cancel_pending_enqueues: bool) -> None:
        """Closes the queue: nothing more can be added.

        Args:
            cancel_pending_enqueues: cancels the operations that wait to add; otherwise they finish first.

        Raises:
            CancelledError: the queue is closed already.
        """
        with self._changed:
            if not cancel_pending_enqueues:
                with self._turn(self._adding) as turn:
                    self._refuse_if_dropped(turn)
                    self._close()
            else:
                self._close()
                self._dropped.update(self._adding)
                self._changed.notify_all()

    def _close(self) -> None:
        if self._closed:
            raise errors.CancelledError.of(f"Queue '{self.name}' is already closed.")
        self._closed = True

    def cancel(self) -> None:
        """Cancels all waiting operations, now and later."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """True if nothing more can be added."""
        return self._closed

    def __len__(self) -> int:
        return len(self._items)


class ShuffledStorage(QueueStorage):
    """Elements that are dequeued in random order.

    Args:
        at_least: the number of elements that stay to choose from until the queue is closed.
        seed: of the random numbers; None for others each time.
        name, capacity, dtypes, shapes: see `QueueStorage`.

    Raises:
        InvalidArgumentError: `at_least` is negative, or leaves no room.
    """

    kind = "RandomShuffleQueue"

    def __init__(
        self, name: str, capacity: int, dtypes: Sequence[DType], shapes: Sequence[TensorShape], at_least: int, seed: Any
    ) -> None:
        super().__init__(name, capacity, dtypes, shapes)
        if at_least < 0:
            raise invalid(f"min_after_dequeue {at_least} must be >= 0")
        if 0 <= capacity <= at_least:
            raise invalid(f"min_after_dequeue {at_least} must be < capacity {capacity}")
        self._at_least = at_least
        self._items: list[Element] = []
        self._random = random.Random(seed)

    def _take(self) -> Element:
        at = self._random.randrange(len(self._items))
        self._items[at], self._items[-1] = self._items[-1], self._items[at]
        return self._items.pop()

    def _put_back(self, elements: Sequence[Element]) -> None:
        self._items.extend(elements)

    def _available(self) -> int:
        return len(self._items) - (0 if self._closed else self._at_least)


class SortedStorage(QueueStorage):
    """Elements that are dequeued in the order of their first component; equal ones in the order of arrival."""

    kind = "PriorityQueue"

    def __init__(self, name: str, capacity: int, dtypes: Sequence[DType], shapes: Sequence[TensorShape]) -> None:
        super().__init__(name, capacity, dtypes, shapes)
        self._items: list[tuple[int, int, Element]] = []
        self._number = itertools.count()

    def _add(self, element: Element) -> None:
        heapq.heappush(self._items, (int(element[0]), next(self._number), element))

    def _take(self) -> Element:
        return heapq.heappop(self._items)[-1]

    def _put_back(self, elements: Sequence[Element]) -> None:
        for element in elements:
            self._add(element)


class PaddedStorage(QueueStorage):
    """Elements whose components may differ in some dimensions, and are padded with zeros to be stacked."""

    kind = "PaddingFIFOQueue"

    def check_batches(self) -> None:
        """Accepts all shapes: they may differ."""

    def stacked(self, elements: Sequence[Element]) -> Element:
        """Stacks elements, each component padded at its ends to the largest one."""
        return tuple(
            _stack(_padded([element[i] for element in elements]), dtype, shape)
            for i, (dtype, shape) in enumerate(zip(self.dtypes, self.shapes, strict=True))
        )


def _padded(values: Sequence[Any]) -> list[Any]:
    """Pads raw values at their ends, with zeros or empty strings, to the largest one."""
    if not values:
        return []
    largest = [max(lengths) for lengths in zip(*[v.shape for v in values], strict=True)]
    padded = []
    for value in values:
        if list(value.shape) == largest:
            padded.append(value)
            continue
        wide: Any
        if isinstance(value, StringArray):
            padded.append(value.padded(largest))
            continue
        if isinstance(value, torch.Tensor):
            wide = torch.zeros(largest, dtype=value.dtype, device=value.device)
        else:
            wide = np.zeros(largest, value.dtype)
        wide[tuple(slice(0, n) for n in value.shape)] = value
        padded.append(wide)
    return padded


def _stack(values: Sequence[Any], dtype: DType, shape: TensorShape) -> Any:
    """Stacks raw values of one shape."""
    if not values:
        dims = [0, *(0 if d is None else d for d in shape)]
        if dtype is string:
            return StringArray.of([], dims)
        return np.empty(dims, object) if dtype.torch is None else torch.zeros(dims, dtype=dtype.torch)
    if isinstance(values[0], StringArray):
        return StringArray.stack(values)
    if isinstance(values[0], torch.Tensor):
        return torch.stack(list(values))
    stacked = np.empty([len(values), *values[0].shape], values[0].dtype)
    for i, value in enumerate(values):
        stacked[i] = value if value.ndim else value[()]
    return stacked


def rows_of(components: Sequence[Any]) -> list[Element]:
    """Returns the elements of raw values that are stacked.

    Raises:
        InvalidArgumentError: the components differ in their first dimension, or one has no dimension.
    """
    for i, value in enumerate(components):
        if not value.ndim:
            raise invalid(f"EnqueueMany: tuple component {i} must have at least one dimension, and has none")
        if value.shape[0] != components[0].shape[0]:
            raise invalid(
                f"All input tensors must have the same size in the 0th dimension. Component {i} has "
                f"{value.shape[0]}, and should have {components[0].shape[0]}"
            )
    count = components[0].shape[0] if components else 0
    return [tuple(_row(value, i) for value in components) for i in range(count)]


def _row(value: Any, at: int) -> Any:
    return value[at] if isinstance(value, torch.Tensor) else value[at : at + 1].reshape(value.shape[1:])


def _text(shape: Any) -> str:
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"
