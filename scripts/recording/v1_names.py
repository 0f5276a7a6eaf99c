"""Writes tapeflow_compat/compat/v1/names.txt with TensorFlow 2.21: the names of tf.compat.v1 that are names of tf, too.

A line has the name below `tf.compat.v1` and, where it differs, the name below `tf` of the same thing. Two functions
count as the same if they are one object, or if they have one signature and one is only wrapped for dispatch.
"""

import inspect
import os
import pathlib

from recording.members import members

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FILE = pathlib.Path(__file__).resolve().parents[2] / "src" / "tapeflow_compat" / "compat" / "v1" / "names.txt"
# Namespaces with ways of their own (or none of these names).
LEFT_OUT = {
    "app",
    "compat",
    "estimator",
    "feature_column",
    "flags",
    "keras",
    "lite",
    "mlir",
    "raw_ops",
    "test",
    "tpu",
    "v1",
    "v2",
    "xla",
}


def signature(value):
    try:
        return [(p.name, p.kind, repr(p.default)) for p in inspect.signature(value).parameters.values()]
    except (TypeError, ValueError):
        return None


def same(value, other):
    if value is other:
        return True
    if inspect.isclass(value) or inspect.isclass(other):
        return False
    if not callable(value):
        return type(value) is type(other) and value == other
    one, two = inspect.unwrap(value), inspect.unwrap(other)
    if one is two:
        return True
    named = one.__name__ == getattr(two, "__name__", "") and one.__module__ == two.__module__
    return named and signature(value) is not None and signature(value) == signature(other)


def main():
    import tensorflow as tf

    paths = dict(members(tf, LEFT_OUT))
    by_id = {}
    for path, value in paths.items():
        if callable(value):
            by_id.setdefault(id(value), path)
    lines = []
    for path, value in members(tf.compat.v1, LEFT_OUT):
        if path in paths and same(value, paths[path]):
            lines.append(".".join(path))
        elif path not in paths and id(value) in by_id:
            lines.append(f"{'.'.join(path)} {'.'.join(by_id[id(value)])}")
    FILE.write_text("\n".join(sorted(lines)) + "\n")
