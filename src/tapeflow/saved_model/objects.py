"""The objects of a SavedModel: the objects of a checkpoint, and the functions among their attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tapeflow.core.values.trackable import SAVED_MODEL, AutoTrackable, NoDependency, Trackable, function_types, wrap
from tapeflow.core.values.variable import Variable
from tapeflow.function import Function
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.train.object_graph import View

STATE = ".TENSORS"  # the name of a state that one function returns as a dict of tensors
TABLE_FUNCTIONS = ("_create_resource", "_initialize", "_destroy_resource")  # the children of a table that create it


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
    """Returns a trace of a function with one variable, its first copy, for each distributed one. Others are as they
    are.
    """
    if not any(hasattr(captured, "_distributed_container") for captured in trace._captured):
        return trace
    from tapeflow.distribute.context import move_thread, place  # loads all of `tf.distribute`

    args, kwargs = trace.structured_input_signature
    with move_thread(place.strategy, None, 0, updating=True):
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


class StatefulObject(LoadedObject):
    """An object of a loaded SavedModel with its own state. Loaded functions save and restore it."""

    _saveable_name = ""
    _saves: tuple[tuple[str, Any, Any], ...] = ()

    def add_state(self, name: str, save: Any, restore: Any) -> None:
        """Adds a part of the state.

        Args:
            name: its name in the SavedModel.
            save, restore: the functions that return it and set it.
        """
        if name != STATE:  # several tensors under one name
            self._saveable_name = name
        self._saves = NoDependency((*self._saves, (name, save, restore)))  # type: ignore[assignment]  # set as a tuple
        setattr(self, f"_save_{name}", save)  # children, which are saved with the object
        setattr(self, f"_restore_{name}", restore)

    def _state_functions(self) -> dict[str, tuple[str, str]]:
        """Returns the names of the functions that save and restore each part of the state."""
        return {name: (f"_save_{name}", f"_restore_{name}") for name, _, _ in self._saves}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {name: tensor for save in self._saves for name, tensor in _saved_tensors(*save[:2]).items()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        for name, save, restore in self._saves:
            tensors = {key: restored_tensors[key] for key in _saved_tensors(name, save)}
            if name == STATE:
                restore(tensors)
            else:
                restore(*tensors.values())


def _saved_tensors(name: str, save: Any) -> dict[str, Any]:
    """Returns the tensors that a function of a SavedModel saves, by their names."""
    if name == STATE:
        return dict(save())
    return {name + part["name"].numpy().decode(): part["tensor"] for part in save("")}


class LoadedOptimizer(LoadedObject):
    """An optimizer of a loaded SavedModel: its variables, and its slots, which functions there may use."""

    _object_identifier = "optimizer"

    def __init__(self) -> None:
        self._slots: dict[str, dict[int, Any]] = NoDependency({})  # type: ignore[assignment]  # set as a plain dict

    def set_slot(self, variable: Variable, slot_name: str, slot: Any) -> None:
        """Makes a variable the slot of another one."""
        self._slots.setdefault(slot_name, {})[id(variable)] = slot

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """Returns the slot of a variable, or None."""
        return self._slots.get(slot_name, {}).get(id(var))

    def get_slot_names(self) -> list[str]:
        """Returns the names of the slots."""
        return list(self._slots)


class CapturedTensor(NamedTuple):
    """A tensor of a function that the function of a gradient captures.

    Attributes:
        name: its name in the function's graph.
        function: the function's name.
    """

    name: str
    function: str


class RestoredTable(LoadedObject):
    """A table of a loaded SavedModel. The loaded functions look things up in it.

    Attributes:
        resource_handle: a scalar tensor that stands for the table.
    """

    resource_handle: Any = None
    _create_resource: Callable[[], Any]
    _initialize: Callable[[], Any]

    def restore(self) -> None:
        """Creates and fills the table, by the functions that were saved for it."""
        self.resource_handle = self._create_resource()
        self._initialize()


class RestoredMutableTable(RestoredTable, StatefulObject):
    """A table of a loaded SavedModel, whose entries are in the checkpoint."""


class SignatureNode(Trackable):
    """The signatures of a SavedModel as a node: traces by their names."""

    def __init__(self, signatures: dict[str, ConcreteFunction]) -> None:
        self.nodes = {name: FunctionNode(concrete) for name, concrete in signatures.items()}

    def _trackable_children(self, save_type: str = SAVED_MODEL, **kwargs: Any) -> dict[str, Any]:
        return dict(self.nodes)


class SavedView(View):
    """A view of all objects that an object refers to, functions included.

    Args:
        root: the object.
    """

    def __init__(self, root: Any) -> None:
        super().__init__(root)
        self._nodes: dict[Any, Any] = {}
        self._own: dict[int, Any] = {}
        self._cache: dict[str, Any] = {}  # where objects of Keras 2 put the objects that they create for a save

    def own_children(self, trackable: Trackable) -> dict[str, Any]:
        """Returns the children that an object names itself. It is asked once, since it may create them then."""
        own = self._own.get(id(trackable))
        if own is None:
            own = self._own[id(trackable)] = trackable._trackable_children(SAVED_MODEL, cache=self._cache)
        return own

    def children(self, trackable: Any) -> dict[str, Any]:
        """Returns the children of an object, by name; functions as nodes."""
        children = {}
        for name, child in self.own_children(trackable).items():
            if isinstance(child, tuple(function_types)):
                child = self._nodes.setdefault(id(child), FunctionNode(child))
            elif not isinstance(child, Trackable):  # a list or dict that was created for this
                child = self._nodes.setdefault((id(trackable), name), wrap(child))
            if isinstance(child, Trackable):
                children[name] = child
        return children | self.attached if trackable is self.root else children
