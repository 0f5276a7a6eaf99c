"""`tf.__internal__.train`: the functions by which Keras 2 saves weights."""

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
    """Writes the name of the latest checkpoint to a file in their folder."""
    paths = all_model_checkpoint_paths or [model_checkpoint_path]
    states.update_checkpoint_state(save_dir, model_checkpoint_path, paths)


def set_using_mixed_precision_policy(policy: bool) -> None:
    """Accepts the policy, without effect: graphs are not rewritten for narrower types."""


def is_mixed_precision_graph_rewrite_enabled() -> bool:
    """Returns False: graphs are not rewritten for narrower types."""
    return False
