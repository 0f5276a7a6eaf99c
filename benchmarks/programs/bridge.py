"""Models of Keras, the same converted to modules of torch, and the same written in torch with channels last in memory.

TapeFlow's own time stands in the first column, that of the converted module in the second. A step is the forward pass,
the gradients of all parameters, and Adam's update: Keras's in a `tf.function`, torch's fused one for modules. Results
are not compared, as weights and dropout differ.
"""

import functools

import numpy as np
from zoo import build

THREADS = 1

LEARNING_RATE = 1e-5
MODELS = ("ResNet50 96x96", "BERT-small")


class Keras:
    """A model of Keras, and the module of torch that it is converted to."""

    def __init__(self, tf, name):
        self.case = case = build(tf.keras, name)
        self.model, self.x, self.y = case.model, tf.constant(case.x), tf.constant(case.y)
        loss_of, variables = tf.keras.losses.get(case.loss), case.model.trainable_variables
        optimizer = tf.keras.optimizers.Adam(LEARNING_RATE)
        optimizer.build(variables)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(loss_of(self.y, self.model(self.x, training=True)))
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        self.step, self.forward = step, tf.function(lambda: self.model(self.x, training=False))


class Torch:
    """A module of torch with a batch."""

    def __init__(self, torch, module, x, y):
        self.torch, self.module, self.x, self.y = torch, module, x, y
        self.optimizer = torch.optim.Adam(module.parameters(), LEARNING_RATE, eps=1e-7, fused=True)

    def forward(self):
        with self.torch.no_grad():
            return self.module.eval()(self.x)

    def step(self):
        predictions = self.module.train()(self.x)
        logits = self.torch.log(predictions.clamp(1e-7, 1.0 - 1e-7))
        loss = self.torch.nn.functional.nll_loss(logits.flatten(0, -2), self.y.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


def converted(tf, name):
    import torch

    case = build(tf.keras, name)
    x, y = torch.from_numpy(case.x), torch.from_numpy(case.y).long()
    return Torch(torch, tf.torch.module(case.model, tf.TensorSpec(x.shape, case.x.dtype)), x, y)


def setup(tf):
    programs = {}
    for name in MODELS:
        variants = {"": functools.cache(functools.partial(Keras, tf, name))}
        if hasattr(tf, "torch"):  # TapeFlow
            variants["converted"] = functools.cache(functools.partial(converted, tf, name))
        programs |= calls(name, variants)
    return programs


def setup_torch(torch):
    return {
        call: run[""]
        for name, create in zip(MODELS, (resnet50, bert_small), strict=True)
        for call, run in calls(name, {"": functools.cache(functools.partial(create, torch))}).items()
    }


def calls(name, variants):
    """Returns the calls that are timed, of each variant, whose model is created at the first call."""

    def run(create, method):
        getattr(create(), method)()
        return 0.0  # not the result, which is no other framework's

    return {
        f"{name}: {what}": {v: functools.partial(run, create, method) for v, create in variants.items()}
        for what, method in (("forward", "forward"), ("training step", "step"))
    }


# --- in torch --------------------------------------------------------------------------------


def resnet50(torch):
    nn, functional = torch.nn, torch.nn.functional

    def normalized(channels, results, size, stride=1):
        convolution = nn.Conv2d(channels, results, size, stride, size // 2)
        return nn.Sequential(convolution, nn.BatchNorm2d(results, 1.001e-5, 0.01))

    class Block(nn.Module):
        def __init__(self, channels, width, stride, first):
            super().__init__()
            self.a = normalized(channels, width, 1, stride)
            self.b = normalized(width, width, 3)
            self.c = normalized(width, 4 * width, 1)
            self.past = normalized(channels, 4 * width, 1, stride) if first else nn.Identity()

        def forward(self, x):
            y = functional.relu(self.a(x), inplace=True)
            y = self.c(functional.relu(self.b(y), inplace=True))
            return functional.relu(y.add_(self.past(x)), inplace=True)

    blocks, channels = [], 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            blocks.append(Block(channels, width, stride if i == 0 else 1, i == 0))
            channels = 4 * width
    start = [normalized(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    end = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 10), nn.Softmax(-1)]
    module = nn.Sequential(*start, *blocks, *end).to(memory_format=torch.channels_last)
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.standard_normal((8, 3, 96, 96)).astype(np.float32))
    return Torch(torch, module, x.to(memory_format=torch.channels_last), torch.from_numpy(rng.integers(0, 10, 8)))


def bert_small(torch):
    nn, functional = torch.nn, torch.nn.functional
    words, length, width, heads, rate = 4000, 64, 256, 4, 0.1

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x):
            q, k, v = self.inputs(x).unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
            dropped = rate if self.training else 0.0
            y = functional.scaled_dot_product_attention(q, k, v, dropout_p=dropped)
            return self.output(y.transpose(1, 2).flatten(-2))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.Sequential(nn.LayerNorm(width, 1e-6), Attention())
            self.dense = nn.Sequential(
                nn.LayerNorm(width, 1e-6), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width),
                nn.Dropout(rate),
            )  # fmt: skip

        def forward(self, x):
            x = x + self.attention(x)
            return x + self.dense(x)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Parameter(0.05 * torch.randn(length, width))
            blocks = [Block() for _ in range(4)]
            end = [nn.LayerNorm(width, 1e-6), nn.Linear(width, words), nn.Softmax(-1)]
            self.rest = nn.Sequential(nn.Dropout(rate), *blocks, *end)

        def forward(self, x):
            return self.rest(self.words(x) + self.places)

    x, y = (torch.from_numpy(np.random.default_rng(0).integers(0, words, (4, length))) for _ in range(2))
    return Torch(torch, Model(), x, y)
