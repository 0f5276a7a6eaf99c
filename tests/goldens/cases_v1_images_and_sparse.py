"""`tf.compat.v1`: images, sparse tensors and parts of strings by TensorFlow 1's argument names, defaults and order."""

from goldens.case import Group

GROUP = Group("""
v1 = tf.compat.v1
image = tf.reshape(tf.range(24, dtype=tf.float32), [1, 4, 3, 2])
one, two = [1, 1, 1, 1], [1, 2, 2, 1]
boxes = [[0.1, 0.0, 0.8, 1.0], [0.5, 0.5, 0.0, 0.2]]
a = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1., -2., 3.], [2, 3])
b = tf.SparseTensor([[0, 1], [0, 2]], [4., 0.001], [2, 3])
data = tf.reshape(tf.range(8.), [4, 2])

def at(values):
    return tf.SparseTensor([[0, 0], [1, 0], [1, 1]], values, [2, 2])

def glimpse(*args, **kwargs):
    return v1.image.extract_glimpse(tf.reshape(tf.range(25.), [1, 5, 5, 1]), *args, **kwargs)[0, :, :, 0]
""")

# ---- images ----------------------------------------------------------------------------------------------------------

GROUP.family("v1.image.resize_images(image, {how})", how=["[2, 6]", "[4, 3], 2", "[5, 7], 0, True", "[5, 7], 3, True"])
GROUP.family("v1.image.resize_images(image, [2, 9], {method}, preserve_aspect_ratio=True)", method="1 2 3 'area'")
GROUP.family("v1.image.resize_images(image, size=[3, 4], method={method})", method="0 1 2 3 'nearest' 'bicubic'")
GROUP.family("v1.image.{f}(image, [6, 2]{how})", f="resize_bilinear resize_bicubic resize_nearest_neighbor",
             how=["", ", align_corners=True", ", half_pixel_centers=True, name='n'"])  # fmt: skip
GROUP.values("""
v1.image.resize_area(image, [2, 2])
v1.image.resize_area(images=image, size=[3, 5], align_corners=True, name="n")
v1.image.resize(image[0], [4, 3])
v1.image.resize(tf.cast(image, tf.uint8), [4, 3])
v1.image.resize(tf.cast(image, tf.uint8), [2, 3])
v1.image.resize(tf.cast(image, tf.uint8), [2, 3], v1.image.ResizeMethod.NEAREST_NEIGHBOR)
v1.image.resize_image_with_pad(image, 6, 6)
v1.image.resize_image_with_pad(image=image[0], target_height=2, target_width=5, method=1, align_corners=True)
v1.image.resize_image_with_pad(image, 4, 5)
v1.image.ResizeMethod.BILINEAR, v1.image.ResizeMethod.NEAREST_NEIGHBOR, v1.image.ResizeMethod.AREA
v1.image.crop_and_resize(image, boxes, [0, 0], [2, 2])
v1.image.crop_and_resize(image, boxes, box_indices=[0, 0], crop_size=[3, 2], method="nearest", extrapolation_value=-1.0)
v1.image.draw_bounding_boxes(tf.zeros([1, 4, 4, 3]), [boxes])
v1.image.draw_bounding_boxes(tf.zeros([1, 4, 4, 1]), [boxes], "n", [[0.5], [0.25]])
glimpse([3, 3], [[0., 0.]])
glimpse([3, 3], [[0.2, -0.2]], True, True)
glimpse(size=[2, 3], offsets=[[0., 0.]], centered=True, normalized=False)
glimpse([3, 3], [[1., 1.]], normalized=False, uniform_noise=False, name="n")
glimpse([2, 2], [[0.5, 0.3]], centered=False)
glimpse([1, 2], [[2., 3.]], False, False)
v1.image.extract_image_patches(image, two, two, one, "VALID")
v1.image.extract_image_patches(images=image, sizes=two, strides=one, rates=one, padding="SAME", name="n")
v1.extract_image_patches(image, ksizes=[1, 1, 2, 1], strides=one, rates=[1, 1, 1, 1], padding="VALID")
v1.image.rgb_to_grayscale(tf.ones([1, 1, 3]))
""")
GROUP.shapes("""
v1.image.sample_distorted_bounding_box([9, 8, 3], [[[0.1, 0.1, 0.9, 0.9]]])
v1.image.sample_distorted_bounding_box([9, 8, 3], [boxes[:1]], 1, 2, 0.2, [0.5, 1.5], [0.1, 1.0], 10, True, "n")
glimpse([9, 9], [[0., 0.]])
""")
GROUP.errors("""
v1.image.resize_images(image, [4, 5], 7)
v1.image.resize_images(image, [4, 5], "lanczos3")
v1.image.resize_images(image, [4])
v1.image.resize_images([1.0], [4, 4])
v1.image.resize_bilinear(image, [0, 2])
v1.image.resize_bilinear(image[0], [2, 2])
v1.image.crop_and_resize(image, boxes, [0, 0], [2, 2], box_indices=[0, 0])
v1.image.extract_image_patches(image, two, two, one, "VALID", sizes=two)
""")

# ---- sparse tensors --------------------------------------------------------------------------------------------------

GROUP.values("""
v1.sparse_add(a, b)
v1.sparse_add(a, b, 0.01)
v1.sparse_add(a=a, b=b, thresh=0.01)
v1.sparse.add(a, tf.ones([2, 3]))
v1.sparse.add(tf.ones([2, 3]), a)
v1.sparse_concat(0, [a, b])
v1.sparse_concat(axis=1, sp_inputs=[a, b], name="n", expand_nonconcat_dim=False)
v1.sparse.concat(1, [a, tf.SparseTensor([[2, 0]], [1.], [3, 1])], None, None, expand_nonconcat_dims=True)
v1.sparse.concat(None, [a, b], concat_dim=0)
v1.sparse_split(sp_input=a, num_split=2, axis=1)
v1.sparse.split(sp_input=a, num_split=2, axis=0, name="n")
v1.sparse_merge(at([2, 0, 1]), at([5., 6., 7.]), 3)
v1.sparse.merge(sp_ids=[at([1, 0, 1]), at([0, 2, 1])], sp_values=at([5., 6., 7.]), vocab_size=[2, 3], name="n")
v1.sparse.merge(at([2, 0, 1]), at([5., 6., 7.]), 3, None, True)
v1.sparse_to_dense([1, 3], [5], [7, 8])
v1.sparse_to_dense([[0, 1], [1, 0]], output_shape=[2, 2], sparse_values=1.5, default_value=-1.0, name="n")
v1.sparse_to_dense(2, [4], 9)
v1.sparse_to_dense([3, 1], [5], [7, 8], validate_indices=False)
v1.sparse_to_dense([0], [2], ["a"], "b")
v1.sparse_matmul([[1., 0.], [2., 3.]], [[1., 2.], [0., 4.]])
v1.sparse_matmul(a=[[1., 0.], [2., 3.]], b=[[1., 2.], [0., 4.]], transpose_a=True, b_is_sparse=True, name="n")
v1.sparse_matmul(tf.constant([[1., 2.]], tf.bfloat16), tf.constant([[1., 2.]]), transpose_b=True)
v1.sparse_tensor_dense_matmul(a, tf.ones([3, 2]))
v1.sparse.to_dense(a), v1.sparse_tensor_to_dense(a, default_value=9.)
v1.sparse_minimum(a, b), v1.sparse_reorder(a)
""")
GROUP.family(
    "v1.sparse_reduce_{f}(a{how})",
    f="sum max sum_sparse max_sparse",
    how=["", ", 1", ", axis=[0], keepdims=True", ", reduction_axes=[-1]", ", keep_dims=True"],
)
GROUP.family("v1.sparse.reduce_{f}(sp_input=a, axis=0)", f="sum max sum_sparse max_sparse")
GROUP.family(
    "v1.sparse_segment_{f}(data, {how})",
    f="sum mean sqrt_n",
    how=["[0, 2, 3], [0, 0, 1]", "indices=[0, 1], segment_ids=[0, 2], name='n', num_segments=4", "[1, 3], [0, 2]"],
)
GROUP.family("v1.sparse.segment_{f}(data, [0, 1], [0, 0], num_segments=2)", f="sum mean sqrt_n")
GROUP.errors("""
v1.sparse_add(a, b, 0.1, thresh=0.1)
v1.sparse_add(tf.ones([2]), tf.ones([2]))
v1.sparse_concat(0, [a, b], concat_dim=0)
v1.sparse_concat(0, [a, tf.SparseTensor([[2, 0]], [1.], [3, 1])])
v1.sparse_reduce_sum(a, 1, reduction_axes=1)
v1.sparse_reduce_max(a, keepdims=True, keep_dims=True)
v1.sparse_to_dense([3, 1], [5], [7, 8])
v1.sparse_to_dense([7], [5], [7])
v1.sparse_merge(a, b, [3])
v1.sparse_segment_sum(data, [0, 9], [0, 0])
v1.sparse_segment_sum(data, [0, 1], [1, 0])
""")
GROUP.errors(
    """
v1.sparse_split(2, a, 1)
v1.sparse_split(num_split=2, axis=1)
v1.sparse_split(sp_input=a, axis=1)
v1.sparse_split(sp_input=a, num_split=2)
""",
    message=True,
)

# ---- strings, conversions, seeds -------------------------------------------------------------------------------------

GROUP.values("""
v1.string_split(["a b  c", " d", ""])
v1.string_split(source=["a b  c", " d"], skip_empty=False)
v1.string_split(["a.b,c", "]-x"], sep=".,]-")
v1.string_split(["a,b"], delimiter=",", result_type="RaggedTensor", name="n")
v1.string_split(["abc", ""], sep="")
v1.string_split([])
v1.strings.split(["a b  c", " d"])
v1.strings.split(input="a b  c", name="n")
v1.strings.split(source=[["a,b"], ["c"]], sep=",")
v1.strings.split(["a,b,c"], ",", 1, "RaggedTensor")
v1.batch_to_space_nd(tf.reshape(tf.range(8), [4, 2, 1]), [2], [[0, 1]])
v1.manip.batch_to_space_nd(tf.reshape(tf.range(4), [4, 1, 1, 1]), [2, 2], crops=[[0, 0], [0, 0]], name="n")
v1.manip.reshape([1, 2], [2, 1]), v1.linalg.transpose([[1, 2]])
v1.convert_to_tensor_or_indexed_slices([1, 2], tf.float32)
v1.convert_to_tensor_or_indexed_slices(tf.IndexedSlices(tf.constant([1.]), tf.constant([2])))
v1.convert_to_tensor_or_sparse_tensor(value=[1, 2], dtype=None, name="n")
v1.convert_to_tensor_or_sparse_tensor(a, tf.float32)
v1.convert_to_tensor_or_sparse_tensor(v1.SparseTensorValue([[0, 1]], [2.], [1, 2]))
v1.debugging.assert_shapes([(data, ("N", 2)), (tf.ones([4]), ("N",))])
v1.set_random_seed(5), v1.get_seed(3), v1.random.get_seed(4), v1.get_seed(0), v1.get_seed(2 ** 31 - 1)
""")
GROUP.snippets("""
# sparse tensors as strings
one, many = v1.serialize_sparse(a), v1.io.serialize_many_sparse(sp_input=a, name="n")
found = tf.io.deserialize_many_sparse(one[None], tf.float32), tf.io.deserialize_many_sparse(many, tf.float32)
*found, v1.io.TFRecordCompressionType.GZIP, v1.python_io.TFRecordCompressionType.NONE

# tables that a session initializes
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
        table = v1.lookup.StaticHashTable(initializer=words, default_value=-1, name="t")
        more = v1.lookup.StaticVocabularyTable(words, num_oov_buckets=2)
        found = [table.lookup(tf.constant(["b", "c"])), more.lookup(tf.constant(["a", "zz"])), table.size()]
        session.run([table.initializer, more.initializer]), session.run(v1.initializers.tables_initializer())
        return session.run(found)
run()

# checks of all numbers in a graph
def run():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        tf.math.log(x)
        check = v1.add_check_numerics_ops()
        session.run(check, {x: [1., 2.]})
        try:
            session.run(check, {x: [0., 2.]})
        except tf.errors.InvalidArgumentError as error:
            return "Inf" in str(error)
run()

# datasets by their older names
e = v1.data.experimental
ones, twos = (tf.data.Dataset.from_tensors(x).repeat(3) for x in (1, 2))
[int(x) for x in e.choose_from_datasets([ones, twos], e.Counter().take(2))], [int(x) for x in e.Counter(3, 2).take(2)]
""")
GROUP.shapes("""
v1.random.stateless_multinomial([[0.5, 0.5]], 3, [1, 2])
v1.random.stateless_multinomial(logits=[[0.5, 0.5]], num_samples=3, seed=[1, 2], output_dtype=tf.int32, name="n")
""")
GROUP.errors("""
v1.string_split("abc")
v1.string_split(["a"], ",", delimiter=",")
v1.string_split(["a"], result_type="list")
v1.strings.split(["a"], source=["a"])
v1.strings.split(["a"], result_type="list")
v1.strings.split()
v1.convert_to_tensor_or_sparse_tensor(a, tf.int32)
v1.convert_to_tensor_or_indexed_slices(tf.constant(1.0), tf.int32)
v1.debugging.assert_shapes([(data, ("N", 3))])
""")
GROUP.snippets("""
# seeds of a graph's operations
with tf.Graph().as_default():
    found = [v1.get_seed(3), v1.get_seed(None)]
    v1.set_random_seed(7)
    found.append(v1.get_seed(3))
found

# strings split in a graph
with tf.Graph().as_default(), v1.Session() as session:
    words = v1.placeholder(tf.string, [None])
    parts = v1.string_split(words, ",;")
    found = session.run(parts, {words: ["a,b", "c;d,"]})
found.indices, found.values, found.dense_shape
""")
