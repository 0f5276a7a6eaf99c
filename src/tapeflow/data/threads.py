"""Threads of a pipeline: elements computed ahead, and functions called in parallel.

A thread holds the iterator that it takes elements from and a bounded buffer, never the iterator it works for. When a
program drops the latter, its generator closes, and this stops the threads. Threads are daemons and never keep a program
alive. At the end of the program they are stopped first: a thread that Python ends within a kernel ends the process.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import threading
import time
import weakref
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, ParamSpec

from tapeflow.core.context import override
from tapeflow.core.fork_locks import new_condition
from tapeflow.core.rng.seeds import Streams

if TYPE_CHECKING:
    from tapeflow.data.elements import Element

P = ParamSpec("P")

AUTOTUNE = -1
_AUTOMATIC = 4  # elements that are computed ahead where nobody says how many
_SLOW = 5e-4  # seconds: less is not worth a thread
_TRIALS = 2  # elements that are computed to see whether they are slow


_PATIENCE = 2.0  # seconds that a program's end waits for threads at most


class IteratorState:
    """The state of an iterator that the program uses, which all iterators of its pipeline share.

    Args:
        log: its `SeedLog`; None without shuffles to log.

    Attributes:
        streams: the streams of random ops in functions of the pipeline, by the functions' places.
    """

    __slots__ = ("log", "streams")

    def __init__(self, log: Any) -> None:
        self.log = log
        self.streams: defaultdict[int, Streams] = defaultdict(Streams)


class Running(threading.local):
    """The iterator that a thread works for.

    Attributes:
        state: the iterator's `IteratorState`; None outside of iterators.
    """

    state: IteratorState | None = None


running = Running()


def working_for(state: IteratorState) -> override:
    """Has this thread work for an iterator."""
    return override(running, state=state)


def cores() -> int:
    """Returns the number of threads that can run at the same time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# From each thread to the function that stops it.
_threads: weakref.WeakKeyDictionary[threading.Thread, Callable[[], None]] = weakref.WeakKeyDictionary()


def start(name: str, stop: Callable[[], None], target: Callable[..., None], *args: Any) -> None:
    """Runs a function in a thread of its own, which `stop` ends when the program does."""
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    _threads[thread] = stop
    thread.start()


@atexit.register
def _stop_all() -> None:
    """Stops the threads that still run when the program ends."""
    left = list(_threads.items())
    for _, stop in left:
        stop()
    until = time.monotonic() + _PATIENCE
    for thread, _ in left:
        thread.join(max(until - time.monotonic(), 0))


class Failure:
    """An error in the place of an element, on its way to the consumer."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


END: Any = object()


class _Raising:
    """An iterator over the elements of a generator that goes on after the errors that it yields."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Generator[Any]) -> None:
        self._steps = steps

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        element = next(self._steps)
        if type(element) is Failure:
            raise element.error
        return element

    def close(self) -> None:
        self._steps.close()


def raises_failures(steps: Callable[P, Generator[Any]]) -> Callable[P, Iterator[Any]]:
    """Decorates a generator that yields `Failure`s among its elements: the iterator raises these errors, and goes on.

    A generator that raises an error itself has ended.
    """

    @functools.wraps(steps)
    def elements(*args: P.args, **kwargs: P.kwargs) -> Iterator[Any]:
        return _Raising(steps(*args, **kwargs))

    return elements


def with_failures(elements: Iterator[Any]) -> Generator[Any]:
    """Yields the elements of an iterator, and a `Failure` where it raises an error."""
    while True:
        try:
            for element in elements:  # noqa: UP028 (`yield from` would close the iterator)
                yield element
            return
        except Exception as error:
            yield Failure(error)


class Chained:
    """The items of iterators, one iterator after the other. It goes on after an error.

    Args:
        iterators: the iterators.
    """

    __slots__ = ("_current", "_iterators")

    def __init__(self, iterators: Iterator[Iterator[Any]]) -> None:
        self._iterators = iterators
        self._current: Iterator[Any] = iter(())

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while (item := next(self._current, END)) is END:
            self._current = next(self._iterators)
        return item


class _Buffer:
    """A queue of bounded length between one thread and another, which can be closed from both sides."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.items: deque[Any] = deque()
        self.changed = new_condition()
        self.closed = False

    def put(self, item: object) -> bool:
        """Adds an item when there is room; returns whether the buffer is still open."""
        with self.changed:
            self.changed.wait_for(lambda: self.closed or len(self.items) < self.size)
            if self.closed:
                return False
            self.items.append(item)
            self.changed.notify_all()
            return True

    def get(self) -> Any:
        with self.changed:
            self.changed.wait_for(lambda: bool(self.items))
            item = self.items.popleft()
            self.changed.notify_all()
            return item

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.items.clear()
            self.changed.notify_all()


@raises_failures
def ahead(elements: Iterator[Any], size: int) -> Generator[Any]:
    """Yields the elements, up to `size` of them computed ahead by a thread.

    With `AUTOTUNE` the first ones are computed by the consumer, and there is a thread only if they take long.
    """
    if size == AUTOTUNE:
        steps = with_failures(elements)
        for _ in range(_TRIALS):
            begin = time.perf_counter()
            element = next(steps, END)
            if element is END:
                return
            took = time.perf_counter() - begin
            yield element
        if took < _SLOW:
            yield from steps
            return
        size = _AUTOMATIC
    buffer = _Buffer(size)
    start("tf_data_prefetch", buffer.close, _fill_buffer, elements, buffer, running.state)
    del elements
    with closing(buffer):
        while (item := buffer.get()) is not END:
            yield item


def _fill_buffer(elements: Iterator[Any], buffer: _Buffer, state: IteratorState | None) -> None:
    running.state = state
    try:
        for element in with_failures(elements):
            if not buffer.put(element):
                return
        buffer.put(END)
    except BaseException as error:
        if buffer.put(Failure(error)):
            buffer.put(END)
    finally:
        close = getattr(elements, "close", None)
        if close is not None:
            close()


@raises_failures
def mapped_in_threads(
    function: Callable[[Any], Any], elements: Iterator[Any], calls: int, ordered: bool
) -> Generator[Any]:
    """Yields the results of a function of each element, and computes up to `calls` at the same time.

    Args:
        function: of an element.
        elements: are taken by the consumer's thread alone.
        calls: the number of threads. `AUTOTUNE` uses all cores, or no thread if the function is quick.
        ordered: whether results come in the order of the elements, and not as they get ready.
    """
    if calls == AUTOTUNE:
        took = 0.0

        def timed(element: Element) -> Any:
            nonlocal took
            begin = time.perf_counter()
            try:
                return function(element)
            finally:
                took = time.perf_counter() - begin

        yield from itertools.islice(with_failures(map(timed, elements)), _TRIALS)
        calls = 1 if took < _SLOW else cores()
    if calls == 1:
        yield from with_failures(map(function, elements))
        return
    with closing(_Pool(function, calls)) as pool:
        yield from pool.results(elements, 2 * calls, ordered)


class _Task:
    """A call that a thread is to run."""

    __slots__ = ("done", "element", "result")

    def __init__(self, element: Element) -> None:
        self.element = element
        self.result: Any = None
        self.done = False


class _Pool:
    """Threads that call a function."""

    def __init__(self, function: Callable[[Any], Any], count: int) -> None:
        self.changed = new_condition()
        self.waiting: deque[_Task] = deque()
        self.closed = False
        for i in range(count):
            start(f"tf_data_map_{i}", self.close, self._work, function)

    def _work(self, function: Callable[[Any], Any]) -> None:
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.closed or self.waiting)
                if self.closed:
                    return
                task = self.waiting.popleft()
            try:
                task.result = function(task.element)
            except BaseException as error:
                task.result = Failure(error)
            with self.changed:
                task.done = True
                self.changed.notify_all()
            del task  # an error in it holds the frames that raised it, and so the iterator whose end ends this thread

    def results(self, elements: Iterator[Any], most: int, ordered: bool) -> Iterator[Any]:
        """Yields the results of all elements. Up to `most` tasks run or wait at the same time."""
        tasks: deque[_Task] = deque()
        steps = with_failures(elements)
        more = True
        while True:
            while more and len(tasks) < most:
                element = next(steps, END)
                if element is END:
                    more = False
                    break
                task = _Task(element)
                tasks.append(task)
                if type(element) is Failure:
                    task.result, task.done = element, True
                    continue
                with self.changed:
                    self.waiting.append(task)
                    self.changed.notify_all()
            if not tasks:
                return
            yield self._next(tasks, ordered).result

    def _next(self, tasks: deque[_Task], ordered: bool) -> _Task:
        """Takes a task that is done out of those under way."""
        candidates = [tasks[0]] if ordered else tasks
        with self.changed:
            self.changed.wait_for(lambda: self.closed or any(t.done for t in candidates))
            if self.closed:
                raise RuntimeError("the pipeline was stopped because the program ends")
        task = next(t for t in candidates if t.done)
        tasks.remove(task)
        return task

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.waiting.clear()
            self.changed.notify_all()
