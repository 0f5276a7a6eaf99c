"""`tflite_convert`: writes a .tflite file of a SavedModel or a Keras model, by `tf.lite.TFLiteConverter`."""

from __future__ import annotations

import argparse
from typing import Any

from tapeflow.core.lazy_modules import load
from tapeflow.io import gfile
from tapeflow_compat.tensorflow_python.tools.commands import add_switch, add_text, run_command, split_names

_INPUT_TYPES = ("float32", "int8", "uint8", "FLOAT", "INT8", "QUANTIZED_UINT8")


def main() -> None:
    """Runs the command in `sys.argv`, and ends the process."""
    parser = argparse.ArgumentParser("tflite_convert", description="Writes a model as a TensorFlow Lite file.")
    models = parser.add_mutually_exclusive_group(required=True)
    for name, text in (("saved_model_dir", "the directory of a SavedModel"), ("keras_model_file", "a Keras model")):
        models.add_argument(f"--{name}", help=text)
    add_text(parser, "output_file", "the file to write", required=True)
    add_text(parser, "saved_model_tag_set", "the tags of the graph, joined by commas", "serve")
    add_text(parser, "saved_model_signature_key", "the signature", None)
    add_switch(parser, "post_training_quantize", "quantize the weights")
    add_switch(parser, "quantize_to_float16", "quantize the weights to float16, with --post_training_quantize")
    add_text(parser, "inference_input_type", "the dtype of the inputs", None, choices=_INPUT_TYPES)
    add_text(parser, "inference_type", "the dtype of the outputs", None, choices=_INPUT_TYPES)
    add_text(parser, "target_ops", "names of tf.lite.OpsSet, joined by commas")
    add_switch(parser, "allow_custom_ops", "write ops that TensorFlow Lite lacks, for a runtime that has them")
    options = parser.parse_args()
    run_command("tflite_convert", lambda: _convert_model(options))


def _convert_model(options: argparse.Namespace) -> None:
    """Converts the model that the flags name, and writes the file.

    Raises:
        OSError: there is no such model.
        ValueError, ...: it can't be converted; see `tf.lite.TFLiteConverter`.
    """
    tf: Any = load("tapeflow")
    if options.saved_model_dir:
        keys = [options.saved_model_signature_key] if options.saved_model_signature_key else None
        tags = split_names(options.saved_model_tag_set)
        converter = tf.lite.TFLiteConverter.from_saved_model(options.saved_model_dir, signature_keys=keys, tags=tags)
    else:
        model = tf.keras.models.load_model(options.keras_model_file, compile=False)
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if options.post_training_quantize:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if options.quantize_to_float16:
            converter.target_spec.supported_types = [tf.float16]
    types = {"float": "float32", "quantized_uint8": "uint8"}
    for attribute, flag in (("input", options.inference_input_type), ("output", options.inference_type)):
        if flag:
            setattr(converter, f"inference_{attribute}_type", tf.dtypes.as_dtype(types.get(flag.lower(), flag.lower())))
    if options.target_ops:
        converter.target_spec.supported_ops = [
            getattr(tf.lite.OpsSet, name) for name in split_names(options.target_ops)
        ]
    converter.allow_custom_ops = options.allow_custom_ops
    content = converter.convert()
    with gfile.GFile(options.output_file, "wb") as file:
        file.write(content)
