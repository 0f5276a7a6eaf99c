"""`tf.lite.experimental.Analyzer`: prints the contents of a .tflite file."""

from __future__ import annotations

import os
from typing import Any

from tapeflow.lite.extra import require


class Analyzer:
    """Describes .tflite files.

    Example:
        >>> tf.lite.experimental.Analyzer.analyze(model_path="model.tflite")  # doctest: +SKIP
    """

    @staticmethod
    def analyze(
        model_path: str | os.PathLike[str] | None = None, model_content: bytes | None = None,
        gpu_compatibility: bool = False, **kwargs: Any,
    ) -> str | None:  # fmt: skip
        """Prints the subgraphs, operators, tensors and signatures of a file.

        Args:
            model_path: its path.
            model_content: its content, without a path.
            gpu_compatibility: also says which operators the delegate for GPUs lacks.
            kwargs: `experimental_use_mlir` is accepted and refused if true.

        Raises:
            ValueError: there is neither a path nor content.
            ImportError: the extra `tflite` is not installed.

        Example:
            >>> tf.lite.experimental.Analyzer.analyze(model_path="model.tflite")  # doctest: +SKIP
        """
        if not model_path and not model_content:
            raise ValueError("neither `model_path` nor `model_content` is provided")
        if kwargs.get("experimental_use_mlir"):
            raise ValueError("The MLIR of a file needs TensorFlow's binaries.")
        wrapper = require("ai_edge_litert._pywrap_analyzer_wrapper")
        source: Any = os.fspath(model_path) if model_path else model_content
        print(wrapper.ModelAnalyzer(source, bool(model_path), gpu_compatibility))
        return None
