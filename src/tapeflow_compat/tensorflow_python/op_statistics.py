"""Functions that compute statistics of operations, such as their numbers of floating point operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core.lazy_modules import load

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph

_functions: dict[tuple[str, str], Callable[[Any, Any], OpStats]] = {}


class OpStats:
    """One statistic of an operation.

    Args:
        statistic_type: a string, the kind of statistic, such as "flops".
        value: a number, or None if it is unknown.
    """

    def __init__(self, statistic_type: str, value: Any = None) -> None:
        self.statistic_type, self.value = statistic_type, value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}.")
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


class RegisterStatistics:
    """A decorator that registers the function of one statistic of an op: it takes a graph and a `NodeDef`.

    Raises:
        TypeError: the op is no string, or has a comma in its name.
    """

    def __init__(self, op_type: str, statistic_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f: Callable[[Any, Any], OpStats]) -> Callable[[Any, Any], OpStats]:
        """Registers the function.

        Raises:
            KeyError: the op has one for this statistic.
        """
        name = ",".join(self._key)
        if self._key in _functions:
            raise KeyError(f"Registering two statistics functions with name '{name}'!")
        _functions[self._key] = f
        return f


def get_stats_for_node_def(graph: Graph, node: Any, statistic_type: str) -> OpStats:
    """Returns a statistic of a node, without a value where no function computes it."""
    if statistic_type == "flops" and ("MatMul", "flops") not in _functions:
        load("tapeflow.tensorflow_python.floating_point_operations").register_flops()
    function = _functions.get((node.op, statistic_type))
    return OpStats(statistic_type) if function is None else function(graph, node)
