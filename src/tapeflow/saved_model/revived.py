"""The classes of libraries that SavedModels name: how their objects are written, and created anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from google.protobuf.message import Message


@dataclasses.dataclass(eq=False)
class Registration:
    """A version of a class of objects in SavedModels.

    Args:
        object_factory: creates an object from its message.
        version: the version of the messages that are written.
        min_producer_version: the oldest version that it reads.
        min_consumer_version: the oldest version that can read it.
        bad_consumers: versions that cannot read it.
        setter: sets a child of an object: a function of the object, the name and the child.
    """

    object_factory: Callable[[Any], Any]
    version: int
    min_producer_version: int
    min_consumer_version: int
    bad_consumers: Iterable[int] | None = None
    setter: Callable[[Any, str, Any], None] = setattr
    identifier: str | None = dataclasses.field(default=None, init=False)

    def write(self, proto: Message) -> None:
        """Writes class and version into a `SavedUserObject`."""
        proto.identifier = self.identifier
        proto.version.producer, proto.version.min_consumer = self.version, self.min_consumer_version
        proto.version.bad_consumers.extend(self.bad_consumers or ())

    def from_proto(self, proto: Message) -> Any:
        """Returns an object for a message."""
        return self.object_factory(proto)

    def should_load(self, proto: Message) -> bool:
        """Returns True if this version reads the version in a message."""
        version = proto.version
        return (
            self.version >= version.min_consumer
            and version.producer >= self.min_producer_version
            and self.version not in version.bad_consumers
        )


class _Class(NamedTuple):
    """A class: whether an object is of it, and its versions, newest first."""

    predicate: Callable[[Any], bool]
    versions: list[Registration]


_classes: dict[str, _Class] = {}


def register(identifier: str, predicate: Callable[[Any], bool], versions: Iterable[Registration]) -> None:
    """Registers a class of objects in SavedModels.

    Args:
        identifier: its name there.
        predicate: returns whether an object is of the class.
        versions: the versions that can be read; the newest one is written.

    Raises:
        AssertionError: there is no version, or two with one number.
    """
    newest_first = sorted(versions, key=lambda registration: -registration.version)
    if not newest_first:
        raise AssertionError("Need at least one version of a registered type.")
    if len({registration.version for registration in newest_first}) < len(newest_first):
        raise AssertionError(f"Got multiple registrations of one version for type {identifier}.")
    for registration in newest_first:
        registration.identifier = identifier
    _classes[identifier] = _Class(predicate, newest_first)


def identifiers() -> Iterable[str]:
    """Returns the names of all classes."""
    return _classes.keys()


def written_by(value: Any) -> Registration | None:
    """Returns the version that an object is written by, or None if it is of no registered class."""
    return next((kind.versions[0] for kind in _classes.values() if kind.predicate(value)), None)


def read_by(proto: Message) -> Registration | None:
    """Returns the version that a message is read by, or None."""
    kind = _classes.get(proto.identifier)
    return next((v for v in kind.versions if v.should_load(proto)), None) if kind is not None else None
