"""Writes tapeflow_compat/tensorflow_python/names.txt with TensorFlow 2.21: public names that its inner modules define.

A line has a module below `tensorflow.python`, the namespace below `tf` that most of its names are in ("." for `tf`
itself), and the names: `abs` is there, `argmax=compat.v1.` is in another namespace, and `neg=math.negative` has another
name.
A module stands there if TensorFlow loads it by itself or it is in `LOADED_LATE`, and it has such names. Keras 2, which
lies inside TensorFlow too, does not.
"""

import collections
import importlib
import inspect
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
FILE = pathlib.Path(__file__).resolve().parents[2] / "src" / "tapeflow_compat" / "tensorflow_python" / "names.txt"
INSIDE = "tensorflow.python."
# Modules that libraries import and that TensorFlow does not load by itself.
LOADED_LATE = [
    "feature_column.feature_column_v2", "framework.convert_to_constants", "framework.test_util", "layers.layers",
    "platform.gfile", "saved_model.builder", "saved_model.loader", "summary.summary_iterator", "tpu.tpu",
]  # fmt: skip
OTHERS = {"compat", "keras", "lite", "raw_ops"}
KERAS = {"initializers", "losses", "metrics", "optimizers"}  # the namespaces of `tf` that are those of Keras
VALUES = (bool, bytes, float, int, str, tuple, type(None))  # of which one object is many names' value


def public_names(namespace, left_out, prefix=""):
    """The names of a namespace and those below it, and their values."""
    for name in dir(namespace):
        if name in left_out or (name.startswith("_") and name != "__internal__"):
            continue
        try:
            value = getattr(namespace, name)
        except Exception:  # what this installation has not
            continue
        if not inspect.ismodule(value):
            yield prefix + name, value
        elif "tensorflow._api" in str(vars(value).get("__name__")) and prefix.count(".") < 6:
            yield from public_names(value, (), f"{prefix}{name}.")


def names_of(module, public):
    """The names of a module that are public, with the best of their public names."""
    constants = collections.defaultdict(list)
    for table, prefix in (("_tf_api_constants", ""), ("_tf_api_constants_v1", "compat.v1.")):
        for paths, name in vars(module).get(table, ()):
            constants[name] += [prefix + path for path in paths]
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") or inspect.ismodule(value):
            continue
        paths = constants.get(name) or public.get(id(value), ())
        if paths:
            # TensorFlow 2's names come first, then the shortest, and of these one that is the same here.
            yield name, min(paths, key=lambda p: ("compat.v1" in p, p.count("."), p.split(".")[-1] != name, p))


def line(module, names):
    """The line of a module."""
    spaces = collections.Counter(path.rpartition(".")[0] for name, path in names if path.split(".")[-1] == name)
    space = spaces.most_common(1)[0][0] if spaces else ""
    words = [module, space or "."]
    for name, path in names:
        home, _, last = path.rpartition(".")
        words.append(f"{name}={path}" if last != name else name if home == space else f"{name}={home}.")
    return " ".join(words)


def main():
    import tensorflow as tf

    for module in LOADED_LATE:
        importlib.import_module(INSIDE + module)
    public, alive = collections.defaultdict(list), []
    for namespace, prefix, left_out in ((tf, "", OTHERS | KERAS), (tf.compat.v1, "compat.v1.", OTHERS)):
        for path, value in public_names(namespace, left_out):
            if not isinstance(value, VALUES):
                public[id(value)].append(prefix + path)
                alive.append(value)
    lines = []
    for name, module in sorted(sys.modules.items()):
        if name.startswith(INSIDE) and not name.startswith(f"{INSIDE}keras") and module is not None:
            names = list(names_of(module, public))
            if names:
                lines.append(line(name.removeprefix(INSIDE), names))
    FILE.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} modules, {sum(text.count(' ') - 1 for text in lines)} names")
