"""Libraries of ops for TensorFlow's own runtime, which are not loaded."""

import errno

import pytest

import tapeflow as tf


def test_a_library_that_is_not_there(tmp_path):
    path = tmp_path / "missing.so"
    with pytest.raises(tf.errors.NotFoundError) as raised:
        tf.load_op_library(path)
    assert raised.value.message == f"{path}: cannot open shared object file: No such file or directory"
    with pytest.raises(FileNotFoundError) as raised:
        tf.load_library(path)
    assert raised.value.errno == errno.ENOENT and raised.value.filename == str(path)
    assert raised.value.strerror == "The file or folder to load kernel libraries from does not exist."


def test_a_library_that_needs_tensorflow(tmp_path):
    (tmp_path / "library.so").write_bytes(b"")
    for load, path in (
        (tf.load_op_library, tmp_path / "library.so"),
        (tf.load_library, tmp_path / "library.so"),
        (tf.load_library, tmp_path),
    ):
        with pytest.raises(tf.errors.NotFoundError, match="libraries of ops need TensorFlow's own binaries"):
            load(path)
