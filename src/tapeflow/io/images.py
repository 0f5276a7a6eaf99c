"""Ops between images and the files that hold them, public in `tf.io` and `tf.image`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.errors import InternalError, UnimplementedError
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int32, uint8, uint16
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid
from tapeflow.io import codecs, png

# ---- decoding --------------------------------------------------------------------------------------------------------


def _contents(array: np.ndarray) -> bytes:
    if array.ndim:
        raise invalid(f"`contents` must be scalar but got shape{text(TensorShape(array.shape))}")
    return array.item()


def _pixels(data: bytes, format: str, channels: int, ratio: int) -> np.ndarray:
    """The image of a file; the formats with frames give `[frames, height, width, channels]`."""
    if channels not in (0, 1, 3, 4):
        raise invalid(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    if format == "JPEG":
        if channels == 4:
            raise invalid("JPEG does not support 4 channels")
        return codecs.read_jpeg(data, channels, ratio)
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
    """The pixels in another dtype, over its whole range. As in TensorFlow, only PNG's white stays white in uint16."""
    if dtype is float32:
        return torch.from_numpy(pixels.astype(np.float32) / np.float32(np.iinfo(pixels.dtype).max))
    if dtype is uint16 and pixels.dtype == np.uint8:
        pixels = pixels.astype(np.uint16) * np.uint16(257 if format == "PNG" else 256)
    elif dtype is uint8 and pixels.dtype == np.uint16:
        pixels = (pixels >> 8).astype(np.uint8)
    return torch.from_numpy(np.require(pixels, requirements=["C", "W"]))


def _decoded(name: str, contents: np.ndarray, channels: int, dtype: Any, ratio: int = 1) -> torch.Tensor:
    """What the op of this name makes of a file: each of them takes every format, as long as the rank is right."""
    data = _contents(contents)
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
    pixels = _pixels(data, format, channels, ratio)
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


def _decode_png(contents: Any, channels: int = 0, dtype: Any = uint8) -> torch.Tensor:
    return _decoded("DecodePng", contents, channels, dtype)


@op("DecodePng", kernel=_decode_png, strings=_decode_png, shape=_image_shape)
def decode_png(contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None) -> Any:
    """The image of a PNG file. (JPEG and still GIF files are taken too.)

    Args:
        contents: a string scalar, the file.
        channels: 1 for brightness, 3 for RGB, 4 for RGB and opacity, 0 for what the file has.
        dtype: uint8 or uint16.

    Returns:
        A tensor of shape `[height, width, channels]`.

    Raises:
        InvalidArgumentError: it is no such file, or `channels` is another number.

    Example:
        >>> file = tf.io.encode_png(tf.constant([[[1], [2]]], tf.uint8))
        >>> tf.io.decode_png(file)[..., 0].numpy().tolist()
        [[1, 2]]
    """


def _check_jpeg(ratio: int, fancy_upscaling: bool, dct_method: str) -> None:
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    if not fancy_upscaling:
        raise UnimplementedError(None, None, "JPEG files are decoded with fancy_upscaling=True only")


def _decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
) -> torch.Tensor:
    _check_jpeg(ratio, fancy_upscaling, dct_method)
    return _decoded("DecodeJpeg", contents, channels, uint8, ratio)


@op("DecodeJpeg", kernel=_decode_jpeg, strings=_decode_jpeg, shape=_image_shape)
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """The image of a JPEG file. (PNG and still GIF files are taken too.)

    Whatever `dct_method` says, the accurate method is taken: TensorFlow's default is the fast one, whose results differ
    by a few levels. A file that was cut off is never recovered.

    Args:
        contents: a string scalar, the file.
        channels: 1 for brightness, 3 for RGB, 0 for what the file has.
        ratio: how many times smaller the image is made: 1, 2, 4 or 8.
        fancy_upscaling: must be True.
        try_recover_truncated, acceptable_fraction: without effect.
        dct_method: "INTEGER_FAST", "INTEGER_ACCURATE" or "".

    Returns:
        A uint8 tensor of shape `[height, width, channels]`.

    Raises:
        InvalidArgumentError: it is no such file, or an argument is none of these.
        UnimplementedError: `fancy_upscaling` is False.

    Example:
        >>> file = tf.io.encode_jpeg(tf.fill([2, 3, 1], tf.constant(200, tf.uint8)))
        >>> tf.io.decode_jpeg(file)[..., 0].numpy().tolist()
        [[200, 200, 200], [200, 200, 200]]
    """


def _decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
) -> torch.Tensor:
    _check_jpeg(ratio, fancy_upscaling, dct_method)
    if type(crop_window) is not tuple or len(crop_window) != 4:
        raise invalid(f"crop_size must have four elements {list(np.shape(crop_window))}")
    data = _contents(contents)
    if codecs.file_format(data) != "JPEG":
        raise invalid("DecodeAndCropJpeg operation can run on JPEG only, but the file is of another format")
    image = _decoded("DecodeAndCropJpeg", contents, channels, uint8, ratio)
    top, left, height, width = crop_window
    if not (0 <= top < top + height <= image.shape[0] and 0 <= left < left + width <= image.shape[1]):
        raise invalid(f"the crop window {list(crop_window)} is not inside the image of shape {list(image.shape)}")
    return image[top : top + height, left : left + width].contiguous()


def _cropped_shape(contents: TensorShape, crop_window: Any, channels: int = 0, *_: Any) -> TensorShape:
    known = type(crop_window) is tuple and len(crop_window) == 4
    return TensorShape([*(crop_window[2:] if known else (None, None)), channels or None])


@op(
    "DecodeAndCropJpeg",
    kernel=_decode_and_crop_jpeg,
    strings=_decode_and_crop_jpeg,
    host=("crop_window",),
    shape=_cropped_shape,
)
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1.0,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """A part of the image of a JPEG file.

    Args:
        contents: a string scalar, the file.
        crop_window: `[top, left, height, width]` of the part, in pixels of the result.
        channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method: as for
            `tf.io.decode_jpeg`.

    Returns:
        A uint8 tensor of shape `[height, width, channels]`.

    Raises:
        InvalidArgumentError: it is no JPEG file, or the window is not inside the image.

    Example:
        >>> file = tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))
        >>> tf.io.decode_and_crop_jpeg(file, [1, 2, 3, 4]).shape
        TensorShape([3, 4, 3])
    """


def _decode_bmp(contents: Any, channels: int = 0) -> torch.Tensor:
    return _decoded("DecodeBmp", contents, channels, uint8)


@op("DecodeBmp", kernel=_decode_bmp, strings=_decode_bmp, shape=_image_shape)
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Any:
    """The image of an uncompressed BMP file.

    Args:
        contents: a string scalar, the file.
        channels: 3 for RGB, 4 for RGB and opacity, 0 for what the file has.

    Returns:
        A uint8 tensor of shape `[height, width, channels]`.

    Raises:
        InvalidArgumentError: it is no such file, or `channels` is another number.

    Example:
        >>> header = b"BM" + bytes(8) + bytes([54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24])
        >>> tf.io.decode_bmp(header.ljust(54, bytes(1)) + bytes([1, 2, 3, 0])).numpy().tolist()
        [[[3, 2, 1]]]
    """


def _decode_gif(contents: Any) -> torch.Tensor:
    return _decoded("DecodeGif", contents, 3, uint8)


@op("DecodeGif", kernel=_decode_gif, strings=_decode_gif, shape=lambda contents: TensorShape([None, None, None, 3]))
def decode_gif(contents: Any, name: str | None = None) -> Any:
    """The frames of a GIF file. (PNG and JPEG files are taken as one frame.)

    Args:
        contents: a string scalar, the file.

    Returns:
        A uint8 tensor of shape `[frames, height, width, 3]`. What is transparent shows the frame before, and black in
        the first.

    Raises:
        InvalidArgumentError: it is no such file.

    Example:
        >>> tf.io.decode_gif(tf.io.encode_png(tf.zeros([2, 3, 3], tf.uint8))).shape
        TensorShape([1, 2, 3, 3])
    """


def _decode_webp(contents: Any, channels: int = 0, dtype: Any = uint8) -> torch.Tensor:
    return _decoded("DecodeWebP", contents, channels, dtype)


@op(
    "DecodeWebP",
    kernel=_decode_webp,
    strings=_decode_webp,
    shape=lambda contents, channels=0, *_: TensorShape([None, None, None, channels or None]),
)
def decode_webp(contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None) -> Any:
    """The frames of a WebP file.

    Args:
        contents: a string scalar, the file.
        channels: how many the file must have, 3 or 4; 0 for either.
        dtype: uint8.

    Returns:
        A tensor of shape `[frames, height, width, channels]`.

    Raises:
        InvalidArgumentError: it is no such file, or has another number of channels.

    Example:
        >>> import io
        >>> from PIL import Image
        >>> file = io.BytesIO()
        >>> Image.new("RGB", (3, 2)).save(file, "WEBP", lossless=True)
        >>> tf.image.decode_webp(file.getvalue()).shape
        TensorShape([1, 2, 3, 3])
    """


def _decode_image(contents: Any, channels: int = 0, dtype: Any = uint8, expand_animations: bool = True) -> torch.Tensor:
    image = _decoded("DecodeImage", contents, channels, dtype)
    return image if image.ndim == 3 or expand_animations else image[0]


def _any_image_shape(
    contents: TensorShape, channels: int = 0, dtype: Any = uint8, expand_animations: bool = True
) -> TensorShape:
    return TensorShape(None) if expand_animations else TensorShape([None, None, channels or None])


@op("DecodeImage", kernel=_decode_image, strings=_decode_image, shape=_any_image_shape)
def _decode_any(
    contents: Any, channels: int = 0, dtype: Any = uint8, expand_animations: bool = True, name: str | None = None
) -> Any:
    """The image of a file of any format."""


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """The image of a JPEG, PNG, GIF, BMP or WebP file.

    Args:
        contents: a string scalar, the file.
        channels: 1 for brightness, 3 for RGB, 4 for RGB and opacity, None or 0 for what the file has.
        dtype: integer or floating. The whole range of the file's numbers becomes that of the dtype, [0, 1] for floats.
        expand_animations: whether GIF and WebP files give all frames: `[frames, height, width, channels]`.

    Returns:
        A tensor of shape `[height, width, channels]`.

    Raises:
        InvalidArgumentError: it is no such file, or the format has not that many channels.

    Example:
        >>> file = tf.io.encode_png(tf.constant([[[51], [255]]], tf.uint8))
        >>> tf.io.decode_image(file, dtype=tf.float32)[..., 0].numpy().round(2).tolist()
        [[0.20000000298023224, 1.0]]
    """
    from tapeflow.image.adjusting import convert_image_dtype

    wanted = as_dtype(dtype)
    read_as = wanted if wanted in (uint8, uint16, float32) else uint16
    return convert_image_dtype(_decode_any(contents, channels or 0, read_as, expand_animations, name), wanted)


# ---- what a file is --------------------------------------------------------------------------------------------------


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    """Whether a file begins as JPEG files do.

    Args:
        contents: strings.

    Returns:
        Bools of the same shape.

    Example:
        >>> bool(tf.io.is_jpeg(tf.io.encode_png(tf.zeros([1, 1, 1], tf.uint8))))
        False
    """
    from tapeflow.math import equal
    from tapeflow.strings import substr

    return equal(substr(contents, 0, 3), b"\xff\xd8\xff", name)


def _jpeg_shape(contents: Any, output_type: Any = int32) -> torch.Tensor:
    return torch.tensor(codecs.jpeg_shape(_contents(contents)), dtype=output_type.torch)


@op("ExtractJpegShape", kernel=_jpeg_shape, strings=_jpeg_shape, shape=lambda *_: TensorShape([3]))
def extract_jpeg_shape(contents: Any, output_type: Any = int32, name: str | None = None) -> Any:
    """The shape of the image of a JPEG file, by its header alone.

    Args:
        contents: a string scalar, the file.
        output_type: int32 or int64.

    Returns:
        `[height, width, channels]`.

    Raises:
        InvalidArgumentError: it is no JPEG file.

    Example:
        >>> tf.io.extract_jpeg_shape(tf.io.encode_jpeg(tf.zeros([2, 3, 1], tf.uint8))).numpy().tolist()
        [2, 3, 1]
    """


# ---- encoding --------------------------------------------------------------------------------------------------------


def _check_jpeg_image(image: torch.Tensor, quality: int) -> np.ndarray:
    if image.ndim != 3:
        raise invalid(f"image must be 3-dimensional{text(TensorShape(image.shape))}")
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    if image.shape[2] not in (1, 3):
        raise invalid(f"image must have 1 or 3 channels, got {text(TensorShape(image.shape))}")
    if not image.numel():
        raise InternalError(None, None, f"JPEG encoding failed: the image has shape {list(image.shape)}")
    return image.cpu().numpy()


_FORMAT_CHANNELS = {"grayscale": 1, "rgb": 3}


def _encode_jpeg(
    image: torch.Tensor,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
) -> np.ndarray:
    pixels = _check_jpeg_image(image, quality)
    expected = _FORMAT_CHANNELS.get(format, pixels.shape[2])
    if pixels.shape[2] != expected:
        raise invalid(f"format {format} expects {expected} channels, got {text(TensorShape(image.shape))}")
    density = x_density, y_density
    data = codecs.write_jpeg(
        pixels, quality, progressive, optimize_size, chroma_downsampling, density_unit, density, xmp_metadata
    )
    return np.array(data, object)


def _scalar(*_: Any) -> TensorShape:
    return TensorShape([])


@op("EncodeJpeg", kernel=_encode_jpeg, shape=_scalar)
def encode_jpeg(
    image: Any,
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
) -> Any:
    """An image as a JPEG file.

    Args:
        image: uint8 of shape `[height, width, channels]`, with 1 or 3 channels.
        format: "grayscale", "rgb", or "" for what the channels say.
        quality: from 0 to 100.
        progressive: whether a viewer can show a rough image first.
        optimize_size: whether the file's tables are made for the image, which is slower and smaller.
        chroma_downsampling: whether colors have half the resolution of brightness.
        density_unit: "in" for inches or "cm", of which `x_density` and `y_density` say how many pixels they have.
        xmp_metadata: metadata for the file, in XMP.

    Returns:
        A string scalar.

    Raises:
        InvalidArgumentError: the image has another shape, or the quality is no such number.

    Example:
        >>> bool(tf.io.is_jpeg(tf.io.encode_jpeg(tf.zeros([2, 3, 3], tf.uint8), quality=50)))
        True
    """


def _encode_with_quality(images: torch.Tensor, quality: Any) -> np.ndarray:
    return np.array(codecs.write_jpeg(_check_jpeg_image(images, quality), quality), object)


@op("EncodeJpegVariableQuality", kernel=_encode_with_quality, host=("quality",), shape=_scalar)
def encode_jpeg_variable_quality(images: Any, quality: Any, name: str | None = None) -> Any:
    """An image as a JPEG file of a quality that may be a tensor."""


def _encode_png(image: torch.Tensor, compression: int = -1) -> np.ndarray:
    if image.ndim < 3:
        raise invalid(f"images must be at least rank 3{text(TensorShape(image.shape))}")
    if image.shape[-1] not in (1, 2, 3, 4):
        raise invalid(f"image must have 1, 2, 3, or 4 channels, got {image.shape[-1]}")
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    if not image.numel():
        raise InternalError(None, None, f"PNG encoding failed: the image has shape {list(image.shape)}")
    pixels = image.cpu().numpy()
    return _each_image(lambda one: png.write(one, compression), pixels)


def _each_image(encode: Callable[[np.ndarray], bytes], images: np.ndarray) -> np.ndarray:
    files = np.empty(images.shape[:-3], object)
    for place in np.ndindex(files.shape):
        files[place] = encode(images[place])
    return files


def _batch_shape(image: TensorShape, *_: Any) -> TensorShape:
    return image[:-3] if image.rank is not None else image


@op("EncodePng", kernel=_encode_png, shape=_batch_shape)
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Any:
    """Images as PNG files.

    Args:
        image: uint8 or uint16 of shape `[..., height, width, channels]`: 1 channel for brightness, 2 with opacity, 3
            for RGB, 4 with opacity.
        compression: from 0, fast, to 9, small; -1 for a good one.

    Returns:
        Strings of shape `[...]`.

    Raises:
        InvalidArgumentError: the image has another shape, or the compression is no such number.

    Example:
        >>> image = tf.constant([[[1, 2, 3], [4, 5, 6]]], tf.uint8)
        >>> bool(tf.reduce_all(tf.io.decode_png(tf.io.encode_png(image)) == image))
        True
    """


not_differentiable(
    decode_png, decode_jpeg, decode_and_crop_jpeg, decode_bmp, decode_gif, decode_webp, _decode_any, extract_jpeg_shape,
    encode_jpeg, encode_jpeg_variable_quality, encode_png,
)  # fmt: skip
