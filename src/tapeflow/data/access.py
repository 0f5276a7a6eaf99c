"""Datasets seen from outside: one element by its number, a list's elements, a fingerprint."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from tapeflow.core.errors import OutOfRangeError, UnimplementedError
from tapeflow.core.farmhash import fingerprint64
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, uint64
from tapeflow.core.values.tensor import EagerTensor, as_numpy
from tapeflow.data import structure
from tapeflow.data.dataset import UNKNOWN, Dataset
from tapeflow.data.functions import MappedFunction
from tapeflow.data.nodes import Elements, integer
from tapeflow.data.parts import register
from tapeflow.data.rewriting import rewritten


def at(dataset: Dataset, index: TensorLike) -> Any:
    """Implements `tf.data.experimental.at`."""
    size, number = dataset._size(), integer(index)
    if size == UNKNOWN:
        kind = type(dataset).__name__
        raise UnimplementedError(
            None, None, f"Random access is not implemented for dataset {kind} [Op:GetElementAtIndex] name: "
        )
    if number < 0 or 0 <= size <= number:
        raise OutOfRangeError(None, None, f"Index out of range [0, {size}):{number} [Op:GetElementAtIndex] name: ")
    rows = dataset._rows()
    if rows is not None:
        element = tuple([structure.slice_row(v, 0) for v in rows.between(number, number + 1)])
    else:
        element = next(itertools.islice(rewritten(dataset)._iterate(), number, None))
    return structure.Packer(dataset.element_spec)(element)


class ListDataset(Elements):
    """The elements of a list, which may differ in their shapes."""

    def __init__(self, elements: Any) -> None:
        if not isinstance(elements, list):
            raise ValueError("Invalid `elements`. `elements` must be a list.")
        if not elements:
            raise ValueError(
                "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
                "`tf.data.Dataset.range(0)`."
            )
        values, specs = zip(*map(structure.normalized, elements), strict=True)
        spec = specs[0]
        for other in specs[1:]:
            spec = structure.common_spec(spec, other)
        super().__init__([structure.to_element(v) for v in values], spec)

    def __repr__(self) -> str:
        return f"<_{type(self).__name__} element_spec={self._spec}>"


# ---- fingerprints ----------------------------------------------------------------------------------------------------


def fingerprint(dataset: Any) -> EagerTensor:
    """Returns a uint64 scalar that datasets built in the same way share."""
    number = fingerprint64("\n".join(_definition(dataset)).encode())
    return EagerTensor(torch.from_numpy(np.array(number, np.uint64)), uint64)


def _definition(dataset: Any) -> Iterator[str]:
    """Yields all that defines a dataset, as text."""
    yield f"{type(dataset).__name__} {dataset.element_spec}"
    for name, value in sorted(dataset.__dict__.items()):
        if name not in ("_input_datasets", "_rewritten", "_spec", "_memory", "_seeds"):
            yield f"{name}={_text(value)}"
    for source in dataset._inputs():
        yield "("
        yield from _definition(source)
        yield ")"


def _text(value: Any) -> str:
    if isinstance(value, MappedFunction):
        constants = [op.op.attrs["value"] for op in value._body.graph._operations if op.type == "Const"]
        captured = [c for c in value._captured if isinstance(c, EagerTensor)]
        return f"{value._body.compiled.source}{[_text(c.value) for c in (*constants, *captured)]}"
    if isinstance(value, torch.Tensor):
        return f"{tuple(value.shape)} {as_numpy(value, FROM_TORCH[value.dtype]).tobytes().hex()}"
    if isinstance(value, np.ndarray):
        return f"{value.shape} {value.tolist()}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value) if isinstance(value, (int, float, str, bytes, bool, range, type(None))) else type(value).__name__


register(fingerprint)
