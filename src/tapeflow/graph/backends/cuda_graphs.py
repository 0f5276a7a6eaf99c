"""CUDA graphs: a traced function of many small ops as one launch.

On a GPU a small op costs what its launch costs, some microseconds of Python and driver. A CUDA graph holds all launches
of a program and repeats them as one. Which traces are captured is decided where they are compiled, so that a function
on the CPU has nothing of all this:

- `tf.function(experimental_attributes={"cuda_graph": True})` captures all traces that can be, and warns, once for a
  reason, of those that can't be; False captures none.
- By default ("auto"; `tf.config.optimizer.set_experimental_options({"cuda_graphs": ...})` says otherwise) a trace is
  captured if that is safe and worth it: it has at least `FEWEST` kernels, and they are small.

Safe is what does all its work on one GPU, in tensors of known shapes (`capturable.py`), as its third call has shown,
which is watched. The fourth call is recorded and replayed (`recordings.py`). Calls whose gradients a tape wants run
uncaptured, as do their backward functions: they hand each other intermediates, which would have to be copied out of
the graph's memory. A function with the tape inside, as a training step is written, is one program and captured whole.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.core.ops.kernels import first_line
from tapeflow.core.settings import settings
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.backends.capturable import Watch, draws, kernels, obstacle, written
from tapeflow.graph.backends.recordings import Recorder, Recording, Run, recording
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.ir.operation import Operation
from tapeflow.logger import get_logger

# A replay costs some 25 us of Python and driver, with the copies in and out; a launch about 5 us. From here on that is
# a gain worth the memory which the graph keeps.
FEWEST = 16
# Bytes that kernels write on the average: above, they run longer than they take to launch.
LARGEST = 1 << 22
WARM_UPS = 3  # calls; all kernels have been resolved after the first, and the last one is watched
MOST_RECORDINGS = 4  # of one trace; if its variables are looked at ever again, it stays uncaptured

MODES = (True, False, "auto")
# TensorFlow's, which say nothing here, and our own.
_ATTRIBUTES = frozenset(
    {"cuda_graph", "api_implements", "api_preferred_device", "disable_summaries_at_runtime",
     "experimental_ints_on_device", "function_runs_at_most_once", "go_backwards", "runtime_constant_optimization",
     "time_major", "_disable_acd", "_implements", "_noinline", "_OutputsOnOpDevice", "_tf_data_function"}
)  # fmt: skip

_here = threading.local()


def check_attributes(attributes: Mapping[str, Any]) -> None:
    """Refuses `experimental_attributes` that mean nothing.

    Raises:
        ValueError: an attribute has another name, or "cuda_graph" is neither a bool nor "auto".
    """
    for name, value in dict(attributes).items():
        if name not in _ATTRIBUTES:
            raise ValueError(f"`{name} is not supported by tf.function as an attribute.")
        if name == "cuda_graph" and value not in MODES:
            raise ValueError(f'`cuda_graph` must be True, False or "auto", not {value!r}.')


def option_of(name: str, attributes: Mapping[str, Any] | None, jit_compile: bool) -> CudaGraphs | None:
    """What a `tf.function` captures, or None for nothing.

    Args:
        name: the function's name.
        attributes: its `experimental_attributes`.
        jit_compile: whether TorchInductor compiles it.
    """
    asked = (attributes or {}).get("cuda_graph")
    mode = settings.optimizer_options.get("cuda_graphs", "auto") if asked is None else asked
    if mode is False:
        return None
    why = "it has jit_compile=True" if jit_compile else None if _can_record() else "there is no GPU here"
    if why is None:
        return CudaGraphs(name, mode)
    if asked is True:
        CudaGraphs(name, mode).warn(why)
    return None


def _can_record() -> bool:
    return any(device.torch.type in RECORDERS for device in devices.logical_devices())


class CudaGraphs:
    """What the traces of one `tf.function` share.

    Args:
        name: the function's name.
        mode: True or "auto".
    """

    def __init__(self, name: str, mode: Any) -> None:
        self.always = mode is True
        self._name = name
        self._said: set[str] = set()

    def compiled(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation], given: int,
    ) -> Compiled:  # fmt: skip
        """A function of a graph that is captured, if it can be. The first `given` inputs are its arguments."""
        return Captured(self, name, inputs, outputs, effects, given)

    def warn(self, why: str) -> None:
        """Logs, where capturing was asked for, why a trace is not; once for each reason."""
        if self.always and why not in self._said:
            self._said.add(why)
            get_logger().warning("tf.function %s, cuda_graph=True: it runs uncaptured, because %s.", self._name, why)


class Captured(Compiled):
    """A function of a graph that becomes a CUDA graph after some calls, if it can.

    Args:
        option: of the `tf.function` that it belongs to.
        name: the function's name.
        inputs: the tensors that it takes.
        outputs: the tensors that it gives.
        effects: operations that run in any case.
        given: how many of the inputs are arguments; the others are what it captures.
    """

    def __init__(
        self, option: CudaGraphs, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation], given: int,
    ) -> None:  # fmt: skip
        effects = list(effects)
        super().__init__(name, inputs, outputs, effects)
        why = obstacle(self.program)
        if why is not None:  # but a function that it calls may be captured
            super().__init__(name, inputs, outputs, effects, keeps=_is_captured)
        self._option = option
        self._given = given
        self._lock = threading.RLock()
        self._calls = self._recordings = self._replays = 0
        self._place: torch.device | None = None  # where it is recorded, once a rehearsal has shown that it can be
        self._rehearsed: Recorder | None = None  # keeps the stream whose workspaces are made until it is recorded there
        self._recording: Recording | None = None
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
                return self._rehearse(values) if self._place is None else self._record(values)
            if self._recording.takes(values):
                found = self._recording(values)
                if found is None:
                    return self._record(values)
                self._replays += 1
                return found
        return super().__call__(*values)

    def _plain(self, values: Sequence[Any]) -> list[torch.Tensor]:
        """Runs it, with all functions that it calls, uncaptured."""
        before, _here.inside = getattr(_here, "inside", False), True
        try:
            return list(super().__call__(*values))
        finally:
            _here.inside = before

    def _rehearse(self, values: Sequence[Any]) -> Any:
        """Runs it as it will be recorded, and looks whether it can be."""
        try:
            device = self._device(values)
            recorder = RECORDERS[device.type](device)
        except _Elsewhere as why:
            self._give_up(str(why))
            return super().__call__(*values)
        except RuntimeError as error:
            self._give_up(f"there is nothing to capture with: {first_line(error)}")
            return super().__call__(*values)
        watch = Watch(device, self.running)
        values = [*(devices.moved(v, device) for v in values[: self._given]), *values[self._given :]]
        result = recorder.rehearse(lambda: self._plain(values), watch, lambda: _tensors(values))
        if watch.obstacle is None:
            self._place, self._rehearsed = device, recorder
        else:
            self._give_up(watch.obstacle)
        return result

    def _record(self, values: Sequence[Any]) -> Any:
        """Records it, and gives what a first replay does."""
        self._recording = None
        if not recording.acquire(blocking=False):
            return super().__call__(*values)  # while another thread captures
        try:
            made = self._made(values)
        except Exception as error:  # what is captured has not run
            self._give_up(f"the capture failed: {first_line(error)}")
            made = None
        finally:
            recording.release()
        found = None if made is None else made(values)
        if found is None:
            return super().__call__(*values)
        self._recording = made
        return found

    def _made(self, values: Sequence[Any]) -> Recording | None:
        """A new recording, if there were not too many."""
        device = self._place
        if device is None or self._recordings == MOST_RECORDINGS:
            self._give_up("the values of its variables are kept by others from call to call")
            return None
        self._recordings += 1
        known = [self.program.constant(t) for t in self.program.outputs]
        fixed = {i: value for i, value in enumerate(known) if value is not None}
        run: Callable[..., Any] = lambda *inputs: self._plain(inputs)  # noqa: E731
        recorder = RECORDERS[device.type](device)
        self._rehearsed = None
        return Recording(run, recorder, device, values, self._given, fixed, draws(self.program))

    def _device(self, values: Sequence[Any]) -> torch.device:
        """The device of all tensors but the arguments, which are copied there, and the constants.

        Raises:
            _Elsewhere: there are several, or none that can be recorded.
        """
        found: torch.device | None = None
        for i, (t, v) in enumerate(zip(self.program.inputs, values, strict=True)):
            value = v._value.value if isinstance(v, Variable) else v
            if value.device.type not in RECORDERS and i < self._given and value.is_cpu:
                continue
            if value.device.type not in RECORDERS or (found is not None and value.device != found):
                raise _Elsewhere(f"{t.op.name} is on {devices.name_of(value)}")
            found = value.device
        if found is None:
            found = devices.default()
        if found.type not in RECORDERS:
            raise _Elsewhere(f"it runs on {found}")
        return found

    def _give_up(self, why: str) -> None:
        self._why_not, self._recording = why, None
        self._option.warn(why)

    @property
    def waits(self) -> bool:
        """Whether it is, or may still be, captured."""
        return self._why_not is None

    def explanation(self) -> str:
        """What has become of it."""
        if self._why_not is not None:
            return f"not captured: {self._why_not}"
        if self._recording is None:
            return f"not captured yet: after {self._calls} calls; the call after {WARM_UPS} captures it"
        count = len(kernels(self.program))
        return f"captured: {count} kernels in a CUDA graph, replayed {self._replays} times"


class _Elsewhere(Exception):
    """Why a program is not, or no longer, captured."""


def _is_captured(call: Any) -> bool:
    """Whether what a call gives comes of a function that may be captured."""
    body = call.bodies["f"]
    made = body.compiled if body.capturing is not None and body.outputs == call.gives else None
    return isinstance(made, Captured) and made.waits


def _not_worth_it(function: Compiled) -> str | None:
    steps = kernels(function.program)
    if len(steps) < FEWEST:
        return f"it has {len(steps)} kernels, and {FEWEST} are worth it"
    if written(steps) > LARGEST * len(steps):
        return f"its kernels write {written(steps) // len(steps) >> 20} MB each, and take longer than their launch"
    return None


def _tensors(values: Sequence[Any]) -> list[torch.Tensor]:
    return [v._value.value if isinstance(v, Variable) else v for v in values]


def explanation(compiled: Compiled, jit_compile: bool) -> str:
    """Whether a trace is captured, and why not. See `ConcreteFunction.explain_cuda_graph`."""
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
    """What the graphs of one device share: their memory, the stream that they are captured on, and whose turn it is.

    Intermediates of one graph may lie where those of another do, so that replays must follow each other on the device.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.memory = torch.cuda.graph_pool_handle()
        self.stream = torch.cuda.Stream(device)
        self.lock = threading.RLock()
        self.last: torch.cuda.Stream | None = None  # where the last replay went


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
        """Runs on the stream of captures, so that cuBLAS and cuDNN have their workspaces there."""
        side, current = self._pool.stream, torch.cuda.current_stream(self._pool.device)
        before = uses()
        side.wait_stream(current)
        try:
            with torch.cuda.stream(side), watch:
                result = run()
        finally:
            current.wait_stream(side)
        # What one stream frees, the other may still use.
        for tensors, stream in ((before, side), ([*uses(), *result], current)):
            for t in tensors:
                if t.is_cuda:
                    t.record_stream(stream)
        return result

    def generator(self) -> torch.Generator:
        """A generator whose state the graph advances."""
        self._generator = torch.Generator(self._pool.device)
        self._generator.seed()
        self._graph.register_generator_state(self._generator)
        return self._generator

    def record(self, run: Run) -> list[torch.Tensor]:
        """Captures; what other threads do meanwhile is no part of it, and may go on."""
        device, pool = self._pool.device, self._pool
        # `torch.cuda.graph` leaves its stream in force if the capture fails.
        with torch.cuda.device(device), torch.cuda.stream(torch.cuda.current_stream(device)):
            captured = torch.cuda.graph(
                self._graph, pool=pool.memory, stream=pool.stream, capture_error_mode="thread_local"
            )
            with captured:
                return run()

    def wait(self) -> None:
        """Has this thread's stream wait for the last replay, if that was on another."""
        current = torch.cuda.current_stream(self._pool.device)
        if self._pool.last is not None and self._pool.last != current:
            current.wait_stream(self._pool.last)
        self._pool.last = current

    def replay(self) -> None:
        """Launches the graph."""
        self._graph.replay()


# What records on the devices of a kind.
RECORDERS: dict[str, Callable[[torch.device], Recorder]] = {"cuda": CudaRecorder}
