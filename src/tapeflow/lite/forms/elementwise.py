"""TFLite forms of element-wise ops, and of other ops that are one operator without options."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.dtypes import bool_, float32, int32
from tapeflow.lite.program import LiteTensor
from tapeflow.lite.table import FORMS, NoForm, form

if TYPE_CHECKING:
    from tapeflow.lite.lower import LoweredCall, Writer

# Operators with other names than their ops, and no options.
_RENAMED = {
    "Add": "ADD", "AddV2": "ADD", "Div": "DIV", "LogicalXor": "NOT_EQUAL", "RealDiv": "DIV", "Rint": "ROUND",
    "Sigmoid": "LOGISTIC",
}  # fmt: skip


@form("Abs", "Ceil", "ComplexAbs", "Cos", "Elu", "Erf", "Exp", "Floor", "Imag", "Log", "LogicalNot", "LogSoftmax",
      "Neg", "Real", "Rint", "Round", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sqrt", "Tanh", "ZerosLike")  # fmt: skip
def _lower_unary(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    return w.add(_RENAMED.get(call.operation.type, call.code), [x], x.shape, call.dtype)


@form("Add", "AddV2", "Bitcast", "BitwiseXor", "BroadcastArgs", "Div", "Equal", "FloorDiv", "GatherNd", "Greater",
      "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "LogicalXor", "Maximum", "Minimum", "Mul",
      "NotEqual", "Pow", "Range", "RealDiv", "RightShift", "SquaredDifference", "Sub", "Where")  # fmt: skip
def _lower_operator(w: Writer, call: LoweredCall, *inputs: LiteTensor) -> LiteTensor:
    return w.add(_RENAMED.get(call.operation.type, call.code), inputs, call.shape, call.dtype)


@form("CheckNumerics", "EnsureShape", "GuaranteeConst", "Identity", "PlaceholderWithDefault", "PreventGradient",
      "Snapshot", "StopGradient")  # fmt: skip
def _lower_identity(w: Writer, call: LoweredCall, x: LiteTensor, *_: Any) -> Any:
    return x


@form("IdentityN")
def _identity_n(w: Writer, call: LoweredCall, *values: Any) -> list[Any]:
    return list(values[0]) if len(values) == 1 and isinstance(values[0], list) else list(values)


def number(w: Writer, value: float, like: LiteTensor) -> LiteTensor:
    """Returns a scalar constant of the dtype of `like`."""
    return w.constant(value, like.dtype)


def binary(w: Writer, code: str, x: LiteTensor, y: LiteTensor | float) -> LiteTensor:
    """Adds an operator of two inputs of the same dtype; the second may be a number."""
    y = y if isinstance(y, LiteTensor) else number(w, y, x)
    return w.add(code, [x, y], broadcast_shape(x.shape, y.shape))


def broadcast_shape(x: Sequence[int | None], y: Sequence[int | None]) -> list[int | None]:
    """Returns the shape of two broadcast operands."""
    rank = max(len(x), len(y))
    pairs = zip([1] * (rank - len(x)) + list(x), [1] * (rank - len(y)) + list(y), strict=True)
    return [b if a == 1 else a if b == 1 or a is not None else b for a, b in pairs]


def unary(w: Writer, code: str, x: LiteTensor) -> LiteTensor:
    """Adds an operator whose result has the shape and dtype of its input."""
    return w.add(code, [x], x.shape)


@form("Square")
def _lower_square(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    return unary(w, "SQUARE", x) if x.dtype is float32 else w.add("MUL", [x, x], x.shape)


@form("Relu", "Relu6")
def _lower_relu(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    if x.dtype is float32:
        return unary(w, call.code, x)
    y = binary(w, "MAXIMUM", x, 0)
    return y if call.operation.type == "Relu" else binary(w, "MINIMUM", y, 6)


@form("Selu")
def _lower_selu(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    negative = binary(w, "MUL", unary(w, "ELU", binary(w, "MINIMUM", x, 0.0)), scale * alpha)
    return binary(w, "ADD", binary(w, "MUL", unary(w, "RELU", x), scale), negative)


@form("Softplus")
def _lower_softplus(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    small = unary(w, "EXP", unary(w, "NEG", unary(w, "ABS", x)))
    return binary(w, "ADD", unary(w, "RELU", x), _log1p_of(w, small))


def _log1p_of(w: Writer, x: LiteTensor) -> LiteTensor:
    return unary(w, "LOG", binary(w, "ADD", x, 1.0))


@form("Expm1")
def _lower_expm1(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    # ELU computes it for negative numbers, without the cancellation of `exp(x) - 1`.
    negative = unary(w, "ELU", binary(w, "MINIMUM", x, 0.0))
    return binary(w, "ADD", negative, binary(w, "SUB", unary(w, "EXP", unary(w, "RELU", x)), 1.0))


@form("Sinh", "Cosh")
def _lower_hyperbolic(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    code = "SUB" if call.operation.type == "Sinh" else "ADD"
    both = binary(w, code, unary(w, "EXP", x), unary(w, "EXP", unary(w, "NEG", x)))
    return binary(w, "MUL", both, 0.5)


@form("Atan2")
def _lower_atan2(w: Writer, call: LoweredCall, x: LiteTensor, y: LiteTensor) -> LiteTensor:
    if x.shape != y.shape:  # the operator does not broadcast
        x, y = (w.add("ADD", [a, unary(w, "ZEROS_LIKE", b)], call.shape) for a, b in ((x, y), (y, x)))
    return w.add("ATAN2", [x, y], call.shape)


@form("Asin", "Acos")
def _lower_arc(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    product = binary(w, "MUL", binary(w, "SUB", number(w, 1, x), x), binary(w, "ADD", x, 1.0))
    other = unary(w, "SQRT", product)
    return w.add("ATAN2", [x, other] if call.operation.type == "Asin" else [other, x], x.shape)


@form("Asinh")
def _lower_asinh(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    size = unary(w, "ABS", x)
    root = unary(w, "SQRT", binary(w, "ADD", unary(w, "SQUARE", x), 1.0))
    return binary(w, "MUL", unary(w, "SIGN", x), unary(w, "LOG", binary(w, "ADD", size, root)))


@form("Acosh")
def _lower_acosh(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    root = unary(w, "SQRT", binary(w, "SUB", unary(w, "SQUARE", x), 1.0))
    return unary(w, "LOG", binary(w, "ADD", x, root))


@form("Atanh")
def _lower_atanh(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    quotient = binary(w, "DIV", binary(w, "ADD", x, 1.0), binary(w, "SUB", number(w, 1, x), x))
    return binary(w, "MUL", unary(w, "LOG", quotient), 0.5)


@form("TruncateDiv")
def _truncate_div(w: Writer, call: LoweredCall, x: LiteTensor, y: LiteTensor) -> LiteTensor:
    quotient = w.add("DIV", [x, y], call.shape)
    if not x.dtype.is_floating:
        return quotient
    return binary(w, "MUL", unary(w, "SIGN", quotient), unary(w, "FLOOR", unary(w, "ABS", quotient)))


def expand_erf(w: Writer, x: LiteTensor) -> LiteTensor:
    """Adds the error function, which the runtime lacks: the formula 7.1.26 of Abramowitz and Stegun, whose error is
    below 2e-7."""
    size = unary(w, "ABS", x)
    t = binary(w, "DIV", number(w, 1, x), binary(w, "ADD", binary(w, "MUL", size, 0.3275911), 1.0))
    polynomial = binary(w, "MUL", t, 1.061405429)
    for c in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        polynomial = binary(w, "MUL", binary(w, "ADD", polynomial, c), t)
    small = unary(w, "EXP", unary(w, "NEG", unary(w, "SQUARE", x)))
    return binary(w, "MUL", unary(w, "SIGN", x), binary(w, "SUB", number(w, 1, x), binary(w, "MUL", polynomial, small)))


@form("BitwiseAnd")
def _bitwise_and(w: Writer, call: LoweredCall, x: LiteTensor, y: LiteTensor) -> LiteTensor:
    x, mask = (y, x) if x.value is not None else (x, y)
    number_of_mask = int(mask.value) if mask.value is not None and mask.value.size == 1 else 0
    if number_of_mask > 0 and number_of_mask & (number_of_mask + 1) == 0:  # the lowest bits
        return w.add("FLOOR_MOD", [x, number(w, number_of_mask + 1, x)], call.shape)
    if x.dtype is int32 and number_of_mask == -(2**31):  # the sign
        negative = w.add("LESS", [x, number(w, 0, x)], x.shape, bool_)
        return w.add("SELECT_V2", [negative, mask, number(w, 0, x)], call.shape, int32)
    raise NoForm("only masks of the lowest bits, and of the sign, have a form")


@form("Invert")
def _lower_invert(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    if not x.dtype.min < 0:
        return w.add("SUB", [number(w, x.dtype.max, x), x], x.shape)
    return w.add("SUB", [number(w, -1, x), x], x.shape)


@form("IsInf", "IsFinite")
def _compare_with_infinity(w: Writer, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    code = "EQUAL" if call.operation.type == "IsInf" else "LESS"
    return w.add(code, [unary(w, "ABS", x), number(w, math.inf, x)], x.shape, bool_)


@form("OnesLike")
def _ones_like(w: Any, call: LoweredCall, x: LiteTensor) -> LiteTensor:
    zeros = unary(w, "ZEROS_LIKE", x)
    return w.add("LOGICAL_NOT", [zeros], x.shape) if x.dtype is bool_ else binary(w, "ADD", zeros, 1)


@form("DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py")
def _lower_guarded(w: Writer, call: LoweredCall, x: LiteTensor, y: LiteTensor) -> LiteTensor:
    kind = call.operation.type
    guard = y if kind in ("DivNoNan", "MulNoNan") else x
    if kind in ("Xlogy", "Xlog1py"):
        y = unary(w, "LOG", y if kind == "Xlogy" else binary(w, "ADD", y, 1.0))
    result = w.add("DIV" if kind in ("DivNoNan", "Xdivy") else "MUL", [x, y], call.shape)
    zero = w.add("EQUAL", [guard, number(w, 0, guard)], guard.shape, bool_)
    return w.add("SELECT_V2", [zero, number(w, 0, x), result], call.shape, x.dtype)


@form("FloorMod", "Mod", "TruncateMod")
def _lower_mod(w: Writer, call: LoweredCall, x: LiteTensor, y: LiteTensor) -> LiteTensor:
    if call.operation.type == "FloorMod":
        return w.add("FLOOR_MOD", [x, y], call.shape)
    if x.dtype.is_floating:
        raise NoForm("its remainder is C's, and TFLite has the one of floor_mod")
    quotient = w.add("DIV", [x, y], call.shape)
    return binary(w, "SUB", x, binary(w, "MUL", quotient, y))


@form("SelectV2", "Select")
def _lower_select(w: Writer, call: LoweredCall, condition: LiteTensor, x: LiteTensor, y: LiteTensor) -> LiteTensor:
    if call.operation.type == "Select" and condition.rank == 1 < x.rank:
        condition = w.reshape(condition, [*condition.shape, *[1] * (x.rank - 1)])
    return w.add("SELECT_V2", [condition, x, y], call.shape, x.dtype)


@form("BiasAdd")
def _bias_add(w: Writer, call: LoweredCall, x: LiteTensor, bias: LiteTensor) -> LiteTensor:
    if call.attrs["data_format"] == "NCHW":
        bias = w.reshape(bias, [*bias.shape, *[1] * (x.rank - 2)])
    return w.add("ADD", [x, bias], call.shape)


FORMS.update({
    "AddN": lambda w, call, values: values[0] if len(values) == 1 else w.add("ADD_N", values, call.shape),
    "Atan": lambda w, call, x: w.add("ATAN2", [x, binary(w, "ADD", unary(w, "ZEROS_LIKE", x), 1)], x.shape),
    "Cast": lambda w, call, x: w.cast(x, call.dtype),
    "ClipByValue": lambda w, call, x, low, high: w.add(
        "MAXIMUM", [w.add("MINIMUM", [x, high], call.shape), low], call.shape
    ),
    "Erfc": lambda w, call, x: binary(w, "SUB", number(w, 1, x), unary(w, "ERF", x)),
    "IsNan": lambda w, call, x: w.add("NOT_EQUAL", [x, x], x.shape, bool_),
    "LeakyRelu": lambda w, call, x: w.add("LEAKY_RELU", [x], x.shape, alpha=float(call.attrs["alpha"])),
    "Log1p": lambda w, call, x: _log1p_of(w, x),
    "Softsign": lambda w, call, x: binary(w, "DIV", x, binary(w, "ADD", unary(w, "ABS", x), 1.0)),
    "Tan": lambda w, call, x: binary(w, "DIV", unary(w, "SIN", x), unary(w, "COS", x)),
    **dict.fromkeys(("Inv", "Reciprocal"), lambda w, call, x: binary(w, "DIV", number(w, 1, x), x)),
})  # fmt: skip
