"""`tf.function(jit_compile=True)`: all connected element-wise steps of a function become compiled loops.

The function stays a Python function and calls loops like other kernels. A loop is compiled at its first run, for all
sizes, in about 30 ms, and cached on disk. On GPUs, `torch.compile` takes the function.
"""

from __future__ import annotations

import itertools
import weakref
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tapeflow.graph.codegen import pass_order
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.compiler.clusters import ClusterOp
from tapeflow.graph.compiler.native_functions import NativeOp
from tapeflow.graph.ir.graph import READ


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
