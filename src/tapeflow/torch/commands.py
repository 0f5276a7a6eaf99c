"""`tapeflow convert`, `serve` and `show`: models in files, from the command line."""

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
from tapeflow.serving.models import Servable
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
    keras: Any = importlib.import_module("tapeflow.keras")
    return keras.models.load_model(path, compile=False)


_FLAGS = """flags of tensorflow_model_server:
  --port                           --grpc-port
  --rest_api_port                  --port
  --model_name, --model_base_path  MODEL as NAME=PATH; several models in the place of --model_config_file
  --enable_batching, max_batch_size, batch_timeout_micros of --batching_parameters_file
                                   --max-batch-size, --batch-timeout-ms; batching is on
  --file_system_poll_wait_seconds  --file-system-poll-wait-seconds
  --tensorflow_session_parallelism --threads
  --monitoring_config_file         counts are at /monitoring/prometheus/metrics
  version labels, CORS, TLS        not supported"""


def serve_command(arguments: list[str]) -> int:
    """Serves the models that a command line names, until the process is told to stop, and returns the exit status."""
    parser = argparse.ArgumentParser(
        "tapeflow serve", description="Serves SavedModels by TensorFlow Serving's REST API and gRPC services.",
        epilog=_FLAGS, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("model", nargs="+", help="NAME=PATH or PATH, of a SavedModel or of a folder of its versions")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at")
    parser.add_argument("--port", type=_port, default=8501, help="the port of the REST API")
    parser.add_argument("--grpc-port", type=_port, help="the port of gRPC, such as 8500; by default none")
    parser.add_argument("--max-batch-size", type=_count, default=32, help="the most rows of a call")
    parser.add_argument("--batch-timeout-ms", type=float, default=1.0, help="how long a request waits for others")
    parser.add_argument("--threads", type=_count, default=1, help="how many calls run at a time")
    parser.add_argument("--max-request-mb", type=_count, default=64, help="the largest body of a request")
    parser.add_argument("--max-result-mb", type=_count, default=256, help="the largest result of a call")
    parser.add_argument(
        "--file-system-poll-wait-seconds", type=float, default=1.0, help="how often to look for new versions; 0: never"
    )
    parser.add_argument("--max-memory-mb", type=_count, help="the most memory of each process; no limit by default")
    options = parser.parse_args(arguments)
    try:
        server: Any = importlib.import_module("tapeflow.serving.server")
        if options.grpc_port is not None:
            importlib.import_module("grpc")
    except ModuleNotFoundError as error:
        print(f"tapeflow serve needs {error.name}: pip install tapeflow[serve]", file=sys.stderr)
        return 1
    try:
        models = [Servable(*_named(argument)) for argument in options.model]
        wait = options.batch_timeout_ms / 1000
        sizes = (options.max_request_mb << 20, options.max_result_mb << 20)
        served = server.Server(models, options.max_batch_size, wait, options.threads, *sizes)
        if options.max_memory_mb is not None:
            _limit_memory(options.max_memory_mb << 20)
        poll = options.file_system_poll_wait_seconds
        server.run(served, options.host, options.port, options.grpc_port, poll)
    except (OSError, ValueError, errors.OpError) as error:
        print(f"tapeflow serve: {error}", file=sys.stderr)
        return 1
    return 0


def show_command(arguments: list[str]) -> int:
    """Prints what is in the model that a command line names, and returns the exit status."""
    parser = argparse.ArgumentParser("tapeflow show", description="Prints what is in a model.")
    parser.add_argument("model", help="a SavedModel's folder, a .keras or .h5 file, or a checkpoint")
    path = parser.parse_args(arguments).model
    try:
        if contains_saved_model(path):
            print(describe_saved_model(path))
        elif path.endswith((".keras", ".h5", ".hdf5")):
            if not os.path.exists(path):
                raise OSError("there is no such file")
            keras: Any = importlib.import_module("tapeflow.keras")
            keras.models.load_model(path, compile=False).summary()
        else:
            print(describe_checkpoint(path))
    except (OSError, TypeError, ValueError, errors.OpError) as error:
        print(f"tapeflow show: {path}: {error}", file=sys.stderr)
        return 1
    return 0


def _count(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return int(text)


def _port(text: str) -> int:
    if not 0 <= int(text) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 65535")
    return int(text)


def _limit_memory(size: int) -> None:
    """Sets the most bytes of memory that this process may have: larger allocations fail, and the calls with them.

    Raises:
        ValueError: the system has no such limits.
    """
    try:
        import resource
    except ImportError:
        raise ValueError("--max-memory-mb needs a system with resource limits, such as Linux.") from None
    resource.setrlimit(resource.RLIMIT_DATA, (size, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _named(argument: str) -> tuple[str, str]:
    """Returns the name and the path of a model on the command line; by default the name is the folder's."""
    name, equals, path = argument.partition("=")
    return (name, path) if equals else (os.path.basename(os.path.abspath(argument)), argument)


def load_module(path: str, outputs: Sequence[str] | None = None, training: bool = False) -> Converted:
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
