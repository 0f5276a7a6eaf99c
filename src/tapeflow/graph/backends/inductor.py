"""`tf.function(jit_compile=True)`: TorchInductor compiles the graph to fused C++ (Triton, on GPUs).

A program is flattened (`flat.py`), traced once more with tensors that have no memory, and compiled for the shapes of
its inputs. The first call for these shapes runs uncompiled, so that errors in the arguments are TensorFlow's. For the
same reason the uncompiled function runs if the compiled code rejects values (an index out of range).

Ops that can't be compiled run eagerly: on their own if they only compute, otherwise with the whole function; a warning
names the op and the reason. Random numbers come from the generators of eager mode. Only one thread compiles at a time,
and torch's compiler is loaded when the first function is compiled. TorchInductor caches its code in a folder
(`TORCHINDUCTOR_CACHE_DIR`), so that a later process only loads it, and never unloads it; everything else is freed with
the function.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.core import errors
from tapeflow.core.ops.kernels import first_line
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable_updates import Locked
from tapeflow.graph.backends.compile_process import Argument, compiled
from tapeflow.graph.backends.flat import Call, Flat, Refused, Stage, Value
from tapeflow.graph.backends.tracing import AtenGraph, described, trace
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.ir.operation import Operation, variable_of
from tapeflow.logger import get_logger

MOST_SHAPES = 8  # of inputs for which one function is compiled; for others it runs uncompiled
STAGES = ("hlo", "optimized_hlo")

_here = threading.local()
Compiler = Callable[[Sequence[AtenGraph]], Sequence[Callable[..., Any]]]


class _OneAtATime:
    """A lock for compiling, which tells whether other threads wait for it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._waiting: list[None] = []

    def __enter__(self) -> None:
        self._waiting.append(None)
        self._lock.acquire()
        self._waiting.pop()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    @property
    def waiting(self) -> bool:
        """True if a thread waits."""
        return bool(self._waiting)


compiling = _OneAtATime()


def _after_fork() -> None:
    """Makes the lock anew, which a thread of the parent may hold."""
    global compiling
    compiling = _OneAtATime()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class JitCompile:
    """The state that the compiled functions of one `tf.function` share.

    Args:
        name: the function's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._warned: set[str] = set()

    def compiled(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation],
    ) -> Compiled:  # fmt: skip
        """Returns a function of a graph that TorchInductor compiles; arguments as of `Compiled`."""
        return Jitted(self, name, inputs, outputs, effects)

    def warn(self, kind: str, text: str) -> None:
        """Logs a warning, once for each kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            get_logger().warning("tf.function %s, jit_compile=True: %s", self._name, text)


class Jitted(Compiled):
    """A function of a graph that TorchInductor compiles when it is first called.

    Args:
        jit: the state of its `tf.function`.
        name, inputs, outputs, effects: see `Compiled`.
    """

    def __init__(
        self, jit: JitCompile, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation],
    ) -> None:  # fmt: skip
        super().__init__(name, inputs, outputs, effects)
        self._jit = jit
        self._plans: dict[Any, Plan] = {}
        self._refused = False
        self._only_plan: Plan | None = None  # the plan, if all inputs have the same shapes and device
        self._variables = [variable_of(t) for t in inputs]
        self._has_static_shapes = len(devices.machine.logical_devices()) == 1 and all(
            t.shape.is_fully_defined() if v is None else v._shape is None
            for t, v in zip(inputs, self._variables, strict=True)
        )

    def __call__(self, *values: Any) -> Any:
        """Runs the function on raw values.

        Raises:
            FailedPreconditionError: there is no C++ compiler.
            OpError: an op failed.
        """
        plan = self._only_plan or (None if self._refused else self._plans.get(self._key(values)))
        if plan is None:
            return self.uncompiled(values) if self._refused else self._first_call(values)
        return self.run_plan(plan, values)

    def run_plan(self, plan: Plan, values: Sequence[Any]) -> Any:
        """Runs the compiled version, or the Python version if it fails.

        Raises:
            OpError: an op failed.
        """
        try:
            return plan(values)
        except Exception as error:
            result = self.uncompiled(values)  # raises TensorFlow's error
            self.refuse(f"the compiled code failed: {reason(error)}")
            return result

    def uncompiled(self, values: Sequence[Any]) -> Any:
        """Runs the Python version.

        Raises:
            OpError: an op failed.
        """
        return super().__call__(*values)

    def plan(self, values: Sequence[Any]) -> Plan:
        """Returns the compiled program for inputs of these shapes.

        Raises:
            Refused: it can't be compiled.
            FailedPreconditionError: there is no C++ compiler.
        """
        key = self._key(values)
        with compiling:
            plan = self._plans.get(key)
            if plan is None:
                require_compiler()
                plan = self._plans[key] = self._new_plan(values, inducted)
                if plan.eager_because:
                    because = plan.eager_because[0]
                    self._jit.warn("eager", f"a part of it runs without being compiled, because {because}.")
                if self._has_static_shapes:
                    self._only_plan = plan
        return plan

    def _new_plan(self, values: Sequence[Any], compiler: Compiler) -> Plan:
        flat = Flat(self.program)
        return Plan(flat, [described(v) for v in self._tensors(values)], self._variables, compiler)

    def _first_call(self, values: Sequence[Any]) -> Any:
        """Runs it uncompiled, and then compiles it for the next calls."""
        if getattr(_here, "inside", False):
            return self.uncompiled(values)
        if len(self._plans) >= MOST_SHAPES:
            self._jit.warn("shapes", f"it was compiled for {MOST_SHAPES} shapes; for others it runs uncompiled.")
            return self.uncompiled(values)
        require_compiler()
        _here.inside = True  # the functions that it calls are compiled as parts of it
        try:
            result = self.uncompiled(values)
        finally:
            _here.inside = False
        try:
            self.plan(values)
        except Refused as why:
            self.refuse(str(why))
        except Exception as error:  # the call has succeeded, and must not fail now
            self.refuse(f"compiling it failed ({type(error).__name__}: {reason(error)})")
        return result

    def text(self, stage: str, captured: Sequence[Any]) -> str:
        """Returns the text of a stage of compilation, see `Function.experimental_get_compiler_ir`.

        Args:
            stage: one of `STAGES`.
            captured: the raw captured values.

        Raises:
            ValueError: there is no such stage, or an argument's shape is not static.
            InvalidArgumentError: it can't be compiled.
        """
        if stage not in STAGES:
            raise ValueError(f"Invalid stage selected: {stage!r}. Valid values are: {', '.join(map(repr, STAGES))}")
        arguments = self.program.inputs[: len(self.program.inputs) - len(captured)]
        require_compiler()
        if not all(t.shape.is_fully_defined() for t in arguments):
            raise ValueError(f"Only support static input shape but got inputs = {list(arguments)}")
        texts: list[str] = []

        def write(graphs: Sequence[AtenGraph]) -> list[Callable[..., Any]]:
            if stage == "hlo":
                texts.extend(graph.module.print_readable(print_output=False) for graph in graphs)
            else:
                texts.extend(map(_source, graphs))
            return [lambda *tensors: []] * len(graphs)

        try:
            with compiling:
                self._new_plan(
                    [*(torch.zeros(t.shape.as_list(), dtype=t.dtype.torch) for t in arguments), *captured], write
                )
        except Refused as why:
            raise errors.InvalidArgumentError(None, None, f"{self.name} can't be compiled, because {why}.") from why
        return "\n".join(texts)

    def refuse(self, why: str) -> None:
        """Has it run uncompiled from now on."""
        self._refused, self._only_plan = True, None
        self._plans.clear()
        self._jit.warn("refused", f"it runs without being compiled, because {why}.")

    def _tensors(self, values: Sequence[Any]) -> list[Any]:
        """Returns the inputs, with the values of variables in their places."""
        return [v if variable is None else v._value.value for v, variable in zip(values, self._variables, strict=True)]

    def _key(self, values: Sequence[Any]) -> Any:
        """Returns the shapes and devices that inputs must share to use one plan."""
        if self._has_static_shapes:
            return None
        return tuple([(v.shape, getattr(v, "device", None)) for v in self._tensors(values)])


class Plan:
    """A program compiled for the shapes of its inputs.

    Attributes:
        eager_because: why calls run eagerly, for each call with a reason.

    Args:
        flat: the program.
        arguments: what its inputs are, see `described`.
        variables: for each input, the variable that it is the value of, or None.
        compiler: returns the functions that compute graphs.

    Raises:
        Refused: it can't be compiled.
    """

    def __init__(self, flat: Flat, arguments: Sequence[Argument], variables: Sequence[Any], compiler: Compiler) -> None:
        trace(flat, arguments)
        stages = flat.stages()
        self.eager_because = [call.eager_because for stage in stages for call in stage.eager if call.eager_because]
        self._is_variable = [v is not None for v in variables]
        self._changes = [place for place, _ in flat.changes]
        self._count = len(flat.outputs)
        self._places = {id(v): i for i, v in enumerate(flat.inputs)}  # of tensors among `_values`
        self._values = list(flat.inputs)
        traced = [self._traced_stage(s, stages[i + 1 :], flat) for i, s in enumerate(stages)]
        runs = iter(compiler([graph for _, _, graph in traced if graph is not None]))
        self._stages = [
            (eager, places, [], None) if graph is None else (eager, places, graph.constants, next(runs))
            for eager, places, graph in traced
        ]
        self._results = [(self._places.get(id(v), -1), v.constant) for v in flat.results]

    def _traced_stage(
        self, stage: Stage, later: Sequence[Stage], flat: Flat
    ) -> tuple[list[Call], list[int], AtenGraph | None]:
        """Traces a stage, whose outputs are added to the plan's tensors.

        Returns:
            The calls that run eagerly, then the places of the compiled function's inputs, and its graph; None if
            nothing is left to compile.
        """
        for call in stage.eager:
            self._add(call.outputs)
        used = {id(v) for call in stage.compiled for v in call.inputs if v.constant is None}
        inputs = [v for v in self._values if id(v) in used]
        places = [self._places[id(v)] for v in inputs]
        needed = {id(v) for v in flat.results}
        needed.update(id(v) for s in later for call in (*s.eager, *s.compiled) for v in call.inputs)
        outputs = [v for call in stage.compiled for v in call.outputs if id(v) in needed and v.constant is None]
        if not outputs:
            return stage.eager, [], None
        graph = AtenGraph(stage.compiled, inputs, outputs, {id(v) for _, v in flat.changes})
        self._add(outputs)
        return stage.eager, places, graph

    def _add(self, values: Sequence[Value]) -> None:
        """Adds tensors to those that later stages can use."""
        for v in values:
            self._places[id(v)] = len(self._values)
            self._values.append(v)

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """Runs the program on raw values."""
        if not self._changes:
            return self._run(values)
        with Locked([values[place] for place in self._changes]):
            return self._run(values)

    def _run(self, values: Sequence[Any]) -> list[Any]:
        inputs = zip(values, self._is_variable, strict=True)
        tensors = [v._value.value if is_variable else v for v, is_variable in inputs]

        def value_of(value: Value) -> Any:
            return tensors[self._places[id(value)]] if value.constant is None else value.constant

        for eager, places, constants, run in self._stages:
            for call in eager:
                tensors += call.run(value_of)
            if run is not None:
                tensors += run(*[tensors[i].contiguous() for i in places], *constants)
        results = [tensors[i] if constant is None else constant for i, constant in self._results]
        if self._changes:
            for place, value in zip(self._changes, results[self._count :], strict=True):
                values[place]._set(value)
            del results[self._count :]
        return results


# ---- TorchInductor ---------------------------------------------------------------------------------------------------


def inducted(graphs: Sequence[AtenGraph], only_cached: bool = False) -> list[Callable[..., Any]]:
    """Returns the compiled functions of graphs.

    Args:
        graphs: the graphs.
        only_cached: whether what TorchInductor's cache does not have is refused.

    Raises:
        Refused: TorchInductor failed.
    """
    try:
        with compiling:
            return [_inducted(graph, **({"inner_compile": _not_cached} if only_cached else {})) for graph in graphs]
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"TorchInductor could not compile it: {reason(error)}") from error


def _inducted(graph: AtenGraph, **options: Any) -> Callable[..., Any]:
    return compiled(graph.module, graph.arguments, **options)


def _not_cached(*args: Any, **kwargs: Any) -> Any:
    """Refuses to compile.

    Raises:
        Refused: always.
    """
    raise Refused("it is not in TorchInductor's cache")


def _source(graph: AtenGraph) -> str:
    """Returns the code that TorchInductor generates for a graph."""
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx_inner

    sources: list[str] = []

    def inner(*args: Any, **kwargs: Any) -> Any:
        code: Any = compile_fx_inner(*args, **kwargs)
        sources.append(getattr(code, "source_code", ""))
        return code

    with config.patch(force_disable_caches=True):  # which have no source
        compiled(graph.module, graph.arguments, inner_compile=inner)
    return "\n".join(sources)


def require_compiler() -> None:
    """Checks that there is a C++ compiler.

    Raises:
        FailedPreconditionError: there is none.
    """
    from torch._inductor import cpp_builder, exc

    try:
        cpp_builder.get_cpp_compiler()
    except (exc.InvalidCxxCompiler, RuntimeError) as error:
        raise errors.FailedPreconditionError(
            None,
            None,
            "jit_compile=True needs a C++ compiler: there is none. Install it (Debian, Ubuntu: apt-get install g++; "
            "macOS: xcode-select --install; Windows: the Build Tools for Visual Studio), or set CXX to its name before "
            f"the first such function runs, or leave jit_compile out. ({reason(error)})",
        ) from error


def reason(error: Exception) -> str:
    """Returns the first line of an error's text."""
    return first_line(error).rstrip(".")
