"""Functions that run at the same time, each in a thread of its own.

ATen's kernels release Python's lock, so that several threads gain what the kernels take. The processors are divided
among them: each thread has kernels of as many threads as its share.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import torch

from tapeflow.core.rng.seeds import has_own_streams

_MOST_THREADS = 1 << 10  # of one share: a pool starts one only if none is idle
_pools: dict[int, ThreadPoolExecutor] = {}  # by the number of threads that a kernel of theirs uses
_starting = threading.Lock()

os.register_at_fork(after_in_child=_pools.clear)  # their threads stay behind


def run_all(*functions: Callable[[], Any]) -> list[Any]:
    """Runs functions at the same time, and returns their results.

    They run one after another where `tf.config.threading` allows one op at a time, and in a session or a dataset, whose
    random numbers follow what their thread has drawn.

    Args:
        functions: functions without arguments, none of which depends on another.

    Raises:
        Exception: what the first of them raised, after all have ended.
    """
    if torch.get_num_interop_threads() == 1 or has_own_streams():
        return [function() for function in functions]
    pool = _pool(max(1, torch.get_num_threads() // len(functions)))
    try:
        futures = [pool.submit(function) for function in functions]
    except RuntimeError:  # the interpreter is shutting down, and starts no threads any more
        return [function() for function in functions]
    wait(futures)
    return [future.result() for future in futures]


def _pool(share: int) -> ThreadPoolExecutor:
    """Returns the threads whose kernels use `share` threads each."""
    pool = _pools.get(share)
    if pool is None:
        with _starting:
            pool = _pools.get(share)
            if pool is None:
                pool = _pools[share] = ThreadPoolExecutor(
                    _MOST_THREADS, f"tapeflow-side-by-side-{share}", _use_threads, (share,)
                )
    return pool


def _use_threads(share: int) -> None:
    """Has the kernels of this thread use `share` threads."""
    others = torch.get_num_threads()
    if share != others:
        torch.set_num_threads(share)
        # Threads that start later have the number that a thread set last.
        restoring = threading.Thread(target=torch.set_num_threads, args=(others,))
        restoring.start()
        restoring.join()
