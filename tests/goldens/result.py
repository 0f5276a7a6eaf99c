"""Results of golden cases as JSON: how they are written down, and how two of them are compared.

Every value becomes something `json` writes and reads unchanged. Python's own numbers, strings, None and lists stand for
themselves; everything else is a dict whose one key says what it is:

    {"tensor": ["float32", [2], [1.0, "nan"]]}      a tensor: dtype, shape, values in row-major order
    {"array": ["int64", [], [3]]}                   the same of a NumPy array or scalar
    {"tuple": [...]}, {"dict": [[key, value]]}, {"TensorShape": [2, null]}, {"DType": "float32"}, ...
"""

import math
import re
from typing import Any

import numpy as np

# Relative and absolute tolerances: kernels may differ by a few units in the last place.
TOLERANCES = {
    "float64": (1e-11, 1e-13),
    "complex128": (1e-11, 1e-13),
    "float32": (1e-5, 1e-6),
    "complex64": (1e-5, 1e-6),
    "float16": (2e-3, 1e-3),
    "bfloat16": (1.6e-2, 1e-2),
}

LARGEST = 400


def encode(value: Any, tf: Any) -> Any:
    """The value as JSON."""
    for kind, is_kind, write in _KINDS:
        if is_kind(value, tf):
            written = write(value, tf)
            return {kind: written} if kind else written
    raise TypeError(f"a case must give something that can be written down, not a {type(value).__name__}: {value!r}")


def first_line(error: Exception, tmp: str) -> str:
    """The first line of the error's message, less what differs from run to run and the name given to the op."""
    line = (str(error).splitlines() or [""])[0]
    line = re.sub(r"\{\{function_node [^}]*\}\} ?", "", line).replace(tmp, "TMP")
    line = re.sub(r"(\[Op:\w+\]) name: .*", r"\1", line)
    return re.sub(r"\b0x[0-9a-f]+", "0x", line).strip()


def _encode_float(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _encode_array(array: np.ndarray | np.generic | bytes) -> list:
    """Dtype, shape and values, the floats in as few digits as give the same value back."""
    array = np.asarray(array)
    assert array.size <= LARGEST, f"an array of {array.size} elements is too long for the record; compare a part of it"
    flat = array.reshape(-1)
    name = array.dtype.name
    if array.dtype.kind in "biu":
        values = flat.tolist()
    elif array.dtype.kind == "c":
        values = [[_shortest(item.real), _shortest(item.imag)] for item in flat]
    elif array.dtype.kind in "OSU":
        name, values = "string", [_encode_bytes(item) for item in flat]
    elif "int" in name:
        values = flat.astype(np.int64).tolist()
    else:
        values = [_shortest(item) for item in flat]
    return [name, list(array.shape), values]


def _shortest(item: np.generic) -> float | str:
    number = float(item)
    if not math.isfinite(number):
        return str(number)
    return next(short for digits in range(1, 18) if item.dtype.type(short := float(f"{number:.{digits}g}")) == item)


def _encode_bytes(value: bytes | str) -> Any:
    if isinstance(value, str):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"hex": value.hex()}


def _encode_tensor(value: Any, tf: Any) -> list:
    if value.dtype.name in ("resource", "variant"):
        return [value.dtype.name, value.shape.as_list(), []]
    return [value.dtype.name, *_encode_array(value.numpy())[1:]]


def _encode_dict(value: dict, tf: Any) -> list:
    return [[encode(key, tf), encode(item, tf)] for key, item in value.items()]


def _is_namedtuple(value: Any, tf: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _parts(*names: str) -> Any:
    return lambda value, tf: [encode(getattr(value, name), tf) for name in names]


def _is_a(*names: str) -> Any:
    return lambda value, tf: isinstance(value, tuple(getattr(tf, name) for name in names if hasattr(tf, name)))


# What a value can be: the key in the record ("" for what stands for itself), the test for it, and how it is written.
_KINDS = [
    ("", lambda value, tf: value is None or type(value) in (bool, int, str), lambda value, tf: value),
    ("", lambda value, tf: type(value) is float, lambda value, tf: _encode_float(value)),
    ("", lambda value, tf: type(value) is list, lambda value, tf: [encode(item, tf) for item in value]),
    ("array", lambda value, tf: isinstance(value, (np.ndarray, np.generic)), lambda value, tf: _encode_array(value)),
    ("bytes", lambda value, tf: isinstance(value, bytes), lambda value, tf: _encode_bytes(value)),
    ("complex", lambda value, tf: isinstance(value, complex), lambda value, tf: [value.real, value.imag]),
    ("type", lambda value, tf: isinstance(value, type), lambda value, tf: value.__name__),
    ("Variable", _is_a("Variable"), lambda value, tf: _encode_tensor(value.read_value(), tf)),
    ("tensor", _is_a("Tensor"), _encode_tensor),
    ("IndexedSlices", _is_a("IndexedSlices"), _parts("values", "indices", "dense_shape")),
    ("SparseTensor", _is_a("SparseTensor"), _parts("indices", "values", "dense_shape")),
    ("RaggedTensor", _is_a("RaggedTensor"), _parts("flat_values", "nested_row_splits")),
    ("TensorShape", _is_a("TensorShape"), lambda value, tf: None if value.rank is None else value.as_list()),
    ("DType", _is_a("DType"), lambda value, tf: value.name),
    ("TypeSpec", _is_a("TypeSpec"), lambda value, tf: repr(value)),
    ("namedtuple", _is_namedtuple, lambda value, tf: [type(value).__name__, _encode_dict(value._asdict(), tf)]),
    ("tuple", lambda value, tf: isinstance(value, tuple), lambda value, tf: [encode(item, tf) for item in value]),
    ("dict", lambda value, tf: isinstance(value, dict), _encode_dict),
    ("list", lambda value, tf: isinstance(value, list), lambda value, tf: [encode(item, tf) for item in value]),
]


def difference(expected: Any, actual: Any, case: Any, path: str = "result") -> str | None:
    """Says where two encoded results differ under the case's tolerances, or None if they agree."""
    if isinstance(expected, dict) and isinstance(actual, dict) and expected.keys() == actual.keys():
        (kind,) = expected
        if kind in ("tensor", "array", "Variable"):
            return _array_difference(expected[kind], actual[kind], case, path)
        return difference(expected[kind], actual[kind], case, path if kind in ("tuple", "dict") else f"{path}:{kind}")
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        parts = (difference(*pair, case, f"{path}[{i}]") for i, pair in enumerate(zip(expected, actual, strict=True)))
        return next((part for part in parts if part), None)
    if type(expected) is float and type(actual) is float:
        close = not case.values or np.isclose(actual, expected, *_tolerance("float64", case))
        return None if close else f"{path}: {actual!r}, not {expected!r}"
    if type(expected) is type(actual) and (expected == actual or (not case.values and type(expected) is not str)):
        return None
    return f"{path}: {actual!r}, not {expected!r}"


def _tolerance(dtype: str, case: Any) -> tuple[float, float]:
    rtol, atol = TOLERANCES.get(dtype, (0.0, 0.0))
    return max(rtol, case.rtol or 0.0), max(atol, case.atol or 0.0)


def _array_difference(expected: list, actual: list, case: Any, path: str) -> str | None:
    if expected[:2] != actual[:2]:
        return f"{path}: {actual[0]} of shape {actual[1]}, not {expected[0]} of shape {expected[1]}"
    if not case.values or expected[2] == actual[2]:
        return None
    dtype, shape, _ = expected
    if dtype in TOLERANCES:
        # Complex numbers are compared part by part, "nan" and "inf" as the numbers they are.
        theirs, ours = (np.array(values, np.float64) for values in (expected[2], actual[2]))
        rtol, atol = _tolerance(dtype, case)
        close = np.isclose(ours, theirs, rtol=rtol, atol=atol, equal_nan=True)
        if close.all():
            return None
    return f"{path}: {dtype}{shape}\n  gave     {actual[2]}\n  recorded {expected[2]}"
