"""A vision transformer."""

# requires: tf-keras
# sources: martinsbruveris/tensorflow-image-models v0.2.14
# tests: tests/train tests/utils
# helpers: tests/__init__.py tests/conftest.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
import tfimm

model = tfimm.create_model("vit_tiny_patch16_224", pretrained=False, nb_classes=3, input_size=(32, 32))
assert model(tf.ones([1, 32, 32, 3])).shape == (1, 3)
