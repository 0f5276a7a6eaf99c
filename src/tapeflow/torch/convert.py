"""Converting a model to files for torch and ONNX Runtime, and checking them on sample inputs."""

from __future__ import annotations

import linecache
import os
import runpy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from tapeflow.torch import standalone
from tapeflow.torch.module import Converted, module
from tapeflow.torch.unconvertible import Unconvertible

FORMATS = ("torch", "pt2", "onnx", "aoti")
_WHILE_LOOP = torch.ops.higher_order.while_loop
_BATCH = 3  # the size of the samples' unknown dimensions


def convert(x: Any, to: str, output: str | os.PathLike[str], inputs: Sequence[torch.Tensor] | None = None) -> float:
    """Converts a TensorFlow model to files, and runs these on sample inputs.

    Dimensions that the model leaves open, such as the batch, stay open. Text and tables before the model are written
    beside it, as a SavedModel: see `preprocessing_folder`.

    Args:
        x: a module of `tapeflow.torch.module`, or what that takes.
        to: "torch", a folder with `model.py`, which needs torch alone, and its weights in the safetensors format;
            "pt2", a file of an ExportedProgram; "onnx", a file for ONNX Runtime (needs `onnx`, `onnxscript` and
            `onnxruntime`); or "aoti", a package of compiled code that a C++ program loads without Python (needs a C++
            compiler).
        output: the folder or file to write; that of "aoti" ends in `.pt2`.
        inputs: sample inputs; by default random numbers from 0 to 1, and zeros and ones for integers.

    Returns:
        The largest difference between an output of the files and the same output of the model.

    Raises:
        ValueError: there is no such format.
        OSError: there is no C++ compiler.
        TypeError: the model has no form in torch; the message names the op.

    Example:
        >>> import tempfile
        >>> f = tf.function(lambda x: tf.nn.softmax(x))
        >>> m = tf.torch.module(f, tf.TensorSpec([None, 3]))
        >>> tf.torch.convert(m, "torch", tempfile.mkdtemp())
        0.0
    """
    if to not in FORMATS:
        raise ValueError(f"There is no format {to!r}: it is one of {', '.join(FORMATS)}.")
    model = (x if isinstance(x, Converted) else module(x)).eval()
    samples = list(inputs) if inputs is not None else sample_inputs(model)
    with torch.no_grad():
        expected = pytree.tree_leaves(model(*samples))
        program = exported(model, samples)
        if to == "torch":
            results = _as_source(program, model.input_names, output, samples)
        elif to == "pt2":
            torch.export.save(program, os.fspath(output))
            results = pytree.tree_leaves(torch.export.load(os.fspath(output)).module()(*samples))
        elif to == "aoti":
            results = _as_package(program, output, samples)
        else:
            results = _as_onnx(program, model.input_names, output, samples)
    if model.preprocessing is not None:
        model.preprocessing.save(preprocessing_folder(to, output))
    return max((_difference(e, r) for e, r in zip(expected, results, strict=True)), default=0.0)


def preprocessing_folder(to: str, output: str | os.PathLike[str]) -> str:
    """Returns the folder of the SavedModel whose function `preprocess` computes a converted model's inputs from text.

    Args:
        to, output: as of `convert`.
    """
    path = os.fspath(output)
    return os.path.join(path, "preprocessing") if to == "torch" else f"{os.path.splitext(path)[0]}_preprocessing"


def sample_inputs(model: Converted) -> list[torch.Tensor]:
    """Returns random inputs of a module."""
    generator = torch.Generator().manual_seed(0)
    samples = []
    for shape, dtype in model.input_specs:
        sizes = [_BATCH if d is None else d for d in shape]
        if dtype.is_floating_point or dtype.is_complex:
            samples.append(torch.rand(sizes, generator=generator, dtype=dtype))
        else:
            samples.append(torch.randint(0, 2, sizes, generator=generator).to(dtype))
    return samples


def exported(model: Converted, samples: Sequence[torch.Tensor]) -> torch.export.ExportedProgram:
    """Returns a module as torch exports it, with the dimensions open that the TensorFlow function leaves open.

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
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise Unconvertible(f"torch.export can't trace the model{where}: {first}") from error


def _operation_of(error: BaseException) -> str | None:
    """Returns the line of a module's source that an error came from, or None."""
    line, trace = None, error.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if filename.startswith("<function forward"):
            line = linecache.getline(filename, trace.tb_lineno).strip()
        trace = trace.tb_next
    return line


def _as_source(
    program: torch.export.ExportedProgram, names: list[str], output: str | os.PathLike[str],
    samples: Sequence[torch.Tensor],
) -> list[torch.Tensor]:  # fmt: skip
    standalone.write(program, names, output)
    model = runpy.run_path(os.path.join(output, "model.py"))["Model"]()
    return pytree.tree_leaves(model(*samples))


def _as_onnx(
    program: torch.export.ExportedProgram, names: list[str], output: str | os.PathLike[str],
    samples: Sequence[torch.Tensor],
) -> list[torch.Tensor]:  # fmt: skip
    import onnxruntime

    path, table = os.fspath(output), {_WHILE_LOOP: _onnx_loop()}
    torch.onnx.export(
        program, tuple(samples), path, dynamo=True, input_names=names, verbose=False, custom_translation_table=table
    )
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = {i.name: s.numpy(force=True) for i, s in zip(session.get_inputs(), samples, strict=True)}
    return [torch.from_numpy(np.asarray(r)) for r in session.run(None, feeds)]


def _onnx_loop() -> Callable[..., Any]:
    """Returns torch's own translation of `while_loop`, whose calls of functions are of no version of their domain.

    Those of its conditionals are not either; where both are in one model, torch 2.13 fails to inline the functions.
    """
    from torch.onnx._internal.exporter import _core, _registration

    registry = _registration.ONNXRegistry.from_torchlib()
    (entry,) = registry.get_decomps(_WHILE_LOOP)

    def translate(*args: Any) -> Any:
        outputs = entry.onnx_function(*args)
        for node in _core.current_tracer.nodes:  # type: ignore[union-attr]
            if node.domain.startswith("pkg."):
                node.version = None
        return outputs

    return translate


def _as_package(
    program: torch.export.ExportedProgram, output: str | os.PathLike[str], samples: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    from torch._inductor import aoti_compile_and_package, aoti_load_package
    from torch._inductor.exc import InvalidCxxCompiler

    try:
        path = aoti_compile_and_package(program, package_path=os.fspath(output))
    except InvalidCxxCompiler as error:
        raise OSError("aoti needs a C++ compiler, and there is none") from error
    return pytree.tree_leaves(aoti_load_package(path)(*samples))


def _difference(expected: torch.Tensor, result: torch.Tensor) -> float:
    if expected.shape != result.shape:
        return float("inf")
    if not expected.numel():
        return 0.0
    kind = torch.complex128 if expected.is_complex() else torch.float64
    return (expected.to(kind) - result.to(kind)).abs().max().item()
