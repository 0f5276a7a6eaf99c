"""A SavedModel as a module and as a layer."""

# requires: tf-keras
# sources: tensorflow/hub v0.16.1
# tests: tensorflow_hub/file_utils_test.py tensorflow_hub/registry_test.py tensorflow_hub/resolver_test.py
# tests: tensorflow_hub/tf_utils_test.py tensorflow_hub/uncompressed_module_resolver_test.py
# helpers: tensorflow_hub/test_utils.py
# environment: TF_USE_LEGACY_KERAS=1
import tempfile

import tensorflow as tf
import tensorflow_hub as hub


class Doubling(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def __call__(self, x):
        return 2 * x


with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(Doubling(), folder)
    assert hub.load(folder)([1.0, 2.0]).numpy().tolist() == [2, 4]
    assert hub.KerasLayer(folder)(tf.constant([3.0])).numpy().tolist() == [6]
