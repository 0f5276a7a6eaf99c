"""The interface of TensorFlow's eager runtime for hosted libraries."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from tapeflow.core.autodiff.tape import Tape
from tapeflow.core.context import state
from tapeflow.core.device import Machine, current, machine, synchronize
from tapeflow.core.device_spec import DeviceSpec
from tapeflow.core.scopes import executing_eagerly
from tapeflow.core.settings import settings
from tapeflow_compat.default_graph import disable_eager_execution, enable_eager_execution


class Context:
    """The runtime, as far as libraries use it."""

    def clear_kernel_cache(self) -> None:
        """Refills the state of Keras, whose `clear_session` empties it and calls this method.

        There are no kernels to clear: an op's kernel is bound when the op is defined.
        """
        state = sys.modules.get("tapeflow.keras.state")
        if state is not None:
            state.fill()

    def executing_eagerly(self) -> bool:
        """Returns True if ops of this thread run when they are called."""
        return executing_eagerly()

    @property
    def device_name(self) -> str:
        """The name of the device of the surrounding scopes; empty outside of any."""
        device = current()
        return "" if device is None else device.name

    @property
    def device_spec(self) -> DeviceSpec:
        """The spec of that device; empty outside of any scope."""
        return DeviceSpec.from_string(self.device_name)


def should_record_backprop(tensors: Iterable[Any]) -> bool:
    """Returns True if a tape of this thread watches a tensor of these, or a tensor that one depends on."""
    tapes = [tape for tape in state.tapes if isinstance(tape, Tape)]
    return any(tensor._id in tape.watched for tensor in tensors for tape in tapes)


_context = Context()


def context() -> Context:
    """Returns the context of the process."""
    return _context


@contextmanager
def graph_mode() -> Iterator[None]:
    """Returns a scope that adds ops to the default graph. The graph may be reset in it."""
    if state.graph is not None:
        yield
        return
    disable_eager_execution()
    try:
        yield
    finally:
        enable_eager_execution()


def get_device_name() -> str:
    """Returns the name of the device of the surrounding scopes; empty outside of any."""
    return _context.device_name


def _reset_context() -> None:
    """Resets the configuration of devices by `tf.config`. It can then be changed again."""
    vars(machine).update(vars(Machine()))


def async_wait() -> None:
    """Waits for the kernels that were launched on GPUs."""
    synchronize()


@contextmanager
def eager_mode() -> Iterator[None]:
    """Returns a scope that runs ops when they are called, even while a graph is built."""
    before, state.graph = state.graph, None
    try:
        yield
    finally:
        state.graph = before


def disable_op_determinism() -> None:
    """Reverts `enable_op_determinism`."""
    settings.deterministic = False
    torch.use_deterministic_algorithms(False)


def is_op_determinism_enabled() -> bool:
    """Returns True if `enable_op_determinism` is in force."""
    return settings.deterministic
