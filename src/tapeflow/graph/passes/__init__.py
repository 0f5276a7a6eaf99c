"""Passes over programs, each a file: what gives the same results with less work.

Those of `SIMPLIFY` run once, when a function is compiled. Those of `SPECIALIZE` need to know that kernels give what
their ops promise, and so run when all have run once (see `compile.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from tapeflow.graph.passes.adam import join_adam
from tapeflow.graph.passes.binding import bind
from tapeflow.graph.passes.folding import fold
from tapeflow.graph.passes.fusing import fuse
from tapeflow.graph.passes.grouping import group
from tapeflow.graph.passes.pruning import prune
from tapeflow.graph.passes.reuse import reuse
from tapeflow.graph.passes.sharing import share
from tapeflow.graph.passes.updating import update
from tapeflow.graph.program import Program

Pass = Callable[[Program], None]

SIMPLIFY: tuple[Pass, ...] = (fold, share, prune)
SPECIALIZE: tuple[Pass, ...] = (fuse, update, join_adam, group, prune, reuse, bind)
