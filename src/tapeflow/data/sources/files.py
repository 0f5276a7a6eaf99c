"""Nodes of the contents of files, and `Dataset.list_files`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tapeflow.array.properties import size
from tapeflow.array.reshapes import reshape
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction
from tapeflow.data.node import Fields, Node, Unary, Variant, add_operation, integer, op_kernel, text
from tapeflow.data.seeds import Seeds, seeds_of
from tapeflow.data.sources.from_tensor_slices import FromTensorSlices
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.threads import AUTOTUNE, cores
from tapeflow.data.transformations.batch import Runs
from tapeflow.data.transformations.flat_map import FlatMap
from tapeflow.data.transformations.interleave import LegacyInterleave, ParallelInterleave, in_turn
from tapeflow.data.transformations.shuffle import Shuffle
from tapeflow.io.files import matching_files
from tapeflow.math.extrema import maximum

_BUFFER = 256 * 1024  # the bytes that are read at once


def names_of(filenames: TensorLike) -> Node:
    """Returns file names, or a node of file names, as a node.

    Raises:
        TypeError: they are no strings.
    """
    filenames = getattr(filenames, "_node", filenames)  # of a dataset
    if isinstance(filenames, Node):
        spec = filenames.spec
        dtype = getattr(spec, "dtype", None)
        if dtype is not string:
            raise TypeError(
                f"The `filenames` argument must contain `tf.string` elements. Got a dataset of `{dtype!r}` elements."
            )
        if not spec.shape.is_compatible_with(TensorShape([])):
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got a "
                f"dataset of element shape {spec.shape!r}."
            )
        return filenames
    names = filenames if isinstance(filenames, Tensor) else convert(_plain_names(filenames))
    empty = names.shape.num_elements() == 0
    if names.dtype is not string and not empty:
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got `{names.dtype!r}` elements.")
    return FromTensorSlices(convert([], string) if empty else reshape(names, [-1]), True)


def _plain_names(filenames: TensorLike) -> Any:
    """Returns names, with text in place of `os.PathLike` objects."""
    if isinstance(filenames, (list, tuple)):
        return [_plain_names(f) for f in filenames]
    return filenames.__fspath__() if hasattr(filenames, "__fspath__") else filenames


class OfFiles(Unary):
    """A node over names of files. Its operation reads one file; an operation around it opens one after the other."""

    compression_type: str
    buffer_size: int

    is_slow = names_files = True
    parallel = 0  # the number of files that are read in turn; 0 for one after the other

    def operation(self) -> Any:
        fields, names = Fields(self), self.input_dataset

        def read(name: Tensor) -> Any:
            files = reshape(name, [1])
            variant = add_operation(self.op, lambda n, d: files if n == "filenames" else fields(n, d))
            return DatasetSpec.dataset(Variant(variant, self.spec))

        if not self.parallel:
            return FlatMap(names, MappedFunction.for_node(names, read, "flat_map")).variant
        function = MappedFunction.for_node(names, read, "interleave")
        if self.parallel == AUTOTUNE:
            return ParallelInterleave(names, function, AUTOTUNE, 1, AUTOTUNE).variant
        return LegacyInterleave(names, function, self.parallel, 1).variant


class Contents(OfFiles):
    """The contents of files as string scalars, one file after the other or several in turn."""

    parallel: int = 0

    @classmethod
    def of(cls, filenames: Any, compression_type: Any, buffer_size: Any, parallel: Any, *more: Any) -> Any:
        """Returns the node for a user's arguments."""
        if parallel is not None and integer(parallel) < 1 and parallel != AUTOTUNE:
            raise invalid("`cycle_length` must be > 0 [Op:LegacyParallelInterleaveDatasetV2] name: ")
        turns = 0 if parallel is None else integer(parallel)
        lengths = [0 if n is None else integer(n) for n in more]
        return cls(names_of(filenames), *reading(compression_type, buffer_size), turns, *lengths)

    @classmethod
    def of_op(cls, filenames: TensorLike, compression_type: bytes, buffer_size: int) -> Any:
        return cls.of(filenames, compression_type, buffer_size, None)

    def element_spec(self) -> Any:
        return TensorSpec([], string)

    def iterate(self) -> Iterator[Element]:
        return zip(map(StringArray.scalar, self._every_content()), strict=False)

    def batches(self, size: int, drop_remainder: bool) -> Iterator[Element]:
        return zip(map(StringArray.of, Runs(self._every_content(), size, drop_remainder)), strict=False)

    def _every_content(self) -> Iterator[bytes]:
        files = map(self._of_file, self.input_dataset.iterate())
        if self.parallel:
            return in_turn(files, cores() if self.parallel == AUTOTUNE else self.parallel, 1)
        return itertools.chain.from_iterable(files)

    def _of_file(self, name: Element) -> Iterator[bytes]:
        return self.contents_of(name[0].item())

    def contents_of(self, path: bytes) -> Iterator[bytes]:
        """Yields the contents of a file, element by element."""
        raise NotImplementedError


def reading(compression_type: TensorLike, buffer_size: Any) -> tuple[Any, int]:
    """Returns the fields of a node that reads files, from a user's arguments."""
    return text(compression_type or ""), _BUFFER if buffer_size is None else integer(buffer_size)


def list_files(file_pattern: Any, shuffle: bool, seed: TensorLike | None) -> Node:
    """Returns the node of the names of the files that match patterns."""
    pattern = convert(_plain_names(file_pattern), string)
    names: Any = matching_files(pattern)
    if isinstance(names, EagerTensor) and not names.shape[0]:
        shown = ", ".join(p.decode(errors="replace") for p in pattern.value.reshape(-1).tolist())
        raise invalid(f"No files matched pattern: {shown}")
    files = FromTensorSlices(names)
    if not shuffle:
        return files
    return Shuffle(files, integer(names.shape[0] or maximum(size(names, int64), 1)), Seeds(seeds_of(seed), True))


@op_kernel("MatchingFilesDataset")
def _matching_files(patterns: Any) -> Node:
    return list_files(patterns, False, None)
