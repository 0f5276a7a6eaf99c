"""Checks of the static shapes of images."""

from __future__ import annotations

from typing import Any


def check_image(image: Any) -> None:
    """Checks what is static of the shape of an image or of a batch of images, of any number of leading dimensions.

    Args:
        image: the tensor.

    Raises:
        ValueError: it has less than three dimensions, or one of the last three is empty.
    """
    shape = image.shape
    if shape.rank is None:
        return
    if shape.rank < 3:
        raise ValueError(f"'image' (shape {shape}) must be at least three-dimensional.")
    if 0 in shape.as_list()[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {shape}")


def check_image_or_batch(image: Any) -> None:
    """Checks what is static of the shape of an image, or of a batch of images.

    Args:
        image: the tensor.

    Raises:
        ValueError: it has neither three nor four dimensions, or one of the last three is empty.
    """
    if image.shape.rank not in (None, 3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    check_image(image)
