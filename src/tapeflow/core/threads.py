"""The threads of kernels: how long they wait actively for each other, and forks. It loads torch: import it first.

While a thread waits actively, the next kernel starts at once. Waking a sleeping thread takes 20 to 100 us, on virtual
machines more than many kernels. With waits of 50 us instead of 1 ms, a training step of convolutions took 1.8 times as
long. libgomp's own choice of up to 15 ms keeps processors from others. If others need them, `processors.py` uses fewer
threads in functions and tapes. Plain eager ops keep theirs: with waits of 1.5 ms, some took ten times as long.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import pathlib

_SPINS = "10000"  # 0.2 to 0.5 ms, by processor
_PAUSE_HARD = 2  # of OpenMP: threads end, and the next kernel starts new ones
_SET_BY_USER = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


def load_torch() -> None:
    """Loads torch with threads that wait actively for some tenths of a millisecond, and then sleep.

    libgomp reads its settings from the environment when torch loads it. Those of the user stay in force, and where
    torch is loaded already, nothing happens.
    """
    if any(name in os.environ for name in _SET_BY_USER):
        return
    os.environ["GOMP_SPINCOUNT"] = _SPINS
    try:
        importlib.import_module("torch")
    finally:
        del os.environ["GOMP_SPINCOUNT"]  # child processes have settings of their own


def end_threads_before_forks() -> None:
    """Has the threads of kernels end when the process forks. In the new process, kernels would wait for them.

    Other libraries of OpenMP than libgomp do that themselves.
    """
    folder = pathlib.Path(importlib.import_module("torch").__file__ or "").parent / "lib"
    for path in folder.glob("libgomp*"):
        pause = getattr(ctypes.CDLL(str(path)), "omp_pause_resource_all", None)
        if pause is not None:
            os.register_at_fork(before=functools.partial(pause, _PAUSE_HARD))


load_torch()
if hasattr(os, "register_at_fork"):
    end_threads_before_forks()
