"""Decorators and helpers of tests; the outcomes are TensorFlow's."""

import faulthandler
import gc
import socket
import unittest
from typing import ClassVar

import numpy as np
import pytest
from absl.testing import parameterized

import tapeflow as tf
from tapeflow_compat.tensorflow_python import eager_context
from tapeflow_compat.tensorflow_python.testing import test_util


def outcomes(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return [text.strip().splitlines()[-1] for _, text in [*result.failures, *result.errors]], [
        reason for _, reason in result.skipped
    ]


def is_graph():
    return not tf.executing_eagerly()


# ---- decorators of classes -------------------------------------------------------------------------------------------


def new_case(decorate):
    class Inherited(tf.test.TestCase):
        def test_inherited(self):
            self.ran.append(("inherited", is_graph()))

    class Case(Inherited):
        ran: ClassVar = []
        test_constant = "no test"

        def test_own(self):
            self.ran.append(("own", is_graph()))

        def helper(self):
            self.ran.append("helper")

    return decorate(Case)


@pytest.mark.parametrize(
    ("decorate", "expected"),
    [
        (test_util.run_all_in_deprecated_graph_mode_only, [("inherited", True), ("own", True)]),
        (test_util.deprecated_graph_mode_only, [("inherited", False), ("own", True)]),
        (test_util.run_class_in_v1_v2, [("inherited", True), ("inherited", False), ("own", True), ("own", False)]),
        (test_util.with_control_flow_v2, [("inherited", False), ("own", False)]),
        (test_util.run_all_without_tensor_float_32("reason"), [("inherited", False), ("own", False)]),
    ],
)
def test_a_decorated_class_runs_its_tests(decorate, expected):
    case = new_case(decorate)
    assert outcomes(case)[0] == []
    assert case.ran == expected
    assert case.test_constant == "no test" and not hasattr(case.helper, "__wrapped__")


def test_decorators_of_methods_decorate_the_tests_of_the_class_itself():
    got = []

    def decorator(method, *args, **kwargs):
        got.append((method.__name__, args, kwargs))
        return lambda self: self.ran.append("replaced")

    case = new_case(test_util.for_all_test_methods(decorator, 1, key=2))
    assert outcomes(case)[0] == []
    assert got == [("test_own", (1,), {"key": 2})]
    assert case.ran == [("inherited", False), "replaced"]


def test_a_class_that_is_skipped_is_skipped_in_its_set_up():
    class Base(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            self.ran.append("base")

    class Case(Base):
        ran: ClassVar = []

        def test_one(self):
            self.ran.append("test")

    assert test_util.run_v1_only("old")(Case) is Case
    assert set(outcomes(Case)[1]) == {"old"} and Case.ran == []
    assert test_util.run_v2_only(Base) is Base

    class New(Base):
        ran: ClassVar = []

        def test_one(self):
            self.ran.append("test")

    assert outcomes(New)[1] == ["Not a test."] and New.ran == ["base", "test", "base"]


def test_decorators_that_run_a_test_only_on_a_gpu():
    class Case(tf.test.TestCase):
        @test_util.run_gpu_only
        def test_gpu(self):
            raise AssertionError("ran")

        @test_util.run_cuda_only
        def test_cuda(self):
            raise AssertionError("ran")

        @test_util.run_gpu_or_tpu
        def test_gpu_or_tpu(self):
            raise AssertionError("ran")

    if tf.config.list_physical_devices("GPU"):
        assert set(outcomes(Case)[0]) == {"AssertionError: ran"}
        return
    failures, skips = outcomes(Case)
    assert failures == []
    assert sorted(skips) == [
        "Not a test.", "Test requires CUDA GPU", "Test requires GPU", "Test requires GPU or TPU",
    ]  # fmt: skip


def test_conditions_are_asked_at_each_call():
    ran = []
    holds = [True]
    run = test_util.skip_if(lambda: holds[0])(lambda x, y=0: ran.append((x, y)) or x)
    assert run(1) is None and ran == []
    holds[0] = False
    assert run(2, y=3) == 2 and ran == [(2, 3)]
    assert test_util.skip_if(True)(len)([1]) is None and test_util.skip_if(False)(len)([1]) == 1


def test_all_errors_of_a_class_skip_without_messages():
    case = tf.test.TestCase()
    with pytest.raises(unittest.SkipTest, match="Skipping error: <class 'KeyError'>: 'a'"):  # noqa: SIM117
        with test_util.skip_if_error(case, KeyError):
            raise KeyError("a")
    with pytest.raises(unittest.SkipTest), test_util.skip_if_error(case, LookupError, ["q", "b"]):
        raise KeyError("abc")
    with pytest.raises(TypeError), test_util.skip_if_error(case, KeyError):
        raise TypeError("a")
    with test_util.skip_if_error(case, KeyError):
        pass


# ---- modes -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_objects")
def test_a_test_of_both_versions_runs_on_a_device():
    ran = []

    class Case(tf.test.TestCase):
        @test_util.run_in_v1_v2(device_to_use="/device:CPU:0")
        def test_device(self):
            x = tf.constant(1.0)
            ran.append((is_graph(), x.device.rpartition("/")[2]))

        @test_util.run_in_v1_v2(assert_no_eager_garbage=True)
        def test_leak(self):
            if tf.executing_eagerly():
                ran.append(tf.constant([1.0]))

    failures, _ = outcomes(Case)
    assert len(failures) == 1 and "1 tensors were not deallocated" in failures[0]
    assert ran[:2] == [(True, "device:CPU:0"), (False, "device:CPU:0")]


def test_graph_runs_use_the_configuration_of_the_session():
    seen, config = [], tf.compat.v1.ConfigProto(inter_op_parallelism_threads=3)

    class Case(tf.test.TestCase):
        def test_session(self, **options):
            seen.append(options)
            return super().test_session(**options)

        @test_util.run_in_graph_and_eager_modes(config=config, use_gpu=False)
        def test_config(self):
            seen.append(tf.compat.v1.get_default_session() is not None)

    case = Case("test_config")
    assert case.run().errors == [] and seen == [{"use_gpu": False, "config": config}, True, False]


def test_each_mode_has_a_folder_of_its_own():
    folders = []

    class Case(tf.test.TestCase):
        @test_util.run_in_graph_and_eager_modes
        def test_folder(self):
            folders.append(self.get_temp_dir())

    assert outcomes(Case)[0] == []
    assert len(set(folders)) == 2


@pytest.mark.parametrize(
    ("decorate", "name"),
    [
        (test_util.run_in_graph_and_eager_modes, "run_in_graph_and_eager_modes"),
        (test_util.build_as_function_and_v1_graph, "run_in_graph_mode_and_function"),
        (test_util.with_forward_compatibility_horizons(None), "with_forward_compatibility_horizons"),
    ],
)
def test_decorators_of_methods_refuse_classes(decorate, name):
    with pytest.raises(ValueError, match=f"`{name}` only supports test methods"):
        decorate(tf.test.TestCase)


def test_assertions_in_a_function_are_checked_when_it_runs():
    seen = []

    @test_util.py_func_if_in_function
    def check(first, value, second, message=""):
        seen.append((first, type(value), second, message))
        assert np.all(value == [1.0, 2.0]), message

    check("a", np.array([1.0, 2.0]), "b", message="m")
    assert seen == [("a", np.ndarray, "b", "m")]
    traces = []

    @tf.function
    def function(x):
        check("a", x, x + 0.0, message="wrong")
        traces.append(len(seen))
        return x

    function(tf.constant([1.0, 2.0]))
    assert traces == [1] and len(seen) == 2  # not when it is traced
    first, kind, second, message = seen[1]
    assert (first, kind, second.tolist(), message) == ("a", np.ndarray, [1.0, 2.0], "wrong")
    with pytest.raises(tf.errors.UnknownError, match="AssertionError: wrong"):
        function(tf.constant([1.0, 3.0]))


def test_a_test_has_two_names_for_the_two_modes_of_execution():
    class Case(parameterized.TestCase):
        ran: ClassVar = []

        @test_util.run_in_async_and_sync_mode
        def test_mode(self):
            self.ran.append(self._testMethodName)

    assert outcomes(Case)[0] == []
    assert sorted(Case.ran) == ["test_mode", "test_mode_Async"]


@pytest.mark.parametrize("before", [True, False])
def test_functions_run_eagerly_in_a_scope(before):
    tf.config.run_functions_eagerly(before)
    try:
        for value in (True, False):
            with pytest.raises(KeyError), test_util.run_functions_eagerly(value):
                assert tf.config.functions_run_eagerly() is value
                raise KeyError
            assert tf.config.functions_run_eagerly() is before
    finally:
        tf.config.run_functions_eagerly(False)
    with pytest.raises(ValueError, match="Expected bool for `run_eagerly` but got 1"):  # noqa: SIM117
        with test_util.run_functions_eagerly(1):
            pass


# ---- switches --------------------------------------------------------------------------------------------------------


def test_control_flow_of_version_2_holds_for_a_test():
    enabled = tf.compat.v1.control_flow_v2_enabled
    assert enabled()
    tf.compat.v1.disable_control_flow_v2()
    try:
        assert test_util.enable_control_flow_v2(enabled)() is True
        assert enabled() is False
        with pytest.raises(KeyError):
            test_util.enable_control_flow_v2({}.__getitem__)("a")
        assert enabled() is False
    finally:
        tf.compat.v1.enable_control_flow_v2()
    assert test_util.enable_control_flow_v2(enabled)() is enabled() is True


def test_products_without_tensor_float_32():
    a, b = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 4.0]])
    assert test_util.matmul_without_tf32(a, b, transpose_b=True).numpy().tolist() == [[11.0]]
    assert test_util.matmul_without_tf32(a, b, True).numpy().tolist() == [[3.0, 4.0], [6.0, 8.0]]
    enabled = tf.config.experimental.tensor_float_32_execution_enabled
    assert test_util.run_without_tensor_float_32("reason")(enabled)() is False and enabled() is True
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        assert test_util.run_without_tensor_float_32("reason")(enabled)() is enabled() is False
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)


def test_a_test_runs_once_for_each_horizon():
    ran = []
    decorate = test_util.with_forward_compatibility_horizons(None, (2019, 1, 2), None)
    decorate(lambda *args, **kwargs: ran.append((args, kwargs)))(1, b=2)
    assert ran == [((1,), {"b": 2})] * 3
    with pytest.raises(ValueError, match="Expected at least one horizon"):
        test_util.with_forward_compatibility_horizons()
    for bad in ((2019, 1), (2019, 1, 2, 3), (2019, 1, "2")):
        with pytest.raises(ValueError, match=r"Bad horizon value: \(2019"):
            test_util.with_forward_compatibility_horizons(None, bad)


def test_decorators_about_other_runtimes_leave_tests():
    assert test_util.disable_mlir_bridge("reason")(len) is len
    assert test_util.no_xla_auto_jit()(len) is len
    assert test_util.enable_nested_function_shape_inference(len) is len


# ---- devices and features --------------------------------------------------------------------------------------------


def test_scopes_of_devices():
    name = eager_context.get_device_name
    gpu = "GPU:0" if tf.config.list_physical_devices("GPU") else "CPU:0"
    assert name() == ""
    for scope, expected in (
        (test_util.device(True), gpu), (test_util.device(False), "CPU:0"), (test_util.use_gpu(), gpu),
        (test_util.force_cpu(), "CPU:0"),
    ):  # fmt: skip
        with scope:
            assert name().endswith(f"device:{expected}")
        assert name() == ""


def test_ops_are_deterministic_in_a_scope():
    enabled = eager_context.is_op_determinism_enabled
    assert not enabled()
    with pytest.raises(KeyError), test_util.deterministic_ops():
        assert enabled()
        raise KeyError
    assert not enabled()
    with test_util.deterministic_ops():
        with test_util.deterministic_ops():
            pass
        assert enabled()
    assert not enabled()


def test_parts_that_the_build_lacks():
    for name in ("is_xla_enabled", "is_mlir_bridge_enabled", "is_asan_enabled", "is_tsan_enabled", "IsMklEnabled"):
        assert getattr(test_util, name)() is False
    assert test_util.IsBuiltWithXLA is tf.test.is_built_with_xla


def test_tracebacks_of_signals():
    before = faulthandler.is_enabled()
    faulthandler.disable()
    try:
        test_util.InstallStackTraceHandler()
        assert faulthandler.is_enabled()
    finally:
        (faulthandler.enable if before else faulthandler.disable)()


def test_a_port_that_no_program_uses():
    port = test_util.pick_unused_port()
    assert type(port) is int and 1024 <= port < 65536
    with socket.socket() as listener:
        listener.bind(("", port))


# ---- layouts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "shape", "expected", "order"),
    [
        (test_util.NHWCToNCHW, [2, 3, 5, 8], [2, 8, 3, 5], [0, 3, 1, 2]),
        (test_util.NHWCToNCHW, [2, 3, 5, 7, 8], [2, 8, 3, 5, 7], [0, 4, 1, 2, 3]),
        (test_util.NCHWToNHWC, [2, 8, 3, 5], [2, 3, 5, 8], [0, 2, 3, 1]),
        (test_util.NCHWToNHWC, [2, 8, 3, 5, 7], [2, 3, 5, 7, 8], [0, 2, 3, 4, 1]),
    ],
)
def test_permuted_layouts(change, shape, expected, order):
    assert change(shape) == expected
    x = np.arange(np.prod(shape)).reshape(shape)
    assert change(tf.constant(x)).numpy().tolist() == x.transpose(order).tolist()


@pytest.mark.parametrize("spatial", [[3, 5], [3, 5, 7]])
def test_layouts_of_groups_of_channels(spatial):
    shape = [2, *spatial, 8]
    grouped = [2, 2, *spatial, 4]
    assert test_util.NHWCToNCHW_VECT_C(shape) == grouped and test_util.NCHW_VECT_CToNHWC(grouped) == shape
    x = np.arange(np.prod(shape)).reshape(shape)
    expected = np.moveaxis(x.reshape([2, *spatial, 2, 4]), -2, 1)
    assert test_util.NHWCToNCHW_VECT_C(tf.constant(x)).numpy().tolist() == expected.tolist()
    assert test_util.NCHW_VECT_CToNHWC(tf.constant(expected)).numpy().tolist() == x.tolist()
    assert shape == [2, *spatial, 8]  # the caller's list is unchanged


# ---- graphs ----------------------------------------------------------------------------------------------------------


def graph_def_of(function):
    with tf.Graph().as_default() as graph:
        function()
    return graph.as_graph_def()


def test_graphs_are_equal_or_not():
    one, two = (graph_def_of(lambda v=v: tf.constant(v, name="c")) for v in (1, 2))
    test_util.assert_equal_graph_def(one, one)
    with pytest.raises(AssertionError):
        test_util.assert_equal_graph_def(one, two)


def test_nodes_by_name():
    graph_def = graph_def_of(lambda: (tf.constant(1, name="a"), tf.constant(2, name="b")))
    assert test_util.get_node_def_from_graph("b", graph_def) is graph_def.node[1]
    assert test_util.get_node_def_from_graph("c", graph_def) is None


def test_tapes_of_graphs_take_gradients_of_results():
    with tf.Graph().as_default(), test_util.AbstractGradientTape(use_tape=False) as tape:
        x, y = tf.constant(3.0), tf.constant(5.0)
        found = tape.gradient([x * y], [x, y], [tf.constant(2.0)])
        with tf.compat.v1.Session() as session:
            assert session.run(found) == [10.0, 6.0]
    for persistent in (True, False):
        with test_util.AbstractGradientTape(True, persistent) as tape:
            x = tf.Variable(3.0)
            y = x * x
        assert float(tape.gradient(y, x)) == 6.0
        if persistent:
            assert float(tape.gradient(y, x)) == 6.0
        else:
            with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only be used"):
                tape.gradient(y, x)


def test_a_graph_gets_the_version_of_its_producer():
    graph = tf.Graph()
    test_util.set_producer_version(graph, 21)
    assert graph.get_operations() == []


# ---- objects that a test leaves behind -------------------------------------------------------------------------------


def test_objects_that_cannot_be_freed_fail_a_test():
    left = []

    def run(self, leave):
        if leave:
            left.append(object())
            gc.garbage.append(left[-1])
        return 5

    checked = test_util.assert_no_garbage_created(run)
    assert checked(None, leave=False) == 5
    try:
        with pytest.raises(AssertionError, match=r"The test left 1 objects that can't be freed: \['object'\]"):
            checked(None, True)
    finally:
        gc.garbage[:] = [found for found in gc.garbage if not any(found is o for o in left)]


@pytest.mark.usefixtures("few_objects")
def test_tensors_that_live_on_fail_a_test_in_both_modes():
    kept = []
    keep = test_util.assert_no_new_tensors(lambda self, make: kept.append(make()))
    with pytest.raises(AssertionError, match=r"2 tensors were not deallocated after the test ran: .*Variable"):
        keep(None, lambda: tf.Variable([1.0]))
    keep(None, lambda: 3)
    before = tf.constant(1.0)
    keep(None, lambda: before)  # which lived before
    assert test_util.assert_no_new_tensors(lambda self: is_graph())(None) is False
    with tf.Graph().as_default():
        assert test_util.assert_no_new_tensors(lambda self: is_graph())(None) is True


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize(("warm_up", "runs"), [(0, 4), (1, 4), (3, 6)])
def test_objects_are_counted_after_the_first_runs(warm_up, runs):
    ran = []

    class Case(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            ran.append("setUp")

        @test_util.assert_no_new_pyobjects_executing_eagerly(warm_up)
        def test_runs(self):
            ran.append(tf.executing_eagerly())

    assert outcomes(Case)[0] == []
    assert [name for name in ran if name != "setUp"] == [True] * runs


# ---- combinations ----------------------------------------------------------------------------------------------------


def test_combinations_have_names():
    found = test_util.generate_combinations_with_testcase_name(b=[1, 2], a="x")
    assert found == [
        {"a": "x", "b": 1, "testcase_name": "_test_a_x_b_1"}, {"a": "x", "b": 2, "testcase_name": "_test_a_x_b_2"},
    ]  # fmt: skip
