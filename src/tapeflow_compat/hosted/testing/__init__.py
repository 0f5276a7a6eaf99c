"""`tf.__internal__.test`: what libraries' tests are written with."""

from tapeflow_compat.hosted.testing import combinations

__all__ = ["combinations"]
