"""What libraries' tests are written with."""

import unittest

import pytest

import tapeflow as tf

combinations = tf.__internal__.test.combinations
MODES = combinations.combine(mode=["eager", "graph"])


def outcomes(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return [*result.failures, *result.errors], [reason for _, reason in result.skipped]


def test_combinations():
    both = combinations.times(combinations.combine(b=1, a=["x", "y"]), combinations.combine(c=[2, 3]))
    assert both == [{"a": a, "b": 1, "c": c} for a in "xy" for c in (2, 3)] and list(both[0]) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="Keys need to not overlap"):
        combinations.times(combinations.combine(a=1), combinations.combine(a=2))
    named = combinations.NamedObject("three", [3])
    assert (str(named), list(named), named.count(3)) == ("three", [3], 1)


def test_a_class_of_tests_runs_in_each_mode():
    ran = []

    @combinations.generate(MODES)
    class Case(tf.test.TestCase):
        def test_mode(self):
            ran.append(tf.executing_eagerly())

    assert {n for n in vars(Case) if n.startswith("test")} == {"test_mode_test_mode_eager", "test_mode_test_mode_graph"}
    assert outcomes(Case) == ([], ["Not a test."]) and ran == [True, False]


def test_a_test_runs_with_each_argument():
    parameterized = pytest.importorskip("absl.testing.parameterized")
    ran = []

    class Twice(combinations.TestCombination):
        def should_execute_combination(self, kwargs):
            return kwargs["n"] > 0, "not positive"

        def parameter_modifiers(self):
            class Doubled(combinations.ParameterModifier):
                def modified_arguments(self, kwargs, requested_parameters):
                    return {"n": 2 * kwargs["n"]}

            return [Doubled(), Doubled("other")][:1]

    class Case(parameterized.TestCase):
        @combinations.generate(combinations.combine(n=[0, 1, 2], tf_api_version=2), test_combinations=(Twice(),))
        def test_n(self, n, tf_api_version):
            ran.append(n)

        @combinations.generate(combinations.combine(n=[1], tf_api_version=1))
        def test_old(self, n):
            ran.append("old")

        @combinations.generate(combinations.combine(n=[1]))
        def test_fails(self, m):
            ran.append("fails")

    failures, skipped = outcomes(Case)
    assert ran == [2, 4] and skipped == [" - not positive", " - Skipping a TF1.x test when TF2 is enabled."]
    assert len(failures) == 1 and "requires parameters whose arguments were not passed: {'m'}" in failures[0][1]
    with pytest.raises(ValueError, match=r"Argument 'mode' must be either 'eager' or 'graph'\. Received: fast"):
        combinations.generate.keywords["test_combinations"][0].context_managers({"mode": "fast"})
