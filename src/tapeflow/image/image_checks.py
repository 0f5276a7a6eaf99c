"""Checks of the static shapes of images."""

from __future__ import annotations

from tapeflow.array.properties import rank, shape_op
from tapeflow.core.hooks import hooks
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.comparison import greater
from tapeflow.math.reduction import reduce_all


def require(condition: TensorLike, message: str) -> None:
    """Checks a condition on the arguments of a function: on numbers at once, on tensors when they have values.

    Raises:
        ValueError: it does not hold for numbers.
        InvalidArgumentError: it does not hold for tensors.
    """
    if isinstance(condition, Tensor):
        hooks.check(condition, [message])
    elif not condition:
        raise ValueError(message)


def check_image(image: Tensor) -> None:
    """Checks the static shape of an image, or of images with any number of leading dimensions.

    Args:
        image: the tensor.

    Raises:
        ValueError: it has less than three dimensions, or one of the last three is empty.
        InvalidArgumentError: when the graph runs: the same, for dimensions that are not static.
    """
    shape = image.shape
    inner = [None] if shape.rank is None else shape.as_list()[-3:]
    if len(inner) < 3 and shape.rank is not None:
        raise ValueError(f"'image' (shape {shape}) must be at least three-dimensional.")
    if 0 in inner:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {shape}")
    if shape.rank is None:
        hooks.check(greater(rank(image), 2), ["'image' must be at least three-dimensional."])
    if None in inner:
        hooks.check(reduce_all(greater(shape_op(image)[-3:], 0)), ["inner 3 dims of 'image.shape' must be > 0."])


def check_image_or_batch(image: Tensor) -> None:
    """Checks the static shape of an image, or of a batch of images.

    Args:
        image: the tensor.

    Raises:
        ValueError: it has neither three nor four dimensions, or one of the last three is empty.
    """
    if image.shape.rank not in (None, 3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    check_image(image)
