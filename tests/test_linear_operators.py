"""`tf.linalg.LinearOperator` and its subclasses: every method of every operator against the dense matrix."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

import tapeflow as tf

L = tf.linalg

DEFINITE = {"is_self_adjoint": True, "is_positive_definite": True}


class Case(NamedTuple):
    """An operator, and the matrices it stands for."""

    make: object
    dense: np.ndarray


def _normal(*shape, dtype="float64"):
    rng = np.random.default_rng(sum(shape) + len(shape) + len(dtype))
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("complex") else x).astype(dtype)


def _definite(*shape, dtype="float64"):
    x = _normal(*shape, dtype=dtype)
    return x @ np.conj(x.swapaxes(-1, -2)) + np.eye(shape[-1])


def _diag(x):
    return x[..., None] * np.eye(x.shape[-1])


def _adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def _kron(a, b):
    product = a[..., :, None, :, None] * b[..., None, :, None, :]
    return product.reshape(*product.shape[:-4], a.shape[-2] * b.shape[-2], a.shape[-1] * b.shape[-1])


def _block_diag(*blocks):
    batch = np.broadcast_shapes(*[b.shape[:-2] for b in blocks])
    out = np.zeros((*batch, sum(b.shape[-2] for b in blocks), sum(b.shape[-1] for b in blocks)), blocks[0].dtype)
    row = column = 0
    for b in blocks:
        out[..., row : row + b.shape[-2], column : column + b.shape[-1]] = b
        row, column = row + b.shape[-2], column + b.shape[-1]
    return out


def _circulant(spectrum, depth=1):
    shape = spectrum.shape[-depth:]
    size, axes = int(np.prod(shape)), tuple(range(-depth, 0))
    columns = np.eye(size).reshape(size, *shape)
    rows = np.fft.ifftn(np.fft.fftn(columns, axes=axes) * np.expand_dims(spectrum, -depth - 1), axes=axes)
    return rows.reshape(*spectrum.shape[:-depth], size, size).swapaxes(-1, -2)


def _toeplitz(col, row):
    n = col.shape[-1]
    col, row = np.broadcast_arrays(col, row)
    i, j = np.indices((n, n))
    return np.where(i >= j, col[..., np.maximum(i - j, 0)], row[..., np.maximum(j - i, 0)])


def _permutation(perm):
    return (np.arange(perm.shape[-1]) == perm[..., None]).astype(float)


def _householder(v):
    v = v / np.linalg.norm(v, axis=-1, keepdims=True)
    return np.eye(v.shape[-1]) - 2 * v[..., :, None] * np.conj(v[..., None, :])


def _tridiag(bands):
    above, main, below = bands[..., 0, :], bands[..., 1, :], bands[..., 2, :]
    out = _diag(main)
    i = np.arange(main.shape[-1] - 1)
    out[..., i, i + 1], out[..., i + 1, i] = above[..., :-1], below[..., 1:]
    return out


def _cases():
    """The operators, by name; with a batch, with batches that broadcast, and complex."""
    full, tril = L.LinearOperatorFullMatrix, L.LinearOperatorLowerTriangular
    for batch in ((), (2,), (3, 2)):
        b = "-".join(map(str, ("", *batch)))
        a = _normal(*batch, 3, 3) + 2 * np.eye(3)
        c = _normal(*batch, 3, 3, dtype="complex128") + 2 * np.eye(3)
        p, pc = _definite(*batch, 3, 3), _definite(*batch, 3, 3, dtype="complex128")
        d, dc = _normal(*batch, 3) + 3, _normal(*batch, 3, dtype="complex128")
        positive = np.abs(d)
        s, sc = np.asarray(_normal(*batch) + 3), np.asarray(_normal(*batch, dtype="complex128"))
        u, v, r = _normal(*batch, 3, 2), _normal(*batch, 3, 2) + 1, _normal(*batch, 2) + 2
        uc, vc, rc = _normal(*batch, 3, 2, dtype="complex128"), _normal(3, 2, dtype="complex128"), r + 1j
        wide = _normal(*batch, 2, 3)
        perm = np.argsort(_normal(*batch, 4), -1)
        col, row = _normal(*batch, 4) + [4, 0, 0, 0], _normal(4)
        colc, rowc = _normal(*batch, 4, dtype="complex128") + [4, 0, 0, 0], _normal(4, dtype="complex128")
        bands = _normal(*batch, 3, 4) + [[0], [4], [0]]
        bandsc = _normal(*batch, 3, 4, dtype="complex128") + [[0], [4], [0]]
        hermitian = np.fft.fft(_normal(*batch, 5) + [3, 0, 0, 0, 0])
        yield "full" + b, Case(lambda a=a: full(a), a)
        yield "full-complex" + b, Case(lambda c=c: full(c), c)
        yield "full-definite" + b, Case(lambda p=p: full(p, **DEFINITE), p)
        yield "full-definite-complex" + b, Case(lambda pc=pc: full(pc, **DEFINITE), pc)
        yield "full-wide" + b, Case(lambda w=wide: full(w), wide)
        yield "full-variable" + b, Case(lambda a=a: full(tf.Variable(a)), a)
        yield "tril" + b, Case(lambda a=a: tril(a), np.tril(a))
        yield "tril-complex" + b, Case(lambda c=c: tril(c), np.tril(c))
        yield "diag" + b, Case(lambda d=d: L.LinearOperatorDiag(d), _diag(d))
        yield "diag-definite" + b, Case(
            lambda d=positive: L.LinearOperatorDiag(d, is_positive_definite=True), _diag(positive)
        )
        yield "diag-complex" + b, Case(lambda d=dc: L.LinearOperatorDiag(d), _diag(dc))
        yield "diag-variable" + b, Case(lambda d=dc: L.LinearOperatorDiag(tf.Variable(d)), _diag(dc))
        shape, eye = list(batch), np.broadcast_to(np.eye(3), (*batch, 3, 3))
        yield "identity" + b, Case(lambda s=shape: L.LinearOperatorIdentity(3, s or None, tf.float64), eye)
        yield "scaled" + b, Case(lambda s=s: L.LinearOperatorScaledIdentity(3, s), s[..., None, None] * eye)
        yield "scaled-complex" + b, Case(lambda s=sc: L.LinearOperatorScaledIdentity(3, s), sc[..., None, None] * eye)
        yield "zeros" + b, Case(lambda s=shape: L.LinearOperatorZeros(3, None, s or None, tf.float64), 0 * eye)
        yield "zeros-wide" + b, Case(
            lambda s=shape: L.LinearOperatorZeros(2, 3, s or None, tf.float64, is_self_adjoint=False, is_square=False),
            np.zeros((*batch, 2, 3)),
        )
        yield "permutation" + b, Case(lambda p=perm: L.LinearOperatorPermutation(p, tf.float64), _permutation(perm))
        yield "householder" + b, Case(lambda d=d: L.LinearOperatorHouseholder(d), _householder(d))
        yield "householder-complex" + b, Case(lambda d=dc: L.LinearOperatorHouseholder(d), _householder(dc))
        yield "adjoint" + b, Case(lambda c=c: L.LinearOperatorAdjoint(full(c)), _adjoint(c))
        yield "adjoint-wide" + b, Case(lambda w=wide: L.LinearOperatorAdjoint(full(w)), _adjoint(wide))
        yield "inversion" + b, Case(lambda c=c: L.LinearOperatorInversion(full(c)), np.linalg.inv(c))
        yield "inversion-definite" + b, Case(lambda p=p: full(p, **DEFINITE).inverse(), np.linalg.inv(p))
        yield "composition" + b, Case(lambda c=c, d=dc: full(c) @ L.LinearOperatorDiag(d), c @ _diag(dc))
        yield "composition-aah" + b, Case(
            lambda a=a: L.LinearOperatorComposition([tril(a), tril(a).H]), np.tril(a) @ _adjoint(np.tril(a))
        )
        yield "composition-llh" + b, Case(_llh(a), np.tril(a) @ _adjoint(np.tril(a)))
        yield "composition-wide" + b, Case(lambda w=wide, a=a: full(w) @ full(a), wide @ a)
        yield "composition-wide-square" + b, Case(lambda w=wide: full(w) @ full(w).H, wide @ _adjoint(wide))
        yield "kronecker" + b, Case(
            lambda a=a, d=r: L.LinearOperatorKronecker([full(a), L.LinearOperatorDiag(d), full(a)]),
            _kron(_kron(a, _diag(r)), a),
        )
        yield "kronecker-complex" + b, Case(
            lambda c=c: L.LinearOperatorKronecker([full(c), full(c[..., :2, :2])]), _kron(c, c[..., :2, :2])
        )
        yield "kronecker-definite" + b, Case(
            lambda p=p: L.LinearOperatorKronecker([full(p, **DEFINITE), full(p[..., :2, :2], **DEFINITE)]),
            _kron(p, p[..., :2, :2]),
        )
        yield "kronecker-wide" + b, Case(lambda w=wide, a=a: L.LinearOperatorKronecker([full(w), full(a)]), _kron(wide, a))
        yield "block-diag" + b, Case(
            lambda a=a, d=r: L.LinearOperatorBlockDiag([full(a), L.LinearOperatorDiag(d)]), _block_diag(a, _diag(r))
        )
        yield "block-diag-definite" + b, Case(
            lambda p=p, p2=p[..., :2, :2]: L.LinearOperatorBlockDiag([full(p, **DEFINITE), full(p2, **DEFINITE)]),
            _block_diag(p, p[..., :2, :2]),
        )
        yield "block-diag-broadcast" + b, Case(
            lambda a=a, e=row: L.LinearOperatorBlockDiag([full(a), L.LinearOperatorDiag(e)]), _block_diag(a, _diag(row))
        )
        yield "block-diag-wide" + b, Case(
            lambda a=a, w=wide: L.LinearOperatorBlockDiag([full(a), full(w)], is_square=None), _block_diag(a, wide)
        )
        lower = np.concatenate([np.concatenate([a, np.zeros_like(u)], -1), np.concatenate([wide, _diag(r)], -1)], -2)
        yield "block-tril" + b, Case(
            lambda a=a, w=wide, r=r: L.LinearOperatorBlockLowerTriangular([[full(a)], [full(w), L.LinearOperatorDiag(r)]]),
            lower,
        )
        yield "block-tril-3" + b, Case(
            lambda c=c, d=dc: L.LinearOperatorBlockLowerTriangular(
                [[full(c)], [full(c + 1), L.LinearOperatorDiag(d)], [full(c + 2), full(c + 3), tril(c)]]
            ),
            np.concatenate(
                [
                    np.concatenate([c, 0 * c, 0 * c], -1),
                    np.concatenate([c + 1, _diag(dc), 0 * c], -1),
                    np.concatenate([c + 2, c + 3, np.tril(c)], -1),
                ],
                -2,
            ),
        )
        yield "circulant" + b, Case(
            lambda s=dc: L.LinearOperatorCirculant(s, input_output_dtype=tf.complex128), _circulant(dc)
        )
        yield "circulant-hermitian" + b, Case(
            lambda s=hermitian: L.LinearOperatorCirculant(s, input_output_dtype=tf.float64), _circulant(hermitian).real
        )
        yield "circulant-real-spectrum" + b, Case(
            lambda s=d: L.LinearOperatorCirculant(s, input_output_dtype=tf.complex128), _circulant(d)
        )
        yield "circulant2d" + b, Case(
            lambda s=vc + u: L.LinearOperatorCirculant2D(s, input_output_dtype=tf.complex128), _circulant(vc + u, 2)
        )
        cube = _normal(*batch, 2, 1, 3, dtype="complex128")
        yield "circulant3d" + b, Case(
            lambda s=cube: L.LinearOperatorCirculant3D(s, input_output_dtype=tf.complex128), _circulant(cube, 3)
        )
        yield "toeplitz" + b, Case(lambda c=col, r=row: L.LinearOperatorToeplitz(c, r), _toeplitz(col, row))
        yield "toeplitz-row-batch" + b, Case(lambda c=row, r=col: L.LinearOperatorToeplitz(c, r), _toeplitz(row, col))
        yield "toeplitz-complex" + b, Case(lambda c=colc, r=rowc: L.LinearOperatorToeplitz(c, r), _toeplitz(colc, rowc))
        dense, densec = _tridiag(bands), _tridiag(bandsc)
        yield "tridiag-compact" + b, Case(lambda x=bandsc: L.LinearOperatorTridiag(x), densec)
        yield "tridiag-matrix" + b, Case(lambda x=densec: L.LinearOperatorTridiag(x, "matrix"), densec)
        yield "tridiag-sequence" + b, Case(
            lambda x=bands: L.LinearOperatorTridiag([x[..., 0, :], x[..., 1, :], x[..., 2, :]], "sequence"), dense
        )
        yield "low-rank" + b, Case(
            lambda a=a, u=u, v=v, r=r: L.LinearOperatorLowRankUpdate(full(a), u, r, v),
            a + u @ _diag(r) @ _adjoint(v),
        )
        yield "low-rank-complex" + b, Case(
            lambda c=c, u=uc, v=vc, r=rc: L.LinearOperatorLowRankUpdate(full(c), u, r, v),
            c + uc @ _diag(rc) @ _adjoint(vc),
        )
        yield "low-rank-definite" + b, Case(
            lambda d=positive, u=u: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(d, is_positive_definite=True), u),
            _diag(positive) + u @ _adjoint(u),
        )
        yield "low-rank-u-only" + b, Case(
            lambda p=p, u=u, r=r: L.LinearOperatorLowRankUpdate(full(p, **DEFINITE), u, r), p + u @ _diag(r) @ _adjoint(u)
        )


def _llh(a):
    def make():
        left = L.LinearOperatorLowerTriangular(a, is_non_singular=True)
        return L.LinearOperatorComposition([left, left.H])

    return make


CASES = dict(_cases())
SQUARE = {n: c for n, c in CASES.items() if c.dense.shape[-1] == c.dense.shape[-2]}
REGULAR = {n: c for n, c in SQUARE.items() if not n.startswith("zeros")}


def over(cases):
    return pytest.mark.parametrize("case", list(cases.values()), ids=list(cases))


def close(got, want, tol=1e-8):
    got = got.numpy()
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


def _argument(dense, adjoint, batch=None):
    rows = dense.shape[-2] if adjoint else dense.shape[-1]
    return _normal(*(dense.shape[:-2] if batch is None else batch), rows, 2, dtype=dense.dtype.name)


# ---- shapes ----------------------------------------------------------------------------------------------------------


@over(CASES)
def test_shapes(case):
    operator, shape = case.make(), list(case.dense.shape)
    assert operator.shape == shape and operator.batch_shape == shape[:-2]
    assert (operator.range_dimension, operator.domain_dimension, operator.tensor_rank) == (*shape[-2:], len(shape))
    assert operator.is_square == (shape[-1] == shape[-2])
    dynamic = [operator.range_dimension_tensor(), operator.domain_dimension_tensor(), operator.tensor_rank_tensor()]
    assert [int(d) for d in dynamic] == [*shape[-2:], len(shape)]
    for tensor, want in (
        (operator.shape_tensor(), shape),
        (operator._shape_tensor(), shape),
        (operator.batch_shape_tensor(), shape[:-2]),
    ):
        assert tensor.dtype == tf.int32 and tensor.numpy().tolist() == want
    assert operator.dtype == case.dense.dtype.name


# ---- elements --------------------------------------------------------------------------------------------------------


@over(CASES)
def test_to_dense(case):
    close(case.make().to_dense(), case.dense)


@over(CASES)
def test_diag_part(case):
    close(case.make().diag_part(), np.diagonal(case.dense, axis1=-2, axis2=-1))


@over(CASES)
def test_trace(case):
    close(case.make().trace(), np.trace(case.dense, axis1=-2, axis2=-1))


@over(CASES)
def test_add_to_tensor(case):
    x = _normal(*case.dense.shape, dtype=case.dense.dtype.name)
    close(case.make().add_to_tensor(x), case.dense + x)
    one = _normal(*case.dense.shape[-2:], dtype=case.dense.dtype.name)
    close(case.make().add_to_tensor(one), case.dense + one)
    more = _normal(2, *case.dense.shape, dtype=case.dense.dtype.name)
    close(case.make().add_to_tensor(more), case.dense + more)


# ---- products and equations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjoint", [False, True])
@over(CASES)
def test_matmul(case, adjoint):
    dense = _adjoint(case.dense) if adjoint else case.dense
    operator = case.make()
    batch = case.dense.shape[:-2]
    for shape in {batch, (), (4, *batch), (1,) * len(batch)}:
        x = _argument(case.dense, adjoint, shape)
        close(operator.matmul(x, adjoint=adjoint), dense @ x)
        close(operator.matmul(_adjoint(x), adjoint=adjoint, adjoint_arg=True), dense @ x)


@over(CASES)
def test_matmul_operator(case):
    x = _argument(case.dense, False)
    close(case.make() @ x, case.dense @ x)
    y = _adjoint(_argument(case.dense, True))
    close(tf.constant(y) @ case.make(), y @ case.dense)


@pytest.mark.parametrize("adjoint", [False, True])
@over(CASES)
def test_matvec(case, adjoint):
    dense = _adjoint(case.dense) if adjoint else case.dense
    x = _argument(case.dense, adjoint)[..., 0]
    close(case.make().matvec(x, adjoint=adjoint), np.einsum("...ij,...j->...i", dense, x))


@pytest.mark.parametrize("adjoint", [False, True])
@over(REGULAR)
def test_solve(case, adjoint):
    inverse = np.linalg.inv(_adjoint(case.dense) if adjoint else case.dense)
    operator = case.make()
    batch = case.dense.shape[:-2]
    for shape in {batch, (), (4, *batch), (1,) * len(batch)}:
        x = _argument(case.dense, adjoint, shape)
        close(operator.solve(x, adjoint=adjoint), inverse @ x)
        close(operator.solve(_adjoint(x), adjoint=adjoint, adjoint_arg=True), inverse @ x)


@pytest.mark.parametrize("adjoint", [False, True])
@over(REGULAR)
def test_solvevec(case, adjoint):
    inverse = np.linalg.inv(_adjoint(case.dense) if adjoint else case.dense)
    x = _argument(case.dense, adjoint)[..., 0]
    close(case.make().solvevec(x, adjoint=adjoint), np.einsum("...ij,...j->...i", inverse, x))


# ---- numbers ---------------------------------------------------------------------------------------------------------


@over(SQUARE)
def test_determinant(case):
    close(case.make().determinant(), np.linalg.det(case.dense), 1e-7)


@over(SQUARE)
def test_log_abs_determinant(case):
    close(case.make().log_abs_determinant(), np.linalg.slogdet(case.dense)[1])


@over(REGULAR)
def test_cond(case):
    close(case.make().cond(), np.linalg.cond(case.dense), 1e-7)


@over(SQUARE)
def test_eigvals(case):
    operator = case.make()
    if operator.is_self_adjoint:
        got = np.sort(operator.eigvals().numpy().real, -1)
        np.testing.assert_allclose(got, np.linalg.eigvalsh(case.dense), rtol=1e-8, atol=1e-8)
    else:
        with pytest.raises(NotImplementedError, match="self-adjoint"):
            operator.eigvals()


# ---- other operators -------------------------------------------------------------------------------------------------


@over(CASES)
def test_adjoint(case):
    operator = case.make()
    close(operator.H.to_dense(), _adjoint(case.dense))
    close(operator.adjoint().H.to_dense(), case.dense)
    x = _argument(case.dense, True)
    close(operator.H.matmul(x), _adjoint(case.dense) @ x)
    assert operator.H.dtype == operator.dtype


@over(REGULAR)
def test_inverse(case):
    operator = case.make()
    inverse = operator.inverse()
    close(inverse.to_dense(), np.linalg.inv(case.dense))
    x = _argument(case.dense, False)
    close(inverse.matmul(x), np.linalg.inv(case.dense) @ x)
    close(inverse.solve(x), case.dense @ x)
    assert inverse.is_self_adjoint == operator.is_self_adjoint


@over(SQUARE)
def test_cholesky(case):
    operator = case.make()
    if operator.is_self_adjoint and operator.is_positive_definite:
        factor = operator.cholesky()
        close(factor.to_dense(), np.linalg.cholesky(case.dense))
        close((factor @ factor.H).to_dense(), case.dense)
    else:
        with pytest.raises(ValueError, match="Cannot take the Cholesky decomposition"):
            operator.cholesky()


def _small():
    names = ("full", "full-definite", "full-wide", "tril", "diag", "identity", "scaled", "zeros", "householder", "adjoint-wide",
             "inversion-definite", "low-rank")  # fmt: skip
    return [(f"{n}{b}", f"{m}{b}") for n, m in itertools.product(names, names) for b in ("", "-2")]


@pytest.mark.parametrize(("left", "right"), _small())
def test_products_of_operators(left, right):
    a, b = CASES[left], CASES[right]
    if a.dense.shape[-1] != b.dense.shape[-2]:
        with pytest.raises(ValueError, match="Operators are incompatible"):
            a.make() @ b.make()
    elif "zeros" in left + right and not (a.make().is_square and b.make().is_square) and "identity" not in left + right:
        with pytest.raises(ValueError, match="non-square"):
            a.make() @ b.make()
    else:
        close((a.make() @ b.make()).to_dense(), a.dense @ b.dense)


@pytest.mark.parametrize(("left", "right"), _small())
def test_solutions_of_operators(left, right):
    a, b = CASES[left], CASES[right]
    if left in REGULAR and a.dense.shape[-1] == b.dense.shape[-2]:
        close(a.make().solve(b.make()).to_dense(), np.linalg.inv(a.dense) @ b.dense)


# ---- what they promise -----------------------------------------------------------------------------------------------

DIAG, FULL, TRIL = L.LinearOperatorDiag, L.LinearOperatorFullMatrix, L.LinearOperatorLowerTriangular
EYE, SCALED, ZEROS = L.LinearOperatorIdentity, L.LinearOperatorScaledIdentity, L.LinearOperatorZeros
CIRCULANT, BLOCKS = L.LinearOperatorCirculant, L.LinearOperatorBlockDiag

A = [[2.0, 1.0], [1.0, 3.0]]
OPERATORS = {
    "diag": lambda: DIAG([1.0, 2.0]),
    "full": lambda: FULL(A),
    "tril": lambda: TRIL(A),
    "eye": lambda: EYE(2),
    "scaled": lambda: SCALED(2, 2.0),
    "zeros": lambda: ZEROS(2),
    "circulant": lambda: CIRCULANT([1.0, 2.0], input_output_dtype=tf.float32),
    "circulant2d": lambda: L.LinearOperatorCirculant2D([[1.0, 2.0]], input_output_dtype=tf.float32),
    "blocks": lambda: BLOCKS([DIAG([1.0]), EYE(1)]),
    "inversion": lambda: FULL(A).inverse(),
    "householder": lambda: L.LinearOperatorHouseholder([1.0, 2.0]),
}

# The classes that TensorFlow gives; "Composition" wherever nothing is said.
PRODUCTS = {
    **{("eye", x): x for x in OPERATORS},
    **{(x, "eye"): x for x in OPERATORS},
    **{("zeros", x): "zeros" for x in OPERATORS},
    **{(x, "zeros"): "zeros" for x in OPERATORS if x != "eye"},
    ("diag", "diag"): "diag",
    ("diag", "scaled"): "diag",
    ("scaled", "diag"): "diag",
    ("scaled", "scaled"): "scaled",
    ("diag", "tril"): "tril",
    ("tril", "diag"): "tril",
    ("circulant", "circulant"): "circulant",
    ("circulant2d", "circulant2d"): "circulant2d",
    ("blocks", "blocks"): "blocks",
}
SOLUTIONS = {
    **{("eye", x): x for x in OPERATORS},
    ("diag", "diag"): "diag",
    ("diag", "scaled"): "diag",
    ("scaled", "diag"): "diag",
    ("scaled", "scaled"): "scaled",
    ("diag", "tril"): "tril",
    ("diag", "eye"): "diag",
    ("scaled", "eye"): "scaled",
    ("full", "eye"): "inversion",
    ("tril", "eye"): "inversion",
    ("inversion", "eye"): "full",
    ("householder", "eye"): "householder",
    ("circulant", "eye"): "circulant",
    ("circulant2d", "eye"): "circulant2d",
    ("blocks", "eye"): "blocks",
    ("inversion", "zeros"): "zeros",
    ("circulant", "circulant"): "circulant",
    ("circulant2d", "circulant2d"): "circulant2d",
    ("blocks", "blocks"): "blocks",
}


@pytest.mark.parametrize("left", OPERATORS)
@pytest.mark.parametrize("right", OPERATORS)
def test_operators_made_of_two(left, right):
    a, b = OPERATORS[left](), OPERATORS[right]()
    expected = OPERATORS[PRODUCTS[left, right]] if (left, right) in PRODUCTS else lambda: a_composition
    a_composition = L.LinearOperatorComposition([a, b])
    product = a @ b
    assert type(product) is type(expected())
    np.testing.assert_allclose(product.to_dense(), a.to_dense().numpy() @ b.to_dense().numpy(), atol=1e-5)
    if left != "zeros":
        expected = OPERATORS[SOLUTIONS[left, right]] if (left, right) in SOLUTIONS else lambda: a_composition
        solution = a.solve(b)
        assert type(solution) is type(expected())
        want = np.linalg.solve(a.to_dense().numpy(), b.to_dense().numpy())
        np.testing.assert_allclose(solution.to_dense(), want, atol=1e-5)


def test_the_identity_gives_the_other_operator_itself():
    full, identity = FULL(A), EYE(2)
    assert identity @ full is full and full @ identity is full and identity.solve(full) is full
    assert full.H.H is full and full.inverse().inverse() is full
    assert identity.inverse() is identity and identity.H is identity


def test_hints_of_products():
    definite = FULL(A, is_self_adjoint=True, is_positive_definite=True)
    assert definite.is_non_singular and definite.is_square
    assert (definite @ definite).is_non_singular is True and (definite @ definite).is_self_adjoint is True
    assert (FULL(A) @ definite).is_non_singular is None
    assert (FULL(A, is_non_singular=False) @ definite).is_non_singular is False
    wide = FULL([[1.0, 2.0]])
    product = FULL(A) @ wide.H
    assert (product.is_square, product.is_non_singular, product.is_self_adjoint) == (False, False, False)
    assert (wide @ wide.H).is_square is True
    full = FULL(A)
    aah = L.LinearOperatorComposition([full, full.H], is_non_singular=True)
    assert aah.is_self_adjoint is True and aah.is_positive_definite is True
    diag = DIAG([1.0, 2.0], is_positive_definite=True)
    assert (diag @ diag).is_positive_definite is True and (diag @ DIAG([1.0, 2.0])).is_positive_definite is None
    assert diag.inverse().is_positive_definite is True and diag.H.is_positive_definite is True
    assert L.LinearOperatorLowRankUpdate(diag, [[1.0], [1.0]]).is_positive_definite is True
    assert L.LinearOperatorKronecker([diag, diag]).is_positive_definite is True
    assert BLOCKS([diag, full]).is_self_adjoint is None and BLOCKS([diag, diag]).is_non_singular is True


def test_names():
    diag, full = DIAG([1.0, 2.0]), FULL(A, name="full")
    assert diag.name == "LinearOperatorDiag" and full.name == "full"
    assert (diag @ full).name == "LinearOperatorDiag_o_full"
    assert L.LinearOperatorKronecker([diag, full]).name == "LinearOperatorDiag_x_full"
    assert BLOCKS([diag, full]).name == "LinearOperatorDiag_ds_full"
    assert full.H.name == "full_adjoint" and full.inverse().name == "full_inv"
    assert full.graph_parents == []


def test_parameters_are_the_arguments():
    operator = DIAG([1.0, 2.0], is_positive_definite=True)
    assert operator.parameters == {
        "diag": [1.0, 2.0],
        "is_non_singular": None,
        "is_self_adjoint": None,
        "is_positive_definite": True,
        "is_square": None,
        "name": "LinearOperatorDiag",
    }


# ---- assertions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operator",
    [
        DIAG([1.0, 2.0]),
        EYE(2),
        SCALED(2, 2.0),
        CIRCULANT([1.0, 2.0]),
        FULL(A, is_self_adjoint=True),
        FULL(A, **DEFINITE).inverse(),
        BLOCKS([DIAG([1.0]), EYE(1)]),
        L.LinearOperatorComposition([FULL(A)], is_self_adjoint=True),
    ],
    ids=lambda o: o.name,
)
def test_assertions_that_hold(operator):
    operator.assert_non_singular()
    operator.assert_positive_definite()
    operator.assert_self_adjoint()


def test_assertions_that_do_not_hold():
    wrong = tf.errors.InvalidArgumentError
    skew = tf.constant([1j, 1.0])
    for operator, method, message in (
        (DIAG([0.0, 1.0]), "non_singular", "Diagonal contained zero values"),
        (DIAG([-1.0, 1.0]), "positive_definite", "not positive definite"),
        (DIAG(skew), "self_adjoint", "not self-adjoint"),
        (SCALED(2, 0.0), "non_singular", "singular"),
        (SCALED(2, -1.0), "positive_definite", "not positive definite"),
        (SCALED(2, tf.constant(1j)), "self_adjoint", "not self-adjoint"),
        (FULL([[1.0, 1.0], [1.0, 1.0]]), "non_singular", "Singular matrix up to precision epsilon"),
        (FULL([[1.0, 2.0], [0.0, 1.0]]), "self_adjoint", "not equal to its adjoint"),
        (FULL([[-1.0]], is_self_adjoint=True), "positive_definite", ""),
        (TRIL([[0.0, 0.0], [1.0, 1.0]]), "non_singular", "Diagonal contained zero values"),
        (ZEROS(2), "non_singular", "always non-invertible"),
        (ZEROS(2), "positive_definite", "always non-positive definite"),
        (L.LinearOperatorHouseholder([1.0]), "positive_definite", "always non-positive definite"),
        (CIRCULANT([0.0, 1.0]), "non_singular", "Spectrum contained zero values"),
        (CIRCULANT([-1.0, 1.0]), "positive_definite", "not all positive"),
        (CIRCULANT(skew), "self_adjoint", "non-zero imaginary part"),
        (CIRCULANT(skew), "hermitian_spectrum", "not Hermitian"),
        (L.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]), "self_adjoint", "not self-adjoint"),
        (L.LinearOperatorTridiag([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), "self_adjoint", "non-conjugate"),
        (BLOCKS([EYE(1), ZEROS(1)]), "non_singular", "always non-invertible"),
        (L.LinearOperatorKronecker([FULL([[1.0, 2.0]]), EYE(1)]), "non_singular", "must be square"),
    ):
        with pytest.raises(wrong, match=message or None):
            getattr(operator, f"assert_{method}")()
    with pytest.raises(NotImplementedError):
        FULL(A).assert_positive_definite()


def test_assertions_of_structured_operators_hold():
    L.LinearOperatorPermutation([1, 0]).assert_non_singular()
    L.LinearOperatorPermutation([1, 0]).assert_self_adjoint()
    L.LinearOperatorHouseholder([1.0, 2.0]).assert_self_adjoint()
    L.LinearOperatorToeplitz(tf.constant([1 + 0j, 2 + 1j]), tf.constant([1 + 0j, 2 - 1j])).assert_self_adjoint()
    L.LinearOperatorTridiag(tf.constant([[1j, 0j], [1 + 0j, 1 + 0j], [0j, -1j]])).assert_self_adjoint()
    L.LinearOperatorLowRankUpdate(DIAG([1.0, 2.0]), [[1.0], [2.0]]).assert_self_adjoint()
    CIRCULANT(tf.constant([1 + 0j, 1j, -1j])).assert_hermitian_spectrum()
    L.LinearOperatorKronecker([DIAG([1.0]), EYE(2)]).assert_self_adjoint()


# ---- errors ----------------------------------------------------------------------------------------------------------

WIDE = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
ERRORS = {
    "matmul of a vector": (lambda: DIAG([1.0, 2.0]).matmul([1.0, 2.0]), IndexError, ""),
    "matmul dimension": (lambda: DIAG([1.0, 2.0]).matmul([[1.0]]), ValueError, "Dimensions 2 and 1 are not compatible"),
    "matvec dimension": (lambda: DIAG([1.0, 2.0]).matvec([1.0]), ValueError, "Dimensions 2 and 1 are not compatible"),
    "solve dimension": (lambda: DIAG([1.0, 2.0]).solve([[1.0]]), ValueError, "Dimensions 2 and 1 are not compatible"),
    "dtype": (lambda: DIAG([1.0, 2.0]).matmul([[1], [2]]), TypeError, "Expected argument to have dtype"),
    "operator dimension": (lambda: FULL(A).matmul(FULL(WIDE).H), ValueError, "Operators are incompatible"),
    "wide inverse": (lambda: FULL(WIDE).inverse(), ValueError, "non square"),
    "singular inverse": (lambda: ZEROS(2).inverse(), ValueError, "singular"),
    "wide determinant": (lambda: FULL(WIDE).determinant(), NotImplementedError, "not be square"),
    "wide log determinant": (lambda: FULL(WIDE).log_abs_determinant(), NotImplementedError, "not be square"),
    "wide solve": (lambda: FULL(WIDE).solve([[1.0], [2.0]]), NotImplementedError, "not be square"),
    "singular solve": (lambda: ZEROS(2).solve([[1.0], [2.0]]), NotImplementedError, "be singular"),
    "singular": (lambda: FULL([[1.0, 2.0], [2.0, 4.0]]).solve([[1.0], [1.0]]), tf.errors.InvalidArgumentError, "invertible"),
    "integers": (lambda: FULL([[1, 2]]), TypeError, "must have dtype in"),
    "vector": (lambda: FULL([1.0, 2.0]), ValueError, "at least 2 dimensions"),
    "scalar diag": (lambda: DIAG(1.0), ValueError, "at least 1 dimension"),
    "tril of a vector": (lambda: TRIL([1.0]), ValueError, "at least 2 dimensions"),
    "rectangular tril": (lambda: TRIL(A, is_square=False), ValueError, "Only square"),
    "real diag": (lambda: DIAG([1.0], is_self_adjoint=False), ValueError, "always self adjoint"),
    "rectangular diag": (lambda: DIAG([1.0], is_square=False), ValueError, "Only square"),
    "hints definite": (lambda: FULL(A, is_positive_definite=True, is_non_singular=False), ValueError, "always non-singular"),
    "hints regular": (lambda: FULL(A, is_non_singular=True, is_square=False), ValueError, "always square"),
    "hints adjoint": (lambda: FULL(A, is_self_adjoint=True, is_square=False), ValueError, "always square"),
    "hints shape": (lambda: FULL(A, is_square=False).is_square, ValueError, "the operator was square"),
    "hints of an adjoint": (lambda: L.LinearOperatorAdjoint(FULL(A), is_square=False), ValueError, "if and only if"),
    "inversion": (lambda: L.LinearOperatorInversion(FULL(WIDE)), ValueError, "must have supplied hint"),
    "identity rank": (lambda: EYE([2]), ValueError, "0-D Tensor"),
    "identity dtype": (lambda: EYE(2.0), TypeError, "integer type"),
    "identity sign": (lambda: EYE(-2), ValueError, "non-negative"),
    "identity batch": (lambda: EYE(2, batch_shape=3), ValueError, "1-D Tensor"),
    "identity batch sign": (lambda: EYE(2, batch_shape=[-3]), ValueError, "non-negative"),
    "identity variable": (lambda: EYE(tf.Variable(2)), TypeError, "reference type"),
    "identity hint": (lambda: EYE(2, is_non_singular=False), ValueError, "always non-singular"),
    "scaled hint": (lambda: SCALED(2, 1.0, is_square=False), ValueError, "always square"),
    "zeros shape": (lambda: ZEROS(2, 3), ValueError, "is_square=True"),
    "zeros hint": (lambda: ZEROS(2, is_non_singular=True), ValueError, "always singular"),
    "zeros product": (lambda: FULL(WIDE) @ ZEROS(3, 2, is_square=False, is_self_adjoint=False), ValueError, "non-square"),
    "permutation": (lambda: L.LinearOperatorPermutation([0, 2]), ValueError, "unique integers from 0 to 1"),
    "permutation dtype": (lambda: L.LinearOperatorPermutation([0.0]), TypeError, "integer dtype"),
    "permutation rank": (lambda: L.LinearOperatorPermutation(0), ValueError, "at least 1 dimension"),
    "permutation hint": (lambda: L.LinearOperatorPermutation([0], is_non_singular=False), ValueError, "always non-singular"),
    "toeplitz": (lambda: L.LinearOperatorToeplitz([1.0], [1.0, 2.0]), ValueError, "mismatched dimensions"),
    "toeplitz rank": (lambda: L.LinearOperatorToeplitz(1.0, [1.0]), ValueError, "at least 1 dimension"),
    "tridiag": (lambda: L.LinearOperatorTridiag([1.0], diagonals_format="foo"), ValueError, "must be one of compact"),
    "householder": (lambda: L.LinearOperatorHouseholder(1.0), ValueError, "at least 1 dimension"),
    "circulant rank": (lambda: L.LinearOperatorCirculant2D([1.0]), ValueError, "at least 2 dimensions"),
    "circulant hint": (lambda: CIRCULANT([1.0], is_self_adjoint=False), ValueError, "self-adjoint"),
    "circulant shape": (lambda: CIRCULANT([1.0], is_square=False), ValueError, "always square"),
    "low rank": (lambda: L.LinearOperatorLowRankUpdate(FULL(A), [[1.0]]), ValueError, "Dimensions 2 and 1"),
    "low rank diag": (lambda: L.LinearOperatorLowRankUpdate(FULL(A), [[1.0], [2.0]], [1.0, 2.0]), ValueError, "Dimensions"),
    "low rank hint": (
        lambda: L.LinearOperatorLowRankUpdate(FULL(A), [[1.0], [2.0]], is_diag_update_positive=False), ValueError, "positive",
    ),
    "no operators": (lambda: L.LinearOperatorComposition([]), ValueError, "non-empty list"),
    "one operator": (lambda: L.LinearOperatorComposition(FULL(A)), TypeError, "iterable"),
    "operators that do not fit": (lambda: L.LinearOperatorComposition([FULL(WIDE), FULL(A)]).shape, ValueError, "Dimensions"),
    "operators of two dtypes": (
        lambda: L.LinearOperatorComposition([FULL(A), DIAG(tf.constant([1.0], tf.float64))]), TypeError, "same dtype",
    ),
    "composition hint": (
        lambda: L.LinearOperatorComposition([EYE(2)], is_non_singular=False), ValueError, "always non-singular",
    ),
    "blocks that do not fit": (
        lambda: L.LinearOperatorBlockLowerTriangular([[EYE(2)], [FULL(WIDE), EYE(2)]]), ValueError, "domain_dimension",
    ),
    "missing block": (lambda: L.LinearOperatorBlockLowerTriangular([[EYE(2)], [EYE(2)]]), ValueError, "must contain `2`"),
    "no blocks": (lambda: L.LinearOperatorBlockLowerTriangular([]), ValueError, ">=1 operators"),
    "blocks of an argument": (
        lambda: BLOCKS([EYE(2), EYE(2)]).matvec([tf.ones(2), tf.ones(1)]), ValueError, "Dimensions 2 and 1",
    ),
    "abstract": (lambda: L.LinearOperator(tf.float32), TypeError, "abstract"),
    "slices": (lambda: FULL(A)[0], tf.errors.InvalidArgumentError, "slice"),
    "index": (lambda: FULL(tf.zeros([3, 2, 2]))[3], tf.errors.InvalidArgumentError, ""),
    "as a tensor": (lambda: tf.convert_to_tensor(FULL(A)), ValueError, ""),
    "matmul flags": (lambda: tf.matmul(FULL(A), [[1.0], [2.0]], transpose_a=True), ValueError, "Transposing"),
    "logdet": (lambda: tf.linalg.logdet(FULL(A)), ValueError, "self.adjoint"),
}  # fmt: skip


@pytest.mark.parametrize("what", ERRORS)
def test_errors(what):
    call, error, message = ERRORS[what]
    with pytest.raises(error, match=message or None):
        call()


# ---- arguments in blocks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("name", ["block-diag", "block-tril", "block-diag-definite", "block-tril-3-2"])
def test_arguments_in_blocks(name, adjoint):
    operator, dense = CASES[name].make(), CASES[name].dense
    dense = _adjoint(dense) if adjoint else dense
    diagonal = operator.operators if "diag" in name else [row[-1] for row in operator.operators]
    places = np.cumsum([o.domain_dimension for o in diagonal])[:-1]
    x = _normal(*dense.shape[:-2], dense.shape[-1], 2, dtype=dense.dtype.name)
    for method, want in (("matmul", dense @ x), ("solve", np.linalg.inv(dense) @ x)):
        apply = getattr(operator, method)
        for blocks in (np.split(x, places, -2), tuple(map(tf.constant, np.split(x, places, -2)))):
            got = apply(blocks, adjoint=adjoint)
            assert isinstance(got, list)
            np.testing.assert_allclose(np.concatenate(got, -2), want, atol=1e-8)
        got = apply([_adjoint(b) for b in np.split(x, places, -2)], adjoint=adjoint, adjoint_arg=True)
        np.testing.assert_allclose(np.concatenate(got, -2), want, atol=1e-8)
    for method, want in (("matvec", dense @ x), ("solvevec", np.linalg.inv(dense) @ x)):
        got = getattr(operator, method)(np.split(x[..., 0], places, -1), adjoint=adjoint)
        np.testing.assert_allclose(np.concatenate(got, -1), want[..., 0], atol=1e-8)


def test_lists_that_are_one_tensor():
    operator = BLOCKS([DIAG([1.0]), DIAG([2.0])])
    assert operator.matvec([1.0, 1.0]).numpy().tolist() == [1.0, 2.0]
    assert operator.matmul([[1.0], [1.0]]).numpy().tolist() == [[1.0], [2.0]]
    blocks = BLOCKS([DIAG([1.0]), DIAG([2.0, 3.0])]).matvec([[1.0], [1.0, 1.0]])
    assert [b.numpy().tolist() for b in blocks] == [[1.0], [2.0, 3.0]]
    assert [o.name for o in operator.matmul([EYE(1), DIAG([3.0])])] == ["LinearOperatorDiag"] * 2


# ---- in the rest of the library ---------------------------------------------------------------------------------------


def test_functions_take_operators():
    full, definite = FULL(A), FULL(A, **DEFINITE)
    x = [[1.0], [2.0]]
    np.testing.assert_allclose(L.matmul(full, x), np.array(A) @ x)
    np.testing.assert_allclose(L.matmul(full, x, adjoint_a=True), np.array(A).T @ x)
    np.testing.assert_allclose(tf.matmul(tf.transpose(x), full), np.transpose(x) @ A)
    assert isinstance(tf.matmul(full, full), L.LinearOperatorComposition)
    np.testing.assert_allclose(L.solve(full, x), np.linalg.solve(A, x), rtol=1e-5)
    assert L.adjoint(full).operator is full and L.inv(full).operator is full
    assert isinstance(L.cholesky(definite), L.LinearOperatorLowerTriangular)
    np.testing.assert_allclose(L.det(full), 5.0, rtol=1e-5)
    np.testing.assert_allclose(L.logdet(definite), np.log(5.0), rtol=1e-5)
    assert L.trace(full).numpy() == 5.0 and L.diag_part(full).numpy().tolist() == [2.0, 3.0]


def test_variables_are_followed():
    variable = tf.Variable([1.0, 2.0], name="d")
    operator = L.LinearOperatorComposition([DIAG(variable), FULL(A)])
    assert [v is variable for v in operator.variables] == [True] and len(operator.trainable_variables) == 1
    assert {type(m) for m in operator.submodules} == {DIAG, FULL}
    u, d = tf.Variable([[1.0], [2.0]], name="u"), tf.Variable([1.0], name="d")
    update = L.LinearOperatorLowRankUpdate(DIAG(variable), u, diag_update=d)
    assert {v.ref() for v in update.variables} == {variable.ref(), u.ref(), d.ref()}
    variable.assign([3.0, 4.0])
    assert operator.diag_part().numpy().tolist() == [6.0, 12.0]
    with tf.GradientTape() as tape:
        y = operator.determinant()
    np.testing.assert_allclose(tape.gradient(y, variable), [20.0, 15.0], rtol=1e-5)


@pytest.mark.parametrize(
    "case",
    [REGULAR[n] for n in REGULAR if n.endswith("-2") and "3-2" not in n and "variable" not in n],
    ids=[n for n in REGULAR if n.endswith("-2") and "3-2" not in n and "variable" not in n],
)
def test_gradients_flow_to_the_parameters(case):
    """The gradients of products and solutions, against finite differences along one direction."""
    operator = case.make()
    spec = operator._type_spec
    parts = tf.nest.flatten(operator, expand_composites=True)
    floats = [i for i, p in enumerate(parts) if p.dtype.is_floating or p.dtype.is_complex]
    x = _argument(case.dense, False)

    def value(parts):
        made = tf.nest.pack_sequence_as(operator, parts, expand_composites=True)
        products = made.matmul(x), made.solve(x), made.log_abs_determinant()
        return sum(tf.reduce_sum(tf.math.real(p) ** 2) for p in products)

    parts = [tf.identity(p) for p in parts]
    with tf.GradientTape() as tape:
        tape.watch([parts[i] for i in floats])
        y = value(parts)
    found = tape.gradient(y, [parts[i] for i in floats])
    step, slope = 1e-6, 0.0
    moved = [[], []]
    for i, part in enumerate(parts):
        direction = _normal(*part.shape, dtype=part.dtype.name) if i in floats else np.zeros(part.shape, part.dtype.name)
        if operator.is_self_adjoint and part.shape.rank > 2 and part.shape[-1] == part.shape[-2]:
            direction = direction + _adjoint(direction)  # matrices stay self-adjoint
        for sign, into in zip((1, -1), moved, strict=True):
            into.append(tf.constant(part.numpy() + sign * (step * direction if i in floats else direction)))
        if i in floats:
            gradient = found[floats.index(i)]
            slope += np.sum(np.conj(gradient.numpy()) * direction).real
    difference = (value(moved[0]) - value(moved[1])).numpy() / (2 * step)
    np.testing.assert_allclose(slope, difference, rtol=1e-4, atol=1e-4)
    assert spec.is_compatible_with(tf.nest.pack_sequence_as(operator, parts, expand_composites=True))


def test_gradients_for_an_operator_are_an_operator():
    operator = L.LinearOperatorKronecker([FULL(A), DIAG([1.0, 2.0])])
    with tf.GradientTape() as tape:
        tape.watch(operator)
        y = tf.reduce_sum(operator.operators[0].to_dense() ** 2)
    gradient = tape.gradient(y, operator)
    np.testing.assert_allclose(gradient.operators[0].to_dense(), 2 * np.array(A))
    np.testing.assert_allclose(gradient.operators[1].to_dense(), np.zeros([2, 2]))
    with tf.GradientTape() as tape:
        tape.watch(operator)
        y = tf.constant(1.0)
    assert tape.gradient(y, operator) is None


@over(CASES)
def test_specs(case):
    operator = case.make()
    spec = operator._type_spec
    assert type(spec).__name__ == type(operator).__name__ + "Spec" and spec.value_type is type(operator)
    assert spec == case.make()._type_spec and hash(spec) == hash(case.make()._type_spec)
    parts = tf.nest.flatten(operator, expand_composites=True)
    assert all(isinstance(p, (tf.Tensor, tf.Variable)) for p in parts)
    again = tf.nest.pack_sequence_as(operator, parts, expand_composites=True)
    close(again.to_dense(), case.dense)
    assert (again.is_self_adjoint, again.is_positive_definite) == (operator.is_self_adjoint, operator.is_positive_definite)
    assert spec.from_tensors(iter(spec.to_tensors(operator))).shape == operator.shape


SLICES = [
    np.index_exp[0],
    np.index_exp[1:],
    np.index_exp[..., 1],
    np.index_exp[:, 1],
    np.index_exp[1, 0],
    np.index_exp[..., None],
    np.index_exp[None, ..., ::-1],
    np.index_exp[2, None, :1],
    np.index_exp[...],
]


@pytest.mark.parametrize("name", [n for n in CASES if n.endswith("-3-2")])
def test_slices(name):
    operator, dense = CASES[name].make(), CASES[name].dense
    for index in SLICES:
        full = (*index, slice(None), slice(None)) if Ellipsis in index else (*index, ..., slice(None), slice(None))
        got = operator[index if len(index) > 1 else index[0]]
        assert type(got) is type(operator) and got.is_self_adjoint in (operator.is_self_adjoint, None)
        want = dense[full]
        np.testing.assert_allclose(np.broadcast_to(got.to_dense(), want.shape), want, atol=1e-8)


def test_slices_of_an_identity_without_a_batch():
    operator = EYE(2)
    assert operator[...] is operator


def test_sizes_are_checked_when_asked():
    identity = EYE(tf.constant(2), batch_shape=tf.constant([3]), assert_proper_shapes=True)
    assert identity.shape == [3, 2, 2] and identity.matvec([1.0, 2.0]).shape == [3, 2]
    zeros = ZEROS(2, assert_proper_shapes=True)
    assert zeros.matmul([[1.0], [2.0]]).numpy().tolist() == [[0.0], [0.0]]
    assert zeros.add_to_tensor(A).numpy().tolist() == A
    assert np.isnan(zeros.cond()) and zeros.log_abs_determinant().numpy() == -np.inf


def test_circulant_properties():
    operator = CIRCULANT(tf.signal.fft(tf.constant([1.0, 2.0, 3.0], tf.complex64)), input_output_dtype=tf.float32)
    np.testing.assert_allclose(operator.convolution_kernel(), [1.0, 2.0, 3.0], atol=1e-6)
    assert operator.block_depth == 1 and operator.block_shape == [3]
    assert operator.block_shape_tensor().numpy().tolist() == [3]
    operator = L.LinearOperatorCirculant3D(tf.ones([4, 2, 3, 5]))
    assert operator.block_depth == 3 and operator.block_shape == [2, 3, 5] and operator.shape == [4, 30, 30]
    assert operator.block_shape_tensor().numpy().tolist() == [2, 3, 5]
    assert operator.dtype == tf.complex64 and operator.convolution_kernel().shape == [4, 2, 3, 5]


def test_operators_of_integers():
    assert DIAG([1, 2]).to_dense().numpy().tolist() == [[1, 0], [0, 2]] and int(DIAG([1, 2]).determinant()) == 2
    assert EYE(2, dtype=tf.int32).matmul([[1], [2]]).numpy().tolist() == [[1], [2]]


def test_a_subclass_of_ones_own():
    class Shift(L.LinearOperator):
        def __init__(self, size, name=None):
            self._size = size
            super().__init__(tf.float64, is_square=True, name=name)

        def _shape(self):
            return tf.TensorShape([self._size, self._size])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            x = tf.linalg.adjoint(x) if adjoint_arg else x
            return tf.roll(x, -1 if adjoint else 1, -2)

    operator = Shift(3)
    dense = np.roll(np.eye(3), 1, 0)
    close(operator.to_dense(), dense)
    close(operator.H.to_dense(), dense.T)
    close(operator.solvevec(tf.constant([1.0, 2.0, 3.0], tf.float64)), np.array([2.0, 3.0, 1.0]))
    close(operator.determinant(), np.linalg.det(dense))
    assert operator.parameters == {"size": 3, "name": None} and operator.name == "Shift"
    assert (operator @ operator).to_dense().numpy().tolist() == (dense @ dense).tolist()
    again = tf.nest.pack_sequence_as(operator, tf.nest.flatten(operator, expand_composites=True), expand_composites=True)
    assert type(again) is Shift and again.shape == [3, 3]


def test_a_subclass_with_a_tensor():
    class Times(L.LinearOperator):
        def __init__(self, number, is_self_adjoint=True):
            self.number = tf.convert_to_tensor(number)
            super().__init__(self.number.dtype, is_self_adjoint=is_self_adjoint)

        def _shape(self):
            return tf.TensorShape([2, 2])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            return self.number * (tf.linalg.adjoint(x) if adjoint_arg else x)

    operator = Times(3.0)
    assert [t.numpy() for t in tf.nest.flatten(operator, expand_composites=True)] == [3.0]
    with tf.GradientTape() as tape:
        tape.watch(operator)
        y = operator.trace()
    gradient = tape.gradient(y, operator)
    assert isinstance(gradient, Times) and gradient.number.numpy() == 2.0
