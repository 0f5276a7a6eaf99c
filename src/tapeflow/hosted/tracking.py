"""`tf.__internal__.tracking`: what Keras's layers and variables are to a checkpoint."""

from tapeflow.core.trackable import AutoTrackable, Trackable, no_automatic_dependency_tracking

__all__ = ["AutoTrackable", "Trackable", "no_automatic_dependency_tracking"]
