"""The names of `tf.experimental.numpy` that Keras uses."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.masks import where
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype
from tapeflow.core.values.tensor import Tensor


def finfo(dtype: DTypeLike) -> np.finfo | ml_dtypes.finfo:
    """Returns the limits of a floating dtype, as `np.finfo`.

    Args:
        dtype: a floating dtype.

    Returns:
        An object with the attributes of `np.finfo`.

    Example:
        >>> from tapeflow.experimental import numpy as tnp
        >>> float(tnp.finfo(tf.float32).max) > 3.4e38
        True
    """
    kind = as_dtype(dtype).as_numpy_dtype
    return np.finfo(kind) if np.dtype(kind).kind == "f" else ml_dtypes.finfo(kind)


def select(condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0) -> Tensor:
    """Returns for each element the first choice whose condition holds.

    Args:
        condlist: bool tensors.
        choicelist: as many tensors, of one dtype, of shapes that broadcast.
        default: the value where no condition holds.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        ValueError: the lists are empty or of different lengths.

    Example:
        >>> from tapeflow.experimental import numpy as tnp
        >>> tnp.select([tf.constant([True, False])], [tf.constant([1, 2])], 9).numpy().tolist()
        [1, 9]
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select needs as many choices as conditions, and at least one: got {len(choicelist)} for {len(condlist)}."
        )
    choices = [convert_to_tensor(c) for c in choicelist]
    result = convert_to_tensor(default, dtype_hint=choices[0].dtype)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = where(condition, choice, result)
    return result
