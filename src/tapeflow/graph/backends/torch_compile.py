"""`tf.function(jit_compile=True)` on GPUs: `torch.compile` takes the source of a function whole.

`graph_source.py` writes a program as a function of tensors. A call passes the values of variables to the compiled
function and stores their new values. `experimental_attributes={"cuda_graph": True}` also has TorchInductor record its
kernels as CUDA graphs, which launch all kernels at once.

The first call runs uncompiled: it raises TensorFlow's errors for bad arguments, and the second call compiles. If the
compiled function fails, the uncompiled one runs: it raises the error with the lines of the user, or shows that torch
can't compile the function. Then a kernel that could not be traced becomes an opaque call, and the next call compiles
again. Steps that no compiler takes divide a function into compiled parts (`division.py`).

Unknown sizes stay symbols. TorchInductor caches its code in a folder (`TORCHINDUCTOR_CACHE_DIR`): a later process only
loads it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch

from tapeflow.core import aten, errors
from tapeflow.core import device as devices
from tapeflow.core.fork_locks import new_rlock
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.kernels import first_line, on_same_device
from tapeflow.core.values.variable import _assign_value
from tapeflow.core.values.variable_updates import Locked
from tapeflow.graph.backends.division import CompiledPart, divide, is_structure, obstacles_in
from tapeflow.graph.backends.graph_source import GraphWriter
from tapeflow.graph.codegen import pass_order
from tapeflow.graph.codegen.compile import Compiled, JitCompile, Written, after_passes
from tapeflow.graph.ir.operation import variable_of
from tapeflow.graph.program.program import Program

_here = threading.local()


class TorchCompile(JitCompile):
    """The state that the compiled functions of one `tf.function` share.

    Args:
        name: the function's name.
        cuda_graphs: True to record the kernels as CUDA graphs.

    Attributes:
        untraceable: the ops whose kernels can't be traced.
    """

    def __init__(self, name: str, cuda_graphs: bool = False) -> None:
        super().__init__(name)
        self.cuda_graphs = cuda_graphs
        self.untraceable: set[Any] = set()
        self._warned: set[str] = set()

    def _function(self, *arguments: Any, **options: Any) -> Compiled:
        return TorchCompiled(self, *arguments, **options)

    def compile(self, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """Returns a function of tensors after `torch.compile`. Its globals never change, so they are not checked."""
        options = {"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe, **options}
        if self.cuda_graphs:
            options["triton.cudagraphs"] = True  # as `mode="reduce-overhead"`
        return torch.compile(function, fullgraph=True, options=options)

    def warn(self, kind: str, text: str) -> None:
        """Logs a warning, once for each kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            get_logger().warning("tf.function %s, jit_compile=True: %s", self._name, text)


class _GraphSource(Written):
    """A program as a function for `torch.compile`.

    Args:
        name: the function's name.
        program: the program.
        untraceable: the ops whose kernels can't be traced.

    Attributes:
        compiled: the function after `torch.compile`.
    """

    _writer: GraphWriter
    compiled: Callable[..., Any]

    def __init__(self, name: str, program: Program, untraceable: set[Any]) -> None:
        super().__init__(name)
        self._program, self._untraceable = program, set(untraceable)

    def _write(self) -> GraphWriter:
        writer = GraphWriter(self._untraceable)
        writer.write(self.name, self._program)
        return writer

    @property
    def changed(self) -> list[int]:
        """The places of the variables that it changes."""
        return self._writer.changed

    @property
    def tracing(self) -> Any:
        """The op of the kernel that was traced last, or None."""
        return self._writer.tracing


class TorchCompiled(Compiled):
    """A function of a graph that `torch.compile` compiles, whole or in parts.

    Args:
        jit: the state of its `tf.function`.
        arguments, options: see `Compiled`.
    """

    def __init__(self, jit: TorchCompile, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._jit = jit
        self._variables = [i for i, t in enumerate(self.program.inputs) if variable_of(t) is not None]
        self._called = False
        self._compiling = new_rlock()
        self._refused = ""
        self._begin()

    def _begin(self) -> None:
        """Finds the steps that can't be compiled. The next call writes the source again."""
        self._obstacles = obstacles_in(self.program, self._jit.untraceable)
        self._graph: _GraphSource | None = None
        self._divided: Program | None = None
        self._compiled = False
        self.rewrite()

    # ---- parts ---------------------------------------------------------------------------------------------------

    def _parts_as_steps(self) -> Program:
        """Returns the program with its compiled parts as steps."""
        if self._divided is None:
            self._divided = divide(self.program, self._obstacles, self._part)
            steps = [s for s in self.program.steps if not is_structure(s)]
            why = next((w for s in steps if (w := self._obstacles.get(id(s.operation))) is not None), None)
            if why is not None:
                self._jit.warn("divided", f"a part of it runs without being compiled, because {why}.")
        return self._divided

    def _part(self, program: Program) -> Compiled:
        return self._jit.compiled(f"part_of_{self.name}", program.inputs, program.outputs, program=program)

    def specialized(self, special_passes: Sequence[pass_order.Pass] | None = None) -> Program:
        """Returns the program as a part of another function, with its compiled parts as steps."""
        return after_passes(self._parts_as_steps(), self.inner_passes if special_passes is None else special_passes)

    def _program_to_write(self) -> Program:
        return after_passes(self._parts_as_steps() if self._obstacles else self.program, self.special_passes)

    # ---- calls ---------------------------------------------------------------------------------------------------

    def __call__(self, *values: Any) -> Any:
        """Runs the function on raw values.

        Raises:
            OpError: an op failed.
        """
        inside = getattr(_here, "inside", False)
        if self._obstacles or self._refused or inside:
            return super().__call__(*values)
        if not self._called:
            _here.inside = True  # the functions that it calls are compiled as parts of it
            try:
                result = super().__call__(*values)
            finally:
                _here.inside = False
            self._called = True
            return result
        graph = self._graph or self._new_graph()
        try:
            return self._run_graph(graph, values)
        except Exception as error:
            result = super().__call__(*values)  # raises TensorFlow's error
            self._learn(graph, error)
            return result

    def _new_graph(self) -> _GraphSource:
        with self._compiling:
            if self._graph is None:
                graph = _GraphSource(self.name, self.program, self._jit.untraceable)
                graph.compiled = self._jit.compile(graph.function)
                self._graph = graph
            return self._graph

    def _run_graph(self, graph: _GraphSource, values: Sequence[Any]) -> list[Any]:
        """Runs the compiled function, and stores the new values of variables."""
        changed = [values[i] for i in graph.changed]
        with Locked(changed):
            tensors = self._tensors(values)
            with nullcontext() if self._compiled else self._compiling:  # only one thread compiles
                if not self._compiled:
                    self._mark_sizes(tensors)
                results = list(graph.compiled(*tensors))
            if self._jit.cuda_graphs:
                results = _copy_tensors(results)  # the next run writes to their memory
            count = len(results) - len(changed)
            for variable, value in zip(changed, results[count:], strict=True):
                _assign_value(variable, value)
        self._compiled = True
        return results[:count]

    def _tensors(self, values: Sequence[Any]) -> list[torch.Tensor]:
        """Returns the arguments of the compiled function: different tensors, on one device."""
        tensors = list(values)
        for i in self._variables:
            tensors[i] = tensors[i]._value.value
        tensors = on_same_device(tensors) or tensors
        if len({*map(id, tensors)}) < len(tensors):  # the compiler would take the same tensor twice for a rule
            seen: set[int] = set()
            for i, tensor in enumerate(tensors):
                tensors[i] = tensor.detach() if id(tensor) in seen else tensor
                seen.add(id(tensor))
        return tensors

    def _mark_sizes(self, tensors: Sequence[torch.Tensor]) -> None:
        """Has the compiler take the sizes that are unknown in the graph as symbols."""
        for t, tensor in zip(self.program.inputs, tensors, strict=True):
            for i, size in enumerate(t.shape.as_list() if t.shape.rank is not None else ()):
                if size is None:
                    aten.maybe_mark_dynamic(tensor, i)

    def _learn(self, graph: _GraphSource, error: Exception) -> None:
        """Decides how later calls run, after the compiled function failed where the uncompiled one did not."""
        in_dynamo = isinstance(error, aten.DynamoError) and not isinstance(error, aten.BackendCompilerFailed)
        op = graph.tracing if in_dynamo else None
        if graph is not self._graph:
            return  # another thread was here
        if isinstance(error, aten.FailOnRecompileLimitHit):
            self._jit.warn("shapes", "it was compiled for many shapes, and for others it runs uncompiled.")
        elif op is not None and op not in self._jit.untraceable:
            self._jit.untraceable.add(op)
            self._begin()
        else:
            cause = getattr(error, "inner_exception", error)
            self._refused = f"{type(cause).__name__}: {first_line(cause).rstrip('.')}"
            self._jit.warn("refused", f"it runs without being compiled, because compiling failed ({self._refused}).")

    # ---- explaining ----------------------------------------------------------------------------------------------

    def outcome(self) -> str:
        """Returns a line of text: its compiled share, and the reasons against the rest."""
        if self._refused:
            return f"not compiled: {self._refused}"
        if not self._obstacles:
            opaque = sorted({op.name for op in self._jit.untraceable} & {step.name for step in self.program.steps})
            around = f" around {', '.join(opaque)}" if opaque else ""
            return f"compiled{around}" if self._compiled else "not compiled yet"
        steps = [s for s in self.program.steps if id(s.operation) in self._obstacles]
        structure = dict.fromkeys(s.name for s in steps if is_structure(s))
        whys = dict.fromkeys(self._obstacles[id(s.operation)] for s in steps if not is_structure(s))
        around = f" around {', '.join(structure)}" if structure else ""
        count = sum(isinstance(s.op, CompiledPart) for s in self._parts_as_steps().steps)
        return f"Python with {count} compiled parts{around}{''.join(f'; {why}' for why in whys)}"

    def text(self, optimized: bool, captured: Sequence[Any]) -> str:
        """Returns the source for `torch.compile`, or the code that TorchInductor writes for it.

        Args:
            optimized: asks for TorchInductor's code.
            captured: the raw captured values.

        Raises:
            InvalidArgumentError: it can't be compiled as a whole.
        """
        if self._obstacles:
            why = next(iter(self._obstacles.values()))
            raise errors.InvalidArgumentError.of(f"{self.name} can't be compiled, because {why}.")
        source = _GraphSource(self.name, self.program, self._jit.untraceable)
        if not optimized:
            return source.source
        texts: list[str] = []

        def write(*args: Any, **kwargs: Any) -> Any:
            code: Any = aten.compile_fx_inner(*args, **kwargs)
            texts.append(getattr(code, "source_code", ""))
            return code

        arguments = self.program.inputs[: len(self.program.inputs) - len(captured)]
        zeros = [torch.zeros(t.shape.as_list(), dtype=t.dtype.torch, device=devices.default()) for t in arguments]
        values = [v if isinstance(v, torch.Tensor) else v._value.value for v in captured]
        backend: Any = lambda module, inputs: aten.compile_fx(module, inputs, inner_compile=write)  # noqa: E731
        with aten.inductor_config.patch(force_disable_caches=True):  # cached results have no source
            torch.compile(source.function, fullgraph=True, backend=backend)(*zeros, *values)
        return "\n".join(texts)


def _copy_tensors(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Returns copies of tensors, in one launch."""
    copies = [torch.empty_like(t) for t in tensors]
    if copies:
        aten.foreach_copy_(copies, list(tensors))
    return copies
