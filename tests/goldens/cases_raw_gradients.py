"""The ops in TensorFlow's own gradients: values of several forms and static shapes."""

from goldens.case import Group

GROUP = Group("""
import inspect
R = tf.raw_ops
def floats(*shape):
    return tf.cast(tf.reshape(tf.range(int(np.prod(shape))), shape) * 7 % 11 - 4, tf.float32)
def shapes(name, *specs, **arguments):
    def function(*tensors):
        inputs = dict(zip(inspect.signature(getattr(R, name)).parameters, tensors))
        return getattr(R, name)(**inputs, **arguments)
    outputs = tf.function(function, autograph=False).get_concrete_function(*specs).structured_outputs
    return [str(o.shape) for o in tf.nest.flatten(outputs)]
def F(*dims, dtype=tf.float32):
    return tf.TensorSpec(dims, dtype)
def I(*dims):
    return tf.TensorSpec(dims, tf.int32)
def L(*dims):
    return tf.TensorSpec(dims, tf.int64)
U, UI = tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)
IMAGE = floats(2, 3, 4, 2)
BOXES = [[0.1, 0.2, 0.9, 0.7], [0.0, 0.3, 1.2, 0.6], [0.5, 0.5, 0.1, 0.2]]
LOWER = [[[2.0, 0.0], [1.0, 3.0]], [[1.0, 0.0], [-2.0, 0.5]]]
def crops(grads, boxes, index, size, dtype=tf.float32, **options):
    return R.CropAndResizeGradImage(grads=grads, boxes=boxes, box_ind=index, image_size=size, T=dtype, **options)
def normal(name, training, **options):
    x, dy = floats(2, 2, 3, 2), floats(2, 2, 3, 2) * 0.5 + 1.0
    mean, variance = tf.constant([0.5, -1.0]), tf.constant([2.0, 0.5])
    results = getattr(R, name)(y_backprop=dy, x=x, scale=[1.5, 2.0], reserve_space_1=mean, reserve_space_2=variance,
                               is_training=training, **options)
    return list(results)[:3]
""")

GROUP.values("""
R.InvGrad(y=floats(2, 3), dy=floats(2, 3) * 2)
R.CholeskyGrad(l=LOWER, grad=floats(2, 2, 2))
R.CholeskyGrad(l=tf.constant(LOWER[0], tf.float64), grad=tf.constant([[1.0, 9.0], [2.0, 3.0]], tf.float64))
R.SparseSegmentSumGrad(grad=floats(2, 3), indices=[0, 2, 0, 3], segment_ids=[0, 0, 1, 1], output_dim0=5)
R.SparseSegmentMeanGrad(grad=floats(3, 2), indices=[0, 2, 0, 3], segment_ids=[0, 0, 2, 2], output_dim0=4)
R.SparseSegmentMeanGrad(grad=floats(3, 2, 2), indices=[0, 2, 0, 3], segment_ids=[0, 0, 0, 2], output_dim0=4)
R.SparseSegmentSqrtNGrad(grad=floats(3, 2), indices=[0, 2, 0, 3], segment_ids=[0, 0, 2, 2], output_dim0=4)
R.SparseSegmentSqrtNGrad(grad=floats(3, 2, 2), indices=[0, 2, 0, 3], segment_ids=[0, 0, 0, 2], output_dim0=4)
R.SparseSegmentSumGrad(grad=floats(3), indices=[0, 2, 1], segment_ids=[0, 0, 2], output_dim0=3)
R.SparseSegmentSumGradV2(grad=floats(3, 2), indices=[7, 2, 7, 3], segment_ids=[0, 0, 2, 2], dense_output_dim0=9)
R.SparseSegmentMeanGradV2(grad=floats(3, 2), indices=[7, 2, 7, 3], segment_ids=[0, 0, 2, 2], dense_output_dim0=9)
R.SparseSegmentSqrtNGradV2(grad=floats(3, 2), indices=[7, 2, 7, 3], segment_ids=[0, 0, 2, 2], dense_output_dim0=9)
R.SparseFillEmptyRowsGrad(reverse_index_map=[0, 2, 3], grad_values=[1.0, 2.0, 3.0, 4.5, 0.5])
R.ResizeNearestNeighborGrad(grads=floats(2, 3, 4, 2), size=[2, 3])
R.ResizeNearestNeighborGrad(grads=floats(2, 3, 4, 2), size=[5, 6])
R.ResizeNearestNeighborGrad(grads=floats(2, 3, 4, 2), size=[2, 2], align_corners=True)
R.ResizeNearestNeighborGrad(grads=floats(2, 3, 4, 2), size=[2, 3], half_pixel_centers=True)
crops(floats(3, 2, 3, 2), BOXES, [0, 1, 1], [2, 5, 4, 2])
crops(floats(2, 2, 3, 2), BOXES[:2], [1, 0], [2, 5, 4, 2], method='nearest')
tf.cast(crops(floats(1, 2, 2, 1), BOXES[:1], [0], [1, 3, 3, 1], tf.float64), tf.float32)
R.CropAndResizeGradBoxes(grads=floats(3, 2, 3, 2), image=IMAGE, boxes=BOXES, box_ind=[0, 1, 1])
normal("FusedBatchNormGrad", True)
normal("FusedBatchNormGrad", False)
normal("FusedBatchNormGrad", False, epsilon=0.5)
normal("FusedBatchNormGradV2", True, epsilon=0.1)
normal("FusedBatchNormGradV2", False)
shapes('InvGrad', F(2, 3), F(2, 3))
shapes('CholeskyGrad', F(2, 3, 3), F(2, 3, 3))
shapes('CholeskyGrad', F(2, None, 3), U)
shapes('CholeskyGrad', U, U)
shapes('SparseSegmentSumGrad', F(2, 3), I(4), I(4), output_dim0=5)
shapes('SparseSegmentMeanGrad', F(None, 3, 2), I(None), I(4), I())
shapes('SparseSegmentSqrtNGrad', U, I(4), I(4), output_dim0=5)
shapes('SparseSegmentSumGradV2', F(2, 3), I(4), I(4), I())
shapes('SparseSegmentMeanGradV2', F(2, 3, 4), I(None), I(4), dense_output_dim0=5)
shapes('SparseFillEmptyRowsGrad', L(3), F(5))
shapes('SparseFillEmptyRowsGrad', L(None), F(None))
shapes('SparseSliceGrad', F(2), L(4, 2), L(2), L(2, 2))
shapes('SparseSliceGrad', F(2), L(None, 2), L(2), L(2, 2))
shapes('ResizeNearestNeighborGrad', F(2, 3, 4, 5), size=[6, 7])
shapes('ResizeNearestNeighborGrad', F(2, 3, 4, None), I(2))
shapes('CropAndResizeGradImage', F(3, 2, 3, 2), F(3, 4), I(3), image_size=[2, 5, 4, 2], T=tf.float32)
shapes('CropAndResizeGradImage', F(3, 2, 3, 2), F(3, 4), I(3), I(4), T=tf.float32)
shapes('CropAndResizeGradBoxes', F(3, 2, 3, 2), F(2, 4, 4, 2), F(3, 4), I(3))
shapes('ResizeBilinearGrad', F(2, 3, 4, 5), F(2, None, 7, 5))
shapes('ResizeBicubicGrad', F(2, 3, 4, 5), F(2, None, 7, 5))
""")

GROUP.errors("""
shapes('CholeskyGrad', F(2, 3, 4), F(2, 3, 3))
shapes('CholeskyGrad', F(3), F(3))
shapes('SparseSegmentSumGrad', F(2, 3), I(4), I(5), output_dim0=5)
shapes('SparseSegmentSumGrad', F(2, 3), I(4, 1), I(4), output_dim0=5)
shapes('SparseSegmentMeanGrad', F(2, 3), I(4), I(4), output_dim0=-1)
shapes('SparseSegmentMeanGrad', F(2, 3), I(4), I(4), I(2))
shapes('SparseSegmentSumGradV2', F(2, 3), I(4), I(5), I())
shapes('SparseFillEmptyRowsGrad', L(3, 1), F(5))
shapes('SparseFillEmptyRowsGrad', L(3), F(5, 1))
shapes('ResizeNearestNeighborGrad', F(2, 3, 4), size=[6, 7])
shapes('ResizeNearestNeighborGrad', F(2, 3, 4, 5), I(3))
shapes('ResizeNearestNeighborGrad', F(2, 3, 4, 5), I(2, 1))
shapes('CropAndResizeGradImage', F(3, 2, 3, 2), F(3, 4), I(3), I(3), T=tf.float32)
shapes('CropAndResizeGradImage', F(3, 2, 3, 2), F(3, 4), I(3), I(4, 1), T=tf.float32)
R.CropAndResizeGradBoxes(grads=floats(3, 2, 3, 2), image=IMAGE, boxes=BOXES, box_ind=[0, 1, 2])
R.SparseSegmentSumGrad(grad=floats(2, 3), indices=[0, 9], segment_ids=[0, 1], output_dim0=5)
R.SparseFillEmptyRowsGrad(reverse_index_map=[0, 7], grad_values=[1.0, 2.0])
""")
