"""Compilers and attributes of functions."""

import logging

import pytest

import tapeflow as tf
from tapeflow.function.compilers import check_attributes, compiler_of


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"other": 1}, "`other is not supported by tf.function as an attribute"),
        ({"api_implements": "x", "_other": 1}, "`_other is not supported"),
        ({"cuda_graph": 1}, "`cuda_graph` must be True or False, not 1"),
        ({"cuda_graph": None}, "`cuda_graph` must be True or False, not None"),
    ],
)
def test_attributes_that_are_refused(attributes, said):
    with pytest.raises(ValueError, match=said):
        check_attributes(attributes)
    with pytest.raises(ValueError, match=said):
        tf.function(lambda x: x, experimental_attributes=attributes)


def test_attributes_of_tensorflow_have_no_effect():
    attributes = {"_noinline": True, "cuda_graph": False, "api_implements": "f", "go_backwards": 1}
    check_attributes(attributes)
    assert int(tf.function(lambda x: x + 1, experimental_attributes=attributes)(tf.constant(2))) == 3


def test_compilers(caplog):
    assert compiler_of("f", False, False) is None
    assert compiler_of("f", True, False) is not None
    with caplog.at_level(logging.WARNING, "tensorflow"):
        assert compiler_of("f", False, True) is None
        assert compiler_of("f", True, True) is not None
    assert [r.getMessage() for r in caplog.records] == [
        "tf.function f: cuda_graph=True has no effect, because there is no GPU here."
    ] * 2


@pytest.mark.parametrize(
    ("options", "compiled"),
    [
        ({}, False),
        ({"jit_compile": False}, False),
        ({"jit_compile": True}, True),
        ({"experimental_compile": True}, True),
        ({"experimental_compile": False}, False),
    ],
)
def test_options_of_functions(options, compiled):
    concrete = tf.function(lambda x: x * 2.0 + 1.0, **options).get_concrete_function(tf.TensorSpec([3]))
    assert (concrete.explain_jit_compile() != "not compiled: it has no jit_compile=True") is compiled
    assert concrete(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [3.0, 5.0, 7.0]


def test_a_compiler_is_chosen_once():
    for value in (True, False):
        with pytest.raises(ValueError, match="Cannot specify both 'experimental_compile' and 'jit_compile'"):
            tf.function(lambda x: x, jit_compile=True, experimental_compile=value)
