"""`tf.saved_model.load`."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tapeflow.array.creation import zeros
from tapeflow.array.protos import tensor_of_proto
from tapeflow.core import errors
from tapeflow.core.hooks import hooks
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.trackable import Trackable, has_state
from tapeflow.core.values.variable import Variable, VariableAggregation, VariableSynchronization
from tapeflow.graph.graphdef.node_protos import dtype_of
from tapeflow.saved_model import revived
from tapeflow.saved_model.asset import Asset
from tapeflow.saved_model.messages import asset_path, read_model, variables_prefix
from tapeflow.saved_model.objects import (
    TABLE_FUNCTIONS,
    CapturedTensor,
    LoadedObject,
    LoadedOptimizer,
    RestoredMutableTable,
    RestoredTable,
    StatefulObject,
)
from tapeflow.saved_model.options import LoadOptions
from tapeflow.saved_model.restored_functions import Library, SignatureMap, bare_function, restored_function
from tapeflow.train.bundle import Bundle
from tapeflow.train.object_graph import View, match_children, state_of
from tapeflow.train.reader import OBJECT_GRAPH
from tapeflow.train.restoration import parse_graph, restore_state

if TYPE_CHECKING:
    from google.protobuf.message import Message

Setter = Callable[[Any, str, Any], None]
_Values = dict[int, tuple[Bundle, Any]]  # by the numbers of nodes: the checkpoint, and their attributes there
_CONTAINERS = frozenset(
    {"trackable_list_wrapper", "trackable_dict_wrapper", "trackable_tuple_wrapper", "signature_map"}
)
_MOST_NESTED = 64  # lists and dicts
# The attributes that Python and checkpoints ask objects for. A file may set `__call__` alone.
_RESERVED = frozenset(dir(LoadedObject)) - {"__call__"}


def load(
    export_dir: str | os.PathLike[str], tags: str | Sequence[str] | None = None, options: LoadOptions | None = None
) -> Any:
    """Loads a SavedModel that `tf.saved_model.save` wrote, here or in TensorFlow.

    Args:
        export_dir: the directory.
        tags: the tags of the graph, for checking; by default there is one graph.
        options: options for reading.

    Returns:
        An object with the saved attributes, and with `signatures`, a mapping of functions. A saved `tf.function` is one
        again, with its traces. A SavedModel of TensorFlow 1 is a graph: an object with `signatures`, `variables`,
        `graph`, `asset_paths`, and `prune(feeds, fetches)`, which returns a function of a part of the graph.

    Raises:
        OSError: there is no SavedModel, or it is damaged.
        ValueError: the tags are other ones, or there are several graphs and no tags.
        UnimplementedError: it holds an object or a table that is not supported.

    Example:
        >>> import tempfile
        >>> module, path = tf.Module(), tempfile.mkdtemp()
        >>> module.v = tf.Variable([1.0, 2.0])
        >>> tf.saved_model.save(module, path)
        >>> tf.saved_model.load(path).v.numpy().tolist()
        [1.0, 2.0]
    """
    return load_partial(export_dir, {"root": None}, tags, options)["root"]


def load_partial(
    export_dir: str | os.PathLike[str], nodes: Mapping[str, tuple[Any, Setter] | None] | Sequence[str],
    tags: str | Sequence[str] | None = None, options: LoadOptions | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Loads a SavedModel into existing objects. Libraries use it for instances of their classes.

    Args:
        export_dir: the directory.
        tags: the tags of the graph, for checking; by default there is one graph.
        options: options for reading.
        nodes: a dict from the paths of objects ("root", "root.attribute", ...) to pairs of an existing object and a
            function that sets its children; None stands for an object to create. Or a list of paths of objects to
            create.

    Returns:
        The objects by their paths.

    Raises:
        OSError: there is no SavedModel, or it is damaged.
        ValueError: the tags are other ones, or there are several graphs and no tags.
        UnimplementedError: it holds an object or a table that is not supported.
    """
    if not isinstance(nodes, Mapping):
        nodes = dict.fromkeys(nodes)
    directory = os.fspath(export_dir)
    graphs = read_model(directory)
    if not graphs:
        raise ValueError(f"The SavedModel at {directory} has no graph.")
    options = options or LoadOptions()
    meta = _choose_graph(graphs, tags, directory)
    if not meta.object_graph_def.nodes:
        if set(nodes) != {"root"} or nodes["root"] is not None:
            raise ValueError(
                f"The SavedModel at {directory} was written by TensorFlow 1, as a graph without objects: "
                "there are none to load in part."
            )
        load_graph = hooks.compat_module("v1_graphs.saved_models").load_graph
        return {"root": load_graph(directory, meta, not options.experimental_skip_checkpoint)}
    loader = _Loader(directory, meta, options, nodes)
    root = loader.load()
    if options.experimental_load_function_aliases:
        root.function_aliases = loader.aliased(meta.meta_info_def.function_aliases)
    root.tensorflow_version = meta.meta_info_def.tensorflow_version
    return {path: loader.objects[loader.number_of(path)] for path in nodes}


def _choose_graph(graphs: Sequence[Any], tags: str | Sequence[str] | None, directory: str) -> Any:
    """Returns the `MetaGraphDef` with tags.

    Raises:
        ValueError: there is no such graph, or there are several and no tags.
    """
    tag_sets = [list(meta.meta_info_def.tags) for meta in graphs]
    if tags is None:
        if len(graphs) > 1:
            raise ValueError(
                "Importing a SavedModel with tf.saved_model.load requires a 'tags=' argument if there is more than one "
                f"MetaGraph. Got 'tags=None', but there are {len(graphs)} MetaGraphs in the SavedModel with tag sets: "
                f"{tag_sets}. Pass a 'tags=' argument to load this SavedModel."
            )
        return graphs[0]
    requested = [tags] if isinstance(tags, str) else list(tags)
    for meta, own in zip(graphs, tag_sets, strict=True):
        if set(own) == set(requested):
            return meta
    if len(graphs) > 1:
        raise ValueError(f"The SavedModel at {directory} has no MetaGraph with tags {requested}, but with {tag_sets}.")
    raise ValueError(
        f"Got an incompatible argument to `tags`: {requested}. The SavedModel at {directory} has one MetaGraph "
        f"with tags {tag_sets[0]}. You may omit the argument, pass 'None', or pass matching tags."
    )


def _children_of(nodes: Any, number: int) -> dict[str, int]:
    """Returns the numbers of a node's children, by name."""
    return {child.local_name: child.node_id for child in nodes[number].children}


class _Loader:
    """Creates the objects of a SavedModel.

    Attributes:
        objects: those created so far, by their numbers.
    """

    def __init__(
        self, directory: str, meta: Message, options: LoadOptions, nodes: Mapping[str, tuple[Any, Setter] | None]
    ) -> None:
        self._directory, self._options = directory, options
        self._nodes = meta.object_graph_def.nodes
        self._files = [asset.filename for asset in meta.asset_file_def]
        self._constants = {n.name: n for n in meta.graph_def.node if n.op == "Const"}
        self._traces = meta.object_graph_def.concrete_functions
        self.objects: dict[int, Any] = {}
        self._library = Library(meta.graph_def, meta.object_graph_def.concrete_functions, self.objects)
        self._check()
        existing = {self.number_of(path): pair for path, pair in nodes.items() if pair is not None}
        self.objects.update((number, value) for number, (value, _) in existing.items())
        self._setters = {number: setter for number, (_, setter) in existing.items()}
        self._revived = len(existing) > 0

    def number_of(self, path: str) -> int:
        """Returns the number of the object at a path: names of attributes from the root, between dots."""
        number = 0
        for name in path.split(".")[1:]:
            number = next(c.node_id for c in self._nodes[number].children if c.local_name == name)
        return number

    def _check(self) -> None:
        """Checks the references between objects.

        Raises:
            OSError: an object is missing, or has another kind than its reference says.
        """
        for number in self._numbers():
            if not 0 <= number < len(self._nodes):
                raise self._damaged("names objects that it does not have")
        if self._nodes[0].user_object.identifier in _CONTAINERS:
            raise self._damaged("has a list or dict at its root")
        for node in self._nodes:
            reserved = [c.local_name for c in node.children if c.local_name in _RESERVED]
            if reserved and node.user_object.identifier not in _CONTAINERS:
                raise self._damaged(f"names an attribute {reserved[0]!r}")
            if node.HasField("resource") and not {"_create_resource", "_initialize"} <= self._functions_below(node):
                raise self._damaged("has a table without the functions that create it")
        self._check_containers()

    def _numbers(self) -> Iterator[int]:
        """Yields all numbers of objects."""
        for node in self._nodes:
            yield from [c.node_id for c in node.children]
            for slot in node.slot_variables:
                yield from (slot.original_variable_node_id, slot.slot_variable_node_id)
            for functions in node.saveable_objects.values():
                yield from (functions.save_function, functions.restore_function)
        for trace in self._traces.values():
            yield from trace.bound_inputs

    def _functions_below(self, node: Any) -> set[str]:
        """Returns the names of the children that are functions."""
        kinds = ("function", "bare_concrete_function")
        return {c.local_name for c in node.children if self._nodes[c.node_id].WhichOneof("kind") in kinds}

    def _check_containers(self) -> None:
        """Checks that lists and dicts hold each other in no cycle, and not too deeply.

        Raises:
            OSError: they do.
        """
        containers = [i for i, node in enumerate(self._nodes) if node.user_object.identifier in _CONTAINERS]
        above: dict[int, list[int]] = {i: [] for i in containers}
        inside = dict.fromkeys(containers, 0)  # the number of containers in each
        for i in containers:
            for child in self._nodes[i].children:
                if child.node_id in above:
                    above[child.node_id].append(i)
                    inside[i] += 1
        ready = deque((i, 1) for i in containers if not inside[i])
        checked = 0
        while ready:
            number, depth = ready.popleft()
            checked += 1
            if depth > _MOST_NESTED:
                raise self._damaged(f"has lists and dicts nested more than {_MOST_NESTED} deep")
            for i in above[number]:
                inside[i] -= 1
                if not inside[i]:
                    ready.append((i, depth + 1))  # the last one to be checked is the deepest
        if checked < len(containers):
            raise self._damaged("has a list or dict that holds itself")

    def _damaged(self, why: str) -> OSError:
        return OSError(f"The SavedModel at {self._directory} is damaged: it {why}.")

    def aliased(self, aliases: Mapping[str, str]) -> dict[str, Any]:
        """Returns the functions that have traces with an alias, by the alias."""
        functions = {}
        for i, node in enumerate(self._nodes):
            names = [*node.function.concrete_functions, node.bare_concrete_function.concrete_function_name]
            functions.update({aliases[name]: self.objects[i] for name in names if name in aliases})
        return functions

    def load(self) -> Any:
        """Returns the root, with all its attributes."""
        values = self._values()
        make: dict[str, Callable[[int, Any], Any]] = {
            "user_object": self._user_object,
            "variable": lambda i, variable: self._variable(i, variable, values),
            "constant": lambda i, constant: self._constant(constant),
            "asset": lambda i, asset: self._asset(asset),
            "resource": lambda i, resource: self._table(i),
            "function": lambda i, function: restored_function(self._name_of(i), function, self._library),
            "captured_tensor": lambda i, captured: CapturedTensor(captured.name, captured.concrete_function),
            "bare_concrete_function": lambda i, function: None,  # it is built from the others
        }
        for i, node in enumerate(self._nodes):
            kind = node.WhichOneof("kind")
            if kind not in make:
                raise errors.UnimplementedError.of(
                    f"The SavedModel at {self._directory} holds an object of kind {kind!r} "
                    f"({self._name_of(i)!r}), which can't be loaded yet."
                )
            if i not in self.objects:
                self.objects[i] = make[kind](i, getattr(node, kind))
            elif kind == "variable" and i in values:
                self._restore_variable(i, values)
        self._add_slots(values)
        tables = [i for i, node in enumerate(self._nodes) if node.HasField("resource")]
        for i in [*tables, *(i for i in self._setters if i not in tables)]:  # functions need tables that are there
            children = _children_of(self._nodes, i)
            if i in tables and not isinstance(self.objects[i], RestoredTable):  # one that existed is filled
                self._attribute(children["_initialize"])()
                continue
            if i in tables:
                for name in set(TABLE_FUNCTIONS) & set(children):
                    self._setters[i](self.objects[i], name, self._attribute(children[name]))
                self.objects[i].restore()
            for name, child in children.items():
                self._setters[i](self.objects[i], name, self._attribute(child))
        self._restore_states(values)
        if self._revived and values and not self._options.allow_partial_checkpoint:
            self._check_revived({id(self.objects[number]) for number in values})
        return self.objects[0]

    def _check_revived(self, restored: set[int]) -> None:
        """Checks that nothing in a library's objects is left without its value, such as a table of another name.

        Raises:
            AssertionError: something is.
        """
        objects = View(self.objects[0]).walk()[0]
        left = [o for o in objects if has_state(o) and id(o) not in restored and state_of(o)]
        if left:
            raise AssertionError(
                f"Found {len(left)} Python objects that were not bound to values in the SavedModel at "
                f"{self._directory}: {left[:5]}. Their classes changed since it was written. tf.saved_model.load needs "
                "no classes: it loads the functions as they were saved."
            )

    def _user_object(self, number: int, user: Any) -> Any:
        """Returns a new object; None for a container, which is created when its elements are there."""
        if user.identifier in _CONTAINERS:
            return None
        registered = revived.read_by(user)
        if registered is not None:
            self._setters[number] = registered.setter
            return registered.from_proto(user)
        self._setters[number] = setattr
        node = self._nodes[number]
        if node.slot_variables:
            return LoadedOptimizer()
        return StatefulObject() if node.saveable_objects else LoadedObject()

    def _attribute(self, number: int) -> Any:
        """Returns an object as an attribute. Lists and dicts become trackable as such, and so are filled before."""
        if self.objects[number] is None:
            self.objects[number] = self._function_or_container(self._nodes[number])
        return self.objects[number]

    def _function_or_container(self, node: Any) -> Any:
        if node.WhichOneof("kind") == "bare_concrete_function":
            return bare_function(node.bare_concrete_function, self._library)
        kind = node.user_object.identifier
        if kind == "signature_map":
            saved = {c.local_name: self._nodes[c.node_id].bare_concrete_function for c in node.children}
            return SignatureMap(saved, self._library)
        if kind == "trackable_dict_wrapper":
            return {c.local_name: self._attribute(c.node_id) for c in node.children}
        children = sorted((int(c.local_name), c.node_id) for c in node.children if c.local_name.isdigit())
        items = [self._attribute(i) for _, i in children]
        return tuple(items) if kind == "trackable_tuple_wrapper" else items

    def _name_of(self, number: int) -> str:
        """Returns the name of an attribute that a node is."""
        return next((c.local_name for node in self._nodes for c in node.children if c.node_id == number), "root")

    # ---- values ------------------------------------------------------------------------------------------------------

    def _values(self) -> _Values:
        """Returns each object's bundle and attributes, by its number; nodes of the checkpoint are matched by names."""
        prefix = variables_prefix(self._directory)
        stateful = any(node.HasField("variable") or node.saveable_objects for node in self._nodes)
        if self._options.experimental_skip_checkpoint or not (stateful or os.path.exists(f"{prefix}.index")):
            return {}
        bundle = Bundle(prefix)
        saved = parse_graph(bundle, bundle.read(OBJECT_GRAPH).numpy()).nodes
        pairs = match_children(partial(_children_of, self._nodes), 0, partial(_children_of, saved))
        for number in list(pairs):
            slots = {(s.slot_name, s.original_variable_node_id): s for s in saved[pairs[number]].slot_variables}
            for slot in self._nodes[number].slot_variables:
                of_checkpoint = slots.get((slot.slot_name, pairs.get(slot.original_variable_node_id, -1)))
                if of_checkpoint is not None:
                    pairs[slot.slot_variable_node_id] = of_checkpoint.slot_variable_node_id
        return {number: (bundle, saved[pair].attributes) for number, pair in pairs.items() if saved[pair].attributes}

    def _restore_variable(self, number: int, values: _Values) -> None:
        bundle, (*_, attribute) = values[number]
        self.objects[number]._restore_from_tensors({"VARIABLE_VALUE": bundle.read(attribute.checkpoint_key)})

    def _add_slots(self, values: _Values) -> None:
        """Gives each optimizer its slots."""
        for number, node in enumerate(self._nodes):
            optimizer = self.objects[number]
            for slot in node.slot_variables:
                variable, i = self.objects[slot.original_variable_node_id], slot.slot_variable_node_id
                if isinstance(optimizer, LoadedOptimizer):
                    optimizer.set_slot(variable, slot.slot_name, self.objects[i])
                elif hasattr(optimizer, "add_slot"):  # a library's, which creates its slots itself
                    self.objects[i] = optimizer.add_slot(var=variable, slot_name=slot.slot_name)
                    if i in values:
                        self._restore_variable(i, values)

    def _restore_states(self, values: _Values) -> None:
        """Restores the state of objects that are no variables, such as tables.

        Raises:
            UnimplementedError: TapeFlow cannot restore an object of this kind.
        """
        for number, node in enumerate(self._nodes):
            restored = self.objects[number]
            if isinstance(restored, StatefulObject):
                for name, functions in node.saveable_objects.items():
                    numbers = functions.save_function, functions.restore_function
                    restored.add_state(name, *map(self._attribute, numbers))
            if number not in values or node.HasField("variable"):
                continue
            bundle, attributes = values[number]
            if not (isinstance(restored, Trackable) and restore_state(restored, attributes, bundle)):
                names = [attribute.checkpoint_key for attribute in attributes]
                raise errors.UnimplementedError.of(
                    f"The SavedModel at {self._directory} has values of {self._name_of(number)!r} in its checkpoint "
                    f"({names}), and neither functions that restore them nor an object that takes them. Load it with "
                    "tf.saved_model.LoadOptions(experimental_skip_checkpoint=True) to go on without all its values, or "
                    "save it again without that object."
                )

    def _variable(self, number: int, proto: Any, values: _Values) -> Variable:
        shape, dtype = TensorShape(proto.shape), dtype_of(proto.dtype)
        if number in values:
            bundle, (*_, attribute) = values[number]
            value: Any = bundle.read(attribute.checkpoint_key)
        elif self._options.experimental_skip_checkpoint or self._options.allow_partial_checkpoint:
            value = zeros([0 if d is None else d for d in shape.as_list()], dtype)
        else:
            raise errors.NotFoundError.of(
                f"The checkpoint of the SavedModel at {self._directory} has no value for {proto.name!r}."
            )
        variable = Variable(
            value, trainable=proto.trainable, name=proto.name or None, dtype=dtype, shape=shape,
            synchronization=VariableSynchronization(proto.synchronization),
            aggregation=VariableAggregation(proto.aggregation),
        )  # fmt: skip
        variable._restore_from_tensors({"VARIABLE_VALUE": value})  # a distributed one's copies may hold parts of it
        return variable

    def _table(self, number: int) -> RestoredTable:
        self._setters[number] = setattr
        return RestoredMutableTable() if self._nodes[number].saveable_objects else RestoredTable()

    def _asset(self, proto: Message) -> Asset:
        if not 0 <= proto.asset_file_def_index < len(self._files):
            raise self._damaged("names files that it does not have")
        return Asset(asset_path(self._directory, self._files[proto.asset_file_def_index]))

    def _constant(self, proto: Message) -> Any:
        if proto.operation not in self._constants:
            raise self._damaged(f"has no constant {proto.operation!r}")
        tensor = self._constants[proto.operation].attr["value"].tensor
        dtype_of(tensor.dtype)  # says what is wrong with it
        try:
            return tensor_of_proto(tensor)
        except (ValueError, TypeError) as error:
            raise self._damaged(f"has a constant {proto.operation!r} that can't be read: {error}") from None
