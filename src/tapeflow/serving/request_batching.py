"""Joins requests to batches: one call of a signature answers all requests that arrived meanwhile."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from tapeflow.core.values.strings import StringArray
from tapeflow.serving.json_values import BadRequest
from tapeflow.serving.models import ServedSignature

Arrays = Mapping[str, Any]  # arrays, and a `StringArray` for strings


class Batcher:
    """Calls a signature with the rows of several requests at once.

    Args:
        signature: the signature; one without a first dimension of any size is called for each request alone.
        executor: runs the calls.
        most: the most rows of a batch; a request with more is a separate batch.
        wait: how many seconds a request waits for others.
    """

    def __init__(self, signature: ServedSignature, executor: Executor, most: int, wait: float) -> None:
        self._signature, self._executor, self._most, self._wait = signature, executor, most, wait
        self._queue: list[tuple[Arrays, asyncio.Future[dict[str, Any]]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, arrays: Arrays) -> dict[str, Any]:
        """Returns the outputs for a request's arrays.

        Raises:
            BadRequest: the model refuses them.
        """
        loop = asyncio.get_running_loop()
        if not self._signature.batched:
            return await loop.run_in_executor(self._executor, self._signature.run, arrays)
        counts = {len(a) for a in arrays.values()}
        if len(counts) > 1:
            sizes = {name: len(a) for name, a in arrays.items()}
            raise BadRequest(f"The inputs have different numbers of rows: {sizes}.")
        future: asyncio.Future[dict[str, Any]] = loop.create_future()
        self._queue.append((arrays, future))
        if sum(map(_rows, self._queue)) >= self._most or self._wait <= 0:
            self._begin()
        elif self._timer is None:
            self._timer = loop.call_later(self._wait, self._begin)
        return await future

    def _begin(self) -> None:
        """Runs the waiting requests, in batches of requests whose rows have the same shapes."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        queue, self._queue = self._queue, []
        groups: dict[Any, list[Any]] = {}
        for item in queue:
            key = tuple(a.shape[1:] for a in item[0].values())
            group = groups.setdefault(key, [])
            if group and sum(map(_rows, group)) + _rows(item) > self._most:
                self._start(groups.pop(key))
                group = groups.setdefault(key, [])
            group.append(item)
        for group in groups.values():
            self._start(group)

    def _start(self, group: Sequence[Any]) -> None:
        task = asyncio.get_running_loop().create_task(self._run_group(group))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run_group(self, group: Sequence[Any]) -> None:
        results = await asyncio.get_running_loop().run_in_executor(self._executor, self._results, [a for a, _ in group])
        for (_, future), result in zip(group, results, strict=True):
            if future.done():  # the client has gone
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)

    def _results(self, requests: Sequence[Arrays]) -> list[Any]:
        """Returns the outputs for each request, or the error that it gets."""
        if len(requests) > 1:
            joined = {name: _concatenated([r[name] for r in requests]) for name in requests[0]}
            ends = [0, *itertools.accumulate(_count(r) for r in requests)]
            try:
                outputs = self._signature.run(joined)
            except BadRequest:  # a request of the batch is bad: run alone, each gets its own answer
                outputs = {}
            if outputs and all(len(o) == ends[-1] for o in outputs.values()):
                return [{name: o[i:j] for name, o in outputs.items()} for i, j in itertools.pairwise(ends)]
        return [self._alone(r) for r in requests]

    def _alone(self, arrays: Arrays) -> Any:
        try:
            return self._signature.run(arrays)
        except Exception as error:  # whatever it is, it is this request's
            return error


def _concatenated(arrays: Sequence[Any]) -> Any:
    return (StringArray.concatenate if isinstance(arrays[0], StringArray) else np.concatenate)(arrays)


def _count(arrays: Arrays) -> int:
    return len(next(iter(arrays.values())))


def _rows(item: tuple[Arrays, Any]) -> int:
    return _count(item[0])
