"""Compiling a graph to a Python function of kernel calls.

The function takes and returns raw values (`torch.Tensor`s, arrays of strings, variables). Compilation derives a
`Program` from the graph, runs passes on it, and writes the function's source at the first call.

With `jit_compile=True`, all connected element-wise steps become compiled loops, which the Python function calls like
other kernels. A loop is compiled at its first run, for all sizes, in about 30 ms, and cached on disk. On GPUs,
`torch.compile` takes the function.
"""

from __future__ import annotations

import copy
import itertools
import linecache
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.core import errors
from tapeflow.core.gc_pause import pause_collection
from tapeflow.core.ops.kernels import first_line, status_error
from tapeflow.core.ops.memory import is_out_of_memory
from tapeflow.core.ops.static import value_of
from tapeflow.core.processors import share
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen import pass_order
from tapeflow.graph.codegen.control_flow_source import ControlFlowWriter
from tapeflow.graph.codegen.failed_runs import FailedRun, locate_error
from tapeflow.graph.codegen.pass_order import rewrites
from tapeflow.graph.codegen.step_source import Writer, identifier
from tapeflow.graph.compiler.clusters import ClusterOp
from tapeflow.graph.compiler.native_functions import NativeOp
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import Operation, reachable
from tapeflow.graph.program.interpreter import interpret
from tapeflow.graph.program.program import Program, Step, cost_of
from tapeflow.graph.program.program_checks import run_passes
from tapeflow.graph.program.simplify import simplify
from tapeflow.graph.program.sizes import BySizes, with_shapes

_LEAST_COST = 32  # in calls of a kernel: a smaller function does not gain from another number of threads
_COST_OF_FRAMES = 512  # in calls of a kernel: smaller functions take too little time for `_with_room`
# Slots of a frame that begins a new chunk of CPython's stack of frames, which is large enough for the frames above it.
_SLOTS_OF_FRAME = 3100
_numbers = itertools.count(1)
_deleted: deque[str] = deque()  # the file names of deleted functions


class Written:
    """A Python function with generated source, which is written at the first use.

    The source depends only on the graph, the dtypes and the device, not on earlier runs in the process.

    Args:
        name: the function's name. Characters that are not allowed in identifiers are replaced.

    Attributes:
        locks: locks that each call acquires; to be set before the first use.
        in_step: True for the program in a step of another function, which goes on with a failed run.
    """

    locks: Sequence[Any] = ()
    in_step = False

    def __init__(self, name: str) -> None:
        self.name = identifier(name)
        self._filename = f"<function {self.name} {next(_numbers)}>"
        self._function: Callable[..., Any] | None = None
        self._writer: Writer

    def _write(self) -> Writer:
        """Returns a writer that has written the source."""
        raise NotImplementedError

    def rewrite(self) -> None:
        """Discards the source. The next call writes it again."""
        self._function = None

    @property
    def function(self) -> Callable[..., Any]:
        """The Python function."""
        return self._function or self._compile()

    @property
    def source(self) -> str:
        """The function's source."""
        if self._function is None:
            self._compile()
        return self._writer.source

    def _compile(self) -> Callable[..., Any]:
        """Writes and compiles the source, and enters it into `linecache` for tracebacks and debuggers."""
        with suppress(IndexError):  # until there are none left
            while True:
                linecache.cache.pop(_deleted.popleft(), None)
        self._writer = writer = self._write()
        source = writer.source
        linecache.cache[self._filename] = (len(source), None, source.splitlines(True), self._filename)
        exec(compile(source, self._filename, "exec"), writer.namespace)  # the source is this function's own
        function = writer.namespace[self.name]
        for lock in self.locks:
            function = _locked_function(lock, function)
        self._function = function
        return function

    def __del__(self, deleted: deque[str] = _deleted) -> None:  # a default argument survives the module's globals
        deleted.append(self._filename)  # the garbage collector may interrupt an iteration over linecache's cache

    def finish(self, error: Exception) -> Exception:
        """Runs the effects that do not depend on the step that raised an error, and returns the error explained."""
        step, local = self.failed(error)
        if step is not None and not step.operation.graph.building_function:
            step = None
        run: FailedRun | None = error.__dict__.pop("failed_run", None)
        values = {} if step is None else self._writer.values({**self._writer.namespace, **local}, step)
        while step is not None:
            program = self._writer.program_of(step)
            if self.in_step or (any(later.must_run for later in program.steps) and program.steps[-1] is not step):
                run = run or FailedRun()
                run.finish(program, step, values)
            step = self._writer.outer_step(program)
        explained = self.explained(error)
        if self.in_step:
            explained.failed_run = run  # type: ignore[attr-defined]
        return explained

    def failed(self, error: Exception) -> tuple[Step | None, dict[str, Any]]:
        """Returns the step that raised an error, or None, and the function's local variables at that time."""
        frame, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._filename:
                frame = trace
            trace = trace.tb_next
        step = None if frame is None else self._writer.steps.get(frame.tb_lineno)
        return step, {} if frame is None else frame.tb_frame.f_locals

    def explained(self, error: Exception) -> Exception:
        """Returns TensorFlow's error for an error of a step, with the user's lines that added the step."""
        step, local = self.failed(error)
        no_memory = is_out_of_memory(error)
        error = status_error(error, "ReadVariableOp" if step is None else step.op.name) or error
        if step is None or getattr(error, "operation", None) is not None:
            return error
        if isinstance(error, errors.OpError):
            known = locate_error(error, step.operation)
            if not no_memory:  # a second run tells the shape
                return known
            error = known
        values = self._writer.values({**self._writer.namespace, **local}, step)
        calls: list[Any] = [step] if step.registered else step.origins
        for call in calls:
            if not call.op.registered:
                return error
            operation = step.operation if call is step else call
            try:
                _interpret_again(call, values)
            except errors.OpError as explained:
                return locate_error(explained, operation)
            except KeyError:  # a value was deleted or overwritten
                return (
                    error if no_memory else locate_error(errors.InvalidArgumentError.of(first_line(error)), operation)
                )
            except Exception as other:
                return other
        return error


class Compiled(Written):
    """A graph, or a part of it, as a Python function.

    Args:
        name: the function's name.
        inputs: the tensors that it takes; they need not be placeholders.
        outputs: the tensors that it computes.
        effects, resources, static: see `Program`.
        program: an existing program after `simplifying_passes`; replaces the other arguments except `name`.

    Attributes:
        program: the program before `special_passes`.
    """

    simplifying_passes: Sequence[pass_order.Pass] = (simplify,)
    special_passes: Sequence[pass_order.Pass] = pass_order.SPECIALIZE_WHOLE
    inner_passes: Sequence[pass_order.Pass] = pass_order.SPECIALIZE  # of a branch, or a part of a loop
    writer: type[Writer] = ControlFlowWriter
    _unknown: Sequence[int] = ()  # the places of inputs with unknown sizes, if the function adapts to sizes

    def __init__(
        self,
        name: str,
        inputs: Sequence[SymbolicTensor],
        outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (),
        resources: Callable[[Any], Any] = lambda variable: variable,
        static: bool | None = None,
        program: Program | None = None,
    ) -> None:
        super().__init__(name)
        if program is not None:
            self.program = program
            return
        self.program = Program(inputs, outputs, effects, resources, static)
        run_passes(self.program, self.simplifying_passes)
        if devices.machine.has_gpu:
            self.program.move_constants(devices.current_or_default())

    def specialized(self, special_passes: Sequence[pass_order.Pass] | None = None) -> Program:
        """Returns the program after passes that substitute faster kernels, by default `inner_passes`."""
        return after_passes(self.program, self.inner_passes if special_passes is None else special_passes)

    def source_with_kernels(self) -> str:
        """Returns the source, followed by the LLVM IR of its clusters and native functions."""
        compiled = [step.op for step in self._program_to_write().steps if isinstance(step.op, (ClusterOp, NativeOp))]
        return "\n".join([self.source, *(op.text() for op in compiled)])

    def explain_rewrites(self) -> str:
        """Returns the replacements and near misses of passes, one per line."""
        return "\n".join(rewrites(self.name, self.program, self.special_passes, self.inner_passes))

    def _program_to_write(self) -> Program:
        """Returns the program to write as source."""
        return self.specialized(self.special_passes)

    def _write(self) -> Writer:
        writer = self.writer()
        writer.write(self.name, self._program_to_write())
        return writer

    def _compile(self) -> Callable[..., Any]:
        function = super()._compile()
        cost = sum(map(cost_of, self.program.steps))
        if cost >= _LEAST_COST:
            function = _sharing_threads(function)
            self._function = function = _with_room(function) if cost >= _COST_OF_FRAMES else function
        return function

    def __call__(self, *values: Any) -> Any:
        """Runs the function on raw values.

        Raises:
            OpError: an op failed.
        """
        if self._unknown:
            sized = self._for_sizes(values)
            if sized is not None:
                return sized(*values)
        function = self._function
        if function is None:
            with pause_collection():
                function = self._compile()
        try:
            return function(*values)
        except Exception as error:
            raise self.finish(error) from (error.__cause__ if isinstance(error, errors.OpError) else error)

    # ---- sizes ---------------------------------------------------------------------------------------------------

    def adapt(self) -> None:
        """Enables specialized functions for input sizes that are unknown in the graph."""
        if self.program.static and not devices.machine.has_gpu:
            tensors = enumerate(self.program.inputs)
            self._unknown = [i for i, t in tensors if t.dtype.torch is not None and not t.shape.is_fully_defined()]
            self._of_sizes = BySizes()

    def _for_sizes(self, values: Sequence[Any]) -> Compiled | None:
        """Returns the specialized function for the sizes of a call, or None to run this function."""
        shapes = tuple([values[i].shape for i in self._unknown])
        sized: Compiled | None = self._of_sizes.get(shapes, lambda: self._with_shapes(shapes))
        return sized

    def _with_shapes(self, shapes: Sequence[torch.Size]) -> Compiled | None:
        """Returns the function specialized to shapes of the unknown inputs; None if that removes no step."""
        inputs = self.program.inputs
        of_inputs = {id(inputs[i]): TensorShape(shape) for i, shape in zip(self._unknown, shapes, strict=True)}
        program = with_shapes(self.program, of_inputs)
        if program is None:
            return None
        run_passes(program, self.simplifying_passes)
        if len(program.steps) == len(self.program.steps):
            return None
        function = copy.copy(self)
        Written.__init__(function, self.name)
        function.program, function._unknown = program, ()
        return function


# ---- jit_compile -----------------------------------------------------------------------------------------------------


class JitCompile:
    """The compiler of one `tf.function`.

    Args:
        name: the function's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers = itertools.count()
        self._functions: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def compiled(self, *arguments: Any, **options: Any) -> Compiled:
        """Returns a function of a graph; arguments as in `Compiled`."""
        function = self._functions[next(self._numbers)] = self._function(*arguments, **options)
        return function

    def _function(self, *arguments: Any, **options: Any) -> Compiled:
        return Jitted(*arguments, **options)

    def explanation(self) -> str:
        """Returns the compiled loops and the calls of ATen's kernels, a line for each function and loop body."""
        lines = [f"{function.name}: {function.outcome()}" for _, function in sorted(self._functions.items())]
        return "\n".join(lines) or "not compiled yet"


class Jitted(Compiled):
    """A function of a graph with compiled element-wise steps; arguments as in `Compiled`."""

    special_passes, inner_passes = pass_order.COMPILE_WHOLE, pass_order.COMPILE

    def outcome(self) -> str:
        """Returns the number of compiled loops, and the other kernels that it calls, as text."""
        steps = self._program_to_write().steps
        loops = [step.op.cluster for step in steps if isinstance(step.op, ClusterOp)]
        native = [step.op for step in steps if isinstance(step.op, NativeOp)]
        kinds = (ClusterOp, NativeOp)
        others = [step.name for step in steps if not isinstance(step.op, kinds) and step.op is not READ]
        calls = ", ".join(name if count == 1 else f"{name} ({count})" for name, count in Counter(others).items())
        count = sum(loop.count for loop in loops)
        compiled = f"{len(loops)} compiled {'loop' if len(loops) == 1 else 'loops'} of {count} ops" if loops else ""
        functions = f"{len(native)} native functions of {sum(op.count for op in native)} ops" if native else ""
        beside = f"calls of {calls}" if calls else ""
        return "; ".join(filter(None, (functions, compiled, beside))) or "nothing to compute"

    def text(self, optimized: bool, captured: Sequence[Any]) -> str:
        """Returns the source of the function.

        Args:
            optimized: True for the source with compiled loops and their LLVM IR, False for the source without loops.
            captured: ignored.
        """
        if not optimized:
            return Compiled(self.name, (), (), program=self.specialized(())).source
        return self.source_with_kernels()


# ---- other uses ------------------------------------------------------------------------------------------------------


def one_by_one(name: str, program: Program) -> Compiled:
    """Returns the function that runs each step of a program as a call of its op's kernel."""
    compiled = Compiled(name, (), (), program=program)
    compiled.special_passes, compiled.in_step = (), True
    return compiled


def after_passes(program: Program, special_passes: Sequence[pass_order.Pass]) -> Program:
    """Returns a copy of a program after running passes on it."""
    program = program.copied()
    run_passes(program, special_passes)
    return program


def _locked_function(lock: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that holds a lock while it runs."""

    def run(*values: Any) -> Any:
        with lock:
            return function(*values)

    return run


def _sharing_threads(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that first sets the number of threads that its kernels use."""

    def run(*values: Any) -> Any:
        share()
        return function(*values)

    return run


def _with_room(function: Any) -> Callable[..., Any]:
    """Returns a function whose frame has room for the frames of its calls.

    CPython keeps the frames of a thread in chunks of 16 KB. If a function calls others where a chunk ends, each call
    maps a new chunk and unmaps it: 9 us beside 40 ns. A model's step took up to 1.6 times as long, by the depth of its
    caller. A large frame begins a chunk of its own, at the same cost, but once. See `_PyThreadState_PushFrame`.
    """
    function.__code__ = function.__code__.replace(co_stacksize=_SLOTS_OF_FRAME)
    return function


def _interpret_again(call: Step | Operation, values: dict[int, Any]) -> None:
    """Computes a step or operation again, from the values of a failed call.

    Raises:
        OpError: the step fails, as in the call.
        KeyError: a value was deleted or overwritten.
    """

    def raw(tensor: SymbolicTensor) -> Any:
        if id(tensor) not in values:  # the function had it as a constant or as Python numbers
            operation = tensor.op
            if operation.type == "Const" or (operation.op.registered and not operation.stateful):
                static = value_of(tensor)
                if static is not None:
                    return static
                _interpret_again(operation, values)
        return values[id(tensor)]

    values.update(zip(map(id, call.outputs), interpret(call, raw), strict=True))


def value_now(tensor: SymbolicTensor, value_of: Callable[[SymbolicTensor], Any]) -> Any:
    """Computes the raw value of a symbolic tensor while its graph is still being built.

    Args:
        tensor: the tensor.
        value_of: returns the value of a placeholder, or None.

    Raises:
        InvalidArgumentError: the tensor depends on a placeholder without a value.
    """
    placeholders = [op.outputs[0] for op in reachable([tensor.op]) if op.type == "Placeholder"]
    fed = [(t, value) for t in placeholders if (value := value_of(t)) is not None]
    return Compiled("initial_value", [t for t, _ in fed], [tensor])(*[value for _, value in fed])[0]
