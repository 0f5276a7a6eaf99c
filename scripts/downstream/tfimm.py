"""A vision transformer."""

# requires: tf-keras
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
import tfimm

model = tfimm.create_model("vit_tiny_patch16_224", pretrained=False, nb_classes=3, input_size=(32, 32))
assert model(tf.ones([1, 32, 32, 3])).shape == (1, 3)
