"""Image files, beyond what `goldens/cases_image_files.py` has: files that only other programs write, and functions."""

import io
import struct
import sys
import zlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.image import png

PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def picture(channels, dtype, height=11, width=13):
    most = np.iinfo(dtype).max
    return np.random.default_rng(channels).integers(0, most, (height, width, channels)).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_there_and_back(channels, dtype):
    image = picture(channels, dtype)
    for compression in (-1, 0, 9):
        file = tf.io.encode_png(image, compression)
        np.testing.assert_array_equal(tf.io.decode_png(file, dtype=dtype), image)
    batch = np.stack([image, image[::-1]])
    files = tf.io.encode_png(batch)
    np.testing.assert_array_equal(tf.stack([tf.io.decode_png(f, dtype=dtype) for f in files]), batch)


def interlaced(image):
    """A file of 16 bits a channel whose pixels come in Adam7's passes, without filters."""
    parts = [image[row::down, column::right] for row, column, down, right in PASSES]
    lines = b"".join(b"\0" + line.astype(">u2").tobytes() for part in parts if part.size for line in part)
    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 16, {1: 0, 3: 2}[image.shape[2]], 0, 0, 1)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png._make_chunk(*chunk) for chunk in chunks)


@pytest.mark.parametrize(("height", "width"), [(11, 13), (1, 1), (3, 20), (8, 2)])
def test_interlaced_png(height, width):
    image = picture(3, "uint16", height, width)
    np.testing.assert_array_equal(tf.io.decode_png(interlaced(image), dtype=tf.uint16), image)


def test_damaged_png():
    file = interlaced(picture(1, "uint16"))
    for damaged in (file[:40], file[:-20], file[:50] + b"\0" + file[51:]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid PNG data"):
            tf.io.decode_png(damaged)


def test_jpeg_with_choices():
    file = tf.io.encode_jpeg(picture(3, "uint8"))
    for options in ({}, {"fancy_upscaling": False}, {"dct_method": "INTEGER_ACCURATE"}, {"ratio": 2}):
        whole = tf.io.decode_jpeg(file, **options)
        np.testing.assert_array_equal(tf.io.decode_and_crop_jpeg(file, [2, 3, 4, 4], **options), whole[2:6, 3:7])


@pytest.mark.parametrize("options", [{}, {"channels": 1}, {"ratio": 2}])
def test_jpeg_without_simplejpeg(options, monkeypatch):
    y, x = np.mgrid[:32, :32]
    file = tf.io.encode_jpeg(np.stack([y * 4, x * 4, y + x], -1).astype(np.uint8))
    expected = tf.io.decode_jpeg(file, **options)
    monkeypatch.setitem(sys.modules, "simplejpeg", None)
    image = tf.io.decode_jpeg(file, **options)
    assert image.shape == expected.shape
    assert np.abs(image.numpy().astype(int) - expected.numpy()).max() <= 8


def test_jpeg_that_libjpeg_turbo_refuses():
    file = tf.io.encode_jpeg(picture(3, "uint8")).numpy()
    odd = tf.io.decode_jpeg(file[:20] + b"\0\0" + file[20:], dct_method="INTEGER_ACCURATE")  # bytes between segments
    np.testing.assert_array_equal(odd, tf.io.decode_jpeg(file, dct_method="INTEGER_ACCURATE"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        tf.io.decode_jpeg(file[:-2])


def test_files_in_functions(tmp_path):
    path = str(tmp_path / "image.png")
    image = picture(3, "uint8")
    tf.io.write_file(path, tf.io.encode_png(image))

    @tf.function
    def read(path):
        decoded = tf.io.decode_image(tf.io.read_file(path), 3, tf.float32, expand_animations=False)
        assert decoded.shape.as_list() == [None, None, 3]
        return tf.image.resize(decoded, [4, 5])

    np.testing.assert_allclose(read(path), tf.image.resize(image / np.float32(255), [4, 5]), rtol=1e-6)


def test_keras_reads_a_folder_of_images(tmp_path):
    image = picture(3, "uint8")
    for label in ("cat", "dog"):
        for number, encode in enumerate((tf.io.encode_png, tf.io.encode_jpeg)):
            tf.io.write_file(str(tmp_path / label / f"{number}.{'png' if number == 0 else 'jpg'}"), encode(image))
    data = tf.keras.utils.image_dataset_from_directory(str(tmp_path), image_size=(5, 6), batch_size=4, shuffle=False)
    images, labels = next(iter(data))
    assert images.shape == [4, 5, 6, 3]
    assert labels.numpy().tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(images[0], tf.image.resize(image, [5, 6]), rtol=1e-5)


def test_the_shape_of_a_file_with_colors_that_are_not_transformed():
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (5, 3), (9, 99, 199)).save(file, "JPEG", keep_rgb=True)
    assert tf.io.extract_jpeg_shape(file.getvalue()).numpy().tolist() == [3, 5, 3]
