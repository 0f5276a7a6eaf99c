"""The error of functions that have no form in torch."""

from __future__ import annotations


class Unconvertible(TypeError):
    """A function can't become a module of torch; the text names the op that prevents it, and says why."""
