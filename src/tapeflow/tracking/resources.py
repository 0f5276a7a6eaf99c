"""Resources that functions use beside tensors: `tf.saved_model.experimental.TrackableResource`, the base of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tapeflow.core.device import device
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import init_scope
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.trackable import CHECKPOINT, SAVED_MODEL, Trackable
from tapeflow.function.function import Function, Options


class SaveSpec(NamedTuple):
    """One tensor that a saver of TensorFlow 1 saves.

    Attributes:
        tensor: the tensor.
        slice_spec: the part of a whole that it is; here the whole.
        name: its name in checkpoints.
        dtype: its dtype.
    """

    tensor: Any
    slice_spec: str
    name: str
    dtype: DType


class TrackableResource(Trackable):
    """The base class of resources that functions use: a subclass creates its own in `_create_resource`.

    Args:
        device: the device to create it on.

    Example:
        >>> class Number(tf.saved_model.experimental.TrackableResource):
        ...     def _create_resource(self):
        ...         return tf.constant(3)
        >>> int(Number().resource_handle)
        3
    """

    def __init__(self, device: str = "") -> None:
        self._resource_device = device
        self._resource_handle: Any = None

    @property
    def resource_device(self) -> str:
        """The device that it is created on."""
        return self._resource_device

    @property
    def resource_handle(self) -> Any:
        """The resource, which `_create_resource` creates on the first use."""
        if self._resource_handle is None:
            with init_scope(), device(self._resource_device or None):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def _create_resource(self) -> Any:
        """Creates the resource; for subclasses."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Makes the resource ready for use; for subclasses."""


class SavedResource(TrackableResource):
    """The base of resources that a SavedModel creates again, by the functions of `_saved_functions`."""

    @cached_property
    def _saved_functions(self) -> dict[str, Any]:
        """The functions in a SavedModel that create the resource, by the names of TensorFlow's loader."""
        raise NotImplementedError

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        children = super()._trackable_children(save_type, **kwargs)
        return children | self._saved_functions if save_type == SAVED_MODEL else children


def saved_functions(create: Callable[[], Any], initialize: Callable[[], Any]) -> dict[str, Function]:
    """Returns the functions in a SavedModel that make a resource, by the names of TensorFlow's loader.

    Args:
        create: returns the handle of the resource.
        initialize: makes the resource ready for use.
    """

    def creator() -> Any:
        return create()

    def initializer() -> Any:
        initialize()
        return convert(1)

    def destroyer() -> Any:
        return convert(1)

    functions = {"_create_resource": creator, "_initialize": initializer, "_destroy_resource": destroyer}
    options = Options((), autograph=False)
    return {name: Function(function, options, f"_{function.__name__}") for name, function in functions.items()}
