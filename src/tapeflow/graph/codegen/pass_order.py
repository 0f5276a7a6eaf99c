"""The order of passes. A pass rewrites a program to compute the same results with less work.

`simplify` runs when a program is derived from a graph. The other passes substitute faster kernels for the ops' own
kernels, and run before the source is written. `SPECIALIZE` is for branches and loop bodies. `SPECIALIZE_WHOLE`
is for whole functions: it may also cache values between calls.
"""

from __future__ import annotations

from collections.abc import Callable

from tapeflow.graph.codegen.passes.bound_attrs import bind
from tapeflow.graph.codegen.passes.composites import recognize
from tapeflow.graph.codegen.passes.early_slices import select
from tapeflow.graph.codegen.passes.early_starts import start_early
from tapeflow.graph.codegen.passes.fusions import fuse
from tapeflow.graph.codegen.passes.late_reshapes import postpone
from tapeflow.graph.codegen.passes.result_cache import cache
from tapeflow.graph.codegen.passes.reuse import reuse
from tapeflow.graph.codegen.passes.small_functions import compile_functions
from tapeflow.graph.codegen.passes.weighted_layers import join_layers
from tapeflow.graph.compiler.clusters import cluster, cluster_all, cluster_small
from tapeflow.graph.compiler.native_loops import compile_loops
from tapeflow.graph.program.program import Program
from tapeflow.graph.program.simplify import prune

Pass = Callable[[Program], None]


def specialize_inner(program: Program) -> None:
    """Substitutes faster kernels in the branches and loops that the source writes."""
    for step in program.steps:
        if step.is_written:
            step.programs = step.op.kernel.specialized()


_SMALL: tuple[Pass, ...] = select, compile_functions  # machine code computes only the rows that are used
_KERNELS: tuple[Pass, ...] = compile_loops, recognize, postpone
_FUSED: tuple[Pass, ...] = fuse, prune
_ORDER: tuple[Pass, ...] = start_early, reuse, bind, specialize_inner
SPECIALIZE: tuple[Pass, ...] = (select, *_KERNELS, *_FUSED, cluster_small, *_ORDER)
SPECIALIZE_WHOLE: tuple[Pass, ...] = (*_SMALL, *_KERNELS, join_layers, *_FUSED, cache, cluster, *_ORDER)
# With `jit_compile=True`.
COMPILE: tuple[Pass, ...] = (select, *_KERNELS, *_FUSED, cluster_all, *_ORDER)
COMPILE_WHOLE: tuple[Pass, ...] = (*_SMALL, *_KERNELS, join_layers, *_FUSED, cache, cluster_all, *_ORDER)
