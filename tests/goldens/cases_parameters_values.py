"""Parameters that no other case names: NumPy's functions, specs, pipelines, ragged shapes, meshes."""

from goldens.case import Group

GROUP = Group(r"""
T = tmp
tnp = tf.experimental.numpy
E = tf.experimental
L = tf.experimental.dtensor
D = tf.data.Dataset
import os
def plain(v):
    return v.to_list() if isinstance(v, tf.RaggedTensor) else v.numpy().tolist()
def els(ds, n=6):
    return [tf.nest.map_structure(plain, e) for e in ds.take(n)]
def path(text, name="f.txt"):
    p = os.path.join(T, name)
    open(p, "w").write(text)
    return p
r = tf.ragged.constant([[1, 2], [3]])
x3 = tf.reshape(tf.range(24.), [2, 3, 4])
ts = tf.TensorSpec([2, None], tf.float32)
def rec(n=4):
    p = os.path.join(T, "r%d" % n)
    with tf.io.TFRecordWriter(p) as w:
        for i in range(n):
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            w.write(tf.train.Example(features=tf.train.Features(feature={"a": feature})).SerializeToString())
    return p
mesh = L.create_mesh([("x", 1)], devices=["CPU:0"])
lay = L.Layout(["x", "unsharded"], mesh)
st = E.StructuredTensor.from_pyval
""")
GROUP.values(r"""
tf.RaggedTensorSpec([2,None],tf.int32).is_compatible_with(spec_or_value=r)
tf.RaggedTensorSpec([2,None],tf.int32).is_compatible_with(spec_or_value=tf.RaggedTensorSpec([None,None],tf.int32))
tf.RaggedTensorSpec([3,None],tf.int32).is_compatible_with(spec_or_value=r)
tf.RaggedTensorSpec([2,None],tf.int32).is_compatible_with(tf.constant([[1,2]]))
ts.is_compatible_with(spec_or_tensor=tf.zeros([2,3]))
ts.is_compatible_with(spec_or_tensor=tf.zeros([3,3]))
ts.is_compatible_with(spec_or_tensor=tf.TensorSpec([2,3]))
ts.is_compatible_with(spec_or_tensor=[[1.,2.]])
ts.is_compatible_with(spec_or_tensor=np.zeros([2,2],np.float32))
tf.SparseTensorSpec([2,2]).is_compatible_with(tf.sparse.eye(2))
els(D.range(3).apply(transformation_func=lambda d: d.map(lambda x: x*2)))
els(D.range(3).map(lambda x: x+1, synchronous=True))
els(D.range(3).map(lambda x: x+1, synchronous=False, num_parallel_calls=2))
els(D.sample_from_datasets([D.range(3),D.range(10,13)],[.5,.5],seed=1,rerandomize_each_iteration=False).repeat(2),12)
els(D.sample_from_datasets([D.range(3),D.range(10,13)],[.5,.5],seed=1,rerandomize_each_iteration=True).repeat(2),12)
els(D.sample_from_datasets([D.range(3),D.range(10,13)],[.5,.5],seed=1,stop_on_empty_dataset=True),12)
els(D.range(10).rejection_resample(lambda x: tf.cast(x%2,tf.int32),[.9,.1],initial_dist=[.5,.5],seed=3),5)
els(D.from_tensor_slices([[1,2],[3,4],[5,6]]).bucket_by_sequence_length(lambda x: tf.size(x),[3],[2,2],no_padding=True))
tf.distribute.experimental.partitioners.MaxSizePartitioner(max_shard_bytes=4)(tf.TensorShape([4]),tf.string)
str(tf.distribute.experimental.CommunicationOptions(implementation="RING").implementation)
tf.distribute.experimental.CommunicationOptions(timeout_seconds=3).timeout_seconds
tf.distribute.experimental.TerminationConfig(grace_period=3).grace_period
E.DynamicRaggedShape.from_lengths([2,(1,2),4]).static_lengths()
E.RowPartition.from_row_starts([0,2],nvals=3).row_lengths()
E.RowPartition.from_row_starts([0,2],nvals=3,dtype=tf.int32).row_splits()
E.RowPartition.from_uniform_row_length(2,nvals=6).nrows()
E.RowPartition.from_uniform_row_length(2,nvals=6,nrows=3).row_splits()
E.RowPartition.from_uniform_row_length(0,nvals=0,nrows=3).row_splits()
E.RowPartition.from_value_rowids([0,0,2],nrows=4).row_lengths()
E.RowPartition.from_row_limits([2,3]).row_splits()
E.StructuredTensor.from_shape(ragged_shape=E.DynamicRaggedShape.from_lengths([2,(1,2)])).rank
E.StructuredTensor.from_shape(ragged_shape=E.DynamicRaggedShape.from_lengths([2,3])).shape
st({"a":[1,2]}).field_value(field_name="a")
st({"a":[1,2],"b":{"c":3}}).field_value(field_name=("b","c"))
st([[{"a":1}],[{"a":2},{"a":3}]]).merge_dims(outer_axis=0,inner_axis=1).field_value("a")
st([{"u":{"v":[1,2]}},{"u":{"v":[3]}}]).promote(source_path=("u","v"),new_name="w").to_pyval()
st([{"u":[{"v":1},{"v":2}]},{"u":[{"v":3}]}]).promote(source_path=("u","v"),new_name="w").to_pyval()
L.Layout.inner_sharded(mesh,inner_dim="x",rank=2).sharding_specs
L.Layout.batch_sharded(mesh,batch_dim="x",rank=2).sharding_specs
L.create_mesh(mesh_dims=[("x",1)],mesh_name="m",devices=["CPU:0"]).name
L.create_mesh(mesh_dims=[("x",1)],mesh_name="m",devices=["CPU:0"]).to_string()
L.create_mesh(mesh_dims=[("x",1)],devices=["CPU:0"]).dim_size(dim_name="x")
L.create_mesh(mesh_dims=[("x",1)],devices=["CPU:0"]).contains_dim(dim_name="y")
mesh.coords(device_idx=0)
L.Mesh.from_string(mesh_str=mesh.to_string()).shape()
L.Layout.from_string(layout_str=lay.to_string()).sharding_specs
lay.global_shape_from_local_shape(local_shape=tf.TensorShape([2,3]))
lay.local_shape_from_global_shape(global_shape=tf.TensorShape([2,3]))
lay.offset_tuple_to_global_index(offset_tuple=(0,0))
tnp.array(val=[1,2.5],dtype=int,copy=True,ndmin=2)
tnp.array(val=tf.constant([1]),ndmin=3)
tnp.atleast_1d(1,[2,3])
tnp.atleast_2d(1,[2,3],[[[4]]])
tnp.atleast_3d(1,[2,3],[[4]])
tnp.atleast_1d()
tnp.clip([1,5,9],a_min=2,a_max=None)
tnp.clip([1,5,9],a_min=None,a_max=4.5)
tnp.clip([1,5,9],a_min=[3,4,5],a_max=6)
tnp.clip(np.uint8([1,5,9]),a_min=2,a_max=300)
tnp.clip([1.,5.],a_min=3,a_max=2)
tnp.concatenate(arys=([[1]],[[2.5]]),axis=1)
tnp.concatenate(arys=([[1]],[[2]]),axis=-1)
tnp.dsplit(ary=x3,indices_or_sections=2)
tnp.dsplit(ary=x3,indices_or_sections=[1,3])
tnp.hsplit(ary=tf.range(6.),indices_or_sections=3)
tnp.hsplit(ary=x3,indices_or_sections=[1])
tnp.vsplit(ary=x3,indices_or_sections=2)
tnp.vsplit(ary=x3,indices_or_sections=(1,))
tnp.split(ary=tf.range(7),indices_or_sections=[2,4])
tnp.split(ary=tf.range(7),indices_or_sections=[2,9])
tnp.split(ary=tf.range(7),indices_or_sections=np.array([2,4]))
tnp.split(ary=x3,indices_or_sections=2,axis=-1)
tnp.dstack(tup=([1,2],[3,4]))
tnp.dstack(tup=([[1],[2]],[[3],[4]]))
tnp.hstack(tup=([1,2],[3.5]))
tnp.vstack(tup=([1,2],[3.5,4]))
tnp.vstack(tup=([[1,2]],[3,4]))
tnp.hstack(tup=(1,2))
tnp.einsum("ij,jk->ik",[[1,2]],[[3],[4]])
tnp.einsum("i,i",[1,2.5],[3,4])
tnp.einsum("ij->j",[[1,2],[3,4]])
tnp.einsum("ij,jk",[[1,2]],[[3],[4]],optimize="greedy")
tnp.einsum("ij,jk",[[1,2]],[[3],[4]],optimize=False)
tnp.einsum("...i->...",x3)
tnp.einsum("ii->i",[[1,2],[3,4]])
tnp.imag(val=[1+2j,3])
tnp.real(val=[1+2j,3])
tnp.imag(val=[1.5])
tnp.real(val=3)
tnp.issubdtype(arg1=tnp.float32,arg2=tnp.inexact)
tnp.issubdtype(arg1="f4",arg2=float)
tnp.issubdtype(arg1=np.int64,arg2=int)
tnp.meshgrid([1,2],[3,4,5])
tnp.meshgrid([1,2],[3,4,5],indexing="ij")
tnp.meshgrid()
tnp.meshgrid([1,2])
tnp.moveaxis(x3,0,destination=-1).shape
tnp.moveaxis(x3,[0,1],destination=[-1,0]).shape
str(tnp.promote_types(type1=tf.int32,type2=tf.float32))
str(tnp.promote_types(type1="int8",type2=np.uint8))
str(tnp.promote_types(type1=np.uint64,type2=np.int64))
str(tnp.promote_types(type1=bool,type2=int))
tnp.reshape(x3,newshape=[4,-1]).shape
tnp.reshape(x3,newshape=-1).shape
tnp.reshape([[1,2],[3,4]],newshape=4,order="F")
tnp.select(condlist=[[True,False],[True,True]],choicelist=[[1,2],[3,4]],default=9)
tnp.select(condlist=[[True,False]],choicelist=[[1,2]])
tnp.select(condlist=[[True,False]],choicelist=[[1.5,2]],default=7)
tnp.select(condlist=[[1,0]],choicelist=[[1,2]])
tnp.tile([1,2],reps=2)
tnp.tile([1,2],reps=[2,2])
tnp.tile([[1],[2]],reps=2)
tnp.tile([[1],[2]],reps=(2,1,2))
tnp.tile(3,reps=2)
tnp.tile([1],reps=0)
tnp.tile([1],reps=[])
tnp.tile([1],reps=2.5)
str(tnp.promote_types(float,"i4"))
str(tnp.promote_types(complex,int))
""")
GROUP.errors(r"""
E.RowPartition.from_row_starts([0,2],nvals=1).row_lengths()
tnp.around([1+2.56j],decimals=1)
tnp.issubdtype(arg1=tf.int32,arg2=tnp.integer)
""")
GROUP.errors(
    r"""
D.range(3).apply(transformation_func=lambda d: 3)
els(D.range(3).map(lambda x: x+1, synchronous=True, num_parallel_calls=2))
tf.distribute.experimental.CommunicationOptions(bytes_per_pack=-1)
str(E.DynamicRaggedShape([],tf.constant([3,4],tf.int64),static_inner_shape=tf.TensorShape([3,None])).static_inner_shape)
E.RowPartition.from_uniform_row_length(2,nvals=5).nrows()
E.RowPartition.from_uniform_row_length(2,nvals=6,nrows=4).row_splits()
E.RowPartition(tf.constant([0,2]))
st({"a":[1,2]}).field_value(field_name="z")
st([{"a":1},{"a":2}],typespec=st([{"a":5}])._type_spec).shape
st([],typespec=st([{"a":5}])._type_spec).shape
st([[{"a":1}],[{"a":2}]]).merge_dims(outer_axis=0,inner_axis=2)
st([[{"a":1}],[{"a":2}]]).merge_dims(outer_axis=1,inner_axis=0)
st([{"u":1}]).promote(source_path=("u",),new_name="w").to_pyval()
L.create_mesh(mesh_dims=[("x",1)],devices=["CPU:0"]).dim_size(dim_name="y")
L.Layout.inner_sharded(mesh,inner_dim="q",rank=2)
tnp.array(val=[[1,2],[3]])
tnp.clip([1,5,9],a_min=None,a_max=None)
tnp.dsplit(ary=x3,indices_or_sections=3)
tnp.hsplit(ary=x3,indices_or_sections=2)
tnp.split(ary=tf.range(6),indices_or_sections=tf.constant(2))
tnp.split(ary=tf.range(7),indices_or_sections=2)
tnp.einsum("ij,jk",[[1,2]],[[3],[4]],casting="same_kind")
tnp.meshgrid([1,2],[3,4,5],sparse=True)
tnp.meshgrid([1,2],[3.5],copy=False)
tnp.moveaxis(x3,(0,1),destination=(2,)).shape
tnp.moveaxis(x3,[0,0],destination=[1,2]).shape
tnp.moveaxis(x3,5,destination=0).shape
tnp.promote_types(type1=tf.bfloat16,type2=tf.float16)
tnp.promote_types(type1=tf.bfloat16,type2=tf.int32)
tnp.reshape([[1,2],[3,4]],newshape=(4,),order="A")
tnp.reshape([[1,2],[3,4]],newshape=3)
tnp.reshape([[1,2],[3,4]],newshape=(1,4),order="K")
tnp.select(condlist=[],choicelist=[])
tnp.select(condlist=[[True]],choicelist=[[1],[2]])
tnp.tile([1],reps=-1)
""",
    message=True,
)
