"""What queues hold, and who waits for it."""

from __future__ import annotations

import heapq
import itertools
import random
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from tapeflow.core import errors
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid
from tapeflow.queue.waiting import wait_until

Element = tuple[Any, ...]  # one raw value for each component


class Storage:
    """A bounded buffer of elements, first in, first out.

    Those that add stand in one line and those that take in another, so that nobody overtakes.

    Args:
        name: for messages.
        capacity: how many elements there is room for; negative for any number.
        dtypes: of the components of an element.
        shapes: theirs; of unknown rank where nothing is known.
    """

    kind = "FIFOQueue"

    def __init__(self, name: str, capacity: int, dtypes: Sequence[DType], shapes: Sequence[TensorShape]) -> None:
        self.name, self.capacity = name, capacity
        self.dtypes, self.shapes = list(dtypes), list(shapes)
        self._items: Any = deque()
        self._changed = threading.Condition()
        self._adding: deque[object] = deque()
        self._taking: deque[object] = deque()
        self._dropped: set[object] = set()  # places in the line of those that add, which `close` cancelled
        self._closed = self._cancelled = False

    # ---- how elements are kept ---------------------------------------------------------------------------------------

    def _add(self, element: Element) -> None:
        self._items.append(element)

    def _take(self) -> Element:
        return self._items.popleft()

    def _put_back(self, elements: Sequence[Element]) -> None:
        self._items.extendleft(reversed(elements))

    def _available(self) -> int:
        """How many elements may be taken now."""
        return len(self._items)

    # ---- lines -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _turn(self, line: deque[object]) -> Iterator[object]:
        """A place in a line, from the moment when it is the first."""
        place = object()
        line.append(place)
        try:
            self._wait(lambda: line[0] is place or place in self._dropped)
            yield place
        finally:
            line.remove(place)
            self._dropped.discard(place)
            self._changed.notify_all()

    def _wait(self, ready: Callable[[], bool]) -> None:
        """Waits until something holds, or it is no use any more."""
        wait_until(self._changed, lambda: self._cancelled or ready())
        if self._cancelled:
            raise errors.CancelledError(None, None, f"{self._described()}: the operation was cancelled")

    def _described(self) -> str:
        return f"{self.kind} '{self.name}'"

    # ---- adding ------------------------------------------------------------------------------------------------------

    def enqueue(self, elements: Sequence[Element]) -> None:
        """Adds elements, one by one as there is room.

        Raises:
            CancelledError: it is closed, or was closed with all that waits.
            InvalidArgumentError: an element is of another shape.
        """
        for element in elements:
            self._check(element)
        with self._changed, self._turn(self._adding) as place:
            self._refuse_if_dropped(place)
            if self._closed:
                raise errors.CancelledError(None, None, f"{self._described()} is closed.")
            for element in elements:
                self._wait(lambda: place in self._dropped or not 0 <= self.capacity <= len(self._items))
                self._refuse_if_dropped(place)
                self._add(element)
                self._changed.notify_all()

    def _refuse_if_dropped(self, place: object) -> None:
        if place in self._dropped:
            raise errors.CancelledError(None, None, "Enqueue operation was cancelled")

    def _check(self, element: Element) -> None:
        for i, (value, shape) in enumerate(zip(element, self.shapes, strict=True)):
            if not shape.is_compatible_with(tuple(value.shape)):
                raise invalid(
                    f"Shape mismatch in tuple component {i}. Expected {_text(shape)}, got {_text(tuple(value.shape))}"
                )

    # ---- taking ------------------------------------------------------------------------------------------------------

    def dequeue(self, count: int, at_least: int) -> list[Element]:
        """Takes elements, as they come.

        Args:
            count: how many.
            at_least: how many it may be if the queue is closed and there are no more.

        Raises:
            OutOfRangeError: it is closed, and there are fewer.
        """
        taken: list[Element] = []
        with self._changed, self._turn(self._taking):
            try:
                while len(taken) < count:
                    self._wait(lambda: self._closed or self._available() > 0)
                    if not self._available() and len(taken) >= at_least:
                        break
                    if not self._available():
                        raise errors.OutOfRangeError(
                            None,
                            None,
                            f"{self._described()} is closed and has insufficient elements (requested {count}, current "
                            f"size {len(taken)})",
                        )
                    taken.append(self._take())
                    self._changed.notify_all()
            except BaseException:
                self._put_back(taken)
                raise
        return taken

    def stacked(self, elements: Sequence[Element]) -> Element:
        """Elements as one, with a dimension in front for their number.

        Raises:
            InvalidArgumentError: the shapes of the components are not known.
        """
        self.check_batches()
        return tuple(
            _stack([element[i] for element in elements], dtype, shape)
            for i, (dtype, shape) in enumerate(zip(self.dtypes, self.shapes, strict=True))
        )

    def check_batches(self) -> None:
        """Refuses to give several elements at once where their shapes may differ."""
        if not all(shape.is_fully_defined() for shape in self.shapes):
            raise invalid(f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes.")

    # ---- its state ---------------------------------------------------------------------------------------------------

    def close(self, cancel_pending_enqueues: bool) -> None:
        """Lets nothing more be added.

        Args:
            cancel_pending_enqueues: gives up what waits to be added; otherwise that is added first.

        Raises:
            CancelledError: it is closed already.
        """
        with self._changed:
            if not cancel_pending_enqueues:
                with self._turn(self._adding) as place:
                    self._refuse_if_dropped(place)
                    self._close()
            else:
                self._close()
                self._dropped.update(self._adding)
                self._changed.notify_all()

    def _close(self) -> None:
        if self._closed:
            raise errors.CancelledError(None, None, f"Queue '{self.name}' is already closed.")
        self._closed = True

    def cancel(self) -> None:
        """Has everything that waits, now and from now on, fail."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether nothing more can be added."""
        return self._closed

    def __len__(self) -> int:
        return len(self._items)


class ShuffledStorage(Storage):
    """Elements that are taken in random order.

    Args:
        at_least: how many elements stay until it is closed, so that there is something to choose from.
        seed: begins the random numbers; None for others each time.
        name, capacity, dtypes, shapes: as of `Storage`.

    Raises:
        InvalidArgumentError: `at_least` is negative, or leaves no room.
    """

    kind = "RandomShuffleQueue"

    def __init__(
        self,
        name: str,
        capacity: int,
        dtypes: Sequence[DType],
        shapes: Sequence[TensorShape],
        at_least: int,
        seed: Any,
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


class SortedStorage(Storage):
    """Elements of which that with the smallest number in front is taken; of several, the first that came."""

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


class PaddedStorage(Storage):
    """Elements whose components may differ in some dimensions, and are padded with zeros to be one tensor."""

    kind = "PaddingFIFOQueue"

    def check_batches(self) -> None:
        """Refuses nothing: the shapes may differ."""

    def stacked(self, elements: Sequence[Element]) -> Element:
        """Elements as one, each component padded at its ends to the largest one."""
        return tuple(
            _stack(_padded([element[i] for element in elements]), dtype, shape)
            for i, (dtype, shape) in enumerate(zip(self.dtypes, self.shapes, strict=True))
        )


def _padded(values: Sequence[Any]) -> list[Any]:
    """Raw values, with zeros or empty strings at their ends where another is longer."""
    if not values:
        return []
    largest = [max(lengths) for lengths in zip(*[v.shape for v in values], strict=True)]
    found = []
    for value in values:
        if list(value.shape) == largest:
            found.append(value)
            continue
        wide: Any
        if isinstance(value, torch.Tensor):
            wide = torch.zeros(largest, dtype=value.dtype, device=value.device)
        else:
            wide = np.full(largest, b"" if value.dtype.hasobject else 0, value.dtype)
        wide[tuple(slice(0, n) for n in value.shape)] = value
        found.append(wide)
    return found


def _stack(values: Sequence[Any], dtype: DType, shape: TensorShape) -> Any:
    """Raw values of one shape as one value."""
    if not values:
        dims = [0, *(0 if d is None else d for d in shape)]
        return np.empty(dims, object) if dtype.torch is None else torch.zeros(dims, dtype=dtype.torch)
    if isinstance(values[0], torch.Tensor):
        return torch.stack(list(values))
    stacked = np.empty([len(values), *values[0].shape], values[0].dtype)
    for i, value in enumerate(values):
        stacked[i] = value if value.ndim else value[()]
    return stacked


def rows_of(components: Sequence[Any]) -> list[Element]:
    """The elements of raw values whose first dimension is their number.

    Raises:
        InvalidArgumentError: the components are of different numbers, or one has no dimension.
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
