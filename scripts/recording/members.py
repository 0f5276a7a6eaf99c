"""The public names of TensorFlow, for the scripts that record something of each."""

import inspect


def members(module, left_out, path=()):
    """The paths of the public names below a namespace, down to its namespaces' namespaces, and what they are.

    Args:
        module: the namespace.
        left_out: names directly below it to pass over.
        path: where it is itself.
    """
    for name in sorted(dir(module)):
        if name.startswith("_") or (not path and name in left_out):
            continue
        try:
            value = getattr(module, name)
            home = value.__name__ if inspect.ismodule(value) else ""
        except Exception:  # what this installation has not
            continue
        if not home:
            yield (*path, name), value
        elif len(path) < 2 and home.startswith("tensorflow"):
            yield from members(value, left_out, (*path, name))
