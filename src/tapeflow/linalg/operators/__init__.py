"""Linear operators: matrices with a structure, which multiply and solve without being written out."""

from tapeflow.linalg.operators import algebra  # the rules for products and solutions of two operators
from tapeflow.linalg.operators.adjoint_and_inverse import LinearOperatorAdjoint, LinearOperatorInversion
from tapeflow.linalg.operators.banded import LinearOperatorToeplitz, LinearOperatorTridiag
from tapeflow.linalg.operators.base import LinearOperator
from tapeflow.linalg.operators.blocks import LinearOperatorBlockDiag, LinearOperatorBlockLowerTriangular
from tapeflow.linalg.operators.circulant import (
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
)
from tapeflow.linalg.operators.composition import LinearOperatorComposition, LinearOperatorKronecker
from tapeflow.linalg.operators.dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from tapeflow.linalg.operators.diagonal import LinearOperatorDiag
from tapeflow.linalg.operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorZeros
from tapeflow.linalg.operators.low_rank_update import LinearOperatorLowRankUpdate
from tapeflow.linalg.operators.reflections import LinearOperatorHouseholder, LinearOperatorPermutation
