"""`tf.Module`: a named container of variables and other modules."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.core.scopes import name_scope
from tapeflow.core.values.nest_paths import flatten_with_tuple_paths
from tapeflow.core.values.trackable import AutoTrackable
from tapeflow.core.values.variable import Variable
from tapeflow.tracking import data_structures  # noqa: F401 (registers the wrappers of lists, dicts and tuples)

_BEFORE_CAPITAL = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")


class Module(AutoTrackable):
    """A base class for layers and models: it finds the variables and modules in its attributes, however nested.

    Args:
        name: a Python identifier; by default the class's name in snake case.

    Raises:
        ValueError: the name is no identifier.

    Example:
        >>> class Dense(tf.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.w = tf.Variable([[1.0, 2.0]], name="w")
        ...         self.b = tf.Variable([0.0, 1.0], name="b")
        ...     def __call__(self, x):
        ...         return tf.matmul(x, self.w) + self.b
        >>> [v.name for v in Dense().variables]
        ['b:0', 'w:0']
    """

    # Attributes that are not searched.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(
        {
            "_self_unconditional_checkpoint_dependencies",
            "_self_unconditional_dependency_names",
            "_self_unconditional_deferred_dependencies",
        }
    )

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _BEFORE_CAPITAL.sub(r"_\1", type(self).__name__).lower()
        elif not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    @property
    def name(self) -> str:
        """The module's name, without name scopes."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The name scope for the module's variables."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables of this module and its submodules: attributes sorted by name, then submodules."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable ones among `variables`."""
        return tuple(self._flatten(predicate=lambda v: _is_variable(v) and v.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """Those among `variables` that are not trainable."""
        return tuple(self._flatten(predicate=lambda v: _is_variable(v) and not v.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules in this one, theirs included, level by level."""
        return tuple(self._flatten(predicate=lambda m: isinstance(m, Module)))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """Iterates over the values of the module's attributes, however nested.

        Args:
            recursive: goes on into submodules.
            predicate: selects the values; all by default.
            attribute_traversal_key: sorts the names of the attributes.
            with_path: yields pairs of a path and a value, and a value once for each of its paths; otherwise each value
                once.
            expand_composites: yields the components of composite tensors.

        Returns:
            An iterator over the values, or over the pairs.
        """
        seen: set[int] = set()  # the ids of the values so far

        def walk(module: Module, path: tuple[Any, ...], above: tuple[int, ...]) -> Iterator[Any]:
            seen.add(id(module))
            below = []
            for name in sorted(vars(module), key=attribute_traversal_key):
                if name in module._TF_MODULE_IGNORED_PROPERTIES:
                    continue
                value = vars(module)[name]
                try:
                    leaves = flatten_with_tuple_paths(value, expand_composites=expand_composites)
                except Exception as error:
                    raise ValueError(f"Error processing property {name!r} of {value!r}") from error
                for leaf_path, leaf in leaves:
                    if id(leaf) in seen and not with_path:
                        continue
                    seen.add(id(leaf))
                    full = (*path, name, *leaf_path)
                    if predicate is None or predicate(leaf):
                        yield (full, leaf) if with_path else leaf
                    if recursive and isinstance(leaf, Module) and id(leaf) not in above:
                        below.append((full, leaf))
            above = (*above, id(module))
            for full, leaf in below:
                if id(leaf) not in above:
                    yield from walk(leaf, full, above)

        return walk(self, (), ())

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method to run in the module's name scope.

        Args:
            method: a method of a module.

        Returns:
            The method, which enters the scope first.

        Example:
            >>> class Lazy(tf.Module):
            ...     @tf.Module.with_name_scope
            ...     def __call__(self):
            ...         return tf.Variable(1.0, name="v").name
            >>> Lazy()()
            'lazy/v:0'
        """

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)
