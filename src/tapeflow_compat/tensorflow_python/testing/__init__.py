"""`tf.__internal__.test`: the helpers of libraries' tests."""

from tapeflow_compat.tensorflow_python.testing import combinations

__all__ = ["combinations"]
