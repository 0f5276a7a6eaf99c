"""Writes tests/fixtures/v1_signatures.json with TensorFlow 2.21: the parameters of what tf.compat.v1 has.

A name has a text as `inspect.signature` gives it, with the defaults written the same way for both libraries by
`parameters` (which `tests/test_signatures.py` uses, too). Of classes that only `tf.compat.v1` has,
the methods are recorded, too.
"""

import enum
import inspect
import json
import os
import pathlib

from recording.members import members

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FILE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "v1_signatures.json"
# Namespaces with ways of their own, and what belongs to no program.
LEFT_OUT = {
    "app",
    "autograph",
    "compat",
    "config",
    "distribute",
    "distributions",
    "estimator",
    "experimental",
    "feature_column",
    "flags",
    "keras",
    "layers",
    "lite",
    "mixed_precision",
    "mlir",
    "profiler",
    "raw_ops",
    "resource_loader",
    "rnn_cell",
    "sysconfig",
    "test",
    "tpu",
    "types",
    "user_ops",
    "v1",
    "v2",
    "xla",
}


def parameters(value):
    """The parameters of a function, or of making an object of a class, as a text; None where there are none to see."""
    if isinstance(value, enum.EnumType):
        return "*args, **kwds"  # since Python 3.14 these have other names
    try:
        found = inspect.signature(value.__init__ if inspect.isclass(value) else value).parameters.values()
    except (TypeError, ValueError):
        return None
    return ", ".join(f"{_STARS.get(p.kind, '')}{p.name}{_default(p.default)}" for p in found if p.name != "self")


_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def _default(value):
    if value is inspect.Parameter.empty:
        return ""
    if hasattr(value, "as_numpy_dtype"):
        return f"={value.name}"
    if isinstance(value, (list, tuple)):
        return f"={list(value)}"
    if isinstance(value, float) and value.is_integer():
        return f"={int(value)}"
    plain = isinstance(value, (bool, int, float, str, type(None)))
    return f"={value!r}" if plain else "=..."


def signatures(namespace, left_out, classes_left_out=()):
    """Returns the parameters of public functions and methods as text, by public name.

    Args:
        namespace: TensorFlow, or `tf.compat.v1`.
        left_out: names directly below it to pass over.
        classes_left_out: classes whose methods are passed over.
    """
    found = {}
    for path, value in members(namespace, left_out):
        if not callable(value):
            continue
        found[".".join(path)] = parameters(value)
        if inspect.isclass(value) and value not in classes_left_out:
            for name in dir(value):
                member = getattr(value, name, None)
                if not name.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member)):
                    found[".".join((*path, name))] = parameters(member)
    return {name: text for name, text in found.items() if text is not None}


def main():
    import tensorflow as tf

    shared = {value for _, value in members(tf, {"compat"}) if inspect.isclass(value)}
    found = signatures(tf.compat.v1, LEFT_OUT, shared)
    lines = [f"{json.dumps(path)}: {json.dumps(text)}" for path, text in sorted(found.items())]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
