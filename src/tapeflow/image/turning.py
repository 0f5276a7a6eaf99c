"""Images turned and mirrored."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.padding import reverse
from tapeflow.array.shaping import transpose as permuted


def flip_left_right(image: Any) -> Any:
    """Images with left and right exchanged.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.

    Example:
        >>> tf.image.flip_left_right([[[1], [2]]])[..., 0].numpy().tolist()
        [[2, 1]]
    """
    return reverse(convert_to_tensor(image), [-2])


def flip_up_down(image: Any) -> Any:
    """Images with top and bottom exchanged.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.

    Example:
        >>> tf.image.flip_up_down([[[1]], [[2]]])[..., 0].numpy().tolist()
        [[2], [1]]
    """
    return reverse(convert_to_tensor(image), [-3])


def transpose(image: Any, name: str | None = None) -> Any:
    """Images with height and width exchanged.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.

    Example:
        >>> tf.image.transpose([[[1], [2]]])[..., 0].numpy().tolist()
        [[1], [2]]
    """
    image = convert_to_tensor(image)
    return permuted(image, [1, 0, 2] if image.shape.rank == 3 else [0, 2, 1, 3])


def rot90(image: Any, k: int = 1, name: str | None = None) -> Any:
    """Images turned counter-clockwise by `k` times 90 degrees.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        k: how many times.

    Example:
        >>> tf.image.rot90([[[1], [2]]])[..., 0].numpy().tolist()
        [[2], [1]]
    """
    image = convert_to_tensor(image)
    k %= 4
    if k == 1:
        return flip_up_down(transpose(image))
    if k == 2:
        return reverse(image, [-3, -2])
    return flip_left_right(transpose(image)) if k == 3 else image
