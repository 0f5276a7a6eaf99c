"""Recognizing: replaces the small ops of attention by one kernel.

Attention is `Softmax(scale * q @ k^T + mask) @ v` (Vaswani et al., 2017). Keras computes `k @ q^T` and transposes the
product. Its masks are conditions: a false mask sets the weight to zero. Inner results must have no other use. The
gradient of attention is one op, too (`graph/transform/attention.py`), unless the weights are few; its own operand, the
result, leads to the steps of attention. The last bits of results may differ from eager results.
"""

from __future__ import annotations

import functools
import math
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow.array.creation import fill_op
from tapeflow.array.masks import select_v2
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import transpose_op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.symbolic import SymbolicTensor
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
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.program.program import Program, Step
from tapeflow.graph.program.simplify import prune
from tapeflow.linalg.contraction import einsum_op
from tapeflow.linalg.products import batch_matmul
from tapeflow.math.arithmetic import add, multiply
from tapeflow.math.comparison import logical_and
from tapeflow.math.division import realdiv
from tapeflow.nn.attention import attention, attention_log_sums
from tapeflow.nn.softmaxes import softmax_op

_LEAST = -1e4  # scores up to this number are masked: their exponentials are zero
_HEADS = (0, 2, 1, 3)


def recognize(program: Program) -> None:
    """Replaces the steps of attention by calls of one kernel."""
    if any(step.op is softmax_op.op for step in program.steps):
        attention = Attention(program)
        joined = sum([attention.join(step) for step in [*program.steps] if step.op is attention_log_sums.op])
        if attention.replace(attention.rules()) or joined:
            prune(program)


# ---- the pattern -----------------------------------------------------------------------------------------------------


def _equation_pattern(name: str, *accepted: str) -> Pattern:
    """Returns the pattern of the equation of an `Einsum`. `accepted` has canonical equations: the first letter is "a",
    the next new one "b", and so on."""
    return Capture(name, lambda matcher, text: _canonical_equation(text) in accepted)


def _canonical_equation(text: str) -> str:
    names: dict[str, str] = {}
    text = text.replace(" ", "")
    return "".join([names.setdefault(c, string.ascii_letters[len(names)]) if c.isalpha() else c for c in text])


def scaled_patterns(pattern: Pattern) -> list[Pattern]:
    """Returns the patterns of a product with a number and of a quotient by a number."""
    return [Call(multiply, pattern, Number("factors*")), Call(realdiv, pattern, Number("divisors*"))]


def _rows_pattern(name: str) -> Pattern:
    """Returns the pattern of queries or keys. They may be scaled and then transposed."""
    rows = Capture(name)
    return Either(*[Call(transpose_op, way, name=f"turned {name}", once=True) for way in scaled_patterns(rows)], rows)


@functools.cache
def _attention_patterns() -> tuple[Call, ...]:
    """Returns the patterns of the last product of attention: as `BatchMatMulV2` and as `Einsum`."""
    q, k = _rows_pattern("queries"), _rows_pattern("keys")
    product = Either(
        Call(batch_matmul, q, k, Static("turns queries"), Static("turns keys")),
        Call(einsum_op, [q, k], _equation_pattern("equation", "abcd,aecd->acbe", "abcd,aecd->aceb")),
    )
    product.add(*scaled_patterns(product), Call(transpose_op, product, Static("orders*", (0, 2, 1), (0, 1, 3, 2))))
    scores = Either(
        Call(select_v2, Capture("mask"), product, Number("number", most=_LEAST)),
        product,
        Call(add, product, Capture("mask")),
        expected="the scores are not a product, a constant times a product, or the sum of such and a mask",
    )
    softmax = Call(softmax_op, scores, name="weights", once=True)
    selected = Either(softmax, Call(select_v2, Capture("condition"), softmax, Number(0.0), once=True))
    weights = Either(selected, Call("dropout", selected, name="dropout", once=True))
    values = Capture("values")
    return (
        Call(batch_matmul, weights, values, False, False),
        Call(einsum_op, [weights, values], _equation_pattern("", "abcd,adbe->acbe")),
    )


# ---- the replacement -------------------------------------------------------------------------------------------------


class Rows(NamedTuple):
    """Queries, keys or values.

    Attributes:
        tensor: the tensor.
        order: the transpose that moves positions to the last dimension but one, and channels to the last; () for none.
    """

    tensor: SymbolicTensor
    order: tuple[int, ...] = ()

    @classmethod
    def turned(cls, tensor: SymbolicTensor, is_turned: bool) -> Rows:
        """Returns rows after a transpose of matrices, or without one."""
        rank = tensor.shape.rank or 0
        return cls(tensor, (*range(rank - 2), rank - 1, rank - 2) if is_turned else ())

    @property
    def form(self) -> str:
        """The transpose as source code."""
        return f".permute{self.order}" if self.order else ""


class Parts(NamedTuple):
    """The parts of recognized attention.

    Attributes:
        query, key, value: the rows.
        bias, mask, scale, masked, zeroed: see `nn/attention.py`.
        dropout: the result of dropout of the weights, or None.
        order: the transpose of the result; () for none.
    """

    query: Rows
    key: Rows
    value: Rows
    bias: SymbolicTensor | None
    mask: SymbolicTensor | None
    scale: float
    masked: float
    zeroed: bool
    dropout: SymbolicTensor | None
    order: tuple[int, ...]

    @property
    def tensors(self) -> list[SymbolicTensor]:
        """The tensors that attention is computed from."""
        rows = [self.query.tensor, self.key.tensor, self.value.tensor]
        return rows + [t for t in (self.bias, self.mask) if t is not None]


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
        rank = step.outputs[0].shape.rank
        rows = [captures[name] for name in ("queries", "keys", "values")]
        if rank is None or rank < 3 or any((t.shape.rank or 0) < 2 for t in rows):
            return "the result has not three dimensions or more"
        if 0.0 in captures["divisors*"]:
            return "the scores are divided by zero"
        if condition is not None and (number is None or condition is not mask):
            return "the weights and the scores have other masks"
        turned = {name: captures[f"turned {name}"] for name in ("queries", "keys")}
        query, key = (captures[name] if t is None else t for name, t in turned.items())
        args = [query, key, captures["values"], *([] if mask is None else [mask])]
        other = self.used_elsewhere(step, args)
        if other is not None:
            return f"{other.name} between the queries and the result is {USED_ELSEWHERE}"
        mask = self._without_ones(mask, step, args)
        if mask is not None and not 2 <= (mask.shape.rank or 0) <= rank:
            return "the mask has not two dimensions or more, and as many as the scores at most"
        if captures["equation"] is None:
            rows = [Rows.turned(query, captures["turns queries"]), Rows.turned(key, not captures["turns keys"])]
        else:
            rows = [Rows(query, _HEADS), Rows(key, _HEADS)]
            rows = rows[:: 1 if _canonical_equation(captures["equation"]).endswith("be") else -1]
        order = _HEADS if step.op is einsum_op.op else ()
        queries, keys = rows[:: -1 if len(captures["orders*"]) % 2 else 1]
        parts = Parts(
            queries, keys, Rows(captures["values"], order),
            mask if number is None else None, None if number is None else mask,
            math.prod(captures["factors*"]) / math.prod(captures["divisors*"]),
            0.0 if number is None else number, condition is not None, captures["dropout"], order,
        )  # fmt: skip
        reason = self.refuses(step, parts)
        if reason is not None:
            return reason
        for name, t in turned.items():
            if t is not None:
                self.producers[id(t)].args[0] = captures[name]
        self.write_attention(step, parts)
        return None

    def _without_ones(self, mask: TensorLike, step: Step, args: Sequence[Any]) -> Any:
        """Returns a mask without a conjunction with ones in the shape of the scores."""
        both = self.step(mask)
        if both is None or both.op is not logical_and.op:
            return mask
        inner = {id(t): t for s in self.between(step, args) for t in s.outputs}
        for ones, other in (both.args, both.args[::-1]):
            fill = self.step(ones)
            if fill is None or fill.op is not fill_op.op or not self.number(fill.args[1]):
                continue
            like, shape = self.step(fill.args[0]), ones.shape
            is_like_scores = like is not None and like.op is shape_op.op and id(like.args[0]) in inner
            if is_like_scores or (shape.is_fully_defined() and any(t.shape == shape for t in inner.values())):
                return self._without_ones(other, step, args)
        return mask

    def refuses(self, step: Step, parts: Parts) -> str | None:
        """Returns the reason for not replacing a step, or None."""
        return None if parts.dropout is None else "the weights are dropped"

    def write_attention(self, step: Step, parts: Parts) -> None:
        """Replaces a step by a call of the kernel."""
        result = f"[0]{f'.permute{parts.order}' if parts.order else ''}"
        rows = [f"{{{i}}}{rows.form}" for i, rows in enumerate(parts[:3])]
        self.write(step, parts.tensors, rows, parts.bias, parts.mask, parts[5:8], result)

    def write(
        self, step: Step, tensors: Sequence[Any], rows: Sequence[str], bias: Any, mask: Any, attrs: Any,
        ending: str = "", sources: Sequence[Any] = (),
    ) -> None:  # fmt: skip
        """Replaces a step by a call of the kernel.

        Args:
            step: the step.
            tensors: the kernel's tensors.
            rows: the templates of queries, keys and values.
            bias, mask: the last of the tensors, or None.
            attrs: `scale`, `masked` and `zeroed`.
            ending: source code after the call.
            sources: the tensors that the replaced steps take; by default the kernel's.
        """
        scale, masked, zeroed = attrs
        options = "".join(f", {name}={{3}}" for name, t in (("bias", bias), ("mask", mask)) if t is not None)
        options += f", scale={scale!r}"
        options += "" if mask is None else f", masked={_number_literal(masked)}, zeroed={zeroed}"
        op = GraphOp("Attention", attention, template=f"{{kernel}}({', '.join(rows)}{options}){ending}")
        op.allocates, op.gives_tuple = True, not ending
        origins = [o for s in self.between(step, sources or tensors) for o in s.origins]
        step.op, step.args, step.origins = op, [*tensors], [*origins, *step.origins]

    def join(self, sums: Step) -> bool:
        """Computes a residual of attention's gradient by the same kernel as the result; returns False if the steps of
        the result are not in the program."""
        *operands, bias_or_none, mask_or_none, result = sums.inputs
        turn = self.step(result)
        step = None if turn is None else turn if turn.op is not transpose_op.op else self.step(turn.args[0])
        if step is None or turn is None or step.op not in (batch_matmul.op, einsum_op.op):
            return False
        bias, mask = (t if t.shape.rank else None for t in (bias_or_none, mask_or_none))
        tensors = [*operands, *(t for t in (bias, mask) if t is not None)]
        steps, y = self.program.steps, step.outputs[0]
        places = {id(s): i for i, s in enumerate(steps)}
        later, stack = [], [*tensors]  # the steps that have to run earlier
        while stack:
            s = self.producers.get(id(stack.pop()))
            if s is not None and places[id(s)] > places[id(step)] and s not in later:
                later.append(s)
                stack += s.inputs
        if not all(s.pure for s in later):
            return False
        first = sorted(later, key=lambda s: places[id(s)])
        sources = [*tensors, *(t for s in first for t in s.inputs)]
        self.write(step, tensors, ["{0}", "{1}", "{2}"], bias, mask, sums.args[6:], sources=sources)
        step.outputs = [result, sums.outputs[0]]
        gone = {id(sums), id(step), *map(id, first)}
        new = [*first, step]
        if turn is not step:
            gone.add(id(turn))
            new.append(Step(turn.op, [result, *turn.args[1:]], [y], step.origins))
        self.program.steps = [
            s for each in steps for s in (new if each is step else [] if id(each) in gone else [each])
        ]
        return True


def _number_literal(number: float) -> str:
    """Returns a number as source code."""
    return repr(number) if math.isfinite(number) else f"float('{number}')"
