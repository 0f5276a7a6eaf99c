"""The public `tf.linalg` namespace."""

from tapeflow.array.ranges import eye
from tapeflow.core.public_names import publish as _publish
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

_OPERATORS = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorBlockLowerTriangular",
    "LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D", "LinearOperatorComposition",
    "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorHouseholder", "LinearOperatorIdentity",
    "LinearOperatorInversion", "LinearOperatorKronecker", "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular", "LinearOperatorPermutation", "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz", "LinearOperatorTridiag", "LinearOperatorZeros",
]  # fmt: skip

_publish(globals(), later={"tapeflow.linalg": ["experimental"], "tapeflow.linalg.operators": _OPERATORS})
