"""`tf.nondifferentiable_batch_function`: calls of several threads, computed as one."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat, split
from tapeflow.core.context import nobody_listening
from tapeflow.core.errors import UnavailableError
from tapeflow.core.fork_locks import new_condition, new_event, renew_in_children
from tapeflow.core.ops.convert import convert
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import invalid


class _Call:
    """A call that waits for its part of the result."""

    def __init__(self, inputs: list[Any], size: int) -> None:
        self.inputs = inputs
        self.size = size
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = new_event()


class _Batcher:
    """Collects calls into batches. The first call of a batch waits for others, and computes for all."""

    def __init__(
        self, function: Callable[..., Any], max_batch_size: int, timeout: float, allowed: Sequence[int],
        most_batches: int, threads: int, split: bool,
    ) -> None:  # fmt: skip
        self.function = function
        self.max_batch_size = max_batch_size
        self.timeout = timeout
        self.allowed = sorted(allowed)
        self.most_batches = most_batches
        self.split = split
        self.threads = threads
        self.changed = new_condition()
        self._at_fork_reinit()
        renew_in_children(self)

    def _at_fork_reinit(self) -> None:
        """Forgets the batches of other threads: their threads stay behind."""
        self.running = threading.BoundedSemaphore(self.threads)
        self.waiting = 0  # batches
        self.open: list[_Call] = []  # the last batch, until it is computed

    def __call__(self, *args: Any) -> Any:
        inputs = [convert(a) for a in args]
        if not inputs or any(not len(i.shape) for i in inputs):
            raise invalid("Batching input tensors must have at least one dimension")
        sizes = {i.shape[0] for i in inputs}
        if len(sizes) > 1:
            raise invalid(f"Batching input tensors must have equal 0th-dimension sizes, not {sorted(sizes)}")
        size = sizes.pop()
        if size > self.max_batch_size:
            return self._in_parts(inputs, size)
        call = _Call(inputs, size)
        batch = self._join(call)
        if batch:
            self._lead(batch)
        call.done.wait()
        if call.error is not None:
            raise call.error
        return call.result

    def _in_parts(self, inputs: list[Any], size: int) -> Any:
        if not self.split:
            raise invalid(f"Task size {size} is larger than maximum input batch size {self.max_batch_size}")
        step = self.max_batch_size
        parts = [self(*[i[start : start + step] for i in inputs]) for start in range(0, size, step)]
        return nest.map_structure(lambda *p: concat(list(p), 0), *parts)

    def _join(self, call: _Call) -> list[_Call]:
        """Puts a call into the open batch. If it begins a new batch, it leads it: returns the batch, else no calls."""
        with self.changed:
            if self.open and sum(c.size for c in self.open) + call.size <= self.max_batch_size:
                self.open.append(call)
                self.changed.notify_all()
                return []
            if self.waiting >= self.most_batches:
                raise UnavailableError.of("The batch scheduling queue is full")
            self.waiting += 1
            self.open = batch = [call]
            self.changed.notify_all()
            return batch

    def _lead(self, batch: list[_Call]) -> None:
        """Waits until the batch is full, another one has begun, or time is up; computes it."""
        with self.changed:
            self.changed.wait_for(
                lambda: sum(c.size for c in batch) >= self.max_batch_size or self.open is not batch, self.timeout
            )
            self.waiting -= 1
            if self.open is batch:
                self.open = []
        try:
            with self.running:
                self._compute(batch)
        except BaseException as error:
            for call in batch:
                call.error = error
        for call in batch:
            call.done.set()

    def _compute(self, batch: list[_Call]) -> None:
        total = sum(c.size for c in batch)
        padded = next((n for n in self.allowed if n >= total), total)
        inputs = [concat(list(column), 0) for column in zip(*[c.inputs for c in batch], strict=True)]
        if padded > total:  # with copies of the first row; their results are dropped
            inputs = [concat([i, *[i[:1]] * (padded - total)], 0) for i in inputs]
        with nobody_listening():
            result = self.function(*inputs)
        sizes = [c.size for c in batch] + ([padded - total] if padded > total else [])
        pieces = [split(r, sizes) for r in nest.flatten(result)]
        for i, call in enumerate(batch):
            call.result = nest.pack_sequence_as(result, [p[i] for p in pieces])


def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
    enable_large_batch_splitting: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function to join calls of several threads along the first dimension and compute them as one call.

    Args:
        num_batch_threads: the number of batches that are computed at the same time.
        max_batch_size: the longest first dimension of a batch.
        batch_timeout_micros: the time that a call waits for others, in microseconds.
        allowed_batch_sizes: the lengths that batches are padded to.
        max_enqueued_batches: the number of batches that may wait; more are refused.
        autograph: ignored.
        enable_large_batch_splitting: computes a call longer than `max_batch_size` in parts, and does not refuse it.

    Returns:
        A decorator of a function of tensors with equal first dimensions, which returns a nest of such tensors. No
        gradient passes.

    Raises:
        InvalidArgumentError: at a call, if the first dimensions differ.
        UnavailableError: at a call, if too many batches wait.

    Example:
        >>> @tf.nondifferentiable_batch_function(1, 10, 100)
        ... def double(x):
        ...     return x * 2
        >>> double(tf.constant([1, 2])).numpy().tolist()
        [2, 4]
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        batcher = _Batcher(
            function, max_batch_size, batch_timeout_micros / 1e6, allowed_batch_sizes or (), max_enqueued_batches,
            num_batch_threads, enable_large_batch_splitting,
        )  # fmt: skip

        @functools.wraps(function)
        def batched(*args: Any) -> Any:
            return batcher(*args)

        return batched

    return decorate
