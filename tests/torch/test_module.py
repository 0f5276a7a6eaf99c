"""TensorFlow's functions and models as modules of torch."""

import collections
import copy

import numpy as np
import pytest
import torch

import tapeflow as tf

DYNAMIC = torch.export.Dim.DYNAMIC


def perturbed(model):
    """A model whose normalizations and biases are not those that it begins with."""
    rng = np.random.default_rng(0)
    for v in model.variables:
        if v.dtype == "float32":
            v.assign(v + rng.uniform(0.01, 0.1, v.shape))
    return model


@pytest.fixture(autouse=True)
def seeds():
    tf.keras.utils.set_random_seed(1)
    torch.manual_seed(1)


def image_model():
    layers = tf.keras.layers
    return perturbed(
        tf.keras.Sequential(
            [
                tf.keras.Input((8, 8, 3), name="image"),
                layers.Conv2D(4, 3, padding="same", name="conv"),
                layers.BatchNormalization(name="batch"),
                layers.ReLU(),
                layers.MaxPooling2D(),
                layers.DepthwiseConv2D(3, strides=2, padding="same"),
                layers.Flatten(),
                layers.Dropout(0.5),
                layers.LayerNormalization(),
                layers.Dense(3, activation="softmax"),
            ],
            name="images",
        )
    )


def text_model():
    layers = tf.keras.layers
    ids = tf.keras.Input((6,), dtype="int32")
    x = layers.Embedding(10, 8)(ids)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    x = layers.LayerNormalization()(x + layers.Dense(8)(layers.Dense(16, activation="gelu")(x)))
    return perturbed(tf.keras.Model(ids, [x, layers.GlobalAveragePooling1D()(x)]))


def sequence_model():
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [tf.keras.Input((7, 5)), layers.Bidirectional(layers.LSTM(4, return_sequences=True)), layers.GRU(3)]
    )


APPLICATIONS = {
    "MobileNetV2": {"alpha": 0.35},
    "MobileNetV3Small": {"alpha": 0.75},
    "ResNet50V2": {},
    "EfficientNetB0": {},
}


def application(name):
    options = {"weights": None, "classes": 5, "classifier_activation": None, "input_shape": (32, 32, 3)}
    return perturbed(getattr(tf.keras.applications, name)(**options, **APPLICATIONS[name]))


def inputs_of(model, batch=2):
    shape, dtype = [batch, *model.input_shape[1:]], model.inputs[0].dtype
    torch.manual_seed(0)
    return torch.randint(0, 10, shape, dtype=torch.int32) if dtype == "int32" else torch.rand(shape)


def flat(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def check(model, x, results):
    expected = flat(model(tf.torch.from_torch(x), training=False))
    for e, r in zip(expected, flat(results), strict=True):
        np.testing.assert_allclose(r.numpy(force=True), e, rtol=1e-4, atol=1e-5)


MODELS = [image_model, text_model, sequence_model, *(lambda n=n: application(n) for n in APPLICATIONS)]
NAMES = ["images", "texts", "sequences", *APPLICATIONS]


@pytest.mark.parametrize("build", MODELS, ids=NAMES)
def test_model(build):
    model = build()
    module = tf.torch.module(model).eval()
    x = inputs_of(model)
    results = module(x)
    check(model, x, results)
    sum((r**2).sum() for r in flat(results)).backward()
    with tf.GradientTape() as tape:
        target = sum(tf.reduce_sum(r**2) for r in flat(model(tf.torch.from_torch(x), training=False)))
    gradients = tape.gradient(target, model.trainable_variables)
    parameters = dict(module.named_parameters())
    assert len(parameters) == len(gradients)
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        g = tf.convert_to_tensor(gradient).numpy()
        path = variable.path.replace("/", ".")
        (own,) = [p.grad.numpy() for name, p in parameters.items() if path in (name, f"{model.name}.{name}")]
        np.testing.assert_allclose(own, g, rtol=1e-3, atol=1e-4 * max(1, np.abs(g).max()))


@pytest.mark.parametrize("build", MODELS[:4], ids=NAMES[:4])
def test_export_with_any_batch(build):
    model = build()
    module = tf.torch.module(model).eval()
    x = inputs_of(model)
    with torch.no_grad():
        program = torch.export.export(module, (x,), dynamic_shapes=(({0: DYNAMIC},),))
    more = inputs_of(model, 5)
    check(model, more, program.module()(more))


def test_export_leaves_out_summaries(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def double(x):
        with writer.as_default(step=0):
            tf.summary.scalar("sum", tf.reduce_sum(x))
        return x * 2.0

    exported = torch.export.export(tf.torch.module(double), (torch.ones(2, 3),), dynamic_shapes=(({0: DYNAMIC},),))
    assert exported.module()(torch.ones(4, 3)).tolist() == [[2.0] * 3] * 4


@pytest.mark.parametrize("build", MODELS[:2], ids=NAMES[:2])
def test_compile(build):
    model = build()
    module = tf.torch.module(model).eval()
    x = inputs_of(model)
    check(model, x, torch.compile(module, backend="aot_eager", fullgraph=True)(x))


def test_names_and_kinds_of_parameters():
    module = tf.torch.module(image_model())
    names = [n for n, _ in module.named_parameters()]
    assert names[:4] == ["conv.kernel", "conv.bias", "batch.gamma", "batch.beta"]
    state = module.state_dict()
    assert {"batch.moving_mean", "batch.moving_variance"} < set(state) - set(names)
    other = tf.torch.module(image_model())
    assert [n.split(".")[-1] for n in other.state_dict()] == [n.split(".")[-1] for n in state]


def test_parameters_start_in_the_variables_memory_and_part_when_written():
    v = tf.Variable(tf.ones([2]), name="v")
    module = tf.torch.module(tf.function(lambda x: x * v), tf.TensorSpec([2]))
    assert torch._C._data_address(module.v.detach()) == torch._C._data_address(v.value().value)
    with torch.no_grad():
        module.v.fill_(5.0)
    assert v.numpy().tolist() == [1.0, 1.0]
    v.assign([7.0, 7.0])
    assert module.v.tolist() == [5.0, 5.0]


def test_train_and_eval():
    model = image_model()
    module = tf.torch.module(model)
    x = inputs_of(model)
    before = module.batch.moving_mean.clone()
    assert not torch.equal(module(x), module(x))
    assert not torch.equal(module.batch.moving_mean, before)
    model(tf.torch.from_torch(x), training=True)
    model(tf.torch.from_torch(x), training=True)
    np.testing.assert_allclose(module.batch.moving_mean, model.layers[1].moving_mean, rtol=1e-4, atol=1e-6)
    module.eval()
    assert torch.equal(module(x), module(x))
    assert "dropout" not in module.source()
    assert "functional.dropout(" in module.train().source()


def test_torch_trains_it():
    model = image_model()
    module = tf.torch.module(model).train()
    x, y = torch.rand(8, 8, 8, 3), torch.arange(8) % 3
    optimizer = torch.optim.Adam(module.parameters(), 0.01)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = torch.nn.functional.nll_loss(torch.log(module(x)), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-5:]) < sum(losses[:5])  # dropout makes single ones vary


def test_trains_through_dropout_of_many_elements():
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input((512,)), layers.Dense(512), layers.Dropout(0.5), layers.Dense(1)])
    m = tf.torch.module(model).train()
    m(torch.ones(256, 512)).sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in m.parameters())


def test_compile_and_export_in_training():
    model = image_model()
    module = tf.torch.module(model).train()
    x = inputs_of(model)
    torch.compile(module, backend="aot_eager")(x).sum().backward()
    assert all(p.grad is not None for p in module.parameters())
    program = torch.export.export(module, (x,))
    assert program.module()(x).shape == (2, 3)


def test_source_is_one_line_an_operation():
    w = tf.Variable([[1.0], [2.0]], name="w")
    module = tf.torch.module(tf.function(lambda x: tf.nn.relu(x @ w) + 1.0), tf.TensorSpec([None, 2]))
    assert module.source().splitlines() == [
        "def forward(self, x):",
        "    MatMul = torch.mm(x, self.w)",
        "    Relu = torch.relu(MatMul)",
        "    add = torch.add(Relu, add_y)",
        "    return add",
    ]


def test_structures():
    pair = collections.namedtuple("Pair", "a b")
    f = tf.function(lambda x, y: {"z": [x + y, (x,)], "p": pair(x * y, None)})
    module = tf.torch.module(f, tf.TensorSpec([2]), tf.TensorSpec([2]))
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    result = module(x, y=y)
    assert result["z"][0].tolist() == [4, 6]
    assert result["z"][1][0].tolist() == [1, 2]
    assert type(result["p"]) is pair
    assert result["p"].a.tolist() == [3, 8]
    assert result["p"].b is None


def test_control_flow():
    v, count = tf.Variable(2.0, name="v"), tf.Variable(0, trainable=False, name="count")

    @tf.function
    def f(x):
        steps = 0
        while tf.reduce_sum(x) < 100.0:
            x = x * v
            steps += 1
        if steps > 3:
            x = x - 1.0
        count.assign_add(1)
        return x, steps

    module = tf.torch.module(f, tf.TensorSpec([2]))
    x = torch.ones(2, requires_grad=True)
    y, steps = module(x)
    assert (y.tolist(), steps.item(), module.count.item(), count.numpy()) == ([63.0, 63.0], 6, 1, 0)
    y.sum().backward()
    assert (x.grad.tolist(), module.v.grad.item()) == ([64.0, 64.0], 384.0)


def test_called_functions():
    v = tf.Variable([2.0], name="v")
    inner = tf.function(lambda x: x * v + tf.reduce_max(x))
    module = tf.torch.module(tf.function(lambda x: inner(inner(x))), tf.TensorSpec([None]))
    x = torch.tensor([1.0, 2.0])
    np.testing.assert_allclose(module(x).detach(), inner(inner(tf.constant([1.0, 2.0]))))


def test_gradients_stop_where_tapes_do():
    module = tf.torch.module(tf.function(lambda x: x * tf.stop_gradient(x)), tf.TensorSpec([]))
    x = torch.tensor(3.0, requires_grad=True)
    module(x).backward()
    assert x.grad == 3.0


def test_saved_model(tmp_path):
    model = image_model()
    model.export(tmp_path, verbose=False)
    module = tf.torch.module(tmp_path).eval()
    x = inputs_of(model)
    check(model, x, module(x)["output_0"])


def test_what_torch_lacks():
    with pytest.raises(TypeError, match=r"StringLength.*dtype string"):
        tf.torch.module(tf.function(lambda x: tf.strings.length(x)), tf.TensorSpec([], tf.string))
    with pytest.raises(TypeError, match="takes a"):
        tf.torch.module(3)
    with pytest.raises(ValueError, match="TensorSpec"):
        tf.torch.module(tf.keras.Sequential([tf.keras.layers.Dense(2)]))
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(TypeError, match="changes a variable"):
        tf.torch.module(tf.function(lambda i: v.scatter_nd_update([[i]], [3.0])), tf.TensorSpec([], tf.int32))


def test_captured_tensors_are_buffers():
    scale, table = tf.constant(2.0), tf.random.normal([64, 64])  # too large for the source
    with tf.GradientTape() as tape:
        tape.watch(scale)  # which functions capture then

        @tf.function(autograph=False)
        def f(x):
            return tf.matmul(x, table) * scale

        module = tf.torch.module(f, tf.TensorSpec([None, 64]))
    x = torch.rand(2, 64)
    np.testing.assert_allclose(module(x), f(tf.torch.from_torch(x)), rtol=1e-5, atol=1e-6)
    assert len(module.input_names) == 1


def test_inputs_by_names():
    inputs = {"a": tf.keras.Input((2,), name="a"), "b": tf.keras.Input((2,), name="b")}
    model = tf.keras.Model(inputs, inputs["a"] - inputs["b"])
    module = tf.torch.module(model)
    assert module.input_names == ["a", "b"]
    assert module(b=torch.ones(1, 2), a=torch.zeros(1, 2)).tolist() == [[-1.0, -1.0]]


def test_sizes_that_are_values_are_exported():
    """As in a causal mask: ranges up to a size, as floats too, and sizes as tensors."""

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        n = tf.shape(x)[0]
        rows, columns = tf.range(tf.cast(n, tf.float32)), tf.range(n)
        mask = rows[:, None] >= tf.cast(columns, tf.float32)
        return tf.where(mask, 1.0, 0.0) @ x, tf.shape(x) + 1

    module = tf.torch.module(f.get_concrete_function())
    program = torch.export.export(module, (torch.rand(4, 3),), dynamic_shapes=(({0: DYNAMIC},),))
    x = torch.rand(5, 3)
    for result, expected in zip(program.module()(x), f(tf.torch.from_torch(x)), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_gathering_in_batches_is_exported():
    f = tf.function(lambda x, i: tf.gather(x, i, axis=2, batch_dims=1))
    module = tf.torch.module(f, tf.TensorSpec([None, None, 4]), tf.TensorSpec([None, 2], tf.int32))

    def samples(n, m):
        return torch.rand(n, m, 4), torch.randint(0, 4, (n, 2), dtype=torch.int32)

    program = torch.export.export(module, samples(3, 5), dynamic_shapes=(({0: DYNAMIC, 1: DYNAMIC}, {0: DYNAMIC}),))
    x, i = samples(2, 6)
    np.testing.assert_allclose(program.module()(x, i), f(tf.torch.from_torch(x), tf.torch.from_torch(i)))


def test_a_gradient_of_a_loop_in_a_function_is_named():
    @tf.function(input_signature=[tf.TensorSpec([])])
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(3):
                y = y * y
        return tape.gradient(y, x)

    with pytest.raises(TypeError, match=r"gradient of \w*While .*convert the function without the gradient"):
        tf.torch.module(gradient)


def test_a_gradient_of_a_conditional_in_a_function():
    @tf.function(input_signature=[tf.TensorSpec([])])
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0.0, lambda: x * tf.sin(x), lambda: x)
        return tape.gradient(y, x)

    module = tf.torch.module(gradient)
    for value in (2.0, -2.0):
        assert module(torch.tensor(value)).item() == pytest.approx(float(gradient(tf.constant(value))))


def test_functions_that_were_trained_before():
    w = tf.Variable(np.full((3, 3), 0.4, np.float32), name="w")

    @tf.function
    def steps(x, n):
        for _ in tf.range(n):
            x = tf.tanh(x @ w)
        return x

    @tf.function
    def loss(x, n):
        while tf.reduce_sum(x) < 10.0:
            x = steps(x, n) + x + (tf.sin(x @ w) if n > 2 else x)
        return tf.reduce_sum(x)

    inputs = np.full((2, 3), 0.3, np.float32), np.int32(3)
    with tf.GradientTape() as tape:
        value = loss(*map(tf.constant, inputs))
    expected = tape.gradient(value, w)
    module = tf.torch.module(loss, tf.TensorSpec([2, 3]), tf.TensorSpec([], tf.int32))
    module(*map(torch.tensor, inputs)).backward()
    np.testing.assert_allclose(module.w.grad, expected, rtol=1e-5)
    with torch.no_grad():
        np.testing.assert_allclose(module(*map(torch.tensor, inputs)), value, rtol=1e-6)


def test_text_before_a_loop_that_was_trained_before():
    w = tf.Variable(2.0, name="w")

    @tf.function
    def loss(words):
        x = tf.strings.to_number(words)
        while tf.reduce_sum(x) < 10.0:
            x = x * w
        return x

    with tf.GradientTape() as tape:
        value = loss(tf.constant(["1", "2"]))
    expected = tape.gradient(value, w)
    module = tf.torch.module(loss, tf.TensorSpec([2], tf.string))
    module(*module.preprocessing(["1", "2"])).sum().backward()
    np.testing.assert_allclose(module.w.grad, expected)


def test_parameters_of_one_element_have_the_usual_strides():
    v, w = tf.Variable(tf.fill([1], 0.0), name="v"), tf.Variable(tf.zeros([1, 3]), name="w")
    module = tf.torch.module(tf.function(lambda x: x * v + w), tf.TensorSpec([3]))
    assert [(p.shape, p.stride()) for p in module.parameters()] == [((1,), (1,)), ((1, 3), (3, 1))]
    with torch.no_grad():
        module.v.fill_(2.0)
    assert v.numpy() == [0.0]


def test_write_back_gives_a_keras_model_its_trained_weights():
    layers = tf.keras.layers
    model = tf.keras.Sequential([tf.keras.Input([4]), layers.Dense(3), layers.BatchNormalization(), layers.Dense(2)])
    x = torch.rand(8, 4)
    module = tf.torch.module(model)
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    module.train()
    for _ in range(3):
        optimizer.zero_grad()
        (module(x) ** 2).mean().backward()
        optimizer.step()
    module.eval()
    trained = module(x).detach().numpy()
    assert np.abs(model.predict(x.numpy(), verbose=0) - trained).max() > 1e-3
    module.write_back()
    np.testing.assert_allclose(model.predict(x.numpy(), verbose=0), trained, rtol=1e-5, atol=1e-6)
    optimizer.zero_grad()
    (module(x) ** 2).mean().backward()
    optimizer.step()  # changes the module alone
    np.testing.assert_allclose(model.predict(x.numpy(), verbose=0), trained, rtol=1e-5, atol=1e-6)


def test_write_back_of_a_copy():
    w = tf.Variable([1.0, 2.0], name="scope/w")
    module = copy.deepcopy(tf.torch.module(tf.function(lambda x: x * w), tf.TensorSpec([2])))
    with torch.no_grad():
        module.scope.w.fill_(5.0)
    module.write_back()
    assert w.numpy().tolist() == [5.0, 5.0]
