"""`tf.lite.TFLiteConverter`: signatures, names, options and errors."""

import pathlib
import sys

import numpy as np
import pytest

import tapeflow as tf


def test_without_the_extra_errors_say_what_to_install(monkeypatch):
    for name in [n for n in sys.modules if n.startswith("ai_edge_litert")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [tf.function(tf.nn.relu).get_concrete_function(tf.TensorSpec([2]))]
    )
    for call in (
        converter.convert, lambda: tf.lite.Interpreter("x.tflite"),
        lambda: tf.lite.experimental.Analyzer.analyze(model_content=b"x"),
        lambda: tf.lite.experimental.load_delegate("x.so"),
    ):  # fmt: skip
        with pytest.raises(ImportError, match=r"pip install 'tapeflow\[tflite\]'"):
            call()
    assert tf.lite.experimental.OpResolverType.BUILTIN.value == 1
    assert not isinstance(1, tf.lite.Interpreter)


def test_options_have_the_names_of_tensorflow():
    assert [o.name for o in tf.lite.Optimize] == [
        "DEFAULT", "OPTIMIZE_FOR_SIZE", "OPTIMIZE_FOR_LATENCY", "EXPERIMENTAL_SPARSITY"
    ]  # fmt: skip
    assert tf.lite.TargetSpec().supported_ops == {tf.lite.OpsSet.TFLITE_BUILTINS}
    assert str(tf.lite.OpsSet.SELECT_TF_OPS) == "SELECT_TF_OPS"


def test_what_is_no_concrete_function():
    message = "This function takes in a list of ConcreteFunction"
    with pytest.raises(ValueError, match=message):
        tf.lite.TFLiteConverter.from_concrete_functions([tf.function(tf.nn.relu)])
    with pytest.raises(ValueError, match="No ConcreteFunction is specified"):
        tf.lite.TFLiteConverter.from_concrete_functions([])


pytest.importorskip("ai_edge_litert")

from lite_runtime import assert_close, codes, convert, run  # noqa: E402


def dense(*inputs, **named):
    tf.keras.utils.set_random_seed(0)
    return tf.keras.Sequential([tf.keras.Input([4], name="x"), tf.keras.layers.Dense(3, activation="relu")])


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal([5, 4]).astype(np.float32)


def interpreter_of(content):
    return tf.lite.Interpreter(model_content=content)


def test_keras_model(x):
    model = dense()
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    interpreter = interpreter_of(content)
    assert interpreter.get_signature_list() == {"serving_default": {"inputs": ["x"], "outputs": ["output_0"]}}
    (entry,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    assert (entry["name"], result["name"]) == ("serving_default_x:0", "StatefulPartitionedCall:0")
    assert (entry["shape_signature"].tolist(), result["shape_signature"].tolist()) == ([-1, 4], [-1, 3])
    assert codes(content) == {"FULLY_CONNECTED": 1}
    assert_close(run(content, x)[0], model(x).numpy(), 1e-6)
    assert_close(run(content, x[:1])[0], model(x[:1]).numpy(), 1e-6)


def test_resized_inputs(x):
    model = dense()
    interpreter = interpreter_of(tf.lite.TFLiteConverter.from_keras_model(model).convert())
    entry, result = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
    interpreter.resize_tensor_input(entry, [5, 4])
    interpreter.allocate_tensors()
    interpreter.set_tensor(entry, x)
    interpreter.invoke()
    assert_close(interpreter.get_tensor(result), model(x).numpy(), 1e-6)


def test_inputs_and_outputs_are_sorted_by_name(x):
    a, b = tf.keras.Input([4], name="zed"), tf.keras.Input([4], name="abe")
    model = tf.keras.Model([a, b], [a + b, a * b])
    interpreter = interpreter_of(tf.lite.TFLiteConverter.from_keras_model(model).convert())
    (signature,) = interpreter.get_signature_list().values()
    assert signature == {"inputs": ["abe", "zed"], "outputs": ["output_0", "output_1"]}
    results = interpreter.get_signature_runner()(abe=x, zed=2 * x)
    np.testing.assert_allclose(results["output_1"], 2 * x * x)
    named = tf.keras.Model([a, b], {"sum": a + b, "product": a * b})
    interpreter = interpreter_of(tf.lite.TFLiteConverter.from_keras_model(named).convert())
    assert interpreter.get_signature_runner()(abe=x, zed=x).keys() == {"product", "sum"}


def test_model_of_a_subclass(x):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, x):
            return tf.nn.softmax(self.dense(x))

    model = Own()
    want = model(x).numpy()
    assert_close(run(tf.lite.TFLiteConverter.from_keras_model(model).convert(), x)[0], want, 1e-6)


class Two(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[1.0], [2.0], [3.0], [4.0]])

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def product(self, x):
        return x @ self.w

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def both(self, x):
        return {"twice": 2.0 * x, "same": x}


def test_saved_model_with_two_signatures(x, tmp_path):
    module, folder = Two(), str(tmp_path)
    tf.saved_model.save(module, folder, signatures={"serving_default": module.product, "both": module.both})
    interpreter = interpreter_of(tf.lite.TFLiteConverter.from_saved_model(folder).convert())
    assert interpreter.get_signature_list() == {
        "both": {"inputs": ["x"], "outputs": ["same", "twice"]},
        "serving_default": {"inputs": ["x"], "outputs": ["output_0"]},
    }
    results = interpreter.get_signature_runner("both")(x=x)
    np.testing.assert_array_equal(results["same"], x)
    assert_close(interpreter.get_signature_runner("serving_default")(x=x)["output_0"], (x @ module.w).numpy(), 1e-6)
    one = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=["both"]).convert()
    assert list(interpreter_of(one).get_signature_list()) == ["both"]
    with pytest.raises(ValueError, match=r"Invalid signature key 'nope' found\. Valid keys are"):
        tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=["nope"])


OLD = pathlib.Path(__file__).parents[1] / "fixtures" / "old_versions"


@pytest.mark.parametrize(
    "name",
    ["1.15.5/graphs/bidirectional_res", "1.15.5/graphs/gru_ref", "1.15.5/graphs/keras_layers_ref",
     "1.15.5/graphs/scatters_ref", "1.15.5/graphs/switch_case_res", "1.15.5/graphs/loop_in_cond_res",
     "1.15.5/graphs/slim_ref", "2.0.4/graphs/loops_over_variable"],
)  # fmt: skip
def test_saved_models_of_tensorflow(name):
    converter = tf.lite.TFLiteConverter.from_saved_model(OLD / name / "saved")
    assert converter.check(converter.convert()) < 1e-6


def test_inputs_without_rank():
    with pytest.raises(ValueError, match="The input 'x' has no static rank"):
        convert(lambda x: x * 2.0, tf.TensorSpec(None))
    with pytest.raises(TypeError, match="the rank of its result is unknown"):
        convert(lambda x, n: tf.reshape(x, n), tf.TensorSpec([4]), tf.TensorSpec([None], tf.int32))


def test_concrete_functions_are_signatures(x):
    module = Two()
    functions = [module.product.get_concrete_function(), module.both.get_concrete_function()]
    content = tf.lite.TFLiteConverter.from_concrete_functions(functions, module).convert()
    assert interpreter_of(content).get_signature_list().keys() == {"both", "product"}
    assert_close(run(content, x, key="product")[0], (x @ module.w).numpy(), 1e-6)
    content = convert(lambda a, b: (a + b, a - b), tf.TensorSpec([None, 2]), tf.TensorSpec([None, 2]))
    interpreter = interpreter_of(content)
    assert [d["name"] for d in interpreter.get_input_details()] == ["a", "b"]
    assert [d["name"] for d in interpreter.get_output_details()] == ["Identity", "Identity_1"]


def test_keras_exports_files(x, tmp_path):
    model, path = dense(), str(tmp_path / "model.tflite")
    model.export(path, format="litert", verbose=False)
    interpreter = tf.lite.Interpreter(path)
    assert_close(interpreter.get_signature_runner()(x=x)["output_0"], model(x).numpy(), 1e-6)


def test_half_precision_is_computed_in_float32(x):
    tf.keras.utils.set_random_seed(0)
    layer = tf.keras.layers.Dense(3, dtype="mixed_float16")
    model = tf.keras.Sequential([tf.keras.Input([4]), layer])
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    assert_close(run(content, x)[0], model(x).numpy().astype(np.float32), 3e-3)


def test_an_op_without_a_form_is_named_with_its_layer_and_line():
    def invert(x):
        return tf.linalg.inv(x)  # this line

    model = tf.keras.Sequential([tf.keras.Input([4, 4]), tf.keras.layers.Lambda(invert, name="inverting")])
    with pytest.raises(TypeError) as info:
        tf.lite.TFLiteConverter.from_keras_model(model).convert()
    text = str(info.value)
    assert "(MatrixInverse) in the layer" in text and "inverting" in text
    assert "test_converter.py" in text and "return tf.linalg.inv(x)  # this line" in text
    assert "TFLite's builtin operators lack this op. Write this part of the model with other ops" in text


def test_a_dtype_without_a_kernel():
    with pytest.raises(TypeError, match="the runtime has no kernel of EXP for float64: cast its inputs"):
        convert(tf.exp, tf.TensorSpec([2], tf.float64))


def test_checks_of_files(x):
    converter = tf.lite.TFLiteConverter.from_keras_model(dense())
    content = converter.convert()
    assert converter.check(content) < 1e-6
    other = tf.lite.TFLiteConverter.from_keras_model(
        tf.keras.Sequential([tf.keras.Input([4], name="x"), tf.keras.layers.Dense(3, "tanh")])
    )
    assert other.check(content) > 1e-2


@pytest.mark.parametrize(
    ("function", "spec", "version"),
    [
        (lambda x: x + 1.0, tf.TensorSpec([2, 4]), 1),
        (lambda x: x + 1, tf.TensorSpec([2, 4], tf.int64), 4),
        (lambda x: x @ tf.ones([4, 2]), tf.TensorSpec([2, 4]), 1),
        (lambda x: x @ tf.ones([4, 2]), tf.TensorSpec([2, 3, 4]), 5),
        (lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 1, 6]), 1, "SAME"), tf.TensorSpec([2, 4, 4, 3]), 6),
        (lambda x: tf.gather(x, [[0, 1], [1, 0]], axis=1, batch_dims=1), tf.TensorSpec([2, 4]), 5),
        (lambda x: tf.image.resize(x, [5, 5]), tf.TensorSpec([2, 4, 4, 3]), 3),
        (lambda x: tf.broadcast_to(x, [3, 2, 4]), tf.TensorSpec([2, 4]), 2),
        (lambda x: tf.transpose(x), tf.TensorSpec([2, 4, 4, 3, 2]), 4),
    ],
)
def test_versions_of_operators_are_those_of_tensorflow(function, spec, version):
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated")
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(convert(function, spec), 0))
    assert [code.version for code in model.operatorCodes] == [version]


def test_equal_constants_are_written_once():
    table = np.random.default_rng(0).standard_normal([100, 100]).astype(np.float32)
    content = convert(lambda x: x @ table + x @ tf.constant(table.copy()), tf.TensorSpec([None, 100]))
    assert table.nbytes < len(content) < 1.2 * table.nbytes


def test_buffers_are_aligned():
    content = convert(lambda x: x @ tf.ones([3, 5]) + tf.ones([5]), tf.TensorSpec([None, 3]))
    at = content.find(np.ones(15, np.float32).tobytes())
    assert at > 0 and at % 16 == 0


def test_analyzer(capsys):
    content = tf.lite.TFLiteConverter.from_keras_model(dense()).convert()
    tf.lite.experimental.Analyzer.analyze(model_content=content)
    text = capsys.readouterr().out
    assert "FULLY_CONNECTED" in text and "Signature#0 key: 'serving_default'" in text
    with pytest.raises(ValueError, match="neither `model_path` nor `model_content` is provided"):
        tf.lite.experimental.Analyzer.analyze()


def test_command(x, tmp_path, capsys):
    from tapeflow.__main__ import main

    model = dense()
    path, folder = str(tmp_path / "m.keras"), str(tmp_path / "saved")
    model.save(path)
    model.export(folder, verbose=False)
    for source, written in ((path, tmp_path / "m.tflite"), (folder, tmp_path / "saved.tflite")):
        assert main(["convert", source, "--to", "tflite"]) == 0
        assert "the largest relative difference of an output is" in capsys.readouterr().out
        assert_close(run(written.read_bytes(), x)[0], model(x).numpy(), 1e-6)
    assert main(["convert", str(tmp_path / "missing"), "--to", "tflite"]) == 1
    assert "there is no model" in capsys.readouterr().err
