"""Compiled kernels of this package as Python functions."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import pathlib
from collections.abc import Callable
from typing import Any

from tapeflow.core.machine_code import target
from tapeflow.core.ops import elements
from tapeflow.core.ops.elements import Unsupported
from tapeflow.core.rng import elements as random_elements

TILES = {16: (6, 4), 8: (6, 2)}  # rows and vectors of a product's tile, by the lanes of a vector: most registers


def function(name: str, key: str, text: Callable[[], str]) -> Any:
    """Returns a compiled function of a table of 64-bit integers, as bytes or an array of `ctypes`.

    It runs without the interpreter's lock. Packed bytes take a quarter of the time of an argument for each integer.

    Args:
        name, key, text: see `Target.load`.
    """
    code = target().load(name, f"{key} {_sources()}", text)
    compiled: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address)
    compiled.code = code  # it is freed with the function
    return compiled


@functools.cache
def transposed_product() -> Callable[..., Any] | None:
    """Returns the function of `products.py`, or None if the processor has no wide vectors."""
    try:
        if target().lanes not in TILES or not target().has_fma:
            return None
    except Unsupported:
        return None
    from tapeflow.graph.compiler import products  # which loads LLVM

    return products.transposed_product


@functools.cache
def _sources() -> str:
    """Returns a hash of the files that write kernels: the modules of this package, and the element forms."""
    forms = [pathlib.Path(elements.__file__), pathlib.Path(random_elements.__file__)]
    files = [*sorted(pathlib.Path(__file__).parent.glob("*.py")), *forms]
    return hashlib.sha256(b"".join([file.read_bytes() for file in files])).hexdigest()
