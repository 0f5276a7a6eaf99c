"""`assert`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.autograph.operators.staging import is_staged


def assert_stmt(condition: Any, message: Callable[[], Any] | None) -> None:
    """`assert condition, message`; of a tensor in a graph, an assertion that is checked when the graph runs.

    Raises:
        AssertionError: the condition is Python's, and false.
    """
    if is_staged(condition):
        from tapeflow.control_flow import Assert

        Assert(condition, [message() if message else "Assertion error"])
    elif __debug__ and not condition:
        raise AssertionError(*([message()] if message else []))
