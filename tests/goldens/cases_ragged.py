"""Ragged tensors: `tf.RaggedTensor` and `tf.ragged`."""

from goldens.case import Group

GROUP = Group("""
RT, C, R = tf.RaggedTensor, tf.ragged.constant, tf.ragged
a, b = C([[1, 2], [], [3]]), C([[10, 20], [], [30]])
f = C([[1.5, 2.0], [], [3.25]])
n = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
nf = C([[[1., 2.], [3.]], [], [[4., 5., 6.], []]])
s = C([['a', 'bb'], ['c']])
bo = C([[True, False], [], [True]])
u = RT.from_row_splits([[1, 2], [3, 4], [5, 6]], [0, 2, 3])
i32 = C([[1, 2], [3]], row_splits_dtype=tf.int32)
un = RT.from_uniform_row_length(a, 3)
d = tf.constant([[1, 2], [3, 4]])
""")

# Making them, looking at them, indexing them.

GROUP.values("""
a
str(a)
f
n
s
u
C([])
C([[]])
C([[],[]])
C([[1.123456789,2.],[1e10]])
C([[True],[False,True]])
C([['a'*50]*5,['b'*30]*3])
C([[1+2j],[]])
RT.from_row_splits(np.ones([5,2,2]),[0,2,5])
C([[[[1]]]])
C(5)
C('abc')
C([1,2])
C([[1,2],[3,4]])
C([[1,2],[3,4]],ragged_rank=0)
C([[[1,2],[3,4]],[[5,6]]],ragged_rank=1)
C([[[1,2],[3,4]],[[5,6]]],inner_shape=(2,))
C([[[1,2],[3,4]],[[5,6]]],inner_shape=(2,)).shape
C([[1,2],[3]],dtype=tf.float32)
C([],ragged_rank=1)
C([[]],dtype=tf.int32)
C([[],[]]).dtype
C([[1,2.5]]).dtype
C([[2**40]]).dtype
C([[1,2],[3]],row_splits_dtype=tf.int32).row_splits
C([[1,2],[3]],row_splits_dtype='int64').row_splits.dtype
C(np.array([[1,2],[3,4]]))
C([np.array([1,2]),np.array([3])])
C([np.array([1,2]),[3]])
C(((1,2),(3,)))
RT.from_row_splits([1,2,3],[0,2,3])
RT.from_row_splits([1,2,3],[0,2,2,3]).shape
RT.from_row_splits([1,2,3],[0,2,4],validate=False)
RT.from_row_splits([1,2,3],tf.constant([0,2,3]))
RT.from_row_splits([1,2,3],tf.constant([0,2,3])).row_splits.dtype
RT.from_row_splits([1,2,3],[0,2,3]).row_splits.dtype
RT.from_row_lengths([1,2,3],[2,0,1])
RT.from_row_starts([1,2,3],[0,2,2])
RT.from_row_limits([1,2,3],[2,2,3])
RT.from_value_rowids([1,2,3],[0,0,2])
RT.from_value_rowids([1,2,3],[0,0,2],nrows=5)
RT.from_value_rowids([],[],nrows=2)
RT.from_uniform_row_length([1,2,3,4],2)
RT.from_uniform_row_length([1,2,3,4],2).shape
RT.from_uniform_row_length([],0,nrows=3)
RT.from_uniform_row_length([],0)
RT.from_uniform_row_length(a,3)
RT.from_uniform_row_length(a,3).shape
RT.from_nested_row_splits([1,2,3,4],[[0,1,2],[0,2,4]])
RT.from_nested_row_lengths([1,2,3,4],[[1,1],[2,2]])
RT.from_nested_value_rowids([1,2,3,4],[[0,1],[0,0,1,1]])
RT.from_nested_value_rowids([1,2,3,4],[[0,1],[0,0,1,1]],nested_nrows=[3,2])
RT.from_tensor([[1,2],[3,4]])
RT.from_tensor([[1,2],[3,4]]).shape
RT.from_tensor([[1,0],[3,4]],lengths=[1,2])
RT.from_tensor([[1,0],[3,4]],lengths=[1,5])
RT.from_tensor([[1,0,0],[3,0,4]],padding=0)
RT.from_tensor(tf.reshape(tf.range(12),[2,3,2]),ragged_rank=2)
RT.from_tensor(tf.reshape(tf.range(12),[2,3,2]),ragged_rank=1).shape
RT.from_tensor(tf.reshape(tf.range(12),[2,3,2]),padding=0,ragged_rank=2)
RT.from_tensor([[1,2]],row_splits_dtype=tf.int32).row_splits
RT.from_tensor([['a',''],['b','c']],padding='')
RT.from_sparse(tf.SparseTensor([[0,0],[0,1],[2,0]],[1,2,3],[3,3]))
a.shape
n.shape
u.shape
a.get_shape()
a.dtype
a.ragged_rank
n.ragged_rank
a.values
n.values
n.flat_values
a.row_splits
a.row_lengths()
n.row_lengths()
n.row_lengths(axis=1)
n.row_lengths(axis=2)
n.row_lengths(axis=0)
u.row_lengths(axis=2)
a.value_rowids()
a.row_starts()
a.row_limits()
a.nrows()
a.nrows(out_type=tf.int32)
a.uniform_row_length
un.uniform_row_length
RT.from_uniform_row_length([1,2,3,4],2).uniform_row_length
n.nested_row_splits
n.nested_row_lengths()
n.nested_value_rowids()
a.bounding_shape()
n.bounding_shape()
n.bounding_shape(axis=1)
n.bounding_shape(axis=[0,2])
u.bounding_shape(out_type=tf.int32)
a.to_list()
n.to_list()
s.to_list()
u.to_list()
a.to_tensor()
a.to_tensor(9)
a.to_tensor(shape=[None,1])
a.to_tensor(shape=[5,4])
a.to_tensor(default_value=-1,shape=[2,None])
n.to_tensor()
n.to_tensor(shape=[None,None,2])
u.to_tensor()
u.to_tensor([7,8])
s.to_tensor()
s.to_tensor('-')
un.to_tensor()
a.to_sparse()
n.to_sparse()
u.to_sparse()
s.to_sparse()
a.with_values([7,8,9])
n.with_flat_values([7,8,9,1,2,3])
a.with_row_splits_dtype(tf.int32).row_splits
i32.with_row_splits_dtype(tf.int64).row_splits
n.merge_dims(0,1)
n.merge_dims(1,2)
n.merge_dims(0,2)
n.merge_dims(-2,-1)
u.merge_dims(1,2)
u.merge_dims(0,1)
a[0]
a[1]
a[-1]
a[0,1]
a[0:2]
a[1:]
a[::-1]
a[::2]
a[5:]
a[:,:1]
a[:,1:]
a[:,-1:]
a[:,::-1]
a[:,:-1]
a[...]
a[...,:1]
a[tf.newaxis]
a[:,tf.newaxis]
a[:,:,tf.newaxis]
a[tf.newaxis].shape
n[0]
n[0,1]
n[0,1,0]
n[:,:1]
n[:,:,:1]
n[...,:1]
n[0,:,:1]
n[2,0,1:]
n[1:,...]
u[0]
u[:,:,0]
u[:,:,0:1]
u[...,0]
u[0,0,0]
un[:,0]
un[0,0]
un[:,0:2]
a[tf.constant(0)]
a[tf.constant(1):]
a[[0,1]]
a[np.int64(0)]
list(a)
""")

GROUP.errors("""
C([[1,2],3])
C([[1],['a']])
C([[1,2],[3,4]],ragged_rank=2)
C([[[1,2],[3,4]],[[5]]],ragged_rank=1)
C([[1,2],[3]],inner_shape=(2,))
C([[1,2],[3]],dtype=tf.string)
C([[1.5]],dtype=tf.int32)
RT.from_row_splits([1,2,3],[1,2,3])
RT.from_row_splits([1,2,3],[0,2,4])
RT.from_row_splits([1,2,3],[0,2])
RT.from_row_splits([1,2,3],[0,2,1,3])
RT.from_row_splits([1,2,3],[])
RT.from_row_splits([1,2,3],[0.,3.])
RT.from_row_splits(5,[0,1])
RT.from_row_lengths([1,2,3],[2,0,2])
RT.from_row_lengths([1,2,3],[2,-1,2])
RT.from_row_starts([1,2,3],[1,2])
RT.from_row_limits([1,2,3],[2,2])
RT.from_value_rowids([1,2,3],[0,0,2],nrows=2)
RT.from_value_rowids([1,2,3],[0,2,1])
RT.from_value_rowids([1,2,3],[0,2])
RT.from_value_rowids([1,2,3],[-1,0,2])
RT.from_uniform_row_length([1,2,3,4],3)
RT.from_uniform_row_length([1,2,3,4],-1)
RT.from_nested_row_splits([1],[0,1])
RT.from_tensor([[1,0,0],[3,0,4]],padding=0.)
RT.from_tensor([1,2])
RT.from_tensor([[1,2]],ragged_rank=2)
RT.from_tensor([[1,2]],ragged_rank=0)
RT.from_tensor([[1,2]],lengths=[1],padding=0)
RT.from_sparse(tf.SparseTensor([[0,1]],[1],[3,3]))
RT.from_sparse(tf.SparseTensor([[0]],[1],[3]))
n.row_lengths(axis=3)
a.to_tensor(1.5)
a.to_tensor(shape=[2])
a.to_tensor(default_value=[1,2])
a.with_values([7,8])
n.with_flat_values([7])
n.merge_dims(0,5)
a[5]
a[0,5]
a[1,0]
a[:,0]
u[:,0]
a['a']
a[1.5]
a[0,0,0]
len(a)
bool(a)
""")

# What ops give for them.

GROUP.values("""
a+1
1+a
a+a
a+b
a-b
a*2
a*b
a/2
a/b
f/2.
a//2
a%2
a**2
2**a
2-a
10//C([[1,2],[3]])
-a
abs(-a)
a>1
a>=b
a<b
a==b
a==1
a!=a
bo & bo
bo | bo
bo ^ bo
~bo
a+tf.constant([[10],[20],[30]])
a+[[10],[20],[30]]
a+tf.constant([10])
tf.constant([[10],[20],[30]])+a
u+tf.constant([[[1,2]],[[3,4]]])
u*u
n+[[[10]],[[20]],[[30]]]
n+C([[[10],[20]],[],[[30],[40]]],inner_shape=(1,))
a+tf.Variable(5)
tf.add(a,b)
tf.exp(f)
tf.square(a)
tf.sqrt(f)
tf.cast(a,tf.float32)
tf.abs(a)
tf.nn.relu(f-2)
tf.maximum(a,2)
tf.minimum(a,b)
tf.math.equal(a,b)
tf.logical_and(bo,bo)
tf.logical_not(bo)
tf.clip_by_value(f,1.,2.)
tf.where(bo,a,b)
tf.where(bo,a,0)
tf.zeros_like(a)
tf.ones_like(f)
tf.identity(a)
tf.stop_gradient(a)
tf.strings.length(s)
tf.strings.upper(s)
tf.strings.join([s,s])
tf.strings.join([s,'-',s],separator='+')
tf.strings.substr(s,0,1)
tf.strings.to_number(C([['1','2'],['3']]))
tf.strings.as_string(a)
tf.reduce_sum(a)
tf.reduce_sum(a,0)
tf.reduce_sum(a,1)
tf.reduce_sum(a,axis=-1)
tf.reduce_sum(a,axis=1,keepdims=True)
tf.reduce_sum(a,axis=0,keepdims=True)
tf.reduce_sum(a,axis=[0,1])
tf.reduce_sum(n,0)
tf.reduce_sum(n,1)
tf.reduce_sum(n,2)
tf.reduce_sum(n,[1,2])
tf.reduce_sum(n,[0,2])
tf.reduce_sum(n,2,keepdims=True)
tf.reduce_sum(u,1)
tf.reduce_sum(u,2)
tf.reduce_sum(u,0)
tf.reduce_mean(f,1)
tf.reduce_mean(f,0)
tf.reduce_mean(f)
tf.reduce_mean(a,1)
tf.reduce_mean(nf,2)
tf.reduce_max(a,1)
tf.reduce_max(f,1)
tf.reduce_min(a,0)
tf.reduce_prod(a,1)
tf.reduce_any(bo,1)
tf.reduce_all(bo,1)
tf.reduce_all(bo,0)
tf.reduce_any(bo)
tf.concat([a,b],0)
tf.concat([a,b],1)
tf.concat([a,b],-1)
tf.concat([a,[[7],[8],[9]]],1)
tf.concat([a,tf.constant([[7,7]])],0)
tf.concat([n,n],2)
tf.concat([n,n],1)
tf.concat([a],0)
tf.concat([u,u],2)
tf.stack([a,b])
tf.stack([a,b],1)
tf.stack([a,b],2)
tf.stack([a,C([[1]])],0)
R.stack([[1,2],[3]])
R.stack([tf.constant([1,2]),tf.constant([3,4])],axis=1)
R.stack([a,b])
R.stack([a,[[1]]])
R.stack([1,2])
tf.expand_dims(a,0)
tf.expand_dims(a,1)
tf.expand_dims(a,2)
tf.expand_dims(a,-1)
tf.gather(a,[2,0])
tf.gather(a,0)
tf.gather(a,[[0],[2]])
tf.gather([10,20,30],C([[0,2],[1]]))
tf.gather(a,C([[0,2],[1]]))
tf.gather(C([[1,2],[3,4,5]]),[0,1],axis=1)
tf.gather(C([[1,2],[3,4,5]]),[[0,1],[2,2]],batch_dims=1)
tf.gather(C([[1,2],[3,4,5]]),C([[0],[2,2]]),batch_dims=1)
tf.gather_nd(a,[[0,1],[2,0]])
tf.size(a)
tf.size(a,out_type=tf.int64)
tf.rank(n)
tf.tile(a,[1,2])
tf.tile(a,[2,1])
tf.reverse(a,[1])
tf.reverse(a,[0])
tf.reverse(a,[0,1])
tf.squeeze(tf.expand_dims(a,1),1)
tf.one_hot(C([[0,1],[2]]),3)
tf.nn.softmax(f)
tf.nn.embedding_lookup(tf.constant([[1.,2.],[3.,4.]]),C([[0,1],[1]]))
R.boolean_mask(a,bo)
R.boolean_mask(a,[True,False,True])
R.boolean_mask([[1,2],[3,4]],[[True,False],[True,True]])
R.boolean_mask([[1,2],[3,4]],[True,False])
R.boolean_mask(n,C([[True,False],[],[False,True]]))
R.boolean_mask(n,C([[[True,False],[True]],[],[[False,True,True],[]]]))
R.map_flat_values(tf.add,a,b)
R.map_flat_values(tf.add,a,10)
R.map_flat_values(tf.add,1,2)
R.range([3,0,2])
R.range([1,5],[4,7])
R.range(0,[3,2],2)
R.range(3)
R.range([1.5,2.])
R.range([5,0],[0,3],[-2,1])
R.range([3],row_splits_dtype=tf.int32).row_splits
R.range([3],dtype=tf.float32)
R.row_splits_to_segment_ids([0,3,3,5])
R.row_splits_to_segment_ids([0,3,3,5],out_type=tf.int32)
R.segment_ids_to_row_splits([0,0,2])
R.segment_ids_to_row_splits(tf.constant([0,0,2]))
R.segment_ids_to_row_splits([0,0,2],num_segments=5)
R.stack_dynamic_partitions(['a','b','c'],[1,0,1],2)
R.stack_dynamic_partitions(['a','b','c'],[1,0,1],4)
R.cross([C([['a'],['b','c']]),C([['d'],['e']])])
R.cross([C([['a'],['b','c']]),tf.constant([['d'],['e']])])
R.cross_hashed([C([['a'],['b','c']]),C([['d'],['e']])],num_buckets=100)
tf.ragged_fill_empty_rows(tf.constant([1,1],tf.int64),[5,7],3,0)
tf.ragged_fill_empty_rows_grad([1],[2.,3.])
tf.map_fn(tf.reduce_sum,a,fn_output_signature=tf.int32)
tf.map_fn(lambda x: x*2,a)
tf.nest.flatten(a,expand_composites=True)
tf.nest.map_structure(lambda x: x+1 if x.dtype==tf.int32 else x,a,expand_composites=True)
tf.is_tensor(a)
tf.reshape(a,[-1])
tf.bincount(a) if hasattr(tf,'bincount') else tf.math.bincount(a)
tf.math.bincount(a,axis=-1)
tf.sparse.from_dense(a.to_tensor())
a.to_tensor().shape
tf.type_spec_from_value(u)
""")

GROUP.errors("""
a+C([[1],[2]])
a+C([[1,2],[3],[4]])
a+tf.constant([10,20])
a+tf.constant([[1,2],[3,4],[5,6]])
n+a
a+1.5
f+a
tf.reduce_sum(a,axis=2)
tf.concat([a,b],2)
tf.concat([a,C([[1]])],1)
R.stack([tf.constant([1,2]),tf.constant([3])],axis=1)
R.stack([a,n])
tf.expand_dims(a,5)
tf.gather(a,[5])
tf.boolean_mask(a,bo)
R.boolean_mask(a,True)
R.boolean_mask(a,C([[True],[],[True]]))
R.map_flat_values(tf.reduce_sum,a)
R.map_flat_values(tf.add,a,C([[1],[2]]))
R.range([0],[5],[0])
R.range([0,1],[5])
R.stack_dynamic_partitions(['a','b','c'],[1,0,5],2)
tf.math.unsorted_segment_sum(a,[[0,1],[],[2]],3)
""")

# Splitting and products.

GROUP.values("""
tf.split(a, 3)
tf.split(a, [1, 2])
tf.split(a, [1, 1, 1, 0])
tf.split(a, tf.constant([1, 2]))
tf.split(a, 3, -2)
tf.split(u, 2, 2)
tf.split(u, [0, 2], -1)
tf.split(n, 3)
tf.split(RT.from_uniform_row_length(C([[1], [2, 3], [], [4]]), 2), 2, 1)
tf.function(lambda x: tf.split(x, 3))(a)
tf.function(lambda x: tf.split(x, [1, 2]), input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])(a)
tf.matmul(u, tf.ones([2, 2, 3], tf.int32))
tf.matmul(u, u, transpose_a=True)
tf.matmul(u, u, transpose_b=True)
tf.matmul(tf.ones([2, 3, 2], tf.int32), u, transpose_b=True)
tf.matmul(C([[[1, 2], [3, 4]], [[5, 6, 7]]]), C([[[1, 2], [1, 2]], [[1], [1], [2]]]))
tf.matmul(C([[1, 2], [3, 4]]), d)
tf.matmul(u[:0], tf.ones([0, 2, 3], tf.int32))
tf.matmul(RT.from_row_splits(u, [0, 1, 2]), RT.from_row_splits(u, [0, 1, 2]), transpose_b=True)
tf.matmul(RT.from_row_splits(u, [0, 1, 2]), tf.ones([2, 1, 2, 3], tf.int32))
tf.function(lambda x: tf.matmul(x, x, adjoint_b=True))(u)
""")

GROUP.errors("""
tf.split(a, 2)
tf.split(a, [1, 1])
tf.split(a, [4, -1])
tf.split(a, [1, 2], num=3)
tf.split(a, 2, 1)
tf.split(a, 2, 5)
tf.split(u, 3, 2)
tf.matmul(u, tf.ones([2, 2, 3]))
tf.matmul(u, tf.ones([2, 3], tf.int32))
tf.matmul(u, tf.ones([3, 2, 3], tf.int32))
tf.matmul(u, tf.ones([2, 3, 3], tf.int32))
tf.matmul(a, d)
tf.matmul(C([[[1, 2], [3]]]), tf.ones([1, 2, 2], tf.int32))
""")

# As shapes, and as files.

GROUP.values("""
tf.zeros(tf.shape(a))
tf.ones(tf.experimental.DynamicRaggedShape.from_lengths([2, (1, 2)]), tf.int32)
tf.zeros(tf.experimental.DynamicRaggedShape.from_lengths([2, 3]))
tf.function(tf.zeros)(tf.shape(a))
tf.zeros(tf.function(lambda x: tf.shape(x))(u))
str(tf.function(lambda x: tf.shape(x))(a))
len(tf.nest.flatten(tf.shape(n), expand_composites=True))
__import__('pickle').loads(__import__('pickle').dumps(n))
__import__('pickle').loads(__import__('pickle').dumps(tf.sparse.from_dense(d)))
""")

# Functions of several ops.

GROUP.values("""
tf.divide(a, b)
tf.divide(f, 2.0)
tf.divide(2.0, f)
tf.truediv(f, f)
tf.math.divide_no_nan(f, f - 2.0)
tf.math.multiply_no_nan(f, [[0.0], [1.0], [2.0]])
tf.math.reciprocal_no_nan(f - 2.0)
tf.math.erfcinv(f / 4.0)
tf.complex(f, f)
tf.math.real(tf.complex(f, f))
tf.math.real(f)
tf.math.imag(tf.complex(f, -f))
tf.math.conj(tf.complex(f, f))
tf.math.angle(tf.complex(f, f))
tf.nn.gelu(f)
tf.nn.leaky_relu(-f)
tf.nn.leaky_relu(-a)
tf.nn.silu(f)
""")
