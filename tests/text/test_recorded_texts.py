"""Tokenizers find the tokens of TensorFlow Text, in `fixtures/text` (`scripts/record.py text`)."""

import functools
import gzip
import importlib.util
import json
import pathlib
import shutil

import pytest

import tapeflow as tf
import text_cases
from tapeflow import text

FOLDER = pathlib.Path(__file__).parents[1] / "fixtures" / "text"
RECORDED = json.loads(gzip.decompress((FOLDER / "outcomes.json.gz").read_bytes()))
MODEL = (FOLDER / "sentencepiece.model").read_bytes()
TEXTS = text_cases.texts(60)
HAS_SENTENCEPIECE = importlib.util.find_spec("sentencepiece") is not None
needs_sentencepiece = pytest.mark.skipif(not HAS_SENTENCEPIECE, reason="the extra `text` is not installed")


@functools.cache
def functions():
    return text_cases.cases(tf, text)


@functools.cache
def trims():
    return text_cases.trims(tf, text)


@pytest.mark.parametrize("name", functions())
def test_tokens_of_texts(name):
    assert text_cases.plain(functions()[name](tf.constant(TEXTS))) == RECORDED[name]


@pytest.mark.parametrize("name", functions())
def test_tokens_of_texts_in_a_dataset(name):
    function = functions()[name]
    found = list(tf.data.Dataset.from_tensors(TEXTS).map(lambda x: tuple(wrap(function(x)))))
    assert text_cases.plain(found[0] if len(found[0]) > 1 else found[0][0]) == RECORDED[name]


def wrap(value):
    return value if isinstance(value, (tuple, list)) else [value]


def test_tokens_of_one_text():
    """One text, and few, are split by RE2 itself, and many by automata."""
    for name in ("regex kept", "regex gpt", "regex edge", "bert lower"):
        for i in (2, 9, 20):
            found = text_cases.plain(functions()[name](tf.constant(TEXTS[i : i + 1])))
            assert [part[0] for part in found] == [part[i] for part in RECORDED[name]]


@pytest.mark.parametrize("name", trims())
def test_trimmers_and_packers(name):
    assert text_cases.plain(trims()[name]) == RECORDED[name]


@needs_sentencepiece
@pytest.mark.parametrize("name", ["numbers", "strings", "numbers back", "strings back", "strings without places"])
def test_sentencepiece(name):
    function = text_cases.sentencepieces(tf, text, MODEL)[name]
    assert text_cases.plain(function(tf.constant(TEXTS))) == RECORDED[name]


NAMES = ["bert", "fast", "spaces", "scripts", "regex", "pack"]


@pytest.fixture(scope="module")
def saved_models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved_models")
    shutil.unpack_archive(FOLDER / "saved_models.zip", folder)
    return folder


@pytest.fixture(scope="module")
def loaded_model(saved_models):
    return tf.saved_model.load(saved_models / "saved_model")


@functools.cache
def own_module():
    return text_cases.tokenizers(tf, text, None)


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_model_of_tensorflow(name, loaded_model):
    found = getattr(loaded_model, name)(tf.constant(TEXTS))
    assert text_cases.plain(found) == text_cases.plain(getattr(own_module(), name)(tf.constant(TEXTS)))


@needs_sentencepiece
def test_sentencepiece_in_a_saved_model(saved_models, tmp_path):
    module, texts = text_cases.tokenizers(tf, text, MODEL), tf.constant(TEXTS)
    tf.saved_model.save(module, tmp_path)
    for folder in (saved_models / "saved_sentencepiece", tmp_path):
        found = tf.saved_model.load(folder).sentencepiece(texts)
        assert text_cases.plain(found) == text_cases.plain(module.sentencepiece(texts)) == RECORDED["numbers"]


@pytest.mark.skipif(HAS_SENTENCEPIECE, reason="the extra `text` is installed")
def test_without_sentencepiece(saved_models):
    with pytest.raises(ImportError, match=r"pip install 'tapeflow\[text\]'"):
        text.SentencepieceTokenizer(MODEL)
    with pytest.raises(tf.errors.UnimplementedError, match="needs the package sentencepiece"):
        tf.saved_model.load(saved_models / "saved_sentencepiece")


def test_a_saved_model_of_tapeflow(tmp_path):
    tf.saved_model.save(own_module(), tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    for name in NAMES:
        found = getattr(loaded, name)(tf.constant(TEXTS))
        assert text_cases.plain(found) == text_cases.plain(getattr(own_module(), name)(tf.constant(TEXTS)))
