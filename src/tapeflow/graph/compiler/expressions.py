"""Expressions of kernels: the recorded element forms of their steps.

An expression has one value for each element, or one for each row if no operand varies along a row. A reduction turns a
row into one value, so its uses are computed in a later pass over the row. A total combines all rows to one value for
each column. It is complete only after the last row, so only outputs use it. A random word depends on its stream and the
element's position.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.ops.elements import FUNCTIONS, Element, ElementBuilder
from tapeflow.core.types.dtypes import DType, bool_, float32, uint32, uint64
from tapeflow.graph.compiler.loops import Operand

_SLOW = FUNCTIONS | {"div", "sqrt"}  # a later pass reads these again instead of computing them
WORDS = 1 << 11  # random words that are computed at once: they fit into the level 1 cache
MOST_STACK = 1 << 18  # bytes of the stack that machine code uses: threads have stacks of 512 kB on some systems
# An output has a value for each element, for each row, or for each column.
ELEMENT, ROW, COLUMN = "element", "row", "column"


class Node:
    """An expression.

    Attributes:
        kind: "input", "constant" of the kernel's table, "word" of a random stream, "reduce" and "length" of a row,
            "total" and "rows" for the columns, or the name of a method of `ElementBuilder`.
        operands: the expressions that it takes.
        extra: the other arguments of the method.
        dtype: the dtype of its value.
        of_row: True if it has one value for a row.
        phase: the first pass over a row that can compute it.
    """

    __slots__ = ("dtype", "extra", "kind", "of_row", "operands", "phase")

    def __init__(
        self, kind: str, operands: tuple[Node, ...], extra: tuple[Any, ...], dtype: DType, of_row: bool
    ) -> None:
        self.kind, self.operands, self.extra, self.dtype, self.of_row = kind, operands, extra, dtype, of_row
        self.phase: int = max((node.phase + (node.kind == "reduce") for node in operands), default=0)

    @property
    def is_slow(self) -> bool:
        """True if computing it twice takes longer than keeping it."""
        return self.kind == "emit" and self.extra[0] in _SLOW


class Recorder(ElementBuilder):
    """A builder that returns expressions. Equal expressions are one object.

    Attributes:
        constants: the numbers in the kernel's table, with their places.
    """

    def __init__(self) -> None:
        self._known: dict[Any, Node] = {}
        self.constants: dict[tuple[DType, float], int] = {}
        self._combined, self._counted = "reduce", "length"

    def over_rows(self) -> Recorder:
        """Returns a recorder of the same expressions with reductions over all rows instead of within a row."""
        other = copy.copy(self)
        other._combined, other._counted = "total", "rows"
        return other

    @property
    def size(self) -> int:
        """The number of expressions."""
        return len(self._known)

    def input(self, index: int, dtype: DType, of_row: bool) -> Element:
        """Returns the expression for an input of the kernel."""
        return Element(Node("input", (), (index,), dtype, of_row), dtype)

    def constant(self, value: Any, dtype: DType) -> Element:
        """Returns a constant of the function. Kernels that differ in such numbers alone are one kernel."""
        if simplifies(value, dtype):
            return self.number(value, dtype)
        place = self.constants.setdefault((dtype, value), len(self.constants))
        return Element(self._node("constant", (), (place,), dtype), dtype, value)

    def length(self, dtype: DType) -> Element:
        """Returns the number of elements that a reduction combines."""
        return Element(self._node(self._counted, (), (), dtype), dtype)

    def reduce(self, name: str, x: Element) -> Element:
        """Returns elements, combined by `add`, `maximum` or `minimum`."""
        return Element(self._node(self._combined, (x.value,), (name,), x.dtype), x.dtype)

    def drawn(self, form: Callable[..., list[Element]], key: Element, counter: Element) -> Element:
        """Returns the random number of float32 at an element's place.

        Args:
            form: the number of a word, see `core/rng/elements.py`.
            key, counter: inputs of the kernel.
        """
        word = self._node("word", (), (key.value.extra[0], counter.value.extra[0]), uint32)
        (number,) = form(self, [self.convert(Element(word, uint32), uint64)], float32)
        return number

    def _node(self, kind: str, operands: Sequence[Node], extra: tuple[Any, ...], dtype: DType) -> Node:
        key = kind, tuple(map(id, operands)), repr(extra), dtype
        node = self._known.get(key)
        if node is None:
            of_row = kind == "reduce" or (kind != "word" and all(node.of_row for node in operands))
            node = self._known[key] = Node(kind, tuple(operands), extra, dtype, of_row)
        return node

    def emit_number(self, value: Any, dtype: DType) -> Node:
        return self._node("emit_number", (), (value, dtype), dtype)

    def emit(self, name: str, operands: Sequence[Any], dtype: DType) -> Node:
        return self._node("emit", operands, (name,), dtype)

    def emit_compare(self, name: str, x: Any, y: Any, dtype: DType) -> Node:
        return self._node("emit_compare", (x, y), (name, dtype), bool_)

    def emit_select(self, condition: Any, x: Any, y: Any) -> Node:
        return self._node("emit_select", (condition, x, y), (), x.dtype)

    def emit_convert(self, value: Any, source: DType, dtype: DType) -> Node:
        return self._node("emit_convert", (value,), (source, dtype), dtype)

    def emit_bits(self, value: Any, dtype: DType) -> Node:
        return self._node("emit_bits", (value,), (dtype,), dtype)

    def emit_rounded(self, value: Any, dtype: DType) -> Node:
        return self._node("emit_rounded", (value,), (dtype,), dtype)


def simplifies(value: Any, dtype: DType) -> bool:
    """Returns True if code is simpler for a number: an integer, 0, infinity, or a power of two.

    Other numbers are loaded from memory. Functions that differ in these alone share their code.
    """
    return not dtype.is_floating or not math.isfinite(value) or abs(math.frexp(value)[0]) in (0.0, 0.5)


def emit_node(node: Node, b: ElementBuilder, operands: Sequence[Any]) -> Any:
    """Returns the value of an expression.

    Args:
        node: the expression.
        b: the builder that computes it.
        operands: the values of its operands.
    """
    if node.kind == "emit":
        return b.emit(node.extra[0], operands, node.dtype)
    if node.kind == "emit_compare":
        return b.emit_compare(node.extra[0], operands[0], operands[1], node.extra[1])
    return getattr(b, node.kind)(*operands, *node.extra)


class Passes:
    """The passes over a row that compute expressions.

    Args:
        outputs: the expressions.
        kinds: for each output, `ELEMENT`, `ROW` or `COLUMN`.
        rows: True if there are rows, along the inner loop.
        overwriting: the number of outputs at the start that overwrite inputs. The last pass stores them.
        constants: the dtypes and the numbers in the kernel's table.

    Attributes:
        roots: for each pass, the expressions that it computes for each element: outputs, operands of reductions and
            totals, and expressions that it keeps.
        pass_of: for each output, the pass that computes it.
        reductions: for each pass, the reductions that it ends with.
        words: the random words.
        totals: the totals, each with the pass that adds to it.
        kept: the expressions that are stored for later passes, with the pass that computes them.
    """

    def __init__(
        self,
        outputs: Sequence[Node],
        kinds: Sequence[str],
        rows: bool,
        overwriting: int = 0,
        constants: Sequence[tuple[DType, float]] = (),
    ) -> None:
        self.outputs, self.kinds, self.rows, self.constants = outputs, kinds, rows, constants
        nodes = below(outputs, lambda node: False)
        reductions = [node for node in nodes if node.kind == "reduce"]
        self.words = [node for node in nodes if node.kind == "word"]
        self.totals = {node: node.phase for node in nodes if node.kind == "total"}
        self.pass_of = [node.phase + (node.kind == "reduce") for node in outputs]
        count = 1 + max([*self.pass_of, *(node.phase for node in reductions), *self.totals.values()], default=0)
        self.pass_of[:overwriting] = [count - 1] * overwriting
        self.reductions: list[list[Node]] = [[r for r in reductions if r.phase == i] for i in range(count)]
        combined = [*reductions, *self.totals]
        self.roots: list[list[Node]] = [[r.operands[0] for r in combined if r.phase == i] for i in range(count)]
        for node, kind, i in zip(outputs, kinds, self.pass_of, strict=True):
            if kind == ELEMENT:
                self.roots[i].append(node)
        self.kept: dict[Node, int] = {}
        self._keep_slow()

    def _keep_slow(self) -> None:
        """Keeps the slow expressions that several passes use."""
        first: dict[Node, int] = {}
        for i, roots in enumerate(self.roots):
            for node in self.computed(i):
                if node.is_slow and first.setdefault(node, i) != i and node not in self.kept:
                    self.kept[node] = first[node]
                    self.roots[first[node]].append(node)
            roots += [node for node, at in self.kept.items() if at == i and node not in roots]

    def signature(self) -> str:
        """Returns a text that is equal for passes with equal computations."""
        numbers: dict[Node, int] = {}
        lines = []
        for node in below(self.outputs, lambda node: False):
            numbers[node] = len(numbers)
            operands = [numbers[operand] for operand in node.operands]
            lines.append(f"{node.kind} {operands} {node.extra} {node.dtype.name} {node.of_row}")
        outputs = [numbers[node] for node in self.outputs]
        return "\n".join([*lines, f"{outputs} {self.kinds} {self.pass_of} {self.rows} {len(self.constants)}"])

    def stack_bytes(self, row: int, in_rows: bool) -> int:
        """Returns the size of the values that a kernel keeps on the stack, for rows of a length.

        Args:
            row: the number of elements in a row.
            in_rows: True if the kernel computes row by row, False if it has one loop over all elements.
        """
        words = max(WORDS, row) if in_rows else WORDS
        return 4 * words * len(self.words) + 8 * row * len(self.kept)

    def computed(self, i: int) -> list[Node]:
        """Returns the expressions that a pass computes for each element or row, operands first."""
        return below(self.roots[i], lambda node: node.of_row or self.kept.get(node, i) < i)


def record_passes(
    inputs: Sequence[Operand], compute: Callable[[Recorder, Sequence[Element]], Sequence[Element]],
    kinds: Sequence[str] | None = None, rows: bool = False, overwriting: int = 0,
) -> Passes:  # fmt: skip
    """Returns the passes that compute elements of outputs from elements of inputs.

    Args:
        inputs: the inputs.
        compute: returns the elements of the outputs.
        kinds, rows, overwriting: see `Passes`; by default all outputs are of elements.
    """
    b = Recorder()
    elements = [b.input(i, operand.dtype, not operand.varies[-1]) for i, operand in enumerate(inputs)]
    outputs = [element.value for element in compute(b, elements)]
    kinds = [ELEMENT] * len(outputs) if kinds is None else kinds
    return Passes(outputs, kinds, rows, overwriting, list(b.constants))


def below(roots: Sequence[Node], stops: Callable[[Node], bool]) -> list[Node]:
    """Returns expressions and their transitive operands, operands first. The search ends at one that stops."""
    found: dict[int, Node] = {}
    for root in roots:
        stack = [root]
        while stack:
            node = stack[-1]
            above = [] if id(node) in found or stops(node) else [n for n in node.operands if id(n) not in found]
            if above:
                stack.extend(reversed(above))
            else:
                found[id(node)] = stack.pop()
    return list(found.values())
