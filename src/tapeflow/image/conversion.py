"""Images of one dtype as images of another one."""

from __future__ import annotations

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import multiply
from tapeflow.math.casting import cast, saturate_cast


def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None) -> Tensor:
    """Converts images to another dtype, and their values to the range of that dtype.

    The range of an integer dtype ends at its largest number, the range of a floating one is [0, 1].

    Args:
        image: images of any shape, of an integer or floating dtype.
        dtype: the dtype to convert to, integer or floating.
        saturate: clips values that lie outside of the range of the new dtype.

    Returns:
        Images of the same shape and of dtype `dtype`.

    Raises:
        AttributeError: the dtype of `image`, or `dtype`, is neither integer nor floating.

    Example:
        >>> tf.image.convert_image_dtype([0.5], tf.uint8).numpy().tolist()
        [127]
    """
    tensor, target = convert_to_tensor(image), as_dtype(dtype)
    source = tensor.dtype
    if not (target.is_floating or target.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if not (source.is_floating or source.is_integer):
        raise AttributeError("image dtype must be either floating point or integer")
    if target is source:
        return tensor
    to_target = saturate_cast if saturate else cast
    if source.is_integer and target.is_integer:
        old, new = source.max, target.max
        if old > new:
            return to_target(tensor // ((old + 1) // (new + 1)), target)
        return multiply(to_target(tensor, target), convert_to_tensor((new + 1) // (old + 1), target))
    if target.is_integer:
        return to_target(multiply(tensor, convert_to_tensor(target.max + 0.5, source)), target)
    if source.is_integer:
        return multiply(cast(tensor, target), convert_to_tensor(1.0 / source.max, target))
    return cast(tensor, target)
