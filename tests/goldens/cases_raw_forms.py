"""Raw ops that others compute: older forms, gradients, random numbers."""

from goldens.case import Group
from goldens.raw_ops import PREPARATION

GROUP = Group(PREPARATION)
GROUP.values("""
R.BiasAddV1(value=x,bias=[1.,2.,3.])
R.Concat(concat_dim=1,values=[x,x])
R.Gather(params=x,indices=[1])
R.Div(x=i,y=2)
R.Div(x=x,y=2.)
R.Mod(x=i,y=4)
R.MatrixDiag(diagonal=x)
R.MatrixDiagPart(input=x)
R.MatrixSetDiag(input=x,diagonal=[7.,8.])
R.MatrixDiagV2(diagonal=x,k=(0,1),num_rows=-1,num_cols=-1,padding_value=0.)
R.MatrixSetDiagV2(input=x,diagonal=[[7.,8.],[1.,2.]],k=(0,1))
R.SpaceToBatch(input=img,paddings=[[0,0],[0,0]],block_size=2)
R.BatchToSpace(input=tf.ones([4,1,1,1]),crops=[[0,0],[0,0]],block_size=2)
R.Reverse(tensor=x,dims=[False,True])
R.DataFormatDimMap(x=[0,1,-1],src_format="NHWC",dst_format="NCHW")
R.DataFormatVecPermute(x=[1,2,3,4],src_format="NHWC",dst_format="NCHW")
R.DataFormatVecPermute(x=[[1,2],[3,4]],src_format="NHWC",dst_format="NCHW")
R.NthElement(input=x,n=1)
R.NthElement(input=x,n=1,reverse=True)
R.Empty(shape=[2],dtype=tf.float32,init=True)
R.DeepCopy(x=x)
R.Copy(input=x)
R.InplaceAdd(x=x,i=[0],v=[[1.,1.,1.]])
R.InplaceSub(x=x,i=[0],v=[[1.,1.,1.]])
R.InplaceUpdate(x=x,i=[0],v=[[1.,1.,1.]])
R.ScatterNdNonAliasingAdd(input=[1.,2.],indices=[[0]],updates=[3.])
R.ParallelConcat(values=[[[1.]],[[2.]]],shape=[2,1])
R.ParallelDynamicStitch(indices=[[0],[1]],data=[[1.],[2.]])
R.Bincount(arr=[1,1,2],size=4,weights=tf.constant([],tf.float32))
R.Bincount(arr=[1,1,2],size=4,weights=[1,2,3])
R.SparseMatMul(a=x,b=x,transpose_b=True)
R.SparseSegmentSum(data=x,indices=[0,1,0],segment_ids=[0,0,1])
R.SparseSegmentMean(data=x,indices=[0,1,0],segment_ids=[0,0,1])
R.SparseSegmentSqrtN(data=x,indices=[0,1,0],segment_ids=[0,0,2])
R.SparseSegmentSumWithNumSegments(data=x,indices=[0,1,0],segment_ids=[0,0,2],num_segments=4)
R.SparseSegmentMeanWithNumSegments(data=x,indices=[0,1,0],segment_ids=[0,0,2],num_segments=4)
R.SparseSegmentSqrtNWithNumSegments(data=x,indices=[0,1,0],segment_ids=[0,0,2],num_segments=4)
R.StringSplit(input=["a b","c  d"],delimiter=" ")
R.NonMaxSuppression(boxes=[[0.,0.,1.,1.],[0.,0.,1.,.9]],scores=[.5,.6],max_output_size=2)
R.NonMaxSuppressionV2(boxes=[[0.,0.,1.,1.],[0.,0.,1.,.9]],scores=[.5,.6],max_output_size=2,iou_threshold=.95)
R.DrawBoundingBoxes(images=tf.zeros([1,3,3,1]),boxes=[[[0.,0.,1.,1.]]])
R.MaxPoolV2(input=img,ksize=[1,2,2,1],strides=[1,2,2,1],padding="VALID")
R.Enter(data=x,frame_name="a")
R.Switch(data=x,pred=True)
R.Merge(inputs=[x,x])
R.CheckNumericsV2(tensor=x,message="m")
R.StatelessRandomUniform(shape=[3],seed=[1,2])
R.StatelessRandomNormal(shape=[3],seed=[1,2])
R.StatelessTruncatedNormal(shape=[3],seed=[1,2])
R.StatelessRandomUniformFullInt(shape=[3],seed=[1,2],dtype=tf.int32)
R.StatelessRandomUniformInt(shape=[3],seed=[1,2],minval=0,maxval=10)
R.StatelessRandomGammaV2(shape=[2],seed=[1,2],alpha=[.5,2.])
R.StatelessRandomGetAlg()
R.StatelessRandomGetKeyCounterAlg(seed=[1,2])
R.ParameterizedTruncatedNormal(shape=[3],means=0.,stdevs=1.,minvals=-1.,maxvals=1.,seed=1,seed2=2).shape
R.InvGrad(y=x,dy=x)
R.CholeskyGrad(l=[[2.,0.],[1.,3.]],grad=[[1.,0.],[2.,3.]])
R.SparseSegmentSumGrad(grad=x,indices=[0,2,0],segment_ids=[0,0,1],output_dim0=4)
R.SparseSegmentMeanGrad(grad=x,indices=[0,2,0],segment_ids=[0,0,1],output_dim0=4)
R.SparseSegmentSqrtNGrad(grad=x,indices=[0,2,0],segment_ids=[0,0,1],output_dim0=4)
R.SparseSegmentSumGradV2(grad=x,indices=[3,1,3],segment_ids=[0,0,1],dense_output_dim0=4)
R.SparseSegmentMeanGradV2(grad=x,indices=[3,1,3],segment_ids=[0,0,1],dense_output_dim0=4)
R.SparseSegmentSqrtNGradV2(grad=x,indices=[3,1,3],segment_ids=[0,0,1],dense_output_dim0=4)
R.SparseFillEmptyRowsGrad(reverse_index_map=[0,2],grad_values=[1.,2.,3.])
R.ResizeBilinearGrad(grads=tf.ones([1,2,3,3]),original_image=img)
R.ResizeBicubicGrad(grads=tf.ones([1,2,3,3]),original_image=img,half_pixel_centers=True)
R.ResizeNearestNeighborGrad(grads=img,size=[2,2])
R.ScaleAndTranslateGrad(grads=tf.ones([1,2,3,3]),original_image=img,scale=[.5,.75],translation=[0.,0.])
R.CropAndResizeGradImage(grads=tf.ones([1,2,2,3]),boxes=[[.1,.1,.8,.9]],box_ind=[0],image_size=[1,4,4,3],T=tf.float32)
R.CropAndResizeGradBoxes(grads=tf.ones([1,2,2,3]),image=img,boxes=[[.1,.1,.8,.9]],box_ind=[0])
""")
GROUP.snippets("""
# ImageProjectiveTransformV2
R.ImageProjectiveTransformV2(
    images=img, transforms=[[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]], output_shape=[2, 2], interpolation="NEAREST"
)

# MaxPoolGradV2
R.MaxPoolGradV2(
    orig_input=img,
    orig_output=tf.nn.max_pool2d(img, 2, 2, "VALID"),
    grad=tf.ones([1, 2, 2, 3]),
    ksize=[1, 2, 2, 1],
    strides=[1, 2, 2, 1],
    padding="VALID",
)

# MaxPoolGradGradV2
R.MaxPoolGradGradV2(
    orig_input=img,
    orig_output=tf.nn.max_pool2d(img, 2, 2, "VALID"),
    grad=img,
    ksize=[1, 2, 2, 1],
    strides=[1, 2, 2, 1],
    padding="VALID",
)

# StatefulUniform
(lambda s: [R.StatefulUniform(resource=s.handle, algorithm=1, shape=[2]), s.read_value()])(
    tf.Variable(tf.constant([1, 2, 3], tf.int64))
)

# StatefulUniformInt
(lambda s: [R.StatefulUniformInt(resource=s.handle, algorithm=1, shape=[2], minval=0, maxval=9), s.read_value()])(
    tf.Variable(tf.constant([1, 2, 3], tf.int64))
)

# StatefulUniformFullInt
(lambda s: [R.StatefulUniformFullInt(resource=s.handle, algorithm=1, shape=[2], dtype=tf.uint64), s.read_value()])(
    tf.Variable(tf.constant([1, 2, 3], tf.int64))
)

# StatefulStandardNormalV2
(lambda s: [R.StatefulStandardNormalV2(resource=s.handle, algorithm=1, shape=[2]), s.read_value()])(
    tf.Variable(tf.constant([1, 2, 3], tf.int64))
)

# StatefulTruncatedNormal
(lambda s: [R.StatefulTruncatedNormal(resource=s.handle, algorithm=1, shape=[2]), s.read_value()])(
    tf.Variable(tf.constant([1, 2, 3], tf.int64))
)

# StatefulRandomBinomial
(
    lambda s: [
        R.StatefulRandomBinomial(resource=s.handle, algorithm=1, shape=[2], counts=10.0, probs=0.5),
        s.read_value(),
    ]
)(tf.Variable(tf.constant([1, 2, 3], tf.int64)))

# RngSkip
(lambda s: [R.RngSkip(resource=s.handle, algorithm=1, delta=5), s.read_value()])(
    tf.Variable(tf.constant([1, 2, 3], tf.int64))
)

# RngReadAndSkip
(lambda s: [R.RngReadAndSkip(resource=s.handle, alg=1, delta=tf.constant(5, tf.uint64)), s.read_value()])(
    tf.Variable(tf.constant([1, 2, 3], tf.int64))
)

# SparseSliceGrad
R.SparseSliceGrad(
    backprop_val_grad=[1.0, 2.0],
    input_indices=[[0, 0], [0, 2], [1, 1]],
    input_start=[0, 1],
    output_indices=[[0, 1], [1, 0]],
)
""")
