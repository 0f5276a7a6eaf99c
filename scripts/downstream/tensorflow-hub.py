"""A SavedModel as a module and as a layer."""

# requires: tf-keras
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
