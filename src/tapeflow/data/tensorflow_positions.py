"""The positions of TensorFlow's iterators in checkpoints, as positions of iterators here.

TensorFlow saves the state of each node of a pipeline: its number of elements, and its buffer. An iterator here goes to
a position by reading as many elements again, after shuffles with the same seeds. The position is the number of elements
that the whole pipeline has yielded. It follows from the states of the source and of the nodes with buffers, if the
pipeline is one chain, and each node's number of elements follows from its input's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import VariantTensorDataProto

from tapeflow.array.protos import make_ndarray
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.protos import CompressedElement
from tapeflow.core.types.dtypes import as_dtype, string
from tapeflow.core.values.tensor import invalid
from tapeflow.data.node import Node
from tapeflow.data.sources.range import Range
from tapeflow.data.transformations.batch import Batch
from tapeflow.data.transformations.repeat import Repeat
from tapeflow.data.transformations.shuffle import Shuffle
from tapeflow.data.transformations.skip import Skip
from tapeflow.data.transformations.take import Take
from tapeflow.train.snappy import decompress

# The nodes of TensorFlow that can be restored, by the names of their iterators. TensorFlow joins some nodes, so each
# name has a tuple of nodes here.
_SOURCES = {"Range": ("next",), "TensorSlice": ("index", "i"), "FromTensor": ("produced",)}  # keys of their numbers
_KINDS: dict[str, tuple[Any, ...]] = {
    "Map": (), "ParallelMap": (), "ParallelMapV2": (), "Prefetch": (), "AssertCardinality": (),
    "Batch": (Batch,), "BatchV2": (Batch,), "MapAndBatch": (Batch,),
    "Shuffle": (Shuffle,), "ShuffleAndRepeat": (Repeat, Shuffle),
    "FiniteRepeat": (Repeat,), "ForeverRepeat": (Repeat,),
    "FiniteTake": (Take,), "FiniteSkip": (Skip,),
} | dict.fromkeys(_SOURCES, ())  # fmt: skip
_IGNORED = {"Root", "Model", "MaxIntraOpParallelism", "PrivateThreadPool", "OptionsDataset"}  # these hold no elements


class Position(NamedTuple):
    """The position of an iterator of TensorFlow.

    Attributes:
        yielded: the number of elements that it had yielded.
        seeds: the state of a `SeedLog`.
        following: the next elements, as far as TensorFlow had computed them.
    """

    yielded: int
    seeds: list[Any]
    following: list[list[np.ndarray]]


def position_in(node: Node, states: Sequence[bytes]) -> Position:
    """Returns the position in a dataset that the states of TensorFlow's iterator describe.

    Args:
        node: the last node of a dataset like the one of that iterator.
        states: a message for each of its nodes.

    Raises:
        DataLossError, InvalidArgumentError: the states belong to no iterator, or to another dataset.
        UnimplementedError: the position can't be computed from them.
    """
    return _Reader(node, states).position()


def _refuse_position(why: str) -> NoReturn:
    raise UnimplementedError.of(
        f"The position of an iterator that TensorFlow saved can't be restored: {why}. Positions in pipelines of range, "
        "from_tensors, from_tensor_slices, map, shuffle, batch, repeat, take, skip and prefetch can be. Restore the "
        "checkpoint without its iterator, and skip the elements that were read: dataset.skip(count). "
        "[Op:DeserializeIterator]"
    )


def _dataset_differs(why: str) -> NoReturn:
    raise invalid(
        f"The dataset differs from the one of the iterator that TensorFlow saved: {why}. [Op:DeserializeIterator]"
    )


class _Reader:
    def __init__(self, node: Node, states: Sequence[bytes]) -> None:
        self._groups: dict[str, dict[str, Any]] = {}
        for state in states:
            self._read(state)
        self._kinds = self._chain()
        self._nodes = _nodes_of(node)
        self._paths = ["::".join(self._kinds[:i]) for i in range(1, len(self._kinds) + 1)]

    def _read(self, state: bytes) -> None:
        """Reads the values of one message, by the path of the node and their names."""
        try:
            message = VariantTensorDataProto.FromString(state)
            path, *keys = message.metadata.decode().split("@@")
            values = [v for tensor in message.tensors for v in _state_arrays(tensor)]
        except (DecodeError, UnicodeDecodeError, ValueError) as error:
            raise invalid(f"This is no state of an iterator: {error}. [Op:DeserializeIterator]") from error
        for key, value in zip(keys, values, strict=False):
            of_node, _, name = key.rpartition("|")[2].rpartition(":")
            prefix, *parts = re.sub(r"\[\d+\]", "", of_node or path.rpartition("|")[2]).split("::")
            if prefix != "Iterator":
                _refuse_position(f"it has a state {key!r} of {path!r}")
            self._groups.setdefault("::".join(p for p in parts if p not in _IGNORED), {})[name] = value

    def _chain(self) -> list[str]:
        """Returns the kinds of TensorFlow's nodes, from the end of the pipeline to its source."""
        chains = []
        for path in self._groups:
            parts = path.split(":buffer")[0].split("::")
            kinds = [p for p in parts if not p.isdecimal() and not re.search("invocation_results|batch_results", p)]
            unknown = [kind for kind in kinds if kind not in _KINDS]
            if unknown:
                _refuse_position(f"the pipeline has a node {unknown[0]!r}")
            chains.append(kinds)
        chain = max(chains, key=len, default=[])
        if any(other != chain[: len(other)] for other in chains):
            _refuse_position("the pipeline has several sources")
        return chain

    def _state(self, place: int) -> dict[str, Any]:
        return self._groups.get(self._paths[place], {})

    def _number(self, place: int, *keys: str) -> int:
        """Returns a number in the state of a node, under the first of these keys that it has.

        Raises:
            UnimplementedError: it has none of the keys.
        """
        state = self._state(place)
        for key in keys:
            if state.get(key) is not None:
                return int(state[key])
        _refuse_position(f"the state of {self._kinds[place]} has no {keys[0]!r}")

    # ---- the position ------------------------------------------------------------------------------------------------

    def position(self) -> Position:
        mine = self._matched()
        count, seeds = 0, []
        for place in reversed(range(len(self._kinds))):
            kind, nodes = self._kinds[place], mine[place]
            if place == len(self._kinds) - 1 and kind not in _SOURCES and "Shuffle" not in kind:
                count = self._size(nodes[0]) if nodes else _refuse_position("its source has no state")  # that has ended
                continue
            if "Shuffle" in kind:
                count = self._shuffled(place)
                seeds = self._seeds(place, nodes[-1], count)
            elif kind in _SOURCES:
                count = self._of_source(place)
            elif "Batch" in kind:
                count = -(-count // nodes[0].batch_size) - int(self._state(place).get("batch_results_size", 0))
            elif "Repeat" in kind:
                times = int(self._state(place).get("i", 0))
                count += times * self._size(nodes[0].input_dataset) if times else 0
            elif kind == "FiniteTake":
                count = self._number(place, "i")
            elif kind == "FiniteSkip":
                count = max(count - nodes[0].count, 0)
            elif kind.startswith("ParallelMap"):
                count -= self._waiting(place)
            elif kind == "Prefetch":
                count -= self._number(place, "buffer_size")
        if count < 0:
            _refuse_position("its states contradict each other")
        return Position(count, seeds, self._following())

    def _matched(self) -> list[list[Any]]:
        """Returns the nodes here that each of TensorFlow's stands for.

        Raises:
            InvalidArgumentError: the dataset has other nodes.
        """
        left = [node for node in self._nodes if isinstance(node, _COUNTED)]
        ended = self._kinds[-1:] and self._kinds[-1] not in _SOURCES
        mine: list[list[Any]] = []
        for kind in self._kinds:
            mine.append([])
            for expected in _KINDS[kind]:
                if not left or not isinstance(left[0], expected):
                    here = left[0].name.lstrip("_") if left else "nothing"
                    _dataset_differs(f"it has {kind}, where this one has {here}")
                mine[-1].append(left.pop(0))
        if left and not ended:
            _dataset_differs(f"this one has {left[0].name.lstrip('_')} besides")
        return mine

    def _size(self, node: Any) -> int:
        size = node.cardinality()
        return _refuse_position("it has no static number of elements") if size < 0 else size

    def _of_source(self, place: int) -> int:
        number, source = self._number(place, *_SOURCES[self._kinds[place]]), self._nodes[-1]
        if self._kinds[place] != "Range":
            return number
        if not isinstance(source, Range):
            _dataset_differs(f"it has a range, where this one has {source.name.lstrip('_')}")
        return max(0, -(-(number - source.range.start) // source.range.step))

    def _shuffled(self, place: int) -> int:
        """Returns how many elements a shuffle has yielded: those that it took, without those that it holds."""
        slices = range(self._number(place, "slices_size"))
        starts = [self._number(place, f"slices_start_{i}") for i in slices]
        ends = [self._number(place, f"slices_end_{i}") for i in slices]
        return max(ends, default=0) - sum(ends) + sum(starts)

    def _seeds(self, place: int, node: Shuffle, count: int) -> list[Any]:
        """Returns the state of the log of seeds, so a shuffle here continues in TensorFlow's order.

        Raises:
            InvalidArgumentError: it began with other seeds.
        """
        if sum("Shuffle" in k for k in self._kinds) > 1 or sum("Repeat" in k for k in self._kinds[: place + 1]) > 1:
            _refuse_position("several nodes shuffle or repeat")
        saved = self._number(place, "seed"), self._number(place, "seed2")
        times = next((int(self._state(i).get("i", 0)) for i in range(place) if "Repeat" in self._kinds[i]), 0)
        if self._kinds[place] == "ShuffleAndRepeat":
            times = max(count - 1, 0) // max(self._size(node), 1)
        seeds = node.seeds
        if seeds.drawn:  # nobody chose them, there or here
            return [[list(seeds.base if seeds.renew else saved), [*range(times), list(saved)]]]
        number = max(self._number(place, "epoch_num_random_samples") // 2 - 1, 0) if seeds.renew else 0
        if seeds.of(number, seeds.base) != saved:
            _dataset_differs(
                f"its shuffle began with the seeds {saved}; shuffle with the same seed, after the same "
                "tf.random.set_seed"
            )
        return [[list(seeds.base), [max(number - times, 0)]]]

    def _waiting(self, place: int) -> int:
        """Returns how many results a parallel map holds."""
        state = self._state(place)
        results = self._groups.get(f"{self._paths[place]}::invocation_results", {})
        count = state.get("invocation_results_size", results.get("size"))
        return int(count) if count is not None else _refuse_position(f"{self._kinds[place]} has no number of results")

    def _following(self) -> list[list[np.ndarray]]:
        """Returns the elements in the buffer of a prefetch at the end of the pipeline."""
        if self._kinds[:1] != ["Prefetch"]:
            return []
        elements: list[list[Any]] = []
        for i in range(self._number(0, "buffer_size")):
            state = self._groups.get(f"{self._paths[0]}::{i}", {})
            size = int(state.get("buffer.size", 0))
            element = [state.get(f"buffer[{k}]") for k in range(size)]
            if not element or any(value is None for value in element):
                break
            elements.append(element)
        return elements


_COUNTED = (Batch, Shuffle, Repeat, Take, Skip)


def _nodes_of(node: Node) -> list[Any]:
    """Returns the nodes of a pipeline, from its end to its source."""
    nodes: list[Any] = [node]
    while inputs := nodes[-1].inputs:
        if len(inputs) > 1:
            _refuse_position("the pipeline has several sources")
        nodes.append(inputs[0])
    return nodes


def _state_arrays(tensor: Any) -> list[Any]:
    """Returns the arrays in a tensor of a state, which may be compressed; None for arrays of unsupported dtypes."""
    if tensor.dtype != _VARIANT:
        return [make_ndarray(tensor)]
    element = CompressedElement.FromString(tensor.variant_val[0].metadata) if tensor.variant_val else None
    if element is None or tensor.variant_val[0].type_name != "tensorflow.data.CompressedElement":
        return [None]
    data, values, start = decompress(element.data), [], 0
    for part in element.component_metadata:
        size = sum(part.uncompressed_bytes)
        values.append(_state_array(data[start : start + size], part))
        start += size
    return values


_VARIANT = 21


def _state_array(data: bytes, part: Any) -> Any:
    dtype = as_dtype(part.dtype)
    shape = [d.size for d in part.tensor_shape.dim]
    if dtype is string:  # a few elements of a buffer, which other code handles as arrays
        ends = np.cumsum([0, *part.uncompressed_bytes])
        return np.array([data[a:b] for a, b in zip(ends, ends[1:], strict=False)], object).reshape(shape)
    return None if dtype.torch is None else np.frombuffer(data, dtype.as_numpy_dtype).reshape(shape)
