"""Compiling in the background: a function that stays hot is compiled while its Python version goes on serving.

With `tf.function(experimental_attributes={"background_compile": True})`, or for all functions that are traced later
`tf.config.optimizer.set_experimental_options({"background_compile": True})`, a trace that has taken `HOT` seconds goes
through these stages:

- A thread traces it to ATen calls, and a second process has TorchInductor compile them (`compile_process.py`), which
  fills TorchInductor's cache on disk. Then the thread loads the code from there.
- The next calls run the Python version and the compiled one in turn. Both compute the same, changes of variables and
  draws of random numbers included. The one whose median time is shorter serves from then on.

What fails on the way leaves the Python version in place. It is off by default: fused results differ in the last digit,
and the second process takes a core for a minute. It never starts where there is no C++ compiler, or a GPU.

TorchInductor can compile in processes of its own (`fx_compile_mode`): it does the first third of the work, which took
12 s of a transformer's training step, in this process, leaves its pool of processes behind, and ends them at exit by
waiting for them.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tapeflow.core import device as devices
from tapeflow.core.settings import settings
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.backends import compile_process, inductor
from tapeflow.graph.backends.flat import Flat, Refused
from tapeflow.graph.backends.tracing import AtenGraph
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.ir.operation import Operation
from tapeflow.logger import get_logger

HOT = 5.0  # seconds that a trace has to take in all
FEWEST = 20  # calls: what is called less often may not be called again
ROUNDS = 7  # calls of each version that are compared
SHARE = 0.1  # of the time, in which the thread may hold the interpreter's lock
_COMPILER = os.environ.get("CXX", {"darwin": "clang++", "win32": "cl"}.get(sys.platform, "g++"))  # TorchInductor's
_SLICE = 0.005  # seconds that it holds it at a time

_NOT_YET = "not compiled yet: it has taken {:.2g} s of {:g}, in {} calls"

clock: Callable[[], float] = time.perf_counter

COUNTING, COMPILING, COMPARING, COMPILED, PYTHON = "counting", "compiling", "comparing", "compiled", "python"


def option_of(name: str, attributes: Mapping[str, Any] | None, jit_compile: bool) -> BackgroundCompile | None:
    """Returns the state of a `tf.function` whose traces are compiled in the background, or None if they are not.

    Args:
        name: the function's name.
        attributes: its `experimental_attributes`.
        jit_compile: whether it is compiled at once.
    """
    requested = (attributes or {}).get("background_compile")
    enabled = settings.optimizer_options.get("background_compile", False) if requested is None else requested
    return BackgroundCompile(name) if enabled and not jit_compile and not devices.machine.has_gpu else None


class BackgroundCompile(inductor.JitCompile):
    """The state that the traces of one `tf.function` share."""

    at_once = False

    def compiled(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (), **options: Any,
    ) -> Compiled:  # fmt: skip
        """Returns a function of a graph that is compiled when it is hot; arguments as of `Compiled`."""
        return Hot(self, name, inputs, outputs, effects, **options)

    def warn(self, kind: str, text: str) -> None:
        """Logs what a warning is with `jit_compile=True`: nobody asked for this function to be compiled."""
        get_logger().debug("tf.function %s, compiled in the background: %s", self._name, text)


class Hot(inductor.Jitted):
    """A function of a graph that is compiled in the background when it is hot.

    Args:
        option: the state of its `tf.function`.
        name, inputs, outputs, effects, options: see `Compiled`.
    """

    def __init__(
        self, option: BackgroundCompile, name: str, inputs: Sequence[SymbolicTensor],
        outputs: Sequence[SymbolicTensor], effects: Iterable[Operation] = (), **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(option, name, inputs, outputs, effects, **options)
        self._stage = COUNTING
        self._seconds = 0.0
        self._calls = 0
        self._lock = threading.Lock()
        self._plan: inductor.Plan | None = None
        self._hot_key: Any = None  # of the inputs for which it is compiled
        self._turns = 0
        self._times: tuple[list[float], list[float]] = [], []  # of the Python version, and of the compiled one

    def __call__(self, *values: Any) -> Any:
        """Runs the function on raw values.

        Raises:
            OpError: an op failed.
        """
        stage = self._stage
        if stage is COUNTING:
            start = clock()
            result = self.uncompiled(values)
            self._seconds += clock() - start
            self._calls += 1
            if self._calls == 1 and self.is_divided:
                self._run_in_python()
            if self._seconds >= HOT and self._calls >= FEWEST:
                self._submit(values)
            return result
        if stage is COMPARING:
            return self._compared(values)
        plan = self._plan
        if plan is None or (not self._has_static_shapes and self._key(values) != self._hot_key):
            return self.uncompiled(values)
        return self.run_plan(plan, values)

    def _submit(self, values: Sequence[Any]) -> None:
        """Has it compiled for inputs of these shapes."""
        with self._lock:
            if self._stage is not COUNTING:
                return
            self._stage = COMPILING
            self._hot_key = self._key(values)
        # The values themselves are not kept: a variable's value is updated in place only if nobody else has it.
        arguments = [inductor.described(v) for v in self._tensors(values)]
        this = weakref.ref(self)
        enqueue(lambda: build(this, arguments))

    def plan_in_background(self, arguments: Sequence[Any]) -> None:
        """Compiles it, and has the next calls compare the versions.

        Args:
            arguments: what its inputs are.

        Raises:
            Refused: it can't be compiled.
        """
        if shutil.which(_COMPILER) is None:
            raise Refused(f"there is no C++ compiler: {_COMPILER}")
        if self.locks:
            raise Refused("it runs under a lock")
        flat = Flat(self.program)
        plan = inductor.Plan(flat, arguments, self._variables, compiled_elsewhere)
        with self._lock:
            self._plan, self._stage = plan, COMPARING

    def _run_in_python(self) -> None:
        super()._run_in_python()
        self._stage, self._plan = PYTHON, None

    def refuse(self, why: str) -> None:
        """Has the Python version serve from now on."""
        self._run_in_python()
        self._outcome = f"not compiled: {why}"
        get_logger().debug("tf.function %s is not compiled in the background, because %s.", self.name, why)

    def explanation(self) -> str:
        """Returns whether it is compiled, and why not, as a line of text; if it is compiled in parts, one for each."""
        divided = self._in_python and not self._outcome
        return self._jit.explanation() if divided else self.outcome() or _NOT_YET.format(0, HOT, 0)

    def _compared(self, values: Sequence[Any]) -> Any:
        """Runs one of the versions, and measures it; decides after the last round."""
        if self._key(values) != self._hot_key or not self._lock.acquire(blocking=False):
            return self.uncompiled(values)
        try:
            plan = self._plan
            if plan is None:
                return self.uncompiled(values)
            which = self._turns % 2
            start = clock()
            result = self.run_plan(plan, values) if which else self.uncompiled(values)
            took = clock() - start
            self._turns += 1
            if self._turns > 2:  # the first ones warm up
                self._times[which].append(took)
            if len(self._times[1]) == ROUNDS and self._plan is not None:
                self._decide()
            return result
        finally:
            self._lock.release()

    def _decide(self) -> None:
        python, compiled = (1e3 * sorted(times)[len(times) // 2] for times in self._times)  # medians, of `ROUNDS`
        if compiled >= python:
            self.refuse(f"that takes {compiled:.3g} ms a call, and the Python version {python:.3g}")
            return
        self._stage = COMPILED
        self._outcome = f"compiled: {compiled:.3g} ms a call instead of {python:.3g}"
        get_logger().info("tf.function %s is %s.", self.name, self._outcome)

    def outcome(self) -> str:
        """Returns whether it is compiled, and why not, as a line of text; "" for what is only a part of others."""
        if self._in_python and not self._outcome:
            return super().outcome()
        if not self._calls:
            return ""
        if self._stage is COUNTING:
            return _NOT_YET.format(self._seconds, HOT, self._calls)
        if self._stage is COMPILING:
            return "not compiled yet: TorchInductor is at work"
        return self._outcome or "not decided yet: its next calls compare the versions"


def explanation(compiled: Compiled) -> str:
    """Returns whether a trace is compiled in the background, and why not, as a line of text.

    Args:
        compiled: the trace's function.
    """
    if isinstance(compiled, Hot):
        return compiled.explanation()
    return (
        "not compiled: it has jit_compile=True" if isinstance(compiled, inductor.Jitted) else "not compiled: it is off"
    )


def build(reference: Callable[[], Hot | None], arguments: Sequence[Any]) -> None:
    """Compiles a function, unless it was dropped meanwhile.

    Args:
        reference: returns the function.
        arguments: what its inputs are.
    """
    function = reference()
    if function is None:
        return
    try:
        with full_collections_postponed():
            function.plan_in_background(arguments)
    except Refused as why:
        function.refused(why)
    except Exception as error:  # nobody calls this who could be told
        function.refuse(f"compiling it failed ({type(error).__name__}: {inductor.reason(error)})")


def compiled_elsewhere(graphs: Sequence[AtenGraph]) -> list[Callable[..., Any]]:
    """Returns the functions of graphs that a second process has compiled.

    Raises:
        Refused: TorchInductor failed, or the process did not leave what was compiled in the cache.
    """
    second_process(compile_process.packed([(graph.module, graph.arguments) for graph in graphs]))
    return inductor.inducted(graphs, only_cached=True)


@contextlib.contextmanager
def full_collections_postponed() -> Iterator[None]:
    """Has Python's collector leave old objects alone.

    Loading TorchInductor makes so many objects that it would look through all of them several times, and other threads
    would wait for a tenth of a second each time.
    """
    before = gc.get_threshold()
    within = (*before[:2], 1 << 30)
    gc.set_threshold(*within)
    try:
        yield
    finally:
        if gc.get_threshold() == within:  # or somebody has changed it meanwhile
            gc.set_threshold(*before)


# ---- the thread, and the second process ------------------------------------------------------------------------------


class _Ending(BaseException):
    """The process ends."""


_lock = threading.Lock()
_jobs: deque[Callable[[], None]] = deque()
_thread: threading.Thread | None = None
_process: subprocess.Popen[bytes] | None = None
_ending = False


def enqueue(job: Callable[[], None]) -> None:
    """Has the thread do a job. The thread ends when there are no more.

    Args:
        job: what to do.
    """
    global _thread
    with _lock:
        _jobs.append(job)
        if _thread is None and not _ending:
            _thread = threading.Thread(target=_work, name="tapeflow-compile", daemon=True)
            _thread.start()


def _work() -> None:
    global _thread
    # Not by the priority of the thread: one that holds the interpreter's lock must not wait for a processor.
    sys.setprofile(_Throttle())
    with contextlib.suppress(_Ending):
        while True:
            with _lock:
                if not _jobs:
                    _thread = None
                    return
                job = _jobs.popleft()
            job()


class _Throttle:
    """Lets this thread sleep so much that it runs Python for a `SHARE` of the time, and ends it at exit.

    Called at each call and return of a function.
    """

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._end_of_slice = time.perf_counter() + _SLICE
        self._used = time.thread_time()

    def __call__(self, frame: Any, event: str, arg: Any) -> None:
        if _ending:
            raise _Ending
        if time.perf_counter() < self._end_of_slice:
            return
        if not inductor.compiling.waiting:  # for this thread: another one compiles with `jit_compile=True`
            time.sleep((time.thread_time() - self._used) * (1 / SHARE - 1))
        self._start()


def second_process(data: bytes) -> None:
    """Has a process compile graphs.

    Args:
        data: the graphs, see `compile_process.packed`.

    Raises:
        Refused: it failed.
    """
    global _process
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-P", compile_process.__file__],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, start_new_session=True,
        env=environment,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    _process = process
    try:
        view = memoryview(len(data).to_bytes(8, "little") + data)
        while view:
            view = view[process.stdin.write(view) :]
        importlib.import_module("torch._inductor.compile_fx")  # meanwhile: it takes seconds

        answer = process.stdout.read().decode()
    except OSError as error:
        raise Refused(f"the compiling process can't be reached: {error}") from error
    finally:
        _process = None
        _end(process)
    if answer != compile_process.DONE:
        raise Refused(f"the compiling process failed: {answer or 'it was ended'}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process with the compilers that it runs."""
    _kill(process)
    process.wait()
    _close(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


@atexit.register
def _at_exit() -> None:
    global _ending
    _ending = True
    process, thread = _process, _thread
    if process is not None:
        _kill(process)
    if thread is not None:
        thread.join(2.0)  # it looks at `_ending` all the time, unless a library is in C


def _after_fork() -> None:
    """Forgets the thread and the process, which are the parent's."""
    global _lock, _thread, _process
    _lock, _thread = threading.Lock(), None
    _jobs.clear()
    if _process is not None:
        _close(_process)  # or it would not see the parent's end
        _process = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
