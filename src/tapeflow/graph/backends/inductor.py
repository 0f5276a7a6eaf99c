"""`tf.function(jit_compile=True)`: TorchInductor gets the graph and writes fused C++ for it (Triton, on GPUs).

A program is flattened (`flat.py`), traced once more with tensors that have no memory, and compiled for the shapes of
its inputs. The first call for these shapes runs uncompiled: that says what is wrong with the arguments in TensorFlow's
words. Where the compiled code refuses values (an index out of range), the uncompiled function runs for the same reason.

What can't be compiled runs as in an ordinary function, by itself where it only computes, and else with all that is
around it; a warning names the op and says why. Random numbers are drawn by the generators that eager mode has.
Compiling is done by one thread at a time; nothing of torch's compiler is loaded before a function asks for it.
TorchInductor keeps what it wrote in a folder of its own (`TORCHINDUCTOR_CACHE_DIR` says which), so that a later process
compiles the same program faster, and what it loaded for as long as the process lives; everything else is freed with the
function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.core import errors
from tapeflow.core.ops.kernels import first_line
from tapeflow.core.ops.static import numbers
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.backends.flat import Call, Flat, Refused, Stage, Value, label
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.ir.operation import Operation, variable_of
from tapeflow.logger import get_logger

MOST_SHAPES = 8  # of the inputs of one function that are compiled for; others run uncompiled
STAGES = ("hlo", "optimized_hlo")

_MOST_KNOWN = 1 << 16  # bytes: larger tensors that are the same in all runs are computed in each
_OF_SHAPES = frozenset({"Shape", "Size", "Rank"})
_compiling = threading.RLock()
_here = threading.local()


class JitCompile:
    """What the compiled functions of one `tf.function` share.

    Args:
        name: the function's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: set[str] = set()

    def compiled(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation],
    ) -> Compiled:  # fmt: skip
        """A function of a graph that TorchInductor compiles."""
        return Jitted(self, name, inputs, outputs, effects)

    def warn(self, kind: str, text: str) -> None:
        """Logs a warning, once of a kind."""
        if kind not in self._said:
            self._said.add(kind)
            get_logger().warning("tf.function %s, jit_compile=True: %s", self._name, text)


class Jitted(Compiled):
    """A function of a graph that TorchInductor compiles when it is first called.

    Args:
        jit: of the `tf.function` that it belongs to.
        name: the function's name.
        inputs: the tensors that it takes.
        outputs: the tensors that it gives.
        effects: operations that run in any case.
    """

    def __init__(
        self, jit: JitCompile, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation],
    ) -> None:  # fmt: skip
        super().__init__(name, inputs, outputs, effects)
        self._jit = jit
        self._plans: dict[Any, _Plan] = {}
        self._refused = False
        self._only: _Plan | None = None  # the plan, where there is but one kind of inputs
        self._variables = [variable_of(t) for t in inputs]
        self._one_kind = len(devices.machine.logical_devices()) == 1 and all(
            t.shape.is_fully_defined() if v is None else v._shape is None
            for t, v in zip(inputs, self._variables, strict=True)
        )

    def __call__(self, *values: Any) -> Any:
        """Runs the function on raw values.

        Raises:
            FailedPreconditionError: there is no C++ compiler.
            OpError: an op failed.
        """
        plan = self._only or (None if self._refused else self._plans.get(self._key(values)))
        if plan is None:
            return super().__call__(*values) if self._refused else self._first(values)
        try:
            return plan(values)
        except Exception as error:
            result = super().__call__(*values)  # it says what is wrong
            self._refuse(f"the compiled code failed: {_first_line(error)}")
            return result

    def plan(self, values: Sequence[Any]) -> _Plan:
        """What runs for inputs of these shapes.

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
                if plan.apart:
                    self._jit.warn("apart", f"a part of it runs without being compiled, because {plan.apart[0]}.")
                if self._one_kind:
                    self._only = plan
        return plan

    def _first(self, values: Sequence[Any]) -> Any:
        """Runs it uncompiled, and compiles it then."""
        if getattr(_here, "inside", False):
            return super().__call__(*values)
        if len(self._plans) >= MOST_SHAPES:
            self._jit.warn("shapes", f"it was compiled for {MOST_SHAPES} shapes; for others it runs without.")
            return super().__call__(*values)
        _require_compiler()
        _here.inside = True  # the functions that it calls will be part of it
        try:
            result = super().__call__(*values)
        finally:
            _here.inside = False
        try:
            self.plan(values)
        except Refused as why:
            self._refuse(str(why))
        except Exception as error:  # the function has done its work, which no fault of compiling may undo
            self._refuse(f"it could not be prepared for it ({type(error).__name__}: {_first_line(error)})")
        return result

    def text(self, stage: str, captured: Sequence[Any]) -> str:
        """What the function is on its way through the compiler, see `Function.experimental_get_compiler_ir`.

        Args:
            stage: one of `STAGES`.
            captured: raw values of what it captures.
        """
        if stage not in STAGES:
            raise ValueError(f"Invalid stage selected: {stage!r}. Valid values are: {', '.join(map(repr, STAGES))}")
        given = self.program.inputs[: len(self.program.inputs) - len(captured)]
        if not all(t.shape.is_fully_defined() for t in given):
            raise ValueError(f"Only support static input shape but got inputs = {list(given)}")
        try:
            plan = self.plan([*(torch.zeros(t.shape.as_list(), dtype=t.dtype.torch) for t in given), *captured])
        except Refused as why:
            raise errors.InvalidArgumentError(None, None, f"{self.name} can't be compiled, because {why}.") from why
        return plan.graph if stage == "hlo" else plan.source

    def _refuse(self, why: str) -> None:
        self._refused, self._only = True, None
        self._plans.clear()
        self._jit.warn("refused", f"it runs without being compiled, because {why}.")

    def _tensors(self, values: Sequence[Any]) -> list[Any]:
        """The tensors among the inputs, and the values of the variables."""
        return [v if variable is None else v._value.value for v, variable in zip(values, self._variables, strict=True)]

    def _key(self, values: Sequence[Any]) -> Any:
        """What inputs must have in common to share a plan."""
        if self._one_kind:
            return None
        return tuple([(v.shape, getattr(v, "device", None)) for v in self._tensors(values)])


class _Plan:
    """A program compiled for the shapes of its inputs.

    Attributes:
        graph: the ATen calls that TorchInductor was given, as Python.
        source: what it made of them.
        apart: what is not compiled, and why.
    """

    def __init__(self, flat: Flat, tensors: Sequence[Any], variables: Sequence[Any]) -> None:
        _infer(flat, tensors)
        stages = flat.stages()
        self.apart = [call.apart for stage in stages for call in stage.before if call.apart]
        self.graph = self.source = ""
        self._is_variable = [v is not None for v in variables]
        self._changes = [(place, variables[place].dtype) for place, _ in flat.changes]
        self._count = len(flat.outputs)
        self._places = {id(v): i for i, v in enumerate(flat.inputs)}  # where each tensor is among all that there is
        self._values = list(flat.inputs)
        with torch.no_grad():
            self._parts = [self._part(stage, stages[i + 1 :], flat, tensors) for i, stage in enumerate(stages)]
        self._results = [(self._places.get(id(v), -1), v.known) for v in flat.results]

    def _part(
        self, stage: Stage, later: Sequence[Stage], flat: Flat, tensors: Sequence[Any]
    ) -> tuple[list[Call], list[int], Callable[..., Any] | None]:
        """What runs in a stage: calls that are not compiled, then a function of some of the tensors that there are."""
        for call in stage.before:
            self._add(call.outputs)
        used = {id(v) for call in stage.calls for v in call.takes}
        takes = [v for v in self._values if id(v) in used]
        places = [self._places[id(v)] for v in takes]
        asked = {id(v) for v in flat.results}
        asked.update(id(v) for s in later for call in (*s.before, *s.calls) for v in call.takes)
        wanted = [v for call in stage.calls for v in call.outputs if id(v) in asked and v.known is None]
        if not wanted:
            return stage.before, [], None
        kept = {id(v) for _, v in flat.changes}
        examples = [_example(v, tensors[i] if i < len(tensors) else None) for v, i in zip(takes, places, strict=True)]
        run, graph, source = _inducted(_function(stage.calls, takes, wanted, kept), examples)
        self.graph, self.source = self.graph + graph, self.source + source
        self._add(wanted)
        return stage.before, places, run

    def _add(self, values: Sequence[Value]) -> None:
        for v in values:
            self._places[id(v)] = len(self._values)
            self._values.append(v)

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """What the program gives for raw values."""
        have = [v._value.value if is_variable else v for v, is_variable in zip(values, self._is_variable, strict=True)]
        for before, takes, run in self._parts:
            for call in before:
                have += call.run(lambda v: have[self._places[id(v)]] if v.known is None else v.known)  # noqa: B023
            if run is not None:
                have += run(*[have[i].contiguous() for i in takes])
        found = [have[i] if known is None else known for i, known in self._results]
        if self._changes:
            for (place, dtype), value in zip(self._changes, found[self._count :], strict=True):
                values[place]._set(EagerTensor(value, dtype))
            del found[self._count :]
        return found


# ---- tracing ---------------------------------------------------------------------------------------------------------


def _infer(flat: Flat, tensors: Sequence[torch.Tensor]) -> None:
    """Finds the shapes of all tensors, and the values of those that depend on shapes alone, whose calls are dropped.

    Raises:
        Refused: a kernel can't tell the shape of its result without values.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    for value, tensor in zip(flat.inputs, tensors, strict=True):
        value.fake = mode.from_tensor(tensor.contiguous())
    kept = []
    for call in flat.calls:
        results = _inferred(call, mode)
        for value, result in zip(call.outputs, results, strict=True):
            if type(result) is torch.Tensor:
                value.known = result
            else:
                value.fake = result
        if any(v.known is None for v in call.outputs):
            kept.append(call)
    flat.calls = kept


def _inferred(call: Call, mode: Any) -> list[Any]:
    """A call's results: real ones where they are known, else fake ones."""
    if call.step.name in _OF_SHAPES:
        return call.promised(call.kernel(*call.given(Value.stand_in)))
    foregone = call.step.pure and all(v.known is not None for v in call.takes)
    results = None
    if call.apart is None:
        with mode:
            results = _tried(call)
    if results is None:
        results = _empty(call, mode)
    if results is None and not foregone:
        raise Refused(call.apart or f"{label(call.step)} draws as many numbers as only its run can tell")
    if results is None or (foregone and sum(r.nbytes for r in results) <= _MOST_KNOWN):
        return call.run(Value.stand_in)
    return results


def _tried(call: Call) -> list[Any] | None:
    """What a call gives for tensors without values; None if it wants them, or other things that can't be compiled."""
    try:
        return _traced(call, Value.stand_in)
    except Refused as why:
        call.apart = str(why)
    except Exception:
        call.literal = True  # if it is only known numbers that it looks at
        try:
            return _traced(call, Value.stand_in)
        except Exception as error:
            call.apart = f"{label(call.step)} {_untraceable(error)}"
    return None


def _empty(call: Call, mode: Any) -> list[Any] | None:
    """Tensors of the shapes of what a call that is not compiled will give; None if only its run can tell."""
    step = call.step
    shapes = [t.shape for t in step.outputs]
    if not all(s.is_fully_defined() for s in shapes) and step.registered and step.op.shape is not None:
        args = [
            [TensorShape(v.stand_in().shape) for v in a] if kind == "list"
            else TensorShape(a.stand_in().shape) if kind == "tensor"
            else a if not isinstance(a, Value)
            else None if a.known is None
            else numbers(a.known)
            for kind, a in zip(call.kinds, call.args, strict=True)
        ]  # fmt: skip
        found = step.op.shape(*args)
        shapes = found if isinstance(found, list) else [found]
    if not all(s.is_fully_defined() for s in shapes):
        return None
    device = next((v.stand_in().device for v in call.takes), devices.current_or_default())
    dtypes = [v.dtype.torch for v in call.outputs]
    with mode:
        return [torch.empty(s.as_list(), dtype=d, device=device) for s, d in zip(shapes, dtypes, strict=True)]


def _function(
    calls: Sequence[Call], inputs: Sequence[Value], outputs: Sequence[Value], kept: set[int]
) -> Callable[..., list[torch.Tensor]]:
    """The Python function of calls.

    Args:
        calls: the calls, in order.
        inputs: the tensors that it takes.
        outputs: the tensors that it gives.
        kept: the ids of those outputs that variables hold, and which are laid out as inputs have to be.
    """

    def function(*tensors: torch.Tensor) -> list[torch.Tensor]:
        env = {id(v): t for v, t in zip(inputs, tensors, strict=True)}

        for call in calls:
            results = _traced(call, lambda v: env[id(v)])
            env.update((id(v), r) for v, r in zip(call.outputs, results, strict=True))
        return [env[id(v)].contiguous() if id(v) in kept else env[id(v)] for v in outputs]

    return function


def _traced(call: Call, unknown: Callable[[Value], torch.Tensor]) -> list[torch.Tensor]:
    """What a kernel gives while it is traced.

    Args:
        unknown: gives the tensors that are not known.
    """
    hosts = {id(a) for kind, a in zip(call.kinds, call.args, strict=True) if kind == "host"}

    def of(value: Value) -> torch.Tensor:
        known = value.known
        if known is None:
            return unknown(value)
        if id(value) in hosts or known.numel() != 1 or known.dtype.is_complex:
            return known
        if call.literal:
            return torch.tensor(known.tolist(), dtype=known.dtype, device=known.device)
        return torch.full(known.shape, known.item(), dtype=known.dtype, device=known.device)  # a number in the code

    return call.promised(call.kernel(*call.given(of)))


def _example(value: Value, tensor: torch.Tensor | None) -> torch.Tensor:
    """A tensor such as the compiled code will get."""
    if tensor is not None:
        return tensor.contiguous()
    if value.known is not None:
        return value.known
    return torch.zeros(value.fake.shape, dtype=value.dtype.torch, device=value.fake.device)


def _untraceable(error: Exception) -> str:
    kind = type(error).__name__
    if kind.startswith(("DataDependent", "DynamicOutputShape", "GuardOnDataDependent")):
        return "has a kernel that looks at values"
    return f"can't be traced: {_first_line(error)}"


# ---- TorchInductor ---------------------------------------------------------------------------------------------------


def _inducted(function: Callable[..., Any], examples: Sequence[torch.Tensor]) -> tuple[Callable[..., Any], str, str]:
    """A function of tensors, compiled; and the texts of what was compiled and of what it became.

    Raises:
        Refused: TorchInductor failed.
    """
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner
    from torch.fx.experimental.proxy_tensor import make_fx

    sources: list[str] = []

    def inner(*args: Any, **kwargs: Any) -> Any:
        made: Any = compile_fx_inner(*args, **kwargs)
        sources.append(getattr(made, "source_code", ""))
        return made

    try:
        traced = make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(*examples)
        run: Any = compile_fx(traced, list(examples), inner_compile=inner)
    except Exception as error:
        raise Refused(f"TorchInductor could not compile it: {_first_line(error)}") from error
    return run, traced.print_readable(print_output=False), "\n".join(sources)


def _require_compiler() -> None:
    """Looks for a C++ compiler.

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
