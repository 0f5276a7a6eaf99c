"""Namespaces that load on first use, whichever threads ask first."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import threading
import tapeflow as tf

names = "train saved_model io strings sparse ragged image data summary lookup signal random".split()
names += "compat feature_column queue raw_ops".split()
errors, barrier = [], threading.Barrier(len(names))

def load(name):
    barrier.wait()
    try:
        dir(getattr(tf, name))
    except BaseException as error:
        errors.append(f"{name}: {error!r}")

threads = [threading.Thread(target=load, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors
"""


def test_threads_load_namespaces_at_once():
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


NESTED = """
import sys, threading
import tapeflow as tf

tf.install_as_tensorflow()
sys.setswitchinterval(1e-5)
programs = {programs!r}
errors, barrier = [], threading.Barrier(len(programs))

def use(program):
    barrier.wait()
    try:
        exec(program, {{"tf": tf}})
    except BaseException as error:
        errors.append(f"{{program}}: {{error!r}}")

threads = [threading.Thread(target=use, args=(program,)) for program in programs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors
"""


@pytest.mark.parametrize(
    "programs",
    [
        ["tf.compat.v1.placeholder", "tf.compat.v1.Session", "tf.compat.v1.train.AdamOptimizer", "tf.raw_ops.Abs",
         "tf.compat.v1.nn.dynamic_rnn", "tf.compat.v1.lookup.StaticHashTable", "tf.__internal__.nest", "tf.lite"],
        ["tf.keras.backend.clear_session()", "tf.keras.layers.Dense(2)", "tf.losses.MeanSquaredError()",
         "from tensorflow.keras import layers; layers.Dense", "import tensorflow.keras.models",
         "import keras; keras.Model",
         "from tensorflow.python.framework import ops; ops.convert_to_tensor", "tf.compat.v1.reset_default_graph()"],
        ["tf.function(lambda x: x * 2)(1.0)", "tf.autograph.to_graph", "tf.data.Dataset.range(3).map(lambda x: x + 1)",
         "from tensorflow.data import Dataset", "tf.experimental.numpy.ones", "tf.linalg.LinearOperatorDiag",
         "from tensorflow.core.framework import graph_pb2; graph_pb2.GraphDef", "tf.ragged.constant([[1]])"],
        # The import system locks the last module of a name before it imports the packages around.
        ["import tapeflow.data.experimental", "import tapeflow.data", "import tensorflow.data.experimental",
         "import tapeflow.compat.v1.train", "import tapeflow.compat.v1", "import tapeflow.feature_column"] * 2,
        ["import tapeflow.saved_model", "import tapeflow.torch", "import tapeflow.train.experimental",
         "import tapeflow.distribute.experimental", "import tapeflow.summary", "import tapeflow.serving.server"] * 2,
    ],
    ids=["TensorFlow 1", "Keras", "functions", "statements", "statements of services"],
)  # fmt: skip
def test_threads_use_nested_namespaces_at_once(programs):
    program = NESTED.format(programs=programs)
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


def test_a_statement_that_has_locked_a_module_before_its_package():
    """`import tapeflow.data.experimental` locks that module, and then imports `tapeflow.data`, which imports it."""
    program = (
        "import importlib, threading, tapeflow as tf\n"
        "locks = importlib._bootstrap\n"
        "with locks._ModuleLockManager('tapeflow.data.experimental.service'):\n"
        "    with locks._ModuleLockManager('tapeflow.data.experimental'):\n"
        "        thread = threading.Thread(target=importlib.import_module, args=('tapeflow.data',))\n"
        "        thread.start()\n"
        "        while not locks._blocking_on.get(thread.ident) and thread.is_alive(): pass\n"
        "        assert thread.is_alive()\n"
        "        importlib.import_module('tapeflow.data')\n"
        "thread.join()\n"
        "assert tf.data.experimental.service.DispatchServer"
    )
    _run(program)


def test_an_incomplete_module_is_no_attribute_of_its_package():
    """While `tapeflow.compat.v1` is imported, its modules import it as `tapeflow_compat.compat.v1`."""
    program = (
        "import sys, tapeflow as tf\n"
        "compat, seen = tf.compat, []\n"
        "def trace(*event):\n"
        "    v1 = sys.modules.get('tapeflow.compat.v1')\n"
        "    if v1 is not None and getattr(v1.__spec__, '_initializing', False): seen.append('v1' in vars(compat))\n"
        "sys.setprofile(trace)\n"
        "compat.v1\n"
        "sys.setprofile(None)\n"
        "assert seen and not any(seen)\n"
        "assert vars(compat)['v1'].Session and type(compat) is type(sys)"
    )
    _run(program)


def test_a_child_that_is_forked_while_another_thread_loads():
    program = (
        "import os, threading, tapeflow as tf\n"
        "thread = threading.Thread(target=lambda: tf.keras.layers)\n"
        "thread.start()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    tf.keras.layers.Dense, tf.compat.v1.Session\n"
        "    os._exit(7)\n"
        "thread.join()\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7"
    )
    _run(program)


def test_a_name_that_is_first_used_within_an_import(tmp_path):
    """A thread that loads a namespace waits for a module that another thread imports, which uses a new name itself."""
    (tmp_path / "shared.py").write_text("import threading\nimporting, loading = threading.Event(), threading.Event()\n")
    (tmp_path / "imported.py").write_text(
        "import shared, tapeflow\nshared.importing.set()\nshared.loading.wait()\nfound = tapeflow.sets\n"
    )
    (tmp_path / "namespace.py").write_text(
        "import shared\nshared.loading.set()\nimport imported\nnamespace = imported.found\n"
    )
    program = (
        "import threading, shared, tapeflow\n"
        "tapeflow._ON_FIRST_USE['namespace'] = ['namespace']\n"
        "thread = threading.Thread(target=__import__, args=('imported',))\n"
        "thread.start()\n"
        "shared.importing.wait()\n"
        "from tapeflow import namespace\n"
        "thread.join()\n"
        "assert namespace is tapeflow.sets"
    )
    command, env = [sys.executable, "-W", "ignore", "-c", program], {**os.environ}
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), env.get("PYTHONPATH", "")])
    run = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    assert run.returncode == 0, run.stderr


COLLECTION = """
import gc, threading
full = []
gc.callbacks.append(lambda phase, info: full.append(phase) if info["generation"] == 2 else None)
{before}
del full[:]
import tapeflow as tf
tf.keras.layers, tf.data
assert gc.isenabled() is {enabled}
assert not ({pauses} and full), full
assert bool(gc.get_freeze_count()) is {freezes}
{after}
"""
OTHER_THREAD = "stop = threading.Event(); thread = threading.Thread(target=stop.wait); thread.start()"


@pytest.mark.parametrize(
    ("before", "enabled", "pauses", "freezes", "after"),
    [
        ("", True, True, True, ""),
        ("import torch", True, True, False, ""),
        ("gc.disable()", False, False, False, ""),
        (OTHER_THREAD, True, False, False, "stop.set()"),
    ],
)
def test_importing_does_not_collect_garbage_and_keeps_the_setting(before, enabled, pauses, freezes, after):
    program = COLLECTION.format(before=before, enabled=enabled, pauses=pauses, freezes=freezes, after=after)
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_namespace_of_tensorflow_1_loads_with_its_first_use():
    program = (
        "import sys, tapeflow as tf\n"
        "tf.keras.layers\n"
        "assert 'tapeflow.compat.v1' not in sys.modules\n"
        "assert tf.compat.v1.Session and tf.compat.v2.constant"
    )
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_finders_import_nothing():
    """Python holds a lock of all threads while a finder runs: an import there may wait for a thread that needs it."""
    program = (
        "import sys, tapeflow, tapeflow_compat, importlib\n"
        "tapeflow.install_as_tensorflow()\n"
        "before = set(sys.modules)\n"
        "for name in ('tapeflow_compat.queue', 'tensorflow.signal', 'tensorflow.python.framework.ops'):\n"
        "    assert any(finder.find_spec(name, []) for finder in sys.meta_path if hasattr(finder, 'find_spec'))\n"
        "assert not [name for name in set(sys.modules) - before if 'flow' in name]"
    )
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_module_has_one_copy_whichever_name_it_is_found_by():
    program = (
        "import pickle, tapeflow_compat.feature_column.dense, tapeflow_compat.compat.v1, tapeflow as tf\n"
        "assert tapeflow_compat.compat.v1 is tf.compat.v1\n"
        "column = tf.feature_column.numeric_column('x')\n"
        "assert type(column).__module__ == 'tapeflow.feature_column.dense'\n"
        "assert pickle.loads(pickle.dumps(column)) == column"
    )
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_pythons_without_the_lock_are_refused():
    program = "import sys; sys._is_gil_enabled = lambda: {}; import tapeflow"
    refused, taken = (
        subprocess.run([sys.executable, "-W", "ignore", "-c", program.format(enabled)], capture_output=True, text=True)
        for enabled in (False, True)
    )
    assert "ImportError: TapeFlow needs Python's global interpreter lock" in refused.stderr
    assert taken.returncode == 0, taken.stderr


def _run(program):
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


FIRST_CALLS = """
import sys
import torch

before = set(sys.modules)
import tapeflow as tf

x = tf.Variable([1.0, 2.0])
x + tf.constant([1.0, 2.0])
tf.matmul([[1.0]], [[1.0]])
f = tf.function(lambda x: x * 2)
with tf.GradientTape() as tape:
    y = f(x) + tf.nn.relu(x)
tape.gradient(y, x)
print(*{name.split(".")[0] for name in set(sys.modules) - before - set(sys.stdlib_module_names)})
print(*{name for name in set(sys.modules) - before if name.startswith("torch._dynamo")})
"""


def test_first_calls_load_no_heavy_modules():
    allowed = {"tapeflow", "torch", "numpy", "ml_dtypes"} | set(sys.stdlib_module_names)
    assert set(_run(FIRST_CALLS)) <= allowed


def test_the_compiler_loads_with_the_first_function():
    loaded = "[m for m in sys.modules if m.startswith(('tapeflow.graph.compiler', 'tapeflow.graph.codegen.passes'))]"
    program = (
        "import sys, tapeflow as tf\n"
        f"assert not {loaded}, {loaded}\n"
        "assert tf.function(lambda x: tf.while_loop(lambda i: i < x, lambda i: i + 2, [0]))(3)[0] == 4\n"
        f"assert {loaded}"
    )
    _run(program)
