"""The spellings of TensorFlow 2.0 that programs use and Keras 3 lacks. `add()` adds all of them.

- `reset_states`, beside `reset_state`, of metrics and recurrent layers: called, or overridden in a subclass.
- `model.save_weights('weights')` and `load_weights('weights')`: TensorFlow's checkpoint format, and a load status.
- Checkpoints of models of Keras 2 can be restored, and layers that are not built yet are restored when they are built.
- `model.save` and `save_weights` write a file aside and rename it: a process killed meanwhile leaves the old one. (Not
  models saved as folders, nor weights in several files, `max_shard_size`.)
- Damaged files of models are refused with a ValueError, where Keras raises a KeyError or a RecursionError.
- With several workers, `BackupAndRestore` of the first one writes the folder that all restore. The others write folders
  of their own beside it, so no worker deletes or overwrites another's files.
- `tf.Variable`s set on a layer or model, or in its lists and dicts, are its weights.
- `model.export(format="onnx")` and `format="torch"` convert with `tf.torch.convert`, and check the file.
- The warning about variables without gradients is followed by one that says where their gradients are lost.
- `tf.keras.backend.get_graph()`: the graph under construction.

One setting differs from TensorFlow: `jit_compile="auto"` does not compile on GPUs either.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras

from tapeflow.array.creation import zeros
from tapeflow.autodiff.gradient_tape import GradientTape
from tapeflow.core.context import override
from tapeflow.core.lazy_modules import load
from tapeflow.core.logger import get_logger
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.graph import current_graph
from tapeflow.io.atomic_replace import replaced_file
from tapeflow.keras import internals
from tapeflow.keras.internals import PRIVATE, Tracker, replace, wrapper
from tapeflow.tracking.data_structures import ListWrapper, _DictWrapper
from tapeflow.train.checkpoint import Checkpoint
from tapeflow.train.object_graph import View
from tapeflow.train.reader import list_variables

if TYPE_CHECKING:
    from tapeflow.core.values.trackable import Trackable

_KERAS_FILES = (".h5", ".keras", ".json")
_DEPTHWISE = (keras.layers.DepthwiseConv1D, keras.layers.DepthwiseConv2D)


def add() -> None:
    """Adds the spellings to Keras's classes; a second call does nothing."""
    if hasattr(keras.metrics.Metric, "reset_states"):
        return
    keras.metrics.Metric.reset_states = _reset_states
    keras.metrics.Metric.__init_subclass__ = classmethod(_use_reset_states)
    for layer in (keras.layers.RNN, keras.layers.Bidirectional):
        layer.reset_states = _reset_layer_states
    keras.Model.save_weights = _save_checkpoint(keras.Model.save_weights)
    keras.Model.load_weights = _load_checkpoint(keras.Model.load_weights)
    replace("keras:Layer", "_lookup_dependency", _find_child)
    replace("keras:Layer", "_handle_deferred_dependencies", _restore_keras_2_name)
    replace("keras:Variable", "_serialize_to_tensors", _serialize_placeholder)
    replace("keras:Variable", "_restore_from_tensors", _restore_or_defer)
    for saving in ("save_model", "save_weights_only"):
        replace(PRIVATE["saving_lib"], saving, _save_aside)
    replace(PRIVATE["legacy_h5_format"], "save_model_to_hdf5", _save_aside)
    replace(PRIVATE["saving_lib"], "load_model", _load_or_refuse)
    replace(PRIVATE["legacy_h5_format"], "load_model_from_hdf5", _load_or_refuse)
    backup = keras.callbacks.BackupAndRestore
    backup.on_train_begin = _begin_in_own_folder(backup.on_train_begin)
    replace("keras:Layer", "_initialize_tracker", _initialize_tracker)
    replace("keras:Model", "_resolve_auto_jit_compile", lambda resolve: _never_auto_compile)
    setattr(keras.Model, _names_of_edges.__name__, _names_of_edges)  # a name of TapeFlow's
    internals.backend.get_graph = current_graph
    replace(PRIVATE["BaseOptimizer"], "_filter_empty_gradients", _warn_of_lost_gradients)
    keras.Model.export = _export_model(keras.Model.export)


def _never_auto_compile(self: Any) -> bool:
    """Returns False: `jit_compile="auto"` does not compile, as TorchInductor takes much longer than XLA."""
    return False


# ---- export ----------------------------------------------------------------------------------------------------------


@wrapper
def _export_model(
    export: Any, self: Any, filepath: str, format: str = "tf_saved_model", verbose: bool | None = None,
    input_signature: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """Writes ONNX files and exported programs of torch, and leaves other formats to Keras."""
    if format not in ("onnx", "torch"):
        return export(self, filepath, format=format, verbose=verbose, input_signature=input_signature, **kwargs)
    path = os.fspath(filepath)
    if format == "torch" and not path.endswith(".pt2"):
        raise ValueError(f"The PyTorch export requires the filepath to end with '.pt2'. Got: {path}")
    opset = kwargs.pop("opset_version", None) if format == "onnx" else None
    if kwargs:
        raise ValueError(
            f"export(format={format!r}) takes no {', '.join(kwargs)}: dimensions that the input signature leaves "
            "open stay open."
        )
    if input_signature is None:
        input_signature = internals.get_input_signature(self)
    specs = [
        TensorSpec(spec.shape, spec.dtype, name=getattr(spec, "name", None)) for spec in nest.flatten(input_signature)
    ]
    convert: Any = load("tapeflow.torch.convert")
    difference = convert.convert(convert.module(self, *specs), _FORMATS[format], path, opset_version=opset)
    if difference > _TOLERANCE:
        get_logger().warning("%s: on sample inputs, an output differs from the model's by %.3g", path, difference)
    if verbose or verbose is None:
        print(f"Saved artifact at '{path}'.")
    return None


_FORMATS = {"onnx": "onnx", "torch": "pt2"}
_TOLERANCE = 1e-3


# ---- gradients that are None -----------------------------------------------------------------------------------------


@wrapper
def _warn_of_lost_gradients(filter_empty: Any, self: Any, grads: Any, vars: Any) -> Any:
    """Warns of variables without gradients, and then says where these are lost."""
    lost = [variable for gradient, variable in zip(grads, vars, strict=False) if gradient is None]
    explanation = _explain_lost_gradients(lost) if lost else None
    try:
        result = filter_empty(self, grads, vars)
    except ValueError as error:
        if explanation is None:
            raise
        raise ValueError(f"{error} {explanation}") from None
    if explanation:
        warnings.warn(explanation, stacklevel=3)
    return result


def _explain_lost_gradients(variables: Any) -> str | None:
    """Returns the explanation of the tape that the training step holds, or None without one. The tape was used up."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        for value in frame.f_locals.values():
            if type(value) is GradientTape:
                return value.explain_gradient([], variables[:3])
        frame = frame.f_back
    return None


# ---- reset_states ----------------------------------------------------------------------------------------------------


def _reset_states(self: Any) -> None:
    """Resets the metric's state, like `reset_state()`."""
    for kind in type(self).__mro__:
        reset = vars(kind).get("reset_state")
        if reset is not None and reset is not _reset_by_reset_states:
            reset(self)
            return


def _reset_by_reset_states(self: Any) -> None:
    """Resets the metric's state, by its own `reset_states()`."""
    self.reset_states()


def _use_reset_states(cls: Any, **kwargs: Any) -> None:
    """Adds a `reset_state`, which Keras calls, to a metric class that overrides only `reset_states`."""
    super(keras.metrics.Metric, cls).__init_subclass__(**kwargs)
    if "reset_states" in vars(cls) and "reset_state" not in vars(cls):
        cls.reset_state = _reset_by_reset_states


def _reset_layer_states(self: Any) -> None:
    """Resets the recorded states of a stateful layer, like `reset_state()`."""
    self.reset_state()


# ---- save_weights('weights') -----------------------------------------------------------------------------------------


def _is_checkpoint(filepath: str) -> bool:
    return not os.fspath(filepath).endswith(_KERAS_FILES)


@wrapper
def _save_checkpoint(
    save_weights: Any, self: Any, filepath: str, overwrite: bool = True, *args: Any, **kwargs: Any
) -> Any:
    if kwargs.pop("save_format", None) != "tf" and not _is_checkpoint(filepath):
        return save_weights(self, filepath, overwrite, *args, **kwargs)
    path = os.fspath(filepath)
    if not overwrite and os.path.exists(f"{path}.index"):
        raise FileExistsError(f"There are weights at {path!r} already; pass overwrite=True to replace them.")
    _Weights(self).write(path)
    return None


class _Weights(Checkpoint):
    """A checkpoint of a model that also holds its lists and dicts of layers and weights, which Keras 3 hides."""

    def _view(self) -> View:
        return _ViewOfLayers(self._root, self._attached)


class _ViewOfLayers(View):
    def __init__(self, root: Any, attached: dict[str, Any]) -> None:
        super().__init__(root, attached)
        self._collections: dict[tuple[int, str], Any] = {}

    def children(self, trackable: Trackable) -> dict[str, Any]:
        names = trackable.__dict__.get("_tracked", ()) if isinstance(trackable, keras.Layer) else ()
        used = [n for n in names if _holds_weights(getattr(trackable, n))]
        return super().children(trackable) | {name: self._collection(trackable, name) for name in used}

    def lookup(self, trackable: Trackable, name: str, children: dict[str, Any]) -> Any:
        hidden = isinstance(trackable, keras.Layer) and name in trackable.__dict__.get("_tracked", ())
        return self._collection(trackable, name) if hidden else super().lookup(trackable, name, children)

    def _collection(self, layer: Any, name: str) -> Any:
        key = id(layer), name
        if key not in self._collections:
            self._collections[key] = _trackable_form(getattr(layer, name))
        return self._collections[key]


def _holds_weights(collection: Any) -> bool:
    """Returns True if a collection has layers or variables, and not only shapes and the like."""
    return any(hasattr(item, "_trackable_children") for item in keras.tree.flatten(collection))


def _trackable_form(collection: Any) -> Any:
    return _DictWrapper(dict(collection)) if isinstance(collection, dict) else ListWrapper(list(collection))


def _check_weights(model: Any, path: str, status: Any) -> None:
    """Checks that weights were loaded, and warns of those that were not. Layers that are not built yet have none.

    Raises:
        AssertionError: the checkpoint has a value for none of the model's weights, or has a layer's weights under
            other names.
    """
    missing = [w for w in model.weights if not (status.has_restored(w) or status.has_restored(w.value))]
    if not missing:
        status.assert_nontrivial_match()
        return
    names = _first_names([w.path for w in missing])
    if len(missing) == len(model.weights):
        saved = [name.partition("/.ATTRIBUTES")[0] for name, _ in list_variables(path) if "/.ATTRIBUTES" in name]
        raise AssertionError(
            f"Nothing in the checkpoint {path} matched a weight of model {model.name!r}. The checkpoint has values of "
            f"{_first_names(saved)}; the model has {names}. Values are matched by the names of attributes and the "
            "order of layers: create the model as it was saved. tf.train.Checkpoint(model=model).restore(...) reads "
            "what tf.train.Checkpoint wrote, and files that end in .h5 are matched by the order of layers alone."
        )
    for layer in model._flatten_layers():
        own = {
            w.name for w in missing if any(w is v for v in layer._trainable_variables + layer._non_trainable_variables)
        }
        left = status.left_of(layer) if own else []
        if left:
            raise AssertionError(
                f"The checkpoint {path} has no value for the weights {sorted(own)} of layer {layer.path!r}, but values "
                f"under other names: {left}. Another version of Keras wrote it. Assign these weights with the values "
                "that tf.train.load_variable reads, or load the model with tf_keras (Keras 2)."
            )
    get_logger().warning(
        "The checkpoint %s has no value for %d of the %d weights of model %r, which keep theirs: %s",
        path, len(missing), len(model.weights), model.name, names,
    )  # fmt: skip


def _names_of_edges(self: Any, names: list[str]) -> dict[str, str]:
    """Returns the names of a model's layers in checkpoints of Keras 2 with other numbers. Before 2.3, the input layer
    of a sequential model was number 0.
    """
    numbered = [name for name in names if name.removeprefix("layer-").isdecimal()]
    if len(numbered) != len(self.layers) + 1 or not isinstance(self, keras.Sequential):
        return {}
    return {name: f"layer-{int(name.removeprefix('layer-')) - 1}" for name in numbered}


def _first_names(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


@wrapper
def _load_checkpoint(load_weights: Any, self: Any, filepath: str, *args: Any, **kwargs: Any) -> Any:
    if not _is_checkpoint(filepath) or not os.path.exists(f"{os.fspath(filepath)}.index"):
        return load_weights(self, filepath, *args, **kwargs)
    status = _Weights(self).read(os.fspath(filepath))
    _check_weights(self, os.fspath(filepath), status)
    return status


@wrapper
def _find_child(lookup: Any, self: Any, name: str, cached_dependencies: dict[str, Any] | None = None) -> Any:
    """Also finds children by their names in checkpoints of Keras 2: "layer-0" for the first layer of a model, "kernel"
    for a weight that is in "_kernel" now, and a layer's lists and dicts."""
    child = lookup(self, name, cached_dependencies)
    if child is None and name.startswith("layer-") and isinstance(self, keras.Model):
        number, layers = name.removeprefix("layer-"), self.layers
        child = layers[int(number)] if number.isdecimal() and int(number) < len(layers) else None
    elif child is None and _is_property(self, name):
        child = lookup(self, f"_{name}", cached_dependencies)
    elif child is None and name == "depthwise_kernel" and isinstance(self, _DEPTHWISE):
        return self._lookup_dependency("kernel", cached_dependencies)
    if child is None and name in self.__dict__.get("_tracked", ()):
        return _trackable_form(getattr(self, name))
    return child


@wrapper
def _restore_keras_2_name(handle: Any, self: Any, name: str, trackable: Any) -> None:
    """Restores a new child, also by the name that Keras 2 gave it."""
    handle(self, name, trackable)
    public = name.removeprefix("_")
    if public != name and _is_property(self, public):
        handle(self, public, trackable)


def _is_property(layer: Any, name: str) -> bool:
    return isinstance(getattr(type(layer), name, None), property)


# Keras builds a model by a call with symbolic tensors. Until its end, the variables of the layers have initializers and
# no values. A restored value takes the place of the initializer.


@wrapper
def _serialize_placeholder(serialize: Any, self: Any) -> dict[str, Any]:
    return {"VARIABLE_VALUE": zeros(self._shape, self._dtype)} if self._value is None else serialize(self)


@wrapper
def _restore_or_defer(restore: Any, self: Any, restored_tensors: dict[str, Any]) -> Any:
    if self._value is not None:
        return restore(self, restored_tensors)
    self._initializer = _RestoredValue(restored_tensors["VARIABLE_VALUE"], self._initializer, self.path)
    return None


class _RestoredValue:
    """An initializer that returns the value of a checkpoint."""

    def __init__(self, value: EagerTensor, initializer: Callable[..., Any], path: str) -> None:
        self._value, self._initializer, self._path = value, initializer, path

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        if tuple(shape) == tuple(self._value.shape):
            return self._value
        # In such a scope, Keras swallows errors, and builds the layer a second time.
        if internals.in_stateless_scope():
            return self._initializer(shape, dtype=dtype)
        # The error ends the initialization of this model's variables; Keras would go on with them in the next model.
        internals.global_state.set_global_attribute("uninitialized_variables", [])
        raise ValueError(
            f"Received incompatible tensor with shape {self._value.shape} when attempting to restore variable with "
            f"shape {tuple(shape)} and name {self._path}."
        )


# ---- files that are replaced as wholes -------------------------------------------------------------------------------


@wrapper
def _save_aside(save: Any, *args: Any, **kwargs: Any) -> Any:
    """Writes Keras's second argument, a file, aside and renames it."""
    bound = inspect.signature(save).bind(*args, **kwargs)
    path = bound.arguments["filepath"]
    in_one_file = bound.arguments.get("zipped", True) and bound.arguments.get("max_shard_size") is None
    local = isinstance(path, (str, os.PathLike)) and os.path.isdir(os.path.dirname(path) or ".")
    if not (in_one_file and local):
        return save(*args, **kwargs)
    with replaced_file(os.fspath(path)) as bound.arguments["filepath"]:
        return save(*bound.args, **bound.kwargs)


@wrapper
def _load_or_refuse(load: Any, filepath: str, *args: Any, **kwargs: Any) -> Any:
    """Raises ValueError for a damaged file, the first argument of a loader of Keras."""
    try:
        return load(filepath, *args, **kwargs)
    except (KeyError, RecursionError) as error:
        raise ValueError(
            f"The model in {filepath} can't be loaded: it is damaged, or no model of Keras. "
            f"{type(error).__name__}: {error}"
        ) from error


# ---- backups of several workers --------------------------------------------------------------------------------------


@wrapper
def _begin_in_own_folder(on_train_begin: Any, self: Any, logs: Any = None) -> None:
    """Restores a backup. All workers but the first one then write to another folder."""
    strategy = self.model.distribute_strategy
    if strategy.extended.should_checkpoint:
        on_train_begin(self, logs)
        return
    resolver = strategy.cluster_resolver
    shared = vars(self).setdefault("_folder_of_first_worker", self.backup_dir)
    own = f"{os.fspath(shared)}.{resolver.task_type}{resolver.task_id}"
    _move_backups(self, shared if os.path.exists(shared) else own)  # if workers have separate disks
    on_train_begin(self, logs)
    _move_backups(self, own)


def _move_backups(callback: Any, folder: str) -> None:
    """Sets the folder that a `BackupAndRestore` writes to."""
    before = os.fspath(callback.backup_dir)
    for name, value in vars(callback).items():
        if isinstance(value, (str, os.PathLike)) and name != "_folder_of_first_worker":
            path = os.fspath(value)
            if path == before or os.path.dirname(path) == before.rstrip(os.sep):
                setattr(callback, name, folder + path[len(before) :])


# ---- tf.Variable as a weight -----------------------------------------------------------------------------------------


class _VariableTracker(Tracker):
    """Keras's tracker of a layer's attributes. In this extension, a `tf.Variable` is a weight, too."""

    locked: bool

    def track(self, attr: Any) -> Any:
        if not isinstance(attr, Variable):
            return super().track(attr)
        weights = self.__dict__.setdefault("wrapped", {})
        if id(attr) not in weights:
            name = attr.name.split(":")[0].replace("/", "_")
            weight = keras.Variable(attr, dtype=attr.dtype.name, trainable=attr.trainable, autocast=False, name=name)
            weights[id(attr)] = weight
            with override(self, locked=False):  # Keras refuses weights for a built layer; TensorFlow 2.0 did not
                super().track(weight)
        return attr


@wrapper
def _initialize_tracker(initialize: Any, self: Any) -> None:
    initialize(self)
    self._tracker.__class__ = _VariableTracker
