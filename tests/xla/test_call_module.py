"""Modules of StableHLO: how the op is declared, and what it does with and without JAX."""

import importlib
import pathlib
import sys

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.graph.graphdef.import_graph import import_graph_def
from tapeflow.tensorflow_python import xla
from tapeflow.xla import call_module
from tapeflow.xla.call_module import _refines_type

RECORDED = pathlib.Path(__file__).parents[1] / "fixtures" / "own_gradients"
MODULE = b"ML\xefR\x0dStableHLO\x00\xff"  # bytes that are no text
X = [[0.25, -0.5], [1.0, 0.125], [0.0, 0.75]]


def call(x, **changes):
    attrs = {"version": 10, "Tout": [tf.float32, tf.int32], "Sout": [[None, 2], []], "platforms": ["CPU"]}
    return xla.call_module([x], module=MODULE, **attrs | changes)


@tf.function(input_signature=[tf.TensorSpec([None, 2])])
def calling(x):
    return call(x)


def test_says_that_jax_must_be_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    for function in (call, calling):
        with pytest.raises(tf.errors.UnimplementedError, match="JAX must be installed: pip install jax"):
            function(tf.ones([1, 2]))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"version": 3}, tf.errors.InvalidArgumentError, "version 3 is not supported anymore. Must be >= 4"),
        ({"version": 11}, tf.errors.InvalidArgumentError, "version 11 is not supported by this build. Must be <= 10"),
        ({"platforms": []}, tf.errors.InvalidArgumentError, "version 10 must have non-empty platforms"),
        ({"Sout": [[]]}, tf.errors.InvalidArgumentError, r"size of Sout \(1\) must match the size of Tout \(2\)"),
        ({"platforms": ["CUDA", "TPU"]}, tf.errors.NotFoundError, r"CPU is not among the platforms .* \[CUDA, TPU\]"),
        ({"function_list": ["f"]}, tf.errors.UnimplementedError, "can't call TensorFlow functions"),
    ],
)
def test_refuses_what_it_can_not_run(changes, error, message):
    with pytest.raises(error, match=message):
        call(tf.ones([1, 2]), **changes)


def test_declares_the_shapes_of_its_results():
    a, b = calling.get_concrete_function().outputs
    assert (a.shape.as_list(), a.dtype, b.shape.as_list(), b.dtype) == ([None, 2], tf.float32, [], tf.int32)
    shorter = tf.function(lambda x: call(x, Sout=[[3]])).get_concrete_function(tf.TensorSpec([1, 2]))
    assert [t.shape.rank for t in shorter.outputs] == [1, None]


def test_a_graph_holds_the_bytes_of_the_module():
    graph_def = calling.get_concrete_function().graph.as_graph_def()
    (node,) = [n for n in graph_def.node if n.op == "XlaCallModule"]
    assert node.attr["module"].s == MODULE
    with tf.Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
    (again,) = [n for n in graph.as_graph_def().node if n.op == "XlaCallModule"]
    assert again.attr["module"].s == MODULE and again.attr["Sout"] == node.attr["Sout"]


def test_modules_that_jax2tf_imports():
    tf.install_as_tensorflow()
    bindings = importlib.import_module("tensorflow.compiler.tf2xla.python.xla")
    assert bindings.call_module is xla.call_module
    assert bindings.call_module_maximum_supported_version() == 10
    assert bindings.call_module_disable_check_platform() == "platform"
    importlib.import_module("tensorflow.compiler.xla.xla_data_pb2")
    importlib.import_module("tensorflow.python.compiler.xla.experimental.xla_sharding")


class Type:
    """A tensor type of MLIR: None stands for a dynamic dimension."""

    def __init__(self, element_type, *dims):
        self.element_type, self.rank = element_type, len(dims)
        self.is_dynamic_dim = lambda i: dims[i] is None
        self.get_dim_size = dims.__getitem__


@pytest.mark.parametrize(
    ("old", "new", "refines"),
    [
        (Type("f32", None, 2), Type("f32", 3, 2), True),
        (Type("f32", 3, 2), Type("f32", 3, 2), True),
        (Type("f32"), Type("f32"), True),
        (Type("f32", None, 2), Type("f32", 3, 3), False),
        (Type("f32", None), Type("f64", 3), False),
        (Type("f32", None), Type("f32", 3, 2), False),
        (Type("f32", None, 2), Type("f32", 3), False),
    ],
)
def test_types_of_arguments_that_a_module_takes(old, new, refines):
    assert _refines_type(old, new) is refines


# ---- with JAX --------------------------------------------------------------------------------------------------------


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


@pytest.fixture
def jax2tf(jax):
    tf.install_as_tensorflow()
    return importlib.import_module("jax.experimental.jax2tf")


def test_a_recorded_model_runs(jax):
    loaded = tf.saved_model.load(RECORDED)
    for rows in (1, 3):
        expected = np.tanh(np.array(X[:rows]) @ loaded.w.numpy())
        np.testing.assert_allclose(loaded.tanh(tf.constant(X[:rows])), expected, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected value >= 1 for dimension variable 'b'"):
        loaded.tanh(tf.zeros([0, 2]))


def test_arguments_are_checked(jax):
    (function,) = tf.saved_model.load(RECORDED).tanh.concrete_functions
    (module,) = [o for o in function.graph.get_operations() if o.type == "XlaCallModule"]
    attrs = {n: module.get_attr(n) for n in ("version", "module", "Sout", "Tout", "platforms")}
    x, w = tf.ones([3, 2]), tf.ones([2, 2])
    assert xla.call_module([x, w], **attrs)[0].shape == [3, 2]
    for args, message in (
        ([x], "Incorrect number of arguments passed to XlaCallModule = 1. It must be called with 2"),
        ([tf.cast(x, tf.float64), w], "tensor<3x2xf64> is no refinement of argument 0"),
        ([x, tf.ones([3, 2])], "tensor<3x2xf32> is no refinement of argument 1, tensor<2x2xf32>"),
        ([tf.ones([2]), w], "no refinement of argument 0"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            xla.call_module(args, **attrs)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot deserialize computation"):
        xla.call_module([x, w], **attrs | {"module": MODULE})
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 1 results, but Tout has 2"):
        xla.call_module([x, w], **attrs | {"Tout": [tf.float32] * 2, "Sout": [[], []]})


@pytest.mark.parametrize("kind", [lambda f: f, tf.function])
def test_functions_of_jax_have_gradients(jax2tf, jax, kind):
    function = kind(jax2tf.convert(lambda x: jax.numpy.sin(x) * x))
    x = tf.Variable([0.5, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = function(x)
        dx = tape.gradient(y, x)
    np.testing.assert_allclose(dx, np.cos(x) * x + np.sin(x), rtol=1e-6)
    np.testing.assert_allclose(outer.gradient(dx, x), 2 * np.cos(x) - np.sin(x) * x, rtol=1e-6)


def test_arguments_stay_as_they_are(jax2tf, jax):
    function = jax2tf.convert(jax.jit(lambda x: x + 1, donate_argnums=0))
    x = tf.reshape(tf.range(6.0), [2, 3])
    for argument in (x, tf.transpose(x), x[:, 1:], tf.zeros([0, 3])):
        before = argument.numpy().copy()
        np.testing.assert_array_equal(function(argument), before + 1)
        np.testing.assert_array_equal(argument, before)


@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "uint8", "int64", "float64", "complex64", "complex128"])
def test_dtypes(jax2tf, jax, dtype):
    x = tf.cast(tf.constant([[0, 1], [1, 1]]), dtype)
    with jax.enable_x64(True):
        result = jax2tf.convert(lambda x: x.T)(x)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(result, tf.transpose(x))


def test_several_platforms(jax2tf, jax):
    function = jax2tf.convert(lambda x: x * 2, native_serialization_platforms=["cuda", "cpu"])
    assert function(tf.constant(2.0)).numpy() == 4.0


# ---- with a program in the place of JAX's ----------------------------------------------------------------------------


@pytest.fixture
def compiled(monkeypatch):
    """The arguments of compilations and runs; the program returns what `results` makes of the values."""

    class Program:
        asked, ran = [], []
        results = staticmethod(lambda values: [values[-1] * 2.0, torch.tensor(3, dtype=torch.int32)])

        def run(self, values):
            self.ran.append([v.tolist() for v in values])
            return self.results(values)

    program = Program()
    monkeypatch.setattr(call_module, "_compile_module", lambda *asked: program.asked.append(asked) or program)
    return program


def test_a_module_for_one_platform(compiled):
    doubled, three = call(tf.constant(X))
    assert doubled.numpy().tolist() == (2.0 * np.array(X)).tolist() and three.numpy() == 3
    module, takes_index, types = compiled.asked[0]
    assert (module.encode(errors="surrogateescape"), takes_index, types) == (MODULE, False, ("tensor<3x2xf32>",))
    assert compiled.ran == [[X]]
    assert call(tf.constant(X), version=5, platforms=[])[1].numpy() == 3 and compiled.asked[1][1] is False
    assert calling(tf.constant(X))[0].numpy().tolist() == doubled.numpy().tolist()


@pytest.mark.parametrize(
    ("platforms", "checks", "index"),
    [(["CPU", "CUDA"], [], 0), (["CUDA", "TPU", "CPU"], [], 2), (["CUDA", "TPU"], ["platform"], 0)],
)
def test_the_index_of_a_platform(compiled, platforms, checks, index):
    call(tf.constant(X), platforms=platforms, disabled_checks=checks)
    assert compiled.asked[0][1:] == (True, ("tensor<i32>", "tensor<3x2xf32>")) and compiled.ran == [[index, X]]


def test_the_platform_is_not_checked(compiled):
    call(tf.constant(X), platforms=["CUDA"], disabled_checks=["platform"])
    assert compiled.asked[0][1] is False and compiled.ran == [[X]]
    with pytest.raises(tf.errors.NotFoundError):
        call(tf.constant(X), platforms=["CUDA"], disabled_checks=["other"])


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("bool", "i1"), ("bfloat16", "bf16"), ("half", "f16"), ("float64", "f64"), ("int8", "i8"), ("int16", "i16"),
        ("int32", "i32"), ("int64", "i64"), ("uint8", "ui8"), ("uint16", "ui16"), ("uint32", "ui32"),
        ("uint64", "ui64"), ("complex64", "complex<f32>"), ("complex128", "complex<f64>"),
    ],
)  # fmt: skip
def test_names_of_types(compiled, dtype, name):
    compiled.results = lambda values: [torch.zeros(2), torch.tensor(3, dtype=torch.int32)]
    call(tf.zeros([1, 2, 0], dtype))
    assert compiled.asked[0][2] == (f"tensor<1x2x0x{name}>",)


def test_errors_of_programs(compiled):
    def fail(values):
        raise RuntimeError("INVALID_ARGUMENT: too large: 3")

    compiled.results = fail
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large: 3"):
        call(tf.constant(X))
    compiled.results = lambda values: [values[0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="The module returns 1 results, but Tout has 2 dtypes"):
        call(tf.constant(X))


def test_a_module_has_no_gradient(compiled):
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x)[0]
    with pytest.raises(LookupError, match="gradient registry has no entry for: XlaCallModule"):
        tape.gradient(y, x)
