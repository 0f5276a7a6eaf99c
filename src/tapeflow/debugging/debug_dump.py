"""Dumps of what a program computes: files of debug events, which TensorFlow's debugger (tfdbg 2) reads.

Six files hold the operations of functions with the lines that added them, the ops that ran, and summaries of their
results. Eager ops are seen as a tape sees them, operations of functions by an inspector of the compiler.
"""

from __future__ import annotations

import linecache
import os
import re
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.array.protos import make_tensor_proto
from tapeflow.core.autodiff.tape import EVERYTHING
from tapeflow.core.protos import message_class
from tapeflow.core.types.dtypes import FROM_TORCH
from tapeflow.core.values.tensor import EagerTensor, next_id
from tapeflow.core.values.variable import Variable
from tapeflow.debugging.settings import executed_name
from tapeflow.graph.ir.positions import Positions, stack_summary
from tapeflow.io.records import TFRecordWriter
from tapeflow.version import VERSION

MODES = {"NO_TENSOR": 1, "CURT_HEALTH": 2, "CONCISE_HEALTH": 3, "FULL_HEALTH": 4, "SHAPE": 5, "FULL_TENSOR": 7}
_FILES = {
    "debug_metadata": "metadata", "source_file": "source_files", "stack_frame_with_id": "stack_frames",
    "graph_op_creation": "graphs", "debugged_graph": "graphs", "debugged_device": "graphs",
    "execution": "execution", "graph_execution_trace": "graph_execution_traces",
}  # fmt: skip
_EXECUTIONS = ("execution", "graph_execution_traces")
_CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
_HOST = socket.gethostname()


class DebugEventsWriter:
    """Writes the files of a dump.

    Args:
        dump_root: the folder.
        circular_buffer_size: how many of the latest executions wait until they are flushed; all if it is not
            positive.

    Attributes:
        dump_root: as the argument.
    """

    def __init__(self, dump_root: str, circular_buffer_size: int) -> None:
        self.dump_root = dump_root
        os.makedirs(dump_root, exist_ok=True)
        start = os.path.join(dump_root, f"tfdbg_events.{int(time.time())}.{_HOST}")
        self._writers = {name: TFRecordWriter(f"{start}.{name}") for name in dict.fromkeys(_FILES.values())}
        self._size = circular_buffer_size
        self._buffers: dict[str, deque[bytes]] = {name: deque(maxlen=max(self._size, 1)) for name in _EXECUTIONS}
        fields = {"tensorflow_version": VERSION, "file_version": "debug.Event:1", "tfdbg_run_id": uuid.uuid4().hex[:8]}
        self.write("debug_metadata", **fields)
        self._writers["metadata"].flush()

    def write(self, kind: str, **fields: Any) -> None:
        """Writes an event.

        Args:
            kind: the field of `DebugEvent`.
            **fields: the fields of its message.
        """
        file = _FILES[kind]
        if not self._writers:  # a function that was traced for this dump runs after its end
            return
        record = message_class("DebugEvent")(wall_time=time.time(), **{kind: fields}).SerializeToString()
        if file in self._buffers and self._size > 0:
            self._buffers[file].append(record)
        else:
            self._writers[file].write(record)

    def FlushNonExecutionFiles(self) -> None:
        """Writes sources, stack frames and graphs to the disk."""
        for name, writer in self._writers.items():
            if name not in _EXECUTIONS:
                writer.flush()

    def FlushExecutionFiles(self) -> None:
        """Writes executions to the disk."""
        for name, buffer in self._buffers.items() if self._writers else ():
            while buffer:
                self._writers[name].write(buffer.popleft())
            self._writers[name].flush()

    def Close(self) -> None:
        """Writes everything to the disk, and closes the files. Later events are dropped."""
        if self._writers:
            self.FlushExecutionFiles()
        writers, self._writers = self._writers, {}
        for writer in writers.values():
            writer.close()


class Dumper:
    """Sees eager ops as a tape, and operations of functions as an inspector, and writes their events.

    Args:
        writer: writes the events.
        options: the name of the debug mode and the size of the buffers, as messages call them.
        op_regex: matches the types of the ops whose results are summarized; None for all.
        accepts: returns True for a dtype whose results are summarized; None for all.

    Attributes:
        writer, options: as the arguments.
        mode: the number of the debug mode.
    """

    seen = EVERYTHING
    reason = "tf.debugging.experimental.enable_dump_debug_info() looks at the result of each op"

    def __init__(
        self,
        writer: DebugEventsWriter,
        options: dict[str, Any],
        op_regex: str | None,
        accepts: Callable[[Any], bool] | None,
    ) -> None:
        self.writer, self.options, self.mode = writer, options, MODES[options["tensor-debug mode"]]
        self._regex, self._accepts = re.compile(op_regex or ""), accepts or (lambda dtype: True)
        self._positions = Positions()
        self._ids: dict[str, dict[Any, Any]] = {"graph": {}, "device": {}, "frame": {}, "source": {}}
        self._symbolic: dict[tuple[str, str, int], int] = {}

    # ---- eager ops ---------------------------------------------------------------------------------------------------

    def variable_read(self, variable: Variable, read: int) -> None:
        """Does nothing: a read runs no kernel."""

    def record(self, op: Any, inputs: Any, attrs: Any, outputs: Any) -> None:
        """Writes the execution of an op or a function."""
        results = [t for t in outputs if type(t) is EagerTensor]
        body = getattr(op, "body", None)
        protos = [self._summarize(t.value, -1) if self._is_wanted(op.name, t.dtype) else b"" for t in results]
        self.writer.write(
            "execution", op_type=executed_name(op), num_outputs=len(results),
            graph_id="" if body is None else self._graph_id(body.graph),
            input_tensor_ids=[_number_of(t) for t in inputs if type(t) is EagerTensor],
            output_tensor_ids=[_number_of(t) for t in results], tensor_debug_mode=self.mode,
            tensor_protos=[] if self.mode == MODES["NO_TENSOR"] else protos,
            code_location=self._location(stack_summary(self._positions.here(2))),
            output_tensor_device_ids=[self._device_id(t.device) for t in results],
        )  # fmt: skip

    # ---- functions ---------------------------------------------------------------------------------------------------

    def enter(self, operations: Sequence[Any]) -> None:
        """Writes the operations of a graph."""
        for operation in operations:
            graph, inputs = self._graph_id(operation.graph), [t.name for t in operation.inputs]
            if (graph, operation.name, -1) in self._symbolic:
                continue
            self._symbolic[graph, operation.name, -1] = -1
            numbers = [next_id() for _ in operation.outputs]
            self._symbolic.update({(graph, operation.name, i): number for i, number in enumerate(numbers)})
            self.writer.write(
                "graph_op_creation", op_type=operation.type, op_name=operation.name, graph_id=graph,
                graph_name=operation.graph.name, device_name=operation.device or "", input_names=inputs,
                num_outputs=len(numbers), code_location=self._location(operation.traceback), output_tensor_ids=numbers,
            )  # fmt: skip

    def choose(self, step: Any) -> list[int]:
        """Returns the places of the outputs of a step that are summarized."""
        return [i for i, t in enumerate(step.outputs) if self._is_wanted(step.name, t.dtype)]

    def look(self, step: Any, place: int, value: Any, inputs: Sequence[Any]) -> None:
        """Writes the summary of an output."""
        operation = step.operation
        graph, device = (self._graph_id(operation.graph), operation.device or _CPU)
        number = self._symbolic.get((graph, operation.name, place), -1)
        self._device_id(device)
        self.writer.write(
            "graph_execution_trace", tfdbg_context_id=graph, op_name=operation.name, output_slot=place,
            tensor_debug_mode=self.mode, tensor_proto=self._summarize(value, number), device_name=device,
        )  # fmt: skip

    # ---- parts of events ---------------------------------------------------------------------------------------------

    def _is_wanted(self, name: str, dtype: Any) -> bool:
        if dtype.torch is None or not self._accepts(dtype) or not self._regex.match(name):
            return False
        return dtype.is_floating or self.mode in (MODES["NO_TENSOR"], MODES["SHAPE"], MODES["FULL_TENSOR"])

    def _summarize(self, value: Any, number: int) -> bytes:
        """Returns the summary of a raw value as a serialized `TensorProto`.

        Args:
            value: the raw value.
            number: the tensor's number.
        """
        if self.mode == MODES["NO_TENSOR"]:
            return b""
        value = value if isinstance(value, torch.Tensor) else torch.as_tensor(value)
        if self.mode == MODES["FULL_TENSOR"]:
            return bytes(make_tensor_proto(EagerTensor(value, FROM_TORCH[value.dtype]).numpy()).SerializeToString())
        return bytes(make_tensor_proto([number, *summary(value, self.mode)], "float64").SerializeToString())

    def _graph_id(self, graph: Any) -> str:
        ids = self._ids["graph"]
        if id(graph) not in ids:
            ids[id(graph)] = uuid.uuid4().hex, graph  # no other graph gets its id
            outer = getattr(graph, "around", None)
            context = "" if outer is None else self._graph_id(outer)
            name, graph_id = graph.name, ids[id(graph)][0]
            self.writer.write("debugged_graph", graph_id=graph_id, graph_name=name, outer_context_id=context)
        return str(ids[id(graph)][0])

    def _device_id(self, name: str) -> int:
        ids = self._ids["device"]
        if name not in ids:
            ids[name] = len(ids) + 1
            self.writer.write("debugged_device", device_name=name, device_id=ids[name])
        return int(ids[name])

    def _location(self, frames: Any) -> Any:
        """Returns the message of the lines of some frames, and writes frames and sources that are new."""
        numbers = []
        for frame in frames:
            path, key = os.path.abspath(frame.filename), (frame.filename, frame.lineno, frame.name)
            sources, seen = self._ids["source"], self._ids["frame"]
            if path not in sources:
                sources[path] = len(sources)
                lines = [line.rstrip("\n") for line in linecache.getlines(frame.filename)]
                self.writer.write("source_file", file_path=path, host_name=_HOST, lines=lines)
            if key not in seen:
                seen[key] = uuid.uuid4().hex
                where = {"file_index": sources[path], "line": frame.lineno, "func": frame.name, "code": frame.line}
                self.writer.write("stack_frame_with_id", id=seen[key], file_line_col=where)
            numbers.append(seen[key])
        return message_class("CodeLocation")(host_name=_HOST, stack_frame_ids=numbers)


def _number_of(tensor: Any) -> int:
    """Returns the number of an eager tensor, which tapes use, too."""
    if not tensor._id:
        tensor._id = next_id()
    return int(tensor._id)


def summary(value: torch.Tensor, mode: int) -> list[float]:
    """Returns the numbers that summarize a tensor.

    Args:
        value: the tensor.
        mode: the number of the debug mode.
    """
    if mode == MODES["SHAPE"]:
        dims = list(value.shape)
        shape = [*dims, 0, 0, 0, 0, 0, 0][:6] if len(dims) <= 6 else dims[-6:]
        return [FROM_TORCH[value.dtype].as_datatype_enum, value.ndim, value.numel(), *shape]
    if mode == MODES["CURT_HEALTH"]:
        return [0.0 if value.isfinite().all() else 1.0]
    infinite = [value.isneginf(), value.isposinf(), value.isnan()]
    if mode == MODES["CONCISE_HEALTH"]:
        return [value.numel(), *(int(where.sum()) for where in infinite)]
    finite = value.isfinite()
    every = [*infinite, finite & (value < 0), value == 0, finite & (value > 0)]
    head = [-1, FROM_TORCH[value.dtype].as_datatype_enum, value.ndim, value.numel()]
    return [*head, *(int(where.sum()) for where in every)]
