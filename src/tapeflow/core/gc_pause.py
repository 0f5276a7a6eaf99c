"""Python's collection of garbage while modules load and functions are traced.

Both create many objects that stay: the modules of torch and TapeFlow 300,000. A collection that passes through all of
them takes a tenth of a second, and frees nothing.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collection(freezes: bool = False) -> Iterator[None]:
    """Pauses the collection, unless other threads run: they may set it, too.

    Args:
        freezes: leaves out the objects that exist by then from all later collections.
    """
    pauses = gc.isenabled() and threading.active_count() == 1
    if pauses:
        gc.disable()
    try:
        yield
        if pauses and freezes:
            gc.freeze()
    finally:
        if pauses:
            gc.enable()
