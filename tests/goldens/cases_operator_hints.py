"""Hints of linear operators: which ones each class refuses, and what it says of itself."""

from goldens.case import Group

GROUP = Group(r"""
L = tf.linalg
HINTS = "non_singular", "self_adjoint", "positive_definite", "square"
FULL, DIAG = L.LinearOperatorFullMatrix, L.LinearOperatorDiag
A, WIDE = [[2., 1.], [1., 3.]], [[1., 2., 3.], [4., 5., 6.]]
def said(make, hints):
    try:
        operator = make(**hints)
        return [getattr(operator, "is_" + hint) for hint in HINTS]
    except Exception as error:
        return type(error).__name__
def flags(make):
    # What an operator says of itself without a hint, and with each one.
    return [said(make, {})] + [said(make, {"is_" + h: v}) for h in HINTS for v in (True, False)]
def pairs(make):
    # The same with each pair of hints that says something of definiteness.
    return [said(make, {"is_positive_definite": v, "is_" + h: w}) for h in HINTS[:2] for v in (True, False)
            for w in (True, False)]
definite = FULL(A, is_self_adjoint=True, is_positive_definite=True)
rotation = FULL([[0., 1.], [-1., 0.]], is_non_singular=True, is_self_adjoint=False)
""")

MAKERS = [
    "lambda **k: FULL(A, **k)",
    "lambda **k: FULL(WIDE, **k)",
    "lambda **k: DIAG([1., 2.], **k)",
    "lambda **k: DIAG([1j, 2.], **k)",
    "lambda **k: L.LinearOperatorIdentity(2, **k)",
    "lambda **k: L.LinearOperatorScaledIdentity(2, 3., **k)",
    "lambda **k: L.LinearOperatorZeros(2, **k)",
    "lambda **k: L.LinearOperatorLowerTriangular(A, **k)",
    "lambda **k: L.LinearOperatorHouseholder([1., 2.], **k)",
    "lambda **k: L.LinearOperatorPermutation([1, 0], **k)",
    "lambda **k: L.LinearOperatorToeplitz([1., 2.], [1., 3.], **k)",
    "lambda **k: L.LinearOperatorTridiag([[1., 1.], [2., 3.], [4., 5.]], **k)",
    "lambda **k: L.LinearOperatorCirculant([1., 2.], input_output_dtype=tf.float32, **k)",
    "lambda **k: L.LinearOperatorCirculant2D([[1., 2.]], input_output_dtype=tf.float32, **k)",
    "lambda **k: L.LinearOperatorCirculant3D([[[1., 2.]]], input_output_dtype=tf.float32, **k)",
    "lambda **k: L.LinearOperatorAdjoint(definite, **k)",
    "lambda **k: L.LinearOperatorAdjoint(rotation, **k)",
    "lambda **k: L.LinearOperatorInversion(definite, **k)",
    "lambda **k: L.LinearOperatorInversion(rotation, **k)",
    "lambda **k: L.LinearOperatorComposition([definite, rotation], **k)",
    "lambda **k: L.LinearOperatorComposition([definite, FULL(WIDE)], **k)",
    "lambda **k: L.LinearOperatorKronecker([definite, definite], **k)",
    "lambda **k: L.LinearOperatorKronecker([definite, rotation], **k)",
    "lambda **k: L.LinearOperatorBlockDiag([definite, definite], **k)",
    "lambda **k: L.LinearOperatorBlockDiag([definite, rotation], **k)",
    "lambda **k: L.LinearOperatorBlockDiag([FULL(WIDE), rotation], **k)",
    "lambda **k: L.LinearOperatorBlockLowerTriangular([[definite], [FULL(A), rotation]], **k)",
    "lambda **k: L.LinearOperatorLowRankUpdate(definite, [[1.], [2.]], **k)",
    "lambda **k: L.LinearOperatorLowRankUpdate(definite, [[1.], [2.]], [3.], is_diag_update_positive=True, **k)",
    "lambda **k: L.LinearOperatorLowRankUpdate(rotation, [[1.], [2.]], v=[[1.], [0.]], **k)",
]
GROUP.family("flags({make})", make=MAKERS)
GROUP.family("pairs({make})", make=MAKERS)
SIDES = [
    "definite",
    "rotation",
    "DIAG([1., -2.])",
    "L.LinearOperatorIdentity(2)",
    "FULL(A)",
    "L.LinearOperatorZeros(2)",
]
GROUP.family("said(lambda: {left} @ {right}, {{}})", left=SIDES, right=SIDES)
GROUP.family("said({side}.{part}, {{}})", side=SIDES[:-1], part=["adjoint", "inverse", "cholesky"])
