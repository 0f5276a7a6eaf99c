"""The text that computes ops of integers and bools as Python numbers, such as counters, indices and sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.ops.elements import Element, ElementBuilder, Unsupported
from tapeflow.core.types.dtypes import DType, bool_, int32, int64
from tapeflow.graph.program.program import Step

_DTYPES = (int32, int64, bool_)
_TEMPLATES = {
    "add": "({0} + {1})", "sub": "({0} - {1})", "mul": "({0} * {1})", "neg": "(-{0})", "bit_and": "({0} & {1})",
    "bit_or": "({0} | {1})", "bit_xor": "({0} ^ {1})",
}  # fmt: skip
_COMPARISONS = {"equal": "({0} == {1})", "less": "({0} < {1})", "less_equal": "({0} <= {1})"}


def _refuse_number(*_: Any) -> Any:
    raise Unsupported("only integers are written as numbers, without selections")


class IntegerText(ElementBuilder):
    """Writes element forms of int32, int64 and bool as expressions.

    Args:
        wrap: takes an expression that may leave the range of a dtype, and the dtype, and returns one that wraps around.
    """

    def __init__(self, wrap: Callable[[str, DType], str] = lambda text, dtype: text) -> None:
        self._wrap = wrap

    def of(self, step: Step, operands: Sequence[str]) -> str | None:
        """Returns the expression of a step from the expressions of its inputs, or None if it needs tensors."""
        op, out = step.op, step.outputs[0]
        if op.element is None or out.dtype not in _DTYPES or len(step.outputs) != 1:
            return None
        tensors = op.tensors(step.args)
        if len(tensors) != len(operands) or "list" in op.kinds or not all(t.dtype in _DTYPES for t in tensors):
            return None
        elements = [Element(text, t.dtype) for text, t in zip(operands, tensors, strict=True)]
        try:
            result: str = op.element(self, *op.with_tensors(elements, op.statics(step.args))).value
        except Unsupported:
            return None
        return result

    def emit_number(self, value: Any, dtype: DType) -> str:
        return repr(value)

    def emit(self, name: str, operands: Sequence[str], dtype: DType) -> str:
        if name not in _TEMPLATES:
            raise Unsupported(f"{name} is not written for numbers")
        text = _TEMPLATES[name].format(*operands)
        return text if name.startswith("bit_") else self._wrap(text, dtype)

    def emit_compare(self, name: str, x: str, y: str, dtype: DType) -> str:
        return _COMPARISONS[name].format(x, y)

    _refusal: Any = _refuse_number
    emit_select = emit_convert = emit_bits = emit_rounded = _refusal

    def not_equal(self, x: Any, y: Any) -> Element:
        return self._written("({0} != {1})", x, y)._replace(dtype=bool_)

    def maximum(self, x: Any, y: Any) -> Element:
        return self._written("max({0}, {1})", x, y)

    def minimum(self, x: Any, y: Any) -> Element:
        return self._written("min({0}, {1})", x, y)

    def floor_quotient(self, x: Element, y: Element) -> Element:
        quotient = self._written("({0} // {1})", x, y)
        return quotient._replace(value=self._wrap(quotient.value, quotient.dtype))  # of the least number by -1

    def floor_remainder(self, x: Element, y: Element) -> Element:
        return self._written("({0} % {1})", x, y)

    def _written(self, template: str, *operands: Any) -> Element:
        x, y = self.same(*operands)
        return Element(template.format(x.value, y.value), x.dtype)
