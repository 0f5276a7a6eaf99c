"""Arguments are converted to the specs of an input signature, in nests too. Recorded from TensorFlow."""

import collections

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.types.spec import VariableSpec

Pair = collections.namedtuple("Pair", "a b")
INTS = tf.TensorSpec([None, None], tf.int64)
VECTOR, SCALAR, TEXT = tf.TensorSpec([None]), tf.TensorSpec([]), tf.TensorSpec([], tf.string)

ACCEPTED = [
    ({"a": INTS}, {"a": [[1, 2]]}, {"a": [[1, 2]]}),
    ({"a": INTS}, {"a": np.array([[1, 2]])}, {"a": [[1, 2]]}),
    ({"a": INTS}, {"a": [[]]}, {"a": [[]]}),
    ({"a": INTS}, collections.OrderedDict(a=[[1]]), {"a": [[1]]}),
    ({"a": tf.TensorSpec([None], tf.float16)}, {"a": [1.5]}, {"a": [1.5]}),
    ({"a": tf.TensorSpec([], tf.bool)}, {"a": True}, {"a": True}),
    ((VECTOR, SCALAR), ([1.0, 2.0], 3.0), ([1.0, 2.0], 3.0)),
    ((VECTOR, SCALAR), ([1, 2], 3), ([1.0, 2.0], 3.0)),
    ((VECTOR, SCALAR), (range(2), 3), ([0.0, 1.0], 3.0)),
    ((VECTOR, SCALAR), ([tf.constant(1.0), 2.0], np.float32(3)), ([1.0, 2.0], 3.0)),
    ((VECTOR, SCALAR), Pair([1.0, 2.0], 3.0), ([1.0, 2.0], 3.0)),
    ([VECTOR, SCALAR], [[1.0, 2.0], 3.0], [[1.0, 2.0], 3.0]),
    (Pair(VECTOR, SCALAR), Pair([1], 2), Pair([1.0], 2.0)),
    ({"x": [SCALAR, (VECTOR, TEXT)]}, {"x": [1, ([1], "s")]}, {"x": [1.0, ([1.0], b"s")]}),
]

REFUSED = [
    ({"a": INTS}, {"a": [1, 2]}, r"Can not cast TensorSpec\(shape=\(2,\)"),
    ({"a": INTS}, {"a": [[1.5, 2]]}, "Cannot convert"),
    ({"a": INTS}, {"a": [[1], [2, 3]]}, "non-rectangular"),
    ({"a": INTS}, {"b": [[1]]}, "has different keys"),
    ({"a": INTS}, 5, "Can not cast 5 to a Dict type"),
    ({"a": INTS}, {"a": tf.constant([[1]])}, "dtype=tf.int32"),
    ({"a": tf.TensorSpec([2])}, {"a": [1.0]}, r"Can not cast TensorSpec\(shape=\(1,\)"),
    ((VECTOR, SCALAR), [[1.0], 2.0], "to tuple type"),
    ((VECTOR, SCALAR), ([1.0],), "to have length of 2"),
    ((VECTOR, SCALAR), ([1j], 2.0), "Cannot convert"),
    ([VECTOR, SCALAR], ([1.0], 2.0), "to list type"),
    (Pair(VECTOR, SCALAR), ([1.0], 2.0), "Cannot cast .* to type"),
]


def values_of(structure):
    return tf.nest.map_structure(lambda t: t.numpy().tolist() if hasattr(t.numpy(), "tolist") else t.numpy(), structure)


@pytest.mark.parametrize(("spec", "value", "expected"), ACCEPTED)
def test_leaves_of_a_structure_are_converted(spec, value, expected):
    f = tf.function(lambda x: x, input_signature=[spec])
    assert values_of(f(value)) == expected
    assert values_of(f.get_concrete_function()(value)) == expected
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize(("spec", "value", "message"), REFUSED)
def test_values_that_do_not_fit(spec, value, message):
    f = tf.function(lambda x: x, input_signature=[spec])
    with pytest.raises(TypeError, match=message):
        f(value)


def test_methods_keywords_and_calls_in_functions():
    class Model(tf.Module):
        @tf.function(input_signature=[(VECTOR, SCALAR)])
        def call(self, pair):
            return pair[0] * pair[1]

    model = Model()
    assert model.call(([1.0, 2.0], 3.0)).numpy().tolist() == [3.0, 6.0]
    assert model.call(pair=([1, 2], 3)).numpy().tolist() == [3.0, 6.0]
    assert tf.function(lambda: model.call(([1.0, 2.0], 3.0)))().numpy().tolist() == [3.0, 6.0]


def test_variables_of_a_signature_are_those_of_the_call():
    f = tf.function(lambda v, x: v + x, input_signature=[VariableSpec([]), SCALAR])
    assert [f(tf.Variable(v), 10.0).numpy() for v in (1.0, 2.0)] == [11.0, 12.0]
    assert f.experimental_get_tracing_count() == 1
