"""`tf.__internal__.train`: what Keras 2 needs to save weights."""

from __future__ import annotations

from typing import Any

from tapeflow.train import states


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
    save_relative_paths: bool = False,
) -> None:
    """Notes in a folder which of its checkpoints is the latest."""
    paths = all_model_checkpoint_paths or [model_checkpoint_path]
    states.update_checkpoint_state(save_dir, model_checkpoint_path, paths)


def set_using_mixed_precision_policy(policy: bool) -> None:
    """Is accepted, and not asked: graphs are not rewritten for narrower types."""


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Returns whether graphs are rewritten for narrower types: they are not."""
    return False
