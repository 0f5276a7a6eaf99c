"""Patterns: descriptions of nested ops, and a matcher that finds them in a program.

A pattern describes the computation of a tensor. `Call(ops.Mul, Capture("x"), Number(0.5))` matches half of any tensor,
and captures this tensor as `x`. A name that occurs twice must capture the same tensor both times. A name that ends with
a star collects its captures in a tuple. Operands of commutative ops match in both orders, so a pattern may match in
several ways.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.array.reshapes import reshape, squeeze_op
from tapeflow.core.ops.static import host_static, numbers
from tapeflow.core.types.dtypes import DType, float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.program.program import Miss, Program, Step

USED_ELSEWHERE = "used elsewhere, such as in a gradient"
_FLOATS = frozenset({float32, float64})


class Captures:
    """The captures of a match, or of an unfinished match.

    Attributes:
        values: the captured tensors, numbers and arguments, by their names.
        depth: the number of steps that matched.
    """

    def __init__(self, values: dict[str, Any], depth: int = 0) -> None:
        self.values, self.depth = values, depth

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name, () if name.endswith("*") else None)

    def bound(self, name: str, value: Any) -> Sequence[Captures]:
        """Returns the captures with one more value; none if the name has captured another value."""
        if not name:
            return (self,)
        if name.endswith("*"):
            value = (*self[name], value)
        elif name in self.values:
            other = self.values[name]
            same = other is value if isinstance(value, SymbolicTensor) else other == value
            return (self,) if same else ()
        return (Captures({**self.values, name: value}, self.depth),)


class Failure(NamedTuple):
    """The end of a failed match.

    Attributes:
        captures: the captures so far.
        operation: the operation that did not match; None for an input or a constant.
        reason: the mismatch, as a clause for messages.
    """

    captures: Captures
    operation: Operation | None
    reason: str


class Pattern:
    """A description of a tensor's computation, or of an op's argument."""

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        """Yields the captures of each match of a value, including the captures so far."""
        raise NotImplementedError


class Capture(Pattern):
    """Any tensor or argument, or the matching ones.

    Args:
        name: the name of the capture; "" captures nothing.
        where: a predicate `where(matcher, value)`; None accepts every value.
        pattern: the pattern of the tensor; None accepts every tensor.
    """

    def __init__(
        self, name: str = "", where: Callable[[Any, Any], bool] | None = None, pattern: Pattern | None = None
    ) -> None:
        self._name, self._where, self._pattern = name, where, pattern

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        for bound in captures.bound(self._name, value) if self._where is None or self._where(matcher, value) else ():
            yield from [bound] if self._pattern is None else self._pattern.match(matcher, value, bound)


class Static(Pattern):
    """An argument whose value is static.

    Args:
        name: the name of the capture, a Python value.
        accepted: the values that match; by default all.
    """

    def __init__(self, name: str, *accepted: Any) -> None:
        self._name, self._accepted = name, accepted

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        static = matcher.static(value)
        if not isinstance(static, SymbolicTensor) and (not self._accepted or static in self._accepted):
            yield from captures.bound(self._name, static)


class Number(Pattern):
    """A constant scalar.

    Args:
        value: the number, compared up to rounding; or the name of the capture of any number.
        most: the largest number that matches.
    """

    def __init__(self, value: float | str, most: float = math.inf) -> None:
        self._value, self._most = value, most

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        number = matcher.number(value)
        if number is None or number > self._most:
            matcher.fail(value, captures, "a number is expected" if number is None else f"{number} is too large")
        elif isinstance(self._value, str):
            yield from captures.bound(self._value, number)
        # `tf.nn.gelu` rounds its constants to float32 even for float64 inputs. Such constants don't match in float64.
        elif math.isclose(number, self._value, rel_tol=1e-14 if value.dtype is float64 else 1e-6):
            yield captures
        else:
            matcher.fail(value, captures, f"{self._value} is expected, not {number}")


class Call(Pattern):
    """The result of an op.

    Args:
        op: the op or its name; or several, as a tuple. Each one that is commutative matches in both orders.
        args: for each argument, a pattern or an equal value. Trailing arguments may be omitted. False also matches a
            missing trailing argument.
        name: the name of the capture of the result; "" captures nothing.
        once: True if the result must have exactly one use.
    """

    def __init__(self, op: Any, *args: Any, name: str = "", once: bool = False) -> None:
        self.ops = [o if isinstance(o, str) else o.op.name for o in (op if isinstance(op, tuple) else (op,))]
        self._places = [i for i, arg in enumerate(args) if isinstance(arg, (Pattern, list))]
        self._operands = [args[i] for i in self._places]
        self._others = [(i, arg) for i, arg in enumerate(args) if i not in self._places]
        self._has_number = any(isinstance(arg, Number) for arg in args)
        self._name, self._once, self._expected = name, once, f"{' or '.join(self.ops)} is expected"

    def match(self, matcher: Matcher, value: Any, captures: Captures) -> Iterator[Captures]:
        step = matcher.step(value)
        if step is None or step.name not in self.ops:
            matcher.fail(value, captures, self._expected)
            return
        if any(step.args[i] != arg if i < len(step.args) else arg for i, arg in self._others):
            matcher.fail(value, captures, f"other arguments of {step.name} are expected")
            return
        bound = captures.bound(self._name, value)
        if not bound:
            return
        inner = Captures(bound[0].values, captures.depth + 1)
        if self._once and matcher.uses[id(value)] != 1:
            matcher.fail(value, inner, USED_ELSEWHERE)
            return
        values = [step.args[i] for i in self._places]
        # Checking for the number first avoids a search of long chains in both orders of each step.
        if self._has_number and all(matcher.number(v) is None for v in values):
            matcher.fail(value, inner, f"{step.name} by a number is expected")
            return
        yield from _match_all(matcher, self._operands, values, inner)
        if step.op.commutative:
            yield from _match_all(matcher, self._operands[::-1], values, inner)


def _match_all(
    matcher: Matcher, patterns: Sequence[Any], values: Sequence[Any], captures: Captures
) -> Iterator[Captures]:
    """Returns the captures of each match of a sequence of values with a sequence of patterns."""
    if not patterns:
        return iter([captures])
    first, value, rest = patterns[0], values[0], patterns[1:]
    if isinstance(first, Pattern):
        ways = first.match(matcher, value, captures)
    else:
        ways = _match_all(matcher, first, value, captures) if len(first) == len(value) else iter(())
    return (last for way in ways for last in _match_all(matcher, rest, values[1:], way)) if rest else ways


class Either(Pattern):
    """One of several patterns.

    Args:
        patterns: the patterns. `add` adds others, which may contain this one.
        expected: the reason in a near miss; by default the reason of the alternative that matched the most steps.
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


class Rule(NamedTuple):
    """A replacement of the steps that match a pattern.

    Attributes:
        pattern: the pattern.
        replace: `replace(step, captures)` replaces the step with the matching result and returns None, or returns the
            reason for not replacing it.
        name: the pattern's name in near misses.
        anchor: the name of a capture. A failed match with this capture is a near miss. "" reports no near misses.
        dtypes: the accepted dtypes of the result.
    """

    pattern: Call
    replace: Callable[[Step, Captures], str | None]
    name: str = ""
    anchor: str = ""
    dtypes: Collection[DType] = _FLOATS


class Matcher:
    """Finds patterns in a program.

    Attributes:
        program: the program.
        producers: its steps, by the ids of their outputs.
        uses: the use counts of tensors, by the tensors' ids.
        failure: the failure of the last match after the most steps, or None.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.producers = program.producers
        self.uses = self.use_counts()
        self.failure: Failure | None = None

    def use_counts(self) -> dict[int, int]:
        """Returns the use counts of tensors, by the tensors' ids."""
        return self.program.use_counts()

    def matches(self, pattern: Pattern, tensor: Any) -> Iterator[Captures]:
        """Yields the captures of each match of a tensor."""
        self.failure = None
        yield from pattern.match(self, tensor, Captures({}))

    def replace(self, rules: Sequence[Rule]) -> bool:
        """Applies rules, and returns True if a step was replaced. Near misses go to `program.misses`."""
        by_op: dict[str, list[Rule]] = {}
        for rule in rules:
            for name in rule.pattern.ops:
                by_op.setdefault(name, []).append(rule)
        count = 0
        for step in [*self.program.steps]:
            count += any(self._replaces(rule, step) for rule in by_op.get(step.name, ()))
        return count > 0

    def _replaces(self, rule: Rule, step: Step) -> bool:
        """Applies a rule to a step. Returns True if the step was replaced; otherwise may record a near miss."""
        if not step.registered or step.placed or step.outputs[0].dtype not in rule.dtypes:
            return False
        reasons = []
        for captures in self.matches(rule.pattern, step.outputs[0]):
            reason = rule.replace(step, captures)
            if reason is None:
                return True
            if rule.anchor in captures.values:
                reasons.append(Miss(rule.name, step.operation, reason))
        failure = self.failure
        if not reasons and failure is not None and rule.anchor in failure.captures.values:
            reasons.append(Miss(rule.name, step.operation, failure.reason, failure.operation))
        self.program.misses += reasons[:1]
        return False

    def fail(self, value: Any, captures: Captures, reason: str, replaces: bool = False) -> None:
        """Records a failure. The failure after the most matching steps is kept.

        Args:
            value: the value that does not match.
            captures: the captures so far.
            reason: the mismatch, as a clause for messages.
            replaces: True if the failure replaces an earlier one after as many steps.
        """
        furthest = -1 if self.failure is None else self.failure.captures.depth
        if captures.depth > furthest or (replaces and captures.depth == furthest):
            step = self.producers.get(id(value))
            self.failure = Failure(captures, None if step is None else step.operation, reason)

    def step(self, tensor: Any) -> Step | None:
        """Returns the step that computes a tensor; None for inputs, constants and steps placed on a device."""
        step = self.producers.get(id(tensor))
        return None if step is None or step.placed else step

    def before_views(self, tensor: Any) -> Any:
        """Returns the source of a chain of reshapes, or the tensor itself."""
        while (step := self.step(tensor)) is not None and step.op in (reshape.op, squeeze_op.op):
            tensor = step.args[0]
        return tensor

    def number(self, tensor: Any) -> float | None:
        """Returns the value of a constant scalar, or None."""
        value = self.program.constant(tensor)
        return float(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else None

    def static(self, value: Any) -> Any:
        """Returns an argument as a Python value, or unchanged if its value is not static."""
        constant = self.program.constant(value)
        return host_static(value) if constant is None else numbers(constant)

    def between(self, step: Step, args: Iterable[Any]) -> list[Step]:
        """Returns the steps between some tensors and a step."""
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
        """Returns a step between some tensors and a step with a result that is also used elsewhere, or None.

        Views are exempt: they may have other uses.
        """
        inner = self.between(step, args)
        within = Counter(id(t) for s in (*inner, step) for t in s.inputs)
        others = (s for s in inner if not s.op.view and any(within[id(t)] != self.uses[id(t)] for t in s.outputs))
        return next(others, None)
