"""Edges of images, and differences between neighboring pixels."""

from __future__ import annotations

import numpy as np

from tapeflow.array.concat_and_split import concat, tile
from tapeflow.array.creation import convert_to_tensor, zeros_like
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape
from tapeflow.array.reshapes import reshape
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.elementwise import abs as absolute
from tapeflow.math.reduction import reduce_sum
from tapeflow.nn.depthwise import depthwise_conv2d


def sobel_edges(image: TensorLike) -> Tensor:
    """Applies the Sobel filters to images.

    Args:
        image: a float tensor of shape `[batch, height, width, channels]`.

    Returns:
        A tensor of shape `[batch, height, width, channels, 2]` and the same dtype: the changes down and to the right.

    Raises:
        InvalidArgumentError: `image` does not have four dimensions, or is not floating.

    Example:
        >>> tf.image.sobel_edges(tf.ones([1, 3, 3, 1])).shape
        TensorShape([1, 3, 3, 1, 2])
    """
    images = convert_to_tensor(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], np.float32)
    kernels = np.stack([down, down.T], -1)[:, :, None, :]
    channels = images.shape[-1] if images.shape.rank and images.shape[-1] is not None else shape(images)[-1]
    filters = tile(convert_to_tensor(kernels, images.dtype), [1, 1, channels, 1])
    padded = pad(images, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    edges = reshape(edges, concat([shape(images), [2]], 0))
    edges.set_shape(images.shape + [2])
    return edges


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """Computes the differences to the next row and to the next column.

    Args:
        image: a tensor of shape `[batch, height, width, channels]`.

    Returns:
        `(dy, dx)`, two tensors of the same shape and dtype; the last row of `dy` and the last column of `dx` are zeros.

    Raises:
        ValueError: the images do not have four dimensions.

    Example:
        >>> dy, dx = tf.image.image_gradients(tf.reshape(tf.range(4.0), [1, 2, 2, 1]))
        >>> dy[0, :, :, 0].numpy().tolist(), dx[0, :, :, 0].numpy().tolist()
        ([[2.0, 2.0], [0.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]])
    """
    images = convert_to_tensor(image)
    if images.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {images.shape}.")
    dy, dx = images[:, 1:] - images[:, :-1], images[:, :, 1:] - images[:, :, :-1]
    return concat([dy, zeros_like(images[:, :1])], 1), concat([dx, zeros_like(images[:, :, :1])], 2)


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """Computes the total variation of images: the sum of the absolute differences of neighboring pixels.

    Args:
        images: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.

    Returns:
        A tensor of shape `[batch]` or `[]`, of the same dtype.

    Raises:
        ValueError: the images have neither three nor four dimensions.

    Example:
        >>> float(tf.image.total_variation([[[1.0], [3.0]]]))
        2.0
    """
    tensor = convert_to_tensor(images)
    if tensor.shape.rank not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    first, last, whole = slice(1, None), slice(None, -1), slice(None)
    batch = [whole] * (tensor.shape.rank - 3)  # the layers that Keras makes of these slices cannot save an ellipsis
    down = absolute(tensor[*batch, first, whole, whole] - tensor[*batch, last, whole, whole])
    right = absolute(tensor[*batch, whole, first, whole] - tensor[*batch, whole, last, whole])
    return reduce_sum(down, [-3, -2, -1]) + reduce_sum(right, [-3, -2, -1])
