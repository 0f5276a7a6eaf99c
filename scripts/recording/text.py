"""Records what TensorFlow Text makes of random texts, and SavedModels with its ops.

python scripts/record.py text                                 # needs TensorFlow Text and SentencePiece
python scripts/record.py text --texts 5000 --against PYTHON   # compares with the TapeFlow of an interpreter
"""

import argparse
import gzip
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
TESTS = pathlib.Path(__file__).parents[2] / "tests"
FOLDER = TESTS / "fixtures" / "text"
RECORDED = 60


def new_model() -> bytes:
    """Returns the bytes of a small model of SentencePiece."""
    import sentencepiece

    sentences = ["the quick brown fox jumps over the lazy dog", "café naïve 東京 語", "hello world, the foxes jumped!"]
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences * 20), model_writer=out, vocab_size=60, hard_vocab_limit=False,
        normalization_rule_name="identity", minloglevel=2,
    )  # fmt: skip
    return out.getvalue()


def outcomes(tf, text, count: int, seed: int, model: bytes) -> dict[str, object]:
    """Returns the answers of a library, by the names of the cases."""
    import text_cases

    texts = tf.constant(text_cases.texts(count, seed))
    found = {name: function(texts) for name, function in text_cases.cases(tf, text).items()}
    found |= text_cases.trims(tf, text)
    found |= {name: function(texts) for name, function in text_cases.sentencepieces(tf, text, model).items()}
    return {name: text_cases.plain(value) for name, value in found.items()}


def save_models(tf, text, model: bytes) -> None:
    """Saves modules with the tokenizers, in an archive."""
    import text_cases

    with tempfile.TemporaryDirectory() as folder:
        for name, argument in (("saved_model", None), ("saved_sentencepiece", model)):
            tf.saved_model.save(text_cases.tokenizers(tf, text, argument), f"{folder}/{name}")
        shutil.make_archive(str(FOLDER / "saved_models"), "zip", folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=RECORDED, help="how many texts")
    parser.add_argument("--seed", type=int, default=5, help="of the texts")
    parser.add_argument("--against", help="an interpreter that has TapeFlow: compares instead of writing")
    parser.add_argument("--tapeflow", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(TESTS / "support"))
    path = FOLDER / "sentencepiece.model"
    if options.tapeflow:
        import tapeflow
        from tapeflow import text

        print(json.dumps(outcomes(tapeflow, text, options.texts, options.seed, path.read_bytes())))
        return 0
    import tensorflow as tf
    import tensorflow_text as text

    if options.against:
        expected = outcomes(tf, text, options.texts, options.seed, path.read_bytes())
        command = [options.against, __file__, "--tapeflow", "--texts", str(options.texts), "--seed", str(options.seed)]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        different = [name for name, value in expected.items() if found.get(name) != value]
        print(f"{len(expected) - len(different)} of {len(expected)} cases are equal; different: {different}")
        return bool(different)
    FOLDER.mkdir(exist_ok=True)
    model = new_model()
    path.write_bytes(model)
    expected = outcomes(tf, text, options.texts, options.seed, model)
    data = gzip.compress(json.dumps(expected).encode(), mtime=0)
    (FOLDER / "outcomes.json.gz").write_bytes(data)
    save_models(tf, text, model)
    return 0


if __name__ == "__main__":
    sys.exit(main())
