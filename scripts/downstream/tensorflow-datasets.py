"""A data set that a builder writes and reads."""

# requires: dill
# tests: tensorflow_datasets/core/features/text_feature_test.py tensorflow_datasets/core/features/scalar_test.py
# tests: tensorflow_datasets/core/features/tensor_feature_test.py tensorflow_datasets/core/features/features_test.py
# tests: tensorflow_datasets/core/features/sequence_feature_test.py tensorflow_datasets/core/example_parser_test.py
# tests: tensorflow_datasets/core/example_serializer_test.py tensorflow_datasets/core/hashing_test.py
# tests: tensorflow_datasets/core/features/class_label_feature_test.py
import tempfile

import numpy as np
import tensorflow_datasets as tfds


class Squares(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self, features=tfds.features.FeaturesDict({"x": tfds.features.Scalar(np.int64)})
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for i in range(5):
            yield i, {"x": i * i}


with tempfile.TemporaryDirectory() as folder:
    builder = Squares(data_dir=folder)
    builder.download_and_prepare()
    assert sorted(int(e["x"]) for e in tfds.as_numpy(builder.as_dataset(split="train"))) == [0, 1, 4, 9, 16]
