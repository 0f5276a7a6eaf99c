"""Recognizing: replaces the small ops of attention by one kernel.

Attention is `Softmax(scale * q @ k^T + mask) @ v` (Vaswani et al., 2017). Keras computes `k @ q^T` and transposes the
product. Its masks are conditions: a false mask sets the weight to zero. Inner results must have no other use, such as
in a gradient. As with `fusing.py`, the last bits of results may differ from eager results.
"""

from __future__ import annotations

import functools
import math
import string
from collections import Counter
from typing import Any

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.values.tensor import invalid
from tapeflow.graph.codegen.passes.pruning import prune
from tapeflow.graph.codegen.patterns import (
    USED_ELSEWHERE,
    Call,
    Capture,
    Captures,
    Either,
    Matcher,
    Number,
    Pattern,
    Rule,
    Static,
)
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp

_LEAST = -1e4  # scores up to this number are masked: their exponentials are zero
_LARGE = -1e12  # adding a score of ordinary size to it gives the same number
_HEADS = ".transpose(1, 2)"


def recognize(program: Program) -> None:
    """Replaces the steps of attention by calls of torch's kernel."""
    if any(step.op is ops.Softmax.op for step in program.steps):
        attention = Attention(program)
        if attention.replace(attention.rules()):
            prune(program)


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    scale: float | None = None,
) -> torch.Tensor:
    """Computes attention. A row whose mask is -inf everywhere gives NaN, as in TensorFlow; torch returns zeros.

    Torch takes keys and values of different lengths, and refuses masks that broadcast the scores.
    """
    if key.shape[-2] != value.shape[-2]:
        raise invalid(f"{key.shape[-2]} keys, but {value.shape[-2]} values")
    if attn_mask is not None:
        scores = (*query.shape[:-1], key.shape[-2])
        if not all(m in (1, n) for m, n in zip(reversed(attn_mask.shape), reversed(scores), strict=False)):
            masked = torch.broadcast_shapes(scores, (*key.shape[:-2], 1, 1), attn_mask.shape)
            query = query.expand(*masked[:-1], query.shape[-1])
    result = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, scale=scale)
    if attn_mask is None or attn_mask.dtype is torch.bool:
        return result
    has_none = attn_mask.amax(-1, keepdim=True) == -math.inf
    if attn_mask.is_cpu and not has_none.any():  # `any` would wait for a GPU
        return result
    return result.masked_fill(has_none, math.nan)


# ---- the pattern -----------------------------------------------------------------------------------------------------


def _equation(name: str, *accepted: str) -> Pattern:
    """Returns the pattern of the equation of an `Einsum`. `accepted` has canonical equations: the first letter is "a",
    the next new one "b", and so on."""
    return Capture(name, lambda matcher, text: _canonical(text) in accepted)


def _canonical(text: str) -> str:
    names: dict[str, str] = {}
    text = text.replace(" ", "")
    return "".join([names.setdefault(c, string.ascii_letters[len(names)]) if c.isalpha() else c for c in text])


def scaled(pattern: Pattern) -> list[Pattern]:
    """Returns the patterns of a product with a number and of a quotient by a number."""
    return [Call(ops.Mul, pattern, Number("factors*")), Call(ops.RealDiv, pattern, Number("divisors*"))]


def _rows(name: str) -> Pattern:
    """Returns the pattern of queries or keys. They may be scaled and then transposed."""
    rows = Capture(name)
    return Either(*[Call(ops.Transpose, way, name=f"turned {name}", once=True) for way in scaled(rows)], rows)


@functools.cache
def _attention_patterns() -> tuple[Call, ...]:
    """Returns the patterns of the last product of attention: as `BatchMatMulV2` and as `Einsum`."""
    q, k = _rows("queries"), _rows("keys")
    product = Either(
        Call(ops.BatchMatMulV2, q, k, Static("turns queries"), Static("turns keys")),
        Call(ops.Einsum, [q, k], _equation("equation", "abcd,aecd->acbe", "abcd,aecd->aceb")),
    )
    product.add(*scaled(product), Call(ops.Transpose, product, Static("orders*", (0, 2, 1), (0, 1, 3, 2))))
    scores = Either(
        Call(ops.SelectV2, Capture("mask"), product, Number("number", most=_LEAST)),
        product,
        Call(ops.AddV2, product, Capture("mask")),
        expected="the scores are not a product, a constant times a product, or the sum of such and a mask",
    )
    softmax = Call(ops.Softmax, scores, name="weights", once=True)
    selected = Either(softmax, Call(ops.SelectV2, Capture("condition"), softmax, Number(0.0), once=True))
    weights = Either(selected, Call("dropout", selected, name="dropout", once=True))
    values = Capture("values")
    return (
        Call(ops.BatchMatMulV2, weights, values, False, False),
        Call(ops.Einsum, [weights, values], _equation("", "abcd,adbe->acbe")),
    )


# ---- the replacement -------------------------------------------------------------------------------------------------


class Attention(Matcher):
    """The attention of a program."""

    def use_counts(self) -> dict[int, int]:
        """Returns the use counts of tensors without uses of only their shapes, because layers read many shapes."""
        operands = [t for step in self.program.steps if not step.op.reads_shape for t in step.inputs]
        return Counter(map(id, [*operands, *self.program.outputs]))

    def rules(self) -> list[Rule]:
        """Returns the rules that replace attention."""
        return [Rule(pattern, self._replace_attention, "attention", "weights") for pattern in _attention_patterns()]

    def _replace_attention(self, step: Step, captures: Captures) -> str | None:
        """Replaces the last product of attention. Returns None, or the reason for not replacing it."""
        mask, number, condition = captures["mask"], captures["number"], captures["condition"]
        if step.outputs[0].shape.rank not in (3, 4):
            return "the result has not three or four dimensions"
        if 0.0 in captures["divisors*"]:
            return "the scores are divided by zero"
        is_added = number is not None and condition is None and self.may_add(number)
        # If all scores of a row are masked, TensorFlow's weights are equal, and torch's are zeros.
        if (None if number is None else mask) is not condition and not is_added:
            return "rows without scores would have other weights"
        if mask is not None and mask.shape.rank not in (2, step.outputs[0].shape.rank):
            return "the mask has not two dimensions, or as many as the scores"
        turned = {name: captures[f"turned {name}"] for name in ("queries", "keys")}
        query, key = (captures[name] if t is None else t for name, t in turned.items())
        args = [query, key, captures["values"], *([] if mask is None else [mask])]
        other = self.used_elsewhere(step, args)
        if other is not None:
            return f"{other.name} between the queries and the result is {USED_ELSEWHERE}"
        for name, t in turned.items():
            if t is not None:
                self.producers[id(t)].args[0] = captures[name]
        if captures["equation"] is None:
            rows = [(query, ".mT" if captures["turns queries"] else ""), (key, "" if captures["turns keys"] else ".mT")]
        else:
            rows = [(query, _HEADS), (key, _HEADS)][:: 1 if _canonical(captures["equation"]).endswith("be") else -1]
        (query, query_form), (key, key_form) = rows[:: -1 if len(captures["orders*"]) % 2 else 1]
        args[:2] = query, key
        turn = _HEADS if step.op is ops.Einsum.op else ""
        arguments = [f"{{0}}{query_form}", f"{{1}}{key_form}", f"{{2}}{turn}"]
        if mask is not None:
            added = f".logical_not().to({{0}}.dtype) * {number!r}" if is_added else ""
            arguments.append(f"attn_mask={{3}}{added}")
        if captures["dropout"] is not None:
            arguments.append(f"dropout_p={self.producers[id(captures['dropout'])].op.attrs['rate']!r}")
        scale = math.prod(captures["factors*"]) / math.prod(captures["divisors*"])
        self.write(step, "scaled_dot_product_attention", args, f"{', '.join(arguments)}, scale={scale!r}", turn)
        return None

    def may_add(self, number: float) -> bool:
        """Returns True if adding a number gives the same scores as replacing them, because rounding loses them."""
        return -math.inf < number <= _LARGE

    def write(self, step: Step, name: str, args: list[Any], arguments: str, ending: str = "") -> None:
        """Replaces a step.

        Args:
            step: the step.
            name: the name of a function in `torch.nn.functional`.
            args: the tensor arguments of the function.
            arguments: the template of its arguments.
            ending: source code after the call, such as a transpose.
        """
        op = GraphOp("Attention", _attention, template=f"{{kernel}}({arguments}){ending}")
        op.allocates = True
        origins = [o for s in self.between(step, args) for o in s.origins]
        step.op, step.args, step.origins = op, args, [*origins, *step.origins]
