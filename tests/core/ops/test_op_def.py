"""The op definitions: that each line of the file parses, and gives the text that TensorFlow prints."""

import pathlib
import re

import numpy as np
import pytest

from tapeflow.core.ops import op_def
from tapeflow.core.types.dtypes import as_dtype

LINES = pathlib.Path(op_def.__file__).with_name("op_defs.txt").read_text().splitlines()


def test_names_are_sorted_and_the_common_ops_are_there():
    names = op_def.names()
    assert names == sorted(names)
    assert {"AddV2", "MatMul", "Conv2D", "VarHandleOp", "If", "While", "StatefulPartitionedCall"} <= set(names)


@pytest.mark.parametrize("first", range(0, len(LINES), 100))
def test_signature_gives_back_what_tensorflow_prints(first):
    for line in LINES[first : first + 100]:
        # TensorFlow leaves out the type of an argument that is a list of several types.
        lists = re.findall(r"attr=(\w+):list\(type\)", line)
        head, tail = re.split(r"(?=; attr=|>$)", line, maxsplit=1)
        for name in lists:
            head = re.sub(rf":{name}(?=,| ->|;|$)", ":", head)
        name = re.match(r"Op<name=(\w+)", line)[1]
        assert op_def.get(name).signature == head + tail


def test_arguments():
    concat = op_def.get("ConcatV2")
    values, axis = concat.inputs
    assert (values.name, values.number_attr, values.type_attr, values.is_list) == ("values", "N", "T", True)
    assert (axis.name, axis.type_attr, axis.is_list) == ("axis", "Tidx", False)
    assert concat.outputs[0].type is None

    branches = op_def.get("If")
    assert branches.inputs[1].type_list_attr == "Tin"
    assert branches.stateful
    assert op_def.get("VarHandleOp").outputs[0].type == as_dtype("resource")
    assert op_def.get("Assign").inputs[0].is_ref
    assert op_def.get("NoOp").inputs == op_def.get("NoOp").outputs == ()


def test_attrs():
    attrs = op_def.get("Conv2D").attrs
    assert list(attrs) == [
        "T", "strides", "use_cudnn_on_gpu", "padding", "explicit_paddings", "data_format", "dilations",
    ]  # fmt: skip
    assert attrs["T"].allowed == tuple(map(as_dtype, ("float16", "bfloat16", "float32", "float64", "int32")))
    assert not attrs["T"].has_default
    assert attrs["padding"].allowed == ("SAME", "VALID", "EXPLICIT")
    assert attrs["dilations"].default == [1, 1, 1, 1]
    assert attrs["explicit_paddings"].default == []
    assert attrs["use_cudnn_on_gpu"].default is True
    assert [name for name, attr in attrs.items() if attr.is_required_list] == ["strides"]

    assert op_def.get("AddN").attrs["N"].minimum == 1
    assert op_def.get("FusedBatchNormV3").attrs["epsilon"].default == 0.0001
    assert op_def.get("ConcatV2").attrs["Tidx"].default == as_dtype("int32")
    assert op_def.get("PrintV2").attrs["end"].default == "\n"
    assert op_def.get("AddV2").commutative
    assert op_def.get("AddV2").aggregate


def test_defaults_of_rare_kinds():
    color = op_def.get("ImageSummary").attrs["bad_color"].default
    np.testing.assert_array_equal(color, np.array([255, 0, 0, 255], np.uint8))
    shapes = [
        attr.default
        for name in op_def.names()
        for attr in op_def.get(name).attrs.values()
        if attr.type == "shape" and attr.has_default
    ]
    assert None in shapes
    assert all(shape is None or isinstance(shape, tuple) for shape in shapes)


def test_an_unknown_op_is_named():
    with pytest.raises(LookupError, match="NoSuchOp"):
        op_def.get("NoSuchOp")
