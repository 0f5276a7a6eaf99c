"""MKL's speed on this processor.

ATen calls MKL for products. For processors of other makers, some of MKL's code is general. oneDNN has code for all. The
first process on a machine times both. Later ones read the outcome from a file: a program gives the same bits in each
run.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import torch

from tapeflow.core import aten, disk_cache


class Slowness(NamedTuple):
    """MKL's times over the times of others.

    Attributes:
        products: for a product, over oneDNN's time. On an Intel Xeon 0.8 to 1.05, on AMD EPYCs 1.1 to 2.3.
        narrow: for a product of ten columns, over the time of the product of the transposes.
    """

    products: float
    narrow: float


def products_are_slow() -> bool:
    """Returns True if oneDNN multiplies large matrices faster."""
    return _find_slowness().products >= 1.06


def narrow_products_are_slow() -> bool:
    """Returns True if products of 2 to 15 columns are faster with transposed matrices."""
    return _find_slowness().narrow >= 1.5


@functools.cache
def _find_slowness() -> Slowness:
    if not (torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()):
        return Slowness(0.0, 0.0)
    settings = sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith(("MKL_", "ONEDNN_", "DNNL_")))
    key = f"{torch.__version__} {_processor_name()} {settings}"
    name = f"mkl_products_{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    known = disk_cache.read(name)
    if known is None:
        with ThreadPoolExecutor(1) as thread:  # modes of torch in this thread, such as one for fake tensors, stay here
            known = " ".join(map(str, thread.submit(_measure_slowness).result())).encode()
        disk_cache.write(name, known)
    return Slowness(*map(float, known.split()))


def _processor_name() -> str:
    """Returns the name of the processor, and the instruction set that torch uses."""
    name = platform.processor()
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        name = next((line for line in file if line.startswith("model name")), name).strip()
    return f"{name} {torch.backends.cpu.get_cpu_capability()}"


def _measure_slowness() -> Slowness:
    wide, narrow = torch.full((256, 1024), 0.5), torch.full((1024, 10), 0.5)
    return Slowness(
        _time_ratio(partial(torch.mm, wide, wide.t()), partial(aten.onednn_linear, wide, wide, None, "none", [], "")),
        _time_ratio(partial(torch.mm, wide, narrow), partial(torch.mm, narrow.t(), wide.t())),
    )


def _time_ratio(*functions: Callable[[], Any]) -> float:
    """Returns the first function's time over the second one's.

    The clock is this thread's own, so other processes matter little, and the fastest round counts.
    """
    best = [math.inf, math.inf]
    for _ in range(10):
        for i, function in enumerate(functions):
            start = time.thread_time_ns()
            function()
            best[i] = min(best[i], time.thread_time_ns() - start)
    return best[0] / max(best[1], 1)
