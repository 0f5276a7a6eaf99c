"""`tf.compat.v1.Dimension`. TensorFlow passes these tests, too."""

import operator

import pytest

import tapeflow as tf

Dimension = tf.compat.v1.Dimension


class Index:
    """An index that is no int."""

    def __index__(self):
        return 4


def test_values():
    assert Dimension(3).value == 3 and Dimension(0).value == 0 and Dimension(None).value is None
    assert Dimension(Dimension(5)).value == 5 and Dimension(Index()).value == 4
    assert repr(Dimension(3)) == "Dimension(3)" and repr(Dimension(None)) == "Dimension(None)"
    assert str(Dimension(3)) == "3" and str(Dimension(None)) == "?"
    assert int(Dimension(7)) == operator.index(Dimension(7)) == 7
    assert [1, 2, 3][Dimension(1)] == 2
    assert bool(Dimension(1)) and not Dimension(0) and not Dimension(None)
    with pytest.raises(TypeError):
        int(Dimension(None))


def test_values_that_are_none():
    for value in ("a", 1.5, [2]):
        with pytest.raises(TypeError, match=r"Dimension value must be integer or None or have an __index__ method"):
            Dimension(value)
    with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
        Dimension(-1)


@pytest.mark.parametrize(
    ("function", "expected", "swapped"),
    [
        (operator.add, 9, 9),
        (operator.sub, 5, None),
        (operator.mul, 14, 14),
        (operator.floordiv, 3, 0),
        (operator.mod, 1, 2),
    ],
)
def test_arithmetic(function, expected, swapped):
    for left, right in ((Dimension(7), Dimension(2)), (Dimension(7), 2), (7, Dimension(2))):
        result = function(left, right)
        assert type(result) is Dimension and result.value == expected
    if swapped is None:
        with pytest.raises(ValueError, match="Dimension -5 must be >= 0"):
            function(2, Dimension(7))
    else:
        assert function(2, Dimension(7)).value == swapped
    for left, right in ((Dimension(None), 2), (2, Dimension(None)), (Dimension(3), None), (None, Dimension(3))):
        assert function(left, right).value is None
    if function is operator.mul:  # a text is repeated
        assert function(Dimension(3), "text") == "texttexttext"
    else:
        with pytest.raises(TypeError):
            function(Dimension(3), "text")


def test_true_division_is_refused():
    with pytest.raises(TypeError, match=r"for /: 'Dimension' and 'int', please use // instead"):
        Dimension(4) / 2
    with pytest.raises(TypeError, match=r"for /: 'int' and 'Dimension', please use // instead"):
        4 / Dimension(2)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(name):
    function = getattr(operator, name)
    for a in (1, 2, 3):
        assert function(Dimension(a), Dimension(2)) is function(a, 2)
        assert function(Dimension(a), 2) is function(a, 2)
        assert function(2, Dimension(a)) is function(2, a)
    assert function(Dimension(None), 2) is None and function(Dimension(2), Dimension(None)) is None
    assert function(Dimension(2), None) is None


def test_comparisons_with_something_else():
    assert (Dimension(2) == "text") is False and (Dimension(2) != "text") is True
    with pytest.raises(TypeError):
        Dimension(2) < "text"  # noqa: B015
    with pytest.raises(TypeError, match="unhashable"):
        hash(Dimension(2))


def test_compatible_dimensions():
    assert Dimension(2).is_compatible_with(2) and not Dimension(2).is_compatible_with(3)
    assert Dimension(2).is_compatible_with(None) and Dimension(None).is_compatible_with(Dimension(3))
    Dimension(2).assert_is_compatible_with(2)
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        Dimension(2).assert_is_compatible_with(3)
    assert Dimension(2).merge_with(None).value == 2 and Dimension(None).merge_with(3).value == 3
    assert Dimension(2).merge_with(Dimension(2)).value == 2 and Dimension(None).merge_with(None).value is None
    with pytest.raises(ValueError, match="Dimensions 2 and 4 are not compatible"):
        Dimension(2).merge_with(4)


def test_tensors_of_dimensions():
    assert tf.convert_to_tensor(Dimension(3)).numpy() == 3
    assert tf.convert_to_tensor(Dimension(3)).dtype == tf.int32
    assert tf.convert_to_tensor(Dimension(3), tf.int64).dtype == tf.int64
    with pytest.raises(ValueError, match="unknown"):
        tf.convert_to_tensor(Dimension(None))
