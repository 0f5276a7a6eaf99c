"""Parameters that no other case names: feature columns, files, records, checkpoints, test cases, losses."""

from goldens.case import Group

GROUP = Group(r"""
T = tmp
E = tf.experimental
D = tf.data.Dataset
import os
def plain(v):
    return v.numpy().tolist() if hasattr(v.numpy(), "tolist") else v.numpy()
def els(ds, n=6):
    return [tf.nest.map_structure(plain, e) for e in ds.take(n)]
def path(text, name="f.txt"):
    p = os.path.join(T, name)
    open(p, "w").write(text)
    return p
F = tf.feature_column
def cols(c, f):
    with tf.Graph().as_default():
        tensors = {k: tf.convert_to_tensor(v) for k, v in f.items()}
        y = tf.compat.v1.feature_column.input_layer(tensors, [c])
        with tf.compat.v1.Session() as s:
            s.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer()])
            return s.run(y)
ind = F.indicator_column
def opts(**k):
    p = os.path.join(T, "o%d" % len(os.listdir(T)))
    with tf.io.TFRecordWriter(p, tf.io.TFRecordOptions(**k)) as w: w.write(b"abc" * 50)
    return els(D.from_tensors(p).flat_map(lambda q: tf.data.TFRecordDataset(q, k.get("compression_type"))))
def tc(f):
    class T_(tf.test.TestCase):
        def runTest(self): pass
    return f(T_())
def gf(mode="w"):
    return tf.io.gfile.GFile(os.path.join(T, "g.txt"), mode)
def seek(*a, **k):
    with gf() as f: f.write(file_content="0123456789")
    with gf("r") as f:
        f.read(2)
        f.seek(*a, **k)
        return f.read(3), f.tell()
drop = tf.nn.RNNCellDropoutWrapper
cell = lambda: tf.keras.layers.LSTMCell(3)
q = lambda: tf.queue.FIFOQueue(5, tf.int32, [[]])
def qq(f):
    a = q(); f(a); return [a.size(), a.dequeue()]
ov = tf.constant([[1.,.6,.1],[.6,1,.2],[.1,.2,1]])
fu = lambda **k: tf.random.fixed_unigram_candidate_sampler(tf.constant([[0],[1]],tf.int64),1,3,True,6,seed=1,**k)
fe = lambda n: tf.train.Feature(int64_list=tf.train.Int64List(value=n))
lists = tf.train.FeatureLists(feature_list={"s": tf.train.FeatureList(feature=[fe([1]), fe([2])])})
context = tf.train.Features(feature={"c": fe([1])})
seqex = tf.train.SequenceExample(context=context, feature_lists=lists).SerializeToString()
def ck(f):
    d = os.path.join(T, "d%d" % len(os.listdir(T)))
    os.mkdir(d)
    return f(tf.train.Checkpoint(v=tf.Variable(1.)), d)
def cm(save=3, **k):
    def run(c, d):
        m = tf.train.CheckpointManager(c, d, **k)
        for i in range(save): m.save(checkpoint_number=i)
        return sorted(p for p in os.listdir(d) if p.endswith("index"))
    return ck(run)
def bench(**k):
    class B(tf.test.Benchmark): pass
    return B().report_benchmark(**k)
def it(**k):
    d = os.path.join(T, "d%d" % len(os.listdir(T))); os.mkdir(d)
    return list(tf.train.checkpoints_iterator(d, timeout=0, **k))
spd = tf.linalg.LinearOperatorFullMatrix([[4.,1],[1,3]],is_positive_definite=True,is_self_adjoint=True)
""")
GROUP.values(r"""
ck(lambda c,d: os.path.basename(c.write(file_prefix=d+"/x")))
ck(lambda c,d: os.path.basename(c.save(file_prefix=d+"/x")))
ck(lambda c,d: c.save(file_prefix=""))
cm(max_to_keep=1,keep_checkpoint_every_n_hours=1e-9)
cm(max_to_keep=1,keep_checkpoint_every_n_hours=1)
cm(max_to_keep=None,keep_checkpoint_every_n_hours=1)
cm(max_to_keep=2,step_counter=tf.Variable(0),checkpoint_interval=2)
cm(max_to_keep=2,checkpoint_name="zz")
it(timeout_fn=lambda: True)
F.bucketized_column(source_column=F.numeric_column("a"),boundaries=[1,3]).num_buckets
cols(F.bucketized_column(source_column=F.numeric_column("a"),boundaries=[1,3]),{"a":[[0.],[2.],[3.]]})
F.categorical_column_with_hash_bucket("a",hash_bucket_size=1)
cols(ind(F.categorical_column_with_hash_bucket("a",hash_bucket_size=3)),{"a":[["x"],["y"]]})
cols(ind(F.categorical_column_with_hash_bucket("a",hash_bucket_size=3,dtype=tf.int64)),{"a":[[1],[2]]})
F.categorical_column_with_vocabulary_file("a",vocabulary_file=path("x\ny\n","v2.txt"),vocabulary_size=5).num_buckets
cols(ind(F.crossed_column(["a","b"],hash_bucket_size=5)),{"a":[["x"]],"b":[["y"]]})
cols(ind(F.crossed_column(["a","b"],hash_bucket_size=5,hash_key=7)),{"a":[["x"]],"b":[["y"]]})
F.make_parse_example_spec(feature_columns=[F.numeric_column("n"),F.categorical_column_with_hash_bucket("h",3)])
F.make_parse_example_spec([F.bucketized_column(F.numeric_column("n",shape=(2,),default_value=1.),[1])])
F.sequence_categorical_column_with_hash_bucket("a",hash_bucket_size=3).num_buckets
F.sequence_categorical_column_with_vocabulary_list("a",vocabulary_list=["x","y"],num_oov_buckets=1).num_buckets
F.weighted_categorical_column(F.categorical_column_with_identity("a",3),weight_feature_key="w").num_buckets
F.weighted_categorical_column(F.categorical_column_with_identity("a",3),weight_feature_key=3)
seek(3)
seek(3,0)
seek(offset=3,whence=1)
seek(-3,2)
seek(0,whence=2)
seek(offset=2)
seek(position=2)
drop(cell(),input_keep_prob=.5,state_keep_prob=.9,input_size=3,variational_recurrent=True,dtype=tf.float32).state_size
drop(cell(),state_keep_prob=1.,dropout_state_filter_visitor=lambda s: False)(tf.ones([1,2]),[tf.ones([1,3])]*2)[0].shape
qq(lambda a: a.enqueue(vals=3))
qq(lambda a: a.enqueue(vals=(3,)))
qq(lambda a: a.enqueue_many(vals=[[3,4]]))
tf.saved_model.LoadOptions(allow_partial_checkpoint=True).allow_partial_checkpoint
tf.saved_model.LoadOptions(experimental_skip_checkpoint=True).experimental_skip_checkpoint
tf.saved_model.SaveOptions(extra_tags=["a"]).extra_tags
tf.saved_model.experimental.Fingerprint(saved_object_graph_hash=3).saved_object_graph_hash
str(tf.saved_model.experimental.Fingerprint(1,2,3,4,5,version=6))
tf.saved_model.experimental.Fingerprint(1,2,3,4,5).singleprint()
tf.sparse.sampled_addmm(indices=[[0,0],[1,1]],values=[1.,2.],dense_shape=[2,2],mat1=[[1.],[2.]],mat2=[[3.,4.]])
bench(iters=3,wall_time=.5,cpu_time=.2,throughput=7.,extras={"a":1},name="x")
tc(lambda t: t.assertStartsWith("abc",expected_start="ab"))
tc(lambda t: t.assertDeviceEqual(device1="/cpu:0",device2="/device:CPU:0"))
tc(lambda t: t.assertRaisesIncompatibleShapesError(exception_type=ValueError).__class__.__name__)
tf.test.is_gpu_available(cuda_only=True,min_cuda_compute_capability=(3,0))
tf.test.is_gpu_available(True,(3,))
tf.train.CheckpointOptions(experimental_skip_slot_variables=True).experimental_skip_slot_variables
tf.train.CheckpointOptions(experimental_write_callbacks=[lambda p: 0]).experimental_write_callbacks.__len__()
tf.train.Coordinator().join([],ignore_live_threads=True)
tf.io.parse_single_sequence_example(seqex,sequence_features={"s":tf.io.FixedLenSequenceFeature([],tf.int64)})
tf.io.parse_single_sequence_example(seqex,sequence_features={"s":tf.io.VarLenFeature(tf.int64)})
tf.io.parse_sequence_example([seqex],sequence_features={"s":tf.io.RaggedFeature(tf.int64)})
opts(compression_type="ZLIB",window_bits=9)
opts(compression_type="ZLIB",window_bits=15,compression_level=1,mem_level=9,compression_method=8,compression_strategy=2)
opts(compression_type="GZIP",window_bits=31,compression_level=9)
opts(flush_mode=2,input_buffer_size=10,output_buffer_size=10)
tf.io.TFRecordOptions.get_compression_type_string(tf.io.TFRecordOptions("ZLIB"))
list(tf.io.gfile.walk("/no/such"))
tf.io.decode_proto("int64_list { value: 1 }","tensorflow.Feature",["int64_list"],[tf.string],message_format="text")
tf.io.encode_proto([[2]],[tf.constant([[3,4]],tf.int64)],["value"],"tensorflow.Int64List",descriptor_source="local://")
tf.make_tensor_proto([1,1],allow_broadcast=True).tensor_shape.dim[0].size
tf.make_tensor_proto(1,shape=[3],allow_broadcast=True).int_val[:]
str(tf.make_tensor_proto([1,1,1],shape=[3],allow_broadcast=True))
str(tf.make_tensor_proto(1,shape=[3]))
str(tf.make_tensor_proto([1],shape=[3]))
tf.nn.experimental.stateless_dropout(tf.ones([6]),.5,seed=[1,2],rng_alg="philox")
tf.nn.experimental.stateless_dropout(tf.ones([6]),.5,seed=[1,2],rng_alg="auto_select")
tf.nn.experimental.general_dropout(tf.ones([4]),.5,lambda shape,dtype: tf.constant([.1,.6,.4,.9]))
fu(unigrams=[1.,2.,3.,4.,5.,6.],distortion=.5)
fu(unigrams=[1.,2.,3.,4.,5.,6.],distortion=0.)
fu(unigrams=[2.,3.,4.,5.,6.],num_reserved_ids=1)
fu(unigrams=[2.,3.,4.],num_reserved_ids=3)
fu(vocab_file=path("a,1\nb,2\nc,3\nd,4\ne,5\nf,6\n","u.txt"),distortion=.75)
fu(vocab_file=path("a,1\nb,2\nc,3\nd,4\ne,5\n","u2.txt"),num_reserved_ids=1)
tf.nn.with_space_to_batch(tf.reshape(tf.range(12.),[1,6,2]),[2],"VALID",lambda x,n,p: x,spatial_dims=[2])
tf.random.stateless_parameterized_truncated_normal([4],[1,2],means=0.,stddevs=[1.,2.,3.,.1],minvals=-1.,maxvals=1.)
tf.image.non_max_suppression_overlaps(ov,[.9,.8,.7],3,overlap_threshold=.5)
tf.image.non_max_suppression_overlaps(ov,[.9,.8,.7],3,overlap_threshold=.7)
tf.image.non_max_suppression_overlaps(ov,[.9,.8,.7],3,overlap_threshold=.05,score_threshold=.75)
tf.image.non_max_suppression_overlaps(ov,[.9,.8,.7],1)
tf.math.approx_max_k([3.,1.,2.],2)
tf.IndexedSlicesSpec([3,None],tf.float32,indices_dtype=tf.int32,dense_shape_dtype=tf.int64,indices_shape=[2])
str(tf.IndexedSlicesSpec(indices_dtype=tf.int32,indices_shape=[None]))
tf.function(lambda x: x+1,experimental_relax_shapes=True)(1)
tf.function(lambda x: x+1,reduce_retracing=True)(1)
tf.function(lambda x: x+1,experimental_compile=True)(1)
tf.function(lambda x: x+1,experimental_autograph_options=tf.autograph.experimental.Feature.EQUALITY_OPERATORS)(1)
tf.autograph.experimental.Feature.all_but(exclude=tf.autograph.experimental.Feature.LISTS).__len__()
tf.Variable(1,experimental_enable_variable_lifting=False)
tf.test.TestCase(methodName="runTest").id().split(".")[-1]
opts(compression_type="GZIP",window_bits=25)
""")
GROUP.errors(r"""
tf.io.parse_sequence_example([seqex],sequence_features={"z":tf.io.FixedLenSequenceFeature([],tf.int64)})
opts(compression_type="GZIP",window_bits=15)
cm(max_to_keep=0)
cm(max_to_keep=2,checkpoint_interval=2)
seek(-1,0)
drop(cell(),state_keep_prob=1.5)
drop(cell(),input_keep_prob=.5,variational_recurrent=True,dtype=tf.float32)
drop(cell(),dropout_state_filter_visitor=3)
tf.sparse.sampled_addmm([[0,0]],[1.],[2,3],[[1.],[2.]],[[3.,4.]])
tc(lambda t: t.assertStartsWith("abc",expected_start="b",msg="mm"))
tc(lambda t: t.assertDeviceEqual(device1="/cpu:0",device2="/cpu:1"))
tc(lambda t: t.assertProtoEquals(3,fe([1])))
tf.io.parse_sequence_example([seqex],sequence_features={"s":tf.io.FixedLenSequenceFeature([2],tf.int64)})
tf.io.encode_proto([[2]],[tf.constant([[3,4]],tf.int64)],["value"],"tensorflow.Int64List",descriptor_source="/no/such")
tf.nn.experimental.stateless_dropout(tf.ones([6]),.5,seed=[1,2],rng_alg="threefry")
tf.nn.with_space_to_batch(tf.reshape(tf.range(12.),[1,6,2]),[2],"SAME",lambda x,n,p: x)
tf.nn.with_space_to_batch(tf.reshape(tf.range(12.),[1,6,2]),[2],"VALID",lambda x,n,p: x,spatial_dims=[0])
""")
GROUP.errors(
    r"""
F.bucketized_column(source_column="a",boundaries=[1])
F.bucketized_column(F.numeric_column("a",shape=[2,2]),boundaries=[1])
F.bucketized_column(F.numeric_column("a"),boundaries=[3,1])
F.categorical_column_with_hash_bucket("a",hash_bucket_size=0)
F.categorical_column_with_hash_bucket("a",hash_bucket_size=None)
F.categorical_column_with_hash_bucket("a",4,dtype=tf.float32)
F.categorical_column_with_vocabulary_file("a",vocabulary_file=path("x\ny\nz\n","v.txt"),vocabulary_size=0)
F.categorical_column_with_vocabulary_file("a",vocabulary_file="",vocabulary_size=2)
F.categorical_column_with_vocabulary_file("a",path("x\n","v3.txt"),default_value=0,num_oov_buckets=2)
F.categorical_column_with_vocabulary_list("a",vocabulary_list=["x","x"])
F.categorical_column_with_vocabulary_list("a",vocabulary_list=[])
F.categorical_column_with_vocabulary_list("a",vocabulary_list=[1,2],dtype=tf.string)
F.crossed_column(["a","b"],hash_bucket_size=0)
F.crossed_column(["a"],hash_bucket_size=3)
F.make_parse_example_spec(feature_columns=F.numeric_column("n"))
F.make_parse_example_spec(feature_columns=[3])
F.sequence_categorical_column_with_hash_bucket("a",hash_bucket_size=0)
F.shared_embeddings([F.categorical_column_with_identity("b",3),F.categorical_column_with_identity("a",4)],dimension=2)
seek(1,5)
seek()
drop(cell(),input_keep_prob=.5,variational_recurrent=True)
qq(lambda a: a.enqueue(vals="x"))
tc(lambda t: t.assertStartsWith("abc",expected_start="b"))
tc(lambda t: t.assertDeviceEqual(device1="/cpu:0",device2="/cpu:1",msg="mm"))
tc(lambda t: t.assertProtoEquals("foo: 3",fe([1])))
tf.train.CheckpointOptions(experimental_write_callbacks=[3])
tf.io.parse_sequence_example([seqex])
opts(compression_type="NONE")
opts(compression_type="foo")
tf.io.decode_proto(fe([1]).SerializeToString(),"tensorflow.Feature",["int64_list"],[tf.string],message_format="foo")
tf.io.decode_proto(b"\xff","tensorflow.Feature",["int64_list"],[tf.string])
str(tf.make_tensor_proto([1,2],shape=[3],allow_broadcast=True))
tf.nn.experimental.stateless_dropout(tf.ones([6]),.5,seed=[1,2],rng_alg="foo")
fu(unigrams=[1.,2.],num_reserved_ids=1)
fu(unigrams=[1.,2.,3.,4.,5.,6.],num_shards=2,shard=1)
tf.random.stateless_parameterized_truncated_normal([4],[1,2],means=0.,stddevs=-1.,minvals=-1.,maxvals=1.)
tf.random.stateless_parameterized_truncated_normal([4],[1,2],stddevs=0.)
tf.image.non_max_suppression_overlaps(ov[:2],[.9,.8,.7],1)
""",
    message=True,
)
