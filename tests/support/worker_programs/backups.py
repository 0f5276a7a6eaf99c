"""Keras's `fit` with backups and checkpoints after each step; one worker may die in between."""

import json
import os
import signal
import sys

import numpy as np

import tapeflow as tf

folder, fate = sys.argv[1:]
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("adam", "mse")
dataset = tf.data.Dataset.from_tensor_slices((np.ones([32, 3], "float32"), np.zeros([32, 1], "float32"))).batch(8)


class Dying(tf.keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if fate == "die" and epoch == 2 and strategy.cluster_resolver.task_id == 1:
            os.kill(os.getpid(), signal.SIGKILL)


callbacks = [
    tf.keras.callbacks.BackupAndRestore(f"{folder}/backup"),
    tf.keras.callbacks.ModelCheckpoint(f"{folder}/model.keras"),
    Dying(),
]
history = model.fit(dataset, epochs=4, callbacks=callbacks, verbose=0)
print(json.dumps({"epochs": history.epoch, "losses": history.history["loss"]}))
