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
from tapeflow.core.rng import elements as random_elements


def function(name: str, key: str, text: Callable[[], str], arguments: int) -> Any:
    """Returns a compiled function of pointers and integers. It runs without the interpreter's lock.

    Args:
        name, key, text: see `Target.load`.
        arguments: the number of its arguments.
    """
    code = target().load(name, f"{key} {_sources()}", text)
    compiled: Any = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(code.address)
    compiled.code = code  # it is freed with the function
    return compiled


@functools.cache
def _sources() -> str:
    """Returns a hash of the files that write kernels: the modules of this package, and the element forms."""
    forms = [pathlib.Path(elements.__file__), pathlib.Path(random_elements.__file__)]
    files = [*sorted(pathlib.Path(__file__).parent.glob("*.py")), *forms]
    return hashlib.sha256(b"".join([file.read_bytes() for file in files])).hexdigest()
