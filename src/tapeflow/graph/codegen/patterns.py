"""Patterns: nested ops as values, and one matcher that finds them in a program.

A pattern describes how a tensor is computed. `Call(ops.Mul, Capture("x"), Number(0.5))` is half of any tensor, which is
captured as `x`. Where a name is captured twice, both must be the same tensor. A name that ends with a star collects all
that it captures. Operands of commutative ops match in both orders, so a pattern may match in several ways.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import host_static, numbers
from tapeflow.core.types.dtypes import DType, float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Miss, Program, Step
from tapeflow.graph.ir.operation import Operation, symbolic_in

USED_ELSEWHERE = "used elsewhere, such as in a gradient"
_FLOATS = frozenset({float32, float64})


class Captures:
    """The captures of a match, or of the first part of one.

    Attributes:
        values: the tensors, numbers and arguments, by their names.
        depth: the number of steps that matched.
    """

    def __init__(self, values: dict[str, Any], depth: int = 0) -> None:
        self.values, self.depth = values, depth

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name, () if name.endswith("*") else None)

    def bound(self, name: str, value: Any) -> Captures | None:
        """Returns the match with one more capture; None if the name stands for another value."""
        if not name:
            return self
        if name.endswith("*"):
            value = (*self[name], value)
        elif name in self.values:
            other = self.values[name]
            same = other is value if isinstance(value, SymbolicTensor) else other == value
            return self if same else None
        return Captures({**self.values, name: value}, self.depth)


class Failure(NamedTuple):
    """The end of an attempt.

    Attributes:
        captures: those before.
        operation: the operation that did not match; None for an input or a constant.
        reason: what was expected of it.
    """

    captures: Captures
    operation: Operation | None
    reason: str


class Pattern:
    """A description of how a tensor, or an argument of an op, is computed."""

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        """Yields the ways in which a value matches, each with the captures of what matched before."""
        raise NotImplementedError


class Capture(Pattern):
    """Any tensor or argument.

    Args:
        name: what captures it; "" for nothing.
        where: `where(matcher, value)`, a condition.
    """

    def __init__(self, name: str = "", where: Callable[[Any, Any], bool] | None = None) -> None:
        self._name, self._where = name, where

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        if self._where is None or self._where(matcher, value):
            bound = captures.bound(self._name, value)
            if bound is not None:
                yield bound


class Static(Pattern):
    """An argument whose value is static.

    Args:
        name: what captures it, as a Python value.
        accepted: the values that match; by default, all do.
    """

    def __init__(self, name: str, *accepted: Any) -> None:
        self._name, self._accepted = name, accepted

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        static = matcher.static(value)
        bound = None if isinstance(static, SymbolicTensor) else captures.bound(self._name, static)
        if bound is not None and (not self._accepted or static in self._accepted):
            yield bound


class Number(Pattern):
    """A constant scalar.

    Args:
        value: the number, up to the rounding of its dtype; or the name that captures it.
        most: the largest number that matches.
    """

    def __init__(self, value: float | str, most: float = math.inf) -> None:
        self._value, self._most = value, most

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        number = matcher.number(value)
        if number is None or number > self._most:
            matcher.fail(value, captures, "a number is expected" if number is None else f"{number} is too large")
        elif isinstance(self._value, str):
            bound = captures.bound(self._value, number)
            if bound is not None:
                yield bound
        # Constants of `tf.nn.gelu` are rounded to float32 for float64 too.
        elif math.isclose(number, self._value, rel_tol=1e-14 if value.dtype is float64 else 1e-6):
            yield captures
        else:
            matcher.fail(value, captures, f"{self._value} is expected, not {number}")


class Call(Pattern):
    """The result of an op.

    Args:
        op: the op, or the name of one.
        args: patterns of its arguments, in their order; or values, which the arguments must equal. The last ones may be
            left out, and False stands for a last argument that the op may lack.
        name: what captures the result; "" for nothing.
        once: the result must have one use.
    """

    def __init__(self, op: Any, *args: Any, name: str = "", once: bool = False) -> None:
        self.op = op if isinstance(op, str) else op.op.name
        self._commutative = not isinstance(op, str) and op.op.commutative
        self._operands = {i: arg for i, arg in enumerate(args) if isinstance(arg, (Pattern, list))}
        self._others = {i: arg for i, arg in enumerate(args) if i not in self._operands}
        self._has_number = any(isinstance(arg, Number) for arg in args)
        self._name, self._once = name, once

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        step = matcher.step(value)
        if step is None or step.name != self.op:
            matcher.fail(value, captures, f"{self.op} is expected")
            return
        if any(step.args[i] != arg if i < len(step.args) else arg for i, arg in self._others.items()):
            matcher.fail(value, captures, f"other arguments of {self.op} are expected")
            return
        inner = captures.bound(self._name, value)
        if inner is None:
            return
        inner = Captures(inner.values, inner.depth + 1)
        if self._once and matcher.uses[id(value)] != 1:
            matcher.fail(value, inner, USED_ELSEWHERE)
            return
        operands, values = [*self._operands.values()], [step.args[i] for i in self._operands]
        # Looking here first keeps long chains from being searched in both orders of each step.
        if self._has_number and all(matcher.number(v) is None for v in values):
            matcher.fail(value, inner, f"{self.op} by a number is expected")
            return
        yield from _match_all(matcher, operands, values, inner)
        if self._commutative:
            yield from _match_all(matcher, operands[::-1], values, inner)


def _match_all(
    matcher: Matcher, patterns: Sequence[Any], values: Sequence[Any], captures: Captures
) -> Iterator[Captures]:
    """Yields the ways in which values match patterns, one after the other."""
    if not patterns:
        yield captures
        return
    first, value = patterns[0], values[0]
    if isinstance(first, Pattern):
        ways = first.match(matcher, value, captures)
    else:
        ways = _match_all(matcher, first, value, captures) if len(first) == len(value) else iter(())
    for way in ways:
        yield from _match_all(matcher, patterns[1:], values[1:], way)


class Either(Pattern):
    """One of several patterns.

    Args:
        patterns: the patterns. `add` adds others, which may contain this one.
        expected: what a near miss says is expected; by default what the pattern says that came furthest.
    """

    def __init__(self, *patterns: Pattern, expected: str = "") -> None:
        self._patterns, self._expected = list(patterns), expected

    def add(self, *patterns: Pattern) -> None:
        """Adds patterns."""
        self._patterns += patterns

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        for pattern in self._patterns:
            yield from pattern.match(matcher, value, captures)
        if self._expected:
            matcher.fail(value, captures, self._expected, replaces=True)


class Via(Pattern):
    """A tensor that leads to another one, which matches.

    Args:
        function: `function(matcher, tensor)` returns the other one, or None.
        pattern: what the other one matches.
    """

    def __init__(self, function: Callable[[Any, Any], Any], pattern: Pattern) -> None:
        self._function, self._pattern = function, pattern

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        other = self._function(matcher, value)
        if other is not None:
            yield from self._pattern.match(matcher, other, captures)


class Named(Pattern):
    """A tensor that matches, and that a name captures.

    Args:
        name: the name.
        pattern: what it matches.
    """

    def __init__(self, name: str, pattern: Pattern) -> None:
        self._name, self._pattern = name, pattern

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        bound = captures.bound(self._name, value)
        if bound is not None:
            yield from self._pattern.match(matcher, value, bound)


def unshaped(pattern: Pattern) -> Pattern:
    """Returns the pattern of a tensor that matches before it is reshaped."""
    return Via(lambda matcher, tensor: matcher.before_views(tensor), pattern)


class Rule(NamedTuple):
    """A replacement of what matches a pattern.

    Attributes:
        pattern: the pattern.
        replace: `replace(step, captures)` replaces the step whose result matches, or returns why that can't be.
        name: what a near miss calls the pattern.
        anchor: the capture that makes an attempt a near miss; "" if none does.
        dtypes: those of the result.
    """

    pattern: Call
    replace: Callable[[Step, Captures], str | None]
    name: str = ""
    anchor: str = ""
    dtypes: Collection[DType] = _FLOATS


class Matcher:
    """A program as patterns see it.

    Attributes:
        program: the program.
        producers: its steps, by the ids of the tensors that they compute.
        uses: how often the values of tensors are used, by the tensors' ids.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.producers = {id(t): step for step in program.steps for t in step.outputs}
        operands = [t for step in program.steps if not step.op.reads_shape for t in symbolic_in(step.args)]
        self.uses = Counter(map(id, [*operands, *program.outputs]))
        self._failure: Failure | None = None

    def matches(self, pattern: Pattern, tensor: Any) -> Iterator[Captures]:
        """Yields the ways in which a tensor matches a pattern."""
        self._failure = None
        yield from pattern.match(self, tensor, Captures({}))

    def replace(self, rules: Sequence[Rule]) -> bool:
        """Replaces steps by rules, and returns True if there are any. Near misses are noted in the program."""
        by_op: dict[str, list[Rule]] = {}
        for rule in rules:
            by_op.setdefault(rule.pattern.op, []).append(rule)
        count = 0
        for step in [*self.program.steps]:
            count += any(self._replaces(rule, step) for rule in by_op.get(step.name, ()))
        return count > 0

    def _replaces(self, rule: Rule, step: Step) -> bool:
        """Replaces a step by a rule; returns False, and notes a near miss, if that can't be."""
        if step.placed or step.outputs[0].dtype not in rule.dtypes:
            return False
        reasons = []
        for captures in self.matches(rule.pattern, step.outputs[0]):
            reason = rule.replace(step, captures)
            if reason is None:
                return True
            reasons.append(Miss(rule.name, step.operation, reason))
        failure = self._failure
        if not reasons and failure is not None and rule.anchor in failure.captures.values:
            reasons.append(Miss(rule.name, step.operation, failure.reason, failure.operation))
        self.program.misses += reasons[:1] if rule.anchor else []
        return False

    def fail(self, value: Any, captures: Captures, reason: str, replaces: bool = False) -> None:
        """Notes where an attempt ends. Of several, the one that matched the most steps counts.

        Args:
            value: the value that does not match.
            captures: those before.
            reason: what was expected of the value.
            replaces: whether the reason replaces another one for the same value.
        """
        furthest = -1 if self._failure is None else self._failure.captures.depth
        if captures.depth > furthest or (replaces and captures.depth == furthest):
            step = self.producers.get(id(value))
            self._failure = Failure(captures, None if step is None else step.operation, reason)

    def step(self, tensor: Any) -> Step | None:
        """Returns the step that computes a tensor, unless the program places it on a device."""
        step = self.producers.get(id(tensor))
        return None if step is None or step.placed else step

    def before_views(self, tensor: Any) -> Any:
        """Returns a tensor before it was reshaped."""
        while (step := self.step(tensor)) is not None and step.op in (ops.Reshape.op, ops.Squeeze.op):
            tensor = step.args[0]
        return tensor

    def number(self, tensor: Any) -> float | None:
        """Returns the value of a constant scalar, or None."""
        value = self.program.constant(tensor)
        return float(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else None

    def static(self, value: Any) -> Any:
        """Returns an argument as a Python value, or the tensor that it is if that is unknown."""
        constant = self.program.constant(value)
        return host_static(value) if constant is None else numbers(constant)

    def between(self, step: Step, args: Iterable[Any]) -> list[Step]:
        """Returns the steps from some tensors to a step."""
        ids, inner, stack = {id(t) for t in args}, [], step.inputs
        while stack:
            t = stack.pop()
            before = self.producers.get(id(t)) if id(t) not in ids else None
            ids.add(id(t))
            if before is not None:
                inner.append(before)
                stack += before.inputs
        return inner[::-1]

    def used_elsewhere(self, step: Step, args: Sequence[Any]) -> Step | None:
        """Returns a step between some tensors and a step, whose results others use too; None if there is none, or only
        views."""
        inner = self.between(step, args)
        within = Counter(id(t) for s in (*inner, step) for t in s.inputs)
        others = (s for s in inner if not s.op.view and any(within[id(t)] != self.uses[id(t)] for t in s.outputs))
        return next(others, None)


def is_vector(tensor: Any, x: Any) -> bool:
    """Tests whether a tensor has one number for each channel of `x`, so that their product has the shape of `x`.

    The channels are the last dimension. The tensor is a vector, or has dimensions of 1 before that: so layers have it
    that name their axis.
    """
    rank, channels = tensor.shape.rank, x.shape[-1]
    return (
        bool(rank)
        and rank <= x.shape.rank
        and channels is not None
        and tensor.shape.as_list() == [1] * (rank - 1) + [channels]
    )
