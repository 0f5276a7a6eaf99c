"""Datasets in files: `save`, `load`, `snapshot` and `cache`.

A saved dataset is a folder, in TensorFlow's format: `dataset_spec.pb` is the elements' spec, `snapshot.metadata` names
the folder of a run, where each shard is a folder with a TFRecord file of a serialized `TensorProto` for each component.
A ragged or sparse component is a variant.
"""

from __future__ import annotations

import itertools
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError
from tensorboard.compat.proto import struct_pb2
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tapeflow.core.errors import DataLossError, NotFoundError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int64, string, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.spec_proto import from_proto, to_proto
from tapeflow.core.types.type_spec import TypeSpec
from tapeflow.core.values.boxed_objects import boxed
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.core.varint import read_varint, varint
from tapeflow.data.dataset import UNKNOWN, Dataset
from tapeflow.data.functions import MappedFunction
from tapeflow.data.graph_defs import fingerprint
from tapeflow.data.node import Node, OpFunction, dataset_op, rewritten
from tapeflow.data.nodes import Elements
from tapeflow.data.parts import register
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.structure import Element, bare, decoded, encoded, encoded_specs, flatten, is_encoded
from tapeflow.io.encoding import parse_tensor, serialize_tensor
from tapeflow.io.gfile import files as gfile
from tapeflow.io.records import TFRecordWriter, read_records
from tapeflow.io.replacing import rename, replaced_file, replaced_folder, sync_tree, temporary_folder, write_file

_SPEC, _METADATA, _FILE = "dataset_spec.pb", "snapshot.metadata", "00000000.snapshot"
_COMPRESSIONS = {None: "", "": "", "NONE": "", "AUTO": "", "GZIP": "GZIP"}


def _compression(name: Any) -> str:
    if name not in _COMPRESSIONS:
        raise invalid(f"Datasets are saved with the compressions {sorted(filter(None, _COMPRESSIONS))}, not {name!r}.")
    return _COMPRESSIONS[name]


# ---- elements and metadata -------------------------------------------------------------------------------------------


class _Writer:
    """Writes elements to the shards of a run."""

    def __init__(self, folder: str, spec: Any, compression: str) -> None:
        self._folder, self._specs, self._compression = folder, flatten(spec), compression
        self._files: dict[int, TFRecordWriter] = {}
        self.count = 0

    def write(self, element: Element, shard: int = 0) -> None:
        """Adds an element to a shard."""
        file = self._files.get(shard)
        if file is None:
            path = os.path.join(self._folder, f"{shard:08d}.shard")
            gfile.makedirs(path)
            file = self._files[shard] = TFRecordWriter(os.path.join(path, _FILE), self._compression)
        _write_element(file, element, self._specs)
        self.count += 1

    def close(self) -> None:
        """Ends all files."""
        for file in self._files.values():
            file.close()


def _write_element(file: TFRecordWriter, element: Element, specs: list[Any]) -> None:
    for tensor in encoded(element, specs):
        file.write(serialize_tensor(tensor).numpy())


def _elements(path: str, spec: Any, compression: str) -> Iterator[Element]:
    """Yields the elements of a file."""
    specs = flatten(spec)
    records = read_records(path, compression)
    while (first := next(records, None)) is not None:
        texts = itertools.chain([first], records)
        try:
            yield tuple([_component(texts, s) for s in specs])
        except StopIteration:
            raise _damaged(path, "its last element is incomplete") from None


def _component(texts: Iterator[bytes], spec: Any) -> Any:
    """Returns the next component of a file."""
    text = next(texts)
    if is_encoded(spec) and TensorProto.FromString(text).dtype == variant.as_datatype_enum:
        tensor = parse_tensor(EagerTensor(boxed(text), string), variant)
        return decoded([tensor], [spec])[0]
    parts: list[Any] = []  # of ragged and sparse tensors too, as this program wrote them at first
    for part in spec.flatten():
        parts.append(parse_tensor(EagerTensor(boxed(text if not parts else next(texts)), string), part.dtype))
    return bare(spec.from_tensors(iter(parts)))


class _Metadata(NamedTuple):
    """TensorFlow's `SnapshotMetadataRecord`: fields 2, 6 and 1000."""

    run: str
    size: int
    finalized: bool

    def write(self, folder: str, spec: Any) -> None:
        """Writes it, after everything else."""
        dtypes = bytes(s.dtype.as_datatype_enum for s in encoded_specs(spec))
        data = (
            b"\x12" + varint(len(self.run)) + self.run.encode() + b"\x18" + varint(time.time_ns() // 1000) + b"\x20\x02"
            b"\x2a" + varint(len(dtypes)) + dtypes + b"\x30" + varint(self.size) + varint(1000 << 3) + b"\x01"
        )  # fmt: skip
        write_file(os.path.join(folder, _METADATA), data)

    @staticmethod
    def read(folder: str) -> _Metadata:
        """Reads it.

        Raises:
            NotFoundError: there is none.
        """
        with gfile.GFile(os.path.join(folder, _METADATA), "rb") as file:
            data = file.read()
        fields: dict[int, Any] = {2: b"", 6: UNKNOWN, 1000: 0}
        position = 0
        try:
            while position < len(data):
                key, position = read_varint(data, position)
                value, position = read_varint(data, position)
                if key & 7 == 2:  # bytes, of this length
                    fields[key >> 3], position = data[position : position + value], position + value
                else:
                    fields[key >> 3] = value
            run, size, finalized = fields[2].decode(), fields[6], fields[1000]
            if not (re.fullmatch(r"\d+", run) and type(size) is type(finalized) is int and size < 1 << 63):
                raise ValueError("it names no run")
        except (ValueError, AttributeError) as error:
            raise _damaged(os.path.join(folder, _METADATA), error) from None
        return _Metadata(run, size, bool(finalized))


def _damaged(path: str, why: object) -> DataLossError:
    return DataLossError(None, None, f"The file {path} of a saved dataset is damaged: {why}")


def _read_spec(folder: str) -> Any:
    path = os.path.join(folder, _SPEC)
    try:
        with gfile.GFile(path, "rb") as file:
            data = file.read()
    except NotFoundError:
        raise NotFoundError(None, None, f"tf.data snapshot element_spec file not found: {path}.") from None
    try:
        spec = from_proto(struct_pb2.StructuredValue.FromString(data))
        if not all(isinstance(part, TypeSpec) for part in flatten(spec)):
            raise ValueError("it has no spec of elements")
    except (DecodeError, ValueError, TypeError) as error:
        raise _damaged(path, error) from None
    return spec


# ---- save and load ---------------------------------------------------------------------------------------------------


def save(dataset: Any, path: Any, compression: Any, shard_func: Callable[..., Any] | None) -> None:
    """Implements `Dataset.save`."""
    kind, spec = _compression(compression), dataset.element_spec
    shard_of = None
    if shard_func is not None:
        function = MappedFunction(shard_func, "save()", spec)
        result = function.output_spec
        if not (type(result) is TensorSpec and result.dtype is int64 and result.shape.rank == 0):
            raise invalid("`shard_func` must return a scalar int64. [Op:SaveDataset] name: ")
        shard_of = function.caller()
    with _written_folder(gfile.local_path(path)) as folder:
        write_file(os.path.join(folder, _SPEC), to_proto(spec).SerializeToString())
        for _ in _write_run(folder, spec, kind, rewritten(dataset)._iterate(), shard_of):
            pass


def _written_folder(folder: str) -> AbstractContextManager[str]:
    """Yields a folder to write, the saved dataset at the end; the runs before stay, for those who read them."""
    return replaced_folder(folder, last=_METADATA, parts=rf"\d+|{re.escape(_SPEC)}|{re.escape(_METADATA)}")


def _write_run(folder: str, spec: Any, kind: str, elements: Iterator[Element], shard_of: Any) -> Iterator[Element]:
    """Writes elements to the folder of a new run, and yields each; then writes the metadata."""
    run = str(secrets.randbits(63))
    with temporary_folder(os.path.join(folder, run)) as new:
        writer = _Writer(new, spec, kind)
        try:
            for element in elements:
                writer.write(element, 0 if shard_of is None else int(shard_of(element)[0]))
                yield element
        finally:
            writer.close()
        sync_tree(new)
        rename(new, os.path.join(folder, run))
    _Metadata(run, writer.count, True).write(folder, spec)


class ShardFileDataset(Node):
    """The elements of one shard."""

    def __init__(self, path: str, spec: Any, compression: str) -> None:
        super().__init__(spec)
        self._path, self._compression = path, compression

    def _iterate(self) -> Iterator[Element]:
        return _elements(self._path, self._spec, self._compression)


@dataset_op("LoadDataset")
class LoadDataset(Node):
    """The elements of a saved dataset.

    Args:
        folder: the folder of the saved dataset.
        spec: the spec of the elements; None for the saved one.
        compression: the compression it was saved with.
        reader_func: takes a dataset of shards and returns the dataset.
    """

    def __init__(self, folder: str, spec: Any, compression: str, reader_func: Callable[..., Any] | None) -> None:
        if spec is None:
            spec = _read_spec(folder)
        metadata = _Metadata.read(folder)
        self._count, self._path, self._compression, self._reader = metadata.size, folder, compression, reader_func
        super().__init__(spec, _shards(os.path.join(folder, metadata.run), spec, compression, reader_func))

    @classmethod
    def _of_op(cls, path: bytes, compression: Any, reader_func: OpFunction, spec: Any) -> LoadDataset:
        return cls(path.decode(), spec, _compression(compression), _reader_of(reader_func, spec))

    def _operands(self) -> list[Any]:
        return []

    @property
    def _reader_func(self) -> MappedFunction:
        return _traced_reader(self._reader, self._spec)

    def _size(self) -> int:
        return self._count

    def _iterate(self) -> Iterator[Element]:
        return self._input_dataset._iterate()


def _shards(folder: str, spec: Any, compression: str, reader_func: Callable[..., Any] | None) -> Dataset:
    paths = sorted(gfile.glob(os.path.join(folder, "*.shard", "*.snapshot")))
    shards = Elements([(ShardFileDataset(p, spec, compression),) for p in paths], DatasetSpec(spec))
    if isinstance(reader_func, MappedFunction):
        return reader_func((shards,))[0]
    return (reader_func or _in_turn)(shards)


def _in_turn(shards: Dataset) -> Dataset:
    """Returns the elements of shards, one of each in turn."""
    return shards.interleave(lambda shard: shard)


def _traced_reader(reader_func: Callable[..., Any] | None, spec: Any) -> MappedFunction:
    """Returns a function of a dataset of shards as operations call it."""
    if isinstance(reader_func, MappedFunction):
        return reader_func
    return MappedFunction(reader_func or _in_turn, "load()", DatasetSpec(DatasetSpec(spec)))


def _reader_of(function: OpFunction, spec: Any) -> MappedFunction:
    """Returns an operation's function of a dataset of shards."""
    return function.typed(DatasetSpec(DatasetSpec(spec)), DatasetSpec(spec))


def load(path: Any, element_spec: Any, compression: Any, reader_func: Callable[..., Any] | None, wait: bool) -> Dataset:
    """Implements `Dataset.load`."""
    folder = os.fspath(path)
    while wait and not gfile.exists(os.path.join(folder, _METADATA)):
        time.sleep(0.1)
    return LoadDataset(folder, element_spec, _compression(compression), reader_func)


# ---- snapshots and caches --------------------------------------------------------------------------------------------


@dataset_op("SnapshotDatasetV2")
class SnapshotDataset(Node):
    """The same elements, which the first iterator that goes through all writes to files for those after it.

    Args:
        input_dataset: the dataset that they come from.
        path: the folder; each dataset has its own in there.
        compression: the compression of the files.
        reader_func: takes a dataset of shards and returns a dataset.
        shard_func: returns an element's shard.
        hash: the number of the dataset's folder; by default its fingerprint.
    """

    _same_size = _passes_elements = _hash_valid = True

    def __init__(
        self, input_dataset: Any, path: Any, compression: Any, reader_func: Any, shard_func: MappedFunction | None,
        hash: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(input_dataset.element_spec, input_dataset)
        number = fingerprint(input_dataset) if hash is None else hash % 2**64
        self._path, self._hash = os.fspath(path), number - 2**64 if number >= 2**63 else number
        self._folder = os.path.join(self._path, str(number))
        self._compression, self._reader, self._shard_of = _compression(compression), reader_func, shard_func

    @classmethod
    def _of_op(
        cls, input_dataset: Any, path: bytes, compression: Any, reader_func: OpFunction, shard_func: OpFunction,
        hash_valid: bool, hash: int,
    ) -> SnapshotDataset:  # fmt: skip
        spec = input_dataset.element_spec
        reader, number = _reader_of(reader_func, spec), hash if hash_valid else None
        return cls(input_dataset, path.decode(), compression, reader, shard_func.typed(spec), number)

    @property
    def _reader_func(self) -> MappedFunction:
        return _traced_reader(self._reader, self._spec)

    @property
    def _shard_func(self) -> MappedFunction:
        return self._shard_of or MappedFunction(lambda *_: convert(0, int64), "snapshot()", self._spec)

    def _iterate(self) -> Iterator[Element]:
        try:
            run = os.path.join(self._folder, _Metadata.read(self._folder).run)
        except NotFoundError:
            return self._written()
        return rewritten(_shards(run, self._spec, self._compression, self._reader))._iterate()

    def _written(self) -> Iterator[Element]:
        shard_of = None if self._shard_of is None else self._shard_of.caller()
        elements = self._input_dataset._iterate()
        with _written_folder(gfile.local_path(self._folder)) as folder:
            yield from _write_run(folder, self._spec, self._compression, elements, shard_of)


def snapshot(dataset: Any, path: Any, compression: Any, reader_func: Any, shard_func: Any) -> SnapshotDataset:
    """Implements `Dataset.snapshot`."""
    shard_of = None if shard_func is None else MappedFunction(shard_func, "snapshot()", dataset.element_spec)
    return SnapshotDataset(dataset, path, compression, reader_func, shard_of)


class FileCacheDataset(Node):
    """The same elements, which the first iterator that goes through all writes to a file for those after it."""

    _op = "CacheDatasetV2"
    _same_size = _passes_elements = True

    def __init__(self, input_dataset: Any, filename: Any) -> None:
        super().__init__(input_dataset.element_spec, input_dataset)
        self._filename = os.fsdecode(filename)
        self._path = f"{self._filename}.records"

    @property
    def _cache(self) -> Any:
        return ops.DummyMemoryCache()

    def _iterate(self) -> Iterator[Element]:
        if gfile.exists(self._path):
            return _elements(self._path, self._spec, "")
        return self._written()

    def _written(self) -> Iterator[Element]:
        specs = flatten(self._spec)
        with replaced_file(gfile.local_path(self._path)) as new, TFRecordWriter(new) as file:
            for element in self._input_dataset._iterate():
                _write_element(file, element, specs)
                yield element

    def __repr__(self) -> str:
        return f"<CacheDataset element_spec={self._spec}>"


register(FileCacheDataset, load, save, snapshot)
