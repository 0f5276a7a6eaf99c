"""Records the definitions of TensorFlow's registered ops in `src/tapeflow/core/ops/op_defs.txt`.

    python scripts/record.py op_defs            # needs TensorFlow; rewrites the file
    python scripts/record.py op_defs --check    # only says whether the file is up to date

One line an op, in the notation that TensorFlow prints in its errors, sorted by name:

    Op<name=Exp; signature=x:T -> y:T; attr=T:type,allowed=[DT_BFLOAT16, DT_HALF, ...]>

with one addition, because TensorFlow's print leaves it out: an argument that is a list of tensors of several types
names its `list(type)` attr (`inputs:T`, where TensorFlow prints `inputs:`). Every line is compared with what TensorFlow
itself prints for that op, so a difference in the notation stops the recording.

Recorded is what `tf.raw_ops` offers. The names of the ops for which a CPU build has no kernel (those of TPUs, NCCL and
cuDNN, and the boosted trees, that TensorFlow itself has given up) go into
`src/tapeflow_compat/raw_ops/without_kernel.txt`.
"""

import argparse
import math
import os
import pathlib
import re
import struct

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2, types_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import kernels

HOME = pathlib.Path(__file__).parents[2] / "src" / "tapeflow"
TARGET = HOME / "core" / "ops" / "op_defs.txt"
WITHOUT_KERNEL = HOME.with_name("tapeflow_compat") / "raw_ops" / "without_kernel.txt"

FLAGS = ("is_commutative", "is_aggregate", "is_stateful", "allows_uninitialized_input", "is_distributed_communication")

# TensorFlow cuts long strings and lists short when it prints them; such a line can't be compared as it is.
SHORTENED = "..."


def registered_ops() -> list[op_def_pb2.OpDef]:
    """The ops to record, sorted by name."""
    serialized = pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())
    ops = op_def_pb2.OpList.FromString(serialized).op
    kept = [op for op in ops if hasattr(tf.raw_ops, op.name)]
    return sorted(kept, key=lambda op: op.name)


def has_cpu_kernel(name: str) -> bool:
    """Whether TensorFlow's own build for CPUs, which also has XLA's devices, runs an op in eager mode."""
    registered = kernels.get_registered_kernels_for_op(name).kernel
    return any(kernel.device_type in ("CPU", "DEFAULT") for kernel in registered)


def notation(op: op_def_pb2.OpDef) -> str:
    """The op's definition in one line, list(type) arguments named."""
    lists = {attr.name for attr in op.attr if attr.type == "list(type)"}
    inputs = ", ".join(_argument(arg, lists) for arg in op.input_arg)
    outputs = ", ".join(_argument(arg, lists) for arg in op.output_arg)
    parts = [f"name={op.name}", f"signature={inputs} -> {outputs}"]
    parts += [f"attr={_attribute(attr)}" for attr in op.attr]
    for flag in FLAGS:
        if getattr(op, flag):
            parts.append(f"{flag}=true")
    return f"Op<{'; '.join(parts)}>"


def _argument(arg: op_def_pb2.OpDef.ArgDef, lists: set[str]) -> str:
    count = f"{arg.number_attr}*" if arg.number_attr else ""
    if arg.type_list_attr:
        assert arg.type_list_attr in lists, arg
        type_name = arg.type_list_attr
    else:
        type_name = arg.type_attr or _type(arg.type).removeprefix("DT_").lower()
    return f"{arg.name}:Ref({count}{type_name})" if arg.is_ref else f"{arg.name}:{count}{type_name}"


def _attribute(attr: op_def_pb2.OpDef.AttrDef) -> str:
    text = f"{attr.name}:{attr.type}"
    if attr.HasField("default_value"):
        text += f",default={_value(attr.default_value)}"
    if attr.has_minimum:
        text += f",min={attr.minimum}"
    if attr.HasField("allowed_values"):
        text += f",allowed={_value(attr.allowed_values)}"
    return text


def _value(value) -> str:
    kind = value.WhichOneof("value")
    field = getattr(value, kind)
    writers = {"s": _string, "i": str, "f": _float, "b": _bool, "type": _type, "shape": _shape, "tensor": _tensor}
    if kind == "list":
        return f"[{', '.join(write(item) for name, write in writers.items() for item in getattr(field, name))}]"
    return writers[kind](field)


def _type(value: int) -> str:
    return types_pb2.DataType.Name(value)


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _string(value: bytes) -> str:
    escapes = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "'": r"\'", "\\": r"\\"}
    return '"' + "".join(escapes.get(letter, letter) for letter in value.decode("ascii")) + '"'


def _float(value: float) -> str:
    """A float32 as C++ prints it: six digits, which must be enough to give the same float32 back."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = f"{value:.6g}"
    assert struct.pack("f", float(text)) == struct.pack("f", value), value
    return text


def _shape(value) -> str:
    if value.unknown_rank:
        return "<unknown>"
    return "[" + ",".join(str(dim.size) if dim.size >= 0 else "?" for dim in value.dim) + "]"


def _tensor(value) -> str:
    array = tf.make_ndarray(value)
    return f"Tensor<type: {array.dtype} shape: {list(array.shape)} values: {' '.join(map(str, array.flat))}>"


def printed_by_tensorflow(op: op_def_pb2.OpDef) -> str:
    """The definition as TensorFlow prints it in the error about a node with a missing or a surplus input."""
    graph_def = tf.compat.v1.GraphDef()
    node = graph_def.node.add(name="node", op=op.name)
    node.attr["no_such_attr"].i = 1
    if not op.input_arg:
        graph_def.node.add(name="surplus", op="Placeholder").attr["dtype"].type = types_pb2.DT_FLOAT
        node.input.append("surplus")
    with tf.Graph().as_default():
        try:
            tf.import_graph_def(graph_def)
        except ValueError as error:
            return re.search(r"Op<.*>(?=; NodeDef)", str(error), re.DOTALL).group(0)
    raise AssertionError(f"{op.name}: TensorFlow took a node that doesn't fit the op")


def differences(op: op_def_pb2.OpDef, line: str) -> str | None:
    """Says how the line differs from TensorFlow's print of the op, or None."""
    ours = line
    for arg in (*op.input_arg, *op.output_arg):
        if arg.type_list_attr:
            ours = re.sub(rf"(?<=[ =]){arg.name}:{arg.type_list_attr}(?=[, ;])", f"{arg.name}:", ours)
    theirs = printed_by_tensorflow(op)
    return None if ours == theirs or SHORTENED in theirs else f"ours   {ours}\ntheirs {theirs}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the file is out of date")
    args = parser.parse_args()

    lines, wrong = [], 0
    for op in registered_ops():
        line = notation(op)
        if difference := differences(op, line):
            print(difference)
            wrong += 1
        lines.append(line)
    without = "".join(f"{op.name}\n" for op in registered_ops() if not has_cpu_kernel(op.name))
    text = "".join(f"{line}\n" for line in lines)
    if wrong:
        print(f"{wrong} ops are printed differently by TensorFlow; nothing written")
        return 1
    if args.check:
        return 0 if TARGET.read_text() == text and WITHOUT_KERNEL.read_text() == without else 1
    TARGET.write_text(text)
    WITHOUT_KERNEL.write_text(without)
    print(f"{len(lines)} ops, {len(text) // 1024} KiB, TensorFlow {tf.__version__}: {TARGET}")
    return 0
