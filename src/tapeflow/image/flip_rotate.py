"""Flips, transposition and rotation of images."""

from __future__ import annotations

import functools
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.identities import less_static
from tapeflow.array.padding import reverse
from tapeflow.array.reshapes import transpose as permuted
from tapeflow.array.unranked import with_joined_batch
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.image.image_checks import check_image_or_batch
from tapeflow.math.division import floormod


def _reverse_axis(image: TensorLike, axis: int) -> Any:
    images = convert_to_tensor(image)
    check_image_or_batch(images)
    return reverse(images, [axis])


def flip_left_right(image: TensorLike) -> Tensor:
    """Exchanges left and right of images.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `image` has neither three nor four dimensions.

    Example:
        >>> tf.image.flip_left_right([[[1], [2]]])[..., 0].numpy().tolist()
        [[2, 1]]
    """
    return _reverse_axis(image, -2)


def flip_up_down(image: TensorLike) -> Tensor:
    """Exchanges top and bottom of images.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `image` has neither three nor four dimensions.

    Example:
        >>> tf.image.flip_up_down([[[1]], [[2]]])[..., 0].numpy().tolist()
        [[2], [1]]
    """
    return _reverse_axis(image, -3)


def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Exchanges height and width of images.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.

    Returns:
        Images of shape `[batch, width, height, channels]` or `[width, height, channels]` and the same dtype.

    Raises:
        ValueError: `image` has neither three nor four dimensions.

    Example:
        >>> tf.image.transpose([[[1], [2]]])[..., 0].numpy().tolist()
        [[1], [2]]
    """
    images = convert_to_tensor(image)
    check_image_or_batch(images)
    if images.shape.rank is None:
        return with_joined_batch(transpose, images, 3)
    return permuted(images, [1, 0, 2] if images.shape.rank == 3 else [0, 2, 1, 3])


def rot90(image: TensorLike, k: int = 1, name: str | None = None) -> Tensor:
    """Rotates images counter-clockwise by `k` times 90 degrees.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        k: an int, the number of rotations; negative for clockwise ones. The default is 1.

    Returns:
        Images of the same dtype; height and width are exchanged where `k` is odd.

    Raises:
        TypeError, ValueError: `k` is not a scalar integer.

    Example:
        >>> tf.image.rot90([[[1], [2]]])[..., 0].numpy().tolist()
        [[2], [1]]
    """
    images = convert_to_tensor(image)
    check_image_or_batch(images)
    count: Any = convert(k, int32)
    count.shape.assert_has_rank(0)
    turned = _turn_quarters(images, count if isinstance(count, SymbolicTensor) else int(count) % 4)
    if images.shape.rank is None:
        return turned
    *batch, height, width, channels = images.shape.as_list()
    side = height if height == width else None
    return less_static(turned, [*batch, side, side, channels])


def _turn_quarters(images: Tensor, k: TensorLike) -> Any:
    if isinstance(k, SymbolicTensor):  # one number after the other
        quarters = floormod(k, 4)
        result = lambda: images  # noqa: E731
        for i in (1, 2, 3):
            result = functools.partial(hooks.cond, quarters == i, functools.partial(_turn_quarters, images, i), result)
        return result()
    if k == 1:
        return flip_up_down(transpose(images))
    if k == 2:
        return reverse(images, [-3, -2])
    return flip_left_right(transpose(images)) if k == 3 else images
