"""Serving of SavedModels over HTTP, by TensorFlow Serving's REST API: `python -m tapeflow serve MODEL`."""

from tapeflow.serving.models import BadRequest, Servable, ServedVersion

__all__ = ["BadRequest", "Servable", "ServedVersion"]
