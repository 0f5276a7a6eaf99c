"""What people report about Keras: shapes of layers, masks, losses, metrics, weights, training, preprocessing."""

from goldens.case import Group

GROUP = Group("""
keras = tf.keras
layers = keras.layers
keras.utils.set_random_seed(1)

def fixed(layer, shape):
    layer.build(shape)
    layer.set_weights([np.linspace(-1.0, 1.0, w.size).reshape(w.shape) for w in layer.get_weights()])
    return layer

def regression():
    model = keras.Sequential([keras.Input([2]), layers.Dense(1, kernel_initializer="ones")])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    return model

X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.5, 0.5]], np.float32)
Y = np.array([[1.0], [2.0], [3.0], [1.5]], np.float32)

def numbers(history):
    return {key: [float(v) for v in values] for key, values in history.history.items()}
""")

GROUP.snippets("""
# a loss with a masked step
model = keras.Sequential([keras.Input([3, 1]), layers.Masking(0.0)])
model.compile(loss="mae", metrics=["mae"], weighted_metrics=["mse"])
x = np.array([[[1.0], [0.0], [1.0]]], np.float32)
model.evaluate(x, np.array([[[0.0], [1.0], [1.0]]], np.float32), verbose=0)

# a mask goes through Dense and stops at Flatten
i = keras.Input([4])
e = layers.Embedding(5, 3, mask_zero=True)(i)
[getattr(t, "_keras_mask", None) is not None for t in (e, layers.Dense(2)(e))]

# compute_mask of an embedding
layers.Embedding(5, 3, mask_zero=True).compute_mask(np.array([[1, 0, 2]]))

# an average over masked steps
x = np.array([[[1.0], [2.0], [0.0]]], np.float32)
layers.GlobalAveragePooling1D()(layers.Masking(0.0)(x))

# a bidirectional LSTM with a mask in the middle
x = np.array([[[1.0], [0.0], [2.0]]], np.float32)
b = fixed(layers.Bidirectional(layers.LSTM(2, return_sequences=True)), (None, 3, 1))
b(x, mask=np.array([[True, False, True]]))

# a GRU that resets after
fixed(layers.GRU(2, return_state=True), (None, 3, 1))(np.ones([1, 3, 1], np.float32))

# a stateful RNN keeps its state
rnn = fixed(layers.SimpleRNN(1, stateful=True), (1, 2, 1))
x = np.ones([1, 2, 1], np.float32)
a, b = rnn(x), rnn(x)
rnn.reset_state()
(a, b, rnn(x))

# Dense on three dimensions
layers.Dense(2).compute_output_shape((None, 5, 3))

# a transposed convolution and its output padding
ways = [("same", None), ("valid", None), ("same", 0)]
makers = [layers.Conv2DTranspose(1, 3, 2, padding=p, output_padding=o) for p, o in ways]
[m.compute_output_shape((1, 4, 4, 1)) for m in makers]

# a causal convolution
conv = fixed(layers.Conv1D(1, 2, padding="causal", dilation_rate=2), (None, 4, 1))
conv(np.arange(4.0, dtype=np.float32).reshape(1, 4, 1))

# a depthwise convolution with a multiplier
conv = fixed(layers.DepthwiseConv2D(2, depth_multiplier=2), (None, 2, 2, 2))
conv(np.arange(8.0, dtype=np.float32).reshape(1, 2, 2, 2))

# batch normalization in training and afterwards
bn = layers.BatchNormalization(momentum=0.5)
x = np.array([[1.0], [3.0]], np.float32)
(bn(x, training=True), bn(x, training=False), bn.moving_mean.numpy(), bn.moving_variance.numpy())

# batch normalization that is frozen
bn = layers.BatchNormalization()
bn.trainable = False
bn(np.array([[1.0], [3.0]], np.float32), training=True)

# layer normalization over two axes
layers.LayerNormalization(axis=[1, 2])(np.arange(4.0, dtype=np.float32).reshape(1, 2, 2))

# group normalization with a group per channel
layers.GroupNormalization(groups=-1)(np.arange(8.0, dtype=np.float32).reshape(1, 2, 2, 2))

# dropout in inference and at rate zero
(layers.Dropout(0.5)(np.ones([2, 2])), layers.Dropout(0.0)(np.ones([2, 2]), training=True))

# dropout with a seed
layers.Dropout(0.5, seed=3)(np.ones([2, 5], np.float32), training=True)

# dropout with a noise shape
layers.Dropout(0.5, noise_shape=(None, 1), seed=3)(np.ones([4, 3], np.float32), training=True)

# seeded initializers
names = ["GlorotUniform", "HeNormal", "TruncatedNormal", "Orthogonal"]
[keras.initializers.get({"class_name": name, "config": {"seed": 2}})([2, 2]) for name in names]

# an initializer without a seed twice
i = keras.initializers.RandomUniform(seed=None)
bool(tf.reduce_all(i([3]) == i([3])))

# multi-head attention with a causal mask
mha = layers.MultiHeadAttention(1, 2, kernel_initializer="ones")
x = np.array([[[1.0, 0.0], [0.0, 2.0]]], np.float32)
mha(x, x, use_causal_mask=True, return_attention_scores=True)

# attention scores of dot product attention
q = np.array([[[1.0, 0.0]]], np.float32)
v = np.array([[[1.0, 0.0], [0.0, 2.0]]], np.float32)
layers.Attention()([q, v], return_attention_scores=True)

# softmax with a mask
layers.Softmax()(np.array([1.0, 2.0, 3.0], np.float32), mask=np.array([True, False, True]))

# adding shapes that broadcast
layers.Add()([np.ones([2, 1]), np.ones([2, 3])])

# dot along axes
layers.Dot(axes=(1, 2))([np.ones([2, 3, 4], np.float32), np.ones([2, 5, 3], np.float32)]).shape

# reshape with an unknown dimension
layers.Reshape((-1, 2))(np.arange(8).reshape(2, 4))

# flatten of a scalar per sample
layers.Flatten()(np.ones([3])).shape

# upsampling by bilinear interpolation
layers.UpSampling2D(2, interpolation="bilinear")(np.arange(4.0, dtype=np.float32).reshape(1, 2, 2, 1))

# average pooling at the border
layers.AveragePooling1D(2, padding="same")(np.array([[[1.0], [2.0], [4.0]]], np.float32))

# max pooling with channels first
layers.MaxPooling2D(2, data_format="channels_first").compute_output_shape((None, 3, 5, 5))

# a Lambda that captures a variable
v = tf.Variable(2.0)
layers.Lambda(lambda x: x * v)(np.ones([1]))

# operators on Keras tensors
i = keras.Input([3])
model = keras.Model(i, [i * 2 + 1, i[:, 0], keras.ops.sum(i, axis=-1)])
model(np.array([[1.0, 2.0, 3.0]]))

# a functional model with a dict of inputs
a, b = keras.Input([1], name="a"), keras.Input([1], name="b")
model = keras.Model({"a": a, "b": b}, {"sum": a + b, "diff": a - b})
model.predict({"b": np.array([[2.0]]), "a": np.array([[5.0]])}, verbose=0)

# a functional model given its inputs in another structure
a, b = keras.Input([1], name="a"), keras.Input([1], name="b")
model = keras.Model([a, b], a - b)
model([np.array([[5.0]]), np.array([[2.0]])])

# weights before build
keras.Sequential([layers.Dense(1)]).get_weights()

# summary before build counts nothing
keras.Sequential([layers.Dense(1)]).built

# fit is deterministic
numbers(regression().fit(X, Y, epochs=3, batch_size=2, shuffle=False, verbose=0))

# fit that shuffles with a seed
keras.utils.set_random_seed(7)
numbers(regression().fit(X, Y, epochs=2, batch_size=1, verbose=0))

# validation_split takes the end
numbers(regression().fit(X, Y, validation_split=0.25, shuffle=False, verbose=0))

# sample weights
w = np.array([1.0, 0.0, 2.0, 0.0])
numbers(regression().fit(X, Y, sample_weight=w, batch_size=4, verbose=0))

# class weights
model = keras.Sequential([keras.Input([2]), layers.Dense(2, "softmax", kernel_initializer="ones")])
model.compile("sgd", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
numbers(model.fit(X, np.array([0, 1, 1, 0]), class_weight={0: 1.0, 1: 5.0}, batch_size=4, verbose=0))

# a dataset and a batch size
numbers(regression().fit(tf.data.Dataset.from_tensor_slices((X, Y)).batch(2), batch_size=2, verbose=0))

# steps_per_epoch beyond the data
numbers(regression().fit(X, Y, batch_size=2, steps_per_epoch=1, epochs=2, shuffle=False, verbose=0))

# a generator with steps
def gen():
    while True:
        yield X, Y
numbers(regression().fit(gen(), steps_per_epoch=2, epochs=2, verbose=0))

# a PyDataset
class D(keras.utils.PyDataset):
    def __len__(self):
        return 2
    def __getitem__(self, i):
        return X[i * 2:i * 2 + 2], Y[i * 2:i * 2 + 2]
numbers(regression().fit(D(), shuffle=False, epochs=2, verbose=0))

# an unknown loss
regression().compile(loss="no_such_loss")

# early stopping restores the best weights
model = regression()
model.compile(keras.optimizers.SGD(2.0), "mse")
stop = keras.callbacks.EarlyStopping("loss", patience=1, restore_best_weights=True)
h = model.fit(X, Y, epochs=10, batch_size=4, callbacks=[stop], verbose=0)
(len(h.epoch), model.get_weights())

# early stopping on a metric that is not there
stop = keras.callbacks.EarlyStopping("val_loss", patience=0)
len(regression().fit(X, Y, epochs=2, callbacks=[stop], verbose=0).epoch)

# the learning rate on a plateau
model = regression()
model.compile(keras.optimizers.SGD(1.0), "mse")
plateau = keras.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=1e9)
model.fit(X, Y, epochs=4, batch_size=4, callbacks=[plateau], verbose=0)
float(model.optimizer.learning_rate)

# a scheduler of the learning rate
model = regression()
s = keras.callbacks.LearningRateScheduler(lambda epoch, lr: lr * 0.5)
numbers(model.fit(X, Y, epochs=2, callbacks=[s], batch_size=4, verbose=0))

# a callback that stops after a batch
class Stop(keras.callbacks.Callback):
    seen = []
    def on_train_batch_end(self, batch, logs=None):
        self.seen.append((batch, sorted(logs)))
        self.model.stop_training = True
regression().fit(X, Y, batch_size=1, epochs=3, callbacks=[Stop()], verbose=0)
Stop.seen

# NaN terminates
model = regression()
h = model.fit(X * np.nan, Y, epochs=5, callbacks=[keras.callbacks.TerminateOnNaN()], verbose=0)
len(h.epoch)

# a custom train_step
class M(keras.Model):
    def __init__(self):
        super().__init__()
        self.d = layers.Dense(1, kernel_initializer="ones")
    def call(self, x):
        return self.d(x)
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {"own": loss}
m = M()
m.compile(keras.optimizers.SGD(0.1))
numbers(m.fit(X, Y, epochs=2, batch_size=4, verbose=0))

# add_loss in a layer
class L(layers.Layer):
    def call(self, x):
        self.add_loss(tf.reduce_sum(x) * 0.1)
        return x
l = L()
l(np.ones([2, 2], np.float32))
l.losses

# a regularizer adds to the loss
model = keras.Sequential([keras.Input([2]), layers.Dense(1, kernel_initializer="ones", kernel_regularizer="l2")])
model.compile("sgd", "mse")
(model.losses, model.evaluate(X, Y, verbose=0))

# binary crossentropy from logits and from probabilities
loss = keras.losses.BinaryCrossentropy
(loss(from_logits=True)([[1.0, 0.0]], [[2.0, -1.0]]), loss()([[1.0, 0.0]], [[1.0, 0.0]]))

# label smoothing
keras.losses.CategoricalCrossentropy(label_smoothing=0.1)([[0.0, 1.0]], [[0.3, 0.7]])

# reductions of a loss
ways = ["sum", "none", "sum_over_batch_size", "mean_with_sample_weight"]
losses = [keras.losses.MeanSquaredError(reduction=way) for way in ways]
[loss([[1.0], [2.0]], [[2.0], [4.0]], sample_weight=[1.0, 3.0]) for loss in losses]

# cosine similarity of a zero vector
keras.losses.CosineSimilarity()([[0.0, 0.0]], [[1.0, 1.0]])

# the mean of no batches
keras.metrics.Mean().result()

# accuracy by the shape of the labels
model = keras.Sequential([keras.Input([2]), layers.Dense(1, "sigmoid", kernel_initializer="ones")])
model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
model.evaluate(X, np.array([0, 1, 1, 0]), verbose=0)

# precision at a threshold and for a class
p = keras.metrics.Precision(thresholds=[0.3, 0.8])
p.update_state([0, 1, 1], [0.4, 0.5, 0.9])
p.result()

# AUC of a constant prediction
m = keras.metrics.AUC()
m.update_state([0, 1], [0.5, 0.5])
m.result()

# the mean IoU with a class that never occurs
m = keras.metrics.MeanIoU(num_classes=3)
m.update_state([0, 1], [0, 1])
m.result()

# F1 without a positive
m = keras.metrics.F1Score(threshold=0.5)
m.update_state([[0.0], [0.0]], [[0.1], [0.2]])
m.result()

# R2 of one sample
m = keras.metrics.R2Score()
m.update_state([[1.0], [2.0]], [[1.0], [2.5]])
m.result()

# metrics reset between epochs
model = regression()
model.fit(X, Y, epochs=1, verbose=0)
model.metrics[0].reset_state()
float(model.metrics[0].result())

# Adam with a clipped norm
v = keras.Variable([1.0, 2.0])
o = keras.optimizers.Adam(0.1, clipnorm=1.0)
o.apply([tf.constant([30.0, 40.0])], [v])
(v.numpy(), int(o.iterations))

# gradients that are None
v, w = keras.Variable(1.0), keras.Variable(2.0)
keras.optimizers.SGD(0.1).apply_gradients([(tf.constant(1.0), v), (None, w)])
(v.numpy(), w.numpy())

# weight decay leaves out the bias
a, b = keras.Variable(1.0, name="kernel"), keras.Variable(1.0, name="bias")
o = keras.optimizers.AdamW(0.1, weight_decay=0.5)
o.exclude_from_weight_decay(var_names=["bias"])
o.apply([tf.constant(0.0)] * 2, [a, b])
(a.numpy(), b.numpy())

# a schedule in an optimizer
o = keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(1.0, 1, 0.5))
v = keras.Variable(0.0)
for _ in range(3):
    o.apply([tf.constant(1.0)], [v])
(v.numpy(), float(o.learning_rate))

# sparse gradients of an embedding
e = layers.Embedding(3, 1, embeddings_initializer="ones")
e.build()
with tf.GradientTape() as tape:
    y = tf.reduce_sum(e(np.array([0, 2, 0])))
g = tape.gradient(y, e.trainable_variables)
keras.optimizers.SGD(0.1).apply(g, e.trainable_variables)
(type(g[0]).__name__, e.get_weights())

# mixed precision keeps variables in float32
d = layers.Dense(1, dtype="mixed_float16")
y = d(np.ones([1, 2], np.float32))
(y.dtype, d.kernel.dtype, d.compute_dtype)

# float64 for everything
keras.backend.set_floatx("float64")
try:
    d = layers.Dense(1)
    y = d(np.ones([1, 2]))
finally:
    keras.backend.set_floatx("float32")
(y.dtype, d.kernel.dtype)

# integers into a Dense layer
layers.Dense(1, kernel_initializer="ones")(np.array([[1, 2]]))

# loss scaling
o = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1.0), initial_scale=4.0)
v = keras.Variable(1.0)
o.apply([tf.constant(2.0)], [v])
(v.numpy(), o.scale_loss(1.0))

# weights copied between models
a, b = regression(), regression()
a.fit(X, Y, verbose=0)
b.set_weights(a.get_weights())
np.allclose(a.predict(X, verbose=0), b.predict(X, verbose=0))

# a model saved in the Keras format
m = regression()
m.fit(X, Y, verbose=0)
m.save(tmp + "/m.keras")
n = keras.models.load_model(tmp + "/m.keras")
np.allclose(m.predict(X, verbose=0), n.predict(X, verbose=0))

# an export with an endpoint
m = regression()
m.export(tmp + "/e", verbose=False)
loaded = tf.saved_model.load(tmp + "/e")
loaded.serve(X)

# a clone has other weights
m = regression()
m.fit(X, Y, verbose=0)
keras.models.clone_model(m).get_weights()

# shared layers count once
d = layers.Dense(2)
i = keras.Input([2])
keras.Model(i, d(d(i))).count_params()

# freezing after compile
m = regression()
m.layers[0].trainable = False
(len(m.trainable_weights), len(m.non_trainable_weights))

# pop from a Sequential
m = keras.Sequential([keras.Input([2]), layers.Dense(3), layers.Dense(4)])
m.pop()
m.output_shape

# one-hot labels by to_categorical
(keras.utils.to_categorical([0, 2, 1]), keras.utils.to_categorical([1], num_classes=4))

# sequences padded before and after
pad, rows = keras.utils.pad_sequences, [[1], [2, 3, 4]]
(pad(rows, maxlen=2), pad(rows, maxlen=2, padding="post", truncating="post"))

# time series in windows
list(keras.utils.timeseries_dataset_from_array(np.arange(6), np.arange(6) * 10, sequence_length=3, batch_size=2))

# text vectorized with a vocabulary
v = layers.TextVectorization(output_sequence_length=4, vocabulary=["hello", "world"])
v(["Hello, World! you", ""])

# text vectorized after adapt
v = layers.TextVectorization(ngrams=2)
v.adapt(["a b a", "b c"])
v.get_vocabulary()

# a TF-IDF of text
v = layers.TextVectorization(output_mode="tf_idf")
v.adapt(["a b a", "b c"])
v(["a c c"])

# a lookup there and back
s = layers.StringLookup(vocabulary=["a", "b"])
layers.StringLookup(vocabulary=["a", "b"], invert=True)(s(["b", "z", "a"]))

# integers with a mask token and two buckets
layers.IntegerLookup(vocabulary=[10, 20], mask_token=0, num_oov_indices=2)(np.array([10, 0, 7, 8, 20]))

# a lookup in multi-hot form
layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")([["a", "b"], ["c", "a"]])

# hashing of strings
layers.Hashing(5, salt=[1, 2])(tf.constant([["a"], ["b"], ["c"]]))

# buckets at their borders
layers.Discretization(bin_boundaries=[0.0, 1.0])(np.array([-1.0, 0.0, 0.5, 1.0, 2.0]))

# category encoding beyond its tokens
layers.CategoryEncoding(3, output_mode="one_hot")(np.array([0, 5]))

# counts of categories
layers.CategoryEncoding(3, output_mode="count")(np.array([[0, 0, 2]]))

# normalization by adapted moments
n = layers.Normalization()
n.adapt(np.array([[1.0, 10.0], [3.0, 10.0]]))
n(np.array([[2.0, 11.0]]))

# rescaling integers
layers.Rescaling(1.0 / 255)(np.array([[0, 255]], np.uint8))

# resizing with a crop
layers.Resizing(2, 2, crop_to_aspect_ratio=True)(np.arange(12.0, dtype=np.float32).reshape(1, 2, 6, 1))

# a center crop larger than the image
layers.CenterCrop(4, 4)(np.ones([1, 2, 2, 1], np.float32)).shape

# a random flip with a seed
layers.RandomFlip(seed=1)(np.arange(4.0, dtype=np.float32).reshape(1, 2, 2, 1), training=True)

# a random layer in inference
layers.RandomRotation(0.5)(np.arange(4.0, dtype=np.float32).reshape(1, 2, 2, 1), training=False)

# a random crop of the same size
layers.RandomCrop(2, 2, seed=1)(np.arange(4.0, dtype=np.float32).reshape(1, 2, 2, 1), training=True)

# a layer in a dataset's map
l = layers.Rescaling(2.0)
list(tf.data.Dataset.from_tensor_slices([[1.0], [2.0]]).map(l))

# get_config of a custom layer with arguments
class Own(layers.Layer):
    def __init__(self, k):
        super().__init__()
        self.k = k
Own(3).get_config()

# a tf.Variable as an attribute of a layer
class Own(layers.Layer):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(1.0)
len(Own().trainable_weights)

# a tape over a model
m = regression()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((m(X) - Y) ** 2)
tape.gradient(loss, m.trainable_variables)

# training=None in predict and evaluate
class T(layers.Layer):
    def call(self, x, training=None):
        return x + (1.0 if training else 0.0)
m = keras.Sequential([keras.Input([1]), T()])
m.compile("sgd", "mse")
(m.predict(np.zeros([1, 1]), verbose=0), m(np.zeros([1, 1]), training=True))

# predict_on_batch and train_on_batch
m = regression()
(m.train_on_batch(X, Y), m.predict_on_batch(X[:1]), m.test_on_batch(X, Y, return_dict=True))
""")

GROUP.snippets(
    """
# a layer that is called with another width
d = layers.Dense(2)
d(np.ones([1, 3]))
d(np.ones([1, 4]))

# an input with the wrong rank
model = regression()
model.predict(np.ones([2, 2, 2]), verbose=0)

# an input with the wrong width
model = regression()
model(np.ones([2, 3]))

# a dataset that is not batched
regression().fit(tf.data.Dataset.from_tensor_slices((X, Y)), verbose=0)

# a label that is out of range
model = keras.Sequential([keras.Input([2]), layers.Dense(2, "softmax")])
model.compile("sgd", "sparse_categorical_crossentropy")
model.fit(X, np.array([0, 1, 2, 5]), verbose=0)

# an unknown reduction
keras.losses.MeanSquaredError(reduction="auto")

# an optimizer used for other variables
o = keras.optimizers.Adam()
o.build([keras.Variable(1.0)])
o.apply_gradients([(tf.constant(1.0), keras.Variable(1.0))])

# set_weights with too few
regression().set_weights([np.ones([2, 1])])

# weights saved with a wrong name
regression().save_weights(tmp + "/w.ckpt")

# weights loaded into another architecture
m = regression()
m.save_weights(tmp + "/w.weights.h5")
n = keras.Sequential([keras.Input([3]), layers.Dense(1)])
n.load_weights(tmp + "/w.weights.h5")
""",
    raises=True,
)

GROUP.snippets(
    """
# an LSTM of a sequence of length zero
fixed(layers.LSTM(2), (None, None, 1))(np.zeros([1, 0, 1], np.float32))

# a convolution whose kernel is larger than its input
layers.Conv2D(1, 5)(np.ones([1, 3, 3, 1]))

# concatenation of other shapes
layers.Concatenate()([np.ones([1, 2, 3]), np.ones([1, 3, 3])])

# permute with a wrong order
layers.Permute((0, 1))

# an op of TensorFlow on a Keras tensor
tf.reduce_sum(keras.Input([3]))

# a Keras tensor in a condition
bool(keras.Input([3]) > 0)

# a NumPy function on a Keras tensor
np.square(keras.Input([3]))

# a disconnected graph
a, b = keras.Input([1]), keras.Input([1])
keras.Model(a, a + b)

# fit without compile
keras.Sequential([layers.Dense(1)]).fit(X, Y, verbose=0)

# class weights and sample weights together
model = keras.Sequential([keras.Input([2]), layers.Dense(1, kernel_initializer="ones")])
model.compile("sgd", "mse")
model.fit(X, np.array([0, 1, 1, 0]), class_weight={0: 1.0, 1: 5.0}, sample_weight=np.ones(4), verbose=0)

# x and y of different lengths
regression().fit(X, Y[:3], verbose=0)

# y is missing
regression().fit(X, verbose=0)

# a dataset and y
regression().fit(tf.data.Dataset.from_tensor_slices((X, Y)).batch(2), Y, verbose=0)

# labels of the wrong shape for categorical crossentropy
model = keras.Sequential([keras.Input([2]), layers.Dense(3, "softmax")])
model.compile("sgd", "categorical_crossentropy")
model.fit(X, np.array([0, 1, 2, 0]), verbose=0)

# one-hot labels for sparse crossentropy
model = keras.Sequential([keras.Input([2]), layers.Dense(3, "softmax")])
model.compile("sgd", "sparse_categorical_crossentropy")
model.fit(X, np.eye(3)[[0, 1, 2, 0]], verbose=0)

# an unknown optimizer
regression().compile("no_such_optimizer")

# crossentropy that ignores a class
keras.losses.SparseCategoricalCrossentropy(ignore_class=-1)([0, -1], [[0.5, 0.5], [0.9, 0.1]])

# all gradients are None
keras.optimizers.SGD(0.1).apply_gradients([(None, keras.Variable(1.0))])

# setting the rate of a schedule
o = keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(1.0, 1, 0.5))
setattr(o, "learning_rate", 0.1)

# an embedding of an index out of range
layers.Embedding(3, 1)(np.array([5]))

# strings into a Dense layer
layers.Dense(1)(np.array([["a", "b"]]))

# a model saved without an extension
regression().save(tmp + "/m")

# a custom layer without a registration
class Own(layers.Layer):
    def call(self, x):
        return x
m = keras.Sequential([keras.Input([1]), Own()])
m.save(tmp + "/m.keras")
keras.models.load_model(tmp + "/m.keras")

# two layers of one name
keras.Sequential([keras.Input([2]), layers.Dense(3, name="a"), layers.Dense(4, name="a")])

# a name with a slash
layers.Dense(3, name="a/b").name

# a label beyond num_classes
keras.utils.to_categorical([0, 5], num_classes=3)

# a vocabulary with a duplicate
layers.StringLookup(vocabulary=["a", "b", "a"])

# a lookup that was never adapted
layers.StringLookup()(["a"])

# a layer that forgets super().__init__
class Own(layers.Layer):
    def __init__(self):
        self.d = layers.Dense(1)
l = Own()
l(np.ones([1, 1])).shape

# a layer that makes its variable in call
class Own(layers.Layer):
    def call(self, x):
        self.w = self.add_weight(shape=[1], initializer="ones")
        return x * self.w
l = Own()
l(np.ones([1]))
len(l.weights)
""",
    raises=True,
    message=True,
)
