"""Values that differ between replicas, and conversions between them and ordinary values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.spec import TypeSpec, type_spec_from_value
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.distribute.context import place


class DistributedValues:
    """A value for each replica: the type of the results of `Strategy.run` and of the batches of distributed datasets.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0"])
        >>> values = strategy.experimental_distribute_values_from_function(lambda context: 5)
        >>> strategy.experimental_local_results(values)
        (5,)
    """

    __slots__ = ()

    _values: tuple[Any, ...]
    _shown_as: str | None = None  # if it differs from the class's name

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, in the order of the replicas."""
        return self._values

    def _text(self, form: Callable[..., Any]) -> str:
        lines = ",\n".join(f"  {i}: {form(v)}" for i, v in enumerate(self._values))
        return f"{self._shown_as or type(self).__name__}:{{\n{lines}\n}}"

    def __str__(self) -> str:
        return self._text(str)

    def __repr__(self) -> str:
        return self._text(repr)


class PerReplica(DistributedValues, CompositeTensor):
    """Values that may differ.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        >>> values = strategy.experimental_distribute_values_from_function(lambda context: tf.constant(1.0))
        >>> [v.numpy().item() for v in strategy.experimental_local_results(values)]
        [1.0]
    """

    __slots__ = ("__weakref__", "_values")

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = tuple(values)

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*[type_spec_from_value(v) for v in self._values])

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        if place.index is None:
            raise ValueError(
                "It looks like you are using a PerReplica object while not inside a replica context, which is not "
                "supported. Try running your op or function inside a replica context by using `strategy.run`"
            )
        return convert(self._values[place.index], dtype)


class PerReplicaSpec(TypeSpec):
    """The spec of `PerReplica`: the specs of its values."""

    __slots__ = ("_specs",)

    def __init__(self, *value_specs: Any) -> None:
        self._specs = value_specs

    value_type = PerReplica

    @property
    def _component_specs(self) -> Any:
        return self._specs

    def _to_components(self, value: PerReplica) -> Any:
        return value.values

    def _from_components(self, components: Sequence[Any]) -> PerReplica:
        return PerReplica(components)

    def _serialize(self) -> tuple[Any, ...]:
        return self._specs

    def __repr__(self) -> str:
        return f"PerReplicaSpec({', '.join(map(repr, self._specs))})"


class Mirrored(DistributedValues):
    """Equal values: variables with copies, and the results of updating them.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        >>> with strategy.scope():
        ...     v = tf.Variable(1.0)
        >>> [copy.numpy().item() for copy in strategy.experimental_local_results(v)]
        [1.0]
    """

    __slots__ = ()


class MirroredValues(Mirrored):
    """Equal values; converted to a tensor, the value of the replica, or else the first."""

    __slots__ = ("_values",)
    _shown_as = "Mirrored"

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = tuple(values)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        return convert(self._values[place.index or 0], dtype)


def regroup(values: Sequence[Any], wrap: type = PerReplica) -> Any:
    """Combines the values of all replicas into one, recursively through structures.

    Args:
        values: a value for each replica.
        wrap: the class for values that differ. If all are the same object, the result is this object.
    """
    first = values[0]
    if len(values) == 1:
        return first
    if isinstance(first, (list, tuple)) and all(type(v) is type(first) and len(v) == len(first) for v in values):
        items = [regroup(items, wrap) for items in zip(*values, strict=True)]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if isinstance(first, Mapping) and all(type(v) is type(first) and v.keys() == first.keys() for v in values):
        merged = {k: regroup([v[k] for v in values], wrap) for k in first}
        return merged if type(first) is dict else nest.pack_sequence_as(first, nest.flatten(merged))
    if all(v is first for v in values[1:]):
        return first
    container = getattr(first, "_distributed_container", None)
    if container is not None and container() is not None:
        whole = container()
        if all(v is w for v, w in zip(values, whole.values, strict=False)):
            return whole
    return wrap(values)


def select_replica(index: int, structure: Any, variables: bool = False) -> Any:
    """Returns the part of a structure for a replica.

    Args:
        index: the number of the replica.
        structure: a nest of values.
        variables: whether variables are replaced by the replica's copies too.
    """

    def part(value: Any) -> Any:
        if isinstance(value, DistributedValues) and (variables or not isinstance(value, Variable)):
            return value.values[index]
        return value

    return nest.map_structure(part, structure)


def local_results(value: Any, count: int) -> tuple[Any, ...]:
    """Returns the values of `count` replicas, for each a structure; a value that is not distributed by itself."""
    if isinstance(value, DistributedValues):
        return value.values
    if not any(isinstance(v, DistributedValues) for v in nest.flatten(value)):
        return (value,)
    return tuple(select_replica(i, value, variables=True) for i in range(count))
