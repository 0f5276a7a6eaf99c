"""`tf.train.TrackableView` and `tf.train.CheckpointView`: what a checkpoint would be of, and what one is of."""

from __future__ import annotations

import os
from collections import deque
from typing import Any

from tapeflow.core.values.trackable import CHECKPOINT, Trackable, wrap
from tapeflow.train.bundle import Bundle
from tapeflow.train.reader import OBJECT_GRAPH
from tapeflow.train.restoration import parse_graph


class TrackableView:
    """The objects that a checkpoint of an object would save.

    Args:
        root: the object.

    Example:
        >>> view = tf.train.TrackableView(tf.train.Checkpoint(v=tf.Variable(1.0)))
        >>> list(view.children(view.root))
        ['v']
    """

    def __init__(self, root: Any) -> None:
        self._root = root

    @property
    def root(self) -> Any:
        """The object."""
        return self._root

    @classmethod
    def children(cls, obj: Any, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        """The children of an object, by the names of its attributes; what is a list or dict, as one with children."""
        obj._maybe_initialize_trackable()
        return {name: wrap(child) for name, child in obj._trackable_children(save_type, **kwargs).items()}

    def descendants(self) -> list[Any]:
        """The root and all that can be reached from it, level by level."""
        found, queue = {id(self.root): self.root}, deque([self.root])
        while queue:
            for child in self.children(queue.popleft()).values():
                if isinstance(child, Trackable) and id(child) not in found:
                    found[id(child)] = child
                    queue.append(child)
        return list(found.values())


class CheckpointView:
    """The objects that a checkpoint was made of, as nodes with numbers; the root is node 0.

    Args:
        save_path: the checkpoint's name.

    Raises:
        NotFoundError: there is none.
        DataLossError: it is damaged.

    Example:
        >>> import tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tempfile.mkdtemp() + "/ckpt")
        >>> tf.train.CheckpointView(path).children(0)
        {'v': 1}
    """

    def __init__(self, save_path: Any) -> None:
        bundle = Bundle(os.fspath(save_path))
        self._nodes = parse_graph(bundle, bundle.read(OBJECT_GRAPH).numpy()).nodes

    def children(self, node_id: int) -> dict[str, int]:
        """The numbers of a node's children, by the names of its attributes."""
        return {edge.local_name: edge.node_id for edge in self._nodes[node_id].children}

    def descendants(self) -> list[int]:
        """The numbers of all nodes that can be reached from the root, level by level."""
        found = {0: None}
        queue = deque(found)
        while queue:
            fresh = [i for i in self.children(queue.popleft()).values() if i not in found]
            found.update(dict.fromkeys(fresh))
            queue.extend(dict.fromkeys(fresh))
        return list(found)

    def match(self, obj: Any) -> dict[int, Any]:
        """Which objects `obj` has for the nodes, found along attributes of the same names.

        Raises:
            ValueError: `obj` is nothing that a checkpoint can save.
        """
        if not isinstance(obj, Trackable):
            raise ValueError(f"Expected a Trackable, got {obj!r} of type {type(obj)}.")
        matched, queue = {0: obj}, deque([0])
        while queue:
            node_id = queue.popleft()
            here = TrackableView.children(matched[node_id])
            for name, child_id in self.children(node_id).items():
                if name in here and child_id not in matched:
                    matched[child_id] = here[name]
                    queue.append(child_id)
        return matched

    def diff(self, obj: Any) -> tuple[dict[int, Any], list[int], list[Any]]:
        """What matches, and what does not.

        Returns:
            What `match` gives, the nodes that have no object, and the objects below `obj` that have no node.
        """
        matched = self.match(obj)
        taken = {id(found) for found in matched.values()}
        nodes = [i for i in self.descendants() if i not in matched]
        return matched, nodes, [o for o in TrackableView(obj).descendants() if id(o) not in taken]
