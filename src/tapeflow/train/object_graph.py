"""The object graph that a checkpoint stores beside the tensors: a root and everything that can be reached from it."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from tapeflow.core.ops.convert import convert
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor
from tapeflow.core.values.trackable import Trackable, has_state
from tapeflow.core.values.variable import Variable


class View:
    """A root and the objects attached to it, which a checkpoint saves.

    Args:
        root: the object.
        attached: more children of the root, by name.
    """

    def __init__(self, root: Any, attached: dict[str, Any] | None = None) -> None:
        self.root = root
        self.attached = {} if attached is None else attached

    def children(self, trackable: Trackable) -> dict[str, Any]:
        """Returns the children of an object, by name."""
        own = {name: child for name, child in trackable._trackable_children().items() if isinstance(child, Trackable)}
        return {**own, **self.attached} if trackable is self.root else own

    def lookup(self, trackable: Trackable, name: str, children: dict[str, Any]) -> Any:
        """Returns the child of that name, or None; `children` are the object's own."""
        if trackable is self.root and name in self.attached:
            return self.attached[name]
        return trackable._lookup_dependency(name, children)

    def walk(self) -> tuple[list[Any], list[str], list[dict[str, Any]]]:
        """Returns everything from the root, level by level, and then the slots of optimizers: the objects, their
        shortest paths, and their children.

        Raises:
            NotImplementedError: a slot has children, or is a child itself.
        """
        objects, paths, children = [self.root], [""], []
        seen, queue = {id(self.root)}, deque([(self.root, "")])
        while queue:
            trackable, path = queue.popleft()
            below = self.children(trackable)
            children.append(below)
            for name, child in below.items():
                if id(child) not in seen:
                    seen.add(id(child))
                    child_path = f"{path}/{_escape_name(name)}" if path else _escape_name(name)
                    objects.append(child)
                    paths.append(child_path)
                    queue.append((child, child_path))
        for slot in slots_of(objects):
            if id(slot.value) in seen or slot.value._trackable_children():
                raise NotImplementedError(
                    f"The slot {slot.name!r} of {paths[slot.optimizer]!r} can't be saved: it has attributes, or is an "
                    "attribute of another object. Keep slots in their optimizer only."
                )
            seen.add(id(slot.value))
            objects.append(slot.value)
            paths.append(f"{paths[slot.variable]}/.OPTIMIZER_SLOT/{paths[slot.optimizer]}/{_escape_name(slot.name)}")
            children.append({})
        return objects, paths, children


class Slot(NamedTuple):
    """A variable that an optimizer keeps for another variable, such as its momentum.

    Attributes:
        optimizer, variable: the numbers of both among the objects.
        name: the name of the slot.
        value: the slot itself.
    """

    optimizer: int
    variable: int
    name: str
    value: Any


def slots_of(objects: list[Any]) -> list[Slot]:
    """Returns the slots of all optimizers among some objects, for the variables among them."""
    slots = []
    for number, optimizer in enumerate(objects):
        if not hasattr(type(optimizer), "get_slot_names"):
            continue
        for name in optimizer.get_slot_names():
            for i, variable in enumerate(objects):
                slot = _optimizer_slot(optimizer, variable, name)
                if slot is not None:
                    slots.append(Slot(number, i, name, slot))
    return slots


def _optimizer_slot(optimizer: Any, variable: Variable, name: str) -> Any:
    try:
        return optimizer.get_slot(variable, name)
    except (AttributeError, KeyError):  # an optimizer without slots
        return None


def _escape_name(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")


def state_of(trackable: Trackable) -> dict[str, EagerTensor]:
    """Returns an object's own state as tensors, by name; {} if it has none."""
    if not has_state(trackable):
        return {}
    try:
        state = trackable._serialize_to_tensors()
    except NotImplementedError:
        return {}
    return {name: value._read() if isinstance(value, ReadAsTensor) else convert(value) for name, value in state.items()}


def attribute_of(trackable: Trackable, name: str) -> str:
    """Returns the attribute under which the graph has a part of an object's state: all parts of a table's stand under
    "table".
    """
    whole = getattr(trackable, "_saveable_name", "")
    return whole if whole and name.startswith(whole) else name


def graph_and_tensors(view: View) -> tuple[Any, list[tuple[str, EagerTensor]]]:
    """Returns the object graph as a message, and the tensors by their names in the checkpoint."""
    objects, paths, children = view.walk()
    ids = {id(trackable): i for i, trackable in enumerate(objects)}
    graph, tensors = TrackableObjectGraph(), []
    for trackable, path, below in zip(objects, paths, children, strict=True):
        node = graph.nodes.add()
        for name, child in below.items():
            node.children.add(node_id=ids[id(child)], local_name=name)
        state = state_of(trackable)
        for name in dict.fromkeys(map(functools.partial(attribute_of, trackable), state)):
            key = f"{path}/.ATTRIBUTES/{name}"
            node.attributes.add(name=name, full_name=getattr(trackable, "_shared_name", ""), checkpoint_key=key)
        tensors += [(f"{path}/.ATTRIBUTES/{name}", tensor) for name, tensor in state.items()]
    for slot in slots_of(objects):
        graph.nodes[slot.optimizer].slot_variables.add(
            original_variable_node_id=slot.variable, slot_name=slot.name, slot_variable_node_id=ids[id(slot.value)]
        )
    _mark_values(graph)
    return graph, tensors


def keys_by_full_name(bundle: Any) -> dict[str, str]:
    """Returns a dict from the full names of variables to the keys of a checkpoint of objects. Checkpoints of graphs use
    the full names.

    Args:
        bundle: the checkpoint, which has an object graph.
    """
    graph = TrackableObjectGraph.FromString(bundle.read("_CHECKPOINTABLE_OBJECT_GRAPH").numpy())
    return {a.full_name: a.checkpoint_key for node in graph.nodes for a in node.attributes if a.full_name}


def match_children(
    children: Callable[[int], Mapping[str, int]], root: Any, others: Callable[[Any], Mapping[str, Any]]
) -> dict[int, Any]:
    """Matches the nodes below node 0 with the nodes or objects below `root`, along children of the same names."""
    matched, queue = {0: root}, deque([0])
    while queue:
        node_id = queue.popleft()
        here = others(matched[node_id])
        for name, child_id in children(node_id).items():
            if name in here and child_id not in matched:
                matched[child_id] = here[name]
                queue.append(child_id)
    return matched


def _mark_values(graph: Any) -> None:
    """Marks the nodes from whose children, at any depth, a value can be reached."""
    above: list[list[int]] = [[] for _ in graph.nodes]
    for i, node in enumerate(graph.nodes):
        for child in node.children:
            above[child.node_id].append(i)
    marked = [i for i, node in enumerate(graph.nodes) if node.attributes]
    seen = set(marked)
    for i in marked:
        graph.nodes[i].has_checkpoint_values.value = True
        fresh = [parent for parent in above[i] if parent not in seen]
        seen.update(fresh)
        marked.extend(fresh)
