"""Decorators for tests."""

from __future__ import annotations

import functools
import unittest
from collections.abc import Callable
from typing import Any


def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[[Any], Any]:
    """Returns a decorator that skips a test where `pred()` holds when it runs.

    Example:
        >>> @tf.test.disable_with_predicate(pred=tf.test.is_built_with_rocm, skip_message="not on AMD's GPUs")
        ... def test_product(self): ...
    """

    def decorate(test: Any) -> Any:
        @functools.wraps(test)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                raise unittest.SkipTest(skip_message)
            return test(self, *args, **kwargs)

        return run

    return decorate


def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """Returns a test case back: ops run in one way only, so there is nothing to run twice.

    Example:
        >>> @tf.test.with_eager_op_as_function
        ... class ProductTest(tf.test.TestCase): ...
    """
    return (lambda decorated: decorated) if cls is None else cls
