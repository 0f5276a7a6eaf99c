"""Classes of specs by their registered names, under which Keras's older files have them."""

from __future__ import annotations

import functools

from tapeflow.core.types import spec_registry
from tapeflow.core.types.spec import TensorSpec, TypeSpec


@functools.cache
def _of_tensorflow() -> dict[str, type[TypeSpec]]:
    """Returns the classes that TensorFlow itself has registered, by name."""
    from tapeflow.ragged.spec import RaggedTensorSpec
    from tapeflow.sparse.tensor import SparseTensorSpec

    return {f"tf.{kind.__name__}": kind for kind in (TensorSpec, RaggedTensorSpec, SparseTensorSpec)}


def get_name(cls: type[TypeSpec]) -> str:
    """Returns the name of a class.

    Raises:
        TypeError: it is no class of specs.
        ValueError: it has no name.
    """
    return next((name for name, kind in _of_tensorflow().items() if kind is cls), "") or spec_registry.get_name(cls)


def lookup(name: str) -> type[TypeSpec]:
    """Returns the class of a name.

    Raises:
        TypeError: the name is no text.
        ValueError: there is no class of that name.
    """
    return _of_tensorflow().get(name) or spec_registry.lookup(name)
