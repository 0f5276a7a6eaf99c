"""Calls of ATen's functions as one op: their text, and what has no text."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.torch.aten import Uncallable, aten, call_of, write_call

A = torch.ops.aten
X = tf.constant([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]])


@pytest.mark.parametrize(
    ("overload", "args", "named"),
    [
        (A.cumsum.default, [X, 1], {}),
        (A.cumsum.default, [X, -2], {"dtype": torch.float64}),
        (A.cat.default, [[X, X], 1], {}),
        (A.clamp.default, [X, None, 3.5], {}),
        (A.topk.default, [X, 2], {"largest": False}),
        (A.full_like.default, [X, True], {"memory_format": torch.preserve_format, "device": torch.device("cpu")}),
        (A.einsum.default, ["ij,kj->ik", [X, X]], {}),
        (A.narrow.default, [X, 1, tf.constant(1), 2], {}),
    ],
)
def test_calls_as_text(overload, args, named):
    text, tensors = write_call(overload, args, named)
    function, own_args, own_named = call_of(text, [t.value for t in tensors])
    assert function is overload
    results = function(*own_args, **own_named)
    plain = [int(a) if isinstance(a, tf.Tensor) and a.shape.rank == 0 else a for a in args]
    expected = overload(*tf.nest.map_structure(lambda a: a.value if isinstance(a, tf.Tensor) else a, plain), **named)
    listed = [list(r) if isinstance(r, tuple) else [r] for r in (results, expected)]
    for mine, theirs in zip(*listed, strict=True):
        assert mine.dtype == theirs.dtype and mine.tolist() == theirs.tolist()


def test_what_has_no_text():
    with pytest.raises(Uncallable, match=r"aten.cumsum.default has an argument of type object"):
        write_call(A.cumsum.default, [X, object()], {})
    with pytest.raises(ValueError, match=r"prims.add.default is no function of ATen"):
        call_of('["prims.add.default", [], {}]', [])


def call(overload, args, named, dtypes, shapes, **options):
    text, tensors = write_call(overload, args, named)
    return aten(tensors, text, dtypes, shapes, **options)


def test_results_and_gradients():
    with tf.GradientTape() as tape:
        tape.watch(X)
        (y,) = call(A.cumsum.default, [X, 1], {}, [tf.float32], [[2, 3]])
        total = tf.reduce_sum(y * [[1.0, 10.0, 100.0]])
    assert y.numpy().tolist() == [[1.0, 6.0, 9.0], [4.0, 6.0, 12.0]]
    assert tape.gradient(total, X).numpy().tolist() == [[111.0, 110.0, 100.0]] * 2


@pytest.mark.parametrize("traced", [False, True])
def test_gradients_of_one_of_several_results(traced):
    def differentiate(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            values, places = call(A.topk.default, [x, 2], {}, [tf.float32, tf.int64], [[2, 2], [2, 2]])
            total = tf.reduce_sum(values * [1.0, 10.0])
        return values, places, tape.gradient(total, x), tape.gradient(tf.cast(places, tf.float32), x) is None

    values, places, gradient, nothing = (tf.function(differentiate) if traced else differentiate)(X)
    assert values.numpy().tolist() == [[5.0, 3.0], [6.0, 4.0]] and places.numpy().tolist() == [[1, 2], [2, 0]]
    assert gradient.numpy().tolist() == [[0.0, 1.0, 10.0], [10.0, 0.0, 1.0]] and nothing


def test_gradients_of_wanted_inputs():
    y = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(y)
        (product,) = call(A.mm.default, [X, y], {}, [tf.float32], [[2, 2]])
    np.testing.assert_allclose(tape.gradient(product, y), [[5.0, 5.0], [7.0, 7.0], [9.0, 9.0]])


def test_infinite_arguments():
    def clamp(x):
        return call(A.clamp.default, [x, 2.0, float("inf")], {}, [tf.float32], [[2, 3]])[0] * 2.0

    for f in (clamp, tf.function(clamp)):
        assert f(X).numpy().tolist() == [[4.0, 10.0, 6.0], [8.0, 4.0, 12.0]]


class Draws(torch.nn.Module):
    def __init__(self, draw):
        super().__init__()
        self.draw = draw

    def forward(self, x):
        return x + self.draw(x)


@pytest.mark.parametrize("draw", [torch.rand_like, lambda x: torch.randint(0, 9, x.shape), lambda x: x.bernoulli()])
def test_random_numbers_are_drawn_again(draw):
    layer = tf.torch.Layer(Draws(draw))
    function = tf.function(lambda x: layer(x))
    x = tf.fill([50], 0.5)
    first, second = function(x), function(x)
    assert not np.array_equal(first, second)
    assert "Draws" in {op.type for op in function.get_concrete_function(x).graph.get_operations()}
