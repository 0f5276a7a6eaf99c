"""What lies around each pixel: patches, edges and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional

from tapeflow.array.creation import convert_to_tensor, zeros_like
from tapeflow.array.joining import concat, tile
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape
from tapeflow.array.shaping import reshape
from tapeflow.core.op import op
from tapeflow.core.tensor import invalid
from tapeflow.math import abs as absolute
from tapeflow.math import reduce_sum


def _patches(images: torch.Tensor, ksizes: Any, strides: Any, rates: Any, padding: str) -> torch.Tensor:
    if images.ndim != 4:
        raise invalid(f"images must be 4-dimensional, got {list(images.shape)}")
    x = images.permute(0, 3, 1, 2)
    for axis in (1, 2):
        length, reach = images.shape[axis], (ksizes[axis] - 1) * rates[axis] + 1
        if padding == "SAME":
            total = max((-(-length // strides[axis]) - 1) * strides[axis] + reach - length, 0)
            around = (total // 2, total - total // 2)
            x = functional.pad(x, (0, 0, *around) if axis == 1 else around)
        elif length < reach:
            return images.new_empty((images.shape[0], 0, 0, ksizes[1] * ksizes[2] * images.shape[3]))
    for axis in (1, 2):
        reach = (ksizes[axis] - 1) * rates[axis] + 1
        x = x.unfold(axis + 1, reach, strides[axis])[..., :: rates[axis]]
    return x.permute(0, 2, 3, 4, 5, 1).flatten(3)


@op("ExtractImagePatches", kernel=_patches)
def _extract_image_patches(
    images: Any, ksizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Any:
    """The patches of images."""


def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Any:
    """The patches of images, each laid out in the last dimension.

    Args:
        images: of shape `[batch, height, width, channels]`.
        sizes: the patches' size, `[1, height, width, 1]`.
        strides: how far apart they are, `[1, height, width, 1]`.
        rates: how far apart their pixels are, `[1, height, width, 1]`.
        padding: "VALID" or "SAME".

    Returns:
        A tensor of shape `[batch, rows, columns, height * width * channels]`.

    Example:
        >>> x = tf.reshape(tf.range(16), [1, 4, 4, 1])
        >>> tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")[0, 0, 0].numpy().tolist()
        [0, 1, 4, 5]
    """
    return _extract_image_patches(images, list(sizes), list(strides), list(rates), padding, name)


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
