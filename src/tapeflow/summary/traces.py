"""Traces of running programs: the graphs of functions, and a profile of the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import config_pb2, summary_pb2

from tapeflow.core import errors
from tapeflow.core.context import discard, graph_traces
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import executing_eagerly
from tapeflow.core.types.aliases import TensorLike
from tapeflow.profiler import experimental as profiling
from tapeflow.summary.summary_state import checked_step
from tapeflow.summary.write_ops import summary_scope, write

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph


class SummaryTrace:
    """The trace that is running.

    Attributes:
        graphs: the graphs of the functions that were called, each once.
    """

    def __init__(self, graph: bool, profiler: bool, profiler_outdir: str | None) -> None:
        self.graphs: list[Any] = []
        self.collects_graphs, self.profiles = graph, profiler
        self._profiling = False
        if profiler and profiler_outdir is None:
            get_logger().warning("No `profiler_outdir` passed to trace_on(). Profiler won't be enabled.")
        elif profiler:
            profiling.start(str(profiler_outdir))
            self._profiling = True
        if graph:
            graph_traces.append(self)

    def collect(self, graph: Graph) -> None:
        """Adds the graph of a function that is called."""
        if all(graph is not other for other in self.graphs):
            self.graphs.append(graph)

    def stop(self, save: bool) -> None:
        """Stops collecting, and the profiler, which writes its profile if `save`."""
        discard(graph_traces, self)
        if self._profiling:
            try:
                profiling.stop(save)
            except errors.UnavailableError as error:
                get_logger().warning("Error while stopping profiler: %s", error.message)


_lock = new_lock()
_running: list[SummaryTrace] = []  # one or none


def _refuse_in_trace(message: str) -> bool:
    """Returns True if a function is being traced. Tracing can't be switched there."""
    if executing_eagerly():
        return False
    get_logger().warning(message)
    return True


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None) -> None:
    """Starts to collect the graphs of the functions that run, in all threads.

    Args:
        graph: collects graphs; True by default.
        profiler: also profiles the kernels, as `tf.profiler.experimental.start` does.
        profiler_outdir: the folder for the profile; needed for `profiler`.

    Raises:
        AlreadyExistsError: a profile is being recorded.

    Example:
        >>> tf.summary.trace_on()
        >>> tf.summary.trace_off()
    """
    if _refuse_in_trace("Cannot enable trace inside a tf.function."):
        return
    with _lock:
        if _running:
            get_logger().warning("Trace already enabled")
            return
        _running.append(SummaryTrace(graph, profiler, profiler_outdir))


def trace_export(name: str, step: TensorLike | None = None, profiler_outdir: str | None = None) -> None:
    """Stops the trace, and writes the collected data to the default writer.

    Args:
        name: the name of the summary.
        step: an int64 scalar; by default the default step.
        profiler_outdir: accepted, and has no effect; `trace_on` takes it.

    Raises:
        ValueError: there is no trace; or there is a writer, but no step.

    Example:
        >>> import tempfile
        >>> double = tf.function(lambda x: x * 2.0)
        >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
        ...     tf.summary.trace_on()
        ...     _ = double(tf.constant(1.0))
        ...     tf.summary.trace_export("double", step=0)
    """
    if step is not None:
        step = checked_step(step)
    if _refuse_in_trace("Cannot export trace inside a tf.function."):
        return
    trace = _running[0] if _running else None
    if trace is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    only_graphs = trace.collects_graphs and not trace.profiles
    plugin = "graph_run_metadata_graph" if only_graphs else "graph_run_metadata"
    metadata = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin, content=b"1")
    )
    with summary_scope(name, f"{plugin}_summary") as (tag, _):
        write(tag, convert(_run_metadata(trace.graphs).SerializeToString()), step, metadata)
    if trace.profiles and profiler_outdir:
        get_logger().warning(
            "Ignoring `profiler_outdir` passed to trace_export(). Please pass it to trace_on() instead."
        )
    _stop_trace(save=True)


def _run_metadata(graphs: list[Any]) -> Any:
    metadata = config_pb2.RunMetadata()
    for graph in graphs:
        definition = graph.as_graph_def(add_shapes=True).SerializeToString()
        functions = metadata.function_graphs.add()
        functions.pre_optimization_graph.ParseFromString(definition)
        functions.post_optimization_graph.ParseFromString(definition)
        functions.partition_graphs.add().ParseFromString(definition)
        metadata.partition_graphs.add().ParseFromString(definition)
    return metadata


def trace_off() -> None:
    """Stops the trace, and discards the graphs it collected. Without a trace, nothing happens.

    Example:
        >>> tf.summary.trace_on()
        >>> tf.summary.trace_off()
    """
    _stop_trace(save=False)


def _stop_trace(save: bool) -> None:
    with _lock:
        if _running:
            _running.pop().stop(save)
