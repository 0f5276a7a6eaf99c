"""`tf.test.TestCase`: which values its assertions take for equal, close, bounded and in a set."""

import collections
import dataclasses
import re
import types

import numpy as np
import pytest

import tapeflow as tf

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Size:
    wide: float
    high: float


class Case(tf.test.TestCase):
    def runTest(self):
        pass


case = Case()
NAN, INF = float("nan"), float("inf")
SPARSE = tf.sparse.from_dense([[0, 5], [0, 0]])
RAGGED = tf.ragged.constant([[1.0], [2.0, 3.0]])

HOLD = {
    # the tolerance is atol + rtol * |b|
    "close, by rtol": lambda: case.assertAllClose(101.0, 100.0, rtol=0.01, atol=0.0),
    "close, by atol": lambda: case.assertAllClose(1.0, 0.75, rtol=0.0, atol=0.25),
    "close, by both": lambda: case.assertAllClose(0.0, 1.0, rtol=0.5, atol=0.5),
    "close, defaults": lambda: case.assertAllClose(1.0 + 1.9e-6, 1.0),
    "close, tuples of shapes": lambda: case.assertAllClose(((1.0,), (2.0, 3.0)), ([1.0], [2.0, 3.0])),
    "close, named tuple": lambda: case.assertAllClose(Point(1.0, [2.0]), {"x": 1.0, "y": [2.0]}),
    "close, data class": lambda: case.assertAllClose(Size(1.0, 2.0), Size(1.0, 2.0 + 1e-7)),
    "close, proxy": lambda: case.assertAllClose(types.MappingProxyType({"a": 1.0}), {"a": 1.0}),
    "close, empty": lambda: case.assertAllClose([], []),
    "close, empty matrix": lambda: case.assertAllClose(np.ones((0, 3)), tf.zeros([0, 3])),
    "close, complex": lambda: case.assertAllClose(tf.constant([1 + 2j]), [1 + 2j]),
    "close, ragged left": lambda: case.assertAllClose(RAGGED, [[1.0], [2.0, 3.0]]),
    "close, ragged right": lambda: case.assertAllClose([[1.0], [2.0, 3.0]], RAGGED),
    "close, ragged both": lambda: case.assertAllClose(RAGGED, RAGGED + 1e-7),
    "not close": lambda: case.assertNotAllClose([1.0, 2.0], [1.0, 3.0]),
    "not close, rtol": lambda: case.assertNotAllClose(1.0, 1.01, rtol=1e-3),
    "not close, shape": lambda: case.assertNotAllClose([1.0], [[1.0]]),
    "type, float32": lambda: case.assertAllCloseAccordingToType(np.float32(1.0), 1.001, float_rtol=1e-2),
    "type, complex64": lambda: case.assertAllCloseAccordingToType(np.complex64(1), 1.001, float_atol=1e-2),
    "type, half": lambda: case.assertAllCloseAccordingToType(1.0005, np.float16(1.0)),
    "type, half atol": lambda: case.assertAllCloseAccordingToType(np.float16(0), 0.0009),
    "type, bfloat16": lambda: case.assertAllCloseAccordingToType(1.0, tf.constant(1.0, tf.bfloat16) + 0.0078125),
    "type, list of tensors": lambda: case.assertAllCloseAccordingToType([np.float16(1)], [1.0009]),
    "type, rtol": lambda: case.assertAllCloseAccordingToType(np.float64(1), 1.01, rtol=0.02),
    "equal, numbers": lambda: case.assertAllEqual([[1, 2], [3, 4]], tf.constant([[1, 2], [3, 4]])),
    "equal, nan and complex": lambda: case.assertAllEqual([complex(NAN, 0)], np.array([complex(NAN, 0)])),
    "equal, nan left": lambda: case.assertAllEqual([NAN, 1], np.array([NAN, 1.0])),
    "equal, empty": lambda: case.assertAllEqual([], tf.zeros([0])),
    "equal, objects": lambda: case.assertAllEqual(np.array(["a", None], object), np.array(["a", None], object)),
    "equal, bfloat16": lambda: case.assertAllEqual(tf.constant([1.5], tf.bfloat16), [1.5]),
    "equal, bool": lambda: case.assertAllEqual(tf.constant([True, False]), [True, False]),
    "equal, ragged right": lambda: case.assertAllEqual([[1.0], [2.0, 3.0]], RAGGED),
    "not equal, one": lambda: case.assertNotAllEqual([1, 2], [1, 3]),
    "not equal, shape": lambda: case.assertNotAllEqual([1], [1, 1]),
    "greater": lambda: case.assertAllGreater([2, 3], 1),
    "less": lambda: case.assertAllLess(tf.constant([0.5, -2.0]), 0.75),
    "greater or equal": lambda: case.assertAllGreaterEqual([[2, 1]], 1),
    "less or equal": lambda: case.assertAllLessEqual([2, 1], 2),
    "range, closed": lambda: case.assertAllInRange([1.0, 2.0], 1.0, 2.0),
    "range, open below": lambda: case.assertAllInRange([1.5, 2.0], 1.0, 2.0, open_lower_bound=True),
    "range, open above": lambda: case.assertAllInRange([1.0, 1.5], 1.0, 2.0, open_upper_bound=True),
    "range, scalar": lambda: case.assertAllInRange(tf.constant(3), 3, 3),
    "set": lambda: case.assertAllInSet([[1, 2], [1, 1]], {1, 2, 5}),
    "near, bound": lambda: case.assertNear(1.0, 1.5, 0.5),
    "near, below": lambda: case.assertNear(1.5, 1.0, 0.5),
    "near, infinite": lambda: case.assertNear(INF, INF, 0.5),
    "arrays near": lambda: case.assertArrayNear([1.0, 2.0], [1.25, 1.75], 0.25),
    "arrays near, empty": lambda: case.assertArrayNear([], [], 0.0),
    "vectors near": lambda: case.assertNDArrayNear(np.array([3.0, 0.0]), np.array([0.0, 4.0]), 5.001),
    "dtype, array": lambda: case.assertDTypeEqual(np.ones(1, np.int8), np.int8),
    "dtype, list": lambda: case.assertDTypeEqual([1.0], np.float64),
    "dtype, tensor": lambda: case.assertDTypeEqual(tf.constant([True]), np.bool_),
    "shape": lambda: case.assertShapeEqual(tf.ones([2, 3]), np.zeros((2, 3))),
    "shape, sparse": lambda: case.assertShapeEqual(SPARSE, np.zeros((2, 2))),
    "shape, scalars": lambda: case.assertShapeEqual(tf.constant(1), np.float32(3)),
}

FAIL = {
    "close, beyond rtol": (lambda: case.assertAllClose(101.0, 100.0, rtol=0.0099, atol=0.0), "is different from b"),
    "close, of a": (lambda: case.assertAllClose(100.0, 1.0, rtol=0.5, atol=0.0), "Mismatched value"),
    "close, beyond atol": (lambda: case.assertAllClose(1.0, 0.75, rtol=0.0, atol=0.24), "Mismatched value"),
    "close, defaults": (lambda: case.assertAllClose(1.0 + 2.1e-6, 1.0), "Mismatched value"),
    "close, message": (lambda: case.assertAllClose(1.0, 2.0, msg="because"), "because"),
    "close, nan": (lambda: case.assertAllClose([NAN], [1.0]), "nan"),
    "close, length": (
        lambda: case.assertAllClose([[1.0], [2.0, 3.0]], [[1.0]]),
        "Mismatched length: a has 2.* b has 1",
    ),
    "close, part": (lambda: case.assertAllClose([[1.0], [2.0, 3.0]], [[1.0], [2.0, 4.0]]), r"a\[1\] is different"),
    "close, keys": (lambda: case.assertAllClose({"a": 1.0}, {"a": 1.0, "b": 2.0}), "mismatched keys"),
    "close, named tuple": (lambda: case.assertAllClose(Point(1.0, 2.0), Point(1.0, 3.0)), r"a\[y\] is different"),
    "close, data class": (lambda: case.assertAllClose(Size(1.0, 2.0), Size(1.5, 2.0)), r"a\[wide\] is different"),
    "close, shape": (lambda: case.assertAllClose([1.0, 1.0], [[1.0, 1.0]]), "Shape mismatch"),
    "close, ragged rows": (lambda: case.assertAllClose(RAGGED, [[1.0, 2.0], [3.0]]), ""),
    "not close, message": (lambda: case.assertNotAllClose(1.0, 1.0, msg="because"), "close at all elements. because"),
    "not close, rtol": (lambda: case.assertNotAllClose(1.0, 1.01, rtol=0.1), "close at all"),
    "not close, atol": (lambda: case.assertNotAllClose(1.0, 1.01, atol=0.1), "close at all"),
    "type, double": (lambda: case.assertAllCloseAccordingToType(np.float64(1), 1.001), "Mismatched value"),
    "type, float32": (lambda: case.assertAllCloseAccordingToType(np.float32(1), 1.0009), "Mismatched value"),
    "type, half": (lambda: case.assertAllCloseAccordingToType(np.float16(1), 1.003), "Mismatched value"),
    "type, own half": (
        lambda: case.assertAllCloseAccordingToType(np.float16(1), 1.0009, half_rtol=1e-5, half_atol=1e-5),
        "Mismatched value",
    ),
    "type, bfloat16": (lambda: case.assertAllCloseAccordingToType(tf.constant(1.0, tf.bfloat16), 1.021), "Mismatched"),
    "type, message": (lambda: case.assertAllCloseAccordingToType(1.0, 2.0, msg="because"), "because"),
    "equal, message": (lambda: case.assertAllEqual([1], [2], msg="because"), "because"),
    "equal, shape": (lambda: case.assertAllEqual([1], [1, 1]), r"Shape mismatch: expected \(1,\), got \(2,\)"),
    "equal, scalar": (lambda: case.assertAllEqual(1, 2), "not equal"),
    "equal, nan and number": (lambda: case.assertAllEqual([NAN, 1.0], [1.0, 1.0]), r"not equal lhs = array\(\[nan\]\)"),
    "equal, ragged": (lambda: case.assertAllEqual([[1.0]], RAGGED), ""),
    "not equal, message": (lambda: case.assertNotAllEqual([1], [1], msg="because"), "equal at all elements. because"),
    "not equal, nan": (lambda: case.assertNotAllEqual([NAN], [NAN]), "equal at all elements"),
    "greater, equal": (lambda: case.assertAllGreater([2, 1], 1), "not greater than 1"),
    "less, equal": (lambda: case.assertAllLess([1, 2], 2), "not less than 2"),
    "greater or equal": (lambda: case.assertAllGreaterEqual([3, 1], 2), "not greater than or equal to 2"),
    "less or equal": (lambda: case.assertAllLessEqual([3, 1], 2), "not less than or equal to 2"),
    "range, below": (lambda: case.assertAllInRange([[1, 5], [0, 2]], 1, 5), r"(?s)1 of the 4.*\[1, 0\] : 0"),
    "range, above": (lambda: case.assertAllInRange([1, 6], 1, 5), r"(?s)outside the range \[1, 5\].*\[1\] : 6"),
    "range, open below": (lambda: case.assertAllInRange([1, 2], 1, 2, open_lower_bound=True), r"range \(1, 2\]"),
    "range, open above": (lambda: case.assertAllInRange([1, 2], 1, 2, open_upper_bound=True), r"range \[1, 2\)"),
    "range, many": (lambda: case.assertAllInRange(np.arange(12), 20, 30), r"(?s)12 of the 12 .*\[9\] : 9\n  \.\.\.$"),
    "range, ten": (lambda: case.assertAllInRange(np.arange(10), 20, 30), r"(?s)10 of the 10 .*\[9\] : 9$"),
    "set": (lambda: case.assertAllInSet(tf.constant([7, 8, 7]), [8]), r"1 unique.*\[7\]"),
    "near": (lambda: case.assertNear(1.0, 1.5, 0.49), "1.000000 != 1.500000"),
    "arrays near": (lambda: case.assertArrayNear([1.0, 2.0], [1.0, 2.3], 0.25, "because"), "because"),
    "arrays near, length": (lambda: case.assertArrayNear([1.0], [1.0, 2.0], 0.25), "1 != 2"),
    "vectors near": (lambda: case.assertNDArrayNear(np.array([3.0, 0.0]), np.array([0.0, 4.0]), 5.0), ""),
    "dtype, list": (lambda: case.assertDTypeEqual([1], np.float32), "int64"),
    "dtype, tensor": (lambda: case.assertDTypeEqual(tf.constant(1.0), np.float64), "float32"),
    "shape": (lambda: case.assertShapeEqual(tf.ones([2, 3]), np.zeros((3, 2)), "because"), "because"),
}


@pytest.mark.parametrize("name", HOLD)
def test_holds(name):
    HOLD[name]()


@pytest.mark.parametrize("name", FAIL)
def test_fails(name):
    check, pattern = FAIL[name]
    with pytest.raises(AssertionError) as failed:
        check()
    assert re.search(pattern, str(failed.value)), str(failed.value)


def test_a_dict_is_compared_with_a_dict():
    with pytest.raises(ValueError, match=r"Can't compare dict to non-dict, a\[1\] vs b\[1\]. because"):
        case.assertAllClose([{"a": 1.0}, {"a": 1.0}], [{"a": 1.0}, 2.0], msg="because")


def test_shapes_are_those_of_tensors_and_arrays():
    for pair in ((3, np.ones(1)), (tf.constant(1), [1])):
        with pytest.raises(TypeError):
            case.assertShapeEqual(*pair)


def test_classes_of_attrs_are_compared_by_fields():
    class Pair:  # as the package attrs makes it
        __attrs_attrs__ = (types.SimpleNamespace(name="left"), types.SimpleNamespace(name="right"))

        def __init__(self, left, right):
            self.left, self.right = left, right

    case.assertAllClose(Pair(1.0, [2.0]), Pair(1.0, [2.0 + 1e-7]))
    with pytest.raises(AssertionError, match=r"a\[right\] is different"):
        case.assertAllClose(Pair(1.0, [2.0]), Pair(1.0, [3.0]))


def test_values_are_converted_to_arrays():
    assert case._GetNdArray(tf.constant([1.5], tf.bfloat16)).dtype == np.float32
    text = case._GetNdArray(["ä", "b"])
    assert text.dtype == object and text.tolist() == ["ä".encode(), b"b"]
    array = np.array([1, 2])
    assert case._GetNdArray(array) is array
    assert case._GetNdArray([tf.constant(1), tf.Variable(2)]).tolist() == [1, 2]
