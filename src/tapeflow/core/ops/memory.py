"""The memory that a tensor may take: kernels check the sizes that they are told before they use them."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import pathlib
from collections.abc import Iterable

from tapeflow.core.errors import ResourceExhaustedError
from tapeflow.core.ops.shape_rules import check_sizes

UNFILLED = 1 / 4
_FEW = 2**26  # bytes that every machine has
_LIMITS = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"  # of a container


def check_memory(dims: Iterable[int], itemsize: int = 4, share: float = 1.0) -> None:
    """Checks that a machine's memory holds a tensor, for kernels that use a size before they allocate the result.

    A kernel that first allocates needs no check: the allocator refuses as soon.

    Args:
        dims: the tensor's shape.
        itemsize: the bytes that an element takes, in the result or on the way to it.
        share: the part of the memory that the tensor may take; `UNFILLED` if few of the elements come from the inputs.

    Raises:
        InvalidArgumentError: a dimension is negative, or there are more elements than TensorFlow counts.
        ResourceExhaustedError: the tensor is larger than the memory.
    """
    dims = tuple(dims)
    check_sizes(dims)
    count = math.prod(dims)
    if count * itemsize > _FEW and count * itemsize > share * _memory():
        raise ResourceExhaustedError.of(f"OOM when allocating tensor with shape{list(dims)}")


@functools.cache
def _memory() -> int:
    """Returns the bytes of memory that the process can have at most."""
    limits = [2**47]
    with contextlib.suppress(AttributeError, OSError, ValueError):  # Windows has no `sysconf`
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _LIMITS:
        try:
            limits.append(int(pathlib.Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(limits)
