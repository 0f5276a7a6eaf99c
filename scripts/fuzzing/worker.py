"""Runs tasks in a process of its own: `python worker.py tensorflow|tapeflow TASKS OUTCOMES MEMORY`.

TASKS has a line of JSON for each task: its number, the call, the mode, and a seed if the call's numbers are to be moved
by a few roundings. OUTCOMES gets a line for each, as soon as it is there, so that whoever started this process knows
where it died. MEMORY is how many bytes of address space a task may take beside what the process has.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pathlib
import re
import resource
import sys
import warnings
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))


LARGE = 1 << 30  # bytes that are worth a word


def outcome(task: dict[str, Any], tf: Any) -> Any:
    """What comes of a task."""
    from fuzzing.drawing import perturbed
    from fuzzing.modes import MODES
    from fuzzing.outcomes import encode_error

    call = task["call"] if task.get("perturb") is None else perturbed(task["call"], task["perturb"])
    try:
        return MODES[task["mode"]](call, tf)
    except Exception as error:  # whatever it raises is the outcome
        return encode_error(error)


def limit_memory(more: int) -> None:
    """Lets the process take so many bytes of address space beside what it has."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, resource.RLIM_INFINITY))


def forget_peak() -> int:
    """Begins to measure the peak of the memory anew; returns the bytes that the process has."""
    with contextlib.suppress(OSError):  # only Linux measures, and not in every container
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """Returns the most bytes of memory that the process had since `forget_peak`."""
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status)[1])


def main() -> None:
    side, tasks, outcomes, memory = sys.argv[1:]
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    # TensorFlow's own kernels: oneDNN's differ by processor.
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    tf = importlib.import_module(side)
    warnings.simplefilter("ignore")
    if side == "tensorflow":
        tf.get_logger().setLevel("ERROR")
    with open(tasks) as lines, open(outcomes, "a") as out:
        for line in lines:
            task = json.loads(line)
            limit_memory(int(memory))
            before = forget_peak()
            result = outcome(task, tf)
            if (used := peak() - before) > LARGE:
                result = {**result, "memory": used}
            print(json.dumps([task["id"], result]), file=out, flush=True)


if __name__ == "__main__":
    main()
