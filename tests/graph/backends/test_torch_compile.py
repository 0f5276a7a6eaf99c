"""`tf.function(jit_compile=True)` by `torch.compile`, which serves GPUs: here it compiles for the CPU, or only traces.

TorchInductor takes seconds to compile, so most tests run the graphs that it would get.
"""

import gc
import shutil
import sys
import threading
import weakref
from unittest import mock

import numpy as np
import pytest
import torch

import op_table
import tapeflow as tf
from tapeflow.function import compilers
from tapeflow.graph.backends import graph_source, torch_compile

pytestmark = pytest.mark.usefixtures("for_gpus", "no_debug_messages")
compiles = pytest.mark.skipif(
    not (shutil.which("g++") or shutil.which("clang++") or sys.platform == "win32"), reason="needs a C++ compiler"
)


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
def test_a_training_step_by_inductor_gives_what_it_gives_uncompiled(caplog):
    got, want = _train(True), _train(False)
    assert not warnings_of(caplog)
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-5, atol=1e-7)


def test_gradients_of_a_compiled_function_inside_and_outside_of_others(graphs):
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
    assert 0 < len(graphs) <= 4  # forward and backward, eagerly and in a graph

    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape() as first:
            first.watch(x)
            y = tf.reduce_sum(inner(x))
        dx = first.gradient(y, x)
    np.testing.assert_allclose(second.gradient(dx, x), -4 * np.tanh(x) * (1 - np.tanh(x) ** 2), rtol=3e-5)


def test_errors_are_those_of_the_uncompiled_function(graphs, caplog):
    take = tf.function(lambda x, i: tf.gather(x, i) * 2, jit_compile=True)
    x, good = tf.constant([1, 2, 3]), tf.constant([2, 0])
    for _ in range(2):
        assert take(x, good).numpy().tolist() == [6, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 5 is not in \[0, 3\)"):
            take(x, tf.constant([0, 5]))
    assert take(x, good).numpy().tolist() == [6, 2]
    assert len(graphs) == 1 and not warnings_of(caplog)


def test_errors_have_the_lines_of_the_user(graphs):
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
    def total(x, y):
        return tf.reduce_sum(x + y)

    x = tf.constant([1.0, 2.0])
    for _ in range(3):
        assert float(total(x, x)) == 6.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes") as info:
        total(x, tf.ones([3]))
    assert "return tf.reduce_sum(x + y)" in str(info.value)
    assert float(total(x, x)) == 6.0
    assert len(graphs) == 1


def test_unknown_sizes_are_symbols(graphs, caplog):
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 2])])
    def mean(x):
        n = tf.shape(x)[0]
        noise = tf.nn.dropout(tf.ones([n, 3]), 0.5, seed=1)
        return tf.reshape(x, [n * 2]) / tf.cast(n // 2, tf.float32), noise, tf.size(x)

    uncompiled = tf.function(mean.python_function, input_signature=[tf.TensorSpec([None, 2])])
    for n in (2, 4, 2, 8, 3, 5, 6, 7, 9, 10, 11, 12, 13):
        for got, want in zip(mean(tf.ones([n, 2])), uncompiled(tf.ones([n, 2])), strict=True):
            np.testing.assert_array_equal(got, want)
    assert 0 < len(graphs) <= 2  # a kernel may have an own way for few elements
    assert not warnings_of(caplog)


def test_shapes_beyond_the_limit_run_uncompiled(graphs, caplog):
    double = tf.function(lambda x: x * 2.0, jit_compile=True, input_signature=[tf.TensorSpec(None)])
    with torch._dynamo.config.patch(recompile_limit=1):
        for rank in (1, 1, 2, 3, 1):
            assert double(tf.ones([2] * rank)).numpy().tolist() == np.full([2] * rank, 2.0).tolist()
    assert len(graphs) == 1
    assert ["it was compiled for many shapes" in w for w in warnings_of(caplog)] == [True]


def test_variables_that_share_a_tensor_and_trade_places(graphs):
    a, b = tf.Variable([0.0]), tf.Variable([1.0])

    @tf.function(jit_compile=True)
    def swap():
        held = a.read_value()
        a.assign(b)
        b.assign(held)
        b.assign_add([1.0])
        return held

    zeros = tf.constant([0.0])
    x, y = 0.0, 1.0
    for i in range(6):
        assert float(swap()[0]) == x
        x, y = y, x + 1.0
        assert (float(a[0]), float(b[0])) == (x, y)
        if i == 3:
            a.assign(zeros)
            b.assign(zeros)
            x = y = 0.0
    assert len(graphs) == 1


def test_an_uninitialized_variable_raises_tensorflows_error(graphs):
    v = tf.Variable([1.0])
    double = tf.function(lambda: v * 2.0, jit_compile=True)
    double()
    double()
    del v._value
    with pytest.raises(tf.errors.FailedPreconditionError, match="Could not find variable"):
        double()


def test_threads_share_a_function_and_dropping_it_frees_it(graphs):
    def called_by_threads():
        function = tf.function(tf.sqrt, jit_compile=True, autograph=False)
        body = weakref.ref(function.get_concrete_function(tf.TensorSpec([1])).body.compiled)
        results = []
        target = lambda: results.append(function(tf.constant([4.0])).numpy().tolist())  # noqa: E731
        for _ in range(2):
            threads = [threading.Thread(target=target) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        assert results == [[2.0]] * 8
        return body

    body = called_by_threads()
    assert len(graphs) == 1
    gc.collect()
    assert body() is None


def test_a_run_holds_the_locks_of_the_variables_that_it_changes(graphs, monkeypatch):
    read, changed = tf.Variable(2.0), tf.Variable(1.0)
    function = tf.function(lambda: changed.assign_add(read), jit_compile=True)
    function()
    locks = [mock.Mock(wraps=threading.RLock()) for _ in range(2)]
    with monkeypatch.context() as patch:
        for variable, lock in zip((read, changed), locks, strict=True):
            patch.setattr(variable, "_lock", lock)
        function()
    assert [lock.mock_calls for lock in locks] == [[], [mock.call.acquire(), mock.call.release()]]
    assert changed.numpy() == 5.0


@compiles
def test_inductor_keeps_nothing_of_a_function_that_is_gone():
    def call():
        function = tf.function(lambda x: tf.sin(x) * tf.random.uniform([3], seed=1), jit_compile=True)
        for _ in range(3):
            function(tf.ones([3]))
        return weakref.ref(function.get_concrete_function(tf.TensorSpec([3])).body.compiled)

    gc.collect()
    before = len(graph_source._calls)
    compiled = call()
    gc.collect()
    assert compiled() is None
    assert len(graph_source._calls) <= before


def test_kernels_that_look_at_values_are_opaque_calls_in_one_graph(graphs, caplog):
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sqrt(tf.linalg.inv(tf.exp(x) + tf.eye(2))) + tf.random.stateless_uniform([2], [1, 2]))
        return y, tape.gradient(y, x)

    jitted = tf.function(function, jit_compile=True)
    x = tf.constant([[1.0, -3.0], [-2.0, 1.0]])
    for _ in range(4):
        for got, want in zip(jitted(x), function(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)
    assert len(graphs) == 1 and "opaque" in graphs[0]
    assert jitted.get_concrete_function(x).explain_jit_compile() == "function: compiled around MatrixInverse"
    assert not warnings_of(caplog)


def test_functions_of_slices_are_compiled_for_all_of_them(graphs, caplog):
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
    assert graphs
    assert not warnings_of(caplog)


def test_slices_draw_their_numbers_anew_in_each_run(graphs):
    def mapped(e):
        return tf.random.shuffle(tf.range(9.0), seed=1) * e

    found = []
    for jit_compile in (True, False):
        tf.random.set_seed(1)
        f = tf.function(lambda x: tf.vectorized_map(mapped, x, warn=False) * 2.0, jit_compile=jit_compile)
        found.append([f(tf.ones([3])).numpy().tolist() for _ in range(3)])
    assert found[0] == found[1]
    assert len({str(numbers) for numbers in found[0]}) == 3
    assert graphs


def test_keras_trains_with_jit_compile(graphs, caplog):
    def losses(**kwargs):
        tf.keras.utils.set_random_seed(1)
        dense, dropout = tf.keras.layers.Dense, tf.keras.layers.Dropout
        model = tf.keras.Sequential([tf.keras.Input((3,)), dense(4, "relu"), dropout(0.25), dense(1)])
        model.compile("sgd", "mse", **kwargs)
        x = np.random.default_rng(0).normal(size=(8, 3)).astype("f")
        return model.fit(x, x[:, :1], batch_size=4, epochs=3, verbose=0, shuffle=False).history["loss"]

    np.testing.assert_allclose(losses(jit_compile=True), losses(jit_compile=False), rtol=1e-5)
    assert len(graphs) == 1 and not warnings_of(caplog)


@pytest.mark.parametrize("row", [r for r in op_table.all_rows() if r.reference is not None][::8], ids=str)
def test_kernels_in_dynamos_graphs_give_what_they_give_outside(row, graphs):
    """The rows between these have passed it, too."""
    dtype = "float32" if "float32" in row.dtypes else row.dtypes[0]
    args, kwargs = row.samples[0]
    structure = [op_table.cast(a, dtype) for a in args], {k: op_table.cast(v, dtype) for k, v in kwargs.items()}
    leaves = [v for v in tf.nest.flatten(structure) if isinstance(v, tf.Tensor)]

    def function(*tensors):
        given = iter(tensors)
        own = tf.nest.map_structure(lambda v: next(given) if isinstance(v, tf.Tensor) else v, structure)
        return tf.nest.flatten(row.function(*own[0], **own[1]), expand_composites=True)

    compiled = tf.function(function, jit_compile=True)
    for _ in range(4):  # a kernel that can't be traced fails in the second call
        results = compiled(*leaves)
    for got, want in zip(results, function(*leaves), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


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
def test_what_cannot_be_compiled_runs_all_the_same_with_one_warning(function, op, graphs, caplog):
    jitted = tf.function(function, jit_compile=True)
    x = tf.constant([2.0, 3.0])
    expected = np.array(tf.function(function)(x)).tolist()
    for _ in range(3):
        assert np.array(jitted(x)).tolist() == expected
    jitted(tf.constant([2.0]))
    (warning,) = warnings_of(caplog)
    assert jitted.name in warning and op in warning


def test_without_a_compiler_it_runs_uncompiled_and_says_why(monkeypatch, caplog):
    def backend(module, inputs):
        raise RuntimeError("no C++ compiler found")

    compiled = lambda self, function, **_: torch.compile(function, fullgraph=True, backend=backend)  # noqa: E731
    monkeypatch.setattr(torch_compile.TorchCompile, "compile", compiled)
    function = tf.function(lambda x: x + 1.0, jit_compile=True)
    x = tf.constant(1.0)
    for _ in range(3):
        assert float(function(x)) == 2.0
    (warning,) = warnings_of(caplog)
    assert "no C++ compiler found" in warning
    assert "no C++ compiler found" in function.get_concrete_function(x).explain_jit_compile()


# ---- looking at it ---------------------------------------------------------------------------------------------------


@compiles
def test_the_compilers_texts():
    v, scale = tf.Variable([1.0, 2.0]), tf.constant([[0.25]])

    @tf.function(jit_compile=True)
    def function(x):
        v.assign_add(x)
        return tf.sqrt(x) * scale + 1.0

    ir = function.experimental_get_compiler_ir(tf.TensorSpec([2]))
    source = ir("hlo")
    assert "Sqrt = run_kernel('Sqrt', " in source and "Const" not in source  # scalars are numbers in the code
    assert "kernel" in ir("optimized_hlo")
    assert v.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="AsString"):
        tf.function(_strings, jit_compile=True).experimental_get_compiler_ir(tf.constant(1.0))()


# ---- CUDA graphs -----------------------------------------------------------------------------------------------------


def test_results_do_not_stay_in_the_memory_of_a_cuda_graph(monkeypatch):
    """A CUDA graph writes all its results to the same memory again."""

    def compiled(self, function, **options):
        memory = []

        def run(*tensors):
            results = function(*tensors)
            memory.extend(r.clone() for r in results[len(memory) :])
            return [m.copy_(r) for m, r in zip(memory, results, strict=True)]

        return run

    monkeypatch.setattr(torch_compile.TorchCompile, "compile", compiled)
    monkeypatch.setattr(compilers, "compiler_of", lambda name, *_: torch_compile.TorchCompile(name, cuda_graphs=True))
    v = tf.Variable([1.0])

    @tf.function(experimental_attributes={"cuda_graph": True})
    def step(x):
        before = v * 1.0
        v.assign_add(x)
        return before, v.read_value()

    kept = [step(tf.constant([float(i)])) for i in range(5)]
    assert [float(before[0]) for before, _ in kept] == [1.0, 1.0, 2.0, 4.0, 7.0]
    assert [float(after[0]) for _, after in kept] == [1.0, 2.0, 4.0, 7.0, 11.0]
    assert float(v[0]) == 11.0


def test_the_option_of_a_function(caplog):
    for attributes, said in [
        ({"implements": "x"}, "`implements is not supported by tf.function as an attribute."),
        ({"cuda_graph": "yes"}, "must be True or False"),
    ]:
        with pytest.raises(ValueError, match=said):
            tf.function(lambda x: x, experimental_attributes=attributes)
    assert float(tf.function(lambda x: x, experimental_attributes={"_noinline": True})(1.0)) == 1.0


# ---- on a GPU --------------------------------------------------------------------------------------------------------


def _losses(**options):
    """The losses of steps with Adam, dropout and batches of two sizes, and the function."""
    tf.random.set_seed(1)
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(size=(8, 8)).astype("f") / 3) for _ in range(10)]
    slots = [[tf.Variable(tf.zeros([8, 8])) for _ in weights] for _ in range(2)]

    @tf.function(input_signature=[tf.TensorSpec([None, 8])], **options)
    def step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.tanh(tf.matmul(h, w))
            loss = tf.reduce_mean(tf.square(tf.nn.dropout(h, 0.25) - 1.0))
        for w, m, v, g in zip(weights, *slots, tape.gradient(loss, weights), strict=True):
            m.assign_add((g - m) * 0.1)
            v.assign_add((tf.square(g) - v) * 0.001)
            w.assign_sub(0.01 * m / (tf.sqrt(v) + 1e-7))
        return loss

    x = rng.normal(size=(4, 8)).astype("f")
    return [float(step(tf.constant(x[: 4 - i % 2]))) for i in range(10)], step


OPTIONS = [{"jit_compile": True}, {"experimental_attributes": {"cuda_graph": True}}]


@pytest.mark.parametrize("options", OPTIONS, ids=["jit_compile", "cuda_graph"])
def test_steps_with_adam_give_what_they_give_uncompiled(options, graphs):
    got, step = _losses(**options)
    want, _ = _losses()
    np.testing.assert_allclose(got, want, rtol=1e-4)
    assert step.get_concrete_function().explain_jit_compile() == "step: compiled"


@pytest.mark.gpu
@pytest.mark.parametrize("options", OPTIONS, ids=["jit_compile", "cuda_graph"])
def test_steps_on_a_gpu_give_what_they_give_uncompiled(options, monkeypatch):
    monkeypatch.undo()  # the compiler of this machine
    got, step = _losses(**options)
    want, _ = _losses()
    np.testing.assert_allclose(got, want, rtol=1e-3)
    assert step.get_concrete_function().explain_jit_compile() == "step: compiled"


@pytest.mark.gpu
def test_results_of_cuda_graphs_stay_and_their_memory_goes_with_functions(monkeypatch):
    monkeypatch.undo()

    def make():
        f = tf.function(lambda x: tf.matmul(x, x) + 1.0, experimental_attributes={"cuda_graph": True})
        kept = [f(tf.fill([256, 256], float(i))) for i in range(6)]
        assert [float(k[0, 0]) for k in kept] == [256.0 * i * i + 1.0 for i in range(6)]

    make()  # what libraries take once
    gc.collect()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        make()
    gc.collect()
    assert torch.cuda.memory_allocated() <= before + (1 << 22)
