"""Sets how many threads a kernel uses, and how they wait for each other. It loads torch: import it before all else.

libgomp's threads wait for each other actively, by default for milliseconds. On a busy machine the awaited thread may
not be running. With five busy processes on two processors, a training step of an LSTM took ten times as long as with
threads that wait for some microseconds (about the time that the system needs to wake one) and then sleep.
"""

from __future__ import annotations

import importlib
import math
import os
from pathlib import Path

_SPINS = "1000"  # 15 to 60 us, by processor
_SET_BY_USER = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


def load_torch() -> None:
    """Loads torch with threads that soon sleep while they wait.

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


def use_quota() -> None:
    """Limits the threads of a kernel to the processors that the container may use, unless OMP_NUM_THREADS says more.

    torch heeds the processors that the process may run on, not the time that it may have on them.
    """
    import torch

    limit = quota(Path("/sys/fs/cgroup"))
    if limit is not None and limit < torch.get_num_threads() and "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(limit)


def quota(cgroup: Path) -> int | None:
    """Returns the number of processors whose time a control group may use, rounded up; None if there is no limit."""
    try:
        if (cgroup / "cpu.max").exists():
            time, period = (cgroup / "cpu.max").read_text().split()
        else:
            time, period = ((cgroup / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return math.ceil(int(time) / int(period)) if int(time) > 0 else None
    except (OSError, ValueError):  # no control groups, or "max": no limit
        return None


load_torch()
