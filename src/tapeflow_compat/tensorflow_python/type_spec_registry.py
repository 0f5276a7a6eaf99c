"""Classes of specs by their registered names, which Keras's older files contain."""

from __future__ import annotations

from tapeflow.core.types import spec_registry
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.sparse.tensor import SparseTensorSpec

# The classes that TensorFlow itself has registered, by name.
_OF_TENSORFLOW: dict[str, type[TypeSpec]] = {
    f"tf.{kind.__name__}": kind for kind in (TensorSpec, RaggedTensorSpec, SparseTensorSpec)
}


def get_name(cls: type[TypeSpec]) -> str:
    """Returns the registered name of a class.

    Raises:
        TypeError: `cls` is not a class of specs.
        ValueError: the class is not registered.
    """
    return next((name for name, kind in _OF_TENSORFLOW.items() if kind is cls), "") or spec_registry.get_name(cls)


def lookup(name: str) -> type[TypeSpec]:
    """Returns the class of a registered name.

    Raises:
        TypeError: the name is not a string.
        ValueError: there is no class of that name.
    """
    return _OF_TENSORFLOW.get(name) or spec_registry.lookup(name)
