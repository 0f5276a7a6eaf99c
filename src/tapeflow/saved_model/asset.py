"""`tf.saved_model.Asset`: a file that goes into a SavedModel."""

from __future__ import annotations

import os

from tapeflow.core.autodiff.tape import id_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import init_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.trackable import Trackable


class Asset(Trackable):
    """A file that `tf.saved_model.save` copies, such as a vocabulary; functions read it by the tensor `asset_path`.

    Args:
        path: the path of the file.

    Example:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "words.txt")
        >>> size = file.write_text("hello")
        >>> module, path = tf.Module(), tempfile.mkdtemp()
        >>> module.words = tf.saved_model.Asset(file)
        >>> tf.saved_model.save(module, path)
        >>> file.unlink()
        >>> tf.io.read_file(tf.saved_model.load(path).words.asset_path).numpy()
        b'hello'
    """

    def __init__(self, path: TensorLike | os.PathLike[str]) -> None:
        text = os.fspath(path) if isinstance(path, os.PathLike) else path
        with init_scope():
            self._path = convert(text, string)
        id_of(self._path)  # functions capture a tensor with an identity; others would be constants of theirs

    @property
    def asset_path(self) -> Tensor:
        """The path, as a string scalar."""
        return self._path
