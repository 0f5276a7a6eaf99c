"""The public names of objects defined in the modules inside TensorFlow, read from `names.txt`.

A rule cannot say which: `array_ops.gather` is `tf.compat.v1.gather`, as `gather_v2` is `tf.gather`, but
`math_ops.reduce_sum` is TensorFlow 2's; a fifth of the names would be another function. So TensorFlow itself says
(`scripts/record.py internal_names`). Only the generated modules, `gen_*_ops`, follow one: their functions are the ops.
"""

from __future__ import annotations

import functools
import inspect
import pathlib
import re
from collections.abc import Callable
from typing import Any

from tapeflow.core.lazy_modules import load
from tapeflow.core.ops import op_def

_INSIDE = "tensorflow.python."


@functools.cache
def public_names() -> dict[str, dict[str, str]]:
    """Returns, for each module inside TensorFlow, the paths below `tf` of its public objects, by name."""
    table = {}
    for line in pathlib.Path(__file__).with_name("names.txt").read_text().splitlines():
        module, space, *words = line.split(" ")
        paths = {}
        for word in words:
            name, _, path = word.partition("=")
            home = path or f"{space}."
            paths[name] = f"{home}{name}".lstrip(".") if home.endswith(".") else path
        table[_INSIDE + module] = paths
    return table


@functools.cache
def _by_name() -> dict[str, dict[str, set[str]]]:
    """Returns the paths below `tf` of each name that modules inside TensorFlow have, by package and name."""
    index: dict[str, dict[str, set[str]]] = {}
    for module, paths in public_names().items():
        package = module.rpartition(".")[0]
        for name, path in paths.items():
            index.setdefault(package, {}).setdefault(name, set()).add(path)
    return index


def moved(module: str, name: str) -> Any:
    """Returns an object that TensorFlow moved from a module to another one of the same package.

    `array_ops.stack` is in `array_ops_stack` now, `math_ops.lin_space` is TensorFlow 1's, and `math_ops.mul` the op.

    Raises:
        AttributeError: no module of the package has the name, or they mean different functions by it.
    """
    package = module.rpartition(".")[0]
    paths = {p for p in _by_name().get(package, {}).get(name, set()) if p.rpartition(".")[2] == name}
    if len(paths) == 1:
        return public(next(iter(paths)))
    if paths or name.startswith("_") or package not in (f"{_INSIDE}ops", f"{_INSIDE}framework"):
        raise AttributeError(name)
    try:
        return public(f"compat.v1.{name}")
    except (AttributeError, ImportError):
        op = generated(name)
    if op is None:
        raise AttributeError(name)
    return op


def public(path: str) -> Any:
    """Returns the object at a path below `tf`.

    Raises:
        AttributeError: TapeFlow lacks it.
    """
    return functools.reduce(getattr, path.split("."), load("tapeflow"))


def is_generated(module: str) -> bool:
    """Returns True if a module inside TensorFlow has a function for each op of one kind."""
    return re.fullmatch(r"tensorflow\.python\.ops\.(gen_\w+_ops|linalg\.sparse\.\w+)", module) is not None


@functools.cache
def _ops() -> dict[str, str]:
    return {op_def.snake_case(name): name for name in op_def.names()}


def generated(name: str) -> Callable[..., Any] | None:
    """Returns the function of an op in its generated module: `tf.raw_ops`'s, which also takes positional arguments.

    Args:
        name: of the function, such as "mat_mul", or of the op, "MatMul".

    Returns:
        The function, or None where there is no such op.
    """
    raw_op = getattr(load("tapeflow.raw_ops"), _ops().get(name, name), None)
    if raw_op is None:
        return None
    signature = inspect.signature(raw_op)

    @functools.wraps(raw_op)
    def function(*args: Any, **kwargs: Any) -> Any:
        return raw_op(**signature.bind(*args, **kwargs).arguments)

    return function
