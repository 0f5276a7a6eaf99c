"""Feature columns: their configurations and parsed features, what they give of dense and sparse features, and what they
refuse."""

from goldens.case import Group

GROUP = Group("""
fc, v1 = tf.feature_column, tf.compat.v1
internal = tf.__internal__.feature_column
price = fc.numeric_column("price")
pair = fc.numeric_column("pair", shape=[2], default_value=[1, 2], dtype=tf.int64)
words = fc.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
more = fc.categorical_column_with_vocabulary_list("w", ("a", "b"), num_oov_buckets=3)
numbers = fc.categorical_column_with_vocabulary_list("n", [7, 3, 5], default_value=1)
hashed = fc.categorical_column_with_hash_bucket("w", 20)
hashed_numbers = fc.categorical_column_with_hash_bucket("n", 20, tf.int32)
ids = fc.categorical_column_with_identity("n", 4, default_value=2)
ranges = fc.bucketized_column(price, [0., 1.5])
ranges2 = fc.bucketized_column(fc.numeric_column("pair", shape=2), [0, 10])
weighted = fc.weighted_categorical_column(words, "g")
crossed = fc.crossed_column([words, "z", ranges], 50)
nested = fc.crossed_column([fc.crossed_column(["w", "z"], 10), ranges], 30, hash_key=5)
ones = v1.ones_initializer()
embedded = fc.embedding_column(words, 2, "sum", ones)
def table_of(*rows):
    return v1.constant_initializer(rows)
rows = table_of([1., 2.], [3., 4.], [5., 6.])
features = {
    "price": [1., 2., -1.], "pair": [[-1., 4.], [2., 30.], [10., 0.]], "n": [[3, 9], [-1, 5], [0, 1]],
    "w": [["a", "x"], ["b", ""], ["c", "a"]], "z": ["u", "v", "u"], "g": [[1., 2.], [0.5, 0.], [3., 4.]],
}
def layer(columns, **others):
    return v1.feature_column.input_layer({**features, **others}, columns)
def sparse_of(column, **others):
    pair = column.get_sparse_tensors(internal.FeatureTransformationCache({**features, **others}), None)
    return [t if t is None else (t.indices, t.values, t.dense_shape) for t in pair]
def in_session(function):
    with tf.Graph().as_default(), v1.Session() as session:
        fetched = function()
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        return session.run(fetched), [v.name for v in v1.global_variables()], len(v1.model_variables())
class Owner(internal.StateManager):
    def __init__(self):
        self.made = {}
    def has_resource(self, column, name):
        return False
    def add_resource(self, column, name, resource):
        pass
    def create_variable(self, column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None):
        self.made[column, name] = tf.Variable(initializer(shape))
    def get_variable(self, column, name):
        return self.made[column, name]
sequence = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "q", "c"], [4, 2])
sequence3 = tf.SparseTensor([[0, 0, 0], [0, 1, 0], [0, 1, 1], [2, 0, 1]], ["a", "b", "c", "c"], [3, 2, 2])
steps = fc.sequence_categorical_column_with_vocabulary_list("s", ["a", "b", "c"])
def in_steps(column, s):
    owner = Owner()
    column.create_state(owner)
    return tuple(column.get_sequence_dense_tensor(internal.FeatureTransformationCache({"s": s}), owner))
def config(column):
    return repr(internal.serialize_feature_column(column))
def again(column, **custom):
    return internal.deserialize_feature_column(internal.serialize_feature_column(column), custom) == column
def file(text, name="words.txt"):
    path = tmp + "/" + name
    tf.io.write_file(path, text)
    return path
""")

GROUP.values("""
config(price)
config(pair)
config(fc.numeric_column("x", normalizer_fn=tf.abs))
config(words)
config(numbers)
config(hashed)
config(ids)
config(ranges)
config(weighted)
config(crossed)
config(nested)
config(embedded)
config(fc.embedding_column(words, 4))
config(fc.indicator_column(weighted))
config(steps)
config(fc.sequence_numeric_column("s", shape=2, default_value=1.5))
[again(c) for c in (price, pair, words, numbers, hashed, ids, ranges, weighted, crossed, nested, steps)]
again(fc.numeric_column("x", normalizer_fn=layer), layer=layer)
[c.name for c in (price, words, hashed, ranges, weighted, crossed, nested, embedded, fc.indicator_column(ids), steps)]
[c.num_buckets for c in (words, more, hashed, ids, ranges, ranges2, weighted, crossed, steps)]
[str(c.variable_shape) for c in (price, pair, ranges, ranges2, embedded, fc.indicator_column(more))]
[repr(c) for c in (price, words, hashed, ranges, weighted, crossed, steps)]
[repr(c.parents) for c in (price, words, ranges, weighted, crossed, nested, fc.indicator_column(words), steps)]
repr(fc.make_parse_example_spec([price, pair, words, weighted, crossed, ranges, fc.sequence_numeric_column("s")]))
repr(v1.feature_column.make_parse_example_spec([nested, embedded, ids]))
[price < words, price > words, price == fc.numeric_column("price"), hash(price) == hash(fc.numeric_column("price"))]
repr(fc.numeric_column("x", (2, 2), np.array([[1, 2], [3, 4]]), tf.float64).default_value)
repr(fc.numeric_column("x", 3, 7).default_value)
layer([price, pair])
layer(fc.numeric_column("price", normalizer_fn=lambda x: x * 2.0))
layer(ranges)
layer([ranges2, price])
layer(fc.indicator_column(words))
layer(fc.indicator_column(more))
layer(fc.indicator_column(numbers))
layer(fc.indicator_column(ids))
layer(fc.indicator_column(hashed))
layer(fc.indicator_column(hashed_numbers))
layer(fc.indicator_column(weighted))
layer(fc.indicator_column(crossed))
layer(fc.indicator_column(nested))
layer(fc.indicator_column(ranges2))
layer(fc.embedding_column(words, 2, initializer=rows))
layer(fc.embedding_column(words, 2, "sqrtn", rows))
layer(fc.embedding_column(weighted, 2, "mean", rows))
layer(fc.embedding_column(words, 2, "sum", rows, max_norm=2.5))
layer(fc.embedding_column(words, 2, "sum", rows, use_safe_embedding_lookup=False), w=[["b"], ["a"]])
layer([embedded, price, ranges, fc.indicator_column(ids)])
layer(iter([price, ranges]))
sparse_of(words)
sparse_of(words, w=sequence)
sparse_of(more)
sparse_of(hashed)
sparse_of(hashed_numbers)
sparse_of(ids, n=tf.constant([[5, -1], [2, 0]], tf.int32))
sparse_of(weighted)
sparse_of(fc.weighted_categorical_column(words, "g", tf.int32), g=[[1, 0], [2, 3], [0, 0]])
sparse_of(ranges2)
sparse_of(crossed)
sparse_of(nested)
sparse_of(steps, s=sequence)
sparse_of(steps, s=sequence3)
sparse_of(fc.categorical_column_with_vocabulary_file("w", file("a\\nb\\n")))
sparse_of(fc.categorical_column_with_vocabulary_file("w", file("a\\nb\\nc"), 2, num_oov_buckets=2))
sparse_of(fc.categorical_column_with_vocabulary_file("n", file("3\\n5\\n"), dtype=tf.int64, default_value=7))
v1.feature_column.categorical_column_with_vocabulary_file("w", file("a\\nb\\n"), 2, 5).num_buckets
in_steps(fc.indicator_column(steps), sequence)
in_steps(fc.indicator_column(steps), sequence3)
in_steps(fc.embedding_column(steps, 2, "mean", rows), sequence)
in_steps(fc.embedding_column(steps, 2, "mean", rows), sequence3)
in_steps(fc.sequence_numeric_column("s"), tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [1., 2., 3.], [4, 3]))
in_steps(fc.sequence_numeric_column("s", 2, 9.), tf.SparseTensor([[0, 0], [0, 3], [1, 1]], [1., 2., 3.], [2, 4]))
in_steps(fc.sequence_numeric_column("s", 2), tf.SparseTensor([[0, 0, 0], [0, 1, 1]], [1., 2.], [2, 2, 2]))
v1.feature_column.linear_model(features, [price, words, ranges, crossed, embedded, weighted])
v1.feature_column.linear_model(features, [price, pair], units=3)
in_session(lambda: layer([price, embedded, fc.indicator_column(more)]))
in_session(lambda: [layer(embedded), layer(embedded)])
in_session(lambda: v1.feature_column.linear_model(features, [price, words, ranges, embedded, weighted]))
""")

GROUP.snippets("""
# columns that share a table
other = fc.categorical_column_with_vocabulary_list("z", ["u", "v", "t"])
in_session(lambda: layer(v1.feature_column.shared_embedding_columns([words, other], 2, initializer=rows)))

# a shared table with a name
other = fc.categorical_column_with_vocabulary_list("z", ["u", "v", "t"])
shared = lambda: v1.feature_column.shared_embedding_columns([other, words], 2, "sum", rows, "table")
in_session(lambda: [layer(shared()), layer(shared()[0])])

# the variables and outputs of columns
def build():
    by_column, outputs = {}, {}
    v1.feature_column.input_layer(features, [price, embedded], cols_to_vars=by_column, cols_to_output_tensors=outputs)
    return [outputs[price], *by_column[embedded], *by_column[price]]
in_session(build)

# the weights of a linear model
def build():
    by_column = {}
    v1.feature_column.linear_model(features, [price, words, ranges], 2, cols_to_vars=by_column)
    return [by_column[price], by_column[words], by_column[ranges], by_column["bias"]]
in_session(build)

# a linear model of weights that are not zero
with tf.Graph().as_default(), v1.Session() as session:
    model = v1.feature_column.linear_model(features, [price, words, weighted], sparse_combiner="mean")
    session.run([v1.global_variables_initializer(), v1.tables_initializer()])
    session.run([v.assign(tf.ones(v.shape) * 2.) for v in v1.global_variables()])
    result = session.run(model)
result

# weights that are not trained
def build():
    v1.feature_column.linear_model(features, [price], weight_collections=["mine"], trainable=False)
    return tf.constant([len(v1.trainable_variables()), len(v1.get_collection("mine"))])
in_session(build)

# a function of columns
@tf.function
def f(x, w):
    cache = internal.FeatureTransformationCache({"price": x, "w": w})
    return fc.indicator_column(words).get_dense_tensor(cache, None), ranges.get_dense_tensor(cache, None)
f(tf.constant([1., 5.]), tf.constant(["b", "c"]))

# features of unknown rank
@tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
def f(x):
    return internal.FeatureTransformationCache({"price": x}).get("price", None)
[f(tf.constant([1., 5.])), f(tf.constant([[1., 5.]]))]

# a table from a checkpoint
with tf.Graph().as_default(), v1.Session() as session:
    w = v1.get_variable("table", initializer=[[1., 2.], [3., 4.], [5., 6.]])
    session.run(w.initializer)
    path = v1.train.Saver().save(session, tmp + "/ckpt", write_meta_graph=False)
in_session(lambda: layer(fc.embedding_column(words, 2, ckpt_to_load_from=path, tensor_name_in_ckpt="table")))

# words in compressed records
path = tmp + "/words.tfrecord.gz"
with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("GZIP")) as writer:
    for word in (b"b", b"a"):
        writer.write(word)
column = fc.categorical_column_with_vocabulary_file("w", path, num_oov_buckets=1)
[column.num_buckets, column.file_format, sparse_of(column)]

# columns of a configuration are created once
by_name = {}
written = internal.serialize_feature_column(fc.indicator_column(words))
column = internal.deserialize_feature_column(written, columns_by_name=by_name)
other = internal.deserialize_feature_column(internal.serialize_feature_column(embedded), columns_by_name=by_name)
[column.categorical_column is other.categorical_column, sorted(by_name)]

# a column of one's own
class Doubled(internal.DenseColumn):
    name, parents, parse_example_spec, _is_v2_column = "doubled", ["price"], {}, True
    variable_shape = tf.TensorShape([1])
    def transform_feature(self, cache, state, training=None):
        return cache.get("price", state) * 2.0 + (1.0 if training else 0.0)
    def get_dense_tensor(self, cache, state):
        return cache.get(self, state, training=True)
column = Doubled()
column.get_dense_tensor(internal.FeatureTransformationCache(features), None)
""")

GROUP.errors(
    """
    fc.numeric_column(3)
    fc.numeric_column("x", shape=0)
    fc.numeric_column("x", shape=[1.5])
    fc.numeric_column("x", dtype=tf.string)
    fc.numeric_column("x", default_value=1.5, dtype=tf.int32)
    fc.numeric_column("x", 2, [1., 2., 3.])
    fc.numeric_column("x", 1, "a")
    fc.numeric_column("x", normalizer_fn=3)
    fc.bucketized_column(words, [1])
    fc.bucketized_column(fc.numeric_column("x", [2, 2]), [1])
    fc.bucketized_column(price, [])
    fc.bucketized_column(price, [2, 1])
    fc.bucketized_column(price, {1: 2})
    fc.categorical_column_with_hash_bucket("x", None)
    fc.categorical_column_with_hash_bucket("x", 0)
    fc.categorical_column_with_hash_bucket("x", 2, tf.float32)
    fc.categorical_column_with_hash_bucket(3, 2)
    fc.categorical_column_with_vocabulary_list("x", [])
    fc.categorical_column_with_vocabulary_list("x", ["a", "a"])
    fc.categorical_column_with_vocabulary_list("x", ["a"], tf.int32)
    fc.categorical_column_with_vocabulary_list("x", [1.5])
    fc.categorical_column_with_vocabulary_list("x", ["a"], default_value=0, num_oov_buckets=1)
    fc.categorical_column_with_vocabulary_list("x", ["a"], num_oov_buckets=-1)
    fc.categorical_column_with_vocabulary_file("x", "")
    fc.categorical_column_with_vocabulary_file("x", tmp + "/none")
    fc.categorical_column_with_vocabulary_file("x", tmp + "/none", 0)
    fc.categorical_column_with_vocabulary_file("x", tmp + "/none", 2, default_value=0, num_oov_buckets=1)
    fc.categorical_column_with_vocabulary_file("x", tmp + "/none", 2, tf.float32)
    fc.categorical_column_with_identity("x", 0)
    fc.categorical_column_with_identity("x", 3, 3)
    fc.weighted_categorical_column(words, "g", tf.string)
    fc.weighted_categorical_column(words, "g", None)
    fc.weighted_categorical_column(words, "w").parse_example_spec
    fc.crossed_column(["a", "b"], 0)
    fc.crossed_column(["a"], 3)
    fc.crossed_column(["a", price], 3)
    fc.crossed_column(["a", hashed], 3)
    fc.indicator_column(price)
    fc.embedding_column(words, 0)
    fc.embedding_column(words, 2, initializer=3)
    fc.embedding_column(words, 2, ckpt_to_load_from="x")
    fc.shared_embeddings([words, more], 2)
    v1.feature_column.shared_embedding_columns([words, more], 2)
    fc.sequence_numeric_column("x", 0)
    fc.sequence_numeric_column("x", dtype=tf.string)
    fc.make_parse_example_spec([3])
    fc.make_parse_example_spec([price, fc.numeric_column("price", 2)])
    v1.feature_column.make_parse_example_spec([fc.sequence_numeric_column("x")])
    layer(words)
    layer([])
    layer({"a": price})
    layer([3])
    layer([price, fc.numeric_column("price", 2)])
    layer(fc.numeric_column("missing"))
    layer(price, price=3.0)
    layer(price, price=tf.SparseTensor([[0, 0]], [1.], [1, 1]))
    layer([price, pair], price=[1.0])
    layer(fc.indicator_column(words), w=[1, 2])
    layer(fc.indicator_column(hashed), w=[1.5])
    layer(fc.indicator_column(ids), n=["a"])
    layer(fc.indicator_column(weighted), g=[1, 2, 3])
    layer(fc.indicator_column(fc.crossed_column([weighted, "z"], 3)))
    internal.deserialize_feature_column({"class_name": "Nothing", "config": {}})
    internal.deserialize_feature_column({"class_name": "NumericColumn"})
    internal.deserialize_feature_column({"class_name": "NumericColumn", "config": {"key": "x"}})
    internal.serialize_feature_column(3)
    internal.FeatureTransformationCache(features).get(3, None)
    """,
    message=True,
)

GROUP.errors("""
layer(fc.sequence_numeric_column("s"))
layer(fc.indicator_column(steps))
internal.deserialize_feature_column({"class_name": "TruncatedNormal", "config": {}})
fc.indicator_column(words).get_sequence_dense_tensor(internal.FeatureTransformationCache(features), None)
""")
