"""Tensor bundles: the files of a checkpoint. `<prefix>.index` is a sorted table with the position and the checksum of
each tensor's bytes in `<prefix>.data-00000-of-00001`. TensorFlow's `tensor_bundle.proto` defines the format. It is read
and written here as TensorFlow does.
"""

from __future__ import annotations

import glob
import math
import os
import struct
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError

from tapeflow.array.protos import VALUE_FIELDS
from tapeflow.core import errors
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.os_errors import translate_os_errors
from tapeflow.core.protos import BundleEntryProto, BundleHeaderProto, SavedTensorSlices
from tapeflow.core.types.dtypes import DType, as_dtype, string
from tapeflow.core.values.strings import StringArray, offsets_of
from tapeflow.core.values.tensor import EagerTensor, flat_bytes
from tapeflow.core.varint import read_varint, varint
from tapeflow.io import gfile
from tapeflow.io.atomic_replace import exclusive, rename, temporary_folder
from tapeflow.io.records import crc32c, mask_checksum
from tapeflow.train.table import read_table, table_bytes, table_entries

_MOST_DIMENSIONS = 64  # of arrays and tensors
_CHUNK = 1 << 20  # the bytes copied and checked at a time, so that they are checked while they are in the cache


def data_file(prefix: str, shard: int, shards: int) -> str:
    """Returns the name of a file with tensors."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def data_files(prefix: str) -> list[str]:
    """Returns the paths of all files with tensors that there are, of the present index or not."""
    return glob.glob(f"{glob.escape(prefix)}.data-?????-of-?????")


# ---- writing ---------------------------------------------------------------------------------------------------------


def write_bundle(prefix: str, tensors: Iterable[tuple[str, EagerTensor]]) -> None:
    """Writes tensors by name, all of them or nothing: at every moment the files are the old checkpoint or the new one.

    Renaming the index replaces the old checkpoint. Until then, nothing touches the data file that the old index names.
    If the old file has the ordinary name, the new one is named `.data-00000-of-00002` for a moment.

    Args:
        prefix: the checkpoint's name. Missing folders are created.
        tensors: the names, all different, and the tensors under them.

    Raises:
        NotFoundError, ResourceExhaustedError, ...: the files can't be written.
        UnimplementedError: a tensor's dtype cannot be saved.
    """
    directory = os.path.dirname(prefix)
    gfile.makedirs(directory)
    with temporary_folder(prefix) as folder, translate_os_errors(prefix):
        data = os.path.join(folder, "data")
        with open(data, "wb", buffering=0) as file:
            entries = _write_tensors(file, tensors)
            os.fsync(file.fileno())
        table = sorted((key.encode(), entry.SerializeToString(deterministic=True)) for key, entry in entries.items())
        with exclusive(directory):
            shards = 2 if _count_of_shards(f"{prefix}.index") == 1 else 1
            os.replace(data, data_file(prefix, 0, shards))  # which is on the disk before the index is
            _write_index(prefix, table, shards, folder)
            if shards == 2:
                with suppress(OSError, errors.OpError):  # without links it stays under that name, which is as good
                    os.link(data_file(prefix, 0, 2), data_file(prefix, 0, 1))
                    _write_index(prefix, table, 1, folder)


def _count_of_shards(index_file: str) -> int:
    """Returns the number of data files, which is part of all their names, of a checkpoint; 0 if there is none."""
    try:
        with translate_os_errors(index_file), open(index_file, "rb") as file:
            key, value = next(table_entries(file.read()))
            return BundleHeaderProto.FromString(b"" if key else value).num_shards
    except (errors.NotFoundError, StopIteration, ValueError, DecodeError):
        return 0


def _write_index(prefix: str, table: list[tuple[bytes, bytes]], shards: int, folder: str) -> None:
    """Replaces the index, and then deletes the data files that it does not name."""
    header = BundleHeaderProto(num_shards=shards)
    header.version.producer = 1
    new = os.path.join(folder, "index")
    with open(new, "wb") as file:
        file.write(table_bytes([(b"", header.SerializeToString(deterministic=True)), *table]))
        file.flush()
        os.fsync(file.fileno())
    rename(new, f"{prefix}.index")
    for path in set(data_files(prefix)) - {data_file(prefix, 0, shards)}:
        with suppress(OSError):  # somebody reads it, on Windows: the next save deletes it
            os.remove(path)


def _write_tensors(file: Any, tensors: Iterable[tuple[str, EagerTensor]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    offset = 0
    for key, tensor in tensors:
        value = tensor.value
        if tensor.dtype is string:
            size, crc = _write_strings(file, value.reshape(-1).tolist())
        elif isinstance(value, torch.Tensor):
            size, crc = _write_buffer(file, flat_bytes(value.detach().cpu()).numpy())  # its own memory if possible
        else:
            raise errors.UnimplementedError.of(
                f"Tensor {key!r} is of dtype {tensor.dtype.name}, which a checkpoint cannot hold."
            )
        dtype, checksum = tensor.dtype.as_datatype_enum, mask_checksum(crc)
        entry = BundleEntryProto(dtype=dtype, offset=offset, size=size, crc32c=checksum)
        entry.shape.SetInParent()
        for length in value.shape:
            entry.shape.dim.add(size=length)
        entries[key] = entry
        offset += size
    return entries


def _write_buffer(file: Any, data: np.ndarray) -> tuple[int, int]:
    crc = 0
    for start in range(0, len(data), _CHUNK):
        chunk = data[start : start + _CHUNK]
        crc = crc32c(chunk, crc)
        _write_all(file, chunk)
    return len(data), crc


def _write_all(file: Any, data: Any) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _write_strings(file: Any, values: list[bytes]) -> tuple[int, int]:
    """Writes the lengths, the checksum of the lengths, and the strings; returns the size and the checksum."""
    lengths = [len(v) for v in values]
    lengths_crc = crc32c(_length_words(lengths))
    stored = struct.pack("<I", mask_checksum(lengths_crc))
    body = b"".join(values)
    crc = crc32c(body, crc32c(stored, lengths_crc))
    data = b"".join([varint(n) for n in lengths]) + stored + body
    _write_all(file, data)
    return len(data), crc


def _length_words(lengths: Sequence[int]) -> bytes:
    """Returns the lengths of strings in the form that is checksummed."""
    return b"".join(n.to_bytes(4 if n <= 0xFFFFFFFF else 8, "little") for n in lengths)


# ---- reading ---------------------------------------------------------------------------------------------------------


class Bundle:
    """A checkpoint's tensors, read on demand. They do not change if another checkpoint replaces this one.

    Args:
        prefix: the checkpoint's name.

    Attributes:
        entries: by the tensors' names, messages with dtype, shape and position.

    Raises:
        NotFoundError: there is no such checkpoint.
        PermissionDeniedError, ...: the files can't be read.
        DataLossError: the index is damaged.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._file = f"{prefix}.index"
        self._lock = new_lock()  # for reading at a position
        self._data: dict[str, Any] = {}
        while not self._open():
            pass

    def _open(self) -> bool:
        """Reads the index and opens the data files. Returns whether that was all of one checkpoint."""
        if not os.path.exists(self._file):
            tables = first_version_files(self.prefix)
            if tables:
                self._read_first_version(tables)
                return True
            raise errors.NotFoundError.of(
                f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {self.prefix}"
            )
        with translate_os_errors(self._file), open(self._file, "rb") as index, ExitStack() as files:
            self._read_index(index.read())
            self._data = {}
            for shard in {entry.shard_id for entry in self._keys.values()}:
                path = data_file(self.prefix, shard, self._shards)
                with suppress(FileNotFoundError, IsADirectoryError):
                    self._data[path] = files.enter_context(open(path, "rb", buffering=0))
            try:
                whole = os.path.samestat(os.stat(self._file), os.fstat(index.fileno()))
            except FileNotFoundError:  # the checkpoint was deleted meanwhile
                whole = True
            if whole:
                weakref.finalize(self, files.pop_all().close)
            return whole

    def _read_index(self, data: bytes) -> None:
        try:
            table = read_table(data)
            header = BundleHeaderProto.FromString(table.pop(b"", b""))
            self._keys = {key: BundleEntryProto.FromString(value) for key, value in table.items()}
            # Pieces of tensors have keys of another form, that begin with a zero byte.
            self.entries = {k.decode(): e for k, e in self._keys.items() if not k.startswith(b"\0")}
        except (ValueError, DecodeError) as error:
            raise self._lost(f"{error}. Perhaps the file is corrupt or no checkpoint.") from None
        if header.endianness:
            raise errors.UnimplementedError.of(f"{self._file}: reading a bundle written big-endian is not supported.")
        if header.num_shards < 1:
            raise self._lost("it has no header.")
        self._shards = header.num_shards

    def _read_first_version(self, files: Sequence[str]) -> None:
        """Reads a checkpoint of the first version of the format: tables that hold the tensors themselves."""
        self._data, self._keys, self.entries, self._slices = {}, {}, {}, {}
        for self._file in files:
            try:
                with open(self._file, "rb") as file:
                    table = read_table(file.read())
                meta = SavedTensorSlices.FromString(table.pop(b"", b"")).meta
                slices = {key: SavedTensorSlices.FromString(value).data for key, value in table.items()}
            except (OSError, ValueError, DecodeError) as error:
                raise self._lost(f"{error}. Perhaps the file is corrupt or no checkpoint.") from None
            self._slices.update(slices)
            for tensor in meta.tensor:
                entry = self.entries.setdefault(tensor.name, BundleEntryProto(dtype=tensor.type, shape=tensor.shape))
                entry.slices.extend(tensor.slice)
                for extents in tensor.slice:
                    bounds = _piece_bounds(extents)
                    piece = BundleEntryProto(dtype=tensor.type)
                    piece.shape.SetInParent()
                    for (_, length), dim in zip(bounds, tensor.shape.dim, strict=False):
                        piece.shape.dim.add(size=dim.size if length < 0 else length)
                    self._keys[slice_key(tensor.name, bounds)] = piece
        for entry in self._keys.values():
            entry.shard_id = -1  # it is in a table

    def _lost(self, why: str, entry: str | None = None, file: str | None = None) -> errors.DataLossError:
        where = f"{file or self._file}" + (f", entry {entry!r}" if entry is not None else "")
        return errors.DataLossError.of(f"Unable to read the checkpoint file {where}: {why}")

    def dtype(self, key: str) -> DType:
        """Returns the dtype of a tensor."""
        return self._dtype(key, self._entry_of(key))

    def shape(self, key: str) -> tuple[int, ...]:
        """Returns the shape of a tensor."""
        return tuple(d.size for d in self._entry_of(key).shape.dim)

    def _entry_of(self, key: str) -> Any:
        entry = self.entries.get(key)
        if entry is None:
            raise errors.NotFoundError.of(f"Key {key} not found in checkpoint")
        return entry

    def _dtype(self, key: str, entry: Any) -> DType:
        try:
            return as_dtype(entry.dtype).base_dtype
        except Exception:
            raise self._lost(f"there is no dtype of number {entry.dtype}.", key) from None

    def read(self, key: str) -> EagerTensor:
        """Reads a tensor.

        Raises:
            NotFoundError: there is no tensor of that name, or its file is missing.
            DataLossError: the files are damaged.
        """
        entry = self._entry_of(key)
        return self._from_slices(key, entry) if entry.slices else self._read(key, entry)

    def read_variants(self, key: str) -> list[bytes]:
        """Reads a tensor of dtype variant.

        Returns:
            Its elements as serialized messages.

        Raises:
            NotFoundError: there is no tensor of that name, or its file is missing.
            DataLossError: the files are damaged.
        """
        entry = self._entry_of(key)
        with self._lock, translate_os_errors(self.prefix):
            file, lost = self._at(key, entry)
            return _read_messages(file.read(entry.size), math.prod(self._dims(key, entry)), lost)

    def _read_slice(self, key: str, bounds: Sequence[tuple[int, int]]) -> EagerTensor:
        """Reads a piece of a tensor."""
        place = slice_key(key, bounds)
        piece = self._keys[place]
        if piece.shard_id >= 0:
            return self._read(key, piece)
        dtype, dims = self._dtype(key, piece), tuple(d.size for d in piece.shape.dim)
        if place not in self._slices:
            raise self._lost("a piece of it is missing.", key)
        message, count = self._slices[place].data, math.prod(dims)
        values = getattr(message, VALUE_FIELDS.get(dtype.name, "int_val"))
        if len(values) != count * (2 if dtype.is_complex else 1):
            raise self._lost(f"a piece of it has {len(values)} values instead of {count}.", key)
        if dtype is string:
            return EagerTensor(StringArray.of(list(values), dims), dtype)
        if dtype.name in ("half", "float16", "bfloat16"):
            bits = torch.tensor(list(values), dtype=torch.int32).to(torch.int16)
            return EagerTensor(bits.view(dtype.torch or torch.float16).reshape(dims), dtype)
        if dtype.is_complex:
            pairs = np.array(values, np.float32 if dtype.name == "complex64" else np.float64)
            array = pairs.view(dtype.as_numpy_dtype)
        else:
            array = np.array(values, dtype.as_numpy_dtype)
        return EagerTensor(torch.from_numpy(array).reshape(dims), dtype)

    def _read(self, key: str, entry: Any) -> EagerTensor:
        dtype, dims = self._dtype(key, entry), self._dims(key, entry)
        count = math.prod(dims)
        with self._lock, translate_os_errors(self.prefix):
            file, lost = self._at(key, entry)
            if dtype is string:
                return EagerTensor(_read_strings(file, entry, count, lost).reshape(dims), dtype)
            return EagerTensor(_read_numbers(file, entry, count, dtype, lost).reshape(dims), dtype)

    def _dims(self, key: str, entry: Any) -> tuple[int, ...]:
        dims = tuple(d.size for d in entry.shape.dim)
        if entry.shape.unknown_rank or any(d < 0 for d in dims):
            raise self._lost("its shape is incomplete.", key)
        if len(dims) > _MOST_DIMENSIONS:
            raise self._lost(f"its shape has {len(dims)} dimensions.", key)
        return dims

    def _at(self, key: str, entry: Any) -> tuple[Any, Callable[[str], Exception]]:
        """Returns the file with a tensor, at its first byte, and a function that creates the error for damage there."""
        if not 0 <= entry.shard_id < self._shards:
            raise self._lost(f"it is said to be in file {entry.shard_id} of {self._shards}.", key)
        path = data_file(self.prefix, entry.shard_id, self._shards)
        file = self._data.get(path)
        if file is None:
            raise errors.NotFoundError.of(f"{path}; No such file or directory (entry {key!r})")
        available = os.fstat(file.fileno()).st_size
        end = entry.offset + entry.size
        if entry.offset < 0 or entry.size < 0 or end > available:
            raise self._lost(f"it is said to be at bytes {entry.offset} to {end}, of {available}.", key, path)
        file.seek(entry.offset)
        return file, lambda why: self._lost(why, key, path)

    def _from_slices(self, key: str, entry: Any) -> EagerTensor:
        """Reads a tensor that was saved in pieces, as partitioned variables are."""
        dtype, dims = self._dtype(key, entry), tuple(d.size for d in entry.shape.dim)
        pieces = []
        for extents in entry.slices:
            if len(extents.extent) != len(dims):
                raise self._lost("a piece of it has another rank.", key)
            bounds = _piece_bounds(extents)
            where = tuple(
                slice(start, start + length if length >= 0 else size)
                for (start, length), size in zip(bounds, dims, strict=True)
            )
            piece = self._keys.get(slice_key(key, bounds))
            if piece is None:
                raise self._lost("a piece of it is missing.", key)
            shape = tuple(max(0, s.stop - s.start) for s in where)
            if shape != tuple(d.size for d in piece.shape.dim) or any(
                s.start < 0 or s.stop > n for s, n in zip(where, dims, strict=True)
            ):
                raise self._lost("a piece of it does not fit.", key)
            pieces.append((where, self._read_slice(key, bounds).value))
        if sum(math.prod(p.shape) for _, p in pieces) != math.prod(dims):
            raise self._lost("its pieces do not fill it.", key)
        if dtype is string:
            places, count = np.empty(dims, np.int64), 0
            for where, piece in pieces:
                places[where] = count + piece.places()
                count += piece.size
            strings = [piece.reshape(-1) for _, piece in pieces]
            return EagerTensor(StringArray.concatenate(strings).take(places), dtype)
        whole = torch.empty(dims, dtype=dtype.torch)
        for where, piece in pieces:
            whole[where] = piece
        return EagerTensor(whole, dtype)


def first_version_files(prefix: str) -> list[str]:
    """Returns the files of a checkpoint of the format before TensorFlow 1.0; `?` in the name stands for any digit."""
    return [prefix] if os.path.isfile(prefix) else sorted(filter(os.path.isfile, glob.glob(prefix)))


def _piece_bounds(extents: Any) -> list[tuple[int, int]]:
    """Returns the start and length of a piece in each dimension; -1 for all of it."""
    return [(e.start, e.length if e.HasField("length") else -1) for e in extents.extent]


def _read_numbers(file: Any, entry: Any, count: int, dtype: DType, lost: Callable[[str], Exception]) -> torch.Tensor:
    if dtype.torch is None:
        raise errors.UnimplementedError.of(f"Tensors of dtype {dtype.name} cannot be read from a checkpoint.")
    if entry.size != count * dtype.torch.itemsize:
        raise lost(f"it has {entry.size} bytes, where its shape and dtype need {count * dtype.torch.itemsize}.")
    memory = torch.empty(entry.size, dtype=torch.uint8)
    view, crc = memory.numpy(), 0
    for start in range(0, entry.size, _CHUNK):
        chunk = view[start : start + _CHUNK]
        if _read_into(file, chunk) < len(chunk):
            raise lost("the file is cut short.")
        crc = crc32c(chunk, crc)
    _check_checksum(crc, entry.crc32c, lost)
    return memory.view(dtype.torch) if count else torch.empty(0, dtype=dtype.torch)


def _read_into(file: Any, data: np.ndarray) -> int:
    view, done = memoryview(data.data), 0
    while done < len(view):
        count = file.readinto(view[done:])
        if not count:
            break
        done += count
    return done


def _check_checksum(crc: int, stored: int, lost: Callable[[str], Exception]) -> None:
    found = mask_checksum(crc)
    if found != stored:
        raise lost(f"Checksum does not match: stored {stored} vs. calculated on the restored bytes {found}.")


def _read_strings(file: Any, entry: Any, count: int, lost: Callable[[str], Exception]) -> StringArray:
    if count + 4 > entry.size:
        raise lost(f"it has {entry.size} bytes, too few for {count} strings.")
    data = file.read(entry.size)
    lengths, position = [], 0
    try:
        for _ in range(count):
            length, position = read_varint(data, position)
            lengths.append(length)
    except ValueError as error:
        raise lost(f"{error}.") from None
    if position + 4 + sum(lengths) != len(data):
        raise lost("the lengths of its strings do not fit its size.")
    stored = data[position : position + 4]
    lengths_crc = crc32c(_length_words(lengths))
    _check_checksum(lengths_crc, struct.unpack("<I", stored)[0], lost)
    position += 4
    _check_checksum(crc32c(data[position:], crc32c(stored, lengths_crc)), entry.crc32c, lost)
    return StringArray(data[position:], offsets_of(np.array(lengths, np.int64)))


def _read_messages(data: bytes, count: int, lost: Callable[[str], Exception]) -> list[bytes]:
    """Returns the elements of a tensor of variants: each has its length before it, and a checksum of all so far after
    it.
    """
    messages, position, crc = [], 0, 0
    for _ in range(count):
        try:
            length, position = read_varint(data, position)
        except ValueError as error:
            raise lost(f"{error}.") from None
        end = position + length
        if end + 4 > len(data):
            raise lost("the lengths of its elements do not fit its size.")
        messages.append(data[position:end])
        crc = crc32c(messages[-1], crc32c(length.to_bytes(8, "little"), crc))
        stored, position = data[end : end + 4], end + 4
        _check_checksum(crc, struct.unpack("<I", stored)[0], lost)
        crc = crc32c(stored, crc)
    return messages


# ---- the keys of pieces ----------------------------------------------------------------------------------------------


def slice_key(name: str, bounds: Sequence[tuple[int, int]]) -> bytes:
    """Returns the key of a piece of a tensor: its name, and the start and length in each dimension.

    The encoding is TensorFlow's `OrderedCode`: keys sort like names and numbers.
    """
    escaped = name.encode().replace(b"\xff", b"\xff\1").replace(b"\0", b"\0\xff").replace(b"\xff\1", b"\xff\0")
    out = _unsigned_varint(0) + escaped + b"\0\1" + _unsigned_varint(len(bounds))
    return out + b"".join(_signed_varint(n) for bound in bounds for n in bound)


def _unsigned_varint(value: int) -> bytes:
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(digits)]) + digits


def _signed_varint(value: int) -> bytes:
    size = next(n for n in range(1, 11) if -(1 << 7 * n - 1) <= value < 1 << 7 * n - 1)
    # The header is a run of bits as long as the number of bytes: ones for values of at least 0.
    header = ((1 << size) - 1) << 7 * size
    bits = value & (1 << 8 * size) - 1
    return (bits ^ header & (1 << 8 * size) - 1).to_bytes(size, "big")
