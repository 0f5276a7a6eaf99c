"""Values, loop variables and control flow of native loops."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core.ops.elements import Element, Unsupported
from tapeflow.core.types.dtypes import DType, bool_, int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.compiler.instructions import number
from tapeflow.graph.compiler.loop_code import FEW, Code, Value, filled
from tapeflow.graph.compiler.vectors import Register


class Entries:
    """A list of tensors: its entries stacked in memory.

    Attributes:
        pointer: the address of the first entry.
        length: the number of entries, a 64-bit integer.
        shape, dtype: the shape and dtype of the entries; None until a step determines them.
        version: the number of changes.
        may_change: True if entries may be written.
        changes: True if entries are written.
    """

    def __init__(self, pointer: Any, length: Any, may_change: bool) -> None:
        self.pointer, self.length, self.may_change = pointer, length, may_change
        self.shape: Any = None
        self.dtype: Any = None
        self.version = 0
        self.changes = False

    @property
    def last(self) -> Version:
        """Its last version."""
        return Version(self, self.version)

    def tell(self, tensor: SymbolicTensor | TensorSpec) -> None:
        """Sets or checks the shape and dtype of the entries.

        Raises:
            Unsupported: entries differ.
        """
        shape = tuple(tensor.shape.as_list())
        if self.shape is None:
            self.shape, self.dtype = shape, tensor.dtype
        elif (self.shape, self.dtype) != (shape, tensor.dtype):
            raise Unsupported("the entries of a list differ")


class Version(NamedTuple):
    """A list as a tensor of the graph. Lists change in place, so only the last version can be used."""

    entries: Entries
    number: int


class Sparse(NamedTuple):
    """A list of zeros except for some entries, such as the gradient of a read: pairs of an index and an entry."""

    written: tuple[tuple[Any, Value], ...] = ()


# Replaces a residual that machine code does not use: a list that is only read for its length.
UNRECORDED = Entries(None, number(0), False)

Held = Value | Version | Sparse | int  # a number is the place of a variable among the operands of the loop


def numbers_of(held: Held) -> Value:
    """Returns a tensor of numbers.

    Raises:
        Unsupported: it is a list.
    """
    if not isinstance(held, Value):
        raise Unsupported("a list in the place of numbers")
    return held


def scalar(held: Held) -> Element:
    """Returns the element of a scalar."""
    return numbers_of(held).elements.item()


def entries_of(held: Held) -> Entries:
    """Returns a list.

    Raises:
        Unsupported: it is a tensor of numbers.
    """
    if not isinstance(held, Version):
        raise Unsupported("neither numbers nor a list")
    return held.entries


# ---- loops -----------------------------------------------------------------------------------------------------------


class Variable:
    """Registers or memory of a tensor that instructions change.

    Args:
        code: the code.
        shape, dtype: shape and dtype of the tensor.
        pointer: the address of a tensor of many elements; by default in new memory.
        first: the initial value.
    """

    def __init__(
        self, code: Code, shape: tuple[int, ...], dtype: DType, pointer: Any = None, first: Value | None = None
    ) -> None:
        self._code, self.shape, self.dtype = code, shape, dtype
        self._value: Value | None = None
        if math.prod(shape) <= FEW:
            self._registers: Any = filled(shape, lambda _: Register(code.one, dtype))
        elif pointer is not None:
            self._value = code.at(pointer, shape, dtype, False)
        else:
            self._value = code.buffer(shape, dtype)
        if first is not None:
            self.store(first)

    def load(self, borrowed: bool = False) -> Value:
        """Returns the tensor; `borrowed` as in `Value`."""
        if self._value is not None:
            return dataclasses.replace(self._value, borrowed=borrowed)
        elements = filled(self.shape, lambda i: self._registers[i].load())
        return self._code.of_elements(elements, self.dtype, False)

    def prepared(self, held: Held) -> Value:
        """Returns a tensor for `store` that other stores do not change.

        Raises:
            Unsupported: it has another shape.
        """
        if not isinstance(held, Value) or held.shape != self.shape or held.dtype is not self.dtype:
            raise Unsupported("a loop variable changes its shape")
        is_own = self._value is not None and held.pointer is self._value.pointer and held.is_contiguous
        if not held.borrowed or is_own:
            return held
        return self._code.copied(held)

    def store(self, held: Held) -> None:
        """Changes the tensor."""
        value = self.prepared(held)
        if self._value is None:
            for index in np.ndindex(self.shape):
                self._registers[index].store(value.elements[index])
        elif value.pointer is not self._value.pointer:
            self._code.fill(self._value, value)


def write_loop(
    code: Code,
    variables: Sequence[Variable | Entries],
    test: Callable[[list[Held]], Any],
    iterate: Callable[[list[Held], Any], list[Held]],
    limit: Any = None,
) -> tuple[Any, Any]:
    """Writes a loop.

    Args:
        code: the code.
        variables: its loop variables.
        test: returns the condition, from the values of the loop variables.
        iterate: returns the values after an iteration, from the values before it and the iteration's index.
        limit: the maximal trip count, a 64-bit integer, or None.

    Returns:
        The trip count, and the condition after the last iteration.
    """
    b = code.b
    for v in variables:
        if isinstance(v, Entries):
            v.version += 1  # captures of the list see the changes
    counter, going = Register(code.one, int64, code.one.number(0, int64)), Register(code.one, bool_)
    head, body, after = (code.new_block(name) for name in ("head", "iteration", "end"))
    b.branch(head)
    b.position_at_end(head)
    count = counter.load().value
    state: list[Held] = [v.last if isinstance(v, Entries) else v.load(borrowed=True) for v in variables]
    goes_on = test(state)
    going.store(Element(goes_on, bool_))
    b.cbranch(goes_on if limit is None else b.and_(goes_on, b.icmp_signed("<", count, limit)), body, after)
    b.position_at_end(body)
    place, prepared = code.place(), []
    for v, result in zip(variables, iterate(state, count), strict=True):
        if isinstance(v, Variable):
            prepared.append((v, v.prepared(result)))
        elif entries_of(result) is not v:
            raise Unsupported("a loop exchanges lists")
    for v, value in prepared:
        v.store(dataclasses.replace(value, borrowed=False))
    counter.store(Element(b.add(count, number(1)), int64))
    code.spend(code.work_since(place))
    b.branch(head)
    b.position_at_end(after)
    return counter.load().value, going.load().value
