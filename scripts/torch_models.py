"""Converts architectures of keras.applications and keras-hub to modules of torch, and prints what each passes.

    scripts/torch_models.py [--only NAME ...] [--onnx] [--hub FOLDER] [--markdown FILE]

Weights are random. Outputs and gradients are compared with the Keras model's, run by TapeFlow; `torch.export` has an
open batch, and its program is run with another one. A failure is named by its first line.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tapeflow as tf

TOLERANCE = 1e-4
SMALL = {"weights": None, "classes": 5, "classifier_activation": None}

# Names of keras.applications, and the smallest images that they take.
APPLICATIONS = {
    "MobileNet": 32, "MobileNetV2": 32, "MobileNetV3Small": 32, "MobileNetV3Large": 32, "VGG16": 32, "VGG19": 32,
    "ResNet50": 32, "ResNet101": 32, "ResNet152": 32, "ResNet50V2": 32, "ResNet101V2": 32, "ResNet152V2": 32,
    "DenseNet121": 32, "DenseNet169": 32, "DenseNet201": 32, "EfficientNetB0": 32, "EfficientNetB1": 32,
    "EfficientNetB3": 32, "EfficientNetV2B0": 32, "EfficientNetV2B2": 32, "EfficientNetV2S": 32, "InceptionV3": 75,
    "InceptionResNetV2": 75, "Xception": 71, "ConvNeXtTiny": 32, "ConvNeXtSmall": 32, "NASNetMobile": 32,
}  # fmt: skip


def application(name: str) -> Any:
    """Returns a model of keras.applications."""
    size = APPLICATIONS[name]
    return getattr(tf.keras.applications, name)(**SMALL, input_shape=(size, size, 3))


def hub_models() -> dict[str, Callable[[], Any]]:
    """Returns small models of keras-hub by their names."""
    import keras_hub

    models, text = keras_hub.models, {"vocabulary_size": 50, "num_layers": 2, "num_heads": 2, "intermediate_dim": 32}
    return {
        "BERT": lambda: models.BertBackbone(**text, hidden_dim=16, max_sequence_length=12),
        "DistilBERT": lambda: models.DistilBertBackbone(**text, hidden_dim=16, max_sequence_length=12),
        "RoBERTa": lambda: models.RobertaBackbone(**text, hidden_dim=16, max_sequence_length=12),
        "ALBERT": lambda: models.AlbertBackbone(**text, embedding_dim=8, hidden_dim=16, max_sequence_length=12),
        "DeBERTaV3": lambda: models.DebertaV3Backbone(**text, hidden_dim=16, max_sequence_length=12, bucket_size=6),
        "ELECTRA": lambda: models.ElectraBackbone(
            vocab_size=50, num_layers=2, num_heads=2, intermediate_dim=32, hidden_dim=16, embedding_dim=8,
            max_sequence_length=12,
        ),
        "GPT-2": lambda: models.GPT2Backbone(**text, hidden_dim=16, max_sequence_length=12),
        "OPT": lambda: models.OPTBackbone(**text, hidden_dim=16, max_sequence_length=12),
        "Llama": lambda: models.LlamaBackbone(
            vocabulary_size=50, num_layers=2, num_query_heads=2, num_key_value_heads=1, hidden_dim=16,
            intermediate_dim=32,
        ),
        "T5": lambda: models.T5Backbone(**text, hidden_dim=16),
        "BART": lambda: models.BartBackbone(**text, hidden_dim=16, max_sequence_length=12),
        "ViT": lambda: models.ViTBackbone(
            image_shape=(32, 32, 3), patch_size=8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32
        ),
        "ResNet (hub)": lambda: models.ResNetBackbone(
            [64], [7], [64, 128], [1, 1], [1, 2], "basic_block", image_shape=(32, 32, 3)
        ),
    }  # fmt: skip


def inputs_of(model: Any, batch: int) -> list[torch.Tensor]:
    """Returns sample inputs of a model, in the order of `model.inputs`."""
    generator = torch.Generator().manual_seed(batch)
    samples = []
    for t in model.inputs:
        shape = [batch, *(8 if d is None else d for d in t.shape[1:])]
        if "int" in t.dtype or t.dtype == "bool":
            high = 2 if "mask" in t.name or "segment" in t.name else 40
            ids = torch.randint(0, high, shape, generator=generator)
            samples.append((torch.ones_like(ids) if "mask" in t.name else ids).to(getattr(torch, t.dtype)))
        else:
            samples.append(torch.rand(shape, generator=generator))
    return samples


def called(model: Any, inputs: list[torch.Tensor]) -> list[Any]:
    """Returns the results of a model, flat."""
    tensors = [tf.torch.from_torch(x) for x in inputs]
    return tf.nest.flatten(model(tf.nest.pack_sequence_as(model.input, tensors), training=False))


def difference(results: list[Any], expected: list[Any]) -> float:
    """Returns the largest difference, relative to the largest number of a tensor."""
    largest = 0.0
    for r, e in zip(results, expected, strict=True):
        r, e = (np.asarray(x.detach() if isinstance(x, torch.Tensor) else tf.convert_to_tensor(x)) for x in (r, e))
        largest = max(largest, float(np.abs(r - e).max() / max(np.abs(e).max(), 1e-3)))
    return largest


class Checks:
    """The checks of one model, each of which returns the largest difference.

    Args:
        model: the Keras model.
    """

    def __init__(self, model: Any) -> None:
        rng = np.random.default_rng(0)
        for v in model.variables:
            if v.dtype == "float32":
                v.assign(v + rng.uniform(-0.01, 0.01, v.shape))
        self.model, self.inputs = model, inputs_of(model, 2)
        self.module = tf.torch.module(model).eval()

    def outputs(self) -> float:
        with torch.no_grad():
            self.module(*self.inputs)
        return difference(flat(self.module(*self.inputs)), called(self.model, self.inputs))

    def gradients(self) -> float:
        sum((r * r).mean() for r in flat(self.module(*self.inputs))).backward()
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_mean(r * r) for r in called(self.model, self.inputs)])
        expected = tape.gradient(loss, [v.value for v in self.model.trainable_variables])
        total = sum(float(tf.reduce_sum(tf.convert_to_tensor(g) ** 2)) for g in expected if g is not None)
        mine = sum(float((p.grad**2).sum()) for p in self.module.parameters() if p.grad is not None)
        return abs(total - mine) / max(total, 1e-12)

    def export(self) -> float:
        shapes = tuple([{0: torch.export.Dim.DYNAMIC} for _ in self.inputs])
        with torch.no_grad():
            program = torch.export.export(self.module, tuple(self.inputs), dynamic_shapes=(shapes,))
            more = inputs_of(self.model, 3)
            return difference(flat(program.module()(*more)), called(self.model, more))

    def onnx(self) -> float:
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            return tf.torch.convert(self.module, "onnx", file.name, self.inputs)


def flat(results: Any) -> list[Any]:
    """Returns tensors in the order of a nest of TensorFlow."""
    return tf.nest.flatten(results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="the names of architectures")
    parser.add_argument("--onnx", action="store_true", help="export to ONNX too, which takes longest")
    parser.add_argument("--hub", help="a folder that has keras-hub, where it is not installed")
    parser.add_argument("--markdown", help="a file to add the table to")
    options = parser.parse_args()
    torch.set_num_threads(1)
    builders: dict[str, Callable[[], Any]] = {n: lambda n=n: application(n) for n in APPLICATIONS}
    if options.hub:
        sys.path.append(options.hub)
        builders |= hub_models()
    checks = ["outputs", "gradients", "export", *(["onnx"] if options.onnx else [])]
    rows = [f"| | {' | '.join(checks)} |", f"|:--|{'--:|' * len(checks)}"]
    failures = []
    for name, build in builders.items():
        if options.only and name not in options.only:
            continue
        cells, begin = [], time.process_time()
        try:
            model: Any = Checks(build())
        except Exception as error:  # whatever it is, the table has it
            model = None
            failures.append(f"{name}: {first_line(error)}")
            cells = ["fails"] * len(checks)
        for check in checks if model is not None else []:
            try:
                result = getattr(model, check)()
                cells.append("passes" if result <= TOLERANCE else f"{result:.1e}")
            except Exception as error:
                cells.append("fails")
                failures.append(f"{name}, {check}: {first_line(error)}")
        rows.append(f"| {name} | {' | '.join(cells)} |")
        print(rows[-1], f"{time.process_time() - begin:.0f} s", flush=True)
        del model
        tf.keras.backend.clear_session()
        gc.collect()
    print("\n".join(failures))
    if options.markdown:
        with open(options.markdown, "a", encoding="utf-8") as file:
            file.write("\n".join([*rows, "", *(f"- {f}" for f in failures)]) + "\n")


def first_line(error: BaseException) -> str:
    """Returns the type and the first line of an error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and "Exception encountered" not in line]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]


if __name__ == "__main__":
    main()
