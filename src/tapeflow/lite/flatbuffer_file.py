"""Writes programs as .tflite files, with the schema of `ai-edge-litert`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow import version
from tapeflow.core.types.dtypes import string
from tapeflow.lite.extra import require
from tapeflow.lite.program import LiteOperator, LiteTensor, Signature, Subgraph
from tapeflow.lite.versions import operator_version

_SCHEMA_VERSION = 3
_LARGEST = 2**31 - 2**24  # offsets in the file are signed integers of 32 bits
# The options of operators that are not named after them.
_OPTIONS = {
    "CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions", "CONV_3D": "Conv3DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions", "AVERAGE_POOL_2D": "Pool2DOptions", "MAX_POOL_2D": "Pool2DOptions",
    "L2_NORMALIZATION": "L2NormOptions", "MEAN": "ReducerOptions", "SUM": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions", "REDUCE_MIN": "ReducerOptions", "REDUCE_PROD": "ReducerOptions",
    "REDUCE_ANY": "ReducerOptions", "REDUCE_ALL": "ReducerOptions", "BATCH_MATMUL": "BatchMatMulOptions",
    "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions", "TOPK_V2": "TopKV2Options",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTMOptions", "RANDOM_UNIFORM": "RandomOptions",
    "RANDOM_STANDARD_NORMAL": "RandomOptions", "SPLIT_V": "SplitVOptions", "RFFT2D": "Rfft2dOptions",
    "LOCAL_RESPONSE_NORMALIZATION": "LocalResponseNormalizationOptions", "SELECT_V2": "SelectV2Options",
    "ATAN2": "ATan2Options", "REVERSE_V2": "ReverseV2Options", "PADV2": "PadV2Options",
    "MAXIMUM": "MaximumMinimumOptions", "MINIMUM": "MaximumMinimumOptions",
}  # fmt: skip


def write_signatures(signatures: Sequence[Signature]) -> bytes:
    """Returns the file of some signatures. Equal constants are written once.

    Raises:
        ImportError: `ai-edge-litert` is not installed.
        ValueError: the constants are too large for a file.
    """
    return _FileWriter().file(signatures)


def pack_model(model: Any) -> bytes:
    """Returns the file of the schema's root table.

    Raises:
        ValueError: it is too large.
    """
    size = sum(len(b.data) for b in model.buffers if b.data is not None)
    if size > _LARGEST:
        raise ValueError(f"The constants of the model have {size:,} bytes. A .tflite file has at most {_LARGEST:,}.")
    builder = require("flatbuffers").Builder(size + size // 64 + 4096)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


class _FileWriter:
    """Collects the parts of one file.

    Attributes:
        model: the file's root table.
    """

    def __init__(self) -> None:
        self.schema: Any = require("ai_edge_litert.schema_py_generated")
        self.model = self.schema.ModelT()
        self.model.version = _SCHEMA_VERSION
        self.model.description = f"Converted by TapeFlow {version.TAPEFLOW_VERSION}."
        self._buffer = _aligned_buffer(self.schema)
        self.model.buffers, self.model.operatorCodes = [self._buffer()], []
        self._buffers: dict[Any, int] = {}
        self._codes: dict[tuple[str, int], int] = {}

    def file(self, signatures: Sequence[Signature]) -> bytes:
        """Returns the file of some signatures."""
        subgraphs: list[Subgraph] = []
        for signature in signatures:
            subgraphs += [s for s in signature.subgraph.subgraphs() if s not in subgraphs]
        subgraphs.sort(key=lambda s: all(s is not signature.subgraph for signature in signatures))
        numbers = {id(s): i for i, s in enumerate(subgraphs)}
        self.model.subgraphs, self.model.signatureDefs = [], []
        places: list[dict[int, int]] = []
        for s in subgraphs:
            table, indices = self._subgraph(s, numbers)
            self.model.subgraphs.append(table)
            places.append(indices)
        for signature in signatures:
            number = numbers[id(signature.subgraph)]
            self.model.signatureDefs.append(self._signature(signature, number, places[number]))
        return pack_model(self.model)

    def _add_buffer(self, data: bytes) -> int:
        """Adds a buffer with these bytes; returns its number."""
        table = self._buffer()
        table.data = np.frombuffer(data, np.uint8)
        self.model.buffers.append(table)
        return len(self.model.buffers) - 1

    def _subgraph(self, subgraph: Subgraph, numbers: dict[int, int]) -> tuple[Any, dict[int, int]]:
        """Returns a subgraph's table, and the places of its tensors by their ids."""
        table = self.schema.SubGraphT()
        table.name, table.tensors, table.operators = subgraph.name, [], []
        places: dict[int, int] = {}

        def place(tensor: LiteTensor | None) -> int:
            if tensor is None:
                return -1
            if id(tensor) not in places:
                places[id(tensor)] = len(table.tensors)
                table.tensors.append(self._tensor(tensor))
            return places[id(tensor)]

        table.inputs = [place(t) for t in subgraph.inputs]
        for operator in subgraph.operators:
            table.operators.append(self._operator(operator, place, numbers))
        table.outputs = [place(t) for t in subgraph.outputs]
        return table, places

    def _tensor(self, tensor: LiteTensor) -> Any:
        table = self.schema.TensorT()
        table.name = tensor.name
        table.type = getattr(self.schema.TensorType, tensor.dtype.name.upper())
        table.shape = [1 if d is None else d for d in tensor.shape]
        if None in tensor.shape:
            table.shapeSignature = [-1 if d is None else d for d in tensor.shape]
        table.hasRank = True
        table.buffer = 0 if tensor.value is None else self._constant(tensor)
        return table

    def _constant(self, tensor: LiteTensor) -> int:
        """Returns the number of a constant's buffer."""
        array = tensor.value
        assert array is not None
        data = _packed_strings(array) if tensor.dtype is string else np.ascontiguousarray(array).tobytes()
        if data not in self._buffers:
            self._buffers[data] = self._add_buffer(data)
        return self._buffers[data]

    def _operator(self, operator: LiteOperator, place: Callable[..., Any], numbers: dict[int, int]) -> Any:
        table = self.schema.OperatorT()
        table.opcodeIndex = self._code(operator.code, operator_version(operator))
        table.inputs, table.outputs = [place(t) for t in operator.inputs], [place(t) for t in operator.outputs]
        kind = _OPTIONS.get(operator.code) or f"{operator.code.title().replace('_', '')}Options"
        number = getattr(self.schema.BuiltinOptions, kind, None)
        if number is not None:
            options = getattr(self.schema, f"{kind}T")()
            for name, value in operator.options.items():
                setattr(options, name, numbers[id(value)] if isinstance(value, Subgraph) else value)
            table.builtinOptionsType, table.builtinOptions = number, options
        return table

    def _code(self, name: str, version: int) -> int:
        """Returns the number of an operator's code in the file."""
        if (name, version) not in self._codes:
            table = self.schema.OperatorCodeT()
            table.builtinCode = getattr(self.schema.BuiltinOperator, name)
            table.deprecatedBuiltinCode = min(table.builtinCode, 127)
            table.version = version
            self._codes[name, version] = len(self.model.operatorCodes)
            self.model.operatorCodes.append(table)
        return self._codes[name, version]

    def _signature(self, signature: Signature, number: int, places: dict[int, int]) -> Any:
        table = self.schema.SignatureDefT()
        table.signatureKey, table.subgraphIndex = signature.key, number
        columns = ((signature.inputs, signature.subgraph.inputs), (signature.outputs, signature.subgraph.outputs))
        table.inputs, table.outputs = (
            [self._tensor_map(name, places[id(t)]) for name, t in zip(names, tensors, strict=True)]
            for names, tensors in columns
        )
        return table

    def _tensor_map(self, name: str, place: int) -> Any:
        table = self.schema.TensorMapT()
        table.name, table.tensorIndex = name, place
        return table


def _aligned_buffer(schema: Any) -> Any:
    """Returns the schema's class of buffers, with the alignment that the schema demands. Python's writer ignores it."""

    class AlignedBuffer(schema.BufferT):
        def Pack(self, builder: Any) -> Any:
            if self.data is not None:
                builder.Prep(16, len(self.data))
            return super().Pack(builder)

    return AlignedBuffer


def _packed_strings(array: np.ndarray) -> bytes:
    """Returns strings in the form that the runtime holds: their number, their offsets, and their bytes."""
    items = [bytes(item) for item in array.ravel()]
    first = 4 * (len(items) + 2)
    offsets = np.cumsum([first, *map(len, items)], dtype=np.int64)
    return struct.pack(f"<{len(items) + 2}i", len(items), *offsets) + b"".join(items)
