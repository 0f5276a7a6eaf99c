"""Runs tasks in child processes that may crash or hang: the task at fault gets that as its outcome."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

ROOT = pathlib.Path(__file__).parents[2]
WORKER = pathlib.Path(__file__).with_name("worker.py")
WAITING = 12  # how many times longer a task may take that does not compute
COMPILING = 9  # how many times longer a compiled call may take
BATCH = 3000  # tasks of one process, so that what a library keeps does not add up
MEMORY = 7 << 30  # an argument may ask for a tensor of gigabytes


def run(
    side: str, python: str, tasks: list[dict[str, Any]], folder: pathlib.Path, timeout: float, memory: int = MEMORY
) -> dict[str, Any]:
    """The outcome of each task, by its id.

    Args:
        side: the module to import: "tensorflow" or "tapeflow".
        python: the interpreter that has it.
        tasks: what to run.
        folder: where to write tasks and outcomes.
        timeout: seconds that one task may take.
        memory: bytes of address space that one task may take beside what its process has.
    """
    outcomes: dict[str, Any] = {}
    left = list(tasks)
    started = time.monotonic()
    while left:
        batch = left[:BATCH]
        outcomes |= _run_batch(side, python, batch, folder, timeout, memory)
        left = [task for task in left if task["id"] not in outcomes]
        done = len(tasks) - len(left)
        print(f"{side}: {done} of {len(tasks)} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return outcomes


def _run_batch(
    side: str, python: str, batch: list[Any], folder: pathlib.Path, timeout: float, memory: int
) -> dict[str, Any]:
    """The outcomes of one process: up to its end, or to the task that ended it."""
    todo, out, log = (folder / f"{side}.{name}" for name in ("tasks", "outcomes", "log"))
    todo.write_text("".join(json.dumps(task) + "\n" for task in batch))
    out.write_text("")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    with log.open("w") as errors:
        child = subprocess.Popen([python, "-W", "ignore", str(WORKER), side, str(todo), str(out), str(memory)],
                                 stdout=subprocess.DEVNULL, stderr=errors, env=environment)  # fmt: skip
        hung = not _finishes(child, out, [timeout * (COMPILING if t["mode"].startswith("jit") else 1) for t in batch])
    outcomes = dict(json.loads(line) for line in out.read_text().splitlines())
    if len(outcomes) < len(batch):
        culprit = batch[len(outcomes)]["id"]
        last = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-1:]
        if not outcomes and child.returncode == 1:
            raise SystemExit(f"{side} does not start:\n{log.read_text()}")
        outcomes[culprit] = (
            {"hang": timeout} if hung else {"crash": f"{_cause(child.returncode)}: {(last or [''])[0][:200]}"}
        )
    return outcomes


def _finishes(child: subprocess.Popen[bytes], out: pathlib.Path, timeouts: list[float]) -> bool:
    """Waits for the process; ends it when a task takes longer than its timeout, the first a minute more.

    Time is the processor's, so that a busy machine ends nothing. A task that waits may do so for `WAITING` timeouts.
    """
    done, size, since, used = 0, 0, time.monotonic() + 60, 60.0
    while child.poll() is None:
        time.sleep(0.2)
        now, processor = time.monotonic(), _processor_time(child.pid)
        if out.stat().st_size != size:
            size, since, used = out.stat().st_size, now, processor
            done = out.read_bytes().count(b"\n")
        elif done < len(timeouts) and (
            processor - used > timeouts[done] or now - since > WAITING * timeouts[done]
        ):  # fmt: skip
            child.kill()
            child.wait()
            return False
    return True


def _processor_time(pid: int) -> float:
    """The seconds that a process has computed, or those of the clock where no file tells."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _cause(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit {code}"
