"""Ops that decode and encode image files, public in `tf.image` and `tf.io`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.errors import InternalError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import OpFunction, not_differentiable, op
from tapeflow.core.ops.shape_rules import check_rank, check_ranks_first, scalar, stated_dims, text, wholly_static
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int32, uint8, uint16
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.image import codecs, png
from tapeflow.image.conversion import convert_image_dtype
from tapeflow.math.comparison import equal
from tapeflow.strings.text import substr

# ---- decoding --------------------------------------------------------------------------------------------------------


def _file_contents(array: np.ndarray) -> bytes:
    """Returns the contents of a file in a string scalar."""
    if array.ndim:
        raise invalid(f"`contents` must be scalar but got shape{text(array.shape)}")
    return array.item()


def _decode_pixels(data: bytes, format: str, channels: int, *jpeg_options: Any) -> np.ndarray:
    """Decodes a file; the result has a dimension of frames in front for the formats that have frames."""
    if channels not in (0, 1, 3, 4):
        raise invalid(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    if format == "JPEG":
        if channels == 4:
            raise invalid("JPEG does not support 4 channels")
        return codecs.read_jpeg(data, channels, *jpeg_options)
    if format == "PNG":
        return codecs.read_png(data, channels)
    if format == "BMP":
        return codecs.read_bmp(data, channels)
    if format == "GIF":
        if channels not in (0, 3):
            raise invalid(f"channels must be 0 or 3 for GIF, got {channels}")
        return codecs.read_gif(data)
    if channels == 1:
        raise invalid("WebP only supports 3 or 4 channels")
    frames = codecs.read_webp(data)
    if channels not in (0, frames.shape[-1]):
        raise invalid("Number of channels requested does not match input")
    return frames


def _as_dtype(pixels: np.ndarray, format: str, dtype: DType) -> torch.Tensor:
    """Converts pixels to the range of another dtype. As in TensorFlow, only PNG files keep white in uint16."""
    if dtype is float32:
        return torch.from_numpy(pixels.astype(np.float32) / np.float32(np.iinfo(pixels.dtype).max))
    if dtype is uint16 and pixels.dtype == np.uint8:
        pixels = pixels.astype(np.uint16) * np.uint16(257 if format == "PNG" else 256)
    elif dtype is uint8 and pixels.dtype == np.uint16:
        pixels = (pixels >> 8).astype(np.uint8)
    return torch.from_numpy(np.require(pixels, requirements=["C", "W"]))


def _decode_for_op(
    name: str, contents: np.ndarray, channels: int = 3, dtype: DType = uint8, *jpeg_options: Any
) -> torch.Tensor:
    """Decodes a file for an op. An op accepts every format whose images have the rank of its result.

    Raises:
        InvalidArgumentError: the file is damaged, or the op does not accept it.
    """
    data = _file_contents(contents)
    format = codecs.file_format(data)
    if name == "DecodeBmp" and format != "BMP":
        raise invalid(
            f"Trying to decode {format} format using DecodeBmp op. Use `decode_{format.lower()}` or `decode_image` "
            "instead."
        )
    if format == "BMP" and name not in ("DecodeBmp", "DecodeImage"):
        raise invalid(
            f"Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: {name}"
        )
    if format == "WEBP" and as_dtype(dtype) is not uint8:
        raise invalid("WebP only supports uint8 for dtype")
    pixels = _decode_pixels(data, format, channels, *jpeg_options)
    if name == "DecodeGif":
        pixels = pixels if pixels.ndim == 4 else pixels[None]
    elif format == "GIF" and name in ("DecodePng", "DecodeJpeg"):
        if len(pixels) > 1:
            raise invalid(
                f"Got {len(pixels)} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                "tf.io.decode_image"
            )
        pixels = pixels[0]
    return _as_dtype(pixels, format, as_dtype(dtype))


def _image_shape(contents: TensorShape, channels: int = 0, *_: Any) -> TensorShape:
    return TensorShape([None, None, channels or None])


def _decoding_op(
    name: str, kernel: Callable[..., Any] | None = None, shape: Callable[..., Any] = _image_shape, **options: Any
) -> Callable[[Callable[..., Any]], OpFunction[..., Any]]:
    """Returns the decorator `@op` of an op of the contents of a file; by default it decodes the file."""
    kernel = kernel or functools.partial(_decode_for_op, name)
    return op(name, kernel=kernel, strings=True, shape=check_ranks_first(shape, 0), **options)


@_decoding_op("DecodePng")
def decode_png(contents: TensorLike, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None) -> Tensor:
    """Decodes a PNG file; also a JPEG file, or a GIF file of one frame.

    Args:
        contents: the contents of the file, a string scalar.
        channels: 1 for grayscale, 3 for RGB, 4 for RGBA, 0 for the channels of the file.
        dtype: uint8 or uint16; uint8 by default.

    Returns:
        A tensor of shape `[height, width, channels]` and dtype `dtype`.

    Raises:
        InvalidArgumentError: the file is damaged or of another format, or `channels` is another number.

    Example:
        >>> file = tf.io.encode_png(tf.constant([[[1], [2]]], tf.uint8))
        >>> tf.io.decode_png(file)[..., 0].numpy().tolist()
        [[1, 2]]
    """


def _jpeg_options(
    ratio: int, fancy_upscaling: bool, try_recover_truncated: bool, acceptable_fraction: float, dct_method: str
) -> tuple[int, bool, bool]:
    """Returns the options of `codecs.read_jpeg` from the attrs of the ops that decode JPEG files."""
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    return ratio, fancy_upscaling, dct_method == "INTEGER_ACCURATE"


def _decode_jpeg_kernel(contents: Any, channels: int, *attrs: Any) -> torch.Tensor:
    return _decode_for_op("DecodeJpeg", contents, channels, uint8, *_jpeg_options(*attrs))


@_decoding_op("DecodeJpeg", _decode_jpeg_kernel)
def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Decodes a JPEG file; also a PNG file, or a GIF file of one frame.

    Truncated files are never recovered.

    Args:
        contents: the contents of the file, a string scalar.
        channels: 1 for grayscale, 3 for RGB, 0 for the channels of the file.
        ratio: 1, 2, 4 or 8. The decoder reduces the image by this factor. The default is 1.
        fancy_upscaling: interpolates colors that are stored at a lower resolution; True by default.
        try_recover_truncated, acceptable_fraction: without effect.
        dct_method: "INTEGER_ACCURATE", or "INTEGER_FAST" or "" for the fast method, which is a few levels off.

    Returns:
        A uint8 tensor of shape `[height, width, channels]`.

    Raises:
        InvalidArgumentError: the file is damaged or of another format, or an argument has an unsupported value.

    Example:
        >>> file = tf.io.encode_jpeg(tf.fill([2, 3, 1], tf.constant(200, tf.uint8)))
        >>> tf.io.decode_jpeg(file)[..., 0].numpy().tolist()
        [[200, 200, 200], [200, 200, 200]]
    """


def _decode_and_crop_jpeg_kernel(contents: Any, crop_window: Any, channels: int, *attrs: Any) -> torch.Tensor:
    options = _jpeg_options(*attrs)
    if type(crop_window) is not tuple or len(crop_window) != 4:
        raise invalid(f"crop_size must have four elements {list(np.shape(crop_window))}")
    data = _file_contents(contents)
    if codecs.file_format(data) != "JPEG":
        raise invalid("DecodeAndCropJpeg operation can run on JPEG only, but the file is of another format")
    image = _decode_for_op("DecodeAndCropJpeg", contents, channels, uint8, *options)
    top, left, height, width = crop_window
    if not (0 <= top < top + height <= image.shape[0] and 0 <= left < left + width <= image.shape[1]):
        raise invalid(f"the crop window {list(crop_window)} is not inside the image of shape {list(image.shape)}")
    return image[top : top + height, left : left + width].contiguous()


def _cropped_shape(contents: TensorShape, crop_window: Any, channels: int = 0, *_: Any) -> TensorShape:
    if type(crop_window) is int or (type(crop_window) is tuple and len(crop_window) != 4):
        raise invalid(f"crop_size must have four elements {text(np.shape(crop_window))}")
    check_rank(crop_window, 1)
    size = stated_dims(crop_window[2:]) if type(crop_window) is tuple and wholly_static(crop_window) else (None, None)
    return TensorShape([*size, channels or None])


@_decoding_op("DecodeAndCropJpeg", _decode_and_crop_jpeg_kernel, _cropped_shape, host=("crop_window",))
def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: ShapeLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """Decodes a JPEG file, and cuts a part out of the image.

    Args:
        contents: the contents of the file, a string scalar.
        crop_window: integers `[top, left, height, width]`, in pixels of the decoded image.
        channels: 1 for grayscale, 3 for RGB, 0 (the default) for the channels of the file.
        ratio: 1, 2, 4 or 8. The decoder reduces the image by this factor. The default is 1.
        fancy_upscaling: interpolates colors that are stored at a lower resolution; True by default.
        try_recover_truncated, acceptable_fraction: without effect.
        dct_method: "INTEGER_ACCURATE", or "INTEGER_FAST" or "" for the fast method, which is a few levels off.

    Returns:
        A uint8 tensor of shape `[height, width, channels]`.

    Raises:
        InvalidArgumentError: the file is not a JPEG file, or the window is not inside the image.

    Example:
        >>> file = tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))
        >>> tf.io.decode_and_crop_jpeg(file, [1, 2, 3, 4]).shape
        TensorShape([3, 4, 3])
    """


@_decoding_op("DecodeBmp")
def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """Decodes an uncompressed BMP file.

    Args:
        contents: the contents of the file, a string scalar.
        channels: 3 for RGB, 4 for RGBA, 0 for the channels of the file.

    Returns:
        A uint8 tensor of shape `[height, width, channels]`.

    Raises:
        InvalidArgumentError: the file is damaged or of another format, or `channels` is another number.

    Example:
        >>> header = b"BM" + bytes(8) + bytes([54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24])
        >>> tf.io.decode_bmp(header.ljust(54, bytes(1)) + bytes([1, 2, 3, 0])).numpy().tolist()
        [[[3, 2, 1]]]
    """


def _frames_shape(contents: TensorShape, channels: int = 3, *_: Any) -> TensorShape:
    return TensorShape([None, None, None, channels or None])


@_decoding_op("DecodeGif", shape=_frames_shape)
def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """Decodes the frames of a GIF file; a PNG or JPEG file is decoded as one frame.

    Args:
        contents: the contents of the file, a string scalar.

    Returns:
        A uint8 tensor of shape `[frames, height, width, 3]`. Transparent pixels show the previous frame, in the first
        frame black.

    Raises:
        InvalidArgumentError: the file is damaged or of another format.

    Example:
        >>> tf.io.decode_gif(tf.io.encode_png(tf.zeros([2, 3, 3], tf.uint8))).shape
        TensorShape([1, 2, 3, 3])
    """


@_decoding_op("DecodeWebP", shape=_frames_shape)
def decode_webp(contents: TensorLike, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None) -> Tensor:
    """Decodes the frames of a WebP file.

    Args:
        contents: the contents of the file, a string scalar.
        channels: an int, the number of channels that the file must have, 3 or 4; 0 for either.
        dtype: uint8.

    Returns:
        A uint8 tensor of shape `[frames, height, width, channels]`.

    Raises:
        InvalidArgumentError: the file is damaged or of another format, or has another number of channels.

    Example:
        >>> import io
        >>> from PIL import Image
        >>> file = io.BytesIO()
        >>> Image.new("RGB", (3, 2)).save(file, "WEBP", lossless=True)
        >>> tf.image.decode_webp(file.getvalue()).shape
        TensorShape([1, 2, 3, 3])
    """


def _any_image_shape(
    contents: TensorShape, channels: int = 0, dtype: DType = uint8, expand_animations: bool = True
) -> TensorShape:
    if channels < 0:
        raise invalid(f"channels must be non-negative, got {channels}")
    return TensorShape(None) if expand_animations else TensorShape([None, None, channels or None])


@op("DecodeImage", strings=True, shape=check_ranks_first(_any_image_shape, 0))
def _decode_image(contents: Any, channels: int = 0, dtype: Any = uint8, expand_animations: bool = True) -> torch.Tensor:
    """Decodes an image file of any format."""
    image = _decode_for_op("DecodeImage", contents, channels, dtype)
    return image if image.ndim == 3 or expand_animations else image[0]


def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """Decodes a JPEG, PNG, GIF, BMP or WebP file.

    Args:
        contents: the contents of the file, a string scalar.
        channels: 1 for grayscale, 3 for RGB, 4 for RGBA, None or 0 for the channels of the file.
        dtype: an integer or floating dtype. Values are converted to its whole range, [0, 1] for floats. The default is
            uint8.
        expand_animations: returns all frames of GIF and WebP files, instead of the first one; True by default.

    Returns:
        A tensor of shape `[height, width, channels]`, or `[frames, height, width, channels]`, and dtype `dtype`.

    Raises:
        InvalidArgumentError: the file is damaged or of an unknown format, or the format does not have this number of
            channels.

    Example:
        >>> file = tf.io.encode_png(tf.constant([[[51], [255]]], tf.uint8))
        >>> tf.io.decode_image(file, dtype=tf.float32)[..., 0].numpy().round(2).tolist()
        [[0.20000000298023224, 1.0]]
    """
    target = as_dtype(dtype)
    decoded_as = target if target in (uint8, uint16, float32) else uint16
    return convert_image_dtype(_decode_image(contents, channels or 0, decoded_as, expand_animations, name), target)


# ---- inspection -----------------------------------------------------------------------------------------------------


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Returns True for each file that begins with the signature of JPEG files.

    Args:
        contents: the contents of the files, strings of any shape.

    Returns:
        A bool tensor of the same shape.

    Raises:
        TypeError, InvalidArgumentError: `contents` is not a string tensor.

    Example:
        >>> bool(tf.io.is_jpeg(tf.io.encode_png(tf.zeros([1, 1, 1], tf.uint8))))
        False
    """
    return equal(substr(contents, 0, 3), b"\xff\xd8\xff", name)


def _jpeg_shape_kernel(contents: Any, output_type: Any = int32) -> torch.Tensor:
    return torch.tensor(codecs.jpeg_shape(_file_contents(contents)), dtype=output_type.torch)


@_decoding_op("ExtractJpegShape", _jpeg_shape_kernel, lambda *_: TensorShape([3]))
def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = int32, name: str | None = None) -> Tensor:
    """Reads the shape of an image from the header of a JPEG file.

    Args:
        contents: the contents of the file, a string scalar.
        output_type: int32 or int64; int32 by default.

    Returns:
        A tensor `[height, width, channels]` of dtype `output_type`.

    Raises:
        InvalidArgumentError: the file is not a JPEG file.

    Example:
        >>> tf.io.extract_jpeg_shape(tf.io.encode_jpeg(tf.zeros([2, 3, 1], tf.uint8))).numpy().tolist()
        [2, 3, 1]
    """


# ---- encoding --------------------------------------------------------------------------------------------------------


def _check_jpeg_image(image: torch.Tensor, quality: int) -> np.ndarray:
    """Returns the pixels of an image, if JPEG files can hold it."""
    if image.ndim != 3:
        raise invalid(f"image must be 3-dimensional{text(image.shape)}")
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    if image.shape[2] not in (1, 3):
        raise invalid(f"image must have 1 or 3 channels, got {text(image.shape)}")
    if not image.numel():
        raise InternalError.of(f"JPEG encoding failed: the image has shape {list(image.shape)}")
    return image.cpu().numpy()


_FORMAT_CHANNELS = {"grayscale": 1, "rgb": 3}


def _encode_jpeg_kernel(image: torch.Tensor, format: str, quality: int, *options: Any) -> StringArray:
    pixels = _check_jpeg_image(image, quality)
    expected = _FORMAT_CHANNELS.get(format, pixels.shape[2])
    if pixels.shape[2] != expected:
        raise invalid(f"format {format} expects {expected} channels, got {text(image.shape)}")
    return StringArray.scalar(codecs.write_jpeg(pixels, quality, *options))


@op("EncodeJpeg", kernel=_encode_jpeg_kernel, shape=check_ranks_first(scalar, 3))
def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """Encodes an image as a JPEG file.

    Args:
        image: a uint8 tensor of shape `[height, width, channels]`, with 1 or 3 channels.
        format: "grayscale", "rgb", or "" for the format of that number of channels.
        quality: from 0 to 100; 95 by default.
        progressive: encodes a rough image first, which viewers can show early.
        optimize_size: computes coding tables for the image, which is slower and makes the file smaller.
        chroma_downsampling: encodes colors at half the resolution of brightness; True by default.
        density_unit: the unit of the densities, "in" for pixels per inch or "cm" for pixels per centimeter.
        x_density, y_density: horizontal and vertical density; 300 by default.
        xmp_metadata: XMP metadata for the file.

    Returns:
        A string scalar.

    Raises:
        InvalidArgumentError: the image has another shape, or the quality is not in [0, 100].
        InternalError: the image has no pixels.

    Example:
        >>> bool(tf.io.is_jpeg(tf.io.encode_jpeg(tf.zeros([2, 3, 3], tf.uint8), quality=50)))
        True
    """


@op("EncodeJpegVariableQuality", host=("quality",), shape=check_ranks_first(scalar, 3))
def encode_jpeg_variable_quality(images: torch.Tensor, quality: int) -> StringArray:
    """Encodes an image as a JPEG file of a quality that may be a tensor."""
    return StringArray.scalar(codecs.write_jpeg(_check_jpeg_image(images, quality), quality))


def _batch_shape(image: TensorShape, *_: Any) -> TensorShape:
    return image[:-3] if image.rank is not None else image


@op("EncodePng", shape=check_ranks_first(_batch_shape, -3))
def _encode_png(image: torch.Tensor, compression: int = -1) -> StringArray:
    """Encodes images as PNG files."""
    if image.ndim < 3:
        raise invalid(f"images must be at least rank 3{text(image.shape)}")
    if image.shape[-1] not in (1, 2, 3, 4):
        raise invalid(f"image must have 1, 2, 3, or 4 channels, got {image.shape[-1]}")
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    if not image.numel():
        raise InternalError.of(f"PNG encoding failed: the image has shape {list(image.shape)}")
    pixels, batch = image.cpu().numpy(), image.shape[:-3]
    return StringArray.of([png.write(pixels[index], compression) for index in np.ndindex(*batch)], batch)


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """Encodes images as PNG files.

    Args:
        image: uint8 or uint16 of shape `[..., height, width, channels]`, with 1 channel for grayscale, 2 for grayscale
            and opacity, 3 for RGB, 4 for RGBA.
        compression: an int, the level of zlib, from 0 (fast) to 9 (small); -1 for its default.

    Returns:
        A string tensor of shape `[...]`.

    Raises:
        InvalidArgumentError: the image has another shape, or the compression is not in [-1, 9].
        InternalError: the image has no pixels.

    Example:
        >>> image = tf.constant([[[1, 2, 3], [4, 5, 6]]], tf.uint8)
        >>> bool(tf.reduce_all(tf.io.decode_png(tf.io.encode_png(image)) == image))
        True
    """
    return _encode_png(convert(image), compression, name)  # so that an array keeps its dtype


not_differentiable(
    decode_png, decode_jpeg, decode_and_crop_jpeg, decode_bmp, decode_gif, decode_webp, _decode_image,
    extract_jpeg_shape, encode_jpeg, encode_jpeg_variable_quality, _encode_png,
)  # fmt: skip
