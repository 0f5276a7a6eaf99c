"""What people ask and report: more of tensors, pipelines, files, models, AutoGraph, and of mistakes."""

from goldens.case import Group

GROUP = Group("tf.random.set_seed(1)")

GROUP.snippets("""
# the jacobian of atan2 with broadcasting
a, b = tf.ones([1, 1, 2, 2]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(b)
    y = tf.math.atan2(a, b)
tape.jacobian(y, b)

# batch_jacobian of a function of unknown batch
@tf.function(input_signature=[tf.TensorSpec([None, 2])])
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x ** 2
    return tape.batch_jacobian(y, x)
f(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))

# variables as arguments of nested functions
@tf.function(reduce_retracing=True)
def f(variables):
    for v in variables:
        v.assign_add(1.0)
@tf.function(reduce_retracing=True)
def g(variables):
    f(variables)
@tf.function(reduce_retracing=True)
def h(variables):
    f(variables)
vs = [tf.Variable(float(i)) for i in range(3)]
g(vs), h(vs), f(vs)
([v.numpy() for v in vs], f.experimental_get_tracing_count())

# two variables one after the other as an argument
@tf.function
def f(v):
    return v + 1
(f(tf.Variable(1)), f(tf.Variable(2)), f.experimental_get_tracing_count())

# shuffle and repeat around an error that is ignored
ds = tf.data.Dataset.from_tensor_slices([1, 2, 3, 0, 4]).map(lambda x: tf.debugging.check_numerics(12 / x, "x"))
list(ds.ignore_errors().as_numpy_iterator())

# ignore_errors after batch leaves the whole batch out
ds = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0,
    5.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad"))
list(ds.batch(2).ignore_errors().as_numpy_iterator())

# broadcast_to with -1 in a function
@tf.function
def f(x):
    return tf.broadcast_to(x, [-1])
f(tf.constant([1.0, 2.0]))

# a metric with a vector as weight
class Counts(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="counts")
        self.n = self.add_weight(shape=(3,), initializer="zeros", name="n")
    def update_state(self, y_true, y_pred, sample_weight=None):
        self.n.assign_add(tf.reduce_sum(tf.one_hot(y_pred, 3), 0))
    def result(self):
        return self.n / tf.reduce_sum(self.n)
m = Counts()
m.update_state(None, [0, 1, 1, 2])
first = m.result()
m.reset_state()
(first, m.n.numpy(), m.result())

# a metric that gives a dict in fit
class Both(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="both")
        self.t = self.add_weight(name="t", initializer="zeros")
    def update_state(self, y_true, y_pred, sample_weight=None):
        self.t.assign_add(tf.reduce_sum(y_pred))
    def result(self):
        return {"low": self.t, "high": self.t * 2}
model = tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Dense(1, kernel_initializer="ones")])
model.compile("sgd", "mse", metrics=[Both()])
h = model.fit(np.ones([2, 1]), np.ones([2, 1]), verbose=0)
{k: [float(x) for x in v] for k, v in h.history.items()}

# a gather along an axis with batches of rows
x = tf.reshape(tf.range(12), [2, 2, 3])
(tf.gather(x, [[1], [0]], axis=1, batch_dims=1), tf.gather(x, [[2, 0], [1, 1]], axis=-1, batch_dims=1))

# the k largest of each row as a mask
x = tf.constant([[1.0, 5.0, 3.0], [9.0, 2.0, 4.0]])
values, indices = tf.math.top_k(x, 2)
rows = tf.repeat(tf.range(2), 2)
mask = tf.scatter_nd(tf.stack([rows, tf.reshape(indices, [-1])], 1), tf.ones([4]), tf.shape(x))
(values, indices, mask)

# take_along_axis of NumPy by gather_nd and by batch_dims
x, i = tf.constant([[10, 20, 30], [40, 50, 60]]), tf.constant([[2, 0], [1, 1]])
(tf.gather(x, i, batch_dims=1), tf.experimental.numpy.take_along_axis(x, i, 1))

# a running maximum
tf.scan(lambda a, x: tf.maximum(a, x), tf.constant([1, 3, 2, 5, 4]))

# the mode of a vector
x = tf.constant([3, 1, 3, 2, 1, 3])
v, _, c = tf.unique_with_counts(x)
v[tf.argmax(c)]

# indices of unique rows
tf.raw_ops.UniqueV2(x=[[1, 2], [1, 2], [3, 4]], axis=[0])

# integers divided give float64
tf.constant([1, 2]) / tf.constant([4, 4])

# a NumPy scalar from the left and from the right
(np.float32(2) * tf.constant([1.0]), tf.constant([1.0]) * np.float32(2), np.array([2.0],
    np.float32) + tf.constant([1.0]))

# string_to_hash_bucket with a strong hash
(tf.strings.to_hash_bucket_strong(["a", "b"], 100, [1, 2]), tf.strings.to_hash_bucket_fast(["a", "b"], 100),
    tf.strings.to_hash_bucket(["a", "b"], 100))

# padding an image to a square
x = tf.reshape(tf.range(6.0), [2, 3, 1])
tf.image.pad_to_bounding_box(x, 1, 0, 4, 3)

# per_image_standardization in float16 and in integers
(tf.image.per_image_standardization(tf.reshape(tf.range(4.0), [2, 2, 1])),
    tf.image.per_image_standardization(tf.reshape(tf.range(4), [2, 2, 1])))

# the dtype of adjust_brightness and of convert_image_dtype
x = tf.constant([[[0], [200]]], tf.uint8)
(tf.image.adjust_brightness(x, 0.3), tf.image.convert_image_dtype(x, tf.float16),
    tf.image.convert_image_dtype(x, tf.int16))

# extract_patches with rates
x = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 2, 2, 1], "VALID")

# a convolution in one dimension with dilation and causal padding
tf.nn.conv1d(tf.reshape(tf.range(6.0), [1, 6, 1]), tf.ones([2, 1, 1]), 1, "SAME", dilations=2)

# a transposed convolution of a given output
tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 1]), tf.ones([3, 3, 1, 1]), [1, 4, 4, 1], 2, "SAME")

# a convolution with explicit padding
tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), 2, [[0, 0], [1, 0], [0, 1], [0, 0]])

# max_pool_with_argmax with the batch in the index
x = tf.reshape(tf.range(16.0), [2, 2, 4, 1])
tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", include_batch_in_index=True)

# a batch of matrices solved with one right-hand side
tf.linalg.solve(tf.eye(2, batch_shape=[3]) * 2.0, tf.ones([3, 2, 1]))

# the QR decomposition of a wide matrix
q, r = tf.linalg.qr(tf.constant([[3.0, 1.0, 2.0], [4.0, 2.0, 1.0]]))
tf.matmul(q, r)

# logm and sqrtm there and back
m = tf.constant([[2.0, 1.0], [0.0, 3.0]], tf.complex64)
(tf.linalg.expm(tf.linalg.logm(m)), tf.linalg.matmul(tf.linalg.sqrtm(m), tf.linalg.sqrtm(m)))

# band_part keeps one diagonal
tf.linalg.band_part(tf.ones([3, 3]), 0, 1)

# an upper triangle as a mask
tf.linalg.band_part(tf.ones([2, 3], tf.int32), 0, -1)

# set_diag of a wide matrix with an offset
tf.linalg.set_diag(tf.zeros([2, 3]), tf.constant([1.0, 2.0]), k=1)

# eigenvalues of a matrix that isn't symmetric
tf.linalg.eigvals(tf.constant([[0.0, 1.0], [-1.0, 0.0]]))

# a masked mean that divides by zero
x, mask = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[True, False], [False, False]])
m = tf.cast(mask, tf.float32)
(tf.reduce_sum(x * m, 1) / tf.reduce_sum(m, 1), tf.math.divide_no_nan(tf.reduce_sum(x * m, 1), tf.reduce_sum(m, 1)))

# reduce_logsumexp of minus infinity and its gradient
x = tf.constant([[-np.inf, -np.inf], [0.0, -np.inf]], tf.float32)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_logsumexp(x, 1)
(y, tape.gradient(y, x))

# weighted moments
tf.nn.weighted_moments(tf.constant([[1.0, 2.0], [3.0, 6.0]]), [0], tf.constant([[1.0], [3.0]]))

# normalize_moments and sufficient_statistics
c, s, ss, _ = tf.nn.sufficient_statistics(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [0])
(c, s, ss, tf.nn.normalize_moments(c, s, ss, None))

# ctc beam search of a short input
logits = tf.math.log(tf.constant([[[0.1, 0.6, 0.3]], [[0.2, 0.3, 0.5]]]))
d, p = tf.nn.ctc_beam_search_decoder(logits, [2], beam_width=4, top_paths=2)
([x.values for x in d], p)

# nce and sampled softmax with given candidates
tf.nn.sampled_softmax_loss(tf.eye(3), tf.zeros([3]), tf.constant([[1], [2]]), tf.ones([2, 3]), 2, 3,
    sampled_values=(tf.constant([0, 2], tf.int64), tf.ones([2, 1]), tf.ones([2])))

# from_generator with a ragged signature
def gen():
    yield tf.ragged.constant([[1], [2, 3]])
    yield tf.ragged.constant([[4, 5]])
ds = tf.data.Dataset.from_generator(gen, output_signature=tf.RaggedTensorSpec([None, None], tf.int32))
list(ds)

# batch of ragged rows keeps the ragged rank
ds = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [3], []]))
[x for x in ds.batch(2)]

# ragged_batch of vectors of other lengths
ds = tf.data.Dataset.range(4).map(lambda n: tf.range(n)).ragged_batch(3)
(list(ds), ds.element_spec)

# padded_batch of a dict with another padding value for each
ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "n": [1, 3]}).map(lambda d: {"x": tf.fill([d["n"]],
    d["a"]), "y": tf.fill([d["n"]], "t")})
list(ds.padded_batch(2, padding_values={"x": -1, "y": "<pad>"}))

# bucket_by_sequence_length with padding to the boundary
ds = tf.data.Dataset.from_generator(lambda: [[1], [1, 2, 3], [1, 2]], output_signature=tf.TensorSpec([None], tf.int32))
list(ds.bucket_by_sequence_length(tf.size, [4], [2, 2], pad_to_bucket_boundary=True))

# window, flat_map and zip of several features
ds = tf.data.Dataset.from_tensor_slices((tf.range(5), tf.range(5) * 10)).window(3, 1, drop_remainder=True)
list(ds.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(3), b.batch(3)))))

# a window with a stride and a shift
[[int(y) for y in w] for w in tf.data.Dataset.range(10).window(3, shift=4, stride=2)]

# map that returns a dataset and flattened by interleave
ds = tf.data.Dataset.range(3).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2,
    block_length=1)
list(ds.as_numpy_iterator())

# take, skip and a cardinality that is asserted
ds = tf.data.Dataset.range(5).filter(lambda x: x > 1).apply(tf.data.experimental.assert_cardinality(3))
(ds.cardinality(), len(ds), list(ds.skip(1).take(1).as_numpy_iterator()))

# snapshot of elements and of their structure
ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": [b"x", b"y"]}).snapshot(tmp + "/s")
(list(ds), list(ds))

# a saved dataset loaded with its spec
ds = tf.data.Dataset.from_tensor_slices((tf.ragged.constant([[1], [2, 3]]), [0.5, 1.5]))
ds.save(tmp + "/d")
again = tf.data.Dataset.load(tmp + "/d")
(again.element_spec, list(again))

# a make_csv_dataset with labels and a column that is chosen
open(tmp + "/a.csv", "w").write("a,b,c\\n1,2.5,x\\n3,4.5,y\\n")
ds = tf.data.experimental.make_csv_dataset(tmp + "/a.csv", 2, select_columns=["a", "c"], label_name="a",
    num_epochs=1, shuffle=False)
list(ds)

# a csv with an empty field
tf.io.decode_csv(["1,,x", "2,3.5,"], [[0], [9.5], ["none"]])

# a csv with a quoted comma and another delimiter
tf.io.decode_csv(['"a;b";2'], [[""], [0]], field_delim=";")

# parse_example with ragged and partitions
feature, floats, ints = tf.train.Feature, tf.train.FloatList(value=[1, 2, 3]), tf.train.Int64List(value=[1, 2])
features = {"v": feature(float_list=floats), "n": feature(int64_list=ints)}
e = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
tf.io.parse_example([e], {"r": tf.io.RaggedFeature(tf.float32, "v", [tf.io.RaggedFeature.RowLengths("n")])})

# parse_sequence_example with lists of other lengths
e = tf.train.SequenceExample()
for v in ([1], [2, 3]):
    e.feature_lists.feature_list["t"].feature.add().int64_list.value.extend(v)
c, s = tf.io.parse_single_sequence_example(e.SerializeToString(),
    sequence_features={"t": tf.io.RaggedFeature(tf.int64)})
s["t"]

# a FixedLenSequenceFeature that may be missing
feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1, 2]))
e = tf.train.Example(features=tf.train.Features(feature={"v": feature})).SerializeToString()
tf.io.parse_example([e, b""], {"v": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True,
    default_value=-1.0)})

# decode_raw of little and big endian
raw = b"\\x01\\x00\\x02\\x00"
(tf.io.decode_raw(raw, tf.int16), tf.io.decode_raw(raw, tf.int16, little_endian=False))

# decode_raw of a fixed length
tf.io.decode_raw([b"abc", b"d"], tf.uint8, fixed_length=2)

# a PNG of 16 bits
x = tf.constant([[[0], [65535]]], tf.uint16)
tf.io.decode_png(tf.io.encode_png(x), dtype=tf.uint16)

# decode_image of a BMP and of an animation
x = tf.zeros([2, 2, 3], tf.uint8)
tf.io.decode_image(tf.io.encode_png(x), expand_animations=False, dtype=tf.float32)

# a file read, written and listed
tf.io.write_file(tmp + "/x/y.txt", "abc")
(tf.io.read_file(tmp + "/x/y.txt"), tf.io.gfile.listdir(tmp + "/x"), tf.io.gfile.exists(tmp + "/z"),
    [f[len(tmp):] for f in tf.io.gfile.glob(tmp + "/*/*.txt")])

# a walk through folders
tf.io.gfile.makedirs(tmp + "/a/b")
tf.io.write_file(tmp + "/a/f", "1")
[(r[len(tmp):], sorted(d), sorted(f)) for r, d, f in tf.io.gfile.walk(tmp)]

# TFRecords compressed by gzip
with tf.io.TFRecordWriter(tmp + "/r", tf.io.TFRecordOptions("GZIP")) as w:
    w.write(b"one")
    w.write(b"two")
list(tf.data.TFRecordDataset(tmp + "/r", compression_type="GZIP").as_numpy_iterator())

# fixed length records with a header
tf.io.write_file(tmp + "/b", b"HHabcdefF")
list(tf.data.FixedLengthRecordDataset(tmp + "/b", 3, header_bytes=2, footer_bytes=1).as_numpy_iterator())

# sequences from arrays with timeseries_dataset_from_array
ds = tf.keras.utils.timeseries_dataset_from_array(np.arange(6.0), np.arange(6) * 2, 3, sequence_stride=2, batch_size=2)
list(ds)

# image_dataset_from_directory with class names
for c in ("cat", "dog"):
    tf.io.gfile.makedirs(f"{tmp}/{c}")
    tf.io.write_file(f"{tmp}/{c}/1.png", tf.io.encode_png(tf.fill([2, 2, 3],
        tf.constant(10 if c == "cat" else 20, tf.uint8))))
ds = tf.keras.utils.image_dataset_from_directory(tmp, image_size=(1, 1), batch_size=2, shuffle=False, verbose=False)
(ds.class_names, [(x, y) for x, y in ds])

# text_dataset_from_directory
for c in ("neg", "pos"):
    tf.io.gfile.makedirs(f"{tmp}/{c}")
    tf.io.write_file(f"{tmp}/{c}/1.txt", c + " text")
ds = tf.keras.utils.text_dataset_from_directory(tmp, label_mode="categorical", shuffle=False, verbose=False)
list(ds)

# a checkpoint of a model and its optimizer continues
def run(restore):
    tf.keras.utils.set_random_seed(1)
    m = tf.keras.Sequential([tf.keras.Input([1]), tf.keras.layers.Dense(1)])
    m.compile(tf.keras.optimizers.Adam(0.1), "mse")
    m.fit(np.ones([4, 1]), np.zeros([4, 1]), verbose=0, epochs=1)
    c = tf.train.Checkpoint(model=m, optimizer=m.optimizer)
    if restore:
        c.restore(tmp + "/c-1").assert_existing_objects_matched()
    else:
        c.save(tmp + "/c")
    m.fit(np.ones([4, 1]), np.zeros([4, 1]), verbose=0, epochs=1)
    return [float(x) for w in m.get_weights() for x in w.ravel()]
(run(False), run(True), tf.train.latest_checkpoint(tmp)[len(tmp):])

# a checkpoint's variables listed and loaded
c = tf.train.Checkpoint(a=tf.Variable(1.0), b=[tf.Variable([1, 2])])
p = c.write(tmp + "/w")
(tf.train.list_variables(p), tf.train.load_variable(p, "b/0/.ATTRIBUTES/VARIABLE_VALUE"))

# an export of a Keras model with two inputs
a, b = tf.keras.Input([2], name="a"), tf.keras.Input([2], name="b")
m = tf.keras.Model({"a": a, "b": b}, {"s": a + b})
m.export(tmp + "/e", verbose=False)
l = tf.saved_model.load(tmp + "/e")
l.serve({"a": tf.ones([1, 2]), "b": tf.ones([1, 2])})

# a function with a default argument saved and loaded
class M(tf.Module):
    @tf.function
    def f(self, x, scale=2.0):
        return x * scale
m = M()
m.f(tf.constant(1.0)), m.f(tf.constant(1.0), 3.0)
tf.saved_model.save(m, tmp + "/m")
l = tf.saved_model.load(tmp + "/m")
(l.f(tf.constant(5.0)), l.f(tf.constant(5.0), 3.0))

# None returned by map in a structure
list(tf.data.Dataset.range(2).map(lambda x: (x, None)))

# a control dependency on None
with tf.control_dependencies([None]):
    x = tf.constant(1)
x

# get_config of a layer with a lambda
tf.keras.layers.Lambda(lambda x: x).get_config()["function"]["class_name"]

# an iterator of a generator dataset used twice
ds = tf.data.Dataset.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32))
(list(ds.as_numpy_iterator()), list(ds.as_numpy_iterator()))

# tf.function over a class method with a decorator of its own
import functools
def deco(f):
    @functools.wraps(f)
    def g(*a, **k):
        return f(*a, **k) + 1
    return g
class A:
    @tf.function
    @deco
    def m(self, x):
        return x * 2
(A().m(tf.constant(2)), A().m(3))

# positional-only and keyword-only arguments
@tf.function
def f(a, /, b, *, c=3):
    return a + b * c
(f(tf.constant(1), 2), f(tf.constant(1), b=tf.constant(2), c=4), f.get_concrete_function(tf.TensorSpec([],
    tf.int32), 2, c=5)(tf.constant(1)))

# a with statement and a finally in AutoGraph
@tf.function
def f(x):
    try:
        with tf.name_scope("a"):
            if x > 0:
                x = x * 2
    finally:
        x = x + 1
    return x
(f(tf.constant(1)), f(tf.constant(-1)))

# del of a variable in a loop
@tf.function
def f(n):
    s = 0
    for i in tf.range(n):
        t = i * 2
        s += t
        del t
    return s
f(tf.constant(3))

# a nested function that changes nonlocal
@tf.function
def f(n):
    count = tf.constant(0)
    def inc(k):
        nonlocal count
        count = count + k
    inc(n)
    inc(2)
    return count
f(tf.constant(3))
""")

GROUP.snippets(
    """
# a variable replaced by the result of assigning a slice
@tf.function
def f(a):
    for i in range(3):
        if a[0] > 3:
            a = a[0].assign(1)
        else:
            a = a[0].assign(7)
    return a
f(tf.Variable([1, 2, 3]))

# a list appended to in a tensor loop and added up
@tf.function
def f(n):
    digits = []
    for i in tf.range(n):
        digits.append(i)
    return tf.add_n(digits)
f(5)

# a Python float times an int8 tensor
tf.constant([1, 2], tf.int8) * 2.5

# solve with a right-hand side that would broadcast
tf.linalg.solve(tf.eye(2, batch_shape=[3]) * 2.0, tf.ones([2, 1]))

# from_generator that forgets a component
def gen():
    yield 1, 2
    yield 3
ds = tf.data.Dataset.from_generator(gen, output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32)))
list(ds)

# a cardinality that is asserted wrongly
ds = tf.data.Dataset.range(5).apply(tf.data.experimental.assert_cardinality(3))
list(ds)

# TFRecords read with the wrong compression
with tf.io.TFRecordWriter(tmp + "/r") as w:
    w.write(b"one")
list(tf.data.TFRecordDataset(tmp + "/r", compression_type="GZIP"))

# a loaded model's function refuses another dtype
class M(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(self, x):
        return x
tf.saved_model.save(M(), tmp + "/m")
tf.saved_model.load(tmp + "/m").f(tf.constant([1, 2]))

# a function called with a Python value that was not traced
class M(tf.Module):
    @tf.function
    def f(self, x, scale=2.0):
        return x * scale
m = M()
m.f(tf.constant(1.0))
tf.saved_model.save(m, tmp + "/m")
tf.saved_model.load(tmp + "/m").f(tf.constant(5.0), 4.0)

# None in a sum in a function
@tf.function
def f(x):
    return x + None
f(tf.constant(1.0))

# None as an element of a list in a graph
@tf.function
def f(x):
    return tf.stack([x, None])
f(tf.constant(1.0))

# a layer that fails in map
layer = tf.keras.layers.Dense(2)
layer.build([None, 3])
list(tf.data.Dataset.from_tensors(tf.ones([1, 4])).map(lambda x: layer(x)))

# a tensor too large
tf.zeros([2 ** 20, 2 ** 20, 2 ** 20])

# a tensor too large in a function
tf.function(lambda n: tf.zeros([n, n, n]))(tf.constant(2 ** 20))

# a product that is too large
x = tf.ones([2 ** 17, 1])
tf.matmul(x, tf.ones([1, 2 ** 24]))

# a broadcast that is too large
tf.broadcast_to(tf.constant(1.0), [2 ** 22, 2 ** 22])

# tile to terabytes
tf.tile(tf.ones([1000]), [2 ** 35])

# a gather from None
tf.gather(None, [1])

# a reduction of None
tf.reduce_sum(None)

# assign None to a variable
tf.Variable(1.0).assign(None)

# None as initial value
tf.Variable(None)

# None for a shape
tf.reshape(tf.constant([1.0]), None)

# a Keras model called without inputs
m = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)])
m(None)

# a loss that gives None
m = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)])
m.compile("sgd", lambda a, b: None)
m.fit(np.ones([2, 2]), np.ones([2, 1]), verbose=0)

# a dict where a tensor is due
tf.add({"a": 1}, 2)

# a set where a tensor is due
tf.constant({1, 2})

# an object where a tensor is due in a function
@tf.function
def f(x):
    return x * object()
f(tf.constant(1.0))

# a while loop whose body gives fewer values
tf.function(lambda x: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1,), [0, x]))(tf.constant(1.0))

# a scan over sequences of other lengths
tf.scan(lambda a, x: a + x[0] + x[1], (tf.constant([1, 2]), tf.constant([1, 2, 3])), 0)

# map_fn with a wrong signature
tf.map_fn(lambda x: (x, x), tf.constant([1, 2]), fn_output_signature=tf.int32)

# a TensorArray of unequal shapes stacked
t = tf.TensorArray(tf.float32, 2)
t = t.write(0, [1.0]).write(1, [1.0, 2.0])
t.stack()

# a SparseTensor whose values do not fit
tf.SparseTensor([[0, 0], [1, 1]], [1.0], [2, 2])

# a ragged tensor with a wrong number of values
tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 1])

# a batch of a ragged and a dense element
list(tf.data.Dataset.from_generator(lambda: [[1, 2], [3]], output_signature=tf.TensorSpec([None], tf.int32)).batch(2))

# an optional without value
tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32)).get_value()

# a generator whose state is too short
tf.random.Generator.from_state([1], alg="philox")

# set_shape of another rank
tf.constant([1.0]).set_shape([1, 1])

# tf.Assert without data
tf.Assert(False, [])

# assert_equal with a message and a summary
tf.debugging.assert_equal(tf.constant([1, 2]), tf.constant([1, 3]), "my message", summarize=1)

# check_numerics on integers
tf.debugging.check_numerics(tf.constant([1]), "m")

# a model saved with a lambda and loaded safely
m = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Lambda(lambda x: x * 2)])
m.save(tmp + "/m.keras")
tf.keras.models.load_model(tmp + "/m.keras")
""",
    raises=True,
)
