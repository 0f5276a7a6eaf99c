"""`tapeflow convert` and `show`: models in files, from the command line."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core import errors
from tapeflow.lite.converter import TFLiteConverter
from tapeflow.saved_model.description import describe_checkpoint, describe_saved_model
from tapeflow.saved_model.messages import contains_saved_model
from tapeflow.torch.convert import FORMATS, convert, preprocessing_folder
from tapeflow.torch.module import Converted, module


def convert_command(arguments: list[str]) -> int:
    """Converts the model that a command line names, and returns the exit status."""
    parser = argparse.ArgumentParser("tapeflow convert", description="Converts a TensorFlow model.")
    parser.add_argument("model", help="a SavedModel's folder, or a .keras, .h5, .pb or .meta file")
    parser.add_argument("--to", choices=(*FORMATS, "tflite"), required=True, help="the format to write")
    parser.add_argument("--output", help="the folder or file to write; by default beside the model")
    parser.add_argument("--outputs", help="the tensors that a file of TensorFlow 1 is to return, joined by commas")
    parser.add_argument("--training", action="store_true", help="convert what a file of TensorFlow 1 does in training")
    parser.add_argument("--inputs", help="an .npz file with sample inputs, in the order of the model's")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="the largest difference that is no failure")
    options = parser.parse_args(arguments)
    stem = os.path.splitext(os.path.normpath(options.model))[0]
    endings = {"torch": "_torch", "pt2": ".pt2", "onnx": ".onnx", "aoti": "_aoti.pt2", "tflite": ".tflite"}
    output = options.output or stem + endings[options.to]
    if options.to == "tflite":
        return _convert_to_tflite(options.model, output, options.tolerance)
    try:
        inputs = None
        if options.inputs:
            with np.load(options.inputs, allow_pickle=False) as arrays:
                inputs = [torch.from_numpy(arrays[name]) for name in arrays.files]
        names = options.outputs.split(",") if options.outputs else None
        model = load_module(options.model, names, options.training)
        difference = convert(model, options.to, output, inputs)
    except (OSError, TypeError, ValueError, ModuleNotFoundError) as error:
        print(f"tapeflow convert: {options.model}: {error}", file=sys.stderr)
        return 1
    print(f"{output}: on sample inputs, the largest difference of an output is {difference:.3g}")
    if model.preprocessing is not None:
        folder = preprocessing_folder(options.to, output)
        print(f"{folder}: a SavedModel with the text and tables before it, whose `preprocess` computes its inputs")
    return 0 if difference <= options.tolerance else 1


def _convert_to_tflite(path: str, output: str, tolerance: float) -> int:
    """Converts a SavedModel or a Keras file to a .tflite file, runs it, and returns the exit status."""
    try:
        if os.path.isdir(path):
            converter = TFLiteConverter.from_saved_model(path)
        else:
            converter = TFLiteConverter.from_keras_model(_keras_model(path))
        content = converter.convert()
        difference = converter.check(content)
        with open(output, "wb") as file:
            file.write(content)
    except (ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        print(f"tapeflow convert: {path}: {error}", file=sys.stderr)
        return 1
    size = f"{len(content):,} bytes"
    print(f"{output}: {size}; on random inputs, the largest relative difference of an output is {difference:.3g}")
    return 0 if difference <= tolerance else 1


def _keras_model(path: str) -> Any:
    """Returns the model of a .keras or .h5 file.

    Raises:
        OSError: there is no such file.
    """
    if not os.path.exists(path):
        raise OSError(f"there is no model {path}")
    if path.endswith(".onnx"):
        raise OSError("the package onnx2tf makes a SavedModel of an ONNX file: tapeflow -m onnx2tf -i FILE -o FOLDER")
    keras: Any = importlib.import_module("tapeflow.keras")
    return keras.models.load_model(path, compile=False)


def show_command(arguments: list[str]) -> int:
    """Prints what is in the model that a command line names, and returns the exit status."""
    parser = argparse.ArgumentParser("tapeflow show", description="Prints what is in a model.")
    parser.add_argument("model", help="a SavedModel's folder, a .keras or .h5 file, or a checkpoint")
    path = parser.parse_args(arguments).model
    try:
        if contains_saved_model(path):
            print(describe_saved_model(path))
        elif path.endswith((".keras", ".h5", ".hdf5")):
            _keras_model(path).summary()
        else:
            print(describe_checkpoint(path))
    except (OSError, TypeError, ValueError, errors.OpError) as error:
        print(f"tapeflow show: {path}: {error}", file=sys.stderr)
        return 1
    return 0


def load_module(path: str, outputs: Sequence[str] | None, training: bool) -> Converted:
    """Returns the module of a model in a file.

    Args:
        path: the folder of a SavedModel, a .keras or .h5 file, or a file of TensorFlow 1 (see `module`).
        outputs: the names of the tensors that a file of TensorFlow 1 is to return.
        training: True if a file of TensorFlow 1 computes as in training.

    Raises:
        OSError: there is no such file.
        TypeError: torch lacks an op of the model.
    """
    is_checkpoint = os.path.exists(f"{path.removesuffix('.meta')}.meta")
    if os.path.isdir(path) or is_checkpoint or path.endswith(".pb"):
        return module(path, outputs=outputs, training=training)
    return module(_keras_model(path))
