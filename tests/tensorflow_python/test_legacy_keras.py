"""`TF_USE_LEGACY_KERAS=1`, and what was Keras inside TensorFlow, with a package that stands for Keras 2."""

import os
import subprocess
import sys
import textwrap

import pytest

import tapeflow as tf
from tapeflow.tensorflow_python import names

MODULES = {
    "api._v2.keras": "optimizers = 'optimizers'; losses = 'losses'",
    "api._v2.keras.layers": "Dense = 'Dense of Keras 2'",
    "api._v1.keras.__internal__.legacy.layers": "dense = 'dense'",
    "api._v1.keras.__internal__.legacy.rnn_cell": "LSTMCell = 'LSTMCell'",
    "src.backend": "get_graph = 'get_graph'",
    "src.legacy_tf_layers.base": "Layer = 'Layer'",
}


@pytest.fixture
def keras_2(tmp_path):
    """A folder with a package `tf_keras`, which holds texts."""
    for module, source in MODULES.items():
        folder = tmp_path.joinpath("tf_keras", *module.split("."))
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(source)
    return str(tmp_path)


def run(source, *paths, **environment):
    path = os.pathsep.join([*paths, *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )  # fmt: skip


def test_tf_keras_is_keras_2_where_that_is_asked_for(keras_2):
    source = """
        import tapeflow as tf
        tf.install_as_tensorflow()
        from tensorflow.keras.layers import Dense
        assert (tf.keras.__name__, Dense) == ("tf_keras.api._v2.keras", "Dense of Keras 2")
        assert (tf.optimizers, tf.losses) == ("optimizers", "losses")
    """
    done = run(source, keras_2, TF_USE_LEGACY_KERAS="1")
    assert done.returncode == 0, done.stderr


def test_what_was_keras_inside_tensorflow_is_keras_2s(keras_2):
    source = """
        import tapeflow as tf
        tf.install_as_tensorflow()
        from tensorflow.python.keras import backend
        from tensorflow.python.layers import base, utils
        assert (backend.get_graph, base.Layer) == ("get_graph", "Layer") and utils.smart_cond
        assert (tf.compat.v1.layers.dense, tf.compat.v1.nn.rnn_cell.LSTMCell) == ("dense", "LSTMCell")
    """
    done = run(source, keras_2)
    assert done.returncode == 0, done.stderr


def test_without_keras_2_an_error_says_how_to_have_it():
    done = run("import tapeflow; tapeflow.keras", TF_USE_LEGACY_KERAS="true")
    assert "ImportError: TF_USE_LEGACY_KERAS is set, but Keras 2 is not installed" in done.stderr
    with pytest.raises(ImportError, match="pip install --no-deps tf_keras"):
        _ = tf.compat.v1.layers


def test_names_that_tensorflow_has_moved_are_there():
    tf.install_as_tensorflow()
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import array_ops, control_flow_ops, math_ops

    assert array_ops.stack is tf.stack and control_flow_ops.cond is tf.compat.v1.cond and ops.Tensor is tf.Tensor
    assert math_ops.mul(tf.constant(2), tf.constant(3)).numpy() == 6
    for name in ("constant_of_nothing", "_private"):
        with pytest.raises(AttributeError):
            names.moved("tensorflow.python.ops.array_ops", name)


def test_variables_are_compared_by_identity_in_graphs_of_tensorflow_1():
    with tf.Graph().as_default():
        v, w = tf.Variable(1.0), tf.Variable(1.0)
        assert v == v and v != w and v in [w, v]


def test_namespaces_of_absl_and_others_are_there():
    v1 = tf.compat.v1
    assert v1.app.run and v1.flags.DEFINE_string and v1.test.TestCase and v1.compat.as_bytes("a") == b"a"
    assert v1.__version__ == tf.__version__


SAFE_MODE = {
    "src.saving.serialization_lib": """
        mode = None
        class SafeModeScope:
            def __init__(self, safe_mode):
                self.safe_mode = safe_mode
            def __enter__(self):
                global mode
                self.before, mode = mode, self.safe_mode
            def __exit__(self, *args):
                global mode
                mode = self.before
        in_safe_mode = lambda: mode
    """,
    "src.saving.legacy.save": """
        import tensorflow as tf
        from tf_keras.src.saving import serialization_lib
        def load_model(path, custom_objects=None):
            return serialization_lib.in_safe_mode()
        tf.__internal__.register_load_model_function(load_model)
    """,
    "src.saving.saving_api": """
        from tf_keras.src.saving.legacy import save
        def load_model(path, custom_objects=None, safe_mode=True):
            return save.load_model(path, custom_objects=custom_objects)
    """,
}


def test_safe_mode_holds_for_every_format_of_keras_2(tmp_path):
    for module, source in SAFE_MODE.items():
        folder = tmp_path.joinpath("tf_keras", *module.split("."))
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(textwrap.dedent(source))
    source = """
        import tapeflow as tf
        tf.install_as_tensorflow()
        from tf_keras.src.saving import saving_api, serialization_lib
        from tf_keras.src.saving.legacy import save
        load = saving_api.load_model
        assert [load("model"), load("model", safe_mode=True), load("model", safe_mode=False)] == [True, True, False]
        assert save.load_model("model") is True and serialization_lib.in_safe_mode() is None
        serialization_lib.mode = False  # by `enable_unsafe_deserialization()`
        assert load("model") is False
    """
    done = run(source, str(tmp_path))
    assert done.returncode == 0, done.stderr
