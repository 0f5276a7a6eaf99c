"""Restoring from an object graph: its nodes are bound to objects along edges of the same names, now or when the objects
are created.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any, NamedTuple

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from tapeflow.core import errors
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import datatype_name
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.train.bundle import Bundle
from tapeflow.train.object_graph import View, attribute_of, state_of

_next_uid = itertools.count().__next__


def parse_graph(bundle: Bundle, data: bytes) -> Any:
    """Parses the object graph of a checkpoint.

    Raises:
        DataLossError: it is not a checkpoint.
    """
    try:
        graph = TrackableObjectGraph.FromString(data)
        count = len(graph.nodes)
        ids = [e.node_id for node in graph.nodes for e in node.children]
        for slot in (s for node in graph.nodes for s in node.slot_variables):
            ids += [slot.original_variable_node_id, slot.slot_variable_node_id]
        if not count or any(not 0 <= i < count for i in ids):
            raise ValueError("it names nodes that are not there")
    except Exception as error:
        raise errors.DataLossError.of(
            f"The object graph in the checkpoint {bundle.prefix} cannot be read: {error}"
        ) from None
    return graph


class Restoration:
    """One call of `restore`, and the objects bound so far.

    Args:
        bundle: the checkpoint.
        graph: its object graph.
        view: the objects to restore.
        skip_slots: True to skip the slot variables of optimizers.
    """

    def __init__(self, bundle: Bundle, graph: Any, view: View, skip_slots: bool = False) -> None:
        self.bundle, self.graph, self.view, self.skip_slots = bundle, graph, view, skip_slots
        self.uid = _next_uid()
        self.bound: dict[int, Any] = {}
        self.slots_waiting: dict[int, list[Any]] = {}  # by the node of the variable that they belong to
        self.expect_partial = True  # until all went well: a restore that failed need not warn of missing values

    def unresolved(self) -> list[int]:
        """Returns the nodes with values that no object was bound to."""
        return [i for i, node in enumerate(self.graph.nodes) if node.attributes and i not in self.bound]

    def path(self, node_id: int) -> str:
        """Returns a node's path from the root, for messages."""
        paths, queue = {0: "(root)"}, deque([0])
        while queue:
            i = queue.popleft()
            for edge in self.graph.nodes[i].children:
                if edge.node_id not in paths:
                    paths[edge.node_id] = f"{paths[i]}.{edge.local_name}"
                    queue.append(edge.node_id)
        return paths.get(node_id, f"(node {node_id})")

    def __del__(self) -> None:
        if getattr(self, "expect_partial", True):
            return
        left = self.unresolved()
        if left:
            logger = get_logger()
            logger.warning(
                "An object or tf.train.Checkpoint is deleted with values that were never restored; "
                "status.expect_partial() silences this warning."
            )
            for node_id in left:
                logger.warning("Value in checkpoint could not be found in the restored object: %s", self.path(node_id))


class Position(NamedTuple):
    """A node of a checkpoint that is being restored."""

    restoration: Restoration
    node_id: int

    def restore(self, trackable: Any) -> None:
        """Restores an object and, along the edges, its children."""
        queue = deque([(self, trackable)])
        while queue:
            position, trackable = queue.popleft()
            if position._bind(trackable):
                attributes = self.restoration.graph.nodes[position.node_id].attributes
                restore_state(trackable, attributes, self.restoration.bundle)
                queue.extend(position._children_of(trackable))
                position._restore_slots(trackable)

    # ---- for optimizers, which create their slots when these are restored --------------------------------------------

    @property
    def restore_uid(self) -> int:
        """The number of the restoration: later ones have larger numbers."""
        return self.restoration.uid

    def is_simple_variable(self) -> bool:
        """Returns True if the node is a variable without children."""
        node = self.restoration.graph.nodes[self.node_id]
        return [a.name for a in node.attributes] == ["VARIABLE_VALUE"] and not node.children

    def value_shape(self) -> TensorShape:
        """Returns the shape of the variable's value."""
        return TensorShape(self.restoration.bundle.shape(self._value_key()))

    def value(self) -> EagerTensor:
        """Returns the variable's value."""
        return self.restoration.bundle.read(self._value_key())

    def _value_key(self) -> str:
        return self.restoration.graph.nodes[self.node_id].attributes[0].checkpoint_key

    # ---- restoring ---------------------------------------------------------------------------------------------------

    def _bind(self, trackable: Any) -> bool:
        """Binds the node to this object. Returns whether it was unbound."""
        restoration = self.restoration
        bound = restoration.bound.get(self.node_id)
        if bound is not None:
            if bound is not trackable:
                get_logger().warning(
                    "Inconsistent references when loading the checkpoint into this object graph. For example, in the "
                    "saved checkpoint object, `model.layer.weight` and `model.layer_copy.weight` reference the same "
                    "variable, while in the current object these are two different variables. The referenced variables "
                    "are: (%s and %s).",
                    bound, trackable,
                )  # fmt: skip
            return False
        trackable._maybe_initialize_trackable()
        restoration.bound[self.node_id] = trackable
        if trackable._self_update_uid > restoration.uid:  # a later restore was here first
            return False
        trackable._self_update_uid = restoration.uid
        return True

    def _children_of(self, trackable: Any) -> list[tuple[Position, Any]]:
        matches = []
        restoration = self.restoration
        edges = restoration.graph.nodes[self.node_id].children
        children = trackable._trackable_children() if edges else {}
        names = {edge.local_name: edge.local_name for edge in edges}
        if hasattr(trackable, "_names_of_edges"):  # a class that had others formerly
            names.update(trackable._names_of_edges(list(names)))
        for edge in edges:
            position, name = Position(restoration, edge.node_id), names[edge.local_name]
            child = restoration.view.lookup(trackable, name, children)
            if child is None:
                trackable._deferred_dependencies.setdefault(name, []).append(position)
            else:
                matches.append((position, child))
        return matches

    def _restore_slots(self, trackable: Any) -> None:
        """Restores the slot variables of an optimizer, or a variable's slot variables, if both exist now."""
        restoration = self.restoration
        if restoration.skip_slots:
            return
        for slot in restoration.graph.nodes[self.node_id].slot_variables:
            restoration.slots_waiting.setdefault(slot.original_variable_node_id, []).append((self.node_id, slot))
        for variable_id in list(restoration.slots_waiting):
            variable = restoration.bound.get(variable_id)
            if variable is None:
                continue
            for optimizer_id, slot in restoration.slots_waiting.pop(variable_id):
                create = getattr(restoration.bound[optimizer_id], "_create_or_restore_slot_variable", None)
                if create is None:
                    continue
                position = Position(restoration, slot.slot_variable_node_id)
                created = create(slot_variable_position=position, slot_name=slot.slot_name, variable=variable)
                if created is not None:
                    position.restore(created)


def restore_state(trackable: Any, attributes: Any, bundle: Bundle) -> bool:
    """Restores an object's own state from the attributes of a node.

    Returns:
        Whether the checkpoint has the object's state.

    Raises:
        InvalidArgumentError: a value has another dtype.
    """
    saved = {a.name: a.checkpoint_key for a in attributes}
    now = state_of(trackable) if saved else {}
    restored = {}
    for name, tensor in now.items():
        attribute = attribute_of(trackable, name)
        if attribute in saved:
            key = saved[attribute] + name.removeprefix(attribute)
            if bundle.dtype(key) is variant and hasattr(trackable, "_restore_from_variants"):
                trackable._restore_from_variants(bundle.read_variants(key))
                return True
            restored[name] = restored_tensor(bundle, key, tensor)
        elif name in saved:  # a table or an iterator that was saved here, before attributes had TensorFlow's names
            restored[name] = restored_tensor(bundle, saved[name], tensor)
    if not restored or len(restored) < len(now):
        return False
    trackable._restore_from_tensors(restored)
    return True


def restored_tensor(bundle: Bundle, key: str, like: EagerTensor) -> EagerTensor:
    """Reads a tensor of a checkpoint, for an object whose own is of the dtype of `like`.

    Raises:
        InvalidArgumentError: it has another dtype.
    """
    saved = bundle.dtype(key)
    if saved is not like.dtype:
        mine, theirs = map(datatype_name, (like.dtype, saved))
        raise errors.InvalidArgumentError.of(
            f"tensor_name = {key}; expected dtype {mine} does not equal original dtype {theirs} [Op:RestoreV2]"
        )
    return bundle.read(key)
