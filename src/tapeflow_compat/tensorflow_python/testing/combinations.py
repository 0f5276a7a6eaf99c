"""`tf.__internal__.test.combinations`: tests that run once for each combination of arguments and modes."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import re
import types
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from absl.testing import parameterized

from tapeflow.graph.ir.graph import Graph
from tapeflow_compat.tensorflow_python.eager_context import eager_mode, graph_mode

Combination = dict[str, Any]


class TestCombination:
    """The meaning of some arguments of combinations: if a test runs with them, its contexts, and its own arguments."""

    __test__ = False  # to pytest

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        """Returns True if a test runs with these arguments and None, otherwise False and the reason.

        Args:
            kwargs: the arguments of the test.
        """
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Returns the modifiers that change the arguments before the test gets them."""
        return []

    def context_managers(self, kwargs: Combination) -> list[AbstractContextManager[Any]]:
        """Returns the contexts for a test with these arguments.

        Args:
            kwargs: the arguments of the test.
        """
        return []


class ParameterModifier:
    """A change of arguments; of those that are equal, by class and parameter, one is made.

    Args:
        parameter_name: the parameter that it is for, if it is for one.
    """

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None) -> None:
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs: Combination, requested_parameters: Sequence[str]) -> Combination:
        """Returns other values for arguments, or `DO_NOT_PASS_TO_THE_TEST`.

        Args:
            kwargs: the arguments.
            requested_parameters: the parameters of the test.
        """
        return {}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self._parameter_name))


class OptionalParameter(ParameterModifier):
    """Lets tests leave a parameter out that their combinations have."""

    def modified_arguments(self, kwargs: Combination, requested_parameters: Sequence[str]) -> Combination:
        """See `ParameterModifier`."""
        name = self._parameter_name
        return {} if name is None or name in requested_parameters else {name: self.DO_NOT_PASS_TO_THE_TEST}


class _Modes(TestCombination):
    """`mode`: "eager", or "graph"."""

    def context_managers(self, kwargs: Combination) -> list[AbstractContextManager[Any]]:
        match kwargs.get("mode"):
            case None:
                return []
            case "eager":
                return [eager_mode()]
            case "graph":
                return [Graph().as_default(), graph_mode()]
            case mode:
                raise ValueError(f"Argument 'mode' must be either 'eager' or 'graph'. Received: {mode}.")

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("mode")]


class _Versions(TestCombination):
    """`tf_api_version`: 2; tests of version 1 are skipped."""

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        if kwargs.get("tf_api_version") == 1:
            return False, "Skipping a TF1.x test when TF2 is enabled."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("tf_api_version")]


def _generate(combinations: Sequence[Combination], test_combinations: Sequence[TestCombination] = ()) -> Any:
    """Returns a decorator of a test, or of a class of tests, that makes a test of each combination.

    Args:
        combinations: lists from `combine` and `times`.
        test_combinations: `TestCombination`s, the meaning of their arguments.
    """
    names = [test_name(c) for c in combinations]

    def decorate(test: Any) -> Any:
        if not isinstance(test, type):
            named = [{**c, "testcase_name": name} for c, name in zip(combinations, names, strict=True)]
            return parameterized.named_parameters(*named)(_in_contexts(test, test_combinations))
        for attribute, method in list(vars(test).items()):
            if attribute.startswith(unittest.TestLoader.testMethodPrefix) and isinstance(method, types.FunctionType):
                delattr(test, attribute)
                run = _in_contexts(method, test_combinations)
                for name, combination in zip(names, combinations, strict=True):
                    setattr(test, f"{attribute}{name}", functools.partialmethod(run, **combination))
        return test

    return decorate


def _in_contexts(test: Callable[..., None], test_combinations: Sequence[TestCombination]) -> Callable[..., None]:
    """Returns a test that takes the arguments of a combination, and skips or runs as that means."""
    parameters = inspect.getfullargspec(test).args[1:]

    @functools.wraps(test)
    def run(self: unittest.TestCase, **kwargs: Any) -> None:
        decisions = [c.should_execute_combination(dict(kwargs)) for c in test_combinations]
        if reasons := [f" - {reason}" for runs, reason in decisions if not runs]:
            self.skipTest("\n".join(reasons))
        contexts = [context for c in test_combinations for context in c.context_managers(dict(kwargs))]
        with contextlib.ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context)
            test(self, **_arguments(parameters, kwargs, test_combinations))

    del run.__wrapped__  # its parameters are others
    return run


def _arguments(
    parameters: Sequence[str], kwargs: Combination, test_combinations: Sequence[TestCombination]
) -> Combination:
    """Returns the arguments that a test gets.

    Raises:
        ValueError: they are not those that it takes.
    """
    arguments = dict(kwargs)
    for modifier in dict.fromkeys(m for c in test_combinations for m in c.parameter_modifiers()):
        arguments.update(modifier.modified_arguments(dict(kwargs), ["self", *parameters]))
    arguments = {k: v for k, v in arguments.items() if v is not ParameterModifier.DO_NOT_PASS_TO_THE_TEST}
    if omitted := set(parameters) - arguments.keys():
        raise ValueError(f"The test requires parameters whose arguments were not passed: {omitted} .")
    if missing := arguments.keys() - set(parameters):
        raise ValueError(f"The test does not take parameters that were passed : {missing} .")
    return arguments


def test_name(combination: Combination) -> str:
    """Returns the end of the name of a test that runs with some arguments."""
    words = [f"_{_letters(name)}_{_letters(_text(value, i))}" for i, (name, value) in enumerate(combination.items())]
    return "_test" + "".join(words)


test_name.__test__ = False  # type: ignore[attr-defined]  # to pytest


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _text(value: Any, number: int) -> str:
    """Returns the text of a value, with a number in the place of addresses, which differ between runs."""
    return re.sub("0[xX][0-9a-fA-F]+", str(number), str(value))


def combine(**kwargs: Any) -> list[Combination]:
    """Returns all combinations of the values of keywords.

    Args:
        **kwargs: lists of values, or single ones.
    """
    names = sorted(kwargs)
    values = [kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]] for name in names]
    return [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*values)]


def times(*combined: Sequence[Combination]) -> list[Combination]:
    """Returns all combinations of items of several lists from `combine`.

    Args:
        *combined: lists of combinations.

    Raises:
        ValueError: a keyword is in several of them.
    """
    results: list[Combination] = [{}]
    for combinations in combined:
        for first, second in itertools.product(results, combinations):
            if first.keys() & second.keys():
                raise ValueError(f"Keys need to not overlap: {first.keys()} vs {second.keys()}")
        results = [{**first, **second} for first, second in itertools.product(results, combinations)]
    return results


class NamedObject:
    """An object with a name for tests.

    Args:
        name: the name.
        obj: the object.
    """

    def __init__(self, name: str, obj: Any) -> None:
        self._name, self._obj = name, obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._obj)

    def __repr__(self) -> str:
        return self._name


MODES = (_Modes(), _Versions())
generate = functools.partial(_generate, test_combinations=MODES)
