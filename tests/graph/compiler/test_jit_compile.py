"""`tf.function(jit_compile=True)`: element-wise steps become compiled loops, the rest calls kernels of ATen."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf


def _train(jit_compile):
    """Three steps of a function with a tape, variables that are read again after a change, and random numbers."""
    tf.random.set_seed(3)
    weights = [tf.Variable(np.random.default_rng(i).normal(size=(4, 4)).astype("f")) for i in range(2)]
    steps = tf.Variable(0, dtype=tf.int64)

    @tf.function(jit_compile=jit_compile)
    def step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.relu(h @ w)
            h = tf.nn.dropout(h, 0.25) + tf.random.stateless_normal([4], [1, 2])
            loss = tf.reduce_mean(tf.exp(-h) * h)
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.1 * g)
        before = steps.read_value()
        steps.assign_add(1)
        return loss, weights[0] * 2.0, before, steps.read_value(), x

    x = tf.constant(np.linspace(-1, 1, 12, dtype="f").reshape(3, 4))
    return [v for _ in range(3) for v in step(x)] + weights


def test_a_training_step_gives_what_it_gives_uncompiled():
    for got, want in zip(_train(True), _train(False), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-7)


def test_one_loop_computes_connected_steps():
    function = tf.function(lambda x, y: tf.tanh(x * 2.0 + y) * tf.sigmoid(x), jit_compile=True)
    x, y = (tf.constant(np.random.default_rng(0).normal(size=s), tf.float32) for s in ((5, 1, 7), (3, 1)))
    want = np.tanh(x.numpy() * 2 + y.numpy()) / (1 + np.exp(-x.numpy()))
    np.testing.assert_allclose(function(x, y), want, rtol=1e-5, atol=1e-6)
    concrete = function.get_concrete_function(x, y)
    # Two steps have another shape, so they are calls of their own.
    assert concrete.explain_jit_compile().endswith("1 compiled loop of 3 ops; calls of Mul, Sigmoid")
    assert concrete.source().count("op_") == 3


def test_unknown_sizes_share_one_loop_until_they_are_broadcast():
    spec = tf.TensorSpec([None, None], tf.float32)
    function = tf.function(lambda x, y: (x + y) * x - y, input_signature=[spec, spec], jit_compile=True)
    rng = np.random.default_rng(0)
    for shapes in (
        ((3, 4), (3, 4)),
        ((1, 4), (5, 4)),
        ((5, 1), (1, 9)),
        ((1, 1), (2, 40)),
        ((0, 4), (1, 4)),
        ((1, 1), (1, 1)),
    ):
        x, y = (rng.normal(size=s).astype("f") for s in shapes)
        np.testing.assert_allclose(function(x, y), (x + y) * x - y, rtol=1e-5, atol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2,3\] vs. \[4,3\]"):
        function(np.zeros((2, 3), "f"), np.zeros((4, 3), "f"))


def test_intermediate_results_that_are_returned_have_their_own_shapes():
    spec = tf.TensorSpec([None, None], tf.float32)

    @tf.function(input_signature=[spec, spec], jit_compile=True)
    def function(x, y):
        doubled = x * 2.0
        return doubled, tf.abs(doubled) + y

    doubled, result = function(np.ones((1, 3), "f"), np.ones((2, 3), "f"))
    assert doubled.shape == (1, 3) and result.shape == (2, 3)
    np.testing.assert_array_equal(result, np.full((2, 3), 3.0))


def test_steps_do_not_wait_for_what_depends_on_them():
    """A loop of the first and the last step would need the product between them."""
    function = tf.function(lambda x: (x * 2.0, tf.exp(x * 2.0 @ (x * 2.0)) * (x * 2.0)), jit_compile=True)
    x = np.random.default_rng(0).normal(size=(4, 4)).astype("f")
    doubled, result = function(x)
    np.testing.assert_allclose(doubled, 2 * x)
    np.testing.assert_allclose(result, np.exp(2 * x @ (2 * x)) * 2 * x, rtol=1e-4)


def test_variables_are_read_before_and_after_they_change():
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def function(x):
        before = tf.exp(v * x)
        v.assign(before + 1.0)
        return before * 2.0, tf.exp(v * x) * 2.0

    before, after = function(tf.constant([1.0, -1.0]))
    first = np.exp([1.0, -2.0])
    np.testing.assert_allclose(before, 2 * first, rtol=1e-6)
    np.testing.assert_allclose(after, 2 * np.exp((first + 1) * [1, -1]), rtol=1e-6)


def test_strided_tensors_and_large_ones():
    function = tf.function(lambda x: tf.exp(-x * x) + x, jit_compile=True)
    x = np.random.default_rng(0).normal(size=(300, 1100)).astype("f")
    for tensor, want in ((tf.constant(x), x), (tf.transpose(tf.constant(x)), x.T)):
        np.testing.assert_allclose(function(tensor), np.exp(-want * want) + want, rtol=1e-5, atol=1e-6)


def test_loops_are_compiled_without_any_other_program(tmp_path):
    """An empty PATH has no C++ compiler. A second process finds the first one's code in the cache."""
    program = (
        "import tapeflow as tf; f = tf.function(lambda x: tf.exp(x) * 2.0 + x, jit_compile=True); "
        "print(f(tf.constant([0.0, 1.0])).numpy().tolist())"
    )
    cache = tmp_path / "tapeflow" / "kernels"
    found = []
    for _ in range(2):
        env = {"PATH": "", "TAPEFLOW_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
        assert done.stdout.strip() == "[2.0, 6.4365634918212890625]"[:11] + done.stdout.strip()[11:], done.stderr
        found.append({path.name: path.stat().st_mtime_ns for path in cache.iterdir()})
    assert found[0] and found[0] == found[1]


def test_code_that_was_damaged_on_disk_is_compiled_anew(tmp_path, monkeypatch):
    from tapeflow.core import machine_code

    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    text = 'define void @"{name}"(ptr %x) {\n  store i32 7, ptr %x\n  ret void\n}'
    machine_code.target().load("first", text, lambda: text)
    (path,) = (tmp_path / "tapeflow" / "kernels").iterdir()
    path.write_bytes(b"\x7fELF" + bytes(200))
    assert machine_code.Target().load("first", text, lambda: text)
    assert len(path.read_bytes()) > 204


def test_the_compilers_texts():
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def function(x):
        v.assign_add(x)
        return tf.sqrt(x) + 1.0

    for ir in (
        function.experimental_get_compiler_ir(tf.constant([4.0, 4.0])),
        function.experimental_get_compiler_ir(tf.TensorSpec([2])),
    ):
        assert "op_Sqrt(x)" in ir("hlo") and ir() == ir(stage="hlo")
        assert "llvm.sqrt" in ir("optimized_hlo")
        assert ir("optimized_hlo") == function.get_concrete_function(tf.TensorSpec([2])).source(kernels=True)
        with pytest.raises(ValueError, match="Invalid stage selected: 'dot'"):
            ir("dot")
    assert v.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="jit_compile=True"):
        tf.function(lambda x: x).experimental_get_compiler_ir(1.0)
    with pytest.raises(ValueError, match="static input shape"):
        function.experimental_get_compiler_ir(tf.TensorSpec([None]))()


def test_keras_trains_with_jit_compile():
    def losses(**kwargs):
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", **kwargs)
        x = np.random.default_rng(0).normal(size=(8, 3)).astype("f")
        return model.fit(x, x[:, :1], batch_size=4, epochs=3, verbose=0, shuffle=False).history["loss"]

    np.testing.assert_allclose(losses(jit_compile=True), losses(jit_compile=False), rtol=1e-5)


def test_nothing_is_loaded_before_it_is_needed():
    program = (
        "import sys, tapeflow as tf; tf.function(lambda x: x, jit_compile=True)(1.0); "
        "print([m for m in sys.modules if m.startswith(('torch._inductor', 'torch._dynamo', 'llvmlite', 'sympy'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
