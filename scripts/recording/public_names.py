"""Writes tests/fixtures/public_names.json with TensorFlow 2.21: what `dir` shows of each public namespace.

    python scripts/record.py public_names    # needs TensorFlow

Left out are names with a leading underscore, modules inside TensorFlow that its imports leave in a namespace, and
the namespaces below `tf.compat`, `tf.raw_ops` and those of Keras.
"""

import inspect
import json
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FILE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "public_names.json"
PUBLIC = ("tensorflow._api.v2.", "tensorflow.experimental", "keras.")  # the beginnings of public modules' names
ONLY_NAMED = ("tf.keras", "tf.initializers", "tf.losses", "tf.metrics", "tf.optimizers", "tf.raw_ops")


def namespaces(module, path):
    """Yields each namespace's path and its public names, and those of the namespaces in it.

    Args:
        module: the namespace.
        path: its path, such as "tf.math".
    """
    names, inner = [], []
    for name in dir(module):
        value = None if name.startswith("_") else getattr(module, name)
        if name.startswith("_") or (inspect.ismodule(value) and not value.__name__.startswith(PUBLIC)):
            continue
        names.append(name)
        if inspect.ismodule(value) and path != "tf.compat" and f"{path}.{name}" not in ONLY_NAMED:
            inner.append((value, f"{path}.{name}"))
    yield path, names
    for value, below in inner:
        yield from namespaces(value, below)


def main():
    import tensorflow as tf

    rows = (f"{json.dumps(path)}: {json.dumps(sorted(names))}" for path, names in namespaces(tf, "tf"))
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
