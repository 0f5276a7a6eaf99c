"""What libraries' tests are written with."""

import importlib
import unittest

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import eager_context

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


# ---- `tensorflow.python.framework.test_util`: the outcomes are TensorFlow's ------------------------------------------

test_util = importlib.import_module("tapeflow_compat.tensorflow_python.testing.test_util")


def test_all_tests_of_a_class_run_in_both_modes():
    ran = []

    @test_util.run_all_in_graph_and_eager_modes
    class Case(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            ran.append("setUp")

        def test_modes(self):
            ran.append(tf.executing_eagerly())
            self.assertAllClose(self.evaluate(tf.square(3.0)), 9.0)

        def test_variables(self):
            v = tf.compat.v1.get_variable("v", [], initializer=tf.compat.v1.ones_initializer())
            self.evaluate(tf.compat.v1.global_variables_initializer())
            assert self.evaluate(v) == 1.0

        def testSkipEager(self):
            ran.append("once")

        def test_that_skips_the_graph(self):
            if not tf.executing_eagerly():
                self.skipTest("graph")
            ran.append("eager")

    assert outcomes(Case) == ([], ["Not a test.", "graph"])
    tests = [["once"], [False, "setUp", True], ["setUp"], ["setUp", "eager"], ["setUp"]]
    assert [name for name in ran if name != "setUp"] == [n for names in tests for n in names if n != "setUp"]
    assert ran.count("setUp") == 8


def test_an_error_in_either_mode_fails():
    class Case(tf.test.TestCase):
        @test_util.run_in_graph_and_eager_modes
        def test_graph(self):
            if not tf.executing_eagerly():
                self.fail("in the graph")

        @test_util.run_in_graph_and_eager_modes()
        def test_eager(self):
            if tf.executing_eagerly():
                self.fail("eagerly")

        @test_util.run_in_graph_and_eager_modes(use_gpu=False)
        def test_device(self):
            assert tf.constant(1.0).device.endswith("CPU:0") or not tf.executing_eagerly()

    failures, _ = outcomes(Case)
    ends = [text.strip().splitlines()[-1] for _, text in failures]
    assert ends == ["AssertionError: eagerly", "AssertionError: in the graph"]
    with pytest.raises(ValueError, match="Did you mean to use `run_all_in_graph_and_eager_modes`"):
        test_util.run_in_graph_and_eager_modes(Case)


def test_tests_of_other_versions_and_devices_are_skipped():
    ran = []

    class Case(tf.test.TestCase):
        @test_util.run_v1_only("old")
        def test_old(self):
            ran.append("old")

        @test_util.run_v1_only()
        def test_older(self):
            ran.append("older")

        @test_util.run_v2_only
        def test_new(self):
            ran.append("new")

        @test_util.run_v2_only(reason="newer")
        def test_newer(self):
            ran.append("newer")

        @test_util.skip_if(lambda: True)
        def test_left_out(self):
            ran.append("left out")

        @test_util.skip_if(False)
        def test_not_left_out(self):
            ran.append("not left out")

        def test_errors_skip(self):
            with test_util.skip_if_error(self, ValueError, "abc"):
                raise ValueError("xabcx")

        @test_util.disable_xla("no reason")
        def test_xla(self):
            ran.append("xla")

    @test_util.run_v1_only("a class of old tests")
    class Old(tf.test.TestCase):
        def test_old(self):
            ran.append("old")

    skips = ["Not a test.", "Skipping error: <class 'ValueError'>: xabcx", "Test is only compatible with v1", "old"]
    assert [sorted(found) for found in outcomes(Case)] == [[], skips]
    assert sorted(ran) == ["new", "newer", "not left out", "xla"]
    assert set(outcomes(Old)[1]) == {"a class of old tests"}
    with pytest.raises(ValueError, match="xbcx"), test_util.skip_if_error(Case(), ValueError, ["q", "abc"]):
        raise ValueError("xbcx")


def test_tests_that_build_graphs():
    parameterized = pytest.importorskip("absl.testing.parameterized")
    ran = []

    @test_util.deprecated_graph_mode_only
    class Case(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            self.one = tf.constant(1.0)

        def test_session(self):
            with self.cached_session():
                ran.append(float(self.one.eval() + (self.one + 1).eval()))

        test_session_of_a_graph = test_session

    class Both(parameterized.TestCase, tf.test.TestCase):
        @test_util.build_as_function_and_v1_graph
        def test_build(self):
            ran.append((tf.inside_function(), tf.executing_eagerly()))

        @test_util.also_run_as_tf_function
        def test_function(self):
            ran.append(tf.inside_function())
            self.assertAllEqual(tf.constant([1]) + 1, [2])

        @parameterized.named_parameters(*test_util.generate_combinations_with_testcase_name(a=[1, 2], b="x"))
        def test_names(self, a, b):
            ran.append((self._testMethodName, a, b))

    assert outcomes(Case)[0] == outcomes(Both)[0] == []
    assert ran == [3.0, 3.0, (True, False), (False, False), False, True,
                   ("test_names_test_a_1_b_x", 1, "x"), ("test_names_test_a_2_b_x", 2, "x")]  # fmt: skip
    with tf.Graph().as_default():
        with eager_context.eager_mode():
            assert tf.executing_eagerly() and float(tf.constant(2.0) + 1) == 3.0
        assert not tf.executing_eagerly()


def test_switches_hold_for_a_test():
    config = tf.config.experimental
    product = test_util.run_without_tensor_float_32("")(config.tensor_float_32_execution_enabled)
    assert (product(), config.tensor_float_32_execution_enabled()) == (False, True)
    with test_util.run_functions_eagerly(True):
        assert tf.config.functions_run_eagerly()
    assert not tf.config.functions_run_eagerly()
    for scope in (test_util.use_gpu, test_util.force_cpu, lambda: test_util.device(use_gpu=False)):
        with scope():
            assert float(tf.constant(1.0)) == 1.0


@pytest.mark.usefixtures("few_objects")
def test_objects_that_a_test_leaves_behind():
    kept = []

    class Case(tf.test.TestCase):
        @test_util.assert_no_new_tensors
        def test_tensors(self):
            self.assertAllEqual(tf.constant([1.0]) + 2, [3.0])

        @test_util.run_in_graph_and_eager_modes(assert_no_eager_garbage=True)
        def test_that_keeps_a_tensor(self):
            kept.append(tf.constant([1.0]))

        @test_util.assert_no_new_pyobjects_executing_eagerly()
        def test_objects(self):
            self.assertAllEqual(tf.constant(1.0) + 1, 2.0)

        @test_util.assert_no_new_pyobjects_executing_eagerly(1)
        def test_that_keeps_objects(self):
            kept.append([1])

    failures, _ = outcomes(Case)
    messages = sorted(text.strip().splitlines()[-1] for _, text in failures)
    assert len(messages) == 2
    assert "1 tensors were not deallocated" in messages[0] and "leaves objects behind" in messages[1]


def test_layouts_of_images():
    x = tf.reshape(tf.range(2 * 3 * 5 * 8), [2, 3, 5, 8])
    for change, shape in (
        (test_util.NHWCToNCHW, [2, 8, 3, 5]), (test_util.NCHWToNHWC, [2, 5, 8, 3]),
        (test_util.NHWCToNCHW_VECT_C, [2, 2, 3, 5, 4]),
    ):  # fmt: skip
        assert change(x).shape.as_list() == change([2, 3, 5, 8]) == shape
    assert test_util.NCHW_VECT_CToNHWC([2, 3, 5, 6, 4]) == [2, 5, 6, 12]
    assert bool(tf.reduce_all(test_util.NCHW_VECT_CToNHWC(test_util.NHWCToNCHW_VECT_C(x)) == x))
    with pytest.raises(ValueError, match="evenly divisible by 4"):
        test_util.NHWCToNCHW_VECT_C([1, 1, 1, 3])


def test_nodes_and_gradients_of_graphs():
    graph = tf.Graph()
    with graph.as_default(), test_util.AbstractGradientTape(use_tape=False) as tape:
        w = tf.constant(3.0, name="w")
        gradient, gradients = tape.gradient(tf.add(w * w, w, name="y"), w), tape.gradient(w, [w])
        with tf.compat.v1.Session() as session:
            assert (session.run(gradient), session.run(gradients)) == (7.0, [1.0])
    assert sorted(test_util.assert_ops_in_graph({"w": "Const", "y": "AddV2"}, graph)) == ["w", "y"]
    with pytest.raises(ValueError, match="is different"):
        test_util.assert_ops_in_graph({"w": "Add"}, graph)
    with pytest.raises(ValueError, match="Not all expected ops are present"):
        test_util.assert_ops_in_graph({"z": "Add"}, graph)
    assert test_util.get_node_def_from_graph("y", graph.as_graph_def()).op == "AddV2"
    with test_util.AbstractGradientTape(use_tape=True) as tape:
        tape.watch(w := tf.constant(3.0))
        y = w * w
    assert float(tape.gradient(y, w)) == 6.0
