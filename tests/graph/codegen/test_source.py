"""The source of a function follows from its graph, dtypes and device, not from what ran before in the process."""

import subprocess
import sys
import textwrap

import tapeflow as tf
from tapeflow.graph.codegen import compile as compile_module

PROGRAM = """
import tapeflow as tf
from tapeflow.graph.codegen import compile as compile_module

class Model(tf.Module):
    def __init__(self):
        self.w, self.b = tf.Variable(tf.ones([64, 64])), tf.Variable(tf.zeros([64]))

    @tf.function
    def step(self, x, n):
        with tf.GradientTape() as tape:
            for i in tf.range(n):
                if tf.reduce_sum(x) > 0.0:
                    x = tf.nn.relu(tf.nn.bias_add(x @ self.w, self.b)) * 0.5
                else:
                    x = tf.sqrt(tf.abs(tf.sort(x))) + tf.cast(i, tf.float32)
            loss = tf.reduce_mean(tf.square(x))
        for variable, gradient in zip((self.w, self.b), tape.gradient(loss, (self.w, self.b))):
            variable.assign_sub(0.1 * gradient)
        few = tf.cast(n, tf.uint16) + tf.constant(1, tf.uint16)
        return loss, few, tf.argmax(x, 1), tf.strings.length("abc"), tf.random.uniform([2], seed=3)

    @tf.function
    def loop(self, x, n):
        for i in tf.range(n):
            x = x @ self.w if i % 2 == 0 else x + self.b
        return x

def source():
    model = Model()
    functions = model.step, model.loop
    return "\\n".join(f.get_concrete_function(tf.ones([64, 64]), tf.constant(3)).source() for f in functions)
"""
COLD = "print(source())"
WARM = """
model = Model()
for _ in range(3):
    model.step(tf.ones([64, 64]), tf.constant(3))
    model.loop(tf.ones([64, 64]), tf.constant(3))
tf.config.run_functions_eagerly(True)
model.step(tf.ones([64, 64]), tf.constant(3))
tf.config.run_functions_eagerly(False)
print(source())
"""


def printed(path, program):
    path.write_text(textwrap.dedent(PROGRAM + program))
    return subprocess.run([sys.executable, path], capture_output=True, text=True, check=True, timeout=300).stdout


def test_a_cold_and_a_warm_process_write_the_same_source(tmp_path):
    cold, warm = printed(tmp_path / "cold.py", COLD), printed(tmp_path / "warm.py", WARM)
    assert "op_While(" in cold and "op_NativeWhile(" in cold  # the functions were written, with their loops
    assert cold == warm


LISTS = """
import tapeflow as tf
from tapeflow.graph.codegen import compile as compile_module

@tf.function
def joined(more, a, b):
    return tf.concat([a, b, a], 0) if more else tf.concat([a, b], 0)

for dtype in (tf.float32, tf.uint16):
    a, b = tf.constant([1, 2], dtype), tf.constant([3], dtype)
    print([joined(tf.constant(more), a, b).numpy().tolist() for more in (False, True)])
"""


def test_lists_of_different_lengths_in_the_branches_of_a_cold_process(tmp_path):
    path = tmp_path / "lists.py"
    path.write_text(LISTS)
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True, timeout=300)
    assert run.stdout.splitlines() == ["[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 1.0, 2.0]]", "[[1, 2, 3], [1, 2, 3, 1, 2]]"]


def test_a_constant_named_as_the_function_is():
    assert tf.function(tf.zeros_like)(tf.ones([2])).numpy().tolist() == [0.0, 0.0]


def test_a_function_that_outlives_its_module_is_deleted_quietly(monkeypatch):
    """At the end of a process, Python sets a module's names to None, and then deletes what others still hold."""
    f = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([]))
    written = f.body.compiled
    monkeypatch.setattr(compile_module, "_deleted", None)
    written.__del__()
