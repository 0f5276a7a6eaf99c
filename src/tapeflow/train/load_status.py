"""The results of `Checkpoint.restore` and `read`: assertions about the restored values."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from tapeflow.core.values.trackable import has_state
from tapeflow.tracking.data_structures import TrackableDataStructure
from tapeflow.train.object_graph import View
from tapeflow.train.restoration import Restoration


class LoadStatus:
    """The base of all statuses."""

    def expect_partial(self) -> Self:
        """Returns this status."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Does nothing: everything that could be restored is.

        Args:
            session: not used.
        """

    def run_restore_ops(self, session: Any = None) -> None:
        """Does nothing: everything that could be restored is.

        Args:
            session: not used.
        """


class CheckpointLoadStatus(LoadStatus):
    """The status of a restore from a checkpoint with an object graph."""

    def __init__(self, restoration: Restoration) -> None:
        self._restoration = restoration

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Asserts that all of the checkpoint was restored, and everything in the program from it.

        Returns:
            This status.

        Raises:
            AssertionError: something was not.
        """
        self.assert_existing_objects_matched()
        restoration = self._restoration
        for node_id in restoration.unresolved():
            node = restoration.graph.nodes[node_id]
            raise AssertionError(f"Unresolved object in checkpoint {restoration.path(node_id)}: {node}")
        if any(restoration.slots_waiting.values()):
            raise AssertionError(f"Unresolved slot restorations: {restoration.slots_waiting}")
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Asserts that every object in the program was restored; the checkpoint may have more.

        Returns:
            This status.

        Raises:
            AssertionError: one was not.
        """
        restoration = self._restoration
        for node_id, trackable in restoration.bound.items():
            if restoration.graph.nodes[node_id].attributes and trackable._self_update_uid < restoration.uid:
                raise AssertionError(f"Object {trackable} not assigned a value from checkpoint.")
        bound = {id(trackable) for trackable in restoration.bound.values()}
        objects, _, children = restoration.view.walk()
        unmatched = [
            trackable
            for trackable, below in zip(objects, children, strict=True)
            if id(trackable) not in bound and (below or not isinstance(trackable, TrackableDataStructure))
        ]
        if unmatched:
            shown = unmatched[:10]
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, likely due to "
                f"changes in the Python program. Showing {len(shown)} of {len(unmatched)} unmatched objects: {shown}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Asserts that more than the root was restored.

        Returns:
            This status.

        Raises:
            AssertionError: nothing was.
        """
        objects = self._restoration.view.walk()[0]
        if len(objects) > 1 and len(self._restoration.bound) <= 1:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint "
                "does not match the Python program. The following objects have no matching checkpointed value: "
                f"{objects[1:]}"
            )
        return self

    def has_restored(self, trackable: Any) -> bool:
        """Returns True if an object has its value from the checkpoint.

        Args:
            trackable: the object.

        Returns:
            True or False.
        """
        nodes = self._restoration.graph.nodes
        return any(bound is trackable and nodes[i].attributes for i, bound in self._restoration.bound.items())

    def left_of(self, trackable: Any) -> list[str]:
        """Returns the names of an object's attributes that have a value in the checkpoint, without the restored ones.

        Args:
            trackable: the object.

        Returns:
            The names, which the attributes have in the checkpoint.
        """
        restoration = self._restoration
        nodes = restoration.graph.nodes
        edges = [e for i, bound in restoration.bound.items() if bound is trackable for e in nodes[i].children]
        return [e.local_name for e in edges if e.node_id not in restoration.bound and nodes[e.node_id].attributes]

    def expect_partial(self) -> Self:
        """Declares that parts of the checkpoint may stay unused. No warning is logged then.

        Returns:
            This status.
        """
        self._restoration.expect_partial = True
        return self


class InitializationOnlyStatus(LoadStatus):
    """The status of `restore(None)`: nothing was restored."""

    def _refuse(self, session: Any = None) -> NoReturn:
        """Raises AssertionError: there is no checkpoint."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_consumed = assert_existing_objects_matched = assert_nontrivial_match = run_restore_ops = _refuse


class NameBasedSaverStatus(LoadStatus):
    """The status of a restore from a checkpoint without an object graph, by the names of variables.

    As such a checkpoint knows no objects, all assertions are the same. The checkpoint may have more.

    Args:
        view: the objects.
        restored: those with a value from the checkpoint.
    """

    def __init__(self, view: View, restored: list[Any]) -> None:
        self._view, self._restored = view, {id(v) for v in restored}

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Asserts that every variable was restored, but for the counter of saves.

        Returns:
            This status.

        Raises:
            AssertionError: one was not.
        """
        satisfied = {*self._restored, id(self._view.children(self._view.root).get("save_counter"))}
        left = [v for v in self._view.walk()[0] if has_state(v) and id(v) not in satisfied]
        if left:
            shown = "".join(f"\n    {trackable}" for trackable in left)
            raise AssertionError(f"Some objects had attributes which were not restored: {shown}")
        return self

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed
