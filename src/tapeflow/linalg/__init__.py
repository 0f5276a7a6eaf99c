"""The public `tf.linalg` namespace."""

# ruff: noqa: F403, F405 (type checkers see the operators, which load when they are used)

import typing as _typing

from tapeflow.array.ranges import eye
from tapeflow.core.lazy_modules import load as _load
from tapeflow.linalg.banded import banded_triangular_solve, eigh_tridiagonal, tridiagonal_matmul, tridiagonal_solve
from tapeflow.linalg.contraction import einsum, tensordot
from tapeflow.linalg.diagonals import (
    adjoint,
    band_part,
    diag,
    diag_part,
    matrix_transpose,
    set_diag,
    tensor_diag,
    tensor_diag_part,
    trace,
)
from tapeflow.linalg.factorizations import cholesky, lu, lu_matrix_inverse, lu_reconstruct, lu_solve, qr
from tapeflow.linalg.matrix_functions import expm, logm, sqrtm
from tapeflow.linalg.norms import global_norm, norm, normalize
from tapeflow.linalg.products import cross, matmul, matvec
from tapeflow.linalg.solvers import cholesky_solve, det, inv, logdet, lstsq, slogdet, solve, triangular_solve
from tapeflow.linalg.spectral import eig, eigh, eigvals, eigvalsh, matrix_rank, pinv, svd
from tapeflow.math.normalize import l2_normalize

if _typing.TYPE_CHECKING:
    from tapeflow.linalg import experimental
    from tapeflow.linalg.operators import *

__all__ = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorBlockLowerTriangular",
    "LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D", "LinearOperatorComposition",
    "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorHouseholder", "LinearOperatorIdentity",
    "LinearOperatorInversion", "LinearOperatorKronecker", "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular", "LinearOperatorPermutation", "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz", "LinearOperatorTridiag", "LinearOperatorZeros", "adjoint", "band_part",
    "banded_triangular_solve", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part", "eig", "eigh",
    "eigh_tridiagonal", "eigvals", "eigvalsh", "einsum", "experimental", "expm", "eye", "global_norm", "inv",
    "l2_normalize", "logdet", "logm", "lstsq", "lu", "lu_matrix_inverse", "lu_reconstruct", "lu_solve", "matmul",
    "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize", "pinv", "qr", "set_diag", "slogdet", "solve",
    "sqrtm", "svd", "tensor_diag", "tensor_diag_part", "tensordot", "trace", "triangular_solve", "tridiagonal_matmul",
    "tridiagonal_solve",
]  # fmt: skip
__dir__ = __all__.copy


def __getattr__(name: str) -> object:
    # These load on first use.
    if name == "experimental":
        return _load("tapeflow.linalg.experimental")
    if name.startswith("LinearOperator") and name in __all__:
        return getattr(_load("tapeflow.linalg.operators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
