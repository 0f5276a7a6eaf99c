"""Keras's state of a thread, filled with None for what Keras asks for again and again and mostly does not find.

Keras takes None for what is not there. But to look for an attribute that a `threading.local` lacks costs Python an
exception, four times what it costs to find one; an eager call of an LSTM cell spends 7 % of its time so.
"""

from __future__ import annotations

from typing import Any

from keras.src.backend.common import global_state

_ASKED_FOR = ("_keras_mask_dict", "autocast_scope", "distribution", "stateless_scope", "traceback_filtering")


def fill() -> None:
    """Fills the state of this thread, as it is at first and after `keras.utils.clear_session()`."""
    state: Any = global_state.GLOBAL_STATE_TRACKER
    for name in _ASKED_FOR:
        if not hasattr(state, name):
            global_state.set_global_attribute(name, None)
