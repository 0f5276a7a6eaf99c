"""The public `tf.summary` namespace: numbers, images and more, written for TensorBoard as a program runs."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.summary import experimental
from tapeflow.summary.kinds import audio, histogram, image, scalar, text
from tapeflow.summary.summary_state import record_if, should_record_summaries
from tapeflow.summary.traces import trace_export, trace_off, trace_on
from tapeflow.summary.write_ops import graph, import_event, write
from tapeflow.summary.writer import SummaryWriter, create_file_writer, create_noop_writer, flush

_publish(globals(), "experimental")
