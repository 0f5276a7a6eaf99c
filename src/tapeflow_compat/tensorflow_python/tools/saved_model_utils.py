"""The graphs in the file of a SavedModel: `tensorflow.python.tools.saved_model_utils`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tapeflow.saved_model.messages import read_model


def read_saved_model(saved_model_dir: str) -> Any:
    """Returns the graphs of a SavedModel, as `meta_graphs`.

    Raises:
        OSError: there is no SavedModel, or it is damaged.
    """
    return SimpleNamespace(meta_graphs=read_model(saved_model_dir))


def get_saved_model_tag_sets(saved_model_dir: str) -> list[list[str]]:
    """Returns the tags of each graph.

    Raises:
        OSError: there is no SavedModel, or it is damaged.
    """
    return [list(graph.meta_info_def.tags) for graph in read_model(saved_model_dir)]


def get_meta_graph_def(saved_model_dir: str, tag_set: str) -> Any:
    """Returns the `MetaGraphDef` with the given tags.

    Args:
        saved_model_dir: the directory of the SavedModel.
        tag_set: all tags of the graph, joined by commas.

    Raises:
        OSError: there is no SavedModel, or it is damaged.
        RuntimeError: it has no graph with these tags.
    """
    wanted = {tag for tag in tag_set.split(",") if tag}
    graphs = read_model(saved_model_dir)
    for graph in graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    available = [",".join(graph.meta_info_def.tags) for graph in graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tag-set {tag_set} could not be found in the SavedModel. Please use one of the "
        f"following tag-sets: {available}"
    )
