"""A training loop of Orbit's, with summaries and checkpoints."""

# distribution: tf-models-official
# requires: tf-keras
# tests: orbit/standard_runner_test.py orbit/utils/common_test.py orbit/utils/tpu_summaries_test.py
# environment: TF_USE_LEGACY_KERAS=1
import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import orbit
import tensorflow as tf


class Trainer(orbit.StandardTrainer):
    def __init__(self):
        self.w = tf.Variable(0.0)
        self.optimizer = tf.keras.optimizers.SGD(0.1)
        self.loss = tf.keras.metrics.Mean("loss")
        super().__init__(tf.data.Dataset.range(4).map(lambda i: tf.cast(i, tf.float32)).repeat())

    def train_step(self, iterator):
        x = next(iterator)
        with tf.GradientTape() as tape:
            loss = (self.w * x - 2 * x) ** 2
        self.optimizer.apply_gradients([(tape.gradient(loss, self.w), self.w)])
        self.loss.update_state(loss)

    def train_loop_end(self):
        return {"loss": self.loss.result()}


with tempfile.TemporaryDirectory() as folder:
    trainer = Trainer()
    step = trainer.optimizer.iterations
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(w=trainer.w), folder, max_to_keep=2, step_counter=step, checkpoint_interval=10
    )
    controller = orbit.Controller(
        trainer=trainer, global_step=step, steps_per_loop=10, checkpoint_manager=manager, summary_dir=f"{folder}/logs"
    )
    controller.train(steps=20)
    assert abs(trainer.w.numpy() - 2) < 0.5 and manager.latest_checkpoint
