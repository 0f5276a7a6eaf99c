"""Raw ops that programs rarely call: maps, accumulators, locks, superseded ops, event files."""

from goldens.case import Group
from goldens.raw_ops import PREPARATION

GROUP = Group(
    PREPARATION
    + """
import os

red = tf.constant([255,0,0,255],tf.uint8)

def put(*pairs):
    m = R.EmptyTensorMap()
    for key, value in pairs:
        m = R.TensorMapInsert(input_handle=m, key=key, value=value)
    return m

def acc(take, shape=(2,), reduction="MEAN", steps=(0,), to=None, dtype=tf.float32):
    a = R.ResourceConditionalAccumulator(dtype=dtype, shape=list(shape), reduction_type=reduction, shared_name=tmp)
    if to is not None:
        R.ResourceAccumulatorSetGlobalStep(handle=a, new_global_step=to)
    for i, step in enumerate(steps):
        gradient = tf.fill(shape, tf.cast(2 * i + 1, dtype))
        R.ResourceAccumulatorApplyGradient(handle=a, local_step=step, gradient=gradient)
    count = R.ResourceAccumulatorNumAccumulated(handle=a)
    if not take:
        return count
    return count, R.ResourceAccumulatorTakeGradient(handle=a, num_required=take, dtype=dtype)

def events(write, **options):
    folder = os.path.join(tmp, "events")
    options = {"logdir": folder, "max_queue": 10, "flush_millis": 1000, "filename_suffix": ".x", **options}
    writer = R.SummaryWriter(shared_name="", container="")
    R.CreateSummaryFileWriter(writer=writer, **options)
    write(writer)
    R.FlushSummaryWriter(writer=writer)
    R.CloseSummaryWriter(writer=writer)
    (name,) = os.listdir(options["logdir"])
    assert name.endswith(options["filename_suffix"])
    found = []
    for event in tf.compat.v1.train.summary_iterator(os.path.join(options["logdir"], name)):
        if event.HasField("file_version"):
            continue
        shown = [(v.tag, v.WhichOneof("value"), v.simple_value, v.histo.num, v.histo.sum, v.image.height, v.image.width,
                  v.image.colorspace, v.audio.sample_rate, v.audio.num_channels, v.audio.length_frames,
                  v.tensor.dtype, v.metadata.plugin_data.plugin_name) for v in event.summary.value]
        found.append((event.step, shown, len(event.graph_def) > 0))
    return found
"""
)
GROUP.values(r"""
R.TensorMapSize(input_handle=R.EmptyTensorMap())
R.TensorMapSize(input_handle=put((1.,2.),(3.,4.),(1.,5.)))
R.TensorMapLookup(input_handle=put((1.,2.),(3.,4.),(1.,5.)),key=1.,value_dtype=tf.float32)
R.TensorMapLookup(input_handle=put(("a",[1,2]),("b",[3])),key="b",value_dtype=tf.int32)
R.TensorMapLookup(input_handle=put(([1,2],1.),([2,1],2.)),key=[2,1],value_dtype=tf.float32)
[R.TensorMapHasKey(input_handle=put((1.,2.)),key=k) for k in (1.,2.)]
R.TensorMapHasKey(input_handle=put((1,2.)),key=i64(1))
R.TensorMapSize(input_handle=R.TensorMapErase(input_handle=put((1.,2.),(3.,4.)),key=1.,value_dtype=tf.float32))
R.TensorMapHasKey(input_handle=R.TensorMapErase(input_handle=put((1.,2.),(3.,4.)),key=1.,value_dtype=tf.float32),key=3.)
R.TensorMapStackKeys(input_handle=put((3.,4.)),key_dtype=tf.float32)
R.TensorMapStackKeys(input_handle=put(([3,1],4.)),key_dtype=tf.int32)
acc(1)
acc(2,steps=(0,0))
acc(1,steps=(0,0,0))
acc(1,steps=(0,0,0),reduction="SUM")
acc(1,steps=(5,1,4),to=4)
acc(0,steps=(0,1,2),to=1)
acc(0,steps=())
acc(1,dtype=tf.float64)
acc(2,shape=(),steps=(0,0))
R.ApproximateEqual(x=[1.,1.,1.],y=[1.00001,1.000001,2.])
R.ApproximateEqual(x=[1.,1.],y=[1.5,1.4],tolerance=.5)
R.CopyHost(input=x,tensor_name="t",debug_ops_spec=[])
R.DebugIdentity(input=x,tensor_name="x:0")
R.DebugIdentityV2(input=x)
R.DebugIdentityV3(input=x,tensor_name="x:0")
R.DebugNanCount(input=[1.,float("nan"),float("nan")],tensor_name="x:0")
R.DebugNanCount(input=x,tensor_name="x:0")
R.Fact().dtype
[R.ToBool(input=v) for v in (0,3,0.,-.5,"","a",[],[0],tf.zeros([2,0]),False,True)]
R.EuclideanNorm(input=x,axis=1)
R.EuclideanNorm(input=x,axis=[0,1],keep_dims=True)
R.Min(input=x,axis=1,keep_dims=True)
R.Prod(input=x,axis=0)
R.ShardedFilespec(basename="a/b",num_shards=7)
R.ShardedFilespec(basename="a",num_shards=123456)
[R.WriteFile(filename=tmp+"/x/y.txt",contents="text"),R.ReadFile(filename=tmp+"/x/y.txt")]
R.SyncDevice()
R.TensorArrayCloseV3(handle=R.TensorArrayV3(size=2,dtype=tf.float32).handle)
events(lambda w: R.WriteScalarSummary(writer=w,step=i64(3),tag="s",value=1.5))
events(lambda w: [R.WriteScalarSummary(writer=w,step=i64(n),tag="s",value=n) for n in (1,2)],filename_suffix="")
events(lambda w: R.WriteHistogramSummary(writer=w,step=i64(3),tag="h",values=x))
events(lambda w: R.WriteImageSummary(writer=w,step=i64(1),tag="i",tensor=tf.ones([1,4,6,3]),bad_color=red))
events(lambda w: R.WriteImageSummary(writer=w,step=i64(1),tag="i",tensor=tf.ones([5,4,6,1]),bad_color=red,max_images=2))
events(lambda w: R.WriteImageSummary(writer=w,step=i64(1),tag="i",tensor=tf.ones([5,2,2,1]),bad_color=red))
events(lambda w: R.WriteAudioSummary(writer=w,step=i64(1),tag="a",tensor=tf.ones([1,8,2]),sample_rate=100.))
events(lambda w: R.WriteAudioSummary(writer=w,step=i64(1),tag="a",tensor=tf.ones([4,8]),sample_rate=100.,max_outputs=2))
events(lambda w: R.WriteSummary(writer=w,step=i64(7),tensor=x,tag="t",summary_metadata=b"\n\x03\n\x01p"))
events(lambda w: R.WriteRawProtoSummary(writer=w,step=i64(7),tensor=R.ScalarSummary(tags="q",values=2.)))
events(lambda w: R.WriteGraphSummary(writer=w,step=i64(2),tensor=tf.Graph().as_graph_def().SerializeToString()))
events(lambda w: R.ImportEvent(writer=w,event=b"\x10\x05"))
R.ScalarSummary(tags=["a","b"],values=[1.,2.])
R.HistogramSummary(tag="h",values=[1.,1.,2.])
R.TensorSummaryV2(tag="t",tensor=[1.,2.],serialized_summary_metadata="")
R.AudioSummaryV2(tag="t",tensor=[[0.,.5,-.5]],sample_rate=8.)
""")
GROUP.errors(
    r"""
events(lambda w: R.WriteRawProtoSummary(writer=w,step=i64(7),tensor=[b"",b"\xff"]))
""",
    message=True,
)
GROUP.errors(r"""
R.TensorMapLookup(input_handle=put((1.,2.)),key=2.,value_dtype=tf.float32)
R.TensorMapErase(input_handle=put((1.,2.)),key=2.,value_dtype=tf.float32)
R.ScalarSummary(tags=["a","b"],values=[1.])
R.ScalarSummary(tags="a",values=[1.])
R.HistogramSummary(tag="h",values=[float("nan")])
events(lambda w: R.WriteImageSummary(writer=w,step=i64(1),tag="i",tensor=tf.ones([4,6,3]),bad_color=red))
acc(1,steps=(0,)) and acc(1,shape=(2,),reduction="MAX")
""")
GROUP.snippets("""
# MutexLock
(
    lambda m: (
        R.ConsumeMutexLock(mutex_lock=R.MutexLock(mutex=m)),
        R.ConsumeMutexLock(mutex_lock=R.MutexLock(mutex=m)),
    )
)(R.MutexV2())

# AnonymousMutableHashTableOfTensors
(
    lambda t: [
        R.LookupTableInsertV2(table_handle=t, keys=["a", "b"], values=[[1.0, 2.0], [3.0, 4.0]]),
        R.LookupTableFindV2(table_handle=t, keys=["b", "c"], default_value=[0.0, 9.0]),
        R.LookupTableSizeV2(table_handle=t),
    ]
)(R.AnonymousMutableHashTableOfTensors(key_dtype=tf.string, value_dtype=tf.float32, value_shape=[2]))

# AnonymousMutableDenseHashTable
(
    lambda t: [
        R.LookupTableInsertV2(table_handle=t, keys=i64([1, 2]), values=[3.0, 4.0]),
        R.LookupTableFindV2(table_handle=t, keys=i64([2, 7]), default_value=-1.0),
        R.LookupTableSizeV2(table_handle=t),
    ]
)(R.AnonymousMutableDenseHashTable(empty_key=i64(0), deleted_key=i64(-1), value_dtype=tf.float32))

# TensorArrayGradWithShape
(
    lambda a: [
        R.TensorArrayWriteV3(handle=a.handle, index=0, value=[1.0, 2.0], flow_in=a.flow),
        R.TensorArrayWriteV3(handle=a.handle, index=1, value=[1.0, 2.0], flow_in=a.flow),
        *(
            lambda g: [
                R.TensorArrayWriteV3(handle=g.grad_handle, index=1, value=[[3.0, 4.0]], flow_in=g.flow_out),
                R.TensorArrayWriteV3(handle=g.grad_handle, index=1, value=[[3.0, 5.0]], flow_in=g.flow_out),
                R.TensorArrayReadV3(handle=g.grad_handle, index=1, flow_in=0.0, dtype=tf.float32),
                R.TensorArraySizeV3(handle=g.grad_handle, flow_in=0.0),
            ]
        )(
            R.TensorArrayGradWithShape(handle=a.handle, flow_in=a.flow, shape_to_prepend=[1], source="g"),
        ),
    ]
)(R.TensorArrayV3(size=2, dtype=tf.float32))
""")
