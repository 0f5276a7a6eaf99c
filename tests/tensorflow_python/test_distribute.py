"""`tf.__internal__.distribute`, `tf.__internal__.autograph`, and the functions that Keras 2 registers with."""

import contextlib
import importlib

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import autograph, distribute, gradient_registry, keras_2


def test_calls_of_replicas():
    called = []

    def function(strategy, *args, **kwargs):
        called.append((strategy, args, kwargs))
        return "result"

    default = tf.distribute.get_strategy()
    assert distribute.strategy_supports_no_merge_call() is True
    assert distribute.interim.maybe_merge_call(function, default, 1, key=2) == "result"
    assert called == [(default, (1,), {"key": 2})]
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    called.clear()

    def replica():
        assert distribute.strategy_supports_no_merge_call() is False
        distribute.interim.maybe_merge_call(function, strategy, tf.constant(1), key=2)

    strategy.run(replica)
    assert len(called) == 1 and called[0][0] is strategy and called[0][2] == {"key": 2}
    assert len(strategy.experimental_local_results(called[0][1][0])) == 2


def test_names_of_the_module():
    assert distribute.combinations is importlib.import_module(
        "tapeflow.tensorflow_python.testing.distribution_combinations"
    )
    with pytest.raises(AttributeError, match=r"TapeFlow has no tf\.__internal__\.distribute\.nothing\."):
        distribute.nothing  # noqa: B018 (asking is the point)
    assert isinstance(distribute.variable_sync_on_read_context(), contextlib.AbstractContextManager)
    assert not isinstance(tf.Variable(1.0), distribute.ShardedVariable)


def test_functions_are_converted_while_one_is_traced():
    def double_positive(x):
        if x > 0:
            return x * 2
        return x

    assert autograph.control_status_ctx() is False
    assert autograph.tf_convert(double_positive, None)(3) == 6
    with tf.Graph().as_default():
        assert autograph.control_status_ctx() is False
    seen = []

    @tf.function
    def function(x):
        seen.append(autograph.control_status_ctx())
        return autograph.tf_convert(double_positive, None)(x)

    assert [int(function(tf.constant(v))) for v in (3, -3)] == [6, -3]
    assert seen == [True]


def test_calls_are_recorded_only_by_tapes():
    registered = gradient_registry._gradient_registry._registry
    registered["test_distribute"] = {"type": lambda op, dy: dy * op.get_attr("factor")}
    x, y = tf.constant(2.0), tf.constant(3.0)
    try:
        assert gradient_registry.record_gradient("nothing of that name", [x], (), [y]) is None
        with tf.GradientTape() as tape:
            tape.watch(x)
            gradient_registry.record_gradient("test_distribute", [x], ("other", 1.0, "factor", 7.0), [y])
        assert float(tape.gradient(y, x)) == 7.0
    finally:
        del registered["test_distribute"]


def test_functions_that_have_no_effect():
    assert keras_2.register_call_context_function(len) is None
    assert keras_2.GraphOrParentsInXlaContext(tf.Graph()) is False and keras_2.get_enclosing_xla_context() is None
    assert keras_2.TF_ListPluggablePhysicalDevices() == []
    with keras_2.load_context(3):
        pass
    keys = keras_2.KerasModeKeys
    assert (keys.TRAIN, keys.TEST, keys.PREDICT) == ("train", "test", "predict")


@pytest.mark.parametrize("value", [True, False])
def test_options_of_sessions(value):
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(value)
    try:
        assert keras_2.get_config().allow_soft_placement is value
    finally:
        tf.config.set_soft_device_placement(before)


def test_models_of_keras_2_are_loaded_in_safe_mode(monkeypatch):
    import sys
    import types

    scopes = []

    class SafeModeScope(contextlib.nullcontext):
        def __init__(self, enabled):
            super().__init__()
            scopes.append(enabled)

    state = {"safe": None}
    library = types.SimpleNamespace(SafeModeScope=SafeModeScope, in_safe_mode=lambda: state["safe"])
    home = types.ModuleType("test_distribute_home")
    monkeypatch.setitem(sys.modules, "test_distribute_home", home)
    monkeypatch.setitem(sys.modules, "tf_keras.src.saving.serialization_lib", library)
    monkeypatch.setattr(keras_2.importlib, "import_module", lambda name: sys.modules[name])

    def load(path, **options):
        return path, options

    load.__module__ = "test_distribute_home"
    keras_2.register_load_model_function(load)

    def load_model(path, safe_mode=True):
        return home.load(path, compile=False)

    def other(safe_mode):
        return home.load("other")

    assert load_model("a") == ("a", {"compile": False})
    load_model("a", safe_mode=False)
    other(safe_mode=False)
    assert scopes == [True, False, True]
    state["safe"] = False
    load_model("a", safe_mode=True)
    assert scopes[3:] == [False] and home.load.__name__ == "load"


def test_functions_are_of_their_class():
    from tapeflow_compat.tensorflow_python.function_class import Function

    def positive(x):
        if x > 0:
            return x
        return -x

    spec = [tf.TensorSpec([], tf.int32)]
    function = Function(positive, "positive", spec)
    assert int(function(tf.constant(-3))) == 3 and function.input_signature == tuple(spec)
    assert isinstance(function, Function) and isinstance(tf.function(positive), Function)
    plain = Function(positive, "positive", autograph=False)
    with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
        plain(tf.constant(-3))
