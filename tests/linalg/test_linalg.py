"""What the op table can't say of tf.linalg: factorizations that are unique only up to signs or phases, gradients of
functions of self-adjoint matrices, gradients of complex matrices."""

import random

import numpy as np
import pytest

import op_table
import tapeflow as tf
from op_table import rand

SYMMETRIC = rand(3, 3) + rand(3, 3).T + 8.0 * np.eye(3)
BATCH = np.stack([SYMMETRIC, SYMMETRIC + np.diag([1.0, 2.0, 3.0])])
SQUARE = rand(3, 3) + 3.0 * np.eye(3)


def symmetric(x):
    return 0.5 * (x + tf.linalg.matrix_transpose(x))


def check_both_orders(function, *args):
    """First and second order gradients of a function are those of finite differences."""
    nth = list(range(len(args)))
    op_table.check_gradient(function, args, {}, nth)

    def gradients(*given):
        with tf.GradientTape() as tape:
            tape.watch(given)
            total = op_table._projected(function, list(given), {}, 3)
        return tape.gradient(total, list(given))

    op_table.check_gradient(gradients, args, {}, nth)


OF_SELF_ADJOINT = {
    "cholesky": tf.linalg.cholesky,
    "logdet": tf.linalg.logdet,
    "eigvalsh": tf.linalg.eigvalsh,
    "eigh": lambda x: tf.linalg.eigh(x)[0],
    "eigenvectors": lambda x: tf.square(tf.linalg.eigh(x)[1]),
    "square root": lambda x: tf.linalg.sqrtm(x),
}


@pytest.mark.parametrize("name", OF_SELF_ADJOINT)
@pytest.mark.parametrize("x", [SYMMETRIC, BATCH], ids=["one", "batch"])
def test_gradient_of_self_adjoint_matrices(name, x):
    check_both_orders(lambda x: OF_SELF_ADJOINT[name](symmetric(x)), x)


def projections(x, **options):
    """What does not depend on the signs of the singular vectors."""
    s, u, v = tf.linalg.svd(x, **options)
    k = s.shape[-1]
    both = tf.linalg.matmul(u[..., :k] * tf.expand_dims(s**2, -2), v[..., :k], transpose_b=True)
    return s, both, tf.square(u[..., :k]), tf.matmul(u[..., k:], u[..., k:], transpose_b=True), tf.square(v[..., :k]), (
        tf.matmul(v[..., k:], v[..., k:], transpose_b=True))  # fmt: skip


@pytest.mark.parametrize("full_matrices", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_gradient_of_svd(shape, full_matrices):
    check_both_orders(lambda x: projections(x, full_matrices=full_matrices), rand(*shape))


def test_gradient_of_singular_values():
    check_both_orders(lambda x: tf.linalg.svd(x, compute_uv=False), rand(2, 3, 4))


def test_gradient_of_eig():
    a = np.array([[2.0, 1.0, 0.3], [0.5, -1.0, 0.2], [0.1, 0.4, 4.0]])

    def of_eigenvectors(x):
        values, vectors = tf.linalg.eig(x)
        order = tf.argsort(tf.math.real(values))
        vectors = tf.gather(vectors, order, axis=-1)
        return tf.gather(tf.math.real(values), order), tf.math.real(vectors * tf.math.conj(vectors))

    check_both_orders(of_eigenvectors, a)
    check_both_orders(lambda x: tf.math.real(tf.reduce_prod(tf.linalg.eigvals(x) + 1.0)), a)


COMPLEX = {
    "matmul": lambda x: tf.matmul(x, x),
    "adjoint": lambda x: tf.matmul(x, x, adjoint_a=True),
    "transpose": lambda x: tf.matmul(x, x, transpose_b=True),
    "batches": lambda x: tf.matmul(tf.stack([x, 2 * x]), x, transpose_a=True, adjoint_b=True),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "inv": lambda x: tf.linalg.inv(x, adjoint=True),
    "solve": lambda x: tf.linalg.solve(x, x + 1, adjoint=True),
    "triangular_solve": lambda x: tf.linalg.triangular_solve(x, x + 1, lower=False, adjoint=True),
    "cholesky": lambda x: tf.linalg.cholesky(tf.matmul(x, x, adjoint_b=True)),
    "logdet": lambda x: tf.linalg.logdet(tf.matmul(x, x, adjoint_b=True)),
    "qr": lambda x: tf.linalg.qr(x),
    "wide qr": lambda x: tf.linalg.qr(x[:2]),
    "lu": lambda x: tf.linalg.lu(x)[0],
    "expm": tf.linalg.expm,
    "logm": tf.linalg.logm,
    "eigh": lambda x: tf.math.abs(tf.linalg.eigh(tf.matmul(x, x, adjoint_b=True))[1]),
    "eigvalsh": lambda x: tf.linalg.eigvalsh(tf.matmul(x, x, adjoint_b=True)),
    "eig": lambda x: tf.math.abs(tf.linalg.eig(x)[1]),
    "svd": lambda x: tf.math.abs(tf.linalg.svd(x[:2])[1]),
    "phases of svd": lambda x: tf.matmul(tf.linalg.svd(x)[1], tf.linalg.svd(x)[2], adjoint_b=True),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_gradient_of_complex_matrices(name):
    """With x = a + ib, and f real, the gradient is df/da + i df/db: TensorFlow's convention."""
    parts = [np.float64(SQUARE), rand(3, 3, seed=1)]

    def real_function(a, b):
        out = tf.nest.flatten(COMPLEX[name](tf.complex(a, b)))
        return [f(o) for o in out for f in ((tf.math.real, tf.math.imag) if o.dtype.is_complex else (tf.identity,))]

    op_table.check_gradient(real_function, parts, {}, [0, 1])


def rebuilt_svd(x, **options):
    s, u, v = tf.linalg.svd(x, **options)
    k = s.shape[-1]
    s = tf.cast(s, u.dtype)
    return tf.matmul(u[..., :k] * tf.expand_dims(s, -2), v[..., :k], adjoint_b=True), u, v


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 2, 4), (0, 3), (2, 0, 0)])
@pytest.mark.parametrize("full_matrices", [False, True])
def test_svd(dtype, shape, full_matrices):
    x = op_table.cast(rand(*shape), dtype)
    again, u, v = rebuilt_svd(x, full_matrices=full_matrices)
    np.testing.assert_allclose(again, x, rtol=1e-5, atol=1e-5)
    m, n, k = shape[-2], shape[-1], min(shape[-2:])
    assert u.shape[-2:] == ((m, m) if full_matrices else (m, k))
    assert v.shape[-2:] == ((n, n) if full_matrices else (n, k))
    s = tf.linalg.svd(x, compute_uv=False)
    assert s.dtype == x.dtype.real_dtype
    np.testing.assert_allclose(s, np.linalg.svd(x.numpy(), compute_uv=False), rtol=1e-5, atol=1e-5)


def test_svd_of_nan_is_nan():
    s, u, v = tf.linalg.svd([[np.nan, 1.0], [0.0, 1.0], [2.0, 2.0]])
    assert s.shape == (2,) and u.shape == (3, 2) and v.shape == (2, 2)
    assert np.isnan(s).all() and np.isnan(u).all() and np.isnan(v).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_eigh(dtype):
    x = op_table.cast(BATCH, dtype)
    strictly_lower = tf.linalg.band_part(tf.linalg.set_diag(x, tf.zeros([2, 3], x.dtype)), -1, 0)
    x = tf.linalg.band_part(x, -1, 0) + tf.linalg.adjoint(strictly_lower)
    values, vectors = tf.linalg.eigh(x)
    assert values.dtype == vectors.dtype == x.dtype
    again = tf.matmul(vectors * tf.expand_dims(values, -2), vectors, adjoint_b=True)
    tolerance = 2e-2 if dtype == "float16" else 1e-4
    real = tf.linalg.set_diag(x, tf.cast(tf.math.real(tf.linalg.diag_part(x)), x.dtype))
    np.testing.assert_allclose(again, real, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_eig(dtype):
    x = op_table.cast(rand(2, 3, 3), dtype)
    values, vectors = tf.linalg.eig(x)
    assert values.dtype == vectors.dtype == ("complex64" if dtype in ("float32", "complex64") else "complex128")
    np.testing.assert_allclose(
        tf.matmul(tf.cast(x, vectors.dtype), vectors), vectors * tf.expand_dims(values, -2), rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose(tf.norm(vectors, axis=-2), np.ones([2, 3]), rtol=1e-5)
    np.testing.assert_allclose(np.sort_complex(tf.linalg.eigvals(x)), np.sort_complex(values), rtol=1e-4, atol=1e-4)


def test_failures_say_so():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Eigen decomposition was not successful"):
        tf.linalg.eig([[np.nan, 0.0], [0.0, 1.0]])
    with pytest.raises(NotImplementedError, match="QrGrad not implemented"), tf.GradientTape() as tape:
        x = tf.constant(rand(3, 2))
        tape.watch(x)
        tape.gradient(tf.linalg.qr(x, full_matrices=True).r, x)


def test_eigenvalues_of_complex_numbers_that_are_not_finite_are_refused():
    matrix = np.array([[3, 1j, 0], [np.inf + 1j, 0, 1e30], [0.25, np.nan, np.nan]])  # LAPACK ends the process
    for eigen in (tf.linalg.eigvals, tf.linalg.eig, tf.function(tf.linalg.eigvals)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Eigen decomposition was not successful"):
            eigen(matrix)


def test_cholesky_of_indefinite_matrices_is_nan():
    x = tf.constant([[[4.0, 0.0], [0.0, 4.0]], [[-1.0, 0.0], [0.0, 4.0]]])
    np.testing.assert_array_equal(tf.linalg.cholesky(x), [[[2.0, 0.0], [0.0, 2.0]], [[np.nan, 0.0], [np.nan, np.nan]]])


def test_lu_round_trips():
    x = tf.constant(rand(2, 4, 4))
    lu, p = tf.linalg.lu(x, output_idx_type=tf.int64)
    assert p.dtype == tf.int64
    np.testing.assert_allclose(tf.linalg.lu_reconstruct(lu, p, validate_args=True), x)
    np.testing.assert_allclose(tf.linalg.lu_matrix_inverse(lu, p), np.linalg.inv(x))
    rhs = rand(4, 2)
    np.testing.assert_allclose(tf.linalg.lu_solve(lu, p, rhs), np.linalg.solve(x, rhs))
    np.testing.assert_allclose(tf.linalg.lu_solve(lu[0], p[0], rand(3, 4, 1)), np.linalg.solve(x[0], rand(3, 4, 1)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a permutation"):
        tf.linalg.lu_reconstruct([[1.0, 2.0], [3.0, 4.0]], [0, 0], validate_args=True)
    with pytest.raises(ValueError, match="`rhs` must have at least 2 dimensions"):
        tf.linalg.lu_solve(lu[0], p[0], [1.0, 2.0, 3.0, 4.0])


def test_roots_and_logarithms_of_difficult_matrices():
    jordan = np.array([[-1.0, 1.0], [0.0, -1.0]], np.complex128)
    np.testing.assert_allclose(tf.linalg.logm(jordan), [[np.pi * 1j, -1.0], [0.0, np.pi * 1j]], atol=1e-12)
    negative = tf.constant([[-1, 0], [0, -1]], tf.complex64)
    np.testing.assert_allclose(tf.linalg.sqrtm(negative), 1j * np.eye(2), atol=1e-6)
    np.testing.assert_allclose(tf.linalg.sqrtm(np.ones([2, 2])), np.full([2, 2], 0.5**0.5), atol=1e-12)
    assert np.isnan(tf.linalg.sqrtm([[-1.0, 0.0], [0.0, 4.0]])).all()
    assert np.isnan(tf.linalg.logm(np.diag([0.0, 1.0]).astype(np.complex64))).all()


def test_clip_by_global_norm():
    slices = tf.IndexedSlices(tf.constant([[3.0]]), tf.constant([1]), tf.constant([4, 1]))
    clipped, norm = tf.clip_by_global_norm([tf.constant([4.0]), None, slices], 1.0)
    assert float(norm) == 5.0
    assert clipped[1] is None
    np.testing.assert_allclose(clipped[0], [0.8])
    np.testing.assert_allclose(clipped[2].values, [[0.6]])
    np.testing.assert_array_equal(tf.clip_by_global_norm([tf.constant([4.0])], 10.0)[0][0], [4.0])
    assert np.isnan(tf.clip_by_global_norm([tf.constant([np.inf, 1.0])], 1.0)[0][0]).all()
    np.testing.assert_allclose(tf.clip_by_norm(slices, 1.0).values, [[1.0]])
    with pytest.raises(TypeError, match="`t_list` should be a sequence of tensors"):
        tf.clip_by_global_norm(tf.constant([1.0]), 1.0)


def test_gradient_of_clip_by_norm_at_zero():
    x = tf.zeros([2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.clip_by_norm(x, 1.0)
    np.testing.assert_array_equal(tape.gradient(y, x), [1.0, 1.0])


def test_diagonals_in_a_sequence():
    above, main, below = [1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0]
    x = tf.linalg.tridiagonal_solve((above, main, below), tf.constant([1.0, 2.0, 3.0]), diagonals_format="sequence")
    matrix = np.diag(main) + np.diag(above, 1) + np.diag(below, -1)
    np.testing.assert_allclose(x, np.linalg.solve(matrix, [1.0, 2.0, 3.0]), rtol=1e-5)
    padded = ([1.0, 2.0, 0.0], main, [0.0, 6.0, 7.0])
    product = tf.linalg.tridiagonal_matmul(padded, [[1.0], [2.0], [3.0]], diagonals_format="sequence")
    np.testing.assert_allclose(product, matrix @ [[1.0], [2.0], [3.0]])


def test_singular_tridiagonal_matrices():
    diagonals = [[0.0, 2.0, 0.0], [0.0, 4.0, 5.0], [0.0, 0.0, 7.0]]
    assert np.isnan(tf.linalg.tridiagonal_solve(diagonals, [1.0, 2.0, 3.0])).all()
    assert np.isfinite(tf.linalg.tridiagonal_solve(diagonals, [1.0, 2.0, 3.0], perturb_singular=True)).all()


def test_eigenvalues_in_an_interval():
    values, vectors = tf.linalg.eigh_tridiagonal(
        [1.0, 2.0, 3.0], [4.0, 5.0], eigvals_only=False, select="v", select_range=(-5.0, 2.0)
    )
    np.testing.assert_allclose(values, [-4.370817, 1.785479], rtol=1e-5)
    assert vectors.shape == (3, 2)
    np.testing.assert_allclose(
        tf.linalg.eigh_tridiagonal(tf.constant([1 + 0j, 2]), tf.constant([4j])), [-2.53112887, 5.53112887]
    )


@pytest.mark.parametrize("dtype", [tf.float64, tf.complex128], ids=lambda d: d.name)
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("shape", [(3, 2, 5, 4), (3, 5, 0), (0, 5, 4), (5, 4)], ids=str)
def test_the_gradient_of_a_matrix_is_the_sum_over_all_that_it_multiplies(shape, adjoint, dtype):
    random = np.random.default_rng(0)
    x = tf.cast(random.normal(size=shape), dtype)
    matrix = tf.cast(random.normal(size=(3, shape[-1]) if adjoint else (shape[-1], 3)), dtype)

    def gradient(x, matrix):
        with tf.GradientTape() as tape:
            tape.watch(matrix)
            y = tf.matmul(x, matrix, adjoint_b=adjoint)
            loss = tf.math.real(tf.reduce_sum(y * y))
        return tape.gradient(loss, matrix)

    rows = x.numpy().reshape(-1, shape[-1]) if shape[-1] else np.zeros([0, 0], dtype.as_numpy_dtype)
    dy = 2 * np.conj(rows @ (matrix.numpy().conj().T if adjoint else matrix.numpy()))
    expected = dy.conj().T @ rows if adjoint else rows.conj().T @ dy
    unknown = [tf.TensorSpec([None] * len(shape), dtype), tf.TensorSpec([None, None], dtype)]
    for function in (gradient, tf.function(gradient), tf.function(gradient, input_signature=unknown)):
        np.testing.assert_allclose(function(x, matrix), expected, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_of_products_of_a_tensor_and_itself(dtype):
    draw = random.Random(2)
    numbers = np.random.default_rng(2)
    for _ in range(200):
        rank = draw.randint(1, 3)
        labels = ["".join(draw.choices("abcd", k=rank)) for _ in range(2)]
        output = "".join(draw.sample(sorted(set("".join(labels))), draw.randint(0, len(set("".join(labels))))))
        equation = f"{','.join(labels)}->{output}"
        x = tf.cast(numbers.normal(size=[3] * rank), dtype) * (1 if dtype == "float64" else 1 + 2j)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            with_itself = tf.einsum(equation, x, x)
            with_copy = tf.einsum(equation, x, tf.identity(x))
            weights = tf.cast(numbers.normal(size=with_copy.shape), dtype)
            sums = [tf.reduce_sum(weights * product) for product in (with_itself, with_copy)]
        gradient, expected = (tape.gradient(total, x) for total in sums)
        np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-9, err_msg=equation)


def test_the_gradient_of_a_gram_matrix_is_one_product():
    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.einsum("bijc,bijd->bcd", x, x)
        return tape.gradient(y, x)

    operations = gradient.get_concrete_function(tf.TensorSpec([2, 4, 4, 3])).graph.get_operations()
    products = [o for o in operations if o.type == "Einsum" and len(o.inputs) == 2]
    assert len(products) == 2  # the matrix, and its gradient


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("rank", [2, 3])
def test_gradients_of_products_in_a_wider_dtype(transpose_a, transpose_b, rank):
    a = tf.reshape(tf.range(6.0), [3, 2] if transpose_a else [2, 3])
    b = tf.reshape(tf.range(12.0 * (rank - 1)), [rank - 1, *([4, 3] if transpose_b else [3, 4])])
    b = b[0] if rank == 2 else b
    narrow, gradients = [tf.cast(x, tf.float16) for x in (a, b)], []
    for product in (
        lambda x, y: tf.matmul(x, y, transpose_a, transpose_b, output_type=tf.float32),
        lambda x, y: tf.matmul(tf.cast(x, tf.float32), tf.cast(y, tf.float32), transpose_a, transpose_b),
    ):
        with tf.GradientTape() as tape:
            tape.watch(narrow)
            y = tf.math.log1p(product(*narrow))
        gradients += tape.gradient(y, narrow)
    for wide, expected in zip(gradients[:2], gradients[2:], strict=True):
        assert wide.dtype == tf.float16 and wide.numpy().tolist() == expected.numpy().tolist()
