"""Joins requests to batches: one call of a signature answers all requests that arrived meanwhile."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from tapeflow.core.values.strings import StringArray
from tapeflow.serving.configs import Batching
from tapeflow.serving.json_values import BadRequest
from tapeflow.serving.models import ServedSignature

Arrays = Mapping[str, Any]  # arrays, and a `StringArray` for strings
_Request = tuple[Arrays, "asyncio.Future[dict[str, Any]]"]


class Batcher:
    """Calls a signature with the rows of several requests at once.

    A batch is due when its rows are complete, or when its first request has waited long enough. It takes its requests
    when a call may run. Until then, others join it.

    Args:
        signature: the signature; one without a first dimension of any size is called for each request alone.
        executor: runs the calls.
        slots: limits the calls that run at a time.
        batching: the sizes and times.
    """

    def __init__(
        self, signature: ServedSignature, executor: Executor, slots: asyncio.Semaphore, batching: Batching
    ) -> None:
        self._signature, self._executor, self._slots, self._batching = signature, executor, slots, batching
        self._queue: list[_Request] = []
        self._rows = 0  # of the queue
        self._due = 0  # batches that wait for a call
        self._timer: asyncio.TimerHandle | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, arrays: Arrays) -> dict[str, Any]:
        """Returns the outputs for a request's arrays.

        Raises:
            BadRequest: the model refuses them, or too many requests wait.
        """
        loop = asyncio.get_running_loop()
        if not self._signature.batched:
            async with self._slots:
                return await loop.run_in_executor(self._executor, self._signature.run, arrays)
        counts = {len(a) for a in arrays.values()}
        if len(counts) > 1:
            sizes = {name: len(a) for name, a in arrays.items()}
            raise BadRequest(f"The inputs have different numbers of rows: {sizes}.")
        rows, most = counts.pop(), self._batching.max_rows
        limit = self._batching.max_enqueued
        if limit is not None and self._queue and self._rows + rows > limit * most:
            raise BadRequest("The batch scheduling queue to which this task was submitted is full", 503)
        if rows <= most or not self._batching.splits:
            return await self._add(arrays)
        pieces = [{n: a[i : i + most] for n, a in arrays.items()} for i in range(0, rows, most)]
        results = await asyncio.gather(*map(self._add, pieces))
        return {name: _concatenate_rows([result[name] for result in results]) for name in results[0]}

    def _add(self, arrays: Arrays) -> asyncio.Future[dict[str, Any]]:
        """Returns the future outputs of a request that joins the queue."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._queue.append((arrays, future))
        self._rows += _count_rows(arrays)
        if self._batching.timeout <= 0 or self._rows >= self._batching.max_rows * (self._due + 1):
            self._start_batch()
        elif self._timer is None and not self._due:
            self._timer = loop.call_later(self._batching.timeout, self._start_batch)
        return future

    def _start_batch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._due += 1
        task = asyncio.get_running_loop().create_task(self._run_batch())
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run_batch(self) -> None:
        async with self._slots:
            group = self._take_batch()
            self._due -= 1
            if self._queue and not self._due:
                self._start_batch()
            requests, loop = [arrays for arrays, _ in group], asyncio.get_running_loop()
            try:
                results = await loop.run_in_executor(self._executor, self._call_for, requests)
            except Exception as error:  # for example, the server is being shut down
                results = [error] * len(group)
        for (_, future), result in zip(group, results, strict=True):
            if future.done():  # the client has gone
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)

    def _take_batch(self) -> list[_Request]:
        """Takes the oldest request from the queue, and those after it that fit to it."""
        group: list[_Request] = []
        others: list[_Request] = []
        key, rows = None, 0
        for item in self._queue:
            if item[1].done():  # the client has gone
                continue
            shapes = tuple(a.ndim if self._batching.pads_inputs else a.shape[1:] for a in item[0].values())
            count = _count_rows(item[0])
            if not group or (shapes == key and rows + count <= self._batching.max_rows):
                key, rows = shapes, rows + count
                group.append(item)
            else:
                others.append(item)
        self._queue = others
        self._rows = sum(_count_rows(arrays) for arrays, _ in others)
        return group

    def _call_for(self, requests: Sequence[Arrays]) -> list[Any]:
        """Returns the outputs for each request, or the error that it gets."""
        ends = [0, *itertools.accumulate(map(_count_rows, requests))]
        rows = next((n for n in self._batching.allowed_rows if n >= ends[-1]), ends[-1])
        if len(requests) > 1 or 0 < ends[-1] < rows:
            try:
                outputs = self._signature.run(_join_requests(requests, rows))
            except Exception:  # run alone, each request gets its own answer or error
                outputs = {}
            if outputs and all(len(o) == rows for o in outputs.values()):
                return [{name: o[i:j] for name, o in outputs.items()} for i, j in itertools.pairwise(ends)]
        return [self._call_alone(r) for r in requests]

    def _call_alone(self, arrays: Arrays) -> Any:
        try:
            return self._signature.run(arrays)
        except Exception as error:  # whatever it is, it is this request's
            return error


def _join_requests(requests: Sequence[Arrays], rows: int) -> Arrays:
    """Returns the rows of all requests, padded to one shape, and to a number of rows by copies of a row."""
    joined = {}
    for name in requests[0]:
        arrays = [request[name] for request in requests]
        shape = [max(sizes) for sizes in zip(*(a.shape[1:] for a in arrays), strict=True)]
        arrays = [_pad_rows(a, [len(a), *shape]) for a in arrays]
        missing = rows - sum(map(len, arrays))
        row = next(a for a in reversed(arrays) if len(a))[:1] if missing else None
        joined[name] = _concatenate_rows([*arrays, *[row] * missing])
    return joined


def _pad_rows(array: Any, shape: list[int]) -> Any:
    """Returns an array of a larger shape, filled by its first element."""
    if list(array.shape) == shape:
        return array
    strings = isinstance(array, StringArray)
    values = np.asarray(array)
    first = values.reshape(-1)[0] if values.size else b"" if strings else 0
    result = np.full(shape, first, values.dtype)
    result[tuple(map(slice, values.shape))] = values
    return StringArray.of(result.reshape(-1).tolist(), shape) if strings else result


def _concatenate_rows(arrays: Sequence[Any]) -> Any:
    return (StringArray.concatenate if isinstance(arrays[0], StringArray) else np.concatenate)(arrays)


def _count_rows(arrays: Arrays) -> int:
    return len(next(iter(arrays.values())))
