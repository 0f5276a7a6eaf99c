"""A task of a cluster: the objects that it holds for other tasks, and the methods that they call.

All tasks are alike: parameter servers hold variables, workers run functions, and the coordinator holds iterators, and
variables of its own that functions capture. When a new coordinator begins, the objects of the old one are dropped.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from tapeflow.control.optional import Optional
from tapeflow.core.errors import NotFoundError, OutOfRangeError, UnavailableError, UnimplementedError
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.types.dtypes import resource
from tapeflow.core.values import nest
from tapeflow.core.values.boxed_objects import hold_object
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.data.iterators import Iterator
from tapeflow.distribute.parameter_server.remote_functions import WorkerFunction
from tapeflow.distribute.parameter_server.variables import RemoteVariable, VariablePlace, apply_change, new_key
from tapeflow.transport.calls import Client, Endpoint, client_of

if TYPE_CHECKING:
    from tapeflow.core.types.shape import TensorShape

_METHODS = ("begin", "ping", "create", "delete", "read", "rows", "change", "define", "run", "next")


class RemoteIterator(Iterator):
    """An iterator that another task holds. Its elements are tuples of tensors, whatever their structure is there.

    Args:
        client: calls that task.
        key: the iterator's name there.
    """

    def __init__(self, client: Client, key: str) -> None:
        self._client, self._key = client, key

    @property
    def element_spec(self) -> Any:
        raise NotImplementedError("The graph that takes the elements knows their spec.")

    def __next__(self) -> tuple[Any, ...]:
        return self.get_next()

    def get_next(self) -> tuple[Any, ...]:
        return tuple(self._client.call("next", self._key))

    @property
    def iterator(self) -> RemoteIterator:
        """This iterator, as a resource holds it."""
        return self

    def take_encoded(self, checks: bool = True) -> tuple[Any, ...]:
        """Returns the raw values of the next element, as operations see it. Its task checks declared shapes."""
        try:
            return tuple([t.value for t in self.get_next()])
        except OutOfRangeError:
            raise StopIteration from None

    def get_next_as_optional(self) -> Optional:
        try:
            element = self.get_next()
        except OutOfRangeError:
            return Optional(None, None)
        return Optional(element, None)


class ServerTask:
    """The variables, functions and iterators that a task holds, and its methods.

    Args:
        address: the address that it has among the others, or that it shall have.
        name: its name, such as `worker:0`.

    Attributes:
        endpoint: the server for the calls of other tasks.

    Raises:
        UnknownError: another process uses the port.
    """

    def __init__(self, address: str, name: str) -> None:
        self.name = name
        self.endpoint = Endpoint(address, {method: getattr(self, method) for method in _METHODS})
        self._lock = new_lock()
        self._owner = ""
        self._variables: dict[str, Variable] = {}
        self._iterators: weakref.WeakValueDictionary[str, Iterator] = weakref.WeakValueDictionary()
        self._keys: dict[int, str] = {}  # from ids of shared objects to their names
        self._functions: dict[str, WorkerFunction] = {}

    # ---- methods for other tasks
    # -----------------------------------------------------------------------------------------

    def begin(self, owner: str) -> None:
        """Begins to work for a coordinator. Drops the objects of any other coordinator."""
        with self._lock:
            if owner != self._owner:
                self._owner = owner
                self._variables, self._functions = {}, {}

    def ping(self) -> None:
        """Answers."""

    def create(self, key: str, value: EagerTensor, name: str, shape: TensorShape, trainable: bool) -> None:
        """Creates a variable."""
        self._variables[key] = Variable(value, trainable, name=name, shape=shape)

    def delete(self, keys: list[str]) -> None:
        """Deletes variables."""
        for key in keys:
            self._variables.pop(key, None)

    def read(self, key: str) -> EagerTensor:
        """Returns a variable's value."""
        return self._variable(key).value()

    def rows(self, key: str, indices: EagerTensor) -> Any:
        """Returns rows of a variable's value."""
        return self._variable(key).sparse_read(indices)

    def change(self, key: str, method: str, *args: EagerTensor) -> None:
        """Changes a variable by calling a method of it, such as `assign_add`."""
        apply_change(self._variable(key), method, args)

    def define(self, key: str, message: dict[str, Any]) -> None:
        """Takes in a function.

        Raises:
            UnimplementedError: it has operations that only the coordinator's process can run.
        """
        try:
            self._functions[key] = WorkerFunction(message, self._received)
        except (ValueError, NotFoundError) as error:
            raise UnimplementedError.of(
                f"The function {message['name']} can't travel to a worker, as it calls Python there: {error}"
            ) from error

    def run(self, key: str, arguments: list[Any], worker: int) -> list[EagerTensor] | None:
        """Runs a function; returns None if it is not defined here, as after a restart."""
        function = self._functions.get(key)
        if function is None:
            return None
        return function([a if isinstance(a, EagerTensor) else self._received(a) for a in arguments], worker)

    def next(self, key: str) -> list[Any]:
        """Returns the tensors of an iterator's next element."""
        return nest.flatten(self._iterators[key].get_next(), expand_composites=True)

    def _variable(self, key: str) -> Variable:
        variable = self._variables.get(key)
        if variable is None:
            raise UnavailableError.of(
                f"{self.name} does not have the variable {key}: it was started again since that was created. Start the "
                "coordinator again, which restores its last checkpoint."
            )
        return variable

    # ---- objects of this process for other tasks
    # -------------------------------------------------------------------------

    def share(self, value: Variable | Iterator) -> tuple[Any, ...]:
        """Returns a reference for other tasks to a variable or an iterator of this process."""
        if isinstance(value, RemoteVariable):
            return tuple(value.where)
        with self._lock:
            key = self._keys.get(id(value))
            if key is None:
                key = self._keys[id(value)] = new_key()
                if isinstance(value, Iterator):
                    self._iterators[key] = value
                    weakref.finalize(value, self._keys.pop, id(value))
                else:
                    self._variables[key] = value
        place = self.endpoint.address, self.name, key
        if isinstance(value, Iterator):
            return place
        return tuple(VariablePlace(*place, value._name, value.dtype, value.shape, value.trainable))

    def _received(self, shared: Any) -> Any:
        """Returns the object behind another task's reference: a variable, or a tensor that holds an iterator. Tensors
        stay."""
        if isinstance(shared, EagerTensor):
            return shared
        if len(shared) == len(VariablePlace._fields):
            return RemoteVariable(VariablePlace(*shared))
        address, task, key = shared
        return hold_object(RemoteIterator(client_of(address, task), key), resource)
