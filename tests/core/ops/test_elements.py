"""The primitives of element forms, which a builder here computes with NumPy."""

import math
import operator
import platform

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elements import Element, ElementBuilder, Probe, Unsupported, divisor, supports

OPERATIONS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "abs": abs, "exp": np.exp, "bit_and": operator.and_, "bit_or": operator.or_, "bit_xor": operator.xor,
    "quotient": lambda x, y: type(x)(int(x / y)), "remainder": lambda x, y: type(x)(math.fmod(x, y)),
}  # fmt: skip
COMPARISONS = {"equal": operator.eq, "less": operator.lt, "less_equal": operator.le}


class NumPyBuilder(ElementBuilder):
    """Computes elements as NumPy's scalars."""

    def emit_number(self, value, dtype):
        return dtype.as_numpy_dtype(value)

    def emit(self, name, operands, dtype):
        return dtype.as_numpy_dtype(OPERATIONS[name](*operands))

    def emit_compare(self, name, x, y, dtype):
        return np.bool_(COMPARISONS[name](x, y))

    def emit_select(self, condition, x, y):
        return x if condition else y

    def emit_convert(self, value, source, dtype):
        return dtype.as_numpy_dtype(value)

    def emit_bits(self, value, dtype):
        return value.view(dtype.as_numpy_dtype)

    def emit_rounded(self, value, dtype):
        return ("rounded", value)


B = NumPyBuilder()
NAN, INF = math.nan, math.inf


def element(value, dtype=tf.float32):
    return B.number(value, dtype)


def same(found, expected):
    return (math.isnan(found) and math.isnan(expected)) or found == expected


def test_numbers():
    x = element(3, tf.int16)
    assert x == Element(np.int16(3), tf.int16, 3) and type(x.value) is np.int16
    assert B.add(x, 4) == Element(np.int16(7), tf.int16) and B.sub(4, x).value == 1
    assert B.same(1, x, 2)[0].dtype is B.same(1, x, 2)[2].dtype is tf.int16
    with pytest.raises(Unsupported, match="elements of string are not compiled"):
        B.number(1, tf.string)
    with pytest.raises(TypeError, match=r"add takes elements of one dtype, not \['int16', 'float32'\]"):
        B.add(x, element(1.0))
    with pytest.raises(AttributeError, match="unknown"):
        B.unknown  # noqa: B018


@pytest.mark.parametrize(
    ("name", "dtype", "supported"),
    [
        ("add", tf.float32, True),
        ("exp", tf.float64, True),
        ("bit_and", tf.float32, False),
        ("quotient", tf.float32, False),
        ("add", tf.int32, True),
        ("quotient", tf.uint8, True),
        ("bit_or", tf.int8, True),
        ("div", tf.int32, False),
        ("exp", tf.int32, False),
        ("bit_xor", tf.bool, True),
        ("add", tf.bool, False),
    ],
)
def test_operations_of_dtypes(name, dtype, supported):
    x = Element(None, dtype)
    operands = [x] if name == "exp" else [x, x]
    if supported:
        assert Probe().operate(name, *operands).dtype is dtype
    else:
        with pytest.raises(Unsupported, match=f"{name} is not compiled for {dtype.name}"):
            Probe().operate(name, *operands)


VALUES = [-2.5, -0.0, 1.0, 3.0, NAN, INF]


@pytest.mark.parametrize("x", VALUES)
@pytest.mark.parametrize("y", VALUES)
def test_comparisons(x, y):
    a, b = element(x), element(y)
    assert B.equal(a, b).value == (x == y) and B.not_equal(a, b).value == (x != y)
    assert B.less(a, b).value == (x < y) and B.less_equal(a, b).value == (x <= y)
    assert B.less(a, 1.0).value == (x < 1.0) and B.less(1.0, a).value == (x > 1.0)
    assert B.less(a, b).dtype is tf.bool and B.is_nan(a).value == math.isnan(x)
    assert same(B.maximum(a, b).value, float(np.maximum(np.float32(x), np.float32(y))))
    assert same(B.minimum(a, b).value, float(np.minimum(np.float32(x), np.float32(y))))
    assert same(B.select(B.less(a, b), a, b).value, x if x < y else y)


def test_comparisons_of_integers():
    for x, y in ((3, 5), (5, 3), (4, 4), (-1, 2)):
        a, b = element(x, tf.int32), element(y, tf.int32)
        assert B.maximum(a, b).value == max(x, y) and B.minimum(a, b).value == min(x, y)
        assert B.maximum(a, 4).value == max(x, 4)
    assert B.logical_not(element(True, tf.bool)).value == np.False_
    assert B.logical_not(element(False, tf.bool)).value == np.True_


@pytest.mark.parametrize("y", [2, 3, -2, -3, 7])
@pytest.mark.parametrize("x", [-7, -6, -1, 0, 1, 6, 7])
def test_quotients_of_integers(x, y):
    a, b = element(x, tf.int32), element(y, tf.int32)
    assert B.floor_quotient(a, b).value == x // y and B.floor_remainder(a, b).value == x % y


def test_divisors_are_constants():
    for constant in (0, -1, None):
        with pytest.raises(Unsupported, match="integers are divided only by constants"):
            divisor(Element(None, tf.int32, constant))
    for y in (Element(None, tf.int32, 2), Element(None, tf.float32)):
        assert divisor(y) is y


def test_conversions():
    x = element(2.75)
    assert B.convert(x, tf.float32) is x and B.convert(x, tf.float64) == Element(np.float64(2.75), tf.float64)
    assert B.convert(element(3, tf.int8), tf.float32).value == 3.0
    assert B.convert(element(0.5), tf.bool) == Element(np.True_, tf.bool)
    assert B.convert(element(0.0), tf.bool).value == np.False_ and B.convert(element(NAN), tf.bool).value == np.True_
    with pytest.raises(Unsupported, match="elements of string"):
        B.convert(x, tf.string)
    for dtype in (tf.int8, tf.uint32, tf.int16):
        with pytest.raises(Unsupported, match=f"floats out of the range of {dtype.name} are not compiled"):
            B.convert(x, dtype)


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="other processors differ")
@pytest.mark.parametrize(("dtype", "limit"), [(tf.int32, 2.0**31), (tf.int64, 2.0**63)])
def test_floats_out_of_range_become_the_least_integer(dtype, limit):
    for value, expected in ((2.75, 2), (-2.75, -2), (-limit, -limit), (limit, -limit), (NAN, -limit), (-INF, -limit)):
        found = B.convert(element(value, tf.float64), dtype)
        assert found.value == int(expected) and found.dtype is dtype
    assert B.convert(element(3.0, tf.float16), dtype).value == 3


def test_bits():
    assert B.bits(element(1.0)) == Element(np.int32(0x3F800000), tf.int32)
    assert B.bits(element(1.0, tf.float64)).value == 0x3FF0000000000000
    assert B.float_of_bits(element(0x3F800000, tf.int32)) == Element(np.float32(1.0), tf.float32)
    assert B.float_of_bits(element(0x3FF0000000000000, tf.int64)).dtype is tf.float64
    with pytest.raises(Unsupported, match="bits of float16 are not compiled"):
        B.bits(element(1.0, tf.float16))


def test_halves():
    for dtype in (tf.float16, tf.bfloat16):
        x = element(1.5, dtype)
        assert B.rounded(x).value[0] == "rounded" and B.rounded(x).dtype is dtype
        assert B.wide(x) == Element(np.float32(1.5), tf.float32)
    x = element(1.5)
    assert B.rounded(x) is x and B.wide(x) is x


def test_combinations():
    def names(*numbers):
        return [element(n, tf.int32) for n in numbers]

    class Order(NumPyBuilder):
        def emit(self, name, operands, dtype):
            pairs.append(tuple(map(int, operands)))
            return super().emit(name, operands, dtype)

    for halves, expected in ((False, [(1, 2), (3, 4), (3, 7)]), (True, [(1, 3), (2, 4), (4, 6)])):
        pairs = []
        assert Order().combined("add", names(1, 2, 3, 4), halves).value == 10 and pairs == expected
    pairs = []
    assert Order().combined("add", names(1, 2, 3, 4, 5)).value == 15 and pairs == [(1, 2), (3, 4), (3, 7), (10, 5)]
    assert B.combined("maximum", names(4, 9, 2)).value == 9 and B.combined("minimum", names(4, 9, 2)).value == 2
    assert B.combined("add", names(7)).value == 7


def test_products_with_zero():
    for factor, expected in ((0.0, 0.0), (-0.0, 0.0), (2.0, INF)):
        assert B.zero_where_zero(element(INF), element(factor)).value == expected
    assert B.zero_where_zero(element(NAN), element(0.0)).value == 0.0


def test_sigmoids():
    for x in (-3.0, 0.0, 2.5):
        assert B.sigmoid(element(x, tf.float64)).value == pytest.approx(1 / (1 + math.exp(-x)), rel=1e-15)


@pytest.mark.parametrize(
    ("name", "dtypes", "attrs", "constants", "expected"),
    [
        ("Mul", (tf.float32, tf.float32), (), (), True),
        ("Mul", (tf.string, tf.string), (), (), False),
        ("Mul", (tf.complex64, tf.complex64), (), (), False),
        ("MatMul", (tf.float32, tf.float32), (), (), False),
        ("FloorDiv", (tf.int32, tf.int32), (), (), False),
        ("FloorDiv", (tf.int32, tf.int32), (), (None, 3), True),
        ("FloorDiv", (tf.int32, tf.int32), (), (None, 0), False),
        ("FloorDiv", (tf.float32, tf.float32), (), (), True),
    ],
)
def test_ops_with_element_forms(name, dtypes, attrs, constants, expected):
    assert supports(getattr(ops, name).op, dtypes, attrs, constants) is expected
