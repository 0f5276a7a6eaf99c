"""A U-Net."""

# requires: tf-keras
# sources: qubvel/segmentation_models HEAD
# tests: tests/test_metrics.py tests/test_utils.py
# environment: TF_USE_LEGACY_KERAS=1 SM_FRAMEWORK=tf.keras
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["SM_FRAMEWORK"] = "tf.keras"
import numpy as np
import segmentation_models as sm

model = sm.Unet("resnet18", input_shape=(32, 32, 3), encoder_weights=None, decoder_filters=(16, 8, 8, 4, 4))
model.compile("adam", loss=sm.losses.bce_jaccard_loss, metrics=[sm.metrics.iou_score])
model.fit(np.ones([1, 32, 32, 3], "float32"), np.ones([1, 32, 32, 1], "float32"), verbose=0)
