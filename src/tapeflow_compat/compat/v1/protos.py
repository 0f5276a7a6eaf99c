"""The messages that `tf.compat.v1` has by name: TensorFlow's own, as TensorBoard ships them."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "attr_value": ("AttrValue", "NameAttrList"),
    "config": ("ConfigProto", "GPUOptions", "GraphOptions", "OptimizerOptions", "RunMetadata", "RunOptions"),
    "event": ("Event", "LogMessage", "SessionLog", "TaggedRunMetadata"),
    "graph": ("GraphDef",),
    "histogram": ("HistogramProto",),
    "meta_graph": ("MetaGraphDef", "TensorInfo"),
    "node_def": ("NodeDef",),
    "op_def": ("OpList",),
    "saver": ("SaverDef",),
    "summary": ("Summary", "SummaryDescription", "SummaryMetadata"),
    "variable": ("VariableDef",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def message(name: str) -> Any:
    """Returns the class of a message, or None if there is none of that name.

    Example:
        >>> tf.compat.v1.ConfigProto(log_device_placement=True).log_device_placement
        True
    """
    module = _MODULE_OF.get(name)
    return None if module is None else getattr(importlib.import_module(f"tensorboard.compat.proto.{module}_pb2"), name)
