"""`tf.function(jit_compile=True)` by TorchInductor, which serves GPUs: here it compiles for the CPU.

Compiling takes about a second each, so that a test here asks for several things.
"""

import gc
import shutil
import sys
import threading
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph.backends import inductor

pytestmark = pytest.mark.usefixtures("for_gpus", "no_debug_messages")
compiles = pytest.mark.skipif(
    not (shutil.which("g++") or shutil.which("clang++") or sys.platform == "win32"), reason="needs a C++ compiler"
)


@pytest.fixture
def compiled(monkeypatch):
    """The functions that TorchInductor compiles."""
    found = []
    inducted = inductor._inducted

    def counted(graph, **options):
        found.append(inducted(graph, **options))
        return found[-1]

    monkeypatch.setattr(inductor, "_inducted", counted)
    return found


def warnings_of(caplog):
    return [r.getMessage() for r in caplog.records if "jit_compile=True:" in r.getMessage()]


# ---- what it computes ------------------------------------------------------------------------------------------------


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
            loss = tf.reduce_mean(tf.exp(-h))
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.1 * g)
        before = steps.read_value()
        steps.assign_add(1)
        return loss, weights[0] * 2.0, before, steps.read_value(), x

    x = tf.constant(np.linspace(-1, 1, 12, dtype="f").reshape(3, 4))
    return [v for _ in range(3) for v in step(x)] + weights


@compiles
def test_a_training_step_gives_what_it_gives_uncompiled(compiled):
    got, want = _train(True), _train(False)
    assert len(compiled) == 1
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-5, atol=1e-7)


@compiles
def test_gradients_of_a_compiled_function_inside_and_outside_of_others(compiled):
    x = tf.constant([0.1, -2.0, 3.0])
    w = tf.Variable(2.0)
    inner = tf.function(lambda x: tf.tanh(x) * w, jit_compile=True)
    outer = tf.function(lambda x: tf.reduce_sum(inner(x) ** 2))
    expected = {"x": 8 * np.tanh(x) * (1 - np.tanh(x) ** 2), "w": 4 * np.sum(np.tanh(x) ** 2)}
    for call in (outer, lambda x: tf.reduce_sum(inner(x) ** 2)):
        for _ in range(2):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = call(x)
            dx, dw = tape.gradient(y, [x, w])
            np.testing.assert_allclose(y, 4 * np.sum(np.tanh(x) ** 2), rtol=1e-5)
            np.testing.assert_allclose(dx, expected["x"], rtol=3e-5)  # 1 - y * y has 200 times the error of y
            np.testing.assert_allclose(dw, expected["w"], rtol=1e-5)
    assert 0 < len(compiled) <= 4  # forward and backward, eagerly and in a graph

    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape() as first:
            first.watch(x)
            y = tf.reduce_sum(inner(x))
        dx = first.gradient(y, x)
    np.testing.assert_allclose(second.gradient(dx, x), -4 * np.tanh(x) * (1 - np.tanh(x) ** 2), rtol=3e-5)


@compiles
def test_errors_are_those_of_the_uncompiled_function(compiled, caplog):
    take = tf.function(lambda x, i: tf.gather(x, i) * 2, jit_compile=True)
    x, good = tf.constant([1, 2, 3]), tf.constant([2, 0])
    for _ in range(2):
        assert take(x, good).numpy().tolist() == [6, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 5 is not in \[0, 3\)"):
            take(x, tf.constant([0, 5]))
    assert take(x, good).numpy().tolist() == [6, 2]
    assert len(compiled) == 1 and not warnings_of(caplog)


@compiles
def test_unknown_dimensions_are_compiled_for_each_size_up_to_a_number(compiled, caplog, monkeypatch):
    monkeypatch.setattr(inductor, "MOST_SHAPES", 1)

    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 2])])
    def mean(x):
        n = tf.shape(x)[0]
        return tf.reshape(x, [n * 2]) / tf.cast(n // 2, tf.float32)

    for n in (2, 4, 2, 8):
        assert mean(tf.ones([n, 2])).numpy().tolist() == [2 / n] * (2 * n)
    assert len(compiled) == 1
    assert [w for w in warnings_of(caplog) if "1 shapes" in w] == warnings_of(caplog) != []


@compiles
def test_threads_share_a_function_and_dropping_it_frees_it(compiled):
    def called_by_threads():
        function = tf.function(tf.sqrt, jit_compile=True, autograph=False)
        body = weakref.ref(function.get_concrete_function(tf.TensorSpec([1])).body.compiled)
        results = []
        target = lambda: results.append(function(tf.constant([4.0])).numpy().tolist())  # noqa: E731
        threads = [threading.Thread(target=target) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert results == [[2.0]] * 4
        return body

    body = called_by_threads()
    assert len(compiled) == 1
    gc.collect()
    assert body() is None


@compiles
def test_what_looks_at_values_runs_between_what_is_compiled(compiled, caplog):
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sqrt(tf.linalg.inv(tf.exp(x) + tf.eye(2))) + tf.random.stateless_uniform([2], [1, 2]))
        return y, tape.gradient(y, x)

    jitted = tf.function(function, jit_compile=True)
    x = tf.constant([[1.0, -3.0], [-2.0, 1.0]])
    for _ in range(2):
        for got, want in zip(jitted(x), function(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)
    assert len(compiled) == 2  # before the inverse, and after it
    assert ["MatrixInverse" in w for w in warnings_of(caplog)] == [True]


@compiles
def test_functions_of_slices_are_compiled_for_all_of_them(compiled, caplog):
    """Also those of ops without a rule for batches, and their gradients by a variable that is changed before."""
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 2)).astype("f"))

    def results(jit_compile):
        w = tf.Variable([1.0, 2.0])

        @tf.function(jit_compile=jit_compile)
        def step(x):
            w.assign_add([1.0, 1.0])
            with tf.GradientTape() as tape:
                y = tf.vectorized_map(lambda e: tf.linalg.tensor_diag(e) * w, x * 2.0)
                loss = tf.reduce_sum(y * y)
            return y, tape.gradient(loss, w)

        tf.random.set_seed(1)
        found = tf.nest.flatten([step(x) for _ in range(2)])
        assert "Vectorized" in {o.type for o in step.get_concrete_function(x).graph.get_operations()}
        return found

    for a, b in zip(results(True), results(False), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4)
    assert compiled
    assert not warnings_of(caplog)


@compiles
def test_slices_draw_their_numbers_anew_in_each_run(compiled):
    def mapped(e):
        return tf.random.shuffle(tf.range(9.0), seed=1) * e

    found = []
    for jit_compile in (True, False):
        tf.random.set_seed(1)
        f = tf.function(lambda x: tf.vectorized_map(mapped, x, warn=False) * 2.0, jit_compile=jit_compile)
        found.append([f(tf.ones([3])).numpy().tolist() for _ in range(3)])
    assert found[0] == found[1]
    assert len({str(numbers) for numbers in found[0]}) == 3
    assert compiled


@compiles
def test_keras_trains_with_jit_compile(compiled, caplog):
    def losses(**kwargs):
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", **kwargs)
        x = np.random.default_rng(0).normal(size=(8, 3)).astype("f")
        return model.fit(x, x[:, :1], batch_size=4, epochs=3, verbose=0, shuffle=False).history["loss"]

    np.testing.assert_allclose(losses(jit_compile=True), losses(jit_compile=False), rtol=1e-5)
    assert len(compiled) == 1 and not warnings_of(caplog)


# ---- what it can't take ----------------------------------------------------------------------------------------------


def _strings(x):
    return tf.strings.length(tf.strings.as_string(x))


def _python(x):
    return tf.numpy_function(lambda v: v + 1, [x], tf.float32)


def _checks(x):
    return tf.debugging.check_numerics(x, "what it was")


def _prints(x):
    tf.print("seen")
    return x


REFUSED = [
    (_strings, "AsString"), (_python, "PyFunc"), (_checks, "CheckNumerics"), (_prints, "Print"),
]  # fmt: skip


@pytest.mark.parametrize("function, op", REFUSED)
def test_what_cannot_be_compiled_runs_all_the_same_with_one_warning(function, op, caplog, monkeypatch):
    monkeypatch.setattr(inductor, "require_compiler", lambda: None)
    jitted = tf.function(function, jit_compile=True)
    x = tf.constant([2.0, 3.0])
    expected = np.array(tf.function(function)(x)).tolist()
    for _ in range(3):
        assert np.array(jitted(x)).tolist() == expected
    jitted(tf.constant([2.0]))
    (warning,) = warnings_of(caplog)
    assert jitted.name in warning and op in warning


def test_without_a_compiler_the_first_call_says_what_to_install():
    from torch._inductor import config

    function = tf.function(lambda x: x + 1.0, jit_compile=True)
    with config.patch({"cpp.cxx": (None, "no-such-compiler")}):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Install it"):
            function(1.0)
        with pytest.raises(tf.errors.FailedPreconditionError, match="Install it"):
            function.experimental_get_compiler_ir(1.0)()


# ---- the code --------------------------------------------------------------------------------------------------------


@compiles
def test_scalars_are_numbers_in_the_code():
    scale = tf.constant([[0.25]])
    function = tf.function(lambda x: (x * 0.5 + scale) / 3.0, jit_compile=True)
    text = function.experimental_get_compiler_ir(tf.ones([2, 2]))("hlo")
    assert "def forward(self, input_0):" in text  # no inputs for scalars
    for _ in range(2):
        np.testing.assert_array_equal(function(tf.ones([2, 2])), np.full([2, 2], np.float32(0.75) / np.float32(3)))


# ---- looking at it ---------------------------------------------------------------------------------------------------


@compiles
def test_the_compilers_texts():
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def function(x):
        v.assign_add(x)
        return tf.sqrt(x) + 1.0

    ir = function.experimental_get_compiler_ir(tf.TensorSpec([2]))
    assert "aten.sqrt" in ir("hlo") and "kernel" in ir("optimized_hlo")
    assert v.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="AsString"):
        tf.function(_strings, jit_compile=True).experimental_get_compiler_ir(tf.constant(1.0))()
