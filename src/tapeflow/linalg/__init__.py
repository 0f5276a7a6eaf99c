"""The public `tf.linalg` namespace."""

from tapeflow.array.grids import eye
from tapeflow.linalg import experimental
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
from tapeflow.linalg.functions import expm, logm, sqrtm
from tapeflow.linalg.norms import global_norm, norm, normalize
from tapeflow.linalg.products import cross, matmul, matvec
from tapeflow.linalg.solvers import (
    cholesky_solve,
    det,
    inv,
    logdet,
    lstsq,
    matrix_rank,
    pinv,
    slogdet,
    solve,
    triangular_solve,
)
from tapeflow.linalg.spectral import eig, eigh, eigvals, eigvalsh, svd
from tapeflow.math.normalize import l2_normalize


def __getattr__(name: str) -> object:
    # The operators load when one is used.
    if name.startswith("LinearOperator"):
        from tapeflow.linalg import operators

        if name in operators.__all__:
            return getattr(operators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from tapeflow.linalg import operators

    return sorted({*globals(), *operators.__all__})
