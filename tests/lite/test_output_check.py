"""`TFLiteConverter.check`: files against their functions on random inputs; and other small parts of `tf.lite`."""

import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("ai_edge_litert")


def converter_of(function, *specs):
    concrete = tf.function(function).get_concrete_function(*specs)
    return tf.lite.TFLiteConverter.from_concrete_functions([concrete])


def check(function, *specs):
    converter = converter_of(function, *specs)
    return converter.check(converter.convert())


@pytest.mark.parametrize(("function", "specs"), [
    (lambda x: tf.nn.softmax(x * 3.0), [tf.TensorSpec([None, 5])]),
    (lambda x, n: x * tf.cast(n, tf.float32), [tf.TensorSpec([None, 5]), tf.TensorSpec([], tf.int32)]),
    (lambda x, f: tf.where(f, x, -x), [tf.TensorSpec([2, 3]), tf.TensorSpec([2, 3], tf.bool)]),
    (lambda x: {"a": x + 1.0, "b": tf.reduce_sum(x)}, [tf.TensorSpec([None, None])]),
    (lambda x: x + 1, [tf.TensorSpec([None], tf.int64)]),
])  # fmt: skip
def test_files_that_agree(function, specs):
    assert check(function, *specs) < 1e-5


def test_files_of_other_functions_differ():
    spec = tf.TensorSpec([None, 3])
    other = converter_of(lambda x: x * 1.5, spec).convert()
    assert converter_of(lambda x: x * 2.0, spec).check(other) == pytest.approx(0.25, rel=1e-3)


def test_sizes_that_fit_are_tried():
    def needs_many(x):
        return tf.nn.max_pool2d(x, 40, 1, "VALID")

    assert check(needs_many, tf.TensorSpec([None, None, None, 1])) < 1e-6


def test_functions_that_compute_nothing():
    converter = converter_of(lambda x: tf.math.log(x - 2.0), tf.TensorSpec([None, 3]))
    with pytest.raises(ValueError, match="nothing to compare for random inputs: an output is empty or NaN"):
        converter.check(converter.convert())
    converter = converter_of(lambda x: tf.reshape(x, [7]), tf.TensorSpec([None]))
    with pytest.raises(ValueError, match=r"nothing to compare for random inputs: .*"):
        converter.check(converter.convert())


def test_inputs_without_a_rank():
    with pytest.raises(ValueError, match="The input 'x' has no static rank"):
        converter_of(lambda x: x + 1.0, tf.TensorSpec(None, name="x")).convert()


def test_saved_models_without_signatures(tmp_path):
    tf.saved_model.save(tf.Module(), str(tmp_path))
    with pytest.raises(ValueError, match="at least one signature key"):
        tf.lite.TFLiteConverter.from_saved_model(str(tmp_path))
    module = tf.Module()
    module.f = tf.function(lambda x: {"y": x + 1.0}, input_signature=[tf.TensorSpec([2])])
    tf.saved_model.save(module, str(tmp_path / "one"), signatures={"own": module.f})
    with pytest.raises(ValueError, match="Invalid signature key 'other' found"):
        tf.lite.TFLiteConverter.from_saved_model(str(tmp_path / "one"), signature_keys=["other"])
    content = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path / "one"), signature_keys=["own"]).convert()
    runner = tf.lite.Interpreter(model_content=content).get_signature_runner("own")
    assert runner(x=np.float32([1, 2]))["y"].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(("options", "message"), [
    ({"inference_input_type": tf.int8}, "must be in tf.float32, not tf.int8. Other dtypes need"),
    ({"inference_output_type": tf.uint8}, "The inference_output_type must be in"),
    ({"representative_dataset": [1]}, "must be a function that returns samples"),
    (
        {"optimizations": [tf.lite.Optimize.DEFAULT],
         "target_spec": tf.lite.TargetSpec([tf.lite.OpsSet.TFLITE_BUILTINS_INT8])},
        "a `representative_dataset` must be specified",
    ),
    (
        {"optimizations": [tf.lite.Optimize.DEFAULT], "representative_dataset": lambda: iter([]),
         "inference_input_type": tf.float16},
        "must be in tf.float32, tf.int8, tf.uint8, not tf.float16.$",
    ),
])  # fmt: skip
def test_options_that_do_not_fit(options, message):
    converter = converter_of(lambda x: x + 1.0, tf.TensorSpec([2]))
    for name, value in options.items():
        setattr(converter, name, value)
    with pytest.raises(ValueError, match=message):
        converter.convert()


def test_names_of_options():
    assert tf.lite.OpsSet.get_options() == [
        "TFLITE_BUILTINS", "SELECT_TF_OPS", "TFLITE_BUILTINS_INT8",
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8", "EXPERIMENTAL_STABLEHLO_OPS",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="MLIR"):
        tf.lite.experimental.Analyzer.analyze(model_content=b"a", experimental_use_mlir=True)
    with pytest.raises(ValueError, match="neither `model_path` nor `model_content`"):
        tf.lite.experimental.Analyzer.analyze()


def test_constants_of_strings_and_branches():
    def choose(x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0)

    def number(x, i):
        return tf.switch_case(i, [lambda: x * 2.0, lambda: x - 1.0, lambda: -x])

    assert check(choose, tf.TensorSpec([None, 3])) < 1e-6
    content = converter_of(number, tf.TensorSpec([2]), tf.TensorSpec([], tf.int32)).convert()
    runner = tf.lite.Interpreter(model_content=content).get_signature_runner()
    found = [runner(x=np.float32([1, 4]), i=np.int32(i))["output_0"].tolist() for i in (0, 1, 2, 7, -1)]
    assert found == [[2, 8], [0, 3], [-1, -4], [-1, -4], [-1, -4]]
    with pytest.raises(TypeError, match="the rank of its result is unknown"):
        converter_of(lambda x: tf.cond(x[0] > 0.0, lambda: x, lambda: x[tf.newaxis]), tf.TensorSpec([2])).convert()
