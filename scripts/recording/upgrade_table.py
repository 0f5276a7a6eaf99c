"""Writes what TensorFlow 2.21's `tf_upgrade_v2` renames: src/tapeflow_compat/tensorflow_python/upgrade/table.txt."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

TABLE = pathlib.Path(__file__).parents[2] / "src" / "tapeflow_compat" / "tensorflow_python" / "upgrade" / "table.txt"
# Our names for kinds of notes, by how TensorFlow's texts begin. `upgrade/notes.py` has our texts.
KINDS = {
    "(This warning is only applicable if the code saves": "save",
    "<function name> has been changed to return None": "assert",
    "(Manual edit required) `tf.contrib.layers.layer_norm`": "layer_norm",
    "tf.keras.experimental.export_saved_model": "export",
    "tf.contrib.summary.* functions": "contrib_summary",
    "tf.contrib.summary.create_file_writer()": "file_writer",
    "(Manual edit required) tf.contrib.summary.graph()": "summary_graph",
    "(Manual edit required) tf.contrib.summary.import_event()": "import_event",
    "(Manual edit required) tf.contrib.summary.record_summaries": "record_every",
    "To use learning rate decay": "decay",
    "`partition_strategy`": "partition_strategy",
    "Initializers no longer": "initializer",
    "tf.losses have been replaced": "loss",
    "tf.metrics have been replaced": "metric",
    "<function name> returns ResourceVariables": "get_variable",
    "<function name> cannot be converted automatically. `tf.pywrap": "pywrap",
    "(Manual edit required) tf.contrib.distribute.": "contrib_strategy",
    "(Manual edit may be required) tf.distribute.": "strategy",
    "The TF 1.x summary API": "summary",
    "tf.saved_model.load works differently": "load",
}


def is_alias(name):
    """Returns True for the names that `import tensorflow.contrib.layers as contrib_layers` gives."""
    return name.startswith("contrib_")


def main():
    """Writes the table."""
    from tensorflow.tools.compatibility import all_renames_v2, tf_upgrade_v2

    spec = tf_upgrade_v2.TFAPIChangeSpec()
    renames = {old: new for old, new in sorted(spec.symbol_renames.items()) if not is_alias(old)}
    plain = sorted(old[3:] for old, new in renames.items() if new == f"tf.compat.v1.{old[3:]}")
    lines = []
    for i in range(0, len(plain), 8):
        lines.append(" ".join(["compat.v1", *plain[i : i + 8]]))
    lines += [f"rename {old} {new}" for old, new in renames.items() if old[3:] not in plain]
    for name, parameters in sorted(spec.function_reorders.items()):
        lines.append(" ".join(["parameters", name, *(p or "-" for p in parameters)]))
    for name, keywords in sorted(spec.function_keyword_renames.items()):
        if not is_alias(name):
            lines.append(" ".join(["keywords", name, *(f"{old}={new or ''}" for old, new in keywords.items())]))
    notes = {}
    for name, (_, text) in sorted(spec.function_warnings.items()):
        if not is_alias(name) and name not in all_renames_v2.addons_symbol_mappings:
            kind = next(kind for start, kind in KINDS.items() if text.startswith(start))
            notes.setdefault(kind, []).append(name)
    lines += [" ".join(["note", kind, *names]) for kind, names in notes.items()]
    for name, arguments in sorted(spec.function_arg_warnings.items()):
        if not is_alias(name):
            lines += [f"argument {name} {keyword} {place}" for keyword, place in arguments]
    lines += [f"addons {old} {new}" for old, new in all_renames_v2.addons_symbol_mappings.items() if not is_alias(old)]
    TABLE.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} lines, {TABLE}")
