"""What makes an environment have TapeFlow in TensorFlow's place, from the start of each Python.

Four files, none of which has a name that a file of Google's distributions has:

- `tensorflow.py`, which `import tensorflow` imports. A module, not a package: pip lets two distributions write the same
  `tensorflow/__init__.py`, and removing either one breaks the other. If Google's package is there too, Python would
  prefer it, unseen; so importing it raises ImportError, see `StandIn`.
- `tensorflow_text.py`, which `import tensorflow_text` imports, also if Google's package of that name is there: it needs
  TensorFlow itself.
- `tapeflow_as_tensorflow.pth`, which Python runs when it starts, before a program, a test or a spawned child does
  anything. It installs the finder below, and imports nothing else.
- this module. Its finder answers `importlib.metadata.version("tensorflow")`, which libraries ask before they import.

**Why a finder answers, and not a `tensorflow-2.21.0.dist-info` in the wheel.** Such a folder would have pip list, hold
satisfied, upgrade and uninstall a `tensorflow` that it has never installed, and whose files belong to another
distribution. The finder answers only who asks for `tensorflow` by name, and the answer is this very distribution, under
its own name: its version is that of the API that it stands in for. pip and uv, which enumerate what is installed,
see `tapeflow-as-tensorflow` alone. So pip installs Google's package for a library that requires it; with
`pip install --no-deps` that library runs on TapeFlow.
"""

import sys

NAME = "tapeflow-as-tensorflow"


class StandIn:
    """The finder: tells of `tensorflow`'s metadata, and keeps Google's package from being imported instead."""

    def find_spec(self, fullname, path=None, target=None):
        """Returns the spec of another `tensorflow` than ours, to be refused; leaves all else to the next finder."""
        if fullname == "tensorflow_text":
            from importlib.util import spec_from_file_location

            return spec_from_file_location(fullname, __file__.replace("tapeflow_as_tensorflow", fullname))
        if fullname != "tensorflow":
            return None
        from importlib.machinery import ModuleSpec, PathFinder

        spec = PathFinder.find_spec(fullname)
        if spec is None or spec.origin is None or spec.loader.is_package(fullname) is False:
            return None
        return ModuleSpec(fullname, Refusal(spec.origin), origin=spec.origin)

    def find_distributions(self, context):
        """Yields this distribution if `tensorflow` is asked for by name, and is not there itself."""
        if (context.name or "").lower() != "tensorflow":
            return
        from importlib.metadata import MetadataPathFinder

        if not any(MetadataPathFinder.find_distributions(context)):
            yield from MetadataPathFinder.find_distributions(type(context)(name=NAME, path=context.path))


class Refusal:
    """The loader of Google's TensorFlow while this distribution is there too."""

    def __init__(self, origin):
        self.origin = origin

    def create_module(self, spec):
        raise ImportError(
            f"TensorFlow itself, {self.origin}, and {NAME} are both installed: `pip uninstall` one of them. To run a "
            f"program on TapeFlow beside TensorFlow, uninstall {NAME} and use `python -m tapeflow`.",
            name="tensorflow",
            path=self.origin,
        )

    def exec_module(self, module):
        raise AssertionError("the module is never created")


def install():
    """Puts the finder before all others, once."""
    if not any(type(finder) is StandIn for finder in sys.meta_path):
        sys.meta_path.insert(0, StandIn())
