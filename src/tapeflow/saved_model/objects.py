"""The objects of a SavedModel: those of a checkpoint, and the functions among their attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.trackable import SAVED_MODEL, AutoTrackable, Trackable, function_types, wrap
from tapeflow.function import Function
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.train.object_graph import View


class FunctionNode(Trackable):
    """A function as a node of the object graph.

    Attributes:
        function: a `tf.function`, or one trace.
        traces: the traces that are saved.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self.traces: list[ConcreteFunction] = [function]
        if isinstance(function, Function):
            usable = [c for c in function._trackable_children(SAVED_MODEL).values() if c.usable()]
            self.traces = list({id(c): c for c in [of_whole_variables(function, c) for c in usable]}.values())


def of_whole_variables(function: Function, trace: ConcreteFunction) -> ConcreteFunction:
    """A trace of a function that takes distributed variables for one each: their first copy. Others are as they are."""
    if not any(hasattr(captured, "_distributed_container") for captured in trace._captured):
        return trace
    from tapeflow.distribute.context import moved, place

    args, kwargs = trace.structured_input_signature
    with moved(place.strategy, None, 0, updating=True):
        return function.get_concrete_function(*args, **kwargs)


class LoadedObject(AutoTrackable):
    """An object of a loaded SavedModel: its variables, functions and other objects are its attributes."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function that was saved as `__call__`.

        Raises:
            TypeError: there is none.
        """
        call = self.__dict__.get("__call__")
        if call is None:
            raise TypeError("The object of the SavedModel is not callable: no `__call__` was saved with it.")
        return call(*args, **kwargs)


class RestoredTable(LoadedObject):
    """A table of a loaded SavedModel, which the functions there look things up in.

    Attributes:
        resource_handle: a scalar tensor that stands for the table.
    """

    resource_handle: Any = None
    _create_resource: Callable[[], Any]
    _initialize: Callable[[], Any]

    def restore(self) -> None:
        """Makes and fills the table, by the functions that were saved for it."""
        self.resource_handle = self._create_resource()
        self._initialize()


class SignatureNode(Trackable):
    """The signatures of a SavedModel as a node: traces by their names."""

    def __init__(self, signatures: dict[str, ConcreteFunction]) -> None:
        self.nodes = {name: FunctionNode(concrete) for name, concrete in signatures.items()}

    def _trackable_children(self, save_type: str = SAVED_MODEL, **kwargs: Any) -> dict[str, Any]:
        return dict(self.nodes)


class SavedView(View):
    """All that can be reached from an object, functions too, and its signatures.

    Args:
        root: the object.
        signatures: traces by name.
    """

    def __init__(self, root: Any, signatures: dict[str, ConcreteFunction]) -> None:
        super().__init__(root, {"signatures": SignatureNode(signatures)})
        self._nodes: dict[Any, Any] = {}

    def children(self, trackable: Any) -> dict[str, Any]:
        found = {}
        for name, child in trackable._trackable_children(SAVED_MODEL).items():
            if isinstance(child, tuple(function_types)):
                child = self._nodes.setdefault(id(child), FunctionNode(child))
            elif not isinstance(child, Trackable):  # a list or dict that was made for this
                child = self._nodes.setdefault((id(trackable), name), wrap(child))
            if isinstance(child, Trackable):
                found[name] = child
        return found | self.attached if trackable is self.root else found


def default_function(root: Any) -> Any:
    """The function that is the signature of an object for which none is given, or None.

    It is the only one of its attributes that is a function of tensors, as in TensorFlow; or what Keras says it is.
    """
    try:
        chosen = getattr(root, "_default_save_signature", None)
    except Exception:  # Keras's is a property that traces; as of every attribute, its error means that there is none
        chosen = None
    if chosen is not None:
        return chosen
    functions = [f for f in root._trackable_children(SAVED_MODEL).values() if isinstance(f, tuple(function_types))]
    if len(functions) != 1 or (isinstance(functions[0], Function) and functions[0].input_signature is None):
        return None
    return functions[0]
