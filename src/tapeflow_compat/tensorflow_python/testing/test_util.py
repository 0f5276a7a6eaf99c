"""`tensorflow.python.framework.test_util`: decorators that say in which modes a test runs, and helpers of tests."""

from __future__ import annotations

import collections
import contextlib
import faulthandler
import functools
import gc
import socket
import unittest
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from absl.testing import parameterized

import tapeflow as tf
from tapeflow.core.ops.convert import scalars
from tapeflow.core.types.aliases import TensorLike
from tapeflow_compat.tensorflow_python.eager_context import eager_mode, graph_mode
from tapeflow_compat.tensorflow_python.testing.combinations import combine, test_name

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tapeflow.graph.ir.graph import Graph

Decorator = Callable[[Any], Any]

# ---- decorators of methods and of classes ----------------------------------------------------------------------------


def for_all_test_methods(decorator: Callable[..., Any], *args: Any, **kwargs: Any) -> Decorator:
    """Returns a decorator of a class that decorates the tests which the class itself defines.

    Args:
        decorator: the decorator of a test.
        *args, **kwargs: more arguments for it.
    """

    def decorate_class(cls: type) -> type:
        for name, method in list(vars(cls).items()):
            if callable(method) and name.startswith(unittest.TestLoader.testMethodPrefix):
                setattr(cls, name, decorator(method, *args, **kwargs))
        return cls

    return decorate_class


def _decorate_all_tests(cls: type, decorator: Decorator, prefixes_left_out: tuple[str, ...] = ()) -> type:
    """Decorates all tests of a class, inherited ones too."""
    for name in dir(cls):
        is_test = name.startswith(unittest.TestLoader.testMethodPrefix) and name != "test_session"
        if is_test and not name.startswith(prefixes_left_out) and callable(getattr(cls, name)):
            setattr(cls, name, decorator(getattr(cls, name)))
    return cls


def _run_between(cls: type, decorator: Decorator) -> type:
    """Decorates the `setUp` that a class has, so that a skip there skips all of its tests."""
    setup = next((vars(c)["setUp"] for c in cls.__mro__ if "setUp" in vars(c)), None)
    if setup is not None:
        cls.setUp = decorator(setup)  # type: ignore[attr-defined]
    return cls


def _skip_unless(condition: Callable[[], bool], reason: str) -> Decorator:
    """Returns a decorator of a test or of a class of tests, which are skipped where a condition does not hold."""

    def decorate(test: Any) -> Any:
        if isinstance(test, type):
            return _run_between(test, decorate)

        @functools.wraps(test)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not condition():
                self.skipTest(reason)
            return test(self, *args, **kwargs)

        return run

    return decorate


def _has_gpu() -> bool:
    return bool(tf.config.list_physical_devices("GPU"))


def run_v1_only(reason: str | None = None, func: Callable[..., Any] | None = None) -> Any:
    """Decorates a test, or a class of tests, of TensorFlow 1: it is skipped.

    Args:
        reason: the reason that the skip shows.
        func: the test; None returns a decorator.
    """
    decorate = _skip_unless(lambda: False, reason or "Test is only compatible with v1")
    return decorate if func is None else decorate(func)


def run_v2_only(func: Callable[..., Any] | None = None, reason: str | None = None) -> Any:
    """Decorates a test, or a class of tests, of TensorFlow 2: it runs.

    Args:
        func: the test; None returns a decorator.
        reason: the reason that a skip would show.
    """
    decorate = _skip_unless(lambda: True, reason or "Test is only compatible with v2")
    return decorate if func is None else decorate(func)


run_gpu_only = _skip_unless(_has_gpu, "Test requires GPU")
run_cuda_only = _skip_unless(lambda: _has_gpu() and tf.test.is_built_with_cuda(), "Test requires CUDA GPU")
run_gpu_or_tpu = _skip_unless(_has_gpu, "Test requires GPU or TPU")


def skip_if(condition: Callable[[], bool] | bool) -> Decorator:
    """Returns a decorator of a function that is not called where a condition holds.

    Args:
        condition: a bool, or a function that returns one at each call.
    """

    def decorate(test: Any) -> Any:
        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> Any:
            holds = condition() if callable(condition) else condition
            return None if holds else test(*args, **kwargs)

        return run

    return decorate


@contextlib.contextmanager
def skip_if_error(
    test_obj: unittest.TestCase, error_type: type[Exception], messages: str | list[str] | None = None
) -> Iterator[None]:
    """Returns a scope whose errors of a class skip a test.

    Args:
        test_obj: the test.
        error_type: the class.
        messages: parts of messages; only errors with one of them skip the test. None for all errors of the class.
    """
    texts = [messages] if isinstance(messages, str) else messages or []
    try:
        yield
    except error_type as error:
        if texts and not any(text in str(error) for text in texts):
            raise
        test_obj.skipTest(f"Skipping error: {type(error)}: {error}")


# ---- modes -----------------------------------------------------------------------------------------------------------


def run_in_graph_and_eager_modes(
    func: Callable[..., Any] | None = None,
    config: Any = None,
    use_gpu: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:
    """Decorates a test that runs twice: with a graph and its session, and eagerly. It is set up anew between the two.

    Args:
        func: the test; None returns a decorator.
        config: a `tf.compat.v1.ConfigProto` for the session.
        use_gpu: False to place all ops on the CPU.
        assert_no_eager_garbage: True to fail if the eager run leaves tensors or reference cycles behind.

    Raises:
        ValueError: `func` is a class.
    """

    def decorate(test: Any) -> Any:
        if isinstance(test, type):
            raise ValueError(
                "`run_in_graph_and_eager_modes` only supports test methods. "
                "Did you mean to use `run_all_in_graph_and_eager_modes`?"
            )

        def run_eagerly(self: Any, *args: Any, **kwargs: Any) -> None:
            with contextlib.nullcontext() if use_gpu else tf.device("/device:CPU:0"):
                test(self, *args, **kwargs)

        if assert_no_eager_garbage:
            run_eagerly = assert_no_new_tensors(assert_no_garbage_created(run_eagerly))

        @functools.wraps(test)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            with contextlib.suppress(unittest.SkipTest), graph_mode(), self.subTest("graph_mode"):  # noqa: SIM117
                with self.test_session(use_gpu=use_gpu, config=config):
                    test(self, *args, **kwargs)
            self.tearDown()
            self._folder = None
            with tf.Graph().as_default(), eager_mode(), self.subTest("eager_mode"):
                self.setUp()
                run_eagerly(self, *args, **kwargs)

        return run

    return decorate if func is None else decorate(func)


def run_all_in_graph_and_eager_modes(cls: type) -> type:
    """Decorates a class of tests that run twice, see `run_in_graph_and_eager_modes`.

    Args:
        cls: the class. Its tests whose names begin with `testSkipEager` or `test_skip_eager` run once, unchanged.
    """
    return _decorate_all_tests(cls, run_in_graph_and_eager_modes, ("testSkipEager", "test_skip_eager"))


def deprecated_graph_mode_only(func: Callable[..., Any]) -> Any:
    """Decorates a test, or a class of tests, that runs while a graph is built.

    Args:
        func: the test or the class.
    """
    if isinstance(func, type):
        if "setUp" in vars(func):
            func.setUp = deprecated_graph_mode_only(func.setUp)  # type: ignore[attr-defined]
        return for_all_test_methods(deprecated_graph_mode_only)(func)

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        with graph_mode():
            return func(*args, **kwargs)

    return run


run_deprecated_v1 = deprecated_graph_mode_only


def run_all_in_deprecated_graph_mode_only(cls: type) -> type:
    """Decorates a class of tests that all run while a graph is built, inherited ones too.

    Args:
        cls: the class.
    """
    return _decorate_all_tests(cls, deprecated_graph_mode_only)


def run_in_v1_v2(device_to_use: str | None = None, assert_no_eager_garbage: bool = False) -> Decorator:
    """Returns a decorator of a test that runs twice: as in TensorFlow 1 with a graph, and as in TensorFlow 2.

    Args:
        device_to_use: the device for all ops.
        assert_no_eager_garbage: see `run_in_graph_and_eager_modes`.
    """

    def decorate(test: Any) -> Any:
        @functools.wraps(test)
        def on_device(self: Any, *args: Any, **kwargs: Any) -> None:
            with tf.device(device_to_use):
                test(self, *args, **kwargs)

        return run_in_graph_and_eager_modes(on_device, assert_no_eager_garbage=assert_no_eager_garbage)

    return decorate


def run_class_in_v1_v2(cls: type) -> type:
    """Decorates a class of tests that run twice, see `run_in_v1_v2`.

    Args:
        cls: the class.
    """
    return _decorate_all_tests(cls, run_in_v1_v2())


def build_as_function_and_v1_graph(func: Callable[..., Any]) -> Any:
    """Decorates a test that builds a graph: it runs in a plain graph, and in the trace of a `tf.function`.

    Args:
        func: a method of a `parameterized.TestCase`.

    Raises:
        ValueError: `func` is a class.
    """
    if isinstance(func, type):
        raise ValueError("`run_in_graph_mode_and_function` only supports test methods.")

    @parameterized.named_parameters(("_v1_graph", "v1_graph"), ("_function", "function"))
    @functools.wraps(func)
    def run(self: Any, run_mode: str, *args: Any, **kwargs: Any) -> None:
        with tf.Graph().as_default():
            if run_mode == "v1_graph":
                func(self, *args, **kwargs)
                return
            with eager_mode():
                tf.function(lambda: [func(self, *args, **kwargs), None][1], autograph=False)()

    return run


def also_run_as_tf_function(f: Callable[..., Any]) -> Callable[..., None]:
    """Decorates a test that runs twice: eagerly, and in a `tf.function`. It creates no variables.

    Args:
        f: the test.
    """

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> None:
        def body() -> None:
            f(*args, **kwargs)

        with eager_mode():
            body()
            tf.function(body, autograph=False)()

    return run


def py_func_if_in_function(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates an assertion: while a function is traced, it is checked when the function runs.

    Args:
        f: the assertion; it gets arrays for tensors then.
    """

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        if not tf.inside_function():
            return f(*args, **kwargs)
        places = [i for i, arg in enumerate(args) if isinstance(arg, (tf.Tensor, tf.Variable))]

        def check(*arrays: Any) -> None:
            values = dict(zip(places, arrays, strict=True))
            f(*[values.get(i, arg) for i, arg in enumerate(args)], **kwargs)

        return tf.numpy_function(check, [args[i] for i in places], [])

    return run


def run_in_async_and_sync_mode(f: Any) -> Any:
    """Decorates a test of two names. Both run the same way: eager ops are synchronous to Python.

    Args:
        f: a method of a `parameterized.TestCase`.
    """

    @parameterized.named_parameters([("Async", True), ("", False)])
    @functools.wraps(f)
    def run(self: Any, async_mode: bool, *args: Any, **kwargs: Any) -> None:
        f(self, *args, **kwargs)

    return run


@contextlib.contextmanager
def run_functions_eagerly(run_eagerly: bool) -> Iterator[None]:
    """Returns a scope of `tf.config.run_functions_eagerly`.

    Args:
        run_eagerly: True to run the Python code of functions.

    Raises:
        ValueError: `run_eagerly` is no bool.
    """
    if not isinstance(run_eagerly, bool):
        raise ValueError(f"Expected bool for `run_eagerly` but got {run_eagerly}")
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(run_eagerly)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


# ---- switches --------------------------------------------------------------------------------------------------------


def _run_with_switch(switch: Callable[[bool], None], value: bool, before: Callable[[], bool]) -> Decorator:
    """Returns a decorator of a test that runs with a switch on or off."""

    def decorate(test: Any) -> Any:
        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> Any:
            old = before()
            switch(value)
            try:
                return test(*args, **kwargs)
            finally:
                switch(old)

        return run

    return decorate


def _set_control_flow_v2(on: bool) -> None:
    (tf.compat.v1.enable_control_flow_v2 if on else tf.compat.v1.disable_control_flow_v2)()


enable_control_flow_v2 = _run_with_switch(_set_control_flow_v2, True, lambda: tf.compat.v1.control_flow_v2_enabled())


def with_control_flow_v2(cls: type) -> type:
    """Decorates a class of tests that run with functional control flow, which is the default.

    Args:
        cls: the class.
    """
    return for_all_test_methods(enable_control_flow_v2)(cls)


def run_without_tensor_float_32(description: str) -> Decorator:
    """Returns a decorator of a test that runs without TensorFloat-32.

    Args:
        description: the reason; it is not used.
    """
    config = tf.config.experimental
    return _run_with_switch(
        config.enable_tensor_float_32_execution, False, lambda: config.tensor_float_32_execution_enabled()
    )


def run_all_without_tensor_float_32(description: str) -> Decorator:
    """Returns a decorator of a class of tests that run without TensorFloat-32.

    Args:
        description: the reason; it is not used.
    """
    return for_all_test_methods(run_without_tensor_float_32(description))


def matmul_without_tf32(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns a product that is computed without TensorFloat-32.

    Args:
        a, b: the factors.
        *args, **kwargs: more arguments of `tf.matmul`.
    """
    return run_without_tensor_float_32("")(tf.matmul)(a, b, *args, **kwargs)


def with_forward_compatibility_horizons(*horizons: tuple[int, int, int] | None) -> Decorator:
    """Returns a decorator of a test that runs with each date as that of the programs which read what it writes.

    Args:
        *horizons: dates as year, month and day; None for no date.

    Raises:
        ValueError: there are none, or one is no date.
    """
    if not horizons:
        raise ValueError("Expected at least one horizon.")
    for horizon in horizons:
        if horizon is not None and (len(horizon) != 3 or not all(isinstance(n, int) for n in horizon)):
            raise ValueError(f"Bad horizon value: {horizon!r}")

    def decorate(test: Any) -> Any:
        if isinstance(test, type):
            raise ValueError("`with_forward_compatibility_horizons` only supports test methods.")

        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> None:
            for _ in horizons:  # one version writes what every program reads
                test(*args, **kwargs)

        return run

    return decorate


def _unchanged(test: Any) -> Any:
    """Returns a test unchanged: it is about a part of TensorFlow's runtime that is not here."""
    return test


def _leaves_tests(*_: Any) -> Decorator:
    """Returns a decorator that leaves a test as it is: it is about a part of TensorFlow's runtime that is not here."""
    return _unchanged


enable_c_shapes = with_c_shapes = enable_output_all_intermediates = enable_nested_function_shape_inference = _unchanged
enable_quantized_dtypes_training = enable_graph_building_optimization = enable_eager_op_as_function = _unchanged
add_graph_building_optimization_tests = disable_cudnn_autotune = _unchanged
disable_xla = disable_mlir_bridge = disable_asan = disable_msan = disable_tsan = disable_ubsan = _leaves_tests
disable_tfrt = disable_control_flow_v2 = disable_eager_op_as_function = no_xla_auto_jit = _leaves_tests
xla_allow_fallback = enable_tf_xla_constant_folding = set_xla_env_flag = _leaves_tests

# ---- devices and features --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """Returns a scope whose ops run on the first GPU, if there is one, or on the CPU.

    Args:
        use_gpu: True for the GPU.
    """
    with tf.device("/device:GPU:0" if use_gpu and _has_gpu() else "/device:CPU:0"):
        yield


@contextlib.contextmanager
def use_gpu() -> Iterator[None]:
    """Returns a scope whose ops run on the first GPU, if there is one."""
    with device(True):
        yield


@contextlib.contextmanager
def force_gpu() -> Iterator[None]:
    """Returns a scope whose ops run on the first GPU, which must be there."""
    with tf.device("/device:GPU:0"):
        yield


@contextlib.contextmanager
def force_cpu() -> Iterator[None]:
    """Returns a scope whose ops run on the CPU."""
    with tf.device("/device:CPU:0"):
        yield


@contextlib.contextmanager
def deterministic_ops() -> Iterator[None]:
    """Returns a scope whose ops are deterministic."""
    from tapeflow_compat.tensorflow_python import eager_context

    before = eager_context.is_op_determinism_enabled()
    tf.config.experimental.enable_op_determinism()
    try:
        yield
    finally:
        if not before:
            eager_context.disable_op_determinism()


def _no() -> bool:
    """Returns False: the build has no such part."""
    return False


is_xla_enabled = is_mlir_bridge_enabled = is_asan_enabled = is_msan_enabled = is_tsan_enabled = is_ubsan_enabled = _no
IsMklEnabled = IsBuiltWithNvcc = _no
IsGoogleCudaEnabled = tf.test.is_built_with_cuda
IsBuiltWithROCm = tf.test.is_built_with_rocm
IsBuiltWithXLA = tf.test.is_built_with_xla
GpuSupportsHalfMatMulAndConv = tf.test.is_built_with_cuda
IsCPUTargetAvailable = tf.test.is_cpu_target_available


def InstallStackTraceHandler() -> None:
    """Makes the process print a traceback when a signal ends it."""
    faulthandler.enable()


def pick_unused_port() -> int:
    """Returns the number of a port that no program of this machine uses now."""
    with socket.socket() as listener:
        listener.bind(("", 0))
        return int(listener.getsockname()[1])


# ---- layouts ---------------------------------------------------------------------------------------------------------


def _permuted(shape_or_tensor: Any, order: list[int]) -> Any:
    if isinstance(shape_or_tensor, tf.Tensor):
        return tf.transpose(shape_or_tensor, order)
    return [shape_or_tensor[axis] for axis in order]


def _rank_of(shape_or_tensor: Any) -> int:
    return len(shape_or_tensor.shape if isinstance(shape_or_tensor, tf.Tensor) else shape_or_tensor)


def NHWCToNCHW(input_tensor: TensorLike) -> Any:
    """Returns a tensor, or a shape, of channels last with the channels first.

    Args:
        input_tensor: a tensor of rank 4 or 5, or its shape as a list.
    """
    rank = _rank_of(input_tensor)
    return _permuted(input_tensor, [0, rank - 1, *range(1, rank - 1)])


def NCHWToNHWC(input_tensor: TensorLike) -> Any:
    """Returns a tensor, or a shape, of channels first with the channels last.

    Args:
        input_tensor: a tensor of rank 4 or 5, or its shape as a list.
    """
    return _permuted(input_tensor, [0, *range(2, _rank_of(input_tensor)), 1])


def NHWCToNCHW_VECT_C(input_shape_or_tensor: Any) -> Any:
    """Returns a tensor, or a shape, of channels last with groups of four channels in two dimensions.

    Args:
        input_shape_or_tensor: a tensor of rank 4 or 5, or its shape as a list.

    Raises:
        ValueError: the number of channels is no multiple of 4.
    """
    is_tensor = isinstance(input_shape_or_tensor, tf.Tensor)
    shape = [int(n) for n in (input_shape_or_tensor.shape if is_tensor else input_shape_or_tensor)]
    if shape[-1] % 4:
        raise ValueError("Last dimension of input must be evenly divisible by 4 to convert to NCHW_VECT_C.")
    shape[-1:] = [shape[-1] // 4, 4]
    rank = len(shape)
    order = [0, rank - 2, *range(1, rank - 2), rank - 1]
    return _permuted(tf.reshape(input_shape_or_tensor, shape) if is_tensor else shape, order)


def NCHW_VECT_CToNHWC(input_shape_or_tensor: TensorLike) -> Any:
    """Returns a tensor, or a shape, of groups of four channels in two dimensions with the channels last.

    Args:
        input_shape_or_tensor: a tensor of rank 5 or 6, or its shape as a list.
    """
    rank = _rank_of(input_shape_or_tensor)
    permuted = _permuted(input_shape_or_tensor, [0, *range(2, rank - 1), 1, rank - 1])
    if not isinstance(permuted, tf.Tensor):
        return [*permuted[:-2], permuted[-2] * permuted[-1]]
    return tf.reshape(permuted, [*permuted.shape[:-2], permuted.shape[-2] * permuted.shape[-1]])


# ---- graphs ----------------------------------------------------------------------------------------------------------


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Graph) -> dict[str, Any]:
    """Checks that a graph has operations of some names and types.

    Args:
        expected_ops: types by names.
        graph: the graph.

    Returns:
        Their `NodeDef`s by names.

    Raises:
        ValueError: it lacks one, or one is of another type.
    """
    nodes = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, node in nodes.items():
        if node.op != expected_ops[name]:
            raise ValueError(f"Expected op for node {name} is different. {expected_ops[name]} vs {node.op}")
    if nodes.keys() != expected_ops.keys():
        raise ValueError(f"Not all expected ops are present. Expected {expected_ops.keys()}, found {nodes.keys()}")
    return nodes


def assert_equal_graph_def(actual: Any, expected: Any, hash_table_shared_name: bool = False) -> None:
    """Checks that two graphs have the same nodes, see `tf.test.assert_equal_graph_def`.

    Args:
        actual, expected: the graphs, `GraphDef` messages.
        hash_table_shared_name: accepted, and without effect.
    """
    tf.test.assert_equal_graph_def(expected, actual)


def get_node_def_from_graph(node_name: str, graph_def: Message) -> Any:
    """Returns the node of a name, or None.

    Args:
        node_name: the name.
        graph_def: a `GraphDef`.
    """
    return next((node for node in graph_def.node if node.name == node_name), None)


class AbstractGradientTape:
    """A scope with the interface of a tape, over `tf.GradientTape` or `tf.gradients`.

    Args:
        use_tape: True for a tape.
        persistent: see `tf.GradientTape`.
    """

    def __init__(self, use_tape: bool, persistent: bool = False) -> None:
        self._tape = tf.GradientTape(persistent=persistent) if use_tape else _GraphGradients()

    def __enter__(self) -> Any:
        return self._tape.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._tape.__exit__(*error)


class _GraphGradients:
    """The interface of a tape over `tf.gradients`."""

    def __enter__(self) -> _GraphGradients:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def watch(self, x: TensorLike) -> None:
        """Does nothing: `tf.gradients` follows all operations."""

    def gradient(self, y: TensorLike, x: TensorLike, grad_ys: Any = None) -> Any:
        """Returns the gradients of `y` by `x`: a list for a list, else one."""
        gradients = tf.gradients(y, x, grad_ys)
        return gradients if isinstance(x, (list, tuple)) else gradients[0]


# ---- objects that a test leaves behind -------------------------------------------------------------------------------


def _objects_by_type(left_out: Iterable[Any] = ()) -> collections.Counter[str]:
    """Returns how many objects the garbage collector knows, by class."""
    ids = {id(o) for o in left_out}
    objects = [o for o in gc.get_objects() if id(o) not in ids]
    return collections.Counter(f"{type(o).__module__}.{type(o).__qualname__}" for o in objects)


def assert_no_new_pyobjects_executing_eagerly(warmup_iters: int = 2) -> Decorator:
    """Returns a decorator of a test that runs eagerly several times, and fails if more objects live after each run.

    Args:
        warmup_iters: the number of runs before the count.
    """

    def decorate(test: Any) -> Any:
        @functools.wraps(test)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            with tf.Graph().as_default(), eager_mode():
                self.setUp()
                for _ in range(max(warmup_iters, 1)):
                    test(self, *args, **kwargs)
                _objects_by_type()  # the first count makes objects itself
                gc.collect()
                before = _objects_by_type()
                runs = 3
                for _ in range(runs):
                    test(self, *args, **kwargs)
                gc.collect()
                grown = {
                    name: count - before[name]
                    for name, count in _objects_by_type([before]).items()
                    if count - before[name] >= runs
                }
                if grown:
                    raise AssertionError(f"Each run of the test leaves objects behind. More after {runs}: {grown}")

        return run

    return decorate


def assert_no_new_tensors(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a test that fails if tensors or variables which it made live on.

    Args:
        f: the test.
    """

    def living() -> dict[int, str]:
        return {id(o): str(type(o)) for o in gc.get_objects() if isinstance(o, (tf.Tensor, tf.Variable))}

    @functools.wraps(f)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        gc.collect()
        before, eagerly = living(), tf.executing_eagerly()
        with tf.Graph().as_default(), eager_mode() if eagerly else contextlib.nullcontext():
            result = f(self, *args, **kwargs)
        scalars.clear()
        gc.collect()
        new = [text for key, text in living().items() if key not in before]
        if new:
            raise AssertionError(f"{len(new)} tensors were not deallocated after the test ran: {new}")
        return result

    return run


def assert_no_garbage_created(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a test that fails if it leaves objects which the garbage collector can't free.

    Args:
        f: the test.
    """

    @functools.wraps(f)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        gc.collect()
        before = len(gc.garbage)
        result = f(self, *args, **kwargs)
        gc.collect()
        if found := [type(o).__name__ for o in gc.garbage[before:]]:
            raise AssertionError(f"The test left {len(found)} objects that can't be freed: {found[:20]}")
        return result

    return run


# ---- combinations and graphs of tests --------------------------------------------------------------------------------


def generate_combinations_with_testcase_name(**kwargs: Any) -> list[dict[str, Any]]:
    """Returns all combinations of the values of keywords, each with a name, for `parameterized.named_parameters`.

    Args:
        **kwargs: lists of values, or single ones.
    """
    return [{**c, "testcase_name": test_name(c)} for c in combine(**kwargs)]


def set_producer_version(graph: Graph, producer_version: int) -> None:
    """Imports an empty `GraphDef` of a version.

    Args:
        graph: the graph.
        producer_version: the version.
    """
    graph_def = tf.compat.v1.GraphDef()
    graph_def.versions.producer = producer_version
    with graph.as_default():
        tf.graph_util.import_graph_def(graph_def)
