"""The base classes of values composed of several tensors, such as a `SparseTensor`, and of their specs.

`tf.nest`, the tape and `tf.function` take such values apart and put them together again through these two classes
alone.
"""

from __future__ import annotations

from typing import Any, SupportsIndex


class CompositeTensor:
    """A value composed of tensors, as its spec says.

    A subclass defines `_type_spec`: a `CompositeSpec` of this value.
    """

    __slots__ = ()

    _type_spec: Any
    _is_tensor: bool = False  # whether it is one to `tf.is_tensor`: it has elements of one dtype, and a shape

    def _convert_variables_to_tensors(self) -> Any:
        """Returns the value with tensors in the place of its variables; a class that may hold some overrides this."""
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        if not self._is_tensor:  # a dataset has more than its components
            return super().__reduce_ex__(protocol)
        spec = self._type_spec
        return spec._from_components, (spec._to_components(self),)


def without_variables(value: Any) -> Any:
    """Returns a composite value with tensors in the place of its variables, and any other value unchanged."""
    return value._convert_variables_to_tensors() if isinstance(value, CompositeTensor) else value


class CompositeSpec:
    """The description of a composite value without its tensors: the base of `tf.TypeSpec`.

    A subclass defines

    - `value_type`: the class of the values that it describes,
    - `_component_specs`: a nest of specs, one for each tensor,
    - `_to_components(value)`: the tensors of a value, in a nest of the same structure,
    - `_from_components(components)`: the value again,
    - `most_specific_common_supertype(others)`: a spec that fits the values of all, or `None` if there is none.
    """

    __slots__ = ()

    # Whether `tf.nest` sees more than one thing in it. The spec of a single tensor or variable says False.
    _is_composite: bool = True
