"""The public `tf.compat.v1.saved_model` namespace: graphs with the values of a session's variables, in files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from google.protobuf.message import Message
from tensorboard.compat.proto import meta_graph_pb2

from tapeflow.array import identities
from tapeflow.array.properties import get_static_value
from tapeflow.array.protos import make_tensor_proto
from tapeflow.core.context import state
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import as_dtype, float32, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.io import gfile
from tapeflow.saved_model import messages
from tapeflow.saved_model.serving import add_saver
from tapeflow.sparse.tensor import SparseTensor
from tapeflow.train.states import checkpoint_exists
from tapeflow_compat.compat.v1 import names
from tapeflow_compat.compat.v1.tables import tables_initializer
from tapeflow_compat.compat.v1.train.meta_graph import export_meta_graph, import_meta_graph
from tapeflow_compat.compat.v1.train.saver import Saver
from tapeflow_compat.compat.v1.variables import GraphKeys, global_variables_initializer, local_variables_initializer
from tapeflow_compat.default_graph import get_default_graph
from tapeflow_compat.v1_graphs.saved_models import INIT_OP, LEGACY_INIT_OP_KEY, MAIN_OP_KEY, assets_of, main_op_of

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph
    from tapeflow_compat.compat.v1.session import Session

_SERVING = "tensorflow/serving/"

# ---- signatures ------------------------------------------------------------------------------------------------------


def build_tensor_info(tensor: Any) -> Any:
    """Describes a dense or sparse tensor for a signature: a `TensorInfo` message of its name, dtype and shape.

    Raises:
        RuntimeError: there is no graph.

    Example:
        >>> with tf.Graph().as_default():
        ...     print(tf.compat.v1.saved_model.build_tensor_info(tf.constant(1.0, name="c")).name)
        c:0
    """
    if state.graph is None:
        raise RuntimeError("`build_tensor_info` is not supported in eager execution.")
    info = meta_graph_pb2.TensorInfo(dtype=tensor.dtype.as_datatype_enum, tensor_shape=tensor.shape.as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None) -> Any:
    """Returns the tensor of a graph that a `TensorInfo` message means.

    Args:
        tensor_info: the message.
        graph: by default the default one.
        import_scope: the prefix of the names under which it was imported.

    Raises:
        KeyError: there is no such tensor.
        ValueError: the message says of none.

    Example:
        >>> with tf.Graph().as_default():
        ...     c = tf.constant(1.0)
        ...     info = tf.compat.v1.saved_model.build_tensor_info(c)
        ...     print(tf.compat.v1.saved_model.get_tensor_from_tensor_info(info) is c)
        True
    """
    graph = graph or get_default_graph()

    def tensor_of(name: str) -> Any:
        return graph.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor_of(tensor_info.name)
    if encoding == "coo_sparse":
        parts = tensor_info.coo_sparse
        names_of_parts = parts.indices_tensor_name, parts.values_tensor_name, parts.dense_shape_tensor_name
        return SparseTensor(*map(tensor_of, names_of_parts))
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}. Expected `coo_sparse` or `name`.")


def build_signature_def(
    inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | None = None, method_name: str | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Returns a `SignatureDef` message: the inputs and outputs of a part of a graph.

    Args:
        inputs, outputs: `TensorInfo` messages by names.
        method_name: how servers are to call it.
        defaults: constants, or `TensorProto` messages, for inputs that may be left out.

    Raises:
        ValueError: a default is no constant.

    Example:
        >>> tf.compat.v1.saved_model.build_signature_def(method_name="mine").method_name
        'mine'
    """
    signature = meta_graph_pb2.SignatureDef(method_name=method_name)
    for infos, messages_by_name in ((inputs, signature.inputs), (outputs, signature.outputs)):
        for name, info in (infos or {}).items():
            messages_by_name[name].CopyFrom(info)
    for name, value in (defaults or {}).items():
        constant = value if isinstance(value, Message) else get_static_value(value)
        if constant is None:
            raise ValueError(f"The default of {name} must be a constant, unlike {value}")
        signature.defaults[name].CopyFrom(constant if constant is value else make_tensor_proto(constant))
    return signature


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """Returns the signature of tensors by names.

    Raises:
        ValueError: there are none.

    Example:
        >>> with tf.Graph().as_default():
        ...     x = tf.compat.v1.placeholder(tf.float32, [None])
        ...     print(tf.compat.v1.saved_model.predict_signature_def({"x": x}, {"y": x * 2.0}).method_name)
        tensorflow/serving/predict
    """
    for label, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ValueError(f"Prediction `{label}` cannot be None or empty.")
    ins, outs = ({name: build_tensor_info(tensor) for name, tensor in tensors.items()} for tensors in (inputs, outputs))
    return build_signature_def(ins, outs, f"{_SERVING}predict")


def classification_signature_def(examples: TensorLike, classes: TensorLike, scores: TensorLike) -> Any:
    """Returns the signature of a classifier of serialized `tf.train.Example`s.

    Args:
        examples: a string tensor.
        classes: a string tensor of their names, or None.
        scores: a float32 tensor, or None.

    Raises:
        ValueError: there are no examples, neither classes nor scores, or one is of another dtype.

    Example:
        >>> with tf.Graph().as_default():
        ...     examples = tf.compat.v1.placeholder(tf.string, [None])
        ...     signature = tf.compat.v1.saved_model.classification_signature_def(examples, examples, None)
        >>> list(signature.outputs)
        ['classes']
    """
    if classes is None and scores is None and examples is not None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    outputs = {"classes": (classes, string), "scores": (scores, float32)}
    return _of_examples("Classification", examples, outputs, "classify")


def regression_signature_def(examples: TensorLike, predictions: TensorLike) -> Any:
    """Returns the signature of a regression over serialized `tf.train.Example`s.

    Args:
        examples: a string tensor.
        predictions: a float32 tensor.

    Raises:
        ValueError: one is missing, or of another dtype.

    Example:
        >>> with tf.Graph().as_default():
        ...     examples = tf.compat.v1.placeholder(tf.string, [None])
        ...     signature = tf.compat.v1.saved_model.regression_signature_def(examples, tf.zeros([2]))
        >>> signature.method_name
        'tensorflow/serving/regress'
    """
    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    return _of_examples("Regression", examples, {"outputs": (predictions, float32)}, "regress")


def _of_examples(kind: str, examples: Any, outputs: Mapping[str, tuple[Any, Any]], method: str) -> Any:
    if examples is None:
        raise ValueError(f"{kind} `examples` cannot be None.")
    parts: list[dict[str, Any]] = []
    for label, group in (("input", {"inputs": (examples, string)}), ("output", outputs)):
        tensors = {name: (tensor, dtype) for name, (tensor, dtype) in group.items() if tensor is not None}
        for name, (tensor, dtype) in tensors.items():
            if tensor.dtype is not dtype:
                raise ValueError(
                    f"{kind} {label} tensors must be of type {dtype.name} ({name!r}). Found tensors of type "
                    f"{tensor.dtype.name}"
                )
        parts.append({name: build_tensor_info(tensor) for name, (tensor, _) in tensors.items()})
    return build_signature_def(parts[0], parts[1], f"{_SERVING}{method}")


def is_valid_signature(signature_def: Any) -> bool:
    """Returns True if servers can call a signature.

    Example:
        >>> tf.compat.v1.saved_model.is_valid_signature(tf.compat.v1.saved_model.build_signature_def(method_name="a"))
        False
    """
    if signature_def is None:
        return False
    inputs, outputs = signature_def.inputs, signature_def.outputs

    def have_dtypes(infos: Any, dtypes: Mapping[str, Any]) -> bool:
        return set(infos) <= set(dtypes) and all(as_dtype(i.dtype) is dtypes[n] for n, i in infos.items())

    method = signature_def.method_name.removeprefix(_SERVING)
    if method == "predict":
        return len(inputs) >= 1 and len(outputs) >= 1
    if set(inputs) != {"inputs"} or not have_dtypes(inputs, {"inputs": string}) or not outputs:
        return False
    if method == "regress":
        return have_dtypes(outputs, {"outputs": float32})
    return method == "classify" and have_dtypes(outputs, {"classes": string, "scores": float32})


class MethodNameUpdater:
    """Changes the method names of a SavedModel's signatures, which servers choose their calls by.

    Args:
        export_dir: the directory of the SavedModel.

    Raises:
        OSError: there is none, or it is damaged.

    Example:
        >>> import tempfile
        >>> module, path = tf.Module(), tempfile.mkdtemp()
        >>> module.f = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([], tf.float32)])
        >>> tf.saved_model.save(module, path, signatures=module.f)
        >>> updater = tf.compat.v1.saved_model.signature_def_utils.MethodNameUpdater(path)
        >>> updater.replace_method_name("serving_default", "regress")
        >>> updater.save()
    """

    def __init__(self, export_dir: Any) -> None:
        self._directory = os.fspath(export_dir)
        self._metas = messages.read_model(self._directory)

    def replace_method_name(self, signature_key: str, method_name: str, tags: Any = None) -> None:
        """Changes the method name of a signature.

        Args:
            signature_key: the signature's key.
            method_name: its new method name.
            tags: the tags of the graph, one or a list; None for all graphs.

        Raises:
            ValueError: an argument is empty, no graph has these tags, or one lacks the signature.
        """
        for name, value in (("signature_key", signature_key), ("method_name", method_name)):
            if not value:
                raise ValueError(f"`{name}` must be defined.")
        tags = tags if tags is None or isinstance(tags, list) else [tags]
        metas = [m for m in self._metas if tags is None or set(tags) == set(m.meta_info_def.tags)]
        if not metas:
            raise ValueError(
                f"MetaGraphDef associated with tags {tags} could not be found in SavedModel. This means either you "
                "specified invalid tags or your SavedModel does not have a MetaGraphDef with the specified tags."
            )
        for meta in metas:
            if signature_key not in meta.signature_def:
                raise ValueError(
                    f"MetaGraphDef associated with tags {tags} does not have a signature_def with key: "
                    f"'{signature_key}'. This means either you specified the wrong signature key or forgot to put the "
                    "signature_def with the corresponding key in your SavedModel."
                )
            meta.signature_def[signature_key].method_name = method_name

    def save(self, new_export_dir: Any = None) -> None:
        """Writes the graphs with their signatures.

        Args:
            new_export_dir: the directory to write the builder's files to; by default the directory of the SavedModel.
        """
        messages.write_model(os.fspath(new_export_dir or self._directory), *self._metas)


# ---- writing ---------------------------------------------------------------------------------------------------------


class Builder:
    """Writes a SavedModel: graphs with signatures, and the values that their variables have in a session.

    Args:
        export_dir: the directory, which is created.

    Raises:
        AssertionError: there is something in it.

    Example:
        >>> import os, tempfile
        >>> builder = tf.compat.v1.saved_model.Builder(tempfile.mkdtemp() + "/model")
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(2.0)
        ...     sess.run(v.initializer)
        ...     builder.add_meta_graph_and_variables(sess, ["train"])
        >>> tf.compat.v1.saved_model.contains_saved_model(os.path.dirname(builder.save().decode()))
        True
    """

    def __init__(self, export_dir: Any) -> None:
        self._directory = os.fspath(export_dir)
        self._metas: list[Any] = []
        if os.path.isdir(self._directory) and os.listdir(self._directory):
            raise AssertionError(
                f"Export directory {self._directory} already exists, and isn't empty. Please choose a different export "
                "directory, or delete all the contents of the specified directory."
            )
        gfile.makedirs(self._directory)

    def add_meta_graph_and_variables(
        self, sess: Session, tags: Iterable[str], signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Any = None, legacy_init_op: Any = None, clear_devices: bool = False, main_op: Any = None,
        strip_default_attrs: bool = False, saver: Saver | None = None,
    ) -> None:  # fmt: skip
        """Adds the graph of a session, and writes its variables' values.

        Args:
            sess: the session.
            tags: the tags that identify the graph, such as "serve".
            signature_def_map: `SignatureDef` messages by names.
            assets_collection: string constants, the names of files that go with the model.
            main_op, legacy_init_op: an operation that is run after loading; the second only without the first.
            clear_devices: leaves out where nodes are to run.
            strip_default_attrs: accepted, and without effect.
            saver: of the variables; by default of all global ones.

        Raises:
            AssertionError: variables were written already, or a signature lacks a name or a dtype.
        """
        if self._metas:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` "
                "instead."
            )
        with sess.graph.as_default():
            prefix = messages.variables_prefix(self._directory)
            gfile.makedirs(os.path.dirname(prefix))
            saved = saver or Saver(allow_empty=True)
            saved.save(sess, prefix, write_meta_graph=False, write_state=False)
            self.add_meta_graph(
                tags, signature_def_map, assets_collection, legacy_init_op, clear_devices, main_op,
                strip_default_attrs, saved, _first=True,
            )  # fmt: skip

    def add_meta_graph(
        self, tags: Iterable[str], signature_def_map: Mapping[str, Any] | None = None, assets_collection: Any = None,
        legacy_init_op: Any = None, clear_devices: bool = False, main_op: Any = None,
        strip_default_attrs: bool = False, saver: Saver | None = None, *, _first: bool = False,
    ) -> None:  # fmt: skip
        """Adds the default graph, whose variables have the values that are written already.

        See `add_meta_graph_and_variables` for the arguments.

        Raises:
            AssertionError: there are none yet, or a signature lacks a name or a dtype.
        """
        if not self._metas and not _first:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        _check(signature_def_map or {})
        meta = export_meta_graph(
            graph=get_default_graph(), meta_info_def=meta_graph_pb2.MetaGraphDef.MetaInfoDef(tags=list(tags)),
            clear_devices=clear_devices,
        )  # fmt: skip
        for name, signature in (signature_def_map or {}).items():
            meta.signature_def[name].CopyFrom(signature)
        _add_main_op(meta, LEGACY_INIT_OP_KEY if main_op is None else MAIN_OP_KEY, main_op or legacy_init_op)
        self._add_assets(meta, assets_collection or ())
        variables = (saver or Saver(allow_empty=True))._built_variables()
        add_saver(meta, [(key, v.op.name, v) for key, v in variables.items()])
        self._metas.append(meta)

    def _add_assets(self, meta: Message, tensors: Iterable[Any]) -> None:
        """Copies files beside the model, and says which tensors hold their names."""
        for tensor in tensors:
            path = get_static_value(tensor)
            if path is None:
                raise TypeError(
                    f"Asset path tensor {tensor} must be of type constant. Has type {tensor.op.type} instead."
                )
            source = os.fsdecode(path.item() if hasattr(path, "item") else path)
            directory = messages.assets_directory(self._directory)
            gfile.makedirs(directory)
            gfile.copy(source, os.path.join(directory, os.path.basename(source)), overwrite=True)
            asset = meta.asset_file_def.add(filename=os.path.basename(source))
            asset.tensor_info.CopyFrom(build_tensor_info(tensor))

    def save(
        self, as_text: bool = False, experimental_image_format: bool = False,
        experimental_image_writer_options: Any = None,
    ) -> bytes:  # fmt: skip
        """Writes the graphs that were added. Returns the name of the file.

        Raises:
            NotImplementedError: a text or image format is specified.
        """
        if as_text or experimental_image_format:
            raise NotImplementedError("A SavedModel is written as one binary message: leave the other formats out.")
        messages.write_model(self._directory, *self._metas)
        return os.fsencode(os.path.join(self._directory, messages.FILE))


def _check(signatures: Mapping[str, Any]) -> None:
    for name, signature in signatures.items():
        for info in [*signature.inputs.values(), *signature.outputs.values()]:
            if info.WhichOneof("encoding") is None or not info.dtype:
                raise AssertionError(f"A TensorInfo of the signature {name!r} has no name or no dtype: {info}")


def _add_main_op(meta: Message, key: str, op: Any) -> None:
    """Records the operation to run after loading, for TensorFlow 1 and for servers."""
    if op is None:
        return
    meta.collection_def[key].node_list.value[:] = [op.name]
    info = meta_graph_pb2.TensorInfo(name=op.name, tensor_shape=TensorShape(None).as_proto())
    meta.signature_def[INIT_OP].CopyFrom(build_signature_def(None, {INIT_OP: info}))


def simple_save(
    session: Session, export_dir: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], legacy_init_op: Any = None
) -> None:
    """Writes a session's graph and variables as a SavedModel with one signature, "serving_default".

    Args:
        session: the session.
        export_dir: the directory, which is created.
        inputs, outputs: tensors by names.
        legacy_init_op: an operation that is run after loading.

    Raises:
        AssertionError: there is something in the directory.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.compat.v1.placeholder(tf.float32, [None], name="x")
        ...     v = tf.Variable(2.0)
        ...     sess.run(v.initializer)
        ...     tf.compat.v1.saved_model.simple_save(sess, path, {"x": x}, {"y": tf.multiply(x, v, name="y")})
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     meta_graph = tf.compat.v1.saved_model.load(sess, ["serve"], path)
        ...     print(sess.run("y:0", {"x:0": [1.0, 4.0]}))
        [2. 8.]
    """
    builder = Builder(export_dir)
    with session.graph.as_default():
        signature = predict_signature_def(inputs, outputs)
    builder.add_meta_graph_and_variables(
        session, ["serve"], {"serving_default": signature}, session.graph.get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op, clear_devices=True,
    )  # fmt: skip
    builder.save()


def main_op_function() -> Any:
    """Returns an operation that gives all variables their first values and makes tables ready, for `main_op`.

    Example:
        >>> with tf.Graph().as_default():
        ...     print(tf.compat.v1.saved_model.main_op.main_op().type)
        NoOp
    """
    return identities.group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: Any) -> Any:
    """Returns an operation that does the same as `main_op`, and then runs one that restores values.

    Args:
        restore_op_name: that operation, or its name.

    Example:
        >>> with tf.Graph().as_default() as graph:
        ...     restore = tf.no_op(name="restore")
        ...     print(tf.compat.v1.saved_model.main_op_with_restore("restore").control_inputs[-1] is restore)
        True
    """
    graph = get_default_graph()
    with graph.control_dependencies([main_op_function()]):
        return identities.group(graph.as_graph_element(restore_op_name))


# ---- reading ---------------------------------------------------------------------------------------------------------


def load(
    sess: Session, tags: Iterable[str], export_dir: str, import_scope: str | None = None, **saver_kwargs: Any
) -> Any:
    """Adds a graph of a SavedModel to a session's graph, restores its variables, and runs its main op.

    Args:
        sess: the session.
        tags: strings, all tags of the graph.
        export_dir: the directory.
        import_scope: the prefix of the names.
        saver_kwargs: of the saver.

    Returns:
        The `MetaGraphDef` message of the graph, with its signatures.

    Raises:
        RuntimeError: there is no graph with these tags.
        OSError: there is no SavedModel.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     tf.compat.v1.saved_model.load(sess, ["serve"], "/nowhere")
        Traceback (most recent call last):
        OSError: SavedModel file does not exist at: /nowhere/{saved_model.pbtxt|saved_model.pb}
    """
    directory = os.fspath(export_dir)
    metas, tag_set = messages.read_model(directory), set(tags)
    meta = next((m for m in metas if set(m.meta_info_def.tags) == tag_set), None)
    if meta is None:
        raise RuntimeError(
            f"MetaGraphDef associated with tags {', '.join(map(repr, sorted(tag_set)))} could not be found in "
            f"SavedModel, with available tags '{[set(m.meta_info_def.tags) for m in metas]}'."
        )
    prefix = f"{import_scope}/" if import_scope else ""
    with sess.graph.as_default():
        saver = import_meta_graph(meta, import_scope=import_scope, **saver_kwargs)
        path = messages.variables_prefix(directory)
        if saver is not None and checkpoint_exists(path):
            saver.restore(sess, path)
        assets = {f"{prefix}{a.tensor_info.name}": messages.asset_path(directory, a.filename) for a in assets_of(meta)}
        main_op = main_op_of(meta)
        if main_op:
            sess.run(sess.graph.get_operation_by_name(f"{prefix}{main_op}"), assets)
    return meta


__getattr__ = names.finder("saved_model")
