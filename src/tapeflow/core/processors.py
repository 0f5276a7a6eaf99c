"""Numbers of threads: kernels use the processors that others leave free.

A kernel divides its work evenly among its threads, and waits for the last one. Beside other processes, a thread may
wait for a processor: on two processors, beside a busy process, two threads take twice as long as one. So functions and
tapes call `share`, which measures how much time of the processors is left, and sets the number of threads. It never
exceeds torch's number, which the user may set. Sums over several threads may round in another order, so
`enable_op_determinism` keeps the number fixed.
"""

from __future__ import annotations

import math
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import torch

from tapeflow.core.fork_locks import new_lock
from tapeflow.core.settings import settings

_PERIOD = 0.2  # seconds between two measurements; Linux counts in steps of 10 ms
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # per second
_STATISTICS = Path("/proc/stat")
# A thread more is worth its waits if it runs this part of the time. The second is larger, to prevent frequent changes.
_KEEPS, _ADDS = 0.6, 0.8
_PAUSE = 0.2  # after this process has run for a smaller part of the time, it begins again with all threads
_setting = new_lock()


def share() -> None:
    """Sets how many threads the kernels of this Python thread use."""
    now = time.perf_counter()
    if now >= _share.due:
        _share.measure(now, time.process_time(), idle_seconds(_STATISTICS))


class Share(threading.local):
    """The processors that the kernels of a Python thread may use.

    Attributes:
        due: the time of the next measurement.
    """

    def __init__(self) -> None:
        self.due = 0.0
        self._last: tuple[float, float, float] | None = None  # the last arguments of `measure`
        self._most = self._threads = 0

    def most(self) -> int:
        """Returns the limit of the number of threads: torch's number, as the user has set it last."""
        threads = torch.get_num_threads()
        if threads != self._threads:  # the first call, or the user has set it
            self._most = self._threads = threads
        return self._most

    def measure(self, now: float, used: float, idle: float | None) -> None:
        """Sets the number of threads from the processors that were free since the last measurement.

        Args:
            now: the time in seconds.
            used: the seconds that this process has run, over all processors.
            idle: the seconds that processors had nothing to do; None if this is unknown.
        """
        if idle is None or self.most() == 1:
            self.due = now + 100 * _PERIOD
            return
        threads = self._threads
        last, self._last, self.due = self._last, (now, used, idle), now + _PERIOD
        period, ran, rest = (a - b for a, b in zip((now, used, idle), last or (0.0, 0.0, 0.0), strict=True))
        if settings.deterministic or last is None or ran < _PAUSE * period:
            self._threads = self._most
        else:
            self._threads = min(self._most, threads_for((ran + rest) / period, self._threads))
        if threads != self._threads:
            with suppress(RuntimeError):  # the interpreter is shutting down
                use_threads(self._threads)


_share = Share()


def threads_for(free: float, threads: int) -> int:
    """Returns how many threads kernels should use.

    Args:
        free: the number of processors that are free for this process.
        threads: how many threads kernels use now.
    """
    fewer, more = (math.floor(free + 1 - part) for part in (_KEEPS, _ADDS))
    return max(1, min(threads, fewer), more)


def idle_seconds(statistics: Path) -> float | None:
    """Returns how long the processors of this process have had nothing to do, in seconds.

    Args:
        statistics: the file with Linux's counts.

    Returns:
        The sum over the processors; None if the file does not tell.
    """
    try:
        lines = statistics.read_bytes().split(b"\n")
        idle = {line.split(b" ", 1)[0]: sum(map(int, line.split()[4:6])) for line in lines if line.startswith(b"cpu")}
        ticks = sum(idle[b"cpu%d" % processor] for processor in os.sched_getaffinity(0))
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    return ticks / _TICKS if ticks else None


def use_threads(count: int) -> None:
    """Has the kernels of this Python thread use `count` threads.

    Raises:
        RuntimeError: the interpreter is shutting down, and starts no threads any more.
    """
    if count == torch.get_num_threads():
        return
    # Threads that start later have the number that a thread set last. So a new thread reads it, and sets it again.
    with _setting, ThreadPoolExecutor(1) as new:
        others = new.submit(torch.get_num_threads).result()
        torch.set_num_threads(count)
        new.submit(torch.set_num_threads, others).result()


def use_quota() -> None:
    """Limits the threads of a kernel to the processors that the container may use, unless OMP_NUM_THREADS says more.

    torch heeds the processors that the process may run on, not the time that it may have on them.
    """
    limit = quota(Path("/sys/fs/cgroup"))
    if limit is not None and limit < torch.get_num_threads() and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(limit)


def quota(cgroup: Path) -> int | None:
    """Returns the number of processors whose time a control group may use, rounded up; None if there is no limit."""
    try:
        if (cgroup / "cpu.max").exists():
            time, period = (cgroup / "cpu.max").read_text().split()
        else:
            time, period = ((cgroup / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return math.ceil(int(time) / int(period)) if int(time) > 0 else None
    except (OSError, ValueError):  # no control groups, or "max": no limit
        return None
