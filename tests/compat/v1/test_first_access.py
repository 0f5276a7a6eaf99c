"""Each namespace of `tf` and `tf.compat.v1`, as the first that a program uses."""

import json
import os
import pathlib
import subprocess
import sys
import types

import tapeflow as tf

ROOT = pathlib.Path(__file__).parents[3]
# Forks for each namespace that the import of the library does not load.
PROGRAM = """
import importlib.util
import os
import sys
import tapeflow as tf

for path in sys.argv[1].split():
    name = f"tapeflow.{path}"
    parent = name.rpartition(".")[0]
    if name in sys.modules or parent not in sys.modules or importlib.util.find_spec(name) is None:
        continue
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        continue
    try:
        value = tf
        for name in path.split("."):
            value = getattr(value, name)
        dir(value)
    except Exception as error:
        print(f"{path}: {type(error).__name__}: {error}", flush=True)
    os._exit(0)
"""


def namespaces():
    """The paths below `tf` of the public namespaces, without those that need Keras, which is a package of its own."""
    names = (ROOT / "src" / "tapeflow_compat" / "compat" / "v1" / "names.txt").read_text().splitlines()
    paths = {line.split()[-1] for line in names}
    signatures = json.loads((ROOT / "tests" / "fixtures" / "v1_signatures.json").read_text())
    paths |= {f"compat.v1.{path}" for path in signatures}
    parts = [path.split(".") for path in paths]
    found = {".".join(p[:i]) for p in parts for i in range(1, len(p)) if p[i][0] != "_"}
    found |= {name for name in tf.__all__ if isinstance(getattr(tf, name), types.ModuleType)}
    return sorted(path for path in found if "keras" not in path)


def test_each_namespace_comes_first():
    paths = namespaces()
    assert {"summary", "compat.v1.summary", "compat.v1.train", "compat.v1.saved_model.loader"} <= set(paths)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, " ".join(paths)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert (run.stdout, run.returncode) == ("", 0), run.stderr
