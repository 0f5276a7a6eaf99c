"""Convolution and pooling."""

from goldens.case import Group

GROUP = Group("""
def ramp(*shape):
    return tf.constant(3 * np.sin(0.7 * np.arange(np.prod(shape))).reshape(shape), tf.float32)

def whole(*shape):
    return tf.reshape(tf.range(int(np.prod(shape))) - 5, shape)

seq = ramp(2, 6, 2)
img = ramp(1, 5, 4, 2)
vol = ramp(1, 3, 4, 3, 2)
k1 = ramp(3, 2, 2)
k2 = ramp(3, 2, 2, 3)
k3 = ramp(2, 2, 2, 2, 1)
dw = ramp(3, 2, 2, 2)
""")
LOOSE = {"rtol": 1e-4, "atol": 1e-5, "because": "the order of a convolution's sums is the kernel's choice"}

GROUP.family("tf.nn.conv1d(seq, k1, {options})", **LOOSE, options="""
1, 'SAME'
1, 'VALID'
2, 'SAME'
stride=2, padding='VALID'
1, 'SAME', dilations=2
1, 'VALID', 'NWC', [2]
[1, 2, 1], 'SAME'
""")  # fmt: skip
GROUP.family("tf.nn.conv2d(img, k2, {options})", **LOOSE, options="""
1, 'SAME'
1, 'VALID'
2, 'SAME'
2, 'VALID'
[1, 1, 1, 1], 'SAME'
[1, 2, 1, 1], 'SAME'
[2, 1], 'VALID'
strides=1, padding='SAME', dilations=2
1, 'VALID', 'NHWC', [1, 1, 2, 1]
1, [[0, 0], [1, 2], [0, 1], [0, 0]]
2, [[0, 0], [1, 1], [1, 1], [0, 0]]
strides=3, padding='SAME', name='c'
""")  # fmt: skip
GROUP.family("tf.nn.conv3d(vol, k3, {options})", **LOOSE, options="""
[1, 1, 1, 1, 1], 'SAME'
[1, 1, 1, 1, 1], 'VALID'
[1, 2, 2, 2, 1], 'SAME'
strides=[1, 1, 2, 1, 1], padding='VALID', data_format='NDHWC'
""")  # fmt: skip
GROUP.family("tf.nn.depthwise_conv2d(img, dw, {options})", **LOOSE, options="""
[1, 1, 1, 1], 'SAME'
[1, 1, 1, 1], 'VALID'
[1, 2, 2, 1], 'SAME'
strides=[1, 1, 1, 1], padding='SAME', dilations=[2, 2]
[1, 1, 1, 1], [[0, 0], [1, 1], [0, 1], [0, 0]]
""")  # fmt: skip
GROUP.values("""
tf.nn.conv1d(img, k1, 1, 'SAME')
tf.nn.convolution(img, k1)
tf.nn.convolution(img, k2)
tf.nn.convolution(img, k2, strides=[2, 1], padding='SAME')
tf.nn.convolution(seq, k1, padding='SAME', dilations=[2])
tf.nn.convolution(vol, k3, 1, 'SAME')
tf.nn.conv2d(ramp(2, 2, 5, 4, 1), ramp(3, 2, 1, 2), 1, 'VALID')
tf.nn.conv2d(img, ramp(2, 2, 1, 4), 1, 'VALID')
tf.nn.conv2d(tf.cast(img, tf.float64), tf.cast(k2, tf.float64), 1, 'SAME')
tf.nn.conv2d(tf.zeros([0, 5, 4, 2]), k2, 1, 'SAME')
tf.nn.conv2d(input=img, filters=k2, strides=1, padding='VALID')
tf.nn.conv1d_transpose(seq, ramp(3, 4, 2), [2, 12, 4], 2)
tf.nn.conv1d_transpose(seq, ramp(3, 1, 2), [2, 8, 1], 1, 'VALID')
tf.nn.conv2d_transpose(img, ramp(3, 2, 3, 2), [1, 10, 8, 3], 2)
tf.nn.conv2d_transpose(img, ramp(3, 2, 1, 2), [1, 5, 4, 1], 1, 'SAME')
tf.nn.conv2d_transpose(img, ramp(3, 2, 1, 2), [1, 7, 5, 1], strides=1, padding='VALID')
tf.nn.conv3d_transpose(vol, ramp(2, 2, 2, 1, 2), [1, 6, 8, 6, 1], 2)
tf.nn.conv_transpose(img, ramp(3, 2, 1, 2), [1, 10, 8, 1], strides=2)
tf.nn.atrous_conv2d(img, k2, 2, 'SAME')
tf.nn.atrous_conv2d(img, ramp(2, 2, 2, 1), rate=2, padding='VALID')
tf.nn.atrous_conv2d_transpose(img, ramp(3, 2, 1, 2), [1, 5, 4, 1], 2, 'SAME')
tf.nn.separable_conv2d(img, dw, ramp(1, 1, 4, 2), [1, 1, 1, 1], 'SAME')
tf.nn.separable_conv2d(img, dw, ramp(1, 1, 4, 2), strides=[1, 2, 2, 1], padding='VALID')
tf.nn.depthwise_conv2d_backprop_input([1, 5, 4, 2], dw, ramp(1, 5, 4, 4), [1, 1, 1, 1], 'SAME')
tf.nn.depthwise_conv2d_backprop_filter(img, [3, 2, 2, 2], ramp(1, 5, 4, 4), [1, 1, 1, 1], 'SAME')
tf.nn.dilation2d(img, ramp(2, 2, 2), [1, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])
tf.nn.dilation2d(img, ramp(2, 2, 2), [1, 2, 2, 1], 'SAME', 'NHWC', [1, 2, 2, 1])
tf.nn.erosion2d(img, ramp(2, 2, 2), [1, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])
tf.nn.space_to_batch(img[:, :4], [2, 2], [[0, 0], [0, 0]]).shape
""", **LOOSE)  # fmt: skip

GROUP.family("tf.nn.{f}(img, {options})", f="max_pool2d avg_pool2d max_pool avg_pool", options="""
2, 2, 'VALID'
2, 2, 'SAME'
3, 1, 'SAME'
[2, 3], [1, 2], 'VALID'
ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding='VALID'
3, 2, 'SAME', 'NHWC'
""")  # fmt: skip
GROUP.family("tf.nn.{f}(seq, {options})", f="max_pool1d avg_pool1d", options="""
2, 2, 'VALID'
3, 1, 'SAME'
ksize=2, strides=3, padding='SAME', data_format='NWC', name='p'
""")  # fmt: skip
GROUP.family("tf.nn.{f}(vol, {options})", f="max_pool3d avg_pool3d", options="""
2, 1, 'VALID'
2, 2, 'SAME'
[1, 2, 2, 2, 1], [1, 1, 2, 1, 1], 'VALID'
""")  # fmt: skip
GROUP.values("""
tf.nn.pool(img, [2, 2], 'MAX')
tf.nn.pool(img, [2, 2], 'AVG', strides=[1, 2], padding='SAME')
tf.nn.pool(seq, [2], 'AVG', [2], 'VALID')
tf.nn.pool(vol, [2, 2, 2], pooling_type='MAX', dilations=[1, 1, 1])
tf.nn.pool(img, [2, 2], 'MAX', dilations=[2, 2])
tf.nn.max_pool(seq, 2, 2, 'VALID')
tf.nn.avg_pool(vol, 2, 2, 'VALID')
tf.nn.max_pool2d(img, 2, 2, [[0, 0], [1, 0], [0, 1], [0, 0]])
tf.nn.max_pool2d(tf.constant([[[[1], [5]], [[3], [2]]]]), 2, 1, 'VALID')
tf.nn.max_pool2d(tf.cast(img, tf.float16), 2, 2, 'VALID')
tf.nn.avg_pool2d(tf.cast(img, tf.float64), 2, 2, 'VALID')
tf.nn.avg_pool2d(tf.cast(img, tf.bfloat16), 2, 2, 'VALID')
tf.nn.max_pool_with_argmax(img, 2, 2, 'VALID')
tf.nn.max_pool_with_argmax(img, 2, 1, 'SAME', include_batch_in_index=True)
tf.nn.max_pool_with_argmax(img, [1, 2, 2, 1], [1, 2, 2, 1], 'VALID', output_dtype=tf.int32)
""")
GROUP.shapes("""
tf.nn.fractional_max_pool(ramp(1, 8, 8, 1), [1.0, 1.5, 1.5, 1.0], seed=1)
tf.nn.fractional_avg_pool(ramp(1, 8, 8, 1), [1.0, 1.5, 1.5, 1.0], pseudo_random=True, seed=1)
""")
GROUP.errors("""
tf.nn.conv2d(img, k2, 1, 'same ')
tf.nn.conv2d(img, k2, 1, 'FULL')
tf.nn.conv2d(img, k2, 0, 'SAME')
tf.nn.conv2d(img, k2, [1, 1, 1], 'SAME')
tf.nn.conv2d(img, k2, [2, 1, 1, 1], 'SAME')
tf.nn.conv2d(img, k2[0], 1, 'SAME')
tf.nn.conv2d(img, ramp(2, 2, 3, 1), 1, 'SAME')
tf.nn.conv2d(img, ramp(9, 9, 2, 1), 1, 'VALID')
tf.nn.conv2d(img, tf.cast(k2, tf.float64), 1, 'SAME')
tf.nn.conv2d(img, k2, 1, [[1, 1], [0, 0]])
tf.nn.conv2d(img, k2, 1, 'SAME', 'NHCW')
tf.nn.conv2d(img, k2, 1, 'SAME', dilations=-1)
tf.nn.conv1d(seq, k1, 1, 'FULL')
tf.nn.conv3d(vol, k3, [1] * 4, 'SAME')
tf.nn.conv3d(vol, k3, None, 'SAME')
tf.nn.conv3d(vol, k3, [1] * 6, 'SAME')
tf.nn.conv3d(vol, k3, [1] * 5, 'SAME', dilations=[1, 1])
tf.function(lambda: tf.nn.conv3d(vol, k3, [1] * 3, 'SAME'))()
tf.function(lambda: tf.nn.conv3d(vol, k3, None, 'SAME'))()
tf.nn.depthwise_conv2d(img, ramp(2, 2, 3, 1), [1] * 4, 'SAME')
tf.nn.depthwise_conv2d(img, dw, 1, 'SAME')
tf.nn.conv2d_transpose(img, ramp(3, 2, 1, 2), [1, 11, 8, 1], 3)
tf.nn.conv2d_transpose(img, ramp(3, 2, 2, 1), [1, 10, 8, 2], 2)
tf.nn.separable_conv2d(img, dw, ramp(1, 1, 3, 2), [1] * 4, 'SAME')
tf.nn.max_pool2d(img, 7, 1, 'VALID')
tf.nn.max_pool2d(img, 2, 2, 'FULL')
tf.nn.max_pool2d(img, 0, 1, 'SAME')
tf.nn.max_pool2d(img, 2, 0, 'SAME')
tf.nn.max_pool2d(img[0], 2, 2, 'SAME')
tf.nn.max_pool2d(img, [1, 2], [1, 2, 3], 'SAME')
tf.nn.avg_pool2d(tf.constant([[[[1]]]]), 1, 1, 'SAME')
tf.nn.avg_pool2d(img, 2, 2, 'SAME', 'HWC')
tf.nn.max_pool(img[0, 0], 2, 2, 'SAME')
tf.nn.pool(img, [2, 2], 'MIN')
tf.nn.pool(img, [2], 'MAX')
tf.nn.max_pool_with_argmax(img, 2, 2, 'FULL')
tf.nn.dilation2d(img, ramp(2, 2, 3), [1] * 4, 'VALID', 'NHWC', [1] * 4)
tf.nn.fractional_max_pool(img, [1.0, 0.5, 0.5, 1.0])
tf.nn.convolution(img, k2, padding='FULL')
tf.nn.atrous_conv2d(img, k2, 0, 'SAME')
""")
# ---- integers ----

GROUP.values("""
tf.nn.conv2d(whole(1, 5, 4, 2), whole(3, 2, 2, 1), 1, 'SAME')
tf.nn.conv2d_transpose(whole(1, 5, 4, 2), whole(3, 2, 1, 2), [1, 10, 8, 1], 2)
tf.function(lambda x: tf.nn.conv2d_transpose(x, whole(3, 2, 1, 2), [1, 10, 8, 1], 2))(whole(1, 5, 4, 2))
tf.nn.conv_transpose(whole(1, 5, 4, 2), whole(3, 2, 1, 2), [1, 10, 8, 1], strides=2)
tf.nn.conv1d_transpose(whole(1, 6, 2), whole(3, 1, 2), [1, 12, 1], 2)
tf.compat.v1.nn.conv2d_backprop_input([1, 5, 4, 1], whole(3, 2, 1, 2), 2**28 * whole(1, 5, 4, 2), [1] * 4, 'SAME')
""")
