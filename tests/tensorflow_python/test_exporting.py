"""Public names of classes and functions."""

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import exporting


def new_class():
    class Symbol:
        pass

    return Symbol


def test_names_are_registered_in_both_versions():
    Symbol = exporting.tf_export("tests.first", "tests.second", v1=["tests.older"])(new_class())
    for name in ("tests.first", "tests.second", "compat.v1.tests.older"):
        assert exporting.get_symbol_from_name(name) is Symbol
    assert exporting.get_symbol_from_name("tests.older") is None
    assert exporting.get_canonical_name_for_symbol(Symbol) == "tests.first"
    exporting.name_symbol(Symbol, "tests.third")
    assert exporting.get_canonical_name_for_symbol(Symbol) == "tests.first"  # it has a name
    other = new_class()
    exporting.name_symbol(other, "tests.third")
    assert exporting.get_canonical_name_for_symbol(other) == "tests.third"


def test_only_new_names_have_none_in_version_2():
    Symbol = exporting.keras_export(v1=["tests.only_v1"])(new_class())
    assert exporting.get_symbol_from_name("compat.v1.tests.only_v1") is Symbol
    assert exporting.get_canonical_name_for_symbol(Symbol) is None


def test_constants_are_not_registered():
    assert exporting.tf_export("tests.number")(3) == 3
    assert exporting.get_symbol_from_name("tests.number") is None
    exporting.tf_export("tests.number").export_constant(__name__, "number")


@pytest.mark.parametrize(
    ("symbol", "name"),
    [(tf.nn.relu, "nn.relu"), (tf.add, "math.add"), (tf.Variable, "Variable"), (len, None)],
)  # fmt: skip
def test_canonical_names(symbol, name):
    assert exporting.get_canonical_name_for_symbol(symbol) == name
    if name is not None:
        assert exporting.get_symbol_from_name(name) is symbol
        assert exporting.get_canonical_name_for_symbol(symbol, "keras") is None


def test_names_that_are_not_there():
    assert exporting.get_symbol_from_name("math.nothing") is None
    assert exporting.get_symbol_from_name("nothing.math.add") is None


def test_decorators_of_documentation():
    for decorate in (exporting.unchanged, exporting.do_not_generate_docs, exporting.doc_in_current_and_subclasses):
        assert decorate(len) is len


def test_public_names_of_a_module():
    names = exporting.make_all(exporting.__name__)
    assert {"tf_export", "make_all"} < set(names) and not any(name.startswith("_") for name in names)
    assert exporting.remove_undocumented(exporting.__name__, ["x"]) is None
    assert exporting.reveal_undocumented("make_all") is None and exporting.make_all(exporting.__name__) == names
