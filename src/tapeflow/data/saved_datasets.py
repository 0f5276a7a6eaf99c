"""The files of saved datasets, snapshots and caches.

A saved dataset is a folder, in TensorFlow's format: `dataset_spec.pb` is the elements' spec, `snapshot.metadata` names
the folder of a run. In there, each shard is a folder with a TFRecord file: a serialized `TensorProto` per component.
A ragged or sparse component is a variant.
"""

from __future__ import annotations

import itertools
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto import struct_pb2
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tapeflow.core.errors import DataLossError, FailedPreconditionError, NotFoundError
from tapeflow.core.protos import SnapshotMetadataRecord
from tapeflow.core.types.dtypes import int64, string, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.spec_proto import from_proto, to_proto
from tapeflow.core.types.type_spec import TypeSpec
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.data.elements import (
    Element,
    bare,
    check_shapes,
    decode_element,
    encode_values,
    encoded_specs,
    flatten,
    is_encoded,
)
from tapeflow.data.functions import MappedFunction
from tapeflow.data.node import UNKNOWN, Node
from tapeflow.data.threads import IteratorState, working_for
from tapeflow.io.atomic_replace import rename, replaced_folder, sync_tree, temporary_folder, write_file
from tapeflow.io.encodings import parse_tensor, serialize_tensor
from tapeflow.io.gfile import files as gfile
from tapeflow.io.records import TFRecordWriter, read_records

_SPEC, METADATA, _FILE = "dataset_spec.pb", "snapshot.metadata", "00000000.snapshot"
_COMPRESSIONS = {None: "", "": "", "NONE": "", "AUTO": "", "GZIP": "GZIP"}


def compression_of(name: str | None) -> str:
    """Returns the compression of TFRecord files for an argument `compression`."""
    if name not in _COMPRESSIONS:
        raise invalid(f"Datasets are saved with the compressions {sorted(filter(None, _COMPRESSIONS))}, not {name!r}.")
    return _COMPRESSIONS[name]


# ---- elements --------------------------------------------------------------------------------------------------------


def write_element(file: TFRecordWriter, element: Element, specs: list[Any]) -> None:
    """Writes the components of an element, one record each."""
    for tensor in encode_values(element, specs):
        file.write(serialize_tensor(tensor).numpy())


def read_elements(path: str, spec: Any, compression: str) -> Iterator[Element]:
    """Yields the elements of a file."""
    specs = flatten(spec)
    records = read_records(path, compression)
    while (first := next(records, None)) is not None:
        texts = itertools.chain([first], records)
        try:
            yield tuple([_next_component(texts, s) for s in specs])
        except StopIteration:
            raise _damaged_file(path, "its last element is incomplete") from None


def _next_component(texts: Iterator[bytes], spec: TypeSpec) -> Any:
    """Returns the next component of a file."""
    text = next(texts)
    if is_encoded(spec) and TensorProto.FromString(text).dtype == variant.as_datatype_enum:
        tensor = parse_tensor(EagerTensor(StringArray.scalar(text), string), variant)
        return decode_element([tensor], [spec])[0]
    parts: list[Any] = []  # of ragged and sparse tensors too, as this program wrote them at first
    for part in spec.flatten():
        one = StringArray.scalar(text if not parts else next(texts))
        parts.append(parse_tensor(EagerTensor(one, string), part.dtype))
    if type(spec) is TensorSpec:
        check_shapes((parts[0].value,), spec)
    return bare(spec.from_tensors(iter(parts)))


def _damaged_file(path: str, why: object) -> DataLossError:
    return DataLossError.of(f"The file {path} of a saved dataset is damaged: {why}")


# ---- folders ---------------------------------------------------------------------------------------------------------


def write_metadata(folder: str, run: str, size: int, spec: Any) -> None:
    """Writes the name and the size of a run, after everything else."""
    record = SnapshotMetadataRecord(
        run_id=run, version=2, num_elements=size, finalized=True, creation_timestamp=time.time_ns() // 1000,
        dtype=[s.dtype.as_datatype_enum for s in encoded_specs(spec)],
    )  # fmt: skip
    write_file(os.path.join(folder, METADATA), record.SerializeToString())


def read_metadata(folder: str) -> tuple[str, int]:
    """Returns the name of the present run, and the number of its elements.

    Raises:
        NotFoundError: there is none.
    """
    path = os.path.join(folder, METADATA)
    with gfile.GFile(path, "rb") as file:
        data = file.read()
    try:
        record = SnapshotMetadataRecord.FromString(data)
        if not re.fullmatch(r"\d+", record.run_id) or record.num_elements < 0:
            raise ValueError("it names no run")
    except (DecodeError, ValueError) as error:
        raise _damaged_file(path, error) from None
    return record.run_id, record.num_elements if record.HasField("num_elements") else UNKNOWN


def read_spec(folder: str) -> Any:
    """Reads the spec of the elements."""
    path = os.path.join(folder, _SPEC)
    try:
        with gfile.GFile(path, "rb") as file:
            data = file.read()
    except (NotFoundError, FailedPreconditionError):
        raise NotFoundError.of(f"tf.data snapshot element_spec file not found: {path}.") from None
    try:
        spec = from_proto(struct_pb2.StructuredValue.FromString(data))
        if not all(isinstance(part, TypeSpec) for part in flatten(spec)):
            raise ValueError("it has no spec of elements")
    except (DecodeError, ValueError, TypeError) as error:
        raise _damaged_file(path, error) from None
    return spec


def written_folder(folder: str) -> AbstractContextManager[str]:
    """Yields a folder to write, the saved dataset at the end. Earlier runs stay, for those who read them."""
    return replaced_folder(folder, last=METADATA, parts=rf"\d+|{re.escape(_SPEC)}|{re.escape(METADATA)}")


def write_run(
    folder: str, spec: Any, compression: str, elements: Iterator[Element], shard_of: Callable[[Element], Element] | None
) -> Iterator[Element]:
    """Writes elements to the folder of a new run, and yields each; then writes the metadata."""
    run, size, specs = str(secrets.randbits(63)), 0, flatten(spec)
    writers: dict[int, TFRecordWriter] = {}  # of the shards
    with temporary_folder(os.path.join(folder, run)) as new:
        with ExitStack() as files:
            for element in elements:
                shard = 0 if shard_of is None else int(shard_of(element)[0])
                if shard not in writers:
                    path = os.path.join(new, f"{shard:08d}.shard")
                    gfile.makedirs(path)
                    writers[shard] = files.enter_context(TFRecordWriter(os.path.join(path, _FILE), compression))
                write_element(writers[shard], element, specs)
                size += 1
                yield element
        sync_tree(new)
        rename(new, os.path.join(folder, run))
    write_metadata(folder, run, size, spec)


def save(node: Node, path: str | os.PathLike, compression: str | None, shard_func: Callable[..., Any] | None) -> None:
    """Writes the elements of a node to a folder."""
    kind = compression_of(compression)
    if shard_func is not None:
        function = MappedFunction(shard_func, "save()", node.spec)
        result = function.output_spec
        if not (type(result) is TensorSpec and result.dtype is int64 and result.shape.rank == 0):
            raise invalid("`shard_func` must return a scalar int64. [Op:SaveDataset] name: ")
    with working_for(IteratorState(None)), written_folder(gfile.local_path(path)) as folder:
        shard_of = None if shard_func is None else function.caller()
        write_file(os.path.join(folder, _SPEC), to_proto(node.spec).SerializeToString())
        for _ in write_run(folder, node.spec, kind, node.outermost().iterate(), shard_of):
            pass
