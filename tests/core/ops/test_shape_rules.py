"""Shape rules that families of ops share."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import shape_rules as rules

S = tf.TensorShape
INVALID = tf.errors.InvalidArgumentError


def in_graph(function):
    """Returns the result of a function, or its error, while a graph is built; it gets a placeholder's maker."""
    with tf.Graph().as_default():
        return function(lambda dtype, shape: tf.compat.v1.placeholder(dtype, shape))


def test_sizes():
    for fine in ([], [0, 2**62, 4], [2**31, 2**31], [3], [2**62], [1, 2**63 - 1]):
        rules.check_sizes(fine)
    with pytest.raises(INVALID, match="Expected shape dimensions to be non-negative, got -1"):
        rules.check_sizes([2, -1])
    with pytest.raises(INVALID, match="Encountered overflow when multiplying 2147483648 with 4294967296"):
        rules.check_sizes([2**31, 2**32])
    with pytest.raises(INVALID, match="overflow"):
        rules.check_sizes([2**63])


def test_texts():
    assert rules.text(S(None)) == "<unknown>" and rules.text(S([2, None])) == "[2,?]" and rules.text([]) == "[]"
    assert rules.text([np.int64(3), None]) == "[3,?]"
    assert rules.too_large(S([2, 3])) == "Shape [2,3] would have more than 2**63 - 1 elements"
    error = rules.unequal("they differ", 2, None)
    assert isinstance(error, INVALID) and error.unequal == (2, None) and error.message == "they differ"


def test_errors_of_kernels_alone():
    with pytest.raises(INVALID, match=r"^words$"):
        rules.leave_to_kernel("words")
    with pytest.raises(tf.errors.NotFoundError, match=r"^words$"):
        rules.leave_to_kernel("words", tf.errors.NotFoundError)
    in_graph(lambda _: rules.leave_to_kernel("words"))


def test_parts_of_dimensions():
    assert rules.divide_size(12, 3) == 4 and rules.divide_size(0, 3) == 0
    with pytest.raises(INVALID, match="Dimension size must be evenly divisible by 5 but is 12"):
        rules.divide_size(12, 5)


def test_shapes_of_several_inputs():
    assert rules.same(S([2]), S([3]), 4) == S([2]) and rules.of_both(S([2, None]), S([None, 3]), 7) == S([2, 3])
    assert rules.merge_shapes() == S(None) and rules.merge_shapes(S([None, 3]), S(None), S([2, None])) == S([2, 3])
    with pytest.raises(ValueError):
        rules.merge_shapes(S([2]), S([3]))
    assert rules.unknown(S([2])) == S(None) and rules.scalar(3) == S([]) and rules.no_results(1, 2) == []


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([2, 3], [3], [2, 3]),
        ([2, 1], [1, 3], [2, 3]),
        ([None], [1], [None]),
        ([None], [3], [3]),
        ([], [2], [2]),
        ([0], [1], [0]),
        (None, [2], None),
    ],
)
def test_broadcast_shapes(x, y, expected):
    for first, second in ((x, y), (y, x)):
        for found in (rules.broadcast(S(first), S(second), "attr"), rules.broadcast_all(S(first), 5, S(second), None)):
            assert found.rank is None if expected is None else found.as_list() == expected


def test_shapes_that_do_not_broadcast():
    with pytest.raises(INVALID, match=r"Incompatible shapes: \[2,3\] vs. \[2\]"):
        rules.broadcast(S([2, 3]), S([2]))
    with pytest.raises(INVALID, match="Incompatible shapes"):
        rules.broadcast_all(S([2]), S([1]), S([3]))


@pytest.mark.parametrize(
    ("small", "large", "expected"),
    [
        ([3], [2, 3], True),
        ([1], [2, None], True),
        ([], [2], True),
        ([2, 3], [3], False),
        ([2], [3], False),
        ([None], [None], False),
        ([None], [1], False),
        ([3], [None], False),
        (None, [2], False),
        ([2], None, False),
    ],
)
def test_certain_broadcasts(small, large, expected):
    assert rules.certainly_broadcasts(S(small), S(large)) is expected


def test_shapes_of_arguments():
    assert rules.argument_shape(S([2])) == S([2]) and rules.argument_shape(tf.zeros([3, 1])) == S([3, 1])
    assert rules.argument_shape(((1, 2), (3, 4), (5, 6))) == S([3, 2]) and rules.argument_shape(7) == S([])
    assert rules.argument_shape(()) == S([0]) and rules.argument_shape(None) == S([])


def test_ranks():
    assert rules.with_rank(S([2, 3]), 2) == S([2, 3]) and rules.with_rank((4, 5), 1) == S([2])
    assert rules.with_rank(S(None), 2).as_list() == [None, None] and rules.with_rank(S(None), -2) == S(None)
    assert rules.with_rank(S([2, 3]), -1) == S([2, 3]) and rules.with_rank(S([2, 3]), -2) == S([2, 3])
    assert rules.with_rank(S([]), 0) == S([])
    for shape, rank, said in (
        (S([2]), 2, "Shape must be rank 2 but is rank 1"),
        (S([2]), 0, "Shape must be rank 0 but is rank 1"),
        (S([2]), -2, "Shape must be at least rank 2 but is rank 1"),
        (7, 1, "Shape must be rank 1 but is rank 0"),
    ):
        with pytest.raises(INVALID, match=f"^{said}$"):
            rules.with_rank(shape, rank)
    first = rules.check_ranks_first(lambda *args: args, 2, None, -1)
    assert first(S([2, 3]), 5, S([1])) == (S([2, 3]), 5, S([1])) and first(S([2, 3])) == (S([2, 3]),)
    assert first(None, S([1, 2, 3]), None) == (None, S([1, 2, 3]), None)
    for wrong in ((S([2]), 5, S([1])), (S([2, 3]), 5, S([]))):
        with pytest.raises(INVALID, match="rank"):
            first(*wrong)


def test_dimensions_of_a_size():
    for shape in (S([2, 3]), S([2, None]), S(None)):
        assert rules.with_dimension(shape, 1, 3) is shape
    with pytest.raises(INVALID, match="Dimension must be 4 but is 3"):
        rules.with_dimension(S([2, 3]), -1, 4)


def test_parts_of_sparse_tensors():
    for fine in (
        (S([5, 2]), S([5]), S([2])),
        (S([None, 2]), S([5]), (3, 4)),
        (S(None), S(None), S(None)),
        (S([5, None]), S([None]), (3,)),
    ):
        rules.check_sparse(*fine)
    for wrong, said in (
        ((S([5, 2]), S([4]), S([2])), r"Number of elements in index \(5\) and values \(4\) do not match"),
        ((S([5, 2]), S([5]), S([3])), r"Index rank \(2\) and shape rank \(3\) do not match"),
        ((S([5, 2]), S([5]), (1, 2, 3)), r"Index rank \(2\) and shape rank \(3\) do not match"),
        ((S([5]), S([5]), S([1])), "Shape must be rank 2 but is rank 1"),
        ((S([5, 2]), S([5, 1]), S([2])), "Shape must be rank 1 but is rank 2"),
    ):
        with pytest.raises(INVALID, match=said):
            rules.check_sparse(*wrong)
    rule = rules.sparse(lambda *args: len(args), 0, 3)
    good, bad = (S([5, 2]), S([5]), S([2])), (S([5, 2]), S([4]), S([2]))
    assert rule(*good, *good, "attr") == 7
    for wrong in ((*bad, *good), (*good, *bad)):
        with pytest.raises(INVALID, match="do not match"):
            rule(*wrong)


def test_listed_shapes():
    assert rules.listed_shape((2, 3)) == S([2, 3]) and rules.listed_shape((), "attr") == S([])
    with pytest.raises(INVALID, match="Dimension -2 must be >= 0"):
        rules.listed_shape((2, -2))
    assert in_graph(lambda new: rules.listed_shape((2, -1)).as_list()) == [2, None]
    assert in_graph(lambda new: rules.listed_shape(new(tf.int32, [3])).rank) is None
    with pytest.raises(ValueError, match="rank 1"):
        in_graph(lambda new: rules.listed_shape(new(tf.int32, [3, 1])))
    with pytest.raises(ValueError, match="Invalid value in tensor used for shape: -2"):
        in_graph(lambda new: rules.stated_dims((2, -2)))
    with pytest.raises(INVALID, match="Dimension -1 must be >= 0"):
        rules.stated_dims((2, -1))
    assert rules.stated_dims((2, None, 0)) == (2, None, 0)


def test_host_arguments():
    assert rules.wholly_static((1, (2, 3))) and not rules.wholly_static((1, (None,))) and not rules.wholly_static(None)
    assert not in_graph(lambda new: rules.wholly_static((1, new(tf.int32, []))))
    assert rules.length(3) == 3 and in_graph(lambda new: rules.length(new(tf.int32, []))) is None
    rules.check_rank(3, 1)  # eagerly, a number counts as a vector of one
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 0"):
        in_graph(lambda new: rules.check_rank(3, 1))
    in_graph(lambda new: rules.check_rank((), 2))
    in_graph(lambda new: rules.check_shape_scalar(new(tf.int32, [2])))
    with pytest.raises(ValueError, match="Received a shape scalar with unknown static value"):
        in_graph(lambda new: rules.check_shape_scalar(new(tf.int32, [])))


@pytest.mark.parametrize(
    ("axis", "rank", "expected"),
    [
        (None, 3, (0, 1, 2)),
        (1, 3, (1,)),
        (-1, 3, (2,)),
        (-3, 3, (0,)),
        ((0, -1), 3, (0, 2)),
        ((), 2, ()),
        (((0,), 1), 2, (0, 1)),
        ((np.int64(1),), 2, (1,)),
        (None, 0, ()),
    ],
)
def test_reduced_dimensions(axis, rank, expected):
    assert rules.reduced_dimensions(axis, rank) == expected


@pytest.mark.parametrize(
    ("axis", "rank", "said"),
    [
        (3, 3, r"Invalid reduction dimension \(3 for input with 3 dimension\(s\)"),
        (-4, 3, r"Invalid reduction dimension \(-4 for input"),
        (0, 0, "Invalid reduction dimension"),
        ((0, 0), 2, "Axes contains duplicate dimension: 0"),
        ((1, -1), 2, "Axes contains duplicate dimension: 1"),
        (1.5, 2, "is not int32 or int64 but 1.5"),
        ("a", 2, "is not int32 or int64 but 'a'"),
    ],
)
def test_dimensions_that_are_not_reduced(axis, rank, said):
    with pytest.raises(INVALID, match=said):
        rules.reduced_dimensions(axis, rank)


@pytest.mark.parametrize(
    ("shape", "axis", "keepdims", "expected"),
    [
        ([2, 3, 4], None, False, []),
        ([2, 3, 4], None, True, [1, 1, 1]),
        ([2, 3, 4], 1, False, [2, 4]),
        ([2, 3, 4], (0, -1), True, [1, 3, 1]),
        ([2, None], 0, False, [None]),
        ([2, 3], (), False, [2, 3]),
        (None, None, False, []),
        (None, None, True, None),
        (None, 0, False, None),
    ],
)
def test_reductions(shape, axis, keepdims, expected):
    found = rules.reduction(S(shape), axis, keepdims)
    assert found.rank is None if expected is None else found.as_list() == expected
    assert rules.reduction(S([5]), 0) == S([])


def test_reductions_of_unknown_dimensions():
    assert in_graph(lambda new: rules.reduction(S([2, 3]), new(tf.int32, [1]))).rank is None
    assert in_graph(lambda new: rules.reduction(S([2, 3]), new(tf.int32, [1]), True)).as_list() == [None, None]
    assert in_graph(lambda new: rules.reduction(S([2, 3]), (0, None))).rank is None
    with pytest.raises(ValueError, match="Shape must be at most rank 1 but is rank 2"):
        in_graph(lambda new: rules.reduction(S([2, 3]), new(tf.int32, [1, 1])))
    with pytest.raises(ValueError, match="Shape must be at most rank 1 but is rank 2"):
        in_graph(lambda new: rules.reduction(S([2, 3]), ((0,), (1,))))
