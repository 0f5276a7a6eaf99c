"""Private names of torch and Keras: in one module each, looked up on use, and not needed to import TapeFlow."""

import ast
import importlib.util
import pathlib
import subprocess
import sys

import pytest
import torch

import tapeflow as tf
from tapeflow.core import aten

SOURCE = pathlib.Path(tf.__file__).parent
ALLOWED = {"torch": SOURCE / "core/aten.py", "keras": SOURCE / "keras/internals.py"}


def is_private(name):
    return name == "src" or (name.startswith("_") and not name.startswith("__"))


def private_names(tree):
    """Yields the line and the dotted name of each private name of torch or Keras in a module."""
    known = {}  # names in the module, and what they are
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported = [
                (a.asname or a.name.split(".")[0], a.name if a.asname else a.name.split(".")[0]) for a in node.names
            ]
            paths = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported = [(a.asname or a.name, f"{node.module}.{a.name}") for a in node.names]
            paths = [path for _, path in imported]
        else:
            continue
        known.update((name, path) for name, path in imported if path.split(".")[0] in ALLOWED)
        yield from (
            (node.lineno, p) for p in paths if p.split(".")[0] in ALLOWED and any(map(is_private, p.split(".")))
        )
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            path, value = [node.attr], node.value
            while isinstance(value, ast.Attribute):
                path.append(value.attr)
                value = value.value
            if isinstance(value, ast.Name) and value.id in known:
                yield node.lineno, ".".join([known[value.id], *reversed(path)])


def test_they_stand_in_two_modules():
    found = []
    for path in (*SOURCE.rglob("*.py"), *SOURCE.with_name("tapeflow_compat").rglob("*.py")):
        if path not in ALLOWED.values():
            found += [f"{path}:{line}: {name}" for line, name in private_names(ast.parse(path.read_text()))]
    assert not found, "\n".join(found)


def test_what_this_version_of_torch_lacks(capsys):
    names = set(aten.PRIVATE)
    if not importlib.util.find_spec("onnxscript"):
        names -= {"onnx_core", "ONNXRegistry"}  # whose modules import it
    lacking = {name: aten.PRIVATE[name] for name in sorted(names) if not aten.has(name)}
    with capsys.disabled():
        if lacking:
            print(f"\nPyTorch {torch.__version__} lacks {', '.join(lacking.values())}")
    if tuple(map(int, torch.__version__.split(".")[:2])) <= tuple(map(int, aten.NEWEST.split("."))):
        assert not [path for name, path in lacking.items() if aten._find_substitute(name, path) is None]


def test_what_this_version_of_keras_lacks(capsys):
    keras = pytest.importorskip("keras")
    internals = importlib.import_module("tapeflow.keras.internals")
    lacking = internals.lacking()
    with capsys.disabled():
        if lacking:
            print(f"\nKeras {keras.__version__} lacks {', '.join(lacking)}")
    version = tuple(map(int, keras.__version__.split(".")[:2]))
    assert not lacking or version > tuple(map(int, internals.NEWEST.split(".")))


def run(program):
    """Runs a program in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert not done.returncode, done.stderr[-3000:]
    return done.stdout


def test_an_import_looks_none_up():
    assert (
        run("import tapeflow; from tapeflow.core import aten; print([n for n in aten.PRIVATE if n in vars(aten)])")
        == "[]\n"
    )


# Without all of them: importlib refuses private modules, and what has a private attribute is not asked for it.
HIDE = """
from tapeflow.core import aten
resolve = aten.resolve

def hidden(path):
    module, attributes = path.split(":")
    parts = [*module.split("."), *attributes.split(".")]
    return None if any(part.startswith("_") for part in parts) else resolve(path)

aten.resolve = hidden
import numpy as np
import tapeflow as tf
"""

PROGRAMS = {
    "variables": """
v = tf.Variable(tf.zeros([100, 100]))
seen = v.value()
for _ in range(3):
    v.assign_add(tf.ones([100, 100]))
assert seen.numpy().max() == 0 and v.numpy().min() == 3
v.scatter_add(tf.IndexedSlices(tf.ones([1, 100]), [5]))
assert v.numpy()[5, 0] == 4
""",
    "gradients": """
x = tf.constant([[0.5, -1.0], [2.0, 0.1]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = tf.sigmoid(x) + tf.tanh(x) + tf.nn.leaky_relu(x) + tf.nn.softplus(x)
    loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=x))
assert np.isfinite(tape.gradient(y, x)).all() and np.isfinite(tape.gradient(loss, x)).all()
""",
    "convolutions": """
image, filters = tf.ones([2, 32, 32, 8]), tf.Variable(tf.ones([3, 3, 8, 16]))

@tf.function
def f():
    return tf.nn.relu(tf.nn.conv2d(image, filters, 1, "SAME"))

with tf.GradientTape() as tape:
    tape.watch(image)
    y = tf.nn.conv2d(image, filters, 1, "SAME")
assert tape.gradient(y, image).shape == image.shape
np.testing.assert_allclose(f(), f())
np.testing.assert_allclose(f()[0, 5, 5, 0], 72.0)
""",
    "lists of tensors": """
variables = [tf.Variable(tf.ones([4, i + 1])) for i in range(3)]

@tf.function
def f():
    for v in variables:
        v.assign_sub(0.5 * tf.square(v))

f()
f()
np.testing.assert_allclose(variables[2], np.full([4, 3], 0.375))
""",
    "Adam": """
def steps(jit):
    variables = [tf.Variable(tf.ones([4, i + 1])) for i in range(3)]
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.build(variables)
    step = lambda: optimizer.apply_gradients([(tf.ones(v.shape), v) for v in variables])
    step = tf.function(step) if jit else step
    for _ in range(3):
        step()
    return [v.numpy() for v in variables]

for a, b in zip(steps(False), steps(True)):
    np.testing.assert_allclose(a, b, rtol=1e-5)
""",
    "modules of torch": """
import torch
try:
    tf.torch.Layer(torch.nn.Linear(3, 2))(tf.ones([4, 3]))
except tf.errors.UnimplementedError as error:
    assert "has no `torch._" in str(error), error
""",
    "random numbers": """
try:
    tf.random.gamma([3], 2.0)
except tf.errors.UnimplementedError as error:
    assert "has no `torch._standard_gamma`" in str(error), error
""",
}  # fmt: skip


def test_without_any_of_them():
    run(HIDE + "\n".join(f"# {name}{program}" for name, program in PROGRAMS.items()))  # one process, as each takes long


# `tapeflow.keras` loads all of Keras: its module of private names is loaded before it, and finds none.
HIDE_KERAS = """
import importlib.util, pathlib, sys
import tapeflow as tf
path = pathlib.Path(tf.__file__).parent / "keras/internals.py"
spec = importlib.util.spec_from_file_location("tapeflow.keras.internals", path)
internals = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(internals)
resolve = internals.resolve
internals.resolve = lambda path: resolve(path) if path == "keras:Layer" or path.endswith("Tracker") else None
"""


def test_without_any_of_those_of_keras():
    run(
        HIDE_KERAS
        + """
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(2)])
model.compile("adam", "mse")
assert len(model.fit(tf.ones([8, 3]), tf.ones([8, 2]), verbose=0).epoch) == 1
assert len(model.trainable_variables) == 2
"""
    )
    run(
        HIDE_KERAS
        + """
internals.resolve = lambda path: None
try:
    tf.keras.Model
except ImportError as error:
    assert "has no `keras.src.utils.tracking.Tracker`" in str(error), error
else:
    raise AssertionError
"""
    )
