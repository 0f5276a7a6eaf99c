"""Members of graphs that few programs use: operations by type, feeds and fetches, and counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.hooks import hooks


class GraphMembers:
    """Adds operations by their type, and decides about feeds and fetches."""

    seed: int | None = None  # of the random ops that are added to it

    def __init__(self) -> None:
        super().__init__()
        self._unfed: set[Any] = set()
        self._unfetched: set[Any] = set()
        self._gradients: dict[str, str] = {}  # the names of registered gradients, by the ops' names

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Any],
        dtypes: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: Mapping[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Any:
        """Adds an operation of a type.

        Args:
            op_type: the registered name of the op.
            inputs: its tensors.
            dtypes, input_types, op_def, compute_shapes, compute_device: accepted, and without effect: dtypes and shapes
                follow from the op.
            name: the operation's name; by default the op's.
            attrs: `AttrValue` messages by the attrs' names; dtypes that follow from the inputs may be left out.

        Returns:
            The operation.

        Raises:
            NotFoundError: no op has that name.

        Example:
            >>> with tf.Graph().as_default() as g:
            ...     g.create_op("Neg", [tf.constant(1.0)], name="negative").name
            'negative'
        """
        return hooks.create_operation(self, op_type, list(inputs), dict(attrs or {}), name)

    def num_operations(self) -> int:
        """Returns the number of operations."""
        return len(self.get_operations())  # type: ignore[attr-defined]

    def new_operations(self) -> list[Any]:
        """Returns the operations that TensorFlow's runtime added by itself: none here."""
        return []

    def op_def_for_type(self, type: str) -> Any:
        """Returns the definition of an op as an `OpDef` message.

        Raises:
            NotFoundError: no op has that name.
        """
        return hooks.op_def_proto(type)

    @property
    def _variable_creator_stack(self) -> list[Any]:
        """The active `tf.variable_creator_scope`s."""
        return state.variable_creators

    @property
    def _functions(self) -> dict[str, Any]:
        """The functions that operations call, by name; each has its `FunctionDef` as `definition`."""
        functions = self.as_graph_def().library.function  # type: ignore[attr-defined]
        return {f.signature.name: SimpleNamespace(name=f.signature.name.encode(), definition=f) for f in functions}

    @property
    def graph_def_versions(self) -> Any:
        """The version of the format that `as_graph_def` writes, as a `VersionDef` message."""
        return hooks.graph_def_versions()

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Returns a context without effect. In TensorFlow, it places operations beside another one.

        Args:
            op: the operation.
            ignore_existing: whether to leave the contexts around it.
        """
        yield

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Returns a context for the resources of a container, whose name it is: without effect.

        Args:
            container_name: the name.
        """
        yield container_name

    @contextmanager
    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> Iterator[None]:
        """Returns a context that gives operations gradients of `tf.RegisterGradient`.

        Args:
            op_type_map: the names of registered gradients, by the ops' names.

        Raises:
            TypeError: it is no dict of strings.
        """
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        if not all(isinstance(s, str) for pair in op_type_map.items() for s in pair):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        before, self._gradients = self._gradients, {**self._gradients, **op_type_map}
        try:
            yield
        finally:
            self._gradients = before

    def _with_own_gradient(self, op: Any) -> Any:
        """Returns an op with the gradient that `gradient_override_map` names for it."""
        name = self._gradients.get(op.name)
        return op if name is None else hooks.with_registered_gradient(op, name)

    def prevent_feeding(self, tensor: Any) -> None:
        """Makes a tensor one that sessions do not feed, see `is_feedable`."""
        self._unfed.add(id(tensor))

    def prevent_fetching(self, op: Any) -> None:
        """Makes an operation one that sessions do not fetch, see `is_fetchable`."""
        self._unfetched.add(id(op))

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Returns whether a session may fetch a tensor or operation."""
        return id(getattr(tensor_or_op, "op", tensor_or_op)) not in self._unfetched

    def is_feedable(self, tensor: Any) -> bool:
        """Returns whether a session may feed a tensor."""
        return id(tensor) not in self._unfed

    def get(self) -> Any:
        """Returns the graph."""
        return self

    def switch_to_thread_local(self) -> None:
        """Does nothing: control dependencies and scopes are each thread's own."""

    def Dismantle(self) -> None:
        """Does nothing: Python frees graphs."""


class Collections:
    """The part of a graph that holds its collections."""

    def __init__(self) -> None:
        super().__init__()
        self._collections: dict[Any, list[Any]] = {}

    def add_to_collection(self, name: str | None, value: Any) -> None:
        """Adds a value to the collection of that name.

        Example:
            >>> g = tf.Graph()
            >>> g.add_to_collection("numbers", 1)
            >>> g.get_collection("numbers")
            [1]
        """
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Adds a value to several collections."""
        for name in (names,) if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def get_collection(self, name: str | None, scope: str | None = None) -> list[Any]:
        """Returns a copy of a collection; with `scope`, only values with a name that begins with a match of the regular
        expression.

        Example:
            >>> with tf.Graph().as_default() as g:
            ...     v, w = tf.Variable(1.0, name="a/v"), tf.Variable(1.0, name="b/w")
            >>> [x.name for x in g.get_collection("variables", "a/")]
            ['a/v:0']
        """
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        match = re.compile(scope).match
        return [v for v in items if hasattr(v, "name") and match(v.name)]

    def get_collection_ref(self, name: str | None) -> list[Any]:
        """Returns the collection itself."""
        return self._collections.setdefault(name, [])

    @property
    def collections(self) -> list[Any]:
        """The names of all collections."""
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        """Returns the names of all collections."""
        return [key for key in self._collections if isinstance(key, str)]

    def clear_collection(self, name: str | None) -> None:
        """Empties a collection."""
        self._collections.pop(name, None)
