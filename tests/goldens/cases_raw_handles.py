"""Raw ops on handles: stacks, tensor arrays, maps, tables, variables; cells of networks and single ops."""

from goldens.case import Group
from goldens.raw_ops import PREPARATION

GROUP = Group(PREPARATION)
GROUP.values("""
R.ResourceGatherNd(resource=v.handle,indices=[[1],[2]],dtype=tf.float32)
[R.ResourceStridedSliceAssign(ref=v.handle,begin=[0],end=[2],strides=[1],value=[7.,8.]),v.read_value()]
R.ParseTensor(serialized=R.SerializeTensor(tensor=x),out_type=tf.float32)
R.DecodeCSV(records=["1,a","2,b"],record_defaults=[tf.constant([],tf.int32),["z"]])
R.DeserializeSparse(serialized_sparse=tf.io.serialize_sparse(tf.sparse.from_dense(x)),dtype=tf.float32)
R.RemoteCall(target="/cpu:0",args=[1.],Tout=[tf.float32],f=fn(lambda a:a+1.,tf.float32))
R.LinSpace(start=0.,stop=1.,num=3)
R.NearestNeighbors(points=x,centers=x+1.,k=1)
R.SparseSplit(split_dim=1,indices=[[0,0],[0,2]],values=[1.,2.],shape=[1,3],num_split=2)
R.DeviceIndex(device_names=["GPU","CPU"])
R.AudioSpectrogram(input=tf.reshape(tf.sin(tf.range(20.)),[20,1]),window_size=6,stride=4)
R.AudioSpectrogram(input=tf.reshape(tf.sin(tf.range(20.)),[20,1]),window_size=8,stride=4,magnitude_squared=True)
R.Mfcc(spectrogram=tf.reshape(tf.range(33.),[1,1,33]),sample_rate=16000)
""")
GROUP.snippets("""
# StackPushV2
(
    lambda s: [
        R.StackPushV2(handle=s, elem=x),
        R.StackPushV2(handle=s, elem=x + 1.0),
        R.StackPopV2(handle=s, elem_type=tf.float32),
        R.StackCloseV2(handle=s),
    ]
)(R.StackV2(max_size=3, elem_type=tf.float32))

# TensorArrayWriteV3
(
    lambda a: [
        R.TensorArrayWriteV3(handle=a.handle, index=0, value=[1.0, 2.0], flow_in=a.flow),
        R.TensorArrayWriteV3(handle=a.handle, index=1, value=[3.0, 4.0], flow_in=a.flow),
        R.TensorArraySizeV3(handle=a.handle, flow_in=0.0),
        R.TensorArrayReadV3(handle=a.handle, index=1, flow_in=0.0, dtype=tf.float32),
    ]
)(R.TensorArrayV3(size=2, dtype=tf.float32))

# TensorArrayScatterV3
(
    lambda a: [
        R.TensorArrayScatterV3(handle=a.handle, indices=[0, 1], value=x, flow_in=a.flow),
        R.TensorArrayGatherV3(handle=a.handle, indices=[1, 0], flow_in=0.0, dtype=tf.float32),
    ]
)(R.TensorArrayV3(size=2, dtype=tf.float32))

# TensorArraySplitV3
(
    lambda a: [
        R.TensorArraySplitV3(handle=a.handle, value=[1.0, 2.0, 3.0], lengths=[1, 2], flow_in=a.flow),
        R.TensorArrayConcatV3(handle=a.handle, flow_in=0.0, dtype=tf.float32),
    ]
)(R.TensorArrayV3(size=2, dtype=tf.float32))

# TensorArrayWriteV3 2
(
    lambda a: [
        R.TensorArrayWriteV3(handle=a.handle, index=0, value=[1.0, 2.0], flow_in=a.flow),
        (
            lambda g: [
                R.TensorArrayWriteV3(handle=g.grad_handle, index=0, value=[1.0, 2.0], flow_in=g.flow_out),
                R.TensorArrayWriteV3(handle=g.grad_handle, index=0, value=[1.0, 2.0], flow_in=g.flow_out),
                R.TensorArrayReadV3(handle=g.grad_handle, index=0, flow_in=0.0, dtype=tf.float32),
            ]
        )(R.TensorArrayGradV3(handle=a.handle, flow_in=0.0, source="g")),
    ]
)(R.TensorArrayV3(size=2, dtype=tf.float32))

# Stage
[
    R.Stage(values=[1.0, 2], shared_name="s1"),
    R.Stage(values=[3.0, 4], shared_name="s1"),
    R.StageSize(dtypes=[tf.float32, tf.int32], shared_name="s1"),
    R.StagePeek(index=1, dtypes=[tf.float32, tf.int32], shared_name="s1"),
    R.Unstage(dtypes=[tf.float32, tf.int32], shared_name="s1"),
    R.StageClear(dtypes=[tf.float32, tf.int32], shared_name="s1"),
    R.StageSize(dtypes=[tf.float32, tf.int32], shared_name="s1"),
]

# MapStage
[
    R.MapStage(key=5, indices=[0, 1], values=[1.0, 2], dtypes=[tf.float32, tf.int32], shared_name="m"),
    R.MapSize(dtypes=[tf.float32, tf.int32], shared_name="m"),
    R.MapPeek(key=5, indices=[1], dtypes=[tf.int32], shared_name="m"),
    R.MapUnstage(key=5, indices=[0, 1], dtypes=[tf.float32, tf.int32], shared_name="m"),
    R.MapIncompleteSize(dtypes=[tf.float32, tf.int32], shared_name="m"),
]

# OrderedMapStage
[
    R.OrderedMapStage(key=5, indices=[0], values=[1.0], dtypes=[tf.float32], shared_name="m"),
    R.OrderedMapStage(key=3, indices=[0], values=[2.0], dtypes=[tf.float32], shared_name="m"),
    R.OrderedMapUnstageNoKey(indices=[0], dtypes=[tf.float32], shared_name="m"),
    R.OrderedMapSize(dtypes=[tf.float32], shared_name="m"),
    R.OrderedMapClear(dtypes=[tf.float32], shared_name="m"),
]

# LSTMBlockCell
R.LSTMBlockCell(
    x=x,
    cs_prev=x,
    h_prev=x / 9.0,
    w=tf.reshape(tf.range(72.0), [6, 12]) / 100.0,
    wci=[0.1, 0.2, 0.3],
    wcf=[0.1, 0.2, 0.3],
    wco=[0.1, 0.2, 0.3],
    b=tf.range(12.0) / 10.0,
    use_peephole=True,
)

# LSTMBlockCell 2
R.LSTMBlockCell(
    x=x,
    cs_prev=x,
    h_prev=x / 9.0,
    w=tf.reshape(tf.range(72.0), [6, 12]) / 100.0,
    wci=[0.1, 0.2, 0.3],
    wcf=[0.1, 0.2, 0.3],
    wco=[0.1, 0.2, 0.3],
    b=tf.range(12.0) / 10.0,
)

# BlockLSTMV2
R.BlockLSTMV2(
    seq_len_max=2,
    x=[x, x],
    cs_prev=x,
    h_prev=x / 9.0,
    w=tf.reshape(tf.range(72.0), [6, 12]) / 100.0,
    wci=[0.1, 0.2, 0.3],
    wcf=[0.1, 0.2, 0.3],
    wco=[0.1, 0.2, 0.3],
    b=tf.range(12.0) / 10.0,
    use_peephole=True,
)

# BlockLSTMGrad
(
    lambda kw: R.BlockLSTMGrad(
        **kw,
        **dict(zip(["i", "cs", "f", "o", "ci", "co", "h"], R.BlockLSTM(**kw, cell_clip=0.0))),
        cs_grad=tf.ones([2, 2, 3]) / 3.0,
        h_grad=tf.ones([2, 2, 3]),
    )
)(
    dict(
        seq_len_max=i64(2),
        x=[x / 9.0, x / 7.0],
        cs_prev=x,
        h_prev=x / 9.0,
        w=tf.reshape(tf.range(72.0), [6, 12]) / 100.0,
        wci=[0.1, 0.2, 0.3],
        wcf=[0.1, 0.2, 0.3],
        wco=[0.1, 0.2, 0.3],
        b=tf.range(12.0) / 10.0,
        use_peephole=True,
    )
)

# BlockLSTMGradV2
(
    lambda kw: R.BlockLSTMGradV2(
        **kw,
        **dict(zip(["i", "cs", "f", "o", "ci", "co", "h"], R.BlockLSTMV2(**kw, cell_clip=0.0))),
        cs_grad=tf.ones([2, 2, 3]) / 3.0,
        h_grad=tf.ones([2, 2, 3]),
    )
)(
    dict(
        seq_len_max=i64(2),
        x=[x / 9.0, x / 7.0],
        cs_prev=x,
        h_prev=x / 9.0,
        w=tf.reshape(tf.range(72.0), [6, 12]) / 100.0,
        wci=[0.1, 0.2, 0.3],
        wcf=[0.1, 0.2, 0.3],
        wco=[0.1, 0.2, 0.3],
        b=tf.range(12.0) / 10.0,
        use_peephole=False,
    )
)

# LSTMBlockCellGrad
(
    lambda kw: R.LSTMBlockCellGrad(
        **kw,
        **dict(zip(["i", "cs", "f", "o", "ci", "co"], R.LSTMBlockCell(**kw, cell_clip=0.0))),
        cs_grad=tf.ones([2, 3]) / 3.0,
        h_grad=tf.ones([2, 3]),
    )
)(
    dict(
        x=x / 9.0,
        cs_prev=x,
        h_prev=x / 9.0,
        w=tf.reshape(tf.range(72.0), [6, 12]) / 100.0,
        wci=[0.1, 0.2, 0.3],
        wcf=[0.1, 0.2, 0.3],
        wco=[0.1, 0.2, 0.3],
        b=tf.range(12.0) / 10.0,
        use_peephole=True,
    )
)

# GRUBlockCell
R.GRUBlockCell(
    x=x / 9.0,
    h_prev=x / 7.0,
    w_ru=tf.reshape(tf.range(36.0), [6, 6]) / 50.0,
    w_c=tf.reshape(tf.range(18.0), [6, 3]) / 20.0,
    b_ru=tf.ones(6),
    b_c=tf.ones(3),
)

# GRUBlockCellGrad
(lambda kw: R.GRUBlockCellGrad(**kw, **dict(zip("ruc", R.GRUBlockCell(**kw))), d_h=tf.ones([2, 3])))(
    dict(
        x=x / 9.0,
        h_prev=x / 7.0,
        w_ru=tf.reshape(tf.range(36.0), [6, 6]) / 50.0,
        w_c=tf.reshape(tf.range(18.0), [6, 3]) / 20.0,
        b_ru=tf.ones(6),
        b_c=tf.ones(3),
    )
)

# LookupTableInsertV2
(
    lambda h: [
        R.LookupTableInsertV2(table_handle=h, keys=["a", "b"], values=i64([1, 2])),
        R.LookupTableSizeV2(table_handle=h),
        R.LookupTableRemoveV2(table_handle=h, keys=["a"]),
        R.LookupTableFindV2(table_handle=h, keys=["a", "b"], default_value=i64(-1)),
    ]
)(R.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64))

# LookupTableInsertV2 2
(
    lambda h: [
        R.LookupTableInsertV2(table_handle=h, keys=["a"], values=[[1.0, 2.0]]),
        R.LookupTableFindV2(table_handle=h, keys=["a", "b"], default_value=[0.0, 0.0]),
    ]
)(R.MutableHashTableOfTensorsV2(key_dtype=tf.string, value_dtype=tf.float32, value_shape=[2]))

# LookupTableInsertV2 3
(
    lambda h: [
        R.LookupTableInsertV2(table_handle=h, keys=i64([5]), values=[1.0]),
        R.LookupTableFindV2(table_handle=h, keys=i64([5, 6]), default_value=0.0),
    ]
)(R.MutableDenseHashTableV2(empty_key=i64(-1), deleted_key=i64(-2), value_dtype=tf.float32))

# LookupTableImportV2
(
    lambda h: [
        R.LookupTableImportV2(table_handle=h, keys=["a"], values=i64([1])),
        R.LookupTableFindV2(table_handle=h, keys=["a", "b"], default_value=i64(-1)),
    ]
)(R.AnonymousHashTable(key_dtype=tf.string, value_dtype=tf.int64))

# ResourceScatterNdMax
[
    R.ResourceScatterNdMax(ref=v.handle, indices=[[0]], updates=[7.0]),
    R.ResourceScatterNdMin(ref=v.handle, indices=[[2]], updates=[-7.0]),
    v.read_value(),
]

# ResourceApplyAdaMax
(
    lambda m, u: [
        R.ResourceApplyAdaMax(
            var=v.handle,
            m=m.handle,
            v=u.handle,
            beta1_power=0.9,
            lr=0.1,
            beta1=0.9,
            beta2=0.99,
            epsilon=1e-7,
            grad=[1.0, -2.0, 3.0],
        ),
        v.read_value(),
        m.read_value(),
        u.read_value(),
    ]
)(tf.Variable([0.0, 1.0, 2.0]), tf.Variable([1.0, 1.0, 1.0]))

# ResourceApplyAdamWithAmsgrad
(
    lambda m, u, w: [
        R.ResourceApplyAdamWithAmsgrad(
            var=v.handle,
            m=m.handle,
            v=u.handle,
            vhat=w.handle,
            beta1_power=0.9,
            beta2_power=0.9,
            lr=0.1,
            beta1=0.9,
            beta2=0.99,
            epsilon=1e-7,
            grad=[1.0, -2.0, 3.0],
        ),
        v.read_value(),
        m.read_value(),
        u.read_value(),
        w.read_value(),
    ]
)(tf.Variable([0.0, 1.0, 2.0]), tf.Variable([1.0, 1.0, 1.0]), tf.Variable([1.0, 1.0, 1.0]))

# ResourceApplyAddSign
(
    lambda m: [
        R.ResourceApplyAddSign(
            var=v.handle, m=m.handle, lr=0.1, alpha=1.0, sign_decay=0.9, beta=0.9, grad=[1.0, -2.0, 3.0]
        ),
        v.read_value(),
        m.read_value(),
    ]
)(tf.Variable([0.0, 1.0, 2.0]))

# ResourceApplyPowerSign
(
    lambda m: [
        R.ResourceApplyPowerSign(
            var=v.handle, m=m.handle, lr=0.1, logbase=1.0, sign_decay=0.9, beta=0.9, grad=[1.0, -2.0, 3.0]
        ),
        v.read_value(),
        m.read_value(),
    ]
)(tf.Variable([0.0, 1.0, 2.0]))

# BatchFunction
R.BatchFunction(
    in_tensors=[[1.0]],
    captured_tensors=[],
    f=tf.function(lambda a: a + 1.0).get_concrete_function(tf.TensorSpec([None], tf.float32)),
    num_batch_threads=1,
    max_batch_size=2,
    batch_timeout_micros=1,
    Tout=[tf.float32],
)

# MapDefun
R.MapDefun(
    arguments=[x],
    captured_inputs=[],
    output_types=[tf.float32],
    output_shapes=[[3]],
    f=tf.function(lambda a: a + 1.0).get_concrete_function(tf.TensorSpec([3], tf.float32)),
)

# For
R.For(
    start=0,
    limit=3,
    delta=1,
    input=[1.0],
    body=tf.function(lambda j, a: a * 2.0).get_concrete_function(
        tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32)
    ),
)

# FusedPadConv2D
R.FusedPadConv2D(
    input=img,
    paddings=[[0, 0], [1, 1], [1, 1], [0, 0]],
    filter=tf.ones([2, 2, 3, 1]),
    mode="REFLECT",
    strides=[1, 1, 1, 1],
    padding="VALID",
)

# FusedResizeAndPadConv2D
R.FusedResizeAndPadConv2D(
    input=img,
    size=[3, 3],
    paddings=[[0, 0], [1, 1], [1, 1], [0, 0]],
    filter=tf.ones([2, 2, 3, 1]),
    mode="REFLECT",
    strides=[1, 1, 1, 1],
    padding="VALID",
)

# Mfcc
R.Mfcc(
    spectrogram=tf.reshape(tf.range(257.0), [1, 1, 257]),
    sample_rate=16000,
    filterbank_channel_count=20,
    dct_coefficient_count=5,
)

# CompositeTensorVariantToComponents
R.CompositeTensorVariantToComponents(
    encoded=R.CompositeTensorVariantFromComponents(components=[x, 1], metadata=""),
    metadata="",
    Tcomponents=[tf.float32, tf.int32],
)

# UncompressElement
R.UncompressElement(
    compressed=R.CompressElement(components=[x, 1]), output_types=[tf.float32, tf.int32], output_shapes=[[2, 3], []]
)

# RaggedTensorFromVariant
R.RaggedTensorFromVariant(
    encoded_ragged=R.RaggedTensorToVariant(
        rt_nested_splits=[i64([0, 1, 3])], rt_dense_values=[1.0, 2.0, 3.0], batched_input=False
    ),
    input_ragged_rank=1,
    output_ragged_rank=1,
    Tvalues=tf.float32,
)

# RaggedTensorFromVariant 2
R.RaggedTensorFromVariant(
    encoded_ragged=R.RaggedTensorToVariant(
        rt_nested_splits=[i64([0, 1, 3])], rt_dense_values=[1.0, 2.0, 3.0], batched_input=True
    ),
    input_ragged_rank=0,
    output_ragged_rank=1,
    Tvalues=tf.float32,
)

# RaggedTensorFromVariant 3
R.RaggedTensorFromVariant(
    encoded_ragged=R.RaggedTensorToVariant(
        rt_nested_splits=[i64([0, 1, 3]), i64([0, 2, 2, 3])], rt_dense_values=[1.0, 2.0, 3.0], batched_input=True
    ),
    input_ragged_rank=1,
    output_ragged_rank=2,
    Tvalues=tf.float32,
)
""")
