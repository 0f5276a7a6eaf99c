"""The settings of the whole process, through `tf.config` and `tf.debugging`."""

from __future__ import annotations

from typing import Any


class Settings:
    """The process-wide settings.

    Attributes:
        run_functions_eagerly: a `tf.function` runs its Python function.
        deterministic: random ops need a seed, and torch uses deterministic kernels and a fixed number of threads.
        log_device_placement: each op logs where it ran.
        traceback_filtering: set by `tf.debugging.enable_traceback_filtering`.
        device_policy: the treatment of inputs on another device: "silent", "silent_for_int32", "warn" or "explicit".
        jit: the argument of `tf.config.optimizer.set_jit`.
        optimizer_options: the argument of `tf.config.optimizer.set_experimental_options`.
        tensor_float_32: float32 products on a GPU may use TensorFloat-32.
        synchronous: accepted; ops are always synchronous to Python, and CUDA's own queue is asynchronous.
    """

    run_functions_eagerly: bool = False
    deterministic: bool = False
    log_device_placement: bool = False
    device_policy: str = "silent"
    jit: str = ""
    synchronous: bool = True
    tensor_float_32: bool = True
    traceback_filtering: bool = True

    def __init__(self) -> None:
        self.optimizer_options: dict[str, Any] = {}


settings = Settings()
