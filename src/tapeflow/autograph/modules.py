"""Modules whose code is never converted: TapeFlow, common libraries, and the standard library."""

from __future__ import annotations

import functools
import sys

_LIBRARIES = frozenset({
    "tapeflow", "tensorflow", "keras", "tf_keras", "torch", "numpy", "ml_dtypes", "scipy", "pandas", "matplotlib",
    "PIL", "absl", "google", "tensorboard", "tensorflow_datasets", "tensorflow_probability", "pytest", "_pytest",
    "opt_einsum", "tqdm",
})  # fmt: skip


@functools.lru_cache(1024)
def never_converted(module: str | None) -> bool:
    """Returns True if functions of a module are called unconverted."""
    if not module:
        return False
    root = module.partition(".")[0]
    return root in _LIBRARIES or (root in sys.stdlib_module_names and root != "__main__")
