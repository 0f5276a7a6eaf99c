"""What came of a call, as JSON, and how two outcomes of the same call differ.

{"result": tree, "static": [shapes]}        what it gave, and in a trace the static shapes of all outputs
{"error": "InvalidArgumentError", "message": "first line"}
{"crash": "signal 6: last line"}            the process died;  {"hang": 20} it took longer than this
{"skip": true}                              the mode says nothing of this call
{..., "memory": 2000000000}                 it used more than a gigabyte, whatever came of it
"""

from __future__ import annotations

import base64
import math
import re
from typing import Any

import numpy as np

from fuzzing.drawing import ROUNDING
from fuzzing.values import numpy_dtype

SKIP: Any = {"skip": True}
LARGEST = 3000

# An error that speaks of the engine below, not of TensorFlow's ops.
OF_TORCH = re.compile(
    r"""\b(?:torch|aten|ATen|c10|vmap|functorch|inductor|dynamo|CPUBLAS)\b | at::|TORCH_|\.cpp |
    not\ implemented\ for\ ' | Dimension\ out\ of\ range\ \(expected | size\ of\ tensor\ a\ \( | mat1\ and\ mat2 |
    is\ invalid\ for\ input\ of\ size | Expected\ all\ tensors | only\ defined\ for\ (?!3-element) |
    expected\ scalar\ type | must\ match\ the\ existing\ size | \bnumel\b | INTERNAL\ ASSERT | \bself\b |
    DefaultCPUAllocator | Expected\ \d-D | negative\ dimension | linalg\.\w+:  |
    result\ type\ \w+\ can't""", re.X)  # fmt: skip
PYTHON_ERRORS = ("AttributeError", "AssertionError", "KeyError", "IndexError", "RuntimeError", "UnboundLocalError",
                 "NameError", "ZeroDivisionError", "OverflowError", "RecursionError", "StopIteration")  # fmt: skip


# ---- writing down ----------------------------------------------------------------------------------------------------


def encode(value: Any, tf: Any) -> Any:
    """The value as JSON."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, tf.Variable):
        value = value.read_value()
    if isinstance(value, tf.Tensor):
        shape = value.shape.as_list()
        if value.dtype.name in ("resource", "variant"):
            return {"t": [value.dtype.name, shape, ""]}
        if math.prod(shape) > LARGEST and value.dtype is not tf.string:
            value = tf.reshape(value, [-1])[:LARGEST]
        return {"t": [value.dtype.name, shape, _data(value.numpy())]}
    if isinstance(value, (np.ndarray, np.generic)):
        return {"n": [value.dtype.name if value.dtype.kind not in "OSU" else "string", list(value.shape), _data(value)]}
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": [encode(part, tf) for part in (value.flat_values, *value.nested_row_splits)]}
    if isinstance(value, tf.SparseTensor):
        return {"sparse": [encode(part, tf) for part in (value.indices, value.values, value.dense_shape)]}
    if isinstance(value, tf.IndexedSlices):
        return {"slices": [encode(part, tf) for part in (value.values, value.indices, value.dense_shape)]}
    if isinstance(value, tf.TensorShape):
        return {"shape": None if value.rank is None else value.as_list()}
    if isinstance(value, tf.DType):
        return {"dtype": value.name}
    if isinstance(value, dict):
        return {"dict": [[str(k), encode(item, tf)] for k, item in value.items()]}
    if isinstance(value, (list, tuple)):
        name = type(value).__name__ if hasattr(value, "_fields") else "list" if isinstance(value, list) else "tuple"
        return {name: [encode(item, tf) for item in value]}
    if isinstance(value, (bytes, complex)):
        return {type(value).__name__: str(value)}
    return {"object": type(value).__name__}


def _data(array: Any) -> Any:
    """The values: strings as text or hex, all others as their bytes in base 64, of as many as are compared."""
    flat = np.asarray(array).flat[:LARGEST]
    if flat.dtype.kind in "OSU":
        return [item.decode("utf-8", "backslashreplace") if isinstance(item, bytes) else str(item) for item in flat]
    if "int" in flat.dtype.name and flat.dtype.itemsize == 1 and flat.dtype.kind not in "iu":
        flat = flat.astype(np.int8)
    return base64.b64encode(flat.tobytes()).decode()


def size_of(outcome: Any) -> int:
    """Returns the bytes of the tensors in an outcome."""
    if isinstance(outcome, dict) and outcome.keys() <= {"t", "n"} and outcome:
        ((dtype, shape, _),) = outcome.values()
        bits = re.search(r"\d+", dtype)
        return math.prod(shape) * (int(bits[0]) // 8 if bits else 1)
    parts = outcome.values() if isinstance(outcome, dict) else outcome if isinstance(outcome, list) else ()
    return sum(map(size_of, parts))


def _values(dtype: str, data: Any) -> np.ndarray:
    if isinstance(data, list):
        return np.array(data, object)
    dtype = "int8" if dtype in ("int4", "uint4", "int2", "uint2") else dtype
    if dtype.startswith(("qint", "quint")):
        dtype = dtype[1:]
    return np.frombuffer(base64.b64decode(data), numpy_dtype(dtype))


def static_shapes(outputs: Any, tf: Any) -> list[Any]:
    """The static shape of every output of a trace."""
    flat = tf.nest.flatten(outputs, expand_composites=True)
    return [
        (None if out.shape.rank is None else out.shape.as_list()) if isinstance(out, tf.Tensor) else "-" for out in flat
    ]


def encode_error(error: BaseException) -> dict[str, Any]:
    """The error's class and the first line of its message, less what a run alone decides."""
    text = str(error)
    if "in user code:" in text:  # the message stands below the lines of code, after the class
        text = re.split(r"\n\s*\w+(?:Error|Exception)?: ", text)[-1]
    lines = [line for line in text.splitlines() if line.strip() and not _OF_TRACE.match(line)]
    line = re.sub(r"\{\{(?:function_)?node [^}]*\}\} ?", "", lines[0] if lines else "")
    return {"error": type(error).__name__.lstrip("_"), "message": re.sub(r"\b0x[0-9a-f]+", "0x", line).strip()[:220]}


_OF_TRACE = re.compile(r"\s*(?:Graph execution error:|Detected at node|File \"|node |Traceback)")


# ---- comparing -------------------------------------------------------------------------------------------------------


class Difference(Exception):
    """Two outcomes differ: `kind` says in what."""

    def __init__(self, kind: str, detail: str):
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail


def beyond(theirs: Any) -> bool:
    """TensorFlow has no kernel, gradient or vectorization for the call, or fails by an error of its own code."""
    message = theirs.get("message", "")
    return (
        theirs.get("error") in OF_ITS_CODE or any(words in message for words in LACKS) or bool(_OF_NONE.search(message))
    )


# Python's words about a None that TensorFlow's code did not expect; "<class 'NoneType'>" stands in what it says itself.
_OF_NONE = re.compile(r"(?<!class )'NoneType'")
# Classes that say nothing of a call's arguments: TensorFlow's code broke on its way to the op.
OF_ITS_CODE = ("AttributeError", "AssertionError", "UnboundLocalError", "NameError", "SystemError", "LookupError",
               "NotImplementedError")  # fmt: skip
LACKS = ("Could not find device for node", "No OpKernel was registered", "Default MaxPoolingOp only supports",
         "only supports NHWC on device type CPU", "only supports the NHWC tensor format on the CPU",
         "only supports NDHWC on device type CPU",
         "Depthwise convolution on CPU is only supported for NHWC",
         "Gradients for grouped convolutions are not supported on CPU",
         "CPU implementation of Conv3D currently only supports", "Current CPU implementations do not yet support",
         "TileOp : The input data type is not supported", "No WhereOp available for",
         "Current kernel implementation does not support dilations",
         "Current implementation only supports equal length strides",
         "Broadcast between [", "singleton tf.Variables", "pfor/", "uncompilable", "not compilable", "XLA",
         "compile-time constant")  # fmt: skip


def compare(theirs: Any, ours: Any, call: Any = None, spread: list[Any] | None = None) -> Difference | None:
    """How TapeFlow's outcome differs from TensorFlow's, or None.

    Args:
        theirs: TensorFlow's outcome.
        ours: TapeFlow's.
        call: the call; results of some functions are compared less strictly.
        spread: outcomes of the same call with its numbers a few roundings away: as much as they differ is allowed.
    """
    try:
        _compare(theirs, ours, call["function"] if call else "", spread or [])
    except Difference as difference:
        return difference
    return None


def _compare(theirs: Any, ours: Any, function: str, spread: list[Any]) -> None:
    for kind in ("crash", "hang"):
        if kind in ours:
            raise Difference(kind, str(ours[kind]))
    if "skip" in theirs or "skip" in ours:
        if theirs.keys() & {"skip", "error"} and ours.keys() & {"skip", "error"}:
            return
        raise Difference("one has nothing to compare", f"{_shown(theirs)} / {_shown(ours)}")
    if "error" in ours and "error" in theirs:
        if ours["error"] != theirs["error"]:
            kind = "words of torch" if _of_torch(ours) else "error class"
            raise Difference(kind, f"{_shown(theirs)}\n      ours: {_shown(ours)}")
        if _of_torch(ours) and not _of_torch(theirs):
            raise Difference("words of torch", f"{_shown(theirs)}\n      ours: {_shown(ours)}")
        return
    if "error" in ours:
        kind = "refuses: words of torch" if _of_torch(ours) else "refuses: " + ours["error"] if (
            ours["error"] in PYTHON_ERRORS) else "refuses"  # fmt: skip
        raise Difference(kind, f"{_shown(ours)}\n      theirs: {_shown(theirs)}")
    if "error" in theirs:
        raise Difference("accepts", f"{_shown(theirs)}\n      ours: {_shown(ours)}")
    parts = [s["result"] for s in spread if "result" in s]
    _compare_trees(theirs["result"], ours["result"], function, parts)
    if theirs.get("static") != ours.get("static"):
        raise Difference("static shape", f"theirs {theirs.get('static')}, ours {ours.get('static')}")


def _of_torch(outcome: Any) -> bool:
    return bool(OF_TORCH.search(outcome["message"]))


def _shown(outcome: Any) -> str:
    return (
        f"{outcome['error']}: {outcome['message']}"
        if "error" in outcome
        else _tree_shown(outcome.get("result", outcome))
    )


def _tree_shown(tree: Any) -> str:
    if isinstance(tree, dict) and ("t" in tree or "n" in tree):
        dtype, shape, data = tree.get("t") or tree["n"]
        if dtype in ("resource", "variant"):
            return dtype
        values = _values(dtype, data).tolist()
        return f"{dtype}{shape} {str(values[:8])[1:-1]}{', ...' if len(values) > 8 else ''}"
    if isinstance(tree, dict):
        return " ".join(f"{key}({_tree_shown(value)})" for key, value in tree.items())
    return f"[{', '.join(map(_tree_shown, tree))}]" if isinstance(tree, list) else repr(tree)


def _compare_trees(theirs: Any, ours: Any, function: str, spread: list[Any]) -> None:
    if isinstance(theirs, dict) and isinstance(ours, dict) and theirs.keys() == ours.keys():
        (kind,) = theirs
        inner = [s[kind] for s in spread if isinstance(s, dict) and s.keys() == theirs.keys()]
        if kind in ("t", "n"):
            _compare_arrays(theirs[kind], ours[kind], function, inner)
        else:
            _compare_trees(theirs[kind], ours[kind], function, inner)
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for i, (their, our) in enumerate(zip(theirs, ours, strict=True)):
            _compare_trees(their, our, function, [s[i] for s in spread if isinstance(s, list) and len(s) == len(ours)])
    elif type(theirs) is float and type(ours) is float:
        if not _close(np.array([theirs]), np.array([ours]), "float32", [np.array([s]) for s in spread]):
            raise Difference("value", f"theirs {theirs!r}, ours {ours!r}")
    elif type(theirs) is not type(ours) or theirs != ours:
        raise Difference("structure", f"theirs {_tree_shown(theirs)}, ours {_tree_shown(ours)}")


def _compare_arrays(theirs: Any, ours: Any, function: str, spread: list[Any]) -> None:
    for i, kind in enumerate(("dtype", "shape")):
        if theirs[i] != ours[i]:
            raise Difference(kind, f"theirs {_tree_shown({'t': theirs})}, ours {_tree_shown({'t': ours})}")
    if theirs[2] == ours[2]:
        return
    dtype = theirs[0]
    their, our = _values(dtype, theirs[2]), _values(dtype, ours[2])
    others = [_values(dtype, s[2]) for s in spread if s[:2] == ours[:2]]
    if function in UP_TO_SIGN and dtype != "string":
        their, our, others = np.abs(their), np.abs(our), [np.abs(o) for o in others]
    if function in OPEN:
        return
    if function.endswith("linalg.cholesky") and len(theirs[1]) > 1:
        # Of a matrix that is not positive definite, TensorFlow leaves memory as it is: here it is all NaN.
        matrices = (-1, int(np.prod(theirs[1][-2:])))
        written = ~np.isnan(our.reshape(matrices)).any(1)
        their, our = their.reshape(matrices)[written].reshape(-1), our.reshape(matrices)[written].reshape(-1)
        others = [o.reshape(matrices)[written].reshape(-1) for o in others]
    if len(their) != len(our):
        raise Difference("shape", f"theirs {_tree_shown({'t': theirs})}, ours {_tree_shown({'t': ours})}")
    if dtype == "float64" and _is_of_float32(their) and _is_of_float32(our):
        dtype = "float32"  # computed so, and cast
    if dtype == "string" or not _close(their, our, dtype, others):
        raise Difference("value", f"theirs {_tree_shown({'t': theirs})}\n      ours   {_tree_shown({'t': ours})}")


# Files that may be written in several ways.
OPEN = ("io.encode_png", "io.encode_jpeg")
# Decompositions of which any sign, and any basis of a space, is right.
UP_TO_SIGN = ("linalg.svd", "linalg.eigh", "linalg.qr", "linalg.eig", "eig")


def _is_of_float32(values: np.ndarray) -> bool:
    """Tests whether all values are numbers of float32 that are no small fractions, as results cast from it are."""
    with np.errstate(all="ignore"):
        finite = values[np.isfinite(values)]
        return bool((finite.astype(np.float32) == finite).all() and (finite * 1024 % 1 != 0).any())


def _close(
    theirs: np.ndarray, ours: np.ndarray, dtype: str, spread: list[np.ndarray], largest: float | None = None
) -> bool:
    """The values agree within rounding, and within what they change when the arguments are rounded otherwise. Rounding
    goes with the `largest` value, by default of `theirs`."""
    kind = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    if theirs.dtype.kind == "c":
        sizes = np.abs(theirs[np.isfinite(theirs)])
        largest = float(sizes.max()) if sizes.size else 0.0  # the parts of a complex number are rounded together
        return all(_close(getattr(theirs, part), getattr(ours, part), kind, [getattr(s, part) for s in spread], largest)
                   for part in ("real", "imag"))  # fmt: skip
    step = ROUNDING.get(kind, 0.0)
    t, o = theirs.astype(np.float64), ours.astype(np.float64)
    if "int" in dtype or dtype == "bool":
        same = theirs == ours
        for other in spread:
            same |= theirs == other
        return bool(same.all())
    with np.errstate(all="ignore"):
        same = (t == o) | (np.isnan(t) & np.isnan(o))
        finite = np.abs(t[np.isfinite(t)])
        scale = 8 * step * min(largest or (finite.max() if finite.size else 0.0), 1.0)
        allowed = 32 * step * np.maximum(np.abs(t), np.abs(o)) + scale
        tiny = np.finfo(np.float32 if kind == "bfloat16" else kind).tiny * (2 if kind != "float16" else 1)
        moved = np.zeros_like(o)
        for other in spread:
            w = other.astype(np.float64)
            same |= (t == w) | (np.isnan(t) & np.isnan(w))
            moved = np.fmax(moved, np.abs(w - o))
        same |= np.abs(t - o) <= allowed + 16 * moved + tiny
    return bool(same.all())
