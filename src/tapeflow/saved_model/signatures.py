"""Signatures: functions of named tensors that return named tensors, which a server can call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.types.spec import TensorSpec, VariableSpec
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.trackable import function_types
from tapeflow.function import Function
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Options
from tapeflow.saved_model.objects import SavedView, of_whole_variables

DEFAULT = "serving_default"


def signatures_of(view: SavedView, signatures: Any) -> dict[str, ConcreteFunction]:
    """Returns the `signatures` argument of `tf.saved_model.save` for the root of a view, as traces by name.

    Raises:
        ValueError: one is no function with an input signature, or takes or returns something else than named tensors.
    """
    if signatures is None:
        chosen = _default_function(view)
        return {} if chosen is None else {DEFAULT: _signature_wrapper(DEFAULT, _as_concrete(chosen))}
    by_name = signatures if isinstance(signatures, Mapping) else {DEFAULT: signatures}
    return {name: _signature_wrapper(name, _as_concrete(function)) for name, function in by_name.items()}


def _default_function(view: SavedView) -> Any:
    """Returns the function for the signature of a root, if no signature is specified; None without such a function.

    Keras's objects name it. Otherwise, as in TensorFlow, it is the only attribute that can be a signature.
    """
    try:
        chosen = getattr(view.root, "_default_save_signature", None)
    except Exception:  # Keras's is a property that traces; as of every attribute, its error means that there is none
        chosen = None
    if chosen is not None:
        return chosen
    functions = [f for f in view.own_children(view.root).values() if isinstance(f, tuple(function_types))]
    fixed = [f for f in functions if not isinstance(f, Function) or f.input_signature is not None]
    usable = [trace for trace in map(_as_concrete, fixed) if _can_be_signature(trace)]
    return usable[0] if len(usable) == 1 else None


def _can_be_signature(concrete: ConcreteFunction) -> bool:
    """Returns True if a trace takes and returns tensors that can have names."""
    if not concrete.outputs or any(isinstance(s, VariableSpec) for s in nest.flatten(concrete.function_type.flat)):
        return False
    return _by_name(concrete.graph.structured_outputs) is not None


def _as_concrete(function: Any) -> ConcreteFunction:
    if isinstance(function, Function) and function.input_signature is not None:
        return of_whole_variables(function, function.get_concrete_function())
    if not isinstance(function, ConcreteFunction):
        raise ValueError(
            f"Expected a TensorFlow function for which to generate a signature, but got {function!r}. Only "
            "`tf.functions` with an input signature or concrete functions can be used as a signature."
        )
    return function


def _signature_wrapper(name: str, concrete: ConcreteFunction) -> ConcreteFunction:
    """Returns a trace that takes tensors by name and returns a dict of them.

    The names are the placeholder names of the trace. In a structure, a name is the parameter's name with a number.
    """
    specs = nest.flatten(concrete.structured_input_signature)
    if any(isinstance(spec, VariableSpec) for spec in specs):
        raise ValueError(f"The signature {name!r} takes variables: signatures take tensors.")
    count = len(concrete.inputs) - len(concrete.captured_inputs)
    specs_by_name = {t.op.name: TensorSpec(t.shape, t.dtype, t.op.name) for t in concrete.inputs[:count]}

    def signature_wrapper(**tensors: Any) -> dict[str, Any]:
        return _named_outputs(name, concrete.call_flat([tensors[n] for n in specs_by_name]))

    function = Function(signature_wrapper, Options(autograph=False), f"signature_wrapper_{concrete.graph.name}")
    signature = function.get_concrete_function(**specs_by_name)
    signature.binding.limit_positional(1 if count == 1 else 0)
    return signature


def _named_outputs(name: str, result: Any) -> dict[str, Any]:
    named = _by_name(result)
    if named is None:
        raise ValueError(
            f"The signature {name!r} gives {result}: signatures give a tensor, a list of tensors, or a dict of them."
        )
    return named


def _by_name(result: Any) -> dict[str, Any] | None:
    """Returns a function's result as a dict of tensors; None if it is no tensor, list of tensors or dict of them."""
    if isinstance(result, Mapping):
        named = dict(result)
    else:
        results = result if isinstance(result, (list, tuple)) else [result]
        named = {f"output_{i}": value for i, value in enumerate(results)}
    return named if all(isinstance(k, str) and isinstance(v, Tensor) for k, v in named.items()) else None
