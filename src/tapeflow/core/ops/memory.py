"""The memory that a tensor may take: kernels check the sizes that they are told before they use them."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import pathlib
import re
from collections.abc import Iterable

import torch

from tapeflow.core.errors import ResourceExhaustedError
from tapeflow.core.ops.sequences import datatype_name
from tapeflow.core.ops.shape_rules import check_sizes, text
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape

UNFILLED = 1 / 4
_BYTES_OF_OUTPUT = 1024  # of a tensor without elements
_FEW = 2**26  # bytes that every machine has
# Of torch's `RuntimeError`s for CPUs, and of NumPy's `ValueError`s.
_NO_MEMORY = re.compile(
    "DefaultCPUAllocator: can't allocate memory|Storage size calculation overflowed|array is too big|"
    "Maximum allowed dimension exceeded"
)
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
    if count * itemsize > _FEW and count * itemsize > share * _most_memory():
        raise ResourceExhaustedError.of(f"OOM when allocating tensor with shape{text(TensorShape(dims))}")


def check_outputs(count: int) -> None:
    """Checks that a machine's memory holds a number of outputs.

    Raises:
        ResourceExhaustedError: it does not.
    """
    check_memory([count], _BYTES_OF_OUTPUT, UNFILLED)


def is_out_of_memory(error: Exception) -> bool:
    """Returns True if an error of torch, NumPy or Python says that there is not enough memory."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or bool(_NO_MEMORY.search(str(error)))


def out_of_memory(
    error: Exception, shape: TensorShape | None = None, dtype: DType | None = None
) -> ResourceExhaustedError:
    """Returns TensorFlow's error for one that says that there is not enough memory.

    Args:
        error: torch's, NumPy's or Python's error.
        shape, dtype: those of the result, if they are known.
    """
    size = re.search(r"tried to allocate ([\d.]+ \w+)", str(error), re.IGNORECASE)
    if shape is None or not shape.is_fully_defined():
        return ResourceExhaustedError.of(f"OOM when allocating {size[1] if size else 'memory'}")
    of_type = "" if dtype is None else f" and type {datatype_name(dtype)}"
    tried = f": tried to allocate {size[1]}" if size else ""
    return ResourceExhaustedError.of(f"OOM when allocating tensor with shape{text(shape)}{of_type}{tried}")


@functools.cache
def _most_memory() -> int:
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
