"""`tf.debugging.assert_shapes` and checks of ranks: symbols, sizes, and what is no shape."""

import pytest

import tapeflow as tf

check = tf.debugging.assert_shapes
X, Y, S = tf.ones([2, 3, 4]), tf.ones([3]), tf.constant(1.0)

HOLD = [
    [(X, (2, 3, 4)), (Y, [3])],
    [(X, "NDQ"), (Y, "D"), (tf.zeros([4, 2]), "QN")],
    [(S, ())],
    [(X, ("...", "A")), (Y, ("*",)), (S, ("...",))],
    [(X, ("*", 3, None)), (X, (None, "D", ".")), (Y, ("D",))],
    [(S, (1,)), (S, ("N",))],
    [(X, (("a", 1), "b", "c")), (tf.ones([2]), (("a", 1),))],
    [],
]


@pytest.mark.parametrize("shapes", HOLD, ids=range(len(HOLD)))
def test_shapes_that_fit(shapes):
    assert check(shapes) is None
    assert check(tuple(shapes)) is None


FAIL = [
    ([(X, (2, 3, 5))], "must have size 5.*[Rr]eceived size 4"),
    ([(X, (2, 3))], "rank"),
    ([(Y, ())], "rank"),
    ([(X, ("...", 3))], "must have size 3"),
    ([(Y, ("*", 2, "N", 3))], "rank"),
    ([(X, "NDQ"), (Y, "N")], "must have size 2"),
    ([(X, "NDN")], "must have size 2"),
    ([(X, 3)], "Specified shape must be an iterable"),
    ([(X, (2, "...", 4))], "specified shape index 1.*is only allowed as the first entry"),
    ([(X, (2, 3, "*"))], "specified shape index 2.*is only allowed as the first entry"),
]


@pytest.mark.parametrize(("shapes", "message"), FAIL, ids=range(len(FAIL)))
def test_shapes_that_do_not_fit(shapes, message):
    with pytest.raises(ValueError, match=message):
        check(shapes)
    with pytest.raises(ValueError, match=f"(?s)because.*{message}"):
        check(shapes, message="because")


def test_names_are_sizes_of_all_pairs():
    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec(None)])
    def pairs(x, y):
        check([(x, ("N", "D")), (y, ("*", "D", 2))])
        return tf.size(y)

    assert pairs(tf.ones([5, 3]), tf.ones([7, 3, 2])).numpy() == 42
    assert pairs(tf.ones([5, 3]), tf.ones([3, 2])).numpy() == 6
    for wrong in ([7, 4, 2], [3, 3], [2]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            pairs(tf.ones([5, 3]), tf.ones(wrong))


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (tf.debugging.assert_rank, 3, 2), (tf.debugging.assert_rank_at_least, 2, 4),
        (tf.debugging.assert_rank_in, [1, 3], [0, 2]),
    ],
)  # fmt: skip
def test_ranks(function, good, bad):
    function(X, good)
    with pytest.raises(ValueError, match="because"):
        function(X, bad, message="because")
    staged = tf.function(lambda x: (function(x, good), x)[1], input_signature=[tf.TensorSpec(None)])
    assert staged(X).shape == [2, 3, 4]
    with pytest.raises(tf.errors.InvalidArgumentError):
        staged(S)


def test_scalars():
    assert tf.debugging.assert_scalar(S) is None and tf.debugging.assert_scalar(3) is None
    with pytest.raises(ValueError, match=r"because.*Expected scalar shape, saw shape: \(3,\)"):
        tf.debugging.assert_scalar(Y, message="because")
