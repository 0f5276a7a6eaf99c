"""Hooks: services that a lower layer needs from a higher one.

The conversion of a list may call an op, a graph may be exported, a variable gathered from: the code that does it stands
above the code that asks for it. So the lower layer names it here, and the higher one fills it in when it loads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.lazy_modules import load


class Hooks:
    """The hooks, each with who fills it."""

    convert: Callable[..., Any]  # core/ops/convert.py: any value as a tensor
    static_shape: Callable[[Any], Any]  # core/ops/static.py: the static part of the shape in a vector of ints
    spec_of: Callable[[Any], Any]  # core/types/spec.py: the spec of a value
    type_spec_from_value: Callable[[Any], Any]  # core/types/spec.py: the same as users get it
    tensor_spec: Any  # core/types/spec.py: TensorSpec
    indexed_slices_spec: Any  # core/types/spec.py: IndexedSlicesSpec
    specs_of_protos: Callable[[], dict[int, Any]]  # tapeflow/__init__.py: the specs that TensorFlow's protos number
    variable: Any  # core/values/variable.py: Variable

    array_of_proto: Callable[[Any], Any]  # tapeflow/__init__.py: the array of a TensorProto
    zeros: Callable[..., Any]  # array/creation.py: tf.zeros
    zeros_variant: Callable[[], Any]  # array/tensor_list.py: the raw value of a list of zeros
    gather: Callable[..., Any]  # array/gathers.py: tf.gather
    gather_nd: Callable[..., Any]  # array/gathers.py: tf.gather_nd
    copied_to: Callable[[Any, str], Any]  # math/operators.py: a tensor on another device

    while_loop: Callable[..., Any]  # control/conditions_and_loops.py: tf.while_loop
    cond: Callable[..., Any]  # control/conditions_and_loops.py: tf.cond
    check: Callable[..., Any]  # control/conditions_and_loops.py: tf.Assert
    on_slices: Callable[..., Any]  # tapeflow/__init__.py: a function on all slices at once
    converted: Callable[..., Any]  # tapeflow/__init__.py: a Python function, converted by AutoGraph
    user_code: Callable[[Any], Any]  # tapeflow/__init__.py: a context whose errors name a function's lines
    over_parts: Callable[..., Any]  # tapeflow/__init__.py: a function of the parts of extension types
    compat_module: Callable[[str], Any]  # tapeflow/__init__.py: a module of tapeflow_compat, by its name there
    internal_module: Callable[[str], Any]  # tapeflow/__init__.py: the substitute for a module of TensorFlow, or None
    replicas: Callable[[], int] = staticmethod(lambda: 1)  # distribute/context.py: how many take part in a step

    compiled_function: Callable[..., Any]  # function/__init__.py: a function, compiled for eager calls

    form_when_run: Callable[..., Any]  # graph/__init__.py: an op that others compute, as one operation
    graph_def: Callable[..., Any]  # graph/__init__.py: a graph as a GraphDef
    node_def: Callable[[Any], Any]  # graph/__init__.py: an operation as a NodeDef
    create_operation: Callable[..., Any]  # graph/__init__.py: adds an operation by the name of its op
    op_def_proto: Callable[[str], Any]  # graph/__init__.py: the definition of an op as an OpDef
    graph_def_versions: Callable[[], Any]  # graph/__init__.py: the version of GraphDefs
    with_registered_gradient: Callable[[Any, str], Any]  # autodiff/registered_gradients.py: an op with another gradient
    with_attention: Callable[..., Any]  # graph/__init__.py: the calls of a tape with attention as one call
    value_now: Callable[[Any, Any], Any]  # graph/__init__.py: the value that a tensor of a graph has by now
    compiled_kernel: Callable[..., Any]  # graph/__init__.py: a function of ops as a kernel of tensors
    wide_code: Callable[[], Any]  # graph/__init__.py: machine code of products and convolutions, or None
    one_by_one: Callable[[str, Any], Any]  # graph/__init__.py: a program as calls of its ops' kernels


hooks = Hooks()


def later(module: str, function: str) -> Callable[..., Any]:
    """Returns a function that loads at its first call.

    Args:
        module: its module's name.
        function: its name there.
    """

    loaded: Any = None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal loaded
        if loaded is None:
            loaded = getattr(load(module), function)
        return loaded(*args, **kwargs)

    return call
