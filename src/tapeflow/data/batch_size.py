"""The batch size of a dataset, by which Keras distributes batches over processes."""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int64
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor
from tapeflow.data import batches

_UNKNOWN = -1


def compute_batch_size(dataset: Any) -> Tensor:
    """Returns the batch size of a dataset as an int64 scalar; -1 where it is not static, or not equal for all batches.

    Args:
        dataset: a `tf.data.Dataset` whose elements have a first dimension.

    Raises:
        IndexError: an element is a scalar.
    """
    lengths = {spec.shape[0] for spec in nest.flatten(dataset.element_spec)}
    if len(lengths) == 1 and None not in lengths:
        return convert(lengths.pop(), int64)
    return convert(_of_node(dataset), int64)


def _of_node(node: Any) -> int:
    if isinstance(node, batches._Batching):
        return node._batch_size
    if not getattr(node, "_passes_elements", False):
        return _UNKNOWN
    sizes = {_of_node(source) for source in node._inputs()}
    return sizes.pop() if len(sizes) == 1 else _UNKNOWN
