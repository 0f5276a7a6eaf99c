"""Tests that run once for each combination; the outcomes are TensorFlow's."""

import unittest

import pytest
from absl.testing import parameterized

import tapeflow as tf
from tapeflow_compat.tensorflow_python.testing import combinations
from tapeflow_compat.tensorflow_python.testing.combinations import (
    NamedObject,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
    combine,
    generate,
    times,
)


def outcomes(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    errors = [text.strip().splitlines()[-1] for _, text in [*result.failures, *result.errors]]
    return errors, sorted({reason for _, reason in result.skipped} - {"Not a test."})


def test_all_values_are_combined():
    assert combine() == [{}]
    assert combine(b=[1, 2], a="x") == [{"a": "x", "b": 1}, {"a": "x", "b": 2}]
    assert combine(a=[], b=1) == [] and combine(a=(1, 2)) == [{"a": (1, 2)}]
    assert times() == [{}] and times(combine(a=[1, 2])) == combine(a=[1, 2])
    assert times(combine(a=[1, 2]), combine(b=3), combine(c=[4, 5])) == [
        {"a": a, "b": 3, "c": c} for a in (1, 2) for c in (4, 5)
    ]
    with pytest.raises(ValueError, match="Keys need to not overlap"):
        times(combine(a=1), combine(b=1), combine(a=2))


@pytest.mark.parametrize(
    ("combination", "name"),
    [({}, "_test"), ({"a": 1, "mode": "eager"}, "_test_a_1_mode_eager"), ({"a_b": [1.5, "x y"]}, "_test_ab_15xy"),
     ({"x": 0, "f": NamedObject("<f at 0x7fAb>", 1)}, "_test_x_0_f_fat1")],
)  # fmt: skip
def test_names_of_tests(combination, name):
    assert combinations.test_name(combination) == name


def test_named_objects():
    named = NamedObject("name", [3, 1])
    assert repr(named) == "name" and list(named) == [3, 1] and named.index(1) == 1
    assert NamedObject("f", lambda x, y=1: x + y)(2, y=3) == 5


def test_modifiers_are_equal_by_class_and_parameter():
    first, same, other = OptionalParameter("a"), OptionalParameter("a"), OptionalParameter("b")
    assert first == same and hash(first) == hash(same) and first != other and first != ParameterModifier("a")
    assert ParameterModifier().modified_arguments({"a": 1}, ["a"]) == {}
    assert TestCombination().parameter_modifiers() == TestCombination().context_managers({}) == []
    assert TestCombination().should_execute_combination({}) == (True, None)


@pytest.mark.parametrize(
    ("name", "requested", "expected"),
    [("a", ["self", "a"], {}), ("a", ["self"], {"a": ParameterModifier.DO_NOT_PASS_TO_THE_TEST}), (None, [], {})],
)
def test_optional_parameters(name, requested, expected):
    assert OptionalParameter(name).modified_arguments({"a": 1}, requested) == expected


class Twice(TestCombination):
    """Skips odd numbers, runs in a context, and gives tests the double number."""

    entered: list = []  # noqa: RUF012

    def should_execute_combination(self, kwargs):
        return kwargs["n"] % 2 == 0, "odd"

    def parameter_modifiers(self):
        class Double(ParameterModifier):
            def modified_arguments(self, kwargs, requested_parameters):
                Twice.entered.append(list(requested_parameters))
                return {"n": kwargs["n"] * 2}

        return [Double()]

    def context_managers(self, kwargs):
        return [tf.name_scope(f"scope{kwargs['n']}")]


class Never(TestCombination):
    def should_execute_combination(self, kwargs):
        return "never" not in kwargs, "never"

    def parameter_modifiers(self):
        return [OptionalParameter("never")]


def test_arguments_contexts_and_skips():
    ran = []
    Twice.entered.clear()

    class Case(parameterized.TestCase):
        @generate(combine(n=[1, 2, 4], mode="graph"), test_combinations=(*combinations.MODES, Twice(), Never()))
        def test_n(self, n):
            ran.append((n, tf.executing_eagerly(), tf.get_current_name_scope()))

        @generate(combine(n=1, never=True), test_combinations=(Twice(), Never()))
        def test_all_reasons(self, n):
            raise AssertionError

        @generate(combine(n=2, mode="eager", extra=1), test_combinations=(*combinations.MODES, Twice()))
        def test_unknown(self, n):
            raise AssertionError

    errors, skipped = outcomes(Case)
    assert ran == [(4, False, "scope2"), (8, False, "scope4")]
    assert errors == ["ValueError: The test does not take parameters that were passed : {'extra'} ."]
    assert skipped == [" - odd", " - odd\n - never"] and ["self", "n"] in Twice.entered


def test_classes_keep_their_other_members():
    ran = []

    @generate(combine(mode=["graph", "eager"]))
    class Case(tf.test.TestCase):
        test_data = 3

        def test_it(self):
            ran.append((self._testMethodName, tf.executing_eagerly()))

        def helper(self):
            ran.append("helper")

    assert outcomes(Case) == ([], []) and Case.test_data == 3
    assert sorted(ran) == [("test_it_test_mode_eager", True), ("test_it_test_mode_graph", False)]
    assert not hasattr(Case, "test_it")
