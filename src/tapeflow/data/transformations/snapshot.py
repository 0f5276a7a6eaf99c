"""`Dataset.snapshot`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.core.errors import NotFoundError
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int64
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction, OpFunction
from tapeflow.data.graph_defs import fingerprint
from tapeflow.data.node import Node, Unary, dataset_op
from tapeflow.data.saved_datasets import compression_of, read_metadata, write_run, written_folder
from tapeflow.data.sources.load import dataset_of_shards, traced_reader, typed_reader
from tapeflow.io.gfile import files as gfile


@dataset_op("SnapshotDatasetV2")
class Snapshot(Unary):
    """The same elements, which the first iterator that goes through all writes to files for those after it.

    Args:
        input_dataset: the node that they come from.
        path: the folder; each pipeline has its own in there.
        compression: the compression of the files.
        reader: takes a dataset of shards and returns a dataset; None to take elements of all shards in turn.
        shard_of: returns an element's shard; None for one shard.
        number: the number of the pipeline's folder; by default its fingerprint.
    """

    path: str
    compression: str
    reader: Any
    shard_of: MappedFunction | None
    number: int | None = None

    same_size = passes_elements = hash_valid = True

    @classmethod
    def of(
        cls, node: Node, path: str | os.PathLike, compression: str | None, reader: Callable[..., Any] | None,
        shard_func: Callable[..., Any] | None,
    ) -> Snapshot:  # fmt: skip
        """Returns the node for a user's arguments."""
        shard_of = None if shard_func is None else MappedFunction(shard_func, "snapshot()", node.spec)
        return cls(node, os.fspath(path), compression_of(compression), reader, shard_of)

    @classmethod
    def of_op(
        cls, input_dataset: Node, path: bytes, compression: Any, reader_func: OpFunction, shard_func: OpFunction,
        hash_valid: bool, hash: int,
    ) -> Snapshot:  # fmt: skip
        spec = input_dataset.spec
        reader, number = typed_reader(reader_func, spec), hash if hash_valid else None
        return cls(input_dataset, path.decode(), compression_of(compression), reader, shard_func.typed(spec), number)

    def element_spec(self) -> Any:
        number = fingerprint(self.input_dataset) if self.number is None else self.number % 2**64
        self.hash = number - 2**64 if number >= 2**63 else number
        self._folder = os.path.join(self.path, str(number))
        return super().element_spec()

    @property
    def reader_func(self) -> MappedFunction:
        """The function of a dataset of shards."""
        return traced_reader(self.reader, self.spec)

    @property
    def shard_func(self) -> MappedFunction:
        """The function from an element to the number of its shard."""
        return self.shard_of or MappedFunction(lambda *_: convert(0, int64), "snapshot()", self.spec)

    def iterate(self) -> Iterator[Element]:
        try:
            run = os.path.join(self._folder, read_metadata(self._folder)[0])
        except NotFoundError:
            return self._written()
        return dataset_of_shards(run, self.spec, self.compression, self.reader).rewritten().iterate()

    def _written(self) -> Iterator[Element]:
        shard_of = None if self.shard_of is None else self.shard_of.caller()
        elements = self.input_dataset.iterate()
        with written_folder(gfile.local_path(self._folder)) as folder:
            yield from write_run(folder, self.spec, self.compression, elements, shard_of)
