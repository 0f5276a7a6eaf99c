"""Functions that run at the same time, each in a thread of its own.

ATen's kernels release Python's lock, so several threads can run kernels at once. The processors are divided among them:
the kernels of each thread use as many threads as its share.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.processors import use_threads
from tapeflow.core.rng.seeds import has_own_streams

_idle: dict[int, list[_Worker]] = {}  # by the number of threads that a kernel of theirs uses

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads stay behind


def run_all(*functions: Callable[[], Any]) -> list[Any]:
    """Runs functions at the same time, and returns their results.

    They run one after another if `tf.config.threading` allows one op at a time, and in a session or a dataset: there
    random numbers depend on the thread's earlier draws.

    Args:
        functions: functions without arguments, independent of each other.

    Raises:
        BaseException: the exception of the first function that failed, raised after all have ended.
    """
    if torch.get_num_interop_threads() == 1 or has_own_streams():
        return [function() for function in functions]
    share = max(1, torch.get_num_threads() // len(functions))
    idle = _idle.setdefault(share, [])
    try:
        workers = [_ready_worker(idle, share) for _ in functions]
    except RuntimeError:  # the interpreter is shutting down, and starts no threads any more
        return [function() for function in functions]
    for worker, function in zip(workers, functions, strict=True):
        worker.tasks.put(function)
    outcomes = [worker.outcomes.get() for worker in workers]
    idle += workers  # an interrupted call returns none: its workers are busy
    for _, error in outcomes:
        if error is not None:
            raise error from None
    return [result for result, _ in outcomes]


class _Worker(threading.Thread):
    """A thread that runs functions.

    Args:
        share: how many threads its kernels use.

    Attributes:
        tasks: the functions.
        outcomes: of each function, the result and the error; and before them one, when the thread is ready, or can't
            be.
    """

    def __init__(self, share: int) -> None:
        super().__init__(name="tapeflow-side-by-side", daemon=True)
        self._share = share
        self.tasks: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self.outcomes: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def run(self) -> None:
        ready = _outcome(lambda: use_threads(self._share))
        self.outcomes.put(ready)
        while ready[1] is None:
            self.outcomes.put(_outcome(self.tasks.get()))


def _ready_worker(idle: list[_Worker], share: int) -> _Worker:
    """Returns an idle worker, or a new one that is ready.

    Raises:
        RuntimeError: no thread can be started.
    """
    try:
        return idle.pop()
    except IndexError:
        worker = _Worker(share)
        worker.start()
        _, error = worker.outcomes.get()
        if error is not None:
            raise error from None
        return worker


def _outcome(function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return function(), None
    except BaseException as error:  # the caller raises it
        return None, error
