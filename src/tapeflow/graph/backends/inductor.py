"""`tf.function(jit_compile=True)`: TorchInductor compiles the graph to fused C++ (Triton, on GPUs).

A program is flattened (`flat.py`), traced once more with tensors that have no memory, and compiled for the shapes of
its inputs. The first call for these shapes runs uncompiled, so that errors in the arguments are TensorFlow's. For the
same reason the uncompiled function runs if the compiled code rejects values (an index out of range).

Ops that can't be compiled run eagerly: on their own if they only compute, otherwise with the whole function; a warning
names the op and the reason. Random numbers come from the generators of eager mode. Only one thread compiles at a time,
and torch's compiler is loaded when the first function is compiled. TorchInductor caches its code in a folder
(`TORCHINDUCTOR_CACHE_DIR`), so that a later process compiles the same program faster, and never unloads it; everything
else is freed with the function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.core import errors
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.ops.kernels import first_line
from tapeflow.core.ops.static import numbers
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable_updates import Locked
from tapeflow.graph.backends.flat import Call, Flat, Refused, Stage, Value, label
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.ir.operation import Operation, variable_of
from tapeflow.logger import get_logger

MOST_SHAPES = 8  # of inputs for which one function is compiled; for others it runs uncompiled
STAGES = ("hlo", "optimized_hlo")

_MOST_CONSTANT = 1 << 16  # bytes: larger constants are computed in each run
_compiling = threading.RLock()
_here = threading.local()


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
        self._plans: dict[Any, _Plan] = {}
        self._refused = False
        self._only_plan: _Plan | None = None  # the plan, if all inputs have the same shapes and device
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
            return super().__call__(*values) if self._refused else self._first_call(values)
        try:
            return plan(values)
        except Exception as error:
            result = super().__call__(*values)  # raises TensorFlow's error
            self._refuse(f"the compiled code failed: {_first_line(error)}")
            return result

    def plan(self, values: Sequence[Any]) -> _Plan:
        """Returns the compiled program for inputs of these shapes.

        Raises:
            Refused: it can't be compiled.
            FailedPreconditionError: there is no C++ compiler.
        """
        key = self._key(values)
        with _compiling:
            plan = self._plans.get(key)
            if plan is None:
                _require_compiler()
                plan = self._plans[key] = _Plan(Flat(self.program), self._tensors(values), self._variables)
                if plan.eager_because:
                    reason = plan.eager_because[0]
                    self._jit.warn("eager", f"a part of it runs without being compiled, because {reason}.")
                if self._has_static_shapes:
                    self._only_plan = plan
        return plan

    def _first_call(self, values: Sequence[Any]) -> Any:
        """Runs it uncompiled, and then compiles it for the next calls."""
        if getattr(_here, "inside", False):
            return super().__call__(*values)
        if len(self._plans) >= MOST_SHAPES:
            self._jit.warn("shapes", f"it was compiled for {MOST_SHAPES} shapes; for others it runs uncompiled.")
            return super().__call__(*values)
        _require_compiler()
        _here.inside = True  # the functions that it calls are compiled as parts of it
        try:
            result = super().__call__(*values)
        finally:
            _here.inside = False
        try:
            self.plan(values)
        except Refused as why:
            self._refuse(str(why))
        except Exception as error:  # the call has succeeded, and must not fail now
            self._refuse(f"compiling it failed ({type(error).__name__}: {_first_line(error)})")
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
        if not all(t.shape.is_fully_defined() for t in arguments):
            raise ValueError(f"Only support static input shape but got inputs = {list(arguments)}")
        try:
            plan = self.plan([*(torch.zeros(t.shape.as_list(), dtype=t.dtype.torch) for t in arguments), *captured])
        except Refused as why:
            raise errors.InvalidArgumentError(None, None, f"{self.name} can't be compiled, because {why}.") from why
        return plan.graph if stage == "hlo" else plan.source

    def _refuse(self, why: str) -> None:
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


class _Plan:
    """A program compiled for the shapes of its inputs.

    Attributes:
        graph: the ATen calls that TorchInductor compiled, as Python source.
        source: the code that it generated.
        eager_because: why calls run eagerly, for each call with a reason.

    Args:
        flat: the program.
        tensors: examples of its inputs.
        variables: for each input, the variable that it is the value of, or None.
    """

    def __init__(self, flat: Flat, tensors: Sequence[Any], variables: Sequence[Any]) -> None:
        _infer(flat, tensors)
        stages = flat.stages()
        self.eager_because = [call.eager_because for stage in stages for call in stage.eager if call.eager_because]
        self.graph = self.source = ""
        self._is_variable = [v is not None for v in variables]
        self._changes = [place for place, _ in flat.changes]
        self._count = len(flat.outputs)
        self._places = {id(v): i for i, v in enumerate(flat.inputs)}  # of tensors among `_values`
        self._values = list(flat.inputs)
        with torch.no_grad():
            self._stages = [self._compiled_stage(s, stages[i + 1 :], flat, tensors) for i, s in enumerate(stages)]
        self._results = [(self._places.get(id(v), -1), v.constant) for v in flat.results]

    def _compiled_stage(
        self, stage: Stage, later: Sequence[Stage], flat: Flat, tensors: Sequence[Any]
    ) -> tuple[list[Call], list[int], Callable[..., Any] | None]:
        """Compiles a stage, whose outputs are added to the plan's tensors.

        Returns:
            The calls that run eagerly, then the places of the compiled function's inputs, and the function; None if
            nothing is left to compile.
        """
        for call in stage.eager:
            self._add(call.outputs)
        used = {id(v) for call in stage.compiled for v in call.inputs}
        inputs = [v for v in self._values if id(v) in used]
        places = [self._places[id(v)] for v in inputs]
        needed = {id(v) for v in flat.results}
        needed.update(id(v) for s in later for call in (*s.eager, *s.compiled) for v in call.inputs)
        outputs = [v for call in stage.compiled for v in call.outputs if id(v) in needed and v.constant is None]
        if not outputs:
            return stage.eager, [], None
        assigned = {id(v) for _, v in flat.changes}
        examples = [_example(v, tensors[i] if i < len(tensors) else None) for v, i in zip(inputs, places, strict=True)]
        run, graph, source = _inducted(_function(stage.compiled, inputs, outputs, assigned), examples)
        self.graph, self.source = self.graph + graph, self.source + source
        self._add(outputs)
        return stage.eager, places, run

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

        for eager, places, run in self._stages:
            for call in eager:
                tensors += call.run(value_of)
            if run is not None:
                tensors += run(*[tensors[i].contiguous() for i in places])
        results = [tensors[i] if constant is None else constant for i, constant in self._results]
        if self._changes:
            for place, value in zip(self._changes, results[self._count :], strict=True):
                values[place]._set(value)
            del results[self._count :]
        return results


# ---- tracing ---------------------------------------------------------------------------------------------------------


def _infer(flat: Flat, tensors: Sequence[torch.Tensor]) -> None:
    """Infers the shapes of all tensors, and removes calls whose results are constant, such as those of shapes.

    Raises:
        Refused: the shape of a result depends on values.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    for value, tensor in zip(flat.inputs, tensors, strict=True):
        value.fake = mode.from_tensor(tensor.contiguous())
    remaining = []
    for call in flat.calls:
        results = _inferred(call, mode)
        for value, result in zip(call.outputs, results, strict=True):
            if type(result) is torch.Tensor:
                value.constant = result
            else:
                value.fake = result
        if any(v.constant is None for v in call.outputs):
            remaining.append(call)
    flat.calls = remaining


def _inferred(call: Call, mode: Any) -> list[Any]:
    """Returns a call's results: real tensors if they are constant, otherwise fake ones."""
    if call.step.op.reads_shape and call.step.op.static_value is not None:
        return call.with_dtypes(call.kernel(*call.kernel_arguments(Value.stand_in)))
    constant = call.step.pure and all(v.constant is not None for v in call.inputs)
    results = None
    if call.eager_because is None:
        with mode:
            results = _traced_results(call)
    if results is None:
        results = _empty(call, mode)
    if results is None and not constant:
        raise Refused(call.eager_because or f"{label(call.step)} draws random numbers, and how many depends on values")
    if results is None or (constant and sum(r.nbytes for r in results) <= _MOST_CONSTANT):
        return call.run(Value.stand_in)
    return results


def _traced_results(call: Call) -> list[Any] | None:
    """Traces a call with fake tensors.

    Returns:
        Its results; None if the kernel can't be traced, and `call.eager_because` is set.
    """
    try:
        return _traced(call, Value.stand_in)
    except Refused as why:
        call.eager_because = str(why)
    except Exception:  # of torch's tracer, which has many
        call.literal = True  # it may look at the values of constants only
        try:
            return _traced(call, Value.stand_in)
        except Exception as error:
            call.eager_because = f"{label(call.step)} {_untraceable(error)}"
    return None


def _empty(call: Call, mode: Any) -> list[Any] | None:
    """Returns fake results of a call that runs eagerly; None if their shapes are not static."""
    step = call.step
    shapes = [t.shape for t in step.outputs]
    if not all(s.is_fully_defined() for s in shapes) and step.registered:
        try:
            shapes = step.op.infer(call.args, step.types, len(shapes), host=_static)
        except NotStatic:
            return None
    if not all(s.is_fully_defined() for s in shapes):
        return None
    device = next((v.stand_in().device for v in call.inputs), devices.current_or_default())
    dtypes = [v.dtype.torch for v in call.outputs]
    with mode:
        return [torch.empty(s.as_list(), dtype=d, device=device) for s, d in zip(shapes, dtypes, strict=True)]


def _static(arg: Any) -> Any:
    """Returns a host argument as Python numbers.

    Raises:
        NotStatic: it is computed when the program runs.
    """
    if not isinstance(arg, Value):
        return arg
    if arg.constant is None:
        raise NotStatic
    return numbers(arg.constant)


def _function(
    calls: Sequence[Call], inputs: Sequence[Value], outputs: Sequence[Value], assigned: set[int]
) -> Callable[..., list[torch.Tensor]]:
    """Returns the Python function of calls, to be traced.

    Args:
        calls: the calls, in order.
        inputs: the tensors that it takes.
        outputs: the tensors that it returns.
        assigned: the ids of the outputs that are assigned to variables, and contiguous as inputs have to be.
    """

    def function(*tensors: torch.Tensor) -> list[torch.Tensor]:
        env = {id(v): t for v, t in zip(inputs, tensors, strict=True)}
        for call in calls:
            results = _traced(call, lambda v: env[id(v)])
            env.update((id(v), r) for v, r in zip(call.outputs, results, strict=True))
        return [env[id(v)].contiguous() if id(v) in assigned else env[id(v)] for v in outputs]

    return function


def _traced(call: Call, variable: Callable[[Value], torch.Tensor]) -> list[torch.Tensor]:
    """Calls a kernel while it is traced.

    Args:
        call: the call.
        variable: returns the tensor of a `Value` that is not constant.
    """
    hosts = {id(a) for kind, a in zip(call.kinds, call.args, strict=True) if kind == "host"}

    def of(value: Value) -> torch.Tensor:
        constant = value.constant
        if constant is None:
            return variable(value)
        if id(value) in hosts or constant.numel() != 1 or constant.dtype.is_complex:
            return constant
        if call.literal:
            return torch.tensor(constant.tolist(), dtype=constant.dtype, device=constant.device)
        # a number in the code
        return torch.full(constant.shape, constant.item(), dtype=constant.dtype, device=constant.device)

    return call.with_dtypes(call.kernel(*call.kernel_arguments(of)))


def _example(value: Value, tensor: torch.Tensor | None) -> torch.Tensor:
    """Returns an example of an input of the compiled code: the tensor, if there is one."""
    if tensor is not None:
        return tensor.contiguous()
    if value.constant is not None:
        return value.constant
    return torch.zeros(value.fake.shape, dtype=value.dtype.torch, device=value.fake.device)


def _untraceable(error: Exception) -> str:
    """Returns why a kernel can't be traced, from the error that it raised."""
    kind = type(error).__name__
    if kind.startswith(("DataDependent", "DynamicOutputShape", "GuardOnDataDependent")):
        return "has a kernel that looks at values"
    return f"can't be traced: {_first_line(error)}"


# ---- TorchInductor ---------------------------------------------------------------------------------------------------


def _inducted(function: Callable[..., Any], examples: Sequence[torch.Tensor]) -> tuple[Callable[..., Any], str, str]:
    """Compiles a function of tensors.

    Returns:
        The compiled function, the text of its ATen calls, and the generated code.

    Raises:
        Refused: TorchInductor failed.
    """
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner
    from torch.fx.experimental.proxy_tensor import make_fx

    sources: list[str] = []

    def inner(*args: Any, **kwargs: Any) -> Any:
        compiled: Any = compile_fx_inner(*args, **kwargs)
        sources.append(getattr(compiled, "source_code", ""))
        return compiled

    try:
        traced = make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(*examples)
        run: Any = compile_fx(traced, list(examples), inner_compile=inner)
    except Exception as error:
        raise Refused(f"TorchInductor could not compile it: {_first_line(error)}") from error
    return run, traced.print_readable(print_output=False), "\n".join(sources)


def _require_compiler() -> None:
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
            f"the first such function runs, or leave jit_compile out. ({_first_line(error)})",
        ) from error


def _first_line(error: Exception) -> str:
    return first_line(error).rstrip(".")
