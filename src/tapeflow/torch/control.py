"""Conditionals and loops that `torch.export` keeps: torch's `cond` and `while_loop`, as a module's source calls them.

torch's operators take and return tensors of fresh memory and of one layout, and pass nothing else. So lists of tensors
pass as one tensor each (`lists.Stacked`), and sizes as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

from tapeflow.torch.lists import of_rows, rows_of, shape_is_open
from tapeflow.torch.unconvertible import Unconvertible

_cond: Any = torch.ops.higher_order.cond
_while_loop: Any = torch.ops.higher_order.while_loop

Function = Callable[..., Sequence[Any]]


def cond(predicate: torch.Tensor, true_fn: Function, false_fn: Function, operands: Sequence[Any]) -> list[Any]:
    """Calls one of two functions. An exported program contains both.

    Args:
        predicate: a scalar: which of them.
        true_fn, false_fn: the functions, which return tuples of tensors and lists of tensors.
        operands: their arguments: tensors, lists of tensors and sizes.

    Returns:
        The result.

    Raises:
        Unconvertible: torch has no form for a result.
    """
    values = _Values(operands)
    lists: list[bool] = []

    def branch(function: Function) -> Callable[..., tuple[torch.Tensor, ...]]:
        def call(*tensors: Any) -> tuple[torch.Tensor, ...]:
            results = function(*values.filled(tensors))
            lists[:] = [isinstance(r, np.ndarray) for r in results]
            return tuple([_fresh_copy(_plain_tensor(r, function.__name__)) for r in results])

        return call

    predicate = predicate if predicate.dtype is torch.bool else predicate != 0
    results = _cond(predicate.reshape(()), branch(true_fn), branch(false_fn), tuple(_separate_memory(values.tensors)))
    return [of_rows(r) if is_list else r for r, is_list in zip(results, lists, strict=True)]


def case(index: torch.Tensor, functions: Sequence[Function], operands: Sequence[Any]) -> list[Any]:
    """Calls `functions[index]` on operands such as `cond` takes; the last function if `index` is out of range."""
    first, *others = functions
    if not others:
        return list(first(*operands))
    if len(others) == 1:
        return cond(index == 0, first, others[0], operands)

    def other(index: torch.Tensor, *operands: Any) -> list[Any]:
        return case(index - 1, others, operands)

    return cond(index == 0, lambda _, *operands: first(*operands), other, [index, *operands])


def while_loop(
    condition: Callable[..., torch.Tensor], body: Function, carried: Sequence[Any], invariants: Sequence[Any]
) -> list[Any]:
    """Calls a function on the loop variables while a condition holds.

    Args:
        condition, body: functions of the loop variables and of `invariants`.
        carried: the loop variables before the first iteration: tensors and lists of tensors.
        invariants: tensors, lists of tensors and sizes that are the same in all iterations.

    Returns:
        The last values of the loop variables.

    Raises:
        Unconvertible: a loop variable does not keep its shape.
    """
    if any(isinstance(v, np.ndarray) and shape_is_open(v) for v in carried):
        # Nothing was written to a list yet: a trial run of the body shows the shape and dtype of its entries.
        with disable_proxy_modes_tracing():
            written = body(*carried, *invariants)
        carried = [
            of_rows(rows_of(v, rows_of(w))) if isinstance(v, np.ndarray) and shape_is_open(v) else v
            for v, w in zip(carried, written, strict=True)
        ]
    count, lists = len(carried), [isinstance(v, np.ndarray) for v in carried]
    values = _Values(invariants)
    name = body.__name__.removesuffix("_body")

    def unpacked(tensors: Sequence[Any]) -> list[Any]:
        own = [of_rows(t) if is_list else t for t, is_list in zip(tensors[:count], lists, strict=True)]
        return [*own, *values.filled(tensors[count:])]

    def holds(*tensors: Any) -> torch.Tensor:
        result = condition(*unpacked(tensors))
        return result.reshape(()) if result.dtype is torch.bool else (result != 0).reshape(())

    def iteration(*tensors: Any) -> tuple[torch.Tensor, ...]:
        results = [_fresh_copy(_plain_tensor(r, name)) for r in body(*unpacked(tensors))]
        for before, after in zip(tensors, results, strict=False):
            _check_loop_shapes(before, after, name)
        return tuple(results)

    starts = [_plain_tensor(v, name) for v in carried]
    passed = _separate_memory([*starts, *values.tensors])
    results = _while_loop(holds, iteration, tuple(passed[:count]), tuple(passed[count:]))
    return [of_rows(r) if is_list else r for r, is_list in zip(results, lists, strict=True)]


class _Values:
    """The operands of a conditional or a loop.

    Attributes:
        tensors: those that are passed: tensors, and sizes that are no constants.
    """

    def __init__(self, operands: Sequence[Any]) -> None:
        self._operands = operands
        self.tensors = [_plain_tensor(v, "a function") for v in operands if not isinstance(v, int)]

    def filled(self, tensors: Sequence[Any]) -> list[Any]:
        """Returns the operands with others in the place of those that are passed."""
        rest = iter(tensors)
        return [
            v if isinstance(v, int) else of_rows(next(rest)) if isinstance(v, np.ndarray) else next(rest)
            for v in self._operands
        ]


def _plain_tensor(value: Any, name: str) -> Any:
    """Returns a tensor, a size, or the tensor of a list's rows."""
    if not isinstance(value, np.ndarray):
        return value
    if shape_is_open(value):
        raise Unconvertible(
            f"{name} passes on a TensorArray to which nothing was written, and whose elements have no static shape: "
            "create it with element_shape"
        )
    return rows_of(value)


def _separate_memory(tensors: Sequence[Any]) -> list[Any]:
    """Returns tensors and sizes, with copies of those that share memory with others, and of constants.

    A copy of a constant has no value while it is traced, as all other tensors.
    """
    storages: set[Any] = set()
    apart = []
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            storage = tensor.untyped_storage()
            tensor = _fresh_copy(tensor) if storage in storages or type(tensor) is torch.Tensor else tensor
            storages.add(storage)
        apart.append(tensor)
    return apart


def _fresh_copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)


def _check_loop_shapes(before: torch.Tensor, after: torch.Tensor, name: str) -> None:
    pairs = zip(before.shape, after.shape, strict=False)
    same = before.ndim == after.ndim and all(type(a) is not int or type(b) is not int or a == b for a, b in pairs)
    if not same:
        raise Unconvertible(
            f"{name}: a loop variable of shape {list(before.shape)} has shape {list(after.shape)} after an iteration, "
            "and torch's while_loop keeps shapes: write what grows to a TensorArray of a fixed size"
        )
