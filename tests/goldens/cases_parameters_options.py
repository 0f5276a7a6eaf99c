"""Parameters that no other case names: readers of files, tables, ragged partitions, convolutions, quantization."""

from goldens.case import Group

GROUP = Group(r"""
import os
import gzip
import zlib
E = tf.data.experimental
X = tf.experimental
D = tf.data.Dataset
C = E.CsvDataset
def plain(v):
    v = v.to_list() if isinstance(v, tf.RaggedTensor) else v.numpy()
    return v.tolist() if hasattr(v, "tolist") else v
def els(ds, n=6):
    return [tf.nest.map_structure(plain, e) for e in ds.take(n)]
def path(text, name="f.txt", pack=None):
    p = os.path.join(tmp, name)
    with open(p, "wb") as f: f.write((pack or (lambda b: b))(text.encode()))
    return p
ints = [tf.int32, tf.int32]
def csv(text, **k):
    return els(E.make_csv_dataset(path(text, "t.csv"), 2, num_epochs=1, shuffle=False, **k))
table = "a,b,c\n1,x,2.5\n2,NA,3.5\n3,y,4.5\n"
def records(n=5, **k):
    p = os.path.join(tmp, "r")
    with tf.io.TFRecordWriter(p) as w:
        for i in range(n):
            feature = {"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))}
            w.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    return p
features = {"a": tf.io.FixedLenFeature([], tf.int64)}
def batched(**k):
    k = {"num_epochs": 1, "shuffle": False, **k}
    return els(E.make_batched_features_dataset(records(), 2, features, **k))
checked = lambda: D.from_tensor_slices([1., 0., 4.]).map(lambda x: tf.debugging.check_numerics(1. / x, "e"))
repeated = lambda x: D.from_tensors(x).repeat(3)
def text_table(text, key, value, **k):
    initializer = tf.lookup.TextFileInitializer(path(text), tf.string, key, tf.int64, value, **k)
    return look(tf.lookup.StaticHashTable(initializer, -1), ["a", "b", "c"])
def look(table, keys):
    return [table.lookup(tf.constant(keys)), table.size()]
words = lambda n=0: D.from_tensor_slices(["a", "b", "c"])
P = X.RowPartition
R = tf.RaggedTensor
x2 = tf.reshape(tf.range(32.), [1, 4, 4, 2]) / 8
f2 = tf.reshape(tf.range(24.), [2, 2, 3, 2]) / 8
Q = tf.quantization
ramp = tf.linspace(-1.5, 1.5, 7)
ramps = tf.stack([ramp, 2 * ramp], 1)
lu = tf.linalg.lu([[4., 3.], [6., 3.]])
io = tf.io
def S(*shape, dtype=tf.string):
    return tf.TensorSpec(shape, dtype)
def shapes(function, *specs):
    outputs = tf.function(function).get_concrete_function(*specs).structured_outputs
    return [str(o.shape) for o in tf.nest.flatten(outputs, expand_composites=True)]
EXAMPLE = {"a": io.FixedLenFeature([2, 3], tf.float32), "b": io.FixedLenFeature([], tf.string),
           "c": io.VarLenFeature(tf.int64),
           "r": io.RaggedFeature(tf.int64, "r", partitions=[io.RaggedFeature.UniformRowLength(2)])}
STEPS = {"d": io.FixedLenSequenceFeature([4], tf.float32), "e": io.VarLenFeature(tf.string),
         "g": io.RaggedFeature(tf.int64)}
def gradient(f, *xs):
    xs = [tf.convert_to_tensor(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [tf.convert_to_tensor(g) for g in tape.gradient(y, xs)]
""")
GROUP.values(r"""
els(C(path("1;2\n3;4\n"),ints,field_delim=";"))
els(C(path("h,k\n1,2\n3,4\n"),ints,header=True))
els(C(path("1,NA\nNA,4\n"),[[7],[8]],na_value="NA"))
els(C(path("1,2,3\n4,5,6\n"),ints,select_cols=[0,2]))
els(C(path("1,2,3\n4,5,6\n"),ints,exclude_cols=[1]))
els(C(path('a"b,1\n'),[tf.string,tf.int32],use_quote_delim=False))
els(C(path('"a,b",1\n'),[tf.string,tf.int32],use_quote_delim=True))
els(C(path("1,2\n",pack=gzip.compress),ints,compression_type="GZIP"))
els(C(path("1,2\n",pack=zlib.compress),ints,compression_type="ZLIB"))
els(C(path("1,2\n3,4\n5,6\n"),ints,buffer_size=3))
els(C([path("1,2\n"),path("3,4\n","g.txt")],ints))
csv(table,select_columns=["a","c"])
csv(table,select_columns=[0,2],label_name="c")
csv(table,na_value="NA")
csv(table,na_value="NA",column_defaults=[tf.int32,"z",1.0])
csv(table,column_defaults=[tf.int64,tf.string,tf.float64])
csv(table,header=False,column_names=["p","q","r"])
csv("1,2\n3,4\n5,6\n",header=False,column_names=["p","q"],num_rows_for_inference=1)
csv("1,2\n3,4.5\n5,6\n",header=False,column_names=["p","q"],num_rows_for_inference=2)
csv("a;b\n1;2\n3;4\n",field_delim=";")
csv('a,b\n"1,2",3\n',use_quote_delim=True)
csv('a,b\n"1,3\n',use_quote_delim=False)
csv(table,prefetch_buffer_size=1,num_parallel_reads=2,sloppy=False)
els(E.make_csv_dataset(path(table,"t.csv"),2,num_epochs=2,shuffle=False,column_defaults=[0,"",0.0]),9)
els(E.make_csv_dataset(path("a,b\n1,2\n3,4\n","t.gz",gzip.compress),2,num_epochs=1,compression_type="GZIP",shuffle=False))
csv("a,b\n1,2\nx,4\n5,6\n",column_defaults=[0,0],ignore_errors=True)
batched()
batched(drop_final_batch=True)
batched(num_epochs=2)
batched(reader=tf.data.TFRecordDataset,reader_args=[None],reader_num_threads=1,parser_num_threads=2)
sorted(sum([e["a"] for e in batched(shuffle=True,shuffle_buffer_size=10,shuffle_seed=3)],[]))
els(D.range(5).apply(E.map_and_batch(lambda x: x+1,2)))
els(D.range(5).apply(E.map_and_batch(lambda x: x+1,2,drop_remainder=True)))
els(D.range(5).apply(E.map_and_batch(lambda x: x+1,2,num_parallel_batches=2)))
els(D.range(5).apply(E.map_and_batch(lambda x: x+1,2,num_parallel_calls=2)))
els(D.range(3).apply(E.parallel_interleave(repeated,cycle_length=2,block_length=2)),9)
els(D.range(3).apply(E.parallel_interleave(repeated,2,1,False,buffer_output_elements=2,prefetch_input_elements=1)),9)
els(D.range(3).apply(E.enumerate_dataset(start=4)))
els(D.range(4).map(tf.range).apply(E.dense_to_ragged_batch(3,drop_remainder=True)))
D.range(4).map(tf.range).apply(E.dense_to_ragged_batch(3,row_splits_dtype=tf.int32)).element_spec
els(E.Counter(start=2,step=3,dtype=tf.int32),3)
E.Counter(dtype=tf.int32).element_spec
els(D.range(6).apply(E.ignore_errors(log_warning=True)))
els(checked().apply(E.ignore_errors(log_warning=True)))
els(checked().ignore_errors(log_warning=True))
els(D.from_tensor_slices([tf.io.serialize_tensor(1)]).map(lambda s: tf.io.parse_tensor(s,tf.int32)))
look(E.index_table_from_dataset(words(),num_oov_buckets=2),["a","c","zz","q"])
look(E.index_table_from_dataset(words(),vocab_size=3),["b","q"])
look(E.index_table_from_dataset(D.range(5,8),key_dtype=tf.int64),tf.constant([5,7,9],tf.int64))
look(E.table_from_dataset(D.zip((words(),D.range(4,7))),default_value=-3,key_dtype=tf.string),["b","q"])
look(E.table_from_dataset(D.zip((words(),D.range(3))),num_oov_buckets=2,vocab_size=3),["b","q","zz"])
text_table("a 1\nb 2\n",0,1,delimiter=" ")
text_table("a\nb\n",-2,-1,value_index_offset=5)
text_table("a\nb\nc\n",-2,-1,vocab_size=3)
look(tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer([3,4],[0,1],key_dtype=tf.int64,value_dtype=tf.int64),2,lookup_key_dtype=tf.int64),tf.constant([3,9],tf.int64))
look(tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([3],[1],tf.int64,tf.float32),-1.,experimental_is_anonymous=True),tf.constant([3,9],tf.int64))
tf.lookup.experimental.DenseHashTable(tf.int64,tf.int64,-1,-1,-2,initial_num_buckets=8).size()
els(tf.data.FixedLengthRecordDataset(path("abcdef",pack=gzip.compress),2,compression_type="GZIP"))
els(tf.data.FixedLengthRecordDataset(path("hhabcdeff"),2,header_bytes=2,footer_bytes=1,buffer_size=4))
els(tf.data.FixedLengthRecordDataset([path("abcd"),path("efgh","g")],2,num_parallel_reads=2))
els(tf.data.TextLineDataset(path("a\nb\n",pack=zlib.compress),compression_type="ZLIB",buffer_size=1))
els(tf.data.TextLineDataset([path("a\nb\n"),path("c\nd\n","g")],num_parallel_reads=2))
[len(e) for e in els(tf.data.TFRecordDataset(records(2),buffer_size=5))]
els(E.RandomDataset(seed=3,rerandomize_each_iteration=False).take(2).repeat(2))
P.from_row_splits([0,2,3],dtype=tf.int32).dtype
P.from_row_splits([0,2,3],dtype_hint=tf.int64).dtype
P.from_row_splits([0,2,3],dtype_hint=tf.int32).dtype
P.from_row_splits([0,3,2],validate=False).row_splits()
P.from_row_lengths([1,2],dtype=tf.int32).row_splits()
P.from_row_lengths([1,2],dtype_hint=tf.int32).row_splits()
P.from_row_limits([1,3],dtype=tf.int32).row_splits()
P.from_row_limits([1,3],dtype_hint=tf.int32).row_splits()
P.from_row_starts([0,2],nvals=3,dtype_hint=tf.int32).row_splits()
P.from_row_starts([0,2],nvals=1,validate=False).row_splits()
P.from_value_rowids([0,0,2],dtype=tf.int32).value_rowids()
P.from_value_rowids([0,0,2],dtype_hint=tf.int32).value_rowids()
P.from_uniform_row_length(2,nvals=6,dtype=tf.int32).row_splits()
P.from_uniform_row_length(2,nvals=6,dtype_hint=tf.int32).row_splits()
X.DynamicRaggedShape.from_lengths([2,(1,2)],dtype=tf.int32).dtype
X.DynamicRaggedShape.from_lengths([2,3],dtype=tf.int32).inner_shape
X.DynamicRaggedShape([],[3,4],dtype=tf.int32).inner_shape
X.DynamicRaggedShape.from_row_partitions([P.from_row_lengths([1,2])],dtype=tf.int32).dtype
X.StructuredTensor.from_fields({"a":[1,2]},shape=[2],validate=True).shape
X.StructuredTensor.from_fields_and_rank({"a":[[1],[2]]},2,dtype=tf.int32).row_partitions[0].row_splits()
R.from_row_splits([1,2],[0,5],validate=False).row_splits
R.from_row_lengths([1,2,3],[1,1],validate=False).row_splits
R.from_row_starts([1,2,3],[1,0],validate=False).row_splits
R.from_row_limits([1,2,3],[3,1],validate=False).row_splits
R.from_uniform_row_length([1,2,3,4],2,nrows=2,validate=False).row_splits
R.from_nested_row_splits([1,2],[[0,1,2],[0,1,2]],validate=False).row_splits
R.from_nested_row_lengths([1,2],[[1,1],[1,1]],validate=False).row_splits
R.from_nested_value_rowids([1,2],[[0,1],[0,1]],[2,2],validate=False).row_splits
R.from_sparse(tf.sparse.from_dense([[1,2],[3,0]]),row_splits_dtype=tf.int32).row_splits
R.from_tensor([[1,2],[3,0]],padding=0,row_splits_dtype=tf.int32).row_splits
R.from_tensor([[[1,0],[3,0]]],lengths=[1],ragged_rank=1)
tf.nn.conv2d_transpose(x2,f2,[1,4,4,3],1,data_format="NHWC",dilations=1)
tf.nn.conv2d_transpose(x2,f2,[1,5,5,3],1,padding="VALID",dilations=None)
tf.nn.conv2d_transpose(x2,f2,[1,7,8,3],2,padding="SAME")
tf.nn.conv1d_transpose(x2[0],f2[0],[4,4,3],1,padding="SAME",data_format="NWC",dilations=1)
tf.nn.conv1d_transpose(x2[0],f2[0],[4,5,3],1,padding="VALID")
tf.nn.conv1d_transpose(x2[0],f2[0],[4,8,3],[2])
tf.nn.conv3d_transpose(x2[None],f2[None],[1,1,4,4,3],1,padding="SAME",dilations=1)
tf.nn.conv3d_transpose(x2[None],f2[None],[1,1,5,5,3],1,padding="VALID")
tf.nn.conv_transpose(x2[0],f2[0],[4,4,3],1,padding="SAME")
tf.nn.conv_transpose(x2,f2,[1,5,5,3],1,padding="VALID",data_format="NHWC",dilations=1)
tf.nn.depthwise_conv2d_backprop_input([1,4,4,2],f2[:,:,:2],tf.ones([1,4,4,4]),[1,1,1,1],"SAME",data_format="NHWC")
tf.nn.depthwise_conv2d_backprop_input([1,4,4,2],f2[:,:,:2],tf.ones([1,3,3,4]),[1,1,1,1],"VALID")
tf.nn.depthwise_conv2d_backprop_filter(x2,[2,2,2,2],tf.ones([1,4,4,4]),[1,1,1,1],"SAME",data_format="NHWC")
tf.nn.depthwise_conv2d_backprop_filter(x2,[2,2,2,2],tf.ones([1,3,3,4]),[1,1,1,1],"VALID")
tf.nn.swish(ramp,beta=2.)
gradient(lambda x: tf.nn.swish(x,beta=2.),ramp)
gradient(lambda x,b: tf.nn.swish(x,beta=b),ramp,.5)
Q.fake_quant_with_min_max_args(ramp*1.1,-1.,1.,4,narrow_range=True)
Q.fake_quant_with_min_max_args(ramp,min=-2.,max=1.,num_bits=3)
Q.fake_quant_with_min_max_args_gradient(tf.ones(7),ramp,-1.,1.,num_bits=3,narrow_range=True)
Q.fake_quant_with_min_max_args_gradient(tf.ones(7),ramp,-1.,1.,num_bits=2)
Q.fake_quant_with_min_max_vars(ramp*1.1,-1.,1.,num_bits=4,narrow_range=True)
Q.fake_quant_with_min_max_vars_gradient(tf.ones(7),ramp,-1.,1.,num_bits=3,narrow_range=True)
Q.fake_quant_with_min_max_vars_gradient(tf.ones(7),ramp,-1.,1.,num_bits=3)
Q.fake_quant_with_min_max_vars_per_channel(ramps,[-1.,-2.],[1.,1.],num_bits=3,narrow_range=True)
Q.fake_quant_with_min_max_vars_per_channel_gradient(tf.ones([7,2]),ramps,[-1.,-2.],[1.,1.],num_bits=3,narrow_range=True)
Q.fake_quant_with_min_max_vars_per_channel_gradient(tf.ones([7,2]),ramps,[-1.,-2.],[1.,1.])
Q.quantize_and_dequantize(ramp,-1.,1.,signed_input=False,num_bits=3,range_given=True)
Q.quantize_and_dequantize(ramp*1.1,-1.,1.,num_bits=3,range_given=True,round_mode="HALF_UP")
Q.quantize_and_dequantize_v2(ramp,-1.,1.,signed_input=False,num_bits=3,range_given=True)
Q.quantize_and_dequantize_v2(ramp*1.1,-1.,1.,num_bits=3,range_given=True,round_mode="HALF_UP",narrow_range=True)
Q.dequantize(tf.cast([0,10,255],tf.quint8),0.,2.,"MIN_FIRST")
Q.dequantize(tf.bitcast(tf.constant([-128,0,127],tf.int8),tf.qint8),-1.,1.,"SCALED",narrow_range=True)
Q.dequantize(tf.bitcast(tf.constant([[-128,0],[5,127]],tf.int8),tf.qint8),[-1.,-2.],[1.,2.],"SCALED",axis=0,dtype=tf.float32)
tf.linalg.lu_solve(*lu,[[1.],[2.]],validate_args=True)
tf.linalg.lu_matrix_inverse(*lu,validate_args=True)
tf.linalg.lu_reconstruct(*lu,validate_args=True)
tf.linalg.pinv([[1.,2.],[3.,4.]],rcond=.5,validate_args=True)
tf.linalg.matrix_rank([[1.,2.],[2.,4.1]],tol=.5,validate_args=True)
tf.linalg.eigh_tridiagonal([1.,2.,3.],[.5,.5],select="i",select_range=(0,1),tol=1e-6)
tf.linalg.matvec([[1.,2.],[3.,4.]],[1.,1.],a_is_sparse=True,b_is_sparse=True)
tf.linalg.matmul([[1.,2.]],[[3.],[4.]],a_is_sparse=True,b_is_sparse=True)
tf.strings.unicode_decode_with_offsets(b"a\xffb","UTF-8",errors="replace",replacement_char=63)
tf.strings.unicode_decode_with_offsets(b"a\x01b","UTF-8",replace_control_characters=True)
tf.strings.unicode_split_with_offsets(b"a\xffb","UTF-8",errors="ignore")
tf.strings.unicode_split_with_offsets(b"a\xffb","UTF-8",errors="replace",replacement_char=63)
tf.strings.unicode_split(b"a\xffb","UTF-8",errors="replace",replacement_char=63)
gradient(lambda x: tf.sparse.segment_sum(x,[0,2],[0,0],sparse_gradient=True),tf.ones([3,2]))
gradient(lambda x: tf.sparse.segment_mean(x,[0,2],[0,0],sparse_gradient=True),tf.ones([3,2]))
gradient(lambda x: tf.sparse.segment_sqrt_n(x,[0,2],[0,0],sparse_gradient=True),tf.ones([3,2]))
tf.sparse.sampled_addmm([[0,0],[1,1]],[1.,2.],[2,2],[[1.],[2.]],[[3.,4.]],beta=2.,alpha=.5,output_type=tf.float32)
tf.sets.union([[1,2]],[[2,3]],validate_indices=False).values
tf.io.serialize_many_sparse(tf.sparse.eye(2),out_type=tf.string).shape
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(tf.sparse.eye(2)),tf.float32,rank=2)
tf.random_index_shuffle(tf.range(5),[1,2,3],4,rounds=8)
tf.random.experimental.index_shuffle(tf.range(5),[1,2],4)
tf.random.stateless_normal([3],[1,2],alg="philox")
tf.random.stateless_truncated_normal([3],[1,2],alg="philox")
tf.random.stateless_truncated_normal([3],[1,2],mean=2.,stddev=3.)
tf.random.experimental.stateless_shuffle(tf.range(5),[1,2],alg="philox")
tf.random.split([1,2],3,alg="philox")
tf.random.fold_in([1,2],3,alg="philox")
tf.random.Generator.from_non_deterministic_state(alg="threefry").algorithm
tf.tensor_scatter_nd_add([1,2],[[0],[9]],[5,6],bad_indices_policy="IGNORE")
tf.tensor_scatter_nd_sub([1,2],[[0],[9]],[5,6],bad_indices_policy="IGNORE")
tf.tensor_scatter_nd_max([1,2],[[0],[9]],[5,6],bad_indices_policy="IGNORE")
tf.tensor_scatter_nd_min([1,2],[[0],[9]],[-5,6],bad_indices_policy="IGNORE")
tf.image.resize_with_pad(tf.reshape(tf.range(32.),[4,8,1]),2,2,antialias=True)
tf.image.resize_with_pad(tf.reshape(tf.range(32.),[4,8,1]),2,3,method="nearest")
tf.image.ssim_multiscale(tf.ones([1,24,24,1])*.5,tf.fill([1,24,24,1],.6),1.,power_factors=(.6,.4),filter_size=3,filter_sigma=1.,k1=.02,k2=.05)
tf.image.ssim(tf.ones([1,24,24,1])*.5,tf.fill([1,24,24,1],.6),1.,filter_size=3,filter_sigma=1.,k1=.02,k2=.05,return_index_map=True)[0,:2,:2]
tf.image.stateless_sample_distorted_bounding_box([20,30,3],[[[.1,.1,.6,.7]]],[1,2],.3,aspect_ratio_range=(.9,1.1),area_range=(.2,.5),max_attempts=7)
tf.image.stateless_sample_distorted_bounding_box([20,30,3],tf.zeros([1,0,4]),[1,2],use_image_if_no_bounding_boxes=True)
tf.math.approx_max_k([3.,1.,2.],2,recall_target=.9,reduction_input_size_override=-1,aggregate_to_topk=True)
tf.scan(lambda a,x: a+x,tf.range(4),parallel_iterations=2,back_prop=True,swap_memory=True,infer_shape=False)
tf.scan(lambda a,x: a+x,tf.range(4),reverse=True,initializer=10)
tf.shape_n([tf.ones([2,3]),tf.ones([4])],out_type=tf.int64)
tf.audio.decode_wav(tf.audio.encode_wav([[.5],[-.5],[.25]],8000),desired_channels=2,desired_samples=2)
tf.audio.decode_wav(tf.audio.encode_wav([[.5],[-.5]],8000),desired_samples=4)
tf.nn.nce_loss(tf.ones([4,2]),tf.zeros([4]),tf.constant([[0,1]]),tf.constant([[1.,2.]]),2,4,num_true=2,remove_accidental_hits=True,sampled_values=(tf.constant([1,3],tf.int64),tf.constant([[.5,.5]]),tf.constant([.2,.3])))
tf.nn.nce_loss(tf.ones([4,2]),tf.zeros([4]),tf.constant([[0]]),tf.constant([[1.,2.]]),2,4,sampled_values=(tf.constant([0,3],tf.int64),tf.constant([[.5]]),tf.constant([.2,.3])))
tf.nn.safe_embedding_lookup_sparse(tf.ones([4,2])*3.,tf.sparse.from_dense([[1,2],[0,0]]),max_norm=1.,default_id=3,combiner="sum",allow_fast_lookup=True)
tf.nn.embedding_lookup_sparse(tf.ones([4,2])*3.,tf.sparse.from_dense([[1,2],[3,0]]),None,max_norm=1.,combiner="sqrtn",allow_fast_lookup=True)
tf.nn.compute_accidental_hits([[0,1]],tf.constant([1,3],tf.int64),2,seed=4)
tf.nn.fractional_max_pool(x2,1.5,pseudo_random=True,overlapping=True,seed=3)
tf.nn.fractional_avg_pool(x2,[1.,1.5,1.5,1.],pseudo_random=True,overlapping=True,seed=3)
tf.io.gfile.rename(path("1"),os.path.join(tmp,"h"),overwrite=True)
[tf.io.gfile.rename(path("1"),path("2","h"),overwrite=True),open(os.path.join(tmp,"h")).read()]
[tf.io.gfile.copy(path("1"),path("2","h"),overwrite=True),open(os.path.join(tmp,"h")).read()]
tf.linalg.experimental.conjugate_gradient(tf.linalg.LinearOperatorFullMatrix([[4.,1],[1,3]],is_positive_definite=True,is_self_adjoint=True),tf.constant([1.,2.]),preconditioner=tf.linalg.LinearOperatorDiag([.25,.3],is_positive_definite=True,is_self_adjoint=True),x=tf.constant([.1,.1]),tol=1e-2).x
tf.linalg.experimental.conjugate_gradient(tf.linalg.LinearOperatorFullMatrix([[4.,1],[1,3]],is_positive_definite=True,is_self_adjoint=True),tf.constant([1.,2.]),max_iter=1).i
tf.test.compute_gradient(lambda x: x*x,[[1.,2.]],delta=.5)
tf.test.TestCase().assertAllClose([1.,2.],[1.1,2.1],rtol=0.,atol=.2)
tf.test.TestCase().assertAlmostEqual(1.,1.04,places=1)
tf.test.TestCase().assertNotAllClose([1.],[1.1],rtol=0.,atol=.05)
tf.train.ExponentialMovingAverage(.5).variables_to_restore(moving_avg_variables=[tf.Variable(1.,name="v")]).keys().__len__()
shapes(lambda s: io.parse_sequence_example(s, EXAMPLE, STEPS), S(None))
shapes(lambda s: io.parse_sequence_example(s, EXAMPLE, STEPS), S(3))
shapes(lambda s: io.parse_single_sequence_example(s, EXAMPLE, STEPS), S())
shapes(lambda s: io.parse_example(s, EXAMPLE), S(None))
shapes(lambda s: io.parse_example(s, EXAMPLE), S(3))
shapes(lambda s: io.parse_single_example(s, EXAMPLE), S())
shapes(lambda s: io.decode_csv(s, [[1], ['a'], [2.0]]), S(None, 2))
shapes(lambda s: io.parse_tensor(s, tf.float32), S())
shapes(lambda s: io.decode_raw(s, tf.int32), S(2, None))
shapes(lambda s: io.decode_raw(s, tf.int32, fixed_length=8), S(2, None))
shapes(lambda s: tf.strings.split(s), S(None))
shapes(lambda s: io.decode_json_example(s), S(2, None))
shapes(lambda v: io.serialize_many_sparse(tf.SparseTensor([[0, 0], [1, 1]], v, [4, 4])), S(2, dtype=tf.float32))
""")
GROUP.family(
    "list(Q.quantize(ramp, {ends}, tf.{dtype}, '{mode}', {options}))",
    ends=["-1., 2.", ".5, 2.", "-2., -.5", "0., 0.", "-.25, .375"],
    dtype="quint8 qint8",
    mode="MIN_FIRST MIN_COMBINED SCALED",
    options=["narrow_range=False", "ensure_minimum_range=1."],
)
GROUP.family(
    "list(Q.quantize(ramp, -1., {end}, tf.qint8, 'SCALED', '{rounding}', narrow_range={narrow}))",
    end=["2.", ".5"],
    rounding="HALF_TO_EVEN HALF_AWAY_FROM_ZERO",
    narrow=["True", "False"],
)
GROUP.family(
    "tf.gather_nd(tf.ragged.constant({rows}, inner_shape={inner}), {indices})",
    rows=["[[[1, 2], [3, 4]], [], [[5, 6]]]"],
    inner=["(2,)", "()"],
    indices=["[[0], [2]]", "[[0, 1], [2, 0]]", "[[0, 1, 1], [2, 0, 0]]", "[[[0, 0]], [[0, 1]]]"],
)
GROUP.family(
    "tf.math.{op}(tf.cast([[7, 1], [3, 9], [5, 5]], tf.{dtype}) {more}, [0, 0, 2])",
    op="segment_max segment_min segment_sum segment_prod segment_mean",
    dtype=["uint64", "int8", "bfloat16"],
    more=["", " + 2"],
)
GROUP.errors(r"""
R.from_row_splits([1,2],[0,5])
R.from_row_lengths([1,2,3],[1,1])
R.from_row_starts([1,2,3],[1,0])
R.from_row_limits([1,2,3],[3,1])
R.from_value_rowids([1,2],[1,0],nrows=2)
R.from_nested_row_splits([1,2],[[0,1,2],[0,1,5]])
P.from_row_splits([0,3,2])
P.from_value_rowids([1,0],nrows=3)
tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(tf.sparse.eye(2)),tf.float32,rank=1)
tf.linalg.lu_solve(*lu,[[1.],[2.],[3.]],validate_args=True)
tf.strings.unicode_split_with_offsets(b"a\xffb","UTF-8",errors="strict")
tf.tensor_scatter_nd_add([1,2],[[0],[9]],[5,6],bad_indices_policy="RAISE")
tf.tensor_scatter_nd_max([1,2],[[0],[9]],[5,6])
tf.io.gfile.rename(path("1"),path("2","h"))
tf.io.gfile.copy(path("1"),path("2","h"))
els(C(path("1,2,3\n"),ints,select_cols=[0,1],exclude_cols=[1]))
els(C(path("1,2,3\n"),ints))
csv("a,b\n1,2\nx,4\n5,6\n",column_defaults=[0,0])
tf.image.stateless_sample_distorted_bounding_box([20,30,3],tf.zeros([1,0,4]),[1,2])
tf.test.TestCase().assertAllClose([1.],[1.1],rtol=0.,atol=.05,msg="mm")
tf.test.TestCase().assertAlmostEqual(1.,1.04,places=2)
tf.test.TestCase().assertAlmostEqual(1.,1.04,delta=.01)
tf.nn.conv2d_transpose(x2,f2,[1,9,9,3],1)
tf.data.FixedLengthRecordDataset(path("abcde"),2).reduce(0,lambda a,b: a+1)
""")
