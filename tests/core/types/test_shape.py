"""Static shapes. Results and error texts were recorded from TensorFlow 2.21."""

import copy
import pickle

import numpy as np
import pytest
import torch

from ids import stable
from tapeflow.core.types.shape import TensorShape, as_shape, broadcast_shape, unknown_shape

UNKNOWN = TensorShape(None)


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def outcome(function, *arguments):
    """What the call gives, or the class and text of the error it raises."""
    try:
        return function(*arguments)
    except Exception as e:
        return type(e), str(e)


@pytest.mark.parametrize(
    "dims, expected",
    [
        (None, None),
        ([], []),
        ((), []),
        ([2, None], [2, None]),
        (3, [3]),
        (np.int64(3), [3]),
        (np.array(3), [3]),
        (np.array([2, 3]), [2, 3]),
        (np.array([2, None], dtype=object), [2, None]),
        ([np.int32(3)], [3]),
        (range(3), [0, 1, 2]),
        (iter([1, 2]), [1, 2]),
        ({3}, [3]),
        ({1: 2}, [1]),
        (b"ab", [97, 98]),
        (True, [True]),
        (Index(4), [4]),
        ([Index(4)], [4]),
        (TensorShape([1, 2]), [1, 2]),
        (TensorShape(None), None),
        (torch.zeros(2, 3).shape, [2, 3]),
    ],
    ids=stable,
)
def test_construction(dims, expected):
    shape = TensorShape(dims)
    assert (None if shape.dims is None else [d.value for d in shape.dims]) == expected
    assert repr(shape) == f"TensorShape({expected})"
    if expected is not None:
        assert all(type(d) in (int, bool, type(None)) for d in shape)


NO_DIMENSION = "Dimension value must be integer or None or have an __index__ method, got value '{}' with type '{}'"
NO_SHAPE = (
    "Failed to convert '{}' to a shape: '{}'could not be converted to a dimension. A shape should either be single "
    "dimension (e.g. 10), or an iterable of dimensions (e.g. [1, 10, None])."
)


@pytest.mark.parametrize(
    "dims, error, message",
    [
        (-1, ValueError, "Dimension -1 must be >= 0"),
        ([2, -1], ValueError, "Dimension -1 must be >= 0"),
        ([Index(-4)], ValueError, "Dimension -4 must be >= 0"),
        (iter([1, -1]), ValueError, "Dimension -1 must be >= 0"),
        (2.5, TypeError, NO_DIMENSION.format("2.5", "<class 'float'>")),
        ([1.5], TypeError, NO_DIMENSION.format("1.5", "<class 'float'>")),
        ([None, "a"], TypeError, NO_DIMENSION.format("'a'", "<class 'str'>")),
        ([[1]], TypeError, NO_DIMENSION.format("[1]", "<class 'list'>")),
        ([np.float32(3)], TypeError, NO_DIMENSION.format("np.float32(3.0)", "<class 'numpy.float32'>")),
        ("12", TypeError, NO_SHAPE.format("'12'", "'1'")),
        (np.array([1.5]), TypeError, NO_SHAPE.format("array([1.5])", "np.float64(1.5)")),
    ],
    ids=stable,
)
def test_not_a_shape(dims, error, message):
    assert outcome(TensorShape, dims) == (error, message)


@pytest.mark.parametrize(
    "dims, text, rank, elements",
    [
        (None, "<unknown>", None, None),
        ([], "()", 0, 1),
        ([2], "(2,)", 1, 2),
        ([None], "(None,)", 1, None),
        ([2, 3], "(2, 3)", 2, 6),
        ([None, 3], "(None, 3)", 2, None),
        ([0, 3], "(0, 3)", 2, 0),
    ],
)
def test_what_is_known(dims, text, rank, elements):
    shape = TensorShape(dims)
    assert str(shape) == f"{shape}" == text
    assert shape.rank == shape.ndims == rank
    assert bool(shape) == (rank is not None)
    assert shape.num_elements() == elements
    assert shape.is_fully_defined() == (elements is not None)
    if elements is None:
        assert outcome(shape.assert_is_fully_defined) == (ValueError, f"Shape {text} is not fully defined")
    else:
        shape.assert_is_fully_defined()


def test_as_a_sequence():
    shape = TensorShape([2, None, 4])
    assert list(shape) == shape.as_list() == [d.value for d in shape.dims] == [2, None, 4]
    assert len(shape) == 3
    assert None in shape
    first, *rest = shape
    assert (first, rest) == (2, [None, 4])
    assert np.zeros(TensorShape([2, 3])).shape == (2, 3)


@pytest.mark.parametrize(
    "function, message",
    [
        (len, "Cannot take the length of shape with unknown rank."),
        (list, "Cannot iterate over a shape with unknown rank."),
        (TensorShape.as_list, "as_list() is not defined on an unknown TensorShape."),
    ],
)
def test_unknown_rank_is_no_sequence(function, message):
    assert outcome(function, UNKNOWN) == (ValueError, message)


@pytest.mark.parametrize(
    "key, known, unknown",
    [
        (0, 2, None),
        (-1, 4, None),
        (1, None, None),
        (np.int64(2), 4, None),
        (5, (IndexError, "tuple index out of range"), None),
        ("a", (TypeError, "tuple indices must be integers or slices, not str"), None),
        (slice(1, None), TensorShape([None, 4]), UNKNOWN),
        (slice(None, 1), TensorShape([2]), TensorShape([None])),
        (slice(1, 3), TensorShape([None, 4]), TensorShape([None, None])),
        (slice(3, 1), TensorShape([]), TensorShape([])),
        (slice(None, -1), TensorShape([2, None]), UNKNOWN),
        (slice(-1, None), TensorShape([4]), UNKNOWN),
        (slice(None, None, 2), TensorShape([2, 4]), (ValueError, "Steps are not yet handled")),
    ],
    ids=stable,
)
def test_getitem(key, known, unknown):
    for shape, expected in (TensorShape([2, None, 4]), known), (UNKNOWN, unknown):
        result = outcome(shape.__getitem__, key)
        assert type(result) is type(expected)
        assert result == expected


def test_one_dimension_is_a_number():
    assert outcome(TensorShape([2]).__getitem__, (0, 1)) == (
        TypeError,
        "tuple indices must be integers or slices, not tuple",
    )


@pytest.mark.parametrize(
    "dims, other, equal",
    [
        ([2, 3], (2, 3), True),
        ([2, 3], [2, 3], True),
        ([2, 3], np.array([2, 3]), True),
        ([2], 2, True),
        (None, None, True),
        ([None], [None], True),
        ([None], [2], False),
        ([None], None, False),
        ([], None, False),
        ([2, 3], "ab", False),
        ([2], 2.5, False),
        ([2, 3], [2, "a"], False),
        ([2, 3], object(), False),
    ],
    ids=stable,
)
def test_equality(dims, other, equal):
    assert (TensorShape(dims) == other) is equal
    assert (TensorShape(dims) != other) is not equal


def test_equality_with_what_can_never_be_a_shape():
    assert outcome(TensorShape([2]).__eq__, [-1]) == (ValueError, "Dimension -1 must be >= 0")


def test_no_order():
    with pytest.raises(TypeError, match="'<' not supported"):
        _ = TensorShape([1]) < TensorShape([2])


def test_hash():
    assert {TensorShape([2, 3]): "a", UNKNOWN: "b"}[TensorShape((2, 3))] == "a"
    assert hash(TensorShape(None)) == hash(UNKNOWN)


@pytest.mark.parametrize("dims", [None, [], [2], [None, 3]])
def test_copies(dims):
    shape = TensorShape(dims)
    for again in pickle.loads(pickle.dumps(shape)), copy.copy(shape), copy.deepcopy(shape):
        assert type(again) is TensorShape
        assert again == shape


@pytest.mark.parametrize("dims", [None, [], [2, None], [0]])
def test_proto(dims):
    proto = TensorShape(dims).as_proto()
    assert proto.unknown_rank == (dims is None)
    assert [d.size for d in proto.dim] == [-1 if d is None else d for d in dims or []]
    assert TensorShape(proto) == TensorShape.experimental_from_proto(proto) == TensorShape(dims)


def test_of_a_torch_size_is_an_ordinary_shape():
    shape = TensorShape._of(torch.zeros(2, 3).shape)
    assert shape == TensorShape([2, 3])
    assert hash(shape) == hash(TensorShape([2, 3]))
    assert (repr(shape), str(shape), repr(shape[1:])) == ("TensorShape([2, 3])", "(2, 3)", "TensorShape([3])")
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert repr(shape.concatenate([None])) == "TensorShape([2, 3, None])"


@pytest.mark.parametrize(
    "a, b, merged, common, compatible",
    [
        (None, [2, 3], [2, 3], None, True),
        ([2, 3], None, [2, 3], None, True),
        ([], [], [], [], True),
        ([], [2], None, None, False),
        ([2, 3], [2, 3], [2, 3], [2, 3], True),
        ([2, 3], [None, 3], [2, 3], [None, 3], True),
        ([None, 3], [2, None], [2, 3], [None, None], True),
        ([None, None], [None, 3], [None, 3], [None, None], True),
        ([2, 3], [1, 3], None, [None, 3], False),
        ([2, None], [1, 3], None, [None, None], False),
        ([2], [2, 3], None, None, False),
    ],
)
def test_two_shapes(a, b, merged, common, compatible):
    for x, y in (TensorShape(a), TensorShape(b)), (TensorShape(b), TensorShape(a)):
        assert x.is_compatible_with(y) is compatible
        assert x.most_specific_compatible_shape(y) == TensorShape(common)
        assert x.most_specific_common_supertype([y]) == TensorShape(common)
        if compatible:
            x.assert_is_compatible_with(y)
            assert x.merge_with(y) == TensorShape(merged)
        else:
            assert outcome(x.assert_is_compatible_with, y) == (ValueError, f"Shapes {x} and {y} are incompatible")
            assert outcome(x.merge_with, y) == (ValueError, f"Shapes {x} and {y} are not compatible")


def test_other_may_be_anything_that_is_a_shape():
    shape = TensorShape([2, None])
    assert shape.is_compatible_with((2, 5))
    assert not shape.is_compatible_with(5)
    assert shape.merge_with([None, 3]) == [2, 3]
    assert outcome(shape.assert_is_compatible_with, [1, 4]) == (
        ValueError,
        "Shapes (2, None) and [1, 4] are incompatible",
    )
    assert outcome(shape.is_compatible_with, "x") == (TypeError, NO_SHAPE.format("'x'", "'x'"))


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ([2, 3], None, True),
        (None, None, True),
        (None, [2], False),
        ([2, 3], [2, 3], True),
        ([2, 3], [None, 3], True),
        ([None, 3], [2, 3], False),
        ([None, 3], [None, None], True),
        ([2], [2, 3], False),
    ],
)
def test_is_subtype_of(a, b, expected):
    assert TensorShape(a).is_subtype_of(TensorShape(b)) is expected


def test_as_a_trace_type():
    shape = TensorShape([2, 3])
    assert not shape.is_subtype_of([2, 3])
    assert shape.most_specific_common_supertype([]) == shape
    assert shape.most_specific_common_supertype([TensorShape([2, 4]), TensorShape([2, 3])]) == [2, None]
    assert shape.most_specific_common_supertype([[2, 3]]) is None
    assert UNKNOWN.most_specific_common_supertype([[2, 3]]) is None
    assert shape.flatten() == shape.to_tensors(shape) == []
    assert shape.from_tensors(iter([])) is shape.placeholder_value(None) is None
    with pytest.raises(AssertionError, match=r"Can not cast TensorShape\(\[2, 3\]\) to type TensorShape\(\[2, 3\]\)"):
        shape.cast(shape, None)


def test_concatenate():
    shape = TensorShape([2, None])
    for three in [3], (3,), 3, TensorShape([3]):
        assert shape.concatenate(three) == shape + three == TensorShape([2, None, 3])
        assert three + shape == TensorShape([3, 2, None])
    assert shape + None == None + shape == UNKNOWN + shape == UNKNOWN
    with pytest.raises(TypeError, match="Failed to convert ''a'' to a shape"):
        _ = shape + "a"


def test_assert_same_rank():
    TensorShape([2, 3]).assert_same_rank([5, None])
    UNKNOWN.assert_same_rank([5])
    TensorShape([2, 3]).assert_same_rank(None)
    assert outcome(TensorShape([2, 3]).assert_same_rank, [2]) == (
        ValueError,
        "Shapes (2, 3) and (2,) must have the same rank",
    )


def test_ranks():
    shape = TensorShape([2, None])
    shape.assert_has_rank(2)
    UNKNOWN.assert_has_rank(2)
    assert shape.with_rank(2) == shape.with_rank_at_least(1) == shape.with_rank_at_most(3) == shape
    assert UNKNOWN.with_rank(2) == [None, None]
    assert UNKNOWN.with_rank_at_least(2) == UNKNOWN.with_rank_at_most(2) == UNKNOWN
    assert shape.with_rank(None) == shape


@pytest.mark.parametrize(
    "method, rank, message",
    [
        ("assert_has_rank", 3, "Shape (2, None) must have rank 3"),
        ("with_rank", 1, "Shape (2, None) must have rank 1"),
        ("with_rank_at_least", 3, "Shape (2, None) must have rank at least 3"),
        ("with_rank_at_most", 1, "Shape (2, None) must have rank at most 1"),
    ],
)
def test_wrong_rank(method, rank, message):
    assert outcome(getattr(TensorShape([2, None]), method), rank) == (ValueError, message)


def test_as_shape_and_unknown_shape():
    shape = TensorShape([1])
    assert as_shape(shape) is shape
    assert as_shape([1]) == shape
    assert unknown_shape() == UNKNOWN
    assert unknown_shape(0) == []
    assert unknown_shape(rank=2) == [None, None]


@pytest.mark.parametrize(
    "a, b, expected",
    [
        (None, [2, 3], None),
        ([], [2, 3], [2, 3]),
        ([3], [2, 3], [2, 3]),
        ([1, 3], [2, 1], [2, 3]),
        ([1], [0], [0]),
        ([None], [3], [3]),
        ([None], [1], [None]),
        ([None], [None], [None]),
        ([None], [0], [None]),
        ([2, 3, 4], [None, 1], [2, 3, 4]),
        ([2, 3, 4], [None, None], [2, 3, 4]),
        ([2, 3], [], [2, 3]),
    ],
)
def test_broadcast_shape(a, b, expected):
    assert broadcast_shape(a, b) == broadcast_shape(TensorShape(b), TensorShape(a)) == TensorShape(expected)


@pytest.mark.parametrize("a, b", [((2,), (3,)), ((2, 3), (2,)), ((0,), (2,)), ((None, 3), (2, 4))])
def test_broadcast_shape_of_incompatible_shapes(a, b):
    assert outcome(broadcast_shape, TensorShape(a), b) == (
        ValueError,
        "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are either "
        f"equal or one of them is 1. Received: {a} and {b}.",
    )
