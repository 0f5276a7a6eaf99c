"""`python -m tapeflow convert` and `serve`: models in files, from the command line."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any

import numpy as np
import torch

from tapeflow.torch.convert import FORMATS, convert
from tapeflow.torch.module import Converted, module


def convert_command(arguments: list[str]) -> int:
    """Converts the model that a command line names, and returns the exit status."""
    parser = argparse.ArgumentParser("python -m tapeflow convert", description="Converts a TensorFlow model.")
    parser.add_argument("model", help="the folder of a SavedModel, or a .keras or .h5 file")
    parser.add_argument("--to", choices=FORMATS, required=True, help="the format to write")
    parser.add_argument("--output", help="the folder or file to write; by default beside the model")
    parser.add_argument("--inputs", help="an .npz file with sample inputs, in the order of the model's")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="the largest difference that is no failure")
    options = parser.parse_args(arguments)
    stem = os.path.splitext(os.path.normpath(options.model))[0]
    output = options.output or stem + {"torch": "_torch", "pt2": ".pt2", "onnx": ".onnx"}[options.to]
    try:
        inputs = None
        if options.inputs:
            with np.load(options.inputs, allow_pickle=False) as arrays:
                inputs = [torch.from_numpy(arrays[name]) for name in arrays.files]
        difference = convert(load_module(options.model), options.to, output, inputs)
    except (OSError, TypeError, ValueError) as error:
        print(f"python -m tapeflow convert: {error}", file=sys.stderr)
        return 1
    print(f"{output}: on sample inputs, the largest difference of an output is {difference:.3g}")
    return 0 if difference <= options.tolerance else 1


def load_module(path: str) -> Converted:
    """Returns the module of a model in a file.

    Args:
        path: the folder of a SavedModel, or a .keras or .h5 file.

    Raises:
        OSError: there is no such file.
        TypeError: torch lacks what the model does.
    """
    if os.path.isdir(path):
        return module(path)
    if not os.path.exists(path):
        raise OSError(f"there is no model {path}")
    keras: Any = importlib.import_module("tapeflow.keras")
    return module(keras.models.load_model(path, compile=False))
