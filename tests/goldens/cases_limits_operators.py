"""Linear operators at the limits of what they take: hints, blocks, batches, slices, products of two operators."""

from goldens.case import AT_LIMITS, Group

GROUP = Group(
    AT_LIMITS
    + """
L = tf.linalg
def waves(*shape, dtype=tf.float32):
    return tf.cast(3 * np.sin(0.7 * np.arange(np.prod(shape)) ** 1.1).reshape(shape), dtype)
def full(n, *batch):
    return waves(*batch, n, n) + 4 * tf.eye(n)
def definite(n, *batch):
    x = waves(*batch, n, n)
    return tf.matmul(x, x, transpose_b=True) + tf.eye(n)
SURE = dict(is_self_adjoint=True, is_positive_definite=True)
A = L.LinearOperatorFullMatrix(full(3))
B = L.LinearOperatorFullMatrix(full(2, 2))
S = L.LinearOperatorFullMatrix(definite(3), **SURE)
W = L.LinearOperatorFullMatrix(waves(2, 3))
D = L.LinearOperatorDiag([1.0, -2.0, 3.0])
E = L.LinearOperatorDiag(waves(2, 3) + 5.0, is_positive_definite=True)
T = L.LinearOperatorLowerTriangular(full(3))
I = L.LinearOperatorIdentity(3)
C = L.LinearOperatorScaledIdentity(3, 2.0)
Z = L.LinearOperatorZeros(3)
K = L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(full(2)), L.LinearOperatorDiag([1.0, 2.0])])
P = L.LinearOperatorComposition([A, D])
Q = L.LinearOperatorBlockDiag([A, B])
M = L.LinearOperatorBlockLowerTriangular([[A], [W, L.LinearOperatorFullMatrix(full(2))]])
H = L.LinearOperatorHouseholder([1.0, 2.0, 2.0])
R3 = L.LinearOperatorPermutation([2, 0, 1])
O = L.LinearOperatorToeplitz([1.0, 2.0, 3.0], [1.0, -4.0, 5.0])
U = L.LinearOperatorLowRankUpdate(E, waves(3, 2), [1.0, 2.0])
G = L.LinearOperatorTridiag(waves(3, 3), 'compact')
V = L.LinearOperatorCirculant([4.0, 1.0, 1.0], input_output_dtype=tf.float32)
def text(o):
    return type(o).__name__, o.is_self_adjoint, o.is_positive_definite, o.is_non_singular, o.is_square
def facts(o):
    return text(o), o.shape, o.shape_tensor(), o.to_dense()
def sides(o, *batch):
    return waves(*batch, o.shape[-1], 2)
"""
)
OPERATORS = "A B S W D E T I C Z K P Q M H R3 O U G V"
SQUARE = "A B S D E T I C K P Q M H R3 O U G V"
LOOSE = {"rtol": 1e-3, "atol": 1e-3, "because": "sums of products and solutions in another order"}
GROUP.family("facts({o})", o=OPERATORS, **LOOSE)
GROUP.family("{o}.matmul(sides({o}))", o=OPERATORS, **LOOSE)
GROUP.family("{o}.matmul(sides({o}.adjoint()), adjoint=True)", o=OPERATORS, **LOOSE)
GROUP.family("{o}.matmul(tf.transpose(sides({o})), adjoint_arg=True)", o=OPERATORS, **LOOSE)
GROUP.family("{o}.matvec(waves({o}.shape[-1]))", o=OPERATORS, **LOOSE)
GROUP.family("{o}.diag_part(), {o}.tensor_rank, {o}.batch_shape, int({o}.domain_dimension)", o=OPERATORS, **LOOSE)
GROUP.family("{o}.solve(sides({o}))", o=SQUARE, **LOOSE)
GROUP.family("{o}.solve(sides({o}), adjoint=True)", o=SQUARE, **LOOSE)
GROUP.family("{o}.solvevec(waves({o}.shape[-1]))", o=SQUARE, **LOOSE)
GROUP.family("{o}.determinant(), {o}.log_abs_determinant(), {o}.trace()", o=SQUARE, **LOOSE)
GROUP.family("facts({o}.adjoint())", o=OPERATORS, **LOOSE)
GROUP.family("facts({o}.inverse())", o=SQUARE, **LOOSE)
GROUP.family("{o}.add_to_tensor(waves({o}.shape[-2], {o}.shape[-1]))", o=OPERATORS.replace("E ", ""), **LOOSE)
GROUP.family("facts({o}.matmul({p}))", o="A S D T I C Z R3 O", p="A D T I C Z V", **LOOSE)
GROUP.family("facts({o}.solve({p}))", o="A S D T I C", p="A D T I C V", **LOOSE)
GROUP.values("""
facts(S.cholesky())
facts(E.cholesky())
facts(L.LinearOperatorIdentity(3).cholesky())
facts(L.LinearOperatorScaledIdentity(3, 4.0, **SURE).cholesky())
facts(L.LinearOperatorBlockDiag([S, L.LinearOperatorDiag([4.0, 9.0], **SURE)]).cholesky())
facts(L.LinearOperatorKronecker([S, L.LinearOperatorDiag([4.0, 9.0], **SURE)], **SURE).cholesky())
facts(L.LinearOperatorComposition([T, T.adjoint()], **SURE).cholesky())
facts(L.LinearOperatorComposition([S, S], **SURE).cholesky())
facts(L.LinearOperatorLowerTriangular(definite(3), **SURE).cholesky())
tf.sort(S.eigvals())
tf.sort(E.eigvals())
tf.sort(I.eigvals())
tf.sort(L.LinearOperatorBlockDiag([S, L.LinearOperatorDiag([4.0, 9.0])], is_self_adjoint=True).eigvals())
tf.sort(L.LinearOperatorKronecker([S, L.LinearOperatorDiag([4.0, 9.0])], is_self_adjoint=True).eigvals())
S.cond()
D.cond()
C.cond()
A.cond()
facts(B[1])
facts(B[0:1])
facts(B[..., tf.newaxis])
facts(E[1])
facts(E[::-1])
U[1].to_dense()
facts(V.matmul(A))
facts(L.LinearOperatorCirculant([4.0, 1.0, 1.0]).matmul(L.LinearOperatorCirculant([2.0, 3.0, 1.0])))
facts(L.LinearOperatorScaledIdentity(3, [2.0, 3.0])[1])
facts(L.LinearOperatorIdentity(3, [2, 1])[1])
facts(L.LinearOperatorZeros(3, batch_shape=[2])[0])
facts(L.LinearOperatorBlockDiag([B, E])[1])
facts(L.LinearOperatorComposition([L.LinearOperatorFullMatrix(full(3, 2)), E])[1])
[x for x in M.matmul([sides(A), waves(2, 2)])]
[x for x in Q.matmul([sides(A), waves(2, 2)])]
[x for x in Q.matmul([waves(2, 3), waves(2, 2)], adjoint_arg=True)]
[x for x in Q.matvec([waves(3), waves(2)])]
[x for x in M.matvec([waves(3), waves(2)])]
[x for x in M.matmul([waves(3, 2), waves(2, 2)], adjoint=True)]
[x for x in M.solve([waves(3, 2), waves(2, 2)])]
[x for x in M.solve([waves(3, 2), waves(2, 2)], adjoint=True)]
[x for x in Q.solve([waves(3, 2), waves(2, 2)])]
[x for x in M.solvevec([waves(3), waves(2)])]
[x for x in Q.solvevec([waves(3), waves(2)], adjoint=True)]
facts(L.LinearOperatorBlockLowerTriangular([[S], [W, L.LinearOperatorDiag([1.0, 2.0])]]).inverse())
U.base_operator.to_dense(), U.u, U.v, U.diag_update, U.diag_operator.to_dense(), U.is_diag_update_positive
L.LinearOperatorLowRankUpdate(E, waves(3, 2), None, waves(3, 2) + 1).to_dense()
L.LinearOperatorLowRankUpdate(D, waves(3, 1), [-2.0], is_diag_update_positive=False).to_dense()
L.LinearOperatorLowRankUpdate(D, waves(3, 1), [-2.0], is_diag_update_positive=False).is_diag_update_positive
C.multiplier, I.tensor_rank_tensor(), B.batch_shape_tensor(), W.range_dimension_tensor(), W.domain_dimension_tensor()
A.assert_non_singular() is None, S.assert_positive_definite() is None, S.assert_self_adjoint() is None
D.assert_non_singular() is None, Z.assert_self_adjoint() is None, E.assert_positive_definite() is None
waves(2, 3) @ A
A @ waves(3, 2)
A @ D.to_dense()
facts(A @ D)
facts(L.LinearOperatorAdjoint(W))
facts(L.LinearOperatorInversion(A))
facts(L.LinearOperatorIdentity(2, batch_shape=[2]))
facts(L.LinearOperatorZeros(2, 3, [2], is_square=False, is_self_adjoint=False))
facts(L.LinearOperatorIdentity(2, dtype=tf.complex64))
facts(L.LinearOperatorDiag(tf.complex([1.0, 2.0], [3.0, 4.0])).adjoint())
L.LinearOperatorIdentity(2, batch_shape=[2]).matmul(waves(2, 3))
L.LinearOperatorScaledIdentity(2, [2.0, 3.0]).determinant()
sized(lambda n, x: L.LinearOperatorIdentity(n, batch_shape=[2]).matmul(x), 3, waves(3, 2))
sized(lambda x, y: L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(x)] * 2).matmul(y), full(2), waves(4, 2))
sized(lambda x: L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(x), A]).to_dense(), full(2, 2))
sized(lambda x: L.LinearOperatorFullMatrix(x).shape_tensor(), full(2, 2))
sized(lambda x, y: L.LinearOperatorComposition([L.LinearOperatorFullMatrix(x), A]).matmul(y), full(3), waves(3, 2))
grad(lambda x: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(x), waves(3, 1)).determinant(), [3.0, 4.0, 5.0])
grad(lambda x: L.LinearOperatorDiag(x).solvevec([1.0, 2.0, 3.0]) ** 2, [3.0, 4.0, 5.0])
L.LinearOperatorCirculant([4.0, 1.0, 1.0]).spectrum, V.block_depth, V.block_shape, V.convolution_kernel()
L.LinearOperatorCirculant2D([[4.0, 1.0], [2.0, 3.0]]).to_dense()
L.LinearOperatorCirculant3D(waves(1, 2, 2)).matvec(tf.cast(waves(4), tf.complex64))
L.LinearOperatorTridiag([waves(3), waves(3) + 5, waves(3)], 'sequence').solve(waves(3, 2))
L.LinearOperatorTridiag(full(3), 'matrix').to_dense()
facts(L.LinearOperatorPermutation([1, 0, 2], dtype=tf.float64))
H.reflection_axis, R3.perm, O.col, O.row, G.diagonals, T.to_dense(), D.diag
str(L.LinearOperatorFullMatrix(full(2), name='own').name)
""", **LOOSE)  # fmt: skip
GROUP.errors("""
L.LinearOperatorDiag(1.0)
L.LinearOperatorDiag([1.0, 2.0], is_self_adjoint=False)
L.LinearOperatorDiag([1.0, 2.0], is_square=False)
L.LinearOperatorFullMatrix(waves(3))
L.LinearOperatorFullMatrix(full(3), is_square=False, is_positive_definite=True)
L.LinearOperatorFullMatrix(full(3), is_non_singular=False, is_positive_definite=True)
L.LinearOperatorIdentity(-1)
L.LinearOperatorIdentity([2])
L.LinearOperatorIdentity(2.0)
L.LinearOperatorIdentity(2, is_self_adjoint=False)
L.LinearOperatorIdentity(2, is_positive_definite=False)
L.LinearOperatorIdentity(2, batch_shape=2)
L.LinearOperatorIdentity(2, batch_shape=[-1])
L.LinearOperatorScaledIdentity(-1, 2.0)
L.LinearOperatorZeros(2, is_non_singular=True)
L.LinearOperatorZeros(2, 3)
L.LinearOperatorZeros(2, -3)
L.LinearOperatorBlockDiag([])
L.LinearOperatorBlockDiag([A, L.LinearOperatorDiag(tf.constant([1.0], tf.float64))])
L.LinearOperatorBlockDiag([A, B], is_non_singular=False, is_positive_definite=True)
L.LinearOperatorBlockLowerTriangular([])
L.LinearOperatorBlockLowerTriangular([[A], [W]])
L.LinearOperatorBlockLowerTriangular([[A], [W, L.LinearOperatorFullMatrix(full(4))]])
L.LinearOperatorBlockLowerTriangular([[W]])
L.LinearOperatorComposition([])
L.LinearOperatorComposition([A, L.LinearOperatorDiag(tf.constant([1.0] * 3, tf.float64))])
L.LinearOperatorKronecker([])
L.LinearOperatorLowRankUpdate(A, waves(2, 1))
L.LinearOperatorLowRankUpdate(D, waves(3, 2), [1.0])
L.LinearOperatorPermutation([0, 0])
L.LinearOperatorPermutation([0.0, 1.0])
L.LinearOperatorToeplitz([1.0, 2.0], [1.0, 2.0, 3.0]).to_dense()
L.LinearOperatorTridiag(waves(2, 3), 'compact').to_dense()
L.LinearOperatorTridiag(waves(3, 3), 'rows')
L.LinearOperatorCirculant(1.0)
L.LinearOperatorCirculant2D([1.0, 2.0])
L.LinearOperatorHouseholder(1.0)
A.matmul(waves(2, 2))
A.matmul(waves(3))
A.matvec(waves(2))
A.matmul(W)
A.solve(waves(2, 2))
A.solvevec(waves(2))
W.solve(waves(2, 2))
W.determinant()
W.inverse()
W.cholesky()
A.cholesky()
A.eigvals()
Z.solve(waves(3, 2))
Z.inverse()
Z.determinant() + 'a'
D.assert_positive_definite()
L.LinearOperatorDiag([1.0, 0.0]).assert_non_singular()
L.LinearOperatorFullMatrix(waves(3, 3)).assert_self_adjoint()
L.LinearOperatorScaledIdentity(3, 0.0).assert_non_singular()
L.LinearOperatorScaledIdentity(3, -1.0).assert_positive_definite()
Z.assert_positive_definite()
Z.assert_non_singular()
Q.matmul([sides(A), waves(3, 2)])
Q.matmul([sides(A)])
Q.matmul([[[1.0]] * 3, [[1.0]] * 3])
Q.matvec([waves(3), waves(3)])
M.solve([waves(2, 2), waves(2, 2)])
B[0, 0]
B[2]
A[0]
L.matmul(waves(2, 2), A)
L.matmul(A, waves(3, 2), a_is_sparse=True)
L.solve(waves(3, 2), A)
L.cholesky(A)
A @ 3.0
L.inv(W)
L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag([1.0, 2.0], is_non_singular=False), waves(2, 1)).solve(waves(2, 1))
""")
