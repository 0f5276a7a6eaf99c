"""Settings of the C library's allocator for the memory of freed tensors, and of Python's collector while importing."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Iterator

# Parameters of glibc's mallopt(3), in bytes. The first can't be set higher; the second bounds the retained memory.
_MMAP_THRESHOLD, _LARGEST_RETAINED = -3, 32 << 20
_TRIM_THRESHOLD, _MOST_RETAINED = -1, 256 << 20


def keep_pages() -> None:
    """Makes glibc retain the memory of freed tensors for the next ones.

    By default it returns large blocks to the system at once, and the free end of the heap when that exceeds some
    megabytes. The next blocks then need fresh pages, and each page costs a fault: two thirds of the time of elementwise
    ops on 4 MB, a third of a training step. Settings in the environment (mallopt(3): MALLOC_TRIM_THRESHOLD_,
    MALLOC_MMAP_THRESHOLD_, GLIBC_TUNABLES) stay in force. With other C libraries nothing happens.
    """
    variables = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")
    if sys.platform != "linux" or any(name in os.environ for name in variables):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST_RETAINED)
        mallopt(_TRIM_THRESHOLD, _MOST_RETAINED)


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Pauses Python's cyclic garbage collector.

    An import makes tens of thousands of objects that live as long as the process. Counting them makes the collector
    visit torch's 170,000 objects too, which takes two thirds of the time of this library's import.
    """
    enabled = gc.isenabled()  # a program that disabled it finds it disabled
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
