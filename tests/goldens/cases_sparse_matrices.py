"""Sparse matrices in compressed rows: raw ops on variants that hold them."""

from goldens.case import Group

GROUP = Group("""
R = tf.raw_ops
def csr(indices, values, shape):
    return R.SparseTensorToCSRSparseMatrix(indices=tf.constant(indices, tf.int64), values=tf.convert_to_tensor(values),
                                           dense_shape=tf.constant(shape, tf.int64))
k = tf.constant([[1j, 2. + 1j]], tf.complex128)
def dense(matrix, dtype=tf.float32):
    return R.CSRSparseMatrixToDense(sparse_input=matrix, type=dtype)
def sparse(matrix):
    return R.CSRSparseMatrixToSparseTensor(sparse_matrix=matrix, type=tf.float32)
m = csr([[0, 1], [2, 0]], [1., 2.], [3, 2])
b = csr([[0, 0, 1], [0, 2, 0], [1, 1, 1]], [1., 2., 3.], [2, 3, 2])
z = csr([[0, 0], [1, 0]], [1 + 2j, 3 - 1j], [2, 2])
s = csr([[0, 0], [1, 0], [1, 1], [2, 2]], [4., 1., 3., 5.], [3, 3])
row, column = csr([[0, 0], [0, 1]], [1., 1.], [2, 2]), csr([[0, 0], [1, 0]], [1., -1.], [2, 2])
indefinite = csr([[0, 0], [1, 0], [1, 1]], [-4., 1., 3.], [2, 2])
def gradient(function, *values):
    def gradients(*values):  # in one function: TensorFlow has zeros of these variants in graphs alone
        return tf.gradients(function(*values), values)
    return tf.function(gradients, autograph=False)(*[tf.constant(v) for v in values])
def made(v):
    return csr([[0, 1], [2, 0]], v, [3, 2])
def picked(d):
    return R.DenseToCSRSparseMatrix(dense_input=d, indices=[[0, 0], [1, 1]])
def product(v, d, **flags):
    return tf.reduce_sum(R.SparseMatrixMatMul(a=made(v), b=d, **flags)**3)
def sparse_product(v, w, **flags):
    return tf.reduce_sum(dense(R.SparseMatrixSparseMatMul(a=made(v), b=made(w), type=tf.float32, **flags))**3)
""")

GROUP.values("""
dense(m)
dense(b)
sparse(m)
sparse(b)
sparse(csr([[0,1],[0,1]],[1.,2.],[3,2]))
dense(csr(tf.zeros([0,2],tf.int64),tf.zeros([0]),[2,3]))
sparse(csr(tf.zeros([0,2],tf.int64),tf.zeros([0]),[2,3]))
R.SparseMatrixNNZ(sparse_matrix=m)
R.SparseMatrixNNZ(sparse_matrix=b)
R.CSRSparseMatrixComponents(csr_sparse_matrix=m,index=0,type=tf.float32)
R.CSRSparseMatrixComponents(csr_sparse_matrix=b,index=1,type=tf.float32)
sparse(R.DenseToCSRSparseMatrix(dense_input=[[1.,0.],[3.,4.]],indices=[[0,0],[0,1],[1,1]]))
dense(R.DenseToCSRSparseMatrix(dense_input=[[[1.,0.],[3.,4.]]],indices=[[0,0,0],[0,1,1]]))
sparse(R.SparseMatrixTranspose(input=m,type=tf.float32))
sparse(R.SparseMatrixTranspose(input=b,type=tf.float32))
dense(R.SparseMatrixTranspose(input=z,conjugate=True,type=tf.complex128),tf.complex128)
dense(tf.math.conj(z),tf.complex128)
R.SparseMatrixMatMul(a=m,b=[[1.,2.],[3.,4.]])
R.SparseMatrixMatMul(a=m,b=[[1.,2.,3.],[4.,5.,6.]],transpose_a=True,transpose_b=True)
R.SparseMatrixMatMul(a=m,b=[[1.,2.],[3.,4.]],transpose_output=True)
R.SparseMatrixMatMul(a=b,b=[[[1.],[2.]],[[3.],[4.]]])
R.SparseMatrixMatMul(a=z,b=tf.constant([[1j],[2.+1j]],tf.complex128),adjoint_a=True)
R.SparseMatrixMatMul(a=z,b=k,adjoint_b=True,transpose_output=True,conjugate_output=True)
sparse(R.SparseMatrixSparseMatMul(a=m,b=csr([[0,0],[1,1]],[5.,6.],[2,2]),type=tf.float32))
sparse(R.SparseMatrixSparseMatMul(a=b,b=b,transpose_a=True,type=tf.float32))
sparse(R.SparseMatrixSparseMatMul(a=m,b=m,adjoint_b=True,type=tf.float32))
sparse(R.SparseMatrixSparseMatMul(a=row,b=column,type=tf.float32))
R.SparseMatrixOrderingAMD(input=csr([[0,0],[0,1],[1,0],[1,1],[2,2]],[4.,1.,1.,3.,5.],[3,3]))
dense(R.SparseMatrixSparseCholesky(input=s,permutation=[0,1,2],type=tf.float32))
dense(R.SparseMatrixSparseCholesky(input=s,permutation=[2,0,1],type=tf.float32))
gradient(lambda v: tf.reduce_sum(dense(made(v))**3), [1.,2.])
gradient(lambda v: tf.reduce_sum(sparse(made(v)).values**3), [1.,2.])
gradient(lambda v: tf.reduce_sum(dense(R.SparseMatrixTranspose(input=made(v),type=tf.float32))**3), [1.,2.])
gradient(lambda d: tf.reduce_sum(dense(picked(d))**3), [[1.,2.],[3.,4.]])
gradient(product, [1.,2.], [[1.,2.],[3.,4.]])
gradient(lambda v, d: product(v,d,transpose_a=True,transpose_b=True), [1.,2.], [[1.,2.,3.]])
gradient(lambda v, w: sparse_product(v,w,transpose_a=True), [1.,2.], [3.,4.])
gradient(lambda v, w: sparse_product(v,w,adjoint_b=True), [1.,2.], [3.,4.])
""")

GROUP.errors("""
dense(m,tf.float64)
sparse(z)
csr([[0,5]],[1.],[3,2])
csr([[1]],[1.],[3])
csr([[0,0]],[1],[3,2])
R.CSRSparseMatrixComponents(csr_sparse_matrix=b,index=2,type=tf.float32)
R.CSRSparseMatrixComponents(csr_sparse_matrix=b,index=0,type=tf.float64)
R.DenseToCSRSparseMatrix(dense_input=[[1.]],indices=[[0,7]])
R.DenseToCSRSparseMatrix(dense_input=[1.],indices=[[0]])
R.SparseMatrixTranspose(input=m,type=tf.float64)
R.SparseMatrixMatMul(a=m,b=tf.ones([3,4]))
R.SparseMatrixMatMul(a=m,b=tf.ones([2,4]),transpose_a=True,adjoint_a=True)
R.SparseMatrixMatMul(a=m,b=tf.ones([1,2,4]))
R.SparseMatrixMatMul(a=b,b=tf.ones([1,2,4]))
R.SparseMatrixMatMul(a=m,b=tf.ones([2,4],tf.float64))
R.SparseMatrixSparseMatMul(a=m,b=m,type=tf.float32)
R.SparseMatrixSparseMatMul(a=m,b=m,transpose_b=True,type=tf.float64)
R.SparseMatrixSparseCholesky(input=m,permutation=[0,1],type=tf.float32)
R.SparseMatrixSparseCholesky(input=indefinite,permutation=[0,1],type=tf.float32)
R.SparseMatrixNNZ(sparse_matrix=1.)
""")
