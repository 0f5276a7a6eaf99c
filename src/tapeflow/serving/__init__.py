"""Serving of SavedModels by TensorFlow Serving's REST API and gRPC services: `tapeflow serve MODEL`."""

from tapeflow.serving.models import BadRequest, Servable, ServedVersion

__all__ = ["BadRequest", "Servable", "ServedVersion"]
