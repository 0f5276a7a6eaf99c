"""Public functions, classes and methods have TensorFlow's parameters and defaults.

`fixtures/signatures.json` has TensorFlow's (`scripts/record.py signatures`), `fixtures/v1_signatures.json` those of
`tf.compat.v1`.
"""

import functools
import inspect
import itertools
import json
import pathlib

import pytest

import tapeflow as tf
from recording.v1_signatures import parameters
from tapeflow.core.ops.definition import registry

FIXTURES = pathlib.Path(__file__).parent / "fixtures"
RECORDED = json.loads((FIXTURES / "signatures.json").read_text())
ANY = "*args, **kwargs"  # of classes without `__init__`, and of what TapeFlow refuses
MADE_BY_THE_LIBRARY = "programs make no such object"
ADDED = "TapeFlow's has a parameter more"
DIFFERENT = {
    "DType": MADE_BY_THE_LIBRARY,
    "dtypes.DType": MADE_BY_THE_LIBRARY,
    "distribute.StrategyExtended": MADE_BY_THE_LIBRARY,
    "lite.TFLiteConverter": "made by class methods",
    "experimental.dtensor.DVariable": ADDED,
    "lookup.experimental.DenseHashTable.lookup": ADDED,
    "types.experimental.FunctionType.from_callable": ADDED,
    "gradients": "None stands for `UnconnectedGradients.NONE`",
    "sparse.sampled_addmm": "the dtype of the values is the default: TensorFlow's, float32, refuses others",
    "test.TestCase.assertProtoEqualsVersion": "the default is the version of TensorFlow's graphs",
    "train.TrackableView.children": "a string stands for TensorFlow's private enum",
}


def is_ours(name):
    """Whether TapeFlow defines a name: `lite.Interpreter` is `ai-edge-litert`'s, which adds parameters."""
    return not (getattr(found(name), "__module__", None) or "").startswith("ai_edge_litert")


def found(name):
    """A public value, or None if TapeFlow lacks it."""
    return functools.reduce(lambda value, part: getattr(value, part, None), name.split("."), tf)


def is_left_out(name):
    """Whether another test or page tells about a name."""
    return (
        name in DIFFERENT or RECORDED[name] == ANY or name.endswith(".add_to_tensor") or ".TPU" in name
        or name.startswith(("experimental.dtensor.DVariable.assign", "nn.RNNCell"))
    )  # fmt: skip


COMPARED = [name for name in RECORDED if not is_left_out(name)]
ROOMS = itertools.groupby(sorted(COMPARED), key=lambda name: name.partition(".")[0])


@pytest.mark.parametrize("names", [pytest.param(list(names), id=room) for room, names in ROOMS])
def test_parameters(names):
    ours = {name: parameters(found(name)) for name in names if is_ours(name)}
    ours = {name: text for name, text in ours.items() if text not in (None, ANY)}
    assert ours == {name: RECORDED[name] for name in ours}


def test_differences_are_differences():
    assert not [name for name in DIFFERENT if parameters(found(name)) == RECORDED[name]]


# ---- TensorFlow 1 ----------------------------------------------------------------------------------------------------

V1_RECORDED = json.loads((FIXTURES / "v1_signatures.json").read_text())
# What TapeFlow does not have.
V1_NOT_THERE = {
    "LMDBReader", "VariableScope.set_use_resource", "errors.raise_exception_on_not_ok_status",
    "load_file_system_library", "nn.quantized_avg_pool", "nn.quantized_conv2d", "nn.quantized_max_pool",
    "nn.quantized_relu_x", "train.Checkpoint", "train.ProfilerHook", "train.SyncReplicasOptimizer",
    "train.do_quantize_training_on_graphdef", "train.sdca_fprint", "train.sdca_optimizer", "train.sdca_shrink_l1",
}  # fmt: skip
# What needs TensorFlow's own binaries, and says so when it is called.
V1_REFUSED = {
    "data.experimental.distributed_save", "data.experimental.get_model_proto",
    "image.decode_jxl", "io.decode_jxl", "load_library", "load_op_library",
    "quantization.experimental.QuantizationComponentSpec", "quantization.experimental.QuantizationMethod",
    "quantization.experimental.QuantizationOptions", "quantization.experimental.TfRecordRepresentativeDatasetSaver",
    "quantization.experimental.UnitWiseQuantizationSpec", "quantization.experimental.quantize_saved_model",
}  # fmt: skip
V1_DIFFERENT = {
    **dict.fromkeys(("DType", "dtypes.DType", "NoneTensorSpec", "Operation"), MADE_BY_THE_LIBRARY),
    **dict.fromkeys(("data.Dataset", "data.Iterator", "data.experimental.Optional"), MADE_BY_THE_LIBRARY),
    **dict.fromkeys(("Tensor.eval", "Tensor.get_shape", "Tensor.set_shape"), "eager tensors have other ones"),
    "Variable": "its class takes the parameters, as it gives a `tf.Variable`",
    "saved_model.Builder.add_meta_graph": ADDED,
    "saved_model.builder.SavedModelBuilder.add_meta_graph": ADDED,
    "VariableScope.get_variable": "TensorFlow's takes its private store first",
    "train.experimental.MixedPrecisionLossScaleOptimizer.compute_gradients": "it passes on what it gets",
}


def v1_room(path):
    """The class or the namespace that a name is in."""
    return path.rpartition(".")[0]


def is_v1_left_out(path):
    """Whether a name is not compared."""
    owner = v1_room(path)
    return (
        {path, owner} & (V1_NOT_THERE | V1_REFUSED)
        or path in V1_DIFFERENT
        or owner == "Variable"
        or (path.startswith("data.") and owner in V1_RECORDED)  # datasets have the methods of TensorFlow 2
    )


def v1_found(path):
    """A public value of `tf.compat.v1`, or None if TapeFlow lacks it."""
    return found(f"compat.v1.{path}")


V1_ROOMS = itertools.groupby(sorted(V1_RECORDED, key=v1_room), key=v1_room)


@pytest.mark.parametrize("paths", [pytest.param(list(paths), id=room) for room, paths in V1_ROOMS])
def test_parameters_of_v1(paths):
    compared = [path for path in paths if not is_v1_left_out(path)]
    assert {path: parameters(v1_found(path)) for path in compared} == {path: V1_RECORDED[path] for path in compared}


def test_what_v1_lacks_and_refuses():
    assert not [path for path in V1_NOT_THERE if v1_found(path) is not None]
    assert all("TensorFlow's own binaries" in v1_found(path).__doc__ for path in V1_REFUSED)


# ---- ops -------------------------------------------------------------------------------------------------------------


def default_attrs(op):
    """The defaults of attrs in the functions of an op: its kernels, shape rule, batching rule, ..."""
    functions = [(place, value) for place, value in vars(op).items() if inspect.isfunction(value)]
    found = {(place, p.name): p.default for place, of in functions for p in inspect.signature(of).parameters.values()}
    attrs = {attr for attr, declared in op.opdef.attrs.items() if declared.has_default}
    return {at: default for at, default in found.items() if at[1] in attrs and isinstance(default, (int, float, str))}


@pytest.mark.parametrize("name", [name for name in dir(tf.raw_ops) if name[0].isupper()])
def test_functions_of_ops_have_the_defaults_of_the_ops(name):
    assert getattr(tf.raw_ops, name), "which registers it"
    op = registry.get(name)
    if op is not None and op.opdef:
        assert default_attrs(op) == {(place, a): op.opdef.attrs[a].default for place, a in default_attrs(op)}
