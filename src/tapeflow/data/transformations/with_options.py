"""`Dataset.with_options`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.data.node import Node, Unary, dataset_op
from tapeflow.data.options import Options


@dataset_op("OptionsDataset")
class WithOptions(Unary):
    """The same elements, with other options."""

    set_options: Options

    name = "_OptionsDataset"
    same_size = passes_elements = chooses = passes_options = shards_inside = True

    @classmethod
    def of_op(cls, input_dataset: Node, serialized_options: bytes | str) -> WithOptions:
        if isinstance(serialized_options, str):  # bytes that are no text are surrogates
            serialized_options = serialized_options.encode(errors="surrogateescape")
        return cls(input_dataset, Options._of_proto(serialized_options))

    @property
    def serialized_options(self) -> bytes:
        """The options as TensorFlow's message."""
        return self.set_options._to_proto()

    def in_place(self) -> Node:
        return self.input_dataset

    def options(self) -> Options:
        merged = self.__dict__.get("_merged")
        if merged is None:
            merged = self.__dict__["_merged"] = super().options().merge(self.set_options)
        return merged

    def iterate(self) -> Iterator[Any]:
        return self.input_dataset.iterate()
