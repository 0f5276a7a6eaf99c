"""The public `tf.compat.v1.test` namespace: `tf.test`, and TensorFlow 1's additions."""
# ruff: noqa: F401 (the imports are public names)

from __future__ import annotations

import functools
import os
import tempfile
from typing import Any
from unittest import mock

from tapeflow import test


def get_temp_dir() -> str:
    """Returns a folder of this process, the same on every call; it goes when the process ends.

    Example:
        >>> tf.compat.v1.test.get_temp_dir() == tf.compat.v1.test.get_temp_dir()
        True
    """
    return _folder().name


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))


def test_src_dir_path(relative_path: str) -> str:
    """Returns the path of a file among the sources that Bazel runs a test with.

    Args:
        relative_path: its path below the folder `tensorflow`.

    Raises:
        KeyError: the test is not run by Bazel.
    """
    return os.path.join(os.environ["TEST_SRCDIR"], "org_tensorflow/tensorflow", relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]  # to pytest


def __getattr__(name: str) -> Any:
    return getattr(test, name)
