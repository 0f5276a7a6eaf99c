"""Python's own functions for tensors of a graph: `REPLACED` maps each to the function that converted code calls."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable
from typing import Any

from tapeflow.array.creation import range as tf_range
from tapeflow.array.properties import shape
from tapeflow.array.sorting import sort
from tapeflow.array.tensor_text import print as tf_print
from tapeflow.autograph.operators.staged_values import graph_being_built, is_staged
from tapeflow.control.conditions_and_loops import Assert
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType, bool_, float32, int32, string
from tapeflow.math.casting import cast
from tapeflow.math.comparison import logical_not
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import reduce_all, reduce_any, reduce_max, reduce_min, reduce_sum


class StagedRange:
    """The result of `range(...)` of tensors: it counts in the graph, without a tensor of all numbers.

    Attributes:
        start, limit, delta: int32 scalars, and Python integers; at least one is a tensor.
    """

    def __init__(self, start: Any, limit: Any = None, delta: Any = 1) -> None:
        self.start: Any = 0 if limit is None else start
        self.limit: Any = start if limit is None else limit
        self.delta: Any = delta

    def tensor(self) -> Any:
        """Returns all numbers, as one tensor."""
        return tf_range(self.start, self.limit, self.delta)


class StagedZip:
    """The result of `zip(...)` with a staged part: its items are tuples of the items of its parts."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts


def is_staged_iterable(value: Any) -> bool:
    """Returns True if an iteration needs a loop in the graph."""
    return isinstance(value, (StagedRange, StagedZip)) or is_staged(value)


def range_(*args: Any) -> Any:
    dtypes = {a.dtype for a in args if is_staged(a)}
    if not dtypes:
        return range(*args)
    return StagedRange(*args) if dtypes == {int32} else tf_range(*args)  # whose inputs have one dtype


def _are_datasets(*iterables: Any) -> bool:
    """Returns True if a graph is being built, and all are datasets, whose iteration needs a loop in it."""
    return graph_being_built() is not None and all(
        hasattr(i, "__tf_autograph_for__") and hasattr(i, "enumerate") for i in iterables
    )


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    if is_staged_iterable(iterable):
        return StagedZip(StagedRange(convert(start, int32), convert(2**31 - 1, int32)), iterable)
    if _are_datasets(iterable):
        return iterable.enumerate(start)
    return enumerate(iterable, start)


def zip_(*iterables: Any, **strict: Any) -> Any:
    if any(map(is_staged_iterable, iterables)):
        return StagedZip(*iterables)
    if iterables and _are_datasets(*iterables):
        return type(iterables[0]).zip(iterables)
    return zip(*iterables, **strict)  # noqa: B905


def len_(value: Any) -> Any:
    if isinstance(value, StagedRange):
        value = value.tensor()
    if _are_datasets(value):
        return _number_of_elements(value)
    if not is_staged(value):
        return len(value)
    if value.shape.rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {value.shape}")
    static = value.shape[0] if value.shape.rank is not None else None
    return shape(value)[0] if static is None else static


def _number_of_elements(dataset: Any) -> Any:
    """Returns the length of a dataset as a tensor; when the graph runs, it is an error that it has none."""
    count = dataset.cardinality()
    Assert(count >= 0, ["len requires a dataset with definitive cardinality, got", count])
    return count


def int_(value: Any = 0, *base: Any) -> Any:
    return _cast_number(value, int32) if not base and is_staged(value) else int(value, *base)


def float_(value: Any = 0.0) -> Any:
    return _cast_number(value, float32) if is_staged(value) else float(value)


def _cast_number(value: Any, dtype: DType) -> Any:
    if value.dtype is string:
        from tapeflow.strings.formatting import to_number  # here, as strings are loaded on first use

        return to_number(value, dtype)
    return cast(value, dtype)


def max_(*args: Any, **kwargs: Any) -> Any:
    return _extreme_of("max", args, kwargs)


def min_(*args: Any, **kwargs: Any) -> Any:
    return _extreme_of("min", args, kwargs)


def _extreme_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    listed = len(args) == 1 and isinstance(args[0], (list, tuple)) and len(args[0]) > 1
    values = args[0] if listed else args
    if kwargs or not any(map(is_staged, values)):
        return getattr(builtins, name)(*args, **kwargs)
    if len(values) > 1:
        return functools.reduce(maximum if name == "max" else minimum, values)
    if values[0].shape.rank not in (1, None):
        raise ValueError(f"{name}() of a tensor needs one of rank 1, got one of shape {values[0].shape}")
    return (reduce_max if name == "max" else reduce_min)(values[0], axis=0)


def sum_(value: Any, /, start: Any = 0) -> Any:
    if not is_staged(value):
        return sum(value, start)
    total = reduce_sum(value, axis=0)
    return total if isinstance(start, int) and start == 0 else total + start


def any_(value: Any) -> Any:
    if _are_datasets(value):
        return _first_like(True, value, "any")
    return reduce_any(value, axis=0) if is_staged(value) else any(value)


def all_(value: Any) -> Any:
    if _are_datasets(value):
        return _first_like(False, value, "all")
    return reduce_all(value, axis=0) if is_staged(value) else all(value)


def _first_like(wanted: bool, dataset: Any, name: str) -> Any:
    """Returns `wanted` as a tensor if it is among the elements of a dataset, which must be booleans, or the opposite.

    Raises:
        ValueError: they are others.
    """
    spec = dataset.element_spec
    if getattr(spec, "dtype", None) is not bool_ or spec.shape.rank not in (0, None):
        raise ValueError(
            f'in graph mode, the "{name}" builtin only supports datasets that return bool scalars; got: {spec}'
        )
    alike = dataset.filter((lambda x: x) if wanted else logical_not).take(1)
    return alike.reduce(convert(not wanted), lambda _, x: x)


def sort_values(value: Any, /, **kwargs: Any) -> Any:
    if not is_staged(value):
        return sorted(value, **kwargs)
    if kwargs.get("key"):
        raise ValueError("sorted() of a tensor takes no key; sort by tf.argsort of the keys and tf.gather")
    return sort(value, direction="DESCENDING" if kwargs.get("reverse") else "ASCENDING")


def map_(function: Callable[..., Any], *iterables: Any) -> Any:
    if iterables and _are_datasets(*iterables):
        return type(iterables[0]).zip(iterables).map(function)
    return map(_convert_callable(function), *iterables)


def filter_(function: Any, iterable: Any) -> Any:
    if _are_datasets(iterable):
        return iterable.filter(function)
    return filter(function and _convert_callable(function), iterable)


def _convert_callable(function: Callable[..., Any]) -> Any:
    from tapeflow.autograph.conversion import converted_call  # a circle: `conversion` builds on the operators

    return converted_call(function)


def print_(*args: Any, **kwargs: Any) -> None:
    """Prints; tensors of a graph, with `Feature.BUILTIN_FUNCTIONS`, when the graph runs."""
    if any(map(is_staged, args)):
        options = {k: v for k, v in kwargs.items() if k in ("sep", "end")}
        tf_print(*args, output_stream=kwargs.get("file") or sys.stdout, **options)
    else:
        print(*args, **kwargs)


REPLACED: dict[Any, Callable[..., Any]] = {
    range: range_, enumerate: enumerate_, zip: zip_, len: len_, int: int_, float: float_, max: max_, min: min_,
    sum: sum_, any: any_, all: all_, sorted: sort_values, map: map_, filter: filter_, print: print,
}  # fmt: skip
