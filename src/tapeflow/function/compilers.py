"""The compiler of a `tf.function`, from its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core import device as devices
from tapeflow.core.logger import get_logger
from tapeflow.graph.codegen.compile import JitCompile

# All but the first are TensorFlow's, without effect here.
_ATTRIBUTES = frozenset(
    {"cuda_graph", "api_implements", "api_preferred_device", "disable_summaries_at_runtime",
     "experimental_ints_on_device", "function_runs_at_most_once", "go_backwards", "runtime_constant_optimization",
     "time_major", "_disable_acd", "_implements", "_noinline", "_OutputsOnOpDevice", "_tf_data_function"}
)  # fmt: skip


def check_attributes(attributes: Mapping[str, Any]) -> None:
    """Checks the `experimental_attributes` of a `tf.function`.

    Args:
        attributes: the attributes by their names.

    Raises:
        ValueError: an attribute has another name, or "cuda_graph" is no bool.
    """
    for name, value in dict(attributes).items():
        if name not in _ATTRIBUTES:
            raise ValueError(f"`{name} is not supported by tf.function as an attribute.")
        if name == "cuda_graph" and type(value) is not bool:
            raise ValueError(f"`cuda_graph` must be True or False, not {value!r}.")


def compiler_of(name: str, jit_compile: bool, cuda_graph: bool) -> JitCompile | None:
    """Returns the compiler of a `tf.function`, or None if it has none.

    Args:
        name: the function's name.
        jit_compile, cuda_graph: the options of the `tf.function`.
    """
    if devices.machine.has_gpu:
        from tapeflow.graph.backends.torch_compile import TorchCompile  # it loads parts of torch's compiler

        return TorchCompile(name, cuda_graph)
    if cuda_graph:
        get_logger().warning("tf.function %s: cuda_graph=True has no effect, because there is no GPU here.", name)
    return JitCompile(name) if jit_compile else None
