"""An attack on a classifier."""

import numpy as np
import tensorflow as tf
from art.attacks.evasion import FastGradientMethod
from art.estimators.classification import TensorFlowV2Classifier

model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(3)])
classifier = TensorFlowV2Classifier(
    model,
    nb_classes=3,
    input_shape=(4,),
    loss_object=tf.keras.losses.CategoricalCrossentropy(from_logits=True),
    optimizer=tf.keras.optimizers.Adam(),
    clip_values=(0, 1),
)
x = np.random.default_rng(0).uniform(size=(8, 4)).astype("float32")
classifier.fit(x, np.eye(3)[np.arange(8) % 3], nb_epochs=1)
adversarial = FastGradientMethod(classifier, eps=0.1).generate(x)
assert adversarial.shape == x.shape and abs(adversarial - x).max() > 0.01
