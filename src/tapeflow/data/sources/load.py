"""`Dataset.load`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction, OpFunction
from tapeflow.data.node import Node, dataset_op
from tapeflow.data.saved_datasets import METADATA, compression_of, read_elements, read_metadata, read_spec
from tapeflow.data.sources.from_list import Elements
from tapeflow.data.spec import DatasetSpec
from tapeflow.io.gfile import files as gfile

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


class _ShardFile(Node):
    """The elements of one shard."""

    path: str
    spec: Any
    compression: str

    def iterate(self) -> Iterator[Element]:
        return read_elements(self.path, self.spec, self.compression)


@dataset_op("LoadDataset")
class Load(Node):
    """The elements of a saved dataset.

    Args:
        path: the folder of the saved dataset.
        spec: the spec of the elements; None for the saved one.
        compression: the compression of the files.
        reader: takes a dataset of shards and returns the dataset; None to take elements of all shards in turn.
    """

    def __init__(self, path: str, spec: Any, compression: str, reader: Any) -> None:
        spec = read_spec(path) if spec is None else spec
        run, self._count = read_metadata(path)
        self.path, self.compression, self._reader = path, compression, reader
        super().__init__(spec=spec)
        self.inputs = [dataset_of_shards(os.path.join(path, run), spec, compression, reader)]

    @classmethod
    def of_op(cls, path: bytes, compression: Any, reader_func: OpFunction, spec: Sequence[Any]) -> Load:
        return cls(path.decode(), spec, compression_of(compression), typed_reader(reader_func, spec))

    def operands(self) -> Sequence[Node]:
        return []

    @property
    def reader_func(self) -> MappedFunction:
        """The function of a dataset of shards."""
        return traced_reader(self._reader, self.spec)

    def cardinality(self) -> int:
        return self._count

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return inputs[0]


def load(
    path: str | os.PathLike, element_spec: Any, compression: str | None, reader: Callable[..., Any] | None, wait: bool
) -> Load:
    """Returns the node of a saved dataset, for a user's arguments."""
    folder = os.fspath(path)
    while wait and not gfile.exists(os.path.join(folder, METADATA)):
        time.sleep(0.1)
    return Load(folder, element_spec, compression_of(compression), reader)


def dataset_of_shards(folder: str, spec: Any, compression: str, reader: Any) -> Node:
    """Returns the node of the shards of a run, as a function reads them."""
    paths = sorted(gfile.glob(os.path.join(folder, "*.shard", "*.snapshot")))
    files = [(DatasetSpec.dataset(_ShardFile(p, spec, compression)),) for p in paths]
    shards = DatasetSpec.dataset(Elements(files, DatasetSpec(spec)))
    return (reader((shards,))[0] if isinstance(reader, MappedFunction) else (reader or _in_turn)(shards))._node


def _in_turn(shards: Dataset) -> Any:
    """Returns the elements of shards in turn."""
    return shards.interleave(lambda shard: shard)


def traced_reader(reader: MappedFunction | Callable[..., Any] | None, spec: Any) -> MappedFunction:
    """Returns a function of a dataset of shards as operations call it."""
    if isinstance(reader, MappedFunction):
        return reader
    return MappedFunction(reader or _in_turn, "load()", DatasetSpec(DatasetSpec(spec)))


def typed_reader(function: OpFunction, spec: Any) -> MappedFunction:
    """Returns an operation's function of a dataset of shards."""
    return function.typed(DatasetSpec(DatasetSpec(spec)), lambda _: DatasetSpec(spec))
