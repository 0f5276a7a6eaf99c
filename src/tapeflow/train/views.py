"""`tf.train.TrackableView` and `tf.train.CheckpointView`: the objects to save, and the objects in a checkpoint."""

from __future__ import annotations

import os
from collections import deque
from typing import Any

from tapeflow.core.values.trackable import CHECKPOINT, Trackable, wrap
from tapeflow.train.bundle import Bundle
from tapeflow.train.object_graph import match_children
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
        """Returns the children of an object; lists and dicts as objects with children.

        Args:
            obj: the object.
            save_type: "checkpoint", or "savedmodel".
            **kwargs: passed to the object.

        Returns:
            The children, by the names of its attributes.
        """
        obj._maybe_initialize_trackable()
        return {name: wrap(child) for name, child in obj._trackable_children(save_type, **kwargs).items()}

    def descendants(self) -> list[Any]:
        """Returns the root and all that can be reached from it.

        Returns:
            The objects, level by level.
        """
        reached, queue = {id(self.root): self.root}, deque([self.root])
        while queue:
            for child in self.children(queue.popleft()).values():
                if isinstance(child, Trackable) and id(child) not in reached:
                    reached[id(child)] = child
                    queue.append(child)
        return list(reached.values())


class CheckpointView:
    """The objects in a checkpoint, as nodes with numbers; the root is node 0.

    Args:
        save_path: the checkpoint's name.

    Raises:
        NotFoundError: there is no such checkpoint.
        DataLossError: it is damaged.

    Example:
        >>> import tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tempfile.mkdtemp() + "/ckpt")
        >>> tf.train.CheckpointView(path).children(0)
        {'v': 1}
    """

    def __init__(self, save_path: str | os.PathLike[str]) -> None:
        bundle = Bundle(os.fspath(save_path))
        self._nodes = parse_graph(bundle, bundle.read(OBJECT_GRAPH).numpy()).nodes

    def children(self, node_id: int) -> dict[str, int]:
        """Returns the children of a node.

        Args:
            node_id: the number of the node.

        Returns:
            Their numbers, by the names of its attributes.
        """
        return {edge.local_name: edge.node_id for edge in self._nodes[node_id].children}

    def descendants(self) -> list[int]:
        """Returns all nodes that can be reached from the root.

        Returns:
            Their numbers, level by level.
        """
        reached = {0: None}
        queue = deque(reached)
        while queue:
            fresh = dict.fromkeys(i for i in self.children(queue.popleft()).values() if i not in reached)
            reached.update(fresh)
            queue.extend(fresh)
        return list(reached)

    def match(self, obj: Any) -> dict[int, Any]:
        """Matches the nodes with the objects below `obj`, along attributes of the same names.

        Args:
            obj: the root of the objects.

        Returns:
            The objects, by the numbers of the nodes.

        Raises:
            ValueError: `obj` is nothing that a checkpoint can save.
        """
        if not isinstance(obj, Trackable):
            raise ValueError(f"Expected a Trackable, got {obj!r} of type {type(obj)}.")
        return match_children(self.children, obj, TrackableView.children)

    def diff(self, obj: Any) -> tuple[dict[int, Any], list[int], list[Any]]:
        """Compares the nodes with the objects below `obj`.

        Args:
            obj: the root of the objects.

        Returns:
            The matches, as `match` returns them, the nodes that have no object, and the objects below `obj` that have
            no node.

        Raises:
            ValueError: `obj` is nothing that a checkpoint can save.
        """
        matched = self.match(obj)
        matched_ids = {id(o) for o in matched.values()}
        nodes = [i for i in self.descendants() if i not in matched]
        return matched, nodes, [o for o in TrackableView(obj).descendants() if id(o) not in matched_ids]
