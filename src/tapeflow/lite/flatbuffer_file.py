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
    "CONV_3D_TRANSPOSE": "Conv3DOptions", "AVERAGE_POOL_2D": "Pool2DOptions", "MAX_POOL_2D": "Pool2DOptions",
    "MEAN": "ReducerOptions", "SUM": "ReducerOptions", "REDUCE_MAX": "ReducerOptions", "REDUCE_MIN": "ReducerOptions",
    "REDUCE_PROD": "ReducerOptions", "REDUCE_ANY": "ReducerOptions", "REDUCE_ALL": "ReducerOptions",
    "BATCH_MATMUL": "BatchMatMulOptions", "TOPK_V2": "TopKV2Options", "ATAN2": "ATan2Options",
    "PADV2": "PadV2Options", "MAXIMUM": "MaximumMinimumOptions", "MINIMUM": "MaximumMinimumOptions",
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
        self._buffer = _aligned_buffer(self.schema)
        self.model = self.schema.ModelT(
            version=_SCHEMA_VERSION, description=f"Converted by TapeFlow {version.TAPEFLOW_VERSION}.",
            buffers=[self._buffer()], operatorCodes=[],
        )  # fmt: skip
        self._buffers: dict[Any, int] = {}
        self._codes: dict[tuple[str, int], int] = {}

    def file(self, signatures: Sequence[Signature]) -> bytes:
        """Returns the file of some signatures."""
        subgraphs: list[Subgraph] = []
        for signature in signatures:
            subgraphs += [s for s in signature.subgraph.subgraphs() if s not in subgraphs]
        subgraphs.sort(key=lambda s: all(s is not signature.subgraph for signature in signatures))
        numbers = {id(s): i for i, s in enumerate(subgraphs)}
        self.model.subgraphs, places = zip(*[self._subgraph(s, numbers) for s in subgraphs], strict=True)
        self.model.signatureDefs = []
        for signature in signatures:
            number = numbers[id(signature.subgraph)]
            self.model.signatureDefs.append(self._signature(signature, number, places[number]))
        return pack_model(self.model)

    def _subgraph(self, subgraph: Subgraph, numbers: dict[int, int]) -> tuple[Any, dict[int, int]]:
        """Returns a subgraph's table, and the places of its tensors by their ids."""
        tensors: list[Any] = []
        places: dict[int, int] = {}

        def place(tensor: LiteTensor | None) -> int:
            if tensor is None:
                return -1
            if id(tensor) not in places:
                places[id(tensor)] = len(tensors)
                tensors.append(self._tensor(tensor))
            return places[id(tensor)]

        inputs = [place(t) for t in subgraph.inputs]
        operators = [self._operator(operator, place, numbers) for operator in subgraph.operators]
        outputs = [place(t) for t in subgraph.outputs]
        table = self.schema.SubGraphT(
            name=subgraph.name, tensors=tensors, inputs=inputs, outputs=outputs, operators=operators
        )
        return table, places

    def _tensor(self, tensor: LiteTensor) -> Any:
        return self.schema.TensorT(
            name=tensor.name, type=getattr(self.schema.TensorType, tensor.dtype.name.upper()), hasRank=True,
            shape=[1 if d is None else d for d in tensor.shape],
            shapeSignature=[-1 if d is None else d for d in tensor.shape] if None in tensor.shape else None,
            buffer=0 if tensor.value is None else self._constant(tensor),
        )  # fmt: skip

    def _constant(self, tensor: LiteTensor) -> int:
        """Returns the number of a constant's buffer."""
        array = tensor.value
        data = _packed_strings(array) if tensor.dtype is string else np.ascontiguousarray(array).tobytes()
        if data not in self._buffers:
            self._buffers[data] = len(self.model.buffers)
            self.model.buffers.append(self._buffer(data=np.frombuffer(data, np.uint8)))
        return self._buffers[data]

    def _operator(self, operator: LiteOperator, place: Callable[..., Any], numbers: dict[int, int]) -> Any:
        table = self.schema.OperatorT(
            opcodeIndex=self._code(operator.code, operator_version(operator)),
            inputs=[place(t) for t in operator.inputs], outputs=[place(t) for t in operator.outputs],
        )  # fmt: skip
        kind = _OPTIONS.get(operator.code) or f"{operator.code.title().replace('_', '')}Options"
        number = getattr(self.schema.BuiltinOptions, kind, None)
        if number is not None:
            options = {n: numbers[id(v)] if isinstance(v, Subgraph) else v for n, v in operator.options.items()}
            table.builtinOptionsType, table.builtinOptions = number, getattr(self.schema, f"{kind}T")(**options)
        return table

    def _code(self, name: str, version: int) -> int:
        """Returns the number of an operator's code in the file."""
        if (name, version) not in self._codes:
            code = getattr(self.schema.BuiltinOperator, name)
            self._codes[name, version] = len(self.model.operatorCodes)
            self.model.operatorCodes.append(
                self.schema.OperatorCodeT(deprecatedBuiltinCode=min(code, 127), version=version, builtinCode=code)
            )
        return self._codes[name, version]

    def _signature(self, signature: Signature, number: int, places: dict[int, int]) -> Any:
        entry, subgraph = self.schema.TensorMapT, signature.subgraph
        inputs, outputs = (
            [entry(name=name, tensorIndex=places[id(t)]) for name, t in zip(names, tensors, strict=True)]
            for names, tensors in ((signature.inputs, subgraph.inputs), (signature.outputs, subgraph.outputs))
        )
        return self.schema.SignatureDefT(
            signatureKey=signature.key, subgraphIndex=number, inputs=inputs, outputs=outputs
        )


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
