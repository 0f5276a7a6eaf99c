"""The examples in the docstrings are true."""

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import tapeflow as tf


def documented():
    """Every docstring with an example: `(name, text)`, of modules, functions, classes and their members."""
    found = {}
    for info in pkgutil.walk_packages(tf.__path__, "tapeflow."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != info.name:
                continue
            things = {f"{info.name}.{name}": value}
            if inspect.isclass(value):
                things |= {f"{info.name}.{name}.{member}": inspect.unwrap(getattr(v, "__func__",
                getattr(v, "fget", v)) or v)
                           for member, v in vars(value).items()}  # fmt: skip
            found |= {title: thing.__doc__ for title, thing in things.items() if ">>> " in (thing.__doc__ or "")}
    return found


@pytest.mark.parametrize(("name", "text"), [pytest.param(n, t, id=n) for n, t in documented().items()])
def test_examples(name, text):
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), {"tf": tf, "np": np}, name, None, None)
    said = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)
