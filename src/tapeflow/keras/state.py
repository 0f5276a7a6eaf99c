"""Keras's state of a thread, filled with None for the attributes that Keras reads often and that are mostly missing.

Keras treats None like a missing attribute. But a missing attribute of a `threading.local` costs Python an exception,
four times the time to read an existing one; an eager call of an LSTM cell spends 7 % of its time so.
"""

from __future__ import annotations

from typing import Any

from tapeflow.keras import internals

_READ_OFTEN = ("_keras_mask_dict", "autocast_scope", "distribution", "stateless_scope", "traceback_filtering")


def fill() -> None:
    """Fills the state of this thread, which is empty at first and after `keras.utils.clear_session()`."""
    state: Any = internals.global_state.GLOBAL_STATE_TRACKER
    for name in _READ_OFTEN:
        if not hasattr(state, name):
            internals.global_state.set_global_attribute(name, None)
