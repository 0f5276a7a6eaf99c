"""Settings of the C library's allocator for the memory of freed tensors."""

from __future__ import annotations

import ctypes
import os
import sys

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
