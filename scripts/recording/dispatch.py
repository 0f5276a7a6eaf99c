"""Writes with TensorFlow 2.21 the public functions that dispatchers can implement, and what they get in some calls.

The functions are in `src/tapeflow/tensorflow_python/dispatched.txt`, the calls in `tests/fixtures/dispatched.json`.

A line has the function's canonical name, its other names and, where TensorFlow offers another function to the
dispatchers, ">", that function, and its parameters: `theirs=ours`, or one name where the two are equal, or
`theirs:constant` in JSON; "!" precedes a parameter of ours that theirs has not. A line that begins with "-" has a
function that is not offered to dispatchers, as what it calls is, unless it refuses its arguments. A line that begins
with "*" has a function whose arguments the dispatchers get by keyword, all of them.

Each function is called with a marker for each parameter; where it refuses those, its call in
`tests/support/symbolic_calls.py` tells.
"""

import ast
import inspect
import json
import os
import pathlib
import sys

from recording.members import members

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "src" / "tapeflow_compat" / "tensorflow_python" / "dispatched.txt"
sys.path.insert(0, str(ROOT / "tests" / "support"))
FIXTURE = ROOT / "tests" / "fixtures" / "dispatched.json"
LEFT_OUT = {"keras", "raw_ops", "estimator", "compat", "v1", "v2"}


def dispatched(tf, canonical):
    """Returns the functions that support dispatch by their canonical names, and all public names of each."""
    functions, names = {}, {}
    for root, prefix in ((tf, ()), (tf.compat.v1, ("compat", "v1")), (tf.__operators__, ("__operators__",))):
        for path, value in members(root, LEFT_OUT):
            if callable(value) and hasattr(value, "_tf_fallback_dispatchers"):
                name = canonical(value)
                functions[name] = value
                names.setdefault(name, []).append(".".join((*prefix, *path)))
    return functions, names


def main():
    import tensorflow as tf
    from tensorflow.python.util.tf_export import get_canonical_name_for_symbol

    from symbolic_calls import CALLS, INPUTS, recorded

    def canonical(function):
        return get_canonical_name_for_symbol(function, add_prefix_to_v1_names=True)

    calls = []

    class Marker:
        shape, dtype = tf.TensorShape(None), tf.float32

        def __init__(self, shape=None, dtype=tf.float32):
            self.shape, self.dtype = tf.TensorShape(shape), dtype

        def __array__(self, dtype=None):
            raise TypeError("a marker is no array")

        def __iter__(self):
            raise TypeError("a marker has no length")

        def get_shape(self):
            return self.shape

        is_tensor_like = True
        __hash__ = object.__hash__

    for operator in tf.Tensor.OVERLOADABLE_OPERATORS:
        setattr(Marker, operator, getattr(tf.Tensor, operator))

    class Dispatcher(tf.__internal__.dispatch.GlobalOpDispatcher):
        def handle(self, op, args, kwargs):
            if not any(isinstance(x, Marker) for x in tf.nest.flatten([args, kwargs])):
                return self.NOT_SUPPORTED
            calls.append((op, args, kwargs, Marker()))
            return calls[-1][-1]

    Dispatcher().register()
    functions, names = dispatched(tf, canonical)
    examples = {}
    for expression in CALLS:
        tree = ast.parse(expression, mode="eval").body
        if isinstance(tree, ast.Call):
            path = ast.unparse(tree.func)
            inputs = {n: Marker((2, *shape), tf.as_dtype(dtype)) for n, (shape, dtype) in INPUTS.items()}
            env = {"tf": tf, **inputs}
            try:
                function = eval(path, env)
                bound = inspect.signature(function).bind(
                    *[eval(ast.unparse(a), env) for a in tree.args],
                    **{k.arg: eval(ast.unparse(k.value), env) for k in tree.keywords},
                )
            except Exception:
                continue
            if canonical(function) in functions:
                examples.setdefault(canonical(function), bound)

    def markers(function):
        parameters = inspect.signature(function).parameters.values()
        kinds = inspect.Parameter
        arguments = {}
        for p in parameters:
            if p.name == "name" or p.kind is kinds.VAR_KEYWORD:
                continue
            arguments[p.name] = (Marker(), Marker()) if p.kind is kinds.VAR_POSITIONAL else Marker()
        return inspect.BoundArguments(inspect.signature(function), arguments)

    def outcome(name, function, bound):
        """Returns the words behind the function's names, or None where the call tells nothing."""
        calls.clear()
        bound.apply_defaults()
        if "name" in bound.arguments:
            bound.arguments["name"] = None
        try:
            result = function(*bound.args, **bound.kwargs)
        except Exception:
            return ("?",) if calls else None
        if not calls:
            return None
        target, args, kwargs, marker = calls[-1]
        given = {id(x) for x in tf.nest.flatten(dict(bound.arguments)) if isinstance(x, Marker)}
        taken = {id(x) for x in tf.nest.flatten([args, kwargs]) if isinstance(x, Marker)}
        if not taken <= given or marker not in (result if isinstance(result, (list, tuple)) else [result]):
            return ("-",)
        if canonical(target) == name:
            return () if args else ("*",)
        signature = inspect.signature(target)
        words, used = [], {"name"}
        for parameter, value in signature.bind(*args, **kwargs).arguments.items():
            same = [n for n, v in bound.arguments.items() if v is value]
            source = parameter if parameter in same else same[0] if len(same) == 1 else None
            if source is not None:
                used.add(source)
                words.append(parameter if source == parameter else f"{parameter}={source}")
            elif isinstance(value, (bool, str)):
                words.append(f"{parameter}:{json.dumps(value)}")
            elif signature.parameters[parameter].default is not value:
                return ("?",)
        return (">", canonical(target), *words, *(f"!{n}" for n in sorted(set(bound.arguments) - used)))

    lines = []
    for name in sorted(functions):
        function = functions[name]
        first = name.partition(".")[0] == "compat"
        others = [n for n in names[name] if n != name and (first or not n.startswith("compat."))]
        found = outcome(name, function, markers(function))
        example = outcome(name, function, examples[name]) if name in examples else None
        unknown = (None, ("?",))
        if example not in unknown and (found in (*unknown, ("-",)) or found[1:2] != example[1:2] or example == ("-",)):
            found = example
        found = ("-",) if found == ("?",) else found or ()
        if found in (("-",), ("*",)):
            lines.append(" ".join([*found, name, *others]))
        else:
            lines.append(" ".join([name, *others, *found]))
    FILE.write_text("\n".join(lines) + "\n")
    FIXTURE.write_text(json.dumps(recorded(tf), indent=0) + "\n")
