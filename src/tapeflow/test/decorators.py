"""Decorators for tests."""

from __future__ import annotations

import functools
import unittest
from collections.abc import Callable
from typing import Any


def disable_with_predicate(
    pred: Callable[[], bool], skip_message: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that skips a test if `pred()` is true when it runs.

    Args:
        pred: a function without arguments.
        skip_message: the reason to show.

    Returns:
        A decorator of test methods.

    Raises:
        unittest.SkipTest: in the decorated test, if `pred()` is true.

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


def with_eager_op_as_function(cls: type | None = None, only_as_function: bool = False) -> Callable[[type], type] | type:
    """Returns a test case unchanged. Ops run in one way only, so no test has to run twice.

    Args:
        cls: the test case; None returns a decorator.
        only_as_function: accepted, and without effect.

    Returns:
        The test case, or a decorator.

    Example:
        >>> @tf.test.with_eager_op_as_function
        ... class ProductTest(tf.test.TestCase): ...
    """
    return (lambda decorated: decorated) if cls is None else cls
