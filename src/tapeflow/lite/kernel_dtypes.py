"""The dtypes that the runtime's kernels compute. Smaller integers are computed in larger ones."""

from __future__ import annotations

from tapeflow.core.types.dtypes import (
    DType,
    bool_,
    complex64,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
)
from tapeflow.lite.table import NoForm

_FLOAT = {float32}
_NARROW = {float32, int32}
_WIDE = {float32, int32, int64}  # kernels of smaller integers compute quantized numbers
_MOVED = {*_WIDE, int8, uint8, int16, bool_}
_BITS = {int32, int8, uint8, int16, uint16, uint32}

_DTYPES: dict[str, set[DType]] = {
    "ABS": _NARROW, "NEG": _WIDE, "SIGN": {float32, int32, float64}, "ZEROS_LIKE": _WIDE, "SQUARE": _FLOAT,
    "LOGICAL_NOT": {bool_}, "LOGICAL_AND": {bool_}, "LOGICAL_OR": {bool_}, "ADD": _WIDE, "SUB": _WIDE,
    "MUL": {*_WIDE, uint32, complex64}, "DIV": _NARROW, "ATAN2": {float32, float64}, "BITWISE_XOR": _BITS,
    "RIGHT_SHIFT": _BITS, "POW": _NARROW, "FLOOR_DIV": _NARROW, "FLOOR_MOD": _WIDE, "MAXIMUM": _WIDE,
    "MINIMUM": _WIDE, "SQUARED_DIFFERENCE": _NARROW, "ADD_N": _NARROW,
    "EQUAL": {*_WIDE, bool_, string}, "NOT_EQUAL": {*_WIDE, bool_, string}, "MEAN": _WIDE, "SUM": _WIDE,
    "REDUCE_MAX": _WIDE, "REDUCE_MIN": _WIDE, "REDUCE_PROD": _WIDE, "REDUCE_ANY": {bool_}, "REDUCE_ALL": {bool_},
    "CONCATENATION": {*_MOVED, uint32}, "PACK": {*_MOVED, uint32} - {bool_}, "GATHER": {*_MOVED, string},
    "GATHER_ND": {*_MOVED, string}, "REVERSE_V2": _MOVED, "PAD": _WIDE, "CUMSUM": _WIDE,
    "ARG_MAX": {float32, int32, bool_}, "ARG_MIN": {float32, int32, bool_}, "SPACE_TO_DEPTH": _MOVED - {int16, bool_},
    "DEPTH_TO_SPACE": _MOVED - {int16, bool_}, "BATCH_MATMUL": _FLOAT, "SPLIT": _MOVED - {bool_},
    "SPLIT_V": _MOVED - {bool_}, "SCATTER_ND": _MOVED - {int16}, "REVERSE_SEQUENCE": _WIDE,
    **dict.fromkeys((f"UNSORTED_SEGMENT_{name}" for name in ("SUM", "PROD", "MAX", "MIN")), _NARROW),
    **dict.fromkeys(("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"), _WIDE),
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "CONV_3D",
                     "CONV_3D_TRANSPOSE", "CEIL", "COS", "ELU", "EXP", "FLOOR", "LOG", "RELU", "RELU6", "ROUND",
                     "RSQRT", "LOGISTIC", "SIN", "SQRT", "TANH", "LEAKY_RELU", "SOFTMAX", "LOG_SOFTMAX",
                     "AVERAGE_POOL_2D", "MAX_POOL_2D", "RESIZE_BILINEAR"), _FLOAT),
}  # fmt: skip
# The places of the inputs with the dtype, unless it is the first one.
_PLACES = {"SPLIT": 1, "SCATTER_ND": 1, "TRANSPOSE_CONV": 2, "CONV_3D_TRANSPOSE": 2}


def kernel_dtype(code: str, dtypes: list[DType | None]) -> tuple[DType | None, DType | None]:
    """Returns the dtype of an operator's values, and the dtype of their computation.

    Args:
        code: the operator.
        dtypes: the dtypes of its inputs.

    Raises:
        NoForm: it computes neither this dtype nor a larger one.
    """
    supported, place = _DTYPES.get(code), _PLACES.get(code, 0)
    dtype = dtypes[place] if place < len(dtypes) else None
    if supported is None or dtype is None or dtype in supported:
        return dtype, dtype
    if dtype.is_integer or dtype.is_bool:
        for wide in (int32, int64):
            if wide in supported and (dtype.is_bool or dtype.size <= wide.size):
                return dtype, wide
    raise NoForm(f"the runtime has no kernel of {code} for {dtype.name}: cast its inputs, for example to float32")
