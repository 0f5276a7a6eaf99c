"""What people report about `tf.data`: orders of transformations, shuffles, types of elements, ends, errors."""

from goldens.case import Group

GROUP = Group("""
tf.random.set_seed(1)
data = tf.data.Dataset

def elements(dataset):
    return [tf.nest.map_structure(lambda x: x, e) for e in dataset.as_numpy_iterator()]

def example(kind, values):
    features = tf.train.Features(feature={"i": tf.train.Feature(**{kind + "_list": {"value": values}})})
    return tf.train.Example(features=features).SerializeToString()
""")

GROUP.snippets(r"""
# take after shuffle is drawn anew in each repetition
len(set(elements(data.range(50).shuffle(50, seed=1).take(1).repeat(8)))) > 1

# cache after shuffle keeps the order
ds = data.range(20).shuffle(20).cache()
elements(ds) == elements(ds)

# shuffle that is not reshuffled
ds = data.range(20).shuffle(20, seed=3, reshuffle_each_iteration=False)
elements(ds) == elements(ds)

# a seeded shuffle
tf.random.set_seed(5)
elements(data.range(10).shuffle(5, seed=7))

# a seeded shuffle in its second epoch
tf.random.set_seed(5)
ds = data.range(6).shuffle(6, seed=7)
(elements(ds), elements(ds))

# two branches of a shuffled dataset disagree
tf.random.set_seed(1)
a = data.range(30).shuffle(30)
pairs = elements(data.zip(a, a.map(lambda x: x)))
all(x == y for x, y in pairs)

# repeat before batch crosses the epochs
elements(data.range(3).repeat(2).batch(4))

# batch before repeat keeps the short batch
elements(data.range(3).batch(2).repeat(2))

# batch, shuffle and unbatch
sorted(elements(data.range(10).batch(5).shuffle(2).unbatch()))

# drop_remainder makes the shape static
[str(data.range(5).batch(2, drop_remainder=d).element_spec) for d in (True, False)]

# the cardinality after filter, flat_map, repeat and take
ds = data.range(5)
others = [ds.repeat(), ds.repeat(3), ds.take(10), ds.skip(2), ds.batch(2), ds.flat_map(lambda x: data.range(x))]
[int(d.cardinality()) for d in [ds, ds.filter(lambda x: x > 1), *others]]

# a dataset in a condition
bool(data.range(0)), bool(data.range(3))

# padded_batch pads strings and numbers
ds = data.from_tensor_slices([["a b c"], ["d"]]).map(lambda s: tf.strings.split(s[0]))
elements(ds.padded_batch(2, padding_values="<pad>"))

# from_generator with another dtype
elements(data.from_generator(lambda: iter([1.5, 2.5]), output_signature=tf.TensorSpec([], tf.int32)))

# from_generator with output_types
ds = data.from_generator(lambda: iter([(1, "a"), (2, "b")]), output_types=(tf.int64, tf.string))
(elements(ds), str(ds.element_spec))

# from_generator with arguments
def gen(n, text):
    for i in range(n):
        yield text + str(i).encode()
elements(data.from_generator(gen, args=(3, "x"), output_signature=tf.TensorSpec([], tf.string)))

# from_generator that yields a dict
signature = {"a": tf.TensorSpec([], tf.int32), "b": tf.TensorSpec([None])}
elements(data.from_generator(lambda: iter([{"a": 1, "b": [1.0]}]), output_signature=signature))

# from_tensor_slices of a dict
elements(data.from_tensor_slices({"x": [1, 2], "y": np.array([[1.0], [2.0]])}))

# from_tensor_slices of a list is not a tuple
[str(data.from_tensor_slices(v).element_spec) for v in ([[1, 2], [3, 4]], ([1, 2], [3, 4]), ([[1, 2]], [[3, 4]]))]

# a ragged tensor as a source
[e.tolist() for e in elements(data.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])).map(lambda r: r * 2))]

# ragged batches
ds = data.range(4).map(lambda n: tf.range(n)).ragged_batch(2)
list(ds)

# a sparse tensor as a source
st = tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]])
[tf.sparse.to_dense(e) for e in data.from_tensor_slices(st).batch(2)]

# map of a tuple to a list
str(data.from_tensor_slices(([1], [2])).map(lambda x, y: [x, y]).element_spec)

# map to None
str(data.range(2).map(lambda x: (x, None)).element_spec)

# map to a NumPy array and a Python number
elements(data.range(2).map(lambda x: (np.array([1.0, 2.0]), 3, "s", x)))

# if in map
def f(x):
    if x % 2 == 0:
        return x * 10
    return x
elements(data.range(4).map(f))

# print of map happens once
log = []
ds = data.range(4).map(lambda x: (log.append(1), x)[1])
elements(ds); elements(ds)
len(log)

# a global counter in map
v = tf.Variable(0, dtype=tf.int64)
elements(data.range(4).map(lambda x: v.assign_add(x)))
v

# py_function in map loses the shape
ds = data.range(3).map(lambda x: tf.py_function(lambda v: v * 2, [x], tf.int64))
(elements(ds), str(ds.element_spec))

# numpy_function in map with several results
ds = data.range(3).map(lambda x: tf.numpy_function(lambda v: (v * 2, np.float32(v)), [x], (tf.int64, tf.float32)))
elements(ds)

# an error in map and ignore_errors
ds = data.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad"))
elements(ds.ignore_errors())

# the iterator goes on after an error
it = iter(data.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad")))
got = []
for _ in range(3):
    try:
        got.append(float(next(it)))
    except tf.errors.InvalidArgumentError:
        got.append("error")
got

# filter takes two components
elements(data.from_tensor_slices(([1, 2], [3, 4])).filter(lambda x, y: x + y > 4))

# zip stops at the shortest
elements(data.zip((data.range(3), data.range(10, 12))))

# zip of datasets as arguments and of a dict
(elements(data.zip(data.range(2), data.range(2))), elements(data.zip({"a": data.range(2)})))

# concatenate of other shapes
ds = data.from_tensors([1, 2]).concatenate(data.from_tensors([1]))
(str(ds.element_spec), [e.tolist() for e in elements(ds)])

# window gives datasets
[[int(x) for x in w] for w in data.range(7).window(3, shift=2, drop_remainder=True)]

# windows of a tuple
ds = data.from_tensor_slices(([1, 2, 3], [4, 5, 6])).window(2)
[tuple([int(v) for v in c] for c in w) for w in ds]

# windows flattened to batches
elements(data.range(6).window(3, 1, drop_remainder=True).flat_map(lambda w: w.batch(3)))

# interleave with blocks
elements(data.range(3).interleave(lambda x: data.from_tensors(x).repeat(4), cycle_length=2, block_length=2))

# flat_map over a ragged row
elements(data.from_tensor_slices([[1, 2], [3, 4]]).flat_map(data.from_tensor_slices))

# reduce with a tuple as state
data.range(5).reduce((tf.constant(0, tf.int64), tf.constant(0)), lambda s, x: (s[0] + x, s[1] + 1))

# reduce with a state of int64
data.range(5).reduce(np.int64(0), lambda s, x: s + x)

# scan keeps a state
elements(data.range(5).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s * x)))

# take_while and unique
(elements(data.range(10).take_while(lambda x: x < 3)), elements(data.from_tensor_slices([1, 2, 1, 3, 2]).unique()))

# enumerate from a start
elements(data.from_tensor_slices(["a", "b"]).enumerate(start=5))

# group_by_window by parity
elements(data.range(10).group_by_window(key_func=lambda x: x % 2, reduce_func=lambda k, w: w.batch(3), window_size=3))

# bucket_by_sequence_length
rows = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10], [13, 14]]
ds = data.from_generator(lambda: iter(rows), output_signature=tf.TensorSpec([None], tf.int64))
elements(ds.bucket_by_sequence_length(lambda e: tf.shape(e)[0], [3, 5], [2, 2, 2]))

# shard
[elements(data.range(7).shard(3, i)) for i in range(3)]

# sample_from_datasets with weights of zero
elements(data.sample_from_datasets([data.range(3), data.range(10, 13)], weights=[0.0, 1.0], seed=1))

# choose_from_datasets
a, b = data.from_tensors("a").repeat(), data.from_tensors("b").repeat()
elements(data.choose_from_datasets([a, b], data.from_tensor_slices(np.array([0, 1, 1, 0], np.int64))))

# get_next_as_optional at the end
it = iter(data.range(1))
[bool(it.get_next_as_optional().has_value()) for _ in range(2)]

# get_single_element of a batch
data.range(3).batch(3).get_single_element()

# range with a step and a dtype
elements(data.range(10, 3, -3, output_type=tf.int32))

# random datasets with a seed
elements(data.random(seed=4).take(3))

# random numbers in map differ between epochs
tf.random.set_seed(9)
ds = data.range(3).map(lambda x: tf.random.uniform([], maxval=1000, dtype=tf.int32))
(elements(ds), elements(ds))

# random numbers in map before repeat
tf.random.set_seed(9)
elements(data.range(2).map(lambda x: tf.random.uniform([], maxval=1000, dtype=tf.int32, seed=3)).repeat(3))

# NumPy randomness in map is frozen
ds = data.range(5).map(lambda x: np.random.rand())
len(set(elements(ds)))

# named tuples survive
import collections
P = collections.namedtuple("P", "x y")
ds = data.from_tensor_slices(P([1, 2], [3, 4])).map(lambda p: p._replace(y=p.x + p.y))
[(type(e).__name__, int(e.x), int(e.y)) for e in ds]

# a dict is one argument
elements(data.from_tensor_slices({"a": [1, 2]}).map(lambda d: {**d, "b": d["a"] + 1}))

# csv without a header
with open(tmp + "/a.csv", "w") as f:
    f.write("1,2.5,x\n,3.5,\n")
elements(tf.data.experimental.CsvDataset(tmp + "/a.csv", [0, tf.float32, "none"]))

# lines of several files
for name, text in (("a", "1\n2\n"), ("b", "3")):
    with open(tmp + "/" + name, "w") as f:
        f.write(text)
elements(tf.data.TextLineDataset([tmp + "/a", tmp + "/b"]))

# TFRecords there and back
with tf.io.TFRecordWriter(tmp + "/r") as w:
    for i in range(3):
        w.write(example("int64", [i, i]))
spec = {"i": tf.io.FixedLenFeature([2], tf.int64)}
elements(tf.data.TFRecordDataset(tmp + "/r").map(lambda e: tf.io.parse_single_example(e, spec)))

# a feature that is missing and has a default
tf.io.parse_single_example(b"", {"i": tf.io.FixedLenFeature([1], tf.int64, 7), "v": tf.io.VarLenFeature(tf.string)})

# ragged features
es = [example("int64", v) for v in ([1], [], [2, 3])]
tf.io.parse_example(es, {"i": tf.io.RaggedFeature(tf.int64)})

# sparse rows of different widths batched
es = [example("int64", v) for v in ([1], [2, 3])]
spec = {"i": tf.io.VarLenFeature(tf.int64)}
ds = data.from_tensor_slices(es).map(lambda e: tf.io.parse_single_example(e, spec)["i"])
[tf.sparse.to_dense(b) for b in ds.batch(2)]

# save and load
data.range(5).save(tmp + "/s")
ds = data.load(tmp + "/s")
(elements(ds), str(ds.element_spec))

# snapshot and cache in a file
ds = data.range(3).cache(tmp + "/c")
(elements(ds), elements(ds))

# a dataset of datasets in a list
str(data.range(4).window(2).element_spec)

# iterate over a dataset of variables
v = tf.Variable([1, 2])
ds = data.from_tensor_slices(v)
v.assign([3, 4])
elements(ds)

# counting with rejection of none
elements(data.counter(start=5, step=-2).take(3))

# rebatch
elements(data.range(7).batch(2).rebatch(3))

# options survive transformations
o = tf.data.Options()
o.deterministic = False
ds = data.range(3).with_options(o).map(lambda x: x)
ds.options().deterministic

# images of uint8 from a list of arrays
ds = data.from_tensor_slices([np.full([1, 1], 200, np.uint8), np.full([1, 1], 100, np.uint8)])
[tf.image.convert_image_dtype(e, tf.float32) for e in ds]
""")

GROUP.snippets(
    """
# indexing a dataset
data.range(5)[0]

# adding two datasets
data.range(2) + data.range(3)

# numpy() in map
data.range(2).map(lambda x: x.numpy())

# py_function in map that returns another dtype
elements(data.range(3).map(lambda x: tf.py_function(lambda v: float(v), [x], tf.int64)))

# an error in map
elements(data.from_tensor_slices([1.0, 0.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad")))

# integer division by zero in map
elements(data.from_tensor_slices([1, 0]).map(lambda x: 1 // x))

# flat_map that gives a tensor
data.range(3).flat_map(lambda x: x)

# reduce with a Python zero
data.range(5).reduce(0, lambda s, x: s + x)

# a file that is not there
elements(tf.data.TextLineDataset(tmp + "/missing"))

# list_files without a match
elements(data.list_files(tmp + "/*.png"))

# a TFRecord file cut short
with tf.io.TFRecordWriter(tmp + "/r") as w:
    w.write(b"hello world")
raw = open(tmp + "/r", "rb").read()
open(tmp + "/r", "wb").write(raw[:-3])
elements(tf.data.TFRecordDataset(tmp + "/r"))

# a feature of another length
e = example("int64", [1, 2, 3])
tf.io.parse_single_example(e, {"i": tf.io.FixedLenFeature([2], tf.int64)})

# a feature of another type
e = example("float", [1])
tf.io.parse_single_example(e, {"i": tf.io.FixedLenFeature([1], tf.int64)})

# a feature that is missing
tf.io.parse_single_example(b"", {"i": tf.io.FixedLenFeature([1], tf.int64)})
""",
    raises=True,
)

GROUP.snippets(
    """
# len of a filtered dataset
len(data.range(5).filter(lambda x: x > 1))

# len of an infinite dataset
len(data.range(5).repeat())

# elements of different shapes in a batch
elements(data.from_generator(lambda: iter([[1], [2, 3]]), output_signature=tf.TensorSpec([None], tf.int32)).batch(2))

# padded_batch to a length that is too short
elements(data.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(3, padded_shapes=[2]))

# padded_batch of several components
ds = data.range(1, 4).map(lambda x: {"a": tf.fill([x], x), "b": x})
elements(ds.padded_batch(2, {"a": [None], "b": []}, {"a": -1, "b": 0}))

# from_generator with another shape
elements(data.from_generator(lambda: iter([[1, 2], [3]]), output_signature=tf.TensorSpec([2], tf.int32)))

# from_generator takes a function
data.from_generator([1, 2, 3], output_signature=tf.TensorSpec([], tf.int32))

# an error in a generator
def gen():
    yield 1
    raise KeyError("lost")
elements(data.from_generator(gen, output_signature=tf.TensorSpec([], tf.int32)))

# from_tensor_slices of lists of different lengths
data.from_tensor_slices(([1, 2, 3], [1, 2]))

# from_tensor_slices of a scalar
data.from_tensor_slices(3)

# from_tensors of ragged lists
data.from_tensor_slices([[1], [2, 3]])

# map with an argument too few
elements(data.from_tensor_slices(([1], [2])).map(lambda x: x))

# map to a Python object
data.range(2).map(lambda x: object())

# filter by a vector
elements(data.from_tensor_slices([[1, 2]]).filter(lambda x: x > 1))

# filter by an integer
elements(data.range(3).filter(lambda x: x % 2))

# concatenate of other dtypes
data.range(3).concatenate(data.from_tensor_slices([1.0]))

# shard with an index too large
elements(data.range(7).shard(3, 3))

# choose_from_datasets with an index of int32
data.choose_from_datasets([data.range(3), data.range(3)], data.from_tensor_slices([0, 1]))

# next at the end
it = iter(data.range(1))
next(it), next(it)

# get_single_element of two
data.range(2).get_single_element()

# a batch of zero
data.range(3).batch(0)

# a batch size that is a float
data.range(3).batch(2.0)

# a shuffle buffer of zero
elements(data.range(3).shuffle(0))

# a named tuple given to map is one argument
import collections
P = collections.namedtuple("P", "x y")
data.from_tensor_slices(P([1, 2], [3, 4])).map(lambda x, y: x)

# prefetch with a negative size
data.range(3).prefetch(-2)

# apply with a function that returns no dataset
data.range(3).apply(lambda ds: 3)
""",
    raises=True,
    message=True,
)
