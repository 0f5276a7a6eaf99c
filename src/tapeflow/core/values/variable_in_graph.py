"""Variables that belong to a graph: an operation returns the handle, and another one initializes the variable.

In eager mode and inside of `tf.function` a variable belongs to no graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.values.tensor import Tensor


class OfGraph:
    """The part of `tf.Variable` for variables that were created in a graph."""

    __slots__ = ()

    _id: int
    _name: str
    assign: Callable[..., Any]
    _graph: Any = None  # the graph of its creation, unless it is a function's

    def eval(self, session: Any = None) -> Any:
        """Returns the value that a variable of a graph has in a session, by default the default one.

        Raises:
            RuntimeError: it is not a graph's.
        """
        return self._of_graph("eval").read_of(self).eval(session=session)

    def _as_graph_element(self) -> Any:
        """Returns the tensor of its graph that stands for it in sessions and collections."""
        return self._of_graph("a tensor of a graph").read_of(self, vars(self).get("_staged"))

    def _of_graph(self, operation: str) -> Any:
        """Returns the graph that it was created in; `operation` is for the error message."""
        if self._graph is None:
            raise RuntimeError(f"This operation is not supported when eager execution is enabled: {operation}")
        return self._graph

    def load(self, value: list[float], session: Any = None) -> None:
        """Assigns `value`, for a variable of a graph in a session; left over from TensorFlow 1."""
        if self._graph is None:
            self.assign(value)
            return
        initializer = self.initializer
        initializer.run({initializer.inputs[1]: value}, session)

    @property
    def graph(self) -> Any:
        """The graph that it was created in."""
        if self._graph is None:
            raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
        return self._graph

    @property
    def op(self) -> Any:
        """The operation of the graph that returns its handle; of a reference variable of TensorFlow 1, its value."""
        if self._graph is None:
            raise AttributeError("Tensor.op is undefined when eager execution is enabled.")
        return self._graph._by_name.get(self._name) or self._graph.capture_variable(self).op

    @property
    def initializer(self) -> Any:
        """In a graph, the operation that assigns the initial value."""
        return None if self._graph is None else self._graph._own_variables.get(self._id)

    @property
    def initial_value(self) -> Tensor:
        """The tensor of the graph that is its initial value."""
        self._of_graph("initial_value")
        return self.initializer.inputs[1]

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Returns the variable as a `VariableDef` message, as which graphs store it in files.

        Raises:
            RuntimeError: it is not a graph's.
        """
        return self._of_graph("to_proto").variable_def(self)

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Any:
        """Returns the variable of the default graph that a `VariableDef` message describes.

        Raises:
            RuntimeError: no graph is being built.
        """
        if state.graph is None:
            raise RuntimeError("from_proto is not supported when eager execution is enabled.")
        return state.graph.variable_of_def(variable_def, import_scope or "")
