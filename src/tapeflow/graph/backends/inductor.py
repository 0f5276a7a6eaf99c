"""`tf.function(jit_compile=True)` on GPUs: TorchInductor compiles the graph to fused kernels of Triton.

`kernel_calls.py` flattens a program. It is traced once more with tensors without memory, and compiled for the shapes of
its inputs. The first call for these shapes runs uncompiled and raises TensorFlow's errors for bad arguments. For the
same reason the uncompiled function runs if the compiled code rejects values (an index out of range).

A program with loops, conditionals or side effects is divided (`partitioning.py`). Its source stays Python, and calls a
compiled function for each part without obstacles.

Kernels that can't be compiled run eagerly before or between the compiled ones; a warning names the op and the reason.
Random numbers come from the generators of eager mode. Only one thread compiles at a time,
and torch's compiler is loaded when the first function is compiled. TorchInductor caches its code in a folder
(`TORCHINDUCTOR_CACHE_DIR`): a later process only loads it. Loaded code is never unloaded; everything else is freed
with the function.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from tapeflow.core import aten, errors
from tapeflow.core import device as devices
from tapeflow.core.forking import cached_property, new_rlock
from tapeflow.core.ops.kernels import first_line
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable_updates import Locked
from tapeflow.graph.backends.kernel_calls import Flat, FlatValue, KernelCall, Refused, Stage, is_structure, obstacle
from tapeflow.graph.backends.partitioning import CompiledPart, divide
from tapeflow.graph.backends.tracing import Argument, AtenGraph, described, empty, trace
from tapeflow.graph.codegen import passes
from tapeflow.graph.codegen.compile import Compiled, after_passes
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import Operation, variable_of
from tapeflow.logger import get_logger

MOST_SHAPES = 8  # combinations of input shapes that a function is compiled for; it runs uncompiled for others

_here = threading.local()
Compiler = Callable[[Sequence[AtenGraph]], Sequence[Callable[..., Any]]]
compiling = new_rlock()


class JitCompile:
    """The state that the compiled functions of one `tf.function` share.

    Args:
        name: the function's name.
    """

    most_shapes = MOST_SHAPES

    def __init__(self, name: str) -> None:
        self._name = name
        self._warned: set[str] = set()
        self._numbers = itertools.count()
        self._functions: weakref.WeakValueDictionary[int, Jitted] = weakref.WeakValueDictionary()

    def compiled(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (), **options: Any,
    ) -> Compiled:  # fmt: skip
        """Returns a function of a graph that TorchInductor compiles. `Compiled` describes the arguments."""
        return Jitted(self, name, inputs, outputs, effects, **options)

    def add(self, function: Jitted) -> None:
        """Adds a function to the explanation."""
        self._functions[next(self._numbers)] = function

    def explanation(self) -> str:
        """Returns a line for each function or part that ran: compiled, or the reason against it."""
        outcomes = [(function.name, function.outcome()) for _, function in sorted(self._functions.items())]
        return "\n".join(f"{name}: {outcome}" for name, outcome in outcomes if outcome) or "not compiled yet"

    def warn(self, kind: str, text: str) -> None:
        """Logs a warning, once for each kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            get_logger().warning("tf.function %s, jit_compile=True: %s", self._name, text)


class Jitted(Compiled):
    """A function of a graph that TorchInductor compiles when it is first called, whole or in parts.

    Args:
        jit: the state of its `tf.function`.
        name, inputs, outputs, effects, options: see `Compiled`.
    """

    def __init__(
        self, jit: JitCompile, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (), **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(name, inputs, outputs, effects, **options)
        self._jit = jit
        self._plans: dict[Any, Plan] = {}
        self._in_python = False
        self._outcome = ""
        self._only_plan: Plan | None = None  # the plan, if all inputs have the same shapes and device
        self._variables = [variable_of(t) for t in inputs]
        self._has_static_shapes = self.program.static and len(devices.machine.logical_devices()) == 1 and all(
            t.shape.is_fully_defined() if v is None else v._shape is None
            for t, v in zip(inputs, self._variables, strict=True)
        )  # fmt: skip
        jit.add(self)

    # ---- parts ---------------------------------------------------------------------------------------------------

    @cached_property
    def obstacles(self) -> dict[int, str]:
        """Why steps can't be compiled, by the ids of their operations."""
        whys = {id(step.operation): obstacle(self.program, step) for step in self.program.steps}
        return {i: why for i, why in whys.items() if why is not None}

    @cached_property
    def _divided(self) -> Program:
        """The program with its parts as steps."""
        divided = divide(self.program, self.obstacles, self._part)
        whys = [self.obstacles.get(id(s.operation)) for s in self.program.steps if not is_structure(s)]
        why = next((w for w in whys if w), None)
        if why is not None:
            self._jit.warn("divided", f"a part of it runs without being compiled, because {why}.")
        return divided

    def _part(self, program: Program) -> Jitted:
        return type(self)(self._jit, f"part_of_{self.name}", program.inputs, program.outputs, program=program)

    @property
    def parts(self) -> list[Jitted]:
        """The parts that are compiled."""
        kernels: list[Any] = [step.op.kernel for step in self._divided.steps if isinstance(step.op, CompiledPart)]
        return kernels

    @property
    def is_divided(self) -> bool:
        """True if it can't be compiled as a whole."""
        return bool(self.obstacles)

    def specialized(self, special_passes: Sequence[passes.Pass] = passes.SPECIALIZE) -> Program:
        """Returns the program as a part of another function, with its parts as steps."""
        return after_passes(self._divided, special_passes)

    def _program_to_write(self) -> Program:
        return after_passes(self._divided if self.is_divided else self.program, self.special_passes)

    def divide_at(self, step: Step, why: str) -> None:
        """Compiles it in parts from now on.

        Args:
            step: a step of the program, which can't be compiled.
            why: the reason.
        """
        self.obstacles[id(step.operation)] = why
        self.__dict__.pop("_divided", None)
        self._run_in_python()
        self.rewrite()

    # ---- calls ---------------------------------------------------------------------------------------------------

    def __call__(self, *values: Any) -> Any:
        """Runs the function on raw values.

        Raises:
            FailedPreconditionError: there is no C++ compiler.
            OpError: an op failed.
        """
        plan = self._only_plan or (None if self._in_python else self._plans.get(self._key(values)))
        if plan is None:
            return self.uncompiled(values) if self._in_python else self._first_call(values)
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
        """Runs the Python version. The parts of a partitioned program are compiled there, too.

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
        if self.is_divided:
            require_compiler()
            self._run_in_python()
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
            self.refused(why)
        except Exception as error:  # the call has succeeded, and must not fail now
            self.refuse(f"compiling it failed ({type(error).__name__}: {reason(error)})")
        return result

    def refused(self, why: Refused) -> None:
        """Makes later calls run in parts if a step is the obstacle, otherwise uncompiled."""
        if why.step is not None and len(self.program.steps) > 1:
            self.divide_at(why.step, str(why))
        else:
            self.refuse(str(why))

    def refuse(self, why: str) -> None:
        """Makes all later calls run uncompiled."""
        self._run_in_python()
        self._outcome = f"not compiled: {why}"
        self._jit.warn("refused", f"it runs without being compiled, because {why}.")

    def _run_in_python(self) -> None:
        self._in_python, self._only_plan = True, None
        self._plans.clear()

    def outcome(self) -> str:
        """Returns a line of text: its compiled share, and the reasons against the rest; "" if it never ran itself."""
        if self._plans:
            return "compiled" + ("" if self._has_static_shapes else f" for {len(self._plans)} shapes of its inputs")
        if self._outcome or not self._in_python:
            return self._outcome
        steps = [s for s in self.program.steps if id(s.operation) in self.obstacles]
        structure = dict.fromkeys(s.name for s in steps if is_structure(s))
        whys = dict.fromkeys(self.obstacles[id(s.operation)] for s in steps if not is_structure(s))
        around = f" around {', '.join(structure)}" if structure else ""
        parts = f" with {len(self.parts)} compiled parts" if self.parts else ""
        return f"Python{parts}{around}{''.join(f'; {why}' for why in whys)}"

    def text(self, optimized: bool, captured: Sequence[Any]) -> str:
        """Returns torch's graphs, or the source that TorchInductor writes for them.

        Args:
            optimized: asks for the source.
            captured: the raw captured values.

        Raises:
            InvalidArgumentError: it can't be compiled.
        """
        arguments = self.program.inputs[: len(self.program.inputs) - len(captured)]
        require_compiler()
        texts: list[str] = []

        def write(graphs: Sequence[AtenGraph]) -> list[Callable[..., Any]]:
            if optimized:
                texts.extend(map(_source, graphs))
            else:
                texts.extend(graph.module.print_readable(print_output=False) for graph in graphs)
            return [lambda *tensors: []] * len(graphs)

        try:
            with compiling:
                self._new_plan(
                    [*(torch.zeros(t.shape.as_list(), dtype=t.dtype.torch) for t in arguments), *captured], write
                )
        except Refused as why:
            raise errors.InvalidArgumentError(None, None, f"{self.name} can't be compiled, because {why}.") from why
        return "\n".join(texts)

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
        arguments: the descriptions of its inputs, see `described`.
        variables: for each input, the variable whose value it is, or None.
        compiler: returns the functions that compute graphs.

    Raises:
        Refused: it can't be compiled.
    """

    def __init__(self, flat: Flat, arguments: Sequence[Argument], variables: Sequence[Any], compiler: Compiler) -> None:
        trace(flat, arguments)
        stages = flat.stages()
        self.eager_because = [call.eager_because for stage in stages for call in stage.eager if call.eager_because]
        self._variables = [i for i, v in enumerate(variables) if v is not None]
        self._changes = [place for place, _ in flat.changes]
        self._count = len(flat.outputs)
        self._places = {id(v): i for i, v in enumerate(flat.inputs)}  # of tensors among `_values`
        self._values = list(flat.inputs)
        traced = [self._traced_stage(s, stages[i + 1 :], flat) for i, s in enumerate(stages)]
        runs = iter(compiler([graph for _, _, graph in traced if graph is not None]))
        self._stages: list[Any] = [
            (eager, [], [], None)
            if graph is None
            else (
                eager,
                [(i, strides) for i, (_, strides, _, _) in zip(places, graph.arguments, strict=False)],
                graph.constants,
                next(runs),
            )
            for eager, places, graph in traced
        ]
        self._results = [(self._places.get(id(v), -1), v.constant) for v in flat.results]

    def _traced_stage(
        self, stage: Stage, later: Sequence[Stage], flat: Flat
    ) -> tuple[list[KernelCall], list[int], AtenGraph | None]:
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

    def _add(self, values: Sequence[FlatValue]) -> None:
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
        tensors = list(values)
        for i in self._variables:
            tensors[i] = tensors[i]._value.value

        def value_of(value: FlatValue) -> Any:
            return tensors[self._places[id(value)]] if value.constant is None else value.constant

        for eager, places, constants, run in self._stages:
            for call in eager:
                tensors += call.run(value_of)
            if run is not None:
                inputs = [tensors[i].contiguous() if s is None else _laid_out(tensors[i], s) for i, s in places]
                tensors += run(*inputs, *constants)
        results = [tensors[i] if constant is None else constant for i, constant in self._results]
        if self._changes:
            for place, value in zip(self._changes, results[self._count :], strict=True):
                values[place]._set(value)
            del results[self._count :]
        return results


def _laid_out(tensor: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """Returns a tensor with these strides."""
    if tensor.stride() == strides:
        return tensor
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


# ---- TorchInductor ---------------------------------------------------------------------------------------------------


def inducted(graphs: Sequence[AtenGraph]) -> list[Callable[..., Any]]:
    """Returns the compiled functions of graphs.

    Raises:
        Refused: TorchInductor failed.
    """
    try:
        with compiling:
            return [_inducted(graph) for graph in graphs]
    except Exception as error:
        raise Refused(f"TorchInductor could not compile it: {reason(error)}") from error


def _inducted(graph: AtenGraph, **options: Any) -> Callable[..., Any]:
    """Compiles a graph, or loads its code from TorchInductor's cache.

    Args:
        graph: the graph, which is consumed.
        options: further arguments of `compile_fx`.
    """
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = aten.FakeTensorMode(shape_env=ShapeEnv())  # without one, nothing is cached
    with mode:
        examples = [empty(argument) for argument in graph.arguments]
    with torch.no_grad(), aten.tracing(aten.TracingContext(mode)):
        run: Any = aten.compile_fx(graph.module, examples, ignore_shape_env=True, **options)
    # Without the wrapper that hides it from Dynamo, a small call takes a tenth less time. Dynamo is not used here.
    return getattr(run, "_torchdynamo_orig_callable", run)


def _source(graph: AtenGraph) -> str:
    """Returns the code that TorchInductor generates for a graph."""
    sources: list[str] = []

    def inner(*args: Any, **kwargs: Any) -> Any:
        code: Any = aten.compile_fx_inner(*args, **kwargs)
        sources.append(getattr(code, "source_code", ""))
        return code

    with aten.inductor_config.patch(force_disable_caches=True):  # cached results have no source
        _inducted(graph, inner_compile=inner)
    return "\n".join(sources)


def require_compiler() -> None:
    """Checks that there is a C++ compiler.

    Raises:
        FailedPreconditionError: there is none.
    """
    try:
        aten.get_cpp_compiler()
    except (aten.InvalidCxxCompiler, RuntimeError) as error:
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
