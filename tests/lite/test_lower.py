"""Lowering of graphs: constants, names, dtypes of kernels, and what the errors say."""

import pytest

pytest.importorskip("ai_edge_litert")

import numpy as np

import tapeflow as tf
from lite_runtime import check, codes, convert

X = np.array([[1.0, -2.0], [3.0, 0.5]], np.float32)


def svd(x):
    with tf.name_scope("layer"):
        return tf.linalg.svd(x)


def compiled(text):
    names = {"tf": tf}
    exec(compile(text, "<from text>", "exec"), names)
    return names["function"]


@pytest.mark.parametrize(("function", "specs", "message"), [
    (svd, [[2, 2]], r"'layer/Svd' \(Svd\) in the layer 'layer', added at .*test_lower.py:\d+ \(return tf.linalg.svd"
     r"\(x\)\): TFLite's builtin operators lack this op\. Write this part"),
    (lambda x: tf.linalg.svd(x), [[2, 2]], r"^The operation 'Svd' \(Svd\), added at .*: TFLite's builtin operators"),
    (compiled("def function(x):\n    return tf.linalg.svd(x)"), [[2, 2]], r"added at <from text>:2: TFLite's"),
    (lambda x: tf.reshape(x, tf.range(tf.cast(x[0, 0], tf.int32))), [[2, 2]], "the rank of its result is unknown"),
    (lambda x: tf.reshape(x, [2, 2]) + tf.compat.v1.placeholder(tf.float32, [2]), [[2, 2]], "it has no value: pass it"),
])  # fmt: skip
def test_errors(function, specs, message):
    with pytest.raises(TypeError, match=message):
        convert(function, *map(tf.TensorSpec, specs))


@pytest.mark.parametrize(("count", "computed"), [(1 << 16, True), ((1 << 16) + 1, False)])
def test_large_constants_of_small_ones_are_computed_when_the_file_runs(count, computed):
    found = codes(convert(lambda x: x + tf.reduce_sum(tf.zeros([count])), tf.TensorSpec([2])))
    assert found == ({"ADD": 1} if computed else {"FILL": 1, "SUM": 1, "ADD": 1})


@pytest.mark.parametrize(("times", "computed"), [(2, True), (3, False)])
def test_constants_may_grow_to_twice_their_inputs(times, computed):
    table = tf.constant(np.arange(100_000, dtype=np.float32))
    found = codes(convert(lambda x: x + tf.tile(table, [times]), tf.TensorSpec([times * 100_000])))
    assert ("TILE" in found) is not computed


def test_names_of_tensors_differ():
    schema = tf.lite.extra.require("ai_edge_litert.schema_py_generated")
    content = convert(lambda x: tf.exp(tf.exp(tf.exp(x) * 2.0) * 3.0) * 4.0, tf.TensorSpec([2]))
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    names = [tensor.name.decode() for tensor in model.subgraphs[0].tensors]
    assert len(set(names)) == len(names)
    assert not any(";-" in name for name in names)


@pytest.mark.parametrize(("function", "dtype", "expected"), [
    (lambda x: x + x, tf.int64, {"ADD": 1}),
    (lambda x: x + x, tf.int16, {"CAST": 3, "ADD": 1}),
    (lambda x: x * x, tf.int8, {"CAST": 3, "MUL": 1}),
    (lambda x: tf.abs(x), tf.int8, {"CAST": 2, "ABS": 1}),
    (lambda x: tf.maximum(x, 3), tf.uint8, {"CAST": 2, "MAXIMUM": 1}),
    (lambda x: x > 1, tf.int16, {"CAST": 1, "GREATER": 1}),
    (lambda x: tf.gather(x, [1, 0]), tf.int16, {"GATHER": 1}),
    (lambda x: tf.gather(x, [1, 0]), tf.uint16, {"CAST": 2, "GATHER": 1}),
    (lambda x: tf.concat([x, x], 0), tf.uint16, {"CAST": 3, "CONCATENATION": 1}),
    (lambda x: tf.pad(x, [[1, 1]]), tf.int16, {"CAST": 2, "PAD": 1}),
    (lambda x: tf.split(x, 2), tf.uint16, {"CAST": 3, "SPLIT": 1}),
    (lambda x: tf.cumsum(x), tf.int16, {"CAST": 2, "CUMSUM": 1}),
    (lambda x: tf.reduce_sum(x), tf.int16, {"CAST": 2, "SUM": 1}),
    (lambda x: tf.reduce_max(x), tf.uint8, {"CAST": 2, "REDUCE_MAX": 1}),
    (lambda x: tf.argmax(x), tf.int16, {"CAST": 1, "ARG_MAX": 1}),
    (lambda x: tf.stack([x > 1, x > 2]), tf.int32, {"GREATER": 2, "CAST": 3, "PACK": 1}),
    (lambda x: tf.exp(x), tf.float32, {"EXP": 1}),
])  # fmt: skip
def test_small_integers_are_computed_in_larger_ones(function, dtype, expected):
    content = check(function, np.array([1, 2, 7, 0], dtype.as_numpy_dtype), batch=False)
    found = codes(content)
    assert found.get("CAST", 0) <= expected.get("CAST", 0)
    assert {**found, "CAST": 0} == {**expected, "CAST": 0}


@pytest.mark.parametrize(("function", "dtype", "message"), [
    (lambda x: tf.exp(x), tf.float64, "the runtime has no kernel of EXP for float64: cast its inputs, for example to"),
    (lambda x: x / x, tf.float64, "the runtime has no kernel of DIV for float64"),
    (lambda x: tf.gather(x, [0]), tf.complex64, "the runtime has no kernel of GATHER for complex64"),
    (lambda x: tf.abs(x), tf.int64, "the runtime has no kernel of ABS for int64"),
])  # fmt: skip
def test_dtypes_without_a_kernel(function, dtype, message):
    with pytest.raises(TypeError, match=message):
        convert(function, tf.TensorSpec([2], dtype))


def test_variables_that_are_only_read_are_constants():
    v = tf.Variable([1.0, 2.0])
    assert codes(convert(lambda x: x * v, tf.TensorSpec([2]))) == {"MUL": 1}
    assert codes(check(lambda x: x * (v * 2.0 + 1.0), X)) == {"MUL": 1}


def test_variables_that_change_are_not():
    class Counter(tf.Module):
        def __init__(self):
            self.v, self.w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def add(self, x):
            self.v.assign_add(x)
            return self.v * self.w

    model = Counter()
    found = codes(convert(model.add))
    assert found["ASSIGN_VARIABLE"] == 1 and found["READ_VARIABLE"] == 2 and found["MUL"] == 1


def test_sizes_that_are_known_in_part():
    content = convert(lambda x: tf.reshape(x, [tf.shape(x)[0], 4]), tf.TensorSpec([None, 2, 2]))
    assert codes(content) == {"RESHAPE": 1}
    content = convert(lambda x: tf.reshape(x, [tf.shape(x)[1], tf.shape(x)[0], 2]), tf.TensorSpec([None, None, 2]))
    assert codes(content)["RESHAPE"] == 1 and codes(content)["PACK"] == 1


def test_half_precision_is_computed_in_single():
    content = convert(lambda x: tf.cast(tf.cast(x, tf.float16) * 2, tf.float32), tf.TensorSpec([2]))
    assert codes(content) == {"MUL": 1}
