"""Operators by name; the results are those of TensorFlow 2.21."""

import tapeflow as tf

operators = tf.__operators__


def test_operators_of_tensors():
    x = tf.constant([1, 2])
    assert operators.add(x, [3, 4]).numpy().tolist() == [4, 6]
    assert operators.add(x, 3, name="sum").numpy().tolist() == [4, 5]
    assert operators.eq(x, [1, 3]).numpy().tolist() == [True, False]
    assert operators.ne(x, [1, 3]).numpy().tolist() == [False, True]


def test_items_of_tensors():
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    assert operators.getitem(x, 1).numpy().tolist() == [4, 5, 6]
    assert operators.getitem(x, [1, 2]).numpy() == 6
    assert operators.getitem(x, (slice(None), 0)).numpy().tolist() == [1, 4]


def test_items_of_ragged_tensors():
    ragged = tf.ragged.constant([[1, 2], [3]])
    assert operators.ragged_getitem(ragged, [0, 1]).numpy() == 2
    assert operators.ragged_getitem(ragged, 0).numpy().tolist() == [1, 2]
    assert operators.ragged_getitem(ragged, (slice(None), slice(1))).to_list() == [[1], [3]]


def test_the_names_of_pythons_operators():
    from tapeflow_compat.tensorflow_python import operators as module

    assert sorted(module.OF_PYTHON.values()) == sorted(operators.__all__)
    for function, name in module.OF_PYTHON.items():
        assert function.__name__.strip("_") in (name, "getitem")
