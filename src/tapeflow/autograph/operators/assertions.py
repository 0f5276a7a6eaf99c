"""The operator for `assert`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.autograph.operators.staged_values import is_staged
from tapeflow.control.conditions_and_loops import Assert


def assert_stmt(condition: Any, message: Callable[[], Any] | None) -> None:
    """Runs `assert condition, message`; for a tensor of a graph, adds an assertion to the graph.

    Raises:
        AssertionError: the condition is a Python value, and false.
    """
    if is_staged(condition):
        Assert(condition, [message() if message else "Assertion error"])
    elif __debug__ and not condition:
        raise AssertionError(*([message()] if message else []))
