"""`Dataset.cache`, in memory and in files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tapeflow.core.ops.definition import ops
from tapeflow.core.values.tensor import Tensor
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Node, Unary, op_kernel
from tapeflow.data.saved_datasets import read_elements, write_element
from tapeflow.io.atomic_replace import replaced_file
from tapeflow.io.gfile import files as gfile
from tapeflow.io.records import TFRecordWriter


class Cache(Unary):
    """The same elements, stored in memory once an iterator has gone through all."""

    op = "CacheDatasetV2"
    name = "CacheDataset"
    filename = ""
    same_size = passes_elements = True

    def element_spec(self) -> Any:
        self._memory: dict[str, list[Element]] = {}  # copies of this node share it
        return super().element_spec()

    @property
    def cache(self) -> Tensor:
        """The resource that TensorFlow caches in."""
        return ops.DummyMemoryCache()

    def iterate(self) -> Iterator[Element]:
        stored = self._memory.get("all")
        return super().iterate() if stored is None else iter(stored)

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        seen: list[Element] = []

        def noted(element: Element) -> Element:
            seen.append(element)
            return element

        def end() -> Iterator[Element]:
            self._memory.setdefault("all", seen)
            yield from ()

        return itertools.chain(map(noted, inputs[0]), end())


class FileCache(Cache):
    """The same elements, which the first iterator that goes through all writes to a file for those after it."""

    filename: str

    name = "CacheDataset"

    def element_spec(self) -> Any:
        self._path = f"{self.filename}.records"
        return super().element_spec()

    def iterate(self) -> Iterator[Element]:
        return read_elements(self._path, self.spec, "") if gfile.exists(self._path) else self._written()

    def _written(self) -> Iterator[Element]:
        specs = elements.flatten(self.spec)
        with replaced_file(gfile.local_path(self._path)) as new, TFRecordWriter(new) as file:
            for element in self.input_dataset.iterate():
                write_element(file, element, specs)
                yield element


@op_kernel("CacheDataset", "CacheDatasetV2")
def _cache_dataset(input_dataset: Node, filename: bytes) -> Node:
    return FileCache(input_dataset, filename.decode()) if filename else Cache(input_dataset)
