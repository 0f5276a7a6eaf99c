"""What marks a value that is made of several tensors, such as a `SparseTensor`, and what marks its spec.

`tf.nest`, the tape and `tf.function` take such values apart and put them together again through these two classes and
need to know no more about them.
"""

from __future__ import annotations

from typing import Any


class CompositeTensor:
    """A value made of tensors. What it is made of is up to its spec.

    A subclass gives `_type_spec`: a `CompositeSpec` of this value.
    """

    __slots__ = ()

    _type_spec: Any
    _is_tensor: bool = False  # whether `tf.is_tensor` takes it for one: it has elements of one dtype, and a shape


class CompositeSpec:
    """What a composite value looks like without its tensors: the base of `tf.TypeSpec`.

    A subclass gives

    - `value_type`: the class of the values that it describes,
    - `_component_specs`: a nest of specs, one for each tensor,
    - `_to_components(value)`: the tensors of a value, in a nest of the same structure,
    - `_from_components(components)`: the value again,
    - `most_specific_common_supertype(others)`: a spec that fits the values of all, or `None` if there is none.
    """

    __slots__ = ()

    # Whether `tf.nest` sees more than one thing in it. The spec of a single tensor or variable says False.
    _is_composite: bool = True
