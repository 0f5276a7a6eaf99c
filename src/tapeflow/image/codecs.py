"""Image files as arrays and back, by the libraries of the formats, with the channels of TensorFlow's decoders.

JPEG files are decoded by libjpeg-turbo, which TensorFlow uses, with the options that Pillow has no parameters for.
"""

from __future__ import annotations

import contextlib
import io
import struct
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.values.tensor import invalid
from tapeflow.image import png

if TYPE_CHECKING:
    from PIL.Image import Image

_SIGNATURES = {"JPEG": b"\xff\xd8\xff", "PNG": b"\x89PNG\r\n\x1a\n", "GIF": b"GIF8", "BMP": b"BM"}


def file_format(data: bytes) -> str:
    """Returns the name of the format of an image file: "JPEG", "PNG", "GIF", "BMP" or "WEBP".

    Raises:
        InvalidArgumentError: the format is none of these.
    """
    if not data:
        raise invalid("Input is empty.")
    for name, signature in _SIGNATURES.items():
        if data.startswith(signature):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) > 12:
        return "WEBP"
    raise invalid("Unknown image file format. One of JPEG, PNG, GIF, BMP, WebP required.")


def _open_image(data: bytes, format: str) -> Image:
    """Opens a file of a format.

    Raises:
        InvalidArgumentError: the file is damaged.
    """
    from PIL import Image

    with _ReportingDamage(data, format):
        return Image.open(io.BytesIO(data), formats=[format])


def _image_pixels(image: Image, data: bytes, format: str) -> np.ndarray:
    """Returns the pixels of an opened file, `[height, width, channels]`.

    Raises:
        InvalidArgumentError: the file is damaged.
    """
    with _ReportingDamage(data, format):
        array = np.asarray(image)
    return array if array.ndim == 3 else array[:, :, None]


class _ReportingDamage(contextlib.AbstractContextManager[Any]):
    """Raises InvalidArgumentError in place of the libraries' errors for a file that can't be decoded."""

    def __init__(self, data: bytes, format: str) -> None:
        self._data, self._format = data, format

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, _errors_of_decoders()):
            raise invalid(f"Invalid {self._format} data, size {len(self._data)}") from None


def _errors_of_decoders() -> tuple[type[Exception], ...]:
    from PIL.Image import DecompressionBombError

    return OSError, EOFError, KeyError, ValueError, SyntaxError, struct.error, zlib.error, DecompressionBombError


# ---- JPEG ------------------------------------------------------------------------------------------------------------


def read_jpeg(
    data: bytes, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, accurate: bool = False
) -> np.ndarray:
    """Decodes a JPEG file.

    Args:
        data: the contents of the file.
        channels: 1 or 3; 0 for the channels of the file.
        ratio: an int. The decoder reduces the image by this factor.
        fancy_upscaling: interpolates colors that are stored at a lower resolution.
        accurate: uses libjpeg's accurate cosine transform, not the fast one.

    Returns:
        uint8 pixels, `[height, width, channels]`.

    Raises:
        InvalidArgumentError: the file is damaged, or can't be decoded into these channels.
    """
    shape = _shape_in_header(data)
    if shape is not None:
        import simplejpeg

        height, width, own = shape
        with contextlib.suppress(ValueError):
            return simplejpeg.decode_jpeg(
                data,
                "GRAY" if (channels or own) == 1 else "RGB",
                fastdct=not accurate,
                fastupsample=not fancy_upscaling,
                min_height=-(-height // ratio),
                min_width=-(-width // ratio),
                min_factor=ratio,
            )
    image = _open_image(data, "JPEG")
    width, height = image.size
    if ratio != 1 or channels == 1:
        # The decoder itself computes the brightness and the smaller image.
        image.draft("L" if channels == 1 else None, (max(width // ratio, 1), max(height // ratio, 1)))
    if image.mode == "CMYK":
        if channels == 1:
            raise invalid("a JPEG file in CMYK can't be decoded into one channel")
        return _from_cmyk(_image_pixels(image, data, "JPEG"))
    if channels and channels != len(image.getbands()):
        with _ReportingDamage(data, "JPEG"):
            image = image.convert("L" if channels == 1 else "RGB")
    return _image_pixels(image, data, "JPEG")


def _from_cmyk(pixels: np.ndarray) -> np.ndarray:
    light = 255 - pixels.astype(np.uint16)
    return (light[..., :3] * light[..., 3:] // 255).astype(np.uint8)


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """Returns height, width and channels of a JPEG file."""
    shape = _shape_in_header(data)
    if shape is not None:
        return shape
    image = _open_image(data, "JPEG")
    return image.height, image.width, len(image.getbands())


def _shape_in_header(data: bytes) -> tuple[int, int, int] | None:
    """Returns height, width and channels of a JPEG file, or None where Pillow decides: if it is damaged or strange."""
    try:
        import simplejpeg

        height, width, colors, _ = simplejpeg.decode_jpeg_header(data)
    except (ImportError, ValueError):
        return None
    channels = {"Gray": 1, "YCbCr": 3, "RGB": 3}.get(colors)
    return None if channels is None else (height, width, channels)


_UNITS = {"in": 1, "cm": 2}  # in the JFIF header


def write_jpeg(
    pixels: np.ndarray,
    quality: int,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
) -> bytes:
    """Encodes uint8 pixels `[height, width, channels]`, with 1 or 3 channels, as a JPEG file."""
    from PIL import Image

    image = Image.fromarray(pixels if pixels.shape[2] == 3 else pixels[:, :, 0])
    file = io.BytesIO()
    image.save(
        file,
        "JPEG",
        quality=max(quality, 1),  # 0 is Pillow's default
        subsampling="4:2:0" if chroma_downsampling and pixels.shape[2] == 3 else "4:4:4",
        progressive=progressive,
        optimize=optimize_size or progressive,
        dpi=(x_density, y_density),
        xmp=xmp_metadata.encode(),
    )
    data = bytearray(file.getvalue())
    data[13] = _UNITS[density_unit]  # which Pillow always writes as inches
    return bytes(data)


# ---- PNG -------------------------------------------------------------------------------------------------------------


def read_png(data: bytes, channels: int) -> np.ndarray:
    """Decodes a PNG file to pixels `[height, width, channels]`: uint8, or uint16 for a file of 16 bits a channel."""
    if png.has_16_bits(data):
        with _ReportingDamage(data, "PNG"):
            return _with_channels(*png.read_16_bits(data), channels)
    image = _open_image(data, "PNG")
    transparent = image.info.get("transparency")
    with _ReportingDamage(data, "PNG"):
        if image.mode == "P":
            image = image.convert("RGB" if transparent is None else "RGBA")
            transparent = None
        elif image.mode == "1":
            image = image.convert("L")
    color = (transparent,) if isinstance(transparent, int) else transparent
    return _with_channels(_image_pixels(image, data, "PNG"), color if isinstance(color, tuple) else None, channels)


def _with_channels(pixels: np.ndarray, transparent: tuple[int, ...] | None, channels: int) -> np.ndarray:
    """Converts pixels to a number of channels; 0 keeps the channels. For 2 and 4 channels, the last one is opacity."""
    own = pixels.shape[2]
    if channels in (0, own):
        return pixels
    colors = pixels[..., : own - (own in (2, 4))]
    if channels == 1:
        return colors if own < 3 else _png_brightness(colors)
    rgb = np.broadcast_to(colors, (*pixels.shape[:2], 3))
    if channels == 3:
        return rgb
    opaque = np.iinfo(pixels.dtype).max
    opacity = pixels[..., -1:] if own == 2 else np.full((*pixels.shape[:2], 1), opaque, pixels.dtype)
    if transparent is not None and own in (1, 3):
        opacity[(colors == np.array(transparent)).all(-1)] = 0
    return np.concatenate([rgb, opacity], -1)


def _png_brightness(rgb: np.ndarray) -> np.ndarray:
    """Computes the brightness of colors by libpng's arithmetic, which rounds for 16 bits only."""
    total = rgb.astype(np.int64) @ np.array([9797, 19234, 3737])
    half = 0 if rgb.dtype == np.uint8 else 1 << 14
    return ((total + half) >> 15).astype(rgb.dtype)[..., None]


# ---- GIF, BMP, WebP --------------------------------------------------------------------------------------------------


def read_gif(data: bytes) -> np.ndarray:
    """Decodes a GIF file to uint8 `[frames, height, width, 3]`; transparent pixels show the previous frame."""
    image = _open_image(data, "GIF")
    visible = np.zeros((image.height, image.width, 3), np.uint8)
    frames = []
    for rgba in _convert_frames(image, data, "GIF", lambda frame: frame.convert("RGBA")):
        visible = np.where(rgba[..., 3:] == 0, visible, rgba[..., :3])
        frames.append(visible)
    return np.stack(frames)


def read_webp(data: bytes) -> np.ndarray:
    """Decodes a WebP file to uint8 `[frames, height, width, channels]`."""
    return np.stack(_convert_frames(_open_image(data, "WEBP"), data, "WEBP", lambda frame: frame))


def _convert_frames(image: Image, data: bytes, format: str, convert: Callable[[Image], Image]) -> list[np.ndarray]:
    """Returns the pixels of each frame of an opened file, converted by a function."""
    frames = []
    with _ReportingDamage(data, format):
        for number in range(getattr(image, "n_frames", 1)):
            image.seek(number)
            frames.append(np.array(convert(image)))
    return frames


def read_bmp(data: bytes, channels: int) -> np.ndarray:
    """Decodes an uncompressed BMP file to uint8 `[height, width, channels]`. Palettes are ignored: indices are pixels.

    Source: the BITMAPINFOHEADER structure in Microsoft's Win32 documentation.
    """
    if channels not in (0, 3, 4):
        raise invalid(f"`channels` must be 0, 3 or 4 for BMP, but got {channels}")
    if len(data) < 32:
        raise invalid(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, "
            f"got {len(data)} bytes"
        )
    (start,), (width, height), (bits,) = (
        struct.unpack_from("<i", data, 10), struct.unpack_from("<ii", data, 18), struct.unpack_from("<H", data, 28)
    )  # fmt: skip
    own = bits // 8
    if own not in (1, 3, 4):
        raise invalid(f"Number of channels inherent in the image must be 1, 3 or 4, was {own}")
    if width <= 0 or height == 0 or start < 0:
        raise invalid(f"The BMP file has width {width}, height {height} and its pixels at {start}")
    line = -(-own * width // 4) * 4
    rows = abs(height)
    if more := len(data) - start - line * rows:
        raise invalid(f"Input size should match (header_size + row_size * abs_height) but they differ by {more}")
    lines = np.frombuffer(data, np.uint8, offset=start).reshape(rows, line)[:, : own * width]
    pixels = lines.reshape(rows, width, own)[:: 1 if height < 0 else -1]
    if own > 1:
        pixels = pixels[..., [2, 1, 0, 3][:own]]
    return np.ascontiguousarray(_with_channels(pixels, None, channels))
