"""Text and tables before a model are split off: the module of the rest takes what its preprocessing returns."""

import sys

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.torch.commands import convert_command
from tapeflow.torch.text_boundary import split

WORDS = tf.constant(["a b zzz", "e d"])


def vectorization(**options):
    layer = tf.keras.layers.TextVectorization(**options)
    layer.adapt(["a b c", "b c d e", "hello a"])
    return layer


def sentences():
    """A classifier of sentences and numbers beside them."""
    words, numbers = tf.keras.Input((), dtype="string"), tf.keras.Input((3,))
    x = tf.keras.layers.Embedding(20, 4, mask_zero=True)(vectorization(output_sequence_length=6)(words))
    x = tf.keras.layers.Concatenate()([tf.keras.layers.LSTM(5)(x), numbers])
    x = tf.keras.layers.BatchNormalization()(tf.keras.layers.Dropout(0.5)(x))
    return tf.keras.Model([words, numbers], tf.keras.layers.Dense(2)(x))


def columns():
    """A model of categories: a lookup, and a hash."""
    inputs = tf.keras.Input((2,), dtype="string")
    known = tf.keras.layers.Embedding(4, 3)(tf.keras.layers.StringLookup(vocabulary=["x", "y"])(inputs))
    hashed = tf.keras.layers.Embedding(7, 3)(tf.keras.layers.Hashing(7)(inputs))
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(tf.keras.layers.Flatten()(known + hashed)))


def test_a_model_of_sentences_and_numbers():
    model, numbers = sentences(), tf.constant(np.random.default_rng(0).random((2, 3)), tf.float32)
    module = tf.torch.module(model).eval()
    inputs = module.preprocessing(WORDS, numbers)
    assert [t.shape for t in inputs] == [(2, 3), (2, 6)]  # no masks and sizes, which follow from the numbers of words
    assert [shape for shape, _ in module.input_specs] == [[None, 3], [None, 6]]
    np.testing.assert_allclose(module(*inputs).numpy(force=True), model([WORDS, numbers]), rtol=1e-5, atol=1e-6)
    module.train()
    module(*module.preprocessing(WORDS, torch.ones(2, 3))).sum().backward()
    assert all(p.grad is not None for p in module.parameters())


def test_a_saved_model_of_categories(tmp_path):
    model, inputs = columns(), [["x", "w"], ["y", "y"]]
    model.export(tmp_path, verbose=False)
    expected = model(tf.constant(inputs))
    for module in (tf.torch.module(model), tf.torch.module(tmp_path)):
        (result,) = tf.nest.flatten(module.eval()(*module.preprocessing(inputs)))
        np.testing.assert_allclose(result.numpy(force=True), expected, rtol=1e-5, atol=1e-6)


def test_text_of_floats():
    bags = tf.keras.Sequential(
        [tf.keras.Input((), dtype="string"), vectorization(output_mode="multi_hot"), tf.keras.layers.Dense(2)]
    )
    module = tf.torch.module(bags).eval()
    result = module(*module.preprocessing(WORDS)).numpy(force=True)
    np.testing.assert_allclose(result, bags(WORDS), rtol=1e-5, atol=1e-6)


def test_functions_and_branches():
    table = tf.Variable([[1.0], [2.0], [4.0], [8.0]], name="table")
    lower = tf.function(lambda x: tf.strings.lower(x))

    @tf.function
    def score(x, scale):
        if tf.equal(lower(x)[0], "yes"):
            length = tf.strings.length(x)
        else:
            length = tf.strings.length(x) - 1
        return {"score": scale * tf.gather(table, length), "length": length}

    words, scale = tf.TensorSpec([None], tf.string), tf.TensorSpec([])
    module = tf.torch.module(score, words, scale)
    assert [name for name, _ in module.named_parameters()] == ["table"]
    for x in (["YES", "a"], ["no", "abc"]):
        result, expected = module(*module.preprocessing(x, 0.5)), score(tf.constant(x), tf.constant(0.5))
        assert result.keys() == expected.keys()
        for key, value in expected.items():
            np.testing.assert_array_equal(result[key].numpy(force=True), value)


def test_files(tmp_path, capsys):
    model = tf.keras.Sequential(
        [
            tf.keras.Input((), dtype="string"),
            vectorization(output_sequence_length=4),
            tf.keras.layers.Embedding(20, 3),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(1),
        ]
    )
    model.save(tmp_path / "model.keras")
    assert convert_command([str(tmp_path / "model.keras"), "--to", "torch"]) == 0
    assert f"{tmp_path / 'model_torch' / 'preprocessing'}: a SavedModel" in capsys.readouterr().out
    assert convert_command([str(tmp_path / "model.keras"), "--to", "pt2"]) == 0
    module = tf.torch.module(model)
    for folder in (tmp_path / "model_torch" / "preprocessing", tmp_path / "model_preprocessing"):
        (ids,) = tf.saved_model.load(folder).preprocess(WORDS)
        np.testing.assert_array_equal(ids, module.preprocessing(WORDS)[0])
    program = torch.export.load(tmp_path / "model.pt2").module()
    np.testing.assert_allclose(program(torch.from_numpy(ids.numpy())).numpy(force=True), model(WORDS), rtol=1e-5)


def test_a_model_without_text_has_no_preprocessing():
    checked = tf.function(lambda x: tf.debugging.check_numerics(x, "not finite") * 2.0)
    assert tf.torch.module(checked, tf.TensorSpec([2])).preprocessing is None


@pytest.mark.parametrize(
    "function",
    [
        lambda v, x: tf.strings.length(x),
        lambda v, x: v * tf.strings.to_number(tf.strings.as_string(v)),
        lambda v, x: (v * tf.strings.to_number(x), x),
    ],
)
def test_text_that_is_not_before_a_model_is_an_error(function):
    v = tf.Variable(2.0)
    with pytest.raises(TypeError, match=r"\w+ \(.*\) has a tensor of dtype string, .* can't be split off|string"):
        tf.torch.module(tf.function(lambda x: function(v, x)), tf.TensorSpec([], tf.string))


def test_a_dataset_in_a_function_is_an_error():
    def first(x):
        return next(iter(tf.data.Dataset.from_tensors(x).unbatch().batch(2))) * 2.0

    with pytest.raises(TypeError, match=r"Iterator.* has a tensor of dtype resource, .* can't be split off"):
        tf.torch.module(tf.function(first), tf.TensorSpec([3, 4]))


def test_the_place_of_the_cut_is_where_the_fewest_tensors_pass():
    @tf.function
    def masked(words):
        lengths = tf.strings.length(words)
        halves, rest = lengths // 2, lengths % 2  # two tensors pass between here and the sum
        total = halves + rest * (halves + lengths)
        return v * tf.cast(total, tf.float32), tf.cast(tf.range(tf.size(words)), tf.float32)

    v = tf.Variable(3.0)
    module = tf.torch.module(masked, tf.TensorSpec([None], tf.string))
    words = ["a", "abcd", ""]
    inputs = module.preprocessing(words)
    assert [t.tolist() for t in inputs] == [[1, 2, 0], [0, 1, 2]]
    for result, expected in zip(module(*inputs), masked(tf.constant(words)), strict=True):
        np.testing.assert_array_equal(result.numpy(force=True), expected)


def test_splitting_is_linear_in_the_number_of_steps():
    def calls_for(count):
        def chain(words):
            length = tf.strings.length(words)
            for i in range(count):
                length = length * (i % 3) + length
            return v * tf.cast(length, tf.float32)

        concrete = tf.function(chain, autograph=False).get_concrete_function(tf.TensorSpec([None], tf.string))
        calls = 0

        def profiler(frame, event, arg):
            nonlocal calls
            calls += event == "call"

        before = sys.getprofile()
        sys.setprofile(profiler)
        try:
            split(concrete)
        finally:
            sys.setprofile(before)
        return calls

    v = tf.Variable(2.0)
    assert calls_for(2000) < 2.2 * calls_for(1000)
