"""Arguments that whole families of ops take or refuse by one rule, eagerly and while a graph is built."""

from goldens.case import Group

GROUP = Group("""
o = tf.ones
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
image = o([1, 5, 4, 2])
uneven = [[1, 2], [3]]
ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
def traced(f):
    return tf.function(f, autograph=False)()
""")

# ---- lists ---------------------------------------------------------------------------------------------------------

# In the place of an axis, a shape and the like they are checked as wherever else.
GROUP.errors("""
tf.reduce_sum(x, uneven)
tf.reshape(x, uneven)
tf.tile(x, uneven)
tf.slice(x, uneven, [1, 1])
tf.fill(uneven, 1)
tf.cumsum(x, uneven)
tf.image.resize(o([1, 2, 2, 1]), [1, [2]])
tf.raw_ops.Sum(input=x, axis=[1.5, 'a'])
traced(lambda: tf.cumsum(x, uneven))
traced(lambda: tf.raw_ops.Slice(input=x, begin=np.array([1, 2], np.int8), size=[1, 1]))
tf.raw_ops.RandomUniform(shape=np.array([1, 2], np.int8), dtype=tf.float32)
""")

# A graph looks at the elements before it looks at the lengths of lists.
GROUP.errors("""
tf.strings.length(uneven)
traced(lambda: tf.strings.length(uneven))
traced(lambda: tf.convert_to_tensor([['a'], ['b', 'c']], tf.int32))
traced(lambda: tf.convert_to_tensor([[1], [1, 2]], tf.int32))
traced(lambda: tf.parallel_stack([[], [1, 2]]))
traced(lambda: tf.shape_n([[1, tf.constant(2, tf.int64)], [[3]]]))
traced(lambda: tf.raw_ops.Pack(values=[uneven, uneven]))
tf.convert_to_tensor([True, 1])
""")
GROUP.values("""
traced(lambda: tf.convert_to_tensor([True, 1]))
traced(lambda: tf.convert_to_tensor([True, 1.5]))
""")

# NumPy reads the numbers in texts.
GROUP.values("""
tf.constant(np.array([b'5', b'6'], object), tf.int32)
tf.constant(np.array(['0.5', '6']), tf.float32)
tf.constant(np.array([b'5', b'x'], object), tf.bool)
tf.constant(np.array([], object), tf.bfloat16)
tf.reshape(tf.range(6), np.array([b'3', b'2'], object))
x + np.array([b'5', b'6'], object)
""")
GROUP.errors("""
tf.constant(np.array([b'5', b'x'], object), tf.int32)
tf.constant(np.array([b'5'], object), tf.bfloat16)
tf.constant(np.array([b'300'], object), tf.uint8)
""")

# ---- numbers -------------------------------------------------------------------------------------------------------

GROUP.errors("""
tf.nn.avg_pool2d(image, 2**31, 1, 'SAME')
tf.nn.max_pool2d(image, 2, [1, 2**31, 1, 1], 'SAME')
tf.nn.conv2d(image, o([2, 2, 2, 1]), [1, 2**31, 1, 1], 'SAME')
tf.nn.dilation2d(image, o([2, 2, 2]), [1, 1, 1, 1], 'SAME', 'NHWC', [1, 2**31, 1, 1])
tf.image.extract_patches(image, [1, 2**31, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')
tf.nn.space_to_depth(image, 2**31)
traced(lambda: tf.nn.avg_pool2d(image, 2**31, 1, 'SAME'))
traced(lambda: tf.nn.space_to_depth(image, 2**31))
tf.image.extract_patches(image, [1, 0, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')
tf.image.extract_patches(image, [1, 2, 2, 1], [1, 0, 1, 1], [1, 1, 1, 1], 'SAME')
tf.extract_volume_patches(o([1, 3, 3, 3, 1]), [1, 2, 2, 2, 1], [1, 0, 1, 1, 1], 'SAME')
tf.nn.depthwise_conv2d(image, o([2, 2, 2, 1]), [2, 1, 1, 1], 'SAME')
tf.nn.avg_pool3d(o([1, 3, 3, 3, 1]), [1, 2, 2, 2, 0], 1, 'SAME')
tf.sparse.slice(tf.sparse.from_dense(x), [0, 0], [-1, 2])
tf.sparse.segment_sum(x, [0, 1], [-1, 0])
tf.image.crop_to_bounding_box(image, 0, 0, 0, 1)
tf.image.resize_with_pad(image, 0, 5)
tf.image.extract_glimpse(image, [-1, 3], [[0.0, 0.0]])
traced(lambda: tf.fingerprint([0], method='md5'))
traced(lambda: tf.sparse.split(tf.sparse.from_dense(x), 0, 1))
tf.reverse(ragged, [2])
tf.reduce_max(x, ragged)
""")
GROUP.values("""
tf.strings.substr('abc', 1, -1)
tf.strings.to_hash_bucket_strong(['a'], 2**40, [2**60, 3])
""")

# ---- ranks and sizes -------------------------------------------------------------------------------------------------

GROUP.errors("""
traced(lambda: tf.reshape(x, 4))
traced(lambda: tf.fill(4, 1))
tf.pad(1.0, [[1, 0], [0, 2]])
tf.norm(1.0, 2, [0, 1])
tf.norm(x, 2, [0, 5])
tf.nn.softmax_cross_entropy_with_logits(1.0, [[1.0, 2.0]])
tf.nn.softmax_cross_entropy_with_logits([[1.0, 2.0]], 1.0)
tf.image.psnr(image, 1.0, 1.0)
tf.image.psnr(image, image[..., :1], 1.0)
tf.image.ssim(o([2, 4, 4, 1]), o([3, 4, 4, 1]), 1.0, 3)
tf.linalg.lstsq(o([3, 2]), o([1, 3, 3]), fast=False)
tf.linalg.lstsq(o([2, 3, 2]), o([1, 3, 3]), fast=False)
tf.linalg.lstsq(o([3, 2]), o([2, 3]), fast=False)
tf.signal.rfftnd([1.0, 2.0], [3, 4], [0, 1])
tf.signal.fftnd(tf.constant(1.0))
traced(lambda: tf.signal.fftshift(1.0))
x[tf.constant([[0, 1]])]
traced(lambda: x[tf.constant([[0, 1]])])
tf.bitwise.left_shift(tf.zeros([0], tf.uint16), tf.constant([1, 2], tf.uint16))
traced(lambda: tf.conv(image, o([2, 2, 1, 3]), [1, 1, 1, 1], 'SAME', groups=2))
""")
GROUP.values("""
tf.reshape([5], 1)
tf.repeat(1, 2, axis=0)
tf.repeat(1, [3], axis=-1)
traced(lambda: tf.pad(1.0, tf.zeros([0, 2], tf.int32)))
tf.nn.depthwise_conv2d(image, o([0, 2, 2, 2]), [1, 1, 1, 1], 'SAME')
tf.nn.conv2d(image, o([2, 2, 2, 0]), 1, 'SAME')
tf.nn.conv2d_transpose(image, o([0, 2, 1, 2]), [1, 10, 8, 1], 2, 'SAME')
tf.nn.depthwise_conv2d_backprop_filter(image, [0, 2, 2, 2], o([1, 5, 4, 4]), [1, 1, 1, 1], 'SAME')
""")
