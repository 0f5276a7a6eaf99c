"""Examples in docstrings are true."""

import doctest
import importlib
import inspect
import pathlib
import pkgutil

import numpy as np

import tapeflow as tf
from tapeflow_compat.compat.v1 import aliases

SOURCE = pathlib.Path(tf.__file__).resolve().parents[1]


def modules_of(file):
    """Yields the modules of a file of src, or all modules if it is None."""
    if file is None:
        names = [info.name for info in pkgutil.walk_packages(tf.__path__, "tapeflow.")]
    else:
        parts = pathlib.Path(file).resolve().relative_to(SOURCE).with_suffix("").parts[1:]
        names = [".".join(("tapeflow", *parts)).removesuffix(".__init__")]
    for name in names:
        if not name.endswith("__main__"):
            yield importlib.import_module(name)


def documented(file):
    """Every docstring with an example: `{name: text}`, of modules, functions, classes and their members."""
    texts = {}
    for module in modules_of(file):
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__ or type(value).__module__ == "typing":
                continue  # it is of another module, or a type variable, whose docstring is Python's
            things = {f"{module.__name__}.{name}": value}
            if inspect.isclass(value):
                things |= {f"{module.__name__}.{name}.{member}": inspect.unwrap(getattr(v, "__func__",
                getattr(v, "fget", v)) or v)
                           for member, v in vars(value).items()}  # fmt: skip
            texts |= {title: thing.__doc__ for title, thing in things.items() if ">>> " in (thing.__doc__ or "")}
    for alias in aliases.listed().values() if file is None else ():  # functions that are made when they are asked for
        texts[f"tf.compat.v1.{alias.names[0]}"] = aliases.function(alias).__doc__
    return texts


def pytest_generate_tests(metafunc):
    if "text" in metafunc.fixturenames:
        texts = documented(metafunc.config.option.of)
        metafunc.parametrize(("name", "text"), texts.items(), ids=texts.keys())


def test_examples(name, text):
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), {"tf": tf, "np": np}, name, None, None)
    said = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)
