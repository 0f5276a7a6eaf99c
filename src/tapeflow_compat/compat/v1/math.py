"""The public `tf.compat.v1.math` namespace."""

from typing import Any

from tapeflow_compat.compat.v1 import names

_find = names.finder("math")


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed("math")})
