"""The ops for which TensorFlow has a kernel on CPUs and TapeFlow none, with the reasons."""

from __future__ import annotations

import functools

_REASONS: dict[str, str] = {}


@functools.cache
def _reasons() -> dict[str, str]:
    return {name: reason for reason, names in _REASONS.items() for name in names.split()}


def reason(name: str) -> str:
    """Returns why an op is not there."""
    return _reasons().get(name, "TapeFlow has no kernel for it yet")


def is_absent(name: str) -> bool:
    """Returns whether an op is not there."""
    return name in _reasons()
