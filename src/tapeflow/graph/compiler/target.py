"""Compiled kernels of this package as Python functions."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

from tapeflow.core.machine_code import target
from tapeflow.core.ops import elements
from tapeflow.core.ops.elements import Unsupported
from tapeflow.core.rng import elements as random_elements

TILES = {16: (6, 4), 8: (6, 2)}  # rows and vectors of a product's tile, by the lanes of a vector: most registers
HEIGHTS = {16: (8, 3, 1), 8: (6, 3, 1)}  # of the tiles of convolutions


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


class WideCode(NamedTuple):
    """Functions of machine code for wide vectors; see `products.py` and `convolutions.py`.

    Attributes:
        lanes: the number of float32 numbers in a vector.
        heights: the heights of the tiles of convolutions, the largest first.
    """

    lanes: int
    heights: tuple[int, ...]
    transposed_product: Callable[..., Any]
    convolve: Callable[..., None]
    add_products: Callable[..., None]
    swap_channels: Callable[..., None]


@functools.cache
def wide_code() -> WideCode | None:
    """Returns the functions for wide vectors, or None if the processor has none or LLVM is not installed."""
    try:
        lanes = target().lanes
    except Unsupported:
        return None
    if lanes not in TILES or not target().has_fma:
        return None
    from tapeflow.graph.compiler import convolutions, products  # which load LLVM

    return WideCode(
        lanes, HEIGHTS[lanes], products.transposed_product, convolutions.convolve, convolutions.add_products,
        convolutions.swap_channels,
    )  # fmt: skip


@functools.cache
def _sources() -> str:
    """Returns a hash of the files that write kernels: the modules of this package, and the element forms."""
    forms = [pathlib.Path(elements.__file__), pathlib.Path(random_elements.__file__)]
    files = [*sorted(pathlib.Path(__file__).parent.glob("*.py")), *forms]
    return hashlib.sha256(b"".join([file.read_bytes() for file in files])).hexdigest()
