"""Public functions, classes and methods have TensorFlow's parameters and defaults.

`fixtures/signatures.json` has TensorFlow's (`scripts/record.py signatures`).
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

RECORDED = json.loads((pathlib.Path(__file__).parent / "fixtures" / "signatures.json").read_text())
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


def default_attrs(name):
    """The attrs of an op that its kernel has defaults for, and these."""
    defaults = {p.name: p.default for p in inspect.signature(registry[name].kernel).parameters.values()}
    attrs = {attr for attr, declared in registry[name].opdef.attrs.items() if declared.has_default}
    return {a: d for a, d in defaults.items() if a in attrs and isinstance(d, (int, float, str))}


@pytest.mark.parametrize("name", sorted(n for n, o in registry.items() if o.opdef and inspect.isfunction(o.kernel)))
def test_kernels_have_the_defaults_of_their_ops(name):
    assert default_attrs(name) == {attr: registry[name].opdef.attrs[attr].default for attr in default_attrs(name)}
