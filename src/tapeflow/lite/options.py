"""The options of a conversion, as TensorFlow names them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import Any


class OpsSet(enum.StrEnum):
    """The sets of operators that a file may use. TapeFlow writes the builtin ones.

    Attributes:
        TFLITE_BUILTINS: the builtin operators.
        SELECT_TF_OPS: TensorFlow's ops, which a runtime with TensorFlow's kernels has; accepted, and none is written.
        TFLITE_BUILTINS_INT8: the builtin operators in int8: all operators must be quantized.
        EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8: with int16 activations and int8 weights.
        EXPERIMENTAL_STABLEHLO_OPS: not supported.

    Example:
        >>> tf.lite.TargetSpec([tf.lite.OpsSet.TFLITE_BUILTINS_INT8]).supported_ops
        [<OpsSet.TFLITE_BUILTINS_INT8: 'TFLITE_BUILTINS_INT8'>]
    """

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = (
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    )
    EXPERIMENTAL_STABLEHLO_OPS = "EXPERIMENTAL_STABLEHLO_OPS"

    @staticmethod
    def get_options() -> list[str]:
        """Returns the names of all sets."""
        return [str(option) for option in OpsSet]


class Optimize(enum.StrEnum):
    """Options that make a file smaller and faster.

    Attributes:
        DEFAULT: quantizes. Weights become int8. With a representative dataset, activations do, too. With float16 among
            the supported types, weights become float16.
        OPTIMIZE_FOR_SIZE: the same.
        OPTIMIZE_FOR_LATENCY: the same.
        EXPERIMENTAL_SPARSITY: accepted, without effect.

    Example:
        >>> converter = tf.lite.TFLiteConverter.from_concrete_functions(
        ...     [tf.function(tf.nn.relu).get_concrete_function(tf.TensorSpec([None, 2]))])
        >>> converter.optimizations = [tf.lite.Optimize.DEFAULT]
    """

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"


class RepresentativeDataset:
    """Samples of a model's inputs, which set the ranges of its activations.

    Args:
        input_gen: a function that returns an iterable of samples. A sample is a list of arrays in the order of the
            inputs, a dict of them by name, or a pair of a signature's key and such a dict.

    Example:
        >>> import numpy as np
        >>> data = tf.lite.RepresentativeDataset(lambda: ([np.ones([1, 4], "float32")] for _ in range(8)))
        >>> len(list(data.input_gen()))
        8
    """

    def __init__(self, input_gen: Callable[[], Iterable[Any]]) -> None:
        self.input_gen = input_gen


class TargetSpec:
    """The abilities of the device that runs a file.

    Args:
        supported_ops: a list of `OpsSet`s; by default the builtin ones.
        supported_types: the dtypes of weights, such as `[tf.float16]`.
        experimental_select_user_tf_ops: accepted, without effect.
        experimental_supported_backends: accepted, without effect.

    Example:
        >>> spec = tf.lite.TargetSpec(supported_types=[tf.float16])
        >>> spec.supported_ops
        {<OpsSet.TFLITE_BUILTINS: 'TFLITE_BUILTINS'>}
    """

    def __init__(
        self, supported_ops: Iterable[OpsSet] | None = None, supported_types: Iterable[Any] | None = None,
        experimental_select_user_tf_ops: Iterable[str] | None = None,
        experimental_supported_backends: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        self.supported_ops: Iterable[OpsSet] = {OpsSet.TFLITE_BUILTINS} if supported_ops is None else supported_ops
        self.supported_types: Iterable[Any] = set() if supported_types is None else supported_types
        self.experimental_select_user_tf_ops = set(experimental_select_user_tf_ops or ())
        self.experimental_supported_backends = experimental_supported_backends
