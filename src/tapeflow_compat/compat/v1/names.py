"""The names of `tf.compat.v1` that are names of `tf`, looked up there at first use.

`names.txt` lists them (`scripts/record.py v1_names` records it). It leaves out functions of TensorFlow 1 with the same
name but other parameters.
"""

from __future__ import annotations

import functools
import pathlib
import types
from collections.abc import Callable
from typing import Any

from tapeflow.core.lazy_modules import load
from tapeflow.install import keras_2
from tapeflow_compat.compat.v1 import aliases

# Functions of TensorFlow 1 by name: a namespace, the module that has them (below this package or `tf`), and the names.
_NAMESAKES = (
    ("", "accumulators", "ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator"),
    ("", "session_tensors", "delete_session_tensor get_session_handle get_session_tensor"),
    ("sparse", "accumulators", "SparseConditionalAccumulator"),
    ("", "arrays", "convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor"),
    (
        "data.experimental", "data", "Counter CsvDataset RandomDataset SqlDataset choose_from_datasets "
        "make_batched_features_dataset make_csv_dataset sample_from_datasets",
    ),
    (
        "data.experimental", "dataset_structures", "RaggedTensorStructure SparseTensorStructure TensorArrayStructure "
        "TensorStructure",
    ),
    (
        "debugging", "checks", "assert_equal assert_greater assert_greater_equal assert_integer assert_less "
        "assert_less_equal assert_near assert_negative assert_non_negative assert_non_positive assert_none_equal "
        "assert_positive assert_scalar assert_shapes assert_type",
    ),
    ("distribute.experimental", "parameter_servers", "ParameterServerStrategy"),
    ("errors", "error_codes", "error_code_from_exception_type exception_type_from_error_code"),
    ("io", "parsing", "decode_raw"),
    ("lookup", "lookup", "StaticHashTable StaticVocabularyTable"),
    ("python_io", "io", "TFRecordCompressionType tf_record_iterator"),
    ("random", "arithmetic", "get_seed set_random_seed"),
    (
        "saved_model.constants", "tf.saved_model", "ASSETS_DIRECTORY ASSETS_KEY DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB "
        "SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY "
        "VARIABLES_FILENAME",
    ),
    ("saved_model.constants", "saved_model", "LEGACY_INIT_OP_KEY MAIN_OP_KEY"),
    ("saved_model.loader", "saved_model", "load"),
    (
        "saved_model.signature_constants", "tf.saved_model", "CLASSIFY_INPUTS CLASSIFY_METHOD_NAME "
        "CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES DEFAULT_SERVING_SIGNATURE_DEF_KEY PREDICT_INPUTS "
        "PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS",
    ),
    (
        "saved_model.signature_def_utils", "saved_model", "MethodNameUpdater build_signature_def "
        "classification_signature_def is_valid_signature predict_signature_def regression_signature_def",
    ),
    ("saved_model.tag_constants", "tf.saved_model", "GPU SERVING TPU TRAINING"),
    ("saved_model.utils", "saved_model", "build_tensor_info get_tensor_from_tensor_info"),
    *[
        (
            space, "train.loss_scales", "DynamicLossScale FixedLossScale LossScale MixedPrecisionLossScaleOptimizer "
            "disable_mixed_precision_graph_rewrite enable_mixed_precision_graph_rewrite",
        )
        for space in ("mixed_precision", "train.experimental")
    ],
    ("mixed_precision.experimental", "train.loss_scales", "DynamicLossScale FixedLossScale LossScale"),
    ("train", "parameter_servers", "replica_device_setter"),
    ("strings", "string_functions", "split"),
)  # fmt: skip
_OWN = {f"{space}.{name}".lstrip("."): f"{home}.{name}" for space, home, names in _NAMESAKES for name in names.split()}
_OWN |= {  # those that have another name there
    "add_check_numerics_ops": "checks.add_check_numerics_ops",
    "data.experimental.map_and_batch_with_legacy_function": "tf.data.experimental.map_and_batch",
    "debugging.assert_all_finite": "checks.verify_tensor_all_finite",
    "gfile.FastGFile": "tf.io.gfile.GFile",
    "get_seed": "arithmetic.get_seed",
    "io.match_filenames_once": "train.producers.match_filenames_once",
    "linalg.transpose": "tf.linalg.matrix_transpose",
    "manip.reshape": "tf.reshape",
    "saved_model.builder.SavedModelBuilder": "saved_model.Builder",
    "saved_model.main_op.main_op": "saved_model.main_op_function",
    "saved_model.main_op.main_op_with_restore": "saved_model.main_op_with_restore",
    "sparse.placeholder": "placeholders.sparse_placeholder",
    "sparse_concat": "sparse.concat",
    "sparse_matmul": "sparse.sparse_matmul",
    "sparse_merge": "sparse.merge",
    "sparse_reduce_max": "sparse.reduce_max",
    "sparse_reduce_max_sparse": "sparse.reduce_max_sparse",
    "sparse_reduce_sum": "sparse.reduce_sum",
    "sparse_reduce_sum_sparse": "sparse.reduce_sum_sparse",
    "sparse_segment_mean": "sparse.segment_mean",
    "sparse_segment_sqrt_n": "sparse.segment_sqrt_n",
    "sparse_segment_sum": "sparse.segment_sum",
    "sparse_split": "sparse.split",
    "sparse_to_dense": "sparse.sparse_to_dense",
    "string_split": "string_functions.string_split",
    "strings.to_hash_bucket": "string_functions.string_to_hash_bucket",
    "variable_creator_scope": "tf.variable_creator_scope",
}
_FILE = pathlib.Path(__file__).with_name("names.txt")


@functools.cache
def _places() -> dict[str, str]:
    """Returns a map from names below `tf.compat.v1` to those below `tf`."""
    lines = [line.split() for line in _FILE.read_text(encoding="utf-8").splitlines()]
    return {line[0]: line[-1] for line in lines}


@functools.cache
def _namespaces() -> frozenset[str]:
    namespaces: set[str] = set()
    for name in (*_places(), *_OWN, *aliases.listed()):
        parts = name.split(".")
        namespaces.update(".".join(parts[:i]) for i in range(1, len(parts)))
    return frozenset(namespaces)


def finder(namespace: str = "") -> Callable[[str], Any]:
    """Returns the `__getattr__` of a namespace of `tf.compat.v1`."""

    def find(name: str) -> Any:
        path = f"{namespace}.{name}" if namespace else name
        if _OWN.get(path, "").startswith("tf."):
            return aliases.resolved(_OWN[path].removeprefix("tf."))
        if path in aliases.listed():
            return aliases.function(aliases.listed()[path])
        if path in _OWN:
            module, _, function = _OWN[path].rpartition(".")
            return getattr(load(f"tapeflow.compat.v1.{module}"), function)
        place = _places().get(path)
        if place is not None:
            try:
                return aliases.resolved(place)
            except AttributeError:
                pass
        elif (legacy := keras_2(f"tensorflow.compat.v1.{path}")) is not None:
            return legacy
        elif path in _namespaces():
            return _namespace(path)
        raise AttributeError(f"module 'tapeflow.compat.v1{namespace and '.' + namespace}' has no attribute {name!r}")

    return find


@functools.cache
def _namespace(path: str) -> types.ModuleType:
    """Returns a namespace: the module of that name, or a module of names that are all defined elsewhere."""
    name = f"tapeflow.compat.v1.{path}"
    try:
        return load(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
    module = types.ModuleType(name, f"The public `tf.compat.v1.{path}` namespace.")
    module.__getattr__ = finder(path)  # type: ignore[method-assign]  # a module's own look-up, see PEP 562
    module.__dir__ = lambda: listed(path)  # type: ignore[method-assign]
    return module


def listed(namespace: str = "") -> list[str]:
    """Returns the names that `finder` finds in a namespace."""
    prefix = f"{namespace}." if namespace else ""
    paths = [*_places(), *_OWN, *aliases.listed()]
    return sorted({name.removeprefix(prefix).partition(".")[0] for name in paths if name.startswith(prefix)})
