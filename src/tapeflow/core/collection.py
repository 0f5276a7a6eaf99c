"""Python's collection of garbage while modules load.

A module creates many objects that stay. A full collection among them passes through all objects, torch's too, which
takes a tenth of a second, and frees nothing.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Pauses the collection, unless other threads run: they may set it, too."""
    pauses = gc.isenabled() and threading.active_count() == 1
    if pauses:
        gc.disable()
    try:
        yield
    finally:
        if pauses:
            gc.enable()
