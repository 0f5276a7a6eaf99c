"""Docstrings of public functions state the shapes of tensors and the errors.

`python tests/test_reference.py` prints the figures and what is missing.
"""

import inspect
import json
import pathlib
import pydoc
import re

import tapeflow as tf

PUBLIC_NAMES = json.loads((pathlib.Path(__file__).parent / "fixtures" / "public_names.json").read_text())
# The words that tell a reader which shapes an argument may have.
SHAPES = re.compile(r"shape|scalar|vector|matri|rank|dimension|broadcast|\[[^\]']*[a-z.][^\]']*\]|\d-D", re.IGNORECASE)
# Functions whose docstrings have no "Raises": most raise no error of their own.
RAISE_NOTHING = pathlib.Path(__file__).parent / "fixtures" / "functions_without_errors.txt"


def public_functions():
    """Returns each public function once, by its first name, without `tf.raw_ops`, whose docstrings are the ops'."""
    found = {}
    for path, names in PUBLIC_NAMES.items():
        module = tf
        for part in path.split(".")[1:]:
            module = getattr(module, part, None)
        if module is None or path.startswith(("tf.raw_ops", "tf.compat", "tf.keras")):
            continue
        for name in names:
            value = getattr(module, name, None)
            if inspect.isroutine(value):
                found.setdefault(id(value), (f"{path}.{name}", value))
    return dict(sorted(found.values()))


def section(function, title):
    """Returns the lines of a section of a docstring, or None."""
    match = re.search(rf"^{title}:\n((?:    .*\n|\n)*)", (inspect.getdoc(function) or "") + "\n", re.MULTILINE)
    return match and match[1]


def arguments(function):
    """Returns `{argument: its description}`, of the section Args."""
    found = {}
    for entry in re.split(r"^    (?=\S)", section(function, "Args") or "", flags=re.MULTILINE)[1:]:
        names, _, text = entry.partition(": ")
        found |= dict.fromkeys((name.strip(" *") for name in names.split(",")), text)
    return found


def tensor_arguments():
    """Returns `{(function, argument): its description}` of the arguments that are tensors by their annotation."""
    found = {}
    for path, function in public_functions().items():
        described = arguments(function)
        for name, parameter in inspect.signature(function).parameters.items():
            if re.search(r"\bTensor(Like)?\b", str(parameter.annotation)):
                found[path, name] = described.get(name, "")
    return found


def arguments_without_shapes():
    return [key for key, text in tensor_arguments().items() if not SHAPES.search(text)]


def functions_without_errors():
    return [path for path, function in public_functions().items() if section(function, "Raises") is None]


def test_shapes_of_tensors_are_stated():
    missing, total = arguments_without_shapes(), len(tensor_arguments())
    assert len(missing) <= 0.04 * total, missing


def test_errors_are_stated():
    """A function that raises nothing stands in the recorded list."""
    assert functions_without_errors() == RAISE_NOTHING.read_text().split()


def test_stated_errors_exist():
    unknown = {}
    for path, function in public_functions().items():
        lines = re.findall(r"^    (\S[^:]*):", section(function, "Raises") or "", re.MULTILINE)
        for name in ", ".join(lines).split(", ") if lines else ():
            error = getattr(tf.errors, name, None) or pydoc.locate(name)
            if not (inspect.isclass(error) and issubclass(error, Exception)):
                unknown[path] = name
    assert not unknown


if __name__ == "__main__":
    without, functions = functions_without_errors(), public_functions()
    shapeless, tensors = arguments_without_shapes(), tensor_arguments()
    print(*(".".join(key) for key in shapeless), sep="\n")
    print(f"Shapes are stated for {1 - len(shapeless) / len(tensors):.1%} of {len(tensors)} tensors,", end=" ")
    print(f"errors for {len(functions) - len(without)} of {len(functions)} functions.")
