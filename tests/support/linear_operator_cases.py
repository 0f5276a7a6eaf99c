"""Linear operators of every kind, and the dense matrices that they stand for."""

from typing import NamedTuple

import numpy as np

import tapeflow as tf

L = tf.linalg
DEFINITE = {"is_self_adjoint": True, "is_positive_definite": True}


class Case(NamedTuple):
    """An operator, and the matrices it stands for."""

    make: object
    dense: np.ndarray


def normal(*shape, dtype="float64"):
    rng = np.random.default_rng(sum(shape) + len(shape) + len(dtype))
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("complex") else x).astype(dtype)


def _definite(*shape, dtype="float64"):
    x = normal(*shape, dtype=dtype)
    return x @ np.conj(x.swapaxes(-1, -2)) + np.eye(shape[-1])


def _diag(x):
    return x[..., None] * np.eye(x.shape[-1])


def adjoint_of(x):
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
        a = normal(*batch, 3, 3) + 2 * np.eye(3)
        c = normal(*batch, 3, 3, dtype="complex128") + 2 * np.eye(3)
        p, pc = _definite(*batch, 3, 3), _definite(*batch, 3, 3, dtype="complex128")
        d, dc = normal(*batch, 3) + 3, normal(*batch, 3, dtype="complex128")
        positive = np.abs(d)
        s, sc = np.asarray(normal(*batch) + 3), np.asarray(normal(*batch, dtype="complex128"))
        u, v, r = normal(*batch, 3, 2), normal(*batch, 3, 2) + 1, normal(*batch, 2) + 2
        uc, vc, rc = normal(*batch, 3, 2, dtype="complex128"), normal(3, 2, dtype="complex128"), r + 1j
        wide = normal(*batch, 2, 3)
        perm = np.argsort(normal(*batch, 4), -1)
        col, row = normal(*batch, 4) + [4, 0, 0, 0], normal(4)
        colc, rowc = normal(*batch, 4, dtype="complex128") + [4, 0, 0, 0], normal(4, dtype="complex128")
        bands = normal(*batch, 3, 4) + [[0], [4], [0]]
        bandsc = normal(*batch, 3, 4, dtype="complex128") + [[0], [4], [0]]
        hermitian = np.fft.fft(normal(*batch, 5) + [3, 0, 0, 0, 0])
        yield "full" + b, Case(lambda a=a: full(a), a)
        yield "full-complex" + b, Case(lambda c=c: full(c), c)
        yield "full-definite" + b, Case(lambda p=p: full(p, **DEFINITE), p)
        yield "full-definite-complex" + b, Case(lambda pc=pc: full(pc, **DEFINITE), pc)
        yield "full-wide" + b, Case(lambda w=wide: full(w), wide)
        yield "full-variable" + b, Case(lambda a=a: full(tf.Variable(a)), a)
        yield "tril" + b, Case(lambda a=a: tril(a), np.tril(a))
        yield "tril-complex" + b, Case(lambda c=c: tril(c), np.tril(c))
        yield "diag" + b, Case(lambda d=d: L.LinearOperatorDiag(d), _diag(d))
        yield (
            "diag-definite" + b,
            Case(lambda d=positive: L.LinearOperatorDiag(d, is_positive_definite=True), _diag(positive)),
        )
        yield "diag-complex" + b, Case(lambda d=dc: L.LinearOperatorDiag(d), _diag(dc))
        yield "diag-variable" + b, Case(lambda d=dc: L.LinearOperatorDiag(tf.Variable(d)), _diag(dc))
        shape, eye = list(batch), np.broadcast_to(np.eye(3), (*batch, 3, 3))
        yield "identity" + b, Case(lambda s=shape: L.LinearOperatorIdentity(3, s or None, tf.float64), eye)
        yield "scaled" + b, Case(lambda s=s: L.LinearOperatorScaledIdentity(3, s), s[..., None, None] * eye)
        yield "scaled-complex" + b, Case(lambda s=sc: L.LinearOperatorScaledIdentity(3, s), sc[..., None, None] * eye)
        yield "zeros" + b, Case(lambda s=shape: L.LinearOperatorZeros(3, None, s or None, tf.float64), 0 * eye)
        yield (
            "zeros-wide" + b,
            Case(
                lambda s=shape: L.LinearOperatorZeros(
                    2, 3, s or None, tf.float64, is_self_adjoint=False, is_square=False
                ),
                np.zeros((*batch, 2, 3)),
            ),
        )
        yield "permutation" + b, Case(lambda p=perm: L.LinearOperatorPermutation(p, tf.float64), _permutation(perm))
        yield "householder" + b, Case(lambda d=d: L.LinearOperatorHouseholder(d), _householder(d))
        yield "householder-complex" + b, Case(lambda d=dc: L.LinearOperatorHouseholder(d), _householder(dc))
        yield "adjoint" + b, Case(lambda c=c: L.LinearOperatorAdjoint(full(c)), adjoint_of(c))
        yield "adjoint-wide" + b, Case(lambda w=wide: L.LinearOperatorAdjoint(full(w)), adjoint_of(wide))
        yield "inversion" + b, Case(lambda c=c: L.LinearOperatorInversion(full(c)), np.linalg.inv(c))
        yield "inversion-definite" + b, Case(lambda p=p: full(p, **DEFINITE).inverse(), np.linalg.inv(p))
        yield "composition" + b, Case(lambda c=c, d=dc: full(c) @ L.LinearOperatorDiag(d), c @ _diag(dc))
        yield (
            "composition-aah" + b,
            Case(lambda a=a: L.LinearOperatorComposition([tril(a), tril(a).H]), np.tril(a) @ adjoint_of(np.tril(a))),
        )
        yield "composition-llh" + b, Case(_llh(a), np.tril(a) @ adjoint_of(np.tril(a)))
        yield "composition-wide" + b, Case(lambda w=wide, a=a: full(w) @ full(a), wide @ a)
        yield "composition-wide-square" + b, Case(lambda w=wide: full(w) @ full(w).H, wide @ adjoint_of(wide))
        yield (
            "kronecker" + b,
            Case(
                lambda a=a, d=r: L.LinearOperatorKronecker([full(a), L.LinearOperatorDiag(d), full(a)]),
                _kron(_kron(a, _diag(r)), a),
            ),
        )
        yield (
            "kronecker-complex" + b,
            Case(lambda c=c: L.LinearOperatorKronecker([full(c), full(c[..., :2, :2])]), _kron(c, c[..., :2, :2])),
        )
        yield (
            "kronecker-definite" + b,
            Case(
                lambda p=p: L.LinearOperatorKronecker([full(p, **DEFINITE), full(p[..., :2, :2], **DEFINITE)]),
                _kron(p, p[..., :2, :2]),
            ),
        )
        yield (
            "kronecker-wide" + b,
            Case(lambda w=wide, a=a: L.LinearOperatorKronecker([full(w), full(a)]), _kron(wide, a)),
        )
        yield (
            "block-diag" + b,
            Case(
                lambda a=a, d=r: L.LinearOperatorBlockDiag([full(a), L.LinearOperatorDiag(d)]), _block_diag(a, _diag(r))
            ),
        )
        yield (
            "block-diag-definite" + b,
            Case(
                lambda p=p, p2=p[..., :2, :2]: L.LinearOperatorBlockDiag([full(p, **DEFINITE), full(p2, **DEFINITE)]),
                _block_diag(p, p[..., :2, :2]),
            ),
        )
        yield (
            "block-diag-broadcast" + b,
            Case(
                lambda a=a, e=row: L.LinearOperatorBlockDiag([full(a), L.LinearOperatorDiag(e)]),
                _block_diag(a, _diag(row)),
            ),
        )
        yield (
            "block-diag-wide" + b,
            Case(
                lambda a=a, w=wide: L.LinearOperatorBlockDiag([full(a), full(w)], is_square=None), _block_diag(a, wide)
            ),
        )
        lower = np.concatenate([np.concatenate([a, np.zeros_like(u)], -1), np.concatenate([wide, _diag(r)], -1)], -2)
        yield (
            "block-tril" + b,
            Case(
                lambda a=a, w=wide, r=r: L.LinearOperatorBlockLowerTriangular(
                    [[full(a)], [full(w), L.LinearOperatorDiag(r)]]
                ),
                lower,
            ),
        )
        yield (
            "block-tril-3" + b,
            Case(
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
            ),
        )
        yield (
            "circulant" + b,
            Case(lambda s=dc: L.LinearOperatorCirculant(s, input_output_dtype=tf.complex128), _circulant(dc)),
        )
        yield (
            "circulant-hermitian" + b,
            Case(
                lambda s=hermitian: L.LinearOperatorCirculant(s, input_output_dtype=tf.float64),
                _circulant(hermitian).real,
            ),
        )
        yield (
            "circulant-real-spectrum" + b,
            Case(lambda s=d: L.LinearOperatorCirculant(s, input_output_dtype=tf.complex128), _circulant(d)),
        )
        yield (
            "circulant2d" + b,
            Case(
                lambda s=vc + u: L.LinearOperatorCirculant2D(s, input_output_dtype=tf.complex128), _circulant(vc + u, 2)
            ),
        )
        cube = normal(*batch, 2, 1, 3, dtype="complex128")
        yield (
            "circulant3d" + b,
            Case(lambda s=cube: L.LinearOperatorCirculant3D(s, input_output_dtype=tf.complex128), _circulant(cube, 3)),
        )
        yield "toeplitz" + b, Case(lambda c=col, r=row: L.LinearOperatorToeplitz(c, r), _toeplitz(col, row))
        yield "toeplitz-row-batch" + b, Case(lambda c=row, r=col: L.LinearOperatorToeplitz(c, r), _toeplitz(row, col))
        yield "toeplitz-complex" + b, Case(lambda c=colc, r=rowc: L.LinearOperatorToeplitz(c, r), _toeplitz(colc, rowc))
        dense, densec = _tridiag(bands), _tridiag(bandsc)
        yield "tridiag-compact" + b, Case(lambda x=bandsc: L.LinearOperatorTridiag(x), densec)
        yield "tridiag-matrix" + b, Case(lambda x=densec: L.LinearOperatorTridiag(x, "matrix"), densec)
        yield (
            "tridiag-sequence" + b,
            Case(
                lambda x=bands: L.LinearOperatorTridiag([x[..., 0, :], x[..., 1, :], x[..., 2, :]], "sequence"), dense
            ),
        )
        yield (
            "low-rank" + b,
            Case(
                lambda a=a, u=u, v=v, r=r: L.LinearOperatorLowRankUpdate(full(a), u, r, v),
                a + u @ _diag(r) @ adjoint_of(v),
            ),
        )
        yield (
            "low-rank-complex" + b,
            Case(
                lambda c=c, u=uc, v=vc, r=rc: L.LinearOperatorLowRankUpdate(full(c), u, r, v),
                c + uc @ _diag(rc) @ adjoint_of(vc),
            ),
        )
        yield (
            "low-rank-definite" + b,
            Case(
                lambda d=positive, u=u: L.LinearOperatorLowRankUpdate(
                    L.LinearOperatorDiag(d, is_positive_definite=True), u
                ),
                _diag(positive) + u @ adjoint_of(u),
            ),
        )
        yield (
            "low-rank-u-only" + b,
            Case(
                lambda p=p, u=u, r=r: L.LinearOperatorLowRankUpdate(full(p, **DEFINITE), u, r),
                p + u @ _diag(r) @ adjoint_of(u),
            ),
        )


def _llh(a):
    def make():
        left = L.LinearOperatorLowerTriangular(a, is_non_singular=True)
        return L.LinearOperatorComposition([left, left.H])

    return make


CASES = dict(_cases())
SQUARE = {n: c for n, c in CASES.items() if c.dense.shape[-1] == c.dense.shape[-2]}
REGULAR = {n: c for n, c in SQUARE.items() if not n.startswith("zeros")}
