"""What lies around each pixel: patches, edges and differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.array.creation import convert_to_tensor, zeros_like
from tapeflow.array.joining import concat, tile
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape
from tapeflow.array.shaping import reshape
from tapeflow.math import abs as absolute
from tapeflow.math import reduce_sum


def sobel_edges(image: Any) -> Any:
    """The Sobel filters of images.

    Args:
        image: floats of shape `[batch, height, width, channels]`.

    Returns:
        A tensor of shape `[batch, height, width, channels, 2]`: the changes down and to the right.

    Example:
        >>> tf.image.sobel_edges(tf.ones([1, 3, 3, 1])).shape
        TensorShape([1, 3, 3, 1, 2])
    """
    from tapeflow.nn import depthwise_conv2d

    image = convert_to_tensor(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], np.float32)
    kernels = np.stack([down, down.T], -1)[:, :, None, :]
    channels = image.shape[-1] if image.shape[-1] is not None else shape(image)[-1]
    filters = tile(convert_to_tensor(kernels, image.dtype), [1, 1, channels, 1])
    padded = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    edges = reshape(edges, concat([shape(image), [2]], 0))
    edges.set_shape([*image.shape, 2])
    return edges


def image_gradients(image: Any) -> tuple[Any, Any]:
    """The differences to the next row and the next column, with zeros in the last.

    Args:
        image: of shape `[batch, height, width, channels]`.

    Raises:
        ValueError: it has not four dimensions.

    Example:
        >>> dy, dx = tf.image.image_gradients(tf.reshape(tf.range(4.0), [1, 2, 2, 1]))
        >>> dy[0, :, :, 0].numpy().tolist(), dx[0, :, :, 0].numpy().tolist()
        ([[2.0, 2.0], [0.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]])
    """
    image = convert_to_tensor(image)
    if image.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    dy, dx = image[:, 1:] - image[:, :-1], image[:, :, 1:] - image[:, :, :-1]
    return concat([dy, zeros_like(image[:, :1])], 1), concat([dx, zeros_like(image[:, :, :1])], 2)


def total_variation(images: Any, name: str | None = None) -> Any:
    """The sum of the absolute differences of neighbouring pixels, of each image.

    Args:
        images: of shape `[batch, height, width, channels]` or `[height, width, channels]`.

    Example:
        >>> float(tf.image.total_variation([[[1.0], [3.0]]]))
        2.0
    """
    images = convert_to_tensor(images)
    if images.shape.rank not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    down = absolute(images[..., 1:, :, :] - images[..., :-1, :, :])
    right = absolute(images[..., 1:, :] - images[..., :-1, :])
    return reduce_sum(down, [-3, -2, -1]) + reduce_sum(right, [-3, -2, -1])
