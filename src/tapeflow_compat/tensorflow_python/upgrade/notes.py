"""Notes about things to check in an upgraded program, with the levels of `tf_upgrade_v2`."""

from __future__ import annotations

INFO, WARNING, ERROR = "INFO", "WARNING", "ERROR"

_STRATEGY = (
    "Of a strategy, make_dataset_iterator is experimental_distribute_dataset now, experimental_make_numpy_iterator is "
    "experimental_make_numpy_dataset, extended.call_for_each_replica is run, unwrap is experimental_local_results, and "
    "reduce takes an axis."
)
NOTES = {
    "save": (WARNING, "If this saves a Keras model: the format follows from the name's ending now, not HDF5 always."),
    "assert": (INFO, "It returns None in TensorFlow 2 and has other arguments, so the call is one of compat.v1."),
    "layer_norm": (WARNING, "Use tf.keras.layers.LayerNormalization, whose epsilon is 1e-3 and not 1e-12."),
    "export": (WARNING, "Use model.save(path) and tf.keras.models.load_model(path)."),
    "contrib_summary": (WARNING, "It becomes a function of tf.compat.v2.summary. Check the result."),
    "file_writer": (WARNING, "The new writer always begins a file: keep it, and use the same one."),
    "summary_graph": (ERROR, "Edit by hand: use tf.summary.trace_on and tf.summary.trace_export."),
    "import_event": (ERROR, "Edit by hand: tf.summary.experimental.write_raw_pb writes serialized summaries."),
    "record_every": (ERROR, "Edit by hand: use tf.summary.record_if(lambda: tf.equal(0, step % n))."),
    "decay": (INFO, "TensorFlow 2 has schedules of learning rates in tf.keras.optimizers.schedules."),
    "partition_strategy": (WARNING, "partition_strategy is gone: the strategy is 'div'."),
    "initializer": (INFO, "Initializers have no dtype argument in TensorFlow 2, so the call is one of compat.v1."),
    "loss": (INFO, "TensorFlow 2 has classes of losses in tf.keras.losses. The call is one of compat.v1."),
    "metric": (INFO, "TensorFlow 2 has classes of metrics in tf.keras.metrics. The call is one of compat.v1."),
    "get_variable": (WARNING, "It returns resource variables in TensorFlow 2, which check shapes."),
    "pywrap": (ERROR, "tf.pywrap_tensorflow is gone. Use the public API, such as tf.train.load_checkpoint."),
    "contrib_strategy": (ERROR, f"Edit by hand: it is in tf.distribute now, with other arguments. {_STRATEGY}"),
    "strategy": (WARNING, f"Its methods have changed. {_STRATEGY}"),
    "summary": (INFO, "Summaries are written to a writer in TensorFlow 2. The call is one of compat.v1."),
    "load": (WARNING, "It loads into objects in TensorFlow 2, not into sessions. The call is one of compat.v1."),
}
MODULES = {
    "tf.contrib": (ERROR, "tf.contrib is gone. Look for the function in Keras, tf-slim or TensorFlow Addons."),
    "tf.contrib.cudnn_rnn": (WARNING, "Use tf.keras.layers.LSTM or GRU."),
    "tf.contrib.rnn": (WARNING, "Use the cells of tf.keras.layers or of TensorFlow Addons."),
    "tf.flags": (ERROR, "tf.flags is gone. Use argparse or absl.flags."),
    "tf.app.flags": (ERROR, "tf.app.flags is gone. Use argparse or absl.flags."),
    "tf.contrib.distribute": (WARNING, "Use tf.distribute."),
    "tf.contrib.seq2seq": (WARNING, "Use tfa.seq2seq of TensorFlow Addons."),
}
