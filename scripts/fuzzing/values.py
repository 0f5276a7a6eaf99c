"""Arguments as JSON: what stands for itself, and dicts of one key for everything else.

{"tensor": ["float32", [2], [1.0, NaN]]}    a tensor: dtype, shape, values in row-major order
{"array": [...]}  {"variable": [...]}       the same as a NumPy array, and as a variable
{"ragged": [values, [splits, ...]]}         `values` is a tensor's description
{"sparse": [indices, values, shape]}        three tensors' descriptions
{"spec": [dtype, shape]}                    what a trace gets in place of a tensor: a shape may have null, or be it
{"strided": [dtype, shape, values]}         a tensor whose elements lie in column-major order; `values` is repeated
{"handle": ["float32", [2], [1.0, NaN]]}    the handle of a variable with this value
{"call": call}                              the result of another call, or its first one: a list, a table, a queue
{"tuple": [...]}  {"dict": [[key, value]]}  {"complex": [re, im]}  {"bytes": "hex"}  {"dtype": "float32"}
{"shape": [2, null]}  {"slice": [1, null, 2]}  {"ellipsis": []}  {"function": "math.exp"}
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

# What is built before a call is traced: a trace takes tensors as inputs and captures variables.
INPUTS = ("tensor", "strided", "ragged", "sparse", "variable", "spec")
LARGEST = 600


def kind_of(node: Any) -> str:
    """The key of a description that is a dict, or ""."""
    return next(iter(node)) if isinstance(node, dict) else ""


def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(object if name == "string" else getattr(ml_dtypes, name, None) or name)


def resolve(name: str, tf: Any) -> Callable[..., Any]:
    """The function of this dotted name: of `tf`, or an operator of Python's."""
    if name.startswith("operator."):
        return getattr(operator, name.removeprefix("operator."))
    value = tf
    for part in name.split("."):
        value = getattr(value, part)
    return value


# ---- from values -----------------------------------------------------------------------------------------------------


class NotDescribed(Exception):
    """A value cannot be written down."""


def describe(value: Any, tf: Any) -> Any:
    """The value as JSON."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return short(value)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        items = [describe(item, tf) for item in value]
        return items if type(value) is list else {"tuple": items}
    for type_, write in _writers(tf):
        if isinstance(value, type_):
            return write(value, tf)
    name = getattr(value, "fuzzed_name", None)
    if name is not None:
        return {"function": name}
    raise NotDescribed(f"{type(value).__name__} {value!r}"[:80])


def _writers(tf: Any) -> list[tuple[Any, Callable[[Any, Any], Any]]]:
    return [
        (tf.Variable, lambda v, tf: {"variable": describe_array(v.numpy())}),
        (tf.RaggedTensor, lambda v, tf: {"ragged": [
            describe(v.flat_values, tf), [[int(i) for i in s.numpy()] for s in v.nested_row_splits]]}),
        (tf.SparseTensor, lambda v, tf: {"sparse": [describe(p, tf) for p in (v.indices, v.values, v.dense_shape)]}),
        (tf.Tensor, lambda v, tf: {"tensor": describe_array(_numpy(v))}),
        ((np.ndarray, np.generic), lambda v, tf: {"array": describe_array(v)}),
        (tf.DType, lambda v, tf: {"dtype": v.name}),
        (tf.TensorShape, lambda v, tf: {"shape": None if v.rank is None else v.as_list()}),
        (slice, lambda v, tf: {"slice": [describe(p, tf) for p in (v.start, v.stop, v.step)]}),
        (type(...), lambda v, tf: {"ellipsis": []}),
        (complex, lambda v, tf: {"complex": [v.real, v.imag]}),
        (bytes, lambda v, tf: {"bytes": v.hex()}),
        (dict, lambda v, tf: {"dict": [[describe(k, tf), describe(item, tf)] for k, item in v.items()]}),
        (type, lambda v, tf: {"dtype": np.dtype(v).name} if issubclass(v, np.generic) else _not_described(v)),
    ]  # fmt: skip


def _not_described(value: Any) -> Any:
    raise NotDescribed(repr(value))


def _numpy(tensor: Any) -> Any:
    if tensor.dtype.name in ("resource", "variant"):
        raise NotDescribed(tensor.dtype.name)
    return tensor.numpy()


def describe_array(array: Any) -> list[Any]:
    """Dtype, shape and values; floats in nine digits, so that a description stays short."""
    array = np.asarray(array)
    if array.size > LARGEST:
        raise NotDescribed(f"{array.size} elements")
    flat = array.reshape(-1)
    name = array.dtype.name
    if array.dtype.kind in "OSU":
        name, values = "string", [text(item) for item in flat]
    elif array.dtype.kind == "c":
        values = [[short(item.real), short(item.imag)] for item in flat]
    elif array.dtype.kind in "biu":
        values = flat.tolist()
    else:
        values = [short(item) for item in flat]
    return [name, list(array.shape), values]


def short(number: Any) -> float:
    return float(f"{float(number):.9g}")


def text(item: Any) -> Any:
    """A string element: as text, or in hex where it is no text."""
    if isinstance(item, str):
        return item
    if not isinstance(item, bytes):
        raise NotDescribed(repr(item))
    try:
        return item.decode()
    except UnicodeDecodeError:
        return {"bytes": item.hex()}


# ---- to values -------------------------------------------------------------------------------------------------------


def array(description: list[Any]) -> np.ndarray:
    """The NumPy array of a description."""
    name, shape, values = description
    if name == "string":
        flat = np.empty(len(values), object)
        flat[:] = [bytes.fromhex(v["bytes"]) if isinstance(v, dict) else v.encode("utf-8", "surrogatepass")
                   for v in values]  # fmt: skip
    elif name.startswith("complex"):
        flat = np.array([complex(*v) for v in values], name)
    else:
        with np.errstate(all="ignore"):
            wide = None if "int" in name and not name.endswith(("int4", "int2")) else np.float64
            flat = np.array(values, wide or name).astype(numpy_dtype(name))
    return flat.reshape(shape)


def tensor(description: list[Any], tf: Any) -> Any:
    return tf.constant(array(description), tf.dtypes.as_dtype(description[0]))


def build(node: Any, tf: Any, inputs: Iterator[Any] | None = None) -> Any:
    """The value of a description; tensors are the next of `inputs` if that is given."""
    if isinstance(node, list):
        return [build(item, tf, inputs) for item in node]
    if not isinstance(node, dict):
        return node
    ((kind, content),) = node.items()
    if kind in INPUTS:
        return _input(kind, content, tf) if inputs is None else next(inputs)
    return _BUILD[kind](content, tf, inputs)


def _input(kind: str, content: Any, tf: Any) -> Any:
    if kind == "tensor":
        return tensor(content, tf)
    if kind == "strided":
        dtype, shape, values = content
        repeated = np.resize(array([dtype, [len(values)], values]), shape[::-1])
        return tf.transpose(tf.constant(repeated, tf.dtypes.as_dtype(dtype)))
    if kind == "variable":
        return tf.Variable(tensor(content, tf))
    if kind == "spec":
        return tf.TensorSpec(content[1], content[0])
    if kind == "sparse":
        return tf.SparseTensor(*(tensor(part["tensor"], tf) for part in content))
    values, splits = content
    return tf.RaggedTensor.from_nested_row_splits(
        tensor(values["tensor"], tf), [tf.constant(s, "int64") for s in splits]
    )


_BUILD: dict[str, Callable[[Any, Any, Any], Any]] = {
    "array": lambda c, tf, inputs: array(c)[()] if c[0] != "string" or c[1] else np.str_(array(c)[()].decode("latin1")),
    "tuple": lambda c, tf, inputs: tuple(build(item, tf, inputs) for item in c),
    "dict": lambda c, tf, inputs: {build(k, tf, inputs): build(v, tf, inputs) for k, v in c},
    "complex": lambda c, tf, inputs: complex(*c),
    "bytes": lambda c, tf, inputs: bytes.fromhex(c),
    "dtype": lambda c, tf, inputs: tf.dtypes.as_dtype(c),
    "shape": lambda c, tf, inputs: tf.TensorShape(c),
    "slice": lambda c, tf, inputs: slice(*(build(item, tf, inputs) for item in c)),
    "ellipsis": lambda c, tf, inputs: ...,
    "function": lambda c, tf, inputs: resolve(c, tf),
    "handle": lambda c, tf, inputs: tf.Variable(tensor(c, tf)).handle,
    "call": lambda c, tf, inputs: _first_result(invoke(c, tf)),
}


def _first_result(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) else value


def inputs_of(call: dict[str, Any], tf: Any) -> list[Any]:
    """The tensors and variables among the arguments, in the order in which `build` asks for them."""
    return [build(node, tf) for node in nodes([call["args"], list(call["kwargs"].values())]) if kind_of(node) in INPUTS]


def nodes(node: Any) -> Iterator[Any]:
    """The description and all within it, outermost first; parts of a tensor aside."""
    yield node
    kind = kind_of(node)
    if isinstance(node, list) or kind in ("tuple", "slice"):
        for item in node if isinstance(node, list) else node[kind]:
            yield from nodes(item)
    elif kind == "dict":
        for key, item in node[kind]:
            yield from nodes(key)
            yield from nodes(item)


def invoke(call: dict[str, Any], tf: Any, inputs: list[Any] | None = None) -> Any:
    """Calls the function with its arguments; with these tensors if they are given."""
    left = None if inputs is None else iter(inputs)
    args = [build(node, tf, left) for node in call["args"]]
    kwargs = {name: build(node, tf, left) for name, node in call["kwargs"].items()}
    return resolve(call["function"], tf)(*args, **kwargs)


def written(call: dict[str, Any]) -> str:
    """The call as a reader would write it."""
    args = [_written(node) for node in call["args"]]
    args += [f"{name}={_written(node)}" for name, node in call["kwargs"].items()]
    prefix = "" if call["function"].startswith("operator.") else "tf."
    return f"{prefix}{call['function']}({', '.join(args)})"


def _written(node: Any) -> str:
    if isinstance(node, list):
        return f"[{', '.join(map(_written, node))}]"
    if not isinstance(node, dict):
        return repr(node)
    ((kind, content),) = node.items()
    if kind in ("tensor", "array", "variable"):
        name, shape, _ = content
        values = array(content).tolist()
        shown = repr(values)
        if not np.prod(shape):
            shown = f"zeros({shape})"
        return f"{kind}({shown if len(shown) < 160 else shown[:150] + f'... of shape {shape}'}, {name})"
    if kind == "dict":
        return "{" + ", ".join(f"{_written(k)}: {_written(v)}" for k, v in content) + "}"
    if kind == "function":
        return f"tf.{content}"
    if kind in ("ragged", "sparse", "tuple"):
        return f"{kind}({', '.join(map(_written, content))})"
    return f"{kind}({content})"
