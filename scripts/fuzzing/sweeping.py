"""Sweeps recorded calls: in each, one argument after another gets each value of a hostile kind.

A random call is rarely hostile in the one way that a function forgets; a sweep tries each way at each function. What
random draws change by chance (`drawing`), the kinds of `KINDS` change at every place, always the same.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fuzzing.drawing import (
    ALIEN,
    ARRAYS,
    Call,
    Place,
    arguments,
    arrays_of,
    as_list,
    converted,
    everywhere,
    resized,
    specials,
)  # fmt: skip
from fuzzing.values import kind_of

Change = Callable[[Call], Iterator[Call]]
SPRINKLED = 4  # how many special values an array gets at once


def sweep(calls: dict[str, list[Call]], kinds: Sequence[str], only: str = "", each: int = 1) -> list[Call]:
    """The calls that `kinds` make of recorded ones.

    Args:
        calls: the recorded calls, by function.
        kinds: keys of `KINDS`.
        only: the beginning of the functions' names, such as tf.nn.
        each: how many calls of each function to begin with, spread over their lengths.

    Returns:
        The calls, every one once.
    """
    swept: dict[str, Call] = {}
    for kind in kinds:
        for function in sorted(calls):
            if not f"tf.{function}".startswith(only or "tf."):
                continue
            for call in _spread(sorted(calls[function], key=lambda call: len(json.dumps(call))), each):
                for changed in KINDS[kind](call):
                    swept.setdefault(json.dumps(changed), changed)
    return list(swept.values())


def _spread(calls: list[Call], count: int) -> list[Call]:
    """As many of the calls, at even distances; one is that in the middle."""
    count = min(count, len(calls))
    return [calls[(2 * i + 1) * len(calls) // (2 * count)] for i in range(count)]


# ---- changes at one place --------------------------------------------------------------------------------------------


def _at(where: Callable[[Call], list[Place]], others: Callable[[Any], Sequence[Any]]) -> Change:
    """The change that puts each of `others(node)` in the place of a node, at one place after another."""

    def change(call: Call) -> Iterator[Call]:
        for i, place in enumerate(where(call)):
            for node in others(place.node):
                if node != place.node or type(node) is not type(place.node):
                    changed = copy.deepcopy(call)
                    where(changed)[i].node = copy.deepcopy(node)
                    yield changed

    return change


def _alien(*nodes: Any) -> Change:
    return _at(arguments, lambda node: nodes)


def _arrays(others: Callable[[list[Any]], Sequence[list[Any]]]) -> Change:
    """The change of the dtype, shape and values of one array after another."""

    def nodes(node: Any) -> list[Any]:
        kind = kind_of(node)
        return [{kind: other} for other in others(node[kind])] if kind in ARRAYS else []

    return _at(everywhere, nodes)


def _numbers(type_: type, *values: Any) -> Change:
    """The change of each Python number of the type to each of the values, or to what a function makes of it."""
    return _at(everywhere, lambda node: [value(node) if callable(value) else value for value in values]
               if type(node) is type_ else [])  # fmt: skip


def _form(form: str) -> Change:
    """The change of tensors and arrays to another form: a list, an array, a variable."""

    def nodes(node: Any) -> list[Any]:
        kind = kind_of(node)
        if kind not in ARRAYS:
            return []
        return [as_list(node) if form == "list" else {form: node[kind]}]

    return _at(everywhere, nodes)


def _tensors(dtypes: dict[type, str]) -> Change:
    """The change of Python's numbers and texts to tensors."""

    def nodes(node: Any) -> list[Any]:
        return [{"tensor": [dtypes[type(node)], [], [node]]}] if type(node) in dtypes else []

    return _at(everywhere, nodes)


def _retyped(array: list[Any], dtype: str) -> list[Any]:
    return [dtype, array[1], converted(array[2], array[0], dtype)]


def _reshaped(array: list[Any], shape: list[int]) -> list[Any]:
    array = list(array)
    resized(array, shape)
    return array


def _sizes(*sizes: Any) -> Change:
    def others(array: list[Any]) -> list[list[Any]]:
        shape = array[1]
        return [_reshaped(array, [*shape[:axis], size(old) if callable(size) else size, *shape[axis + 1 :]])
                for axis, old in enumerate(shape) for size in sizes]  # fmt: skip

    return _arrays(others)


def _ranks(array: list[Any]) -> list[list[Any]]:
    return [_reshaped(array, shape) for shape in ([1, *array[1]], [2, *array[1]], array[1][1:], [])]


def _sprinkled(array: list[Any]) -> list[list[Any]]:
    """The array with special values at a few places, some of them at a time."""
    dtype, shape, values = array
    several = []
    values_of_dtype = specials(dtype) if values else []
    for first in range(0, len(values_of_dtype), SPRINKLED):
        changed = list(values)
        for i, value in enumerate(values_of_dtype[first : first + SPRINKLED]):
            changed[3 * i % len(changed)] = value
        several.append([dtype, shape, changed])
    return several


# ---- changes of a whole call -----------------------------------------------------------------------------------------


def _together(keys: Callable[[list[Any]], Sequence[Any]], news: Sequence[Any],
              others: Callable[[list[Any], Any, Any], list[Any]]) -> Change:  # fmt: skip
    """The change of all arrays that share one of `keys(array)` to each of `news`, by `others(array, key, new)`."""

    def change(call: Call) -> Iterator[Call]:
        shared = {key: None for place in arrays_of(call) for key in keys(place.node[kind_of(place.node)])}
        for key in shared:
            for new in news:
                if new == key:
                    continue
                changed = copy.deepcopy(call)
                for place in arrays_of(changed):
                    kind = kind_of(place.node)
                    place.node = {kind: others(place.node[kind], key, new)}
                yield changed

    return change


def _retype_all(*dtypes: str) -> Change:
    return _together(lambda array: array[:1], dtypes,
                     lambda array, old, new: _retyped(array, new) if array[0] == old else array)  # fmt: skip


def _empty_all(*sizes: int) -> Change:
    return _together(lambda array: array[1], sizes,
                     lambda array, old, new: _reshaped(array, [new if n == old else n for n in array[1]]))  # fmt: skip


def _dropped(call: Call) -> Iterator[Call]:
    for name in call["kwargs"]:
        yield {**call, "kwargs": {other: node for other, node in call["kwargs"].items() if other != name}}
    if len(call["args"]) > 1:
        yield {**call, "args": call["args"][:-1]}


def _nothing(call: Call) -> Iterator[Call]:
    yield call


# The kinds of sweeps, by name.
KINDS: dict[str, Change] = {
    # Values of another type, in the place of a whole argument.
    **{name: _alien(node) for name, node in ALIEN.items()},
    # Other forms of the same numbers.
    "list": _form("list"), "array": _form("array"), "variable": _form("variable"),
    "tensors": _tensors({int: "int64", float: "float32", str: "string"}), "tensors32": _tensors({int: "int32"}),
    # Other numbers.
    "bigints": _numbers(int, 2**31, 2**63 - 1, -(2**31)),
    "smallints": _numbers(int, 0, -1, lambda n: n + 1, -3),
    "reals": _numbers(float, 0.0, -1.0, float("nan"), float("inf"), 1e300),
    "special": _arrays(_sprinkled),
    # Other dtypes, of one array or of all that share one.
    "retype": _arrays(lambda array: [_retyped(array, new) for new in ("float16", "int32", "complex64", "string")]),
    "retype2": _arrays(lambda a: [_retyped(a, new) for new in ("uint64", "bool", "float64", "bfloat16", "int8")]),
    "retypeall": _retype_all("float16", "bfloat16", "float64", "int8", "uint16"),
    "retypeall2": _retype_all("uint64", "bool", "complex64", "int64", "string"),
    # Other shapes, of one array or of all that share a size.
    "sizes": _sizes(0, 1, lambda size: size + 1),
    "ranks": _arrays(_ranks),
    "emptyall": _empty_all(0, 1),
    # Arguments left out; and the calls as they are.
    "dropped": _dropped,
    "plain": _nothing,
}  # fmt: skip
