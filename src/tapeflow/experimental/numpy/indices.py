"""Square brackets as NumPy reads them: indices that are arrays pick elements, beside slices, integers and new axes."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import stack
from tapeflow.array.gathers import gather_nd
from tapeflow.array.masks import boolean_mask, where
from tapeflow.array.properties import shape
from tapeflow.array.reshapes import reshape, transpose
from tapeflow.array.slicing import careful_getitem
from tapeflow.core.types.dtypes import bool_, int32, int64
from tapeflow.core.values.tensor import Tensor
from tapeflow.experimental.numpy.manipulation import broadcast_arrays, moveaxis
from tapeflow.experimental.numpy.types import as_array, promote_values, rank_of, result_type
from tapeflow.math.casting import cast

_NOT_AN_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices, got {!r}"
)


def _as_index(value: object) -> Any:
    """Returns an index as an integer, or as a tensor of int32 or int64.

    Raises:
        IndexError: it is none.
        NotImplementedError: it is a mask of several dimensions beside others.
    """
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return value
    index = as_array(value)
    if index.dtype is bool_:
        if index.shape.rank != 1:
            raise NotImplementedError(f"Need rank 1 for bool index {value}")
        index = reshape(where(index), [-1])
    kind = result_type(index.dtype, np.int32)
    if not index.dtype.is_integer or kind not in (int32, int64):
        raise IndexError(_NOT_AN_INDEX.format(value))
    return index if index.dtype is kind else cast(index, kind)


def _is_mask(key: object) -> bool:
    return isinstance(key, bool) or getattr(key, "dtype", None) in (bool_, np.bool_)


def _as_tuple(key: Any) -> tuple[Any, ...]:
    """Returns the indices by dimension; a list of numbers is one index."""
    if isinstance(key, tuple):
        return key
    several = isinstance(key, list) and any(
        k is None or k is Ellipsis or isinstance(k, (list, tuple, slice)) or np.ndim(k) for k in key
    )
    return tuple(key) if several else (key,)


def numpy_getitem(tensor: Any, key: Any) -> Any:
    """Returns the elements at an index, by NumPy's rules; a number beside arrays selects before they do.

    Args:
        tensor: a tensor.
        key: a mask, or integers, slices, None, an ellipsis and arrays of integers or bools, by dimension.

    Raises:
        IndexError: it is none of these.
    """
    if _is_mask(key):
        return boolean_mask(tensor, key)
    basic: list[Any] = []
    arrays: dict[int, Any] = {}  # by dimension after basic indexing, negative behind an ellipsis
    keys = [k if k is None or k is Ellipsis or isinstance(k, slice) else _as_index(k) for k in _as_tuple(key)]

    def picks(k: object) -> bool:
        return isinstance(k, Tensor) and k.shape.rank != 0

    def remains(k: object) -> bool:
        return k is None or isinstance(k, slice) or picks(k)

    behind_ellipsis = False
    for place, k in enumerate(keys):
        behind_ellipsis |= k is Ellipsis
        if picks(k):
            before, behind = sum(map(remains, keys[:place])), sum(map(remains, keys[place:]))
            arrays[-behind if behind_ellipsis else before] = k
        basic.append(slice(None) if picks(k) else k)
    part = careful_getitem(tensor, tuple(basic))
    return _pick_elements(part, arrays) if arrays else part


def _pick_elements(tensor: Tensor, arrays: dict[int, Any]) -> Any:
    """Returns the elements at arrays of indices into dimensions.

    What they pick takes the place of the dimensions where these stand in a row, else the front.
    """
    rank = rank_of(tensor, "ndarray")
    by_dimension = {d % rank: a for d, a in arrays.items()}
    dims = sorted(by_dimension)
    indices = broadcast_arrays(*promote_values(*(by_dimension[d] for d in dims)))
    sizes = shape(tensor, out_type=indices[0].dtype)
    indices = [where(i < 0, i + sizes[d], i) for i, d in zip(indices, dims, strict=True)]
    picked = gather_nd(moveaxis(tensor, dims, range(len(dims))), stack(indices, axis=-1))
    if dims[0] == 0 or dims[-1] - dims[0] >= len(dims):
        return picked
    count = indices[0].shape.rank
    order = [*range(count, count + dims[0]), *range(count), *range(count + dims[0], rank_of(picked, "ndarray"))]
    return transpose(picked, order)
