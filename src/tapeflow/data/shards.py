"""A worker's shard of a pipeline: files of its own, or the shard where the program wrote a hint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.data.files import OfFiles
from tapeflow.data.maps import FlatMapDataset, InterleaveDataset, PrefetchDataset
from tapeflow.data.nodes import OptionsDataset, ShardDataset
from tapeflow.data.shuffling import ShuffleDataset

_OPEN_DATASETS = (FlatMapDataset, InterleaveDataset)  # whose functions may return datasets of files
_PASS_NAMES = (ShuffleDataset, OptionsDataset, PrefetchDataset)  # whose elements are those of their input


def over(node: Any, inputs: list[Any]) -> Any:
    """Returns a node over other inputs; the node itself where they are the same."""
    return node if all(new is old for new, old in zip(inputs, node._inputs(), strict=True)) else node._over(inputs)


# ---- by file ---------------------------------------------------------------------------------------------------------


def with_own_files(dataset: Any, workers: int, rank: int) -> Any:
    """Returns the dataset of a worker's files; None where it reads none."""
    inputs = dataset._inputs()
    if isinstance(dataset, OfFiles) or (isinstance(dataset, _OPEN_DATASETS) and _opens_files(dataset)):
        return dataset._over([_names_of_worker(i, workers, rank) for i in inputs])
    shares = [with_own_files(i, workers, rank) for i in inputs]
    if not shares or any(share is None for share in shares):
        return None
    return over(dataset, shares)


def _opens_files(dataset: Any) -> bool:
    return _reads_files(dataset._f._body.graph, {cls._op for cls in _subclasses(OfFiles)})


def _reads_files(graph: Any, readers: set[str]) -> bool:
    """Returns True if operations of a graph, or of the functions that they call, read files."""
    operations = graph._operations
    called = [arg.body.graph for o in operations for arg in o.args if hasattr(arg, "body")]
    return any(o.type in readers for o in operations) or any(_reads_files(g, readers) for g in called)


def _subclasses(cls: Any) -> Iterator[Any]:
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _names_of_worker(names: Any, workers: int, rank: int) -> Any:
    """Returns a worker's names: divided before they are shuffled, as each worker shuffles in its own way."""
    if isinstance(names, _PASS_NAMES):
        return names._over([_names_of_worker(i, workers, rank) for i in names._inputs()])
    return ShardDataset(names, workers, rank, require_non_empty=True)


# ---- by hint ---------------------------------------------------------------------------------------------------------


def with_hints_replaced(dataset: Any, workers: int, rank: int) -> Any:
    """Returns the dataset with a worker's shard wherever the program wrote `shard(SHARD_HINT, SHARD_HINT)`."""
    inputs = [with_hints_replaced(i, workers, rank) for i in dataset._inputs()]
    if isinstance(dataset, ShardDataset) and dataset.is_hint:
        return ShardDataset(inputs[0], workers, rank)
    return over(dataset, inputs)
