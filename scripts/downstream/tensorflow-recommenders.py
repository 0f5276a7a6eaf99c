"""A retrieval model."""

# requires: tf-keras
# tests: tensorflow_recommenders/layers/feature_interaction/dot_interaction_test.py
# tests: tensorflow_recommenders/layers/loss_test.py tensorflow_recommenders/tasks/ranking_test.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
import tensorflow_recommenders as tfrs


class Model(tfrs.Model):
    def __init__(self):
        super().__init__()
        self.users = tf.keras.layers.Embedding(10, 4)
        self.items = tf.keras.layers.Embedding(20, 4)
        self.task = tfrs.tasks.Retrieval(
            metrics=tfrs.metrics.FactorizedTopK(tf.data.Dataset.range(20).batch(5).map(self.items))
        )

    def compute_loss(self, features, training=False):
        return self.task(self.users(features["user"]), self.items(features["item"]))


model = Model()
model.compile(optimizer=tf.keras.optimizers.Adagrad(0.5))
data = tf.data.Dataset.from_tensor_slices({"user": tf.range(10), "item": tf.range(10)}).batch(5)
history = model.fit(data, epochs=3, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
