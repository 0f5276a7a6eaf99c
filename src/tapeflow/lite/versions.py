"""The versions of operators: an older runtime refuses a newer feature of an operator, instead of ignoring it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.types.dtypes import bool_, int32, int64
from tapeflow.lite.program import LiteOperator

_HIGH_RANK = 4  # kernels of a first version take no more dimensions

# For operators with several versions: the versions above one, each with its condition. The first true one counts.
_VERSIONS: dict[str, list[tuple[int, Callable[[LiteOperator], Any]]]] = {
    "ADD": [(4, lambda o: _operand_dtype(o) is int64)],
    "BROADCAST_TO": [(2, lambda o: True)],
    "CONV_2D": [(6, lambda o: o.inputs[0].shape[-1] != o.inputs[1].shape[-1])],
    "DEPTHWISE_CONV_2D": [(2, lambda o: o.options["dilationHFactor"] > 1 or o.options["dilationWFactor"] > 1)],
    "FULLY_CONNECTED": [(5, lambda o: o.options.get("keepNumDims"))],
    "GATHER": [(5, lambda o: o.options.get("batchDims")), (3, lambda o: _operand_dtype(o) is bool_)],
    "GATHER_ND": [(5, lambda o: _operand_dtype(o) is bool_)],
    "MUL": [(5, lambda o: _operand_dtype(o) is int64)],
    "PAD": [(4, lambda o: o.inputs[0].rank > _HIGH_RANK)],
    "RESIZE_BILINEAR": [(3, lambda o: o.options["halfPixelCenters"])],
    "RESIZE_NEAREST_NEIGHBOR": [(3, lambda o: o.options["halfPixelCenters"])],
    "REVERSE_V2": [(2, lambda o: _operand_dtype(o) is bool_)],
    "SPLIT": [(3, lambda o: _operand_dtype(o, 1) is int32)],
    "SUB": [(4, lambda o: _operand_dtype(o) is int64), (3, lambda o: o.outputs[0].rank > _HIGH_RANK)],
    "TRANSPOSE": [(4, lambda o: o.inputs[0].rank > _HIGH_RANK)],
    "TRANSPOSE_CONV": [(4, lambda o: o.options.get("fusedActivationFunction")), (3, lambda o: len(o.inputs) > 3)],
}


def _operand_dtype(operator: LiteOperator, place: int = 0) -> Any:
    return operator.inputs[place].dtype


def operator_version(operator: LiteOperator) -> int:
    """Returns the version that an operator needs."""
    return next((version for version, needs in _VERSIONS.get(operator.code, ()) if needs(operator)), 1)
