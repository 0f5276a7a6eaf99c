"""Records the public names of TensorFlow that need its own binaries, in `src/tapeflow/core/unsupported.json`.

    python scripts/record.py unsupported    # needs TensorFlow

Of a class it records the members, of an enumeration, also one inside a class, the values, of a function nothing.
"""

import enum
import functools
import inspect
import json
import pathlib
import types

import tensorflow as tf

NAMESPACES = [
    "data.experimental.service",
    "experimental.tensorrt",
    "lite.experimental.authoring",
    "mlir",
    "profiler.experimental.client",
    "profiler.experimental.server",
    "quantization.experimental",
    "tpu",
]
SINGLE = [
    "config.experimental_connect_to_cluster",
    "config.experimental_connect_to_host",
    "data.experimental.distributed_save",
    "data.experimental.get_model_proto",
    "experimental.register_filesystem_plugin",
    "image.decode_jxl",
    "io.decode_jxl",
    "lite.experimental.QuantizationDebugOptions",
    "lite.experimental.QuantizationDebugger",
    "test.create_local_cluster",
]


def named(path):
    """What has a path below `tf`."""
    return functools.reduce(getattr, path.split("."), tf)


def description(value):
    """What the file says of a name."""
    if not inspect.isclass(value):
        return None
    if _is_enum(value):
        return {member.name: member.value for member in value}
    return sorted(name for name in dir(value) if not name.startswith("_"))


def below(path):
    """The names in a namespace and those below it."""
    for name in dir(named(path)):
        value = getattr(named(path), name)
        if isinstance(value, types.ModuleType):
            yield from below(f"{path}.{name}") if not name.startswith("_") else ()
        elif not name.startswith("_"):
            yield f"{path}.{name}"
            yield from (f"{path}.{name}.{n}" for n, member in vars(value).items() if _is_enum(member))


def _is_enum(value):
    return inspect.isclass(value) and issubclass(value, enum.Enum)


def main():
    names = [*SINGLE, *(name for namespace in NAMESPACES for name in below(namespace))]
    file = pathlib.Path(__file__).parents[2] / "src" / "tapeflow" / "core" / "unsupported.json"
    rows = ",\n".join(f"{json.dumps(n)}: {json.dumps(description(named(n)))}" for n in sorted(names))
    file.write_text(f"{{\n{rows}\n}}\n")
