"""The public `tf.compat.v1.gfile` namespace."""

from typing import Any

from tapeflow_compat.compat.v1 import names

_find = names.finder("gfile")


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed("gfile")})
