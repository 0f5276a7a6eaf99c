"""Clusters: groups of element-wise steps and reductions of rows, each computed by one compiled kernel."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.elementwise_kernels import CompiledKernel
from tapeflow.graph.compiler import clusters

SCRIPT = Path(__file__).parents[3] / "scripts" / "fuzz_programs.py"
SHAPES = [(4, 7), (3, 5, 33), (2, 64), (1, 1), (5, 1), (0, 3), (2, 0), (2, 3, 20000)]


def layer_norm(x, scale, offset):
    centered = x - tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(centered * centered, -1, keepdims=True)
    return centered / tf.sqrt(variance + 1e-5) * scale + offset


def softmax(x, scale, offset):
    e = tf.exp(x - tf.reduce_max(x, -1, keepdims=True))
    return e / tf.reduce_sum(e, -1, keepdims=True)


def rms_norm(x, scale, offset):
    return x * tf.math.rsqrt(tf.reduce_mean(tf.square(x), -1, keepdims=True) + 1e-6) * scale


def log_sum_exp(x, scale, offset):
    largest = tf.reduce_max(x, -1, keepdims=True)
    return tf.reduce_sum(tf.exp(x - largest) * scale, -1), largest, tf.reduce_min(x * offset, -1)


def attention_scores(x, scale, offset):
    """A mask with one number for each row."""
    return softmax(x * 0.5 + (offset[0] - 1.0) * tf.reduce_max(x, -1, keepdims=True), scale, offset)


def column_sums(x, scale, offset):
    """The gradients of a scale and an offset, which layers sum over all axes but the last."""
    axes = list(range(x.shape.rank - 1))
    y = tf.tanh(x * scale)
    return y, tf.reduce_sum(y * x, axes), tf.reduce_mean(y, axes, keepdims=True), tf.reduce_max(y + offset, axes)


def columns_of_normalized_rows(x, scale, offset):
    return tf.reduce_sum(softmax(x, scale, offset) * x, list(range(x.shape.rank - 1))), tf.reduce_min(x * x, -1)


@pytest.mark.parametrize("shape", [*SHAPES, (700, 20), (2, 300, 16)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    "function", [layer_norm, softmax, rms_norm, log_sum_exp, attention_scores, column_sums, columns_of_normalized_rows]
)
def test_reductions(function, dtype, shape):
    rng = np.random.default_rng(0)
    inputs = [tf.constant(rng.normal(size=s), dtype) for s in (shape, shape[-1:], shape[-1:])]
    if shape[-1] == 0 and function is attention_scores:
        pytest.skip("has no first element")
    tolerance = {"float32": 2e-5, "float64": 1e-12, "bfloat16": 5e-2}[dtype]
    compiled = tf.function(function, jit_compile=True)
    exact = [tf.cast(t, tf.float64) for t in inputs]
    for got, want in zip(tf.nest.flatten(compiled(*inputs)), tf.nest.flatten(function(*exact)), strict=True):
        assert got.shape == want.shape and got.dtype == dtype
        size = tolerance * max(1.0, np.abs(want.numpy()).max(initial=0.0))
        np.testing.assert_allclose(tf.cast(got, tf.float64).numpy(), want, tolerance, size)


def test_column_sums_do_not_depend_on_threads():
    script = """
import sys, torch, tapeflow as tf
torch.set_num_threads(int(sys.argv[1]))
f = tf.function(lambda x: tf.reduce_sum(tf.sin(x), [0, 1]), jit_compile=True)
print(f(tf.random.stateless_normal([40, 130, 48], [1, 2])).numpy().tobytes().hex())
"""
    one, two = (subprocess.run([sys.executable, "-c", script, n], capture_output=True, check=True) for n in "12")
    assert one.stdout == two.stdout and len(one.stdout) > 300


@pytest.mark.parametrize("function", [layer_norm, softmax, rms_norm])
def test_a_normalization_is_one_kernel(function):
    inputs = tf.ones([4, 8]), tf.ones([8]), tf.ones([8])
    source = tf.function(function, jit_compile=True).get_concrete_function(*inputs).source()
    assert source.count("op_") == 1, source


def test_nan_and_infinities_in_rows():
    x = tf.constant([[1.0, np.nan, 2.0], [np.inf, 1.0, -np.inf], [-np.inf, -np.inf, -np.inf]])

    def function(x):
        return tf.reduce_max(x * 1.0, -1), tf.reduce_min(x * 1.0, -1), tf.reduce_sum(x * 1.0, -1)

    for got, want in zip(tf.function(function, jit_compile=True)(x), function(x), strict=True):
        np.testing.assert_array_equal(got, want)


def test_plain_functions_compile_what_pays():
    """The choice follows from static sizes: small tensors are left to ATen, large ones and loops are not."""

    def chain(x):
        return tf.exp(x * 2.0 + 1.0) * x

    small, large = (tf.function(chain).get_concrete_function(tf.TensorSpec(s, tf.float32)) for s in ([8], [1 << 16]))
    assert small.source().count("op_") > 1 and large.source().count("op_") == 1

    @tf.function
    def loop(x):
        for _ in tf.range(3):
            x = chain(x) * 0.1
        return x

    assert "op_MulAddV2ExpAnd2More" in loop.get_concrete_function(tf.TensorSpec([8], tf.float32)).source()


def test_gradients_of_compiled_functions():
    x = tf.constant(np.random.default_rng(0).normal(size=(3, 9)), tf.float64)
    parameters = tf.constant(np.linspace(0.5, 1.5, 9)), tf.constant(np.linspace(-1, 1, 9))

    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(layer_norm(x, *parameters) * tf.sin(x))
        return tape.gradient(loss, x)

    np.testing.assert_allclose(tf.function(gradients, jit_compile=True)(x), gradients(x), rtol=1e-9, atol=1e-12)


def test_slices_of_a_batch():
    x = tf.constant(np.random.default_rng(0).normal(size=(5, 4, 6)), tf.float32)
    one = tf.function(lambda x: softmax(x, None, None) * 2.0, jit_compile=True)
    np.testing.assert_allclose(tf.vectorized_map(one, x), one(x), rtol=1e-5)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are forked")
def test_random_programs():
    command = [sys.executable, SCRIPT, "--draws", "100", "--seed", "500", "--clusters"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1].endswith(" 0 different"), done.stdout + done.stderr


@pytest.mark.parametrize(
    "function",
    [
        lambda y, x: tf.exp(y) * 2.0 + x,
        lambda y, x: softmax(y, x, x),  # reads its input twice
        lambda y, x: (tf.exp(y) * x, tf.tanh(y) + x),
        lambda y, x: (y, tf.exp(y) * x),
        lambda y, x: (tf.reshape(y, [-1]), tf.exp(y) * x),
        lambda y, x: tf.exp(y) * x + tf.transpose(y) @ x,
        lambda y, x: tf.exp(tf.exp(y) * x @ x) + tf.reduce_sum(y * x, 0),
        lambda y, x: (lambda z: (z, tf.reduce_sum(z, 0)))(tf.tanh(y + x[0]) * y),
    ],
)
@pytest.mark.parametrize("spec", [[128, 128], [128, None]], ids=str)
def test_results_in_the_memory_of_inputs(function, spec):
    x = tf.constant(np.random.default_rng(0).normal(size=(128, 128)) / 16, tf.float32)
    kept = x.numpy().copy()

    @tf.function(input_signature=[tf.TensorSpec(spec)], jit_compile=True)
    def compiled(x):
        return function(x @ x, x)

    for _ in range(2):
        for a, b in zip(tf.nest.flatten(compiled(x)), tf.nest.flatten(function(x @ x, x)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(x, kept)


def test_gradients_of_biases_are_sums_in_clusters():
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 9, 32)), tf.float32)

    def gradient(x):
        dy = tf.tanh(x) * 2.0
        return dy, tf.raw_ops.BiasAddGrad(out_backprop=dy)

    compiled = tf.function(gradient, jit_compile=True)
    for a, b in zip(compiled(x), gradient(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    assert "op_TanhMulSum(x)" in compiled.get_concrete_function(x).source()


def test_reductions_of_axes_with_one_element():
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 300, 1)), tf.float32)
    compiled = tf.function(lambda x: tf.reduce_mean(tf.exp(x) * 2.0, -1) + 1.0, jit_compile=True)
    np.testing.assert_allclose(compiled(x), np.exp(x[..., 0]) * 2 + 1, rtol=1e-6)


def test_a_cluster_without_inputs():
    """Large constants are not folded."""

    @tf.function(jit_compile=True)
    def function():
        ones = tf.broadcast_to(tf.constant(1.0), [300, 300])
        return tf.exp(ones * 2.0) * ones + 1.0

    np.testing.assert_allclose(function(), np.full((300, 300), np.exp(2.0) + 1.0), rtol=1e-6)


def test_shapes_that_a_function_was_not_traced_for():
    """A gradient that repeats its cotangent to a static shape refuses tensors of other shapes."""
    x = tf.constant([1.0, 2.0, 3.0])
    function = tf.function(lambda x: tf.reduce_mean(tf.exp(x * x) * x), jit_compile=True)
    concrete = function.get_concrete_function(tf.TensorSpec([2]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = concrete(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tape.gradient(y, x)


@pytest.mark.parametrize("function", [layer_norm, softmax, log_sum_exp, columns_of_normalized_rows])
def test_a_kernel_for_short_rows_is_called_with_long_rows(function):
    """Values that a later pass needs would not fit on the stack: 3 million numbers take 12 MB."""
    specs = [tf.TensorSpec(shape, tf.float32) for shape in ([None, None], [None], [None])]
    compiled = tf.function(function, jit_compile=True, input_signature=specs)
    rng = np.random.default_rng(0)
    for shape in ((4, 7), (2, 40_000), (1, 3_000_000), (3, 5)):
        inputs = [tf.constant(rng.normal(size=s), tf.float32) for s in (shape, shape[-1:], shape[-1:])]
        got, wanted = tf.nest.flatten(compiled(*inputs)), tf.nest.flatten(function(*inputs))
        for x, y in zip(got, wanted, strict=True):
            np.testing.assert_allclose(x.numpy(), y.numpy(), 1e-4, 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_functions_with_other_constants_share_their_kernels(dtype, monkeypatch, tmp_path):
    """A function that is made again for each number does not compile again."""
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    kernels = tmp_path / "tapeflow" / "kernels"

    def make(number):
        def function(x):
            y = tf.exp(x * number) - number
            return y / 3.0, tf.reduce_max(y, -1) + number, tf.reduce_sum(y * 0.3, 0)

        return function

    x = tf.constant(np.linspace(-1.0, 1.0, 5 * 33).reshape(5, 33), dtype)
    counts = []
    for number in (0.4, -0.7, 1.1, 0.4):
        for got, want in zip(tf.function(make(number), jit_compile=True)(x), make(number)(x), strict=True):
            tolerance = {"float16": 1e-2, "bfloat16": 1e-1}.get(dtype, 1e-5)
            np.testing.assert_allclose(got.numpy().astype("d"), want.numpy().astype("d"), tolerance, tolerance)
        counts.append(len(list(kernels.iterdir())))
    assert len(set(counts)) == 1


@pytest.mark.parametrize("number", [0.0, -0.0, 1.0, 2.0, 0.1, np.inf, -np.inf, np.nan])
def test_constants(number):
    def function(x):
        return tf.maximum(x * number, x) + number, x**number, tf.reduce_sum(tf.sin(x) * number, -1)

    x = tf.constant(np.linspace(0.5, 2.0, 2 * 9).reshape(2, 9), tf.float32)
    for got, want in zip(tf.function(function, jit_compile=True)(x), function(x), strict=True):
        np.testing.assert_allclose(got, want, 1e-5)


def test_many_values_are_kept_for_a_later_pass():
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, None], tf.float32)])
    def function(x):
        waves = [tf.sin(x * float(i)) for i in range(80)]  # of 60,000 elements, they take 19 MB
        largest = tf.reduce_max(tf.add_n(waves), -1, keepdims=True)
        return tf.add_n([w * largest for w in waves])

    for columns in (8, 60_000):
        x = np.linspace(-1.0, 1.0, 2 * columns).reshape(2, columns)
        total = np.sum([np.sin(x * i) for i in range(80)], 0)
        want = total * total.max(-1, keepdims=True)
        np.testing.assert_allclose(function(tf.constant(x, tf.float32)), want, rtol=1e-3, atol=0.1)


def test_random_numbers_for_rows_of_other_lengths():
    """A kernel draws the numbers of a whole row at once."""

    @tf.function(jit_compile=True)
    def function(x):
        words = tf.random.stateless_uniform([2, 3_000_000], [1, 2])
        return tf.reduce_sum(words * x, -1)

    np.testing.assert_allclose(function(tf.ones([1, 3_000_000])), [1.5e6] * 2, rtol=1e-2)


def test_unknown_sizes_that_differ():
    """The rows that are reduced have another length than those that the result has."""
    spec = tf.TensorSpec([None, None], tf.float32)

    @tf.function(input_signature=[spec, spec], jit_compile=True)
    def function(x, y):
        return tf.maximum(tf.reduce_sum(x * 2.0, 1, keepdims=True), y * 3.0)

    rng = np.random.default_rng(0)
    for columns in (4, 8):
        x, y = (rng.normal(size=(3, n)).astype("f") for n in (4, columns))
        want = np.maximum(2 * x.sum(1, keepdims=True), 3 * y)
        np.testing.assert_allclose(function(x, y), want, rtol=1e-5, atol=1e-6)


def test_variables_keep_inputs_that_later_clusters_write_into(monkeypatch):
    def only_other_clusters(name, *args, **kwargs):
        if "Assign" in name:
            raise clusters.Unsupported(name)
        return compiled(name, *args, **kwargs)

    compiled = clusters.function
    monkeypatch.setattr(clusters, "function", only_other_clusters)
    variable, ones = tf.Variable(tf.zeros([256, 256])), tf.ones([256, 256])

    @tf.function(jit_compile=True)
    def f(x):
        y = tf.matmul(x, ones)
        variable.assign(y)
        column = tf.matmul(tf.tanh(y * 2.0 + variable), ones[:, :1])
        return tf.exp(-tf.abs(y + column))

    f(ones)
    assert variable.numpy().min() == variable.numpy().max() == 256.0


_LENGTH = 2**15 + 3  # of vectors: more than native functions take


def test_leading_dimensions_of_vectors_do_not_matter():
    """Batch normalization computes with vectors of the channels, some of them reshaped to the rank of the images."""
    mean, scale = (tf.Variable(np.linspace(0.5, 2.0, _LENGTH, dtype=np.float32)) for _ in range(2))

    def step(x):
        average = tf.reduce_mean(x, [0, 1], keepdims=True)
        mean.assign(mean * 0.9 + tf.squeeze(average, [0, 1]) * 0.1)
        factor = tf.math.rsqrt(tf.reshape(scale, [1, 1, _LENGTH]) + 1e-3)
        shift = tf.exp(-average) * factor - tf.expand_dims(mean, 0)
        return shift, tf.squeeze(shift) * 2.0 + tf.tanh(tf.squeeze(factor)), tf.reshape(average, [1, _LENGTH])

    x = tf.random.normal([2, 3, _LENGTH])
    compiled = tf.function(step)
    assert compiled.get_concrete_function(x).source().count("op_") == 2  # the mean, and a cluster
    before = mean.numpy()
    want, changed = step(x), mean.numpy()
    mean.assign(before)
    for got, result in zip(compiled(x), want, strict=True):
        assert got.shape == result.shape
        np.testing.assert_allclose(got, result, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(mean, changed, rtol=1e-6)


def test_squeezed_vectors_need_no_calls_of_kernels(monkeypatch):
    monkeypatch.setattr(clusters.Cluster, "_one_by_one", property(lambda self: pytest.fail("the steps ran one by one")))

    @tf.function
    def step(x):
        average = tf.squeeze(tf.reduce_mean(x, [0, 1], keepdims=True), [0, 1])
        return tf.exp(average) * 2.0 + average, tf.tanh(average) * average - 1.0

    x = tf.random.normal([2, 3, _LENGTH])
    average = x.numpy().mean((0, 1))
    np.testing.assert_allclose(step(x)[0], np.exp(average) * 2 + average, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(step(x)[1], np.tanh(average) * average - 1, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_of_vectors(seed):
    """Vectors of several ranks, rows, columns, broadcasts and a variable give what eager mode gives."""
    length = _LENGTH
    variable = tf.Variable(tf.ones([length]))

    def step(x, y):
        rng = np.random.default_rng(seed)
        values = [x, y, tf.reshape(x, [length]), tf.reduce_sum(tf.reshape(y * x, [1, 1, length]) * 2.0, -1)]
        for _ in range(24):
            a, b = (values[i] for i in rng.integers(len(values), size=2))
            rank = int(rng.integers(1, 5))
            choice = rng.integers(8)
            if choice == 0 and a.shape[-1] == length:
                values.append(tf.reshape(a, [*[1] * (rank - 1), length]))
            elif choice == 1:
                values.append(tf.expand_dims(a, 0) if a.shape.rank < 4 else tf.squeeze(a[0]))
            elif choice == 2:
                values.append(tf.nn.softmax(a))
            elif choice == 3:
                values.append(tf.reduce_mean(a, -1, keepdims=bool(rng.integers(2))) + tf.ones([1]))
            elif choice == 4 and a.shape.num_elements() == length:
                variable.assign(variable * 0.5 + tf.reshape(a, [length]))
            elif choice == 5:
                values.append(variable * 1.0)
            else:
                values.append(tf.tanh(a) * 0.5 + b)
        return values[4:]

    x, y = tf.random.stateless_normal([1, length], [seed, 1]), tf.random.stateless_normal([1, 1, 1, length], [seed, 2])
    want, changed = step(x, y), variable.numpy()
    for jit_compile in (False, True):
        variable.assign(tf.ones([length]))
        for got, result in zip(tf.function(step, jit_compile=jit_compile)(x, y), want, strict=True):
            assert got.shape == result.shape
            np.testing.assert_allclose(got, result, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(variable, changed, rtol=1e-5, atol=1e-5)


VIEWS = {
    "a crop": lambda x: x[:, 1:-1, 2:-3],
    "swapped": lambda x: tf.transpose(x, [1, 0, 2]),
    "swapped and cropped": lambda x: tf.transpose(x, [1, 0, 2])[1:, :-1, 5:],
    "reversed axes": tf.transpose,
    "every other column": lambda x: x[..., ::2],
    "every other row": lambda x: x[:, ::2],
    "one column": lambda x: x[..., 3:4] * tf.ones([70]),
    "a half": lambda x: tf.split(x, 2, axis=2)[1],
    "a diagonal block": lambda x: x[1:2, 2:3, 60:],
    "a repeated row": lambda x: tf.broadcast_to(x[:, :1], x.shape),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("shape", [(4, 6, 200), (3, 4, 66), (2, 70, 64)])
def test_inputs_that_are_views(view, shape):
    def function(x, column, row):
        y = view(x)
        centered = y - tf.reduce_mean(y, -1, keepdims=True)
        return tf.tanh(y) * 2.0 + column[: y.shape[1]] - row[: y.shape[2]], centered * 0.5, y + tf.reverse(y, [0])

    rng = np.random.default_rng(0)
    args = [tf.constant(rng.normal(size=s), tf.float32) for s in (shape, (shape[1] + shape[0] + 200, 1), (400,))]
    compiled = tf.function(function, jit_compile=True)
    for scale in (1.0, 2.0):
        own = [args[0] * scale, *args[1:]]
        for got, want in zip(compiled(*own), function(*own), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_views_of_sizes_that_change():
    @tf.function(input_signature=[tf.TensorSpec([None, None, None])], jit_compile=True)
    def function(x):
        return tf.tanh(tf.transpose(x, [1, 0, 2])[..., 1:]) * 2.0 + 1.0

    for shape in [(3, 4, 66), (4, 3, 66), (3, 4, 1), (1, 1, 300), (0, 2, 70), (5, 1, 70), (2, 2, 9), (3, 4, 500)]:
        x = tf.constant(np.random.default_rng(1).normal(size=shape), tf.float32)
        np.testing.assert_allclose(
            function(x), np.tanh(np.swapaxes(x, 0, 1)[..., 1:]) * 2.0 + 1.0, rtol=1e-5, atol=1e-6
        )


def _random_view(rng):
    """Returns a tensor whose elements lie anywhere in the memory of another one."""
    shape = [int(rng.choice([1, 1, 2, 3])) for _ in range(rng.integers(1, 5))]
    shape[rng.integers(len(shape))] = int(rng.choice([70, 300]))
    steps = [int(rng.choice([1, 1, 2])) for _ in shape]
    base = torch.from_numpy(rng.normal(size=[n * s + 3 for n, s in zip(shape, steps, strict=True)]).astype(np.float32))
    view = base[tuple(slice(1, 1 + n * s, s) for n, s in zip(shape, steps, strict=True))]
    view = view.permute(*map(int, rng.permutation(len(shape))))
    if rng.random() < 0.3:
        view = view[:1].expand(3, *view.shape[1:])
    return view


@pytest.mark.parametrize("seed", range(60))
def test_random_views(seed):
    """Machine code reads the elements of views, in clusters and in kernels of eager mode."""
    rng = np.random.default_rng(seed)
    view, other = _random_view(rng), _random_view(rng)
    views = [view, view[:1], view[..., :1], *([other] if other.ndim == 1 else [])]

    @tf.function(jit_compile=True)
    def function(x, y):
        product = tf.tanh(x) * y + 2.0
        return product, product - tf.reduce_sum(product, -1, keepdims=True)

    kernel = CompiledKernel("Tanh", tf.tanh, torch.tanh)
    for x in views:
        y = torch.rand(x.shape[-1:]) if rng.random() < 0.5 else x.flip(0)
        product = np.tanh(x.double().numpy()) * y.double().numpy() + 2.0
        want = product, product - product.sum(-1, keepdims=True)
        for got, expected in zip(function(tf.torch.from_torch(x), tf.torch.from_torch(y)), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-3)
        np.testing.assert_allclose(kernel._compiled(torch.float32)(x), np.tanh(x.double().numpy()), rtol=1e-6)


@pytest.mark.parametrize(
    "shape", [(64, 100, 3), (16, 1024, 1, 2), (5, 4096, 5), (1, 20_000, 1, 3), (20011, 3), (8192, 63)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_short_rows_that_are_broadcast(shape, dtype):
    def function(x, channels, pixels):
        y = (x - channels) / (channels + 3.0)
        return y, tf.where(y > 0.0, y, channels * 0.1), y * pixels

    rng = np.random.default_rng(0)
    shapes = [shape, shape[-1:], (*shape[:-1], 1)]
    x, channels, pixels = (tf.constant(rng.random(s), dtype) for s in shapes)
    compiled = tf.function(function, jit_compile=True)
    for own in ([x, channels, tf.constant(2.0, dtype)], [x, channels, pixels], [x[1:], channels * 2, pixels[1:]]):
        if 0 not in own[0].shape:
            for got, want in zip(compiled(*own), function(*own), strict=True):
                np.testing.assert_array_equal(tf.cast(got, tf.float64), tf.cast(want, tf.float64))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("seed", range(8))
def test_rows_of_random_sizes_that_are_broadcast(seed, dtype):
    """Operands are broadcast along any axes. One step is a cluster, too, where its rows are short."""
    rng = np.random.default_rng(seed)
    shape = [int(rng.integers(2, 6)) for _ in range(rng.integers(0, 3))]
    shape += [int(rng.choice([16, 36, 37, 512])), int(rng.integers(1, 41))]
    shape.insert(0, (1 << 15) // int(np.prod(shape)) + 1)

    @tf.function(jit_compile=True)
    def function(x, y, z):
        return x - y, (x - y) * z + y

    def draw(size):
        size = [1 if rng.random() < 0.5 else n for n in size]
        values = torch.from_numpy(rng.random(size[::-1])).to(getattr(torch, dtype))
        is_view = rng.random() < 0.5
        return tf.torch.from_torch(values.permute(*reversed(range(len(size)))) if is_view else values.reshape(size))

    full = tf.constant(rng.random(shape), dtype)
    empty = full[:0], draw(shape[1:]), draw(shape[1:])
    for x, y, z in [*((full, draw(shape), draw(shape)) for _ in range(6)), empty]:
        want = x - y, (x - y) * z + y
        for got, expected in zip(function(x, y, z), want, strict=True):
            np.testing.assert_array_equal(tf.cast(got, tf.float64), tf.cast(expected, tf.float64))


def test_one_step_with_short_rows_is_a_cluster():
    x, y = tf.ones([64, 100, 12, 8]), tf.ones([64, 1, 12, 1])
    for other, is_cluster in ((y, True), (x[0, 0], False), (x, False)):
        source = tf.function(lambda x, y: tf.cumsum(x - y)).get_concrete_function(x, other).source(kernels=True)
        assert ("define void" in source) == is_cluster


@pytest.mark.parametrize("shape", [(5000, 48), (3, 700, 24), (60000, 17)], ids=str)
def test_columns_of_many_chunks_of_rows(shape):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    axes = tuple(range(len(shape) - 1))

    @tf.function(jit_compile=True)
    def function(x):
        y = x * 2.0 + 1.0
        return tf.reduce_sum(y, axes), tf.reduce_max(y, axes), tf.reduce_mean(y * y, axes), tf.reduce_min(y, axes)

    assert function.get_concrete_function(x).source().count("op_") == 1
    total, largest, mean, least = function(x)
    y = x.astype(np.float64) * 2 + 1
    np.testing.assert_allclose(total, y.sum(axes), rtol=1e-4, atol=1e-4 * len(x))
    np.testing.assert_allclose(mean, (y * y).mean(axes), rtol=1e-4)
    np.testing.assert_allclose(largest, y.max(axes), rtol=1e-6)
    np.testing.assert_allclose(least, y.min(axes), rtol=1e-6)


@pytest.mark.parametrize("spec", [[None, 1], [None, None, 1], None], ids=str)
def test_reductions_of_one_element_of_batches_of_any_size(spec):
    function = lambda x: tf.reduce_max(tf.exp(x) * 2.0, -1) + tf.reduce_sum(x + 1.0, -1)  # noqa: E731
    compiled = tf.function(function, jit_compile=True, input_signature=[tf.TensorSpec(spec)])
    for count in (4, 7):
        x = tf.constant(np.random.default_rng(0).normal(size=[count] * (len(spec or "abc") - 1) + [1]), tf.float32)
        np.testing.assert_allclose(compiled(x), function(x), rtol=1e-6)


@pytest.mark.parametrize("count", [5, 16, 37])
def test_doubles_between_floats(count):
    """Vectors of floats are computed as several vectors of doubles."""

    @tf.function(jit_compile=True)
    def function(x):
        y = tf.cast(x, tf.float64) * 1.5
        return tf.cast(tf.sin(y) + tf.exp(y) * tf.atan2(y, y + 1.0), tf.float32)

    x = np.linspace(-2.0, 2.0, count, dtype=np.float32)
    y = x.astype(np.float64) * 1.5
    np.testing.assert_allclose(function(x), np.sin(y) + np.exp(y) * np.arctan2(y, y + 1.0), rtol=1e-6)
    assert function.get_concrete_function(x).source().count("op_") == 1
