"""`tf.saved_model.save`."""

from __future__ import annotations

import inspect
import itertools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import meta_graph_pb2

from tapeflow.autodiff.registered_gradients import new_name
from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import inside_function
from tapeflow.core.types.dtypes import string, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.spec_proto import to_proto
from tapeflow.core.values import nest
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.trackable import Trackable
from tapeflow.core.values.variable import Variable
from tapeflow.data.graph_defs import DatasetResource
from tapeflow.function import Function
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.graph.graphdef.export import PRODUCER, ExportedGradient, FunctionWriter, op_def_proto
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.io import gfile
from tapeflow.io.atomic_replace import replaced_file, replaced_folder
from tapeflow.lookup.mutable import MutableHashTable
from tapeflow.saved_model import revived
from tapeflow.saved_model.asset import Asset
from tapeflow.saved_model.fingerprint import write_fingerprint
from tapeflow.saved_model.messages import FILE, PARTS, assets_directory, function_spec, variables_prefix, write_model
from tapeflow.saved_model.objects import (
    CapturedTensor,
    FunctionNode,
    RestoredTable,
    SavedView,
    SignatureNode,
    StatefulObject,
)
from tapeflow.saved_model.options import SaveOptions
from tapeflow.saved_model.own_gradients import traced_gradient
from tapeflow.saved_model.serving import (
    Call,
    SavedTable,
    add_call,
    add_constant,
    add_saver,
    add_signature,
    add_variable,
)
from tapeflow.saved_model.signatures import signatures_of
from tapeflow.tracking.data_structures import ListWrapper, _DictWrapper, _TupleWrapper
from tapeflow.tracking.resources import SavedResource
from tapeflow.train.bundle import write_bundle
from tapeflow.train.object_graph import graph_and_tensors
from tapeflow.train.reader import OBJECT_GRAPH
from tapeflow.version import VERSION

if TYPE_CHECKING:
    from google.protobuf.message import Message

_IDENTIFIERS = {ListWrapper: "trackable_list_wrapper", _DictWrapper: "trackable_dict_wrapper",
                _TupleWrapper: "trackable_tuple_wrapper", SignatureNode: "signature_map"}  # fmt: skip


def save(
    obj: Trackable, export_dir: str | os.PathLike[str],
    signatures: Callable[..., Any] | Mapping[str, Callable[..., Any]] | None = None, options: SaveOptions | None = None,
) -> None:  # fmt: skip
    """Saves an object with its variables and functions. Loading it does not need the code that defines it.

    Objects are saved under the names of attributes. The existing traces of a `tf.function` are saved. A function with
    an `input_signature` is traced if it has no trace.

    Args:
        obj: a module, or another object that a checkpoint can save.
        export_dir: the directory for the files; created if it is missing.
        signatures: for servers and TensorFlow 1: a function with an `input_signature` or a trace, or a dict of them.
            They take tensors by name, and return tensors by name. By default, the object's function if it has just one.
        options: options for writing.

    Raises:
        ValueError: `obj` can't be saved, or a signature can't be one.
        AssertionError: a function uses a variable that is no attribute of `obj`, nor of its attributes.
        NotImplementedError: this is in a `tf.function`.

    Example:
        >>> import tempfile
        >>> class Scale(tf.Module):
        ...     def __init__(self):
        ...         self.factor = tf.Variable(2.0)
        ...     @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        ...     def __call__(self, x):
        ...         return x * self.factor
        >>> path = tempfile.mkdtemp()
        >>> tf.saved_model.save(Scale(), path)
        >>> tf.saved_model.load(path)([1.0, 3.0]).numpy().tolist()
        [2.0, 6.0]
    """
    save_and_return_nodes(obj, export_dir, signatures, options)


def save_and_return_nodes(
    obj: Trackable, export_dir: str | os.PathLike[str], signatures: Any = None, options: SaveOptions | None = None
) -> tuple[list[Any], list[list[str]]]:
    """Saves an object as `save` does, for libraries that write more about the saved objects.

    Args:
        obj: a module, or another object that a checkpoint can save.
        export_dir: the directory for the files; created if it is missing.
        signatures: a function with an `input_signature` or a trace, or a dict of them; by default the object's function
            if it has just one.
        options: options for writing.

    Returns:
        The objects by their numbers, and the names that lead from the root to each.

    Raises:
        ValueError: `obj` can't be saved, or a signature can't be one.
        AssertionError: a function uses a variable that is no attribute of `obj`, nor of its attributes.
        NotImplementedError: this is in a `tf.function`.
    """
    if inside_function():
        raise NotImplementedError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move it outside of it."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(
            "Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` class, for "
            f"export. Got {obj} with type {type(obj)}."
        )
    options = options or SaveOptions()
    with executing_eagerly():  # also where a graph of TensorFlow 1 is built
        obj._maybe_initialize_trackable()
        view = SavedView(obj)
        view.attached["signatures"] = SignatureNode(signatures_of(view, signatures))
        model = _Model(view, options)
        with replaced_folder(os.fspath(export_dir), last=FILE, parts=PARTS) as directory:
            prefix = variables_prefix(directory)
            write_bundle(prefix, model.checkpoint())
            model.copy_assets(directory)
            meta = model.meta_graph()
            content = write_model(directory, meta)
            with open(f"{prefix}.index", "rb") as index:
                write_fingerprint(directory, content, index.read(), meta)
    return model.objects, model.paths()


class _Model:
    """The model that is being saved.

    Attributes:
        objects: all nodes, by number.
        concretes: the traces by the names under which they are saved, then the gradients that the program defines.
    """

    def __init__(self, view: SavedView, options: SaveOptions) -> None:
        self._options = options
        self.objects = view.walk()[0]
        # as a checkpoint has them: the nodes have the same numbers
        self._graph, self._tensors = graph_and_tensors(view)
        self._signatures: SignatureNode = view.attached["signatures"]
        self._captures: list[EagerTensor | CapturedTensor] = []  # the nodes after the objects
        self._ids: dict[Any, int] = {id(o): i for i, o in enumerate(self.objects)}
        self._variables = {i: v for i, o in enumerate(self.objects) if (v := _variable_of(o)) is not None}
        # Keras lists a variable of its own, and later its value. Functions take the first one, which programs train.
        self._ids.update((id(v), i) for i, v in reversed(self._variables.items()))
        self._tables: dict[int, Any] = {
            i: o.resource_handle for i, o in enumerate(self.objects) if isinstance(o, (SavedResource, RestoredTable))
        }
        self._ids.update((id(handle), i) for i, handle in self._tables.items())
        self._datasets = {i: o for i, o in enumerate(self.objects) if isinstance(o, DatasetResource)}
        self._ids.update((id(o.node), i) for i, o in self._datasets.items())
        self._assets = {i: a for i, a in enumerate(self.objects) if isinstance(a, Asset)}
        self._ids.update((id(a.asset_path), i) for i, a in self._assets.items())
        self.concretes: dict[str, ConcreteFunction] = {}
        self._names: dict[int, str] = {}
        self._functions = FunctionWriter()
        self._own_gradients: dict[int, ExportedGradient] = {}  # by the ids of their functions
        for node in self.objects:
            if isinstance(node, FunctionNode):
                for concrete in node.traces:
                    self._add(concrete)
        if options.experimental_custom_gradients:
            self._add_gradients()

    def _add(self, concrete: ConcreteFunction) -> None:
        if id(concrete) in self._names:
            return
        name = re.sub(r"\W", "_", concrete.name.decode())
        self._names[id(concrete)] = name
        self.concretes[name] = concrete
        for captured in concrete._captured:
            self._number_of(captured, concrete)
        self._functions.add(name, concrete.body)

    def _add_gradients(self) -> None:
        """Adds the gradients that the program defines of operations in the functions so far.

        Each gradient is a function of its own, because it captures tensors of the function with the operation.
        Operations in these gradients get no gradients: if a gradient calls its own function, there would be no end.
        """
        names = set()
        for own in list(self._functions.own_gradients):
            if own.name in names:
                own.rename(new_name())
            names.add(own.name)
            gradient = traced_gradient(own)
            self._own_gradients[id(gradient)] = own
            self._add(gradient)

    def _number_of(self, captured: Any, concrete: ConcreteFunction) -> int:
        """Returns the node of a tensor or variable that a trace captures; constants become nodes."""
        own = self._own_gradients.get(id(concrete))
        if own is not None and isinstance(captured, SymbolicTensor):
            place = CapturedTensor(*self._functions.place_of(captured, own.operation.graph, own.function))
            return self._new_number(place, place)
        if hasattr(captured, "_distributed_container"):  # a copy stands for the whole variable
            captured = captured._distributed_container()
        if id(captured) in self._ids:
            return self._ids[id(captured)]
        if isinstance(captured, EagerTensor) and captured.dtype is variant and id(captured.value[()]) in self._ids:
            return self._ids[id(captured.value[()])]  # a dataset
        if not isinstance(captured, EagerTensor) or captured.dtype.name in ("resource", "variant"):
            raise AssertionError(
                "Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. "
                "tf.Variable) captured by functions must be 'tracked' by assigning them to an attribute of a tracked "
                f"object or assigned to an attribute of the main object directly. Function name = {concrete.name!r}, "
                f"captured: {captured!r}"
            )
        return self._new_number(id(captured), captured)

    def _new_number(self, key: Any, captured: EagerTensor | CapturedTensor) -> int:
        """Adds a node for a tensor that a trace captures, unless its key has a node. Returns the number of the node."""
        if key not in self._ids:
            self._ids[key] = len(self.objects) + len(self._captures)
            self._captures.append(captured)
        return self._ids[key]

    def paths(self) -> list[list[str]]:
        """Returns the names that lead from the root to each object, by number; none to the slots of optimizers."""
        paths: dict[int, list[str]] = {0: []}
        for number in range(len(self.objects)):  # those that are nearer to the root come first
            for child in self._graph.nodes[number].children:
                paths.setdefault(child.node_id, [*paths[number], child.local_name])
        return [paths.get(i, []) for i in range(len(self.objects))]

    def checkpoint(self) -> list[tuple[str, EagerTensor]]:
        """Returns the variables by name, and the object graph."""
        for _ in self._captures:
            self._graph.nodes.add()
        return [*self._tensors, (OBJECT_GRAPH, convert(self._graph.SerializeToString(deterministic=True), string))]

    def copy_assets(self, directory: str) -> None:
        """Copies the files of the assets."""
        names = _file_names(self._assets)
        gfile.makedirs(assets_directory(directory))
        for i, asset in self._assets.items():
            source, target = asset.asset_path.numpy().decode(), os.path.join(assets_directory(directory), names[i])
            if not (os.path.exists(target) and os.path.samefile(source, target)):
                with replaced_file(target) as new:
                    gfile.copy(source, new, overwrite=True)

    def meta_graph(self) -> Any:
        """Returns the `MetaGraphDef`."""
        options = self._options
        meta = meta_graph_pb2.MetaGraphDef()
        meta.meta_info_def.tags.extend(["serve", *(options.extra_tags or ())])
        meta.meta_info_def.tensorflow_version = VERSION
        meta.meta_info_def.function_aliases.update(self._aliases(options.function_aliases or {}))
        self._write_objects(meta.object_graph_def)
        self._write_functions(meta.graph_def)
        captured = self._write_graph(meta.graph_def)
        for i, name in _file_names(self._assets).items():
            meta.asset_file_def.add(filename=name).tensor_info.name = f"{captured[i]}:0"
        if not options.experimental_skip_saver:
            add_saver(meta, self._saved_variables(), self._saved_tables(captured))
        for name, node in self._signatures.nodes.items():
            add_signature(meta, name, self._call(node.function, captured))
        calls = [
            add_call(meta.graph_def, f"init_{i}", self._call(c, captured))
            for i in (*self._tables, *self._datasets)
            for c in self._below(i, "_initialize").traces
        ]
        meta.graph_def.node.add(name="init", op="NoOp", input=[f"^{call.name}" for call in calls])
        meta.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name = "init"
        meta.collection_def["saved_model_main_op"].node_list.value.append("init")
        _strip_default_attrs(meta.graph_def)
        meta.meta_info_def.stripped_default_attrs = True
        return meta

    def _call(self, concrete: ConcreteFunction, captured: Mapping[int, str]) -> Call:
        """Returns the call of a trace; `captured` has the nodes of the graph for what traces capture, by number."""
        inputs = [captured[self._number_of(c, concrete)] for c in concrete._captured]
        return Call(self._names[id(concrete)], concrete, inputs)

    def _below(self, number: int, name: str) -> Any:
        """Returns the child of that name of an object."""
        return next(self.objects[c.node_id] for c in self._graph.nodes[number].children if c.local_name == name)

    def _aliases(self, functions: Mapping[str, Any]) -> dict[str, str]:
        """Returns the aliases of saved traces, by the traces' names.

        Raises:
            TypeError: one is specified for something else than functions.
        """
        by_trace = {}
        for alias, aliased in functions.items():
            for function in aliased if isinstance(aliased, (list, tuple)) else [aliased]:
                if not isinstance(function, (Function, ConcreteFunction)):
                    raise TypeError(
                        f"Unsupported type {type(function)}. Functions in `function_aliases` should be created by "
                        "tf.function, or concrete functions, or collections of concrete functions."
                    )
                names = [self._names.get(id(trace)) for trace in FunctionNode(function).traces]
                by_trace.update({name: alias for name in names if name is not None})
        return by_trace

    # ---- the object graph --------------------------------------------------------------------------------------------

    def _write_objects(self, proto: Message) -> None:
        for i, trackable in enumerate(self.objects):
            node = proto.nodes.add()
            children = {child.local_name: child.node_id for child in self._graph.nodes[i].children}
            for name, (save, restore) in self._state_functions(i).items():  # TensorFlow takes no children for these
                functions = node.saveable_objects[name]
                functions.save_function, functions.restore_function = children.pop(save), children.pop(restore)
            for name, number in children.items():
                node.children.add(node_id=number, local_name=name)
            node.slot_variables.extend(self._graph.nodes[i].slot_variables)
            if i in self._variables:
                _write_variable(node.variable, self._variables[i])
            elif i in self._assets:
                node.asset.asset_file_def_index = list(self._assets).index(i)
            elif i in self._tables or i in self._datasets:
                node.resource.SetInParent()
            elif isinstance(trackable, FunctionNode):
                self._write_function(node, trackable)
            else:
                user = node.user_object
                registered = revived.written_by(trackable)
                if registered is not None:
                    registered.write(user)
                    continue
                user.identifier = _IDENTIFIERS.get(type(trackable)) or trackable._object_identifier
                user.version.producer = user.version.min_consumer = 1
                user.metadata = trackable._tracking_metadata
        for i, captured in enumerate(self._captures):
            node = proto.nodes.add()
            if isinstance(captured, CapturedTensor):
                node.captured_tensor.name, node.captured_tensor.concrete_function = captured
            else:
                node.constant.operation = _constant_name(i)
        for name, concrete in self.concretes.items():
            saved = proto.concrete_functions[name]
            saved.bound_inputs.extend(self._number_of(c, concrete) for c in concrete._captured)
            saved.canonicalized_input_signature.CopyFrom(to_proto(concrete.structured_input_signature))
            saved.output_signature.CopyFrom(to_proto(concrete.named_output_specs))

    def _write_function(self, node: Any, function: FunctionNode) -> None:
        if isinstance(function.function, ConcreteFunction):
            concrete = function.function
            bare = node.bare_concrete_function
            bare.concrete_function_name = self._names[id(concrete)]
            bare.argument_keywords.extend(spec.name for spec in _tensor_specs(concrete))
            bare.allowed_positional_arguments = concrete.binding.positional
            bare.function_spec.CopyFrom(function_spec(_trace_signature(concrete)))
            return
        node.function.SetInParent()
        node.function.concrete_functions.extend(self._names[id(c)] for c in function.traces)
        signature, specs = function.function.function_spec.signature, function.function.input_signature
        node.function.function_spec.CopyFrom(function_spec(signature, specs))

    # ---- the graph ---------------------------------------------------------------------------------------------------

    def _write_functions(self, graph_def: Message) -> None:
        functions = self._functions.library.values()
        for function in functions:
            for node in function.node_def:
                _check_op(node.op, function.signature.name)
        graph_def.library.function.extend(functions)
        for concrete, own in self._own_gradients.items():
            graph_def.library.registered_gradients.add(registered_op_type=own.name, gradient_func=self._names[concrete])
        graph_def.versions.producer = PRODUCER
        graph_def.versions.min_consumer = 12

    def _write_graph(self, graph_def: Message) -> dict[int, str]:
        """Writes the nodes of variables and constants; returns their names by the numbers of the objects."""
        names = {i: add_variable(graph_def, v, f"variable_{i}") for i, v in self._variables.items()}
        for i, asset in self._assets.items():
            names[i] = add_constant(graph_def, f"asset_{i}", asset.asset_path)
        for i, captured in enumerate(self._captures):
            if isinstance(captured, EagerTensor):
                names[len(self.objects) + i] = add_constant(graph_def, _constant_name(i), captured)
        for i in (*self._tables, *self._datasets):
            (creator,) = self._below(i, "_create_resource").traces
            names[i] = add_call(graph_def, f"resource_{i}", self._call(creator, names)).name
        return names

    def _saved_tables(self, captured: Mapping[int, str]) -> list[SavedTable]:
        """Returns the tables whose entries are in the checkpoint."""
        tables = []
        for i in self._tables:
            functions = self._state_functions(i).get("table")
            if functions is not None:
                key = self._graph.nodes[i].attributes[0].checkpoint_key
                tensors = {name: t.dtype for name, t in self._tensors if name.startswith(f"{key}-")}
                traces = [trace for name in functions for trace in self._below(i, name).traces]
                tables.append(SavedTable(tensors, *(self._call(trace, captured) for trace in traces)))
        return tables

    def _state_functions(self, number: int) -> dict[str, tuple[str, str]]:
        """Returns the names of the functions that save and restore an object's state, by the name of each part."""
        stateful = isinstance(self.objects[number], (MutableHashTable, StatefulObject))
        return self.objects[number]._state_functions() if stateful else {}

    def _saved_variables(self) -> list[tuple[str, str, Variable]]:
        """Returns each variable's name in the checkpoint and in the graph."""
        keys = {i: self._graph.nodes[i].attributes[0].checkpoint_key for i in self._variables}
        return [(keys[i], f"variable_{i}", variable) for i, variable in self._variables.items()]


def _file_names(assets: Mapping[int, Asset]) -> dict[int, str]:
    """Returns each asset's name in the directory of assets, with a number before it if two files have the same name."""
    names: dict[int, str] = {}
    for i, asset in assets.items():
        name = os.path.basename(asset.asset_path.numpy().decode())
        names[i] = f"{i}_{name}" if name in names.values() else name
    return names


def _variable_of(trackable: Any) -> Variable | None:
    """Returns an object if it is a variable, or the variable that it holds, like Keras's variables."""
    held = trackable.value if hasattr(trackable, "_write_object_proto") else trackable
    return held if isinstance(held, Variable) else None


def _constant_name(index: int) -> str:
    return f"constant_{index}"


def _tensor_specs(concrete: ConcreteFunction) -> Sequence[TensorSpec]:
    return [s for s in nest.flatten(concrete.structured_input_signature) if isinstance(s, TensorSpec)]


def _trace_signature(concrete: ConcreteFunction) -> Any:
    """Returns the parameters of a trace's Python function; by their names if it has only `**tensors`."""
    signature = concrete.function_type.signature.signature
    if any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in concrete.function_type.kwargs]
        others = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        return inspect.Signature([*others, *keywords])
    return signature


def _write_variable(proto: Message, variable: Variable) -> None:
    proto.dtype = variable.dtype.as_datatype_enum
    proto.shape.CopyFrom(variable.shape.as_proto())
    proto.trainable = variable.trainable
    proto.synchronization = variable.synchronization.value
    proto.aggregation = variable.aggregation.value
    proto.name = variable.name.partition(":")[0]


def _check_op(op: str, function: str) -> None:
    try:
        op_defs.get(op)
    except LookupError:
        raise ValueError(
            f"The function {function} has an operation {op!r}, which only this process can run: it can't be saved."
        ) from None


def _strip_default_attrs(graph_def: Message) -> None:
    """Removes the attrs with default values from the nodes of a graph and of its functions: readers with an older
    definition of an op refuse those that they don't know.
    """
    functions = graph_def.library.function
    own = {f.signature.name for f in functions}
    defaults: dict[str, dict[str, Any]] = {}
    for node in itertools.chain(graph_def.node, *[f.node_def for f in functions]):
        if node.op in own:
            continue
        if node.op not in defaults:
            attrs = op_def_proto(node.op).attr
            defaults[node.op] = {a.name: a.default_value for a in attrs if a.HasField("default_value")}
        default = defaults[node.op]
        for name in [name for name, value in node.attr.items() if name in default and value == default[name]]:
            del node.attr[name]
