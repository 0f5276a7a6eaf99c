"""Programs for AutoGraph: functions that TensorFlow ran eagerly and as `tf.function`, with what came out on record.

Each file beside this one is run with `tf` as its TensorFlow and `program` as its decorator, whose arguments become
tensors and are what the function is called with. `scripts/record.py autograph` writes what TensorFlow gives to
`recorded.json`.
"""

import importlib.util
import pathlib
from typing import Any

FOLDER = pathlib.Path(__file__).parent
FILES = ("conditions", "loops", "jumps", "logic", "python")


def load(tf: Any) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """The functions by their names, each with its arguments."""
    found = {}
    for file in FILES:

        def program(*args: Any) -> Any:
            def add(function: Any) -> Any:
                title = f"{file}/{function.__name__}"  # noqa: B023
                assert title not in found
                found[title] = (function, args)
                return function

            return add

        spec = importlib.util.spec_from_file_location(f"autograph_program_{file}", FOLDER / f"{file}.py")
        module = importlib.util.module_from_spec(spec)
        module.tf, module.program = tf, program
        spec.loader.exec_module(module)
    return found
