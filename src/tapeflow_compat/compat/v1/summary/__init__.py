"""The public `tf.compat.v1.summary` namespace: summaries that a session computes and a writer takes."""

from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.summary.kinds import (
    all_v2_summary_ops,
    audio,
    get_summary_description,
    histogram,
    image,
    initialize,
    merge,
    merge_all,
    scalar,
    tensor_summary,
    text,
)
from tapeflow_compat.compat.v1.summary.writers import FileWriter, FileWriterCache

_MESSAGES = ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata")


def __getattr__(name: str) -> object:
    if name in _MESSAGES:
        return message(name)
    raise AttributeError(f"module 'tapeflow.compat.v1.summary' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MESSAGES})
