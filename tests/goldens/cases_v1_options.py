"""Parameters of TensorFlow 1 that no other case names."""

from goldens.case import Group

GROUP = Group(r"""
import os
v1 = tf.compat.v1
def graph(function):
    # What a function returns in a graph, after the initializers have run.
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(5)
        result = function()
        initial = [v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()]
        session.run(initial)
        return session.run(result) if tf.nest.flatten(result) else result
def said(function):
    # What a function returns in a graph, where nothing runs.
    with tf.Graph().as_default():
        return function()
def path(text, name="f.txt"):
    p = os.path.join(tmp, name)
    open(p, "w").write(text)
    return p
def loss(name, *args, **k):
    with tf.Graph().as_default(), v1.Session() as session:
        value = session.run(getattr(v1.losses, name)(*args, **k))
        return value, [t.name.split("/")[0] for t in v1.get_collection("mine")], len(v1.losses.get_losses())
def unknown(name, *args, weights=1., **k):
    with tf.Graph().as_default(), v1.Session() as session:
        args, weights = [v1.placeholder_with_default(a, None) for a in args], v1.placeholder_with_default(weights, None)
        return session.run(getattr(v1.losses, name)(*args, weights=weights, **k))
y, p = [[1., 0.], [0., 1.]], [[.5, .25], [.125, .75]]
ROWS = v1.losses.Reduction
x = tf.reshape(tf.range(18.), [3, 6]) / 8
image = tf.reshape(tf.range(18.), [1, 3, 3, 2])
x2 = tf.reshape(tf.range(32.), [1, 4, 4, 2]) / 8
f2 = tf.reshape(tf.range(16.), [2, 2, 2, 2]) / 8
square = tf.constant([[2., 1.], [1., 3.]])
sp = tf.sparse.from_dense([[1., 0., 2.], [0., 3., 0.]])
A = [[1, 2, 3]]
def variable(**k):
    def build():
        v = v1.get_variable("v", **k)
        where = [c for c in ("variables", "trainable_variables", "local_variables", "mine") if v1.get_collection(c)]
        return v.shape.as_list() if v.shape.rank is not None else None, v.dtype.name, v.trainable, where, v.name
    return said(build)
def scoped(inner=lambda: v1.get_variable("v", [2]), **k):
    def build():
        with v1.variable_scope("s", **k):
            v = inner()
        return v.dtype.name, v.name, v.trainable
    return said(build)
def collections(name, scope):
    def build():
        for s in ("a", "b"):
            with v1.variable_scope(s):
                v = v1.get_variable("v", [1])
                w = v1.get_local_variable("w", [1])
                v1.add_to_collection("model_variables", v)
                v1.add_to_collection("moving_average_variables", v)
        return [v.name for v in getattr(v1, name)(scope=scope)]
    return said(build)
boxes = [[[[0., 0., 1., 1.]], [[0., 0., 1., .9]], [[.5, .5, 2., 2.]]]]
turned = [[.5, .5, 0., 0.], [0., 0., 1., .9], [.5, .5, 2., 2.]]
logits = tf.reshape(tf.range(16.), [1, 4, 4]) % 5
def initial(initializer, *args, **k):
    return graph(lambda: v1.get_variable("v", [2, 3], *args, initializer=initializer(seed=1, **k)))
def sampled_loss(function, **k):
    make = lambda: getattr(v1.nn, function)(
        tf.ones([4, 2]), tf.zeros([4]), tf.constant([[0]]), tf.constant([[1., 2.]]), 2, 4, partition_strategy="div",
        sampled_values=(tf.constant([0, 3], tf.int64), tf.constant([[.5]]), tf.constant([.2, .3])), **k)
    return graph(make)
def derived(function, power, **k):
    def build():
        v = v1.get_variable("v", initializer=[1., 2.])
        return getattr(v1, function)(tf.reduce_sum(v ** power), v1.trainable_variables(), **k)
    return graph(build)
def walked(*names, **k):
    for name in names: os.makedirs(os.path.join(tmp, name))
    return [(os.path.basename(a), b, c) for a, b, c in v1.gfile.Walk(os.path.join(tmp, "d"), **k)]
def schedule(name, *args, **k):
    return getattr(v1.train, name)(.5, *args, **k)()
""")

LOSSES = ["absolute_difference", "mean_squared_error", "hinge_loss", "huber_loss", "log_loss", "sigmoid_cross_entropy"]
LOSSES += ["softmax_cross_entropy"]
OPTIONS = ["reduction=ROWS.NONE", "reduction=ROWS.SUM", "reduction=ROWS.MEAN", "reduction=ROWS.SUM_OVER_BATCH_SIZE"]
OPTIONS += ["loss_collection='mine'", "loss_collection=None", "scope='s', loss_collection='mine'", "weights=.5"]
GROUP.family("loss('{name}', y, p, {option})", name=LOSSES, option=OPTIONS)
GROUP.family("loss('cosine_distance', y, p, axis=1, {option})", option=OPTIONS)
GROUP.family("loss('sparse_softmax_cross_entropy', [1, 0], p, {option})", option=OPTIONS)
GROUP.family("loss('mean_pairwise_squared_error', y, p, {option})", option=OPTIONS[4:])
WEIGHTS = [".5", "[[.5], [2.]]", "[[.5, 2.], [1., 0.]]"]
GROUP.family("unknown('{name}', y, p, weights={weights})", name=LOSSES[:-1], weights=WEIGHTS)
GROUP.family("unknown('softmax_cross_entropy', y, p, weights={weights})", weights=[".5", "[.5, 2.]"])
GROUP.family("unknown('sparse_softmax_cross_entropy', [1, 0], p, weights={weights})", weights=[".5", "[.5, 2.]"])
GROUP.family("unknown('cosine_distance', y, p, axis=1, weights={weights})", weights=WEIGHTS[:2])
REDUCTIONS = ["all", "any", "max", "min", "mean", "prod", "sum", "logsumexp"]
REDUCED = ["axis=0", "axis=1, keepdims=True", "reduction_indices=[0, 1]", "reduction_indices=1, keep_dims=True"]
GROUP.family("v1.reduce_{name}(x > 1 if '{name}' in 'all any' else x, {option})", name=REDUCTIONS, option=REDUCED)
RESIZED = ["align_corners=True", "half_pixel_centers=True", "align_corners=False, half_pixel_centers=False"]
GROUP.family(
    "v1.image.resize_{name}(image, [5, 4], {option})",
    name=["bilinear", "nearest_neighbor", "bicubic"],
    option=RESIZED,
    rtol=1e-5,
)
GROUP.family("v1.image.resize_area(image, [2, 4], align_corners={flag})", flag=["True", "False"])
GROUP.family("v1.image.resize(image, [5, 4], {method}, align_corners={flag})", method="0 1 2 3", flag=["True", "False"])
SPARSE = ["axis=0", "axis=1, keepdims=True", "reduction_axes=[0, 1]", "reduction_axes=-1, keep_dims=True"]
GROUP.family("v1.sparse_reduce_{name}(sp, {option})", name=["sum", "max", "sum_sparse", "max_sparse"], option=SPARSE)
GROUP.family(
    "v1.sparse_segment_{name}(x, [0, 2, 1], [0, 0, 3], num_segments={count})",
    name=["sum", "mean", "sqrt_n"],
    count=["5", "None"],
)
GROUP.family("collections('{name}', {scope})", name="global_variables local_variables model_variables "
             "moving_average_variables trainable_variables", scope=["'a'", "'.*v'", "'b/'", "None"])  # fmt: skip
GROUP.values(r"""
variable(shape=[2])
variable(shape=[2],trainable=False)
variable(shape=[2],dtype=tf.float64)
variable(shape=[2],collections=["mine"])
variable(initializer=[1,2])
variable(shape=[2],use_resource=True)
variable(shape=[2],synchronization=tf.VariableSynchronization.ON_READ,aggregation=tf.VariableAggregation.SUM)
variable(shape=[2],regularizer=lambda v: tf.reduce_sum(v),constraint=lambda v: v)
variable(shape=[2],custom_getter=lambda getter,*a,**k: getter(*a,**{**k,"trainable":False}))
scoped(dtype=tf.float64)
scoped(initializer=v1.zeros_initializer(),regularizer=None,reuse=v1.AUTO_REUSE)
scoped(custom_getter=lambda getter,*a,**k: getter(*a,**{**k,"trainable":False}))
scoped(lambda: v1.get_local_variable("w",[2],dtype=tf.float16))
scoped(use_resource=True,auxiliary_name_scope=False)
initial(v1.glorot_uniform_initializer)
graph(lambda: v1.get_variable("v",[2,3],tf.float64,initializer=v1.glorot_normal_initializer(seed=1,dtype=tf.float64)))
initial(v1.initializers.lecun_normal)
initial(v1.initializers.he_uniform)
initial(v1.uniform_unit_scaling_initializer,factor=2.)
initial(v1.variance_scaling_initializer,scale=2.,mode="fan_out",distribution="uniform")
initial(v1.variance_scaling_initializer,scale=2.,mode="fan_avg",distribution="normal")
initial(v1.random_normal_initializer,mean=1.,stddev=.5)
initial(v1.truncated_normal_initializer,mean=1.,stddev=.5)
initial(v1.random_uniform_initializer,minval=-1.,maxval=2.)
tf.reduce_sum(initial(v1.orthogonal_initializer,gain=3.)**2,1)
graph(lambda: v1.random_normal([3],mean=2.,stddev=.5,seed=3))
graph(lambda: v1.random_shuffle(tf.range(5),seed=3))
graph(lambda: v1.random_gamma([3],2.,beta=4.,dtype=tf.float64,seed=3))
graph(lambda: v1.random_poisson([2.,5.],[3],dtype=tf.float64,seed=3))
graph(lambda: v1.foldl(lambda a,b: a*2+b,tf.range(4),initializer=1,parallel_iterations=1,back_prop=False))
graph(lambda: v1.foldr(lambda a,b: a*2+b,tf.range(4),parallel_iterations=1,back_prop=True))
derived("gradients",2,gate_gradients=True,grad_ys=2.)
derived("hessians",3,gate_gradients=True)
v1.histogram_fixed_width_bins([-1.,.5,7.],[0.,5.],nbins=5,dtype=tf.int64)
v1.image.combined_non_max_suppression(boxes,[[[.9],[.8],[.3]]],2,3,iou_threshold=.5,score_threshold=.4,pad_per_class=True,clip_boxes=True)
v1.image.combined_non_max_suppression(boxes,[[[.9],[.8],[.3]]],2,3,clip_boxes=False)
v1.image.non_max_suppression_padded([[0.,0.,1.,1.],[0.,0.,1.,.9],[.5,.5,2.,2.]],[.9,.8,.3],3,score_threshold=.4,pad_to_max_output_size=True)
tf.image.non_max_suppression_padded([turned],[[.9,.8,.3]],3,sorted_input=True,canonicalized_coordinates=False,pad_to_max_output_size=True,tile_size=4)
v1.matrix_diag([[1,2],[3,4]],k=1,num_rows=3,num_cols=3,padding_value=9,align="LEFT_LEFT")
v1.matrix_diag([[1,2],[3,4]],k=(-1,0),align="RIGHT_RIGHT")
v1.matrix_diag_part(tf.reshape(tf.range(9),[3,3]),k=(-1,1),padding_value=7,align="LEFT_RIGHT")
v1.matrix_set_diag(tf.zeros([3,3],tf.int32),[[1,2,9],[3,4,5]],k=(0,1),align="RIGHT_LEFT")
v1.matrix_inverse(square+[[0.,1.],[0.,0.]],adjoint=True)
v1.matrix_solve(square+[[0.,1.],[0.,0.]],[[1.],[2.]],adjoint=True)
v1.matrix_triangular_solve(square,[[1.],[2.]],lower=False,adjoint=True)
v1.matrix_triangular_solve(square,[[1.],[2.]],lower=True,adjoint=True)
v1.matrix_solve_ls(square,[[1.],[2.]],l2_regularizer=.5,fast=True)
v1.lin_space([1.,2.],[3.,6.],3,axis=-1)
v1.sparse_tensor_dense_matmul(sp,[[1.],[2.]],adjoint_a=True)
v1.sparse_tensor_dense_matmul(sp,[[1.,2.,3.]],adjoint_b=True)
v1.sparse_tensor_to_dense(sp,default_value=7.,validate_indices=False)
v1.sparse_transpose(sp,perm=[0,1])
v1.sparse_reset_shape(sp,new_shape=[3,4])
v1.sparse_split(sp_input=sp,num_split=2,axis=1)[1]
v1.sparse_merge(tf.sparse.from_dense([[1,2],[0,1]]),tf.sparse.from_dense([[1.,2.],[0.,3.]]),4,already_sorted=True)
v1.sparse_add(sp,sp,thresh=3.)
v1.sparse.add(sp,sp,threshold=5.)
v1.serialize_sparse(sp,out_type=tf.string).shape
v1.sets.set_difference(A,[[2]],aminusb=False,validate_indices=False).values
v1.sets.set_difference(A,[[2]],aminusb=True).values
v1.sets.set_intersection(A,[[2,9]],validate_indices=False).values
v1.sets.set_union(A,[[2,9]],validate_indices=True).values
v1.sets.set_size(tf.sparse.from_dense(A),validate_indices=True)
v1.strings.to_number(input=["1.5"],out_type=tf.float64)
v1.strings.to_hash_bucket(input=["a"],num_buckets=7)
v1.quantize_v2([[1.,-2.],[3.,.5]],[-2.,-1.],[3.,1.],tf.qint8,mode="SCALED",axis=0,ensure_minimum_range=.1).output
v1.quantize_v2([1.,-2.],-2.,3.,tf.quint8,mode="MIN_FIRST",round_mode="HALF_AWAY_FROM_ZERO",narrow_range=False).output
v1.ragged.constant_value([[1,2],[3]],row_splits_dtype="int32").row_splits
v1.ragged.constant_value([[[1,2]],[[3,4],[5,6]]],inner_shape=(2,)).ragged_rank
v1.nn.conv2d_backprop_filter(x2,[2,2,2,2],tf.ones([1,4,4,2]),[1,1,1,1],"SAME",use_cudnn_on_gpu=True,data_format="NHWC",dilations=[1,1,1,1])
v1.nn.conv2d(x2,f2,strides=[1,2,1,1],padding=[[0,0],[1,0],[0,1],[0,0]])
v1.nn.conv3d_backprop_filter_v2(x2[None],[1,2,2,2,2],tf.ones([1,1,4,4,2]),[1,1,1,1,1],"SAME",dilations=[1,1,1,1,1])
v1.nn.conv3d_transpose(x2[None],f2[None],[1,1,4,4,2],[1,1,1,1,1],data_format="NDHWC")
v1.nn.depthwise_conv2d_native(x2,f2,[1,1,1,1],"SAME",data_format="NHWC",dilations=[1,1,1,1])
v1.nn.depthwise_conv2d(x2,f2,[1,1,1,1],"VALID",rate=[2,2],data_format="NHWC")
v1.nn.separable_conv2d(x2,f2,tf.ones([1,1,4,1]),[1,1,1,1],"SAME",rate=[1,2],data_format="NHWC")
v1.nn.avg_pool_v2(x2,2,1,"SAME",data_format="NHWC")
v1.nn.max_pool_v2(x2,[1,2,1,1],1,"VALID",data_format="NHWC")
v1.nn.max_pool_with_argmax(x2,[1,2,2,1],[1,2,2,1],"SAME",include_batch_in_index=True)
v1.nn.max_pool_with_argmax(x2,[1,2,2,1],[1,2,2,1],"SAME",Targmax=tf.int32)
v1.nn.ctc_beam_search_decoder_v2(tf.reshape(tf.range(12.),[3,1,4])%5,[3],beam_width=4,top_paths=2)[1]
v1.nn.ctc_beam_search_decoder(tf.reshape(tf.range(12.),[3,1,4])%5,[3],beam_width=4,top_paths=2,merge_repeated=False)[1]
v1.nn.ctc_greedy_decoder(tf.reshape(tf.range(12.),[3,1,4])%5,[3],merge_repeated=False,blank_index=0)[0][0].values
v1.nn.ctc_loss_v2([[1,2]],logits,[2],[4],logits_time_major=False,blank_index=0)
v1.nn.ctc_loss(tf.sparse.from_dense([[2,2]]),logits,[4],time_major=False,preprocess_collapse_repeated=True)
v1.nn.embedding_lookup(x,[0,2],partition_strategy="div",validate_indices=False,max_norm=1.)
v1.nn.embedding_lookup([x[:2],x[2:]],[0,1,2],partition_strategy="div")
v1.nn.embedding_lookup_sparse(x,tf.sparse.from_dense([[1,2],[1,0]]),None,combiner="sqrtn",max_norm=2.)
(v1.nn.moments(x,[0],shift=None,keep_dims=True))
(v1.nn.weighted_moments(x,[0],[[1.],[2.],[3.]],keep_dims=True))
(v1.nn.sufficient_statistics(x,[0],shift=1.,keep_dims=True)[:3])
sampled_loss("sampled_softmax_loss",remove_accidental_hits=False)
sampled_loss("nce_loss",remove_accidental_hits=True)
v1.min_max_variable_partitioner(max_partitions=5,axis=1,min_slice_size=8,bytes_per_string_element=4)(tf.TensorShape([4,8]),tf.string)
v1.variable_axis_size_partitioner(16,axis=1,max_shards=3,bytes_per_string_element=4)(tf.TensorShape([4,8]),tf.float32)
[v1.gfile.Copy(path("1"),path("2","h"),overwrite=True),open(os.path.join(tmp,"h")).read()]
[v1.gfile.Rename(path("1"),path("2","h"),overwrite=True),open(os.path.join(tmp,"h")).read()]
walked("d/e","d/f/g",in_order=False)
walked("d/e/f",in_order=True)
schedule("polynomial_decay",7,5,end_learning_rate=.1,power=2.,cycle=True)
schedule("inverse_time_decay",3,2,.5,staircase=True)
schedule("natural_exp_decay",3,2,.5,staircase=True)
schedule("cosine_decay",3,10,alpha=.1)
schedule("cosine_decay_restarts",13,5,t_mul=2.,m_mul=.5,alpha=.1)
schedule("linear_cosine_decay",3,10,num_periods=.25,alpha=.1,beta=.01)
schedule("noisy_linear_cosine_decay",0,10,initial_variance=0.,variance_decay=.5,num_periods=.25,alpha=.1,beta=.01).shape
v1.confusion_matrix([1,2],[2,2],num_classes=4,dtype=tf.int64,weights=[2,3])
v1.argmax(x,dimension=1,output_type=tf.int32)
v1.count_nonzero(x,reduction_indices=[1],keep_dims=True,dtype=tf.int32)
v1.norm(x,ord=1,axis=1,keep_dims=True)
v1.squeeze(x[None],squeeze_dims=[0]).shape
v1.expand_dims(x,dim=1).shape
v1.batch_to_space(tf.ones([4,1,1,1]),[[0,0],[0,1]],block_size=2)
v1.space_to_batch(tf.ones([1,2,3,1]),[[0,0],[0,1]],block_size=2).shape
v1.reverse_sequence(x,[2,1,3],seq_dim=1,batch_dim=0)
v1.string_split(["a,b;c","","x,;y z"],delimiter=",;",skip_empty=False)
v1.string_split(["a,b",""],sep="",skip_empty=False)
v1.string_to_number(["3"],out_type=tf.int32)
v1.substr("hello",pos=1,len=3)
v1.tensor_scatter_add([1,2],[[0],[9]],[5,6],bad_indices_policy="IGNORE")
v1.tensor_scatter_sub([1,2],[[0],[9]],[5,6],bad_indices_policy="IGNORE")
v1.to_double(x).dtype
v1.gather(x,[1,0],axis=1,batch_dims=0)
v1.gather_nd(x,[[0],[1],[2]],batch_dims=1)
v1.boolean_mask(x,[True,False,True],axis=0)
v1.unstack(x,num=3)[1]
graph(lambda: v1.scatter_update(v1.Variable([1.,2.],use_resource=False),[1],[5.],use_locking=True))
graph(lambda: v1.scatter_div(v1.Variable([1.,2.],use_resource=False),[1],[4.],use_locking=True))
graph(lambda: v1.scatter_min(v1.Variable([1.,2.],use_resource=False),[1],[.5],use_locking=True))
graph(lambda: v1.assign_add(v1.Variable(1.,use_resource=False),2.,use_locking=True))
graph(lambda: v1.batch_scatter_update(v1.Variable([[1.,2.],[3.,4.]]),[[1],[0]],[[5.],[6.]],use_locking=True))
""")
GROUP.errors(r"""
loss("absolute_difference",y,p,reduction="x")
variable(shape=[2],initializer=[1.,2.])
variable()
scoped(lambda: v1.get_variable("v",[2]),reuse=True)
v1.reduce_max(x,axis=0,reduction_indices=0)
v1.reduce_sum(x,keepdims=True,keep_dims=True)
v1.expand_dims(x,axis=0,dim=1)
v1.squeeze(x[None],axis=[0],squeeze_dims=[0])
v1.argmax(x,axis=0,dimension=1)
v1.matrix_diag([1],k=1,align="X")
v1.gfile.Copy(path("1"),path("2","h"))
v1.gfile.Rename(path("1"),path("2","h"))
v1.sparse.add(sp,sp,threshold=1.,thresh=2.)
""")
