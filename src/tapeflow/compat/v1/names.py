"""The names of `tf.compat.v1` that are names of `tf`, looked up there at first use.

`names.txt` lists them (`scripts/record_v1_names.py` records it), so that what TensorFlow 1 has under the same name
but with other parameters is not confused with it.
"""

from __future__ import annotations

import functools
import importlib
import pathlib
import types
from collections.abc import Callable
from typing import Any

# Functions of TensorFlow 1 that are looked up by name, and their places below this namespace, or below `tf`.
_OWN = {
    "add_check_numerics_ops": "checks.add_check_numerics_ops",
    "batch_to_space_nd": "arrays.batch_to_space_nd",
    "convert_to_tensor_or_indexed_slices": "arrays.convert_to_tensor_or_indexed_slices",
    "convert_to_tensor_or_sparse_tensor": "arrays.convert_to_tensor_or_sparse_tensor",
    "data.experimental.Counter": "tf.data.experimental.Counter",
    "data.experimental.CsvDataset": "tf.data.experimental.CsvDataset",
    "data.experimental.RandomDataset": "tf.data.experimental.RandomDataset",
    "data.experimental.SqlDataset": "tf.data.experimental.SqlDataset",
    "data.experimental.choose_from_datasets": "tf.data.experimental.choose_from_datasets",
    "data.experimental.make_batched_features_dataset": "tf.data.experimental.make_batched_features_dataset",
    "data.experimental.make_csv_dataset": "tf.data.experimental.make_csv_dataset",
    "data.experimental.sample_from_datasets": "tf.data.experimental.sample_from_datasets",
    "debugging.assert_all_finite": "checks.verify_tensor_all_finite",
    "debugging.assert_equal": "checks.assert_equal",
    "debugging.assert_greater": "checks.assert_greater",
    "debugging.assert_greater_equal": "checks.assert_greater_equal",
    "debugging.assert_integer": "checks.assert_integer",
    "debugging.assert_less": "checks.assert_less",
    "debugging.assert_less_equal": "checks.assert_less_equal",
    "debugging.assert_near": "checks.assert_near",
    "debugging.assert_negative": "checks.assert_negative",
    "debugging.assert_non_negative": "checks.assert_non_negative",
    "debugging.assert_non_positive": "checks.assert_non_positive",
    "debugging.assert_none_equal": "checks.assert_none_equal",
    "debugging.assert_positive": "checks.assert_positive",
    "debugging.assert_rank": "checks.assert_rank",
    "debugging.assert_rank_at_least": "checks.assert_rank_at_least",
    "debugging.assert_rank_in": "checks.assert_rank_in",
    "debugging.assert_scalar": "checks.assert_scalar",
    "debugging.assert_shapes": "checks.assert_shapes",
    "debugging.assert_type": "checks.assert_type",
    "errors.error_code_from_exception_type": "tf.errors.error_code_from_exception_type",
    "errors.exception_type_from_error_code": "tf.errors.exception_type_from_error_code",
    "extract_image_patches": "image.extract_image_patches",
    "get_seed": "arithmetic.get_seed",
    "io.decode_csv": "parsing.decode_csv",
    "io.decode_raw": "parsing.decode_raw",
    "io.match_filenames_once": "train.producers.match_filenames_once",
    "io.parse_example": "parsing.parse_example",
    "io.parse_single_example": "parsing.parse_single_example",
    "linalg.norm": "reductions.norm",
    "linalg.transpose": "tf.linalg.matrix_transpose",
    "lookup.StaticHashTable": "lookup.StaticHashTable",
    "lookup.StaticVocabularyTable": "lookup.StaticVocabularyTable",
    "manip.batch_to_space_nd": "arrays.batch_to_space_nd",
    "manip.gather_nd": "arrays.gather_nd",
    "manip.reshape": "tf.reshape",
    "python_io.TFRecordCompressionType": "io.TFRecordCompressionType",
    "python_io.tf_record_iterator": "io.tf_record_iterator",
    "random.get_seed": "arithmetic.get_seed",
    "random.multinomial": "arithmetic.multinomial",
    "random.poisson": "arithmetic.random_poisson",
    "random.set_random_seed": "arithmetic.set_random_seed",
    "random.stateless_multinomial": "arithmetic.stateless_multinomial",
    "saved_model.builder.SavedModelBuilder": "saved_model.Builder",
    "saved_model.loader.load": "saved_model.load",
    "saved_model.loader.maybe_saved_model_directory": "saved_model.maybe_saved_model_directory",
    "saved_model.main_op.main_op": "saved_model.main_op_function",
    "saved_model.main_op.main_op_with_restore": "saved_model.main_op_with_restore",
    "saved_model.signature_def_utils.build_signature_def": "saved_model.build_signature_def",
    "saved_model.signature_def_utils.classification_signature_def": "saved_model.classification_signature_def",
    "saved_model.signature_def_utils.is_valid_signature": "saved_model.is_valid_signature",
    "saved_model.signature_def_utils.predict_signature_def": "saved_model.predict_signature_def",
    "saved_model.signature_def_utils.regression_signature_def": "saved_model.regression_signature_def",
    "saved_model.utils.build_tensor_info": "saved_model.build_tensor_info",
    "saved_model.utils.get_tensor_from_tensor_info": "saved_model.get_tensor_from_tensor_info",
    "serialize_many_sparse": "io.serialize_many_sparse",
    "serialize_sparse": "io.serialize_sparse",
    "sparse.placeholder": "placeholders.sparse_placeholder",
    "sparse_add": "sparse.add",
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
    "string_split": "texts.string_split",
    "strings.length": "texts.length",
    "strings.reduce_join": "texts.reduce_join",
    "strings.split": "texts.split",
    "strings.substr": "texts.substr",
    "strings.to_hash_bucket": "texts.string_to_hash_bucket",
    "strings.to_number": "texts.string_to_number",
    "variable_creator_scope": "tf.variable_creator_scope",
}
# The constants of SavedModels, which are in namespaces of their own, too.
_OWN |= {
    f"saved_model.{place}.{name}": f"tf.saved_model.{name}"
    for place, constants in {
        "constants": "ASSETS_DIRECTORY ASSETS_KEY DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB SAVED_MODEL_FILENAME_PB "
        "SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY VARIABLES_FILENAME",
        "signature_constants": "CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES "
        "DEFAULT_SERVING_SIGNATURE_DEF_KEY PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS "
        "REGRESS_METHOD_NAME REGRESS_OUTPUTS",
        "tag_constants": "GPU SERVING TPU TRAINING",
    }.items()
    for name in constants.split()
} | {f"saved_model.constants.{name}": f"saved_model.{name}" for name in ("LEGACY_INIT_OP_KEY", "MAIN_OP_KEY")}
_FILE = pathlib.Path(__file__).with_name("names.txt")


@functools.cache
def _places() -> dict[str, str]:
    """Returns a map from names below `tf.compat.v1` to those below `tf`."""
    lines = [line.split() for line in _FILE.read_text(encoding="utf-8").splitlines()]
    return {line[0]: line[-1] for line in lines}


@functools.cache
def _namespaces() -> frozenset[str]:
    namespaces: set[str] = set()
    for name in (*_places(), *_OWN):
        parts = name.split(".")
        namespaces.update(".".join(parts[:i]) for i in range(1, len(parts)))
    return frozenset(namespaces)


def _resolved(path: str) -> Any:
    import tapeflow

    value: Any = tapeflow
    for part in path.split("."):
        value = getattr(value, part)
    return value


def finder(namespace: str = "") -> Callable[[str], Any]:
    """Returns the `__getattr__` of a namespace of `tf.compat.v1`."""

    def find(name: str) -> Any:
        path = f"{namespace}.{name}" if namespace else name
        if _OWN.get(path, "").startswith("tf."):
            return _resolved(_OWN[path].removeprefix("tf."))
        if path in _OWN:
            module, _, function = _OWN[path].rpartition(".")
            return getattr(importlib.import_module(f"tapeflow.compat.v1.{module}"), function)
        place = _places().get(path)
        if place is not None:
            try:
                return _resolved(place)
            except AttributeError:
                pass
        elif path in _namespaces():
            return _namespace(path)
        raise AttributeError(f"module 'tapeflow.compat.v1{namespace and '.' + namespace}' has no attribute {name!r}")

    return find


@functools.cache
def _namespace(path: str) -> types.ModuleType:
    """Returns a namespace: the module of that name, or a module of names that are all defined elsewhere."""
    name = f"tapeflow.compat.v1.{path}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
    module = types.ModuleType(name, f"The public `tf.compat.v1.{path}` namespace.")
    module.__getattr__ = finder(path)  # type: ignore[method-assign]  # a module's own look-up, see PEP 562
    return module


def listed(namespace: str = "") -> list[str]:
    """Returns the names that `finder` finds in a namespace."""
    prefix = f"{namespace}." if namespace else ""
    paths = [*_places(), *_OWN]
    return sorted({name.removeprefix(prefix).partition(".")[0] for name in paths if name.startswith(prefix)})
