"""Converting a model to files for torch and ONNX Runtime, and checking them on sample inputs."""

from __future__ import annotations

import linecache
import os
import runpy
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch

from tapeflow.core import aten
from tapeflow.torch import sample_inputs, standalone
from tapeflow.torch.module import Converted, module
from tapeflow.torch.unconvertible import Unconvertible

FORMATS = ("torch", "pt2", "onnx", "aoti")
_OF_ONNX = ("onnx", "onnxscript", "onnxruntime")
_WHILE_LOOP = torch.ops.higher_order.while_loop


def convert(
    x: Any,
    to: str,
    output: str | os.PathLike[str],
    inputs: Sequence[torch.Tensor] | None = None,
    opset_version: int | None = None,
) -> float:
    """Converts a TensorFlow model to files, and runs these on sample inputs.

    Dimensions that the model leaves open, such as the batch, stay open: the files run on samples of two sizes. Text and
    tables before the model are written beside it, as a SavedModel: see `preprocessing_folder`.

    Args:
        x: a module of `tapeflow.torch.module`, or an argument for it.
        to: "torch", a folder with `model.py`, which needs torch alone, and its weights in the safetensors format;
            "pt2", a file of an ExportedProgram; "onnx", a file for ONNX Runtime (needs `onnx`, `onnxscript` and
            `onnxruntime`); or "aoti", a package of compiled code that a C++ program loads without Python (needs a C++
            compiler).
        output: the folder or file to write; for "aoti" it ends in `.pt2`.
        inputs: sample inputs; by default random numbers from 0 to 1, and zeros and ones for integers, of sizes for
            which no output is empty.
        opset_version: the version of ONNX's operators; by default the one that torch chooses.

    Returns:
        The largest difference between an output of the files and the same output of the model.

    Raises:
        ValueError: there is no such format, or an output is empty or NaN for the sample inputs.
        OSError: there is no C++ compiler.
        ModuleNotFoundError: a package for ONNX is missing; the message says how to install it.
        TypeError: the model has no form in torch, or only one for inputs of some sizes; the message names the op.

    Example:
        >>> import tempfile
        >>> f = tf.function(lambda x: tf.nn.softmax(x))
        >>> m = tf.torch.module(f, tf.TensorSpec([None, 3]))
        >>> tf.torch.convert(m, "torch", tempfile.mkdtemp())
        0.0
    """
    if to not in FORMATS:
        raise ValueError(f"There is no format {to!r}: it is one of {', '.join(FORMATS)}.")
    lacking = [name for name in _OF_ONNX if find_spec(name) is None] if to == "onnx" else []
    if lacking:
        names = ", ".join(lacking)
        raise ModuleNotFoundError(f"ONNX needs {names}: pip install 'tapeflow[onnx]'", name=lacking[0])
    model = (x if isinstance(x, Converted) else module(x)).eval()
    with torch.no_grad():
        checked = (
            sample_inputs.random_samples(model) if inputs is None else sample_inputs.given_samples(model, list(inputs))
        )
        program = export_module(model, checked[0].inputs)
        limit = sample_inputs.largest_size(program)
        if limit is not None and inputs is None:
            checked, program = _beyond_limit(model, limit) or (checked, program)
        if to == "torch":
            standalone.write(program, model.input_names, output)
            run = _flatten_results(runpy.run_path(os.path.join(output, "model.py"))["Model"]())
        elif to == "pt2":
            torch.export.save(program, os.fspath(output))
            run = _flatten_results(torch.export.load(os.fspath(output)).module())
        elif to == "aoti":
            run = _as_package(program, output)
        else:
            run = _as_onnx(program, model.input_names, output, checked[0].inputs, opset_version)
        difference = sample_inputs.largest_difference(run, checked)
    if model.preprocessing is not None:
        model.preprocessing.save(preprocessing_folder(to, output))
    return difference


def preprocessing_folder(to: str, output: str | os.PathLike[str]) -> str:
    """Returns the folder of the SavedModel whose function `preprocess` computes a converted model's inputs from text.

    Args:
        to: the format of the converted model, such as "torch" or "onnx".
        output: the path of the converted model.
    """
    path = os.fspath(output)
    return os.path.join(path, "preprocessing") if to == "torch" else f"{os.path.splitext(path)[0]}_preprocessing"


def _beyond_limit(
    model: Converted, limit: int
) -> tuple[list[sample_inputs.Sample], torch.export.ExportedProgram] | None:
    """Returns samples with a size above a program's limit, and a program for them; None if the model takes none.

    Raises:
        Unconvertible: `torch.export` can't trace it.
    """
    try:
        samples = sample_inputs.random_samples(model, above=limit)
    except ValueError:  # the limit is the model's own
        return None
    return samples, export_module(model, samples[0].inputs)


def export_module(model: Converted, samples: Sequence[torch.Tensor]) -> torch.export.ExportedProgram:
    """Exports a module. The dimensions that are None in the TensorFlow function stay dynamic.

    Raises:
        Unconvertible: `torch.export` can't trace it.
    """
    dynamic = tuple(
        {i: torch.export.Dim.DYNAMIC for i, d in enumerate(shape) if d is None} for shape, _ in model.input_specs
    )
    try:
        return torch.export.export(model, tuple(samples), dynamic_shapes=(dynamic,))
    except (RuntimeError, ValueError) as error:
        operation = _operation_of(error)
        where = "" if operation is None else f" at the line\n    {operation}\n"
        reason = sample_inputs.first_line(error)
        raise Unconvertible(f"torch.export can't trace the model{where}: {reason}") from error


def _operation_of(error: BaseException) -> str | None:
    """Returns the line of a module's source that an error came from, or None."""
    line, trace = None, error.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if filename.startswith("<function forward"):
            line = linecache.getline(filename, trace.tb_lineno).strip()
        trace = trace.tb_next
    return line


def _flatten_results(function: Callable[..., Any]) -> sample_inputs.Run:
    return lambda samples: aten.pytree.tree_leaves(function(*samples))


def _as_onnx(
    program: torch.export.ExportedProgram, names: list[str], output: str | os.PathLike[str],
    samples: Sequence[torch.Tensor], opset_version: int | None,
) -> sample_inputs.Run:  # fmt: skip
    import onnxruntime

    path, table = os.fspath(output), {_WHILE_LOOP: _onnx_loop()}
    torch.onnx.export(
        program, tuple(samples), path, dynamo=True, input_names=names, verbose=False, custom_translation_table=table,
        opset_version=opset_version,
    )  # fmt: skip
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def run(samples: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        feeds = {i.name: s.numpy(force=True) for i, s in zip(session.get_inputs(), samples, strict=True)}
        return [torch.from_numpy(np.asarray(r)) for r in session.run(None, feeds)]

    return run


def _onnx_loop() -> Callable[..., Any]:
    """Returns torch's own translation of `while_loop`, whose calls of functions are of no version of their domain.

    Its conditionals lack the version too. If a model has both loops and conditionals, torch 2.13 fails to inline the
    functions.
    """
    registry = aten.ONNXRegistry.from_torchlib()
    (entry,) = registry.get_decomps(_WHILE_LOOP)

    def translate(*args: Any) -> Any:
        outputs = entry.onnx_function(*args)
        for node in aten.onnx_core.current_tracer.nodes:
            if node.domain.startswith("pkg."):
                node.version = None
        return outputs

    return translate


def _as_package(program: torch.export.ExportedProgram, output: str | os.PathLike[str]) -> sample_inputs.Run:
    try:
        path = aten.aoti_compile_and_package(program, package_path=os.fspath(output))
    except aten.InvalidCxxCompiler as error:
        raise OSError("aoti needs a C++ compiler, and there is none") from error
    return _flatten_results(aten.aoti_load_package(path))
