"""CUDA graphs: a traced function of many small ops as one launch.

On a GPU, the launch of a small op, some microseconds of Python and driver, takes longer than its kernel. A CUDA graph
holds all launches of a program and repeats them as one. The compiler of a trace decides whether to capture it, so
functions on the CPU have no overhead:

- `tf.function(experimental_attributes={"cuda_graph": True})` captures all traces that can be, and warns of the others,
  once for each reason; False captures none.
- By default ("auto"; `tf.config.optimizer.set_experimental_options({"cuda_graphs": ...})` changes it) a trace is
  captured if that is safe and pays: it has at least `FEWEST` kernels, and they are small.

A trace is safe if it does all its work on one GPU, in tensors of static shapes (`capturable.py`). Its third call is
watched to confirm that. The fourth call is recorded and replayed (`recordings.py`). Calls under a tape and their
backward functions run uncaptured, because their residuals would have to be copied out of the graph's memory. A function
with the tape inside, such as a training step, is one program and captured as a whole.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.core.forking import new_rlock
from tapeflow.core.ops.kernels import first_line
from tapeflow.core.settings import settings
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.backends.capturable import draws, kernels, obstacle, written
from tapeflow.graph.backends.recordings import GraphRecording, Run, StreamRecorder, recording
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.ir.operation import Operation
from tapeflow.logger import get_logger

# A replay costs some 25 us of Python and driver, with the copies in and out; a launch about 5 us. From this
# number of kernels the gain is worth the graph's memory.
FEWEST = 16
# Bytes that kernels write on average: those that write more run longer than their launch takes.
LARGEST = 1 << 22
WARM_UPS = 3  # calls; all kernels have been resolved after the first, and the last one is watched
MOST_RECORDINGS = 4  # of one trace; if other code retains its variables' values each time, it stays uncaptured

MODES = (True, False, "auto")
# TensorFlow's, which have no effect here, and our own.
_ATTRIBUTES = frozenset(
    {"cuda_graph", "api_implements", "api_preferred_device", "disable_summaries_at_runtime",
     "experimental_ints_on_device", "function_runs_at_most_once", "go_backwards", "runtime_constant_optimization",
     "time_major", "_disable_acd", "_implements", "_noinline", "_OutputsOnOpDevice", "_tf_data_function"}
)  # fmt: skip

_here = threading.local()


def check_attributes(attributes: Mapping[str, Any]) -> None:
    """Checks the `experimental_attributes` of a `tf.function`.

    Args:
        attributes: the attributes by their names.

    Raises:
        ValueError: an attribute has another name, or "cuda_graph" is neither a bool nor "auto".
    """
    for name, value in dict(attributes).items():
        if name not in _ATTRIBUTES:
            raise ValueError(f"`{name} is not supported by tf.function as an attribute.")
        if name == "cuda_graph" and value not in MODES:
            raise ValueError(f'`cuda_graph` must be True, False or "auto", not {value!r}.')


def option_of(name: str, attributes: Mapping[str, Any] | None, jit_compile: bool) -> CudaGraphs | None:
    """Returns the capture settings of a `tf.function`, or None if none of its traces is captured.

    Args:
        name: the function's name.
        attributes: its `experimental_attributes`.
        jit_compile: True if TorchInductor compiles it.
    """
    requested = (attributes or {}).get("cuda_graph")
    mode = settings.optimizer_options.get("cuda_graphs", "auto") if requested is None else requested
    if mode is False:
        return None
    why = "it has jit_compile=True" if jit_compile else None if _can_record() else "there is no GPU here"
    if why is None:
        return CudaGraphs(name, mode)
    if requested is True:
        CudaGraphs(name, mode).warn(why)
    return None


def _can_record() -> bool:
    return any(device.torch.type in RECORDERS for device in devices.logical_devices())


class CudaGraphs:
    """The capture settings that the traces of one `tf.function` share.

    Args:
        name: the function's name.
        mode: True or "auto".
    """

    def __init__(self, name: str, mode: Any) -> None:
        self.always = mode is True
        self._name = name
        self._warned: set[str] = set()

    def compiled(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation], argument_count: int,
    ) -> Compiled:  # fmt: skip
        """Returns the function of a trace, which is captured if it can be.

        Args:
            name, inputs, outputs, effects: see `Compiled`.
            argument_count: the number of arguments, which are the first inputs.
        """
        return Captured(self, name, inputs, outputs, effects, argument_count)

    def warn(self, why: str) -> None:
        """Logs why a trace isn't captured, if the user requested it; once for each reason."""
        if self.always and why not in self._warned:
            self._warned.add(why)
            get_logger().warning("tf.function %s, cuda_graph=True: it runs uncaptured, because %s.", self._name, why)


class Captured(Compiled):
    """A trace that becomes a CUDA graph after some calls, if it can be captured.

    Args:
        option: the settings of its `tf.function`.
        name, inputs, outputs, effects: see `Compiled`.
        argument_count: the number of arguments, which are the first inputs; the others are captured values.
    """

    def __init__(
        self, option: CudaGraphs, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation], argument_count: int,
    ) -> None:  # fmt: skip
        effects = list(effects)
        super().__init__(name, inputs, outputs, effects)
        why = obstacle(self.program)
        if why is not None:  # but a function that it calls may be captured
            super().__init__(name, inputs, outputs, effects, stays_call=_is_captured)
        self._option = option
        self._argument_count = argument_count
        self._lock = new_rlock()
        self._calls = self._recordings = self._replays = 0
        self._target: torch.device | None = None  # the device of its recording, after a successful rehearsal
        self._rehearsed: StreamRecorder | None = None  # holds the stream, with its workspaces, until the recording
        self._recording: GraphRecording | None = None
        self._why_not: str | None = None
        if why is not None:
            self._give_up(why)
        elif not option.always:
            self._why_not = _not_worth_it(self)

    def __call__(self, *values: Any) -> Any:
        """Runs the function on raw values.

        Raises:
            OpError: an op failed.
        """
        if self._why_not is not None or getattr(_here, "inside", False):
            return super().__call__(*values)
        with self._lock:
            if self._recording is None:
                self._calls += 1
                if self._calls < WARM_UPS:
                    return super().__call__(*values)
                return self._rehearse(values) if self._target is None else self._record(values)
            if self._recording.accepts(values):
                results = self._recording(values)
                if results is None:
                    return self._record(values)
                self._replays += 1
                return results
        return super().__call__(*values)

    def _plain(self, values: Sequence[Any]) -> list[torch.Tensor]:
        """Runs it and its inner calls without captures."""
        before, _here.inside = getattr(_here, "inside", False), True
        try:
            return list(super().__call__(*values))
        finally:
            _here.inside = before

    def _rehearse(self, values: Sequence[Any]) -> Any:
        """Runs it as in a recording, to check that it can be recorded."""
        try:
            device = self._device(values)
            recorder = RECORDERS[device.type](device)
        except _Elsewhere as why:
            self._give_up(str(why))
            return super().__call__(*values)
        except RuntimeError as error:
            self._give_up(f"there is nothing to capture with: {first_line(error)}")
            return super().__call__(*values)
        from tapeflow.graph.backends.dispatch_modes import Watch  # here, as it takes a private name of torch

        watch = Watch(device, self.running)
        values = [*(devices.moved(v, device) for v in values[: self._argument_count]), *values[self._argument_count :]]
        result = recorder.rehearse(lambda: self._plain(values), watch, lambda: _tensors(values))
        if watch.obstacle is None:
            self._target, self._rehearsed = device, recorder
        else:
            self._give_up(watch.obstacle)
        return result

    def _record(self, values: Sequence[Any]) -> Any:
        """Records it, and returns the results of a first replay."""
        self._recording = None
        if not recording.acquire(blocking=False):
            return super().__call__(*values)  # while another thread captures
        try:
            new = self._new_recording(values)
        except Exception as error:  # a capture runs no kernel
            self._give_up(f"the capture failed: {first_line(error)}")
            new = None
        finally:
            recording.release()
        results = None if new is None else new(values)
        if results is None:
            return super().__call__(*values)
        self._recording = new
        return results

    def _new_recording(self, values: Sequence[Any]) -> GraphRecording | None:
        """Returns a new recording, or None if there were too many."""
        device = self._target
        if device is None or self._recordings == MOST_RECORDINGS:
            self._give_up("the values of its variables are kept by others from call to call")
            return None
        self._recordings += 1
        constants = [self.program.constant(t) for t in self.program.outputs]
        fixed = {i: value for i, value in enumerate(constants) if value is not None}
        run: Callable[..., Any] = lambda *inputs: self._plain(inputs)  # noqa: E731
        recorder = RECORDERS[device.type](device)
        self._rehearsed = None
        return GraphRecording(run, recorder, device, values, self._argument_count, fixed, draws(self.program))

    def _device(self, values: Sequence[Any]) -> torch.device:
        """Returns the device of all tensors except arguments on the CPU, which are copied there, and constants.

        Raises:
            _Elsewhere: there are several, or none that can be recorded.
        """
        device: torch.device | None = None
        for i, (t, v) in enumerate(zip(self.program.inputs, values, strict=True)):
            value = v._value.value if isinstance(v, Variable) else v
            if value.device.type not in RECORDERS and i < self._argument_count and value.is_cpu:
                continue
            if value.device.type not in RECORDERS or (device is not None and value.device != device):
                raise _Elsewhere(f"{t.op.name} is on {devices.name_of(value)}")
            device = value.device
        if device is None:
            device = devices.default()
        if device.type not in RECORDERS:
            raise _Elsewhere(f"it runs on {device}")
        return device

    def _give_up(self, why: str) -> None:
        """Makes all later calls run uncaptured."""
        self._why_not, self._recording = why, None
        self._option.warn(why)

    @property
    def may_be_captured(self) -> bool:
        """True if it is captured, or may be after more calls."""
        return self._why_not is None

    def explanation(self) -> str:
        """Returns a line of text: the state of the capture, or the reason against it."""
        if self._why_not is not None:
            return f"not captured: {self._why_not}"
        if self._recording is None:
            return f"not captured yet: after {self._calls} calls; the call after {WARM_UPS} captures it"
        count = len(kernels(self.program))
        return f"captured: {count} kernels in a CUDA graph, replayed {self._replays} times"


class _Elsewhere(Exception):
    """A program's tensors are on devices where it can't be captured; the text says which."""


def _is_captured(call: Any) -> bool:
    """Returns True if a call runs a function that is, or may be, captured."""
    body = call.bodies["f"]
    compiled = body.compiled if body.capturing is not None and body.outputs == call.results else None
    return isinstance(compiled, Captured) and compiled.may_be_captured


def _not_worth_it(function: Compiled) -> str | None:
    """Returns the reason why a capture would not pay, or None."""
    steps = kernels(function.program)
    if len(steps) < FEWEST:
        return f"it has {len(steps)} kernels, and {FEWEST} are worth it"
    if written(steps) > LARGEST * len(steps):
        return f"its kernels write {written(steps) // len(steps) >> 20} MB each, and take longer than their launch"
    return None


def _tensors(values: Sequence[Any]) -> list[torch.Tensor]:
    return [v._value.value if isinstance(v, Variable) else v for v in values]


def explanation(compiled: Compiled, jit_compile: bool) -> str:
    """Returns a line of text: the state of a trace's capture, or the reason against it.

    Args:
        compiled: the trace's function.
        jit_compile: True if TorchInductor compiles it.
    """
    if isinstance(compiled, Captured):
        return compiled.explanation()
    if jit_compile:
        return "not captured: it has jit_compile=True"
    if _can_record():
        return "not captured: it is not to be"
    why = obstacle(compiled.program)
    return "not captured: there is no GPU here" + ("" if why is None else f"; and where there is one, {why}")


# ---- CUDA ------------------------------------------------------------------------------------------------------------


class _Pool:
    """The memory and the capture stream that the graphs of one device share, and the order of their replays.

    Graphs share memory for their intermediate results. So replays must follow each other on the device.

    Args:
        device: a CUDA device.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.memory = torch.cuda.graph_pool_handle()
        self.stream = torch.cuda.Stream(device)
        self.lock = new_rlock()
        self.last: torch.cuda.Stream | None = None  # of the last replay


_pools: weakref.WeakValueDictionary[torch.device, _Pool] = weakref.WeakValueDictionary()


class CudaRecorder:
    """Records into a `torch.cuda.CUDAGraph`. The graph and its memory are freed with it.

    Args:
        device: a CUDA device.
    """

    def __init__(self, device: torch.device) -> None:
        pool = _pools.get(device)
        if pool is None:
            pool = _pools[device] = _Pool(device)
        self._pool = pool
        self._graph = torch.cuda.CUDAGraph()
        self._generator: torch.Generator | None = None
        self.lock = pool.lock

    def rehearse(self, run: Run, watch: AbstractContextManager[Any], uses: Callable[[], list[torch.Tensor]]) -> Any:
        """Runs on the capture stream: cuBLAS and cuDNN allocate their workspaces there."""
        side, current = self._pool.stream, torch.cuda.current_stream(self._pool.device)
        before = uses()
        side.wait_stream(current)
        try:
            with torch.cuda.stream(side), watch:
                result = run()
        finally:
            current.wait_stream(side)
        # A stream may free memory that the other one still uses.
        for tensors, stream in ((before, side), ([*uses(), *result], current)):
            for t in tensors:
                if t.is_cuda:
                    t.record_stream(stream)
        return result

    def generator(self) -> torch.Generator:
        """Returns a generator whose state each replay advances."""
        self._generator = torch.Generator(self._pool.device)
        self._generator.seed()
        self._graph.register_generator_state(self._generator)
        return self._generator

    def record(self, run: Run) -> list[torch.Tensor]:
        """Captures the launches of this thread; other threads may launch kernels meanwhile, which the graph omits."""
        device, pool = self._pool.device, self._pool
        # `torch.cuda.graph` leaves its stream current if the capture fails.
        with torch.cuda.device(device), torch.cuda.stream(torch.cuda.current_stream(device)):
            captured = torch.cuda.graph(
                self._graph, pool=pool.memory, stream=pool.stream, capture_error_mode="thread_local"
            )
            with captured:
                return run()

    def wait(self) -> None:
        """Makes this thread's stream wait for the last replay if it was on another stream."""
        current = torch.cuda.current_stream(self._pool.device)
        if self._pool.last is not None and self._pool.last != current:
            current.wait_stream(self._pool.last)
        self._pool.last = current

    def replay(self) -> None:
        """Launches the graph."""
        self._graph.replay()


# The recorders by the types of devices.
RECORDERS: dict[str, Callable[[torch.device], StreamRecorder]] = {"cuda": CudaRecorder}
